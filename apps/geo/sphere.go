package geo

import (
	"cmp"
	"math"
	"slices"

	"github.com/hiveblas/hiveblas/apps/internal/workflow"
)

// medianSphere is a point of the sphere with the least sum of distances to the points: Weiszfeld's
// iteration on unit vectors (Fletcher, Venkatasubramanian, Joshi: The geometric median on
// Riemannian manifolds, NeuroImage 45, 2009), which steps from y along the great circle in the
// direction
//
//	Σ log(y, p)/θ(p) / Σ 1/θ(p)
//
// with θ(p) the angle between y and p, with the correction of Vardi and Zhang (2000) where y meets
// points. No such step makes the sum larger, but many are needed near a point that is no median. A
// step of Newton in the tangent plane therefore takes its place where the Hessian is positive
// definite, and is taken back if it makes the sum larger. The iteration ends with a step of Newton
// below the tolerance in metres, or with a step of Weiszfeld after which all further steps, by the
// ratio of the last two, sum to less than the tolerance. If the nearest point is a median, that
// point is the result.
//
// Points within 45° of their median have no other. Others may have several local ones: then
// descents begin at the points with the least sums too, and the best end is the result.
func medianSphere[F workflow.Real](pts []geoPoint[F], tolerance float64, most int) (geoPoint[F], bool) {
	if _, single := any(F(0)).(float32); single {
		tolerance = max(tolerance, singleMetres)
	}
	var x, y, z float64
	for k := range pts {
		x, y, z = x+float64(pts[k].x), y+float64(pts[k].y), z+float64(pts[k].z)
	}
	var best descended[F]
	if math.Sqrt(x*x+y*y+z*z) > 1e-6*float64(len(pts)) {
		best = descendSphere(pts, unit[F](x, y, z), tolerance, most)
		if best.farthest <= math.Sin(math.Pi/8)*math.Sin(math.Pi/8) {
			return best.at, best.converged
		}
	} else {
		best.sum = math.Inf(1)
	}
	for _, start := range leastSums(pts) {
		if d := descendSphere(pts, start, tolerance, most); d.sum < best.sum*(1-1e-12) {
			best = d
		}
	}
	return best.at, best.converged
}

// unit returns the point in the direction of a vector that is not zero.
func unit[F workflow.Real](x, y, z float64) geoPoint[F] {
	lat, lon := degreesOfVector(x, y, z)
	length := math.Sqrt(x*x + y*y + z*z)
	return geoPoint[F]{F(lat), F(lon), F(x / length), F(y / length), F(z / length)}
}

// singleMetres is the least tolerance in float32: its unit vectors are about a metre apart.
const singleMetres = 10

// The points from which medianSphere looks for other local medians, and those among which it
// chooses them.
const (
	sphereStarts     = 4
	sphereCandidates = 64
)

// leastSums returns the points with the least sums of distances to all, of at most
// sphereCandidates.
func leastSums[F workflow.Real](pts []geoPoint[F]) []geoPoint[F] {
	type candidate struct {
		at  geoPoint[F]
		sum float64
	}
	var list []candidate
	stride := (len(pts) + sphereCandidates - 1) / sphereCandidates
	for k := 0; k < len(pts); k += stride {
		c := candidate{at: pts[k]}
		if slices.ContainsFunc(list, func(d candidate) bool { return d.at == c.at }) {
			continue
		}
		for q := range pts {
			c.sum += kilometres(&pts[k], &pts[q])
		}
		list = append(list, c)
	}
	slices.SortStableFunc(list, func(a, b candidate) int { return cmp.Compare(a.sum, b.sum) })
	var starts []geoPoint[F]
	for _, c := range list[:min(sphereStarts, len(list))] {
		starts = append(starts, c.at)
	}
	return starts
}

// descended is the end of a descent.
type descended[F workflow.Real] struct {
	at        geoPoint[F]
	sum       float64 // of the distances
	farthest  float64 // sin² θ/2 of the farthest point
	converged bool
}

// descendSphere is the iteration of medianSphere from a start.
func descendSphere[F workflow.Real](pts []geoPoint[F], y geoPoint[F], tolerance float64, most int) (d descended[F]) {
	const metre = 1 / (earthKm * 1000)
	before := math.Inf(1)  // the last step of Weiszfeld, if the last was one
	var safe geoPoint[F]   // where it would lead, of the last iterate
	least := math.Inf(1)   // sum at the last iterate
	newton := false        // y is the end of a step of Newton
	var tested geoPoint[F] // the last point that was tested for a median
	for range most {
		v := viewSphere(pts, &y)
		if newton && v.sum > least*(1+1e-13) {
			y, newton, before = safe, false, math.Inf(1)
			near := nearestPoint(pts, &y)
			if near == tested {
				continue
			}
			if tested = near; isMedian(pts, &near) && sumSphere(pts, &near) <= least*earthKm {
				y, d.converged = near, true
				break
			}
			continue
		}
		least = v.sum
		u, length := v.weiszfeld()
		if length == 0 {
			d.converged = true
			break
		}
		safe = moved(&y, v.tangent(u), length)
		if w, ahead, ok := v.newton(); ok {
			y, newton = moved(&y, v.tangent(w), ahead), true
			if ahead < tolerance*metre {
				d.converged = true
				break
			}
			continue
		}
		y, newton = safe, false
		ratio := length / before
		if length < tolerance*metre && ratio < 1 && length*ratio < tolerance*metre*(1-ratio) {
			d.converged = true
			break
		}
		before = length
	}
	d.at = y
	near := nearestPoint(pts, &y)
	if kilometres(&near, &y) <= tolerance && isMedian(pts, &near) { // within a thousand tolerances
		d.at = near
	}
	d.sum = sumSphere(pts, &d.at)
	for k := range pts {
		d.farthest = max(d.farthest, float64(apart(&pts[k], &d.at)))
	}
	return d
}

