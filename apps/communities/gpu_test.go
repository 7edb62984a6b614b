package communities

import (
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

// weighted returns the matrix of a generated graph with weights by a function of the edge.
func weighted[T comparable](t testing.TB, g *gen.Graph, weight func(u, v int) T) *matrix.Matrix[T] {
	t.Helper()
	val := make([]T, g.NNZ())
	for u := range g.NRows {
		for p := g.Ptr[u]; p < g.Ptr[u+1]; p++ {
			val[p] = weight(min(u, int(g.Idx[p])), max(u, int(g.Idx[p])))
		}
	}
	return samples.Must[*matrix.Matrix[T]](t)(matrix.FromCSR(g.NRows, g.NCols, g.Ptr, g.Idx, val))
}

// patternSample returns a matrix as a sample of weights 1.
func patternSample(a *matrix.Matrix[bool]) samples.Sample {
	n, _ := a.Dims()
	s := samples.Blank(n)
	for c := range a.All() {
		s.Edges = append(s.Edges, samples.Edge{From: c.Row, To: c.Col, Weight: 1})
	}
	return s
}

// hubsAndGroups returns a graph of groups of vertices, each joined to some of few hubs, with rows
// of every length that kernels/louvain.cu has a way for.
func hubsAndGroups(n, hubs int) *gen.Graph {
	rng := rand.New(rand.NewSource(1))
	t := gen.Tuples{NRows: n, NCols: n}
	add := func(u, v int) {
		if u != v {
			t.Rows, t.Cols = append(t.Rows, int32(u)), append(t.Cols, int32(v))
		}
	}
	for v := hubs; v < n; v++ {
		add(v, v/20*20%n)
		add(v, hubs+(v-hubs)/50*50)
		add(v, min(n-1, hubs+(v-hubs)/50*50+rng.Intn(50)))
		for h := range hubs {
			if rng.Intn(h+1) == 0 {
				add(v, h)
			}
		}
	}
	for h := range hubs {
		for range 30 * h {
			add(h, rng.Intn(n))
		}
	}
	return gen.CSR(gen.Symmetrise(t))
}

// sameCommunities fails if results differ in any part.
func sameCommunities(t *testing.T, what string, got, want *CommunitiesResult) {
	t.Helper()
	if got.Modularity != want.Modularity || got.Count != want.Count || got.Largest != want.Largest || got.Passes != want.Passes || got.Capped != want.Capped {
		t.Errorf("%s: modularity %v, %d communities, the largest %d, passes %d, capped %v; want %v, %d, %d, %d, %v", what, got.Modularity, got.Count,
			got.Largest, got.Passes, got.Capped, want.Modularity, want.Count, want.Largest, want.Passes, want.Capped)
	}
	if len(got.Levels) != len(want.Levels) {
		t.Fatalf("%s: %d levels, want %d", what, len(got.Levels), len(want.Levels))
	}
	for k := range got.Levels {
		if !got.Levels[k].Equal(want.Levels[k]) {
			t.Errorf("%s: level %d differs", what, k)
		}
	}
}

// onBoth compares the fused form with the host.
func onBoth[T int32 | int64 | float64 | bool](t *testing.T, d samples.Gpu, what string, a *matrix.Matrix[T], o CommunitiesOptions) {
	t.Helper()
	want, err := Communities(a, o)
	if err != nil {
		t.Fatalf("%s: %v", what, err)
	}
	there := a.Clone()
	sure.Do(there.Move(d.Device))
	o.Method = workflow.Fused
	got, err := Communities(there, o)
	if err != nil {
		t.Fatalf("%s, fused: %v", what, err)
	}
	if got.Membership.Place() != matrix.Place(d.Device) {
		t.Errorf("%s: the result lives at %v", what, got.Membership.Place())
	}
	sameCommunities(t, what, got, want)
}

// The fused form gives the communities of the host: for rows of all lengths, weights of 32 and 64
// bits, loops, zeros, a start, passes, levels. The quick form takes each graph and each set of
// options once.
func TestCommunitiesFusedOnDevice(t *testing.T) {
	d := samples.RealOrEmulated(t)
	all := longtest.Enabled() || d.E == nil
	scale, n := 8, 2300
	switch {
	case d.E == nil:
		scale, n = 11, 4000
	case all:
		scale = 9
	}
	skew := gen.CSR(gen.Symmetrise(gen.RMAT(scale, 8, gen.RMATOptions{})), gen.KeepLoops)
	tuples, groundTruth := gen.Planted(1<<scale, 8<<scale, .3, 1)
	planted := gen.CSR(gen.Symmetrise(tuples))
	wide := hubsAndGroups(n, 3)
	one := func(int, int) bool { return true }
	small := func(u, v int) int32 { return int32((u + v) % 5) } // with zeros
	large := func(u, v int) int64 { return int64(1+(u*v)%7) << 30 }
	start := make([]int32, 1<<scale)
	for v := range start {
		start[v] = groundTruth[v] / 3
	}
	graphs := []struct {
		reason  string
		compare func(what string, o CommunitiesOptions)
	}{
		{"skewed", func(what string, o CommunitiesOptions) { onBoth(t, d, what, weighted(t, skew, one), o) }},
		{"planted", func(what string, o CommunitiesOptions) { onBoth(t, d, what, weighted(t, planted, small), o) }},
		{"planted, 64 bits", func(what string, o CommunitiesOptions) { onBoth(t, d, what, weighted(t, planted, large), o) }},
		{"hubs", func(what string, o CommunitiesOptions) { onBoth(t, d, what, weighted(t, wide, one), o) }},
		{"hubs, 64 bits", func(what string, o CommunitiesOptions) { onBoth(t, d, what, weighted(t, wide, large), o) }},
	}
	options := []struct {
		reason string
		o      CommunitiesOptions
	}{
		{"defaults", CommunitiesOptions{}},
		{"a start", CommunitiesOptions{Start: samples.VectorOf(t, start), Passes: 2}},
		{"a level of two sweeps", CommunitiesOptions{MaxLevels: 1, Resolution: .3, Sweeps: 2}},
		{"passes", CommunitiesOptions{Passes: 2, RandomSeed: 7}},
		{"all options", CommunitiesOptions{Resolution: 2.5, RandomSeed: 1 << 60, Passes: 3, MaxLevels: 2, Tolerance: 1e-4}},
	}
	for i, g := range graphs {
		for j, c := range options {
			for k, leiden := range []bool{false, true} {
				if !all && ((i+j)%len(options) != 1 || (i+k)%2 == 1) {
					continue
				}
				if d.E != nil && all && (i+j+k+longtest.Turn())%2 != 0 { // the emulator: the others the next turn
					continue
				}
				c.o.Leiden = leiden
				g.compare(fmt.Sprintf("%s, %s, Leiden %v", g.reason, c.reason, leiden), c.o)
			}
		}
	}
}

// Without determinism a result depends on the order in which vertices move: each is a right
// partition, and the median of five is as good as the one with determinism. (Of 60 of Louvain here,
// two joined two of the planted communities, at a modularity lower by .012.)
func TestCommunitiesNondeterministicOnDevice(t *testing.T) {
	d := samples.RealOrEmulated(t)
	tuples, groundTruth := gen.Planted(1500, 13500, .3, 3)
	a := weighted(t, gen.CSR(gen.Symmetrise(tuples)), func(int, int) bool { return true })
	there := a.Clone()
	sure.Do(there.Move(d.Device))
	for k, leiden := range []bool{false, true} {
		if !longtest.Takes(k, 2) {
			continue
		}
		o := CommunitiesOptions{Leiden: leiden}
		want := samples.Must[*CommunitiesResult](t)(Communities(a, o))
		o.Nondeterministic = true
		var qs []float64
		for range 5 {
			got := samples.Must[*CommunitiesResult](t)(Communities(there, o))
			q := samples.Must[float64](t)(Modularity(a, got.Membership))
			if q != got.Modularity || q < want.Modularity-.03 {
				t.Errorf("Leiden %v: modularity %v, reported %v, with determinism %v", leiden, q, got.Modularity, want.Modularity)
			}
			if x := nmi(sure.Get(got.Membership.Dense(-1)), groundTruth); x < .9 {
				t.Errorf("Leiden %v: mutual information %.3f", leiden, x)
			}
			if k := pieces(patternSample(a), sure.Get(got.Membership.Dense(-1))); leiden && k != got.Count {
				t.Errorf("%d communities in %d connected pieces", got.Count, k)
			}
			qs = append(qs, q)
		}
		if slices.Sort(qs); qs[2] < want.Modularity-.001 {
			t.Errorf("Leiden %v: modularities %v, with determinism %v", leiden, qs, want.Modularity)
		}
	}
}

// Weights that are no integers, or of a large sum, are rounded alike on the host and a device: both
// give the same communities, levels and modularity.
func TestCommunitiesOfFractionsOnDevice(t *testing.T) {
	d := samples.RealOrEmulated(t)
	g := hubsAndGroups(300, 2)
	tuples, _ := gen.Planted(400, 3200, .3, 4)
	planted := gen.CSR(gen.Symmetrise(tuples))
	rng := rand.New(rand.NewSource(6))
	drawn := map[[2]int]float64{}
	for _, c := range []struct {
		reason string
		g      *gen.Graph
		weight func(u, v int) float64
	}{
		{"roots", g, func(u, v int) float64 { return math.Sqrt(float64(u + v)) }},
		{"quarters", planted, func(u, v int) float64 { return float64((u+v)%9) / 4 }}, // with zeros
		{"near the largest number", g, func(u, v int) float64 { return 1e308 / float64(1+u+v) }},
		{"near the least number", g, func(u, v int) float64 { return 5e-320 * float64(1+u+v) }},
		{"integers of a large sum", planted, func(u, v int) float64 { return float64((u+v)%7) * (1 << 50) }},
		{"integers beyond 2⁵³", g, func(u, v int) float64 { return float64(1+u+v) * 0x1p70 }},
		{"of all sizes", planted, func(u, v int) float64 {
			if drawn[[2]int{u, v}] == 0 {
				drawn[[2]int{u, v}] = math.Ldexp(rng.Float64(), -rng.Intn(60))
			}
			return drawn[[2]int{u, v}]
		}},
	} {
		a := weighted(t, c.g, c.weight)
		onBoth(t, d, c.reason, a, CommunitiesOptions{})
		res := samples.Must[*CommunitiesResult](t)(Communities(a))
		if q := samples.Must[float64](t)(Modularity(a, res.Membership)); q != res.Modularity {
			t.Errorf("%s: modularity %v, reported %v", c.reason, q, res.Modularity)
		}
	}
	a := weighted(t, g, func(u, v int) float64 { return .5 })
	sure.Do(a.Set(0, 1, .25), a.Move(d.Device))
	var e *workflow.ParameterError
	if _, err := Communities(a); !errors.As(err, &e) || e.Arg != "the graph" {
		t.Errorf("a directed graph: %v", err)
	}
}
