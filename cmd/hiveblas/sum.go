package main

import "math"

// total adds up floats with the rounding errors carried along, so that the
// sums of reports do not depend on the order to the digits that they show
// (Neumaier, ZAMM 54, 1974).
type total struct{ sum, lost float64 }

func (t *total) add(x float64) {
	s := t.sum + x
	if math.Abs(t.sum) >= math.Abs(x) {
		t.lost += t.sum - s + x
	} else {
		t.lost += x - s + t.sum
	}
	t.sum = s
}

func (t *total) value() float64 { return t.sum + t.lost }
