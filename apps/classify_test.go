package apps

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand"
	"testing"

	"pgregory.net/rapid"

	"github.com/hiveblas/hiveblas/matrix"
	"github.com/hiveblas/hiveblas/ops"
)

// A featured graph is an Attributed as plain slices, for the oracle.
type featured struct {
	vertices, edges [][]float64 // features
	from, to        []int
}

// parts returns the arguments of NewAttributed.
func (g featured) parts(t testing.TB, f, h int) (vertices, edges *matrix.Matrix[float32], from, to []int32) {
	t.Helper()
	turn := func(rows [][]float64, f int) *matrix.Matrix[float32] {
		val := make([]float32, f*len(rows))
		for k, row := range rows {
			for i, x := range row {
				val[i*len(rows)+k] = float32(x)
			}
		}
		return must[*matrix.Matrix[float32]](t)(matrix.FromDense(f, len(rows), val))
	}
	return turn(g.vertices, f), turn(g.edges, h), numbers(g.from), numbers(g.to)
}

// attributed returns the graph of parts.
func attributed(t testing.TB, g featured, f, h int) *Attributed {
	t.Helper()
	return must[*Attributed](t)(NewAttributed(g.parts(t, f, h)))
}

// drawFeatured draws a graph of n vertices and m edges with f and h features,
// multiple edges, loops and vertices without edges among them.
func drawFeatured(rng *rand.Rand, n, m, f, h int, spread float64) featured {
	g := featured{}
	row := func(f int) []float64 {
		x := make([]float64, f)
		for i := range x {
			x[i] = float64(float32(rng.Float64() * spread))
		}
		return x
	}
	for range n {
		g.vertices = append(g.vertices, row(f))
	}
	for range m {
		from, to := rng.Intn(n), rng.Intn(n)
		if k := len(g.from); k > 0 && rng.Intn(4) == 0 {
			from, to = g.from[k-1], g.to[k-1] // a repeated edge
		}
		g.edges, g.from, g.to = append(g.edges, row(h)), append(g.from, from), append(g.to, to)
	}
	return g
}

// classifyNaively is the oracle: the formulas of the issue one by one, over
// all edges of both graphs, in float64.
func classifyNaively(data, pattern featured, rounds int, corrected bool) [][]float64 {
	n, e, np, q := len(data.vertices), len(data.edges), len(pattern.vertices), len(pattern.edges)
	table := func(m, n int, f func(i, j int) float64) [][]float64 {
		x := make([][]float64, m)
		for i := range x {
			x[i] = make([]float64, n)
			for j := range x[i] {
				x[i][j] = f(i, j)
			}
		}
		return x
	}
	colmax := func(x [][]float64, j int) float64 {
		most := math.Inf(-1)
		for i := range x {
			most = max(most, x[i][j])
		}
		return most
	}
	normprob := func(x [][]float64) [][]float64 {
		if len(x) == 0 {
			return x
		}
		lse := make([]float64, len(x[0]))
		for j := range lse {
			most, sum := colmax(x, j), 0.0
			for i := range x {
				sum += math.Exp(x[i][j] - most)
			}
			lse[j] = most + math.Log(sum)
		}
		return table(len(x), len(x[0]), func(i, j int) float64 { return x[i][j] - lse[j] })
	}
	dist := func(x, y [][]float64, sign float64) [][]float64 {
		return table(len(x), len(y), func(i, j int) float64 {
			sum := 0.0
			for k := range x[i] {
				sum += (x[i][k] - y[j][k]) * (x[i][k] - y[j][k])
			}
			return sign * math.Sqrt(sum)
		})
	}
	strongest := func(msg [][]float64, at []int, null [][]float64) [][]float64 {
		nulls := make([]float64, q)
		for p := range nulls {
			nulls[p] = colmax(null, p)
		}
		x := table(n, q, func(_, p int) float64 { return nulls[p] })
		for k, v := range at {
			for p := range q {
				x[v][p] = max(x[v][p], msg[k][p])
			}
		}
		return x
	}
	cv, mu := normprob(dist(data.vertices, pattern.vertices, 1)), normprob(dist(data.vertices, pattern.vertices, -1))
	ce, xe := normprob(dist(data.edges, pattern.edges, 1)), normprob(dist(data.edges, pattern.edges, -1))
	muAt := func(end []int) [][]float64 { return table(n, q, func(v, p int) float64 { return mu[v][end[p]] }) }
	fmax := strongest(xe, data.to, muAt(pattern.from))
	rmax := strongest(xe, data.from, muAt(pattern.to))
	for range rounds {
		vf := table(n, q, func(v, p int) float64 { return mu[v][pattern.to[p]] - fmax[v][p] })
		vr := table(n, q, func(v, p int) float64 { return mu[v][pattern.from[p]] - rmax[v][p] })
		back := data.from
		if corrected {
			back = data.to
		}
		fe := normprob(table(e, q, func(k, p int) float64 { return vr[data.from[k]][p] - ce[k][p] }))
		re := normprob(table(e, q, func(k, p int) float64 { return vf[back[k]][p] - ce[k][p] }))
		rmax, fmax = strongest(re, data.from, vf), strongest(fe, data.to, vr)
		mu = table(n, np, func(v, j int) float64 {
			sum := -cv[v][j]
			for p := range q {
				if pattern.to[p] == j {
					sum += fmax[v][p]
				}
				if pattern.from[p] == j {
					sum += rmax[v][p]
				}
			}
			return sum
		})
		mu = normprob(mu)
	}
	return mu
}

