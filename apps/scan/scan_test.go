package scan

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand"
	"slices"
	"testing"

	"github.com/hiveblas/hiveblas/apps/internal/samples"
	"github.com/hiveblas/hiveblas/apps/internal/workflow"
	"github.com/hiveblas/hiveblas/internal/sure"
	"github.com/hiveblas/hiveblas/matrix"
	"github.com/hiveblas/hiveblas/ops"
	"github.com/hiveblas/hiveblas/semiring"
	"github.com/hiveblas/hiveblas/testdata"
	"pgregory.net/rapid"
)

// inducedEdges is the oracle: for each vertex it lists the vertices within some hops and tests all
// pairs of them.
func inducedEdges(joined [][]bool, hops int) []int64 {
	s := make([]int64, len(joined))
	for v := range joined {
		near := make([]bool, len(joined))
		near[v] = true
		for range max(hops, 1) {
			before := slices.Clone(near)
			for u := range joined {
				for w := range joined {
					if before[u] && joined[u][w] {
						near[w] = true
					}
				}
			}
		}
		for u := range joined {
			for w := range u {
				if near[u] && near[w] && joined[u][w] && (hops > 0 || u == v || w == v) {
					s[v]++
				}
			}
		}
	}
	return s
}

func checkScan(t rapid.TB, name string, res *ScanResult, want []int64, joined [][]bool, hops ScanHops) {
	t.Helper()
	if got := sure.Get(res.Statistic.Dense(-1)); !slices.Equal(got, want) {
		t.Fatalf("%s: got %v, want %v", name, got, want)
	}
	var sum, most, edges int64
	argmax := []int{}
	for v, x := range want {
		sum += x
		if most = max(most, x); x == slices.Max(want) {
			argmax = append(argmax, v)
		}
		for u := range v {
			if joined[u][v] {
				edges++
			}
		}
	}
	triangles := int64(-1)
	if hops == ScanOneHop {
		triangles = samples.AllTriples(joined)
	}
	if res.Sum != sum || res.Max != most || res.Edges != edges || res.Triangles != triangles || !slices.Equal(res.ArgMax, argmax) {
		t.Fatalf("%s: got %+v, want sum %d, maximum %d at %v, %d edges and %d triangles", name, res, sum, most, argmax, edges, triangles)
	}
}

func scanOn[T semiring.Number](t rapid.TB, s samples.Sample) {
	joined := s.Joined()
	for k, hops := range []ScanHops{ScanOneHop, ScanDegree, ScanTwoHops} {
		want := inducedEdges(joined, []int{1, 0, 2}[k])
		samples.EveryForm(t, s, func(name string, g matrix.Source[T], run workflow.Run) {
			for _, run.Method = range []workflow.Method{workflow.Auto, workflow.Pipeline} {
				res, err := ScanStatistics(g, ScanOptions{run, hops})
				if err != nil {
					t.Fatalf("%s: %v", name, err)
				}
				checkScan(t, name+", hops "+hops.String()+", method "+string(run.Method), res, want, joined, hops)
			}
		})
	}
}

func TestScanStatistics(t *testing.T) {
	samples.OnGraphs(t, func(t rapid.TB, s samples.Sample) { scanOn[float64](t, s) })
}

// Larger random graphs, with hubs, loops and directions.
func TestScanStatisticsOfHubs(t *testing.T) {
	for seed := range int64(4) {
		s := samples.Random(120, 700+300*int(seed), seed, seed%2 == 0).Beside(samples.Clique(7, true)).Beside(samples.Blank(3))
		scanOn[int32](t, s)
	}
}

// The instructor of the karate club has 16 friends and is in 18 triangles; the sum is three times
// the triangles and twice the edges.
func TestScanStatisticsOfOwnGraphs(t *testing.T) {
	res, err := ScanStatistics(samples.Own(t, testdata.Karate))
	if err != nil {
		t.Fatal(err)
	}
	if res.Max != 34 || !slices.Equal(res.ArgMax, []int{0}) || res.Sum != 3*45+2*78 || res.Edges != 78 || res.Triangles != 45 {
		t.Errorf("karate: %+v", res)
	}
	res, err = ScanStatistics(samples.Own(t, testdata.Chesapeake))
	if err != nil || res.Triangles != 194 || res.Edges != 170 {
		t.Errorf("chesapeake: %+v, %v", res, err)
	}
}

