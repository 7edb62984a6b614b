package auction

import (
	"context"
	"errors"
	"math"
	"math/rand"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/hiveblas/hiveblas/internal/longtest"
	"github.com/hiveblas/hiveblas/internal/sure"
	"github.com/hiveblas/hiveblas/matrix"
)

func init() { longtest.FewerChecks() }

// minCost is the oracle: successive shortest paths by the Bellman–Ford algorithm over
// the residual network, without duals. ok is false if the shorter side cannot be
// assigned completely.
func (g grid) minCost(maximize bool) (value float64, ok bool) {
	const source, sink = 0, 1
	type arc struct {
		from, to, room int
		cost           float64
	}
	var arcs []arc // arc k^1 is the reverse of arc k
	connect := func(from, to int, cost float64) {
		arcs = append(arcs, arc{from, to, 1, cost}, arc{to, from, 0, -cost})
	}
	for i := range g.m {
		connect(source, 2+i, 0)
		for j := range g.n {
			if c := g.at(i, j); !math.IsNaN(c) {
				if maximize {
					c = -c
				}
				connect(2+i, 2+g.m+j, c)
			}
		}
	}
	for j := range g.n {
		connect(2+g.m+j, sink, 0)
	}
	for range min(g.m, g.n) {
		dist, by := make([]float64, 2+g.m+g.n), make([]int, 2+g.m+g.n)
		for v := range dist {
			dist[v] = math.Inf(1)
		}
		dist[source] = 0
		for round, changed := 0, true; changed && round <= len(dist); round++ {
			changed = false
			for k, a := range arcs {
				if a.room > 0 && dist[a.from]+a.cost < dist[a.to]-1e-12 {
					dist[a.to], by[a.to], changed = dist[a.from]+a.cost, k, true
				}
			}
		}
		if math.IsInf(dist[sink], 1) {
			return 0, false
		}
		for v := sink; v != source; v = arcs[by[v]].from {
			arcs[by[v]].room--
			arcs[by[v]^1].room++
		}
		value += dist[sink]
	}
	if maximize {
		value = -value
	}
	return value, true
}

// drawGrid draws a problem of up to most rows and columns, with a default
// among its costs, or forbidden pairs.
func drawGrid(t *rapid.T, most int) (g grid, def float64) {
	g = grid{m: rapid.IntRange(1, most).Draw(t, "m"), n: rapid.IntRange(1, most).Draw(t, "n")}
	span := rapid.SampledFrom([]int64{1, 3, 100, 1 << 40}).Draw(t, "span")
	r := rand.New(rand.NewSource(rapid.Int64().Draw(t, "seed")))
	sparse := rapid.IntRange(0, 3).Draw(t, "missing, of 4")
	def = math.NaN()
	if rapid.Bool().Draw(t, "default") {
		def = float64(r.Int63n(span + 1))
	}
	g.c = make([]float64, g.m*g.n)
	for k := range g.c {
		g.c[k] = float64(r.Int63n(2*span+1) - span)
		if r.Intn(4) < sparse {
			g.c[k] = def
		}
	}
	return g, def
}

func TestAgainstFlows(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		g, def := drawGrid(r, 16)
		s := rapid.SampledFrom(solvers).Draw(r, "solver")
		s.o.Maximize, s.o.Seed = rapid.Bool().Draw(r, "maximize"), rapid.Uint64().Draw(r, "seed")
		want, ok := g.minCost(s.o.Maximize)
		res, err := Solve(problem[float64](t, g, def), s.o)
		if !ok {
			witnessed(t, g, err)
			return
		}
		if err != nil {
			t.Fatal(err)
		}
		check(t, g, s.o, res, want)
	})
}

