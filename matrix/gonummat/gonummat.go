// Package gonummat converts matrices and vectors to and from gonum's package mat, without copying
// where the layouts agree.
//
// A Full float64 matrix and a *mat.Dense with contiguous rows share their values, and so do a Full
// float64 vector and a *mat.VecDense of increment 1. Everything else is copied, except by [AsMat],
// which wraps any matrix without a copy.
//
// A change of a shared value through one is visible in the other. The derived forms of a Matrix
// (its kept transpose) do not reflect a change made through gonum: make the change with Matrix.Set,
// or share again afterwards. An operation that writes a new result to the matrix, or changes its
// shape or format, ends the sharing.
//
// gonum has no empty matrices other than 0×0, and reads an absent entry as 0.
package gonummat

import (
	"fmt"
	"reflect"

	"gonum.org/v1/gonum/mat"

	"github.com/hiveblas/hiveblas/internal/access"
	"github.com/hiveblas/hiveblas/matrix"
)

// isNil reports whether x is nil or holds a nil pointer.
func isNil(x any) bool {
	v := reflect.ValueOf(x)
	return !v.IsValid() || v.Kind() == reflect.Pointer && v.IsNil()
}

func errNil(op, arg string) error {
	return &matrix.InvalidError{Op: "gonummat." + op, Reason: arg + " is nil; give a matrix or vector of gonum"}
}

// View is a matrix as a mat.Matrix. It also implements mat.NonZeroDoer, mat.RowNonZeroDoer and
// mat.ColNonZeroDoer, with which the algorithms of gonum and others skip absent entries.
type View[T matrix.Number] struct{ a *matrix.Matrix[T] }

// AsMat returns a as a mat.Matrix without copying. The view reflects changes of a. At takes O(log
// row length) time in the sparse formats.
func AsMat[T matrix.Number](a *matrix.Matrix[T]) mat.Matrix { return View[T]{a} }

// Matrix returns the viewed matrix.
func (v View[T]) Matrix() *matrix.Matrix[T] { return v.a }

// Dims returns the number of rows and columns.
func (v View[T]) Dims() (r, c int) { return v.a.Dims() }

// At returns the value at row i, column j, or 0 if there is no entry. Like every mat.Matrix, it
// panics with mat.ErrRowAccess or mat.ErrColAccess if the position is outside the matrix. The zero
// View reads as 0 everywhere.
func (v View[T]) At(i, j int) float64 {
	if v.a == nil {
		return 0
	}
	m, n := v.a.Dims()
	if uint(i) >= uint(m) {
		panic(mat.ErrRowAccess)
	}
	if uint(j) >= uint(n) {
		panic(mat.ErrColAccess)
	}
	x, _ := v.a.At(i, j)
	return float64(x)
}

// T returns the implicit transpose.
func (v View[T]) T() mat.Matrix { return mat.Transpose{Matrix: v} }

// DoNonZero calls fn for each entry, by rows.
func (v View[T]) DoNonZero(fn func(i, j int, v float64)) {
	for c, x := range v.a.All() {
		fn(c.Row, c.Col, float64(x))
	}
}

// DoRowNonZero calls fn for each entry of row i.
func (v View[T]) DoRowNonZero(i int, fn func(i, j int, v float64)) {
	if v.a == nil {
		return
	}
	if m, _ := v.a.Dims(); uint(i) >= uint(m) {
		panic(mat.ErrRowAccess)
	}
	for j, x := range v.a.Row(i) {
		fn(i, j, float64(x))
	}
}

// DoColNonZero calls fn for each entry of column j. It uses the transpose of the matrix, which is
// computed on first use and kept.
func (v View[T]) DoColNonZero(j int, fn func(i, j int, v float64)) {
	if v.a == nil {
		return
	}
	if _, n := v.a.Dims(); uint(j) >= uint(n) {
		panic(mat.ErrColAccess)
	}
	t := access.Rows(v.a.T())
	lo, hi := t.Span(j)
	for p := lo; p < hi; p++ {
		fn(int(t.Idx[p]), j, float64(t.Val[p]))
	}
}

