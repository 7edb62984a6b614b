package lasso

import (
	"fmt"
	"math"
	"math/rand"
	"testing"

	"github.com/hiveblas/hiveblas/apps/internal/samples"
	"github.com/hiveblas/hiveblas/apps/internal/workflow"
	"github.com/hiveblas/hiveblas/comm"
	"github.com/hiveblas/hiveblas/internal/longtest"
	"github.com/hiveblas/hiveblas/internal/sure"
	"github.com/hiveblas/hiveblas/matrix"
)

// The operations find the objective of all partitions within their gap, and with Exact the
// solution.
func TestFusedLassoByOperations(t *testing.T) {
	t.Parallel()
	byOperations := workflow.Run{Method: workflow.Pipeline}
	rng := rand.New(rand.NewSource(7))
	for k := range 30 {
		n := 1 + rng.Intn(5)
		c := drawLasso(rng, n, rng.Intn(2*n), k%2 == 0, k%3 == 0)
		l1 := []float64{.1, .5, 1, 3, 50}[k%5]
		f := c.objective(c.brute(l1), l1, 0)
		for _, o := range []FusedLassoOptions{{Run: byOperations, Lambda1: l1}, {Run: byOperations, Lambda1: l1, Exact: true}} {
			res := c.solve(t, o)
			if got := c.objective(samples.Listed(res.B), l1, 0); !(got-f <= 2e-8*f+1e-12) || got < f-1e-12*(1+f) || o.Exact && !res.Proven {
				t.Errorf("case %d, exact %v: the objective is %v, want %v; proven %v", k, o.Exact, got, f, res.Proven)
			}
			if math.Abs(res.Objective-f) > 2e-8*f+1e-12 || res.Gap > 2e-8 {
				t.Errorf("case %d, exact %v: the objective is given as %v with gap %v, want %v", k, o.Exact, res.Objective, res.Gap, f)
			}
		}
	}
	chain := lassoCase{}
	for v := range 300 {
		chain.y, chain.nu = append(chain.y, float64(v/60%2)*3+rng.NormFloat64()), append(chain.nu, 1)
		if v > 0 {
			chain.pairs, chain.w = append(chain.pairs, [2]int{v - 1, v}), append(chain.w, 1)
		}
	}
	for _, l1 := range []float64{.3, 2} {
		res, f := chain.solve(t, FusedLassoOptions{Run: byOperations, Lambda1: l1}), chain.objective(tautChain(chain.y, l1), l1, 0)
		if math.Abs(res.Objective-f) > 2e-8*f || res.Iterations == 0 || res.Divided != 0 {
			t.Errorf("chain, λ₁ = %v: the objective is %v after %d iterations, %d vertices divided; want %v", l1, res.Objective, res.Iterations, res.Divided, f)
		}
	}
}

// The operations compute where the graph lives, a path of penalties and a batch of observations
// too.
func TestFusedLassoByOperationsAtPlaces(t *testing.T) {
	t.Parallel()
	d := samples.RealOrEmulated(t)
	c := lassoGrid(6, 3)
	lambdas := []float64{.4, 0, math.Inf(1)}
	columns := make([]float64, 0, 2*len(c.y))
	for _, x := range c.y {
		columns = append(columns, x, 1-x)
	}
	batch := sure.Get(matrix.FromDense(len(c.y), 2, columns))
	for _, at := range []matrix.Place{nil, d.Device, sure.Get(comm.LocalGroup(3))} {
		g := c.graph(t)
		sure.Do(g.Move(at))
		y := sure.Get(matrix.VectorOf(c.y))
		for k, m := range []struct {
			name string
			run  func(g *matrix.Matrix[float64], o FusedLassoOptions) ([]*FusedLassoResult, error)
		}{
			{"path", func(g *matrix.Matrix[float64], o FusedLassoOptions) ([]*FusedLassoResult, error) {
				return FusedLassoPath(g, y, lambdas, o)
			}},
			{"batch", func(g *matrix.Matrix[float64], o FusedLassoOptions) ([]*FusedLassoResult, error) {
				o.Lambda1 = .3
				return FusedLassoBatch(g, batch, o)
			}},
		} {
			if !longtest.Takes(k, 2) {
				continue
			}
			o := FusedLassoOptions{Lambda2: .1}
			want := samples.Must[[]*FusedLassoResult](t)(m.run(c.graph(t), o))
			o.Method = workflow.Pipeline
			got := samples.Must[[]*FusedLassoResult](t)(m.run(g, o))
			for k, w := range want {
				what := fmt.Sprintf("%s, solution %d at %v", m.name, k, at)
				if math.Abs(got[k].Objective-w.Objective) > 3e-8*w.Objective+1e-12 || got[k].B.Place() != at {
					t.Errorf("%s: the objective is %v at %v, want %v", what, got[k].Objective, got[k].B.Place(), w.Objective)
				}
			}
		}
	}
}
