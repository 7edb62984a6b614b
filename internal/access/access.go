// Package access gives the packages of this module the parts of matrices, views, masks and
// operators that are not for users: host and device storage, and CPU kernels.
//
// These parts are the first, unexported fields of the types of matrix and semiring, or methods of
// them. Unsafe conversions to structs of the same first fields reach them; TestLayout compares the
// layouts. The functions allocate nothing, and BenchmarkSmall of ops takes the time that it took
// with exported methods in their place.
package access

import (
	"sync/atomic"
	"unsafe"

	"github.com/hiveblas/hiveblas/comm"
	"github.com/hiveblas/hiveblas/internal/device"
	"github.com/hiveblas/hiveblas/internal/rep"
	"github.com/hiveblas/hiveblas/internal/sparse"
	"github.com/hiveblas/hiveblas/matrix"
)

// first returns the first fields of s, whose types are those of F.
func first[F, S any](s *S) F { return *(*F)(unsafe.Pointer(s)) }

// source returns the matrix of a view; a zero view is one of a nil matrix.
func source[T comparable](v matrix.View[T]) rep.Matrix[T] {
	if h := first[rep.Matrix[T]](&v); h != nil {
		return h
	}
	v = (*matrix.Matrix[T])(nil).View()
	return first[rep.Matrix[T]](&v)
}

// Stored returns the storage of the viewed matrix itself, also for a transposed view, in its
// current format. A nil Val means a pattern.
func Stored[T comparable](v matrix.View[T]) *sparse.Store[T] { return source(v).Stored() }

// Rows returns the entries of the view by rows (CSR or hypersparse). For a transposed view it
// computes and keeps the transpose.
func Rows[T comparable](v matrix.View[T]) *sparse.Store[T] {
	if v.Transposed() {
		return source(v).Cols()
	}
	return source(v).Rows()
}

// Cols returns the rows of the transpose of the view.
func Cols[T comparable](v matrix.View[T]) *sparse.Store[T] { return Rows(v.T()) }

// HasRows reports whether Rows is available without computation.
func HasRows[T comparable](v matrix.View[T]) bool {
	if v.Transposed() {
		return source(v).KeepsCols()
	}
	return source(v).Shape().Sparse()
}

// HasCols reports whether Cols is available without computation.
func HasCols[T comparable](v matrix.View[T]) bool { return HasRows(v.T()) }

// Leads returns the first columns of each row of Rows in the layout of sparse.Leads. It computes
// and keeps them. It returns nil if Rows is hypersparse.
func Leads[T comparable](v matrix.View[T]) []int32 { return source(v).Leads(v.Transposed()) }

// Symmetric reports whether the viewed matrix is known to equal its transpose. It does not compare
// entries.
func Symmetric[T comparable](v matrix.View[T]) bool { return source(v).Symmetric() }

// Operand returns the view as an operand at b.
func Operand[T comparable](v matrix.View[T], b device.Backend) (device.Operand, error) {
	h := source(v)
	s, err := h.RemoteOn(b)
	return device.Operand{Store: s, Transposed: v.Transposed(), Vector: v.IsVector(),
		Pattern: h.Writer() == nil, Symmetric: h.Symmetric()}, err
}

// IsPattern reports whether a view is one of structure alone, whose values are true.
func IsPattern[T comparable](v matrix.View[T]) bool { return source(v).Writer() == nil }

// maskOf returns the matrix of a mask; a zero mask is one of a nil matrix.
func maskOf(m matrix.MaskView) rep.Mask {
	if s := first[rep.Mask](&m); s != nil {
		return s
	}
	m = (*matrix.Matrix[bool])(nil).MaskView()
	return first[rep.Mask](&m)
}

// Allowed returns the positions of the mask without its complement, in any format. It takes O(1)
// time for a structural mask and O(entries) for a mask by value.
func Allowed(m matrix.MaskView) *sparse.Structure {
	if m.Structural() {
		return maskOf(m).Shape()
	}
	return maskOf(m).Nonzero()
}