// Real graphs: the triangles of SNAP, and the host's loops against merged lists of neighbours.
func TestScanStatisticsOfRealGraphs(t *testing.T) {
	for name, triangles := range map[string]int64{"graphs/ca-GrQc.mtx.gz": 48260, "graphs/email-Enron.mtx.gz": 727044, "graphs/wiki-Vote.mtx.gz": 608389} {
		t.Run(name, func(t *testing.T) {
			samples.Big(t)
			a := samples.Shared(t, name)
			with := samples.Neighbours(samples.ArcsOf(a))
			want := make([]int64, len(with))
			for u, list := range with {
				want[u] += int64(len(list))
				for _, v := range list {
					for _, w := range common(list, with[v]) {
						if u < v && v < w {
							want[u]++
							want[v]++
							want[w]++
						}
					}
				}
			}
			for threads := 1; threads <= 3; threads++ {
				res, err := ScanStatistics(a, ScanOptions{Run: workflow.Run{Threads: threads}})
				if err != nil {
					t.Fatal(err)
				}
				if res.Triangles != triangles || !slices.Equal(sure.Get(res.Statistic.Dense(0)), want) {
					t.Errorf("%d threads: %d triangles, want %d", threads, res.Triangles, triangles)
				}
			}
		})
	}
}

// common returns what two ascending lists share.
func common(x, y []int) (list []int) {
	for len(x) > 0 && len(y) > 0 {
		switch {
		case x[0] < y[0]:
			x = x[1:]
		case x[0] > y[0]:
			y = y[1:]
		default:
			list, x, y = append(list, x[0]), x[1:], y[1:]
		}
	}
	return list
}

func TestScanErrors(t *testing.T) {
	g := samples.Own(t, testdata.Karate)
	var e *workflow.ParameterError
	for _, h := range []ScanHops{-1, 3} {
		if _, err := ScanStatistics(g, ScanOptions{Hops: h}); !errors.As(err, &e) || e.Arg != "the radius" {
			t.Errorf("hops %v: %v", h, err)
		}
		if _, err := ScanSeries(&TimedEdges{}, ScanSeriesOptions{Window: 1, Hops: h}); !errors.As(err, &e) || e.Arg != "the radius" {
			t.Errorf("series with hops %v: %v", h, err)
		}
	}
}

// chatter draws a series of random messages among n people, a mean of rate in each window, with a
// group of people who all write to each other in one window.
func chatter(n, windows, rate, at, group int, seed int64) *TimedEdges {
	rng := rand.New(rand.NewSource(seed))
	e := &TimedEdges{Vertices: n}
	add := func(t float64, u, v int) {
		e.Source, e.Target, e.Time = append(e.Source, int32(u)), append(e.Target, int32(v)), append(e.Time, t)
	}
	for w := range windows {
		for range rate/2 + rng.Intn(rate) {
			add(100+float64(w)*7+rng.Float64()*6.99, rng.Intn(n), rng.Intn(n))
		}
	}
	for u := range group {
		for v := range u {
			add(100+float64(at)*7+rng.Float64()*6.99, 3*u+1, 3*v+1)
		}
	}
	add(100, 0, 0) // the first time stamp, a loop
	rng.Shuffle(len(e.Time), func(i, j int) {
		e.Source[i], e.Source[j] = e.Source[j], e.Source[i]
		e.Target[i], e.Target[j] = e.Target[j], e.Target[i]
		e.Time[i], e.Time[j] = e.Time[j], e.Time[i]
	})
	return e
}

