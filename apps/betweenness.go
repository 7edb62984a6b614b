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
// Paths follow edges from row to column and have the fewest edges; values are ignored. With Sources
// or Samples, sums over k sources are multiplied by n/k: an estimate (Brandes, Pich, International
// Journal of Bifurcation and Chaos 17, 2007).
//
// Brandes (Journal of Mathematical Sociology 25, 2001) in batches of sources, a row of each matrix
// for each. The forward sweep counts shortest paths and keeps the frontier of each level, the
// backward sweep adds up dependencies (Buluç, Gilbert: The Combinatorial BLAS, 2011):
//
//	F⟨¬P⟩ = F +.first A;   P += F
//	W⟨F_d⟩ = (1 + Δ) ./ P;   W⟨F_d−1⟩ = W +.first Aᵀ;   Δ += W .× P
//
// On the host with Method Auto each thread takes sources; levels push or pull by their edges, as in
// [BFS], backwards too. O(sources · edges), and 40 bytes for each vertex and thread. The order of
// sums depends on the threads, and with it the last digits. The ranks of a group take ranges of the
// sources.
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
	c, err := betweennessByRanges(a, n, sources, scale, o)
	if c == nil && err == nil {
		c, err = compute(a, n, sources, scale, o)
	}
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
		if s.NVals(next) == 0 {
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

// betweennessOnHost sums dependencies by searches from the sources.
func betweennessOnHost(a matrix.View[bool], n int, sources []int32, scale float64, o BetweennessOptions) (*matrix.Vector[float64], error) {
	out, in := bothWays(a)
	sum, err := sumDependencies(out, in, sources, o)
	if err != nil {
		return nil, err
	}
	for v := range sum {
		sum[v] *= scale
	}
	o.traced("Betweenness", "searches", n, int64(len(sources))*int64(len(out.idx)))
	return matrix.VectorOf(sum)
}

// sumDependencies searches from sources, which the threads share.
func sumDependencies(out, in *adjacency, sources []int32, o BetweennessOptions) ([]float64, error) {
	crew := make([]*brandes, max(1, min(parallel.Threads(o.Threads), len(sources))))
	err := o.eachPiece("betweenness", len(sources), 1, func(k, lo, hi int) {
		if crew[k] == nil {
			crew[k] = newBrandes(out, in)
		}
		for _, source := range sources[lo:hi] {
			crew[k].search(source)
			crew[k].dependencies()
		}
	})
	if err != nil {
		return nil, err
	}
	sum := make([]float64, out.n)
	for _, w := range crew {
		if w == nil {
			continue
		}
		for v, x := range w.sum {
			sum[v] += x
		}
	}
	return sum, nil
}

// brandes sums dependencies on sources, one at a time. wave and after are 0 between levels, so that
// a pull adds up wave along all edges without a test.
type brandes struct {
	out, in     *adjacency
	sum         []float64
	level       []int32   // of the vertices found, from 1; 0 for others
	paths       []float64 // shortest paths from the source
	wave, after []float64
	order       []int32 // the vertices found, by level
	starts      []int   // of the levels in order
}

func newBrandes(out, in *adjacency) *brandes {
	n := out.n
	return &brandes{out: out, in: in, sum: make([]float64, n), level: make([]int32, n), paths: make([]float64, n),
		wave: make([]float64, n), after: make([]float64, n), order: make([]int32, 0, n)}
}

// degrees returns the number of edges of some vertices.
func (a *adjacency) degrees(list []int32) (sum int64) {
	for _, v := range list {
		sum += a.degree(v)
	}
	return sum
}

// along returns Σ x over the columns of row v.
func (a *adjacency) along(v int32, x []float64) float64 {
	row := a.of(v)
	var s0, s1, s2, s3 float64
	for ; len(row) >= 4; row = row[4:] {
		s0 += x[row[0]]
		s1 += x[row[1]]
		s2 += x[row[2]]
		s3 += x[row[3]]
	}
	for _, w := range row {
		s0 += x[w]
	}
	return (s0 + s1) + (s2 + s3)
}

// search counts the shortest paths from a source. A level is pulled along the edges into the
// vertices not found where they are fewer than twice the edges from the frontier.
func (b *brandes) search(source int32) {
	b.order, b.starts = append(b.order[:0], source), append(b.starts[:0], 0)
	b.level[source], b.paths[source] = 1, 1
	left := int64(len(b.in.idx)) - b.in.degree(source) // edges into vertices not found
	for level := int32(2); ; level++ {
		lo := b.starts[len(b.starts)-1]
		hi := len(b.order)
		frontier := b.order[lo:hi]
		if 2*b.out.degrees(frontier) > left+int64(b.out.n) {
			for _, v := range frontier {
				b.wave[v] = b.paths[v]
			}
			for v, l := range b.level {
				if l != 0 {
					continue
				}
				if paths := b.in.along(int32(v), b.wave); paths != 0 {
					b.level[v], b.paths[v] = level, paths
					b.order = append(b.order, int32(v))
				}
			}
			for _, v := range frontier {
				b.wave[v] = 0
			}
		} else {
			for _, v := range frontier {
				paths := b.paths[v]
				for _, w := range b.out.of(v) {
					if b.level[w] == 0 {
						b.level[w], b.paths[w] = level, 0
						b.order = append(b.order, w)
					}
					if b.level[w] == level {
						b.paths[w] += paths
					}
				}
			}
		}
		if len(b.order) == hi {
			return
		}
		left -= b.in.degrees(b.order[hi:])
		b.starts = append(b.starts, hi)
	}
}

// dependencies adds the dependencies on the source of the search to sum, and forgets the search.
// The wave of a vertex is (1 + dependency) / paths.
func (b *brandes) dependencies() {
	last := b.order[len(b.order):] // the level after
	for d := len(b.starts) - 1; d > 0; d-- {
		lo, hi := b.starts[d], len(b.order)
		if d+1 < len(b.starts) {
			hi = b.starts[d+1]
		}
		list := b.order[lo:hi]
		if 3*b.in.degrees(last) < b.out.degrees(list) { // push
			for _, w := range last {
				x := b.wave[w]
				for _, v := range b.in.of(w) {
					b.after[v] += x
				}
			}
			for _, v := range list {
				b.settle(v, b.after[v])
			}
			for _, w := range last {
				for _, v := range b.in.of(w) {
					b.after[v] = 0
				}
				b.wave[w] = 0
			}
		} else {
			for _, v := range list {
				// settled below: a wave of this level must not be seen by the next vertex
				b.after[v] = b.out.along(v, b.wave)
			}
			for _, v := range list {
				b.settle(v, b.after[v])
				b.after[v] = 0
			}
			for _, w := range last {
				b.wave[w] = 0
			}
		}
		last = list
	}
	for _, w := range last {
		b.wave[w] = 0
	}
	for _, v := range b.order {
		b.level[v] = 0
	}
}

// settle adds the dependency of a vertex; after is the sum of the waves of its successors.
func (b *brandes) settle(v int32, after float64) {
	paths := b.paths[v]
	b.sum[v] += after * paths
	b.wave[v] = 1/paths + after
}
