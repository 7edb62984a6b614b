package communities

import (
	_ "embed"
	"math"
	"math/bits"
	"unsafe"

	"github.com/hiveblas/hiveblas/apps/internal/workflow"
	"github.com/hiveblas/hiveblas/internal/device"
	"github.com/hiveblas/hiveblas/internal/rep"
)

var (
	//go:embed kernels/louvain_common.cu
	louvainCommonText string
	//go:embed kernels/louvain.cu
	louvainText string
	//go:embed kernels/louvain_parts.cu
	louvainPartsText string
	//go:embed kernels/louvain_contract.cu
	louvainContractText string
	//go:embed kernels/louvain_open.cu
	louvainOpenText string
)

// Constants of kernels/louvain.cu.
const (
	louvainChunk   = 2048
	louvainSlots   = 4096
	louvainBatches = moveBatchesMax
	louvainBins    = 6
)

// The numbers of the state of kernels/louvain_common.cu.
const (
	louvainGain = iota
	louvainMoves
	louvainActive
	louvainMoved
	louvainLargeMoved
	louvainDone
	louvainLargest
	louvainInside
	louvainLow
	louvainMid
	louvainHigh
	louvainBad
	louvainLoops
	louvainSkew
	louvainSum
	louvainSumHigh
	louvainFractions
	louvainMost
	louvainStates
)

// louvainVertices bounds the vertices of a graph: names of communities are below twice as many.
// louvainEntries bounds the entries, and so the length of a row of any level.
const (
	louvainVertices = 1 << 30
	louvainEntries  = 1 << 32
)

// louvainProgram is the program of the sweeps and of contraction, for sums of 32 or 64 bits.
func louvainProgram(wide bool) device.Program {
	t := workflow.Uint32Type
	if wide {
		t = workflow.Uint64Type
	}
	p := workflow.GraphProgram("louvain", "communities", louvainCommonText+louvainText+louvainPartsText+louvainContractText, map[string]any{
		"HB_LV_CHUNK": louvainChunk, "HB_LV_SLOTS": louvainSlots, "HB_LV_BATCHES": louvainBatches,
		"HB_LV_LEAST": leastGain, "HB_LV_MANY": wakeMany, "HB_LV_UNIT": float64(gainScale),
	})
	p.Types = []device.Typedef{{Name: "HB_W", Type: t}}
	return p
}

// louvainOpenProgram is the program that reads a graph with elements of a type.
func louvainOpenProgram(t device.Type) device.Program {
	p := workflow.GraphProgram("louvainopen", "communities", louvainCommonText+louvainOpenText, nil)
	p.Types = []device.Typedef{{Name: "HB_T", Type: t}}
	return p
}

func init() { device.Describe("louvain", louvainPrograms) }

// louvainPrograms are the programs of Communities.
func louvainPrograms(t device.Type) []device.Program {
	return []device.Program{louvainOpenProgram(t), louvainProgram(false), louvainProgram(true)}
}

// louvainAt is what the levels of Communities on a device share.
type louvainAt struct {
	s      *device.Session
	code   device.Code
	o      *CommunitiesOptions
	wide   bool
	total  int64
	sums   int64 // bytes of a sum of weights
	first  int   // vertices of the first level
	state  device.Buffer
	counts device.Buffer // of items, 0 between kernels

	// Of the moves of a level, as large as the first level needs. Wants and ranks are 0 between
	// sweeps. room is the length of moved, found has the choices of the pieces of hubs.
	room                            int64
	found                           device.Buffer
	label, tot, active, drawn       device.Buffer
	offs, next, items, to, gain     device.Buffer
	want, best, moved, joint, least device.Buffer
	// Of refinement.
	part, size, out, joined device.Buffer

	share   *louvainShare // of a group; nil on one device
	divides int64         // see workflow.DividedEntries
}

// kernel returns a kernel of louvain.cu.
func (w *louvainAt) kernel(name string) device.Kernel { return w.s.Kernel(w.code, "hb_louvain_"+name) }

