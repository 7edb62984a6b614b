package cusparse

import (
	"fmt"
	"sync/atomic"
	"unsafe"

	"github.com/hiveblas/hiveblas/internal/device"
	"github.com/hiveblas/hiveblas/internal/sparse"
)

// store is a matrix in device memory; see sparse.Store for the formats.
type store struct {
	d      *Device
	m, n   int
	format sparse.Format
	nvec   int // rows that ptr speaks of
	typ    device.Type
	count  atomic.Int64 // entries; −1: not counted yet, a bitmap

	ptr, idx, rowids, present, val *mem

	// Kept forms, made when first needed; the device's lock guards them.
	listed     *store             // CSR or hypersparse
	turned     *store             // the transpose, listed
	nonzero    *store             // structure of the entries other than zero
	bare       *store             // the structure as a matrix of bools
	filled     *mem               // a byte per row: has entries
	full       int8               // 1: every row has entries, −1: not, 0: not known
	filledRows int64              // rows with entries, once filled is there
	extra      map[string]dropper // what methods keep
	shares     map[int32]float64  // of the entries in the first columns
	pulls      int64              // products with a vector so far
	keep       bool               // outlives the operation that made it
	base       *store             // of a pattern: the store it is the structure of
}

// dropper is what methods keep with a store, such as its columns packed.
type dropper interface{ drop() }

var _ device.Store = (*store)(nil)

func (s *store) Dims() (rows, cols int) { return s.m, s.n }
func (s *store) Format() sparse.Format  { return s.format }

// NVals returns the number of entries, counting those of a bitmap.
func (s *store) NVals() (int64, error) {
	if n := s.count.Load(); n >= 0 {
		return n, nil
	}
	f := s.d.begin(device.Call{})
	defer f.end()
	return f.nvals(s), f.err
}

// Drop gives up the store's memory and that of its kept forms.
func (s *store) Drop() {
	s.d.mu.Lock()
	defer s.d.mu.Unlock()
	s.drop()
}

func (s *store) drop() {
	for _, m := range []**mem{&s.ptr, &s.idx, &s.rowids, &s.present, &s.val, &s.filled} {
		(*m).release()
		*m = nil
	}
	for _, k := range []*store{s.listed, s.turned, s.nonzero, s.bare} {
		if k != nil && k != s {
			k.drop()
		}
	}
	for _, x := range s.extra {
		x.drop()
	}
	s.listed, s.turned, s.nonzero, s.bare, s.extra, s.base = nil, nil, nil, nil, nil, nil
}

// origin is the store whose structure s shares.
func (s *store) origin() *store {
	for s.base != nil {
		s = s.base
	}
	return s
}

// kept returns what a method keeps by name with the structure of s, made by
// make at first.
func kept[T dropper](s *store, name string, make func() T) T {
	s = s.origin()
	if x, ok := s.extra[name].(T); ok {
		return x
	}
	if s.extra == nil {
		s.extra = map[string]dropper{}
	}
	x := make()
	s.extra[name] = x
	return x
}

func (s *store) isListed() bool { return s.format <= sparse.Hypersparse }
func (s *store) cells() int64   { return int64(s.m) * int64(s.n) }

// known is the number of entries, −1 if they were not counted.
func (s *store) known() int64 { return s.count.Load() }

// slots is the number of values.
func (s *store) slots() int64 {
	if s.isListed() {
		return s.known()
	}
	return s.cells()
}

// descriptor is hb_store of kernels/common.cu.
type descriptor struct {
	ptr, idx, rowids, present, val uint64
	nvals                          int64
	nrows, ncols, nvec, format     int32
}

func (s *store) desc() *descriptor {
	d := &descriptor{
		ptr: uint64(s.ptr.ptr()), idx: uint64(s.idx.ptr()), rowids: uint64(s.rowids.ptr()), present: uint64(s.present.ptr()), val: uint64(s.val.ptr()),
		nvals: s.known(), nrows: int32(s.m), ncols: int32(s.n), nvec: int32(s.nvec), format: int32(s.format),
	}
	if !s.isListed() {
		d.nvec = int32(s.m)
	}
	return d
}

// newStore returns a store of the given parts, which it shares.
func (f *frame) newStore(m, n int, format sparse.Format, t device.Type, count int64) *store {
	s := &store{d: f.d, m: m, n: n, format: format, typ: t, nvec: m}
	f.made = append(f.made, s)
	s.count.Store(count)
	return s
}

