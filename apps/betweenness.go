package apps

import (
	"fmt"

	"github.com/hiveblas/hiveblas/internal/parallel"
	"github.com/hiveblas/hiveblas/internal/splitmix"
	"github.com/hiveblas/hiveblas/matrix"
	"github.com/hiveblas/hiveblas/ops"
	"github.com/hiveblas/hiveblas/semiring"
)

// BetweennessOptions are the settings of Betweenness.
type BetweennessOptions struct {
	Run
	Sources    []int  // the sources of shortest paths; nil means all vertices, or Samples of them
	Samples    int    // number of sources drawn at random; 0 means all
	Seed       uint64 // of the draw
	Batch      int    // sources at a time in the pipeline; 0 means 32
	Undirected bool   // a path and its reverse count once, as is usual for undirected graphs
	Normalised bool   // divide by (n−1)(n−2), or its half for Undirected: the pairs without the vertex
}

// BetweennessResult is the result of Betweenness.
type BetweennessResult struct {
	Centrality *matrix.Vector[float64] // of every vertex
	Sources    int                     // number of sources that were used
}

// Betweenness returns the betweenness centrality of every vertex of g: over all pairs of other
// vertices s, t, the sum of the share of shortest paths from s to t that pass through the vertex.
// Paths follow edges from row to column and have the fewest edges; values are ignored. With Sources or
// Samples, sums over k sources are multiplied by n/k: an estimate (Brandes, Pich, International
// Journal of Bifurcation and Chaos 17, 2007).
//
// Brandes (Journal of Mathematical Sociology 25, 2001) in batches of sources, a row of each matrix
// for each. The forward sweep counts shortest paths and keeps the frontier of each level, the
// backward sweep adds up dependencies (Buluç, Gilbert: The Combinatorial BLAS, 2011):
//
//	F⟨¬P⟩ = F +.first A;   P += F
//	W⟨F_d⟩ = (1 + Δ) ./ P;   W⟨F_d−1⟩ = W +.first Aᵀ;   Δ += W .× P
//
// On the host with Method Auto each thread takes sources, and a vertex sums the shares of its
// successors in reverse order of the search: O(sources · edges), and 24 bytes for each vertex and
// thread. The order of sums depends on the threads, and with it the last digits.
func Betweenness[T comparable](g matrix.Source[T], opts ...BetweennessOptions) (*BetweennessResult, error) {
	const app = "Betweenness"
	o, err := only(app, opts)
	if err != nil {
		return nil, err
	}
	a, n, err := begun(app, "betweenness", g, o.Run)
	if err != nil {
		return nil, err
	}
	if o.Batch < 0 {
		return nil, &ParameterError{app, "the batch", fmt.Sprint(o.Batch), "0 or more"}
	}
	sources, err := sourcesOf(app, o.Sources, o.Samples, o.Seed, n)
	if err != nil {
		return nil, err
	}
	compute := betweennessPipeline
	if o.hostKernel(a) {
		compute = betweennessOnHost
	}
	scale := float64(n) / float64(max(len(sources), 1))
	if o.Undirected {
		scale /= 2
	}
	if o.Normalised && n > 2 {
		pairs := float64(n-1) * float64(n-2)
		if o.Undirected {
			pairs /= 2
		}
		scale /= pairs
	}
	c, err := compute(a, n, sources, scale, o)
	if err != nil {
		return nil, err
	}
	return &BetweennessResult{c, len(sources)}, nil
}

// sourcesOf returns the sources of a search from many vertices: a list, samples that are drawn
// without repetition, or all n vertices.
func sourcesOf(app string, list []int, samples int, seed uint64, n int) ([]int32, error) {
	if samples < 0 || samples > 0 && list != nil {
		return nil, &ParameterError{app, "the number of samples", fmt.Sprint(samples), "0 or more, and 0 with a list of sources"}
	}
	if list != nil {
		seen, sources := map[int]bool{}, make([]int32, 0, len(list))
		for _, v := range list {
			if err := vertex(app, "source", v, n); err != nil {
				return nil, err
			}
			if !seen[v] {
				seen[v] = true
				sources = append(sources, int32(v))
			}
		}
		return sources, nil
	}
	sources := make([]int32, n)
	for v := range sources {
		sources[v] = int32(v)
	}
	if samples == 0 || samples >= n {
		return sources, nil
	}
	for k := range samples { // the first steps of a shuffle
		at := k + int(splitmix.At(uint64(k), seed)%uint64(n-k))
		sources[k], sources[at] = sources[at], sources[k]
	}
	return sources[:samples], nil
}

// betweennessPipeline sums dependencies by operations, where a lives.
func betweennessPipeline(a matrix.View[bool], n int, sources []int32, scale float64, o BetweennessOptions) (*matrix.Vector[float64], error) {
	batch := o.Batch
	if batch == 0 {
		batch = 32
	}
	with := o.with()
	total, err := fullVector(a.Place(), n, 0.0, with)
	if err != nil {
		return nil, err
	}
	var s ops.Steps
	for lo := 0; lo < len(sources) && s.OK(); lo += batch {
		o.report("betweenness", int64(lo), int64(len(sources)))
		s.Do(addDependencies(total, a, sources[lo:min(lo+batch, len(sources))], with))
	}
	s.Do(ops.ApplySecond(total, semiring.Times[float64](), total, scale, with))
	return total, s.Err()
}

