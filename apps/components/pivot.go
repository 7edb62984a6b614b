package components

import (
	"github.com/hiveblas/hiveblas/matrix"
	"github.com/hiveblas/hiveblas/ops"
	"github.com/hiveblas/hiveblas/semiring"
)

// The pipelines on the host first take the component of a vertex of high degree, which is most of
// many graphs: a search reads each vertex up to its first edge from the frontier.

// hub returns the position of the largest value of degree, or false if it has no entry.
func hub(s *ops.Steps, degree *matrix.Vector[float32], with ops.Option) (int, bool) {
	pivot, _, err := ops.TopKVector(degree, 1, with)
	s.Do(err)
	if !s.OK() || len(pivot) == 0 {
		return 0, false
	}
	return pivot[0], true
}

// search adds to reached what pivot reaches along the edges of a, with either also against them.
// The passes of the search may be bounded; it reports whether it ended.
func search(s *ops.Steps, a *matrix.View[bool], pivot int, reached *matrix.Vector[bool], either bool, with ops.Option) bool {
	any, or := semiring.AnyPair[bool](), semiring.Lor()
	frontier := matrix.NewVector[bool](reached.Size())
	s.Do(reached.SetFormat(matrix.Bitmap))
	s.Do(frontier.Set(pivot, true))
	next := frontier.Masked(reached.Structure().Not()).Replace()
	for in := range s.While(frontier, with) {
		s.Do(ops.AssignVectorScalar(reached.Masked(frontier.Structure()), true, ops.All(), in))
		if !either {
			s.Do(ops.VxM(next, any, frontier.Pattern(), a, in))
			continue
		}
		back := matrix.NewVector[bool](reached.Size())
		s.Do(ops.MxV(back.Masked(reached.Structure().Not()), any, a, frontier.Pattern(), in))
		s.Do(ops.VxM(next, any, frontier.Pattern(), a, in))
		s.Do(ops.EWiseAdd(frontier, or, frontier, back, in))
	}
	return s.NVals(frontier) == 0
}

// first returns the least position with an entry.
func first(v *matrix.Vector[bool]) int32 {
	for i := range v.All() {
		return int32(i)
	}
	return 0
}

// joined begins the components of an undirected or directed graph on the host: parent(v) = v
// becomes the least vertex that a search from a hub reaches. Labels then pass to neighbours among
// the others, in so many passes at most. It returns the labels that vertices have yet to pass on.
func joined(s *ops.Steps, a *matrix.View[bool], undirected bool, parent *matrix.Vector[int32], with ops.Option) *matrix.Vector[int32] {
	const passes = 64
	n, plus := parent.Size(), semiring.Plus[float32]()
	low, keep := semiring.Min[int32](), semiring.Identity[int32]()
	degree, reached, news := matrix.NewVector[float32](n), matrix.NewVector[bool](n), matrix.NewVector[int32](n)
	s.Do(ops.Reduce(degree, plus, a, with))
	if !undirected {
		s.Do(ops.Reduce(degree.Accum(plus), plus, a.T(), with))
	}
	pivot, ok := hub(s, degree, with)
	if !ok {
		return news
	}
	closed := search(s, a, pivot, reached, !undirected, ops.WithOptions(with, ops.Passes(passes)))
	s.Do(ops.AssignVectorScalar(parent.Masked(reached.Structure()), first(reached), ops.All(), with))
	rest := matrix.NewVector[int32](n) // the vertices with edges that are not finished
	s.Do(ops.Apply(rest.Masked(degree.Structure()), keep, parent, with))
	if !closed {
		return rest
	}
	s.Do(ops.Apply(rest.Masked(reached.Structure().Not()).Replace(), keep, rest, with))
	s.Do(ops.Apply(news, keep, rest, with))
	heard, lower := matrix.NewVector[int32](n), matrix.NewVector[bool](n)
	for in := range s.While(news, with, ops.Passes(passes)) {
		s.Do(ops.MxV(heard, semiring.MinSecond[int32](), a, news, in))
		if !undirected {
			s.Do(ops.VxM(heard.Accum(low), semiring.MinFirst[int32](), news, a, in))
		}
		s.Do(ops.EWiseMult(lower, semiring.Lt[int32](), heard, parent, in))
		s.Do(ops.Select(lower, semiring.ValueEQ(true), lower, in))
		s.Do(ops.Apply(news.Masked(lower.Structure()).Replace(), keep, heard, in))
		s.Do(ops.AssignVector(parent.Masked(news.Structure()), news, ops.All(), in))
	}
	if s.NVals(news) == 0 {
		return news
	}
	return rest
}
