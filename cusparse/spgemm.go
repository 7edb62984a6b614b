package cusparse

import (
	"unsafe"

	"github.com/hiveblas/hiveblas/cusparse/driver"
	"github.com/hiveblas/hiveblas/internal/device"
)

// This file launches kernels/spgemm.cu, C = A ⊗ B by rows.

// The methods of the rows of C, by what ops calls them.
const (
	methodSPA  = "spa"  // a dense accumulator in shared memory, by blocks of columns
	methodHash = "hash" // sorted or hashed, for rows of few products
)

// The table of choice. What the numbers stand on are times on an H200, ms (all
// launches, B prepared; see spgemm.cu for the rest):
//
//	                             products   results   products/ms     cuSPARSE
//	AᵀA 6743×13950, float32      2.1·10⁸    6.2·10⁷   1.30 → 1.6·10⁸   15.5
//	AᵀA 34395×20402, float32     1.9·10⁹    2.8·10⁸   8.74 → 2.2·10⁸
//	AᵀA 138493×26744, float32    1.0·10¹⁰   6.5·10⁸   38.0 → 2.7·10⁸
//	S·S R-MAT 16, 3 blocks       1.2·10⁹              11.5 → 1.0·10⁸   207
const (
	// packedColumns is the widest C for which columns of B are kept in 16 bits.
	packedColumns = 64512
	// pairSegment is how many counters of plus_pair a warp writes.
	pairSegment = 1024
	// pairBlocks: with room for as many blocks of 256 threads on a multiprocessor,
	// the products of a row are counted by 256, else by 512 (AᵀA of 1M entries, 7
	// blocks: 340–368 µs, 512: 372; of 5M, 5 blocks: 1379, 512: 1244).
	pairBlocks = 7
	// narrowColumns: below, 8 warps share the columns of C, else 12 if they fit
	// two blocks on a multiprocessor (8: 8.95, 12: 8.74 at 20402 columns), else 16.
	narrowColumns = 16000
	// wideGroup: with as many products, a whole warp reads a row of B, with fewer
	// half of one (counts at 10¹⁰: 15.1 against 17.3; at 2·10⁸: 1.01 against 0.96).
	wideGroup = 1e9
	// denseProducts is the products a place of C must have for the counters of
	// plus_pair to be kept from the first phase (at 1.13: 368 + 303 µs, else 338 +
	// 507; at 2.6: 1243 + 742, else 1273 + 1654).
	denseProducts = 1
	// expandFactor bounds the looks at the rows of B that are for column blocks
	// without any product in them, by products: beyond, all products are sorted.
	// Not measured: sorting passes over each product about 60 times as many bytes.
	expandFactor = 32
	// placedFactor: with more looks than that by products, sums are made in C
	// itself (4096 queries of local clustering on R-MAT 20, 7.4·10⁸ products in
	// 4.8·10⁸ results, 75 blocks of columns: 497 ms by blocks, 96 so).
	placedFactor = 0.5
	// chunkEntries is how many entries of a row of A are summed together where it
	// has more than twice as many: AᵀA of 138493×26744 with 20M entries has columns
	// of 67000, and a warp's walk over one took 10 ms, in 5 blocks 59 → 30; all at
	// once, where other rows keep the device busy, 24.0 → 25.3.
	chunkEntries = 4096
	// countThreads count a row of C if columns are packed (AᵀA of 1, 5 and 20M
	// entries: 0.33, 1.26, 4.58 ms; 256: 0.42, 1.88, 6.84; 1024: 0.47, 1.44, 4.90),
	// else 256 (S·S of R-MAT 16: 1.60 ms; 512: 3.51).
	countThreads = 512
	// preparePays: B is prepared for a product of at least this part of its entries.
	preparePays = 4
)

// spgemmLimits makes small problems look large, in tests: 0 is no limit.
type spgemmLimits struct {
	columns int  // of a column block
	window  int  // columns of a bitmap in shared memory
	counter int  // bytes of the counters of plus_pair
	segment int  // counters
	chunk   int  // entries of a row of A
	light   int  // products of a light row
	hashed  bool // all light rows are hashed
	apart   bool // few rows have a class of their own
	lean    bool
	blocked bool // no sums in C itself
}

