package cores

import (
	"math"
	"sync/atomic"

	"github.com/hiveblas/hiveblas/apps/internal/frontier"
	"github.com/hiveblas/hiveblas/apps/internal/workflow"
	"github.com/hiveblas/hiveblas/internal/parallel"
)

// coreNumbersOnHost finds core numbers by all threads or by one.
func coreNumbersOnHost(g *workflow.Adjacency, run workflow.Run) ([]int32, error) {
	if !workflow.Shared(run, g.N, len(g.Idx)) {
		core, _, err := frontier.CoresOnHost(g, run)
		return core, err
	}
	return coresByWaves(g, run, frontier.UsualWaveShares)
}

// coreThreads is the most threads of coresByWaves, which take degrees from each other's caches:
// R-MAT 18 takes 35.5 ms on 16 threads and 64 on 64.
const coreThreads = 16

// coresByWaves returns the core numbers by all threads: at each k, from the least degree left, the
// vertices of degree k leave, and then the vertices that fall to degree k (Kabir, Madduri: Parallel
// k-core decomposition on multicore platforms, IPDPSW 2017). The degree of a vertex that leaves
// stays k. O(vertices + edges): a vertex is listed at no more values of k than its core number.
func coresByWaves(g *workflow.Adjacency, run workflow.Run, shares frontier.WaveShares) ([]int32, error) {
	run.Threads = min(parallel.Threads(run.Threads), coreThreads)
	w := frontier.NewWaves(run, shares)
	degree := make([]int32, g.N)
	left := make([]int32, g.N)
	err := w.Each(g.N, func(lo, hi int, found []int32) []int32 {
		for v := int32(lo); v < int32(hi); v++ {
			degree[v], left[v] = int32(g.Loopless(v)), v
		}
		return found
	})
	if err != nil {
		return nil, err
	}
	for k := int32(-1); ; {
		if left, k, err = above(&w, left, degree, k); err != nil || len(left) == 0 {
			break
		}
		err = w.Some(len(left), func(lo, hi int, found []int32) []int32 {
			for _, v := range left[lo:hi] {
				if degree[v] == k {
					found = append(found, v)
				}
			}
			return found
		})
		if err != nil {
			break
		}
		_, err = w.Wave(w.Gather(), math.MaxInt64, math.MaxInt64, frontier.WaveStep{Along: g,
			Visit: func(v int32, row, found []int32) []int32 {
				for _, u := range row {
					d := &degree[u]
					if atomic.LoadInt32(d) <= k {
						continue
					}
					switch now := atomic.AddInt32(d, -1); {
					case now == k:
						found = append(found, u)
					case now < k: // other threads were first
						atomic.AddInt32(d, 1)
					}
				}
				return found
			}})
		if err != nil {
			break
		}
		workflow.Report(run, "core numbers", int64(g.N-len(left)), int64(g.N))
	}
	if err != nil {
		return nil, err
	}
	workflow.Traced(run, "CoreNumbers", "waves", g.N, int64(len(g.Idx)))
	return degree, workflow.Expired(run)
}

// above returns the vertices of a list with a degree above k, and the least of their degrees.
func above(w *frontier.Waves, list, degree []int32, k int32) ([]int32, int32, error) {
	var least atomic.Int32
	least.Store(math.MaxInt32)
	err := w.Some(len(list), func(lo, hi int, found []int32) []int32 {
		low := int32(math.MaxInt32)
		for _, v := range list[lo:hi] {
			if d := degree[v]; d > k {
				found = append(found, v)
				low = min(low, d)
			}
		}
		parallel.Lower(&least, low)
		return found
	})
	if err != nil {
		return nil, 0, err
	}
	kept := w.Gather()
	w.Gathered = list[:0]
	return kept, least.Load(), nil
}
