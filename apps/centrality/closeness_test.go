package centrality

import (
	"context"
	"errors"
	"fmt"
	"math"
	"testing"

	"github.com/hiveblas/hiveblas/apps/internal/samples"
	"github.com/hiveblas/hiveblas/apps/internal/workflow"
	"github.com/hiveblas/hiveblas/internal/longtest"
	"github.com/hiveblas/hiveblas/matrix"
)

// Threads that share the levels of a few batches find the distances that one thread finds.
func TestClosenessTogether(t *testing.T) {
	for name, s := range samples.StrongGraphs() {
		t.Run(name, func(t *testing.T) {
			g := samples.Build[float64](t, s, matrix.CSR)
			for _, targets := range []int{3, 256, 700} {
				if s.N-1 <= len(s.Edges) && len(s.Edges) <= 2*s.N && targets > 3 && !longtest.Enabled() { // of thousands of levels
					continue
				}
				closeness := func(threads int) []float64 {
					c, err := Closeness(g, ClosenessOptions{Run: workflow.Run{Threads: threads}, Samples: targets, Seed: 3})
					if err != nil {
						t.Fatal(err)
					}
					return append(samples.Flat(samples.Flat(samples.Flat(nil, c.Reached), c.Distances), c.Harmonic), float64(c.Targets))
				}
				want := closeness(1)
				for _, threads := range []int{2, 3, 8, 16} {
					what := fmt.Sprintf("%d targets, %d threads", targets, threads)
					samples.SameFigures(t, what, closeness(threads), want, 0)
				}
			}
		})
	}
}

// A context ends a search that threads share.
func TestClosenessTogetherEnds(t *testing.T) {
	g := samples.Build[float64](t, samples.Random(3000, 20000, 7, false), matrix.CSR)
	ctx, cancel := context.WithCancel(context.Background())
	_, err := Closeness(g, ClosenessOptions{Samples: 700, Run: workflow.Run{Threads: 8, Context: ctx, Progress: func(_ string, done, _ int64) {
		if done > 0 {
			cancel()
		}
	}}})
	if !errors.Is(err, context.Canceled) {
		t.Errorf("ended: %v", err)
	}
}

// Targets that are searched from one by one, where few meet, have the distances of sets: on a path
// with a clique in its middle and an end without a way back.
func TestClosenessAlone(t *testing.T) {
	const n, clique = 1400, 20
	s := samples.Blank(n)
	for v := range n - 1 {
		s.Edges = append(s.Edges, samples.Edge{From: v, To: v + 1})
		if v < n-5 {
			s.Edges = append(s.Edges, samples.Edge{From: v + 1, To: v})
		}
	}
	for v := range clique {
		for u := range clique {
			if u > v+1 || v > u+1 {
				s.Edges = append(s.Edges, samples.Edge{From: n/2 + v, To: n/2 + u})
			}
		}
	}
	a := samples.Build[float64](t, s, matrix.CSR)
	out, in := bothWays(matrix.AsView[bool](a.Pattern()))
	targets := make([]int32, n)
	for k := range targets {
		targets[k] = int32(k * 9 % n)
	}
	sets, alone := newClosenessWorker(out, in), newClosenessWorker(out, in)
	batches := 0
	for lo := 0; lo < n; lo += targetBatch {
		list := targets[lo:min(lo+targetBatch, n)]
		sets.search(list)
		alone.batch(list)
		if alone.alone.number > 0 {
			batches++
		}
	}
	if batches == 0 {
		t.Error("no target was searched from alone")
	}
	for v := range n {
		if alone.reached[v] != sets.reached[v] || alone.distances[v] != sets.distances[v] || math.Abs(alone.harmonic[v]-sets.harmonic[v]) > 1e-12*sets.harmonic[v] {
			t.Fatalf("vertex %d reaches %d targets at %d in all, harmonic %v; want %d, %d, %v", v, alone.reached[v], alone.distances[v],
				alone.harmonic[v], sets.reached[v], sets.distances[v], sets.harmonic[v])
		}
	}
}
