package paths

import (
	"context"
	"errors"
	"testing"

	"github.com/hiveblas/hiveblas/apps/internal/samples"
	"github.com/hiveblas/hiveblas/apps/internal/workflow"
	"github.com/hiveblas/hiveblas/matrix"
)

// roundTrip is a cycle of n vertices, both ways.
func roundTrip(n int) samples.Sample {
	s := samples.Blank(n)
	for v := range n {
		s.Edges = append(s.Edges, samples.Edge{From: v, To: (v + 1) % n, Weight: 1})
	}
	return s.Both()
}

// Few searches suffice where the graph has a centre, and From and To are as far apart as said.
func TestDiameterSearches(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		reason string
		samples.Sample
		want, most int
	}{
		{"a grid of even sides", samples.GridOf(120, 90), 208, 24},
		{"a grid of odd sides", samples.GridOf(61, 151), 210, 24},
		{"a path", samples.Path(700).Both(), 699, 8},
		{"a path, one way", samples.Path(700), 699, 8},
		{"parts: the longest path is in the smaller one", samples.GridOf(30, 30).Beside(samples.Path(200)), 199, 24},
		{"parts of equal size", samples.Path(50).Beside(samples.Path(50)).Beside(samples.Star(50)), 49, 24},
		{"a star", samples.Star(300), 2, 4},
	} {
		t.Run(c.reason, func(t *testing.T) {
			g := samples.Build[float64](t, c.Sample, matrix.CSR)
			for _, run := range []workflow.Run{{Threads: 1}, {Threads: 3}, {Method: workflow.Pipeline}} {
				d, err := Diameter(g, DiameterOptions{Run: run})
				if err != nil {
					t.Fatal(err)
				}
				if d.Lower != c.want || d.Upper != c.want || d.Searches > c.most {
					t.Errorf("%+v: %+v, want %d by up to %d searches", run, d, c.want, c.most)
				}
				both := samples.Build[float64](t, c.Sample.Both(), matrix.CSR)
				l, err := BFS(both, d.From)
				if err != nil {
					t.Fatal(err)
				}
				if x, _ := l.Level.At(d.To); int(x) != c.want {
					t.Errorf("%d and %d are %d apart, want %d", d.From, d.To, x, c.want)
				}
			}
		})
	}
}

// A search that ends early has bounds: by its context and by the number of searches, at any time.
func TestDiameterBounds(t *testing.T) {
	t.Parallel()
	g := samples.Build[float64](t, roundTrip(400).Beside(samples.Path(90)), matrix.CSR) // every vertex has to be searched
	for _, run := range []workflow.Run{{}, {Method: workflow.Pipeline}} {
		for _, most := range []int{0, 1, 5, 30} {
			ctx, cancel := context.WithCancel(context.Background())
			calls := 0
			run.Context, run.Progress = ctx, func(what string, _, _ int64) {
				if calls++; what != "diameter" && calls > most {
					cancel()
				}
			}
			d, err := Diameter(g, DiameterOptions{Run: run})
			cancel()
			if !errors.Is(err, context.Canceled) || d == nil || d.Lower > 200 || d.Upper < 200 || d.Lower < 0 {
				t.Errorf("%q, stopped after %d: %+v, %v", run.Method, most, d, err)
			} else if most == 30 && (d.Lower != 200 || d.Upper > 399) {
				t.Errorf("%q, stopped after %d: loose bounds %+v", run.Method, most, d)
			}
		}
		run.Context, run.Progress = nil, nil
		last := 1 << 30
		for searches := 1; searches < 12; searches++ {
			d, err := Diameter(g, DiameterOptions{Run: run, Searches: searches})
			if err != nil || d.Lower > 200 || d.Upper < 200 || d.Searches != searches || d.Upper > last {
				t.Errorf("%d searches: %+v, %v", searches, d, err)
			}
			last = d.Upper
		}
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if d, err := Diameter(g, DiameterOptions{Run: workflow.Run{Context: ctx}}); !errors.Is(err, context.Canceled) || d == nil || d.Upper < 200 {
		t.Errorf("ended before: %+v, %v", d, err)
	}
}
