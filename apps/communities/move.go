package communities

import (
	"context"
	"math"
	"math/bits"
	"slices"
	"sync/atomic"
	"unsafe"

	"github.com/hiveblas/hiveblas/apps/internal/workflow"
	"github.com/hiveblas/hiveblas/internal/parallel"
	"github.com/hiveblas/hiveblas/internal/prefetch"
	"github.com/hiveblas/hiveblas/internal/splitmix"
)

// Constants of the order in which vertices move. They are part of the result: the host and devices
// share them.
const (
	moveBatchesMin = 2  // batches of the first sweep, and of sweeps over few vertices
	moveBatchesMax = 32 // batches of later sweeps over all vertices, level 0
	moveBatchesTop = 8  // the same, above level 0
	moveSweeps     = 40 // at most, of a level
	wakeGain       = 1000
	wakeMany       = 8 // after a sweep in which 1/wakeMany of the vertices with edges move, all become active
	gainScale      = 1 << 56
)

// leastGain is the gain, as a share of the degree, from which a vertex moves: below it is rounding.
const leastGain = 1.0 / (1 << 40)

// localMoving moves the vertices of a graph between communities, or between parts of communities,
// until no vertex gains. Vertices move in batches, which a hash of vertex, sweep and seed chooses.
// All vertices of a batch decide by the state before the batch. Then a wish is granted if it still
// gains after all other wishes for the same community, or if it has the largest gain among them.
// All sums are of integers, and so the result does not depend on the number of threads.
// kernels/louvain.cu computes the same on a device.
//
// The batches double from sweep to sweep. Few batches keep vertices from joining the first
// communities that grow, which costs modularity in graphs with planted communities; many find
// communities where degrees are skewed (planted, mixing .5: .488 against .479 with 64 batches
// always; R-MAT 18: .081 against .077 with 2 always; 200,000 and 262,144 vertices).
type localMoving struct {
	g          *levelGraph
	settings   workflow.Run
	ctx        context.Context
	threads    int
	grain      moveGrain
	seed       uint64
	resolution float64
	level      int
	edged      int // vertices with edges

	label  []int32 // the community of each vertex: the number of a vertex, or that plus n
	tot    []int64 // Σ degrees by community
	active []uint32

	batch   [][]int32 // vertices of each batch of the sweep
	drawn   []int32   // the batch of each vertex + 1, 0 if it is not active in the sweep
	order   []int32
	workers []moveWorker
	places  *places
	wishes  []wish
	want    []int64  // Σ degrees of wishes by community, 0 between batches
	best    []uint64 // the largest rank of a wish by community, 0 between batches
	moved   []int32  // in the sweep

	operations *movesByOperations // nil unless vertices decide by operations
}

// A wish is the best move of a vertex.
type wish struct {
	vertex, from, to int32
	gain             float64 // of 2m/2·Q
	weight           int64   // between vertex and to; of refine
}

// moveWorker is the memory of one thread, which makes sum and near before its first vertex.
type moveWorker struct {
	sum    []int64 // weight to each community, 0 between vertices
	near   []int32 // the communities with a sum
	wishes []wish
	_      [64]byte
}

// rank orders wishes by their gains in float32, and equal ones by descending vertices.
func (x *wish) rank() uint64 {
	return uint64(math.Float32bits(float32(x.gain)))<<32 | uint64(^uint32(x.vertex))
}

func newLocalMoving(g *levelGraph, o *CommunitiesOptions, level int) *localMoving {
	m := &localMoving{g: g, settings: o.Run, ctx: o.Context, grain: workflow.Tuning(o.Run, moveGrains), threads: parallel.Threads(o.Threads), seed: o.RandomSeed, resolution: o.Resolution, level: level,
		label: make([]int32, g.n), tot: make([]int64, 2*g.n), active: make([]uint32, g.n)}
	m.workers = make([]moveWorker, m.threads)
	return m
}

