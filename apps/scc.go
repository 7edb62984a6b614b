package apps

import (
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
//	c(v) = v;   c min= c min.first A,   until nothing changes
//	F = {v : c(v) = v};   F ∪= {v : c(v) = (A max.second c(F))(v)},   until nothing is added
//	the parts of F by colour are components; continue without them
//
// A round first removes vertices without an edge from or without an edge to the others. The number
// of rounds is at most the length of the longest chain of components.
//
// The fused form takes the component of a pivot first, by a search in both directions (Slota,
// Rajamanickam, Madduri, IPDPS 2014), and then goes by colours.
//
// On the host with Method Auto a depth-first search does the same in O(vertices + edges), by one
// thread (Tarjan, SIAM Journal on Computing 1, 1972, in the form of Pearce, Information Processing
// Letters 116, 2016, which keeps one number for each vertex).
func StronglyConnectedComponents[T comparable](g matrix.Source[T], opts ...ComponentsOptions) (*Components, error) {
	const app = "StronglyConnectedComponents"
	o, err := only(app, opts)
	if err != nil {
		return nil, err
	}
	a, n, at, err := begunFused(app, "strongly connected components", g, o.Run)
	if err != nil {
		return nil, err
	}
	if at != nil {
		return fusedStrong(at, a, n, o.Run)
	}
	if o.hostKernel(a) {
		return strongOnHost(a, o.Run)
	}
	return strongPipeline(a, n, o.Run)
}

// ownLabel selects the vertices that are their own label.
var ownLabel = semiring.NewSelect("own_label", func(x int32, i, _ int) bool { return int(x) == i }, "x == i")

// strongPipeline finds the components by operations, where a lives.
func strongPipeline(a matrix.View[bool], n int, run Run) (*Components, error) {
	with, here := run.with(), matrix.On(a.Place())
	label, err := fullVector[int32](a.Place(), n, 0, with)
	if err != nil {
		return nil, err
	}
	var s ops.Steps
	s.Do(ops.ApplyIndex(label, semiring.RowIndex[int32](int32(0)), label, with))
	left := matrix.NewVector[int32](n, here) // the vertices without a component, each its own value
	s.Do(ops.Apply(left, semiring.Identity[int32](), label, with))
	vector := func() *matrix.Vector[int32] { return matrix.NewVector[int32](n, here) }
	colour, next, found, grown := vector(), vector(), vector(), vector()
	same := matrix.NewVector[bool](n, here)
	low, keep := semiring.Min[int32](), semiring.Identity[int32]()
	for s.NVals(left) > 0 {
		run.report("strongly connected components", int64(n)-left.NVals(), int64(n))
		s.Do(ops.VxM(next.Masked(left.Structure()).Replace(), semiring.MinFirst[int32](), left, a, with))
		s.Do(ops.MxV(found.Masked(next.Structure()).Replace(), semiring.MinSecond[int32](), a, left, with))
		s.Do(ops.Apply(left.Masked(found.Structure()).Replace(), keep, left, with)) // the others are alone
		s.Do(ops.Apply(colour, keep, left, with))
		for changed := true; changed && s.OK(); {
			s.Do(ops.VxM(next.Masked(left.Structure()).Replace(), semiring.MinFirst[int32](), colour, a, with))
			s.Do(ops.EWiseAdd(next, low, next, colour, with))
			s.Do(ops.EWiseMult(same, semiring.Ne[int32](), next, colour, with))
			changed, err = ops.ReduceScalar(semiring.Lor(), same, with)
			s.Do(err)
			colour, next = next, colour
		}
		s.Do(ops.Select(found, ownLabel, colour, with))
		s.Do(ops.Apply(next, keep, found, with))
		for s.NVals(next) > 0 {
			s.Do(ops.MxV(grown.Masked(found.Structure().Not()).Replace(), semiring.MaxSecond[int32](), a, next, with))
			s.Do(ops.EWiseMult(same, semiring.Eq[int32](), grown, colour, with))
			s.Do(ops.Select(same, semiring.ValueEQ(true), same, with))
			s.Do(ops.Apply(next.Masked(same.Structure()).Replace(), keep, colour, with))
			s.Do(ops.AssignVector(found.Masked(next.Structure()), next, ops.All(), with))
		}
		s.Do(ops.AssignVector(label.Masked(found.Structure()), found, ops.All(), with))
		s.Do(ops.Apply(left.Masked(found.Structure().Not()).Replace(), keep, left, with))
	}
	if !s.OK() {
		return nil, s.Err()
	}
	return countLabels(label, with)
}

// strongOnHost finds the components by depth-first search. number(v) is 0 before v is seen. While v
// is open it is the least visit known to be reached from v; the visits of open vertices are
// numbered without gaps. Afterwards it is the number of the component, counted down from n, so that
// it is above all visits of open vertices.
func strongOnHost(a matrix.View[bool], run Run) (*Components, error) {
	g := rowsOf(a)
	n := int32(g.n)
	type frame struct {
		v    int32
		root bool // no vertex reached from v was visited before v
		at   int64
	}
	number := make([]int32, n)
	var open []frame    // the path of the search
	var waiting []int32 // closed vertices whose component is open
	visit, last := int32(1), n
	steps := 0
	for start := range n {
		if number[start] != 0 {
			continue
		}
		number[start] = visit
		visit++
		open = append(open, frame{start, true, g.ptr[start]})
	search:
		for len(open) > 0 {
			if steps++; steps&0xfffff == 0 && run.expired() != nil {
				return nil, run.expired()
			}
			f := &open[len(open)-1]
			v, reached := f.v, number[f.v]
			end := g.ptr[v+1]
			for at := f.at; at < end; at++ {
				w := g.idx[at]
				if number[w] == 0 {
					number[v], f.at = reached, at // w is looked at again when it is closed
					number[w] = visit
					visit++
					open = append(open, frame{w, true, g.ptr[w]})
					continue search
				}
				if number[w] < reached {
					reached, f.root = number[w], false
				}
			}
			open = open[:len(open)-1]
			number[v] = reached
			if !f.root {
				waiting = append(waiting, v)
				continue
			}
			visit--
			for len(waiting) > 0 && number[waiting[len(waiting)-1]] >= reached {
				number[waiting[len(waiting)-1]] = last
				waiting = waiting[:len(waiting)-1]
				visit--
			}
			number[v] = last
			last--
		}
	}
	run.traced("StronglyConnectedComponents", "depth-first search", g.n, int64(len(g.idx)))
	return labelled(number, n, run)
}

// labelled makes components of their numbers, 1 to n: the label is the least vertex.
func labelled(number []int32, n int32, run Run) (*Components, error) {
	if err := run.expired(); err != nil {
		return nil, err
	}
	least, size := make([]int32, n+1), make([]int64, n+1)
	c := &Components{}
	for v, k := range number {
		if size[k] == 0 {
			least[k] = int32(v)
			c.Count++
		}
		size[k]++
		c.Largest = max(c.Largest, size[k])
		number[v] = least[k]
	}
	var err error
	c.Label, err = matrix.VectorOf(number)
	return c, err
}
