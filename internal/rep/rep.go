// Package rep declares the inside of matrices, views and masks as the packages of this module see
// it. It knows no element types: the method Inside of the types of package matrix returns it.
package rep

import (
	"context"

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
	MaskBlocks(q Query) ([]Matrix, error)
	// Cuts returns how a group cuts the rows, or the rows of the transpose.
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
	// Assemble makes stores that the ranks of this process have read, which have the rows between
	// cuts, the contents of a new matrix on g. It is a collective.
	Assemble(ctx context.Context, g *comm.Group, cuts []int, stores []*sparse.Store, how Assembly) error
	// MarkSymmetric records that the matrix, on a group or not, equals its transpose.
	MarkSymmetric()
	// Kernels returns the programs with which blocks of values of type t travel between devices.
	Kernels(t device.Type) []device.Program
}

// Assembly says what becomes of the blocks of a matrix that a group has read.
type Assembly struct {
	// Union returns the union of the rows of a rank, from row first on, and the same rows of the
	// transpose; nil for none.
	Union func(first int, rows, across *sparse.Store) *sparse.Store
	// Recut cuts the rows by the work on them, as a matrix that is moved to the group has them.
	Recut bool
}

// Query says which part of a matrix on a group each rank needs: the block of its rows, unless Whole
// or Rows is set.
type Query struct {
	Group   *comm.Group
	Context context.Context
	Vector  bool // the matrix holds a vector
	// Whole asks for the whole matrix, with Pattern for its structure alone.
	Whole, Pattern bool
	// Here asks, with Whole, for it at the places of the ranks even if the host has it. It is kept.
	Here bool
	// Transposed asks for the transpose, by its rows. Quiet does not record it; see HasCols.
	Transposed, Quiet bool
	// Cuts is how the rows are to be cut; nil for the present cuts.
	Cuts []int
	// Need gives, with Whole, the rows that the k-th rank of this process uses, ascending and
	// without repeats: it may get others without their entries.
	Need func(k int) []int32
	// Rows gives the rows that a rank needs, ascending.
	Rows func(rank int) []int32
}

// GroupTarget is the blocks of a destination on a group.
type GroupTarget interface {
	// Part returns the block of the k-th rank of this process.
	Part(k int) Matrix
	// Keep makes the blocks the contents of the destination.
	Keep() error
	// Lost records an error after which the contents are undefined.
	Lost(err error)
}

// OneDevice reports whether a group has one rank, which computes on a device. Its block of a matrix
// is the whole matrix, and the device keeps the transpose with it.
func OneDevice(g *comm.Group) bool { return g.Size() == 1 && g.PlaceOf(0) != nil }

// Matrix is a matrix without the type of its entries, or the pattern of one.
type Matrix interface {
	Placed
	// Type describes the type of the values, bool of a pattern.
	Type() *sparse.Type
	// Stored returns the storage in its current format. It must not change while there are other
	// readers. Its values are none for a pattern.
	Stored() *sparse.Store
	// Rows returns the sparse (CSR or hypersparse) form.
	Rows() *sparse.Store
	// Cols returns the sparse form of the transpose, which is computed once and kept.
	Cols() *sparse.Store
	// KeepsCols reports whether Cols is known.
	KeepsCols() bool
	// The structures of Stored, Rows and Cols. No values are computed. KeptColsShape is nil unless
	// ColsShape is known.
	Shape() *sparse.Structure
	RowsShape() *sparse.Structure
	ColsShape() *sparse.Structure
	KeptColsShape() *sparse.Structure
	// Nonzero returns the positions of the values other than zero.
	Nonzero() *sparse.Structure
	// IsPattern reports whether this is the pattern of a matrix, which is no destination.
	IsPattern() bool
	// Pattern returns the pattern.
	Pattern() Matrix
	// Matrix returns the matrix itself, also of a pattern.
	Matrix() Matrix
	// Pinned reports whether the format was set by SetFormat.
	Pinned() bool
	// SetResult replaces the contents by the result of an operation. It converts the result to the
	// format of SetFormat, or without one to the format for its density. A nil st changes
	// nothing. A pattern and a nil matrix ignore it, as they do the other methods that write.
	SetResult(st *sparse.Store)
	// SetStore replaces the contents.
	SetStore(st *sparse.Store)
	// SetRemote replaces the contents by s, which is at the place of the matrix.
	SetRemote(s device.Store)
	// SetType makes t the type of the values of a matrix that no one else uses; see sparse.Same.
	SetType(t *sparse.Type)
	// Repin converts the contents on the device to the format that SetFormat set.
	Repin() error
	// Move moves the matrix, or the matrix of a vector, to a place; nil is the host. layout is a
	// matrix.Layout.
	Move(p Place, vector bool, layout uint8) error
	// IsSymmetric compares the matrix with its transpose, unless Symmetric is known.
	IsSymmetric() bool
	// Blocks returns what each rank of this process needs of a matrix on a group, with values. It
	// may be a collective.
	Blocks(q Query) ([]Matrix, error)
	// Few reports whether the contents are on the host, with one entry at most, in row 0. It
	// returns the column and the value of that, and no values if there is none.
	Few() (j int32, val sparse.Values, ok bool)
	// Exchange exchanges the contents with a matrix of the same type, shape and place.
	Exchange(m Matrix) error
	// Watch makes w watch the contents; nil ends that. It returns the watch before.
	Watch(w *Watch) *Watch
}

