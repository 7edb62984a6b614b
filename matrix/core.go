package matrix

import (
	"fmt"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/hiveblas/hiveblas/internal/device"
	"github.com/hiveblas/hiveblas/internal/rep"
	"github.com/hiveblas/hiveblas/internal/sparse"
	"github.com/hiveblas/hiveblas/internal/spread"
)

// The compiler compiles the methods of Matrix[T] in every package that names a Matrix[T]. The
// inside of a matrix, which moves values and never computes with them, is therefore not generic.

// core is the inside of a matrix, and a rep.Matrix.
type core struct {
	t          typeRef       // of the values; nil of the zero value of a Matrix
	st         *sparse.Store // the contents on the host; nil of the zero value
	pending    pendingRef    // changes of st that are not merged yet; nil for none
	deviceOnly atomic.Bool   // the contents are only in home or blocks, and st is nil
	pinned     bool          // the user set the format: results are converted to pin
	null       bool          // it stands for a nil matrix

	pin            sparse.Format
	knownSymmetric atomic.Bool // known to equal its transpose
	err            error       // the error of invalid dimensions or of a failed download
	place          Place
	home           device.Store // the contents at place, or nil
	copies         []copyAt     // copies of host contents, made by operations on devices
	blocks         onGroup      // the contents, or a copy of them, on a group

	mu          sync.Mutex // serialises the creation of derived forms and of copies
	asRows      storeRef
	asCols      storeRef
	asColsShape shapeRef
	// The patterns of the rows and of the transpose.
	asPattern, asColsPattern patternRef

	rowLeads listRef // see sparse.Leads
	colLeads listRef

	watch watchRef // a recorded loop that reads and writes of others concern; nil for none

	replicated bool // every process of the group at place has the contents, in st
}

// nulls holds the core of a nil matrix of each type: *sparse.Type → *core.
var nulls sync.Map

// nullOf returns the core of a nil matrix. It has no rows and no columns, and ignores what is
// written.
func nullOf(t *sparse.Type) *core {
	if c, ok := nulls.Load(t); ok {
		return c.(*core)
	}
	c := &core{null: true, err: errNil}
	c.t.Store(t)
	got, _ := nulls.LoadOrStore(t, c)
	return got.(*core)
}

// newCore returns a matrix on the host with the given storage. The invariants of the storage must
// hold.
func newCore(st *sparse.Store) *core {
	c := &core{st: st}
	c.t.Store(st.Type)
	return c
}

// newCoreWith returns a matrix with the given storage and options.
func newCoreWith(st *sparse.Store, o options) *core {
	c := newCore(st)
	c.place, c.replicated = o.place, o.replicated()
	return c
}

// Type returns the type of the values.
func (a *core) Type() *sparse.Type { return a.t.Load() }

// SetType makes t the type of the values of a matrix that no one else uses.
func (a *core) SetType(t *sparse.Type) {
	if a.null || a.Type() == t || !sparse.Same(a.Type(), t) {
		return
	}
	a.t.Store(t)
	drop(&a.asRows.p)
	drop(&a.asCols.p)
	if a.st != nil {
		st := *a.st
		st.Type = t
		a.st = &st
	}
	if a.blocks != nil {
		a.blocks.SetType(t)
	}
}

// empty returns an empty store.
func (a *core) empty(m, n int) *sparse.Store { return sparse.Empty(a.Type(), m, n) }

// Stored returns the storage, which must not change while there are other readers.
func (a *core) Stored() *sparse.Store {
	a.touch(false)
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
		return a.empty(0, 0)
	}
	return a.st
}

// changes returns the pending changes, and nil for none.
func (a *core) changes() *pending { return a.pending.Load() }

// SetResult replaces the contents by the result of an operation. It converts the result to the
// format of SetFormat, or without one to the format for its density. A nil st changes nothing.
func (a *core) SetResult(st *sparse.Store) {
	switch {
	case st == nil:
		return
	case a.pinned:
		st = st.Convert(a.pin)
	case st == a.st: // updated in place: keep a bitmap, which may lose entries again
		st = st.Shrink()
	default:
		st = st.Conform()
	}
	a.SetStore(st)
}

// SetStore replaces the contents.
func (a *core) SetStore(st *sparse.Store) {
	if a.null {
		return
	}
	a.touch(true)
	dropRemote(a)
	if a.deviceOnly.Load() {
		a.deviceOnly.Store(false)
	}
	a.st = st
	drop(&a.pending.p)
	a.forget()
}

// Err returns the error of a; a nil matrix is an error.
func (a *core) Err() error { return a.err }

