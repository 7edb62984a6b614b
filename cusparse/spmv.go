package cusparse

import (
	"fmt"

	"github.com/hiveblas/hiveblas/cusparse/space"
	"github.com/hiveblas/hiveblas/internal/device"
	"github.com/hiveblas/hiveblas/internal/sparse"
)

// The product of a matrix and a full vector by kernels/spmv.cu.

// spmvTuning is what the shapes of the kernel rest on; the times are in the table at
// the head of its file.
type spmvTuning struct {
	wide      int64 // entries from which x is out of reach of the L2
	bytes     int   // of shared memory for x
	byteBytes int   // the same for elements of one byte
	// bools is the number of columns from which an x of true and false is read as bits (lor_land of
	// R-MAT 18, 20, 22, µs: 24, 68, 240, else 23, 72, 352).
	bools int
}

var spmvDefaults = spmvTuning{wide: 10 << 20, bytes: 192 << 10, byteBytes: 160 << 10, bools: 1 << 20}

// sharedFor returns the bytes of shared memory for elements of a size.
func (t spmvTuning) sharedFor(size int) int {
	if size == 1 {
		return t.byteBytes
	}
	return t.bytes
}

// spmvScanBlock is the number of threads of hb_spmv_scan.
const spmvScanBlock = 1024

// tiles is what kernels/spmv.cu keeps of a matrix for tiles of a size.
type tiles struct {
	count, used, empty          int64 // tiles, rows with entries, rows without
	bits, first, rows, emptyIDs *mem
	ticket                      *mem // zero between calls
}

func (t *tiles) drop() {
	for _, m := range []*mem{t.bits, t.first, t.rows, t.emptyIDs, t.ticket} {
		m.release()
	}
}

// relabelled is a matrix with its columns numbered by descending degree: column i of it is column
// perm[i], columns beyond used are empty, and the columns of a row are in the order of the matrix.
type relabelled struct {
	perm *mem
	used int64
	s    *store
}

func (r *relabelled) drop() {
	r.perm.release()
	r.s.drop()
}

// spmvShape is how the kernel is compiled.
type spmvShape struct {
	tile, unroll, blocks, inside int
	hot                          int32 // places of x in shared memory
	bits                         bool  // x is read as bits
	masked                       bool  // rows that the mask excludes are not read
}

// entryPerRow is a vector with a place for each row of a, an entry where the row has any.
func (f *frame) entryPerRow(a *store, t device.Type) *store {
	filled := f.rowsFull(a)
	out := f.newStore(1, a.m, sparse.Bitmap, t, a.filledRows)
	out.val = f.alloc(max(int64(a.m), 1) * int64(t.Size)).share()
	if filled {
		out.format = sparse.Full
	} else {
		out.present = a.filled.share()
	}
	return out
}

// spmvProgram composes kernels/spmv.cu.
func (f *frame) spmvProgram(s device.Semiring, flip bool, a, u *store, shape spmvShape) *program {
	hot := shape
	hot.hot = min(hot.hot, 1) // how many is an argument
	return f.once(productKey{body: "spmv", s: s, flip: flip, bareA: a.val == nil, bareX: u.val == nil, shape: hot}, func() *program {
		return spmvProgram(s, flip, a, u, shape)
	})
}

func spmvProgram(s device.Semiring, flip bool, a, u *store, shape spmvShape) *program {
	p := fastProgram("spmv", s, flip, a, u)
	p.define("HB_SPMV_HOT", min(int(shape.hot), 1)).define("HB_BLOCK", spmvScanBlock).flag("HB_SPMV_BITS", shape.bits).flag("HB_SPMV_MASKED", shape.masked)
	if shape.tile != 0 {
		p.define("HB_SPMV_TILE", shape.tile).define("HB_SPMV_UNROLL", shape.unroll).define("HB_SPMV_MINBLOCKS", shape.blocks).define("HB_SPMV_INSIDE", shape.inside)
	}
	return p
}

// fastProgram composes a kernel file with a ⊗ that takes no positions and operands that may lack
// values.
func fastProgram(body string, s device.Semiring, flip bool, a, b *store) *program {
	x, y, usesX, usesY := s.Mul.X, s.Mul.Y, s.Mul.UsesX, s.Mul.UsesY
	if flip {
		x, y, usesX, usesY = y, x, usesY, usesX
	}
	p := compose(body, describe(s)).typ("HB_A", x).typ("HB_X", y).typ("HB_C", s.Add.Out)
	p.uses(usesX && a.val != nil, usesY && b.val != nil)
	// An operand without values that ⊗ reads is true everywhere.
	first, second := "x", "y"
	if flip {
		first, second = "y", "x"
	}
	if a.val == nil && usesX {
		p.ones += first + " = 1; "
	}
	if b.val == nil && usesY {
		p.ones += second + " = 1; "
	}
	return p.semiring(s, flip)
}

