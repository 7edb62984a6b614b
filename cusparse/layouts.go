package cusparse

import (
	"fmt"
	"math"
	"strings"
	"unsafe"

	"github.com/hiveblas/hiveblas/cusparse/internal/diagonals"
	"github.com/hiveblas/hiveblas/cusparse/space"
	"github.com/hiveblas/hiveblas/internal/sparse"
)

// The layouts of the space, made of CSR on the device and kept with the matrix until its memory is
// wanted.

// topologyArg is hb_topology of kernels/topology.cu.
type topologyArg struct {
	ptr, idx, rows, places, extra, present, val uint64
	nvals, pitch                                int64
	nrows, ncols, nplaces, width                int32
}

// layout is a kept form of a matrix.
type layout struct {
	arg       topologyArg
	diagonals []int32 // dia
	bits      int     // dia: bytes of a row's presence word
	mems      []*mem
	hyper     *store // rows with entries
	ours      bool   // hyper belongs to the layout
}

func (l *layout) drop() {
	for _, m := range l.mems {
		m.release()
	}
	if l.ours {
		l.hyper.drop()
	}
}

// own keeps a block with the layout and returns its address.
func (l *layout) own(m *mem) uint64 {
	if m == nil {
		return 0
	}
	l.mems = append(l.mems, m.share())
	return uint64(m.ptr())
}

// matrixFacts are what the choice of a plan knows of a matrix.
type matrixFacts struct {
	most        int64   // the largest degree
	variation   float64 // of the degrees
	diagonals   []int32 // the most common of a sample of diagonals, ascending
	onDiagonals float64 // the share of the sample on them
}

// samples is the number of rows that are looked at for diagonals, and sampleWidth how many entries
// of each.
const (
	samples     = 1024
	sampleWidth = 64
)

// factsOf looks at the degrees and at a sample of the diagonals of a CSR matrix.
func (f *frame) factsOf(a *store) *matrixFacts {
	a = a.origin()
	if a.facts != nil || f.err != nil {
		return a.facts
	}
	x := &matrixFacts{}
	n, entries := int64(a.nvec), a.known()
	if n > 0 && entries > 0 {
		facts := f.zeros(16)
		f.each(f.layoutKernel(1, "hb_degree_facts"), n, n, a.ptr, facts)
		rows := min(n, samples)
		sample := f.alloc(4 * rows * sampleWidth)
		if a.format == sparse.CSR {
			stride := (n/rows - 1) | 1 // odd: rows of a grid that are 2ᵏ apart may all be at its border
			f.each(f.layoutKernel(1, "hb_diagonal_sample"), rows*sampleWidth, rows, stride, int32(sampleWidth), a.ptr, a.idx, sample)
		}
		var numbers [2]int64
		f.download(unsafe.Pointer(&numbers), facts.ptr(), 16)
		x.most = numbers[0]
		mean := float64(entries) / float64(n)
		x.variation = math.Sqrt(max(float64(numbers[1])/float64(n)-mean*mean, 0)) / mean
		if a.format == sparse.CSR && mean <= 2*space.MaxDiagonals {
			seen := make([]int32, rows*sampleWidth)
			f.download(unsafe.Pointer(&seen[0]), sample.ptr(), 4*rows*sampleWidth)
			x.diagonals, x.onDiagonals = diagonals.Common(seen)
		}
		f.free(facts)
		f.free(sample)
	}
	if f.err != nil {
		return x
	}
	a.facts = x
	return x
}

// layoutKey is the key of a layout among the forms of a matrix.
func layoutKey(l space.Layout, order space.Order) string {
	if l == space.SELL {
		return "layout sell " + order.String()
	}
	return "layout " + l.String()
}

func (f *frame) layoutKernel(size int, name string) *kernel {
	if f.err != nil {
		return nil
	}
	type layoutKey struct{ size int }
	p := f.once(layoutKey{size}, func() *program {
		return compose("layout/make", "a layout").lump("HB_V", size)
	})
	return f.kernel(p, name)
}

