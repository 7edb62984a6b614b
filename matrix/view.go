package matrix

import (
	"iter"

	"github.com/hiveblas/hiveblas/internal/rep"
	"github.com/hiveblas/hiveblas/internal/sparse"
)

// Operand is an operand of an operation on matrices or vectors: a *Matrix, a *Vector, or a view of
// one.
type Operand[T comparable] interface {
	// View returns the operand as a view.
	View() View[T]
}

// Source is a matrix operand: *Matrix[T], or a [View] such as A.T() or A.Pattern().
type Source[T comparable] interface {
	Operand[T]
	isMatrix()
}

// VectorSource is a vector operand: *Vector[T], or a [VectorView].
type VectorSource[T comparable] interface {
	Operand[T]
	isVector()
}

// View is a read-only view of a matrix: its transpose, its pattern, or both. It has no entries of
// its own and reflects changes of the matrix.
type View[T comparable] struct {
	h          rep.Matrix[T] // package internal/access reads it
	transposed bool
	vector     bool
}

func (v View[T]) isMatrix() {}

// View returns v itself.
func (v View[T]) View() View[T] { return v }

// T returns the transposed view.
func (v View[T]) T() View[T] {
	v.transposed = !v.transposed
	return v
}

// Pattern returns the view of the structure. Every entry of it is true, and operations read no
// values.
func (v View[T]) Pattern() View[bool] {
	if p, ok := any(v).(View[bool]); ok {
		if _, ok := p.h.(patternOf); ok {
			return p
		}
	}
	if v.h == nil {
		return View[bool]{transposed: v.transposed, vector: v.vector}
	}
	return View[bool]{h: patternOf{v.h.(rep.Mask)}, transposed: v.transposed, vector: v.vector}
}

// Dims returns the number of rows and columns of the view. A vector view is
// 1×n.
func (v View[T]) Dims() (rows, cols int) {
	if v.h == nil {
		return 0, 0
	}
	m, n := v.h.Dims()
	if v.transposed {
		return n, m
	}
	return m, n
}

// NVals returns the number of entries.
func (v View[T]) NVals() int64 {
	if v.h == nil {
		return 0
	}
	return v.h.NVals()
}

// At returns the value at row i, column j of the view and whether there is an entry; see
// [Matrix.At]. It does not compute the transpose.
func (v View[T]) At(i, j int) (x T, ok bool) {
	if v.h == nil {
		return x, false
	}
	if v.transposed {
		i, j = j, i
	}
	st := v.h.Stored()
	if uint(i) >= uint(st.NRows) || uint(j) >= uint(st.NCols) {
		return x, false
	}
	at, ok := st.Has(i, j)
	switch {
	case !ok:
		return x, false
	case st.Val == nil:
		return isTrue[T](), true
	}
	return st.Val[at], true
}

// Row iterates over the columns and values of row i of the view. With A.T() it is column i of A;
// the transpose is computed at the first call, in O(entries) time, and kept until A changes. A row
// outside the view has no entries.
func (v View[T]) Row(i int) iter.Seq2[int, T] {
	st := v.listed()
	if uint(i) >= uint(st.NRows) {
		return Row[T]{}.All()
	}
	lo, hi := st.Span(i)
	if st.Val != nil {
		return Row[T]{st.Idx[lo:hi], st.Val[lo:hi]}.All()
	}
	return func(yield func(int, T) bool) {
		for _, j := range st.Idx[lo:hi] {
			if !yield(int(j), isTrue[T]()) {
				return
			}
		}
	}
}

// All iterates over the entries of the view in row-major order. Of a transpose, it computes that at
// the first call; see [View.Row].
func (v View[T]) All() iter.Seq2[Coord, T] {
	st := v.listed()
	if st.Val == nil && st.NVals > 0 {
		st = &sparse.Store[T]{Structure: st.Structure, Val: sparse.Filled(len(st.Idx), isTrue[T]())}
	}
	return eachEntry(st)
}

// listed returns the entries of the view by rows, without values for a pattern.
func (v View[T]) listed() *sparse.Store[T] {
	switch {
	case v.h == nil:
		return sparse.Empty[T](0, 0)
	case v.transposed:
		return v.h.Cols()
	}
	return v.h.Rows()
}

// isTrue returns the value of the entries of a pattern, whose T is bool.
func isTrue[T any]() (x T) {
	if p, ok := any(&x).(*bool); ok {
		*p = true
	}
	return x
}

// Err returns the error of the viewed matrix; see [Matrix.Err].
func (v View[T]) Err() error {
	if v.h == nil {
		return errNil
	}
	return v.h.Err()
}

// IsVector reports whether the view is of a Vector.
func (v View[T]) IsVector() bool { return v.vector }

// Transposed reports whether the view is the transpose of its matrix.
func (v View[T]) Transposed() bool { return v.transposed }

// Fetch is [Matrix.Fetch] for the viewed matrix.
func (v View[T]) Fetch() error {
	if v.h == nil {
		return errNil
	}
	if v.h.Place() != nil {
		v.h.Stored()
	}
	return v.h.Err()
}

// VectorView is the pattern of a vector.
type VectorView[T comparable] struct{ v View[T] }

func (v VectorView[T]) isVector() {}

// View returns the view as an operand.
func (v VectorView[T]) View() View[T] { return v.v }

// patternOf is the structure of a matrix of any type, as the source of a view of bools with a nil
// Val.
type patternOf struct{ rep.Mask }

func (p patternOf) Stored() *sparse.Store[bool]   { return p.Shape().Pattern() }
func (p patternOf) Rows() *sparse.Store[bool]     { return p.RowsShape().Pattern() }
func (p patternOf) Cols() *sparse.Store[bool]     { return p.ColsShape().Pattern() }
func (p patternOf) Nonzero() *sparse.Structure    { return p.Shape() }
func (p patternOf) SetResult(*sparse.Store[bool]) {}
func (p patternOf) Writer() rep.Writer[bool]      { return nil }
func (p patternOf) KeepsCols() bool               { return p.KeptColsShape() != nil }

func (p patternOf) Blocks(q rep.Query) ([]rep.Matrix[bool], error) {
	q.Pattern = true
	list, err := p.OnGroup().MaskBlocks(q)
	out := make([]rep.Matrix[bool], len(list))
	for k, m := range list {
		out[k] = patternOf{m}
	}
	return out, err
}

func (a *Matrix[T]) isMatrix() {}

// View returns the matrix as an operand.
func (a *Matrix[T]) View() View[T] { return View[T]{h: a.core()} }

// T returns the transposed view Aᵀ as an operand. The transpose is computed when an operation first
// needs it, and kept until a changes.
func (a *Matrix[T]) T() View[T] { return View[T]{h: a.core(), transposed: true} }

// Pattern returns the structure of a as an operand. Every entry of it is true, and operations read
// no values. Structural semirings (PlusPair, AnyPair, PlusFirst, …) use it without a copy.
func (a *Matrix[T]) Pattern() View[bool] { return View[bool]{h: patternOf{a.core()}} }

func (v *Vector[T]) isVector() {}

// View returns the vector as a 1×n operand.
func (v *Vector[T]) View() View[T] {
	if v == nil {
		return View[T]{h: (*core[T])(nil), vector: true}
	}
	v.init()
	return View[T]{h: v.m.core(), vector: true}
}

// Pattern returns the structure of v as an operand; see [Matrix.Pattern].
func (v *Vector[T]) Pattern() VectorView[bool] {
	return VectorView[bool]{v.View().Pattern()}
}