// ToDense returns a as a *mat.Dense, with 0 for absent entries. It shares the values of a Full
// matrix and copies other formats. For an m×0 or 0×n matrix it returns a *matrix.InvalidError, and
// for a 0×0 matrix the empty mat.Dense.
func ToDense(a *matrix.Matrix[float64]) (*mat.Dense, error) {
	if err := a.Err(); err != nil {
		return nil, err
	}
	m, n := a.Dims()
	if m == 0 && n == 0 {
		return &mat.Dense{}, nil
	}
	if m == 0 || n == 0 {
		return nil, &matrix.InvalidError{Op: "gonummat.ToDense", Reason: fmt.Sprintf("gonum has no %d×%d matrix", m, n)}
	}
	if a.Format() == matrix.Full {
		return mat.NewDense(m, n, access.Store(a).Val), nil
	}
	full, err := matrix.NewFull[float64](m, n, 0)
	if err != nil {
		return nil, err
	}
	val := access.Store(full).Val
	for c, x := range a.All() {
		val[c.Row*n+c.Col] = x
	}
	return mat.NewDense(m, n, val), nil
}

// FromMat returns m as a matrix. For a view of [AsMat] over float64 it returns the viewed matrix.
// For a *mat.Dense with a stride of its number of columns it returns a Full matrix that shares its
// values. For any other m it returns a Full copy.
func FromMat(m mat.Matrix) (*matrix.Matrix[float64], error) {
	if isNil(m) {
		return nil, errNil("FromMat", "m")
	}
	switch m := m.(type) {
	case View[float64]:
		return m.a, m.a.Err()
	case mat.RawMatrixer:
		raw := m.RawMatrix()
		if raw.Stride == raw.Cols || raw.Rows <= 1 {
			return matrix.FromDense(raw.Rows, raw.Cols, raw.Data[:raw.Rows*raw.Cols:raw.Rows*raw.Cols])
		}
		full, err := matrix.NewFull[float64](raw.Rows, raw.Cols, 0)
		if err != nil {
			return nil, err
		}
		val := access.Store(full).Val
		for i := range raw.Rows {
			copy(val[i*raw.Cols:(i+1)*raw.Cols], raw.Data[i*raw.Stride:])
		}
		return full, nil
	}
	r, c := m.Dims()
	full, err := matrix.NewFull[float64](r, c, 0)
	if err != nil {
		return nil, err
	}
	val := access.Store(full).Val
	for i := range r {
		for j := range c {
			val[i*c+j] = m.At(i, j)
		}
	}
	return full, nil
}

// FromMatSparse returns a copy of m without its zeros. It takes O(entries) time for a
// mat.NonZeroDoer (band, triangular and foreign sparse matrices) and O(positions) for others.
func FromMatSparse(m mat.Matrix) (*matrix.Matrix[float64], error) {
	if isNil(m) {
		return nil, errNil("FromMatSparse", "m")
	}
	r, c := m.Dims()
	b := matrix.NewBuilder[float64](r, c)
	if d, ok := m.(mat.NonZeroDoer); ok {
		d.DoNonZero(func(i, j int, v float64) {
			if v != 0 {
				b.Add(i, j, v)
			}
		})
		return b.Build(nil)
	}
	for i := range r {
		for j := range c {
			if v := m.At(i, j); v != 0 {
				b.Add(i, j, v)
			}
		}
	}
	return b.Build(nil)
}

// ToVecDense returns v as a *mat.VecDense, with 0 for absent entries. It shares the values of a
// Full vector and copies other formats.
func ToVecDense(v *matrix.Vector[float64]) (*mat.VecDense, error) {
	if err := v.Err(); err != nil {
		return nil, err
	}
	switch {
	case v.Size() == 0:
		return &mat.VecDense{}, nil
	case v.Format() == matrix.Full:
		return mat.NewVecDense(v.Size(), access.VectorStore(v).Val), nil
	}
	list, err := v.Dense(0)
	if err != nil {
		return nil, err
	}
	return mat.NewVecDense(v.Size(), list), nil
}

// FromVec returns v as a Full vector. It shares the values of a *mat.VecDense of increment 1 and
// copies other vectors.
func FromVec(v mat.Vector) (*matrix.Vector[float64], error) {
	if isNil(v) {
		return nil, errNil("FromVec", "v")
	}
	if r, ok := v.(mat.RawVectorer); ok {
		if raw := r.RawVector(); raw.Inc == 1 {
			return matrix.VectorOf(raw.Data[:raw.N:raw.N])
		}
	}
	val := make([]float64, v.Len())
	for i := range val {
		val[i] = v.AtVec(i)
	}
	return matrix.VectorOf(val)
}

var (
	_ mat.Matrix         = View[float64]{}
	_ mat.NonZeroDoer    = View[float64]{}
	_ mat.RowNonZeroDoer = View[float64]{}
	_ mat.ColNonZeroDoer = View[float64]{}
)