// Watch is what a recorded loop keeps with a matrix while operations on it wait in the list of the
// loop.
type Watch struct {
	// Touched is called before the contents are read or written, on the goroutine that does so.
	Touched func(write bool)
}

// View is a matrix as an operand of an operation.
type View struct {
	Matrix
	Transposed, Vector bool
}

// Inside returns v: a View is an operand without its element type.
func (v View) Inside() View { return v }

// T returns the transposed view.
func (v View) T() View {
	v.Transposed = !v.Transposed
	return v
}

// Dims returns the number of rows and columns of the view.
func (v View) Dims() (rows, cols int) {
	m, n := v.Matrix.Dims()
	if v.Transposed {
		return n, m
	}
	return m, n
}

// Rows returns the entries of the view by rows (CSR or hypersparse). For a transposed view it
// computes and keeps the transpose.
func (v View) Rows() *sparse.Store {
	if v.Transposed {
		return v.Matrix.Cols()
	}
	return v.Matrix.Rows()
}

// Oriented returns the entries of the view in any format. It transposes a dense matrix without a
// conversion to a sparse format.
func (v View) Oriented() *sparse.Store {
	st := v.Stored()
	if !v.Transposed {
		return st
	}
	if st.Sparse() {
		return v.Rows()
	}
	return st.Transpose(0)
}

// Fetched copies the matrix to the host if it is elsewhere, and returns its error.
func (v View) Fetched() error {
	if v.Place() != nil {
		v.Stored()
	}
	return v.Err()
}

// Cols returns the rows of the transpose of the view.
func (v View) Cols() *sparse.Store { return v.T().Rows() }

// ColsShape returns the structure of Cols.
func (v View) ColsShape() *sparse.Structure {
	if v.Transposed {
		return v.Matrix.RowsShape()
	}
	return v.Matrix.ColsShape()
}

// HasRows reports whether Rows is available without computation.
func (v View) HasRows() bool {
	if v.Transposed {
		return v.KeepsCols()
	}
	return v.Shape().Sparse()
}

// HasCols reports whether Cols is available without computation.
func (v View) HasCols() bool { return v.T().HasRows() }

// Leads returns the first columns of each row of Rows in the layout of sparse.Leads. It computes
// and keeps them. It returns nil if Rows is hypersparse.
func (v View) Leads() []int32 { return v.Matrix.Leads(v.Transposed) }

// Operand returns the view as an operand at b.
func (v View) Operand(b device.Backend) (device.Operand, error) {
	s, err := v.RemoteOn(b)
	return device.Operand{Store: s, Transposed: v.Transposed, Vector: v.Vector,
		Pattern: v.IsPattern(), Symmetric: v.Symmetric()}, err
}

// Mask is a matrix as a mask.
type Mask struct {
	Matrix
	Structural, Complement, Vector bool
}

