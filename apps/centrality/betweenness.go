package centrality

import (
	"fmt"

	"github.com/hiveblas/hiveblas/apps/internal/workflow"
	"github.com/hiveblas/hiveblas/internal/splitmix"
	"github.com/hiveblas/hiveblas/matrix"
)

// BetweennessOptions are the settings of Betweenness.
type BetweennessOptions struct {
	workflow.Run
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
// Counts of paths are float64 up to 2⁵¹², and beyond that float64 with an exponent of their own:
// they do not overflow, however long the paths are, and every sum and ratio of them has the
// relative error of a float64.
//
// On the host with Method Auto each thread takes sources; levels push or pull by their edges, as in
// [BFS], backwards too. O(sources · edges), and 40 bytes for each vertex and thread, 44 with
// exponents. The order of sums depends on the threads, and with it the last digits. On a device
// kernels search from 1, 8 or 32 sources at once, with a bit of each vertex for each (Then et al.:
// The more the merrier, PVLDB 8, 2014), and 16 bytes for each vertex and source; the order of sums
// depends on the graph and the number of sources alone. Where a count is above 2⁵¹², the sources
// left take the pipeline. The ranks of a group take ranges of the sources.
func Betweenness[T comparable](g matrix.Source[T], opts ...BetweennessOptions) (*BetweennessResult, error) {
	return betweennessOf(g, opts)
}

// betweennessOf is Betweenness of a graph with values of any type.
func betweennessOf(g workflow.Operand, opts []BetweennessOptions) (*BetweennessResult, error) {
	const app = "Betweenness"
	o, err := workflow.Only(app, opts)
	if err != nil {
		return nil, err
	}
	a, n, form, err := workflow.Begun(app, "betweenness", g, o.Run)
	if err != nil {
		return nil, err
	}
	if o.Batch < 0 {
		return nil, &workflow.ParameterError{App: app, Arg: "the batch", Got: fmt.Sprint(o.Batch), Want: "0 or more"}
	}
	sources, err := sourcesOf(app, o.Sources, o.Samples, o.Seed, n)
	if err != nil {
		return nil, err
	}
	workflow.Announce(o.Run, app, "Brandes")
	compute := betweennessAt
	if form.Host {
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
		return nil, &workflow.ParameterError{App: app, Arg: "the number of samples", Got: fmt.Sprint(samples), Want: "0 or more, and 0 with a list of sources"}
	}
	if list != nil {
		seen, sources := map[int]bool{}, make([]int32, 0, len(list))
		for _, v := range list {
			if err := workflow.Vertex(app, "source", v, n); err != nil {
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
