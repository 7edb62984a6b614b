package lasso

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
	"github.com/hiveblas/hiveblas/bench/gen"
	"github.com/hiveblas/hiveblas/internal/longtest"
	"github.com/hiveblas/hiveblas/internal/sure"
	"github.com/hiveblas/hiveblas/matrix"
)

// onDevice returns the graph and the values of a case on a device.
func (c lassoCase) onDevice(t testing.TB, d samples.Gpu) (*matrix.Matrix[float64], *matrix.Vector[float64]) {
	t.Helper()
	g := c.graph(t)
	y := samples.Must[*matrix.Vector[float64]](t)(matrix.VectorOf(slices.Clone(c.y)))
	sure.Do(g.Move(d.Device))
	return g, y
}

// sameLasso compares a solution on a device with that on the host, and with the objective by
// definition.
func sameLasso(t testing.TB, what string, c lassoCase, l2 float64, got, want *FusedLassoResult) {
	t.Helper()
	b := samples.Listed(got.B)
	if f := c.objective(b, got.Lambda1, l2); !math.IsInf(got.Lambda1, 1) && math.Abs(f-got.Objective) > 1e-12*(1e-9+f) {
		t.Errorf("%s: objective %v, that of the values is %v", what, got.Objective, f)
	}
	if math.Abs(got.Objective-want.Objective) > 1e-12*(1e-9+want.Objective) || got.Regions != want.Regions || got.Zeros != want.Zeros ||
		got.Proven != want.Proven || !(got.Gap <= 1e-12) {
		t.Errorf("%s: objective %v, %d regions, %d zeros, proven %v, gap %v; on the host %v, %d, %d, %v", what, got.Objective, got.Regions,
			got.Zeros, got.Proven, got.Gap, want.Objective, want.Regions, want.Zeros, want.Proven)
	}
	for v, x := range samples.Listed(want.B) {
		if !(math.Abs(b[v]-x) <= 1e-9) {
			t.Fatalf("%s: vertex %d is %v, on the host %v", what, v, b[v], x)
		}
	}
}

// Small graphs; other tests compare their solutions on the host with oracles.
func TestFusedLassoOnDevice(t *testing.T) {
	d := samples.RealOrEmulated(t)
	rng := rand.New(rand.NewSource(7))
	count := 8
	if longtest.Enabled() {
		count = 30
	}
	for k := range count {
		n := 1 + rng.Intn(40)
		c := drawLasso(rng, n, rng.Intn(3*n), k%2 == 0, k%3 == 0)
		g, y := c.onDevice(t, d)
		o := FusedLassoOptions{Lambda1: []float64{.1, .5, 1, 3, math.Inf(1)}[k%5], Lambda2: float64(k%2) * .3, Exact: true}
		want := c.solve(t, o)
		o.VertexWeights = samples.Must[*matrix.Vector[float64]](t)(matrix.VectorOf(slices.Clone(c.nu)))
		got := samples.Must[*FusedLassoResult](t)(FusedLasso(g, y, o))
		if got.B.Place() != matrix.Place(d.Device) {
			t.Errorf("case %d: the solution lives at %v", k, got.B.Place())
		}
		sameLasso(t, fmt.Sprintf("case %d, λ₁ = %v", k, o.Lambda1), c, o.Lambda2, got, want)
	}
}

