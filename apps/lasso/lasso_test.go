package lasso

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/hiveblas/hiveblas/apps/internal/samples"
	"github.com/hiveblas/hiveblas/apps/internal/workflow"
	"github.com/hiveblas/hiveblas/internal/longtest"
	"github.com/hiveblas/hiveblas/internal/sure"
	"github.com/hiveblas/hiveblas/matrix"
)

// lassoCase is a small fused lasso with one term for each pair.
type lassoCase struct {
	y, nu []float64
	pairs [][2]int
	w     []float64
}

func (c lassoCase) graph(t testing.TB) *matrix.Matrix[float64] {
	t.Helper()
	var rows, cols []int
	for _, p := range c.pairs {
		rows, cols = append(rows, p[0]), append(cols, p[1])
	}
	g := sure.Get(matrix.FromTuples(len(c.y), len(c.y), rows, cols, c.w, matrix.CombineFunc[float64](func(x, y float64) float64 { return x + y })))
	return g
}

func (c lassoCase) objective(b []float64, l1, l2 float64) float64 {
	sum := 0.0
	for v, x := range b {
		sum += .5*c.nu[v]*(c.y[v]-x)*(c.y[v]-x) + l2*c.nu[v]*math.Abs(x)
	}
	for k, p := range c.pairs {
		sum += l1 * c.w[k] * math.Abs(b[p[0]]-b[p[1]])
	}
	return sum
}

// brute finds the solution for λ₂ = 0 by ordered partitions: for each assignment of ranks to the
// vertices the order of the ranks gives the signs of differences, and the values of the ranks are
// free. The values of the best assignment keep the order.
func (c lassoCase) brute(l1 float64) (best []float64) {
	n := len(c.y)
	least := math.Inf(1)
	rank := make([]int, n)
	var try func(v int)
	try = func(v int) {
		if v < n {
			for r := range n {
				rank[v] = r
				try(v + 1)
			}
			return
		}
		sum, weight := make([]float64, n), make([]float64, n)
		for v, r := range rank {
			sum[r] += c.nu[v] * c.y[v]
			weight[r] += c.nu[v]
		}
		for k, p := range c.pairs {
			i, j := rank[p[0]], rank[p[1]]
			if i > j {
				i, j = j, i
			}
			if i != j {
				sum[i] += l1 * c.w[k]
				sum[j] -= l1 * c.w[k]
			}
		}
		b := make([]float64, n)
		for v, r := range rank {
			b[v] = sum[r] / weight[r]
		}
		if f := c.objective(b, l1, 0); f < least {
			least, best = f, b
		}
	}
	try(0)
	return best
}

// drawLasso returns a random case of n vertices; whole draws integers, with ties.
func drawLasso(rng *rand.Rand, n, m int, whole, weights bool) lassoCase {
	c := lassoCase{}
	for range n {
		y, nu := 4*rng.NormFloat64(), 1.0
		if whole {
			y = math.Round(y / 2)
		}
		if weights {
			nu = .5 + 2*rng.Float64()
		}
		c.y, c.nu = append(c.y, y), append(c.nu, nu)
	}
	for range m {
		i, j, w := rng.Intn(n), rng.Intn(n), 1.0
		if weights {
			w = 2 * rng.Float64()
		}
		if i != j {
			c.pairs, c.w = append(c.pairs, [2]int{i, j}), append(c.w, w)
		}
	}
	return c
}

func (c lassoCase) solve(t testing.TB, o FusedLassoOptions) *FusedLassoResult {
	t.Helper()
	y, err := matrix.VectorOf(slices.Clone(c.y))
	if err != nil {
		t.Fatal(err)
	}
	if o.VertexWeights, err = matrix.VectorOf(slices.Clone(c.nu)); err != nil {
		t.Fatal(err)
	}
	res, err := FusedLasso(c.graph(t), y, o)
	if err != nil {
		t.Fatal(err)
	}
	return res
}