// each launches a kernel with a thread for each of n items; n is the first argument.
func (w *louvainAt) each(name string, n int, args ...any) {
	w.s.Each(w.kernel(name), int64(n), append([]any{int32(n)}, args...)...)
}

// resident launches a kernel with blocks that loop, at most as many blocks as n items fill.
func (w *louvainAt) resident(name string, blocks int64, shared int, args ...any) {
	k := w.kernel(name)
	grid, block := workflow.ResidentGrid(w.s, k)
	grid[0] = uint32(max(1, min(int64(grid[0]), blocks)))
	w.s.Launch(k, grid, block, shared, args...)
}

// A louvainLevel is a level on a device.
type louvainLevel struct {
	w       *louvainAt
	n       int
	edged   int   // vertices with edges, −1 if not counted
	entries int64 // at most
	row     device.Buffer
	len     device.Buffer
	idx     device.Buffer
	weight  device.Buffer // zero: all 1
	degree  device.Buffer
	own     []device.Buffer // which drop frees

	all, allItems   device.Buffer // the items of all rows
	mine, mineItems device.Buffer // the vertices of this rank's share, if it has one
	single          device.Buffer
	hubs            hubTables

	seed  uint64 // of the last move
	level int
}

// hubTables are tables of hubs in global memory.
type hubTables struct{ table, keys, sums, list, count device.Buffer }

// itemsFor bounds the items of n rows with so many entries.
func itemsFor(n int, entries int64) int64 { return int64(n) + entries/louvainChunk + 1 }

// listAll lists the items of rows of that length.
func (w *louvainAt) listAll(n int, entries int64, length device.Buffer) (offs, items device.Buffer) {
	return w.listOf(n, entries, length, 0, 1)
}

// listOf lists the vertices of a rank's share.
func (w *louvainAt) listOf(n int, entries int64, length device.Buffer, rank, ranks int) (offs, items device.Buffer) {
	offs, items = w.s.Alloc(4*(louvainBins+1)), w.s.Alloc(8*itemsFor(n, entries))
	w.list(n, device.Buffer{}, length, 0, 1, rank, ranks, offs, items)
	return offs, items
}

// list lists the items of the active vertices of the share of a rank by batch and bin.
func (w *louvainAt) list(n int, active, length device.Buffer, seed uint64, batches, rank, ranks int, offs, items device.Buffer) {
	blocks := (int64(n) + workflow.GraphBlock - 1) / workflow.GraphBlock
	w.resident("count", (blocks+3)/4, 0, int32(n), active, length, int64(seed), int32(batches), int32(rank), int32(ranks), w.counts,
		offs, w.next, w.state)
	w.resident("scatter", (blocks+3)/4, 0, int32(n), active, length, int64(seed), int32(batches), int32(rank), int32(ranks), w.next,
		items, w.drawn)
}

// tablesOf makes tables for the hubs among rows, of fewer than limit columns.
func (w *louvainAt) tablesOf(n int, length device.Buffer, limit int) hubTables {
	s := w.s
	slots := s.Alloc(4 * int64(n))
	w.each("slots", n, length, int32(limit), slots)
	h := hubTables{table: s.Scan(slots, int64(n), 4)}
	total := s.Read(h.table, int64(n))
	s.Free(slots)
	if total == 0 {
		return h
	}
	h.keys, h.sums, h.list = s.Alloc(4*total), s.Zeros(w.sums*total), s.Alloc(4*total)
	s.Fill(h.keys, 0xff, 4*total)
	h.count = s.Zeros(8 * int64(n))
	return h
}

func (w *louvainAt) free(list ...device.Buffer) {
	for _, b := range list {
		if b.Addr != 0 {
			w.s.Free(b)
		}
	}
}

func (h hubTables) buffers() []device.Buffer {
	return []device.Buffer{h.table, h.keys, h.sums, h.list, h.count}
}

