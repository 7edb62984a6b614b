package flow

import (
	"errors"
	"fmt"
	"math"
	"math/rand"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/hiveblas/hiveblas/apps/internal/samples"
	"github.com/hiveblas/hiveblas/apps/internal/workflow"
	"github.com/hiveblas/hiveblas/graphio"
	"github.com/hiveblas/hiveblas/internal/longtest"
	"github.com/hiveblas/hiveblas/internal/sure"
	"github.com/hiveblas/hiveblas/matrix"
)

// cutsOf returns the least capacity of a cut by trying all.
func cutsOf(s samples.Sample, source, sink int) float64 {
	least := math.Inf(1)
	arcs := s.Arcs()
	for side := range 1 << s.N {
		if side>>source&1 == 0 || side>>sink&1 == 1 {
			continue
		}
		sum := 0.0
		for v, list := range arcs {
			for _, a := range list {
				if side>>v&1 == 1 && side>>a.To&1 == 0 {
					sum += a.Weight
				}
			}
		}
		least = min(least, sum)
	}
	return least
}

// checkFlow tests that a result is a maximum flow: it obeys the capacities, no vertex but the ends
// keeps or makes any, and both cuts have the capacity of its value.
func checkFlow(t *testing.T, what string, g *matrix.Matrix[float64], source, sink int, res *MaxFlowResult) {
	t.Helper()
	n, _ := g.Dims()
	net, size := make([]float64, n), 1.0
	for c, x := range res.Flow.All() {
		limit, ok := g.At(c.Row, c.Col)
		if !(x > 0) || !ok || x > limit*(1+1e-12) {
			t.Errorf("%s: the flow from %d to %d is %v, its capacity %v", what, c.Row, c.Col, x, limit)
		}
		if back, _ := res.Flow.At(c.Col, c.Row); back > 0 && c.Row != c.Col {
			t.Errorf("%s: there is a flow from %d to %d and back", what, c.Row, c.Col)
		}
		net[c.Row] -= x
		net[c.Col] += x
		size += x
	}
	for v, x := range net {
		switch v {
		case source:
			x += res.Value
		case sink:
			x -= res.Value
		}
		if math.Abs(x) > 1e-12*size {
			t.Errorf("%s: vertex %d keeps %v", what, v, x)
		}
	}
	has := func(v *matrix.Vector[bool], i int) bool { _, ok := v.At(i); return ok }
	if !has(res.SourceSide, source) || !has(res.SinkSide, sink) || has(res.SourceSide, sink) || has(res.SinkSide, source) {
		t.Errorf("%s: an end is on the wrong side", what)
	}
	first, second := 0.0, 0.0
	for c, x := range g.All() {
		if has(res.SourceSide, c.Row) && !has(res.SourceSide, c.Col) {
			first += x
		}
		if !has(res.SinkSide, c.Row) && has(res.SinkSide, c.Col) {
			second += x
		}
	}
	for _, cut := range []float64{first, second} {
		if math.Abs(cut-res.Value) > 1e-12*size {
			t.Errorf("%s: the value is %v, a cut has %v", what, res.Value, cut)
		}
	}
}

// flowsOf returns the results of all methods.
func flowsOf(t *testing.T, g *matrix.Matrix[float64], source, sink int) map[string]*MaxFlowResult {
	t.Helper()
	all := map[string]*MaxFlowResult{}
	for _, m := range []workflow.Method{workflow.Auto, workflow.Pipeline} {
		all[fmt.Sprintf("method %q", m)] = samples.Must[*MaxFlowResult](t)(MaxFlow(g, source, sink, MaxFlowOptions{Run: workflow.Run{Method: m}}))
	}
	return all
}