func TestOffsetsDoNotChangeSquares(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		g, _ := drawGrid(r, 12)
		g.m = min(g.m, g.n)
		g.n = g.m
		g.c = g.c[:g.m*g.n]
		for k, x := range g.c {
			if math.IsNaN(x) {
				g.c[k] = 7
			}
		}
		s := rapid.SampledFrom(solvers).Draw(r, "solver")
		p := full[float64](t, g)
		plain, err := Solve(p, s.o)
		if err != nil {
			t.Fatal(err)
		}
		row, col := make([]float64, g.m), make([]float64, g.n)
		shift := 0.0
		for i := range row {
			row[i], col[i] = float64(10*i-3), float64(i*i)
			shift += row[i] + col[i]
		}
		moved, err := Solve(p.WithOffsets(row, col), s.o)
		if err != nil {
			t.Fatal(err)
		}
		if !slices.Equal(plain.Row, moved.Row) || moved.Value != plain.Value+shift || moved.Gap != plain.Gap {
			t.Fatalf("%v of %v, with offsets %v of %v, want %v more", plain.Row, plain.Value, moved.Row, moved.Value, shift)
		}
	})
}

func TestPermuted(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		g, def := drawGrid(r, 12)
		rows, cols := rand.New(rand.NewSource(1)).Perm(g.m), rand.New(rand.NewSource(2)).Perm(g.n)
		h := grid{m: g.m, n: g.n, c: make([]float64, len(g.c))}
		for i := range g.m {
			for j := range g.n {
				h.c[rows[i]*g.n+cols[j]] = g.c[i*g.n+j]
			}
		}
		o := Options{Method: rapid.SampledFrom([]Method{MethodAuction, MethodJonkerVolgenant}).Draw(r, "method")}
		a, errA := Solve(problem[float64](t, g, def), o)
		b, errB := Solve(problem[float64](t, h, def), o)
		if (errA == nil) != (errB == nil) {
			t.Fatalf("%v, permuted %v", errA, errB)
		}
		if errA == nil && a.Sum != b.Sum {
			t.Fatalf("the value is %v, permuted %v", a.Sum, b.Sum)
		}
	})
}

// The same seed gives the same assignment with any number of threads, and
// among ties another seed gives another.
func TestDeterminism(t *testing.T) {
	a := counts(6, 4)
	solve := func(threads int, seed uint64) *Result {
		t.Helper()
		res, err := Solve(Implicit[int32](a, 0), Options{Maximize: true, Method: MethodAuction, Bidding: Jacobi, Epsilon: 1, Threads: threads, Seed: seed})
		if err != nil {
			t.Fatal(err)
		}
		return res
	}
	one := solve(1, 4)
	for range 3 {
		if four := solve(4, 4); !slices.Equal(one.Row, four.Row) || !slices.Equal(one.Prices, four.Prices) || one.Bids != four.Bids {
			t.Fatal("four threads found another assignment")
		}
	}
	if other := solve(1, 5); slices.Equal(one.Row, other.Row) {
		t.Error("another seed found the same among ties")
	}
}

func TestWarmStart(t *testing.T) {
	a := counts(6, 4)
	for _, s := range solvers {
		o := s.o
		o.Maximize = true
		cold, err := Solve(Implicit[int32](a, 0), o)
		if err != nil {
			t.Fatal(err)
		}
		for _, prices := range [][]float64{cold.Prices, make([]float64, len(cold.Prices))} {
			o.Prices = prices
			warm, err := Solve(Implicit[int32](a, 0), o)
			if err != nil {
				t.Fatal(err)
			}
			if better := float64(warm.Sum - cold.Sum); -better > warm.Gap || better > cold.Gap {
				t.Errorf("%s: %d from prices, with gap %v; %d with gap %v", s.name, warm.Sum, warm.Gap, cold.Sum, cold.Gap)
			}
		}
	}
}

// Without scaling there is one phase, and few rounds where rows want different
// columns.
func TestNoScaling(t *testing.T) {
	a := counts(6, 4)
	solve := func(o Options) *Result {
		o.Maximize, o.Method, o.Bidding, o.Epsilon = true, MethodAuction, Jacobi, 1./4
		res, err := Solve(Implicit[int32](a, 0), o)
		if err != nil {
			t.Fatal(err)
		}
		return res
	}
	scaled, direct := solve(Options{}), solve(Options{NoScaling: true})
	if direct.Phases != 1 || scaled.Phases < 2 {
		t.Errorf("%d phases, and %d with scaling", direct.Phases, scaled.Phases)
	}
	if most := float64(len(direct.Row)) / 4; direct.Gap > most || scaled.Gap > most {
		t.Errorf("gaps %v and %v, want %v at most", direct.Gap, scaled.Gap, most)
	}
}

