package apps

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"testing"

	"pgregory.net/rapid"

	"github.com/hiveblas/hiveblas/internal/longtest"
	"github.com/hiveblas/hiveblas/matrix"
	"github.com/hiveblas/hiveblas/ops"
)

// waveForm is a workflow that several threads do by waves or rounds and one in order.
type waveForm struct {
	name   string
	order  func(g *adjacency, run Run) ([]float64, error)
	shared func(g *adjacency, run Run, shares waveShares) ([]float64, error)
}

func setFigures(v *matrix.Vector[bool], err error) (figures []float64, _ error) {
	if err != nil {
		return nil, err
	}
	for k := range v.All() {
		figures = append(figures, float64(k))
	}
	return figures, nil
}

func listFigures(list []int32) (figures []float64) {
	for _, x := range list {
		figures = append(figures, float64(x))
	}
	return figures
}

// testLinks are the edges of a graph with few different weights.
func testLinks(g *adjacency, weights uint64) (list []link) {
	for v := range int32(g.n) {
		for _, u := range g.of(v) {
			if u != v {
				x := priorityOf(int(min(u, v)*7+max(u, v)), 1)
				list = append(list, link{float64(uint64(x) % weights), min(u, v), max(u, v)})
			}
		}
	}
	return list
}

func linkFigures(list []link, err error) (figures []float64, _ error) {
	for _, e := range list {
		figures = append(figures, e.weight, float64(e.u), float64(e.v))
	}
	return figures, err
}

func waveForms() []waveForm {
	forms := []waveForm{
		{"core numbers", func(g *adjacency, run Run) ([]float64, error) {
			core, _, err := coresOnHost(g, run)
			return listFigures(core), err
		}, func(g *adjacency, run Run, shares waveShares) ([]float64, error) {
			core, err := coresByWaves(g, run, shares)
			return listFigures(core), err
		}},
		{"independent set", func(g *adjacency, run Run) ([]float64, error) {
			return setFigures(independentInOrder(g, IndependentSetOptions{Run: run, Seed: 3}))
		}, func(g *adjacency, run Run, shares waveShares) ([]float64, error) {
			return setFigures(independentByRounds(g, IndependentSetOptions{Run: run, Seed: 3}, shares))
		}},
	}
	for _, weights := range []uint64{1, 5, 1 << 40} {
		forms = append(forms, waveForm{fmt.Sprint("spanning forest, weights ", weights), func(g *adjacency, run Run) ([]float64, error) {
			return linkFigures(forestInOrder(testLinks(g, weights), g.n, run))
		}, func(g *adjacency, run Run, shares waveShares) ([]float64, error) {
			return linkFigures(forestByRounds(testLinks(g, weights), g.n, run, int(shares.grain)))
		}})
	}
	return forms
}

// Every number of threads finds what one thread finds in order.
func TestWaveForms(t *testing.T) {
	compare := func(t rapid.TB, s sample) {
		for _, f := range waveForms() {
			g := rowsOf(matrix.AsView[bool](build[float64](t, s.both(), matrix.CSR).View().Pattern()))
			want, err := f.order(g, Run{Threads: 1})
			if err != nil {
				t.Fatal(err)
			}
			for k, shares := range strongSharesOfTests {
				for _, threads := range []int{1, 2, 3, 8, 16} {
					if (k+threads)%5 != 0 && !longtest.Enabled() {
						continue
					}
					got, err := f.shared(g, Run{Threads: threads}, shares.waveShares)
					if err != nil {
						t.Fatal(err)
					}
					sameFigures(t, fmt.Sprintf("%s, shares %d, %d threads", f.name, k, threads), got, want, 0)
				}
			}
		}
	}
	t.Run("drawn", func(t *testing.T) {
		onGraphs(t, compare)
	})
	for name, s := range strongGraphs() {
		t.Run(name, func(t *testing.T) { compare(t, s) })
	}
}

// The functions share work among threads for large graphs, and say so; a context ends them, and
// progress ascends.
func TestWaveMethods(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	s := blank(20000)
	for range standardWork / 2 {
		s.edges = append(s.edges, edge{r.IntN(s.n), r.IntN(s.n), 1 + r.IntN(9)})
	}
	g := build[float64](t, s.both(), matrix.CSR)
	for _, f := range []struct {
		name         string
		order, waves ops.Method
		run          func(run Run) ([]float64, error)
	}{
		{"core numbers", "buckets", "waves", func(run Run) ([]float64, error) {
			c, err := CoreNumbers(g, CoreOptions{run})
			if err != nil {
				return nil, err
			}
			return flat([]float64{float64(c.Max), float64(c.Inner)}, c.Number), nil
		}},
		{"independent set", "greedy", "rounds", func(run Run) ([]float64, error) {
			return setFigures(MaximalIndependentSet(g, IndependentSetOptions{Run: run}))
		}},
		{"spanning forest", "filter-Kruskal", "Borůvka", func(run Run) ([]float64, error) {
			f, err := MinimumSpanningForest(g, SpanningOptions{Run: run, Maximum: true})
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
				figures, err := f.run(Run{Threads: threads, Trace: func(x ops.Trace) { got = x.Method },
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
				sameFigures(t, string(got), figures, want, 0)
			}
			ctx, cancel := context.WithCancel(context.Background())
			cancel()
			if _, err := f.run(Run{Threads: 4, Context: ctx}); !errors.Is(err, context.Canceled) {
				t.Errorf("ended: %v", err)
			}
			for after := range 3 {
				ctx, cancel := context.WithCancel(context.Background())
				_, err := f.run(Run{Threads: 4, Context: ctx, Progress: func(string, int64, int64) {
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
