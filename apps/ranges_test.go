package apps

import (
	"fmt"

	"slices"
	"testing"

	"github.com/hiveblas/hiveblas/comm"
	"github.com/hiveblas/hiveblas/generate"
	"github.com/hiveblas/hiveblas/internal/longtest"
	"github.com/hiveblas/hiveblas/matrix"
	"github.com/hiveblas/hiveblas/ops"
	"github.com/hiveblas/hiveblas/semiring"
)

func init() { leastRange = 1 } // graphs of tests are small

// rangeRun is a workflow that is divided by ranges on a group.
type rangeRun struct {
	name string
	run  func(g groupGraph, run Run) (any, error)
}

// walkOptions are the settings of searches that are compared.
func walkOptions() map[string]SearchOptions {
	return map[string]SearchOptions{
		"uniform":    {PerStart: 20, Length: 9, Visits: true, Best: 5, Seed: 3},
		"greedy":     {Rule: SearchGreedy, PerStart: 9, Length: 7, Visits: true, Paths: true, NonBacktracking: true},
		"stochastic": {Rule: SearchStochastic, Weighted: true, PerStart: 30, Length: 12, Restart: .1, Best: 3, Seed: 9},
		"paths":      {PerStart: 11, Length: 5, Paths: true, NonBacktracking: true, Seed: 4},
		"single":     {Length: 3, Seed: 4, Paths: true},
		"long":       {Length: 1500, PerStart: 10, Seed: 8},
	}
}

func walkScores(n int) *Scores {
	list := make([]float64, n)
	for v := range list {
		list[v] = float64(v*v%97) / 7
	}
	v, _ := matrix.VectorOf(list)
	return VertexScores(v)
}

// rangeRuns are the workflows that are divided, in several settings.
func rangeRuns() []rangeRun {
	var list []rangeRun
	for name, o := range walkOptions() {
		list = append(list, rangeRun{"search " + name, func(g groupGraph, run Run) (any, error) {
			n, _ := g.Dims()
			o.Run = run
			return GraphSearch(g, walkScores(n), nil, o)
		}})
	}
	list = append(list,
		rangeRun{"search starts", func(g groupGraph, run Run) (any, error) {
			return GraphSearch(g, nil, []int{3, 2, 3, 1}, SearchOptions{Run: run, PerStart: 1000, Visits: true})
		}},
		rangeRun{"search nothing", func(g groupGraph, run Run) (any, error) {
			return GraphSearch(g, nil, []int{}, SearchOptions{Run: run, Visits: true, Paths: true})
		}},
		rangeRun{"scan", func(g groupGraph, run Run) (any, error) { return ScanStatistics(g, ScanOptions{Run: run}) }},
		rangeRun{"scan two hops", func(g groupGraph, run Run) (any, error) {
			return ScanStatistics(g, ScanOptions{Run: run, Hops: ScanTwoHops})
		}},
	)
	for _, o := range []ProjectionOptions{{}, {Onto: OntoRows, Weighting: WeightCount, Diagonal: true}, {Weighting: WeightRatio}} {
		list = append(list, rangeRun{fmt.Sprintf("projection %v %v", o.Weighting, o.Onto), func(g groupGraph, run Run) (any, error) {
			o.Run = run
			return Projection[float32](g, o)
		}})
	}
	for _, m := range []ClusterMethod{ClusterPush, ClusterISTA, ClusterFISTA} {
		list = append(list, rangeRun{"batch " + m.String(), func(g groupGraph, run Run) (any, error) {
			c, err := NewClusterer(g)
			if err != nil {
				return nil, err
			}
			n, _ := g.Dims()
			var seeds []int
			for v := range min(n, 23) {
				if k, ok := c.degree.At(v); ok && k > 0 {
					seeds = append(seeds, v)
				}
			}
			return c.Batch(seeds, 5, LocalClusterOptions{Run: run, Method: m, Rho: 1e-3})
		}})
	}
	return list
}

func rangeGraph(t testing.TB, scale int, at matrix.Place) groupGraph {
	t.Helper()
	edges, err := generate.RMAT(scale, 6<<scale, generate.RMATOptions{Seed: 5})
	if err != nil {
		t.Fatal(err)
	}
	g, err := generate.Matrix[float32](edges, generate.Undirected(), generate.Simple())
	if err != nil {
		t.Fatal(err)
	}
	// Values whose sums depend on their order.
	if err := ops.ApplyIndex(g, semiring.NewIndex("uneven", func(_ float32, i, j int) float32 {
		return 1 / float32(1+(i+j)%11)
	}, ""), g); err != nil {
		t.Fatal(err)
	}
	if err := g.Move(at); err != nil {
		t.Fatal(err)
	}
	return g
}

// inBlocks makes a graph that no process has whole.
func inBlocks(t testing.TB, g groupGraph, at *comm.Group) groupGraph {
	t.Helper()
	m, n := g.Dims()
	b := matrix.New[float32](m, n, matrix.On(at))
	if err := ops.Apply(b, semiring.Identity[float32](), g); err != nil {
		t.Fatal(err)
	}
	return b
}

// Divided workflows give the results of one place, bit for bit, on every number of ranks.
func TestRanges(t *testing.T) {
	t.Parallel()
	counts := []int{1, 3, 7}
	if longtest.Enabled() {
		counts = []int{1, 2, 3, 4, 7}
	}
	for _, w := range rangeRuns() {
		t.Run(w.name, func(t *testing.T) {
			t.Parallel()
			for _, scale := range []int{2, 8} {
				res, err := w.run(rangeGraph(t, scale, nil), Run{})
				if err != nil {
					t.Fatal(err)
				}
				want := resultWords(res)
				for _, p := range counts {
					for _, blocks := range []bool{false, true} {
						at, err := comm.LocalGroup(p)
						if err != nil {
							t.Fatal(err)
						}
						g := rangeGraph(t, scale, at)
						if blocks {
							g = inBlocks(t, g, at)
						}
						var methods []string
						var imbalance float64
						res, err := w.run(g, Run{Trace: func(tr ops.Trace) {
							methods = append(methods, string(tr.Method))
							imbalance = max(imbalance, tr.Imbalance)
						}})
						if err != nil {
							t.Fatalf("%d ranks: %v", p, err)
						}
						if w.name != "search single" && (!slices.Contains(methods, byRanges) || imbalance < 1 || imbalance > float64(p)) {
							t.Errorf("%d ranks: ran by %v, imbalance %v", p, methods, imbalance)
						}
						if got := resultWords(res); !slices.Equal(got, want) {
							t.Fatalf("scale %d, %d ranks, blocks %v: results differ from those of one place%s", scale, p, blocks, firstDifference(got, want))
						}
					}
				}
			}
		})
	}
}

func firstDifference(got, want []string) string {
	for i := range min(len(got), len(want)) {
		if got[i] != want[i] {
			return fmt.Sprintf(": value %d is %s, want %s", i, got[i], want[i])
		}
	}
	return fmt.Sprintf(": %d values, want %d", len(got), len(want))
}