// layoutOf returns a matrix, listed, in a layout, making and keeping it if it was not made.
func (f *frame) layoutOf(a *store, l space.Layout, order space.Order) *layout {
	if f.err != nil {
		return nil
	}
	key := layoutKey(l, order)
	if x, ok := formOf[*layout](f, a, key); ok {
		return x
	}
	x := &layout{}
	x.arg = topologyArg{idx: uint64(a.idx.ptr()), ptr: uint64(a.ptr.ptr()), val: uint64(a.val.ptr()), nvals: a.known(), pitch: int64(a.m),
		nrows: int32(a.m), ncols: int32(a.n), nplaces: int32(a.nvec)}
	mark := len(f.temps)
	switch l {
	case space.Hyper:
		h := f.hyper(a)
		if f.err != nil {
			return nil
		}
		x.hyper, x.ours = h, h != a
		if x.ours {
			f.result(h)
		}
		x.arg.ptr, x.arg.rows, x.arg.nplaces = uint64(h.ptr.ptr()), uint64(h.rowids.ptr()), int32(h.nvec)
	case space.COO:
		rows := f.alloc(4 * max(a.known(), 4))
		f.each(f.shape(1, "hb_rows"), a.known(), a.desc(), rows)
		x.arg.rows = x.own(rows)
	case space.CSR16:
		idx := f.alloc(2 * max(a.known(), 1))
		f.each(f.layoutKernel(1, "hb_narrow"), a.known(), a.known(), a.idx, idx)
		x.arg.idx = x.own(idx)
	case space.ELL:
		f.ellOf(a, x)
	case space.DIA:
		f.diaOf(a, x)
	case space.SELL:
		f.sellOf(a, x, order)
	default:
		if o := l.Own(); o != nil {
			f.ownOf(a, o, x)
		}
	}
	f.freeSince(mark)
	if f.err != nil {
		x.drop()
		return nil
	}
	if l != space.CSR && (l != space.Hyper || a.format == sparse.CSR) {
		f.keepForm(a, key, x)
	}
	return x
}

// elementSize is the size of a value, 1 for a pattern.
func elementSize(a *store) int {
	if a.val == nil {
		return 1
	}
	return a.typ.Size
}

// pitchOf is the distance of the columns of slots of n rows: whole 128-byte lines of 4-byte
// elements.
func pitchOf(n int64) int64 { return (n + 31) / 32 * 32 }

// ellOf makes ELLPACK, as wide as the mean degree, or as the largest if that is near.
func (f *frame) ellOf(a *store, x *layout) {
	n := int64(a.m)
	facts := f.factsOf(a)
	width := (a.known() + n - 1) / max(n, 1)
	if facts.most <= width+width/2+1 {
		width = facts.most
	}
	rest := f.alloc(8 * max(n, 1))
	f.each(f.layoutKernel(1, "hb_ell_rest"), n, n, a.ptr, int32(width), rest)
	at := f.scan(rest, n, 8)
	over := f.read(at, n)
	size := elementSize(a)
	pitch := pitchOf(n)
	x.arg.pitch = pitch
	idx := f.alloc(4 * max(pitch*width+over, 1))
	var val *mem
	if a.val != nil {
		val = f.alloc(int64(size) * max(pitch*width+over, 1))
	}
	f.each(f.layoutKernel(size, "hb_ell_fill"), n, n, a.ptr, a.idx, a.val, int32(width), pitch, at, idx, val)
	x.arg.width, x.arg.nvals = int32(width), over
	x.arg.ptr, x.arg.idx, x.arg.val = x.own(at), x.own(idx), x.own(val)
}

