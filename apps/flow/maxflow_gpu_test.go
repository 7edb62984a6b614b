package flow

import (
	"errors"
	"fmt"
	"math"
	"math/rand"
	"testing"

	"github.com/hiveblas/hiveblas/apps/internal/samples"
	"github.com/hiveblas/hiveblas/apps/internal/workflow"
	"github.com/hiveblas/hiveblas/internal/longtest"
	"github.com/hiveblas/hiveblas/internal/sure"
	"github.com/hiveblas/hiveblas/matrix"
	"github.com/hiveblas/hiveblas/semiring"
)

// On a device the value equals the value of the best cut, and flow and sides prove it.
func TestMaxFlowFusedOnDevice(t *testing.T) {
	d := samples.RealOrEmulated(t)
	count := 12
	if longtest.Enabled() || d.E == nil {
		count = 60
	}
	rng := rand.New(rand.NewSource(11))
	for k := range count {
		n := 2 + rng.Intn(8)
		s := samples.Random(n, rng.Intn(4*n), int64(k), k%3 == 0)
		g := samples.Build[float64](t, s, matrix.CSR)
		here := g.Clone()
		sure.Do(g.Move(d.Device))
		for _, ends := range [][2]int{{0, n - 1}, {n - 1, 0}} { // the second uses the kept network
			res := samples.Must[*MaxFlowResult](t)(MaxFlow(g, ends[0], ends[1], MaxFlowOptions{Run: workflow.Run{Method: workflow.Fused}}))
			if res.Flow.Place() != matrix.Place(d.Device) || res.SinkSide.Place() != matrix.Place(d.Device) {
				t.Errorf("graph %d: the flow lives at %v", k, res.Flow.Place())
			}
			if want := cutsOf(s, ends[0], ends[1]); res.Value != want { // integers
				t.Errorf("graph %d: the value is %v, the least cut %v", k, res.Value, want)
			}
			checkFlow(t, fmt.Sprintf("graph %d", k), here, ends[0], ends[1], res)
		}
	}
}

// Larger graphs, with rows for warps, real capacities and terminals without limit; sides equal the
// sides of the host.
func TestMaxFlowFusedOnDeviceOnLargerGraphs(t *testing.T) {
	d := samples.RealOrEmulated(t)
	rng := rand.New(rand.NewSource(12))
	for _, reason := range []string{"a grid", "a random graph with hubs"} {
		var rows, cols []int
		var caps []float64
		add := func(i, j int, c float64) { rows, cols, caps = append(rows, i), append(cols, j), append(caps, c) }
		n := 0
		if reason == "a grid" {
			const side = 20
			n = side * side
			for v := range n {
				if v%side+1 < side {
					add(v, v+1, rng.Float64())
					add(v+1, v, rng.Float64())
				}
				if v+side < n {
					add(v, v+side, rng.Float64())
					add(v+side, v, rng.Float64())
				}
				if x := rng.NormFloat64(); x > 0 {
					add(n, v, x)
				} else {
					add(v, n+1, -x)
				}
			}
		} else {
			n = 300
			for v := range n {
				for range 4 {
					if u := rng.Intn(n); u != v {
						add(v, u, float64(1+rng.Intn(20)))
					}
				}
				if v > 1 {
					add(v, v%2, float64(rng.Intn(9)))
					add(v%2, v, float64(rng.Intn(9)))
				}
			}
			for k := range 8 {
				add(n, 20+k, math.Inf(1))
				add(40+k, n+1, math.Inf(1))
			}
		}
		g := samples.Must[*matrix.Matrix[float64]](t)(matrix.FromTuples(n+2, n+2, rows, cols, caps, semiring.Max[float64]()))
		want := samples.Must[*MaxFlowResult](t)(MaxFlow(g, n, n+1))
		on := g.Clone()
		sure.Do(on.Move(d.Device))
		for _, how := range []flowTuning{flowDefaults, {levels: 1, least: 3, most: 7, share: .5}} {
			res := samples.Must[*MaxFlowResult](t)(MaxFlow(on, n, n+1, MaxFlowOptions{Run: workflow.Tuned(workflow.Run{}, how)}))
			if math.Abs(res.Value-want.Value) > 1e-12*want.Value {
				t.Errorf("%s, %+v: the value is %v, on the host %v", reason, how, res.Value, want.Value)
			}
			checkFlow(t, reason, g, n, n+1, res)
			if res.SourceSide.NVals() != want.SourceSide.NVals() || res.SinkSide.NVals() != want.SinkSide.NVals() {
				t.Errorf("%s, %+v: %d vertices at the source and %d at the sink, on the host %d and %d", reason, how, res.SourceSide.NVals(),
					res.SinkSide.NVals(), want.SourceSide.NVals(), want.SinkSide.NVals())
			}
		}
	}
}

func TestMaxFlowFusedOnDeviceErrors(t *testing.T) {
	d := samples.RealOrEmulated(t)
	g := samples.Must[*matrix.Matrix[float64]](t)(matrix.FromTuples(4, 4, []int{0, 1, 1}, []int{1, 2, 3}, []float64{math.Inf(1), math.Inf(1), 2}, nil))
	sure.Do(g.Move(d.Device))
	var u *UnboundedFlowError
	for range 2 {
		if _, err := MaxFlow(g, 0, 2); !errors.As(err, &u) {
			t.Errorf("without limit: error %v", err)
		}
		if res := samples.Must[*MaxFlowResult](t)(MaxFlow(g, 0, 3)); res.Value != 2 { // keeps the network
			t.Errorf("the value is %v, want 2", res.Value)
		}
	}
	bad := samples.Must[*matrix.Matrix[float64]](t)(matrix.FromTuples(2, 2, []int{0}, []int{1}, []float64{-1}, nil))
	sure.Do(bad.Move(d.Device))
	var w *workflow.WeightError
	if _, err := MaxFlow(bad, 0, 1); !errors.As(err, &w) {
		t.Errorf("a negative capacity: error %v", err)
	}
}