// Dims returns the number of rows and columns.
func (a *core) Dims() (rows, cols int) {
	if p := a.pending.Load(); p != nil {
		return p.rows, p.cols
	}
	if st := a.st; st != nil && !a.deviceOnly.Load() {
		return st.NRows, st.NCols
	}
	if r := remote(a); r != nil {
		return r.Dims()
	}
	if s := a.onlyOnGroup(); s != nil {
		return s.Dims()
	}
	st := a.Shape()
	return st.NRows, st.NCols
}

// NVals returns the number of entries.
func (a *core) NVals() int64 {
	a.touch(false)
	if p := a.pending.Load(); p != nil {
		return p.nvals
	}
	if st := a.st; st != nil && !a.deviceOnly.Load() {
		return st.NVals
	}
	if r := remote(a); r != nil {
		if n, err := r.NVals(); err == nil {
			return n
		}
	} else if s := a.onlyOnGroup(); s != nil {
		if n, err := s.NVals(nil); err == nil {
			return n
		}
	}
	return a.Shape().NVals // which records an error
}

// format returns the current storage layout.
func (a *core) format() Format {
	a.touch(false)
	if r := remote(a); r != nil {
		return Format(r.Format())
	}
	if s := a.onlyOnGroup(); s != nil {
		if a.pinned && a.pin != sparse.Full {
			return Format(a.pin)
		}
		if f := Format(s.Format()); !a.pinned || f == Full {
			return f
		}
		return Bitmap
	}
	return Format(a.Shape().Format)
}

// HasRemote reports whether b has the contents already.
func (a *core) HasRemote(at device.Backend) bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.place != nil && device.Of(a.place) == at {
		return true
	}
	return slices.ContainsFunc(a.copies, func(c copyAt) bool { return c.at == at })
}

// RemoteOn returns the contents at a place, and copies them there if needed.
func (a *core) RemoteOn(at device.Backend) (device.Store, error) {
	if a.null || at == nil {
		return nil, errNil
	}
	a.touch(false)
	a.mu.Lock()
	defer a.mu.Unlock()
	atPlace := a.place != nil && device.Of(a.place) == at
	if atPlace && a.home != nil {
		return a.home, nil
	}
	for _, c := range a.copies {
		if c.at == at {
			return c.store, nil
		}
	}
	fetch(a)
	if a.err != nil {
		return nil, a.err
	}
	t, err := device.TypeFor(sparse.GoType(a.Type()))
	if err != nil {
		return nil, err
	}
	st := a.host()
	s, err := at.Upload(device.Host{Structure: st.Structure, Type: t, Val: st.Val.Pointer(), N: st.Val.Len()})
	if err != nil {
		return nil, fmt.Errorf("cannot copy the contents of a matrix to %s: %w", at.Place(), err)
	}
	if atPlace {
		a.home = s
	} else {
		a.copies = append(a.copies, copyAt{at, s})
	}
	return s, nil
}

// SetRemote replaces the contents by s, which is at the place of the matrix.
func (a *core) SetRemote(s device.Store) {
	if a.null {
		return
	}
	a.touch(true)
	dropRemote(a)
	a.mu.Lock()
	defer a.mu.Unlock()
	a.put(nil)
	a.home = s
	a.forget()
	a.deviceOnly.Store(true)
}

// Repin converts the contents on the device to the format that SetFormat pinned.
func (a *core) Repin() error {
	r := remote(a)
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
	return convertRemote(a, r, f)
}

// Symmetric reports whether the matrix is known to equal its transpose.
func (a *core) Symmetric() bool { return a.knownSymmetric.Load() }

// Place returns the place of a; nil is the host.
func (a *core) Place() rep.Place {
	if a.place == nil {
		return nil
	}
	return a.place
}

// Nonzero returns the positions of the values other than zero.
func (a *core) Nonzero() *sparse.Structure { return a.Stored().Nonzero() }

// Pinned reports whether the format was set by SetFormat.
func (a *core) Pinned() bool { return a.pinned }

// IsPattern reports whether a is a pattern: it is not.
func (a *core) IsPattern() bool { return false }

// Pattern returns the pattern of a.
func (a *core) Pattern() rep.Matrix { return patternOf{a} }

// Matrix returns a.
func (a *core) Matrix() rep.Matrix { return a }

// Move moves the matrix, or the matrix of a vector, to a place; nil is the host.
func (a *core) Move(p rep.Place, vector bool, layout uint8) error {
	if a.null {
		return errNil
	}
	return moveTo(a, p, vector, Layout(layout))
}

// OnGroup returns the matrix as one on a group.
func (a *core) OnGroup() rep.Grouped {
	if a.null {
		return spread.None(errNil)
	}
	return spread.Of(a)
}

