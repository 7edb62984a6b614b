package cusparse

import (
	"fmt"
	"sync/atomic"
	"unsafe"

	"github.com/hiveblas/hiveblas/cusparse/driver"
	"github.com/hiveblas/hiveblas/cusparse/space"
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
	listed     *store            // CSR or hypersparse
	turned     *store            // the transpose, listed
	nonzero    *store            // structure of the entries other than zero
	bare       *store            // the structure as a matrix of bools
	filled     *mem              // a byte per row: has entries
	full       int8              // 1: every row has entries, −1: not, 0: not known
	filledRows int64             // rows with entries, once filled is there
	forms      map[string]*form  // layouts and what belongs to them; see forms.go
	facts      *matrixFacts      // what was found by a look at the structure
	uses       float64           // products that Prepare announced; 0: not known
	plan       space.Plan        // what Prepare asked for
	shares     map[int32]float64 // of the entries in the first columns
	keep       bool              // outlives the operation that made it
	base       *store            // of a pattern: the store it is the structure of

	// frontier lists the positions of a bitmap vector's entries, in any order; nil if
	// no product made it. Its length is count.
	frontier *mem
}

// dropper is what methods keep with a store, such as its columns packed.
type dropper interface{ drop() }

var _ device.Store = (*store)(nil)

func (s *store) Dims() (rows, cols int) { return s.m, s.n }
func (s *store) Format() sparse.Format  { return s.format }

// NVals returns the number of entries. It counts the entries of a bitmap.
func (s *store) NVals() (int64, error) {
	if n := s.count.Load(); n >= 0 {
		return n, nil
	}
	f := s.d.begin(device.Call{})
	defer f.end()
	return f.nvals(s), f.err
}

// Drop gives up the store's memory and the memory of its kept forms.
func (s *store) Drop() {
	s.d.mu.Lock()
	defer s.d.mu.Unlock()
	s.drop()
}

func (s *store) drop() {
	for _, m := range []**mem{&s.ptr, &s.idx, &s.rowids, &s.present, &s.val, &s.filled, &s.frontier} {
		(*m).release()
		*m = nil
	}
	for _, k := range []*store{s.listed, s.turned, s.nonzero, s.bare} {
		if k != nil && k != s {
			k.drop()
		}
	}
	for _, x := range s.forms {
		x.drop()
	}
	s.listed, s.turned, s.nonzero, s.bare, s.base = nil, nil, nil, nil, nil
	s.forms = nil
}

// origin is the store that s shares the structure of.
func (s *store) origin() *store {
	for s.base != nil {
		s = s.base
	}
	return s
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
	n := f.entries(s.present, s.cells())
	if f.err == nil {
		s.count.Store(n)
	}
	return n
}

// entries counts the bytes of a bitmap that are one, and waits.
func (f *frame) entries(present *mem, cells int64) int64 {
	if f.d.counter == 0 && f.err == nil {
		const room = 16
		at, err := f.d.ctx.Alloc(room)
		if err == nil {
			if err = f.d.ctx.Fill(at, 0, room, f.d.stream); err != nil {
				_ = f.d.ctx.Free(at)
			}
		}
		if f.fail(err); f.err != nil {
			return 0
		}
		f.d.counter = at
	}
	const words = 8 * threads // bytes of a block at a time
	blocks := min(max((cells+words-1)/words, 1), int64(2*max(f.d.props.Multiprocessors, 1)))
	f.blocks(f.shape(1, "hb_count"), blocks, threads, present, cells, f.d.counter, driver.Ptr(uintptr(f.d.pinned)))
	f.sync()
	if f.err != nil {
		return 0
	}
	return *(*int64)(f.d.pinned)
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
func (d backend) Upload(h device.Host) (device.Store, error) {
	f := d.begin(device.Call{})
	defer f.end()
	if f.err != nil {
		return nil, f.err
	}
	s := f.newStore(h.NRows, h.NCols, h.Format, h.Type, h.NVals)
	put := f.upload
	at := func(p unsafe.Pointer, bytes int64) *mem {
		if bytes == 0 {
			return f.alloc(16).share()
		}
		return put(p, bytes).share()
	}
	if h.Sparse() {
		s.nvec = h.Vecs()
		s.ptr = at(unsafe.Pointer(unsafe.SliceData(h.Ptr)), 8*int64(len(h.Ptr)))
		if h.Format == sparse.Hypersparse {
			s.rowids = at(unsafe.Pointer(unsafe.SliceData(h.RowIDs)), 4*int64(len(h.RowIDs)))
		}
		if f.tooLarge(4*int64(len(h.Idx)) + int64(h.N)*int64(h.Type.Size)) {
			put = f.pin
		}
		s.idx = at(unsafe.Pointer(unsafe.SliceData(h.Idx)), 4*int64(len(h.Idx)))
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
func (d backend) Shape(st device.Store) (out sparse.Structure, err error) {
	f := d.begin(device.Call{})
	defer f.end()
	s := f.here(device.Operand{Store: st})
	if f.err != nil {
		return out, f.err
	}
	out = sparse.Structure{NRows: s.m, NCols: s.n, Format: s.format, NVals: f.nvals(s)}
	if f.err != nil {
		return out, f.err
	}
	if most := d.choice.mostRead; most > 0 && s.slots() > most {
		return out, fmt.Errorf("cusparse: %d values are not read, the most is %d", s.slots(), most)
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
func (d backend) Values(st device.Store, to unsafe.Pointer, n int) error {
	f := d.begin(device.Call{})
	defer f.end()
	s := f.here(device.Operand{Store: st})
	if f.err != nil {
		return f.err
	}
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
	v.ptr, v.idx, v.rowids, v.present = s.ptr.share(), s.idx.share(), s.rowids.share(), s.present.share()
	v.val, v.filled, v.frontier = s.val.share(), s.filled.share(), s.frontier.share()
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