// hyperRows is the number of rows above which offsets of every row are a
// waste unless there are entries for them.
const hyperRows = 1 << 21

// tall reports whether m rows of n entries are to be hypersparse.
func tall(m int, n int64) bool { return m > hyperRows && int64(m) > 8*n }

// empty returns an m×n store without entries.
func (f *frame) empty(m, n int, t device.Type) *store {
	s := f.newStore(m, n, sparse.CSR, t, 0)
	if tall(m, 0) {
		s.format, s.nvec = sparse.Hypersparse, 0
	}
	s.ptr = f.zeros(8 * int64(s.nvec+1)).share()
	s.idx, s.val = f.alloc(4).share(), f.alloc(int64(t.Size)).share()
	if s.format == sparse.Hypersparse {
		s.rowids = f.alloc(4).share()
	}
	return s
}

// nvals counts the entries of a bitmap if that was not done.
func (f *frame) nvals(s *store) int64 {
	if n := s.known(); n >= 0 || f.err != nil {
		return max(n, 0)
	}
	total := f.zeros(8)
	f.each(f.shape(1, "hb_count"), s.cells(), s.present, s.cells(), total)
	n := f.read(total, 0)
	if f.err == nil {
		s.count.Store(n)
	}
	return n
}

// shape returns a kernel of shape.cu for elements of size bytes.
func (f *frame) shape(size int, name string) *kernel {
	return f.shapeFor(size, false, name)
}

// shapeFor is shape for kernels that take places of entries, 64-bit if wide.
func (f *frame) shapeFor(size int, wide bool, name string) *kernel {
	if f.err != nil {
		return nil
	}
	p := f.once(shapeKey{size, wide}, func() *program {
		num := "hb_u32"
		if wide {
			num = "hb_u64"
		}
		return compose("shape", "a matrix").lump("HB_V", size).define("HB_NUM", num)
	})
	return f.kernel(p, name)
}

// shapeKey tells the programs of shape.cu apart.
type shapeKey struct {
	size int
	wide bool
}

// Upload copies a host matrix to the device.
func (d *Device) Upload(h device.Host) (device.Store, error) {
	f := d.begin(device.Call{})
	defer f.end()
	if f.err != nil {
		return nil, f.err
	}
	s := f.newStore(h.NRows, h.NCols, h.Format, h.Type, h.NVals)
	at := func(p unsafe.Pointer, bytes int64) *mem {
		if bytes == 0 {
			return f.alloc(16).share()
		}
		return f.upload(p, bytes).share()
	}
	if h.Sparse() {
		s.nvec = h.Vecs()
		s.ptr = at(unsafe.Pointer(unsafe.SliceData(h.Ptr)), 8*int64(len(h.Ptr)))
		s.idx = at(unsafe.Pointer(unsafe.SliceData(h.Idx)), 4*int64(len(h.Idx)))
		if h.Format == sparse.Hypersparse {
			s.rowids = at(unsafe.Pointer(unsafe.SliceData(h.RowIDs)), 4*int64(len(h.RowIDs)))
		}
	}
	if h.Format == sparse.Bitmap {
		s.present = at(unsafe.Pointer(unsafe.SliceData(h.Present)), int64(len(h.Present)))
	}
	if h.Val != nil || h.N == 0 {
		s.val = at(h.Val, int64(h.N)*int64(h.Type.Size))
	}
	f.sync() // host memory may move on
	if f.err != nil {
		return nil, f.err
	}
	return f.result(s), nil
}

// result keeps a store beyond the operation.
func (f *frame) result(s *store) *store {
	s.keep, s.base = true, nil
	return s
}

