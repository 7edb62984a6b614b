package matrix

import (
	"fmt"
	"reflect"
	"slices"
	"sync"
	"sync/atomic"
	"unsafe"

	"github.com/hiveblas/hiveblas/comm"
	"github.com/hiveblas/hiveblas/internal/device"
	"github.com/hiveblas/hiveblas/internal/rep"
	"github.com/hiveblas/hiveblas/internal/sparse"
)

// The compiler compiles the methods of Matrix[T] in every package that names a Matrix[T]. Code that
// moves values and never computes with them is therefore not generic: it sees a matrix as contents,
// and a store as raw, whose values are bytes. Only types without pointers have such values: those
// that devices and groups accept.

// base is the part of a matrix that does not depend on the type of its entries. It has no methods,
// which every Matrix[T] would have too.
type base struct {
	deviceOnly atomic.Bool // the contents are only in home or blocks, and st is nil
	pinned     bool        // the user set the format: results are converted to pin

	pin            sparse.Format
	knownSymmetric atomic.Bool // known to equal its transpose
	err            error       // the error of invalid dimensions or of a failed download
	place          Place
	home           device.Store // the contents at place, or nil
	copies         []copyAt     // copies of host contents, made by operations on devices
	blocks         *spread      // the contents, or a copy of them, on the group blocksAt
	blocksAt       *comm.Group

	mu          sync.Mutex // serialises the creation of derived forms and of copies
	asColsShape atomic.Pointer[sparse.Structure]
	rowLeads    atomic.Pointer[[]int32] // see sparse.Leads
	colLeads    atomic.Pointer[[]int32]

	replicated bool // every process of the group at place has the contents, in st
}

// contents is a *core[T] without its type. A nil *core[T] stands for the type alone.
type contents interface {
	rep.Mask
	Pointer() unsafe.Pointer
	// common returns the part that does not depend on the type. The matrix is not nil.
	common() *base
	// elem returns the type of the entries.
	elem() reflect.Type
	// host returns the storage on the host with pending changes merged, and stored and listed after a
	// Fetch. The caller of host holds the lock.
	host() *raw
	stored() *raw
	listed() *raw
	// put replaces the storage on the host, and forget discards the derived forms.
	put(*raw)
	forget()
	// keepsCols reports whether the transpose is kept.
	keepsCols() bool
	// of and at return a new matrix of the same type, on the host and at a place. alloc returns
	// memory for n values.
	of(*raw) contents
	at(p Place, home device.Store) contents
	alloc(n int) []byte
	// share returns a matrix on the host with the same storage and what is known of it.
	share() contents
	// apply returns the result of a step.
	apply(do step, r *raw, arg int) *raw
	// sameValues compares values.
	sameValues(x, y *raw) bool
	move(p Place) error
	// convert converts the storage on the host, of any type.
	convert(f sparse.Format)
}

// step is a conversion of a store.
type step uint8

// The steps.
const (
	transposing step = iota // by arg threads
	conforming
	listing
	converting // to the format arg
)

// raw is a store whose values have size bytes each.
type raw struct {
	sparse.Structure
	val  []byte // nil for a pattern
	size int
}

// rawOf returns a store as bytes, which it shares.
func rawOf[T any](st *sparse.Store[T]) *raw {
	return &raw{st.Structure, bytesOf(st.Val), int(unsafe.Sizeof(*new(T)))}
}

// typed returns the store of bytes that were allocated as values of T.
func typed[T any](r *raw) *sparse.Store[T] {
	st := &sparse.Store[T]{Structure: r.Structure}
	switch {
	case r.val == nil:
	case r.size == 0:
		n := len(r.Idx)
		if !r.Sparse() {
			n, _ = r.Cells()
		}
		st.Val = make([]T, n)
	default:
		st.Val = unsafe.Slice((*T)(unsafe.Pointer(unsafe.SliceData(r.val))), len(r.val)/r.size)
	}
	return st
}

// bytesOf returns the memory of values without pointers, and nil for nil.
func bytesOf[E any](s []E) []byte {
	if s == nil {
		return nil
	}
	return unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(s))), len(s)*int(unsafe.Sizeof(*new(E))))
}

// emptyRaw is sparse.Empty.
func emptyRaw(m, n, size int) *raw {
	return &raw{sparse.Empty[bool](m, n).Structure, []byte{}, size}
}

// emptyRows returns a list without rows and values.
func emptyRows(size int) *raw {
	return &raw{Structure: sparse.Structure{Format: sparse.Hypersparse, Ptr: []int64{0}}, val: []byte{}, size: size}
}

// at returns the values from … to−1.
func (r *raw) at(from, to int64) []byte { return r.val[from*int64(r.size) : to*int64(r.size)] }

// take appends a row of st, the entries from … to−1, as row i of a list. The columns are shifted.
func (r *raw) take(st *raw, i int32, from, to int64, shift int32) {
	r.RowIDs = append(r.RowIDs, i)
	if shift == 0 {
		r.Idx = append(r.Idx, st.Idx[from:to]...)
	} else {
		for _, j := range st.Idx[from:to] {
			r.Idx = append(r.Idx, j+shift)
		}
	}
	r.val = append(r.val, st.at(from, to)...)
	r.Ptr = append(r.Ptr, int64(len(r.Idx)))
}

