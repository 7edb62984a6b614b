package components

import (
	"github.com/hiveblas/hiveblas/apps/internal/workflow"
	"github.com/hiveblas/hiveblas/matrix"
	"github.com/hiveblas/hiveblas/ops"
	"github.com/hiveblas/hiveblas/semiring"
)

// StronglyConnectedComponents returns the strongly connected components of g: the largest sets of
// vertices in which a path leads from each vertex to each other one. The label of a component is
// its least vertex.
//
// The pipeline colours the vertices that are left with the least vertex that reaches them, and
// takes from each colour what reaches its own vertex backwards (Orzan, 2004):
//
//	c(v) = v;   N = c
//	M = N min.first A;   N = {M(v) : M(v) < c(v)};   c⟨N⟩ = N,   until N is empty
//	F = {v : c(v) = v};   F ∪= {v : c(v) = (A max.second c(F))(v)},   until nothing is added
//	the parts of F by colour are components; continue without them
//
// A round first removes vertices without an edge from or without an edge to the others. The number
// of rounds is at most the length of the longest chain of components. Except on groups, the
// component of a vertex of high degree comes first: what it reaches, and what of this reaches it.
//
// The fused form takes the component of a pivot first, by a search in both directions (Slota,
// Rajamanickam, Madduri, IPDPS 2014), and then goes by colours.
//
// On the host with Method Auto all threads find the component of a vertex of high degree: what it
// reaches, and what of this reaches it, which sweeps over the vertices find without the transpose.
// Vertices from which edges lead to finished components alone are components then. A depth-first
// search finds the rest (Tarjan, SIAM Journal on Computing 1, 1972, in the form of Pearce,
// Information Processing Letters 116, 2016, which keeps one number for each vertex); eight threads
// and more go by colours before, where much is left. The depth-first search finds all components of
// a small graph, and where few vertices of a search can be expanded at the same time. Either takes
// O(vertices + edges).
func StronglyConnectedComponents[T comparable](g matrix.Source[T], opts ...ComponentsOptions) (*Components, error) {
	return strongComponents(g, opts)
}

// strongComponents is StronglyConnectedComponents of a graph with values of any type.
func strongComponents(g workflow.Operand, opts []ComponentsOptions) (*Components, error) {
	const app = "StronglyConnectedComponents"
	o, err := workflow.Only(app, opts)
	if err != nil {
		return nil, err
	}
	a, n, form, err := workflow.Begun(app, "strongly connected components", g, o.Run)
	switch {
	case err != nil:
		return nil, err
	case form.Device != nil:
		return fusedStrong(form.Device, a, n, o.Run)
	case form.Host:
		return strongOnHost(a, o.Run)
	}
	return strongPipeline(a, n, o.Run)
}

// ownLabel selects the vertices that are their own label.
func ownLabel() semiring.SelectOp[int32] {
	return semiring.NewSelect("own_label", func(x int32, i, _ int) bool { return int(x) == i }, "x == i")
}

