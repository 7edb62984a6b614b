package apps

import (
	"context"
	"math"
	"math/bits"
	"slices"
	"sync/atomic"

	"github.com/hiveblas/hiveblas/internal/parallel"
	"github.com/hiveblas/hiveblas/internal/splitmix"
)

// Constants of the order in which vertices move. They are part of the result: the host and devices
// share them.
const (
	moveBatches    = 64 // batches of a sweep over all vertices
	moveBatchesMin = 4  // batches of a sweep over few
	moveSweeps     = 40 // at most, of a level
	wakeGain       = 1000
	gainScale      = 1 << 56
)

// leastGain is the gain, as a share of the degree, from which a vertex moves: below it is rounding.
const leastGain = 1.0 / (1 << 40)

// A mover moves the vertices of a graph between communities, or between parts of communities, until
// no vertex gains. Vertices move in batches, whose choice is a hash of vertex, sweep and seed. All
// vertices of a batch decide by the state before the batch. Then a wish is granted if it still gains
// with all others that wish for the same community in it, or if it has the largest gain of
// these. All sums are of integers, and so the result does not depend on the number of threads.
type mover struct {
	g          *levelGraph
	ctx        context.Context
	threads    int
	seed       uint64
	resolution float64

	label  []int32 // the community of each vertex: the number of a vertex, or that plus n
	tot    []int64 // Σ degrees by community
	active []uint32

	batch   [][]int32 // vertices of each batch of the sweep
	order   []int32
	workers []moveWorker
	wishes  []wish
	want    []int64 // Σ degrees of wishes by community, 0 between batches
	best    []int32 // index of the best wish + 1 by community, 0 between batches
	moved   []int32
}

// A wish is the best move of a vertex.
type wish struct {
	vertex, from, to int32
	gain             float64 // of 2m/2·Q
	weight           int64   // between vertex and to; of refine
}

// moveWorker is the memory of one thread.
type moveWorker struct {
	sum    []int64 // weight to each community, 0 between vertices
	near   []int32 // the communities with a sum
	wishes []wish
	_      [64]byte
}

func newMover(g *levelGraph, o *CommunitiesOptions) *mover {
	m := &mover{g: g, ctx: o.Context, threads: parallel.Threads(o.Threads), seed: o.RandomSeed, resolution: o.Resolution,
		label: make([]int32, g.n), tot: make([]int64, 2*g.n), active: make([]uint32, g.n),
		want: make([]int64, 2*g.n), best: make([]int32, 2*g.n)}
	m.workers = make([]moveWorker, m.threads)
	for k := range m.workers {
		m.workers[k].sum, m.workers[k].near = make([]int64, 2*g.n), make([]int32, g.n+1)
	}
	return m
}

// start sets the communities, which are named by their least vertices: part gives them by any
// numbers below 2n, nil means each vertex its own. Vertices without edges are their own communities.
func (m *mover) start(part []int32) {
	clear(m.tot)
	if part == nil {
		for v := range m.label {
			m.label[v] = int32(v)
		}
		copy(m.tot, m.g.degree)
	} else {
		least := make([]int32, 2*m.g.n)
		for v := len(part) - 1; v >= 0; v-- {
			if m.g.degree[v] > 0 {
				least[part[v]] = int32(v)
			}
		}
		for v, c := range part {
			if m.label[v] = int32(v); m.g.degree[v] > 0 {
				m.label[v] = least[c]
			}
			m.tot[m.label[v]] += m.g.degree[v]
		}
	}
	m.wakeAll()
}

// run moves vertices until a sweep gains less than tolerance of modularity. Once no vertex is
// active, all become active again if the moves since they last were have gained wakeGain tolerances,
// because communities have then changed for vertices far from the moves.
func (m *mover) run(tolerance float64) error {
	since := math.Inf(1) // gain since all vertices were active
	for sweep := range moveSweeps {
		if !m.draw(sweep) {
			if since < wakeGain*tolerance {
				break
			}
			since = 0
			m.start(slices.Clone(m.label)) // which frees the names for vertices that leave
			m.draw(sweep)
		}
		gain, count := int64(0), 0
		for b := range m.batch {
			g, err := m.step(m.batch[b])
			if err != nil {
				return err
			}
			gain += g
			count += len(m.moved)
		}
		x := float64(gain) / gainScale
		since += x
		if count > 0 && x < tolerance {
			break
		}
	}
	return nil
}

// wakeAll makes all vertices with edges active.
func (m *mover) wakeAll() {
	for v, k := range m.g.degree {
		m.active[v] = 0
		if k > 0 {
			m.active[v] = 1
		}
	}
}

// draw distributes the active vertices over batches. It returns false if there are none.
func (m *mover) draw(sweep int) bool {
	n, list := 0, m.order[:0]
	for v, a := range m.active {
		if a != 0 {
			list = append(list, int32(v))
		}
	}
	m.order = list
	if n = len(list); n == 0 {
		return false
	}
	// Batches have the size that moveBatches would have in a sweep over all vertices.
	size := (m.g.n + moveBatches - 1) / moveBatches
	batches := max((n+size-1)/size, moveBatchesMin)
	for len(m.batch) < batches {
		m.batch = append(m.batch, nil)
	}
	m.batch = m.batch[:batches]
	for b := range m.batch {
		m.batch[b] = m.batch[b][:0]
	}
	state := splitmix.At(uint64(sweep), m.seed)
	for _, v := range list {
		b := batchOf(v, state, batches)
		m.batch[b] = append(m.batch[b], v)
	}
	return true
}

