package cusparse

import (
	"github.com/hiveblas/hiveblas/cusparse/driver"
	"github.com/hiveblas/hiveblas/internal/device"
	"github.com/hiveblas/hiveblas/internal/sparse"
)

var _ device.Matcher = (*Device)(nil)

var floatType, _ = device.TypeOf[float32]()

// matchBlock is HB_MATCH_BLOCK, sumBytes the size of hb_sum and matchLevels
// HB_LEVELS of kernels/match.cu.
const (
	matchBlock  = 512
	sumBytes    = 16
	matchLevels = 4
)

// matching is Match under way.
type matching struct {
	*frame
	p             *program
	n, np, q      int
	edges         int64
	width         int // edges of the pattern whose distances are there at a time
	from, to      *mem
	out, in       *store     // rows of edges out of and into each vertex of the data
	tasks         *spmmTasks // of in, and of out
	outTasks      *spmmTasks
	near          *mem
	edge, pattern *store // features
	partial, done *mem
}

// Match propagates beliefs on the device: three kernels a round, none of which
// the host waits for. The kernels are in kernels/match.cu.
func (d *Device) Match(c device.Call, m device.Matching) (device.Store, device.Ran, error) {
	f := d.begin(c)
	defer f.end()
	b := f.matching(m)
	if f.err != nil {
		return nil, device.Ran{}, f.err
	}
	ran := device.Ran{Method: "messages", Work: int64(m.Rounds) * b.edges * int64(b.q)}
	belief := f.newStore(b.n, b.np, sparse.Full, floatType, int64(b.n)*int64(b.np))
	cells, links := int64(b.n)*int64(b.np), int64(b.n)*int64(b.q)
	belief.val = f.alloc(4 * max(cells, 1)).share()
	if cells == 0 {
		return f.result(belief), ran, f.err
	}
	features, y := f.dense(f.here(m.Data.Vertices)), f.dense(f.here(m.Pattern.Vertices))
	norm, peak, cost := f.alloc(4*int64(b.np)), f.alloc(4*int64(b.np)), f.alloc(4*cells)
	f.each(b.kernel("hb_match_near"), cells, features.val, int64(b.n), y.val, int32(b.np), int32(features.m), int32(0), int32(b.np), belief.val)
	b.columns("hb_match_columns", b.np, belief.val, int32(b.n), int32(b.np), norm, peak)
	f.copy(cost.ptr(), belief.val.ptr(), 4*cells)
	if links > 0 && m.Rounds > 0 {
		b.rounds(m, norm, peak, cost, belief.val)
	}
	f.each(b.kernel("hb_match_end"), cells, cells, int32(b.np), norm, belief.val)
	if f.err != nil {
		return nil, ran, f.err
	}
	return f.result(belief), ran, nil
}

// matching makes what all kernels share.
func (f *frame) matching(m device.Matching) *matching {
	from, to := f.csr(f.rows(m.Data.Source)), f.csr(f.rows(m.Data.Target))
	psrc := f.csr(f.rows(m.Pattern.Source))
	out, in := f.csr(f.cols(m.Data.Source)), f.csr(f.cols(m.Data.Target))
	if f.err != nil {
		return nil
	}
	b := &matching{frame: f, n: from.n, np: psrc.n, q: psrc.m, edges: int64(from.m), from: from.idx, to: to.idx, out: out, in: in}
	b.p = f.once("match", func() *program { return compose("match", "a pattern").define("HB_CHUNK", spmmChunk) })
	b.width = b.q
	if row := 4 * max(b.edges, 1); m.Memory > 0 && m.Memory/row < int64(b.q) {
		b.width = int(max(m.Memory/row, 1))
	}
	b.near = f.alloc(4 * b.edges * int64(b.width))
	b.edge, b.pattern = f.dense(f.here(m.Data.Edges)), f.dense(f.here(m.Pattern.Edges))
	if f.err != nil {
		return nil
	}
	tasks := f.once("match tasks", func() *program {
		return fastProgram("spmm", plusSecond, false, from, b.edge).define("HB_CHUNK", spmmChunk).define("HB_COLS", 1)
	})
	b.tasks, b.outTasks = f.spmmTasksOf(in, tasks), f.spmmTasksOf(out, tasks)
	most := int64(max(b.q, b.np))
	b.partial, b.done = f.alloc(sumBytes*matchLevels*most*b.grid()), f.zeros(8*((most+matchBlock-1)/matchBlock+1))
	return b
}

func (b *matching) kernel(name string) *kernel { return b.frame.kernel(b.p, name) }

// grid is the number of blocks of kernels that sum columns.
func (b *matching) grid() int64 { return 2 * max(int64(b.d.props.Multiprocessors), 1) }

