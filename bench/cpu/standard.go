package cpu

import (
	"strconv"
	"time"

	"github.com/hiveblas/hiveblas/apps"
	"github.com/hiveblas/hiveblas/bench/internal/inputs"
	"github.com/hiveblas/hiveblas/matrix"
)

// standardCases are the rows of the standard set of workflows, beside igraph, SciPy and NetworkX,
// which do the same with one thread, and algorithms on SuiteSparse:GraphBLAS.
func standardCases() []cpuCase {
	sources := standardSources()
	return append(forestCases(), []cpuCase{
		{name: "core numbers rmat18", bar: 1, input: "rmat18", peer: []string{"cores"}, rounds: 9,
			ours: standard(func(g inputs.Graph64, run apps.Run) (func() float64, error) {
				c, err := apps.CoreNumbers(g, apps.CoreOptions{Run: run})
				if err != nil {
					return nil, err
				}
				return func() float64 { return inputs.CheckVector(c.Number) }, nil
			})},
		{name: "betweenness rmat12", bar: .8, input: "rmat12", peer: []string{"betweenness"}, rounds: 3,
			ours: standard(func(g inputs.Graph64, run apps.Run) (func() float64, error) {
				c, err := apps.Betweenness(g, apps.BetweennessOptions{Run: run, Undirected: true})
				if err != nil {
					return nil, err
				}
				return func() float64 { return inputs.CheckVector(c.Centrality) }, nil
			})},
		{name: "distances to 16 vertices rmat18", bar: .8, input: "rmat18", peer: []string{"closeness"}, args: sources, rounds: 5,
			ours: standard(func(g inputs.Graph64, run apps.Run) (func() float64, error) {
				c, err := apps.Closeness(g, apps.ClosenessOptions{Run: run, Targets: numbers(sources)})
				if err != nil {
					return nil, err
				}
				return func() (sum float64) {
					for _, d := range c.Distances.All() {
						sum += float64(d)
					}
					return sum
				}, nil
			})},
		{name: "local clustering rmat18", bar: .8, input: "rmat18", peer: []string{"clustering"}, rounds: 3,
			ours: standard(func(g inputs.Graph64, run apps.Run) (func() float64, error) {
				c, err := apps.LocalClustering(g, apps.ClusteringOptions{Run: run})
				if err != nil {
					return nil, err
				}
				return func() float64 { return inputs.CheckVector(c.Coefficient) }, nil
			})},
		{name: "personalised pagerank rmat18", bar: .8, input: "rmat18", peer: []string{"restarts"}, args: sources, rounds: 5, tolerance: 1e-5,
			ours: standard(func(g inputs.Graph64, run apps.Run) (func() float64, error) {
				n, _ := g.View().Dims()
				restart, err := matrix.VectorFromTuples(n, numbers(sources), ones64(len(sources)), nil)
				if err != nil {
					return nil, err
				}
				c, err := apps.PageRank(g, apps.PageRankOptions{Run: run, Restart: restart})
				if err != nil {
					return nil, err
				}
				return func() float64 { return inputs.CheckVector(c.Rank) }, nil
			})},
		{name: "eigenvector centrality rmat18", bar: .8, input: "rmat18", peer: []string{"eigenvector"}, rounds: 5, tolerance: 1e-5,
			ours: standard(func(g inputs.Graph64, run apps.Run) (func() float64, error) {
				c, err := apps.EigenvectorCentrality(g, apps.CentralityOptions{Run: run, Tolerance: 1e-7})
				if err != nil {
					return nil, err
				}
				return func() float64 { return inputs.CheckVector(c.Centrality) }, nil
			})},
		{name: "HITS directed18", bar: .8, input: "directed18", peer: []string{"hubs"}, rounds: 5, tolerance: 1e-5,
			ours: standard(func(g inputs.Graph64, run apps.Run) (func() float64, error) {
				c, err := apps.HITS(g, apps.CentralityOptions{Run: run, Tolerance: 1e-7})
				if err != nil {
					return nil, err
				}
				return func() float64 { return inputs.CheckVector(c.Hubs) }, nil
			})},
		{name: "Katz centrality rmat18", bar: .8, input: "rmat18", peer: []string{"katz"}, rounds: 5, tolerance: 1e-8,
			ours: standard(func(g inputs.Graph64, run apps.Run) (func() float64, error) {
				c, err := apps.KatzCentrality(g, apps.CentralityOptions{Run: run})
				if err != nil {
					return nil, err
				}
				return func() float64 { return inputs.CheckVector(c.Centrality) }, nil
			})},
		{name: "label propagation rmat18", bar: .8, input: "rmat18", peer: []string{"cdlp"}, rounds: 5,
			ours: standard(func(g inputs.Graph64, run apps.Run) (func() float64, error) {
				c, err := apps.LabelPropagation(g, apps.LabelPropagationOptions{Run: run})
				if err != nil {
					return nil, err
				}
				return func() float64 { return inputs.CheckVector(c.Label) }, nil
			})},
		{name: "independent set rmat18", bar: .8, input: "rmat18", peer: []string{"independent_set"}, rounds: 5,
			ours: standard(func(g inputs.Graph64, run apps.Run) (func() float64, error) {
				set, err := apps.MaximalIndependentSet(g, apps.IndependentSetOptions{Run: run})
				if err != nil {
					return nil, err
				}
				return func() float64 {
					in := make([]int32, set.Size())
					for v := range set.All() {
						in[v] = 1
					}
					return validColours(g, in, true)
				}, nil
			})},
		{name: "colouring rmat18", bar: .8, input: "rmat18", peer: []string{"colour"}, networkx: true, rounds: 3,
			ours: standard(func(g inputs.Graph64, run apps.Run) (func() float64, error) {
				c, err := apps.Colouring(g, apps.ColouringOptions{Run: run})
				if err != nil {
					return nil, err
				}
				return func() float64 {
					colour := make([]int32, c.Colour.Size())
					for v, x := range c.Colour.All() {
						colour[v] = x + 1
					}
					return validColours(g, colour, false)
				}, nil
			})},
		{name: "similarity rmat14", bar: .8, input: "rmat14", peer: []string{"similar"}, rounds: 3,
			ours: standard(func(g inputs.Graph64, run apps.Run) (func() float64, error) {
				s, err := apps.Similarity(g, apps.SimilarityOptions{Run: run})
				if err != nil {
					return nil, err
				}
				return func() (sum float64) {
					for at, x := range s.All() {
						sum += x * float64(1+at.Row%7)
					}
					return sum
				}, nil
			})},
		{name: "bipartite matching directed18", bar: .8, input: "directed18", peer: []string{"matching"}, rounds: 5,
			ours: standard(func(g inputs.Graph64, run apps.Run) (func() float64, error) {
				m, err := apps.BipartiteMatching(g, apps.MatchingOptions{Run: run})
				if err != nil {
					return nil, err
				}
				return func() float64 { return float64(m.Size) }, nil
			})},
		{name: "diameter rmat12", bar: .8, input: "rmat12", peer: []string{"diameter"}, rounds: 3,
			ours: standard(func(g inputs.Graph64, run apps.Run) (func() float64, error) {
				d, err := apps.Diameter(g, apps.DiameterOptions{Run: run})
				if err != nil {
					return nil, err
				}
				return func() float64 { return float64(d.Lower) }, nil
			})},
		{name: "topological order dag18", bar: .8, input: "dag18", peer: []string{"topological"}, rounds: 5,
			ours: standard(func(g inputs.Graph64, run apps.Run) (func() float64, error) {
				o, err := apps.TopologicalOrder(g, apps.TopologicalOptions{Run: run})
				if err != nil {
					return nil, err
				}
				return func() float64 { return float64(len(o.Order)) }, nil
			})},
	}...)
}