// Allowed returns the positions of the mask without its complement, in any format. It takes O(1)
// time for a structural mask and O(entries) for a mask by value.
func (m Mask) Allowed() *sparse.Structure {
	if m.Structural {
		return m.Shape()
	}
	return m.Nonzero()
}

// At returns the mask at b.
func (m Mask) At(b device.Backend) (*device.Mask, error) {
	s, err := m.RemoteOn(b)
	return &device.Mask{Store: s, Structural: m.Structural, Comp: m.Complement}, err
}

// The methods of views and masks on groups.

// Parts returns a view of the rows of a view that each rank of this process has, for the cuts of q,
// or of all of them if q.Whole is set. A vector is cut by positions. The only rank of a group, on a
// device, uses the block of the matrix itself for the transpose too.
func (v View) Parts(q Query) ([]View, error) {
	q.Vector = v.Vector
	flip := q.Whole || q.Vector || OneDevice(q.Group)
	if v.Transposed && !flip {
		q.Transposed = true
	}
	list, err := v.Blocks(q)
	out := make([]View, len(list))
	for k, m := range list {
		out[k] = View{Matrix: m, Vector: v.Vector, Transposed: v.Transposed && flip}
	}
	return out, err
}

// Replicas returns the whole of a view for each rank of this process, at the place of the rank,
// where it is kept until the matrix changes. It may be a collective.
func (v View) Replicas(ctx context.Context, g *comm.Group) ([]View, error) {
	return v.Parts(Query{Group: g, Context: ctx, Whole: true, Here: true})
}

// Cuts returns how the rows of a view are cut on a group, the positions of a vector.
func (v View) Cuts(ctx context.Context, g *comm.Group) ([]int, error) {
	return v.OnGroup().Cuts(ctx, g, v.Vector, v.Transposed)
}

// Counts returns the entries of the block of each rank, of a view that is not transposed.
func (v View) Counts(ctx context.Context, g *comm.Group) ([]int64, error) {
	return v.OnGroup().Counts(ctx, g, v.Vector)
}

// RowLengths returns the entries of the given rows, in ascending order, of a view of a matrix on a
// group.
func (v View) RowLengths(ctx context.Context, g *comm.Group, rows []int32) ([]int64, error) {
	return v.OnGroup().Lengths(ctx, g, v.Transposed, rows)
}

// Gatherable reports whether every rank may have the whole of a matrix; see comm.GatherLimit.
func (v View) Gatherable(g *comm.Group) bool {
	limit := g.GatherLimit()
	if limit == 0 || v.OnGroup().Everywhere(g) {
		return true
	}
	m, _ := v.Dims()
	return int64(m)*8+v.NVals()*(4+v.Type().Size) <= limit
}

// Pieces returns the number of blocks of columns in which an operand of more bytes than limit goes
// round.
func (v View) Pieces(limit int64) int {
	m, n := v.Dims()
	bytes := v.NVals()*(4+v.Type().Size) + 8*int64(m)
	return int(min(int64(max(n, 1)), (bytes+limit-1)/limit))
}

// ValuesInOrder returns the values of the entries, row by row.
func (v View) ValuesInOrder() sparse.Values {
	if st := v.Stored(); st.Format == sparse.Full && !st.Val.None() {
		return st.Val
	}
	return v.Rows().Valued().Val
}

// GroupHasRows reports whether a matrix on one device would have the rows of a view by now.
func (v View) GroupHasRows(g *comm.Group) bool { return !v.Transposed || v.OnGroup().HasCols(g) }

// GroupHadRows records that a matrix on one device would have the rows of a view from now on.
func (v View) GroupHadRows(g *comm.Group) {
	if v.Transposed {
		v.OnGroup().HadCols(g)
	}
}

// Parts returns the blocks of a mask.
func (m Mask) Parts(q Query) ([]Mask, error) {
	q.Vector = m.Vector
	list, err := m.OnGroup().MaskBlocks(q)
	out := make([]Mask, len(list))
	for k, b := range list {
		out[k] = m
		out[k].Matrix = b
	}
	return out, err
}

// PlaceOn cuts the matrix of a mask on a group.
func (m Mask) PlaceOn(ctx context.Context, g *comm.Group) error {
	_, err := m.OnGroup().Cuts(ctx, g, m.Vector, false)
	return err
}