// Each way of iterating gives the same solution, and so do several blocks.
func TestFusedLassoOnDeviceByEachKernel(t *testing.T) {
	d := samples.RealOrEmulated(t)
	c := lassoGrid(24, 3)
	hub := lassoGrid(20, 4)
	for v := 1; v < 400; v++ {
		hub.pairs, hub.w = append(hub.pairs, [2]int{0, v}), append(hub.w, .01*float64(v%7+1))
	}
	long := lassoGrid(46, 5)
	for v := 1; v < 46*46; v++ {
		long.pairs, long.w = append(long.pairs, [2]int{v / 1000, v}), append(long.w, .001)
	}
	planar := lassoCase{}
	signal := gen.PlanarSignal(2500, 2)
	for v, y := range signal.Y {
		planar.y, planar.nu = append(planar.y, y), append(planar.nu, 1)
		for _, u := range signal.Row(v) {
			planar.pairs, planar.w = append(planar.pairs, [2]int{v, int(u)}), append(planar.w, 1)
		}
	}
	for name, c := range map[string]lassoCase{"grid": c, "hub": hub, "hubs of several tiles": long, "planar": planar} {
		g, y := c.onDevice(t, d)
		for at, l1 := range []float64{.4, 3} {
			if !longtest.Takes(at+len(name), 2) {
				continue
			}
			o := FusedLassoOptions{Lambda1: l1, Exact: true}
			want := c.solve(t, o)
			for k, how := range []lassoTuning{
				{first: 100, more: .15, freeze: 1. / 32, patience: 6, enough: 3000, rest: 0, work: 60, share: 4096, burst: 1 << 20},
				{first: 50, more: .15, freeze: 0, patience: 1 << 20, rest: 0, work: 60, share: 1, launched: true},
				{first: 50, more: .5, freeze: .2, patience: 20, enough: 3000, work: 60, share: 500, burst: 1},
				{first: 20, more: .1, freeze: .05, patience: 1, enough: 0, rest: .5, work: 1, share: 4096, burst: 9},
			} {
				if !longtest.Enabled() && (k == 2 || name != "grid" && (k == 0 || l1 < 1)) && d.E != nil {
					continue
				}
				if d.E != nil && how.burst > 1 && k > 0 {
					how.blocks = 1 // several iterations of a launch also on the emulator
				}
				how.together, how.memory = lassoOnDevice.together, lassoOnDevice.memory
				o.Run = workflow.Tuned(workflow.Run{}, how)
				got := samples.Must[*FusedLassoResult](t)(FusedLasso(g, y, o))
				sameLasso(t, fmt.Sprintf("%s, λ₁ = %v, settings %d, %d iterations, %d divided", name, l1, k, got.Iterations, got.Divided), c, 0, got, want)
			}
		}
	}
}

// Paths and batches on a device give the solutions of single runs on the host.
func TestFusedLassoPathAndBatchOnDevice(t *testing.T) {
	d := samples.RealOrEmulated(t)
	c := lassoGrid(12, 6)
	g, y := c.onDevice(t, d)
	lambdas := []float64{2, .1, 0, math.Inf(1), .5, 1, .2}
	var wants []*FusedLassoResult
	for _, l1 := range lambdas {
		wants = append(wants, c.solve(t, FusedLassoOptions{Lambda1: l1, Lambda2: .1, Exact: true}))
	}
	for _, how := range []struct {
		reason   string
		together int
		aside    float64
		memory   int64
	}{
		{"whole graphs in a pool", lassoOnDevice.together, .25, lassoOnDevice.memory},
		{"rests in one pool", 0, .5, lassoOnDevice.memory},
		{"rests in several pools", 0, .9, lassoOnDevice.memory},
		{"windows of two jobs", 0, .9, int64(3 * (3*len(c.pairs) + len(c.y)))},
	} {
		tuning := lassoOnDevice
		tuning.together, tuning.aside, tuning.memory, tuning.first = how.together, how.aside, how.memory, 40
		run := workflow.Tuned(workflow.Run{}, tuning)
		path := samples.Must[[]*FusedLassoResult](t)(FusedLassoPath(g, y, lambdas, FusedLassoOptions{Run: run, Exact: true, Lambda2: .1}))
		for k, l1 := range lambdas {
			if path[k].Lambda1 != l1 {
				t.Fatalf("%s: solution %d is of λ₁ = %v, want %v", how.reason, k, path[k].Lambda1, l1)
			}
			sameLasso(t, fmt.Sprintf("path, %s, λ₁ = %v", how.reason, l1), c, .1, path[k], wants[k])
		}
	}
	// Five columns of different scales, two or all of them at a time, and one by one.
	const count = 5
	cases, columns := make([]lassoCase, count), make([]float64, 0, count*len(c.y))
	for k := range cases {
		cases[k] = c
		cases[k].y = nil
	}
	for v, x := range c.y {
		for k, y := range []float64{x, x * x, 30 * x, 7, float64(v % 3)} {
			cases[k].y = append(cases[k].y, y)
			columns = append(columns, y)
		}
	}
	ys := samples.Must[*matrix.Matrix[float64]](t)(matrix.FromDense(len(c.y), count, columns))
	weights := samples.Must[*matrix.Vector[float64]](t)(matrix.VectorOf(slices.Clone(c.nu)))
	for k, most := range []int{0, 5 * len(c.pairs), lassoOnDevice.together} {
		if !longtest.Takes(k, 3) {
			continue
		}
		tuning := lassoOnDevice
		tuning.together = most
		o := FusedLassoOptions{Run: workflow.Tuned(workflow.Run{}, tuning), Lambda1: .4, Lambda2: .1, Exact: most > 0, VertexWeights: weights}
		batch := samples.Must[[]*FusedLassoResult](t)(FusedLassoBatch(g, ys, o))
		for k, c := range cases {
			o.Exact = true
			want := c.solve(t, o)
			if most == 0 {
				if !(batch[k].Gap <= lassoTolerance) || math.Abs(batch[k].Objective-want.Objective) > lassoTolerance*math.Abs(want.Objective) {
					t.Errorf("column %d: objective %v with gap %v, the optimum is %v", k, batch[k].Objective, batch[k].Gap, want.Objective)
				}
				continue
			}
			sameLasso(t, fmt.Sprintf("column %d, %d arcs together", k, most), c, .1, batch[k], want)
		}
	}
}

