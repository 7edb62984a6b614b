package main

import (
	"errors"
	"math"
	"sync/atomic"

	"github.com/hiveblas/hiveblas/graphio"
	"github.com/hiveblas/hiveblas/internal/access"
	"github.com/hiveblas/hiveblas/internal/cli"
	"github.com/hiveblas/hiveblas/internal/sparse"
	"github.com/hiveblas/hiveblas/matrix"
	"github.com/hiveblas/hiveblas/ops"
	"github.com/hiveblas/hiveblas/semiring"
)

// The kinds of elements of a file.
const (
	kindPattern = "pattern"
	kindInteger = "integer"
	kindReal    = "real"
)

// values is a graph with the element type of its file, for commands that move values
// and do not compute.
type values interface {
	Dims() (rows, cols int)
	NVals() int64
	IsSymmetric() bool
	Format() matrix.Format
	// kind is kindPattern, kindInteger or kindReal.
	kind() string
	// write writes the matrix to the output of the job.
	write(j *job, rows, cols *graphio.Labels, more ...graphio.WriteOption) error
	// structures returns the entries by rows and by columns.
	structures() (rows, cols *sparse.Structure)
	used() (rows, cols []bool)
	// extract returns the matrix of some rows and columns, and only that of some entries.
	extract(j *job, rows, cols []int) (values, error)
	only(places []int64) (values, error)
	// byWeight returns the places of the entries by value, and calls compared for each comparison;
	// entries visits them.
	byWeight(descending bool, compared func()) []int64
	entries(f func(row, col int, value string) error) error
	// summary returns the figures of the entries.
	summary() valueSummary
	// degrees returns the distributions of the rows and of the columns.
	degrees() (out, in degrees)
}

// valueSummary holds the figures of the entries of a matrix.
type valueSummary struct {
	low, high any // nil without entries
	whole     bool
	zeros     int64
	diagonal  int64
}

// typed is a matrix of one of the element types.
type typed[T matrix.Element] struct {
	*matrix.Matrix[T]
	of string
}

func (m typed[T]) kind() string { return m.of }

func (m typed[T]) write(j *job, rows, cols *graphio.Labels, more ...graphio.WriteOption) error {
	switch {
	case m.of == kindPattern:
		more = append(more, graphio.AsPattern())
	case m.of == kindReal:
		more = append(more, graphio.AsReal())
	}
	return writeMatrixAs(j, m.Matrix, rows, cols, more...)
}

func (m typed[T]) degrees() (out, in degrees) {
	v := m.View()
	rows, cols := access.Rows(v), access.Cols(v)
	return degreesOf(rows.Ptr, rows.NRows, rows.Vecs()), degreesOf(cols.Ptr, cols.NRows, cols.Vecs())
}

func (m typed[T]) summary() (s valueSummary) {
	s.whole = true
	var low, high, zero T
	first := true
	for c, x := range m.All() {
		if c.Row == c.Col {
			s.diagonal++
		}
		if x == zero {
			s.zeros++
		}
		if first || less(x, low) {
			low = x
		}
		if first || less(high, x) {
			high = x
		}
		first = false
		if f, ok := any(x).(float64); ok && s.whole {
			s.whole = isInteger(f)
		} else if f, ok := any(x).(float32); ok && s.whole {
			s.whole = isInteger(float64(f))
		}
	}
	if !first {
		s.low, s.high = number(low), number(high)
	}
	return s
}

// number returns x, and 0 or 1 for a bool.
func number[T matrix.Element](x T) any {
	if b, ok := any(x).(bool); ok {
		if b {
			return int64(1)
		}
		return int64(0)
	}
	return x
}

// less reports whether x < y, for the element types that files have.
func less[T matrix.Element](x, y T) bool {
	switch x := any(x).(type) {
	case bool:
		return !x && any(y).(bool)
	case int8:
		return x < any(y).(int8)
	case int16:
		return x < any(y).(int16)
	case int32:
		return x < any(y).(int32)
	case int64:
		return x < any(y).(int64)
	case uint8:
		return x < any(y).(uint8)
	case uint16:
		return x < any(y).(uint16)
	case uint32:
		return x < any(y).(uint32)
	case uint64:
		return x < any(y).(uint64)
	case float32:
		return x < any(y).(float32)
	case float64:
		return x < any(y).(float64)
	}
	return false
}

// fileNumber are the element types of files that are numbers.
type fileNumber interface {
	semiring.Number
	matrix.Number
}