// list makes the list of all rows, and tables of hubs.
func (l *louvainLevel) list() {
	if l.all.Addr == 0 {
		l.all, l.allItems = l.w.listAll(l.n, l.entries, l.len)
		l.hubs = l.w.tablesOf(l.n, l.len, 1<<31-1)
	}
}

func (l *louvainLevel) drop() {
	l.w.free(l.own...)
	l.w.free(l.all, l.allItems, l.mine, l.mineItems)
	l.w.free(l.hubs.buffers()...)
}

func (l *louvainLevel) vertices() int { return l.edged }

// rowBlocks is the number of blocks with a warp for each item of all rows.
func (l *louvainLevel) rowBlocks() int64 { return itemsFor(l.n, l.entries)*32/workflow.GraphBlock + 1 }

func (l *louvainLevel) singles() device.Buffer {
	if l.single.Addr == 0 {
		l.single = l.w.s.Alloc(4 * int64(l.n))
		l.w.each("singles", l.n, l.degree, l.single)
	}
	return l.single
}

func (l *louvainLevel) begin(member, start device.Buffer) device.Buffer {
	if start.Addr == 0 {
		return member
	}
	return l.compose(member, start)
}

func (l *louvainLevel) compose(member, of device.Buffer) device.Buffer {
	// member has an entry for each vertex of the first level.
	out := l.w.s.Alloc(4 * int64(l.w.first))
	l.w.each("compose", l.w.first, member, of, out)
	return out
}

func (l *louvainLevel) project(parts, communities device.Buffer, count int) device.Buffer {
	level := l.w.s.Alloc(4 * int64(max(count, 1)))
	l.w.each("project", l.n, parts, communities, level)
	return level
}

func (l *louvainLevel) modularity(part device.Buffer) float64 {
	w, s := l.w, l.w.s
	if w.total == 0 {
		return 0
	}
	l.list()
	tot := s.Zeros(w.sums * int64(l.n))
	s.Fill(w.state.At(8*louvainInside), 0, 8*4)
	offs, items, rank, ranks := l.all, l.allItems, 0, 1
	if l.divides() {
		rank, ranks = w.share.place()
		if l.mine.Addr == 0 {
			l.mine, l.mineItems = w.listOf(l.n, l.entries, l.len, rank, ranks)
		}
		offs, items = l.mine, l.mineItems
	}
	if part.Addr != l.single.Addr || l.weight.Addr != 0 { // else no edge is inside
		w.resident("inside", l.rowBlocks(), 0, offs, items, l.row, l.len, l.idx, l.weight, part, device.Buffer{}, w.state)
	}
	w.each("degrees", l.n, l.degree, part, tot)
	w.each("squares", l.n, tot, w.state)
	var x [4]uint64 // inside, low, mid, high
	s.Download(unsafe.Pointer(&x), w.state.At(8*louvainInside), 8*4)
	s.Free(tot)
	if ranks > 1 {
		x[0] = uint64(w.share.sum(s, int64(x[0])))
	}
	lo, carry := bits.Add64(x[1], x[2]<<32, 0)
	return float64(x[0])/float64(w.total) - float64(w.o.Resolution*share(x[3]+x[2]>>32+carry, lo, w.total))
}

// start begins the moves of a level.
func (l *louvainLevel) start(part device.Buffer) {
	w, s := l.w, l.w.s
	n := int64(l.n)
	s.Fill(w.tot, 0, 2*w.sums*n)
	if part.Addr != 0 {
		s.Fill(w.least, 0x7f, 2*4*n)
		w.each("least", l.n, l.degree, part, w.least)
	}
	w.each("begin", l.n, l.degree, part, w.least, w.label, w.tot, w.active)
}

// numbered numbers names below 2n.
func (l *louvainLevel) numbered(name device.Buffer) (device.Buffer, int) {
	w, s := l.w, l.w.s
	used := s.Zeros(2 * int64(l.n))
	w.each("names", l.n, l.degree, name, used)
	number := s.Scan(used, 2*int64(l.n), 1)
	count := s.Read(number, 2*int64(l.n))
	part := s.Alloc(4 * int64(l.n))
	w.each("numbers", l.n, l.degree, name, number, part)
	w.free(used, number)
	return part, int(count)
}

