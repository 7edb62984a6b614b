package centrality

import (
	"context"
	"errors"
	"fmt"
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
