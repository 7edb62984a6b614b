package algorithms

import (
	"github.com/hiveblas/hiveblas/matrix"
	"github.com/hiveblas/hiveblas/ops"
	"github.com/hiveblas/hiveblas/semiring"
)

// Reach returns the vertices that a walk of at most so many hops reaches from source within a
// budget, each with the least cost of such a walk. Entry (u, v) of costs is the cost of the edge
// from u to v, at least 0.
//
// It is the search of Bellman and Ford, a hop in each pass: the costs that the pass before made
// smaller go along the edges. A pass takes time for the edges of these vertices.
func Reach(costs *matrix.Matrix[int32], source int, hops int64, budget int32, opts ...ops.Option) (*matrix.Vector[int32], error) {
	n, _ := costs.Dims()
	here := matrix.On(costs.Place())
	cost, front, next := matrix.NewVector[int32](n, here), matrix.NewVector[int32](n, here), matrix.NewVector[int32](n, here)
	worse := matrix.NewVector[bool](n, here)
	same := semiring.Identity[int32]()
	var s ops.Steps
	s.Do(cost.Set(source, 0))
	s.Do(front.Set(source, 0))
	for in := range s.While(front, ops.Passes(hops), ops.WithOptions(opts...)) {
		s.Do(ops.VxM(next, semiring.MinPlus[int32](), front, costs, in))
		s.Do(ops.Select(next, semiring.ValueLE(budget), next, in))
		s.Do(ops.EWiseMult(worse, semiring.Ge[int32](), next, cost, in))
		s.Do(ops.Apply(front.Masked(worse.MaskView().Not()).Replace(), same, next, in))
		s.Do(ops.Apply(cost.Accum(semiring.Min[int32]()), same, front, in))
	}
	return cost, s.Err()
}