// openLouvain reads a graph. It returns nil if the host has to: to name what is wrong with the
// graph, or for the sake of its size.
func openLouvain(s *device.Session, g device.Operand, n int, o *CommunitiesOptions, share *louvainShare) *louvainLevel {
	rows := s.Rows(g)
	t := rows.Type
	if rows.Val.Addr == 0 {
		t = workflow.Uint8Type
	}
	if s.Err() != nil || n == 0 || n >= louvainVertices || rows.Entries >= louvainEntries {
		return nil
	}
	code := s.Program("apps: louvainopen "+t.Name, func() device.Program { return louvainOpenProgram(t) })
	warps := min((int64(n)+workflow.GraphBlock/32-1)/(workflow.GraphBlock/32), int64(s.Multiprocessors())*64)
	state := s.Zeros(8 * louvainStates)
	check := func(shift int, up int32) (x [louvainStates]uint64) {
		s.Fill(state, 0, 8*louvainStates)
		s.Blocks(s.Kernel(code, "hb_louvain_check"), warps, workflow.GraphBlock, int32(n), rows.Ptr, rows.Idx, rows.Val, int32(shift), up, state)
		s.Download(unsafe.Pointer(&x), state, 8*louvainStates)
		return x
	}
	x, shift := check(0, 0), 0
	if whole := x[louvainFractions] == 0; s.Err() == nil && x[louvainBad] == 0 && (!whole || x[louvainSumHigh] >= 99<<(weightBits-26)/100) {
		_, exponent := math.Frexp(math.Float64frombits(x[louvainMost]))
		x = check(weightBits-exponent, 1)
		if shift = (weightSum{exponent, x[louvainSum], x[louvainSumHigh], whole}).shift(); s.Err() == nil {
			x = check(shift, 0)
		}
	}
	if s.Err() != nil || x[louvainBad] > 0 || x[louvainSkew] != 0 {
		return nil
	}
	total := x[louvainSumHigh]<<26 + x[louvainSum]
	w := &louvainAt{s: s, o: o, wide: total >= 1<<32, total: int64(total), sums: 4, state: state, first: n, share: share,
		divides: int64(workflow.Tuning(o.Run, louvainDivides))}
	if w.wide {
		w.sums = 8
	}
	key := "apps: louvain"
	if w.wide {
		key = "apps: louvain, 64 bits"
	}
	w.code = s.Program(key, func() device.Program { return louvainProgram(w.wide) })
	size := int64(n)
	l := &louvainLevel{w: w, n: n, entries: rows.Entries, row: rows.Ptr, idx: rows.Idx}
	l.len, l.degree = s.Alloc(4*size), s.Alloc(w.sums*size)
	plain := rows.Val.Addr == 0 && x[louvainLoops] == 0 && !w.wide
	degree := device.Buffer{}
	if plain {
		degree = l.degree
	}
	s.Each(s.Kernel(code, "hb_louvain_open"), size, int32(n), rows.Ptr, l.len, degree)
	if !plain {
		l.weight = s.Alloc(w.sums * max(l.entries, 1))
		name := "hb_louvain_weigh32"
		if w.wide {
			name = "hb_louvain_weigh64"
		}
		s.Blocks(s.Kernel(code, name), warps, workflow.GraphBlock, int32(n), rows.Ptr, rows.Idx, rows.Val, int32(shift), l.weight, l.degree)
	}
	items := itemsFor(n, l.entries)
	w.room = items
	w.found = s.Alloc(32 * (l.entries/louvainChunk*2 + 1))
	w.counts = s.Zeros(4 * (louvainBatches*louvainBins + 1))
	w.offs, w.next = s.Alloc(4*(louvainBatches*louvainBins+1)), s.Alloc(4*(louvainBatches*louvainBins+1))
	w.label, w.tot, w.active, w.drawn = s.Alloc(4*size), s.Alloc(2*w.sums*size), s.Alloc(size), s.Zeros(size)
	w.items, w.to, w.gain, w.moved = s.Alloc(8*items), s.Alloc(4*items), s.Alloc(8*items), s.Alloc(8*items)
	w.want, w.best, w.least = s.Zeros(4*w.sums*size), s.Zeros(4*8*size), s.Alloc(2*4*size)
	if o.Leiden {
		w.part, w.size, w.out, w.joined = s.Alloc(4*size), s.Alloc(w.sums*size), s.Alloc(w.sums*size), s.Alloc(size)
		w.joint = s.Alloc(w.sums * items)
	}
	l.start(device.Buffer{})
	part, edged := l.numbered(w.label)
	s.Free(part)
	l.edged = edged
	return l
}