// standard times a workflow on a graph of known symmetry. run returns a function that computes the
// check figure, outside the time.
func standard(run func(g inputs.Graph64, run apps.Run) (check func() float64, err error)) ours {
	return func(b *cpuBench, in, _ *input) (time.Duration, float64, error) {
		in.f64.IsSymmetric()
		var check func() float64
		d, err := timed(func() (err error) {
			check, err = run(in.f64, apps.Run{Threads: b.Threads, Context: b.ctx})
			return err
		})
		if err != nil {
			return 0, 0, err
		}
		return d, check(), nil
	}
}

// validColours counts the vertices that have a colour, and with cover those beside one, less
// 1,000,000 for each entry between equal colours. No colour is 0. Right results of different
// methods have the same figure.
func validColours(g inputs.Graph64, colour []int32, cover bool) (figure float64) {
	covered := make([]bool, len(colour))
	for at := range g.All() {
		x, y := colour[at.Row], colour[at.Col]
		if at.Row != at.Col && x != 0 && x == y {
			figure -= 1e6
		}
		covered[at.Row] = covered[at.Row] || cover && y != 0
	}
	for v, c := range covered {
		if c || colour[v] != 0 {
			figure++
		}
	}
	return figure
}

// standardSources are 16 vertices of R-MAT 18, as arguments of the peers.
func standardSources() []string {
	list := make([]string, 16)
	for k := range list {
		list[k] = strconv.Itoa(k * 3)
	}
	return list
}

func numbers(list []string) []int {
	x := make([]int, len(list))
	for k := range x {
		x[k], _ = strconv.Atoi(list[k])
	}
	return x
}

func ones64(n int) []float64 {
	x := make([]float64, n)
	for k := range x {
		x[k] = 1
	}
	return x
}