// spgemm is a product under way.
type spgemm struct {
	f    *frame
	s    device.Semiring
	a, b *store
	mask *store
	m, k int64 // stored rows of A, rows of B that its columns speak of
	n    int

	aidx, bptr  *mem
	prep        *prepared
	work, order *mem
	limits      driver.Ptr

	measured
	light int64 // products of a light row, at most
	short []shortRows

	spgemmShape
	bitmaps, dense  *mem
	parts           *mem
	pitch           int64
	block           int  // of threads for plus_pair
	chunks, partial *mem // where rows are summed in chunks: the first of each row, and their sums
}

// spgemmShape is how C is cut up.
type spgemmShape struct {
	pair, packed    bool
	placed          bool // sums are made in C itself, which has one block then
	group, warps    int
	cb, nb, window  int // columns of a block, blocks, columns of a bitmap
	cuts, seg, bcol *mem
}

// prepared is what is kept of a second factor.
type prepared struct {
	bptr, packed, cuts, seg *mem
	cb, warps               int // that cuts and seg are for
}

func (p *prepared) drop() {
	for _, m := range []**mem{&p.bptr, &p.packed, &p.cuts, &p.seg} {
		(*m).release()
		*m = nil
	}
}

// countsPairs reports whether a semiring counts products.
func countsPairs(s device.Semiring) bool {
	return s.Position == 0 && s.Mul.Text == "1" && s.Add.Text == "x + y" && s.Add.Out.Number() && s.Add.Out.Name != boolType.Name
}

// fastMultiply multiplies by the methods made for speed, or returns nil where
// none fits. With mask, rows that it has no entries in may be left out.
func (f *frame) fastMultiply(method string, s device.Semiring, a, b, mask *store, ran *device.Ran) *store {
	if f.err != nil || s.Position != 0 || max(s.Mul.X.Size, s.Mul.Y.Size, s.Add.Out.Size) > 16 {
		return nil
	}
	if method != "" && method != methodSPA && method != methodHash {
		return nil
	}
	if a.known() == 0 || b.known() == 0 {
		ran.Method = max(method, methodHash)
		return f.empty(a.m, b.n, s.Add.Out)
	}
	g := &spgemm{f: f, s: s, a: a, b: b, mask: mask, m: int64(a.nvec), n: b.n, aidx: a.idx}
	g.rowsOfB()
	g.measure(method)
	if f.err != nil {
		return nil
	}
	ran.Work, ran.Method = g.products, methodHash
	if g.heavy > 0 || method == methodSPA {
		ran.Method = methodSPA
	}
	if g.products == 0 {
		return f.empty(a.m, b.n, s.Add.Out)
	}
	if !g.plan(method) {
		return nil
	}
	return g.run()
}

// rowsOfB finds the rows of B, and the number in A of each if B stores only some.
func (g *spgemm) rowsOfB() {
	f := g.f
	g.prep = kept(g.f, g.b, "spgemm", func() *prepared { return &prepared{} })
	g.bptr, g.k = g.b.ptr, int64(g.b.m)
	if g.b.rowids == nil {
		return
	}
	stored := int64(g.b.nvec)
	g.k = stored + 1
	if g.prep.bptr == nil {
		m := f.alloc(8 * (stored + 2))
		if f.err == nil {
			f.copy(m.addr, g.b.ptr.addr, 8*(stored+1))
			f.copy(m.addr+driver.Ptr(8*(stored+1)), g.b.ptr.addr+driver.Ptr(8*stored), 8)
		}
		f.keep(&g.prep.bptr, m)
	}
	g.bptr = g.prep.bptr
	g.aidx = f.alloc(4 * g.a.known())
	f.each(g.structure(false, 32, "hb_spgemm_rename"), g.a.known(), g.a.known(), g.a.idx, int32(stored), g.b.rowids, g.aidx)
}

// keep makes a temporary outlive the operation, unless something failed.
func (f *frame) keep(at **mem, m *mem) {
	if f.err == nil {
		(*at).release()
		*at = m.share()
	}
}

// structure returns a kernel that knows no elements.
func (g *spgemm) structure(packed bool, group int, name string) *kernel {
	return g.structureBy(packed, group, 32, name)
}

// counting returns the kernel that counts the products of rows, so many lanes a row.
func (g *spgemm) counting(lanes int) *kernel {
	return g.structureBy(false, 32, lanes, "hb_spgemm_work")
}

