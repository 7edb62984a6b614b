package apps

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/hiveblas/hiveblas/apps/centrality"
	"github.com/hiveblas/hiveblas/apps/internal/samples"
	"github.com/hiveblas/hiveblas/apps/internal/workflow"
	"github.com/hiveblas/hiveblas/apps/lasso"
	"github.com/hiveblas/hiveblas/apps/lgc"
	"github.com/hiveblas/hiveblas/apps/project"
	"github.com/hiveblas/hiveblas/apps/scan"
	"github.com/hiveblas/hiveblas/apps/search"
	"github.com/hiveblas/hiveblas/comm"
	"github.com/hiveblas/hiveblas/generate"
	"github.com/hiveblas/hiveblas/internal/access"
	"github.com/hiveblas/hiveblas/internal/longtest"
	"github.com/hiveblas/hiveblas/matrix"
	"github.com/hiveblas/hiveblas/ops"
	"github.com/hiveblas/hiveblas/semiring"
)

func init() { workflow.LeastRange = 1 } // graphs of tests are small

// rangeRun is a workflow that is divided by ranges on a group.
type rangeRun struct {
	name string
	run  func(g samples.GroupGraph, run workflow.Run) (any, error)
}

// walkOptions are the settings of searches that are compared.
func walkOptions() map[string]search.SearchOptions {
	return map[string]search.SearchOptions{
		"uniform":    {PerStart: 20, Length: 9, Visits: true, Best: 5, Seed: 3},
		"greedy":     {Rule: search.SearchGreedy, PerStart: 9, Length: 7, Visits: true, Paths: true, NonBacktracking: true},
		"stochastic": {Rule: search.SearchStochastic, Weighted: true, PerStart: 30, Length: 12, Restart: .1, Best: 3, Seed: 9},
		"paths":      {PerStart: 11, Length: 5, Paths: true, NonBacktracking: true, Seed: 4},
		"single":     {Length: 3, Seed: 4, Paths: true},
		"long":       {Length: 1500, PerStart: 10, Seed: 8},
	}
}