// shapeOf chooses how the kernel is compiled for n entries and elements of x of a size; hot is
// the number of places of x in shared memory. With a mask of half of the rows of R-MAT 22 the
// kernel takes 257 µs by four blocks a multiprocessor and 280 by two (without a mask 456 and 468).
func (t spmvTuning) shapeOf(n int64, size int, hot int32, masked bool) spmvShape {
	switch {
	case hot > 0:
		return spmvShape{tile: 2048, unroll: 2, blocks: 1, inside: 1, hot: hot, masked: masked}
	case masked:
		return spmvShape{tile: 1024, unroll: 2, blocks: 4, inside: 1, masked: true}
	case n < t.wide:
		return spmvShape{tile: 1024, unroll: 2, blocks: 4, inside: 1}
	case size <= 4:
		return spmvShape{tile: 1024, unroll: 4, blocks: 2}
	}
	return spmvShape{tile: 1024, unroll: 2, blocks: 4}
}

// share returns the part of the entries that is in the first hot columns.
func (f *frame) share(a *store, hot int32) float64 {
	a = a.origin()
	if a.shares == nil {
		a.shares = map[int32]float64{}
	}
	if x, ok := a.shares[hot]; ok {
		return x
	}
	near := f.zeros(8)
	f.each(f.kernel(f.fixed("relabel", "columns"), "hb_hot_entries"), a.known(), a.idx, a.known(), hot, near)
	x := float64(f.read(near, 0)) / float64(a.known())
	if f.err == nil {
		a.shares[hot] = x
	}
	return x
}

// tiledProduct multiplies by tiles of entries, with plan.Columns by the matrix with its
// columns by degree. With a mask, entries of the rows that it excludes are not read.
func (w *walk) tiledProduct() *store {
	f, a, u := w.frame, w.a, w.u
	var out *store
	if w.mask == nil {
		out = f.entryPerRow(a, w.s.Add.Out)
	} else {
		out = f.perRow(a, a.m, w.s.Add.Out, f.zeros(max(int64(a.m), 1)), f.alloc(max(int64(a.m), 1)*int64(w.s.Add.Out.Size)))
	}
	if a.known() == 0 || f.err != nil {
		return out
	}
	m, x, y := a, u.val, out.val
	var r *relabelled
	if w.plan.Columns {
		if r = f.relabel(a); f.err != nil {
			return nil
		}
		m = r.s
	}
	hot := int32(0)
	if w.plan.Hot {
		hot = int32(w.facts[space.Pull].Shared)
	}
	shape := f.d.spmv.shapeOf(m.known(), u.typ.Size, hot, w.mask != nil)
	reads := w.s.Mul.UsesY
	if w.flip {
		reads = w.s.Mul.UsesX
	}
	shape.bits = reads && hot == 0 && u.val != nil && u.typ == boolType && m.n >= f.d.spmv.bools
	p := f.spmvProgram(w.s, w.flip, m, u, shape)
	if r != nil {
		// x in the order of the columns.
		x = f.alloc(max(r.used, 1) * int64(u.typ.Size))
		f.blocks(f.kernel(p, "hb_spmv_permute"), (r.used+255)/256, 256, r.used, r.perm, u.val, x)
		shape.hot = int32(min(r.used, int64(shape.hot)))
	}
	if shape.bits {
		n := int64(m.n)
		if r != nil {
			n = r.used
		}
		bits := f.alloc(4 * max((n+31)/32, 1))
		f.blocks(f.kernel(p, "hb_spmv_bits"), (n+255)/256, 256, n, x, bits)
		x = bits
	}
	t := f.tilesOf(a, shape.tile, p)
	if f.err != nil {
		return nil
	}
	var wanted *mem
	empty := t.empty
	if shape.masked {
		empty = 0 // present has the rows of the result
		mask, comp := w.maskDescriptor()
		wanted = f.alloc(4 * (t.used/32 + 2))
		f.blocks(f.kernel(p, "hb_spmv_wanted"), (t.used+256)/256, 256, t.used, t.rows, byValue(&mask), comp, wanted, out.present)
	}
	size := int64(w.s.Add.Out.Size)
	head, tail := f.alloc(t.count*size), f.alloc(t.count*size)
	k := f.kernel(p, "hb_spmv_tiles")
	block, shared := 256, 0
	blocks := int64(f.d.props.Multiprocessors * shape.blocks)
	if shape.hot > 0 {
		block, shared = 1024, int(shape.hot)*u.typ.Size
	}
	blocks = min(blocks, (t.count*32+int64(block)-1)/int64(block))
	f.launch(k, [3]uint32{uint32(blocks), 1, 1}, [3]uint32{uint32(block), 1, 1}, shared,
		m.known(), t.count, t.bits, t.first, t.rows, m.idx, m.val, x, shape.hot, y, head, tail, t.ticket, wanted)
	f.blocks(f.kernel(p, "hb_spmv_carry"), (max(t.count, empty)+255)/256, 256, t.count, t.first, t.rows, head, tail, empty, t.emptyIDs, y, t.ticket)
	if f.err != nil { // the ticket may not be zero
		a.dropForm(tileKey(shape.tile))
	}
	return out
}

