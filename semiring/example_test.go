package semiring_test

import (
	"fmt"
	"math"

	"github.com/hiveblas/hiveblas/semiring"
)

// A semiring of a user-defined monoid and operator: the length of a shortest path and the number of
// such paths.
func ExampleNew() {
	type path struct {
		Length float64
		Count  int
	}
	shorter := semiring.NewBinary("shorter", func(x, y path) path {
		switch {
		case x.Length < y.Length:
			return x
		case y.Length < x.Length:
			return y
		}
		return path{x.Length, x.Count + y.Count}
	}, "")
	best := semiring.NewMonoid(shorter, path{math.Inf(1), 0})
	then := semiring.NewBinary("then", func(x, y path) path { return path{x.Length + y.Length, x.Count * y.Count} })
	s := semiring.New(best, then)
	fmt.Println(s)
	fmt.Println(s.Add().Combine(path{3, 1}, path{3, 2}), s.Mul().Apply(path{3, 2}, path{1, 2}))
	// Output:
	// shorter_then
	// {3 3} {4 4}
}

// An operator with a CUDA form runs on a GPU too.
func ExampleNewBinary() {
	harmonic := semiring.NewBinary("harmonic", func(x, y float64) float64 { return x * y / (x + y) }, "x * y / (x + y)")
	fmt.Println(harmonic.Apply(2, 2), harmonic.CUDA())
	// Output:
	// 1 x * y / (x + y)
}

// Inlined loops give a user's semiring the speed of a built-in one.
func ExampleSemiring_WithKernels() {
	ratio := semiring.NewBinary("ratio", func(x, y float64) float64 { return x / (x + y) }, "x / (x + y)")
	s := semiring.New(semiring.Plus[float64](), ratio).WithKernels(semiring.Kernels[float64, float64, float64]{
		Scatter: func(acc []float64, marks []uint64, a float64, ci []int32, bv []float64) {
			semiring.ScatterFn(acc, marks, a, ci, bv,
				func(x, y float64) float64 { return x / (x + y) },
				func(x, y float64) float64 { return x + y })
		},
		ScatterAll: func(acc []float64, a float64, ci []int32, bv []float64) {
			semiring.ScatterAllFn(acc, a, ci, bv,
				func(x, y float64) float64 { return x / (x + y) },
				func(x, y float64) float64 { return x + y })
		},
	})
	fmt.Println(semiring.Check(s, semiring.CheckOptions[float64, float64, float64]{}))
	// Output:
	// <nil>
}

// Check finds a loop that disagrees with the operators.
func ExampleCheck() {
	s := semiring.PlusTimes[int64]().WithKernels(semiring.Kernels[int64, int64, int64]{
		Products: func(out []int64, a int64, bv []int64) {
			semiring.ProductsFn(out, a, bv, func(x, y int64) int64 { return x + y })
		},
	})
	err := semiring.Check(s, semiring.CheckOptions[int64, int64, int64]{A: []int64{2}, B: []int64{3}})
	fmt.Println(err)
	// Output:
	// plus_times: kernel Products of scalar 2, values [3] at 0 gives 5, its operators give 6
}
