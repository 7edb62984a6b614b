package access

import (
	"context"
	"unsafe"

	"github.com/hiveblas/hiveblas/comm"
	"github.com/hiveblas/hiveblas/internal/device"
	"github.com/hiveblas/hiveblas/internal/rep"
	"github.com/hiveblas/hiveblas/matrix"
)

// viewOf returns the view of a matrix, as a vector or not.
func viewOf[T comparable](h rep.Matrix[T], vector bool) (v matrix.View[T]) {
	if vector {
		v = new(matrix.Vector[T]).View()
	}
	*(*rep.Matrix[T])(unsafe.Pointer(&v)) = h
	return v
}

// Blocks returns a view of the rows of a view that each rank of this process has, for the cuts of
// q, or of all of them if q.Whole is set. A vector is cut by positions. The only rank of a group,
// on a device, has the block of the matrix itself for that of the transpose too.
func Blocks[T comparable](v matrix.View[T], q rep.Query) ([]matrix.View[T], error) {
	q.Vector = v.IsVector()
	flip := q.Whole || q.Vector || rep.Alone(q.Group)
	if v.Transposed() && !flip {
		q.Transposed = true
	}
	list, err := source(v).Blocks(q)
	out := make([]matrix.View[T], len(list))
	for k, h := range list {
		if out[k] = viewOf(h, q.Vector); v.Transposed() && flip {
			out[k] = out[k].T()
		}
	}
	return out, err
}

// BlocksAcross is Blocks of the transpose of a matrix. It does not record that the transpose
// exists; see HadCols.
func BlocksAcross[T comparable](v matrix.View[T], q rep.Query) ([]matrix.View[T], error) {
	q.Quiet = true
	return Blocks(v.T(), q)
}

// MaskBlocks returns the blocks of a mask.
func MaskBlocks(m matrix.MaskView, q rep.Query) ([]matrix.MaskView, error) {
	q.Vector = m.IsVector()
	list, err := maskOf(m).OnGroup().MaskBlocks(q)
	out := make([]matrix.MaskView, len(list))
	for k, h := range list {
		out[k] = m
		*(*rep.Mask)(unsafe.Pointer(&out[k])) = h
	}
	return out, err
}

// PlaceMask cuts the matrix of a mask on a group.
func PlaceMask(ctx context.Context, m matrix.MaskView, g *comm.Group) error {
	_, err := maskOf(m).OnGroup().Cuts(ctx, g, m.IsVector(), false)
	return err
}

// Replicas returns the whole of a view for each rank of this process, at the place of the rank,
// where it is kept until the matrix changes. It may be a collective.
func Replicas[T comparable](ctx context.Context, v matrix.View[T], g *comm.Group) ([]matrix.View[T], error) {
	return Blocks(v, rep.Query{Group: g, Context: ctx, Whole: true, Here: true})
}

// GroupCuts returns how the rows of a view are cut on a group, the positions of a vector.
func GroupCuts[T comparable](ctx context.Context, v matrix.View[T], g *comm.Group) ([]int, error) {
	return source(v).OnGroup().Cuts(ctx, g, v.IsVector(), v.Transposed())
}

// GroupCounts returns the entries of the block of each rank, of a view that is not transposed.
func GroupCounts[T comparable](ctx context.Context, v matrix.View[T], g *comm.Group) ([]int64, error) {
	return source(v).OnGroup().Counts(ctx, g, v.IsVector())
}

// RowLengths returns the entries of the given rows, in ascending order, of a view of a matrix on a
// group.
func RowLengths[T comparable](ctx context.Context, v matrix.View[T], g *comm.Group, rows []int32) ([]int64, error) {
	return source(v).OnGroup().Lengths(ctx, g, v.Transposed(), rows)
}

// Everywhere reports whether every rank of a group has the whole of a matrix already.
func Everywhere[T comparable](v matrix.View[T], g *comm.Group) bool {
	return source(v).OnGroup().Everywhere(g)
}

// Gatherable reports whether every rank may have the whole of a matrix; see comm.GatherLimit.
func Gatherable[T comparable](v matrix.View[T], g *comm.Group) bool {
	limit := g.GatherLimit()
	if limit == 0 || Everywhere(v, g) {
		return true
	}
	m, _ := v.Dims()
	return int64(m)*8+v.NVals()*int64(4+unsafe.Sizeof(*new(T))) <= limit
}

// GroupHasRows reports whether a matrix on one device would have the rows of a view by now.
func GroupHasRows[T comparable](v matrix.View[T], g *comm.Group) bool {
	return !v.Transposed() || source(v).OnGroup().HasCols(g)
}

// GroupHadRows records that a matrix on one device would have the rows of a view from now on.
func GroupHadRows[T comparable](v matrix.View[T], g *comm.Group) {
	if v.Transposed() {
		source(v).OnGroup().HadCols(g)
	}
}

// GroupTarget is the destination of an operation on a group.
type GroupTarget[T comparable] struct {
	t      rep.GroupTarget
	vector bool
}

// TargetOn returns the blocks of a destination; see rep.Grouped.
func TargetOn[T comparable](ctx context.Context, a *matrix.Matrix[T], g *comm.Group, vector, fresh bool, cuts []int) (GroupTarget[T], error) {
	t, err := source(a.View()).OnGroup().Target(ctx, g, vector, fresh, cuts)
	return GroupTarget[T]{t, vector}, err
}

// Matrix returns the block of the k-th rank of this process.
func (t GroupTarget[T]) Matrix(k int) *matrix.Matrix[T] {
	return (*matrix.Matrix[T])(t.t.Part(k))
}

// Vector returns the block of a vector.
func (t GroupTarget[T]) Vector(k int) *matrix.Vector[T] {
	return (*matrix.Vector[T])(t.t.Part(k))
}

// Keep makes the blocks the contents of the destination, and Lost makes the destination an error.
func (t GroupTarget[T]) Keep() error    { return t.t.Keep() }
func (t GroupTarget[T]) Lost(err error) { t.t.Lost(err) }

// AsVector returns the view of a vector as an operand of operations on vectors.
func AsVector[T comparable](v matrix.View[T]) matrix.VectorView[T] {
	return *(*matrix.VectorView[T])(unsafe.Pointer(&v))
}

// GroupKernels returns the programs with which blocks of values of type t travel between devices.
func GroupKernels(t device.Type) []device.Program {
	return source((*matrix.Matrix[bool])(nil).View()).OnGroup().Kernels(t)
}
