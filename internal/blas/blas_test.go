package blas

import (
	"math"
	"math/rand/v2"
	"testing"
	"unsafe"
)

func random[F Real](rng *rand.Rand, m, n int) Matrix[F] {
	a := Matrix[F]{m, n, make([]F, m*n)}
	for i := range a.Val {
		a.Val[i] = F(rng.NormFloat64())
	}
	return a
}

func (a Matrix[F]) at(i, j int, transposed bool) float64 {
	if transposed {
		i, j = j, i
	}
	return float64(a.Val[i*a.Cols+j])
}

// test compares with three loops in float64.
func test[F Real](t *testing.T, l *Library, tolerance float64) {
	rng := rand.New(rand.NewPCG(1, 2))
	for _, s := range [][3]int{{0, 3, 2}, {3, 0, 2}, {3, 2, 0}, {1, 1, 1}, {5, 7, 3}, {70, 65, 130}, {300, 90, 130}} {
		for flags := range 8 {
			ta, tb, beta := flags&1 > 0, flags&2 > 0, F(flags>>2)/2
			m, n, k := s[0], s[1], s[2]
			a, b, c := random[F](rng, m, k), random[F](rng, k, n), random[F](rng, m, n)
			if ta {
				a.Rows, a.Cols = k, m
			}
			if tb {
				b.Rows, b.Cols = n, k
			}
			want := make([]float64, m*n)
			for i := range m {
				for j := range n {
					want[i*n+j] = float64(beta) * float64(c.Val[i*n+j])
					for p := range k {
						want[i*n+j] += a.at(i, p, ta) * b.at(p, j, tb)
					}
				}
			}
			product(l, 2, c, a, ta, b, tb, beta)
			for i, x := range c.Val {
				if math.Abs(float64(x)-want[i]) > tolerance*(1+math.Abs(want[i])) {
					t.Fatalf("%s: %v %v %v, item %d is %v, want %v", l, s, ta, tb, i, x, want[i])
				}
			}
		}
	}
}

// naive is a gemm of three loops, by rows.
func naive[F Real](_, transA, transB, m, n, k int32, alpha F, a *F, lda int32, b *F, ldb int32, beta F, c *F, ldc int32) {
	strides := func(x *F, rows, cols, ld int32, transposed bool) (list []F, row, col int32) {
		if transposed {
			return unsafe.Slice(x, (cols-1)*ld+rows), 1, ld
		}
		return unsafe.Slice(x, (rows-1)*ld+cols), ld, 1
	}
	x, xi, xp := strides(a, m, k, lda, transA == trans(true))
	y, yp, yj := strides(b, k, n, ldb, transB == trans(true))
	z, zi, _ := strides(c, m, n, ldc, false)
	for i := range m {
		for j := range n {
			var sum F
			for p := range k {
				sum += x[i*xi+p*xp] * y[p*yp+j*yj]
			}
			z[i*zi+j] = beta*z[i*zi+j] + alpha*sum
		}
	}
}

func TestProduct(t *testing.T) {
	loops := &Library{Name: "loops", Sgemm: naive[float32], Dgemm: naive[float64]}
	for _, l := range []*Library{nil, loops} {
		test[float32](t, l, 1e-4)
		test[float64](t, l, 1e-12)
	}
	opens := 0
	Register(func() *Library { opens++; return loops })
	defer Register(nil)
	if l := choose(); l.String() != "loops" || opens != 1 {
		t.Errorf("the library is %s, opened %d times", l, opens)
	}
	t.Setenv(Env, "gonum")
	if l := choose(); l.String() != "gonum" || opens != 1 {
		t.Errorf("the library is %s, opened %d times", l, opens)
	}
}
