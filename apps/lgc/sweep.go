package lgc

import (
	"cmp"

	"github.com/hiveblas/hiveblas/apps/internal/workflow"
	"github.com/hiveblas/hiveblas/internal/parallel"
	"github.com/hiveblas/hiveblas/matrix"
	"github.com/hiveblas/hiveblas/ops"
	"github.com/hiveblas/hiveblas/semiring"
)

// sweep finds the set of least conductance among the k vertices of largest x =
// p/d, for all k (Andersen, Chung, Lang: Local graph partitioning using PageRank
// vectors, FOCS 2006). With the support in that order, L the strictly lower
// triangle of its adjacency, and d its degrees, the k first have volume Σd and
// Σ(d − 2·L1) edges to the rest.
func (c *Clusterer) sweep(x *matrix.Vector[float64], with ops.Option) (*Cut, error) {
	type place struct {
		vertex int
		x      float64
	}
	var order []place
	for v, x := range x.All() {
		order = append(order, place{v, x})
	}
	parallel.SortStable(1, order, func(a, b place) int { return cmp.Compare(b.x, a.x) })
	list := make([]int, len(order))
	for k, p := range order {
		list[k] = p.vertex
	}
	k, here := len(list), matrix.On(c.place)
	among, before := matrix.New[bool](k, k, here), matrix.New[bool](k, k, here)
	ones, err := workflow.FullVector(c.place, k, true, with)
	if err != nil {
		return nil, err
	}
	inner, degree := matrix.NewVector[int64](k, here), matrix.NewVector[float64](k, here)
	var s ops.Steps
	s.Do(ops.Extract(among, c.a, ops.Of(list...), ops.Of(list...), with))
	s.Do(ops.Select(before, semiring.Tril[bool](-1), among, with))
	s.Do(ops.MxV(inner, semiring.PlusPair[int64](), before.Pattern(), ones.Pattern(), with))
	s.Do(ops.ExtractVector(degree, c.degree, ops.Of(list...), with))
	if !s.OK() {
		return nil, s.Err()
	}
	best := &Cut{Conductance: 2}
	size := 0
	var volume, edges int64
	within, err := inner.Dense(0)
	if err != nil {
		return nil, err
	}
	degrees, err := degree.Dense(0)
	if err != nil {
		return nil, err
	}
	for i, d := range degrees {
		volume += int64(d)
		edges += int64(d) - 2*within[i]
		conductance := 1.0 // of the whole graph, which separates nothing
		if rest := c.volume - volume; rest > 0 {
			conductance = float64(edges) / float64(min(volume, rest))
		}
		if conductance < best.Conductance {
			size, best.Conductance, best.Volume, best.Edges = i+1, conductance, volume, edges
		}
	}
	best.Vertices = list[:size]
	return best, nil
}