// rangeRuns are the workflows that are divided, in several settings.
func rangeRuns() []rangeRun {
	var list []rangeRun
	for name, o := range walkOptions() {
		list = append(list, rangeRun{"search " + name, func(g samples.GroupGraph, run workflow.Run) (any, error) {
			n, _ := g.Dims()
			o.Run = run
			return search.GraphSearch(g, search.VertexScores(samples.WalkScores(n)), nil, o)
		}})
	}
	list = append(list,
		rangeRun{"search starts", func(g samples.GroupGraph, run workflow.Run) (any, error) {
			return search.GraphSearch(g, nil, []int{3, 2, 3, 1}, search.SearchOptions{Run: run, PerStart: 1000, Visits: true})
		}},
		rangeRun{"search nothing", func(g samples.GroupGraph, run workflow.Run) (any, error) {
			return search.GraphSearch(g, nil, []int{}, search.SearchOptions{Run: run, Visits: true, Paths: true})
		}},
		rangeRun{"scan", func(g samples.GroupGraph, run workflow.Run) (any, error) {
			return scan.ScanStatistics(g, scan.ScanOptions{Run: run})
		}},
		rangeRun{"scan two hops", func(g samples.GroupGraph, run workflow.Run) (any, error) {
			return scan.ScanStatistics(g, scan.ScanOptions{Run: run, Hops: scan.ScanTwoHops})
		}},
	)
	list = append(list,
		rangeRun{"lasso", func(g samples.GroupGraph, run workflow.Run) (any, error) {
			n, _ := g.Dims()
			return lasso.FusedLasso(g, lassoValues(n, 0), lasso.FusedLassoOptions{Run: run, Lambda1: .5, Lambda2: .01, Undirected: true})
		}},
		rangeRun{"lasso batch", func(g samples.GroupGraph, run workflow.Run) (any, error) {
			n, _ := g.Dims()
			ys := matrix.NewBuilder[float64](n, 5)
			for c := range 5 {
				for v, x := range lassoValues(n, c).All() {
					ys.Add(v, c, x)
				}
			}
			y, err := ys.Build(nil)
			if err != nil {
				return nil, err
			}
			weights := lassoValues(n, 9)
			if err := weights.Move(g.Place()); err != nil {
				return nil, err
			}
			res, err := lasso.FusedLassoBatch(g, y, lasso.FusedLassoOptions{Run: run, Lambda1: .3, Undirected: true, VertexWeights: weights})
			return lassoWords(res), err
		}},
	)
	for _, o := range []project.ProjectionOptions{{}, {Onto: project.OntoRows, Weighting: project.WeightCount, Diagonal: true}, {Weighting: project.WeightRatio}} {
		list = append(list, rangeRun{fmt.Sprintf("projection %v %v", o.Weighting, o.Onto), func(g samples.GroupGraph, run workflow.Run) (any, error) {
			o.Run = run
			return project.Projection[float32](g, o)
		}})
	}
	for _, m := range []lgc.ClusterMethod{lgc.ClusterPush, lgc.ClusterISTA, lgc.ClusterFISTA} {
		list = append(list, rangeRun{"batch " + m.String(), func(g samples.GroupGraph, run workflow.Run) (any, error) {
			c, err := lgc.NewClusterer(g)
			if err != nil {
				return nil, err
			}
			n, _ := g.Dims()
			degree := matrix.NewVector[float64](n, matrix.On(g.Place()))
			if err := ops.Reduce(degree, semiring.Plus[float64](), g.Pattern()); err != nil {
				return nil, err
			}
			var seeds []int
			for v := range min(n, 23) {
				if _, ok := degree.At(v); ok {
					seeds = append(seeds, v)
				}
			}
			return c.Batch(seeds, 5, lgc.LocalClusterOptions{Run: run, Method: m, Rho: 1e-3})
		}})
	}
	return list
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
			scales := []int{2, 8}
			if os.Getenv("HIVEBLAS_TEST_GPU") != "" && w.name == "scan" {
				scales = append(scales, 16) // with hubs, whose tasks each GPU lists in an order of its own
			}
			for _, scale := range scales {
				res, err := w.run(samples.RangeGraph(t, scale, nil), workflow.Run{})
				if err != nil {
					t.Fatal(err)
				}
				want := samples.ResultWords(res)
				for _, p := range counts {
					for _, blocks := range []bool{false, true} {
						at, err := comm.LocalGroup(p)
						if err != nil {
							t.Fatal(err)
						}
						g := samples.RangeGraph(t, scale, at)
						if blocks {
							g = samples.InBlocks(t, g, at)
						}
						var methods []string
						var imbalance float64
						res, err := w.run(g, workflow.Run{Trace: func(tr ops.Trace) {
							methods = append(methods, string(tr.Method))
							imbalance = max(imbalance, tr.Imbalance)
						}})
						if err != nil {
							t.Fatalf("%d ranks: %v", p, err)
						}
						if w.name != "search single" && (!slices.Contains(methods, workflow.ByRanges) || imbalance < 1 || imbalance > float64(p)) {
							t.Errorf("%d ranks: ran by %v, imbalance %v", p, methods, imbalance)
						}
						if got := samples.ResultWords(res); !slices.Equal(got, want) {
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

// A failure of one rank is the same *comm.RankError on all; within one process the group stays
// usable.
func TestRangesFail(t *testing.T) {
	t.Parallel()
	broken := errors.New("broken")
	fail := func(at *comm.Group) (any, error) {
		d, err := workflow.Divide(workflow.Run{}, "Test", at, 0)
		if err != nil {
			return nil, err
		}
		return nil, d.Each(func(_ int, c comm.Comm, run workflow.Run) error {
			if c.Rank() == 1 {
				return broken
			}
			<-run.Context.Done() // the others stop
			return run.Context.Err()
		})
	}
	check := func(where string, err error) {
		t.Helper()
		var e *comm.RankError
		if !errors.As(err, &e) || e.Rank != 1 || !errors.Is(err, broken) {
			t.Errorf("%s: %v, want the failure of rank 1", where, err)
		}
	}
	at, err := comm.LocalGroup(3)
	if err != nil {
		t.Fatal(err)
	}
	_, err = fail(at)
	check("one process", err)
	if _, err := scan.ScanStatistics(samples.RangeGraph(t, 4, at)); err != nil {
		t.Errorf("afterwards: %v", err)
	}
	_, errs := samples.Processes(t, 3, fail)
	for r, err := range errs {
		check(fmt.Sprintf("process %d", r), err)
	}
	ended, cancel := context.WithCancel(context.Background())
	cancel()
	for _, w := range rangeRuns() {
		if _, err := w.run(samples.RangeGraph(t, 4, at), workflow.Run{Context: ended}); !errors.Is(err, context.Canceled) && w.name != "search nothing" {
			t.Errorf("%s: %v, want the end of the context", w.name, err)
		}
	}
	_, err = search.GraphSearch(samples.RangeGraph(t, 6, at), nil, nil, search.SearchOptions{PerStart: 100, Each: func(search.SearchBlock) error { return broken }})
	if !errors.Is(err, broken) {
		t.Errorf("Each: %v", err)
	}
}

// Method Pipeline and a limit of gathered bytes keep the operations of the group.
func TestRangesNot(t *testing.T) {
	t.Parallel()
	ranks, err := comm.Local(2)
	if err != nil {
		t.Fatal(err)
	}
	at, err := comm.NewGroup(ranks, comm.GatherLimit(100))
	if err != nil {
		t.Fatal(err)
	}
	whole := samples.RangeGraph(t, 8, at)
	for _, tc := range []struct {
		g      samples.GroupGraph
		method workflow.Method
		want   bool
		reason string
	}{
		{whole, workflow.Auto, true, "every process has the graph"},
		{whole, workflow.Pipeline, false, "Method Pipeline"},
		{samples.InBlocks(t, whole, at), workflow.Auto, false, "the graph exceeds the limit"},
	} {
		ran := false
		_, err := project.Projection[float32](tc.g, project.ProjectionOptions{Run: workflow.Run{Method: tc.method, Trace: func(tr ops.Trace) { ran = ran || tr.Method == workflow.ByRanges }}})
		if err != nil || ran != tc.want {
			t.Errorf("%s: ranges is %v (%v)", tc.reason, ran, err)
		}
	}
	for _, hops := range []scan.ScanHops{scan.ScanOneHop, scan.ScanTwoHops} { // products under masks in many pieces
		o := scan.ScanOptions{Hops: hops, Run: workflow.Run{Method: workflow.Pipeline}}
		want, err := scan.ScanStatistics(samples.RangeGraph(t, 7, nil), o)
		if err != nil {
			t.Fatal(err)
		}
		got, err := scan.ScanStatistics(samples.InBlocks(t, samples.RangeGraph(t, 7, at), at), o)
		if err != nil {
			t.Fatal(err)
		}
		if g, w := samples.ResultWords(got), samples.ResultWords(want); !slices.Equal(g, w) {
			t.Errorf("radius %v in pieces: results differ%s", hops, firstDifference(g, w))
		}
	}
}

func TestCutWork(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		n            int64
		p            int
		align, least int64
		want         []int64
		reason       string
	}{
		{10, 3, 1, 1, []int64{0, 3, 6, 10}, "evenly"},
		{2, 4, 1, 1, []int64{0, 1, 2, 2, 2}, "fewer items than ranks"},
		{0, 2, 1, 1, []int64{0, 0, 0}, "nothing"},
		{2500, 2, 1024, 1, []int64{0, 1024, 2500}, "multiples of 1024"},
		{10, 3, 1, 6, []int64{0, 10, 10, 10}, "less than the threshold for two"},
	} {
		if got := workflow.CutEvenly(tc.n, tc.p, tc.align, tc.least); !slices.Equal(got, tc.want) {
			t.Errorf("%s: %v, want %v", tc.reason, got, tc.want)
		}
	}
	for _, tc := range []struct {
		work   []int64
		p      int
		want   []int64
		reason string
	}{
		{[]int64{0, 1, 2, 3, 4}, 2, []int64{0, 2, 4}, "evenly"},
		{[]int64{0, 8, 9, 10}, 2, []int64{0, 1, 3}, "a heavy item"},
		{[]int64{0}, 3, []int64{0, 0, 0, 0}, "nothing"},
		{[]int64{0, 0, 0}, 2, []int64{0, 2, 2}, "no work"},
	} {
		if got := workflow.CutByWork(tc.work, tc.p); !slices.Equal(got, tc.want) {
			t.Errorf("%s: %v, want %v", tc.reason, got, tc.want)
		}
	}
	if u := workflow.Unevenness([]int64{0, 1, 4}, func(lo, hi int64) int64 { return hi - lo }); u != 1.5 {
		t.Errorf("unevenness %v, want 1.5", u)
	}
}

// Ranks on devices run the fused forms and give the results of one device.
func TestRangesOnGPUs(t *testing.T) {
	if testing.Short() {
		t.Skip("the emulator is slow")
	}
	group, one, _ := samples.GroupOfGPUs(t)
	runs := map[string]func(g samples.GroupGraph, run workflow.Run) (any, error){
		"scan": func(g samples.GroupGraph, run workflow.Run) (any, error) {
			return scan.ScanStatistics(g, scan.ScanOptions{Run: run})
		},
		"projection": func(g samples.GroupGraph, run workflow.Run) (any, error) {
			return project.Projection[float32](g, project.ProjectionOptions{Run: run, Weighting: project.WeightCount})
		},
		"walks": func(g samples.GroupGraph, run workflow.Run) (any, error) {
			n, _ := g.Dims()
			return search.GraphSearch(g, search.VertexScores(samples.WalkScores(n)), nil, search.SearchOptions{Run: run, PerStart: 40, Length: 6, Rule: search.SearchStochastic, Visits: true, Paths: true, Best: 4})
		},
		"closeness": func(g samples.GroupGraph, run workflow.Run) (any, error) {
			c, err := centrality.Closeness(g, centrality.ClosenessOptions{Run: run, Targets: []int{0, 5, 9, 3}, Batch: 3})
			if err != nil {
				return nil, err
			}
			return append(append(samples.ResultWords(c.Reached), samples.ResultWords(c.Distances)...), samples.ResultWords(c.Closeness)...), nil
		},
		"lasso": func(g samples.GroupGraph, run workflow.Run) (any, error) {
			n, _ := g.Dims()
			return lasso.FusedLasso(g, lassoValues(n, 0), lasso.FusedLassoOptions{Run: run, Lambda1: .5, Undirected: true})
		},
	}
	for name, f := range runs {
		var results [2][]string
		for k, at := range []matrix.Place{one, group} {
			ran := false
			res, err := f(samples.RangeGraph(t, 7, at), workflow.Run{Trace: func(tr ops.Trace) { ran = ran || tr.Method == workflow.ByRanges }})
			if err != nil || ran != (k == 1) {
				t.Fatalf("%s on %v: ranges is %v, %v", name, at, ran, err)
			}
			results[k] = samples.ResultWords(res)
		}
		if !slices.Equal(results[0], results[1]) {
			t.Errorf("%s differs from one GPU%s", name, firstDifference(results[1], results[0]))
		}
	}
}

// Walks and scan statistics on devices that exchange what they have found by their memory: the
// results of one place, which stay on the devices.
func TestRangesOnPeers(t *testing.T) {
	if testing.Short() {
		t.Skip("the emulator is slow")
	}
	runs := append(rangeRuns(),
		rangeRun{"search everywhere", func(g samples.GroupGraph, run workflow.Run) (any, error) {
			return search.GraphSearch(g, nil, nil, search.SearchOptions{Run: run, PerStart: 40, Visits: true})
		}},
		rangeRun{"search by weights", func(g samples.GroupGraph, run workflow.Run) (any, error) {
			return search.GraphSearch(g, nil, nil, search.SearchOptions{Run: run, Weighted: true, PerStart: 8, Visits: true})
		}})
	for _, p := range []int{2, 3, 17} { // 17 devices have no reductions of their own
		if p > 3 && os.Getenv("HIVEBLAS_TEST_GPU") != "" {
			continue
		}
		at := samples.PeersOf(t, p)
		for _, w := range runs {
			if !strings.HasPrefix(w.name, "search") && w.name != "scan" || p > 3 && w.name != "search everywhere" && w.name != "scan" {
				continue
			}
			scales := []int{2, 8}
			if os.Getenv("HIVEBLAS_TEST_GPU") != "" && w.name == "scan" {
				scales = append(scales, 16) // with hubs, whose tasks each GPU lists in an order of its own
			}
			for _, scale := range scales {
				res, err := w.run(samples.RangeGraph(t, scale, nil), workflow.Run{})
				if err != nil {
					t.Fatal(err)
				}
				want := samples.ResultWords(res)
				var methods []string
				res, err = w.run(samples.RangeGraph(t, scale, at), workflow.Run{Trace: func(tr ops.Trace) { methods = append(methods, string(tr.Method)) }})
				if err != nil {
					t.Fatalf("%s on %d devices: %v", w.name, p, err)
				}
				if !slices.Contains(methods, workflow.ByRanges) {
					t.Errorf("%s on %d devices: ran by %v", w.name, p, methods)
				}
				switch r := res.(type) {
				case *search.SearchResult:
					if r.Visits != nil && r.Visits.Place() != matrix.Place(at) {
						t.Errorf("%s: the visits are at %v", w.name, r.Visits.Place())
					}
				case *scan.ScanResult:
					if r.Statistic.Place() != matrix.Place(at) {
						t.Errorf("%s: the statistics are at %v", w.name, r.Statistic.Place())
					}
				}
				if got := samples.ResultWords(res); !slices.Equal(got, want) {
					t.Fatalf("%s, scale %d, %d devices: results differ from those of one place%s", w.name, scale, p, firstDifference(got, want))
				}
			}
		}
	}
}

// Replicas of a graph that equals its transpose are known to do so: no workflow compares them.
func TestReplicasAreSymmetric(t *testing.T) {
	t.Parallel()
	edges, err := generate.RMAT(5, 100, generate.RMATOptions{})
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range []int{1, 3} {
		at, err := comm.LocalGroup(p)
		if err != nil {
			t.Fatal(err)
		}
		for _, undirected := range []bool{true, false} {
			opts := []generate.MatrixOption{generate.On(at)}
			if undirected {
				opts = append(opts, generate.Undirected())
			}
			g, err := generate.Matrix[float32](edges, opts...)
			if err != nil {
				t.Fatal(err)
			}
			if undirected { // as graphs that are made on devices do
				access.MarkSymmetric(g)
			}
			whole, err := access.Replicas(nil, g.View(), at)
			shape, err2 := access.Replicas(nil, matrix.AsView[bool](g.View().Pattern()), at)
			if err = errors.Join(err, err2); err != nil {
				t.Fatal(err)
			}
			for k := range whole {
				if access.Symmetric(whole[k]) != undirected || access.Symmetric(shape[k]) != undirected {
					t.Errorf("%d ranks, undirected %v: rank %d has %v and %v", p, undirected, k, access.Symmetric(whole[k]), access.Symmetric(shape[k]))
				}
			}
		}
	}
}
