package communities

import (
	"math"
	"slices"
	"sync/atomic"

	"github.com/hiveblas/hiveblas/apps/internal/workflow"
	"github.com/hiveblas/hiveblas/internal/parallel"
)

// movingAtOnce moves vertices as soon as they decide, by all threads: the communities depend on the
// order in which threads get there. A vertex decides again if a neighbour has moved since. (Sahu:
// GVE-Louvain: Fast Louvain algorithm for community detection in shared memory setting, ICPP 2024.)
type movingAtOnce struct {
	*localMoving
	cuts []int // of the vertices into pieces of about equal work
}

func newMovingAtOnce(m *localMoving) *movingAtOnce {
	return &movingAtOnce{m, parallel.Cut(m.threads, m.g.ptr, atOncePieces*m.threads, rowWeight)}
}

// atOncePieces is the number of pieces of a sweep for each thread.
const atOncePieces = 64

// draw reports whether a vertex is active.
func (m *movingAtOnce) draw(int) bool {
	var some atomic.Bool
	_ = parallel.Range(nil, m.threads, m.g.n, workflow.RowGrain, func(_, lo, hi int) {
		for v := lo; v < hi && !some.Load(); v++ {
			if m.active[v] != 0 {
				some.Store(true)
			}
		}
	})
	return some.Load()
}

// sweep lets the active vertices decide in order, and move.
func (m *movingAtOnce) sweep() (gain int64, moves int, err error) {
	var all, count atomic.Int64
	unit := 2 * gainScale / float64(m.g.total)
	err = parallel.Pieces(m.ctx, m.threads, len(m.cuts)-1, func(id, piece int) {
		w, sum, moved := m.worker(id), 0.0, int64(0)
		for v := int32(m.cuts[piece]); v < int32(m.cuts[piece+1]); v++ {
			if atomic.LoadUint32(&m.active[v]) == 0 {
				continue
			}
			atomic.StoreUint32(&m.active[v], 0)
			if own, to, gain := m.choose(w, v); to != own {
				m.move(v, own, to)
				sum += gain
				moved++
			}
		}
		all.Add(int64(sum * unit))
		count.Add(moved)
	})
	return all.Load(), int(count.Load()), err
}

// move gives a vertex another community, and makes its neighbours outside it active.
func (m *movingAtOnce) move(v, own, to int32) {
	degree := m.g.degree[v]
	atomic.AddInt64(&m.tot[own], -degree)
	atomic.AddInt64(&m.tot[to], degree)
	atomic.StoreInt32(&m.label[v], to)
	for _, u := range m.g.idx[m.g.ptr[v]:m.g.ptr[v+1]] {
		if atomic.LoadUint32(&m.active[u]) == 0 && atomic.LoadInt32(&m.label[u]) != to {
			atomic.StoreUint32(&m.active[u], 1)
		}
	}
}

// refine returns parts of the communities, each named by a vertex. A vertex that is still a part
// joins the part of its community with the largest gain. It leaves its own part only if no vertex
// has joined that, so that parts are connected, unless both happen at the same time.
func (m *movingAtOnce) refine() ([]int32, error) {
	g := m.g
	part, size := make([]int32, g.n), slices.Clone(g.degree)
	for v := range part {
		part[v] = int32(v)
	}
	err := parallel.Pieces(m.ctx, m.threads, len(m.cuts)-1, func(id, piece int) {
		w := m.worker(id)
		for v := int32(m.cuts[piece]); v < int32(m.cuts[piece+1]); v++ {
			degree := g.degree[v]
			if atomic.LoadInt64(&size[v]) != degree {
				continue
			}
			if to := m.choosePart(w, v, part, size); to != v && atomic.CompareAndSwapInt64(&size[v], degree, 0) {
				atomic.AddInt64(&size[to], degree)
				atomic.StoreInt32(&part[v], to)
			}
		}
	})
	return part, err
}

// choosePart returns the part of v's community that v joins, v for none.
func (m *movingAtOnce) choosePart(w *moveWorker, v int32, part []int32, size []int64) int32 {
	g, c, sum, near, k := m.g, m.label[v], w.sum, w.near, 0
	for p := g.ptr[v]; p < g.ptr[v+1]; p++ {
		u, y := g.idx[p], int64(1)
		if g.weight != nil {
			y = g.weight[p]
		}
		if m.label[u] != c || u == v || y == 0 {
			continue
		}
		s := atomic.LoadInt32(&part[u])
		x := sum[s]
		near[k] = s
		k += int(uint64(x-1) >> 63)
		sum[s] = x + y
	}
	factor, to, most := m.factor(g.degree[v]), v, leastGain*float64(g.degree[v])
	for _, s := range near[:k] {
		if y := float64(sum[s]) - float64(factor*float64(atomic.LoadInt64(&size[s]))); y > most && s != v {
			to, most = s, y
		}
		sum[s] = 0
	}
	return to
}

// Tolerances of Fast: of the first level, and the factor for each further one.
const (
	fastTolerance = 1e-2
	fastFactor    = .1
)

// toleranceOf returns the tolerance of the sweeps of a level.
func (o *CommunitiesOptions) toleranceOf(level int) float64 {
	if !o.Fast {
		return o.Tolerance
	}
	return max(o.Tolerance, fastTolerance*math.Pow(fastFactor, float64(level)))
}

// shrinksLittle reports whether Fast ends with a level that keeps so many of its vertices.
func (o *CommunitiesOptions) shrinksLittle(kept, vertices int) bool {
	return o.Fast && 5*kept > 4*vertices
}