// A planted group of chatter is found, its window and its people, and nothing else.
func TestScanSeriesFindsChatter(t *testing.T) {
	for _, hops := range []ScanHops{ScanOneHop, ScanTwoHops} {
		e := chatter(200, 60, 120, 47, 9, 1)
		res, err := ScanSeries(e, ScanSeriesOptions{Window: 7, Lag: 10, Hops: hops, Run: workflow.Run{Threads: 2}})
		if err != nil {
			t.Fatal(err)
		}
		if len(res.Windows) != 60 || res.Windows[47].Start != 100+47*7 {
			t.Fatalf("%d windows", len(res.Windows))
		}
		if len(res.Anomalies) != 1 || res.Anomalies[0].Window != 47 {
			t.Fatalf("hops %v: anomalies %+v", hops, res.Anomalies)
		}
		if hops != ScanOneHop {
			continue
		}
		found := map[int]bool{}
		for _, v := range res.Anomalies[0].Vertices {
			found[v.Vertex] = true
		}
		for u := range 9 {
			if !found[3*u+1] {
				t.Errorf("vertex %d of the group is not among %v", 3*u+1, res.Anomalies[0].Vertices)
			}
		}
		if len(found) > 12 || res.Anomalies[0].Vertices[0].Vertex%3 != 1 {
			t.Errorf("the vertices are %v, want the 9 of the group and few more", res.Anomalies[0].Vertices)
		}
	}
}

// naiveSeries is the formula, over dense arrays, with the brute force of inducedEdges.
func naiveSeries(e *TimedEdges, window float64, lag, hops int) (locality, score []float64) {
	first, last := slices.Min(e.Time), slices.Max(e.Time)
	count := int(math.Floor((last-first)/window)) + 1
	psi := make([][]float64, count)
	standard := func(past []float64, x float64) float64 {
		var mean, squares float64
		for _, y := range past {
			mean += y / float64(len(past))
		}
		for _, y := range past {
			squares += (y - mean) * (y - mean)
		}
		return (x - mean) / max(math.Sqrt(squares/float64(len(past)-1)), 1)
	}
	for t := range psi {
		joined := make([][]bool, e.Vertices)
		for v := range joined {
			joined[v] = make([]bool, e.Vertices)
		}
		for k, x := range e.Time {
			if int(math.Floor((x-first)/window)) == t && e.Source[k] != e.Target[k] {
				joined[e.Source[k]][e.Target[k]], joined[e.Target[k]][e.Source[k]] = true, true
			}
		}
		for _, x := range inducedEdges(joined, hops) {
			psi[t] = append(psi[t], float64(x))
		}
		locality, score = append(locality, math.NaN()), append(score, math.NaN())
		if t >= lag {
			locality[t] = math.Inf(-1)
			for v := range e.Vertices {
				var past []float64
				for _, old := range psi[t-lag : t] {
					past = append(past, old[v])
				}
				locality[t] = max(locality[t], standard(past, psi[t][v]))
			}
		}
		if t >= 2*lag {
			score[t] = standard(locality[t-lag:t], locality[t])
		}
	}
	return locality, score
}

func TestScanSeriesAgainstFormula(t *testing.T) {
	for seed := range int64(6) {
		n, windows, rate := 12, 20, []int{2, 6, 30}[seed%3]
		e := chatter(n, windows, rate, 15, 4, seed)
		lag := 2 + int(seed)%3
		res, err := ScanSeries(e, ScanSeriesOptions{Window: 7, Lag: lag, edges: 1, shift: 1})
		if err != nil {
			t.Fatal(err)
		}
		locality, score := naiveSeries(e, 7, lag, 1)
		if len(res.Windows) != len(score) {
			t.Fatalf("%d windows, want %d", len(res.Windows), len(score))
		}
		for k, w := range res.Windows {
			if !equalNumbers(w.Locality, locality[k]) || !equalNumbers(w.Score, score[k]) {
				t.Errorf("seed %d, window %d: %v and %v, want %v and %v", seed, k, w.Locality, w.Score, locality[k], score[k])
			}
		}
	}
}