func TestFusedLassoAgainstPartitions(t *testing.T) {
	t.Parallel()
	rng := rand.New(rand.NewSource(1))
	count, most := 60, 5
	if longtest.Enabled() {
		count, most = 120, 6
	}
	for k := range count {
		n := 1 + rng.Intn(most)
		c := drawLasso(rng, n, rng.Intn(2*n), k%2 == 0, k%3 == 0)
		l1 := []float64{.1, .5, 1, 3, 50}[k%5]
		want := c.brute(l1)
		res := c.solve(t, FusedLassoOptions{Lambda1: l1, Exact: true})
		if f := c.objective(want, l1, 0); math.Abs(res.Objective-f) > 1e-12*(1+f) || !res.Proven || res.Gap > 1e-12 {
			t.Errorf("case %d: objective %v with gap %v, proven %v; want %v", k, res.Objective, res.Gap, res.Proven, f)
		}
		for v, x := range samples.Listed(res.B) {
			if math.Abs(x-want[v]) > 1e-9 {
				t.Errorf("case %d: vertex %d is %v, want %v", k, v, x, want[v])
			}
		}
		// λ₂: no step from the solution is better.
		const l2 = .4
		b := samples.Listed(c.solve(t, FusedLassoOptions{Lambda1: l1, Lambda2: l2, Exact: true}).B)
		f := c.objective(b, l1, l2)
		for range 200 {
			d := slices.Clone(b)
			for v := range d {
				if rng.Intn(2) == 0 {
					d[v] += 1e-3 * rng.NormFloat64()
				}
			}
			if c.objective(d, l1, l2) < f-1e-12*(1+f) {
				t.Fatalf("case %d with λ₂: a step from the solution has a lower objective", k)
			}
		}
	}
}

// tautChain solves a chain of unit weights by the taut string: the derivative of the objective left
// of each vertex is a piecewise linear function, clipped to ±λ (Johnson: A dynamic programming
// algorithm for the fused lasso and L0-segmentation, J. Comput. Graph. Stat. 2013). It keeps the
// function as sorted breakpoints, in O(n²).
func tautChain(y []float64, lambda float64) []float64 {
	n := len(y)
	type knot struct{ at, slope, offset float64 } // the line slope·x + offset right of at
	f := []knot{{math.Inf(-1), 0, 0}}
	low, high := make([]float64, n), make([]float64, n)
	cross := func(f []knot, level float64) float64 {
		for k, p := range f {
			end := math.Inf(1)
			if k+1 < len(f) {
				end = f[k+1].at
			}
			if p.slope > 0 {
				if x := (level - p.offset) / p.slope; x <= end {
					return max(x, p.at)
				}
			}
		}
		return math.Inf(1)
	}
	for i := range n {
		for k := range f {
			f[k].slope, f[k].offset = f[k].slope+1, f[k].offset-y[i]
		}
		if i == n-1 {
			break
		}
		low[i], high[i] = cross(f, -lambda), cross(f, lambda)
		g := []knot{{math.Inf(-1), 0, -lambda}}
		for k, p := range f {
			end := math.Inf(1)
			if k+1 < len(f) {
				end = f[k+1].at
			}
			if end > low[i] && p.at < high[i] {
				g = append(g, knot{max(p.at, low[i]), p.slope, p.offset})
			}
		}
		f = append(g, knot{high[i], 0, lambda})
	}
	b := make([]float64, n)
	b[n-1] = cross(f, 0)
	for i := n - 2; i >= 0; i-- {
		b[i] = min(max(b[i+1], low[i]), high[i])
	}
	return b
}