// fusedCommunities is Communities on a device. It returns nil without an error if the host has to
// compute: see openLouvain.
func fusedCommunities(at device.Runner, g rep.View, start []int32, n int, o CommunitiesOptions) (*CommunitiesResult, error) {
	operand, err := g.Operand(at)
	if err != nil {
		return nil, err
	}
	var res *CommunitiesResult
	var found []device.Store
	err = at.Run(workflow.Call(o.Run, "Communities"), func(s *device.Session) {
		if res, found, err = communitiesOn(s, operand, start, n, &o, nil); err != nil {
			s.Fail(err)
		}
	})
	if err != nil || res == nil {
		return nil, err
	}
	for _, st := range found {
		res.Membership = workflow.Placed[int32](at, n, st)
		res.Levels = append(res.Levels, res.Membership)
	}
	workflow.TraceRan(o.Run, at, "Communities", device.Ran{Method: "moves", Work: g.NVals()}, int64(n))
	return res, nil
}

// communitiesOn is Communities within a session, and the vectors of its result: the communities
// after each level. The result is nil if the host has to compute.
func communitiesOn(s *device.Session, g device.Operand, start []int32, n int, o *CommunitiesOptions, share *louvainShare) (*CommunitiesResult, []device.Store, error) {
	l := openLouvain(s, g, n, o, share)
	if l == nil {
		return nil, nil, s.Err()
	}
	begin := device.Buffer{}
	if start != nil {
		begin = s.Ints(start)
	}
	h, err := allPasses(l, o, begin)
	if err != nil {
		return nil, nil, err
	}
	var found []device.Store
	res := &CommunitiesResult{Passes: h.passes, Modularity: h.modularity, Capped: h.capped}
	for _, part := range h.levels {
		v := s.NewFull(1, n, workflow.Int32Type)
		res.Count, res.Largest = l.bySize(part, v.Val)
		if share != nil {
			found = append(found, share.result(s, v))
		} else {
			found = append(found, s.Result(v, int64(n)))
		}
	}
	return res, found, s.Err()
}

// bySize numbers parts by descending size, equal ones by their least vertices, into out.
func (l *louvainLevel) bySize(part, out device.Buffer) (count int, largest int64) {
	w, s := l.w, l.w.s
	n := int64(l.n)
	size, least := s.Zeros(8*n), s.Alloc(8*n)
	s.Fill(least, 0x7f, 8*n)
	w.each("sizes", l.n, int32(l.n), part, size, least)
	first := s.Alloc(n)
	s.Fill(w.state.At(8*louvainLargest), 0, 8)
	w.each("firsts", l.n, part, least, size, first, w.state)
	number := s.Scan(first, n, 1)
	parts := s.Read(number, n)
	name, key, order := s.Alloc(4*n), s.Alloc(4*n), s.Alloc(8*n)
	w.each("keys", l.n, part, first, number, size, name, key, w.state)
	top := s.Read(w.state, louvainLargest)
	_, places := s.Sort(key, parts, 4, max(bits.Len64(uint64(top)), 1))
	w.each("order", int(parts), places, name, order)
	w.each("final", l.n, part, order, out)
	w.free(size, least, first, number, name, order)
	return int(parts), top
}