func TestMaxFlowAgainstAllCuts(t *testing.T) {
	t.Parallel()
	rng := rand.New(rand.NewSource(1))
	count := 40
	if longtest.Enabled() {
		count = 200
	}
	for k := range count {
		n := 2 + rng.Intn(8)
		s := samples.Random(n, rng.Intn(4*n), int64(k), k%3 == 0)
		g := samples.Build[float64](t, s, matrix.CSR)
		source, sink := 0, n-1
		want := cutsOf(s, source, sink)
		for what, res := range flowsOf(t, g, source, sink) {
			if res.Value != want { // integers
				t.Errorf("graph %d, %s: the value is %v, the least cut %v", k, what, res.Value, want)
			}
			checkFlow(t, fmt.Sprintf("graph %d, %s", k, what), g, source, sink, res)
		}
	}
}

// On larger graphs the cuts prove the flow.
func TestMaxFlowOnLargerGraphs(t *testing.T) {
	t.Parallel()
	grid, rng := samples.Blank(82), rand.New(rand.NewSource(3)) // 8 × 10 between two terminals
	for v := range 80 {
		if x := rng.Intn(20); x < 10 {
			grid.Edges = append(grid.Edges, samples.Edge{From: 80, To: v, Weight: x})
		} else {
			grid.Edges = append(grid.Edges, samples.Edge{From: v, To: 81, Weight: x - 10})
		}
		if v%10 < 9 {
			grid.Edges = append(grid.Edges, samples.Edge{From: v, To: v + 1, Weight: rng.Intn(9)}, samples.Edge{From: v + 1, To: v, Weight: rng.Intn(9)})
		}
		if v < 70 {
			grid.Edges = append(grid.Edges, samples.Edge{From: v, To: v + 10, Weight: rng.Intn(9)}, samples.Edge{From: v + 10, To: v, Weight: rng.Intn(9)})
		}
	}
	for _, c := range []struct {
		reason       string
		s            samples.Sample
		source, sink int
	}{
		{"a path with a bottleneck of 0", samples.Path(50), 0, 49},
		{"a random graph", samples.Random(120, 900, 7, false), 3, 99},
		{"opposite edges, hub and loops", samples.Random(90, 500, 8, true), 1, 50},
		{"a complete graph", samples.Clique(20, true), 4, 15},
		{"a segmentation", grid, 80, 81},
	} {
		g := samples.Build[float64](t, c.s, matrix.CSR)
		trees := samples.Must[*MaxFlowResult](t)(MaxFlow(g, c.source, c.sink))
		for what, res := range flowsOf(t, g, c.source, c.sink) {
			if res.Value != trees.Value {
				t.Errorf("%s, %s: value %v, want %v", c.reason, what, res.Value, trees.Value)
			}
			checkFlow(t, c.reason+", "+what, g, c.source, c.sink, res)
		}
	}
}

func TestMaxFlowCases(t *testing.T) {
	t.Parallel()
	inf := math.Inf(1)
	for _, c := range []struct {
		reason string
		n      int
		rows   []int
		cols   []int
		vals   []float64
		want   float64
	}{
		{"no edges", 2, nil, nil, nil, 0},
		{"a sink without edges", 3, []int{0}, []int{1}, []float64{5}, 0},
		{"a sink out of reach", 3, []int{0, 2}, []int{1, 1}, []float64{5, 5}, 0},
		{"a direct edge", 2, []int{0}, []int{1}, []float64{2.5}, 2.5},
		{"a direct edge and one back", 2, []int{0, 1}, []int{1, 0}, []float64{2.5, 9}, 2.5},
		{"a capacity of 0", 2, []int{0}, []int{1}, []float64{0}, 0},
		{"loops", 2, []int{0, 0, 1}, []int{0, 1, 1}, []float64{7, 1, 7}, 1},
		{"an infinite capacity on the way", 3, []int{0, 1}, []int{1, 2}, []float64{inf, 3}, 3},
		{"infinite capacities from the source and to the sink", 4, []int{0, 1, 2}, []int{1, 2, 3}, []float64{inf, .25, inf}, .25},
		{"infinite opposite edges", 4, []int{0, 1, 2, 2}, []int{1, 2, 1, 3}, []float64{4, inf, inf, 3}, 3},
		{"an infinite loop", 2, []int{0, 0}, []int{0, 1}, []float64{inf, 2}, 2},
		{"fractions", 4, []int{0, 0, 1, 2}, []int{1, 2, 3, 3}, []float64{.1, .2, .3, .15}, .1 + .15},
	} {
		g := samples.Must[*matrix.Matrix[float64]](t)(matrix.FromTuples(c.n, c.n, c.rows, c.cols, c.vals, nil))
		for what, res := range flowsOf(t, g, 0, c.n-1) {
			if math.Abs(res.Value-c.want) > 1e-15 {
				t.Errorf("%s, %s: value %v, want %v", c.reason, what, res.Value, c.want)
			}
		}
	}
}

