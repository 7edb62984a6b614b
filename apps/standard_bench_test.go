package apps

import (
	"os"
	"strconv"
	"testing"

	"github.com/hiveblas/hiveblas/apps/centrality"
	"github.com/hiveblas/hiveblas/apps/communities"
	"github.com/hiveblas/hiveblas/apps/components"
	"github.com/hiveblas/hiveblas/apps/cores"
	"github.com/hiveblas/hiveblas/apps/internal/workflow"
	"github.com/hiveblas/hiveblas/apps/nominate"
	"github.com/hiveblas/hiveblas/apps/order"
	"github.com/hiveblas/hiveblas/apps/paths"
	"github.com/hiveblas/hiveblas/apps/project"
	"github.com/hiveblas/hiveblas/apps/sets"
	"github.com/hiveblas/hiveblas/apps/triangles"
	"github.com/hiveblas/hiveblas/bench/gen"
	"github.com/hiveblas/hiveblas/cusparse"
	"github.com/hiveblas/hiveblas/matrix"
)

// BenchmarkStandard times the workflows of the standard set on an R-MAT of scale 14, or of that of
// the environment variable HIVEBLAS_SCALE: by their kernels of the host, and on the first GPU if
// HIVEBLAS_TEST_GPU is set, there with the launch constants of HIVEBLAS_CHUNK and HIVEBLAS_ALONE.
func BenchmarkStandard(b *testing.B) {
	scale := 14
	if s, err := strconv.Atoi(os.Getenv("HIVEBLAS_SCALE")); err == nil {
		scale = s
	}
	var there *cusparse.Device
	if os.Getenv("HIVEBLAS_TEST_GPU") != "" {
		d, err := cusparse.Open(0)
		if err != nil {
			b.Fatal(err)
		}
		b.Cleanup(func() { _ = d.Close() })
		there = d
	}
	tuples := gen.RMAT(scale, 8, gen.RMATOptions{Seed: 1})
	symmetric, directed := gen.CSR(gen.Symmetrise(tuples)), gen.CSR(tuples)
	weights := gen.UniformFloats(symmetric, 2, true)
	upwards := gen.CSR(upward(tuples))
	of := func(g *gen.Graph, val []float64) *matrix.Matrix[float64] {
		if val == nil {
			val = make([]float64, len(g.Idx))
			for k := range val {
				val[k] = 1
			}
		}
		a, err := matrix.FromCSR(g.NRows, g.NCols, g.Ptr, g.Idx, val)
		if err != nil {
			b.Fatal(err)
		}
		a.IsSymmetric()
		return a
	}
	sym, dir, dag := of(symmetric, weights), of(directed, nil), of(upwards, nil)
	few := make([]int, 64)
	for k := range few {
		few[k] = int(gen.Hash(uint64(k), 5) % uint64(symmetric.NRows))
	}
	for _, c := range []struct {
		name string
		g    *matrix.Matrix[float64]
		run  func(g matrix.Source[float64], run workflow.Run) error
	}{
		{"scc", dir, func(g matrix.Source[float64], run workflow.Run) error {
			return workflow.Second(components.StronglyConnectedComponents(g, components.ComponentsOptions{Run: run}))
		}},
		{"kcore", sym, func(g matrix.Source[float64], run workflow.Run) error {
			return workflow.Second(cores.CoreNumbers(g, cores.CoreOptions{Run: run}))
		}},
		{"betweenness64", sym, func(g matrix.Source[float64], run workflow.Run) error {
			return workflow.Second(centrality.Betweenness(g, centrality.BetweennessOptions{Run: run, Sources: few}))
		}},
		{"closeness64", sym, func(g matrix.Source[float64], run workflow.Run) error {
			return workflow.Second(centrality.Closeness(g, centrality.ClosenessOptions{Run: run, Targets: few}))
		}},
		{"clustering", sym, func(g matrix.Source[float64], run workflow.Run) error {
			return workflow.Second(triangles.LocalClustering(g, triangles.ClusteringOptions{Run: run}))
		}},
		{"cdlp", sym, func(g matrix.Source[float64], run workflow.Run) error {
			return workflow.Second(communities.LabelPropagation(g, communities.LabelPropagationOptions{Run: run}))
		}},
		{"mis", sym, func(g matrix.Source[float64], run workflow.Run) error {
			return workflow.Second(sets.MaximalIndependentSet(g, sets.IndependentSetOptions{Run: run}))
		}},
		{"colouring", sym, func(g matrix.Source[float64], run workflow.Run) error {
			return workflow.Second(sets.Colouring(g, sets.ColouringOptions{Run: run}))
		}},
		{"ppr", sym, func(g matrix.Source[float64], run workflow.Run) error {
			n, _ := matrix.AsView[float64](g).Dims()
			return workflow.Second(centrality.PageRank(g, centrality.PageRankOptions{Run: run, Restart: someRestart(n)}))
		}},
		{"wpr", sym, func(g matrix.Source[float64], run workflow.Run) error {
			return workflow.Second(centrality.WeightedPageRank(g, centrality.PageRankOptions{Run: run}))
		}},
		{"hits", dir, func(g matrix.Source[float64], run workflow.Run) error {
			return workflow.Second(centrality.HITS(g, centrality.CentralityOptions{Run: run}))
		}},
		{"eigenvector", sym, func(g matrix.Source[float64], run workflow.Run) error {
			return workflow.Second(centrality.EigenvectorCentrality(g, centrality.CentralityOptions{Run: run}))
		}},
		{"katz", sym, func(g matrix.Source[float64], run workflow.Run) error {
			return workflow.Second(centrality.KatzCentrality(g, centrality.CentralityOptions{Run: run}))
		}},
		{"similarity", dir, func(g matrix.Source[float64], run workflow.Run) error {
			return workflow.Second(triangles.Similarity(g, triangles.SimilarityOptions{Run: run}))
		}},
		{"spanning", sym, func(g matrix.Source[float64], run workflow.Run) error {
			return workflow.Second(components.MinimumSpanningForest(g, components.SpanningOptions{Run: run}))
		}},
		{"maximal", dir, func(g matrix.Source[float64], run workflow.Run) error {
			return workflow.Second(project.BipartiteMatching(g, project.MatchingOptions{Run: run, Maximal: true}))
		}},
		{"matching", dir, func(g matrix.Source[float64], run workflow.Run) error {
			return workflow.Second(project.BipartiteMatching(g, project.MatchingOptions{Run: run}))
		}},
		{"diameter", sym, func(g matrix.Source[float64], run workflow.Run) error {
			return workflow.Second(paths.Diameter(g, paths.DiameterOptions{Run: run}))
		}},
		{"topological", dag, func(g matrix.Source[float64], run workflow.Run) error {
			return workflow.Second(order.TopologicalOrder(g, order.TopologicalOptions{Run: run}))
		}},
		{"nominate", sym, func(g matrix.Source[float64], run workflow.Run) error {
			return workflow.Second(nominate.NominateVertices(g, few, nominate.NominateOptions{Run: run, Context: nominate.ContextPageRank}))
		}},
	} {
		times := func(g matrix.Source[float64], run workflow.Run) func(*testing.B) {
			return func(b *testing.B) {
				for b.Loop() {
					if err := c.run(g, run); err != nil {
						b.Fatal(err)
					}
				}
			}
		}
		b.Run(c.name+"/host", times(c.g, workflow.Run{}))
		if there == nil {
			b.Run(c.name+"/pipeline", times(c.g, workflow.Run{Method: workflow.Pipeline}))
			continue
		}
		on := c.g.Clone()
		if err := on.Move(there); err != nil {
			b.Fatal(err)
		}
		b.Run(c.name+"/device", times(on, workflow.Run{}))
		b.Run(c.name+"/device pipeline", times(on, workflow.Run{Method: workflow.Pipeline}))
	}
}

// upward directs every tuple to the greater vertex, without loops.
func upward(t gen.Tuples) gen.Tuples {
	rows, cols := []int32{}, []int32{}
	for k := range t.Rows {
		if u, v := t.Rows[k], t.Cols[k]; u != v {
			rows, cols = append(rows, min(u, v)), append(cols, max(u, v))
		}
	}
	t.Rows, t.Cols = rows, cols
	return t
}
