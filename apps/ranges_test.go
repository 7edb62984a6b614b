package apps

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/hiveblas/hiveblas/comm"
	"github.com/hiveblas/hiveblas/generate"
	"github.com/hiveblas/hiveblas/internal/access"
	"github.com/hiveblas/hiveblas/internal/longtest"
	"github.com/hiveblas/hiveblas/internal/sure"
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

// walkScores returns scores of n vertices, of which some are equal.
func walkScores(n int) *matrix.Vector[float64] {
	list := make([]float64, n)
	for v := range list {
		list[v] = float64(v*v%97) / 7
	}
	return sure.Get(matrix.VectorOf(list))
}

// rangeRuns are the workflows that are divided, in several settings.
func rangeRuns() []rangeRun {
	var list []rangeRun
	for name, o := range walkOptions() {
		list = append(list, rangeRun{"search " + name, func(g groupGraph, run Run) (any, error) {
			n, _ := g.Dims()
			o.Run = run
			return GraphSearch(g, VertexScores(walkScores(n)), nil, o)
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
	list = append(list,
		rangeRun{"lasso", func(g groupGraph, run Run) (any, error) {
			n, _ := g.Dims()
			return FusedLasso(g, lassoValues(n, 0), FusedLassoOptions{Run: run, Lambda1: .5, Lambda2: .01, Undirected: true})
		}},
		rangeRun{"lasso batch", func(g groupGraph, run Run) (any, error) {
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
			res, err := FusedLassoBatch(g, y, FusedLassoOptions{Run: run, Lambda1: .3, Undirected: true, VertexWeights: weights})
			return lassoWords(res), err
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
			scales := []int{2, 8}
			if os.Getenv("HIVEBLAS_TEST_GPU") != "" && w.name == "scan" {
				scales = append(scales, 16) // with hubs, whose tasks each GPU lists in an order of its own
			}
			for _, scale := range scales {
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

// processes runs f on p groups of one rank each, which stand for p processes.
func processes(t *testing.T, p int, f func(at *comm.Group) (any, error)) ([]any, []error) {
	t.Helper()
	ranks, err := comm.Local(p)
	if err != nil {
		t.Fatal(err)
	}
	results, errs := make([]any, p), make([]error, p)
	var wait sync.WaitGroup
	for r, c := range ranks {
		at, err := comm.NewGroup([]comm.Comm{c})
		if err != nil {
			t.Fatal(err)
		}
		wait.Go(func() { results[r], errs[r] = f(at) })
	}
	wait.Wait()
	return results, errs
}

// Each receives the walks of one place in order, in the processes that give it, in several rounds.
func TestRangesEach(t *testing.T) {
	before := walkRound
	walkRound = func(int) int64 { return sumWalks }
	defer func() { walkRound = before }()
	o := SearchOptions{PerStart: 31, Length: 6, Visits: true, Seed: 2}
	search := func(g groupGraph, receives bool) (*SearchResult, []int32, error) {
		o, all := o, []int32(nil)
		if receives {
			o.Each = func(b SearchBlock) error {
				if b.First*int64(b.Length) != int64(len(all)) {
					return fmt.Errorf("walk %d after %d vertices", b.First, len(all))
				}
				all = append(all, b.Vertices...)
				return nil
			}
		}
		n, _ := g.Dims()
		res, err := GraphSearch(g, VertexScores(walkScores(n)), nil, o)
		return res, all, err
	}
	res, walks, err := search(rangeGraph(t, 8, nil), true)
	if err != nil {
		t.Fatal(err)
	}
	want := resultWords(res)
	at, err := comm.LocalGroup(3)
	if err != nil {
		t.Fatal(err)
	}
	res, got, err := search(rangeGraph(t, 8, at), true)
	if err != nil || !slices.Equal(got, walks) || !slices.Equal(resultWords(res), want) {
		t.Errorf("one process: other walks or results than on one place (%v)", err)
	}
	results, errs := processes(t, 3, func(at *comm.Group) (any, error) {
		res, got, err := search(rangeGraph(t, 8, at), at.First())
		if at.First() != slices.Equal(got, walks) {
			err = errors.Join(err, errors.New("other walks"))
		}
		if err != nil {
			return nil, err
		}
		return resultWords(res), nil
	})
	for r, err := range errs {
		if err != nil || !slices.Equal(results[r].([]string), want) {
			t.Errorf("process %d: %v, or other results than on one place", r, err)
		}
	}
}

// A failure of one rank is the same *comm.RankError on all; within one process the group stays
// usable.
func TestRangesFail(t *testing.T) {
	t.Parallel()
	broken := errors.New("broken")
	fail := func(at *comm.Group) (any, error) {
		d, err := Run{}.divide("Test", at, 0)
		if err != nil {
			return nil, err
		}
		return nil, d.each(func(_ int, c comm.Comm, run Run) error {
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
	if _, err := ScanStatistics(rangeGraph(t, 4, at)); err != nil {
		t.Errorf("afterwards: %v", err)
	}
	_, errs := processes(t, 3, fail)
	for r, err := range errs {
		check(fmt.Sprintf("process %d", r), err)
	}
	ended, cancel := context.WithCancel(context.Background())
	cancel()
	for _, w := range rangeRuns() {
		if _, err := w.run(rangeGraph(t, 4, at), Run{Context: ended}); !errors.Is(err, context.Canceled) && w.name != "search nothing" {
			t.Errorf("%s: %v, want the end of the context", w.name, err)
		}
	}
	_, err = GraphSearch(rangeGraph(t, 6, at), nil, nil, SearchOptions{PerStart: 100, Each: func(SearchBlock) error { return broken }})
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
	whole := rangeGraph(t, 8, at)
	for _, tc := range []struct {
		g      groupGraph
		method Method
		want   bool
		reason string
	}{
		{whole, Auto, true, "every process has the graph"},
		{whole, Pipeline, false, "Method Pipeline"},
		{inBlocks(t, whole, at), Auto, false, "the graph exceeds the limit"},
	} {
		ran := false
		_, err := Projection[float32](tc.g, ProjectionOptions{Run: Run{Method: tc.method, Trace: func(tr ops.Trace) { ran = ran || tr.Method == byRanges }}})
		if err != nil || ran != tc.want {
			t.Errorf("%s: ranges is %v (%v)", tc.reason, ran, err)
		}
	}
	for _, hops := range []ScanHops{ScanOneHop, ScanTwoHops} { // products under masks in many pieces
		o := ScanOptions{Hops: hops, Run: Run{Method: Pipeline}}
		want, err := ScanStatistics(rangeGraph(t, 7, nil), o)
		if err != nil {
			t.Fatal(err)
		}
		got, err := ScanStatistics(inBlocks(t, rangeGraph(t, 7, at), at), o)
		if err != nil {
			t.Fatal(err)
		}
		if g, w := resultWords(got), resultWords(want); !slices.Equal(g, w) {
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
		if got := cutEvenly(tc.n, tc.p, tc.align, tc.least); !slices.Equal(got, tc.want) {
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
		if got := cutByWork(tc.work, tc.p); !slices.Equal(got, tc.want) {
			t.Errorf("%s: %v, want %v", tc.reason, got, tc.want)
		}
	}
	if u := unevenness([]int64{0, 1, 4}, func(lo, hi int64) int64 { return hi - lo }); u != 1.5 {
		t.Errorf("unevenness %v, want 1.5", u)
	}
}

// Ranks on devices run the fused forms and give the results of one device.
func TestRangesOnGPUs(t *testing.T) {
	if testing.Short() {
		t.Skip("the emulator is slow")
	}
	group, one, _ := groupOfGPUs(t)
	runs := map[string]func(g groupGraph, run Run) (any, error){
		"scan": func(g groupGraph, run Run) (any, error) { return ScanStatistics(g, ScanOptions{Run: run}) },
		"projection": func(g groupGraph, run Run) (any, error) {
			return Projection[float32](g, ProjectionOptions{Run: run, Weighting: WeightCount})
		},
		"walks": func(g groupGraph, run Run) (any, error) {
			n, _ := g.Dims()
			return GraphSearch(g, VertexScores(walkScores(n)), nil, SearchOptions{Run: run, PerStart: 40, Length: 6, Rule: SearchStochastic, Visits: true, Paths: true, Best: 4})
		},
		"closeness": func(g groupGraph, run Run) (any, error) {
			c, err := Closeness(g, ClosenessOptions{Run: run, Targets: []int{0, 5, 9, 3}, Batch: 3})
			if err != nil {
				return nil, err
			}
			return append(append(resultWords(c.Reached), resultWords(c.Distances)...), resultWords(c.Closeness)...), nil
		},
		"lasso": func(g groupGraph, run Run) (any, error) {
			n, _ := g.Dims()
			return FusedLasso(g, lassoValues(n, 0), FusedLassoOptions{Run: run, Lambda1: .5, Undirected: true})
		},
	}
	for name, f := range runs {
		var results [2][]string
		for k, at := range []matrix.Place{one, group} {
			ran := false
			res, err := f(rangeGraph(t, 7, at), Run{Trace: func(tr ops.Trace) { ran = ran || tr.Method == byRanges }})
			if err != nil || ran != (k == 1) {
				t.Fatalf("%s on %v: ranges is %v, %v", name, at, ran, err)
			}
			results[k] = resultWords(res)
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
		rangeRun{"search everywhere", func(g groupGraph, run Run) (any, error) {
			return GraphSearch(g, nil, nil, SearchOptions{Run: run, PerStart: 40, Visits: true})
		}},
		rangeRun{"search by weights", func(g groupGraph, run Run) (any, error) {
			return GraphSearch(g, nil, nil, SearchOptions{Run: run, Weighted: true, PerStart: 8, Visits: true})
		}})
	for _, p := range []int{2, 3, 17} { // 17 devices have no reductions of their own
		if p > 3 && os.Getenv("HIVEBLAS_TEST_GPU") != "" {
			continue
		}
		at := peersOf(t, p)
		for _, w := range runs {
			if !strings.HasPrefix(w.name, "search") && w.name != "scan" || p > 3 && w.name != "search everywhere" && w.name != "scan" {
				continue
			}
			scales := []int{2, 8}
			if os.Getenv("HIVEBLAS_TEST_GPU") != "" && w.name == "scan" {
				scales = append(scales, 16) // with hubs, whose tasks each GPU lists in an order of its own
			}
			for _, scale := range scales {
				res, err := w.run(rangeGraph(t, scale, nil), Run{})
				if err != nil {
					t.Fatal(err)
				}
				want := resultWords(res)
				var methods []string
				res, err = w.run(rangeGraph(t, scale, at), Run{Trace: func(tr ops.Trace) { methods = append(methods, string(tr.Method)) }})
				if err != nil {
					t.Fatalf("%s on %d devices: %v", w.name, p, err)
				}
				if !slices.Contains(methods, byRanges) {
					t.Errorf("%s on %d devices: ran by %v", w.name, p, methods)
				}
				switch r := res.(type) {
				case *SearchResult:
					if r.Visits != nil && r.Visits.Place() != matrix.Place(at) {
						t.Errorf("%s: the visits are at %v", w.name, r.Visits.Place())
					}
				case *ScanResult:
					if r.Statistic.Place() != matrix.Place(at) {
						t.Errorf("%s: the statistics are at %v", w.name, r.Statistic.Place())
					}
				}
				if got := resultWords(res); !slices.Equal(got, want) {
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
