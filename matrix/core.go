package matrix

import (
	"fmt"
	"slices"
	"sync/atomic"
	"unsafe"

	"github.com/hiveblas/hiveblas/internal/device"
	"github.com/hiveblas/hiveblas/internal/rep"
	"github.com/hiveblas/hiveblas/internal/sparse"
)

// core is a Matrix with the methods of rep.Matrix, rep.Writer and rep.Mask. Views and masks hold
// it, and package internal/access gives the other packages of the module these methods.
type core[T comparable] Matrix[T]

// Stored returns the storage, which must not change while there are other readers.
func (a *core[T]) Stored() *sparse.Store[T] {
	if a == nil {
		return sparse.Empty[T](0, 0)
	}
	if a.deviceOnly.Load() {
		a.mu.Lock()
		a.fetch()
		a.mu.Unlock()
	}
	if a.st == nil {
		return sparse.Empty[T](0, 0)
	}
	return a.st
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
	a.dropRemote()
	if a.deviceOnly.Load() {
		a.deviceOnly.Store(false)
	}
	a.st = st
	a.forget()
}

// forget discards the derived forms. Most destinations have none, and a load is cheaper than an
// atomic store.
func (a *core[T]) forget() {
	if a.knownSymmetric.Load() {
		a.knownSymmetric.Store(false)
	}
	drop(&a.asRows)
	drop(&a.asCols)
	drop(&a.asColsShape)
	drop(&a.rowLeads)
	drop(&a.colLeads)
}

