package reference

import (
	"sync/atomic"
)

// Components labels each vertex with the least vertex of its component, by Afforest: trees grow by
// the first two neighbours of each vertex; then all edges of the vertices outside the largest tree,
// which a sample tells, join trees (Sutton, Ben-Nun, Barak: Optimizing parallel graph connectivity
// computation via subgraph sampling, IPDPS 2018).
func Components(g Graph, threads int) []int32 {
	n := g.Vertices()
	up := make([]int32, n)
	each(threads, n, func(_, lo, hi int) {
		for v := lo; v < hi; v++ {
			up[v] = int32(v)
		}
	})
	const rounds = 2
	for k := range int64(rounds) {
		each(threads, n, func(_, lo, hi int) {
			ptr, idx := g.Ptr[lo:hi+1], g.Idx
			for v, at := range ptr[:hi-lo] {
				if at += k; at < ptr[v+1] {
					link(up, int32(lo+v), idx[at])
				}
			}
		})
		compress(up, threads)
	}
	most := frequent(up)
	eachOf(threads, n, grain/4, func(_, lo, hi int) {
		for v := int32(lo); v < int32(hi); v++ {
			if atomic.LoadInt32(&up[v]) == most {
				continue
			}
			for k := g.Ptr[v] + rounds; k < g.Ptr[v+1]; k++ {
				link(up, v, g.Idx[k])
			}
		}
	})
	compress(up, threads)
	return up
}

// link joins the trees of two vertices. The root of greater number becomes a child.
func link(up []int32, v, u int32) {
	for a, b := atomic.LoadInt32(&up[v]), atomic.LoadInt32(&up[u]); a != b; {
		high, low := max(a, b), min(a, b)
		top := atomic.LoadInt32(&up[high])
		if top == low || top == high && atomic.CompareAndSwapInt32(&up[high], high, low) {
			return
		}
		a, b = atomic.LoadInt32(&up[atomic.LoadInt32(&up[high])]), atomic.LoadInt32(&up[low])
	}
}

// compress makes each vertex a child of its root.
func compress(up []int32, threads int) {
	each(threads, len(up), func(_, lo, hi int) {
		for v := lo; v < hi; v++ {
			first := atomic.LoadInt32(&up[v])
			top := first
			for over := atomic.LoadInt32(&up[top]); over != top; over = atomic.LoadInt32(&up[top]) {
				top = over
			}
			if top != first {
				atomic.StoreInt32(&up[v], top)
			}
		}
	})
}

// frequent returns the most frequent label of a sample.
func frequent(label []int32) (most int32) {
	if len(label) == 0 {
		return 0
	}
	count := map[int32]int{}
	for k := range uint64(1024) {
		l := label[k*0x9e3779b97f4a7c15%uint64(len(label))]
		if count[l]++; count[l] > count[most] {
			most = l
		}
	}
	return most
}