func TestFusedLassoOfChains(t *testing.T) {
	t.Parallel()
	rng := rand.New(rand.NewSource(2))
	for k, n := range []int{2, 3, 50, 700, 1500} {
		c := lassoCase{}
		level := 0.0
		for v := range n {
			if rng.Intn(20) == 0 {
				level = 6 * rng.NormFloat64()
			}
			c.y, c.nu = append(c.y, level+rng.NormFloat64()), append(c.nu, 1)
			if v > 0 {
				c.pairs, c.w = append(c.pairs, [2]int{v - 1, v}), append(c.w, 1)
			}
		}
		for _, l1 := range []float64{.3, 2, 40} {
			want := tautChain(c.y, l1)
			res := c.solve(t, FusedLassoOptions{Lambda1: l1, Exact: true, Run: workflow.Run{Threads: 1 + k%2}})
			f := c.objective(want, l1, 0)
			if math.Abs(res.Objective-f) > 1e-12*f || !res.Proven {
				t.Errorf("chain of %d, λ₁ = %v: objective %v, proven %v, want %v", n, l1, res.Objective, res.Proven, f)
			}
			for v, x := range samples.Listed(res.B) {
				if math.Abs(x-want[v]) > 1e-8 {
					t.Fatalf("chain of %d, λ₁ = %v: vertex %d is %v, want %v", n, l1, v, x, want[v])
				}
			}
		}
	}
}

// lassoGrid is a noisy picture of side s.
func lassoGrid(s int, seed int64) lassoCase {
	rng := rand.New(rand.NewSource(seed))
	c := lassoCase{}
	for v := range s * s {
		y := .7 * rng.NormFloat64()
		if v/s > s/3 && v%s > s/3 {
			y += 2
		}
		c.y, c.nu = append(c.y, y), append(c.nu, 1)
		if v%s > 0 {
			c.pairs, c.w = append(c.pairs, [2]int{v - 1, v}), append(c.w, 1)
		}
		if v >= s {
			c.pairs, c.w = append(c.pairs, [2]int{v - s, v}), append(c.w, 1)
		}
	}
	return c
}

// On graphs beyond the oracles the dual flow proves the solution: the gap compares its value. The
// settings make each part of the method do all of the work.
func TestFusedLassoByEachPart(t *testing.T) {
	t.Parallel()
	side := 24
	if longtest.Enabled() {
		side = 60
	}
	c := lassoGrid(side, 3)
	s := samples.Random(300, 3000, 4, true)
	web := drawLasso(rand.New(rand.NewSource(5)), s.N, 0, false, true)
	for _, e := range s.Edges {
		if e.From < e.To {
			web.pairs, web.w = append(web.pairs, [2]int{e.From, e.To}), append(web.w, 1)
		}
	}
	whole := c
	whole.y = nil
	for _, y := range c.y {
		whole.y = append(whole.y, math.Round(y))
	}
	for name, c := range map[string]lassoCase{"grid": c, "web": web, "integers": whole} {
		g := c.graph(t)
		for _, l1 := range []float64{.05, .4, 3, 100} {
			first := 0.0
			for k, how := range []lassoSettings{lassoDefaults, {first: 0, more: .15, turn: 300, work: 1 << 40, patience: 1},
				{first: 100, more: .2, turn: 1 << 30, work: 100, patience: 8, certificate: true},
				{first: 20, more: .15, turn: 20, work: 3, patience: 1}} {
				if name == "integers" && how.certificate {
					continue // ties stall the certificate
				}
				o := FusedLassoOptions{Lambda1: l1, Exact: true, Run: workflow.Run{Threads: 3}}
				l, err := newLasso(g.Inside(), o)
				if err != nil {
					t.Fatal(err)
				}
				copy(l.nu, c.nu)
				for v, x := range l.nu {
					l.inv[v] = 1 / x
				}
				res, _, err := l.solve(slices.Clone(c.y), o, nil, how)
				if err != nil {
					t.Fatal(err)
				}
				if !(res.Gap <= 1e-12) || !res.Proven {
					t.Errorf("%s, λ₁ = %v, settings %d: gap %v, proven %v", name, l1, k, res.Gap, res.Proven)
				}
				if f := c.objective(samples.Listed(res.B), l1, 0); math.Abs(f-res.Objective) > 1e-12*f {
					t.Errorf("%s, λ₁ = %v, settings %d: objective %v, want %v", name, l1, k, res.Objective, f)
				}
				if k == 0 {
					first = res.Objective
				} else if math.Abs(res.Objective-first) > 1e-12*first {
					t.Errorf("%s, λ₁ = %v, settings %d: objective %v, by the default %v", name, l1, k, res.Objective, first)
				}
			}
		}
	}
}

