// Package cores finds the dense parts of a graph: core numbers by peeling, and trusses, the
// subgraphs that triangles hold together.
package cores

import (
	"github.com/hiveblas/hiveblas/apps/internal/workflow"
	"github.com/hiveblas/hiveblas/matrix"
	"github.com/hiveblas/hiveblas/ops"
	"github.com/hiveblas/hiveblas/semiring"
)

// CoreOptions are the settings of CoreNumbers.
type CoreOptions struct{ workflow.Run }

// Cores is the result of CoreNumbers.
type Cores struct {
	Number *matrix.Vector[int32] // of every vertex, 0 of isolated ones; where the graph lives
	Max    int32                 // the degeneracy of the graph
	Inner  int64                 // vertices with that number
}

// CoreNumbers returns the core number of every vertex of g: the largest k such that the vertex is
// in the k-core, the largest subgraph in which every vertex has k or more neighbours (Seidman,
// Social Networks 5, 1983). Directions, values and self-loops are ignored.
//
// The pipeline removes the vertices of degree k or less in rounds, and lowers the degrees of their
// neighbours; a vertex that goes at k has core number k:
//
//	k = max(k, the least d);   L = {v : d(v) ≤ k}, and until L is empty:
//	core⟨L⟩ = k;   d = d⟨¬L⟩;   F = d − (L +.pair A);   d⟨F⟩ = F;   L = {v : F(v) ≤ k}
//
// The fused form does the same with a queue (Kabir, Madduri, IPDPSW 2017).
//
// On the host with Method Auto one thread keeps the vertices in buckets by degree instead
// (Batagelj, Zaversnik: An O(m) algorithm for cores decomposition of networks, 2003,
// arXiv:cs/0310049); four threads and more remove the vertices of each k together. Both take
// O(vertices + edges).
func CoreNumbers[T comparable](g matrix.Source[T], opts ...CoreOptions) (*Cores, error) {
	return coreNumbers(g, opts)
}

// coreNumbers is CoreNumbers of a graph with values of any type.
func coreNumbers(g workflow.Operand, opts []CoreOptions) (*Cores, error) {
	const app = "CoreNumbers"
	o, err := workflow.Only(app, opts)
	if err != nil {
		return nil, err
	}
	a, n, form, err := workflow.BegunUndirected(app, "core numbers", g, o.Run)
	if err != nil {
		return nil, err
	}
	if form.Device != nil {
		return fusedCores(form.Device, a, n, o.Run)
	}
	c := &Cores{}
	if form.Host {
		core, err := coreNumbersOnHost(workflow.RowsOf(a), o.Run)
		if err != nil {
			return nil, err
		}
		for _, k := range core {
			if k > c.Max {
				c.Max, c.Inner = k, 0
			}
			if k == c.Max {
				c.Inner++
			}
		}
		c.Number, err = matrix.VectorOf(core)
		return c, err
	}
	return coresPipeline(a, n, o.Run)
}

// coresPipeline finds core numbers by operations, where a lives.
func coresPipeline(a *matrix.View[bool], n int, run workflow.Run) (*Cores, error) {
	with, here := workflow.With(run), matrix.On(a.Place())
	var s ops.Steps
	loopless := matrix.New[bool](n, n, here)
	s.Do(ops.Select(loopless, semiring.Offdiag[bool](0), a, with))
	vector := func() *matrix.Vector[int32] { return matrix.NewVector[int32](n, here) }
	core, degree, low, lost, all := vector(), vector(), vector(), vector(), ops.All()
	k, least, none := matrix.ScalarOf[int32](0, here), matrix.NewScalar[int32](here), matrix.NewScalar[int32](here)
	pair, atMost := semiring.PlusPair[int32](), semiring.Le[int32]()
	s.Do(ops.Reduce(degree, semiring.Plus[int32](), loopless.Pattern(), with))
	for in := range s.While(degree, with, workflow.Passing(run, "core numbers")) {
		s.Do(ops.ReduceInto(least, semiring.Min[int32](), degree, in))
		s.Do(ops.EWiseAdd(k, semiring.Max[int32](), k, least, in))
		s.Do(ops.SelectFrom(low, atMost, degree, k, in))
		for in := range s.While(low, in) {
			s.Do(ops.AssignVectorFrom(core.Masked(low.Structure()), k, all, in))
			s.Do(ops.AssignVectorFrom(degree.Masked(low.Structure()), none, all, in))
			s.Do(ops.VxM(lost.Masked(core.Structure().Not()).Replace(), pair, low.Pattern(), loopless.Pattern(), in))
			s.Do(ops.EWiseMult(lost, semiring.Minus[int32](), degree, lost, in))
			s.Do(ops.AssignVector(degree.Masked(lost.Structure()), lost, all, in))
			s.Do(ops.SelectFrom(low, atMost, lost, k, in))
		}
	}
	s.Do(ops.AssignVectorScalar(core.Masked(core.Structure().Not()), 0, all, with)) // isolated
	if !s.OK() || n == 0 {
		return &Cores{Number: core}, s.Err()
	}
	most, err := ops.ReduceScalar(semiring.Max[int32](), core, with)
	c := &Cores{Number: core, Max: most}
	s.Do(err)
	s.Do(ops.Select(low, semiring.ValueGE(most), core, with))
	c.Inner = s.NVals(low)
	return c, s.Err()
}
