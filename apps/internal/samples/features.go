package samples

import (
	"math/rand/v2"
	"testing"

	"github.com/hiveblas/hiveblas/internal/sure"
	"github.com/hiveblas/hiveblas/matrix"
	"github.com/hiveblas/hiveblas/semiring"
)

// WalkScores returns scores of n vertices; some are equal.
func WalkScores(n int) *matrix.Vector[float64] {
	list := make([]float64, n)
	for v := range list {
		list[v] = float64(v*v%97) / 7
	}
	return sure.Get(matrix.VectorOf(list))
}

// DrawFeatures returns n×d features with the given share of nonzeros.
func DrawFeatures(t testing.TB, n, d int, share float64, f matrix.Format) *matrix.Matrix[float32] {
	t.Helper()
	rng := rand.New(rand.NewPCG(uint64(n), uint64(d)))
	b := matrix.NewBuilder[float32](n, d)
	for i := range n {
		for j := range d {
			if rng.Float64() < share {
				b.Add(i, j, float32(rng.NormFloat64()))
			}
		}
	}
	a, err := b.Build(nil)
	if err == nil && f != matrix.Automatic {
		err = a.SetFormat(f)
	}
	if err != nil {
		t.Fatal(err)
	}
	return a
}

// Scored are scores of n vertices, with ties and zeros.
func Scored(n int) []float64 {
	list := make([]float64, n)
	for v := range list {
		list[v] = float64(v*7%5) / 2
	}
	return list
}

func Floats[T semiring.Number](list ...T) []float64 {
	x := make([]float64, len(list))
	for k := range x {
		x[k] = float64(list[k])
	}
	return x
}
