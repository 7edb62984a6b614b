package paths

import (
	"math"
	"slices"
	"sync/atomic"

	"github.com/hiveblas/hiveblas/apps/internal/workflow"
	"github.com/hiveblas/hiveblas/internal/access"
	"github.com/hiveblas/hiveblas/internal/parallel"
	"github.com/hiveblas/hiveblas/matrix"
)

// leastParents returns the least vertex one level up from which an edge leads to each vertex that
// has a level; the source is its own parent. Rows ascend: the first neighbour one level up is the
// least one, so that a vertex reads a few edges. Without edges by their targets, all edges offer
// their sources.
func leastParents(a *matrix.View[bool], level *matrix.Vector[int32], source int, run workflow.Run) (*matrix.Vector[int32], error) {
	st := access.VectorStore(level)
	present := st.Present
	if present == nil {
		present = slices.Repeat([]uint8{1}, level.Size())
	}
	parent := slices.Repeat([]int32{math.MaxInt32}, level.Size())
	find, symmetric := offerSources, access.Symmetric(a)
	if symmetric || a.Inside().HasCols() {
		find = firstAbove
	}
	if in := a.Inside(); symmetric && in.Transposed || !symmetric && in.HasCols() {
		a = a.T()
	}
	if err := find(workflow.RowsOf(a), st.Val, present, parent, run); err != nil {
		return nil, err
	}
	parent[source] = int32(source)
	return workflow.PresentVector(present, level.NVals(), parent), nil
}

// parentGrain is the number of vertices that are worth another thread.
const parentGrain = 1 << 12

// firstAbove lets each vertex look for its parent among the sources of its edges.
func firstAbove(in *workflow.Adjacency, level []int32, present []uint8, parent []int32, run workflow.Run) error {
	return parallel.Range(run.Context, run.Threads, in.N, parentGrain, func(_, lo, hi int) {
		for v := int32(lo); v < int32(hi); v++ {
			if present[v] == 0 {
				continue
			}
			above := level[v] - 1
			for _, u := range in.Of(v) {
				if level[u] == above && present[u] != 0 {
					parent[v] = u
					break
				}
			}
		}
	})
}

// offerSources lets each vertex offer itself to the targets of its edges.
func offerSources(out *workflow.Adjacency, level []int32, present []uint8, parent []int32, run workflow.Run) error {
	work := func(v int) int64 { return out.Ptr[v] + parallel.RowWork*int64(v) }
	pieces := min(out.N/parentGrain+1, 16*parallel.Threads(run.Threads))
	return parallel.RangeAt(run.Context, run.Threads, out.N, pieces, work, func(_, lo, hi int) {
		for u := int32(lo); u < int32(hi); u++ {
			if present[u] == 0 {
				continue
			}
			below := level[u] + 1
			for _, v := range out.Of(u) {
				if level[v] != below || present[v] == 0 {
					continue
				}
				for now := atomic.LoadInt32(&parent[v]); u < now && !atomic.CompareAndSwapInt32(&parent[v], now, u); {
					now = atomic.LoadInt32(&parent[v])
				}
			}
		}
	})
}
