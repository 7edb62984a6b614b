package algorithms

import (
	"math"

	"github.com/hiveblas/hiveblas/matrix"
	"github.com/hiveblas/hiveblas/ops"
	"github.com/hiveblas/hiveblas/semiring"
)

// lower is a cost that is lower than the one before, and else one that no budget allows.
var lower = semiring.NewBinary("lower", func(x, before int32) int32 {
	if x < before {
		return x
	}
	return math.MaxInt32
}, "x < y ? x : 2147483647")

// Reach returns the vertices that a walk of at most so many hops reaches from source within a
// budget, each with the least cost of such a walk. Entry (u, v) of costs is the cost of the edge
// from u to v, at least 0.
//
// It is the search of Bellman and Ford, a hop in each pass: the costs that the pass before has
// lowered go along the edges. A pass takes time for the edges of these vertices.
func Reach(costs *matrix.Matrix[int32], source int, hops int64, budget int32, opts ...ops.Option) (*matrix.Vector[int32], error) {
	n, _ := costs.Dims()
	here := matrix.On(costs.Place())
	cost, front := matrix.NewVector[int32](n, here), matrix.NewVector[int32](n, here)
	least, same := semiring.Min[int32](), semiring.Identity[int32]()
	affordable := semiring.ValueLE(min(budget, math.MaxInt32-1))
	var s ops.Steps
	s.Do(front.Set(source, 0))
	s.Do(ops.AssignVectorScalar(cost, math.MaxInt32, ops.All()))
	s.Do(ops.Apply(cost.Accum(least), same, front))
	for in := range s.While(front, ops.Passes(hops), ops.WithOptions(opts...)) {
		s.Do(ops.VxM(front, semiring.MinPlus[int32](), front, costs, in))
		s.Do(ops.EWiseMult(front, lower, front, cost, in))
		s.Do(ops.Select(front, affordable, front, in))
		s.Do(ops.Apply(cost.Accum(least), same, front, in))
	}
	s.Do(ops.Select(cost, affordable, cost))
	return cost, s.Err()
}