// Shape copies the structure of a store to the host.
func (d *Device) Shape(st device.Store) (out sparse.Structure, err error) {
	f := d.begin(device.Call{})
	defer f.end()
	s := st.(*store)
	out = sparse.Structure{NRows: s.m, NCols: s.n, Format: s.format, NVals: f.nvals(s)}
	if f.err != nil {
		return out, f.err
	}
	switch s.format {
	case sparse.CSR, sparse.Hypersparse:
		out.Ptr, out.Idx = make([]int64, s.nvec+1), make([]int32, out.NVals)
		f.download(unsafe.Pointer(unsafe.SliceData(out.Ptr)), s.ptr.ptr(), 8*int64(len(out.Ptr)))
		f.download(unsafe.Pointer(unsafe.SliceData(out.Idx)), s.idx.ptr(), 4*int64(len(out.Idx)))
		if s.format == sparse.Hypersparse {
			out.RowIDs = make([]int32, s.nvec)
			f.download(unsafe.Pointer(unsafe.SliceData(out.RowIDs)), s.rowids.ptr(), 4*int64(s.nvec))
		}
	case sparse.Bitmap:
		out.Present = make([]uint8, s.cells())
		f.download(unsafe.Pointer(unsafe.SliceData(out.Present)), s.present.ptr(), s.cells())
	}
	return out, f.err
}

// Values copies n values to the host.
func (d *Device) Values(st device.Store, to unsafe.Pointer, n int) error {
	f := d.begin(device.Call{})
	defer f.end()
	s := st.(*store)
	if int64(n) > s.slots() {
		return fmt.Errorf("cusparse: %d values asked of %d", n, s.slots())
	}
	f.download(to, f.valued(s).val.ptr(), int64(n)*int64(s.typ.Size))
	return f.err
}

// view returns a store that shares the parts of s.
func (f *frame) view(s *store) *store {
	v := &store{d: s.d, m: s.m, n: s.n, format: s.format, nvec: s.nvec, typ: s.typ, full: s.full, filledRows: s.filledRows}
	v.count.Store(s.known())
	f.made = append(f.made, v)
	v.ptr, v.idx, v.rowids, v.present, v.val, v.filled = s.ptr.share(), s.idx.share(), s.rowids.share(), s.present.share(), s.val.share(), s.filled.share()
	return v
}

// structure returns s without its values.
func (f *frame) structure(s *store) *store {
	v := f.view(s)
	v.val.release()
	v.val = nil
	return v
}

// valued returns s with values, which a pattern gets as true.
func (f *frame) valued(s *store) *store {
	if s.val != nil || f.err != nil || s.slots() == 0 {
		return s
	}
	v := f.view(s)
	v.val = f.alloc(max(s.slots(), 1)).share()
	f.fill(v.val, 1, s.slots()) // a pattern is of bools
	return v
}

// list returns the entries of s row by row (CSR or hypersparse).
func (f *frame) list(s *store) *store {
	if s.isListed() || f.err != nil {
		return s
	}
	if s.listed != nil {
		return s.listed
	}
	out := f.toList(s)
	if f.err == nil {
		s.listed = f.result(out)
	}
	return out
}

func (f *frame) toList(s *store) *store {
	nv := f.nvals(s)
	out := f.newStore(s.m, s.n, sparse.CSR, s.typ, nv)
	size := s.typ.Size
	cells := s.cells()
	var at *mem
	if s.format == sparse.Bitmap {
		at = f.scan(s.present, cells, 1)
	}
	out.ptr = f.alloc(8 * int64(s.m+1)).share()
	f.each(f.shape(size, "hb_row_starts"), int64(s.m+1), at, int64(s.m), int64(s.n), out.ptr)
	out.idx = f.alloc(4 * max(nv, 1)).share()
	if s.val != nil {
		out.val = f.alloc(int64(size) * max(nv, 1)).share()
	}
	f.each(f.shape(size, "hb_list"), cells, s.desc(), at, out.idx, out.val)
	return out
}

// dense returns s as a bitmap, or full if it is.
func (f *frame) dense(s *store) *store {
	if !s.isListed() || f.err != nil {
		return s
	}
	out := f.newStore(s.m, s.n, sparse.Bitmap, s.typ, s.known())
	cells, size := s.cells(), s.typ.Size
	if s.known() == cells {
		// Every position is listed, in order.
		out.format = sparse.Full
		out.val = f.valued(s).val.share()
		return out
	}
	out.present = f.zeros(max(cells, 1)).share()
	if s.val != nil {
		out.val = f.zeros(max(cells, 1) * int64(size)).share()
	}
	f.each(f.shape(size, "hb_scatter"), s.known(), s.desc(), out.present, out.val)
	return out
}

