package openblas_test

import (
	"math"
	"testing"

	_ "github.com/hiveblas/hiveblas/apps/sage/openblas"
	"github.com/hiveblas/hiveblas/internal/blas"
	"github.com/hiveblas/hiveblas/internal/splitmix"
)

// TestProduct compares products by OpenBLAS with plain loops.
func TestProduct(t *testing.T) {
	if blas.Name() == "gonum" {
		t.Skip("the system has no OpenBLAS")
	}
	product[float32](t, 1e-4)
	product[float64](t, 1e-12)
}

func product[F blas.Real](t *testing.T, tolerance float64) {
	const m, n, k = 70, 65, 130
	random := func(rows, cols int, seed uint64) blas.Matrix[F] {
		a := blas.Matrix[F]{Rows: rows, Cols: cols, Val: make([]F, rows*cols)}
		for p := range a.Val {
			a.Val[p] = F(splitmix.At(uint64(p), seed)>>40)/(1<<24) - .5
		}
		return a
	}
	a, b, c := random(m, k, 1), random(n, k, 2), random(m, n, 3)
	blas.Product(2, c, a, false, b, true, 0)
	for i := range m {
		for j := range n {
			want := 0.
			for p := range k {
				want += float64(a.Val[i*k+p]) * float64(b.Val[j*k+p])
			}
			if got := float64(c.Val[i*n+j]); math.Abs(got-want) > tolerance*(1+math.Abs(want)) {
				t.Fatalf("item %d, %d is %v, want %v by %s", i, j, got, want, blas.Name())
			}
		}
	}
}
