package components

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/hiveblas/hiveblas/apps/internal/samples"
	"github.com/hiveblas/hiveblas/apps/internal/workflow"
	"github.com/hiveblas/hiveblas/internal/longtest"
	"github.com/hiveblas/hiveblas/internal/sure"
	"github.com/hiveblas/hiveblas/matrix"
	"github.com/hiveblas/hiveblas/ops"
	"pgregory.net/rapid"
)

// Shares by which small graphs take all steps of multistep: without a depth-first search for few
// vertices that are left, by threads for two vertices, and by pieces of rows.
var strongSharesOfTests = []strongShares{
	{WaveShares: samples.SharesOfTests[0]},
	{WaveShares: samples.SharesOfTests[1]},
	{WaveShares: samples.SharesOfTests[2], rest: 10, colours: 3, sweeps: 1},
	usualStrongShares,
}

// The steps find the components that naive code finds.
func TestStrongSteps(t *testing.T) {
	samples.OnGraphs(t, func(t rapid.TB, s samples.Sample) {
		want := samples.StrongNaively(s.Arcs())
		for k, shares := range strongSharesOfTests {
			for _, threads := range []int{1, 3} {
				for _, transposed := range []bool{false, true} {
					g := samples.Build[float64](t, s, matrix.CSR)
					if transposed {
						_, _, _, err := g.CSC() // stays with g
						sure.Do(err)
					}
					c, err := strongBySteps(matrix.AsView[bool](g.View().Pattern()), workflow.Run{Threads: threads}, shares)
					if err != nil {
						t.Fatal(err)
					}
					samples.SameFigures(t, fmt.Sprintf("shares %d, %d threads, %t", k, threads, transposed), samples.ComponentFigures(c.Label, c.Count, c.Largest), want, 0)
				}
			}
		}
	})
}

// depthFirstFigures are the figures of the components by a depth-first search.
func depthFirstFigures(a *matrix.View[bool]) []float64 {
	g := workflow.RowsOf(a)
	number := make([]int32, g.N)
	sure.Do(strongDepthFirst(g, number, nil, workflow.Run{}))
	c := sure.Get(labelled(number, int32(g.N), workflow.Run{}))
	return samples.ComponentFigures(c.Label, c.Count, c.Largest)
}

// Labels equal the labels of the depth-first search at every number of threads.
func TestStrongStepsThreads(t *testing.T) {
	for name, s := range samples.StrongGraphs() {
		t.Run(name, func(t *testing.T) {
			a := matrix.AsView[bool](samples.Build[float64](t, s, matrix.CSR).View().Pattern())
			want := depthFirstFigures(a)
			for k, shares := range strongSharesOfTests {
				for _, threads := range []int{1, 2, 3, 8, 16} {
					if threads > 3 && k%2 == 1 && !longtest.Enabled() {
						continue
					}
					c, err := strongBySteps(a, workflow.Run{Threads: threads}, shares)
					if err != nil {
						t.Fatal(err)
					}
					samples.SameFigures(t, fmt.Sprintf("shares %d, %d threads", k, threads), samples.ComponentFigures(c.Label, c.Count, c.Largest), want, 0)
				}
			}
		})
	}
}

// The function takes the steps for a large graph, and says so; a context ends them, and progress
// ascends.
func TestStrongForms(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	s := samples.Blank(20000)
	for range workflow.StandardWork {
		s.Edges = append(s.Edges, samples.Edge{From: r.IntN(s.N), To: r.IntN(s.N), Weight: 1})
	}
	g := samples.Build[float64](t, s, matrix.CSR)
	want := depthFirstFigures(matrix.AsView[bool](g.View().Pattern()))
	for threads, method := range map[int]ops.Method{1: "pivot and colours", 4: "pivot and colours"} {
		var got ops.Method
		done := int64(0)
		c, err := StronglyConnectedComponents(g, ComponentsOptions{workflow.Run{Threads: threads, Trace: func(x ops.Trace) { got = x.Method },
			Progress: func(_ string, now, total int64) {
				if now < done || now > total || total != int64(s.N) {
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
		samples.SameFigures(t, string(got), samples.ComponentFigures(c.Label, c.Count, c.Largest), want, 0)
	}
	a := matrix.AsView[bool](g.View().Pattern())
	for after := range 12 {
		ctx, cancel := context.WithCancel(context.Background())
		_, err := strongBySteps(a, workflow.Run{Context: ctx, Threads: 2, Progress: func(string, int64, int64) {
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
