package inline

import "github.com/hiveblas/hiveblas/semiring"

func Built() (semiring.Semiring[float64, float64, float64], semiring.Semiring[bool, bool, bool], semiring.Semiring[int32, int32, int32]) {
	return semiring.PlusTimes[float64](), semiring.LorLand(), semiring.MinPlus[int32]()
}

func div(x, y float64) float64 { return x / (x + y) }

func Dot(s float64, ci []int32, av, x []float64) float64 {
	return semiring.DotFn(s, ci, av, x,
		func(x, y float64) float64 { return x / (x + y) },
		func(x, y float64) float64 { return x + y })
}
