package components

import (
	"github.com/hiveblas/hiveblas/apps/internal/workflow"
	"github.com/hiveblas/hiveblas/comm"
	"github.com/hiveblas/hiveblas/matrix"
	"github.com/hiveblas/hiveblas/ops"
	"github.com/hiveblas/hiveblas/semiring"
)

// The pipelines first take the component of a vertex of high degree, which is most of many graphs:
// a search reads each vertex up to its first edge from the frontier.

// searches reports whether the pipelines do so at a place: on a group each pass of a search costs
// an exchange.
func searches(at matrix.Place) bool {
	_, group := at.(*comm.Group)
	return !group
}

// hubPasses bounds the passes of a search, and of what follows among the others: a long graph takes
// more.
const hubPasses = 64

// byDegree gives vertices values in the order of their degrees, the first of equal ones the
// largest.
func byDegree() semiring.IndexOp[int64, int64] {
	return semiring.NewIndex("by_degree", func(degree int64, i, _ int) int64 {
		return min(degree, 1<<32-1)<<31 | (1<<31 - 1 - int64(i))
	}, "(x < 4294967295ll ? x : 4294967295ll) << 31 | (2147483647ll - i)")
}

// hub returns the position of the largest value of degree, or false if it has no entry.
func hub(s *ops.Steps, degree *matrix.Vector[int64], with ops.Option) (int, bool) {
	if degree.Place() == nil {
		pivot, _, err := ops.TopKVector(degree, 1, with)
		s.Do(err)
		if !s.OK() || len(pivot) == 0 {
			return 0, false
		}
		return pivot[0], true
	}
	key := matrix.NewVector[int64](degree.Size(), matrix.On(degree.Place()))
	defer workflow.Discard(key)
	s.Do(ops.ApplyIndex(key, byDegree(), degree, with))
	best, err := ops.ReduceScalar(semiring.Max[int64](), key, with)
	s.Do(err)
	return int(1<<31 - 1 - best&(1<<31-1)), s.OK() && best > 0
}

// search adds to reached what pivot reaches along the edges of a, with either also against them.
// The passes of the search may be bounded; it reports whether it ended.
func search(s *ops.Steps, a *matrix.View[bool], pivot int, reached *matrix.Vector[bool], either bool, with ops.Option) bool {
	any, or := semiring.AnyPair[bool](), semiring.Lor()
	here := matrix.On(a.Place())
	frontier, back := matrix.NewVector[bool](reached.Size(), here), matrix.NewVector[bool](reached.Size(), here)
	defer workflow.Discard(frontier, back)
	if a.Place() == nil {
		s.Do(reached.SetFormat(matrix.Bitmap))
	}
	s.Do(frontier.Set(pivot, true))
	others := reached.Structure().Not()
	for in := range s.While(frontier, with) {
		s.Do(ops.AssignVectorScalar(reached.Masked(frontier.Structure()), true, ops.All(), in))
		if !either {
			s.Do(ops.VxM(frontier.Masked(others).Replace(), any, frontier.Pattern(), a, in))
			continue
		}
		s.Do(ops.MxV(back.Masked(others).Replace(), any, a, frontier.Pattern(), in))
		s.Do(ops.VxM(frontier.Masked(others).Replace(), any, frontier.Pattern(), a, in))
		s.Do(ops.EWiseAdd(frontier, or, frontier, back, in))
	}
	return s.NVals(frontier) == 0
}

// first returns the least position with an entry.
func first(s *ops.Steps, v *matrix.Vector[bool], with ops.Option) int32 {
	index := matrix.NewVector[int32](v.Size(), matrix.On(v.Place()))
	defer workflow.Discard(index)
	s.Do(ops.ApplyIndex(index, semiring.RowIndex[bool](int32(0)), v, with))
	least, err := ops.ReduceScalar(semiring.Min[int32](), index, with)
	s.Do(err)
	return least
}

// joined begins the components of an undirected or directed graph: parent(v) = v becomes the least
// vertex that a search from a hub reaches. Labels then pass to neighbours among the others, in
// hubPasses passes at most. It returns the labels that vertices have yet to pass on, and how many
// vertices the search has reached.
func joined(s *ops.Steps, a *matrix.View[bool], undirected bool, parent *matrix.Vector[int32], with ops.Option) (news *matrix.Vector[int32], size int64) {
	n, plus, here := parent.Size(), semiring.Plus[int64](), matrix.On(a.Place())
	low, keep, index := semiring.Min[int32](), semiring.Identity[int32](), semiring.RowIndex[int64](int32(0))
	degree, reached := matrix.NewVector[int64](n, here), matrix.NewVector[bool](n, here)
	news = matrix.NewVector[int32](n, here)
	defer workflow.Discard(degree, reached)
	s.Do(ops.Reduce(degree, plus, a, with))
	if !undirected {
		s.Do(ops.Reduce(degree.Accum(plus), plus, a.T(), with))
	}
	pivot, ok := hub(s, degree, with)
	if !ok {
		return news, 0
	}
	closed := search(s, a, pivot, reached, !undirected, ops.WithOptions(with, ops.Passes(hubPasses)))
	s.Do(ops.AssignVectorScalar(parent.Masked(reached.Structure()), first(s, reached, with), ops.All(), with))
	if !closed {
		s.Do(ops.Apply(news.Masked(degree.Structure()), keep, parent, with))
		return news, 0
	}
	others := reached.Structure().Not()
	s.Do(ops.ApplyIndex(news.Masked(others), index, degree, with)) // the vertices with edges that are not finished
	heard, lower := matrix.NewVector[int32](n, here), matrix.NewVector[bool](n, here)
	defer workflow.Discard(heard, lower)
	for in := range s.While(news, with, ops.Passes(hubPasses)) {
		s.Do(ops.MxV(heard, semiring.MinSecond[int32](), a, news, in))
		if !undirected {
			s.Do(ops.VxM(heard.Accum(low), semiring.MinFirst[int32](), news, a, in))
		}
		s.Do(ops.EWiseMult(lower, semiring.Lt[int32](), heard, parent, in))
		s.Do(ops.Select(lower, semiring.ValueEQ(true), lower, in))
		s.Do(ops.Apply(news.Masked(lower.Structure()).Replace(), keep, heard, in))
		s.Do(ops.AssignVector(parent.Masked(news.Structure()), news, ops.All(), in))
	}
	if s.NVals(news) > 0 {
		s.Do(ops.ApplyIndex(news.Masked(others).Replace(), index, degree, with))
		s.Do(ops.Apply(news.Masked(news.Structure()), keep, parent, with))
	}
	return news, s.NVals(reached)
}
