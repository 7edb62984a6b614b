package ops_test

import (
	"math/rand/v2"
	"testing"

	"github.com/hiveblas/hiveblas/internal/sure"
	"github.com/hiveblas/hiveblas/matrix"
	"github.com/hiveblas/hiveblas/ops"
	"github.com/hiveblas/hiveblas/semiring"
)

// TestMxMRenames: a product with a matrix of one entry in each row, which Auto computes in one
// pass, equals the product by the accumulator, bit for bit, on one thread and on more.
func TestMxMRenames(t *testing.T) {
	t.Parallel()
	rng := rand.New(rand.NewPCG(1, 2))
	for _, shape := range []struct{ n, names, degree int }{{1, 1, 1}, {300, 7, 40}, {300, 1 << 14, 3}, {2000, 700, 120}, {500, 5000, 400}} {
		a, b := matrix.New[float64](shape.n, shape.n), matrix.New[float64](shape.n, shape.names)
		for i := range shape.n {
			sure.Do(b.Set(i, rng.IntN(shape.names), rng.NormFloat64()))
			for range rng.IntN(2*shape.degree) * (i % 3) { // a third of the rows are empty
				sure.Do(a.Set(i, rng.IntN(shape.n), rng.NormFloat64()))
			}
		}
		sure.Do(a.Set(shape.n-1, 0, 1))
		listed := a.Clone()
		sure.Do(listed.SetFormat(matrix.Hypersparse))
		for _, threads := range []int{1, 3} {
			for _, x := range []*matrix.Matrix[float64]{a, listed} {
				compareRenamed(t, semiring.PlusSecond[float64](), x.Pattern(), b, threads)
				compareRenamed(t, semiring.MinSecond[float64](), x.Pattern(), b, threads)
				compareRenamed(t, semiring.PlusPair[int32](), x.Pattern(), b.Pattern(), threads)
				compareRenamed(t, semiring.AnyPair[bool](), x.Pattern(), b.Pattern(), threads)
			}
		}
	}
}

func compareRenamed[A, B, C comparable](t *testing.T, s semiring.Semiring[A, B, C], a matrix.Source[A], b matrix.Source[B], threads int) {
	t.Helper()
	m, _ := a.Dims()
	_, n := b.Dims()
	got, want := matrix.New[C](m, n), matrix.New[C](m, n)
	sure.Do(ops.MxM(got, s, a, b, ops.WithThreads(threads)))
	sure.Do(ops.MxM(want, s, a, b, ops.Using(ops.SPA)))
	if !got.Equal(want) {
		t.Errorf("%s, %d threads, %d×%d: the product with renamed columns differs", s, threads, m, n)
	}
}
