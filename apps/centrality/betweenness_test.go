package centrality

import (
	"math"
	bignum "math/big"
	"strconv"
	"testing"

	"github.com/hiveblas/hiveblas/apps/internal/samples"
	"github.com/hiveblas/hiveblas/apps/internal/workflow"
	"github.com/hiveblas/hiveblas/comm"
	"github.com/hiveblas/hiveblas/internal/longtest"
	"github.com/hiveblas/hiveblas/internal/sure"
	"github.com/hiveblas/hiveblas/matrix"
)

// manyPaths are graphs with counts of shortest paths beyond float64.

// diamonds is a chain of k diamonds: vertices 3i, 3i+1, 3i+2, 3i+3.
func diamonds(k int) samples.Sample {
	s := samples.Blank(3*k + 1)
	for i := 0; i < 3*k; i += 3 {
		s.Edges = append(s.Edges, samples.Edge{From: i, To: i + 1, Weight: 1}, samples.Edge{From: i, To: i + 2, Weight: 1}, samples.Edge{From: i + 1, To: i + 3, Weight: 1}, samples.Edge{From: i + 2, To: i + 3, Weight: 1})
	}
	return s
}

// layered is vertex 0, layers of width vertices with all edges from each to the next, and beside
// them a chain of as many vertices; both lead to the last vertex: a level has a count of 1 beside
// counts of width^layers.
func layered(width, layers int) samples.Sample {
	n := 2 + (width+1)*layers
	s := samples.Blank(n)
	at := func(layer, k int) int { return 1 + layer*(width+1) + k } // k = width is the chain
	for k := range width + 1 {
		s.Edges = append(s.Edges, samples.Edge{From: 0, To: at(0, k), Weight: 1}, samples.Edge{From: at(layers-1, k), To: n - 1, Weight: 1})
	}
	for l := range layers - 1 {
		for k := range width {
			for to := range width {
				s.Edges = append(s.Edges, samples.Edge{From: at(l, k), To: at(l+1, to), Weight: 1})
			}
		}
		s.Edges = append(s.Edges, samples.Edge{From: at(l, width), To: at(l+1, width), Weight: 1})
	}
	return s
}

// exactDependencies sums the dependencies on sources with counts of any size.
func exactDependencies(out [][]samples.Arc, sources []int) []float64 {
	n := len(out)
	sum := make([]float64, n)
	for _, s := range sources {
		level, order := make([]int, n), []int{s}
		level[s] = 1
		paths, depend := make([]*bignum.Int, n), make([]float64, n)
		paths[s] = bignum.NewInt(1)
		for k := 0; k < len(order); k++ {
			v := order[k]
			for _, e := range out[v] {
				if level[e.To] == 0 {
					level[e.To], paths[e.To] = level[v]+1, new(bignum.Int)
					order = append(order, e.To)
				}
				if level[e.To] == level[v]+1 {
					paths[e.To].Add(paths[e.To], paths[v])
				}
			}
		}
		for k := len(order) - 1; k > 0; k-- {
			v := order[k]
			for _, e := range out[v] {
				if level[e.To] == level[v]+1 {
					x := new(bignum.Float).SetPrec(64).SetInt(paths[v])
					ratio, _ := x.Quo(x, new(bignum.Float).SetPrec(64).SetInt(paths[e.To])).Float64()
					depend[v] += ratio * (1 + depend[e.To])
				}
			}
			sum[v] += depend[v]
		}
	}
	return sum
}