// sameBeliefs compares with the oracle, to 2e-5 of the largest magnitude; the
// columns must add up to 1.
func sameBeliefs(t testing.TB, what string, got *matrix.Matrix[float32], want [][]float64) {
	t.Helper()
	n, np := got.Dims()
	largest := 1.0
	for _, row := range want {
		for _, x := range row {
			largest = max(largest, math.Abs(x))
		}
	}
	if n != len(want) || got.NVals() != int64(n)*int64(np) {
		t.Fatalf("%s: %v, want %d rows, full", what, got, len(want))
	}
	sums := make([]float64, np)
	for at, x := range got.All() {
		if w := want[at.Row][at.Col]; !(math.Abs(float64(x)-w) <= 2e-5*largest) {
			t.Fatalf("%s: vertex %d for %d has %v, want %v", what, at.Row, at.Col, x, w)
		}
		sums[at.Col] += math.Exp(float64(x))
	}
	for j, sum := range sums {
		if n > 0 && math.Abs(sum-1) > 1e-4 {
			t.Errorf("%s: the probabilities of %d add up to %v", what, j, sum)
		}
	}
}

var featuredSizes = []struct {
	reason                         string
	n, m, np, q, vertices, ofEdges int
	spread                         float64
}{
	{"one of each", 1, 1, 1, 1, 1, 1, 1},
	{"no edge in the data", 4, 0, 3, 4, 2, 3, 1},
	{"no edge in the pattern", 5, 9, 3, 0, 2, 3, 1},
	{"no vertex in the pattern", 5, 9, 0, 0, 2, 3, 1},
	{"no vertex in the data", 0, 0, 2, 3, 2, 3, 1},
	{"no features", 5, 9, 3, 4, 0, 0, 1},
	{"no features of edges", 5, 9, 3, 4, 2, 0, 1},
	{"few", 7, 12, 4, 6, 3, 2, 1},
	{"more edges than a chunk into a vertex", 3, 900, 3, 4, 2, 2, 4},
	{"a pattern larger than the data", 3, 5, 8, 40, 2, 2, 1},
	{"features far apart", 30, 90, 5, 8, 3, 4, 1000},
	{"as wide as the HIVE data", 60, 400, 10, 21, 13, 17, 10},
}

func TestClassify(t *testing.T) {
	for k, c := range featuredSizes {
		t.Run(c.reason, func(t *testing.T) {
			rng := rand.New(rand.NewSource(int64(k)))
			data := drawFeatured(rng, c.n, c.m, c.vertices, c.ofEdges, c.spread)
			pattern := drawFeatured(rng, c.np, c.q, c.vertices, c.ofEdges, c.spread)
			d, p := attributed(t, data, c.vertices, c.ofEdges), attributed(t, pattern, c.vertices, c.ofEdges)
			for _, corrected := range []bool{false, true} {
				for _, memory := range []int64{0, 1, int64(4*c.m*c.q) / 2} {
					for _, rounds := range []int{0, -1, 3} {
						what := fmt.Sprintf("corrected %v, %d bytes, %d rounds", corrected, memory, rounds)
						got, err := Classify(d, p, ClassifyOptions{Run: Run{Threads: 1 + k%3}, CorrectedGather: corrected, Memory: memory, Iterations: rounds})
						if err != nil {
							t.Fatalf("%s: %v", what, err)
						}
						if rounds == 0 {
							rounds = c.np
						}
						sameBeliefs(t, what, got, classifyNaively(data, pattern, max(rounds, 0), corrected))
					}
				}
			}
		})
	}
}

