package apps

import (
	"math"
	"sync/atomic"

	"github.com/hiveblas/hiveblas/internal/parallel"
	"github.com/hiveblas/hiveblas/matrix"
)

// topologicalThreads are the threads from which on all of them find levels.
const topologicalThreads = 4

func topologicalOnHost(a matrix.View[bool], n int, run Run) (*matrix.Vector[int32], error) {
	g := rowsOf(a)
	if parallel.Threads(run.Threads) < topologicalThreads || int64(n)+int64(len(g.idx)) < standardWork {
		return levelsByQueue(g, run)
	}
	return levelsByWaves(g, run, usualWaveShares)
}

// levelsByQueue finds levels by one thread. Vertices on a cycle, and those behind one, have no entry.
func levelsByQueue(g *adjacency, run Run) (*matrix.Vector[int32], error) {
	n := g.n
	degree, level := make([]int32, n), make([]int32, n)
	for _, w := range g.idx {
		degree[w]++
	}
	queue := make([]int32, 0, n)
	for v, d := range degree {
		if d == 0 {
			queue = append(queue, int32(v))
		}
		level[v] = -1
	}
	for k := 0; k < len(queue); k++ {
		v := queue[k]
		level[v] = max(level[v], 0)
		for _, w := range g.of(v) {
			if degree[w]--; degree[w] == 0 {
				level[w] = level[v] + 1 // the last edge comes from the last level before
				queue = append(queue, w)
			}
		}
	}
	run.traced("TopologicalOrder", "queue", n, int64(len(g.idx)))
	if err := run.expired(); err != nil {
		return nil, err
	}
	return present(level)
}

// levelsByWaves finds levels by all threads.
func levelsByWaves(g *adjacency, run Run, shares waveShares) (*matrix.Vector[int32], error) {
	w := newWaves(run, shares)
	degree, level := make([]int32, g.n), make([]int32, g.n)
	err := parallel.Range(w.ctx, w.threads, len(g.idx), 1<<14, func(_, lo, hi int) {
		for _, u := range g.idx[lo:hi] {
			atomic.AddInt32(&degree[u], 1)
		}
	})
	if err != nil {
		return nil, err
	}
	err = w.some(g.n, func(lo, hi int, found []int32) []int32 {
		for v := lo; v < hi; v++ {
			if degree[v] == 0 {
				found = append(found, int32(v))
			}
		}
		return found
	})
	if err != nil {
		return nil, err
	}
	_, err = w.wave(w.gather(), math.MaxInt64, math.MaxInt64, waveStep{along: g,
		visit: func(v int32, row, found []int32) []int32 {
			next := level[v] + 1
			for _, u := range row {
				l := &level[u]
				for now := atomic.LoadInt32(l); now < next && !atomic.CompareAndSwapInt32(l, now, next); now = atomic.LoadInt32(l) {
				}
				if atomic.AddInt32(&degree[u], -1) == 0 {
					found = append(found, u)
				}
			}
			return found
		}})
	if err != nil {
		return nil, err
	}
	err = w.some(g.n, func(lo, hi int, found []int32) []int32 {
		for v := lo; v < hi; v++ {
			if degree[v] > 0 {
				level[v] = -1
			}
		}
		return found
	})
	if err != nil {
		return nil, err
	}
	run.traced("TopologicalOrder", "waves", g.n, int64(len(g.idx)))
	return present(level)
}

// orderByLevel returns the vertices by level, those of a level by number, and the number of levels:
// a counting sort of parts of the vertices.
func orderByLevel(level []int32, run Run) (order []int, depth int) {
	n, threads := len(level), parallel.Threads(run.Threads)
	for _, l := range level {
		depth = max(depth, int(l)+1)
	}
	parts := max(1, min(threads, n/(4*depth+1<<14)))
	at := func(part int) int { return n / parts * part }
	next := make([][]int64, parts)
	each := func(f func(next []int64, v int, l int32)) {
		parallel.Do(parts, func(part int) {
			end := at(part + 1)
			if part == parts-1 {
				end = n
			}
			for v := at(part); v < end; v++ {
				f(next[part], v, level[v])
			}
		})
	}
	for part := range next {
		next[part] = make([]int64, depth)
	}
	each(func(count []int64, _ int, l int32) { count[l]++ })
	parallel.Offsets(threads, next, make([]int64, depth+1))
	order = make([]int, n)
	each(func(next []int64, v int, l int32) {
		order[next[l]] = v
		next[l]++
	})
	return order, depth
}