func (g *spgemm) structureBy(packed bool, group, lanes int, name string) *kernel {
	type structureKey struct {
		packed       bool
		group, lanes int
	}
	p := g.f.once(structureKey{packed, group, lanes}, func() *program {
		p := compose("spgemm", "structures").flag("HB_SPGEMM_NUMERIC", false).flag("HB_SPGEMM_PACKED", packed)
		return p.define("HB_SPGEMM_GROUP", group).define("HB_SPGEMM_ROW", lanes)
	})
	return g.f.kernel(p, name)
}

// numeric returns a kernel of the semiring.
func (g *spgemm) numeric(name string) *kernel {
	type numericKey struct {
		s             device.Semiring
		bareA, bareX  bool
		packed, pair  bool
		placed        bool
		warps, groups int
		segment       int
		block         int
	}
	return g.f.kernel(g.f.once(numericKey{g.s, g.a.val == nil, g.b.val == nil, g.packed, g.pair, g.placed, g.warps, g.group, g.segment(), g.block}, g.composed), name)
}

func (g *spgemm) composed() *program {
	p := g.composedOf("spgemm")
	p.flag("HB_SPGEMM_NUMERIC", true).flag("HB_SPGEMM_PACKED", g.packed).flag("HB_SPGEMM_PAIR", g.pair).flag("HB_SPGEMM_PLACED", g.placed)
	p.define("HB_SPGEMM_WARPS", g.warps).define("HB_SPGEMM_GROUP", g.group)
	p.define("HB_SPGEMM_SEGMENT", g.segment()).define("HB_SPGEMM_PAIR_BLOCK", max(g.block, 256))
	return p
}

// composedOf is a kernel file with the semiring.
func (g *spgemm) composedOf(body string) *program {
	s := g.s
	usesA, usesX := s.Mul.UsesX, s.Mul.UsesY
	if usesA && g.a.val == nil {
		s.Mul.Text, usesA = "(x = (A)1, "+s.Mul.Text+")", false
	}
	if usesX && g.b.val == nil {
		s.Mul.Text, usesX = "(y = (B)1, "+s.Mul.Text+")", false
	}
	p := compose(body, describe(g.s)).typ("HB_A", s.Mul.X).typ("HB_X", s.Mul.Y).typ("HB_C", s.Add.Out)
	p.uses(usesA, usesX).semiring(s, false)
	ahead := 4
	if max(s.Mul.X.Size, s.Mul.Y.Size) > 8 {
		ahead = 2 // registers
	}
	return p.define("HB_SPGEMM_AHEAD", ahead)
}

// fill is the number of blocks that keep the device busy, each multiprocessor with per of them, for
// n items, a block each.
func (g *spgemm) fill(n, each, per int64) int64 {
	return min((n+each-1)/each, int64(g.f.d.props.Multiprocessors)*per)
}

// spgemmMost is where limits has the entries of the longest row of C that is hashed.
const spgemmMost = 269

// measured is what the host reads of limits.
type measured struct {
	heavy, rows, products, longest int64
	above                          [len(shortClasses)]int64 // rows of more products than a class
}

// measure counts products row by row and orders the rows, heavy ones first.
func (g *spgemm) measure(method string) {
	f := g.f
	const bins = 256
	zeroed := f.zeros(8 * (bins + spgemmMost + 1))
	g.limits = zeroed.ptr() + 8*bins
	g.work, g.order = f.alloc(8*g.m), f.alloc(4*g.m)
	var wanted *mem
	if g.mask != nil {
		wanted = f.alloc(g.m)
		f.each(g.structure(false, 32, "hb_spgemm_wanted"), g.m, g.a.desc(), g.mask.desc(), wanted)
	}
	g.light = g.lightProducts(method)
	lanes := g.rowLanes()
	f.blocks(g.counting(lanes), g.fill(g.m, int64(256/lanes), 8), 256, g.m, g.a.ptr, g.aidx, g.bptr, wanted, g.work, zeroed, g.limits)
	f.blocks(g.structure(false, 32, "hb_spgemm_order"), g.fill(g.m, 256, 8), 256, g.m, int32(g.light), g.work, zeroed, g.limits, g.order)
	f.download(unsafe.Pointer(&g.measured), g.limits, int64(unsafe.Sizeof(g.measured)))
	g.classify()
}

