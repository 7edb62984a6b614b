package sets

import (
	"fmt"
	"slices"

	"github.com/hiveblas/hiveblas/apps/internal/frontier"
	"github.com/hiveblas/hiveblas/apps/internal/workflow"
	"github.com/hiveblas/hiveblas/matrix"
	"github.com/hiveblas/hiveblas/ops"
	"github.com/hiveblas/hiveblas/semiring"
)

// ColourOrder is the order in which Colouring takes vertices.
type ColourOrder int

const (
	// LargestFirst takes vertices by descending degree, ties at random: the default.
	LargestFirst ColourOrder = iota
	// SmallestLast takes them in the reverse of the order in which a vertex of least degree is
	// removed again and again: at most one colour more than the largest core number.
	SmallestLast
	// RandomOrder takes them at random.
	RandomOrder
)

// String returns the name of the order on the command line.
func (o ColourOrder) String() string {
	if names := []string{"largest-first", "smallest-last", "random"}; o >= 0 && int(o) < len(names) {
		return names[o]
	}
	return fmt.Sprintf("ColourOrder(%d)", int(o))
}

// ColouringOptions are the settings of Colouring.
type ColouringOptions struct {
	workflow.Run
	Order ColourOrder
	Seed  int64 // of the random part of the order
}

// ColouringResult is the result of Colouring.
type ColouringResult struct {
	Colour *matrix.Vector[int32] // of every vertex, from 0
	Count  int                   // number of colours
}

// Colouring gives every vertex of g a colour that none of its neighbours has, the least one in a
// given order of the vertices. Directions, values and self-loops are ignored.
//
// The vertices of the first colour are the maximal independent set of the order, the vertices of
// the second colour the set of the vertices left, and so on; the pipeline finds them as
// [MaximalIndependentSet] does (Jones, Plassmann, SIAM Journal on Scientific Computing 14, 1993).
// On the host with Method Auto a loop takes the vertices in order: O(vertices · log vertices +
// edges), by one thread. On a device kernels give a vertex its colour once no vertex before it can
// take that (Alabandi, Powers, Burtscher, PPoPP 2020). SmallestLast computes its order on the host
// (Matula, Beck, Journal of the ACM 30, 1983). The result depends only on the order and Seed.
func Colouring[T comparable](g matrix.Source[T], opts ...ColouringOptions) (*ColouringResult, error) {
	return colouringOf(g, opts)
}

// colouringOf is Colouring of a graph with values of any type.
func colouringOf(g workflow.Operand, opts []ColouringOptions) (*ColouringResult, error) {
	const app = "Colouring"
	o, err := workflow.Only(app, opts)
	if err != nil {
		return nil, err
	}
	if o.Order < LargestFirst || o.Order > RandomOrder {
		return nil, &workflow.ParameterError{App: app, Arg: "the order", Got: fmt.Sprint(int(o.Order)), Want: "LargestFirst, SmallestLast or RandomOrder"}
	}
	a, n, form, err := workflow.BegunUndirected(app, "colouring", g, o.Run)
	if err != nil {
		return nil, err
	}
	workflow.Announce(o.Run, app, o.Order.String())
	switch {
	case form.Device != nil:
		return fusedColouring(form.Device, a, n, o)
	case form.Host:
		return colourOnHost(workflow.RowsOf(a), o)
	}
	with, here := workflow.With(o.Run), matrix.On(a.Place())
	var s ops.Steps
	loopless := matrix.New[bool](n, n, here)
	s.Do(ops.Select(loopless, semiring.Offdiag[bool](0), a, with))
	left, err := colourPriority(loopless, a, o)
	s.Do(err)
	if !s.OK() {
		return nil, s.Err()
	}
	res := &ColouringResult{}
	if res.Colour, err = workflow.FullVector[int32](a.Place(), n, 0, with); err != nil {
		return nil, err
	}
	l, colour := newLuby(a, o.Run), matrix.ScalarOf[int32](0, here)
	for in := range s.While(left, with) {
		l.set(&s, left, func(winners *matrix.Vector[bool], in ops.Option) {
			s.Do(ops.AssignVectorFrom(res.Colour.Masked(winners.Structure()), colour, ops.All(), in))
			s.Do(ops.Apply(left.Masked(winners.Structure().Not()).Replace(), semiring.Identity[int64](), left, in))
		}, in)
		s.Do(ops.ApplySecond(colour, semiring.Plus[int32](), colour, 1, in))
	}
	if !s.OK() {
		return nil, s.Err()
	}
	count, err := colour.Value()
	res.Count = int(count)
	return res, err
}

