package geo

import (
	"math"

	"github.com/hiveblas/hiveblas/apps/internal/workflow"
	"github.com/hiveblas/hiveblas/internal/chord"
)

// Spatial medians on the earth, a sphere of radius earthKm. A location is its coordinates in
// degrees and its unit vector, towards 0°N 0°E, 0°N 90°E and the north pole.
const earthKm = 6371.0

// geoPoint is a location.
type geoPoint[F workflow.Real] struct{ lat, lon, x, y, z F }

// geoPointOf returns the location of coordinates in degrees. The poles are one point each, whatever
// their longitude.
func geoPointOf[F workflow.Real](lat, lon float64) geoPoint[F] {
	sin, cos := math.Sincos(lat * (math.Pi / 180))
	if math.Abs(lat) == 90 {
		sin, cos = math.Copysign(1, lat), 0
	}
	s, c := math.Sincos(lon * (math.Pi / 180))
	return geoPoint[F]{F(lat), F(lon), F(cos * c), F(cos * s), F(sin)}
}

// degreesOfVector returns the coordinates of a vector that is not zero.
func degreesOfVector(x, y, z float64) (lat, lon float64) {
	lat = math.Atan2(z, math.Hypot(x, y)) * (180 / math.Pi)
	if x == 0 && y == 0 {
		return lat, 0
	}
	return lat, math.Atan2(y, x) * (180 / math.Pi)
}

// inverseAngle32 holds the coefficients of √u/atan √u in float32, as chord.Coefficients does in
// float64: to 4e-9.
var inverseAngle32 = [9]float32{1.000000003749687, 0.3333327227855582, -0.08887218566578299,
	0.046380728199014565, -0.029189602515289303, 0.01849291903007195, -0.009846230740343265,
	0.003554134953156964, -0.0006129471247847593}

// inverseAngle returns √u/atan √u.
func inverseAngle[F workflow.Real](u F) F {
	if _, single := any(u).(float32); single {
		c := &inverseAngle32
		x := float32(u)
		return F((((((((c[8]*x+c[7])*x+c[6])*x+c[5])*x+c[4])*x+c[3])*x+c[2])*x+c[1])*x + c[0])
	}
	c := &chord.Coefficients
	x := float64(u)
	return F((((((((((((((c[14]*x+c[13])*x+c[12])*x+c[11])*x+c[10])*x+c[9])*x+c[8])*x+c[7])*x+
		c[6])*x+c[5])*x+c[4])*x+c[3])*x+c[2])*x+c[1])*x + c[0])
}

// root is the square root, one instruction in either type.
func root[F workflow.Real](x F) F { return F(math.Sqrt(float64(x))) }

// apart returns the square of the sine of half the angle between two points, which is the quarter
// of their squared distance through the earth.
func apart[F workflow.Real](p, q *geoPoint[F]) F {
	x, y, z := p.x-q.x, p.y-q.y, p.z-q.z
	s := (x*x + y*y + z*z) / 4
	if s > 1 { // by rounding, of antipodes
		s = 1
	}
	return s
}

// perAngle returns the inverse of an angle θ in radians, of s = sin² θ/2 above 0. With
// t = tan θ/4 = sin θ/2 / (1 + cos θ/2), that is t/atan t / 4t.
func perAngle[F workflow.Real](s F) F {
	half := root(s)
	b := 1 + root(1-s)
	r := 1 / (b * half)
	t := s * r // sin θ/2 / b
	return inverseAngle(t*t) * (b * b * r) / 4
}

// kilometres returns the distance of two points.
func kilometres[F workflow.Real](p, q *geoPoint[F]) float64 {
	if s := apart(p, q); s > 0 {
		return earthKm / float64(perAngle(s))
	}
	return 0
}

// geoSettings are the settings of a median.
type geoSettings struct {
	median        GeoMedian
	tolerance     float64 // metres, or degrees
	maxIterations int
}

// centre returns the median of some points. One point is its own; of two it is the midpoint of the
// great circle. converged is false if the iterations ended first.
func centre[F workflow.Real](pts []geoPoint[F], set geoSettings) (at geoPoint[F], lat, lon float64, converged bool) {
	same := true
	for k := 1; k < len(pts) && same; k++ {
		same = pts[k] == pts[0]
	}
	switch {
	case same:
		return pts[0], float64(pts[0].lat), float64(pts[0].lon), true
	case len(pts) == 2:
		lat, lon = midpoint(&pts[0], &pts[1])
		return geoPointOf[F](lat, lon), lat, lon, true
	case set.median == MedianDegrees:
		y, ok := medianDegrees(pts, F(set.tolerance), set.maxIterations)
		return y, float64(y.lat), float64(y.lon), ok
	}
	y, ok := medianSphere(pts, set.tolerance, set.maxIterations)
	return y, float64(y.lat), float64(y.lon), ok
}

