package ops

import (
	"math/rand"
	"testing"

	"github.com/hiveblas/hiveblas/matrix"
	"github.com/hiveblas/hiveblas/semiring"
)

func randomM(r *rand.Rand, m, n int, d float64) *matrix.Matrix[float64] {
	b := matrix.NewBuilder[float64](m, n)
	for i := range m {
		for j := range n {
			if r.Float64() < d {
				b.Add(i, j, float64(r.Intn(9)-4))
			}
		}
	}
	a, _ := b.Build(nil)
	return a
}

func TestSmokeMxM(t *testing.T) {
	r := rand.New(rand.NewSource(1))
	for it := range 200 {
		m, k, n := r.Intn(20), r.Intn(20), r.Intn(20)
		a, b := randomM(r, m, k, .3), randomM(r, k, n, .3)
		mask := randomM(r, m, n, .4)
		for _, meth := range []Method{Auto, SPA, Sorted, Hash, Dot} {
			for mk := range 3 {
				c := matrix.New[float64](m, n)
				var dst matrix.Target[float64] = c
				if mk == 1 {
					dst = c.Masked(mask.Structure())
				} else if mk == 2 {
					dst = c.Masked(mask.Structure().Not())
				}
				if meth == Dot && mk != 1 {
					continue
				}
				if err := MxM(dst, semiring.PlusTimes[float64](), a, b, Using(meth)); err != nil {
					t.Fatal(err)
				}
				if err := c.Store().Check(len(c.Store().Val), false); err != nil {
					t.Fatal(it, meth, mk, err)
				}
				for i := range m {
					for j := range n {
						s, hit := 0.0, false
						for l := range k {
							x, ok1 := a.At(i, l)
							y, ok2 := b.At(l, j)
							if ok1 && ok2 {
								s, hit = s+x*y, true
							}
						}
						_, in := mask.At(i, j)
						if mk == 1 && !in || mk == 2 && in {
							hit = false
						}
						got, ok := c.At(i, j)
						if ok != hit || hit && got != s {
							t.Fatal(it, meth, mk, i, j, got, ok, s, hit)
						}
					}
				}
			}
		}
	}
}
