// Package access gives the packages of this module that compute with values the inside of matrices
// and views with their element types. Its functions only add a type to the functions of package
// rep, which the method Inside of the types of package matrix returns.
package access

import (
	"context"
	"reflect"

	"github.com/hiveblas/hiveblas/comm"
	"github.com/hiveblas/hiveblas/internal/device"
	"github.com/hiveblas/hiveblas/internal/rep"
	"github.com/hiveblas/hiveblas/internal/sparse"
	"github.com/hiveblas/hiveblas/matrix"
)

// Stored returns the storage of the viewed matrix itself, also for a transposed view, in its
// current format. A nil Val means a pattern.
func Stored[T comparable](v *matrix.View[T]) *sparse.Typed[T] {
	return sparse.As[T](v.Inside().Stored())
}

// Rows returns the entries of the view by rows (CSR or hypersparse). For a transposed view it
// computes and keeps the transpose.
func Rows[T comparable](v *matrix.View[T]) *sparse.Typed[T] { return sparse.As[T](v.Inside().Rows()) }

// Cols returns the rows of the transpose of the view.
func Cols[T comparable](v *matrix.View[T]) *sparse.Typed[T] { return sparse.As[T](v.Inside().Cols()) }

// HasRows reports whether Rows is available without computation.
func HasRows[T comparable](v *matrix.View[T]) bool { return v.Inside().HasRows() }

// HasCols reports whether Cols is available without computation.
func HasCols[T comparable](v *matrix.View[T]) bool { return v.Inside().HasCols() }

// Leads returns the first columns of each row of Rows in the layout of sparse.Leads. It computes
// and keeps them. It returns nil if Rows is hypersparse.
func Leads[T comparable](v *matrix.View[T]) []int32 { return v.Inside().Leads() }

// Symmetric reports whether the viewed matrix is known to equal its transpose. It does not compare
// entries.
func Symmetric[T comparable](v *matrix.View[T]) bool { return v.Inside().Symmetric() }

// Operand returns the view as an operand at b.
func Operand[T comparable](v *matrix.View[T], b device.Backend) (device.Operand, error) {
	return v.Inside().Operand(b)
}

// IsPattern reports whether a view is a view of structure alone: all its values are true.
func IsPattern[T comparable](v *matrix.View[T]) bool { return v.Inside().IsPattern() }

// Allowed returns the positions of the mask without its complement, in any format. It takes O(1)
// time for a structural mask and O(entries) for a mask by value.
func Allowed(m matrix.MaskView) *sparse.Structure { return m.Inside().Allowed() }

// Mask returns the mask at b.
func Mask(m matrix.MaskView, b device.Backend) (*device.Mask, error) { return m.Inside().At(b) }

// FromStore returns the matrix with the given storage. The invariants of the storage must hold.
func FromStore[T comparable](st *sparse.Typed[T]) *matrix.Matrix[T] {
	a := new(matrix.Matrix[T])
	SetStore(a, st)
	return a
}

// Store returns the storage of a, which must not change while there are other readers.
func Store[T comparable](a *matrix.Matrix[T]) *sparse.Typed[T] {
	return sparse.As[T](a.Inside().Stored())
}

// SetStore replaces the contents of a.
func SetStore[T comparable](a *matrix.Matrix[T], st *sparse.Typed[T]) {
	a.Inside().SetStore(sparse.Untyped(st))
}

// SetResult replaces the contents of a by the result of an operation. It converts the result to the
// format of SetFormat, or without one to the format for its density. A nil st changes nothing.
func SetResult[T comparable](a *matrix.Matrix[T], st *sparse.Typed[T]) {
	a.Inside().SetResult(sparse.Untyped(st))
}

// RemoteOn returns the contents of a at b, and copies them there if needed.
func RemoteOn[T comparable](a *matrix.Matrix[T], b device.Backend) (device.Store, error) {
	return a.Inside().RemoteOn(b)
}

// HasRemote reports whether b has the contents of v already.
func HasRemote[T comparable](v *matrix.View[T], b device.Backend) bool {
	return v.Inside().HasRemote(b)
}

// SetRemote replaces the contents of a by s, which is at the place of a.
func SetRemote[T comparable](a *matrix.Matrix[T], s device.Store) { a.Inside().SetRemote(s) }

