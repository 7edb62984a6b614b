// Package rep declares what views and masks of package matrix hold: their first fields have the
// interface types of this package, and the types of package semiring start with their CPU forms.
// Package access reads these fields.
package rep

import (
	"context"
	"unsafe"

	"github.com/hiveblas/hiveblas/comm"
	"github.com/hiveblas/hiveblas/internal/device"
	"github.com/hiveblas/hiveblas/internal/sparse"
)

// Place is a matrix.Place.
type Place = interface{ String() string }

// Placed is a matrix that may be, or have a copy, outside host memory.
type Placed interface {
	// Err returns the error of the construction of the matrix, or of a failed read from a device.
	Err() error
	// RemoteOn returns the contents at b, and copies them there if needed.
	RemoteOn(b device.Backend) (device.Store, error)
	// HasRemote reports whether b has the contents already.
	HasRemote(b device.Backend) bool
	Place() Place
	// Symmetric reports whether the matrix is known to equal its transpose. It does not compare
	// entries.
	Symmetric() bool
	Dims() (rows, cols int)
	NVals() int64
	// Leads returns the first columns of each row, or the first rows of each column, as
	// sparse.Leads does. It returns nil unless the form is CSR.
	Leads(cols bool) []int32

	// OnGroup returns the matrix as one on a group.
	OnGroup() Grouped
}

// Grouped is a matrix on a group, without the type of its entries.
type Grouped interface {
	// MaskBlocks returns what each rank of this process needs of a matrix on a group. It may be a
	// collective.
	MaskBlocks(q Query) ([]Mask, error)
	// Cuts returns how the rows are cut on a group, or those of the transpose.
	Cuts(ctx context.Context, g *comm.Group, vector, transposed bool) ([]int, error)
	// Counts returns the entries of the block of each rank.
	Counts(ctx context.Context, g *comm.Group, vector bool) ([]int64, error)
	// Lengths returns the entries of rows of the whole matrix, or of columns, in ascending order.
	Lengths(ctx context.Context, g *comm.Group, transposed bool, rows []int32) ([]int64, error)
	// Everywhere reports whether every rank has the whole matrix already.
	Everywhere(g *comm.Group) bool
	// HasCols reports whether a matrix on one device would have its transpose by now; HadCols says
	// that it would.
	HasCols(g *comm.Group) bool
	HadCols(g *comm.Group)
	// Target returns blocks for a result of the given cuts: without entries if fresh, else with the
	// contents, which are changed in place.
	Target(ctx context.Context, g *comm.Group, vector, fresh bool, cuts []int) (GroupTarget, error)
	// SetBlocks makes stores at the places of the ranks of this process, rows between cuts, or
	// positions of a vector, the contents of a new matrix on g.
	SetBlocks(g *comm.Group, vector bool, cuts []int, homes []device.Store)
	// MarkSymmetric records that the matrix, on a group or not, equals its transpose.
	MarkSymmetric()
	// Kernels returns the programs with which blocks of values of type t travel between devices.
	Kernels(t device.Type) []device.Program
}

// Query says which part of a matrix on a group each rank needs: the block of its rows, unless Whole
// or Rows is set.
type Query struct {
	Group   *comm.Group
	Context context.Context
	Vector  bool // the matrix is that of a vector
	// Whole asks for the whole matrix, with Pattern for its structure alone.
	Whole, Pattern bool
	// Here asks, with Whole, for it at the places of the ranks even if the host has it. It is kept.
	Here bool
	// Transposed asks for the transpose, by its rows. Quiet does not record it; see HasCols.
	Transposed, Quiet bool
	// Cuts is how the rows are to be cut; nil for those that they have.
	Cuts []int
	// Need gives, with Whole, the rows that the k-th rank of this process uses, ascending and
	// without repeats: it may get others without their entries.
	Need func(k int) []int32
	// Rows gives the rows that a rank needs, ascending.
	Rows func(rank int) []int32
}

// GroupTarget is the blocks of a destination on a group.
type GroupTarget interface {
	// Part returns the address of the block of the k-th rank of this process; see Writer.Pointer.
	Part(k int) unsafe.Pointer
	// Keep makes the blocks the contents of the destination.
	Keep() error
	// Lost records an error after which the contents are undefined.
	Lost(err error)
}

// Alone reports whether a group has one rank, which computes on a device. Its block of a matrix is
// the whole matrix, and the device keeps the transpose with it.
func Alone(g *comm.Group) bool { return g.Size() == 1 && g.PlaceOf(0) != nil }

// Matrix is the source of a view: a matrix, or the pattern of one.
type Matrix[T comparable] interface {
	Placed
	// Stored returns the storage in its current format. It must not change while there are other
	// readers. A nil Val means a pattern.
	Stored() *sparse.Store[T]
	// Shape returns the structure of Stored.
	Shape() *sparse.Structure
	// Rows returns the sparse (CSR or hypersparse) form.
	Rows() *sparse.Store[T]
	// Cols returns the sparse form of the transpose, which is computed once and kept.
	Cols() *sparse.Store[T]
	// KeepsCols reports whether Cols is known.
	KeepsCols() bool
	// SetResult replaces the contents by the result of an operation. It converts the result to the
	// format of SetFormat, or without one to the format for its density. A nil st changes
	// nothing. A pattern is not a destination, and ignores it.
	SetResult(st *sparse.Store[T])
	// Writer returns the matrix as a destination. It is nil for a pattern.
	Writer() Writer[T]
	// Blocks is MaskBlocks with values.
	Blocks(q Query) ([]Matrix[T], error)
}

// Writer is a matrix as the destination of operations.
type Writer[T comparable] interface {
	// Init sets the contents of a new matrix.
	Init(st *sparse.Store[T])
	// SetStore replaces the contents.
	SetStore(st *sparse.Store[T])
	// SetRemote replaces the contents by s, which is at the place of the matrix.
	SetRemote(s device.Store)
	// Repin converts the contents on the device to the format that SetFormat set.
	Repin() error
	// Pointer returns the address of the matrix, which is also that of its vector.
	Pointer() unsafe.Pointer
}

// Mask is a matrix of any element type, for masks and patterns.
type Mask interface {
	Placed
	// The structures of Stored, Rows and Cols. No values are computed.
	Shape() *sparse.Structure
	RowsShape() *sparse.Structure
	ColsShape() *sparse.Structure
	KeptColsShape() *sparse.Structure
	// Nonzero returns the positions of the values other than zero.
	Nonzero() *sparse.Structure
}
