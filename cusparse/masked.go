package cusparse

import (
	"math/bits"

	"github.com/hiveblas/hiveblas/internal/device"
)

// This file launches kernels/masked.cu, C⟨M⟩ = A ⊗ B by an entry of the mask at a time.

const (
	// maskedTile is HB_MASKED_TILE.
	maskedTile = 1024
	// maskedBits is the most columns that have a bit of their own: 128 KB. Up to
	// fewBits, 32 KB, four blocks of 256 threads fit a multiprocessor.
	maskedBits = 1 << 20
	fewBits    = 1 << 18
	// maskedOwn is HB_MASKED_OWN in bytes: the bits of a warp.
	maskedOwn = 1 << 10
	// warpWork is the entries of the shorter rows of an owner that a warp takes (A⟨tril A⟩
	// of R-MAT 20: 16384 takes 33.6 ms, 256 without bits 29.7).
	warpWork = 512
	// maskedChunk is the least tasks of a unit.
	maskedChunk = 256
)

// maskedLimits makes small problems look large, in tests: 0 is no limit.
type maskedLimits struct {
	bits  int   // columns with a bit of their own, a power of two
	parts int64 // of the mask
	wide  bool  // blocks of 1024 threads
	work  int   // of an owner that a warp takes
}

// masked is a product under way, for each entry of a mask. b holds the columns of the second
// factor.
type masked struct {
	f          *frame
	a, b, mask *store
	p          *program
	hit, val   *mem
	base       int64 // the first owner of b
	owners     int64
	bits       int // columns with a bit of their own, a power of two
	block      int // threads that share them
}

// dot takes one product per entry of the mask.
func (f *frame) dot(s device.Semiring, a, b, mask *store, ran *device.Ran) *store {
	if f.err != nil {
		return nil
	}
	n := mask.known()
	if out := f.commonColumns(s, a, b, mask); out != nil || f.err != nil {
		ran.Work = n
		return out
	}
	ran.Work = n
	if n == 0 || a.known() == 0 || b.known() == 0 {
		return f.empty(mask.m, mask.n, s.Add.Out)
	}
	g := &masked{f: f, a: a, b: b, mask: mask, block: 256}
	g.chooseBits()
	g.p = g.program(s)
	g.base, g.owners = int64(a.nvec), int64(a.nvec+b.nvec)
	if a.origin() == b.origin() {
		g.base, g.owners = 0, int64(a.nvec)
	}
	g.hit, g.val = f.alloc(n), f.alloc(n*int64(s.Add.Out.Size))
	far := f.zeros(8)
	var tasks, work *mem
	if g.owners <= 4*n && f.d.masked.parts == 0 {
		tasks, work = f.zeros(8*g.owners), f.zeros(8*g.owners)
	}
	f.blocks(f.kernel(g.p, "hb_masked_near"), g.tiles(n), 256, a.desc(), b.desc(), mask.desc(), g.base, g.hit, g.val, far, tasks, work)
	if left := f.read(far, 0); left > 0 {
		g.own(n, left, tasks, work)
	}
	return f.compacted(mask, g.hit, s.Add.Out, g.val)
}

// chooseBits decides how many columns have a bit of their own, and the threads that share them.
func (g *masked) chooseBits() {
	p, most := g.f.d.props, maskedBits
	for most/8+most/32+maskedOwn*32 > p.SharedPerBlock-2048 {
		most /= 2
	}
	if l := g.f.d.masked.bits; l > 0 {
		most = l
	}
	g.bits = min(most, max(128, 1<<bits.Len(uint(g.a.n-1))))
	if g.bits > fewBits || g.f.d.masked.wide {
		g.block = 1024
	}
}

// denseDot is dot for operands that are full or bitmaps.
func (f *frame) denseDot(s device.Semiring, a, b device.Operand, mask *store, ran *device.Ran) *store {
	as, ai, ak := f.strides(a)
	bs, bk, bj := f.strides(b)
	n := mask.known()
	ran.Work = n
	if n == 0 || f.err != nil {
		return f.empty(mask.m, mask.n, s.Add.Out)
	}
	inner := as.n
	if a.Transposed {
		inner = as.m
	}
	g := &masked{f: f, a: as, b: bs, mask: mask, bits: 32, block: 256}
	g.hit, g.val = f.alloc(n), f.alloc(n*int64(s.Add.Out.Size))
	f.blocks(f.kernel(g.program(s), "hb_masked_dense"), g.tiles(n), 256, as.desc(), bs.desc(), mask.desc(), int32(inner), ai, ak, bk, bj, g.hit, g.val)
	return f.compacted(mask, g.hit, s.Add.Out, g.val)
}

