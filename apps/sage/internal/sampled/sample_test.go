package sampled

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/hiveblas/hiveblas/apps/internal/samples"
	"github.com/hiveblas/hiveblas/apps/internal/workflow"
	"github.com/hiveblas/hiveblas/apps/sage/internal/neural"
	"github.com/hiveblas/hiveblas/internal/sure"
	"github.com/hiveblas/hiveblas/matrix"
	"github.com/hiveblas/hiveblas/ops"
	"github.com/hiveblas/hiveblas/semiring"
)

// Choices have the frequencies of their sampling.
func TestSAGESampling(t *testing.T) {
	t.Parallel()
	s := samples.Star(7) // values 1 to 6 from vertex 0
	s.Edges = append(s.Edges, samples.Edge{From: 1, To: 2, Weight: 1}, samples.Edge{From: 1, To: 3, Weight: 1}, samples.Edge{From: 2, To: 3, Weight: 1})
	g := samples.Build[float64](t, s, matrix.CSR)
	for _, c := range []struct {
		sampling Rule
		weight   func(u int32) float64
	}{
		{Uniform, func(int32) float64 { return 1 }},
		{sampleByWeight, func(u int32) float64 { return float64(u) }},
		{sampleByDegree, func(u int32) float64 { return map[int32]float64{1: 2}[u] + 1 - map[int32]float64{1: 1}[u] }},
	} {
		for _, replace := range []bool{true, false} {
			at, err := NewGraph("test", g, workflow.Run{}, c.sampling, replace, 3, neural.AggregateMean)
			if err != nil {
				t.Fatal(err)
			}
			const rounds = 20000
			first, sum := map[int32]float64{}, 0.0
			for u := int32(1); u < 7; u++ {
				sum += c.weight(u)
			}
			var choice Choice
			for r := range uint64(rounds) {
				samples := 3
				if !replace {
					samples = 1 // one draw has the probabilities themselves
				}
				at.Choose(0, r, 1, samples, &choice)
				total := 0.0
				for k, u := range choice.At {
					first[u] += choice.Weight[k]
					total += choice.Weight[k]
				}
				if math.Abs(total-1) > 1e-12 || !slices.IsSorted(choice.At) {
					t.Fatalf("weights %v of %v", choice.Weight, choice.At)
				}
				if !replace && r < 100 {
					at.Choose(0, r, 0, 4, &choice)
					if len(choice.At) != 4 {
						t.Fatalf("%v without replacement: %v", c.sampling, choice.At)
					}
				}
			}
			for u := int32(1); u < 7; u++ {
				p := c.weight(u) / sum
				if got := first[u] / rounds; math.Abs(got-p) > 5*math.Sqrt(p*(1-p)/rounds) {
					t.Errorf("%v, replace %v: vertex %d has frequency %v, want %v", c.sampling, replace, u, got, p)
				}
			}
		}
	}
	at, err := NewGraph("test", g, workflow.Run{}, sampleByWalks, false, 3, neural.AggregateMean)
	if err != nil {
		t.Fatal(err)
	}
	var choice Choice
	at.Choose(0, 1, 0, 2, &choice)
	if !slices.Equal(choice.At, []int32{2, 3}) && !slices.Contains(choice.At, 3) {
		t.Errorf("walks from 0 visit 3 most, by three ways, and choose %v", choice.At)
	}
}

// TestSampleIsSAGE: ops.Sample and SampleWeighted draw the neighbours that GraphSAGE draws.
func TestSampleIsSAGE(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(3, 4))
	b := matrix.NewBuilder[float64](200, 200)
	for range 4000 {
		b.Add(r.IntN(200), r.IntN(200), 1+r.Float64())
	}
	a := sure.Get(b.Build(semiring.Max[float64]()))
	ptr, idx, val, err := a.CSR()
	if err != nil {
		t.Fatal(err)
	}
	for sampling, draw := range map[Rule]func(c *matrix.Matrix[float64]) error{
		Uniform:        func(c *matrix.Matrix[float64]) error { return ops.Sample(c, a, 5, 99) },
		sampleByWeight: func(c *matrix.Matrix[float64]) error { return ops.SampleWeighted(c, a, 5, 99) },
	} {
		c := matrix.New[float64](200, 200)
		if err := draw(c); err != nil {
			t.Fatal(err)
		}
		rows, cols, _, err := c.CSR()
		if err != nil {
			t.Fatal(err)
		}
		g := &Graph{N: 200, Ptr: ptr, Idx: idx, Sampling: sampling, seed: 99,
			values: func(buffer []float64, lo, hi int64) []float64 { return append(buffer[:0], val[lo:hi]...) }}
		var choice Choice
		for v := range int32(200) {
			if ptr[v] == ptr[v+1] {
				continue
			}
			g.Choose(v, 0, 0, 5, &choice)
			if got := cols[rows[v]:rows[v+1]]; !slices.Equal(got, choice.At) {
				t.Fatalf("%v: vertex %d has %v, GraphSAGE %v", sampling, v, got, choice.At)
			}
		}
	}
}
