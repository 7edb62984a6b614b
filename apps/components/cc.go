// Package components finds what is connected: the components of undirected graphs, the strong
// components of directed ones, and spanning forests.
package components

import (
	"github.com/hiveblas/hiveblas/apps/internal/workflow"
	"github.com/hiveblas/hiveblas/internal/access"
	"github.com/hiveblas/hiveblas/matrix"
	"github.com/hiveblas/hiveblas/ops"
	"github.com/hiveblas/hiveblas/semiring"
)

// ComponentsOptions are the settings of ConnectedComponents.
type ComponentsOptions struct{ workflow.Run }

// Components is a partition of the vertices into connected components.
type Components struct {
	Label   *matrix.Vector[int32] // the least vertex of each vertex's component
	Count   int
	Largest int64 // vertices of the largest one
}

// ConnectedComponents returns the connected components of g; of a directed
// graph the weakly connected ones.
//
// FastSV (Zhang, Azad, Hu: FastSV, PP 2020): every vertex has a parent, and
// each round hooks trees to smaller ones through edges (min.second over A),
// hooks parents, and shortens by following grandparents:
//
//	m min= A min.second news;  p(gp) min= m;  p min= m, gp;  gp = p(p)
//
// until no grandparent changes. news has the grandparents that changed in the round before: what a
// vertex heard of the others is in m. In the first round, before the loop, each vertex hears of one
// neighbour. O(edges · log vertices) in practice. p(gp) min= m is ScatterVector, and p(p)
// ExtractVector, with a vector as list of indices. Except on groups, a search from a vertex of high
// degree comes before: what it reaches is a component, and the rounds are for the others.
//
// The forms of the host and of a GPU join trees edge by edge instead: first by two edges of each
// vertex; then a sample tells the largest tree, and of an undirected graph the edges of its
// vertices are skipped (Afforest; Sutton, Ben-Nun, Barak: Optimizing parallel graph connectivity
// computation via subgraph sampling, IPDPS 2018). On a group of devices each joins trees along the
// edges of its rows, and the ranks then join their forests.
func ConnectedComponents[T comparable](g matrix.Source[T], opts ...ComponentsOptions) (*Components, error) {
	return connectedComponents(g, opts)
}

// connectedComponents is ConnectedComponents of a graph with values of any type.
func connectedComponents(g workflow.Operand, opts []ComponentsOptions) (*Components, error) {
	o, err := workflow.Only("ConnectedComponents", opts)
	if err != nil {
		return nil, err
	}
	n, err := workflow.Square("ConnectedComponents", g)
	if err != nil {
		return nil, err
	}
	a := workflow.Pattern(g)
	form, err := workflow.Choose(o.Run, "ConnectedComponents", a.Place())
	switch {
	case err != nil:
		return nil, err
	case form.Rows != nil && n > 0:
		return rowsComponents(form.Rows, a, n, o)
	case form.Device != nil:
		return fusedComponents(form.Device, a, n, o)
	case form.Host && n > 0:
		return hostComponents(a, n, o)
	}
	workflow.Announce(o.Run, "ConnectedComponents", "FastSV")
	undirected := access.Symmetric(a) || a.Place() == nil && workflow.Symmetric(a)
	with, here := workflow.With(o.Run), matrix.On(a.Place())
	parent, err := workflow.FullVector[int32](a.Place(), n, 0, with)
	if err != nil {
		return nil, err
	}
	vector := func() *matrix.Vector[int32] { return matrix.NewVector[int32](n, here) }
	gp, next, least, news := vector(), vector(), vector(), vector()
	low, keep := semiring.Min[int32](), semiring.Identity[int32]()
	defer func() { workflow.Discard(gp, next, least, news) }()
	var s ops.Steps
	s.Do(ops.ApplyIndex(parent, semiring.RowIndex[int32](int32(0)), parent, with))
	if searches(a.Place()) {
		var size int64
		news, size = joined(&s, a, undirected, parent, ops.WithOptions(with, workflow.Passing(o.Run, "connected components")))
		switch {
		case !s.OK() || news.NVals() > 0:
		case 2*size >= int64(n): // no other one is larger
			root := vector()
			defer workflow.Discard(root)
			s.Do(ops.Select(root, ownLabel(), parent, with))
			return &Components{Label: parent, Count: int(s.NVals(root)), Largest: size}, s.Err()
		default:
			return componentsOf(parent, with)
		}
		s.Do(ops.Apply(least, keep, parent, with))
	} else {
		s.Do(ops.Apply(least, keep, parent, with))
		s.Do(ops.MxV(least.Accum(low), semiring.AnySecond[int32](), a, parent, with))
		s.Do(ops.EWiseAdd(parent, low, parent, least, with))
		s.Do(ops.Apply(news, keep, parent, with))
	}
	differ, err := workflow.FullVector[bool](a.Place(), n, false, with)
	s.Do(err)
	s.Do(ops.ExtractVector(gp, parent, ops.ValuesOf(parent), with))
	s.Do(ops.Apply(next, keep, gp, with))
	for in := range s.While(news, with, workflow.Passing(o.Run, "connected components")) {
		s.Do(ops.MxV(least.Accum(low), semiring.MinSecond[int32](), a, news, in))
		if !undirected {
			s.Do(ops.VxM(least.Accum(low), semiring.MinFirst[int32](), news, a, in))
		}
		s.Do(ops.ScatterVector(parent.Accum(low), low, least, ops.ValuesOf(gp), in))
		s.Do(ops.EWiseAdd(parent, low, parent, least, in))
		s.Do(ops.EWiseAdd(parent, low, parent, gp, in))
		s.Do(ops.ExtractVector(next, parent, ops.ValuesOf(parent), in))
		s.Do(ops.EWiseMult(differ, semiring.Ne[int32](), next, gp, in))
		s.Do(ops.Swap(gp, next, in))
		s.Do(ops.Apply(news.Masked(differ.MaskView()).Replace(), keep, gp, in))
	}
	if !s.OK() {
		return nil, s.Err()
	}
	return componentsOf(parent, with)
}

// componentsOf returns the components with the given labels.
func componentsOf(label *matrix.Vector[int32], with ops.Option) (c *Components, err error) {
	c = &Components{Label: label}
	c.Count, c.Largest, err = workflow.CountLabels(label, with)
	return c, err
}