// strides returns a dense operand with the steps to the next row and to the next column.
func (f *frame) strides(o device.Operand) (s *store, row, column int64) {
	if s = f.here(o); f.err != nil {
		return nil, 0, 0
	}
	row, column = int64(s.n), 1
	if o.Transposed {
		row, column = column, row
	}
	if o.Pattern {
		s = f.pattern(s)
	}
	return s, row, column
}

// program is the text of a semiring for the entries of a mask.
func (g *masked) program(s device.Semiring) *program {
	a, b := g.a, g.b
	work := warpWork
	if w := g.f.d.masked.work; w > 0 {
		work = w
	}
	type maskedKey struct {
		s            device.Semiring
		bareA, bareX bool
		block, work  int
	}
	key := maskedKey{s, a.val == nil, b.val == nil, g.block, work}
	return g.f.once(key, func() *program {
		p := multiplier("masked", s, false, a, b)
		p.flag("HB_READS_A", s.Mul.UsesX && a.val != nil).flag("HB_READS_X", s.Mul.UsesY && b.val != nil)
		p.flag("HB_MASKED_PLACES", s.Position != 0).flag("HB_MASKED_COUNTS", countsPairs(s)).define("HB_MASKED_BLOCK", g.block).define("HB_MASKED_WORK", work)
		ended := "false"
		if s.Add.Terminal != "" {
			ended = "((sum) == (HB_C)(" + s.Add.Terminal + "))"
		}
		return p.define("HB_ENDED(sum)", ended)
	})
}

func (g *masked) tiles(n int64) int64 {
	return min((n+maskedTile-1)/maskedTile, int64(g.f.d.props.Multiprocessors)*32)
}

// own assigns entries with two long rows to their longer rows, and computes them: left of the n
// entries of the mask, in parts for which there is memory. tasks and work were counted, or are nil.
func (g *masked) own(n, left int64, tasks, work *mem) {
	f, parts := g.f, int64(1)
	const perTask = 20
	if p := f.d.masked.parts; p > 0 {
		parts = p
	} else if !f.affords(perTask * left) {
		parts = min(max(perTask*n/max(f.spare(), 1), 1)+1, n)
	}
	each := (n + parts - 1) / parts
	for lo := int64(0); lo < n && f.err == nil; lo += each {
		if parts == 1 {
			g.probe(lo, n, left, tasks, work)
		} else {
			mark := len(f.temps)
			g.probe(lo, min(lo+each, n), -1, nil, nil)
			f.freeSince(mark)
		}
	}
}

// probe computes the entries lo to hi of the mask with two long rows: left entries, or −1 if they
// are not counted.
func (g *masked) probe(lo, hi, left int64, tasks, work *mem) {
	f, a, b := g.f, g.a, g.b
	if tasks == nil {
		tasks, work = f.zeros(8*g.owners), f.zeros(8*g.owners)
		f.blocks(f.kernel(g.p, "hb_masked_count"), g.tiles(hi-lo), 256, a.desc(), b.desc(), g.mask.desc(), g.base, lo, hi, g.hit, tasks, work)
	}
	first := f.scan(tasks, g.owners, 8)
	if left < 0 {
		left = f.read(first, g.owners)
	}
	if left == 0 || f.err != nil {
		return
	}
	f.copy(tasks.addr, first.addr, 8*g.owners) // from now on, the next free place
	from, length, place := f.alloc(8*left), f.alloc(4*left), f.alloc(8*left)
	f.blocks(f.kernel(g.p, "hb_masked_fill"), g.tiles(hi-lo), 256, a.desc(), b.desc(), g.mask.desc(), g.base, lo, hi, g.hit, tasks, from, length, place)
	some := min(g.owners, left)
	units, light, sizes := f.alloc(16*(some+left/maskedChunk)), f.alloc(4*some), f.zeros(32)
	f.each(f.kernel(g.p, "hb_masked_split"), g.owners, g.owners, a.desc(), b.desc(), g.base, first, work, units, light, sizes)
	shared := g.bits/8 + g.bits/32 + maskedOwn*g.block/32
	per := max(1, min(f.d.props.ThreadsPerSM/g.block, f.d.props.SharedPerSM/(shared+1024)))
	grid := [3]uint32{uint32(f.d.props.Multiprocessors * per), 1, 1}
	f.launch(f.kernel(g.p, "hb_masked_probe"), grid, [3]uint32{uint32(g.block), 1, 1}, shared,
		a.desc(), b.desc(), g.mask.desc(), g.base, uint32(g.bits-1), first, from, length, place, units, light, sizes, g.hit, g.val)
}