// The result is exact for every core, also if the cheap entries are the wrong ones.
func TestCore(t *testing.T) {
	r := rand.New(rand.NewSource(8))
	const most = 900
	var x, y [most][5]int32
	for i := range x {
		for k := range x[i] {
			x[i][k], y[i][k] = r.Int31n(1000), r.Int31n(1000)
		}
	}
	for _, c := range []struct {
		reason string
		n      int
		cost   func(i, j int) int32
	}{
		{"distances in the plane, where larger cores gain", most, func(i, j int) int32 {
			return int32(10 * math.Hypot(float64(x[i][0]-y[j][0]), float64(x[i][1]-y[j][1])))
		}},
		{"of rank 5, where rows agree on the cheap columns", 300, func(i, j int) (sum int32) {
			for k, a := range x[i] {
				sum += a * y[j][k] / 10
			}
			return sum
		}},
		{"uniform", 300, func(_, _ int) int32 { return r.Int31n(1000) }},
		{"all equal", 300, func(_, _ int) int32 { return 5 }},
		{"products, which want the dearest of each row", 300, func(i, j int) int32 { return int32(i * j) }},
		{"differences", 300, func(i, j int) int32 { return int32((i - j) * (i - j)) }},
		{"one column is cheap", 300, func(_, j int) int32 { return int32(min(j, 1)) }},
	} {
		n := c.n
		val := make([]int32, n*n)
		for k := range val {
			val[k] = c.cost(k/n, k%n)
		}
		in := &instance[int32]{m: n, n: n, val: val}
		want, got := newPaths(in, context.Background()), newPaths(in, context.Background())
		want.free, got.free = want.free[:0], got.free[:0]
		for _, s := range []*paths[int32]{want, got} {
			s.columnReduction()
			s.reductionTransfer()
		}
		sure.Do(want.finishDense(), got.denseByCore(2))
		sum := func(s *paths[int32]) (total int64) {
			for i, j := range s.colOf {
				total += int64(in.at(int32(i), j))
			}
			return total
		}
		if bound := got.bound(1); sum(got) != sum(want) || bound.whole != sum(want) {
			t.Errorf("%s: %d by core, bound %d, want %d", c.reason, sum(got), bound.whole, sum(want))
		}
	}
}

// Larger problems without an assignment, with the witness in the middle.
func TestWitnesses(t *testing.T) {
	r := rand.New(rand.NewSource(9))
	for range 20 {
		n := 30 + r.Intn(30)
		g := grid{m: n, n: n + r.Intn(3), c: nil}
		g.c = make([]float64, g.m*g.n)
		tight := 5 + r.Intn(10) // rows 10 … 10+tight share tight−1 columns
		for k := range g.c {
			i, j := k/g.n, k%g.n
			g.c[k] = float64(r.Intn(9))
			if i >= 10 && i < 10+tight && j >= tight-1 || i < 10 && r.Intn(2) == 0 {
				g.c[k] = math.NaN()
			}
		}
		for _, s := range solvers {
			_, err := Solve(problem[float64](t, g, math.NaN()), s.o)
			witnessed(t, g, err)
		}
	}
}

func TestContextEnds(t *testing.T) {
	a := sure.Get(matrix.FromDense(40, 40, make([]int32, 1600)))
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	for _, s := range solvers {
		s.o.Context = ctx
		if _, err := Solve(Dense[int32](a), s.o); !errors.Is(err, context.Canceled) {
			t.Errorf("%s: the error is %v", s.name, err)
		}
	}
	// During the work, at the first progress report.
	for _, s := range solvers {
		ctx, cancel := context.WithCancel(t.Context())
		s.o.Context, s.o.Maximize = ctx, true
		s.o.Progress = func(string, int64, int64) { cancel() }
		if _, err := Solve(Implicit[int32](counts(9, 4), 0), s.o); !errors.Is(err, context.Canceled) {
			t.Errorf("%s: in the middle the error is %v", s.name, err)
		}
		cancel()
	}
}
