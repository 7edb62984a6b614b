package ops_test

import (
	"fmt"
	"math/rand/v2"
	"runtime"
	"testing"

	"github.com/hiveblas/hiveblas/matrix"
	"github.com/hiveblas/hiveblas/ops"
	"github.com/hiveblas/hiveblas/semiring"
)

// TestPushOfEqualProducts: a push over any.pair finds the positions of a push over plus.pair, for
// few products, which are sorted, and more, which are marked, under masks of every format.
func TestPushOfEqualProducts(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 5))
	for _, n := range []int{1, 70, 5000, 1 << 17} {
		for _, products := range []int{0, 1, 9, 40, 900, 20000} {
			u := matrix.NewVector[bool](n)
			var rows, cols []int
			for range products {
				rows, cols = append(rows, rng.IntN(min(n, 1+products/3))), append(cols, rng.IntN(n))
			}
			pairs := matrix.NewBuilder[bool](n, n)
			for p, i := range rows {
				pairs.Add(i, cols[p], true)
				must(t, u.Set(i, true))
			}
			a, err := pairs.Build(semiring.Lor())
			must(t, err)
			forbidden := matrix.NewVector[bool](n)
			for range n / 3 {
				must(t, forbidden.Set(rng.IntN(n), true))
			}
			for _, format := range []matrix.Format{matrix.CSR, matrix.Bitmap, matrix.Full} {
				mask := forbidden.Clone()
				if format == matrix.Full {
					must(t, ops.AssignVectorScalar(mask, true, ops.All()))
				}
				must(t, mask.SetFormat(format))
				for how := range 3 {
					got, want := matrix.NewVector[bool](n), matrix.NewVector[int64](n)
					var to matrix.VectorTarget[bool] = got
					var as matrix.VectorTarget[int64] = want
					switch how {
					case 1:
						to, as = got.Masked(mask.Structure()), want.Masked(mask.Structure())
					case 2:
						to, as = got.Masked(mask.Structure().Not()), want.Masked(mask.Structure().Not())
					}
					must(t, ops.VxM(to, semiring.AnyPair[bool](), u.Pattern(), a.Pattern(), ops.Using(ops.Push)))
					must(t, ops.VxM(as, semiring.PlusPair[int64](), u.Pattern(), a.Pattern(), ops.Using(ops.Push)))
					name := fmt.Sprintf("n = %d, %d products, mask %v, %d", n, products, format, how)
					if got.NVals() != want.NVals() {
						t.Fatalf("%s: %d entries, want %d", name, got.NVals(), want.NVals())
					}
					for i, x := range got.All() {
						if _, has := want.At(i); !has || !x {
							t.Fatalf("%s: entry %d is %v", name, i, x)
						}
					}
				}
			}
		}
	}
}

// TestPushOfEqualProductsInVastVectors: some hundred products take no memory for all columns.
func TestPushOfEqualProductsInVastVectors(t *testing.T) {
	const n = matrix.MaxDim
	pairs := matrix.NewBuilder[bool](n, n)
	for k := range 500 {
		pairs.Add(n/2, k*(n/500), true)
	}
	a, err := pairs.Build(nil)
	must(t, err)
	u, w := matrix.NewVector[bool](n), matrix.NewVector[bool](n)
	must(t, u.Set(n/2, true))
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	must(t, ops.VxM(w, semiring.AnyPair[bool](), u.Pattern(), a.Pattern()))
	runtime.ReadMemStats(&after)
	if w.NVals() != 500 {
		t.Errorf("%d entries, want 500", w.NVals())
	}
	if bytes := after.TotalAlloc - before.TotalAlloc; bytes > 1<<20 {
		t.Errorf("%d bytes for 500 products", bytes)
	}
}