// addDependencies adds the dependencies of all vertices on a batch of sources, without those of a
// source on itself.
func addDependencies(total *matrix.Vector[float64], a matrix.View[bool], sources []int32, with ops.Option) error {
	k, n, here := len(sources), total.Size(), matrix.On(total.Place())
	plus := semiring.Plus[float64]()
	start := matrix.NewBuilder[float64](k, n)
	for row, v := range sources {
		start.Add(row, int(v), 1)
	}
	first, err := start.Build(nil)
	var s ops.Steps
	s.Do(err)
	if !s.OK() {
		return s.Err()
	}
	s.Do(first.Move(total.Place()))
	fresh := func() *matrix.Matrix[float64] { return matrix.New[float64](k, n, here) }
	paths, frontier := fresh(), first
	s.Do(ops.Apply(paths, semiring.Identity[float64](), first, with))
	var levels []*matrix.Matrix[float64]
	for s.OK() {
		next := fresh()
		s.Do(ops.MxM(next.Masked(paths.Structure().Not()).Replace(), semiring.PlusFirst[float64](), frontier, a, with))
		if !s.OK() || next.NVals() == 0 {
			break
		}
		s.Do(ops.EWiseAdd(paths, plus, paths, next, with))
		levels, frontier = append(levels, next), next
	}
	share, w := fresh(), fresh()
	s.Do(ops.AssignScalar(share, 1, ops.All(), ops.All(), with)) // 1 + Δ
	for d := len(levels) - 1; s.OK() && d > 0; d-- {
		s.Do(ops.EWiseMult(w.Masked(levels[d].Structure()).Replace(), semiring.Div[float64](), share, paths, with))
		s.Do(ops.MxM(w.Masked(levels[d-1].Structure()).Replace(), semiring.PlusFirst[float64](), w, a.T(), with))
		s.Do(ops.EWiseMult(share.Accum(plus), semiring.Times[float64](), w, paths, with))
	}
	s.Do(ops.Reduce(total.Accum(plus), plus, share.T(), with))
	s.Do(ops.ApplySecond(total, semiring.Minus[float64](), total, float64(k), with))
	return s.Err()
}

// A pathState is what the search from a source knows about a vertex: its level, 0 before it is
// found and 1 for the source, and the number of shortest paths. In the way back the number becomes
// (1 + dependency) / paths.
type pathState struct {
	paths float64
	level int32
}

// betweennessOnHost sums dependencies by searches from the sources.
func betweennessOnHost(a matrix.View[bool], n int, sources []int32, scale float64, o BetweennessOptions) (*matrix.Vector[float64], error) {
	g := rowsOf(a)
	type worker struct {
		sum   []float64
		state []pathState
		order []int32
	}
	crew := make([]worker, max(1, min(parallel.Threads(o.Threads), len(sources))))
	err := o.eachPiece("betweenness", len(sources), 1, func(k, lo, hi int) {
		w := &crew[k]
		if w.sum == nil {
			w.sum, w.state, w.order = make([]float64, n), make([]pathState, n), make([]int32, 0, n)
		}
		for _, source := range sources[lo:hi] {
			w.order = g.dependencies(source, w.state, w.order[:0], w.sum)
		}
	})
	if err != nil {
		return nil, err
	}
	sum := make([]float64, n)
	for _, w := range crew {
		for v, x := range w.sum {
			sum[v] += x
		}
	}
	for v := range sum {
		sum[v] *= scale
	}
	o.traced("Betweenness", "searches", n, int64(len(sources))*int64(len(g.idx)))
	return matrix.VectorOf(sum)
}

// dependencies adds the dependencies of all vertices on a source to sum. state is clear before and
// after; order is scratch.
func (g *adjacency) dependencies(source int32, state []pathState, order []int32, sum []float64) []int32 {
	state[source] = pathState{1, 1}
	order = append(order, source)
	for k := 0; k < len(order); k++ {
		v := order[k]
		paths, level := state[v].paths, state[v].level+1
		for _, w := range g.of(v) {
			s := &state[w]
			if s.level == 0 {
				s.level = level
				order = append(order, w)
			}
			if s.level == level {
				s.paths += paths
			}
		}
	}
	for k := len(order) - 1; k >= 0; k-- {
		v := order[k]
		s := &state[v]
		after, level := 0.0, s.level+1
		for _, w := range g.of(v) {
			if state[w].level == level {
				after += state[w].paths
			}
		}
		if k > 0 {
			sum[v] += after * s.paths
		}
		s.paths = 1/s.paths + after
	}
	for _, v := range order {
		state[v] = pathState{}
	}
	return order
}