// plan decides how C is cut up; false if by none of the ways here.
func (g *spgemm) plan(method string) bool {
	f := g.f
	prepare := g.prep.packed != nil || g.products >= g.b.known()/preparePays
	g.packed = g.n <= packedColumns && prepare && g.heavy > 0
	g.pair = g.packed && countsPairs(g.s)
	g.group, g.warps = 32, 8
	if g.products < wideGroup && !g.pair {
		g.group = 16
	}
	g.cb, g.nb = (g.n+31)/32*32, 1
	if g.heavy == 0 {
		return true
	}
	if !g.pair {
		g.columnBlocks()
	}
	most := max((f.d.props.SharedPerBlock-8192)*8/g.cb*g.cb, g.cb)
	if w := f.d.spgemm.window; w > 0 {
		most = max(w/g.cb*g.cb, g.cb)
	}
	g.window = min((g.n+31)/32*32, most)
	if g.nb > 1 && !f.affords(16*g.m*int64(g.nb)) {
		return false
	}
	looks := float64(g.a.known()) * float64(g.nb*g.warps)
	if g.nb > 1 && looks > placedFactor*float64(g.products) && most >= g.n && f.affords(4*g.heavy*bitmapWords(g.n)) && !f.d.spgemm.lean && !f.d.spgemm.blocked {
		g.placed, g.packed = true, false
		g.cb, g.nb, g.window = (g.n+31)/32*32, 1, (g.n+31)/32*32
		looks = 0
	}
	windows := float64((g.n + g.window - 1) / g.window)
	if method == "" && g.nb > 1 && (looks > expandFactor*float64(g.products) || windows > expandFactor) {
		return false
	}
	g.prepareB(prepare)
	g.keepWork()
	return f.err == nil
}

// columnBlocks cuts C into blocks of columns with accumulators that fit shared memory.
func (g *spgemm) columnBlocks() {
	one, two := g.columnsOf(1), g.columnsOf(2)
	if limit := g.f.d.spgemm.columns; limit > 0 {
		one, two = limit, limit
	}
	switch {
	case g.n <= two && g.packed && g.n < narrowColumns:
		g.warps = 8
	case g.n <= two && g.packed:
		g.warps = 12
	case g.n <= one:
		g.warps = 16
	default:
		g.warps = 16
		g.cb = two
		g.nb = (g.n + two - 1) / two
	}
}

// columnsOf returns how many sums and bits fit a block, with so many blocks on
// a multiprocessor: a multiple of 32.
func (g *spgemm) columnsOf(blocks int) int {
	p := g.f.d.props
	room := min(p.SharedPerSM/blocks-1024-512, p.SharedPerBlock-512)
	return max(room*8/(8*g.s.Add.Out.Size+1)/32*32, 32)
}

// prepareB makes what is kept of B: its columns packed, and where the parts of
// a row begin. prepare says whether it is worth while.
func (g *spgemm) prepareB(prepare bool) {
	f, p, nnz := g.f, g.prep, g.b.known()
	g.bcol = g.b.idx
	if g.packed {
		if p.packed == nil {
			m := f.alloc(16 * ((nnz+7*g.k)/8 + 1))
			f.blocks(g.structure(false, 32, "hb_spgemm_pack"), (g.k+7)/8, 256, g.k, int32(g.fillColumn()), g.bptr, g.b.idx, m)
			f.keep(&p.packed, m)
		}
		g.bcol = p.packed
	}
	if g.pair {
		return
	}
	if p.cb != g.cb || p.warps != g.warps {
		p.cb, p.warps = g.cb, g.warps
		p.cuts.release()
		p.seg.release()
		p.cuts, p.seg = nil, nil
	}
	parts := int64(g.nb * g.warps)
	if p.cuts == nil {
		f.keep(&p.cuts, g.cutColumns(parts))
	}
	places := g.k * (parts + 1)
	if p.seg == nil && prepare && places <= 8*nnz+1<<20 && f.affords(4*places) && !f.d.spgemm.lean {
		m := f.alloc(4 * places)
		f.blocks(g.structure(false, 32, "hb_spgemm_seg"), (places+255)/256, 256, g.k, int32(parts), p.cuts, g.bptr, g.b.idx, m)
		f.keep(&p.seg, m)
	}
	g.cuts, g.seg = p.cuts, p.seg
}

// cutColumns divides the columns of each block into parts with equal numbers of
// entries of B, as estimated from a sample of a million of them.
func (g *spgemm) cutColumns(parts int64) *mem {
	f, nnz := g.f, g.b.known()
	hist := f.zeros(4 * int64(g.n))
	stride := max(nnz>>20, 1)
	f.each(g.structure(false, 32, "hb_spgemm_columns"), (nnz+stride-1)/stride, nnz, stride, g.b.idx, hist)
	before := f.scan(hist, int64(g.n), 4)
	cuts := f.alloc(4 * (parts + 1))
	f.each(g.structure(false, 32, "hb_spgemm_cuts"), parts+1, int32(g.n), int32(g.cb), int32(g.warps), int32(parts), before, cuts)
	f.free(hist)
	f.free(before)
	return cuts
}