// start sets the communities, which are named by their least vertices: part gives them by any
// numbers below 2n, nil means each vertex its own. Vertices without edges are their own
// communities.
func (m *localMoving) start(part []int32) {
	m.places = nil
	clear(m.tot)
	m.edged = 0
	for _, k := range m.g.degree {
		if k > 0 {
			m.edged++
		}
	}
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

// A sweeper makes the sweeps of a level, on the host or on a device.
type sweeper interface {
	// draw distributes the active vertices over the batches of a sweep. It returns false if there
	// are none.
	draw(sweep int) bool
	// sweep moves the vertices that were drawn. It returns the gain in modularity, times gainScale,
	// and the number of moves.
	sweep() (gain int64, moves int, err error)
	// freeNames makes all vertices active, and names communities by their least vertices.
	freeNames()
}

// runSweeps moves vertices until a sweep gains less than tolerance of modularity, or for a number
// of sweeps; capped reports whether their number ended them. Once no vertex is active, all become
// active again if the moves since they last were have gained wakeGain tolerances, because
// communities have then changed for vertices far from the moves.
func runSweeps(m sweeper, sweeps int, tolerance float64) (capped bool, err error) {
	since := math.Inf(1) // gain since all vertices were active
	for sweep := range min(sweeps, moveSweeps) {
		if !m.draw(sweep) {
			if since < wakeGain*tolerance {
				return false, nil
			}
			since = 0
			m.freeNames()
			m.draw(sweep)
		}
		gain, count, err := m.sweep()
		if err != nil {
			return false, err
		}
		x := float64(gain) / gainScale
		since += x
		if count > 0 && x < tolerance {
			return false, nil
		}
	}
	return true, nil
}

// freeNames frees the names of communities for vertices that leave.
func (m *localMoving) freeNames() { m.start(slices.Clone(m.label)) }

// sweep decides batch by batch. At its end it makes the neighbours of vertices that moved active.
func (m *localMoving) sweep() (gain int64, moves int, err error) {
	m.moved = m.moved[:0]
	for b := range m.batch {
		g, err := m.step(m.batch[b])
		if err != nil {
			return 0, 0, err
		}
		gain += g
	}
	threads := m.threads
	if len(m.moved) < m.grain.moved {
		threads = 1
	}
	if len(m.moved)*wakeMany >= m.edged {
		m.wakeAll()
		return gain, len(m.moved), nil
	}
	err = parallel.Range(m.ctx, threads, len(m.moved), stepGrain, func(_, lo, hi int) {
		for _, v := range m.moved[lo:hi] {
			m.wake(v)
		}
	})
	return gain, len(m.moved), err
}

// wakeAll makes all vertices with edges active.
func (m *localMoving) wakeAll() {
	_ = parallel.Range(nil, m.threads, m.g.n, workflow.RowGrain, func(_, lo, hi int) {
		for v := lo; v < hi; v++ {
			m.active[v] = 0
			if m.g.degree[v] > 0 {
				m.active[v] = 1
			}
		}
	})
}

// batchesOf returns the number of batches of a sweep over so many of n vertices.
func batchesOf(n, active, sweep, level int) int {
	most := moveBatchesMax
	if level > 0 {
		most = moveBatchesTop
	}
	most = min(moveBatchesMin<<min(sweep, 16), most)
	// Batches have the size that they would have in a sweep over all vertices.
	size := (n + most - 1) / most
	return max((active+size-1)/size, moveBatchesMin)
}

// draw distributes the active vertices over batches, in ascending order. It returns false if there
// are none.
func (m *localMoving) draw(sweep int) bool {
	n, grain := m.g.n, m.grain.drawn
	pieces := (n-1)/grain + 1
	if m.order == nil {
		m.order, m.drawn = make([]int32, n), make([]int32, n)
		m.want, m.best = make([]int64, 2*n), make([]uint64, 2*n)
	}
	lists := make([][]int32, pieces) // the active vertices of each piece
	_ = parallel.Range(nil, m.threads, n, grain, func(_, lo, hi int) {
		list := m.order[lo:lo:hi]
		for v := lo; v < hi; v++ {
			m.drawn[v] = 0
			if m.active[v] != 0 {
				list = append(list, int32(v))
			}
		}
		lists[lo/grain] = list
	})
	active := 0
	for _, list := range lists {
		active += len(list)
	}
	if active == 0 {
		return false
	}
	batches := batchesOf(n, active, sweep, m.level)
	if sweep&(sweep-1) == 0 || m.places == nil { // there are fewer and fewer communities
		m.places = m.placed()
	}
	state := splitmix.At(uint64(sweep), m.seed)
	next := make([][]int, pieces) // of each batch the place of the next vertex of a piece
	_ = parallel.Pieces(nil, m.threads, pieces, func(_, p int) {
		count := make([]int, batches)
		for _, v := range lists[p] {
			b := batchOf(v, state, batches)
			count[b]++
			m.drawn[v] = int32(b + 1)
		}
		next[p] = count
	})
	for len(m.batch) < batches {
		m.batch = append(m.batch, nil)
	}
	m.batch = m.batch[:batches]
	for b := range m.batch {
		size := 0
		for _, count := range next {
			count[b], size = size, size+count[b]
		}
		m.batch[b] = slices.Grow(m.batch[b][:0], size)[:size]
	}
	_ = parallel.Pieces(nil, m.threads, pieces, func(_, p int) {
		for _, v := range lists[p] {
			b := m.drawn[v] - 1
			m.batch[b][next[p][b]] = v
			next[p][b]++
		}
	})
	return true
}

// batchOf returns the batch of a vertex.
func batchOf(v int32, state uint64, batches int) int {
	hi, _ := bits.Mul64(splitmix.At(uint64(v), state), uint64(batches))
	return int(hi)
}

// stepGrain is the number of moved vertices of a piece.
const stepGrain = 128

// moveGrain is the least work that several threads share.
type moveGrain struct {
	moved  int   // moved vertices of a sweep
	work   int64 // rows and entries of a batch, for each thread
	wishes int   // of a batch
	drawn  int   // vertices of a piece of draw
}

var moveGrains = moveGrain{moved: 4 * stepGrain, work: 1 << 12, wishes: 1 << 10, drawn: 1 << 13}

// rowWeight is the number of entries that a row counts for in a batch.
const rowWeight = 8

// each runs decide on the vertices of a batch, which are in ascending order. The batch is a sample
// of the vertices, so the entries of its first rows are about its share of the entries of all rows
// before them: pieces by this share have about equal work. Pieces of equal numbers of vertices
// would not, where the first vertices are hubs.
func (m *localMoving) each(list []int32, decide func(w *moveWorker, v int32)) error {
	g, k := m.g, len(list)
	if k == 0 {
		return nil
	}
	first, share := g.ptr[list[0]], max(1, int64(g.n/k))
	at := func(i int) int64 {
		if i == k {
			return (g.ptr[list[k-1]+1]-first)/share + rowWeight*int64(k)
		}
		return (g.ptr[list[i]]-first)/share + rowWeight*int64(i)
	}
	threads := parallel.Share(m.threads, at(k), m.grain.work)
	return parallel.RangeAt(m.ctx, threads, k, stepPieces*threads, at, func(id, lo, hi int) {
		w := m.worker(id)
		for i, v := range list[lo:hi] {
			m.ahead(list[lo+i : hi])
			decide(w, v)
		}
	})
}

// rowsAhead is the prefetch distance of ahead, and placesAhead the distance for the neighbours of a
// vertex, up to placesMost of them.
const (
	rowsAhead   = 4
	placesAhead = 2
	placesMost  = 32
)

// ahead prefetches what the decisions on the vertices after the first of a list read.
func (m *localMoving) ahead(list []int32) {
	g := m.g
	if len(list) > rowsAhead {
		v := list[rowsAhead]
		if p := g.ptr[v]; p < int64(len(g.idx)) {
			prefetch.Row(unsafe.Pointer(&g.degree[v]), unsafe.Pointer(&g.idx[p]))
		}
	}
	if len(list) > placesAhead && m.places != nil {
		v, of := list[placesAhead], m.places.of
		row := g.idx[g.ptr[v]:g.ptr[v+1]]
		for k := 1; k < min(len(row), placesMost); k += 2 {
			prefetch.Row(unsafe.Pointer(&of[row[k-1]]), unsafe.Pointer(&of[row[k]]))
		}
	}
}

// worker returns the memory of a thread.
func (m *localMoving) worker(id int) *moveWorker {
	w := &m.workers[id]
	if w.sum == nil {
		w.sum, w.near = make([]int64, 2*m.g.n), make([]int32, m.g.n+1)
	}
	return w
}

// stepPieces is the number of pieces of a batch for each thread.
const stepPieces = 8

// step moves the vertices of a batch and returns the gain in modularity, times gainScale.
func (m *localMoving) step(list []int32) (int64, error) {
	decide := func(list []int32) error { return m.each(list, m.decide) }
	if m.operations != nil {
		decide = m.operations.decide
	}
	if err := decide(list); err != nil {
		return 0, err
	}
	m.gather()
	return m.grant(), nil
}

// decide appends the best move of v, if there is one, to the wishes.
func (m *localMoving) decide(w *moveWorker, v int32) {
	m.active[v] = 0
	if own, to, gain := m.choose(w, v); to != own {
		w.wishes = append(w.wishes, wish{vertex: v, from: own, to: to, gain: gain})
	}
}

// choose returns the community of v and the best one, which is the same if v gains nothing. Others
// may move meanwhile.
func (m *localMoving) choose(w *moveWorker, v int32) (own, to int32, gain float64) {
	g, label, tot, sum, near, k := m.g, m.label, m.tot, w.sum, w.near, 0
	if m.places != nil {
		label, tot = m.places.of, m.places.tot
	}
	lo, hi := g.ptr[v], g.ptr[v+1]
	if g.weight == nil {
		for _, u := range g.idx[lo:hi] {
			c := atomic.LoadInt32(&label[u])
			x := sum[c]
			near[k] = c
			k += int(uint64(x-1) >> 63) // 1 if x is 0, without a branch
			sum[c] = x + 1
		}
	} else {
		weight := g.weight[lo:hi]
		for p, u := range g.idx[lo:hi] {
			if y := weight[p]; y != 0 && u != v {
				c := atomic.LoadInt32(&label[u])
				x := sum[c]
				near[k] = c
				k += int(uint64(x-1) >> 63)
				sum[c] = x + y
			}
		}
	}
	here, degree := label[v], g.degree[v]
	factor := m.factor(degree)
	stay := float64(sum[here]) - float64(factor*float64(atomic.LoadInt64(&tot[here])-degree))
	own = m.label[v]
	to, most := m.alone(v, own, stay)
	for _, c := range near[:k] {
		x := sum[c]
		sum[c] = 0
		if float64(x) < most || c == here { // it gains at most x
			continue
		}
		y := float64(x) - float64(factor*float64(atomic.LoadInt64(&tot[c])))
		if y > most || y == most && to != own && m.name(c) < to {
			to, most = m.name(c), y
		}
	}
	if gain = most - stay; gain > leastGain*float64(degree) {
		return own, to, gain
	}
	return own, own, 0
}

// alone returns the own community of v and what v has there, or an empty community that only v may
// enter if v has less than nothing and one is free.
func (m *localMoving) alone(v, own int32, stay float64) (to int32, most float64) {
	if stay >= 0 {
		return own, stay
	}
	if atomic.LoadInt64(&m.tot[v]) == 0 {
		return v, 0
	}
	if other := int64(v) + int64(m.g.n); other <= math.MaxInt32 && atomic.LoadInt64(&m.tot[other]) == 0 {
		return int32(other), 0
	}
	return own, stay
}

// factor is γk/2m of a degree k.
func (m *localMoving) factor(degree int64) float64 {
	return float64(m.resolution*float64(degree)) / float64(m.g.total)
}

// wake makes the neighbours of v active that are not in its community and have not decided since v
// moved.
func (m *localMoving) wake(v int32) {
	c, batch := m.label[v], m.drawn[v]
	for _, u := range m.g.idx[m.g.ptr[v]:m.g.ptr[v+1]] {
		if m.label[u] != c && m.drawn[u] <= batch && atomic.LoadUint32(&m.active[u]) == 0 {
			atomic.StoreUint32(&m.active[u], 1)
		}
	}
}