// Mask returns the mask at b.
func Mask(m matrix.MaskView, b device.Backend) (*device.Mask, error) {
	s, err := maskOf(m).RemoteOn(b)
	return &device.Mask{Store: s, Structural: m.Structural(), Comp: m.Complemented()}, err
}

// contents are the first fields of a matrix.
type contents[T any] struct {
	st         *sparse.Store[T]
	pending    atomic.Pointer[byte] // of another type there
	deviceOnly atomic.Bool
	pinned     bool
}

func writer[T comparable](a *matrix.Matrix[T]) rep.Writer[T] {
	v := a.View()
	return first[rep.Matrix[T]](&v).Writer()
}

// FromStore returns the matrix with the given storage, whose invariants must hold.
func FromStore[T comparable](st *sparse.Store[T]) *matrix.Matrix[T] {
	a := new(matrix.Matrix[T])
	writer(a).Init(st)
	return a
}

// Store returns the storage of a, which must not change while there are other readers.
func Store[T comparable](a *matrix.Matrix[T]) *sparse.Store[T] {
	if c := (*contents[T])(unsafe.Pointer(a)); c != nil && !c.deviceOnly.Load() && c.pending.Load() == nil && c.st != nil {
		return c.st
	}
	return source(a.View()).Stored()
}

// SetStore replaces the contents of a.
func SetStore[T comparable](a *matrix.Matrix[T], st *sparse.Store[T]) { writer(a).SetStore(st) }

// SetResult replaces the contents of a by the result of an operation. It converts the result to the
// format of SetFormat, or without one to the format for its density. A nil st changes nothing.
func SetResult[T comparable](a *matrix.Matrix[T], st *sparse.Store[T]) {
	v := a.View()
	first[rep.Matrix[T]](&v).SetResult(st)
}

// Pinned reports whether the format of a was set by SetFormat.
func Pinned[T comparable](a *matrix.Matrix[T]) bool {
	c := (*contents[T])(unsafe.Pointer(a))
	return c != nil && c.pinned
}

// RemoteOn returns the contents of a at b, and copies them there if needed.
func RemoteOn[T comparable](a *matrix.Matrix[T], b device.Backend) (device.Store, error) {
	return source(a.View()).RemoteOn(b)
}

// HasRemote reports whether b has the contents of v already.
func HasRemote[T comparable](v matrix.View[T], b device.Backend) bool { return source(v).HasRemote(b) }

// SetRemote replaces the contents of a by s, which is at the place of a.
func SetRemote[T comparable](a *matrix.Matrix[T], s device.Store) { writer(a).SetRemote(s) }

// SetBlocks makes stores at the places of the ranks of this process, rows between cuts, the
// contents of a, which is on g.
func SetBlocks[T comparable](a *matrix.Matrix[T], g *comm.Group, cuts []int, homes []device.Store) {
	source(a.View()).OnGroup().SetBlocks(g, false, cuts, homes)
}

// SetVectorBlocks is SetBlocks of a vector.
func SetVectorBlocks[T comparable](v *matrix.Vector[T], g *comm.Group, cuts []int, homes []device.Store) {
	source(v.View()).OnGroup().SetBlocks(g, true, cuts, homes)
}

// MarkSymmetric records that a equals its transpose.
func MarkSymmetric[T comparable](a *matrix.Matrix[T]) { source(a.View()).OnGroup().MarkSymmetric() }

// Repin converts the contents of a on its device to the format that SetFormat set.
func Repin[T comparable](a *matrix.Matrix[T]) error { return writer(a).Repin() }

// VectorFromStore returns the vector with the given 1×n storage, whose invariants must hold.
func VectorFromStore[T comparable](st *sparse.Store[T]) *matrix.Vector[T] {
	v := new(matrix.Vector[T])
	SetVectorStore(v, st)
	return v
}

// VectorStore returns the 1×n storage of v.
func VectorStore[T comparable](v *matrix.Vector[T]) *sparse.Store[T] {
	return source(v.View()).Stored()
}

// SetVectorStore replaces the contents of v.
func SetVectorStore[T comparable](v *matrix.Vector[T], st *sparse.Store[T]) {
	source(v.View()).Writer().SetStore(st)
}
