package ops_test

import (
	"math/rand/v2"
	"testing"

	"github.com/hiveblas/hiveblas/matrix"
	"github.com/hiveblas/hiveblas/ops"
	"github.com/hiveblas/hiveblas/semiring"
)

// TestDotOfHubs multiplies matrices whose rows and columns have very unequal lengths: Dot looks up
// the shorter one in the longer one, and gives what the accumulators give, also where the product
// does not commute, where there are no values, and on several threads.
func TestDotOfHubs(t *testing.T) {
	const n = 300
	rng := rand.New(rand.NewPCG(7, 11))
	skewed := func(hubs bool) *matrix.Matrix[float64] {
		b := matrix.NewBuilder[float64](n, n)
		for i := range n {
			for range 1 + i%3 {
				b.Add(i, rng.IntN(n), float64(rng.IntN(9)-4))
			}
			if hubs && i%29 == 0 {
				for j := range n {
					if rng.IntN(3) > 0 {
						b.Add(j, i, float64(rng.IntN(9)-4))
					}
				}
			}
		}
		a, err := b.Build(semiring.Plus[float64]())
		must(t, err)
		return a
	}
	a, b := skewed(false), skewed(true)
	mask := skewed(true)
	difference := semiring.New(semiring.Plus[float64](), semiring.Minus[float64]())
	for _, s := range []semiring.Semiring[float64, float64, float64]{
		semiring.PlusTimes[float64](), semiring.MinPlus[float64](), difference,
	} {
		for _, threads := range []int{1, 3} {
			dot, spa := matrix.New[float64](n, n), matrix.New[float64](n, n)
			must(t, ops.MxM(dot.Masked(mask.Structure()), s, a, b, ops.Using(ops.Dot), ops.WithThreads(threads)))
			must(t, ops.MxM(spa.Masked(mask.Structure()), s, a, b, ops.Using(ops.SPA), ops.WithThreads(threads)))
			if spa.NVals() == 0 || !dot.Equal(spa) {
				t.Errorf("%v on %d threads: %d entries by Dot, %d by SPA, or other values", s, threads, dot.NVals(), spa.NVals())
			}
		}
	}
	count := func(m ops.Method) *matrix.Matrix[int64] {
		c := matrix.New[int64](n, n)
		must(t, ops.MxM(c.Masked(mask.Structure()), semiring.PlusPair[int64](), a.Pattern(), b.Pattern(), ops.Using(m)))
		return c
	}
	if dot, spa := count(ops.Dot), count(ops.SPA); !dot.Equal(spa) {
		t.Errorf("plus.pair: %d entries by Dot, %d by SPA, or other values", dot.NVals(), spa.NVals())
	}
}