func tileKey(tile int) string { return fmt.Sprintf("tiles %d", tile) }

// tilesOf prepares a matrix for tiles of a size, and keeps that.
func (f *frame) tilesOf(a *store, tile int, p *program) *tiles {
	key := tileKey(tile)
	if t, ok := formOf[*tiles](f, a, key); ok || f.err != nil {
		return t
	}
	n, m := a.known(), int64(a.m)
	t := &tiles{count: (n + int64(tile) - 1) / int64(tile)}
	f.rowsFull(a)
	t.used = a.filledRows
	t.empty = m - t.used
	words := t.count * int64(tile) / 32
	bits, first := f.zeros(4*words), f.alloc(4*(t.count+1))
	f.blocks(f.kernel(p, "hb_spmv_starts"), (m+255)/256, 256, m, a.ptr, bits)
	f.blocks(f.kernel(p, "hb_spmv_ranks"), (t.count+7)/8, 256, t.count, bits, first)
	f.blocks(f.kernel(p, "hb_spmv_scan"), 1, spmvScanBlock, t.count, first)
	var rows, empty *mem
	if t.empty > 0 {
		rows, empty = f.alloc(4*max(t.used, 1)), f.alloc(4*t.empty)
		f.blocks(f.kernel(p, "hb_spmv_compact"), (m+255)/256, 256, m, n, t.count, a.ptr, bits, first, rows, empty)
	}
	ticket := f.zeros(8)
	if f.err != nil {
		return nil
	}
	t.ticket = ticket.share()
	t.bits, t.first, t.rows, t.emptyIDs = bits.share(), first.share(), rows.share(), empty.share()
	f.keepForm(a, key, t)
	return t
}

// relabel makes the matrix with its columns by descending degree, and keeps it. The entries of a
// row stay in their order, so sums by tiles of one size equal the sums of the matrix, and values
// are shared.
func (f *frame) relabel(a *store) *relabelled {
	if r, ok := formOf[*relabelled](f, a, "relabelled"); ok || f.err != nil {
		return r
	}
	n, cols := a.known(), int64(a.n)
	p := f.fixed("relabel", "columns")
	counts, keys, used := f.zeros(4*cols), f.alloc(4*cols), f.zeros(8)
	f.each(f.kernel(p, "hb_col_counts"), n, a.idx, n, counts)
	f.each(f.kernel(p, "hb_degree_keys"), cols, counts, cols, uint32(a.m), keys, used)
	_, perm := f.sort(keys, cols, 4, bitsFor(a.m+1))
	place := f.alloc(4 * cols)
	f.each(f.kernel(p, "hb_invert"), cols, perm, cols, place)
	out := f.newStore(a.m, a.n, sparse.CSR, a.typ, n)
	out.ptr, out.val, out.idx = a.ptr.share(), a.val.share(), f.alloc(4*n).share()
	f.each(f.kernel(p, "hb_relabel"), n, a.idx, n, place, out.idx)
	r := &relabelled{used: f.read(used, 0)}
	if f.err != nil {
		return nil
	}
	r.perm, r.s = perm.share(), f.result(out)
	f.keepForm(a, "relabelled", r)
	return r
}

// inOrder gives out its columns and values by the keys, of row and column, of
// the entries that val holds in another order.
func (f *frame) inOrder(out *store, keys, val *mem) {
	n := out.known()
	sorted, num := f.sortKeys(keys, n, out.m, out.n)
	out.idx = f.alloc(4 * n).share()
	f.each(f.shape(1, "hb_split"), n, sorted, n, (*mem)(nil), out.idx)
	if val != nil {
		out.val = f.alloc(n * int64(out.typ.Size)).share()
		f.each(f.shapeFor(out.typ.Size, n > 1<<32-1, "hb_gather"), n, val, num, n, out.val)
	}
}
