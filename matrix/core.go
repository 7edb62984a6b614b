package matrix

import (
	"unsafe"

	"github.com/hiveblas/hiveblas/internal/device"
	"github.com/hiveblas/hiveblas/internal/rep"
	"github.com/hiveblas/hiveblas/internal/sparse"
)

// core is a Matrix with the methods of rep.Matrix, rep.Writer, rep.Mask and contents. Views and
// masks hold it, and package internal/access gives the other packages of the module these methods.
type core[T comparable] Matrix[T]

// Stored returns the storage, which must not change while there are other readers.
func (a *core[T]) Stored() *sparse.Store[T] {
	if a == nil {
		return sparse.Empty[T](0, 0)
	}
	if a.deviceOnly.Load() {
		a.mu.Lock()
		fetch(a)
		a.mu.Unlock()
	}
	if a.pending.Load() != nil {
		a.mu.Lock()
		a.settle()
		a.mu.Unlock()
	}
	if a.st == nil {
		return sparse.Empty[T](0, 0)
	}
	return a.st
}

// changes returns the pending changes, and nil for none.
func (a *core[T]) changes() *pendingOf[T] {
	if a == nil {
		return nil
	}
	return a.pending.Load()
}

// SetResult replaces the contents by the result of an operation. It converts the result to the
// format of SetFormat, or without one to the format for its density. A nil st changes nothing.
func (a *core[T]) SetResult(st *sparse.Store[T]) {
	switch {
	case a == nil || st == nil:
		return
	case a.pinned:
		st = sparse.Convert(st, a.pin)
	case st == a.st: // updated in place: keep a bitmap, which may lose entries again
		st = sparse.Shrink(st)
	default:
		st = sparse.Conform(st)
	}
	a.SetStore(st)
}

// Init sets the contents of a new matrix.
func (a *core[T]) Init(st *sparse.Store[T]) { a.st = st }

// SetStore replaces the contents.
func (a *core[T]) SetStore(st *sparse.Store[T]) {
	if a == nil {
		return
	}
	dropRemote(&a.base)
	if a.deviceOnly.Load() {
		a.deviceOnly.Store(false)
	}
	a.st = st
	drop(&a.pending)
	a.forget()
}

// Rows returns the sparse (CSR or hypersparse) form.
func (a *core[T]) Rows() *sparse.Store[T] {
	st := a.Stored()
	if a == nil || st.Sparse() {
		return st
	}
	if r := a.asRows.Load(); r != nil {
		return r
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	if r := a.asRows.Load(); r != nil {
		return r
	}
	r := sparse.ToSparse(st)
	a.asRows.Store(r)
	return r
}

// Cols returns the sparse form of the transpose.
func (a *core[T]) Cols() *sparse.Store[T] {
	if a == nil {
		return a.Stored()
	}
	if c := a.asCols.Load(); c != nil {
		return c
	}
	rows := a.Rows()
	a.mu.Lock()
	defer a.mu.Unlock()
	if c := a.asCols.Load(); c != nil {
		return c
	}
	c := sparse.Transpose(rows, 0)
	a.asCols.Store(c)
	return c
}

// Shape returns the structure of Stored.
func (a *core[T]) Shape() *sparse.Structure { return &a.Stored().Structure }

// RowsShape returns the structure of Rows.
func (a *core[T]) RowsShape() *sparse.Structure { return &a.Rows().Structure }

// KeepsCols reports whether Cols is known.
func (a *core[T]) KeepsCols() bool { return a != nil && a.asCols.Load() != nil }

// KeptColsShape returns ColsShape if it is known, and nil otherwise.
func (a *core[T]) KeptColsShape() *sparse.Structure {
	if a == nil {
		return nil
	}
	if c := a.asCols.Load(); c != nil {
		return &c.Structure
	}
	return a.asColsShape.Load()
}

// Err returns the error of a; a nil matrix is an error.
func (a *core[T]) Err() error {
	if a == nil {
		return errNil
	}
	return a.err
}

// ColsShape returns the structure of the transpose, without values.
func (a *core[T]) ColsShape() *sparse.Structure {
	if a == nil {
		return a.Shape()
	}
	return colsShape(a)
}

// Leads returns the first columns of each row, or the first rows of each column, as sparse.Leads
// does. It returns nil unless the form is CSR.
func (a *core[T]) Leads(cols bool) []int32 {
	if a == nil {
		return nil
	}
	return leads(a, cols)
}

// Dims returns the number of rows and columns.
func (a *core[T]) Dims() (rows, cols int) {
	if a == nil {
		return 0, 0
	}
	if p := a.pending.Load(); p != nil {
		return p.rows, p.cols
	}
	if st := a.st; st != nil && !a.deviceOnly.Load() {
		return st.NRows, st.NCols
	}
	return dimsOf(a)
}

// NVals returns the number of entries.
func (a *core[T]) NVals() int64 {
	if a == nil {
		return 0
	}
	if p := a.pending.Load(); p != nil {
		return p.nvals
	}
	if st := a.st; st != nil && !a.deviceOnly.Load() {
		return st.NVals
	}
	return countNVals(a)
}

// HasRemote reports whether b has the contents already.
func (a *core[T]) HasRemote(b device.Backend) bool { return a != nil && hasRemote(&a.base, b) }

// RemoteOn returns the contents at b, and copies them there if needed.
func (a *core[T]) RemoteOn(b device.Backend) (device.Store, error) {
	if a == nil {
		return nil, errNil
	}
	return remoteOn(a, b)
}

// SetRemote replaces the contents by s, which is at the place of the matrix.
func (a *core[T]) SetRemote(s device.Store) {
	if a != nil {
		setRemote(a, s)
	}
}

// Repin converts the contents on the device to the format that SetFormat pinned.
func (a *core[T]) Repin() error {
	if a == nil {
		return nil
	}
	return repin(a)
}

// Symmetric reports whether the matrix is known to equal its transpose.
func (a *core[T]) Symmetric() bool { return a != nil && a.knownSymmetric.Load() }

// Place returns the place of a; nil is the host.
func (a *core[T]) Place() rep.Place {
	if a == nil || a.place == nil {
		return nil
	}
	return a.place
}

// Nonzero returns the positions of the values other than zero.
func (a *core[T]) Nonzero() *sparse.Structure { return sparse.Nonzero(a.Stored()) }

// Writer returns a as a destination.
func (a *core[T]) Writer() rep.Writer[T] { return a }

// Pointer returns the address of the matrix. A vector begins with its matrix.
func (a *core[T]) Pointer() unsafe.Pointer { return unsafe.Pointer(a) }

// OnGroup returns the matrix as one on a group.
func (a *core[T]) OnGroup() rep.Grouped {
	if a == nil {
		return noGroup{}
	}
	return onGroup{a}
}

// Blocks returns what each rank of this process needs of the matrix.
func (a *core[T]) Blocks(q rep.Query) ([]rep.Matrix[T], error) {
	if a == nil {
		return nil, errNil
	}
	list, err := blockMatrices(a, q)
	if err != nil {
		return nil, err
	}
	out := make([]rep.Matrix[T], len(list))
	for k, m := range list {
		out[k] = m.(*core[T])
	}
	return out, nil
}
