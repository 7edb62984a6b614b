package communities

import (
	"strings"
	"unsafe"

	"github.com/hiveblas/hiveblas/apps/internal/workflow"
	"github.com/hiveblas/hiveblas/internal/device"
	"github.com/hiveblas/hiveblas/internal/splitmix"
)

func (l *louvainLevel) move(start device.Buffer, seed uint64, level int, tolerance float64) (device.Buffer, int, bool, error) {
	l.seed, l.level = seed, level
	if w := l.w; w.share != nil && w.share.AgreeOn(w.s, 0) == nil {
		return device.Buffer{}, 0, false, w.s.Err()
	}
	l.list()
	l.start(start)
	m := &deviceMoving{l: l, seed: seed, level: level, active: l.edged}
	capped, err := runSweeps(m, l.w.o.Sweeps, tolerance)
	if err != nil {
		return device.Buffer{}, 0, false, err
	}
	part, count := l.numbered(l.w.label)
	return part, count, capped, l.w.s.Err()
}

func (l *louvainLevel) stay(start device.Buffer) (device.Buffer, int) {
	l.start(start)
	return l.numbered(l.w.label)
}

// deviceMoving makes the sweeps of a level.
type deviceMoving struct {
	l       *louvainLevel
	seed    uint64
	level   int
	active  int // vertices
	batches int
	atOnce  bool
	divided bool // each rank of a group decides for its share
	whole   bool // each decides for all
}

func (m *deviceMoving) freeNames() {
	m.l.start(m.l.w.label)
	m.active = m.l.edged
}

func (m *deviceMoving) draw(sweep int) bool {
	l, w := m.l, m.l.w
	if m.active == 0 || w.s.Err() != nil {
		return false
	}
	m.batches = batchesOf(l.n, m.active, sweep, m.level)
	if m.atOnce = w.o.Nondeterministic && m.level == 0 && sweep < moveSweeps; m.atOnce {
		m.batches = louvainAtOnce
	}
	rank, ranks := 0, 1
	if m.divided = l.divides() && m.dividesSweep(); m.divided {
		rank, ranks = w.share.place()
	}
	w.list(l.n, w.active, l.len, splitmix.At(uint64(sweep), m.seed), m.batches, rank, ranks, w.offs, w.items)
	return true
}

// Without determinism, vertices of the first level move as soon as they decide, in louvainAtOnce
// batches: with one batch, many swap forever. The level ends with a sweep of fewer moves than
// 1/louvainFew of the vertices.
const (
	louvainAtOnce = 2
	louvainFew    = 512
)

// decide launches a kernel of decisions for a batch.
func (m *deviceMoving) decide(name string, batch int) {
	l, w := m.l, m.l.w
	n := int64(l.n)
	half := int64(batch & 1)
	h := &l.hubs
	items := itemsFor(m.active, l.entries)
	if m.batches > 1 {
		items = 2*items/int64(m.batches) + louvainBins
	}
	if h.keys.Addr != 0 && !strings.HasSuffix(name, "_hubs") {
		defer m.decide(name+"_hubs", batch)
	}
	shared := louvainSlots * int(4+w.sums)
	if strings.HasSuffix(name, "_hubs") {
		shared = 0
	}
	w.resident(name, items, shared, int32(n), int32(batch), w.offs, w.items, l.row, l.len, l.idx, l.weight, l.degree,
		w.label, w.tot, float64(w.total), w.o.Resolution, w.to, w.gain, w.want.At(2*half*n*w.sums), w.best.At(2*half*n*8),
		h.table, h.keys, h.sums, h.list, h.count, w.part, w.size, w.out, w.joined, w.drawn, w.joint, w.moved, w.state, w.room, w.found)
}

// threads bounds the blocks of a kernel with a thread for each item of a batch and the one before.
func (m *deviceMoving) threads() int64 {
	return (4*itemsFor(m.active, m.l.entries)/int64(m.batches) + workflow.GraphBlock) / workflow.GraphBlock
}

func (m *deviceMoving) sweep() (gain int64, moves int, err error) {
	l, w := m.l, m.l.w
	n, s := int64(l.n), l.w.s
	last, rank, ranks := -1, 0, 1
	offs, items, to, gains := w.offs, w.items, w.to, w.gain
	if m.divided {
		rank, ranks = w.share.place()
		h := w.share.begin(l)
		offs, items, to, gains = h.offs, h.items, h.to, h.gain
	}
	for b := range m.batches {
		if m.atOnce {
			m.decide("at_once", b)
			continue
		}
		m.decide("decide", b)
		if m.divided && !w.share.exchange(m, b) {
			return 0, 0, s.Err()
		}
		half, other := int64(b&1), int64(b&1^1)
		w.resident("grant", m.threads(), 0, int32(b), offs, items, l.len, l.degree, to, gains, w.label, w.tot,
			w.want.At(2*half*n*w.sums), w.best.At(2*half*n*8), w.want.At(2*other*n*w.sums), w.best.At(2*other*n*8),
			w.active, w.moved, w.room, float64(w.total), w.o.Resolution, w.state)
		last = b
	}
	half := int64(last & 1)
	wake := func(rank, ranks int) {
		w.resident("wake", itemsFor(l.n, l.entries), 0, int32(n), int32(l.edged), int32(last), int32(rank), int32(ranks), offs, to,
			w.want.At(2*half*n*w.sums), w.best.At(2*half*n*8), l.row, l.len, l.idx, l.degree, w.label, w.drawn, w.active, w.moved, w.room, w.state)
	}
	if m.divided && w.share.whole {
		rank, ranks = 0, 1
	}
	wake(rank, ranks)
	if m.divided && ranks > 1 && !w.share.join(s, w.active, l.n) {
		wake(0, 1)
	}
	w.each("active", l.n, w.active, w.state)
	var x [3]int64
	s.Check()
	s.Download(unsafe.Pointer(&x), w.state, 8*3)
	m.active = int(x[louvainActive])
	if m.atOnce && x[louvainMoves]*louvainFew < int64(l.edged) {
		x[louvainGain] = 0
	}
	return x[louvainGain], int(x[louvainMoves]), s.Err()
}

