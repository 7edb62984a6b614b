// Package inline is a user's program for TestOperatorsInline: it makes every tagged semiring and
// calls every Fn kernel with function literals.
package inline

import "github.com/hiveblas/hiveblas/semiring"

type (
	f  = semiring.Semiring[float64, float64, float64]
	i  = semiring.Semiring[int32, int32, int32]
	u  = semiring.Semiring[uint8, uint8, uint8]
	fp = semiring.Semiring[float32, bool, float32]
	pf = semiring.Semiring[bool, float32, float32]
)

func Floats() []f {
	return []f{
		semiring.PlusTimes[float64](), semiring.MinPlus[float64](), semiring.MaxPlus[float64](), semiring.MinTimes[float64](),
		semiring.MaxTimes[float64](), semiring.MinMax[float64](), semiring.MaxMin[float64](), semiring.PlusMin[float64](),
		semiring.PlusMax[float64](), semiring.PlusPlus[float64](), semiring.PlusMinus[float64](),
	}
}

func Integers() []i {
	return []i{
		semiring.PlusTimes[int32](), semiring.MinPlus[int32](), semiring.MaxPlus[int32](), semiring.MinTimes[int32](),
		semiring.MaxTimes[int32](), semiring.MinMax[int32](), semiring.MaxMin[int32](), semiring.PlusMin[int32](),
		semiring.PlusMax[int32](), semiring.PlusPlus[int32](), semiring.PlusMinus[int32](),
	}
}

func Bytes() []u { return []u{semiring.PlusTimes[uint8](), semiring.MinPlus[uint8]()} }

func Firsts() []fp {
	return []fp{semiring.PlusFirst[float32](), semiring.MinFirst[float32](), semiring.MaxFirst[float32](), semiring.TimesFirst[float32]()}
}

func Seconds() []pf {
	return []pf{semiring.PlusSecond[float32](), semiring.MinSecond[float32](), semiring.MaxSecond[float32](), semiring.TimesSecond[float32]()}
}

func Pairs() semiring.Semiring[bool, bool, int64] { return semiring.PlusPair[int64]() }

func Logic() []semiring.Semiring[bool, bool, bool] {
	return []semiring.Semiring[bool, bool, bool]{semiring.LorLand(), semiring.LandLor(), semiring.LxorLand()}
}

func Dot(s float64, ci []int32, av, x []float64) float64 {
	return semiring.DotFn(s, ci, av, x,
		func(x, y float64) float64 { return x / (x + y) },
		func(x, y float64) float64 { return x + y })
}

func DotPresent(s float64, ci []int32, av, x []float64, present []uint8) (float64, bool) {
	return semiring.DotPresentFn(s, ci, av, x, present,
		func(x, y float64) float64 { return x / (x + y) },
		func(x, y float64) float64 { return x + y })
}

func Axpy(y []float64, a float64, b []float64) {
	semiring.AxpyFn(y, a, b,
		func(x, y float64) float64 { return x / (x + y) },
		func(x, y float64) float64 { return x + y })
}

func Scatter(acc []float64, marks []uint64, a float64, ci []int32, bv []float64) {
	semiring.ScatterFn(acc, marks, a, ci, bv,
		func(x, y float64) float64 { return x / (x + y) },
		func(x, y float64) float64 { return x + y })
}

func ScatterMasked(acc []float64, state []uint8, a float64, ci []int32, bv []float64) {
	semiring.ScatterMaskedFn(acc, state, a, ci, bv,
		func(x, y float64) float64 { return x / (x + y) },
		func(x, y float64) float64 { return x + y })
}

func ScatterAll(acc []float64, a float64, ci []int32, bv []float64) {
	semiring.ScatterAllFn(acc, a, ci, bv,
		func(x, y float64) float64 { return x / (x + y) },
		func(x, y float64) float64 { return x + y })
}

func Products(out []float64, a float64, bv []float64) {
	semiring.ProductsFn(out, a, bv, func(x, y float64) float64 { return x / (x + y) })
}

func Zip(c, a, b []float64) {
	semiring.ZipFn(c, a, b, func(x, y float64) float64 { return x / (x + y) })
}

func ZipAt(c []float64, pc []int32, a []float64, pa []int32, b []float64, pb []int32) {
	semiring.ZipAtFn(c, pc, a, pa, b, pb, func(x, y float64) float64 { return x / (x + y) })
}

func Map(c, a []float64) {
	semiring.MapFn(c, a, func(x float64) float64 { return x * x })
}

func Fold(s float64, xs []float64) float64 {
	return semiring.FoldFn(s, xs, func(x, y float64) float64 { return x + y })
}

func Collect(acc []float64, ci []int32, v []float64) {
	semiring.CollectFn(acc, ci, v, func(x, y float64) float64 { return x + y })
}
