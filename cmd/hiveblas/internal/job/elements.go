package job

import (
	"errors"
	"iter"
	"math"
	"reflect"
	"sync/atomic"

	"github.com/hiveblas/hiveblas/graphio"
	"github.com/hiveblas/hiveblas/internal/cli"
	"github.com/hiveblas/hiveblas/internal/rep"
	"github.com/hiveblas/hiveblas/internal/sparse"
	"github.com/hiveblas/hiveblas/matrix"
)

// The kinds of elements of a file.
const (
	kindPattern = "pattern"
	kindInteger = "integer"
	kindReal    = "real"
)

// Values is a graph with the element type of its file, for commands that move values
// and do not compute.
type Values struct {
	rep.Matrix
	Kind string // kindPattern, kindInteger or kindReal
}

// valuesOf returns a matrix of a store.
func valuesOf(st *sparse.Store, kind string) *Values {
	m := matrix.NewInside(st.Type, st.NRows, st.NCols)
	m.SetResult(st)
	return &Values{m, kind}
}

// Write writes the matrix to the output of the job.
func (m *Values) Write(j *Job, rows, cols *graphio.Labels, more ...graphio.WriteOption) error {
	switch m.Kind {
	case kindPattern:
		more = append(more, graphio.AsPattern())
	case kindReal:
		more = append(more, graphio.AsReal())
	}
	return j.WriteMatrixAs(rep.View{Matrix: m.Matrix}, rows, cols, more...)
}

// Degrees returns the distributions of the rows and of the columns.
func (m *Values) Degrees() (out, in Degrees) {
	rows, cols := m.RowsShape(), m.ColsShape()
	return DegreesOf(rows.Ptr, rows.NRows, rows.Vecs()), DegreesOf(cols.Ptr, cols.NRows, cols.Vecs())
}

// valueSummary holds the figures of the entries of a matrix.
type valueSummary struct {
	Low, High any // nil without entries
	Whole     bool
	Zeros     int64
	Diagonal  int64
}

// SummaryOf returns the figures of the entries of a matrix.
func SummaryOf(m rep.Matrix) (s valueSummary) {
	st := m.Rows()
	x := numbersOf(st)
	s.Whole = true
	low, high := int64(0), int64(0)
	for i, p := range places(st) {
		if int(st.Idx[p]) == i {
			s.Diagonal++
		}
		if x.isZero(p) {
			s.Zeros++
		}
		if x.less(p, low) {
			low = p
		}
		if x.less(high, p) {
			high = p
		}
		s.Whole = s.Whole && (x.floats == nil || isInteger(x.floats[p]))
	}
	if st.NVals > 0 {
		s.Low, s.High = x.at(low), x.at(high)
	}
	return s
}

// places visits the entries of a listed store by their rows and their places among the values.
func places(st *sparse.Store) iter.Seq2[int, int64] {
	return func(yield func(row int, at int64) bool) {
		for k := range st.Vecs() {
			for p := st.Ptr[k]; p < st.Ptr[k+1]; p++ {
				if !yield(st.RowID(k), p) {
					return
				}
			}
		}
	}
}

// numbers are the values of a file, in one of three forms: bools are integers.
type numbers struct {
	ints   []int64
	uints  []uint64
	floats []float64
	single bool // floats have 32 bits
}

// numbersOf returns the values of a listed store in the order of the entries.
func numbersOf(st *sparse.Store) *numbers {
	x, v := &numbers{}, st.Valued().Val
	switch sparse.GoType(st.Type).Kind() {
	case reflect.Bool:
		for _, b := range sparse.SliceOf[uint8](v) {
			x.ints = append(x.ints, int64(b))
		}
	case reflect.Int8:
		x.ints = widened[int64](sparse.SliceOf[int8](v))
	case reflect.Int16:
		x.ints = widened[int64](sparse.SliceOf[int16](v))
	case reflect.Int32:
		x.ints = widened[int64](sparse.SliceOf[int32](v))
	case reflect.Int64:
		x.ints = sparse.SliceOf[int64](v)
	case reflect.Uint8:
		x.uints = widened[uint64](sparse.SliceOf[uint8](v))
	case reflect.Uint16:
		x.uints = widened[uint64](sparse.SliceOf[uint16](v))
	case reflect.Uint32:
		x.uints = widened[uint64](sparse.SliceOf[uint32](v))
	case reflect.Uint64:
		x.uints = sparse.SliceOf[uint64](v)
	case reflect.Float32:
		x.floats, x.single = widened[float64](sparse.SliceOf[float32](v)), true
	case reflect.Float64:
		x.floats = sparse.SliceOf[float64](v)
	}
	return x
}

func widened[To, From fileNumber](list []From) []To {
	wide := make([]To, len(list))
	for k, x := range list {
		wide[k] = To(x)
	}
	return wide
}

// at returns the value at p, of the width that its text depends on.
func (x *numbers) at(p int64) any {
	switch {
	case x.single:
		return float32(x.floats[p])
	case x.floats != nil:
		return x.floats[p]
	case x.uints != nil:
		return x.uints[p]
	}
	return x.ints[p]
}

// less reports whether the value at p is less than that at q.
func (x *numbers) less(p, q int64) bool {
	switch {
	case x.floats != nil:
		return x.floats[p] < x.floats[q]
	case x.uints != nil:
		return x.uints[p] < x.uints[q]
	}
	return x.ints[p] < x.ints[q]
}

func (x *numbers) isZero(p int64) bool {
	switch {
	case x.floats != nil:
		return x.floats[p] == 0
	case x.uints != nil:
		return x.uints[p] == 0
	}
	return x.ints[p] == 0
}