// diaOf makes diagonals.
func (f *frame) diaOf(a *store, x *layout) {
	n := int64(a.m)
	facts := f.factsOf(a)
	if f.err != nil {
		return
	}
	x.diagonals = facts.diagonals
	width := int64(len(x.diagonals))
	x.bits = 8
	for _, b := range []int{4, 2, 1} {
		if width < int64(8*b) {
			x.bits = b
		}
	}
	diagonals := f.ints(x.diagonals)
	present, rest := f.alloc(int64(x.bits)*max(n, 1)), f.alloc(8*max(n, 1))
	f.each(f.layoutKernel(1, "hb_dia_rest"), n, n, a.ptr, a.idx, diagonals, int32(width), int32(x.bits), present, rest)
	at := f.scan(rest, n, 8)
	over := f.read(at, n)
	size := elementSize(a)
	idx := f.alloc(4 * max(over, 1))
	pitch := pitchOf(n)
	x.arg.pitch = pitch
	var val *mem
	if a.val != nil {
		val = f.zeros(int64(size) * max(pitch*width+over, 1))
	}
	f.each(f.layoutKernel(size, "hb_dia_fill"), n, n, a.ptr, a.idx, a.val, diagonals, int32(width), pitch, at, idx, val)
	x.arg.width, x.arg.nvals = int32(width), over
	x.arg.ptr, x.arg.idx, x.arg.val, x.arg.extra, x.arg.present = x.own(at), x.own(idx), x.own(val), x.own(diagonals), x.own(present)
}

// diagonalText lists diagonals for the text of a kernel.
func (x *layout) diagonalText() string {
	return strings.Trim(strings.ReplaceAll(fmt.Sprint(x.diagonals), " ", ", "), "[]")
}

// sellOf makes groups of 32 rows.
func (f *frame) sellOf(a *store, x *layout, order space.Order) {
	n := int64(a.m)
	perm := f.orderOf(a, order)
	var places *mem
	if perm != nil {
		places = f.alloc(4 * max(n, 1))
	}
	groups := (n + 31) / 32
	degrees, slots := f.alloc(4*max(n, 1)), f.alloc(8*max(groups, 1))
	f.each(f.layoutKernel(1, "hb_sell_groups"), n, n, a.ptr, perm, degrees, places, slots)
	at := f.scan(slots, groups, 8)
	total := f.read(at, groups)
	x.arg.pitch = total
	size := elementSize(a)
	idx := f.zeros(4 * max(total, 1))
	var val *mem
	if a.val != nil {
		val = f.zeros(int64(size) * max(total, 1))
	}
	f.each(f.layoutKernel(size, "hb_sell_fill"), n, n, a.ptr, a.idx, a.val, perm, at, idx, val)
	x.arg.ptr, x.arg.idx, x.arg.val, x.arg.extra = x.own(at), x.own(idx), x.own(val), x.own(degrees)
	x.arg.rows, x.arg.places = x.own(perm), x.own(places)
}

// ordering is rows by degree, kept.
type ordering struct{ perm *mem }

func (o *ordering) drop() { o.perm.release() }

// orderOf returns the rows of a CSR matrix in an order, nil for the natural one.
func (f *frame) orderOf(a *store, order space.Order) *mem {
	if order == space.Natural || f.err != nil {
		return nil
	}
	key := "order " + order.String()
	a = a.origin()
	if o, ok := formOf[*ordering](f, a, key); ok {
		return o.perm
	}
	n := int64(a.m)
	facts := f.factsOf(a)
	keys := f.alloc(4 * max(n, 1))
	f.each(f.layoutKernel(1, "hb_order_keys"), n, n, a.ptr, int32(order), facts.most, keys)
	bits := 8
	if order == space.Degree {
		bits = bitsFor(int(facts.most) + 1)
	}
	_, perm := f.sort(keys, n, 4, bits)
	if f.err != nil {
		return nil
	}
	o := &ordering{perm: perm.share()}
	f.keepForm(a, key, o)
	return o.perm
}
