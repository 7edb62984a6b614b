package classify

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand"
	"testing"

	"github.com/hiveblas/hiveblas/apps/internal/samples"
	"github.com/hiveblas/hiveblas/apps/internal/workflow"
	"github.com/hiveblas/hiveblas/internal/sure"
	"github.com/hiveblas/hiveblas/matrix"
	"github.com/hiveblas/hiveblas/ops"
	"pgregory.net/rapid"
)

// attributed returns the graph of parts.
func attributed(t testing.TB, g samples.Featured, f, h int) *Attributed {
	t.Helper()
	return samples.Must[*Attributed](t)(NewAttributed(g.Parts(t, f, h)))
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
			data := samples.DrawFeatured(rng, c.n, c.m, c.vertices, c.ofEdges, c.spread)
			pattern := samples.DrawFeatured(rng, c.np, c.q, c.vertices, c.ofEdges, c.spread)
			d, p := attributed(t, data, c.vertices, c.ofEdges), attributed(t, pattern, c.vertices, c.ofEdges)
			for _, corrected := range []bool{false, true} {
				for _, memory := range []int64{0, 1, int64(4*c.m*c.q) / 2} {
					for _, rounds := range []int{0, -1, 3} {
						what := fmt.Sprintf("corrected %v, %d bytes, %d rounds", corrected, memory, rounds)
						got, err := Classify(d, p, ClassifyOptions{Run: workflow.Run{Threads: 1 + k%3}, CorrectedGather: corrected, Memory: memory, Iterations: rounds})
						if err != nil {
							t.Fatalf("%s: %v", what, err)
						}
						if rounds == 0 {
							rounds = c.np
						}
						samples.SameBeliefs(t, what, got, samples.ClassifyNaively(data, pattern, max(rounds, 0), corrected))
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
		data := samples.DrawFeatured(rng, rapid.IntRange(1, 12).Draw(r, "n"), rapid.IntRange(0, 40).Draw(r, "m"), f, h, 5)
		pattern := samples.DrawFeatured(rng, rapid.IntRange(1, 5).Draw(r, "pattern"), rapid.IntRange(0, 8).Draw(r, "edges"), f, h, 5)
		corrected := rapid.Bool().Draw(r, "corrected")
		got, err := Classify(attributed(t, data, f, h), attributed(t, pattern, f, h), ClassifyOptions{CorrectedGather: corrected})
		if err != nil {
			r.Fatal(err)
		}
		samples.SameBeliefs(t, "random", got, samples.ClassifyNaively(data, pattern, len(pattern.Vertices), corrected))
	})
}

// A pattern that is a part of the data with distinct features is found at its
// place.
func TestClassifyFindsACopy(t *testing.T) {
	rng := rand.New(rand.NewSource(7))
	data := samples.DrawFeatured(rng, 200, 1500, 4, 3, 100)
	where := []int{17, 42, 3, 150}
	pattern := samples.Featured{}
	for _, v := range where {
		pattern.Vertices = append(pattern.Vertices, data.Vertices[v])
	}
	for j := range where { // edges of the data between them
		from, to := j, (j+1)%len(where)
		features := []float64{float64(j), 5, 9}
		data.Edges, data.From, data.To = append(data.Edges, features), append(data.From, where[from]), append(data.To, where[to])
		pattern.Edges, pattern.From, pattern.To = append(pattern.Edges, features), append(pattern.From, from), append(pattern.To, to)
	}
	mu := samples.Must[*matrix.Matrix[float32]](t)(Classify(attributed(t, data, 4, 3), attributed(t, pattern, 4, 3), ClassifyOptions{}))
	for j, v := range where {
		best := 0
		for u := range data.Vertices {
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
	g := samples.DrawFeatured(rng, 4, 6, 2, 3, 1)
	good := attributed(t, g, 2, 3)
	spoilt := func(x float64, edge bool) *Attributed {
		g := samples.DrawFeatured(rng, 4, 6, 2, 3, 1)
		if edge {
			g.Edges[5][2] = x
		} else {
			g.Vertices[3][1] = x
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
		{"no data", nil, good, &workflow.ParameterError{}},
		{"no pattern", good, nil, &workflow.ParameterError{}},
		{"NaN", spoilt(math.NaN(), false), good, &workflow.ParameterError{App: "Classify", Arg: "feature 1 of the data, vertex 3", Got: "NaN", Want: "a number of at most ±1e+15"}},
		{"infinite", good, spoilt(math.Inf(-1), true), &workflow.ParameterError{App: "Classify", Arg: "feature 2 of the pattern, edge 5", Got: "-Inf", Want: "a number of at most ±1e+15"}},
		{"large", spoilt(1e20, true), good, &workflow.ParameterError{App: "Classify", Arg: "feature 2 of the data, edge 5", Got: "1e+20", Want: "a number of at most ±1e+15"}},
		{"other features of vertices", attributed(t, samples.DrawFeatured(rng, 4, 6, 3, 3, 1), 3, 3), good, matrix.ErrDimension},
		{"other features of edges", good, attributed(t, samples.DrawFeatured(rng, 4, 6, 2, 1, 1), 2, 1), matrix.ErrDimension},
		{"features missing", &holes, good, matrix.ErrInvalid},
		{"sources missing", good, &short, matrix.ErrInvalid},
		{"other vertices than edges know", good, &Attributed{matrix.New[float32](2, 0), good.Edges, good.Source, good.Target}, matrix.ErrDimension},
	} {
		mu, err := Classify(c.data, c.pattern, ClassifyOptions{})
		var p *workflow.ParameterError
		if mu != nil || err == nil {
			t.Errorf("%s: no error", c.reason)
		} else if errors.As(c.want, &p) {
			if !errors.As(err, &p) || c.want.(*workflow.ParameterError).App != "" && err.Error() != c.want.Error() {
				t.Errorf("%s: %v, want %v", c.reason, err, c.want)
			}
		} else if !errors.Is(err, c.want) {
			t.Errorf("%s: %v, want %v", c.reason, err, c.want)
		}
	}
	if _, err := Classify(good, good, ClassifyOptions{Memory: -1}); !errors.As(err, new(*workflow.ParameterError)) {
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
	g := attributed(t, samples.DrawFeatured(rng, 40, 60, 2, 3, 1), 2, 3)
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := Classify(g, g, ClassifyOptions{Run: workflow.Run{Context: ctx}}); !errors.Is(err, context.Canceled) {
		t.Errorf("with a cancelled context: %v", err)
	}
	ctx, cancel = context.WithCancel(context.Background())
	defer cancel()
	reports, traces := 0, 0
	_, err := Classify(g, g, ClassifyOptions{Run: workflow.Run{Context: ctx, Threads: 2,
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
	at := samples.RealOrEmulated(t)
	for k, c := range featuredSizes {
		t.Run(c.reason, func(t *testing.T) {
			rng := rand.New(rand.NewSource(int64(k)))
			data := samples.DrawFeatured(rng, c.n, c.m, c.vertices, c.ofEdges, c.spread)
			pattern := samples.DrawFeatured(rng, c.np, c.q, c.vertices, c.ofEdges, c.spread)
			d, p := attributed(t, data, c.vertices, c.ofEdges), attributed(t, pattern, c.vertices, c.ofEdges)
			for _, g := range []*Attributed{d, p} {
				sure.Do(g.Move(at.Device))
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
					samples.SameBeliefs(t, what, got, samples.ClassifyNaively(data, pattern, 3, corrected))
				}
			}
		})
	}
}
