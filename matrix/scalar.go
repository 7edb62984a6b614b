package matrix

import (
	"unsafe"

	"github.com/hiveblas/hiveblas/internal/rep"
	"github.com/hiveblas/hiveblas/internal/sparse"
)

// Scalar is a value that operations read and write, or no value: the GrB_Scalar of GraphBLAS. It is
// a vector of size 1, at a place, and an operand and a destination of the operations on vectors of
// that size. A number that changes from pass to pass of a loop is a Scalar, so that the loop can
// run on a device without the host; see ops.Steps.While.
type Scalar[T comparable] struct {
	v Vector[T]
}

// NewScalar returns a scalar without a value.
func NewScalar[T comparable](opts ...Option) *Scalar[T] {
	return (*Scalar[T])(unsafe.Pointer(newEmptyVector(sparse.TypeOf[T](), 1, opts)))
}

// ScalarOf returns a scalar of value x.
func ScalarOf[T comparable](x T, opts ...Option) *Scalar[T] {
	s := NewScalar[T](opts...)
	if s.Err() == nil {
		_ = s.v.Set(0, x) // position 0 of a vector of size 1 exists
	}
	return s
}

// vector returns the scalar as a vector, nil for nil.
func (s *Scalar[T]) vector() *Vector[T] {
	if s == nil {
		return nil
	}
	return &s.v
}

// Vector returns the scalar as a vector of size 1, which shares the value.
func (s *Scalar[T]) Vector() *Vector[T] { return s.vector() }

// Inside is [Matrix.Inside] of the 1×1 matrix of the scalar.
func (s *Scalar[T]) Inside() rep.View { return s.vector().Inside() }

// Spec returns the scalar as a plain destination.
func (s *Scalar[T]) Spec() Spec { return s.vector().Spec() }

// Accum returns the scalar as a destination that accumulates with op.
func (s *Scalar[T]) Accum(op Combiner[T]) *VectorDest[T] { return s.vector().Accum(op) }

func (s *Scalar[T]) isVector() {}
func (s *Scalar[T]) isOf(T)    {}

// Set gives the scalar a value.
func (s *Scalar[T]) Set(x T) error { return s.vector().Set(0, x) }

// Value returns the value. Without one the error is [ErrNoEntry].
func (s *Scalar[T]) Value() (T, error) { return s.vector().Value(0) }

// Clear removes the value.
func (s *Scalar[T]) Clear() { s.vector().Clear() }

// NVals returns 1 if there is a value, and 0 otherwise.
func (s *Scalar[T]) NVals() int64 { return s.vector().NVals() }

// Err returns the error of the scalar; see [Matrix.Err].
func (s *Scalar[T]) Err() error { return s.vector().Err() }

// Place returns the place of the scalar; nil is the host.
func (s *Scalar[T]) Place() Place { return s.vector().Place() }

// Move moves the scalar to p; see [Matrix.Move].
func (s *Scalar[T]) Move(p Place, layout ...Layout) error { return s.vector().Move(p, layout...) }

// String returns the value in short form.
func (s *Scalar[T]) String() string { return s.vector().String() }
