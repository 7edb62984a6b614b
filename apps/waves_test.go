package apps

import (
	"context"
	"errors"
	"math/rand/v2"
	"testing"

	"github.com/hiveblas/hiveblas/apps/components"
	"github.com/hiveblas/hiveblas/apps/cores"
	"github.com/hiveblas/hiveblas/apps/internal/samples"
	"github.com/hiveblas/hiveblas/apps/internal/workflow"
	"github.com/hiveblas/hiveblas/apps/sets"
	"github.com/hiveblas/hiveblas/matrix"
	"github.com/hiveblas/hiveblas/ops"
)

// The functions share work among threads for large graphs, and say so; a context ends them, and
// progress ascends.
func TestWaveMethods(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	s := samples.Blank(20000)
	for range workflow.StandardWork / 2 {
		s.Edges = append(s.Edges, samples.Edge{From: r.IntN(s.N), To: r.IntN(s.N), Weight: 1 + r.IntN(9)})
	}
	g := samples.Build[float64](t, s.Both(), matrix.CSR)
	for _, f := range []struct {
		name         string
		order, waves ops.Method
		run          func(run workflow.Run) ([]float64, error)
	}{
		{"core numbers", "buckets", "waves", func(run workflow.Run) ([]float64, error) {
			c, err := cores.CoreNumbers(g, cores.CoreOptions{Run: run})
			if err != nil {
				return nil, err
			}
			return samples.Flat([]float64{float64(c.Max), float64(c.Inner)}, c.Number), nil
		}},
		{"independent set", "greedy", "rounds", func(run workflow.Run) ([]float64, error) {
			return samples.SetFigures(sets.MaximalIndependentSet(g, sets.IndependentSetOptions{Run: run}))
		}},
		{"spanning forest", "filter-Kruskal", "Borůvka", func(run workflow.Run) ([]float64, error) {
			f, err := components.MinimumSpanningForest(g, components.SpanningOptions{Run: run, Maximum: true})
			if err != nil {
				return nil, err
			}
			figures := []float64{f.Weight, float64(f.Edges), float64(f.Trees)}
			for at, x := range f.Forest.All() {
				figures = append(figures, float64(at.Row), float64(at.Col), x)
			}
			return figures, nil
		}},
	} {
		t.Run(f.name, func(t *testing.T) {
			var want []float64
			for threads, method := range map[int]ops.Method{1: f.order, 4: f.waves} {
				var got ops.Method
				done := int64(0)
				figures, err := f.run(workflow.Run{Threads: threads, Trace: func(x ops.Trace) { got = x.Method },
					Progress: func(_ string, now, total int64) {
						if now < done || now > total {
							t.Errorf("%d of %d after %d", now, total, done)
						}
						done = now
					}})
				if err != nil {
					t.Fatal(err)
				}
				if got != method {
					t.Errorf("%d threads: method %q, want %q", threads, got, method)
				}
				if want == nil {
					want = figures
				}
				samples.SameFigures(t, string(got), figures, want, 0)
			}
			ctx, cancel := context.WithCancel(context.Background())
			cancel()
			if _, err := f.run(workflow.Run{Threads: 4, Context: ctx}); !errors.Is(err, context.Canceled) {
				t.Errorf("ended: %v", err)
			}
			for after := range 3 {
				ctx, cancel := context.WithCancel(context.Background())
				_, err := f.run(workflow.Run{Threads: 4, Context: ctx, Progress: func(string, int64, int64) {
					if after--; after < 0 {
						cancel()
					}
				}})
				if ctx.Err() != nil && !errors.Is(err, context.Canceled) {
					t.Errorf("ended after some progress: %v", err)
				}
				cancel()
			}
		})
	}
}
