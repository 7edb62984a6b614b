package cusparse

import (
	"fmt"
	"unsafe"

	"github.com/hiveblas/hiveblas/internal/device"
	"github.com/hiveblas/hiveblas/internal/sparse"
)

// A store in other formats, turned over, and without its values. Forms that
// were made once are kept with the store.

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
func (d backend) Convert(st device.Store, to sparse.Format) (device.Store, error) {
	f := d.begin(device.Call{Op: "SetFormat"})
	defer f.end()
	s := f.here(device.Operand{Store: st})
	if f.err != nil {
		return nil, f.err
	}
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

// rowList gives out the offsets of the rows in use, from the ascending row of each entry.
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
	if !ok || s == nil || s.d != f.d {
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