// midpoint returns the midpoint of the shorter great circle between two points. Antipodes have
// many: midpoint returns the midpoint of the meridian over the north pole, and 0°N 0°E for the
// poles.
func midpoint[F workflow.Real](p, q *geoPoint[F]) (lat, lon float64) {
	u, v := geoPointOf[float64](float64(p.lat), float64(p.lon)), geoPointOf[float64](float64(q.lat), float64(q.lon))
	x, y, z := u.x+v.x, u.y+v.y, u.z+v.z
	if math.Sqrt(x*x+y*y+z*z) > 1e-12 {
		return degreesOfVector(x, y, z)
	}
	if math.Hypot(u.x, u.y) < 1e-12 {
		return 0, 0
	}
	return degreesOfVector(-u.z*u.x, -u.z*u.y, 1-u.z*u.z)
}

// medianDegrees is the median of the report: Weiszfeld's iteration on latitude and longitude as
// plane coordinates, weighted by the inverse of the distance on the sphere in kilometres, from
// their means, with the correction of Vardi and Zhang (The multivariate L1-median and associated
// data depth, PNAS 97, 2000) at a point. It ends with the first step shorter than the tolerance in
// degrees. The order of the sums is fixed on a machine.
func medianDegrees[F workflow.Real](pts []geoPoint[F], tolerance F, most int) (y geoPoint[F], converged bool) {
	var lat, lon F
	for k := range pts {
		lat += pts[k].lat
		lon += pts[k].lon
	}
	lat, lon = lat/F(len(pts)), lon/F(len(pts))
	weigh := weigher(pts)
	for range most {
		y = geoPointOf[F](float64(lat), float64(lon))
		sum, tlat, tlon, zeros := weigh(&y)
		if zeros == len(pts) {
			return y, true
		}
		tlat, tlon = tlat/sum, tlon/sum
		if zeros > 0 {
			sum /= earthKm
			rlat, rlon := (tlat-lat)*sum, (tlon-lon)*sum
			stay := F(1)
			if r := root(rlat*rlat + rlon*rlon); r > F(zeros) {
				stay = F(zeros) / r
			}
			tlat, tlon = (1-stay)*tlat+stay*lat, (1-stay)*tlon+stay*lon
		}
		dlat, dlon := lat-tlat, lon-tlon
		lat, lon = tlat, tlon
		if root(dlat*dlat+dlon*dlon) < tolerance {
			converged = true
			break
		}
	}
	return geoPointOf[F](float64(lat), float64(lon)), converged
}

// weigher returns a function that sums the weights of the points, 1/θ with θ their angle at y, and
// their products with the coordinates. zeros is the number of points at y, which have no weight.
func weigher[F workflow.Real](pts []geoPoint[F]) func(y *geoPoint[F]) (sum, lat, lon F, zeros int) {
	if list, double := any(pts).([]geoPoint[float64]); double {
		n := len(list)
		all := make([]float64, 5*n)
		c := chord.Points{A: all[:n], B: all[n : 2*n], X: all[2*n : 3*n], Y: all[3*n : 4*n], Z: all[4*n:]}
		for k := range list {
			p := &list[k]
			c.A[k], c.B[k], c.X[k], c.Y[k], c.Z[k] = p.lat, p.lon, p.x, p.y, p.z
		}
		return func(y *geoPoint[F]) (sum, lat, lon F, zeros int) {
			s, a, b, zeros := c.Sums(float64(y.x), float64(y.y), float64(y.z))
			return F(s), F(a), F(b), zeros
		}
	}
	return func(y *geoPoint[F]) (sum, lat, lon F, zeros int) {
		for k := range pts {
			p := &pts[k]
			s := apart(p, y)
			if s == 0 {
				zeros++
				continue
			}
			w := perAngle(s)
			sum += w
			lat += w * p.lat
			lon += w * p.lon
		}
		return sum, lat, lon, zeros
	}
}
