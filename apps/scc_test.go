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

// Shares by which small graphs take all steps of multistep: without a depth-first search for few
// vertices that are left, by threads for two vertices, and by pieces of rows.
var strongSharesOfTests = []strongShares{
	{waveShares: sharesOfTests[0]},
	{waveShares: sharesOfTests[1]},
	{waveShares: sharesOfTests[2], rest: 10, colours: 3},
	usualStrongShares,
}

// The steps find the components that naive code finds.
func TestStrongSteps(t *testing.T) {
	onGraphs(t, func(t rapid.TB, s sample) {
		want := strongNaively(s.arcs())
		for k, shares := range strongSharesOfTests {
			for _, threads := range []int{1, 3} {
				c, err := strongBySteps(matrix.AsView[bool](build[float64](t, s, matrix.CSR).View().Pattern()), Run{Threads: threads}, shares)
				if err != nil {
					t.Fatal(err)
				}
				sameFigures(t, fmt.Sprintf("shares %d, %d threads", k, threads), componentFigures(c.Label, c.Count, c.Largest), want, 0)
			}
		}
	})
}

// strongGraphs are graphs of thousands of vertices, of which some take each step.
func strongGraphs() map[string]sample {
	r := rand.New(rand.NewPCG(5, 11))
	renamed := func(s sample) sample {
		p := r.Perm(s.n)
		for k, e := range s.edges {
			s.edges[k].from, s.edges[k].to = p[e.from], p[e.to]
		}
		return s
	}
	draw := func(n, count int) sample {
		s := blank(n)
		for range count {
			s.edges = append(s.edges, edge{r.IntN(n), r.IntN(n), 1})
		}
		return s
	}
	cycle := func(n int) sample {
		s := path(n)
		s.edges = append(s.edges, edge{n - 1, 0, 1})
		return s
	}
	chain := func(parts, size int) sample { // cycles, from each of which an edge leads to the next
		s := blank(0)
		for k := range parts {
			s = s.beside(cycle(size))
			if k > 0 {
				s.edges = append(s.edges, edge{k*size - 1, k * size, 1})
			}
		}
		return s
	}
	dense := blank(0)
	for range 60 {
		dense = dense.beside(draw(50, 300))
	}
	for range 200 {
		u, v := r.IntN(dense.n), r.IntN(dense.n)
		dense.edges = append(dense.edges, edge{min(u, v), max(u, v), 1})
	}
	rmat := blank(1 << 12)
	for range 1 << 15 {
		from, to := 0, 0
		for range 12 {
			x := r.Float64()
			from, to = 2*from, 2*to
			if x >= .76 {
				from++
			}
			if x >= .57 && x < .76 || x >= .95 {
				to++
			}
		}
		rmat.edges = append(rmat.edges, edge{from, to, 1})
	}
	loops := draw(2000, 1500)
	for v := range loops.n {
		if v%3 > 0 {
			loops.edges = append(loops.edges, edge{v, v, 1})
		}
	}
	return map[string]sample{
		"empty":                          blank(0),
		"no edges":                       blank(3000),
		"random, many components":        draw(3000, 3300),
		"random, a giant component":      draw(3000, 20000),
		"R-MAT":                          rmat,
		"a long cycle":                   cycle(5000),
		"a long cycle in random order":   renamed(cycle(5000)),
		"a long path":                    path(5000),
		"a long path in random order":    renamed(path(5000)),
		"a chain of components":          chain(500, 5),
		"a chain in random order":        renamed(chain(500, 5)),
		"self-loops":                     loops,
		"one component":                  cycle(3000).beside(blank(0)).both(),
		"many components with edges":     dense,
		"many components, random order":  renamed(dense),
		"a hub beside a giant component": draw(2000, 9000).beside(star(3000)),
	}
}

// Labels are those of the depth-first search at every number of threads.
func TestStrongStepsThreads(t *testing.T) {
	for name, s := range strongGraphs() {
		t.Run(name, func(t *testing.T) {
			a := matrix.AsView[bool](build[float64](t, s, matrix.CSR).View().Pattern())
			one, err := StronglyConnectedComponents(a, ComponentsOptions{Run{Threads: 1}})
			if err != nil {
				t.Fatal(err)
			}
			want := componentFigures(one.Label, one.Count, one.Largest)
			for k, shares := range strongSharesOfTests {
				for _, threads := range []int{1, 2, 3, 8, 16} {
					if threads > 3 && k%2 == 1 && !longtest.Enabled() {
						continue
					}
					c, err := strongBySteps(a, Run{Threads: threads}, shares)
					if err != nil {
						t.Fatal(err)
					}
					sameFigures(t, fmt.Sprintf("shares %d, %d threads", k, threads), componentFigures(c.Label, c.Count, c.Largest), want, 0)
				}
			}
		})
	}
}

// The function takes the steps for a large graph and several threads, and says so; a context ends
// them, and progress ascends.
func TestStrongForms(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	s := blank(20000)
	for range standardWork {
		s.edges = append(s.edges, edge{r.IntN(s.n), r.IntN(s.n), 1})
	}
	g := build[float64](t, s, matrix.CSR)
	var want []float64
	for threads, method := range map[int]ops.Method{1: "depth-first search", standardThreads: "pivot and colours"} {
		var got ops.Method
		done := int64(0)
		c, err := StronglyConnectedComponents(g, ComponentsOptions{Run{Threads: threads, Trace: func(x ops.Trace) { got = x.Method },
			Progress: func(_ string, now, total int64) {
				if now < done || now > total || total != int64(s.n) {
					t.Errorf("%d of %d after %d", now, total, done)
				}
				done = now
			}}})
		if err != nil {
			t.Fatal(err)
		}
		if got != method {
			t.Errorf("%d threads: method %q, want %q", threads, got, method)
		}
		if want == nil {
			want = componentFigures(c.Label, c.Count, c.Largest)
		}
		sameFigures(t, string(got), componentFigures(c.Label, c.Count, c.Largest), want, 0)
	}
	a := matrix.AsView[bool](g.View().Pattern())
	for after := range 12 {
		ctx, cancel := context.WithCancel(context.Background())
		_, err := strongBySteps(a, Run{Context: ctx, Threads: 2, Progress: func(string, int64, int64) {
			if after--; after < 0 {
				cancel()
			}
		}}, strongSharesOfTests[0])
		if ctx.Err() != nil && !errors.Is(err, context.Canceled) {
			t.Errorf("ended: %v", err)
		}
		cancel()
	}
}