func TestFusedLassoCases(t *testing.T) {
	t.Parallel()
	inf := math.Inf(1)
	two := [][2]int{{0, 1}}
	for _, c := range []struct {
		reason  string
		c       lassoCase
		l1, l2  float64
		want    []float64
		regions int
	}{
		{"no vertices", lassoCase{}, 1, 0, nil, 0},
		{"one vertex", lassoCase{y: []float64{3}}, 1, 0, []float64{3}, 1},
		{"one vertex, λ₂", lassoCase{y: []float64{-3}}, 1, 1, []float64{-2}, 1},
		{"a pair that stays apart", lassoCase{y: []float64{0, 10}, pairs: two}, 2, 0, []float64{2, 8}, 2},
		{"a pair that merges", lassoCase{y: []float64{0, 10}, pairs: two}, 6, 0, []float64{5, 5}, 1},
		{"a pair that just merges", lassoCase{y: []float64{0, 10}, pairs: two}, 5, 0, []float64{5, 5}, 1},
		{"λ₁ = 0", lassoCase{y: []float64{0, 10, 10}, pairs: [][2]int{{0, 1}, {1, 2}}}, 0, 0, []float64{0, 10, 10}, 2},
		{"λ₁ = ∞: means of components", lassoCase{y: []float64{0, 10, 7}, pairs: two}, inf, 0, []float64{5, 5, 7}, 2},
		{"λ₁ = ∞ and a weight of 0", lassoCase{y: []float64{0, 10}, pairs: two, w: []float64{0}}, inf, 0, []float64{0, 10}, 2},
		{"vertex weights", lassoCase{y: []float64{0, 10}, nu: []float64{3, 1}, pairs: two}, inf, 0, []float64{2.5, 2.5}, 1},
		{"constant y", lassoCase{y: []float64{2, 2, 2}, pairs: [][2]int{{0, 1}, {1, 2}}}, 1, 0, []float64{2, 2, 2}, 1},
		{"all 0", lassoCase{y: []float64{0, 0}, pairs: two}, 1, 0, []float64{0, 0}, 1},
		{"isolated vertices", lassoCase{y: []float64{4, -1, 2}}, 3, 0, []float64{4, -1, 2}, 3},
		{"both directions count twice", lassoCase{y: []float64{0, 10}, pairs: [][2]int{{0, 1}, {1, 0}}}, 1, 0, []float64{2, 8}, 2},
		{"a loop", lassoCase{y: []float64{0, 10}, pairs: [][2]int{{0, 0}, {0, 1}}}, 1, 0, []float64{1, 9}, 2},
		{"λ₂ makes zeros", lassoCase{y: []float64{.5, 10}}, 1, 1, []float64{0, 9}, 2},
	} {
		n := len(c.c.y)
		if c.c.nu == nil {
			c.c.nu = slices.Repeat([]float64{1}, n)
		}
		if c.c.w == nil {
			c.c.w = slices.Repeat([]float64{1}, len(c.c.pairs))
		}
		for _, exact := range []bool{false, true} {
			res := c.c.solve(t, FusedLassoOptions{Lambda1: c.l1, Lambda2: c.l2, Exact: exact})
			for v, x := range samples.Listed(res.B) {
				if math.Abs(x-c.want[v]) > 1e-12 {
					t.Errorf("%s: vertex %d is %v, want %v", c.reason, v, x, c.want[v])
				}
			}
			if res.Regions != c.regions || res.B.Size() != n || !(res.Gap <= 1e-12) {
				t.Errorf("%s: %d regions of %d vertices, gap %v; want %d of %d", c.reason, res.Regions, res.B.Size(), res.Gap, c.regions, n)
			}
		}
	}
	// One term per unordered pair.
	g := samples.Must[*matrix.Matrix[float64]](t)(matrix.FromTuples(2, 2, []int{0, 1}, []int{1, 0}, []float64{1, 1}, nil))
	y := samples.Must[*matrix.Vector[float64]](t)(matrix.VectorOf([]float64{0, 10}))
	res := samples.Must[*FusedLassoResult](t)(FusedLasso(g, y, FusedLassoOptions{Lambda1: 1, Undirected: true}))
	if x, _ := res.B.At(0); math.Abs(x-1) > 1e-12 {
		t.Errorf("undirected: %v, want 1", x)
	}
}

