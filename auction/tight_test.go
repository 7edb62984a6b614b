package auction

import (
	"math/rand"
	"testing"

	"github.com/hiveblas/hiveblas/internal/sure"
	"github.com/hiveblas/hiveblas/matrix"
)

// Whole numbers of a small range: a matching assigns all rows, or as many as it can, and the result
// equals the result of searches from given prices.
func TestMatchTight(t *testing.T) {
	r := rand.New(rand.NewSource(5))
	for _, c := range []struct {
		reason  string
		n       int
		cost    func(i, j int) int
		perfect bool
	}{
		{"many equal costs", 160, func(_, _ int) int { return r.Intn(5) }, true},
		{"one cost", 70, func(_, _ int) int { return 3 }, true},
		{"fifty rows want ten columns", 150, func(i, j int) int {
			if i < 50 {
				return min(j/10, 1) * (5 + r.Intn(4))
			}
			return r.Intn(4)
		}, false},
		{"columns of their own for blocks", 120, func(i, j int) int { return max(i/9-j/10, j/10-i/9) * (1 + r.Intn(2)) }, false},
		{"few equal costs", 90, func(_, _ int) int { return r.Intn(1e6) }, false},
	} {
		val := make([]int32, c.n*c.n)
		for k := range val {
			val[k] = int32(c.cost(k/c.n, k%c.n))
		}
		a := sure.Get(matrix.FromDense(c.n, c.n, val))
		got := sure.Get(JonkerVolgenant(Dense[int32](a)))
		want := sure.Get(JonkerVolgenant(Dense[int32](a), Options{Prices: make([]float64, c.n)}))
		if got.Sum != want.Sum || got.Gap != 0 {
			t.Errorf("%s: %d with gap %v, want %d", c.reason, got.Sum, got.Gap, want.Sum)
		}
		if steps := got.Rounds + got.Bids; c.perfect != (steps == 0) { // others search, too
			t.Errorf("%s: %d steps", c.reason, steps)
		}
	}
}