// SetBlocks makes stores at the places of the ranks of this process, rows between cuts, the
// contents of a, which is on g.
func SetBlocks[T comparable](a *matrix.Matrix[T], g *comm.Group, cuts []int, homes []device.Store) {
	a.Inside().OnGroup().SetBlocks(g, false, cuts, homes)
}

// SetVectorBlocks is SetBlocks of a vector.
func SetVectorBlocks[T comparable](v *matrix.Vector[T], g *comm.Group, cuts []int, homes []device.Store) {
	v.Inside().OnGroup().SetBlocks(g, true, cuts, homes)
}

// MarkSymmetric records that a equals its transpose.
func MarkSymmetric[T comparable](a *matrix.Matrix[T]) { a.Inside().OnGroup().MarkSymmetric() }

// VectorFromStore returns the vector with the given 1×n storage. The invariants of the storage must
// hold.
func VectorFromStore[T comparable](st *sparse.Typed[T]) *matrix.Vector[T] {
	v := new(matrix.Vector[T])
	SetVectorStore(v, st)
	return v
}

// VectorStore returns the 1×n storage of v.
func VectorStore[T comparable](v *matrix.Vector[T]) *sparse.Typed[T] {
	return sparse.As[T](v.Inside().Stored())
}

// SetVectorStore replaces the contents of v.
func SetVectorStore[T comparable](v *matrix.Vector[T], st *sparse.Typed[T]) {
	v.Inside().SetStore(sparse.Untyped(st))
}

// Kind returns the kind of the built-in type below the type of the values of g, such as
// reflect.Float64: g is also a [matrix.ViewOf] that type. It is reflect.Invalid for nil and for
// other types.
func Kind(g rep.View) reflect.Kind {
	if g.Matrix == nil {
		return reflect.Invalid
	}
	if k := sparse.GoType(g.Type().Under()).Kind(); k <= reflect.Float64 {
		return k
	}
	return reflect.Invalid
}

// MatrixAs returns a matrix that no one else has as one of T, nil for the zero View; see
// sparse.Same.
func MatrixAs[T comparable](m rep.View) *matrix.Matrix[T] {
	if m.Matrix == nil {
		return nil
	}
	m.SetType(sparse.TypeOf[T]())
	return matrix.OfInside[T](m.Matrix)
}

// VectorAs is MatrixAs of a vector.
func VectorAs[T comparable](v rep.View) *matrix.Vector[T] {
	if v.Matrix == nil {
		return nil
	}
	v.SetType(sparse.TypeOf[T]())
	return matrix.VectorOfInside[T](v)
}

// Blocks returns a view of the rows of a view that each rank of this process has; see
// [rep.View.Parts].
func Blocks[T comparable](v *matrix.View[T], q rep.Query) ([]*matrix.View[T], error) {
	list, err := v.Inside().Parts(q)
	out := make([]*matrix.View[T], len(list))
	for k, part := range list {
		out[k] = matrix.ViewOf[T](part)
	}
	return out, err
}

// GroupKernels returns the programs with which blocks of values of type t travel between devices.
func GroupKernels(t device.Type) []device.Program {
	return (*matrix.Matrix[bool])(nil).Inside().OnGroup().Kernels(t)
}

// Replicas returns the whole of a view for each rank of this process; see [rep.View.Replicas].
func Replicas[T comparable](ctx context.Context, v *matrix.View[T], g *comm.Group) ([]*matrix.View[T], error) {
	list, err := v.Inside().Replicas(ctx, g)
	out := make([]*matrix.View[T], len(list))
	for k, part := range list {
		out[k] = matrix.ViewOf[T](part)
	}
	return out, err
}

// GroupTarget is the destination of an operation on a group.
type GroupTarget[T comparable] struct{ rep.GroupTarget }

// TargetOn returns the blocks of a destination of T; see rep.Grouped.
func TargetOn[T comparable](ctx context.Context, a rep.View, g *comm.Group, fresh bool, cuts []int) (GroupTarget[T], error) {
	t, err := a.OnGroup().Target(ctx, g, a.Vector, fresh, cuts)
	return GroupTarget[T]{t}, err
}

// Matrix returns the block of the k-th rank of this process.
func (t GroupTarget[T]) Matrix(k int) *matrix.Matrix[T] { return matrix.OfInside[T](t.Part(k)) }