// Convert returns the store in another format.
func (d *Device) Convert(st device.Store, to sparse.Format) (device.Store, error) {
	f := d.begin(device.Call{Op: "SetFormat"})
	defer f.end()
	s := st.(*store)
	var out *store
	switch to {
	case sparse.CSR:
		out = f.csr(f.list(s))
	case sparse.Hypersparse:
		out = f.hyper(f.list(s))
	case sparse.Bitmap, sparse.Full:
		if s.m != 0 && int64(s.n) > maxCells/int64(s.m) {
			f.fail(fmt.Errorf("%d×%d positions cannot be held", s.m, s.n))
			break
		}
		out = f.dense(f.valued(s))
		if to == sparse.Full && out.format != sparse.Full {
			if nv := f.nvals(out); f.err == nil && nv != out.cells() {
				f.fail(fmt.Errorf("a full matrix has an entry at each of its %d positions, this one has %d", out.cells(), nv))
			}
			out = f.view(out)
			out.format = sparse.Full
			out.present.release()
			out.present = nil
		}
		if to == sparse.Bitmap && out.format == sparse.Full {
			out = f.view(out)
			out.format = sparse.Bitmap
			out.present = f.alloc(max(out.cells(), 1)).share()
			f.fill(out.present, 1, out.cells())
		}
	default:
		f.fail(fmt.Errorf("unknown format %v", to))
	}
	if f.err != nil {
		return nil, f.err
	}
	return f.result(f.valued(f.view(out))), nil
}

// maxCells bounds the positions of a dense matrix.
const maxCells = 1 << 40

// csr returns a listed store with offsets of every row.
func (f *frame) csr(s *store) *store {
	if f.err != nil || s.format == sparse.CSR {
		return s
	}
	out := f.view(s)
	out.format, out.nvec = sparse.CSR, s.m
	out.rowids.release()
	out.ptr.release()
	out.rowids = nil
	out.ptr = f.alloc(8 * int64(s.m+1)).share()
	f.each(f.shape(1, "hb_spread_rows"), int64(s.m+1), s.desc(), out.ptr)
	return out
}

// hyper returns a listed store with offsets of the rows in use.
func (f *frame) hyper(s *store) *store {
	if s.format == sparse.Hypersparse || f.err != nil {
		return s
	}
	out := f.view(s)
	out.ptr.release()
	out.ptr = nil
	rows := f.alloc(4 * max(s.known(), 1))
	f.each(f.shape(1, "hb_rows"), s.known(), s.desc(), rows)
	f.rowList(out, rows)
	return out
}

// rowList gives out the offsets of the rows in use, from the ascending row of
// each entry.
func (f *frame) rowList(out *store, rows *mem) {
	nv := out.known()
	out.format = sparse.Hypersparse
	if nv == 0 {
		out.nvec = 0
		out.ptr, out.rowids = f.zeros(8).share(), f.alloc(4).share()
		return
	}
	flag := f.alloc(nv)
	f.each(f.shape(1, "hb_heads"), nv, rows, nv, flag)
	at := f.scan(flag, nv, 1)
	n := f.read(at, nv)
	out.nvec = int(n)
	out.ptr, out.rowids = f.alloc(8*(n+1)).share(), f.alloc(4*max(n, 1)).share()
	f.each(f.shape(1, "hb_row_list"), nv, rows, nv, flag, at, out.rowids, out.ptr)
}

// offsets gives out its row offsets in the format that suits it, from the
// ascending row of each entry.
func (f *frame) offsets(out *store, rows *mem) {
	if f.err != nil {
		return
	}
	if tall(out.m, out.known()) {
		f.rowList(out, rows)
		return
	}
	out.format, out.nvec = sparse.CSR, out.m
	out.ptr = f.alloc(8 * int64(out.m+1)).share()
	f.each(f.shape(1, "hb_offsets"), int64(out.m+1), rows, out.known(), int64(out.m), out.ptr)
}