// Blocks returns what each rank of this process needs of the matrix.
func (a *core) Blocks(q rep.Query) ([]rep.Matrix, error) {
	if a.null {
		return nil, errNil
	}
	return spread.Parts(a, q)
}

// host returns the storage on the host with pending changes merged. The caller holds mu.
func (a *core) host() *sparse.Store {
	a.settle()
	if a.st == nil {
		return a.empty(0, 0)
	}
	return a.st
}

// put replaces the storage on the host.
func (a *core) put(st *sparse.Store) {
	drop(&a.pending.p)
	a.st = st
}

// pinnedTo returns st in the pinned format of a.
func (a *core) pinnedTo(st *sparse.Store) *sparse.Store {
	if !a.pinned {
		return st
	}
	return st.Convert(a.pin)
}

// find returns where the value of an entry is: at a place of a list. A position outside the matrix
// has no entry.
func (a *core) find(i, j int) (list sparse.Values, at int64, ok bool) {
	if m, n := a.Dims(); uint(i) >= uint(m) || uint(j) >= uint(n) {
		return list, 0, false
	}
	if p := a.changes(); p != nil {
		at, ofChange, ok := p.find(i, j)
		if ofChange {
			return p.vals, at, ok
		}
		return p.base.Val, at, ok
	}
	st := a.Stored()
	if uint(i) >= uint(st.NRows) || uint(j) >= uint(st.NCols) {
		return list, 0, false
	}
	at, ok = st.Has(i, j)
	return st.Val, at, ok
}

// row returns the entries of row i, and no entries if i is out of range.
func (a *core) row(i int) ([]int32, sparse.Values) {
	if p := a.changes(); p != nil {
		if uint(i) >= uint(p.rows) {
			return nil, sparse.Values{}
		}
		return p.row(i)
	}
	st := a.Rows()
	if uint(i) >= uint(st.NRows) {
		return nil, sparse.Values{}
	}
	lo, hi := st.Span(i)
	return st.Idx[lo:hi], st.Part(lo, hi)
}

// checkIndex returns an error for a position outside the matrix, or the error of the matrix.
func (a *core) checkIndex(op string, i, j int) error {
	if a.changes() == nil {
		a.Stored()
	}
	if a.err != nil {
		return naming(op, a.err)
	}
	m, n := a.Dims()
	if uint(i) >= uint(m) {
		return &IndexError{op, "row", int64(i), int64(m)}
	}
	if uint(j) >= uint(n) {
		return &IndexError{op, "column", int64(j), int64(n)}
	}
	return nil
}

// fetched returns the contents to the host. It returns the error of the matrix.
func (a *core) fetched(op string) error {
	a.Stored()
	return naming(op, a.err)
}

// clear removes every entry of a matrix or a vector.
func (a *core) clear(vector bool) {
	m, n := a.Dims()
	if vector {
		m = 1
	}
	a.SetStore(a.pinnedTo(a.empty(m, n)))
}

// checkPosition is checkIndex of a vector.
func (a *core) checkPosition(op string, i int) error {
	if a.err != nil {
		return naming(op, a.err)
	}
	if _, n := a.Dims(); uint(i) >= uint(n) {
		return &IndexError{op, "index", int64(i), int64(n)}
	}
	return a.checkIndex(op, 0, i)
}

// entry is find of a vector, with an error if there is no entry.
func (a *core) entry(op string, i int) (list sparse.Values, at int64, err error) {
	if err := a.checkPosition(op, i); err != nil {
		return list, 0, err
	}
	list, at, ok := a.find(0, i)
	if !ok {
		return list, 0, ErrNoEntry
	}
	return list, at, nil
}

// asVector makes the zero value a vector of size 0.
func (a *core) asVector() *core {
	if a.unset() && a.err == nil {
		a.st = a.empty(1, 0)
	}
	return a
}

// readVector is asVector of a core that other goroutines may read: it does not change it.
func (a *core) readVector() *core {
	if a.unset() && a.err == nil {
		return newCore(a.empty(1, 0))
	}
	return a
}

// clone returns a deep copy on the host.
func (a *core) clone() *core {
	b := newCore(a.Stored().Clone())
	b.err, b.pinned, b.pin = a.err, a.pinned, a.pin
	return b
}

// unset reports whether the matrix is the zero value, or stands for a nil one.
func (a *core) unset() bool {
	return a.null || a.pending.Load() == nil && !a.deviceOnly.Load() && a.st == nil
}

// stored1 is Stored for the matrix inside a Vector. Its zero value is 1×0.
func (a *core) stored1() *sparse.Store {
	if st := a.Stored(); a.st != nil {
		return st
	}
	return a.empty(1, 0)
}
