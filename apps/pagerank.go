package apps

import (
	"fmt"

	"github.com/hiveblas/hiveblas/matrix"
	"github.com/hiveblas/hiveblas/ops"
	"github.com/hiveblas/hiveblas/semiring"
)

// PageRankOptions are the settings of PageRank.
type PageRankOptions struct {
	Run
	Damping       float64 // probability of following an edge; 0 means 0.85
	Tolerance     float64 // stop when Σ|change| is at most this; 0 means 1e-9
	MaxIterations int     // 0 means 100
}

// PageRankResult is the result of PageRank.
type PageRankResult struct {
	Rank       *matrix.Vector[float64] // sums to 1
	Iterations int
	Change     float64 // Σ|change| of the last iteration
	Converged  bool
}

// PageRank returns the stationary distribution of a walk that follows an edge
// of g with probability d and jumps anywhere otherwise, and always from a
// vertex without out-edges (Page et al., 1999):
//
//	r ← d·(Aᵀ +.second (r ./ outdegree)) + (d·Σ r(dangling) + 1 − d)/n
//
// Weights are ignored. O(edges) an iteration, over the transpose of g, which g
// keeps. The fused form runs several iterations between two checks by the host.
func PageRank[T comparable](g matrix.Source[T], opts ...PageRankOptions) (*PageRankResult, error) {
	o, err := only("PageRank", opts)
	if err != nil {
		return nil, err
	}
	n, err := square("PageRank", g)
	if err != nil {
		return nil, err
	}
	if o.Damping == 0 {
		o.Damping = 0.85
	}
	if o.Tolerance == 0 {
		o.Tolerance = 1e-9
	}
	if o.MaxIterations == 0 {
		o.MaxIterations = 100
	}
	d, tol, most := o.Damping, o.Tolerance, o.MaxIterations
	if !(d > 0 && d < 1) {
		return nil, &ParameterError{"PageRank", "damping", fmt.Sprint(d), "between 0 and 1"}
	}
	if !(tol > 0) || most < 0 {
		return nil, &ParameterError{"PageRank", "tolerance or iterations", fmt.Sprint(tol, ", ", most), "positive"}
	}
	if n == 0 {
		return &PageRankResult{Rank: matrix.NewVector[float64](0, matrix.On(g.View().Place())), Converged: true}, nil
	}
	runner, err := o.fused("PageRank", g.View().Place())
	if err != nil {
		return nil, err
	}
	if runner != nil {
		return fusedPageRank(runner, g.View().Pattern(), n, o)
	}
	with := o.with()
	at := g.View().Pattern().T()
	one, err := fullVector(g.View().Place(), n, true, with)
	if err != nil {
		return nil, err
	}
	rank, err := fullVector(g.View().Place(), n, 1/float64(n), with)
	if err != nil {
		return nil, err
	}
	here := matrix.On(g.View().Place())
	var s ops.Steps
	degree := matrix.NewVector[float64](n, here) // of the vertices with out-edges
	s.Do(ops.MxV(degree, semiring.PlusPair[float64](), g.View().Pattern(), one.Pattern(), with))
	perEdge := matrix.NewVector[float64](n, here) // rank divided by this follows an edge
	s.Do(ops.ApplySecond(perEdge, semiring.Div[float64](), degree, d, with))
	plus, minus := semiring.Plus[float64](), semiring.Minus[float64]()
	dangling, share, change := matrix.NewVector[float64](n, here), matrix.NewVector[float64](n, here), matrix.NewVector[float64](n, here)
	res := &PageRankResult{}
	for res.Iterations < most && !res.Converged && s.OK() {
		s.Do(ops.AssignVector(dangling.Masked(degree.Structure().Not()).Replace(), rank, ops.All(), with))
		lost, err := ops.ReduceScalar(plus, dangling, with)
		s.Do(err)
		jump := (d*lost + 1 - d) / float64(n)
		next, err := fullVector(g.View().Place(), n, jump, with)
		s.Do(err)
		s.Do(ops.EWiseMult(share, semiring.Div[float64](), rank, perEdge, with))
		s.Do(ops.MxV(next.Accum(plus), semiring.PlusSecond[float64](), at, share, with))
		s.Do(ops.EWiseAdd(change, minus, next, rank, with))
		s.Do(ops.Apply(change, semiring.Abs[float64](), change, with))
		res.Change, err = ops.ReduceScalar(plus, change, with)
		s.Do(err)
		rank = next
		res.Iterations++
		res.Converged = res.Change <= tol
		o.report("pagerank", int64(res.Iterations), int64(most))
	}
	res.Rank = rank
	if !s.OK() {
		return nil, s.Err()
	}
	return res, nil
}
