package ops_test

import (
	"math/rand/v2"
	"testing"

	"github.com/hiveblas/hiveblas/internal/sure"
	"github.com/hiveblas/hiveblas/matrix"
	"github.com/hiveblas/hiveblas/ops"
	"github.com/hiveblas/hiveblas/semiring"
)

// matrixOfRows returns an n×n matrix of ones with up to most entries in each row.
func matrixOfRows[T semiring.Number](n, most int) *matrix.Matrix[T] {
	r := rand.New(rand.NewPCG(3, uint64(n)))
	b := matrix.NewBuilder[T](n, n)
	for i := range n {
		for range r.IntN(most + 1) {
			b.Add(i, r.IntN(n), 1)
		}
	}
	return sure.Get(b.Build(semiring.Max[T]()))
}

// patternSums compares the sums of the rows of a pattern with the sums of a matrix of ones.
func patternSums[T semiring.Number](t *testing.T, name string, m semiring.Monoid[T], a *matrix.Matrix[T]) {
	t.Helper()
	n, _ := a.Dims()
	got, want := matrix.NewVector[T](n), matrix.NewVector[T](n)
	sure.Do(ops.Reduce(got, m, a.Pattern()))
	sure.Do(ops.Reduce(want, m, a))
	if !got.Equal(want) || got.NVals() == 0 {
		t.Errorf("%s: the sums of the rows of the pattern are %v, want %v", name, got, want)
	}
}

// Rows of a pattern have the sums of rows of ones, where rows are short and where one has most
// entries.
func TestReduceOfPattern(t *testing.T) {
	long := matrix.NewBuilder[int8](300, 300)
	for j := range 290 {
		long.Add(7, j, 1)
	}
	long.Add(9, 4, 1)
	patternSums(t, "a long row", semiring.Plus[int8](), sure.Get(long.Build(nil)))
	patternSums(t, "plus", semiring.Plus[int8](), matrixOfRows[int8](500, 300)) // wraps around
	patternSums(t, "plus of floats", semiring.Plus[float32](), matrixOfRows[float32](1000, 20))
	patternSums(t, "times", semiring.Times[float64](), matrixOfRows[float64](1000, 20))
	patternSums(t, "min", semiring.Min[int64](), matrixOfRows[int64](1000, 20))
	patternSums(t, "a user's", semiring.NewMonoid(semiring.NewBinary("plus3", func(x, y int64) int64 { return x + y }, ""), 0), matrixOfRows[int64](400, 20))
}

// leastIndex compares products by min.secondi that pull and that push.
func leastIndex[T semiring.Number](t *testing.T, name string, offset T) {
	t.Helper()
	const n = 600
	a := matrixOfRows[float64](n, 12)
	u, mask := matrix.NewVector[bool](n), matrix.NewVector[bool](n)
	for i := range n {
		if i*i%7 < 3 {
			sure.Do(u.Set(i, true))
		}
		if i%5 > 1 {
			sure.Do(mask.Set(i, true))
		}
	}
	for k, not := range []bool{false, true} {
		var got [2][2]*matrix.Vector[T]
		for m, method := range []ops.Method{ops.Push, ops.Pull} {
			for d := range 2 {
				w := matrix.NewVector[T](n)
				dst := w.Masked(mask.Structure()).Replace()
				if not {
					dst = w.Masked(mask.Structure().Not()).Replace()
				}
				if d == 0 {
					sure.Do(ops.VxM(dst, semiring.MinSecondi[T](offset), u.Pattern(), a.Pattern(), ops.Using(method)))
				} else {
					sure.Do(ops.MxV(dst, semiring.MinFirstj[T](offset), a.Pattern(), u.Pattern(), ops.Using(method)))
				}
				got[m][d] = w
			}
		}
		for d := range 2 {
			if !got[0][d].Equal(got[1][d]) || got[0][d].NVals() == 0 {
				t.Errorf("%s, mask %d, product %d: pull %v, push %v", name, k, d, got[1][d], got[0][d])
			}
		}
	}
}

// A pull by the least index ends at the first product, and has the results of a push: also where
// indices wrap around or have an offset.
func TestPullOfLeastIndex(t *testing.T) {
	leastIndex[int32](t, "int32", 0)
	leastIndex[float64](t, "float64", 0)
	leastIndex[int8](t, "int8", 0)
	leastIndex[int64](t, "offset", 1)
	leastIndex[int32](t, "offset that wraps around", 1<<31-100)
}
