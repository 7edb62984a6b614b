// Package components finds what is connected: the components of undirected graphs, the strong
// components of directed ones, and spanning forests.
package components

import (
	"github.com/hiveblas/hiveblas/apps/internal/workflow"
	"github.com/hiveblas/hiveblas/internal/access"
	"github.com/hiveblas/hiveblas/internal/device"
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
// The pipeline is FastSV (Zhang, Azad, Hu: FastSV, PP 2020): every vertex has a parent, and
// each round hooks trees to smaller ones through edges (min.second over A),
// hooks parents, and shortens by following grandparents:
//
//	m = A min.second gp;  p(p) min= m;  p min= m, gp;  gp = p(p)
//
// until no grandparent changes. O(edges · log vertices) in practice. p(p) min= m is ScatterVector,
// and p(p) ExtractVector, with the vector p as list of indices. The forms of the host and of a GPU
// join trees edge by edge instead: first by two edges of each vertex; then a sample tells the
// largest tree, and of an undirected graph the edges of its vertices are skipped (Afforest; Sutton,
// Ben-Nun, Barak: Optimizing parallel graph connectivity computation via subgraph sampling, IPDPS
// 2018). So does the pipeline on a GPU, before FastSV: it joins each vertex with three neighbours.
// On a group of devices each joins trees along the edges of its rows, and the ranks then join their
// forests.
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
	return fastSV(a, n, o)
}

// fastSV finds the components of n vertices by operations.
func fastSV(a *matrix.View[bool], n int, o ComponentsOptions) (*Components, error) {
	undirected := access.Symmetric(a) || a.Place() == nil && workflow.Symmetric(a)
	with, here := workflow.With(o.Run), matrix.On(a.Place())
	vector := func() *matrix.Vector[int32] { return matrix.NewVector[int32](n, here) }
	parent, gp, next, least, some, low := vector(), vector(), vector(), vector(), vector(), semiring.Min[int32]()
	differ, changed := matrix.NewVector[bool](n, here), matrix.ScalarOf(n > 0, here)
	var s ops.Steps
	s.Do(ops.AssignVectorScalar(parent, 0, ops.All(), with))
	s.Do(ops.ApplyIndex(parent, semiring.RowIndex[int32](int32(0)), parent, with))
	var outside *matrix.Vector[int32] // nil where no rows are skipped
	if undirected && device.Of(a.Place()) != nil {
		outside = joinSamples(&s, a, parent, with)
	}
	for _, v := range []*matrix.Vector[int32]{gp, next, least} {
		s.Do(ops.Apply(v, semiring.Identity[int32](), parent, with))
	}
	for in := range s.While(changed, with, workflow.Passing(o.Run, "connected components")) {
		switch {
		case outside != nil:
			s.Do(ops.MxV(least.Masked(outside.Structure()).Accum(low), semiring.MinSecond[int32](), a, gp, in))
			s.Do(ops.Apply(some.Masked(outside.Structure()).Replace(), semiring.Identity[int32](), gp, in))
			s.Do(ops.VxM(least.Accum(low), semiring.MinFirst[int32](), some, a, in))
		case undirected:
			s.Do(ops.MxV(least.Accum(low), semiring.MinSecond[int32](), a, gp, in))
		default:
			s.Do(ops.MxV(least.Accum(low), semiring.MinSecond[int32](), a, gp, in))
			s.Do(ops.VxM(least.Accum(low), semiring.MinFirst[int32](), gp, a, in))
		}
		s.Do(ops.ScatterVector(parent.Accum(low), low, least, ops.ValuesOf(parent), in))
		s.Do(ops.EWiseAdd(parent, low, parent, least, in))
		s.Do(ops.EWiseAdd(parent, low, parent, gp, in))
		s.Do(ops.ExtractVector(next, parent, ops.ValuesOf(parent), in))
		s.Do(ops.EWiseMult(differ, semiring.Ne[int32](), next, gp, in))
		s.Do(ops.ReduceInto(changed, semiring.Lor(), differ, in))
		s.Do(ops.Swap(gp, next, in))
		s.Do(ops.Apply(least, semiring.Identity[int32](), gp, in))
	}
	if !s.OK() {
		return nil, s.Err()
	}
	return componentsOf(parent, with)
}