// Counts of paths beyond float64 give the sums of exact counts, in every form.
func TestBetweennessOfManyPaths(t *testing.T) {
	t.Parallel()
	for k, c := range []struct {
		reason string
		samples.Sample
		sources  []int
		pipeline bool
	}{
		{"diamonds, 2^700 paths", diamonds(700), []int{0, 300, 301, 2099}, true},
		{"diamonds both ways", diamonds(600).Both(), []int{0, 900, 901, 1800}, true},
		{"a single path beside 2^1200", layered(16, 300), []int{0, 5, 4000}, true},
		{"a single path beside 2^2400", layered(16, 600), []int{0}, false},
		{"a grid", samples.GridOf(280, 280), []int{0, 39340}, false},
		{"counts below the limit", samples.GridOf(40, 40), []int{0, 820}, true},
	} {
		if !longtest.Takes(k, 3) {
			continue
		}
		t.Run(c.reason, func(t *testing.T) {
			g := samples.Build[float64](t, c.Sample, matrix.CSR)
			want := exactDependencies(c.Arcs(), c.sources)
			check := func(form string, g matrix.Source[float64], run workflow.Run) {
				t.Helper()
				res, err := Betweenness(g, BetweennessOptions{Run: run, Sources: c.sources})
				if err != nil {
					t.Fatalf("%s: %v", form, err)
				}
				scale := float64(len(c.sources)) / float64(c.N)
				centrality, err := res.Centrality.Dense(0)
				if err != nil {
					t.Fatalf("%s: %v", form, err)
				}
				for v, x := range centrality {
					if x *= scale; !(math.Abs(x-want[v]) <= 1e-11*want[v]) {
						t.Fatalf("%s: vertex %d has %v, want %v", form, v, x, want[v])
					}
				}
			}
			check("host", g, workflow.Run{Threads: 2})
			check("host, transposed storage", g.T().T(), workflow.Run{Threads: 1})
			if !c.pipeline {
				return
			}
			check("pipeline", g, workflow.Run{Threads: 2, Method: workflow.Pipeline})
			at := sure.Get(comm.LocalGroup(2))
			ranks := g.Clone()
			sure.Do(ranks.Move(at))
			check("ranks", ranks, workflow.Run{})
		})
	}
}

// The pipeline counts beyond float64 on a device too.
func TestBetweennessOfManyPathsOnDevice(t *testing.T) {
	longtest.SkipInTurns(t, 1, 4)
	d := samples.RealOrEmulated(t)
	c := layered(64, 90) // 2^540 paths
	host := samples.Build[float64](t, c, matrix.CSR)
	there := host.Clone()
	sure.Do(there.Move(d.Device))
	o := BetweennessOptions{Sources: []int{0, 70}}
	want, err := Betweenness(host, o)
	if err != nil {
		t.Fatal(err)
	}
	got, err := Betweenness(there, o)
	if err != nil {
		t.Fatal(err)
	}
	sure.Do(got.Centrality.Move(nil))
	if !samples.SameSums(got.Centrality, want.Centrality, 1e-12) {
		t.Errorf("the device has %v, want %v", got.Centrality, want.Centrality)
	}
}

// A share and its product undo each other over the whole range of counts.
func TestWideCounts(t *testing.T) {
	for text, want := range map[string]float64{cudaMost: mostPaths, cudaLeast: 1 / mostPaths, cudaRoot: 0x1p-256} {
		if x, err := strconv.ParseFloat(text, 64); err != nil || x != want {
			t.Errorf("%s is %v, want %v", text, x, want)
		}
	}
	for _, c := range []wideCount{{1, 0}, {1.5, 3}, {mostPaths, 7}, {mostPaths * 0x1p30, 2}, {0x1p256, 1 << 30}} {
		if c = c.settled(); c.x < 1 || c.x > mostPaths {
			t.Errorf("%v is not settled", c)
		}
		for _, x := range []float64{1, 3, 1 << 31} {
			s := c.shareOf(x)
			if got := s.times(c); got != x {
				t.Errorf("%v of %v times it is %v", x, c, got)
			}
			if s.x < 1 || s.x > mostPaths*(1<<31) {
				t.Errorf("the share %v of %v is not normal", s, c)
			}
		}
		for _, less := range []wideCount{{1, c.e - 1}, {mostPaths, c.e - 2}, {7, c.e - 3}, {}} {
			if got, want := c.plus(less), less.plus(c); got != want || got.x < c.x || got.e != c.e {
				t.Errorf("%v + %v is %v and %v", c, less, got, want)
			}
		}
	}
}