func TestClassifyRandom(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		rng := rand.New(rand.NewSource(rapid.Int64().Draw(r, "seed")))
		f, h := rapid.IntRange(1, 3).Draw(r, "features"), rapid.IntRange(1, 3).Draw(r, "of edges")
		data := drawFeatured(rng, rapid.IntRange(1, 12).Draw(r, "n"), rapid.IntRange(0, 40).Draw(r, "m"), f, h, 5)
		pattern := drawFeatured(rng, rapid.IntRange(1, 5).Draw(r, "pattern"), rapid.IntRange(0, 8).Draw(r, "edges"), f, h, 5)
		corrected := rapid.Bool().Draw(r, "corrected")
		got, err := Classify(attributed(t, data, f, h), attributed(t, pattern, f, h), ClassifyOptions{CorrectedGather: corrected})
		if err != nil {
			r.Fatal(err)
		}
		sameBeliefs(t, "random", got, classifyNaively(data, pattern, len(pattern.vertices), corrected))
	})
}

// A pattern that is a part of the data with distinct features is found at its
// place.
func TestClassifyFindsACopy(t *testing.T) {
	rng := rand.New(rand.NewSource(7))
	data := drawFeatured(rng, 200, 1500, 4, 3, 100)
	where := []int{17, 42, 3, 150}
	pattern := featured{}
	for _, v := range where {
		pattern.vertices = append(pattern.vertices, data.vertices[v])
	}
	for j := range where { // edges of the data between them
		from, to := j, (j+1)%len(where)
		features := []float64{float64(j), 5, 9}
		data.edges, data.from, data.to = append(data.edges, features), append(data.from, where[from]), append(data.to, where[to])
		pattern.edges, pattern.from, pattern.to = append(pattern.edges, features), append(pattern.from, from), append(pattern.to, to)
	}
	mu := must[*matrix.Matrix[float32]](t)(Classify(attributed(t, data, 4, 3), attributed(t, pattern, 4, 3), ClassifyOptions{}))
	for j, v := range where {
		best := 0
		for u := range data.vertices {
			x, _ := mu.At(u, j)
			if y, _ := mu.At(best, j); x > y {
				best = u
			}
		}
		if best != v {
			t.Errorf("vertex %d of the pattern is found at %d, want %d", j, best, v)
		}
	}
}