// samplesOfRows is the number of neighbours by which joinSamples joins each vertex.
const samplesOfRows = 3

// amongSample reports whether a vertex is in sample y: all are in sample 0, a fourth in each other.
var amongSample = semiring.NewBinary("sample", func(x, y int32) bool {
	return y == 0 || int32(uint32(x)*2654435761>>30) == y
}, "y == 0 || (hb_i32)((hb_u32)x * 2654435761u >> 30) == y")

// joinSamples joins the trees of an undirected graph along an edge of each vertex to each sample of
// the vertices: any.second reads a row up to the first neighbour of the sample. parent has the roots
// then. It returns the vertices outside of the largest tree. All passes take time for the vertices,
// not for the edges.
func joinSamples(s *ops.Steps, a *matrix.View[bool], parent *matrix.Vector[int32], with ops.Option) (outside *matrix.Vector[int32]) {
	n, here := parent.Size(), matrix.On(parent.Place())
	vector := func() *matrix.Vector[int32] { return matrix.NewVector[int32](n, here) }
	self, next, other, some, part := vector(), vector(), vector(), vector(), vector()
	low, high, sum, same := semiring.Min[int32](), semiring.Max[int32](), semiring.Plus[int32](), semiring.Identity[int32]()
	differ, changed, yes := matrix.NewVector[bool](n, here), matrix.NewScalar[bool](here), matrix.ScalarOf(n > 0, here)
	turn, largest := matrix.ScalarOf[int32](0, here), matrix.NewScalar[int32](here)
	s.Do(ops.Apply(self, same, parent, with))
	for in := range s.While(yes, with, ops.Passes(samplesOfRows)) {
		s.Do(ops.SelectFrom(part, amongSample, self, turn, in))
		s.Do(ops.Apply(some.Masked(part.Structure()).Replace(), same, parent, in))
		s.Do(ops.Apply(other, same, parent, in))
		s.Do(ops.MxV(other.Accum(semiring.Second[int32, int32]()), semiring.AnySecond[int32](), a, some, in))
		s.Do(ops.EWiseMult(next, low, parent, other, in))
		s.Do(ops.EWiseMult(other, high, parent, other, in))
		s.Do(ops.ScatterVector(parent.Accum(low), low, next, ops.ValuesOf(other), in))
		s.Do(ops.Apply(changed, semiring.Identity[bool](), yes, in))
		for in := range s.While(changed, in) {
			s.Do(ops.ExtractVector(next, parent, ops.ValuesOf(parent), in))
			s.Do(ops.EWiseMult(differ, semiring.Ne[int32](), next, parent, in))
			s.Do(ops.ReduceInto(changed, semiring.Lor(), differ, in))
			s.Do(ops.Swap(parent, next, in))
		}
		s.Do(ops.ApplySecond(turn, sum, turn, 1, in))
	}
	s.Do(ops.AssignVectorScalar(self, 1, ops.All(), with))
	s.Do(ops.ScatterVector(part, sum, self, ops.ValuesOf(parent), with)) // vertices of each tree
	s.Do(ops.ReduceInto(largest, high, part, with))
	s.Do(ops.ExtractVector(other, part, ops.ValuesOf(parent), with))
	outside = vector()
	s.Do(ops.SelectFrom(outside, semiring.Lt[int32](), other, largest, with))
	return outside
}

// componentsOf returns the components with the given labels.
func componentsOf(label *matrix.Vector[int32], with ops.Option) (c *Components, err error) {
	c = &Components{Label: label}
	c.Count, c.Largest, err = workflow.CountLabels(label, with)
	return c, err
}
