package apps

import (
	"math"
	"testing"
	"time"

	"github.com/hiveblas/hiveblas/apps/centrality"
	"github.com/hiveblas/hiveblas/apps/components"
	"github.com/hiveblas/hiveblas/apps/internal/samples"
	"github.com/hiveblas/hiveblas/apps/internal/workflow"
	"github.com/hiveblas/hiveblas/apps/paths"
	"github.com/hiveblas/hiveblas/apps/triangles"
	"github.com/hiveblas/hiveblas/generate"
	"github.com/hiveblas/hiveblas/internal/longtest"
	"github.com/hiveblas/hiveblas/internal/sure"
	"github.com/hiveblas/hiveblas/matrix"
)

// Pipelines on a group of GPUs give the results of one GPU: exactly, but for sums of floats.
func TestWorkflowsOnGroupOfGPUs(t *testing.T) {
	if testing.Short() {
		t.Skip("the emulator is slow")
	}
	group, one, real := samples.GroupOfGPUs(t)
	edges, err := generate.RMAT(7, 8<<7, generate.RMATOptions{Seed: 5})
	if err != nil {
		t.Fatal(err)
	}
	exact := map[string]func(g samples.GroupGraph) (any, error){
		"BFS": func(g samples.GroupGraph) (any, error) {
			return paths.BFS(g, 0, paths.BFSOptions{Run: workflow.Run{Method: workflow.Pipeline}})
		},
	}
	if real || longtest.Enabled() {
		exact["ConnectedComponents"] = func(g samples.GroupGraph) (any, error) {
			return components.ConnectedComponents(g, components.ComponentsOptions{Run: workflow.Run{Method: workflow.Pipeline}})
		}
		exact["SSSP"] = func(g samples.GroupGraph) (any, error) {
			return paths.SSSP(g, []int{0}, paths.SSSPOptions[float32]{Run: workflow.Run{Method: workflow.Pipeline}})
		}
		exact["TriangleCount"] = func(g samples.GroupGraph) (any, error) { return triangles.TriangleCount(g) }
	}
	for name, run := range exact {
		var results [2][]string
		for k, at := range []matrix.Place{one, group} {
			g, err := generate.Matrix[float32](edges, generate.Undirected(), generate.Simple())
			if err == nil {
				err = g.Move(at)
			}
			if err != nil {
				t.Fatal(err)
			}
			res, err := run(g)
			if err != nil {
				t.Fatalf("%s on %s: %v", name, at, err)
			}
			results[k] = samples.ResultWords(res)
		}
		different := 0
		for i := range results[0] {
			if len(results[0]) != len(results[1]) || results[0][i] != results[1][i] {
				different++
			}
		}
		if len(results[0]) != len(results[1]) || different > 0 {
			t.Errorf("%s: %d of %d values differ from one GPU", name, different, len(results[0]))
		}
	}
	var ranks [2][]float64
	for k, at := range []matrix.Place{one, group} {
		g, err := generate.Matrix[float32](edges, generate.Undirected(), generate.Simple())
		if err == nil {
			err = g.Move(at)
		}
		if err != nil {
			t.Fatal(err)
		}
		res, err := centrality.PageRank(g, centrality.PageRankOptions{Run: workflow.Run{Method: workflow.Pipeline}})
		if err != nil {
			t.Fatal(err)
		}
		ranks[k] = sure.Get(res.Rank.Dense(0))
	}
	for v, x := range ranks[0] {
		if math.Abs(x-ranks[1][v]) > 1e-12 {
			t.Fatalf("PageRank of vertex %d is %v, on one GPU %v", v, ranks[1][v], x)
		}
	}
}

// BenchmarkGroupOfGPUs prints the times of pipelines on one GPU and on two, interleaved.
func BenchmarkGroupOfGPUs(b *testing.B) {
	group, one, real := samples.GroupOfGPUs(b)
	if !real {
		b.Skip("two GPUs are needed")
	}
	for _, scale := range []int{18, 20, 22} {
		edges, err := generate.RMAT(scale, 16<<scale, generate.RMATOptions{Seed: 1})
		if err != nil {
			b.Fatal(err)
		}
		var graphs [2]samples.GroupGraph
		for k, at := range []matrix.Place{one, group} {
			g, err := generate.Matrix[float32](edges, generate.Undirected(), generate.Simple())
			if err == nil {
				err = g.Move(at)
			}
			if err != nil {
				b.Fatal(err)
			}
			graphs[k] = g
		}
		for name, run := range map[string]func(g samples.GroupGraph) error{
			"BFS": func(g samples.GroupGraph) error {
				_, err := paths.BFS(g, 0, paths.BFSOptions{Run: workflow.Run{Method: workflow.Pipeline}})
				return err
			},
			"PageRank": func(g samples.GroupGraph) error {
				_, err := centrality.PageRank(g, centrality.PageRankOptions{Run: workflow.Run{Method: workflow.Pipeline}, MaxIterations: 10})
				return err
			},
		} {
			var best [2]time.Duration
			for range 4 {
				for k, g := range graphs {
					began := time.Now()
					if err := run(g); err != nil {
						b.Logf("%s: %v", name, err)
					}
					if took := time.Since(began); best[k] == 0 || took < best[k] {
						best[k] = took
					}
				}
			}
			b.Logf("R-MAT %d %s: one GPU %v, two %v", scale, name, best[0], best[1])
		}
	}
}