func TestFusedLassoOnDeviceEndsEarly(t *testing.T) {
	d := samples.RealOrEmulated(t)
	c := lassoGrid(24, 8)
	g, y := c.onDevice(t, d)
	res := samples.Must[*FusedLassoResult](t)(FusedLasso(g, y, FusedLassoOptions{Lambda1: 3}))
	want := c.solve(t, FusedLassoOptions{Lambda1: 3, Exact: true})
	if !(res.Gap <= lassoTolerance) || math.Abs(res.Objective-want.Objective) > lassoTolerance*want.Objective {
		t.Errorf("objective %v with gap %v, the optimum is %v", res.Objective, res.Gap, want.Objective)
	}
	ctx, stop := context.WithCancel(context.Background())
	stop()
	if _, err := FusedLasso(g, y, FusedLassoOptions{Lambda1: 3, Run: workflow.Run{Context: ctx}}); !errors.Is(err, context.Canceled) {
		t.Errorf("a cancelled context: error %v", err)
	}
	var p *workflow.ParameterError
	if _, err := FusedLasso(c.graph(t), y, FusedLassoOptions{Run: workflow.Run{Method: workflow.Fused}}); !errors.As(err, &p) || p.Arg != "the method" {
		t.Errorf("fused on the host: error %v", err)
	}
	bad := samples.Must[*matrix.Matrix[float64]](t)(matrix.FromTuples(2, 2, []int{0}, []int{1}, []float64{-1}, nil))
	two := samples.Must[*matrix.Vector[float64]](t)(matrix.VectorOf([]float64{1, 2}))
	sure.Do(bad.Move(d.Device))
	var w *workflow.WeightError
	if _, err := FusedLasso(bad, two, FusedLassoOptions{Lambda1: 1}); !errors.As(err, &w) {
		t.Errorf("a negative weight: error %v", err)
	}
	empty := matrix.New[float64](0, 0, matrix.On(d.Device))
	none := samples.Must[*matrix.Vector[float64]](t)(matrix.VectorOf([]float64{}))
	if res := samples.Must[*FusedLassoResult](t)(FusedLasso(empty, none, FusedLassoOptions{Lambda1: 1})); res.B.Size() != 0 || res.Regions != 0 {
		t.Errorf("no vertices: %+v", res)
	}
}