// columns queues a kernel that sums columns, whose last arguments are where.
func (b *matching) columns(name string, columns int, args ...any) {
	width := min(columns, matchBlock)
	rows := matchBlock / width
	x := min(b.grid(), (int64(b.n)+int64(rows)-1)/int64(rows))
	b.launch(b.kernel(name), [3]uint32{uint32(x), uint32((columns + width - 1) / width), 1}, [3]uint32{matchBlock, 1, 1}, 0, append(args, b.partial, b.done)...)
}

// tiles makes the distances of a row of pattern edges at a time, unless they
// are made and kept, and calls f with it.
func (b *matching) tiles(made *bool, f func(first, width int32)) {
	for first := 0; first < b.q && b.err == nil; first += b.width {
		width := min(b.width, b.q-first)
		if !*made || b.width < b.q {
			b.each(b.kernel("hb_match_near"), b.edges*int64(width), b.edge.val, b.edges, b.pattern.val, int32(b.q), int32(b.edge.m), int32(first), int32(width), b.near)
			*made = true
		}
		f(int32(first), int32(width))
	}
}

// pass finds the best message at each vertex over the edges of its row.
func (b *matching) pass(rows *store, tasks *spmmTasks, other *mem, sent driver.Ptr, first, width int32, into *mem) {
	if b.err == nil {
		b.blocks(b.kernel("hb_match_pass"), (tasks.count+7)/8, threads, tasks.count, tasks.row, tasks.lo, rows.ptr, rows.idx, other,
			b.near, width, sent, int32(b.q), first, into)
	}
}

func (b *matching) mass(rows *store, tasks *spmmTasks, peak, shares *mem, first, width int32) {
	if b.err == nil {
		b.blocks(b.kernel("hb_match_mass"), (tasks.count+7)/8, threads, tasks.count, tasks.row, tasks.lo, rows.ptr, rows.idx,
			b.near, width, peak, int32(b.q), first, shares)
	}
}

// rounds sends messages to and fro; belief is cost before.
func (b *matching) rounds(m device.Matching, norm, peak, cost, belief *mem) {
	f, links := b.frame, int64(b.n)*int64(b.q)
	src, dst := f.csr(f.rows(m.Pattern.Source)), f.csr(f.rows(m.Pattern.Target))
	pout, pin := f.csr(f.cols(m.Pattern.Source)), f.csr(f.cols(m.Pattern.Target))
	if f.err != nil {
		return
	}
	into, out, mass := f.alloc(4*links), f.alloc(4*links), f.alloc(4*links)
	level := f.alloc(sumBytes * matchLevels * int64(b.q))
	for _, x := range []*mem{into, out} {
		f.each(b.kernel("hb_match_clear"), links, x, links)
	}
	shares, made := f.zeros(8*links), false
	b.tiles(&made, func(first, width int32) {
		b.pass(b.in, b.tasks, nil, 0, first, width, into)
		b.pass(b.out, b.outTasks, nil, 0, first, width, out)
		b.mass(b.out, b.outTasks, out, shares, first, width)
	})
	start := func(peaks, mass, level *mem) {
		b.columns("hb_match_first", b.q, int32(b.n), int32(b.q), peaks, shares, mass, src.idx, dst.idx, norm, peak, level)
	}
	start(out, mass, level)
	back := mass
	if m.Corrected {
		back = f.alloc(4 * links)
		f.fill(shares, 0, 8*links)
		b.tiles(&made, func(first, width int32) { b.mass(b.in, b.tasks, into, shares, first, width) })
		start(into, back, nil)
	}
	// What was sent takes the place of the shares, which are not needed any more.
	vf, vr := shares.ptr(), shares.ptr()+driver.Ptr(4*links)
	f.fill(shares, 0, 4*links)
	corrected := flagOf(m.Corrected)
	for k := 0; k < m.Rounds && f.err == nil; k++ {
		b.columns("hb_match_send", b.q, int32(b.n), int32(b.np), int32(b.q), src.idx, dst.idx, belief, norm, vf, vr, into, out, corrected, back, mass, level)
		b.tiles(&made, func(first, width int32) {
			b.pass(b.in, b.tasks, b.from, vr, first, width, into)
			if m.Corrected {
				b.pass(b.out, b.outTasks, b.to, vf, first, width, out)
			}
		})
		b.columns("hb_match_believe", b.np, int32(b.n), int32(b.np), int32(b.q), pin.ptr, pin.idx, pout.ptr, pout.idx, cost, vf, into, out, corrected, level, belief, norm)
		f.check()
	}
}