func TestFusedLassoErrors(t *testing.T) {
	t.Parallel()
	g := func(w ...float64) *matrix.Matrix[float64] {
		return samples.Must[*matrix.Matrix[float64]](t)(matrix.FromTuples(2, 2, []int{0, 1}[:len(w)], []int{1, 0}[:len(w)], w, nil))
	}
	y := func(list ...float64) *matrix.Vector[float64] {
		return samples.Must[*matrix.Vector[float64]](t)(matrix.VectorOf(list))
	}
	nan, inf := math.NaN(), math.Inf(1)
	for _, c := range []struct {
		reason string
		g      *matrix.Matrix[float64]
		y      *matrix.Vector[float64]
		o      FusedLassoOptions
		want   any
	}{
		{"no y", g(1), nil, FusedLassoOptions{}, new(*workflow.ParameterError)},
		{"y of another size", g(1), y(1, 2, 3), FusedLassoOptions{}, new(*matrix.DimensionError)},
		{"y without an entry", g(1), matrix.NewVector[float64](2), FusedLassoOptions{}, new(*workflow.ParameterError)},
		{"NaN in y", g(1), y(1, nan), FusedLassoOptions{}, new(*workflow.ParameterError)},
		{"an infinity in y", g(1), y(inf, 1), FusedLassoOptions{}, new(*workflow.ParameterError)},
		{"a large y", g(1), y(1e200, 1), FusedLassoOptions{}, new(*workflow.ParameterError)},
		{"λ₁ below 0", g(1), y(1, 2), FusedLassoOptions{Lambda1: -1}, new(*workflow.ParameterError)},
		{"λ₁ NaN", g(1), y(1, 2), FusedLassoOptions{Lambda1: nan}, new(*workflow.ParameterError)},
		{"λ₂ infinite", g(1), y(1, 2), FusedLassoOptions{Lambda2: inf}, new(*workflow.ParameterError)},
		{"a negative weight", g(-1), y(1, 2), FusedLassoOptions{Lambda1: 1}, new(*workflow.WeightError)},
		{"a weight NaN", g(nan), y(1, 2), FusedLassoOptions{Lambda1: 1}, new(*workflow.WeightError)},
		{"an infinite weight", g(inf), y(1, 2), FusedLassoOptions{Lambda1: 1}, new(*workflow.WeightError)},
		{"opposite edges that differ", g(1, 2), y(1, 2), FusedLassoOptions{Lambda1: 1, Undirected: true}, new(*workflow.WeightError)},
		{"a vertex weight of 0", g(1), y(1, 2), FusedLassoOptions{VertexWeights: y(0, 1)}, new(*workflow.ParameterError)},
		{"a graph that is not square", matrix.New[float64](2, 3), y(1, 2), FusedLassoOptions{}, new(*matrix.DimensionError)},
	} {
		if _, err := FusedLasso(c.g, c.y, c.o); err == nil || !errors.As(err, c.want) {
			t.Errorf("%s: error %v, want %T", c.reason, err, c.want)
		}
	}
	ctx, stop := context.WithCancel(context.Background())
	stop()
	c := lassoGrid(20, 1)
	list := samples.Must[*matrix.Vector[float64]](t)(matrix.VectorOf(c.y))
	if _, err := FusedLasso(c.graph(t), list, FusedLassoOptions{Lambda1: 1, Run: workflow.Run{Context: ctx}}); !errors.Is(err, context.Canceled) {
		t.Errorf("a cancelled context: error %v", err)
	}
}

