// Package model predicts the time of graph workflows on groups of devices from measured figures:
// the time of collectives, T = α + B/N, the speed of a device's memory, and the volumes of a
// ledger.
//
// A [Machine] holds the figures, [Fit] makes them from measured [Point]s, and [Machine.Predict]
// applies them to the [Volume] of a run:
//
//	p, err := model.H200().Predict(volume)
//
// docs/scale.md compares predictions with measurements.
package model

import "math"

// Point is a measurement of a collective.
type Point struct {
	Bytes   float64 // received by a rank, as package comm counts
	Seconds float64
}

// Line is the time of a collective of B bytes, Alpha + B/N.
type Line struct {
	Alpha float64 // seconds
	N     float64 // bytes a second; +Inf if the time does not grow
}

// Seconds returns the time of a collective of so many bytes.
func (l Line) Seconds(bytes float64) float64 {
	if l.N == 0 {
		return l.Alpha
	}
	return l.Alpha + bytes/l.N
}

// Fit returns the line with the least sum of squares of relative errors, Σ ((α + B/N − T)/T)²,
// which for small errors is the sum of squares of errors of the logarithms: all sizes count the
// same. Points without a positive time are ignored. Neither α nor N is negative. The zero Line is
// the result without points.
func Fit(points []Point) Line {
	// Minimise Σ (a·u + b·v − 1)² with u = 1/T, v = B/T.
	var uu, uv, vv, su, sv float64
	n := 0
	for _, p := range points {
		if !(p.Seconds > 0) || !(p.Bytes >= 0) {
			continue
		}
		u, v := 1/p.Seconds, p.Bytes/p.Seconds
		uu, uv, vv, su, sv = uu+u*u, uv+u*v, vv+v*v, su+u, sv+v
		n++
	}
	if n == 0 {
		return Line{}
	}
	det := uu*vv - uv*uv
	a, b := su/uu, 0.0
	if det > 1e-12*uu*vv {
		a, b = (su*vv-sv*uv)/det, (sv*uu-su*uv)/det
	}
	switch {
	case a < 0:
		a, b = 0, sv/vv
	case b < 0:
		a, b = su/uu, 0
	}
	if b <= 0 {
		return Line{a, math.Inf(1)}
	}
	return Line{a, 1 / b}
}
