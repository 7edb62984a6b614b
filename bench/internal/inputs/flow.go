package inputs

import (
	"math"

	"github.com/hiveblas/hiveblas/bench/gen"
	"github.com/hiveblas/hiveblas/matrix"
	"github.com/hiveblas/hiveblas/semiring"
)

// FlowNetwork makes the network of a name, 2^shrink times smaller, and whether there is one. The
// last two vertices are the source and the sink. Capacities are multiples of 1/16, so that sums are
// exact.
//
//	flowgrid1024  a picture to cut in two: a grid of 1024², edges by likeness, and an edge from
//	              the source or to the sink for each pixel, by its value
//	flowrmat18    R-MAT 18, symmetric capacities 1…255, 64 vertices at each end
//	flowplanar1m  a triangulated planar graph of a million vertices, a thousand at each end
func FlowNetwork(name string, shrink int) (*gen.Graph, []float64, bool) {
	var rows, cols []int
	var capacity []float64
	add := func(i, j int, c float64) {
		rows, cols, capacity = append(rows, i), append(cols, j), append(capacity, c)
	}
	ends := func(n, most int) { // of drawn vertices, without limit: even ones at the source, odd ones at the sink
		for k := range most {
			v := int(gen.Hash(uint64(k), 61)%uint64(n/2))*2 + k%2
			from, to := n, v
			if k%2 == 1 {
				from, to = v, n+1
			}
			add(from, to, math.Inf(1))
		}
	}
	both := func(g *gen.Graph) {
		for i := range g.NRows {
			for _, j := range g.Row(i) {
				if k := min(i, int(j)); k != max(i, int(j)) {
					add(i, int(j), float64(1+gen.Hash(uint64(k)<<32|uint64(max(i, int(j))), 62)%255))
				}
			}
		}
	}
	n := 0
	switch name {
	case "flowgrid1024":
		s := gen.GridSignal(1024>>((shrink+1)/2), 1)
		n = s.NRows
		for i := range n {
			for _, j := range s.Row(i) {
				d := s.Y[i] - s.Y[j]
				c := 1 + math.Round(16*8*math.Exp(-d*d/2))/16
				add(i, int(j), c)
				add(int(j), i, c)
			}
			if c := math.Round(16*4*s.Y[i]) / 16; c > 0 {
				add(n, i, c)
			} else if c < 0 {
				add(i, n+1, -c)
			}
		}
	case "flowrmat18":
		g := gen.CSR(gen.Symmetrise(gen.RMAT(max(18-shrink, 5), 16, gen.RMATOptions{})))
		n = g.NRows
		both(g)
		ends(n, 128)
	case "flowplanar1m":
		g := gen.PlanarSignal(1_000_000>>shrink, 1).Graph
		n = g.NRows
		for i := range n {
			for _, j := range g.Row(i) {
				c := float64(1 + gen.Hash(uint64(i)<<32|uint64(j), 62)%255)
				add(i, int(j), c)
				add(int(j), i, c)
			}
		}
		ends(n, max(2000>>shrink, 2))
	default:
		return nil, nil, false
	}
	a, err := matrix.FromTuples(n+2, n+2, rows, cols, capacity, semiring.Max[float64]())
	if err != nil {
		return nil, nil, false
	}
	ptr, idx, val, err := a.CSR()
	if err != nil {
		return nil, nil, false
	}
	return &gen.Graph{NRows: n + 2, NCols: n + 2, Ptr: ptr, Idx: idx}, val, true
}