// A path gives the solutions of single runs, and so does a batch.
func TestFusedLassoPathAndBatch(t *testing.T) {
	t.Parallel()
	c := lassoGrid(16, 6)
	g := c.graph(t)
	y := samples.Must[*matrix.Vector[float64]](t)(matrix.VectorOf(c.y))
	lambdas := []float64{2, .1, .5, 0, math.Inf(1)}
	path := samples.Must[[]*FusedLassoResult](t)(FusedLassoPath(g, y, lambdas, FusedLassoOptions{Exact: true, Lambda2: .1}))
	for k, l1 := range lambdas {
		want := samples.Must[*FusedLassoResult](t)(FusedLasso(g, y, FusedLassoOptions{Lambda1: l1, Lambda2: .1, Exact: true}))
		got := path[k]
		if got.Lambda1 != l1 || math.Abs(got.Objective-want.Objective) > 1e-12*want.Objective || got.Regions != want.Regions || got.Zeros != want.Zeros {
			t.Errorf("λ₁ = %v: %+v, alone %+v", l1, got, want)
		}
	}
	columns := make([]float64, 0, 3*len(c.y))
	for _, x := range c.y {
		columns = append(columns, x, -x, x*x)
	}
	batch := samples.Must[*matrix.Matrix[float64]](t)(matrix.FromDense(len(c.y), 3, columns))
	list := samples.Must[[]*FusedLassoResult](t)(FusedLassoBatch(g, batch, FusedLassoOptions{Lambda1: .4, Exact: true}))
	for k, f := range []func(x float64) float64{func(x float64) float64 { return x }, func(x float64) float64 { return -x }, func(x float64) float64 { return x * x }} {
		d := c
		d.y = nil
		for _, x := range c.y {
			d.y = append(d.y, f(x))
		}
		want := d.solve(t, FusedLassoOptions{Lambda1: .4, Exact: true})
		if math.Abs(list[k].Objective-want.Objective) > 1e-12*want.Objective || list[k].Regions != want.Regions {
			t.Errorf("column %d: %+v, alone %+v", k, list[k], want)
		}
	}
}

// The sample of the workflow: objective and regions are published.
func TestFusedLassoPublished(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(samples.Folder(), "sfl")
	edges, err := os.ReadFile(filepath.Join(dir, "e"))
	if errors.Is(err, os.ErrNotExist) {
		t.Skip("no ../shared/data beside the checkout")
	}
	values, err2 := os.ReadFile(filepath.Join(dir, "n"))
	sure.Do(err, err2)
	c := lassoCase{}
	for _, f := range strings.Fields(string(values)) {
		var x float64
		fmt.Sscan(f, &x)
		c.y, c.nu = append(c.y, x), append(c.nu, 1)
	}
	for _, line := range strings.Split(string(edges), "\n")[1:201] { // of 201
		var i, j int
		fmt.Sscan(line, &i, &j)
		c.pairs, c.w = append(c.pairs, [2]int{i, j}), append(c.w, 1)
	}
	res := c.solve(t, FusedLassoOptions{Lambda1: 2, Exact: true})
	if math.Abs(res.Objective-2545.2590457) > 5e-8 || res.Regions != 55 || !res.Proven {
		t.Errorf("objective %.9f, %d regions, proven %v; want 2545.2590457, 55", res.Objective, res.Regions, res.Proven)
	}
}
