package frontier

import (
	"github.com/hiveblas/hiveblas/apps/internal/workflow"
)

// CoresOnHost returns the core numbers and the order in which vertices are removed. order lists the
// vertices by their degree in the remaining graph, and the vertices of degree d begin at first(d).
// If the degree of a vertex falls, it moves to the front of its bucket, which then begins after it.
func CoresOnHost(g *workflow.Adjacency, run workflow.Run) (core, order []int32, err error) {
	n := int32(g.N)
	core = make([]int32, n)
	most := int32(0)
	for v := range n {
		core[v] = int32(g.Loopless(v))
		most = max(most, core[v])
	}
	first := make([]int32, int(most)+2)
	for _, d := range core {
		first[d+1]++
	}
	for d := range most + 1 {
		first[d+1] += first[d]
	}
	order = make([]int32, n)
	place := make([]int32, n)
	for v, d := range core {
		place[v] = first[d]
		order[first[d]] = int32(v)
		first[d]++
	}
	copy(first[1:], first[:most+1])
	first[0] = 0
	for k, v := range order {
		if k&0xffff == 0 {
			workflow.Report(run, "core numbers", int64(k), int64(n))
			if err := workflow.Expired(run); err != nil {
				return nil, nil, err
			}
		}
		d := core[v]
		for _, u := range g.Of(v) {
			c := core[u]
			if c <= d {
				continue
			}
			at, start := place[u], first[c]
			w := order[start]
			order[at], place[w] = w, at
			order[start], place[u] = u, start
			first[c]++
			core[u] = c - 1
		}
	}
	workflow.Traced(run, "CoreNumbers", "buckets", g.N, int64(len(g.Idx)))
	return core, order, workflow.Expired(run)
}