// turn returns the transpose of s, listed, and keeps it.
func (f *frame) turn(s *store) *store {
	if f.err != nil {
		return s
	}
	if s.turned != nil {
		return s.turned
	}
	l := f.list(s)
	out := f.newStore(l.n, l.m, sparse.CSR, l.typ, l.known())
	nv := l.known()
	if nv == 0 {
		out = f.empty(l.n, l.m, l.typ)
		if l.val == nil {
			out.val.release()
			out.val = nil
		}
	} else {
		keys := f.alloc(4 * nv)
		f.each(f.shape(1, "hb_col_keys"), nv, l.idx, nv, keys)
		sorted, num := f.sort(keys, nv, 4, bitsFor(l.n))
		wide := nv > 1<<32-1
		rows := f.alloc(4 * nv)
		f.each(f.shape(1, "hb_rows"), nv, l.desc(), rows)
		out.idx = f.alloc(4 * nv).share()
		f.each(f.shapeFor(1, wide, "hb_gather32"), nv, rows, num, nv, out.idx)
		if l.val != nil {
			out.val = f.alloc(int64(l.typ.Size) * nv).share()
			f.each(f.shapeFor(l.typ.Size, wide, "hb_gather"), nv, l.val, num, nv, out.val)
		}
		f.offsets(out, sorted)
	}
	if f.err == nil {
		s.turned = f.result(out)
	}
	return out
}

// bitsFor is the number of bits of the numbers below n.
func bitsFor(n int) int {
	b := 0
	for n-1 > 0 && (n-1)>>b != 0 {
		b++
	}
	return max(b, 1)
}

// oriented returns an operand as it is read: with pattern applied, and turned
// over if it is transposed. A dense one stays dense.
func (f *frame) oriented(o device.Operand) *store {
	s := f.here(o)
	if s == nil {
		return nil
	}
	if o.Transposed && !o.Symmetric {
		if s.isListed() {
			s = f.turn(s)
		} else {
			s = f.turnDense(s)
		}
	}
	if o.Pattern {
		return f.pattern(s)
	}
	return s
}

// rows returns an operand row by row, listed.
func (f *frame) rows(o device.Operand) *store {
	s := f.here(o)
	if s == nil {
		return nil
	}
	if o.Transposed && !o.Symmetric {
		s = f.turn(s)
	} else {
		s = f.list(s)
	}
	if o.Pattern {
		return f.pattern(s)
	}
	return s
}

// cols returns the rows of an operand's transpose.
func (f *frame) cols(o device.Operand) *store {
	o.Transposed = !o.Transposed
	return f.rows(o)
}

// hasRows reports whether rows costs nothing, hasCols whether cols does.
func hasRows(o device.Operand) bool {
	s := o.Store.(*store)
	if o.Transposed && !o.Symmetric {
		return s.turned != nil
	}
	return s.isListed() || s.listed != nil
}

func hasCols(o device.Operand) bool {
	o.Transposed = !o.Transposed
	return hasRows(o)
}

// here checks that a store lives on this device.
func (f *frame) here(o device.Operand) *store {
	s, ok := o.Store.(*store)
	if !ok || s.d != f.d {
		f.fail(fmt.Errorf("an operand does not live here"))
		return nil
	}
	if f.err != nil {
		return nil
	}
	return s
}

func (f *frame) turnDense(s *store) *store {
	out := f.newStore(s.n, s.m, s.format, s.typ, s.known())
	if s.present != nil {
		out.present = f.alloc(max(s.cells(), 1)).share()
	}
	if s.val != nil {
		out.val = f.alloc(max(s.cells(), 1) * int64(s.typ.Size)).share()
	}
	f.each(f.shape(s.typ.Size, "hb_turn"), s.cells(), s.desc(), out.present, out.val)
	return out
}

// pattern returns the structure of s as a matrix of bools.
func (f *frame) pattern(s *store) *store {
	if s.val == nil && s.typ.Name == "bool" {
		return s
	}
	if s.bare == nil && f.err == nil {
		s.bare = f.result(f.structure(s))
		s.bare.typ, s.bare.base = boolType, s
	}
	return s.bare
}

var boolType, _ = device.TypeOf[bool]()

// support returns the structure of the entries other than zero, and keeps it.
func (f *frame) support(s *store) *store {
	if s.val == nil || f.err != nil {
		return s
	}
	if s.nonzero == nil {
		p := compose("select", "a mask by value").typ("HB_A", s.typ).pattern("A", true, false).
			flag("HB_USES_I", false).flag("HB_USES_POSITION", false)
		p.typ("HB_Y", boolType)
		p.function("hb_keep", "bool", "HB_A x, HB_Y y, hb_i64 i, hb_i64 j", "", s.typ.Nonzero)
		out := f.selected(s, p, device.Scalar{Type: boolType, P: unsafe.Pointer(&zeroBool)}, false)
		if f.err == nil {
			s.nonzero = f.result(out)
		}
		return out
	}
	return s.nonzero
}