// sphereView is what a point y sees of the points.
type sphereView[F workflow.Real] struct {
	e, n     [3]F    // unit tangents towards the east and the north, any two at the poles
	ge, gn   F       // sum of the unit tangents towards the points: minus the gradient of the sum
	hee, hen F       // the Hessian of the sum
	hnn      F       //
	weight   F       // Σ 1/θ
	sum      float64 // of the distances in radians
	zeros    int     // points at y, which are left out of the others
}

func viewSphere[F workflow.Real](pts []geoPoint[F], y *geoPoint[F]) (v sphereView[F]) {
	v.e = [3]F{0, 1, 0}
	if r := root(y.x*y.x + y.y*y.y); r > 0 {
		v.e = [3]F{-y.y / r, y.x / r, 0}
	}
	v.n = [3]F{y.y*v.e[2] - y.z*v.e[1], y.z*v.e[0] - y.x*v.e[2], y.x*v.e[1] - y.y*v.e[0]}
	for k := range pts {
		p := &pts[k]
		s := apart(p, y)
		if s == 0 {
			v.zeros++
			continue
		}
		w := perAngle(s)
		v.weight += w
		v.sum += 1 / float64(w)
		if s >= 1-1e-7 { // within 0.04° of the antipode, which has no direction
			continue
		}
		r := 1 / (2 * root(s*(1-s))) // 1/sin θ
		a := r * (p.x*v.e[0] + p.y*v.e[1] + p.z*v.e[2])
		b := r * (p.x*v.n[0] + p.y*v.n[1] + p.z*v.n[2])
		cot := r * (1 - 2*s)
		v.ge += a
		v.gn += b
		v.hee += cot * (1 - a*a)
		v.hen -= cot * a * b
		v.hnn += cot * (1 - b*b)
	}
	return v
}

// weiszfeld returns the direction and the length of a step in radians; 0 at a median.
func (v *sphereView[F]) weiszfeld() (direction [2]float64, length float64) {
	a, b := float64(v.ge), float64(v.gn)
	pull := math.Hypot(a, b)
	if !(pull > float64(v.zeros)) {
		return direction, 0
	}
	return [2]float64{a / pull, b / pull}, (pull - float64(v.zeros)) / float64(v.weight)
}

// newton returns the direction and the length of a step in radians, and whether it is usable.
func (v *sphereView[F]) newton() (direction [2]float64, length float64, ok bool) {
	hee, hen, hnn := float64(v.hee), float64(v.hen), float64(v.hnn)
	det := hee*hnn - hen*hen
	if v.zeros > 0 || !(hee+hnn > 0 && det > 1e-12*(hee+hnn)*(hee+hnn)) {
		return direction, 0, false
	}
	a := (hnn*float64(v.ge) - hen*float64(v.gn)) / det
	b := (hee*float64(v.gn) - hen*float64(v.ge)) / det
	if length = math.Hypot(a, b); !(length < .5) {
		return direction, 0, false
	}
	if length == 0 {
		return direction, 0, true
	}
	return [2]float64{a / length, b / length}, length, true
}

// tangent returns a direction as a vector.
func (v *sphereView[F]) tangent(d [2]float64) (t [3]float64) {
	for k := range t {
		t[k] = d[0]*float64(v.e[k]) + d[1]*float64(v.n[k])
	}
	return t
}

// moved returns the point at a distance in radians from y in the direction of a unit tangent.
func moved[F workflow.Real](y *geoPoint[F], t [3]float64, length float64) geoPoint[F] {
	sin, cos := math.Sincos(length)
	return unit[F](cos*float64(y.x)+sin*t[0], cos*float64(y.y)+sin*t[1], cos*float64(y.z)+sin*t[2])
}

// nearestPoint returns the nearest of the points.
func nearestPoint[F workflow.Real](pts []geoPoint[F], y *geoPoint[F]) (near geoPoint[F]) {
	least := F(2)
	for k := range pts {
		if s := apart(&pts[k], y); s < least {
			least, near = s, pts[k]
		}
	}
	return near
}

// isMedian reports whether one of the points is a local median: whether the others pull at it by no
// more than the number of points there.
func isMedian[F workflow.Real](pts []geoPoint[F], p *geoPoint[F]) bool {
	v := viewSphere(pts, p)
	return math.Hypot(float64(v.ge), float64(v.gn)) <= float64(v.zeros)*(1+1e-12)
}

// sumSphere returns the sum of the distances in kilometres.
func sumSphere[F workflow.Real](pts []geoPoint[F], y *geoPoint[F]) (sum float64) {
	for k := range pts {
		sum += kilometres(&pts[k], y)
	}
	return sum
}
