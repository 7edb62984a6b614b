package auction

import (
	"fmt"
	"math"
	"math/rand"
	"testing"

	"github.com/hiveblas/hiveblas/internal/sure"
	"github.com/hiveblas/hiveblas/matrix"
)

// mongeOf returns an n×n matrix by two lists of numbers.
func mongeOf(x, y []float64, c func(x, y float64) float64) *matrix.Matrix[float64] {
	n := len(x)
	val := make([]float64, n*n)
	for i, a := range x {
		for j, b := range y {
			val[i*n+j] = c(a, b)
		}
	}
	return sure.Get(matrix.FromDense(n, n, val))
}

// Costs that are Monge arrays in some orders need no search. The result equals the result of
// searches, which given prices ask for, and does so if some costs are changed too.
func TestMonge(t *testing.T) {
	r := rand.New(rand.NewSource(3))
	list := func(n int, draw func() float64) []float64 {
		x := make([]float64, n)
		for k := range x {
			x[k] = draw()
		}
		return x
	}
	whole := func(most int) func() float64 { return func() float64 { return float64(r.Intn(most)) } }
	product := func(x, y float64) float64 { return x * y }
	for _, c := range []struct {
		name string
		x, y []float64
		cost func(x, y float64) float64
	}{
		{"products of whole numbers", list(150, whole(1000)), list(150, whole(1000)), product},
		{"products with ties", list(120, whole(7)), list(120, whole(9)), product},
		{"products of normal numbers", list(140, r.NormFloat64), list(140, r.NormFloat64), product},
		{"squares of differences", list(130, r.Float64), list(130, r.Float64), func(x, y float64) float64 { return (x - y) * (x - y) }},
		{"products and sums", list(100, whole(90)), list(100, whole(50)), func(x, y float64) float64 { return 3*x - x*x + y*y + x*y }},
		{"the same cost", list(90, whole(1)), list(90, whole(1)), product},
	} {
		for _, changed := range []int{0, 1, 40} {
			for _, maximize := range []bool{false, true} {
				a := mongeOf(c.x, c.y, c.cost)
				n := len(c.x)
				for range changed {
					sure.Do(a.Set(r.Intn(n), r.Intn(n), float64(r.Intn(100)-50)))
				}
				what := fmt.Sprintf("%s, %d changed, maximise %v", c.name, changed, maximize)
				got := sure.Get(JonkerVolgenant(Dense[float64](a), Options{Maximize: maximize}))
				want := sure.Get(JonkerVolgenant(Dense[float64](a), Options{Maximize: maximize, Prices: make([]float64, n)}))
				if math.Abs(got.Value-want.Value) > 1e-9*(1+math.Abs(want.Value)) {
					t.Errorf("%s: value %v, want %v", what, got.Value, want.Value)
				}
				if changed == 0 && got.Rounds > 0 {
					t.Errorf("%s: %d searches", what, got.Rounds)
				}
			}
		}
	}
}

// Costs that look like a Monge array in a few rows, and are none, get the result of searches.
func TestNoMonge(t *testing.T) {
	r := rand.New(rand.NewSource(4))
	const n = 120
	for turn := range 6 {
		a := mongeOf(make([]float64, n), make([]float64, n), func(_, _ float64) float64 { return float64(r.Intn(2 + 30*turn)) })
		for k := range 8 { // the rows that are looked at
			for j := range n {
				sure.Do(a.Set(k*(n-1)/7, j, float64(k*j)))
			}
		}
		far := sure.Get(matrix.FromDense(n, n, make([]float64, n*n))) // cheaper costs far from the diagonal
		for i := range n {
			for j := range n {
				c := float64((i - j) * (i - j))
				if between := max(i-j, j-i); between > 3 && j > 0 && j < n-1 && i*7%(n-1) != 0 {
					c = -float64(r.Intn(100 * (turn + 1)))
				}
				sure.Do(far.Set(i, j, c))
			}
		}
		for what, a := range map[string]*matrix.Matrix[float64]{"random": a, "far": far} {
			got := sure.Get(JonkerVolgenant(Dense[float64](a), Options{}))
			want := sure.Get(JonkerVolgenant(Dense[float64](a), Options{Prices: make([]float64, n)}))
			if got.Value != want.Value {
				t.Errorf("turn %d, %s: value %v, want %v", turn, what, got.Value, want.Value)
			}
		}
	}
}