func TestClassifyErrors(t *testing.T) {
	rng := rand.New(rand.NewSource(1))
	g := drawFeatured(rng, 4, 6, 2, 3, 1)
	good := attributed(t, g, 2, 3)
	spoilt := func(x float64, edge bool) *Attributed {
		g := drawFeatured(rng, 4, 6, 2, 3, 1)
		if edge {
			g.edges[5][2] = x
		} else {
			g.vertices[3][1] = x
		}
		return attributed(t, g, 2, 3)
	}
	holes := *good
	holes.Vertices = matrix.New[float32](2, 4)
	short := *good
	short.Source = matrix.New[bool](6, 4)
	for _, c := range []struct {
		reason        string
		data, pattern *Attributed
		want          error
	}{
		{"no data", nil, good, &ParameterError{}},
		{"no pattern", good, nil, &ParameterError{}},
		{"NaN", spoilt(math.NaN(), false), good, &ParameterError{"Classify", "feature 1 of the data, vertex 3", "NaN", "a number of at most ±1e+15"}},
		{"infinite", good, spoilt(math.Inf(-1), true), &ParameterError{"Classify", "feature 2 of the pattern, edge 5", "-Inf", "a number of at most ±1e+15"}},
		{"large", spoilt(1e20, true), good, &ParameterError{"Classify", "feature 2 of the data, edge 5", "1e+20", "a number of at most ±1e+15"}},
		{"other features of vertices", attributed(t, drawFeatured(rng, 4, 6, 3, 3, 1), 3, 3), good, matrix.ErrDimension},
		{"other features of edges", good, attributed(t, drawFeatured(rng, 4, 6, 2, 1, 1), 2, 1), matrix.ErrDimension},
		{"features missing", &holes, good, matrix.ErrInvalid},
		{"sources missing", good, &short, matrix.ErrInvalid},
		{"other vertices than edges know", good, &Attributed{matrix.New[float32](2, 0), good.Edges, good.Source, good.Target}, matrix.ErrDimension},
	} {
		mu, err := Classify(c.data, c.pattern, ClassifyOptions{})
		var p *ParameterError
		if mu != nil || err == nil {
			t.Errorf("%s: no error", c.reason)
		} else if errors.As(c.want, &p) {
			if !errors.As(err, &p) || c.want.(*ParameterError).App != "" && err.Error() != c.want.Error() {
				t.Errorf("%s: %v, want %v", c.reason, err, c.want)
			}
		} else if !errors.Is(err, c.want) {
			t.Errorf("%s: %v, want %v", c.reason, err, c.want)
		}
	}
	if _, err := Classify(good, good, ClassifyOptions{Memory: -1}); !errors.As(err, new(*ParameterError)) {
		t.Errorf("negative memory: %v", err)
	}
	if _, err := NewAttributed(good.Vertices, good.Edges, make([]int32, 5), make([]int32, 6)); !errors.Is(err, matrix.ErrDimension) {
		t.Errorf("a source missing: %v", err)
	}
	if _, err := NewAttributed(good.Vertices, good.Edges, make([]int32, 6), []int32{0, 1, 4, 0, 0, 0}); !errors.Is(err, matrix.ErrIndex) {
		t.Errorf("a target that does not exist: %v", err)
	}
}

func TestClassifyStopsAndTells(t *testing.T) {
	rng := rand.New(rand.NewSource(1))
	g := attributed(t, drawFeatured(rng, 40, 60, 2, 3, 1), 2, 3)
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := Classify(g, g, ClassifyOptions{Run: Run{Context: ctx}}); !errors.Is(err, context.Canceled) {
		t.Errorf("with a cancelled context: %v", err)
	}
	ctx, cancel = context.WithCancel(context.Background())
	defer cancel()
	reports, traces := 0, 0
	_, err := Classify(g, g, ClassifyOptions{Run: Run{Context: ctx, Threads: 2,
		Trace: func(ops.Trace) { traces++ },
		Progress: func(_ string, done, total int64) {
			if reports++; done > 2 {
				cancel()
			}
		}}})
	if !errors.Is(err, context.Canceled) || reports != 4 || traces == 0 {
		t.Errorf("cancelled after 3 rounds: %v after %d reports and %d traces", err, reports, traces)
	}
}

// A device agrees with the host, within the rounding of another order of sums.
func TestClassifyOnDevice(t *testing.T) {
	at := realOrEmulated(t)
	for k, c := range featuredSizes {
		t.Run(c.reason, func(t *testing.T) {
			rng := rand.New(rand.NewSource(int64(k)))
			data := drawFeatured(rng, c.n, c.m, c.vertices, c.ofEdges, c.spread)
			pattern := drawFeatured(rng, c.np, c.q, c.vertices, c.ofEdges, c.spread)
			d, p := attributed(t, data, c.vertices, c.ofEdges), attributed(t, pattern, c.vertices, c.ofEdges)
			for _, g := range []*Attributed{d, p} {
				if err := g.Move(at.Device); err != nil {
					t.Fatal(err)
				}
			}
			for _, corrected := range []bool{false, true} {
				for _, memory := range []int64{0, int64(4*c.m*c.q)/2 + 1} {
					what := fmt.Sprintf("corrected %v, %d bytes", corrected, memory)
					got, err := Classify(d, p, ClassifyOptions{CorrectedGather: corrected, Memory: memory, Iterations: 3})
					if err != nil {
						t.Fatalf("%s: %v", what, err)
					}
					if got.Place() != at.Device {
						t.Errorf("%s: the result lives at %v", what, got.Place())
					}
					sameBeliefs(t, what, got, classifyNaively(data, pattern, 3, corrected))
				}
			}
		})
	}
}