func TestMaxFlowErrors(t *testing.T) {
	t.Parallel()
	graph := func(x float64) *matrix.Matrix[float64] {
		return samples.Must[*matrix.Matrix[float64]](t)(matrix.FromTuples(3, 3, []int{0, 1}, []int{1, 2}, []float64{math.Inf(1), x}, nil))
	}
	for _, m := range []workflow.Method{workflow.Auto, workflow.Pipeline} {
		o := MaxFlowOptions{Run: workflow.Run{Method: m}}
		for _, x := range []float64{-1, math.NaN(), math.Inf(-1)} {
			var e *workflow.WeightError
			if _, err := MaxFlow(graph(x), 0, 2, o); !errors.As(err, &e) || e.Row != 1 || e.Col != 2 {
				t.Errorf("capacity %v: error %v", x, err)
			}
		}
		var unbounded *UnboundedFlowError
		if _, err := MaxFlow(graph(math.Inf(1)), 0, 2, o); !errors.As(err, &unbounded) {
			t.Errorf("infinite capacities all the way: error %v", err)
		}
		var parameter *workflow.ParameterError
		if _, err := MaxFlow(graph(1), 1, 1, o); !errors.As(err, &parameter) {
			t.Errorf("a source that is the sink: error %v", err)
		}
		for _, end := range [][2]int{{-1, 1}, {0, 3}, {3, 0}} {
			var e *matrix.IndexError
			if _, err := MaxFlow(graph(1), end[0], end[1], o); !errors.As(err, &e) {
				t.Errorf("ends %v: error %v", end, err)
			}
		}
	}
}

// The published values of instances of the fused lasso. The last two vertices are source and sink.
func TestMaxFlowPublished(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]float64{"std_added": 255.813, "Wei_test2": 40.53, "wei_problem_10_22": 213.871} {
		file, err := os.ReadFile(filepath.Join(samples.Folder(), "sfl", name+".mtx"))
		if errors.Is(err, os.ErrNotExist) {
			t.Skip("no ../shared/data beside the checkout")
		} else if err != nil {
			t.Fatal(err)
		}
		g, _, err := graphio.ReadEdgeList[float64](strings.NewReader(string(file)), graphio.SkipLines(1), graphio.Base(1))
		if err != nil {
			t.Fatal(err)
		}
		n, _ := g.Dims()
		for what, res := range flowsOf(t, g, n-2, n-1) {
			if math.Abs(res.Value-want) > 6e-4 {
				t.Errorf("%s, %s: value %v, published %v", name, what, res.Value, want)
			}
			checkFlow(t, name+", "+what, g, n-2, n-1, res)
		}
	}
}

func TestMaxFlowByRoundsOnDevice(t *testing.T) {
	d := samples.Emulated(t)
	s := samples.Random(40, 200, 5, false)
	g := samples.Build[float64](t, s, matrix.CSR)
	want := samples.Must[*MaxFlowResult](t)(MaxFlow(g, 1, 30))
	sure.Do(g.Move(d.Device))
	res := samples.Must[*MaxFlowResult](t)(MaxFlow(g, 1, 30, MaxFlowOptions{Run: workflow.Run{Method: workflow.Pipeline}}))
	if res.Value != want.Value || res.Rounds == 0 || res.Flow.Place() != matrix.Place(d.Device) {
		t.Errorf("value %v after %d rounds at %v, want %v", res.Value, res.Rounds, res.Flow.Place(), want.Value)
	}
}
