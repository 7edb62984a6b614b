package reference

import (
	"math"
	"sync"
	"sync/atomic"
)

const damping = .85

// PageRank returns ranks that sum to 1, by pulls over all edges: each vertex sums the shares of its
// neighbours and at once renews its own, so that an iteration already sees new values. It stops
// when the changes of an iteration sum to at most tolerance, or after most iterations. The ranks of
// vertices without edges are spread over all vertices.
func PageRank(g Graph, tolerance float64, most, threads int) []float32 {
	n := g.Vertices()
	rank, share := filled(n, 1/float32(n)), make([]uint32, n) // the bits of float32
	lone := 0.0                                               // rank of the vertices without edges
	for v := range int32(n) {
		if d := g.degree(v); d > 0 {
			share[v] = math.Float32bits(rank[v] / float32(d))
		} else {
			lone += float64(rank[v])
		}
	}
	for range most {
		base := float32((1 - damping + damping*lone) / float64(n))
		change, mutex := 0.0, sync.Mutex{}
		lone = 0
		each(threads, n, func(_, lo, hi int) {
			some, alone := 0.0, 0.0
			for v := int32(lo); v < int32(hi); v++ {
				sum := float32(0)
				row := g.row(v)
				for _, u := range row {
					sum += math.Float32frombits(atomic.LoadUint32(&share[u]))
				}
				before := rank[v]
				rank[v] = base + damping*sum
				some += float64(max(rank[v]-before, before-rank[v]))
				if len(row) > 0 {
					atomic.StoreUint32(&share[v], math.Float32bits(rank[v]/float32(len(row))))
				} else {
					alone += float64(rank[v])
				}
			}
			mutex.Lock()
			defer mutex.Unlock()
			change += some
			lone += alone
		})
		if change <= tolerance {
			break
		}
	}
	return rank
}