// keepWork allocates what the first phase can keep for the second, where there is memory for it.
func (g *spgemm) keepWork() {
	f := g.f
	if f.d.spgemm.lean {
		return
	}
	if g.pair {
		fill := int64(g.fillColumn())
		if g.pitch = fill; g.longest < 1<<16 {
			g.pitch /= 2
		}
		parts := g.heavy * fill / int64(g.segment())
		if g.products/denseProducts >= g.heavy*int64(g.n) && f.affords(4*(g.heavy*g.pitch+parts)) {
			g.dense, g.parts = f.alloc(4*g.heavy*g.pitch), f.alloc(4*parts)
		}
		return
	}
	if bytes := 4 * g.heavy * bitmapWords(g.n); g.window >= g.n && (g.placed || f.affords(bytes)) {
		g.bitmaps = f.alloc(bytes)
	}
}

// bitmapWords is hb_bitmap_words of spgemm.cu.
func bitmapWords(n int) int64 { return (int64(n) + 127) / 128 * 4 }

// run counts, allocates, and computes.
func (g *spgemm) run() *store {
	f := g.f
	f.check()
	at := g.count()
	total := f.read(at, g.m*int64(g.nb))
	if f.err != nil {
		return nil
	}
	t := g.s.Add.Out
	out := f.newStore(g.a.m, g.n, g.a.format, t, total)
	out.nvec, out.rowids = g.a.nvec, g.a.rowids.share()
	out.idx = f.alloc(4 * max(total, 1)).share()
	out.val = f.alloc(int64(t.Size) * max(total, 1)).share()
	if g.nb == 1 {
		out.ptr = at.share()
	} else {
		out.ptr = f.alloc(8 * (g.m + 1)).share()
		f.blocks(g.structure(false, 32, "hb_spgemm_rowptr"), (g.m+256)/256, 256, g.m, int32(g.nb), at, out.ptr)
	}
	g.computeHeavy(at, out)
	g.computeShort(at, out)
	return out
}

// count returns where each row of C, or each block of one, begins.
func (g *spgemm) count() *mem {
	f := g.f
	cells := g.m * int64(g.nb)
	counts := f.zeros(8 * cells)
	switch {
	case g.heavy == 0:
	case g.dense != nil:
		g.pairs(counts, nil)
	default:
		threads := uint32(256)
		if g.packed {
			threads = countThreads
		}
		columns := g.window
		if g.packed {
			columns = max(columns, g.fillColumn())
		}
		grid := [3]uint32{uint32(g.fill(g.heavy, 1, 8)), 1, 1}
		f.launch(g.structure(g.packed, g.group, "hb_spgemm_count"), grid, [3]uint32{threads, 1, 1}, columns/8+4,
			int32(g.n), int32(g.cb), int32(g.nb), int32(g.window), g.a.ptr, g.aidx, g.bptr, g.bcol, g.order, g.limits, counts, g.bitmaps)
	}
	g.countShort(counts)
	at := f.scan(counts, cells, 8)
	f.free(counts)
	return at
}

// segment is HB_SPGEMM_SEGMENT.
func (g *spgemm) segment() int {
	if s := g.f.d.spgemm.segment; s > 0 {
		return s
	}
	return pairSegment
}

// fillColumn is the column that fills up the packed rows of B: a multiple of segments.
func (g *spgemm) fillColumn() int { return (g.n + pairSegment - 1) / pairSegment * pairSegment }

// pairs launches hb_spgemm_pair: for the first phase, which keeps its counters,
// or with out for the second, which does it all again.
func (g *spgemm) pairs(at *mem, out *store) {
	p, segment := g.f.d.props, g.segment()
	fill := g.fillColumn()
	room := p.SharedPerBlock - 2048
	if b := g.f.d.spgemm.counter; b > 0 {
		room = min(room, b)
	}
	most := max(min((fill/2+segment-1)/segment, room/4/segment), 1) * segment
	bytes := 4*most + 4
	per := max(1, p.SharedPerSM/(bytes+2048))
	if g.block = 256; g.dense != nil && per < pairBlocks {
		g.block = 512
	}
	per = min(per, p.ThreadsPerSM/g.block)
	var dense, parts, idx, val *mem
	if out == nil {
		dense, parts = g.dense, g.parts
	} else {
		idx, val = out.idx, out.val
	}
	g.f.launch(g.numeric("hb_spgemm_pair"), [3]uint32{uint32(g.fill(g.heavy, 1, int64(per))), 1, 1}, [3]uint32{uint32(g.block), 1, 1}, bytes,
		int32(fill), int32(most), g.a.ptr, g.aidx, g.bptr, g.bcol, g.order, g.limits, at, parts, dense, g.pitch, idx, val)
}