func drop[E any](p *atomic.Pointer[E]) {
	if p.Load() != nil {
		p.Store(nil)
	}
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

// KeptCols returns Cols if it is known, and nil otherwise.
func (a *core[T]) KeptCols() *sparse.Store[T] {
	if a == nil {
		return nil
	}
	return a.asCols.Load()
}

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
	if s := a.KeptColsShape(); s != nil {
		return s
	}
	rows := a.Rows()
	if a == nil {
		return &rows.Structure
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	if s := a.KeptColsShape(); s != nil {
		return s
	}
	s := &sparse.Transpose(rows.Pattern(), 0).Structure
	a.asColsShape.Store(s)
	return s
}

// Leads returns the first columns of each row, or the first rows of each column, as sparse.Leads
// does. It returns nil unless the form is CSR.
func (a *core[T]) Leads(cols bool) []int32 {
	if a == nil {
		return nil
	}
	s, kept := a.RowsShape(), &a.rowLeads
	if cols && !a.Symmetric() {
		s, kept = a.ColsShape(), &a.colLeads
	}
	if s.Format != sparse.CSR {
		return nil
	}
	if l := kept.Load(); l != nil {
		return *l
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	if l := kept.Load(); l != nil {
		return *l
	}
	l := sparse.Leads(s, 0)
	kept.Store(&l)
	return l
}

// Dims returns the number of rows and columns.
func (a *core[T]) Dims() (rows, cols int) {
	if r := a.remote(); r != nil {
		return r.Dims()
	}
	if s := a.scattered(); s != nil {
		return s.rows, s.cols
	}
	st := a.Stored()
	return st.NRows, st.NCols
}

// NVals returns the number of entries.
func (a *core[T]) NVals() int64 {
	if r := a.remote(); r != nil {
		return a.counted(r)
	}
	if s := a.scattered(); s != nil {
		if n, err := s.total(nil); err == nil {
			return n
		}
	}
	return a.Stored().NVals
}

// HasRemote reports whether b has the contents already.
func (a *core[T]) HasRemote(b device.Backend) bool {
	if a == nil {
		return false
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.place != nil && any(a.place) == any(b) {
		return true
	}
	return slices.ContainsFunc(a.copies, func(c copyAt) bool { return c.at == b })
}

// RemoteOn returns the contents at b, and copies them there if needed.
func (a *core[T]) RemoteOn(b device.Backend) (device.Store, error) {
	if a == nil || b == nil {
		return nil, errNil
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	atPlace := a.place != nil && any(a.place) == any(b)
	if atPlace && a.home != nil {
		return a.home, nil
	}
	for _, c := range a.copies {
		if c.at == b {
			return c.store, nil
		}
	}
	a.fetch()
	if a.err != nil {
		return nil, a.err
	}
	t, err := device.TypeOf[T]()
	if err != nil {
		return nil, err
	}
	st := a.st
	if st == nil {
		st = sparse.Empty[T](0, 0)
	}
	val := unsafe.Pointer(unsafe.SliceData(st.Val))
	h := device.Host{Structure: st.Structure, Type: t, Val: val, N: len(st.Val)}
	s, err := b.Upload(h)
	if err != nil {
		return nil, err
	}
	if atPlace {
		a.home = s
	} else {
		a.copies = append(a.copies, copyAt{b, s})
	}
	return s, nil
}

// SetRemote replaces the contents by s, which is at the place of the matrix.
func (a *core[T]) SetRemote(s device.Store) {
	if a == nil {
		return
	}
	a.dropRemote()
	a.mu.Lock()
	defer a.mu.Unlock()
	a.st, a.home = nil, s
	a.forget()
	a.deviceOnly.Store(true)
}

// Repin converts the contents on the device to the format that SetFormat pinned.
func (a *core[T]) Repin() error {
	r := a.remote()
	if r == nil || !a.pinned || r.Format() == a.pin {
		return nil
	}
	f := a.pin
	if m, n := r.Dims(); f == sparse.Full {
		cells, _ := sparse.Cells(m, n)
		if k, err := r.NVals(); err != nil || k != int64(cells) {
			f = sparse.Bitmap
		}
	}
	return a.convertRemote(r, f)
}

// dropRemote frees the copies outside host memory.
func (a *core[T]) dropRemote() {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.home != nil {
		a.home.Drop()
		a.home = nil
	}
	for _, c := range a.copies {
		c.store.Drop()
	}
	a.copies, a.blocks, a.blocksAt = nil, nil, nil
}

// fetch copies the contents to the host if they are only on a device. The caller holds mu. fetch
// stores an error in the matrix, where Err returns it.
func (a *core[T]) fetch() {
	if !a.deviceOnly.Load() {
		return
	}
	if a.home == nil && a.blocks != nil {
		a.collect()
		return
	}
	m, n := a.home.Dims()
	b := a.place.(device.Backend)
	st, err := a.download(b, a.home)
	if err != nil {
		a.err = fmt.Errorf("cannot read the contents of a matrix from %s: %w", a.place, err)
		st = sparse.Empty[T](m, n)
	}
	a.st = st
	a.deviceOnly.Store(false)
}

func (a *core[T]) download(b device.Backend, s device.Store) (*sparse.Store[T], error) {
	shape, err := b.Shape(s)
	if err != nil {
		return nil, err
	}
	n := len(shape.Idx)
	if !shape.Sparse() {
		n, _ = shape.Cells()
	}
	st := &sparse.Store[T]{Structure: shape, Val: make([]T, n)}
	if err := b.Values(s, unsafe.Pointer(unsafe.SliceData(st.Val)), n); err != nil {
		return nil, err
	}
	return st, nil
}

// remote returns the contents if they are only on a device, and nil otherwise.
func (a *core[T]) remote() device.Store {
	if a == nil || !a.deviceOnly.Load() {
		return nil
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	if !a.deviceOnly.Load() {
		return nil
	}
	return a.home
}

// counted returns the number of entries of s, the contents on a device.
func (a *core[T]) counted(s device.Store) int64 {
	n, err := s.NVals()
	if err != nil {
		return a.Stored().NVals // Stored records the error
	}
	return n
}

// convertRemote converts the contents s to the format f on their device.
func (a *core[T]) convertRemote(s device.Store, f sparse.Format) error {
	out, err := a.place.(device.Backend).Convert(s, f)
	if err != nil {
		return err
	}
	a.SetRemote(out)
	return nil
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