func (l *louvainLevel) refine() (device.Buffer, int, error) {
	w, s := l.w, l.w.s
	n := int64(l.n)
	s.Fill(w.out, 0, w.sums*n)
	w.resident("inside", l.rowBlocks(), 0, l.all, l.allItems, l.row, l.len, l.idx, l.weight, w.label, w.out, w.state)
	w.each("parts", l.n, l.degree, w.out, w.part, w.size, w.joined, w.active)
	m := &deviceMoving{l: l, seed: l.seed, level: l.level, whole: true}
	for sweep := range refineSweeps {
		s.Fill(w.state.At(8*louvainActive), 0, 8)
		w.each("active", l.n, w.active, w.state)
		if m.active = int(s.Read(w.state, louvainActive)); !m.draw(moveSweeps + sweep) {
			break
		}
		for b := range m.batches {
			m.decide("refine", b)
			half, other := int64(b&1), int64(b&1^1)
			w.resident("join", m.threads(), 0, int32(b), w.offs, w.items, l.degree, w.to, w.gain, w.joint, w.part, w.size, w.out, w.joined,
				w.want.At(2*half*n*w.sums), w.best.At(2*half*n*8), w.want.At(2*other*n*w.sums), w.best.At(2*other*n*8),
				w.active, float64(w.total), w.o.Resolution)
		}
		s.Fill(w.want, 0, 4*n*w.sums)
		s.Fill(w.best, 0, 4*n*8)
		s.Check()
	}
	part, count := l.numbered(w.part)
	return part, count, s.Err()
}

func (l *louvainLevel) connected(communities device.Buffer) (device.Buffer, int) {
	w, s := l.w, l.w.s
	l.list()
	root := s.Alloc(4 * int64(l.n))
	w.each("own", l.n, root)
	w.resident("unite", l.rowBlocks(), 0, l.all, l.allItems, l.row, l.len, l.idx, l.weight, communities, root)
	w.each("roots", l.n, root)
	part, count := l.numbered(root)
	s.Free(root)
	return part, count
}

func (l *louvainLevel) contract(parts device.Buffer, count int) (*louvainLevel, error) {
	w, s := l.w, l.w.s
	l.list()
	size := int64(max(count, 1))
	next := &louvainLevel{w: w, n: count, edged: count}
	bound := s.Zeros(8 * size)
	next.degree = s.Zeros(w.sums * size)
	w.each("bounds", l.n, l.len, l.degree, parts, bound, next.degree)
	next.row = s.Scan(bound, int64(count), 8)
	divided, lo, hi := l.divides(), 0, count
	if divided {
		lo, hi = w.share.cut(s, l, next)
	}
	length := s.Alloc(4 * size)
	w.each("lengths", count, int32(lo), int32(hi), bound, length)
	s.Copy(bound, next.row, 8*int64(count))
	next.idx, next.weight = s.Alloc(4*max(l.entries, 1)), s.Alloc(w.sums*max(l.entries, 1))
	w.resident("copy", l.rowBlocks(), 0, int32(lo), int32(hi), l.all, l.allItems, l.row, l.len, l.idx, l.weight, parts, bound, next.idx, next.weight)
	offs, items := w.listAll(count, l.entries, length)
	hubs := w.tablesOf(count, length, count+1)
	next.len = s.Zeros(4 * size)
	w.resident("merge", itemsFor(count, l.entries), louvainSlots*int(4+w.sums), offs, items, next.row, length, next.idx, next.weight, next.len,
		hubs.table, hubs.keys, hubs.sums, hubs.list, hubs.count)
	if hubs.keys.Addr != 0 {
		w.resident("merge_hubs", itemsFor(count, l.entries), 0, offs, items, next.row, length, next.idx, next.weight, next.len,
			hubs.table, hubs.keys, hubs.sums, hubs.list, hubs.count)
	}
	if divided {
		w.share.gatherRows(s, l, next, offs, items, length)
	} else {
		ends := s.Scan(next.len, int64(count), 4)
		next.entries = s.Read(ends, int64(count))
		s.Free(ends)
	}
	w.free(bound, length, offs, items)
	w.free(hubs.buffers()...)
	next.own = []device.Buffer{next.degree, next.row, next.idx, next.weight, next.len}
	s.Check()
	return next, s.Err()
}
