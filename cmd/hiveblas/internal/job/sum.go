package job

import "math"

// Total is a compensated sum of floats (Neumaier, ZAMM 54, 1974), so that the sums of
// reports do not depend on the order of the terms in the digits shown.
type Total struct{ sum, lost float64 }

func (t *Total) Add(x float64) {
	s := t.sum + x
	if math.Abs(t.sum) >= math.Abs(x) {
		t.lost += t.sum - s + x
	} else {
		t.lost += x - s + t.sum
	}
	t.sum = s
}

func (t *Total) Value() float64 {
	if math.IsInf(t.sum, 0) { // what an infinite sum has lost is not a number
		return t.sum
	}
	return t.sum + t.lost
}
