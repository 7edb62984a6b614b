package inputs

import (
	"github.com/hiveblas/hiveblas/bench/gen"
)

// The walks of the rows of graph search: one from each vertex with edges.
const WalkLength = 32

// WalkStarts are the vertices with edges.
func WalkStarts(g *gen.Graph) (list []int) {
	for v := range g.NRows {
		if g.Ptr[v+1] > g.Ptr[v] {
			list = append(list, v)
		}
	}
	return list
}
