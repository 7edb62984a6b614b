// Package chord sums weights of points on a sphere by the inverse of their angle at another point,
// for the spatial medians of package apps. On amd64 with AVX2 and FMA it takes four points at a
// time.
package chord

import "math"

// Coefficients approximate √u/atan √u for 0 ≤ u ≤ 1, by interpolation at Chebyshev points, lowest
// degree first. The error is 5e-14.
var Coefficients = [15]float64{1.0000000000000482, 0.3333333333116172, -0.08888888725130042,
	0.046560797419048276, -0.0301932240936521, 0.02178927643457626, -0.01673943257966491,
	0.013287861801050948, -0.010507536302646598, 0.007832822855612789, -0.005117444195835922,
	0.0026947854730753817, -0.0010377525971837105, 0.0002543410111482735, -2.939655075649228e-05}

// Points are points as lists of their coordinates, all of the same length: A and B are what is
// summed, X, Y and Z the unit vector.
type Points struct{ A, B, X, Y, Z []float64 }

// Sums returns Σ w, Σ w·A and Σ w·B over the points, with w = 1/θ and θ the angle in radians
// between the unit vectors of a point and (x, y, z). Points at that place have no weight; zeros
// counts them. The order of the sums is fixed on a machine.
func (p *Points) Sums(x, y, z float64) (sum, a, b float64, zeros int) {
	done := 0
	if wide && len(p.X) >= 4 {
		done = len(p.X) &^ 3
		sum, a, b, zeros = sumsWide(p, done, x, y, z)
	}
	s, c, d, e := p.plain(done, x, y, z)
	return sum + s, a + c, b + d, zeros + e
}

// plain is Sums of the points from one on.
//
// With s = sin² θ/2, the quarter of the squared chord, and t = tan θ/4 = sin θ/2 / (1 + cos θ/2),
// the weight is t/atan t / 4t. The arithmetic is in the loop, because calls took half of the time.
func (p *Points) plain(from int, px, py, pz float64) (sum, a, b float64, zeros int) {
	q := &Coefficients
	n := len(p.X)
	xs, ys, zs, as, bs := p.X, p.Y[:n], p.Z[:n], p.A[:n], p.B[:n]
	for k := from; k < n; k++ {
		dx, dy, dz := xs[k]-px, ys[k]-py, zs[k]-pz
		s := min((dx*dx+dy*dy+dz*dz)*.25, 1) // above 1 by rounding, of antipodes
		if s == 0 {
			zeros++
			continue
		}
		c := 1 + math.Sqrt(1-s)
		r := 1 / (c * math.Sqrt(s))
		t := s * r
		u := t * t
		w := (((((((((((((q[14]*u+q[13])*u+q[12])*u+q[11])*u+q[10])*u+q[9])*u+q[8])*u+q[7])*u+
			q[6])*u+q[5])*u+q[4])*u+q[3])*u+q[2])*u+q[1])*u + q[0]
		w *= c * c * r * .25
		sum += w
		a += w * as[k]
		b += w * bs[k]
	}
	return sum, a, b, zeros
}