func (g *spgemm) computeHeavy(at *mem, out *store) {
	f := g.f
	switch {
	case g.heavy == 0:
	case g.dense != nil:
		segments := g.heavy * int64(g.fillColumn()/g.segment())
		grid := [3]uint32{uint32(g.fill(segments, 8, 7)), 1, 1}
		f.launch(g.numeric("hb_spgemm_pair_write"), grid, [3]uint32{256, 1, 1}, 32*g.segment(), int32(g.fillColumn()), g.a.ptr, g.order, g.limits, at, g.parts, g.dense, g.pitch, out.idx, out.val)
		f.free(g.dense)
		f.free(g.parts)
	case g.pair:
		g.pairs(at, out)
	case g.placed:
		g.launchHeavy("hb_spgemm_placed", g.heavy, (g.n+127)/128*4,
			int32(g.n), g.a.ptr, g.aidx, g.a.val, g.bptr, g.b.idx, g.b.val, g.cuts, g.order, g.limits, at, g.bitmaps, out.idx, out.val)
		f.free(g.bitmaps)
	default:
		g.sumChunks()
		bytes := g.cb * g.s.Add.Out.Size
		if g.bitmaps == nil {
			bytes += g.cb / 8
		}
		g.launchHeavy("hb_spgemm_owner", g.heavy*int64(g.nb), bytes,
			int32(g.n), int32(g.cb), int32(g.nb), g.a.ptr, g.aidx, g.a.val, g.bptr, g.b.idx, g.bcol, g.b.val, g.cuts, g.seg,
			g.order, g.limits, at, g.bitmaps, g.chunks, g.partial, out.idx, out.val)
		f.free(g.bitmaps)
		f.free(g.chunks)
		f.free(g.partial)
	}
}

// launchHeavy runs a numeric kernel that takes a block of threads and so many
// bytes of shared memory for each of n tasks.
func (g *spgemm) launchHeavy(name string, n int64, bytes int, args ...any) {
	p, threads := g.f.d.props, 32*g.warps
	per := max(1, min(p.ThreadsPerSM/threads, p.SharedPerSM/(bytes+1536)))
	g.f.launch(g.numeric(name), [3]uint32{uint32(g.fill(n, 1, int64(per))), 1, 1}, [3]uint32{uint32(threads), 1, 1}, bytes, args...)
}

// sumChunks sums rows of A chunk by chunk that are so long that all may wait for
// them, if there is memory for it. That they do is not looked at, so that sums
// are rounded in the same way whatever other rows there are.
func (g *spgemm) sumChunks() {
	f, chunk := g.f, int64(chunkEntries)
	if c := f.d.spgemm.chunk; c > 0 {
		chunk = int64(c)
	}
	if g.longest <= 2*chunk || g.nb > 1 || g.bitmaps == nil || g.s.Add.Any { // any of no sums is no sum
		return
	}
	counts := f.alloc(8 * g.heavy)
	f.each(g.structure(false, 32, "hb_spgemm_chunks"), g.heavy, g.heavy, chunk, g.a.ptr, g.order, counts)
	at := f.scan(counts, g.heavy, 8)
	f.free(counts)
	n := f.read(at, g.heavy)
	room := n * int64(g.n) * int64(g.s.Add.Out.Size)
	if n == 0 || !f.affords(room) {
		f.free(at)
		return
	}
	g.chunks, g.partial = at, f.alloc(room)
	g.launchHeavy("hb_spgemm_chunk", n, g.cb*g.s.Add.Out.Size,
		int32(g.n), int32(g.cb), int32(g.nb), g.a.ptr, g.aidx, g.a.val, g.bptr, g.b.idx, g.bcol, g.b.val, g.cuts, g.seg,
		g.order, g.limits, chunk, g.chunks, g.partial)
}
