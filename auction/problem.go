package auction

import (
	"fmt"
	"math"
	"reflect"

	"gonum.org/v1/gonum/blas/blas64"

	"github.com/hiveblas/hiveblas/internal/access"
	"github.com/hiveblas/hiveblas/internal/sparse"
	"github.com/hiveblas/hiveblas/matrix"
	"github.com/hiveblas/hiveblas/semiring"
)

// Problem is an assignment problem. It refers to the matrix of costs, which must not change before
// Solve returns. It may be solved any number of times. Solve returns a *ParameterError for a nil or
// zero Problem.
type Problem struct {
	costs    *costs
	row, col []float64 // offsets, or nil
	err      error
}

// Dense returns the problem of an m×n matrix of costs, in which a position without
// an entry is forbidden. In matrices of floats +Inf, or when maximising −Inf,
// is forbidden too.
func Dense[T semiring.Number](c matrix.Source[T]) *Problem { return newProblem(c, sparse.Values{}) }

// Sparse returns the problem of the pairs that have an entry; all others are
// forbidden, as in [Dense].
func Sparse[T semiring.Number](c matrix.Source[T]) *Problem { return newProblem(c, sparse.Values{}) }

// Implicit returns the problem in which a pair without an entry costs def. All
// positions are allowed, and memory is in proportion to the entries, the rows
// and the columns.
func Implicit[T semiring.Number](c matrix.Source[T], def T) *Problem {
	return newProblem(c, sparse.ValuesOf([]T{def}))
}

// Mat is a matrix of gonum, a mat.Matrix. The type is not named, so that programs without gonum do
// not compile its decompositions.
type Mat interface {
	Dims() (rows, cols int)
	At(i, j int) float64
}

// DenseMat returns the problem of a gonum matrix. +Inf, or when maximising
// −Inf, is a forbidden pair.
func DenseMat(c Mat) *Problem {
	if v := reflect.ValueOf(c); c == nil || v.Kind() == reflect.Pointer && v.IsNil() {
		return &Problem{err: &ParameterError{"the costs", "nil", "a matrix"}}
	}
	a, err := fromMat(c)
	if err != nil {
		return &Problem{err: err}
	}
	return Dense[float64](a)
}

// fromMat returns the matrix of a gonummat.View, or a full matrix, which shares the values of a
// *mat.Dense without gaps between its rows.
func fromMat(c Mat) (*matrix.Matrix[float64], error) {
	m, n := c.Dims()
	switch c := c.(type) {
	case interface {
		Matrix() *matrix.Matrix[float64]
	}:
		return c.Matrix(), c.Matrix().Err()
	case interface{ RawMatrix() blas64.General }:
		if raw := c.RawMatrix(); raw.Stride == n || m <= 1 {
			return matrix.FromDense(m, n, raw.Data[:m*n:m*n])
		}
	}
	a, err := matrix.NewFull[float64](m, n, 0)
	if err != nil {
		return nil, err
	}
	val := access.Store(a).Val
	for i := range m {
		for j := range n {
			val[i*n+j] = c.At(i, j)
		}
	}
	return a, nil
}

// newProblem returns the problem of a matrix, with the cost of a pair without an entry, if any.
func newProblem(c operand, def sparse.Values) *Problem {
	if c == nil {
		return &Problem{err: &ParameterError{"the costs", "nil", "a matrix"}}
	}
	p := newCosts(c, def)
	if err := p.view.Err(); err != nil {
		return &Problem{err: err}
	}
	return &Problem{costs: p}
}

// WithOffsets returns the problem with row[i] + col[j] added to the cost of
// every allowed pair; either may be nil. In a square problem this changes the
// value of an assignment and not which is best. Solve reads the slices.
func (p *Problem) WithOffsets(row, col []float64) *Problem {
	if p == nil {
		return &Problem{err: &ParameterError{"the problem", "nil", "one made by Dense, Sparse or Implicit"}}
	}
	q := *p
	q.row, q.col = row, col
	if q.err != nil {
		return &q
	}
	m, n := q.Dims()
	switch {
	case row != nil && len(row) != m:
		q.err = &matrix.DimensionError{Op: "WithOffsets", Arg: "row", Got: fmt.Sprint(len(row)), Want: fmt.Sprint(m), Remedy: "give an offset for each row, or nil"}
	case col != nil && len(col) != n:
		q.err = &matrix.DimensionError{Op: "WithOffsets", Arg: "col", Got: fmt.Sprint(len(col)), Want: fmt.Sprint(n), Remedy: "give an offset for each column, or nil"}
	}
	return &q
}

// Dims returns the number of rows and columns.
func (p *Problem) Dims() (rows, cols int) {
	if p == nil || p.costs == nil {
		return 0, 0
	}
	return p.costs.view.Dims()
}

// summary is the result of a scan of the costs.
type summary struct {
	lo, hi    float64 // of the allowed costs, 0 and 0 if there are none
	integers  bool    // all are integers that int64 holds exactly
	forbidden int64   // infinite ones
	entries   int64
}

// offsets summarises a list of offsets.
func offsets(arg string, list []float64) (summary, error) {
	s := summary{integers: true}
	for k, x := range list {
		if math.IsNaN(x) || math.IsInf(x, 0) {
			e := &CostError{Arg: "the " + arg + " offset", Row: -1, Col: -1, Got: fmt.Sprint(x), Want: "a finite number"}
			if arg == "row" {
				e.Row = k
			} else {
				e.Col = k
			}
			return s, e
		}
		s.lo, s.hi = min(s.lo, x), max(s.hi, x)
		s.integers = s.integers && exactInteger(x)
	}
	return s, nil
}

// exactInteger reports whether x is an integer, and no other number is rounded
// to it.
func exactInteger(x float64) bool { return x == math.Trunc(x) && math.Abs(x) <= 1<<53 }