// with returns r with another structure for the same values.
func (r *raw) with(shape *sparse.Structure) *raw { return &raw{*shape, r.val, r.size} }

// list returns r in CSR or hypersparse format.
func (r *raw) list(kind contents) *raw {
	switch {
	case r.Sparse():
		return r
	case r.val == nil:
		return r.with(&sparse.ToSparse(r.Pattern()).Structure)
	}
	return kind.apply(listing, r, 0)
}

// holding returns r with a copy of values.
func (r *raw) holding(kind contents, val []byte) *raw {
	c := *r
	c.val = kind.alloc(len(val) / max(r.size, 1))
	copy(c.val, val)
	return &c
}

// own returns a copy with its own values and presence bytes, as sparse.Store.Own.
func (r *raw) own(kind contents) *raw {
	c := r.holding(kind, r.val)
	c.Present = slices.Clone(r.Present)
	return c
}

// The methods of contents.

func (a *core[T]) common() *base      { return &a.base }
func (a *core[T]) elem() reflect.Type { return reflect.TypeFor[T]() }
func (a *core[T]) stored() *raw       { return rawOf(a.Stored()) }
func (a *core[T]) listed() *raw       { return rawOf(a.Rows()) }
func (a *core[T]) keepsCols() bool    { return a.asCols.Load() != nil }
func (a *core[T]) of(r *raw) contents { return fromStore(typed[T](r)).core() }
func (a *core[T]) at(p Place, home device.Store) contents {
	m := &core[T]{base: base{place: p, home: home}}
	m.deviceOnly.Store(true)
	return m
}

func (a *core[T]) share() contents {
	m := &core[T]{st: a.Stored()}
	m.knownSymmetric.Store(a.knownSymmetric.Load())
	m.asCols.Store(a.asCols.Load())
	return m
}

func (a *core[T]) alloc(n int) []byte { return bytesOf(make([]T, n)) }
func (a *core[T]) move(p Place) error { return (*Matrix[T])(a).Move(p) }

func (a *core[T]) convert(f sparse.Format) { a.SetStore(sparse.Convert(a.Stored(), f)) }

func (a *core[T]) host() *raw {
	a.settle()
	if a.st == nil {
		return emptyRaw(0, 0, int(unsafe.Sizeof(*new(T))))
	}
	return rawOf(a.st)
}

func (a *core[T]) put(r *raw) {
	drop(&a.pending)
	if a.st = nil; r != nil {
		a.st = typed[T](r)
	}
}

func (a *core[T]) apply(do step, r *raw, arg int) *raw {
	st := typed[T](r)
	switch do {
	case transposing:
		st = sparse.Transpose(st, arg)
	case conforming:
		st = sparse.Conform(st)
	case listing:
		st = sparse.ToSparse(st)
	case converting:
		st = sparse.Convert(st, sparse.Format(arg))
	}
	return rawOf(st)
}

func (a *core[T]) sameValues(x, y *raw) bool { return slices.Equal(typed[T](x).Val, typed[T](y).Val) }

// forget discards the derived forms. Most destinations have none, and a load is cheaper than an
// atomic store.
func (a *core[T]) forget() {
	forgetShapes(&a.base)
	drop(&a.asRows)
	drop(&a.asCols)
}

func forgetShapes(b *base) {
	if b.knownSymmetric.Load() {
		b.knownSymmetric.Store(false)
	}
	drop(&b.asColsShape)
	drop(&b.rowLeads)
	drop(&b.colLeads)
}

func drop[E any](p *atomic.Pointer[E]) {
	if p.Load() != nil {
		p.Store(nil)
	}
}

// leads is Leads of a matrix that is not nil.
func leads(a contents, cols bool) []int32 {
	b := a.common()
	s, kept := a.RowsShape(), &b.rowLeads
	if cols && !b.knownSymmetric.Load() {
		s, kept = a.ColsShape(), &b.colLeads
	}
	if s.Format != sparse.CSR {
		return nil
	}
	if l := kept.Load(); l != nil {
		return *l
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	if l := kept.Load(); l != nil {
		return *l
	}
	l := sparse.Leads(s, 0)
	kept.Store(&l)
	return l
}

// colsShape is ColsShape of a matrix that is not nil.
func colsShape(a contents) *sparse.Structure {
	if s := a.KeptColsShape(); s != nil {
		return s
	}
	b, rows := a.common(), a.RowsShape()
	b.mu.Lock()
	defer b.mu.Unlock()
	if s := a.KeptColsShape(); s != nil {
		return s
	}
	s := &sparse.Transpose(rows.Pattern(), 0).Structure
	b.asColsShape.Store(s)
	return s
}

// dimsOf is Dims of a matrix that is not nil.
func dimsOf(a contents) (rows, cols int) {
	b := a.common()
	if r := remote(b); r != nil {
		return r.Dims()
	}
	if s := scattered(b); s != nil {
		return s.rows, s.cols
	}
	st := a.Shape()
	return st.NRows, st.NCols
}

// countNVals is NVals of a matrix that is not nil.
func countNVals(a contents) int64 {
	b := a.common()
	if r := remote(b); r != nil {
		if n, err := r.NVals(); err == nil {
			return n
		}
	} else if s := scattered(b); s != nil {
		if n, err := s.total(nil); err == nil {
			return n
		}
	}
	return a.Shape().NVals // which records an error
}

// formatOf is Format of a matrix that is not nil.
func formatOf(a contents) Format {
	b := a.common()
	if r := remote(b); r != nil {
		return Format(r.Format())
	}
	if s := scattered(b); s != nil {
		if b.pinned && b.pin != sparse.Full {
			return Format(b.pin)
		}
		if f := s.format(); !b.pinned || f == Full {
			return f
		}
		return Bitmap
	}
	return Format(a.Shape().Format)
}

// hasRemote reports whether a device has the contents already.
func hasRemote(b *base, at device.Backend) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.place != nil && device.Of(b.place) == at {
		return true
	}
	return slices.ContainsFunc(b.copies, func(c copyAt) bool { return c.at == at })
}