// colourPriority returns a different priority for each vertex.
func colourPriority(loopless *matrix.Matrix[bool], a *matrix.View[bool], o ColouringOptions) (*matrix.Vector[int64], error) {
	n, _ := loopless.Dims()
	with := workflow.With(o.Run)
	if o.Order == SmallestLast {
		rank, err := smallestLast(a, n, o)
		if err != nil {
			return nil, err
		}
		list := make([]int64, n)
		for v, k := range rank {
			list[v] = int64(k)
		}
		priority, err := matrix.VectorOf(list)
		if err != nil {
			return nil, err
		}
		return priority, priority.Move(a.Place())
	}
	priority, err := workflow.FullVector(a.Place(), n, o.Seed, with)
	if err != nil {
		return nil, err
	}
	var s ops.Steps
	s.Do(ops.ApplyIndex(priority, randomPriority(), priority, with))
	if o.Order == LargestFirst {
		d, err := workflow.DegreesOf(loopless, n, o.Run)
		s.Do(err)
		s.Do(ops.ApplySecond(priority.Accum(semiring.Plus[int64]()), semiring.Times[int64](), d, 1<<32, with))
	}
	return priority, s.Err()
}

// smallestLast returns the priorities of that order.
func smallestLast(a *matrix.View[bool], n int, o ColouringOptions) ([]int32, error) {
	if err := a.Fetch(); err != nil {
		return nil, err
	}
	_, order, err := frontier.CoresOnHost(workflow.RowsOf(a), o.Run)
	if err != nil {
		return nil, err
	}
	rank := make([]int32, n)
	for k, v := range order {
		rank[v] = int32(k)
	}
	return rank, nil
}

// largestFirst is the priority of v in that order.
func largestFirst(g *workflow.Adjacency, v int32, seed int64) int64 {
	return g.Loopless(v)<<32 + priorityOf(int(v), seed)
}

// colourOnHost gives vertices in order the least colour that no neighbour has, by one thread:
// several threads, each vertex after its predecessors, gain little.
func colourOnHost(g *workflow.Adjacency, o ColouringOptions) (*ColouringResult, error) {
	var order []int32
	switch o.Order {
	case SmallestLast:
		_, removed, err := frontier.CoresOnHost(g, o.Run)
		if err != nil {
			return nil, err
		}
		slices.Reverse(removed)
		order = removed
	case RandomOrder:
		order = descending(g.N, func(v int) int64 { return priorityOf(v, o.Seed) })
	default:
		order = descending(g.N, func(v int) int64 { return largestFirst(g, int32(v), o.Seed) })
	}
	colour := make([]int32, g.N)
	for v := range colour {
		colour[v] = -1
	}
	used := []int32{} // used(c) is the last vertex that has a neighbour of colour c
	for _, v := range order {
		for _, w := range g.Of(v) {
			if c := colour[w]; c >= 0 {
				used[c] = v
			}
		}
		c := int32(0)
		for int(c) < len(used) && used[c] == v {
			c++
		}
		if int(c) == len(used) {
			used = append(used, -1)
		}
		colour[v] = c
	}
	workflow.Traced(o.Run, "Colouring", "greedy", g.N, int64(len(g.Idx)))
	if err := workflow.Expired(o.Run); err != nil {
		return nil, err
	}
	v, err := matrix.VectorOf(colour)
	return &ColouringResult{v, len(used)}, err
}
