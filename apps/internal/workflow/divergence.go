package workflow

import (
	"fmt"
	"math"
)

// Growth returns the factor by which changes grow in an iteration, the geometric mean over the
// later half of those that are finite: the largest eigenvalue times the attenuation, also where
// changes oscillate, as on bipartite graphs. It is 0 for fewer than 4 of them.
func Growth(changes []float64) float64 {
	last := len(changes) - 1
	for last >= 0 && !(changes[last] <= math.MaxFloat64) {
		last--
	}
	half := (last + 1) / 4 * 2 // an even number of iterations
	if half == 0 || !(changes[last] > 0 && changes[last-half] > 0) {
		return 0
	}
	return math.Exp((math.Log(changes[last]) - math.Log(changes[last-half])) / float64(half))
}

// Divergence is the error of an attenuation for which the walks have no finite sum.
func Divergence(app string, attenuation float64, changes []float64) error {
	want := "below 1 over the largest eigenvalue; 0 is 0.85 over the largest in-degree"
	if factor := Growth(changes); factor > 0 {
		want = fmt.Sprintf("below %.3g, about 1 over the largest eigenvalue: the values grow by %.3g in an iteration",
			roundedDown(attenuation/max(factor, 1)), factor)
	}
	return &ParameterError{app, "the attenuation", fmt.Sprint(attenuation), want}
}

// roundedDown returns the largest number of three digits up to x.
func roundedDown(x float64) float64 {
	unit := math.Pow(10, math.Floor(math.Log10(x))-2)
	return math.Floor(x/unit) * unit
}