// Threads share the windows; the results, the traces and their order equal one thread's.
func TestScanSeriesThreads(t *testing.T) {
	e := chatter(40, 50, 20, 40, 6, 1)
	run := func(threads int) (string, []ops.Trace) {
		var traces []ops.Trace
		windows := int64(-1)
		o := ScanSeriesOptions{Window: 7, Lag: 3, Threshold: .1, edges: 1, shift: 1}
		o.Threads, o.Trace = threads, func(t ops.Trace) { traces = append(traces, t) }
		o.Progress = func(_ string, done, total int64) {
			if done != windows+1 {
				t.Errorf("%d threads: window %d is reported after %d", threads, done, windows)
			}
			windows = done
		}
		res, err := ScanSeries(e, o)
		if err != nil || windows+1 != int64(len(res.Windows)) {
			t.Fatal(windows, err)
		}
		return fmt.Sprintf("%+v", res), traces
	}
	want, traced := run(1)
	for _, threads := range []int{2, 3, 8, 16} {
		if got, traces := run(threads); got != want {
			t.Errorf("%d threads: %s, want %s", threads, got, want)
		} else if !slices.Equal(traces, traced) || len(traced) == 0 {
			t.Errorf("%d threads: traces %v, want %v", threads, traces, traced)
		}
	}
	ctx, cancel := context.WithCancel(context.Background())
	o := ScanSeriesOptions{Window: 7}
	o.Context, o.Threads = ctx, 4
	o.Progress = func(_ string, done, _ int64) {
		if done == 20 {
			cancel()
		}
	}
	if _, err := ScanSeries(e, o); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v", err)
	}
}

func equalNumbers(x, y float64) bool { return math.Abs(x-y) <= 1e-9 || math.IsNaN(x) && math.IsNaN(y) }

func TestScanSeriesOfLittle(t *testing.T) {
	for _, e := range []*TimedEdges{{}, {Vertices: 5}} {
		if res, err := ScanSeries(e, ScanSeriesOptions{Window: 1}); err != nil || len(res.Windows) != 0 || len(res.Anomalies) != 0 {
			t.Errorf("no edges: %+v, %v", res, err)
		}
	}
	// Windows without edges, among others, and one vertex alone.
	e := &TimedEdges{Vertices: 1, Source: make([]int32, 2), Target: make([]int32, 2), Time: []float64{-5, 5}}
	res, err := ScanSeries(e, ScanSeriesOptions{Window: 1, Lag: 2})
	if err != nil || len(res.Windows) != 11 || res.Windows[10].Locality != 0 || res.Windows[10].Score != 0 || res.Windows[10].Vertex != 0 {
		t.Errorf("%+v, %v", res, err)
	}
}

func TestScanSeriesErrors(t *testing.T) {
	ok := &TimedEdges{Vertices: 2, Source: []int32{0}, Target: []int32{1}, Time: []float64{3}}
	o := ScanSeriesOptions{Window: 1}
	for _, c := range []struct {
		reason string
		e      *TimedEdges
		o      ScanSeriesOptions
	}{
		{"no list", nil, o},
		{"no window", ok, ScanSeriesOptions{}},
		{"a negative window", ok, ScanSeriesOptions{Window: -1}},
		{"an infinite window", ok, ScanSeriesOptions{Window: math.Inf(1)}},
		{"a lag of 1", ok, ScanSeriesOptions{Window: 1, Lag: 1}},
		{"a negative threshold", ok, ScanSeriesOptions{Window: 1, Threshold: -1}},
		{"lists of different lengths", &TimedEdges{Vertices: 2, Source: []int32{0}}, o},
		{"no time", &TimedEdges{Vertices: 2, Source: []int32{0}, Target: []int32{1}, Time: []float64{math.NaN()}}, o},
		{"very many windows", &TimedEdges{Vertices: 2, Source: []int32{0, 0}, Target: []int32{1, 1}, Time: []float64{0, 1e12}}, o},
	} {
		var e *workflow.ParameterError
		if _, err := ScanSeries(c.e, c.o); !errors.As(err, &e) {
			t.Errorf("%s: %v", c.reason, err)
		}
	}
	var index *matrix.IndexError
	beyond := &TimedEdges{Vertices: 2, Source: []int32{0}, Target: []int32{2}, Time: []float64{3}}
	if _, err := ScanSeries(beyond, o); !errors.As(err, &index) {
		t.Errorf("a vertex beyond the graph: %v", err)
	}
	var size *matrix.SizeError
	if _, err := ScanSeries(&TimedEdges{Vertices: -1}, o); !errors.As(err, &size) {
		t.Errorf("−1 vertices: %v", err)
	}
}

// Sums of squares beyond 64 bits are exact.
func TestWide(t *testing.T) {
	x := square64(1 << 40).plus(square64(3)).times(5).minus(square64(1 << 40).times(4))
	if want := float64(1<<40)*float64(1<<40) + 45; x.float() != want || x != square64(1<<40).plus(wide{0, 45}) {
		t.Errorf("%v, want %v", x, want)
	}
}