// fileNumber are the element types of files that are numbers.
type fileNumber interface {
	int8 | int16 | int32 | int64 | uint8 | uint16 | uint32 | uint64 | float32 | float64
}

// FileTypes are the element types of files, by their numbers in the binary form.
var FileTypes = [...]*sparse.Type{
	ElementBool: sparse.TypeOf[bool](),
	ElementInt8: sparse.TypeOf[int8](), ElementInt16: sparse.TypeOf[int16](),
	ElementInt32: sparse.TypeOf[int32](), ElementInt64: sparse.TypeOf[int64](),
	ElementUint8: sparse.TypeOf[uint8](), ElementUint16: sparse.TypeOf[uint16](),
	ElementUint32: sparse.TypeOf[uint32](), ElementUint64: sparse.TypeOf[uint64](),
	ElementFloat32: sparse.TypeOf[float32](), ElementFloat64: sparse.TypeOf[float64](),
}

// LoadTyped reads the graph of the command with the element type of its file.
func (j *Job) LoadTyped(file string) error {
	return j.Stage("read", func() error {
		if err := j.keep(file); err != nil {
			return Explain(standardInput, err)
		}
		g := &Graph{File: NameOf(file)}
		j.Graph = g
		in, err := j.OpenInput(file)
		if err != nil {
			return Explain(g.File, err)
		}
		element, real := in.element(), in.real()
		in.Close()
		j.rewind()
		switch {
		case element == elementNone:
			err = j.readText(file, g, real)
		case element == ElementFloat32 || element >= ElementFloat64: // the reader knows no others
			err = j.readTyped(file, g, min(element, ElementFloat64), kindReal)
		default:
			err = j.readTyped(file, g, element, kindInteger)
		}
		return Explain(g.File, err)
	})
}

// readText reads a text file as signed 64-bit integers, else as unsigned ones, else
// as real numbers.
func (j *Job) readText(file string, g *Graph, real bool) error {
	if !real {
		err := j.readTyped(file, g, ElementInt64, kindInteger)
		if valueKind(err) == graphio.RemedyWider {
			err = j.readTyped(file, g, ElementUint64, kindInteger)
		}
		switch {
		case err == nil && g.Info.Field == kindPattern && j.Read.Duplicates != "sum":
			if g.Values.Type() == FileTypes[ElementInt64] {
				g.toPattern()
			}
			return nil
		case err == nil && g.Info.Field != kindReal:
			return nil
		case err != nil && valueKind(err) == graphio.RemedyText:
			return err
		}
	}
	return j.readTyped(file, g, ElementFloat64, kindReal)
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

// readTyped reads a file into an element type. One of bools is a pattern if all are true.
func (j *Job) readTyped(file string, g *Graph, element byte, kind string) error {
	defer j.rewind()
	in, err := j.OpenInput(file)
	if err != nil {
		return err
	}
	a, err := j.readInput(in, g, FileTypes[element], Weighted, j.Read.Duplicates)
	if err != nil {
		return err
	}
	g.Values = &Values{a, kind}
	if element == ElementBool && SummaryOf(a).Zeros == 0 {
		g.Values.Kind = kindPattern
	}
	return nil
}

// toPattern replaces the ones of a pattern by true.
func (g *Graph) toPattern() {
	st, t := g.Values.Stored(), FileTypes[ElementBool]
	g.Values = valuesOf(&sparse.Store{Structure: st.Structure, Val: t.Filled(int64(st.Val.Len()), t.True), Type: t}, kindPattern)
}

// combining returns the option of --duplicates, nil for error. It sets overflow if a sum of
// integers is not exact in the type.
func combining(t *sparse.Type, rule string, overflow *atomic.Bool) graphio.ReadOption {
	switch sparse.GoType(t).Kind() {
	case reflect.Bool: // every rule is “or”
		if rule == "error" {
			return nil
		}
		return graphio.Duplicates(matrix.CombineFunc[bool](func(x, y bool) bool { return x || y }))
	case reflect.Int8:
		return combiner[int8](rule, overflow)
	case reflect.Int16:
		return combiner[int16](rule, overflow)
	case reflect.Int32:
		return combiner[int32](rule, overflow)
	case reflect.Int64:
		return combiner[int64](rule, overflow)
	case reflect.Uint8:
		return combiner[uint8](rule, overflow)
	case reflect.Uint16:
		return combiner[uint16](rule, overflow)
	case reflect.Uint32:
		return combiner[uint32](rule, overflow)
	case reflect.Uint64:
		return combiner[uint64](rule, overflow)
	case reflect.Float32:
		return combiner[float32](rule, overflow)
	}
	return combiner[float64](rule, overflow)
}

func combiner[T fileNumber](rule string, overflow *atomic.Bool) graphio.ReadOption {
	var f matrix.CombineFunc[T]
	switch rule {
	case "sum":
		f = func(x, y T) T {
			s := x + y
			if !addsExactly(x, y, s) {
				overflow.Store(true)
			}
			return s
		}
	case "min", "max": // of a number and NaN the number
		f = func(x, y T) T {
			if x != x || rule == "min" && y < x || rule == "max" && y > x {
				return y
			}
			return x
		}
	case "first":
		f = func(x, _ T) T { return x }
	case "last":
		f = func(_, y T) T { return y }
	default:
		return nil
	}
	return graphio.Duplicates(f)
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

// NameOf returns the name of a file in messages.
func NameOf(file string) string {
	if file == "-" {
		return standardInput
	}
	return file
}