// strongPipeline finds the components by operations, where a lives.
func strongPipeline(a *matrix.View[bool], n int, run workflow.Run) (*Components, error) {
	with, here := workflow.With(run), matrix.On(a.Place())
	label, err := workflow.FullVector[int32](a.Place(), n, 0, with)
	if err != nil {
		return nil, err
	}
	var s ops.Steps
	s.Do(ops.ApplyIndex(label, semiring.RowIndex[int32](int32(0)), label, with))
	left := matrix.NewVector[int32](n, here) // the vertices without a component, each its own value
	s.Do(ops.Apply(left, semiring.Identity[int32](), label, with))
	vector := func() *matrix.Vector[int32] { return matrix.NewVector[int32](n, here) }
	if searches(a.Place()) {
		pivotComponent(&s, a, label, left, ops.WithOptions(with, workflow.Passing(run, "strongly connected components")))
	}
	colour, next, found, grown := vector(), vector(), vector(), vector()
	same := matrix.NewVector[bool](n, here)
	defer workflow.Discard(left, colour, next, found, grown, same)
	keep, any, own := semiring.Identity[int32](), semiring.AnyPair[int32](), ownLabel()
	for in := range s.While(left, with, workflow.Passing(run, "strongly connected components")) {
		s.Do(ops.VxM(next.Masked(left.Structure()).Replace(), any, left.Pattern(), a.Pattern(), in))
		s.Do(ops.MxV(found.Masked(next.Structure()).Replace(), any, a.Pattern(), left.Pattern(), in))
		s.Do(ops.Apply(left.Masked(found.Structure()).Replace(), keep, left, in)) // the others are alone
		s.Do(ops.Apply(colour, keep, left, in))
		s.Do(ops.Apply(next, keep, left, in))
		for in := range s.While(next, in) {
			s.Do(ops.VxM(grown.Masked(left.Structure()).Replace(), semiring.MinFirst[int32](), next, a, in))
			s.Do(ops.EWiseMult(same, semiring.Lt[int32](), grown, colour, in))
			s.Do(ops.Select(same, semiring.ValueEQ(true), same, in))
			s.Do(ops.Apply(next.Masked(same.Structure()).Replace(), keep, grown, in))
			s.Do(ops.AssignVector(colour.Masked(next.Structure()), next, ops.All(), in))
		}
		s.Do(ops.Select(found, own, colour, in))
		s.Do(ops.Apply(next, keep, found, in))
		for in := range s.While(next, in) {
			s.Do(ops.MxV(grown.Masked(found.Structure().Not()).Replace(), semiring.MaxSecond[int32](), a, next, in))
			s.Do(ops.EWiseMult(same, semiring.Eq[int32](), grown, colour, in))
			s.Do(ops.Select(same, semiring.ValueEQ(true), same, in))
			s.Do(ops.Apply(next.Masked(same.Structure()).Replace(), keep, colour, in))
			s.Do(ops.AssignVector(found.Masked(next.Structure()), next, ops.All(), in))
		}
		s.Do(ops.AssignVector(label.Masked(found.Structure()), found, ops.All(), in))
		s.Do(ops.Apply(left.Masked(found.Structure().Not()).Replace(), keep, left, in))
	}
	if !s.OK() {
		return nil, s.Err()
	}
	return componentsOf(label, with)
}

// pivotComponent takes the component of a vertex of high degree from left: what it reaches, and
// what of this reaches it. It then takes vertices without an edge from or without an edge to the
// others, in hubPasses passes at most.
func pivotComponent(s *ops.Steps, a *matrix.View[bool], label, left *matrix.Vector[int32], with ops.Option) {
	n, plus, here := label.Size(), semiring.Plus[int64](), matrix.On(a.Place())
	degree, into := matrix.NewVector[int64](n, here), matrix.NewVector[int64](n, here)
	defer workflow.Discard(degree, into)
	s.Do(ops.Reduce(degree, plus, a, with))
	s.Do(ops.Reduce(into, plus, a.T(), with))
	s.Do(ops.EWiseMult(degree, semiring.Times[int64](), degree, into, with))
	pivot, ok := hub(s, degree, with)
	if !ok {
		return
	}
	keep, any := semiring.Identity[int32](), semiring.AnyPair[bool]()
	s.Do(ops.Apply(left.Masked(degree.Structure()).Replace(), keep, left, with)) // the others are alone
	set := func() *matrix.Vector[bool] { return matrix.NewVector[bool](n, here) }
	reached, closed := set(), set()
	defer workflow.Discard(reached, closed)
	search(s, a, pivot, reached, false, with)
	s.Do(ops.AssignVectorScalar(closed.Masked(reached.Structure().Not()), true, ops.All(), with))
	search(s, a.T(), pivot, closed, false, with)
	s.Do(ops.Apply(reached.Masked(closed.Structure()).Replace(), semiring.Identity[bool](), reached, with))
	s.Do(ops.AssignVectorScalar(label.Masked(reached.Structure()), first(s, reached, with), ops.All(), with))
	s.Do(ops.Apply(left.Masked(reached.Structure().Not()).Replace(), keep, left, with))
	next, found, gone := set(), set(), matrix.NewVector[int32](n, here)
	defer workflow.Discard(next, found, gone)
	s.Do(ops.Apply(gone, keep, left, with))
	for in := range s.While(gone, with, ops.Passes(hubPasses)) {
		s.Do(ops.VxM(next.Masked(left.Structure()).Replace(), any, left.Pattern(), a, in))
		s.Do(ops.MxV(found.Masked(next.Structure()).Replace(), any, a, left.Pattern(), in))
		s.Do(ops.Apply(gone.Masked(found.Structure().Not()).Replace(), keep, left, in))
		s.Do(ops.Apply(left.Masked(found.Structure()).Replace(), keep, left, in))
	}
}
