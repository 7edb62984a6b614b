package matrix

import (
	"github.com/hiveblas/hiveblas/internal/device"
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

// holder is the source of a view: a matrix, or the pattern of one.
type holder[T comparable] interface {
	placed
	failure() error
	stored() *sparse.Store[T]
	rows() *sparse.Store[T]
	cols() *sparse.Store[T]
	keptCols() *sparse.Store[T]
	leads(cols bool) []int32
}

// shaped is a matrix of any element type, for pattern views and masks.
type shaped interface {
	placed
	failure() error
	shape() *sparse.Structure
	rowsShape() *sparse.Structure
	colsShape() *sparse.Structure
	keptColsShape() *sparse.Structure
	nonzero() *sparse.Structure
	leads(cols bool) []int32
}

// placed is a matrix that may be, or have a copy, outside host memory.
type placed interface {
	RemoteOn(b device.Backend) (device.Store, error)
	Place() Place
	symmetric() bool
	dims() (rows, cols int)
	nvals() int64
}

// View is a read-only view of a matrix: its transpose, its pattern, or both. It has no entries of
// its own and reflects changes of the matrix.
type View[T comparable] struct {
	h          holder[T]
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
	return View[bool]{h: patternOf{v.h.(shaped)}, transposed: v.transposed, vector: v.vector}
}

// Dims returns the number of rows and columns of the view. A vector view is
// 1×n.
func (v View[T]) Dims() (rows, cols int) {
	if v.h == nil {
		return 0, 0
	}
	m, n := v.h.dims()
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
	return v.h.nvals()
}

// The following methods are for the packages of hiveblas; others cannot name their result types.

// Err returns the error of the viewed matrix; see [Matrix.Err].
func (v View[T]) Err() error {
	if v.h == nil {
		return errNil
	}
	return v.h.failure()
}

// IsVector reports whether the view is of a Vector.
func (v View[T]) IsVector() bool { return v.vector }

// Transposed reports whether the view is the transpose of Stored.
func (v View[T]) Transposed() bool { return v.transposed }

// Stored returns the storage of the viewed matrix, in its current format. A nil Val means a
// pattern.
func (v View[T]) Stored() *sparse.Store[T] {
	if v.h == nil {
		return sparse.Empty[T](0, 0)
	}
	return v.h.stored()
}

// Fetch is [Matrix.Fetch] for the viewed matrix.
func (v View[T]) Fetch() error {
	if v.h == nil {
		return errNil
	}
	if v.h.Place() != nil {
		v.h.stored()
	}
	return v.h.failure()
}

// Rows returns the entries of the view by rows (CSR or hypersparse). For a transposed view it
// computes and keeps the transpose.
func (v View[T]) Rows() *sparse.Store[T] {
	if v.h == nil {
		return sparse.Empty[T](0, 0)
	}
	if v.transposed {
		return v.h.cols()
	}
	return v.h.rows()
}

// Cols returns the rows of the transpose of the view.
func (v View[T]) Cols() *sparse.Store[T] {
	if v.h == nil {
		return sparse.Empty[T](0, 0)
	}
	if v.transposed {
		return v.h.rows()
	}
	return v.h.cols()
}

// Leads returns the first columns of each row of Rows in the layout of sparse.Leads. It computes
// and keeps them. It returns nil if Rows is hypersparse.
func (v View[T]) Leads() []int32 {
	if v.h == nil {
		return nil
	}
	return v.h.leads(v.transposed)
}

// HasRows reports whether Rows is available without computation.
func (v View[T]) HasRows() bool {
	if v.h == nil {
		return true
	}
	if v.transposed {
		return v.h.keptCols() != nil
	}
	return v.h.stored().Sparse()
}

// HasCols reports whether Cols is available without computation.
func (v View[T]) HasCols() bool {
	if v.h == nil {
		return true
	}
	if v.transposed {
		return v.h.stored().Sparse()
	}
	return v.h.keptCols() != nil
}

// VectorView is the pattern of a vector.
type VectorView[T comparable] struct{ v View[T] }

func (v VectorView[T]) isVector() {}

// View returns the view as an operand.
func (v VectorView[T]) View() View[T] { return v.v }

// patternOf is the structure of a matrix of any type, as a holder of bools with a nil Val.
type patternOf struct{ s shaped }

func (p patternOf) RemoteOn(b device.Backend) (device.Store, error) { return p.s.RemoteOn(b) }
func (p patternOf) Place() Place                                    { return p.s.Place() }
func (p patternOf) symmetric() bool                                 { return p.s.symmetric() }
func (p patternOf) dims() (rows, cols int)                          { return p.s.dims() }
func (p patternOf) nvals() int64                                    { return p.s.nvals() }

func (p patternOf) failure() error               { return p.s.failure() }
func (p patternOf) stored() *sparse.Store[bool]  { return p.s.shape().Pattern() }
func (p patternOf) rows() *sparse.Store[bool]    { return p.s.rowsShape().Pattern() }
func (p patternOf) cols() *sparse.Store[bool]    { return p.s.colsShape().Pattern() }
func (p patternOf) shape() *sparse.Structure     { return p.s.shape() }
func (p patternOf) rowsShape() *sparse.Structure { return p.s.rowsShape() }
func (p patternOf) colsShape() *sparse.Structure { return p.s.colsShape() }
func (p patternOf) leads(cols bool) []int32      { return p.s.leads(cols) }
func (p patternOf) nonzero() *sparse.Structure   { return p.s.shape() }
func (p patternOf) keptColsShape() *sparse.Structure {
	return p.s.keptColsShape()
}
func (p patternOf) keptCols() *sparse.Store[bool] {
	if s := p.s.keptColsShape(); s != nil {
		return s.Pattern()
	}
	return nil
}

func (a *Matrix[T]) isMatrix()              {}
func (a *Matrix[T]) dims() (rows, cols int) { return a.Dims() }
func (a *Matrix[T]) nvals() int64           { return a.NVals() }

// View returns the matrix as an operand.
func (a *Matrix[T]) View() View[T] { return View[T]{h: a} }

// T returns the transposed view Aᵀ as an operand. The transpose is computed when an operation first
// needs it, and kept until a changes.
func (a *Matrix[T]) T() View[T] { return View[T]{h: a, transposed: true} }

// Pattern returns the structure of a as an operand. Every entry of it is true, and operations read
// no values. Structural semirings (PlusPair, AnyPair, PlusFirst, …) use it without a copy.
func (a *Matrix[T]) Pattern() View[bool] { return View[bool]{h: patternOf{a}} }

func (v *Vector[T]) isVector() {}

// View returns the vector as a 1×n operand.
func (v *Vector[T]) View() View[T] {
	if v == nil {
		return View[T]{h: (*Matrix[T])(nil), vector: true}
	}
	v.init()
	return View[T]{h: &v.m, vector: true}
}

// Pattern returns the structure of v as an operand; see [Matrix.Pattern].
func (v *Vector[T]) Pattern() VectorView[bool] {
	return VectorView[bool]{v.View().Pattern()}
}