// loadTyped reads the graph of the command with the element type of its file.
func (j *job) loadTyped(file string) error {
	return j.stage("read", func() error {
		if err := j.keep(file); err != nil {
			return explain(standardInput, err)
		}
		g := &graph{file: nameOf(file)}
		j.graph = g
		in, err := j.openInput(file)
		if err != nil {
			return explain(g.file, err)
		}
		element, real := in.element(), in.real()
		in.close()
		j.rewind()
		switch element {
		case elementNone:
			err = j.readText(file, g, real)
		case elementBool:
			err = j.readTypedBool(file, g)
		case elementInt8:
			err = readTyped[int8](j, file, g, kindInteger)
		case elementInt16:
			err = readTyped[int16](j, file, g, kindInteger)
		case elementInt32:
			err = readTyped[int32](j, file, g, kindInteger)
		case elementInt64:
			err = readTyped[int64](j, file, g, kindInteger)
		case elementUint8:
			err = readTyped[uint8](j, file, g, kindInteger)
		case elementUint16:
			err = readTyped[uint16](j, file, g, kindInteger)
		case elementUint32:
			err = readTyped[uint32](j, file, g, kindInteger)
		case elementUint64:
			err = readTyped[uint64](j, file, g, kindInteger)
		case elementFloat32:
			err = readTyped[float32](j, file, g, kindReal)
		default:
			err = readTyped[float64](j, file, g, kindReal)
		}
		return explain(g.file, err)
	})
}

// readText reads a text file as signed 64-bit integers, else as unsigned ones, else
// as real numbers.
func (j *job) readText(file string, g *graph, real bool) error {
	if !real {
		err := readTyped[int64](j, file, g, kindInteger)
		if valueKind(err) == graphio.RemedyWider {
			err = readTyped[uint64](j, file, g, kindInteger)
		}
		switch {
		case err == nil && g.info.Field == kindPattern && j.read.duplicates != "sum":
			return j.toPattern(g)
		case err == nil && g.info.Field != kindReal:
			return nil
		case err != nil && valueKind(err) == graphio.RemedyText:
			return err
		}
	}
	return readTyped[float64](j, file, g, kindReal)
}

// valueKind returns the remedy of an error about a value that another type may hold,
// and RemedyText for other errors.
func valueKind(err error) graphio.RemedyKind {
	var e *graphio.ParseError
	if errors.As(err, &e) {
		switch e.Kind {
		case graphio.RemedyWider, graphio.RemedyFloat, graphio.RemedyAllowNaN, graphio.RemedySigned:
			return e.Kind
		}
	}
	return graphio.RemedyText
}

func readTyped[T fileNumber](j *job, file string, g *graph, kind string) error {
	defer j.rewind()
	a, err := readMatrix[T](j, file, g, false)
	if err != nil {
		return err
	}
	g.values = typed[T]{a, kind}
	return nil
}

// toPattern replaces the ones of a pattern by true.
func (j *job) toPattern(g *graph) error {
	a, ok := g.values.(typed[int64])
	if !ok {
		return nil
	}
	m, n := a.Dims()
	b := matrix.New[bool](m, n)
	if err := ops.Apply(b, semiring.OneOp[int64, bool](), a.Matrix, ops.WithContext(j.Ctx), ops.WithThreads(j.run.threads)); err != nil {
		return err
	}
	g.values = typed[bool]{b, kindPattern}
	return nil
}

// readTypedBool reads a binary file of bools: a pattern if all are true.
func (j *job) readTypedBool(file string, g *graph) error {
	a, err := readBools(j, file, g, false)
	if err != nil {
		return err
	}
	kind := kindPattern
	for _, x := range a.All() {
		if !x {
			kind = kindInteger
			break
		}
	}
	g.values = typed[bool]{a, kind}
	return nil
}

// combiner returns the operator of --duplicates, nil for error. It sets overflow if
// a sum of integers is not exact in T.
func combiner[T fileNumber](rule string, overflow *atomic.Bool) matrix.Combiner[T] {
	switch rule {
	case "sum":
		return matrix.CombineFunc[T](func(x, y T) T {
			s := x + y
			if !addsExactly(x, y, s) {
				overflow.Store(true)
			}
			return s
		})
	case "min":
		return semiring.Min[T]()
	case "max":
		return semiring.Max[T]()
	case "first":
		return matrix.CombineFunc[T](func(x, _ T) T { return x })
	case "last":
		return matrix.CombineFunc[T](func(_, y T) T { return y })
	}
	return nil
}

// addsExactly reports whether s is the exact sum of the integers x and y. Sums of real
// numbers are rounded and always pass.
func addsExactly[T fileNumber](x, y, s T) bool {
	if f, ok := any(s).(float64); ok {
		a, b := any(x).(float64), any(y).(float64)
		t := f - a // the rounding error of the sum is (a − (f − t)) + (b − t): Knuth's TwoSum
		return math.Abs(f) <= 1<<53 || a != math.Trunc(a) || b != math.Trunc(b) || (a-(f-t))+(b-t) == 0
	}
	if _, ok := any(s).(float32); ok {
		return true
	}
	var zero T
	return (y >= zero) == (s >= x)
}

// errSum is the error of --duplicates sum for integers that have no exact sum.
func errSum(name string) error {
	return cli.Fail(name, "the sum of repeated integer weights is not exact in 64 bits", "--duplicates min, max, first or last combine otherwise", nil)
}

// nameOf returns the name of a file in messages.
func nameOf(file string) string {
	if file == "-" {
		return standardInput
	}
	return file
}