// batchOf returns the batch of a vertex.
func batchOf(v int32, state uint64, batches int) int {
	hi, _ := bits.Mul64(splitmix.At(uint64(v), state), uint64(batches))
	return int(hi)
}

// stepGrain is the number of vertices of a piece of a batch, and batches from stepParallel vertices
// have several threads. Tests lower it.
const stepGrain = 128

var stepParallel = 4 * stepGrain

// step moves the vertices of a batch and returns the gain in modularity, times gainScale.
func (m *mover) step(list []int32) (int64, error) {
	threads := m.threads
	if len(list) < stepParallel {
		threads = 1
	}
	err := parallel.Range(m.ctx, threads, len(list), stepGrain, func(w, lo, hi int) {
		worker := &m.workers[w]
		for _, v := range list[lo:hi] {
			m.decide(worker, v)
		}
	})
	if err != nil {
		return 0, err
	}
	m.gather()
	gain := m.grant()
	if len(m.moved) < stepParallel {
		threads = 1
	}
	return gain, parallel.Range(m.ctx, threads, len(m.moved), stepGrain, func(_, lo, hi int) {
		for _, v := range m.moved[lo:hi] {
			m.wake(v)
		}
	})
}

// decide appends the best move of v, if there is one, to the wishes.
func (m *mover) decide(w *moveWorker, v int32) {
	g, label, sum, near, k := m.g, m.label, w.sum, w.near, 0
	m.active[v] = 0
	lo, hi := g.ptr[v], g.ptr[v+1]
	if g.weight == nil {
		for _, u := range g.idx[lo:hi] {
			c := label[u]
			x := sum[c]
			near[k] = c
			k += int(uint64(x-1) >> 63) // 1 if x is 0, without a branch
			sum[c] = x + 1
		}
	} else {
		weight := g.weight[lo:hi]
		for p, u := range g.idx[lo:hi] {
			if y := weight[p]; y != 0 && u != v {
				c := label[u]
				x := sum[c]
				near[k] = c
				k += int(uint64(x-1) >> 63)
				sum[c] = x + y
			}
		}
	}
	own, degree := label[v], g.degree[v]
	factor := m.factor(degree)
	stay := float64(sum[own]) - float64(factor*float64(m.tot[own]-degree))
	to, most := own, stay
	if most < 0 { // alone, in an empty community that only v may enter
		if other := int64(v) + int64(g.n); m.tot[v] == 0 {
			to, most = v, 0
		} else if other <= math.MaxInt32 && m.tot[other] == 0 {
			to, most = int32(other), 0
		}
	}
	for _, c := range near[:k] {
		x := sum[c]
		sum[c] = 0
		if c == own {
			continue
		}
		if y := float64(x) - float64(factor*float64(m.tot[c])); y > most || y == most && c < to && to != own {
			to, most = c, y
		}
	}
	if gain := most - stay; gain > leastGain*float64(degree) {
		w.wishes = append(w.wishes, wish{vertex: v, from: own, to: to, gain: gain})
	}
}

// factor is γk/2m of a degree k.
func (m *mover) factor(degree int64) float64 {
	return float64(m.resolution*float64(degree)) / float64(m.g.total)
}

// gather collects the wishes of the workers.
func (m *mover) gather() {
	m.wishes = m.wishes[:0]
	for k := range m.workers {
		m.wishes = append(m.wishes, m.workers[k].wishes...)
		m.workers[k].wishes = m.workers[k].wishes[:0]
	}
}

// count adds wish k to those of its community.
func (m *mover) count(k int) {
	x := &m.wishes[k]
	m.want[x.to] += m.g.degree[x.vertex]
	b := m.best[x.to]
	if b == 0 {
		m.best[x.to] = int32(k + 1)
	} else if y := &m.wishes[b-1]; x.gain > y.gain || x.gain == y.gain && x.vertex < y.vertex {
		m.best[x.to] = int32(k + 1)
	}
}

// granted reports whether wish k comes true, once all are counted.
func (m *mover) granted(k int) bool {
	x := &m.wishes[k]
	degree := m.g.degree[x.vertex]
	others := float64(m.factor(degree) * float64(m.want[x.to]-degree))
	return int(m.best[x.to]) == k+1 || x.gain-others > leastGain*float64(degree)
}

// grant makes the moves of the wishes that come true, lists their vertices in moved, and returns
// the gain in modularity, times gainScale.
func (m *mover) grant() int64 {
	for k := range m.wishes {
		m.count(k)
	}
	m.moved = m.moved[:0]
	sum := int64(0)
	unit := 2 * gainScale / float64(m.g.total)
	for k := range m.wishes {
		x := &m.wishes[k]
		if !m.granted(k) {
			m.active[x.vertex] = 1
			continue
		}
		sum += int64(x.gain * unit)
		degree := m.g.degree[x.vertex]
		m.label[x.vertex] = x.to
		m.tot[x.from] -= degree
		m.tot[x.to] += degree
		m.moved = append(m.moved, x.vertex)
	}
	for k := range m.wishes {
		x := &m.wishes[k]
		m.want[x.to], m.best[x.to] = 0, 0
	}
	return sum
}

// wake makes the neighbours of v that are not in its community active.
func (m *mover) wake(v int32) {
	c := m.label[v]
	for _, u := range m.g.idx[m.g.ptr[v]:m.g.ptr[v+1]] {
		if m.label[u] != c && atomic.LoadUint32(&m.active[u]) == 0 {
			atomic.StoreUint32(&m.active[u], 1)
		}
	}
}