// remoteOn is RemoteOn of a matrix that is not nil.
func remoteOn(a contents, at device.Backend) (device.Store, error) {
	if at == nil {
		return nil, errNil
	}
	b := a.common()
	b.mu.Lock()
	defer b.mu.Unlock()
	atPlace := b.place != nil && device.Of(b.place) == at
	if atPlace && b.home != nil {
		return b.home, nil
	}
	for _, c := range b.copies {
		if c.at == at {
			return c.store, nil
		}
	}
	fetch(a)
	if b.err != nil {
		return nil, b.err
	}
	t, err := device.TypeFor(a.elem())
	if err != nil {
		return nil, err
	}
	st := a.host()
	val := unsafe.Pointer(unsafe.SliceData(st.val))
	s, err := at.Upload(device.Host{Structure: st.Structure, Type: t, Val: val, N: len(st.val) / t.Size})
	if err != nil {
		return nil, err
	}
	if atPlace {
		b.home = s
	} else {
		b.copies = append(b.copies, copyAt{at, s})
	}
	return s, nil
}

// setRemote replaces the contents by s, which is at the place of the matrix.
func setRemote(a contents, s device.Store) {
	b := a.common()
	dropRemote(b)
	b.mu.Lock()
	defer b.mu.Unlock()
	a.put(nil)
	b.home = s
	a.forget()
	b.deviceOnly.Store(true)
}

// repin converts the contents on the device to the format that SetFormat pinned.
func repin(a contents) error {
	b := a.common()
	r := remote(b)
	if r == nil || !b.pinned || r.Format() == b.pin {
		return nil
	}
	f := b.pin
	if m, n := r.Dims(); f == sparse.Full {
		cells, _ := sparse.Cells(m, n)
		if k, err := r.NVals(); err != nil || k != int64(cells) {
			f = sparse.Bitmap
		}
	}
	return convertRemote(a, r, f)
}

// dropRemote frees the copies outside host memory.
func dropRemote(b *base) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.home != nil {
		b.home.Drop()
		b.home = nil
	}
	for _, c := range b.copies {
		c.store.Drop()
	}
	b.blocks.drop(nil)
	b.copies, b.blocks, b.blocksAt = nil, nil, nil
}

// fetch copies the contents to the host if they are only elsewhere. The caller holds mu. fetch
// stores an error in the matrix, where Err returns it.
func fetch(a contents) {
	b := a.common()
	if !b.deviceOnly.Load() {
		return
	}
	if b.home == nil && b.blocks != nil {
		collect(a)
		return
	}
	m, n := b.home.Dims()
	st, err := download(a, device.Of(b.place), b.home)
	if err != nil {
		b.err = fmt.Errorf("cannot read the contents of a matrix from %s: %w", b.place, err)
		st = emptyRaw(m, n, int(a.elem().Size()))
	}
	a.put(st)
	b.deviceOnly.Store(false)
}

func download(a contents, at device.Backend, s device.Store) (*raw, error) {
	shape, err := at.Shape(s)
	if err != nil {
		return nil, err
	}
	n := len(shape.Idx)
	if !shape.Sparse() {
		n, _ = shape.Cells()
	}
	st := &raw{shape, a.alloc(n), int(a.elem().Size())}
	if err := at.Values(s, unsafe.Pointer(unsafe.SliceData(st.val)), n); err != nil {
		return nil, err
	}
	return st, nil
}

// remote returns the contents if they are only on a device, and nil otherwise.
func remote(b *base) device.Store {
	if !b.deviceOnly.Load() {
		return nil
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	if !b.deviceOnly.Load() {
		return nil
	}
	return b.home
}

// convertRemote converts the contents s to the format f on their device.
func convertRemote(a contents, s device.Store, f sparse.Format) error {
	out, err := device.Of(a.common().place).Convert(s, f)
	if err != nil {
		return err
	}
	setRemote(a, out)
	return nil
}
