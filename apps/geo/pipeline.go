package geo

import (
	"fmt"
	"math"

	"github.com/hiveblas/hiveblas/apps/internal/lines"
	"github.com/hiveblas/hiveblas/apps/internal/workflow"
	"github.com/hiveblas/hiveblas/matrix"
	"github.com/hiveblas/hiveblas/ops"
	"github.com/hiveblas/hiveblas/semiring"
)

// geoPipeline is Geolocate in operations where the graph lives. P has the points of the located
// vertices, and B is the rows of A of the vertices that a pass may locate, in the columns of P. All
// medians of a pass are one iteration of Weiszfeld's: with the iterate of its row at each entry,
//
//	Y = diag(y)·B,  g = Y (+.pull) P,  y ← step(y, g)
//
// where pull weighs a point by the inverse of its angle at the iterate. A median whose step ends it
// leaves y. Two points have their midpoint.
//
// The median on the sphere has steps of Weiszfeld alone, from the mean: Method Auto ends within the
// tolerance sooner, by steps of Newton, and also looks for other local medians.
type geoPipeline struct {
	ops.Steps
	o     GeolocateOptions
	a     *matrix.Matrix[bool]
	n     int
	place matrix.Place
	with  ops.Option

	points     *matrix.Vector[geoSpot]
	pass       *matrix.Vector[int32]
	dispersion *matrix.Vector[float64]
	tried      *matrix.Vector[float64] // located neighbours of a vertex when it was beyond the limits
	unfinished int64
}

// geoSpot is a point with the length of the step that led there.
type geoSpot struct{ Lat, Lon, X, Y, Z, Step float64 }

// geoPull is what points add up to at an iterate: their weights, weighted coordinates, and the
// number of points there. C belongs to the iterate itself.
type geoPull struct{ W, X, Y, Z, C, Zeros float64 }

// geoSum is the sums of some points, and of products of coordinates.
type geoSum struct{ Lat, Lon, X, Y, Z, XZ, YZ, ZZ float64 }

// spotOf is the place of a vertex by its latitude and longitude.
func spotOf() semiring.BinaryOp[float64, float64, geoSpot] {
	return semiring.NewBinary("spot_of", func(lat, lon float64) geoSpot {
		p := geoPointOf[float64](lat, lon)
		return geoSpot{p.lat, p.lon, p.x, p.y, p.z, math.Inf(1)}
	}, `fabs(x) == 90 ? C{x, y, 0, 0, x / 90, 1.0 / 0.0} : C{x, y, cos(x * 0.017453292519943295) * cos(y * 0.017453292519943295), cos(x * 0.017453292519943295) * sin(y * 0.017453292519943295), sin(x * 0.017453292519943295), 1.0 / 0.0}`)
}

// addPulls adds pulls.
func addPulls() semiring.BinaryOp[geoPull, geoPull, geoPull] {
	return semiring.NewBinary("add_pulls", func(x, y geoPull) geoPull {
		return geoPull{x.W + y.W, x.X + y.X, x.Y + y.Y, x.Z + y.Z, x.C + y.C, x.Zeros + y.Zeros}
	}, "C{x.W + y.W, x.X + y.X, x.Y + y.Y, x.Z + y.Z, x.C + y.C, x.Zeros + y.Zeros}")
}

// addSums adds sums of points.
func addSums() semiring.BinaryOp[geoSum, geoSum, geoSum] {
	return semiring.NewBinary("add_sums", func(x, y geoSum) geoSum {
		return geoSum{x.Lat + y.Lat, x.Lon + y.Lon, x.X + y.X, x.Y + y.Y, x.Z + y.Z, x.XZ + y.XZ, x.YZ + y.YZ, x.ZZ + y.ZZ}
	}, "C{x.Lat + y.Lat, x.Lon + y.Lon, x.X + y.X, x.Y + y.Y, x.Z + y.Z, x.XZ + y.XZ, x.YZ + y.YZ, x.ZZ + y.ZZ}")
}

// sumOfSpot is the sums of one point.
func sumOfSpot() semiring.BinaryOp[bool, geoSpot, geoSum] {
	return semiring.NewBinary("sum_of_spot", func(_ bool, y geoSpot) geoSum {
		return geoSum{y.Lat, y.Lon, y.X, y.Y, y.Z, y.X * y.Z, y.Y * y.Z, y.Z * y.Z}
	}, "C{y.Lat, y.Lon, y.X, y.Y, y.Z, y.X * y.Z, y.Y * y.Z, y.Z * y.Z}")
}

// kilometresTo is the distance of two points.
func kilometresTo() semiring.BinaryOp[geoSpot, geoSpot, float64] {
	return semiring.NewBinary("kilometres_to", func(x, y geoSpot) float64 {
		return 2 * earthKm * math.Asin(math.Sqrt(spotsApart(x, y)))
	}, "2 * 6371.0 * asin(sqrt("+apartCUDA+"))")
}

// spotsApart is sin² θ/2 of the angle θ between two points.
func spotsApart(p, q geoSpot) float64 {
	x, y, z := p.X-q.X, p.Y-q.Y, p.Z-q.Z
	return min((x*x+y*y+z*z)/4, 1)
}

const apartCUDA = "fmin(((x.X - y.X) * (x.X - y.X) + (x.Y - y.Y) * (x.Y - y.Y) + (x.Z - y.Z) * (x.Z - y.Z)) / 4, 1.0)"

// pulls returns the operator by which a point pulls at an iterate.
func pulls(m GeoMedian) semiring.BinaryOp[geoSpot, geoSpot, geoPull] {
	if m == MedianDegrees {
		return semiring.NewBinary("pull_degrees", func(y, p geoSpot) geoPull {
			s := spotsApart(y, p)
			if s == 0 {
				return geoPull{Zeros: 1}
			}
			w := .5 / math.Asin(math.Sqrt(s))
			return geoPull{W: w, X: w * p.Lat, Y: w * p.Lon}
		}, `[](double s, double lat, double lon) -> C {
	if (s == 0) return C{0, 0, 0, 0, 0, 1};
	const double w = .5 / asin(sqrt(s));
	return C{w, w * lat, w * lon, 0, 0, 0};
}(`+apartCUDA+`, y.Lat, y.Lon)`)
	}
	// The unit tangent from y to p is (p − y cos θ)/sin θ. Antipodes have none.
	return semiring.NewBinary("pull_sphere", func(y, p geoSpot) geoPull {
		s := spotsApart(y, p)
		if s == 0 {
			return geoPull{Zeros: 1}
		}
		w := .5 / math.Asin(math.Sqrt(s))
		if s >= 1-1e-7 {
			return geoPull{W: w}
		}
		r := .5 / math.Sqrt(s*(1-s))
		return geoPull{w, r * p.X, r * p.Y, r * p.Z, r * (1 - 2*s), 0}
	}, `[](double s, double px, double py, double pz) -> C {
	if (s == 0) return C{0, 0, 0, 0, 0, 1};
	const double w = .5 / asin(sqrt(s));
	if (s >= 1 - 1e-7) return C{w, 0, 0, 0, 0, 0};
	const double r = .5 / sqrt(s * (1 - s));
	return C{w, r * px, r * py, r * pz, r * (1 - 2 * s), 0};
}(`+apartCUDA+`, y.X, y.Y, y.Z)`)
}

// steps returns the operator of a step from an iterate: Weiszfeld's, with the correction of Vardi
// and Zhang at points.
func steps(m GeoMedian) semiring.BinaryOp[geoSpot, geoPull, geoSpot] {
	if m == MedianDegrees {
		return semiring.NewBinary("step_degrees", func(y geoSpot, g geoPull) geoSpot {
			if g.W == 0 {
				y.Step = 0
				return y
			}
			lat, lon := g.X/g.W, g.Y/g.W
			if g.Zeros > 0 {
				stay := 1.0
				if r := math.Hypot(lat-y.Lat, lon-y.Lon) * g.W / earthKm; r > g.Zeros {
					stay = g.Zeros / r
				}
				lat, lon = (1-stay)*lat+stay*y.Lat, (1-stay)*lon+stay*y.Lon
			}
			p := geoPointOf[float64](lat, lon)
			return geoSpot{lat, lon, p.x, p.y, p.z, math.Hypot(lat-y.Lat, lon-y.Lon)}
		}, `[](A y, B g) -> C {
	if (g.W == 0) return C{y.Lat, y.Lon, y.X, y.Y, y.Z, 0};
	double lat = g.X / g.W, lon = g.Y / g.W;
	if (g.Zeros > 0) {
		const double r = hypot(lat - y.Lat, lon - y.Lon) * g.W / 6371.0, stay = r > g.Zeros ? g.Zeros / r : 1;
		lat = (1 - stay) * lat + stay * y.Lat;
		lon = (1 - stay) * lon + stay * y.Lon;
	}
	const double step = hypot(lat - y.Lat, lon - y.Lon), c = fabs(lat) == 90 ? 0 : cos(lat * 0.017453292519943295);
	return C{lat, lon, c * cos(lon * 0.017453292519943295), c * sin(lon * 0.017453292519943295), sin(lat * 0.017453292519943295), step};
}(x, y)`)
	}
	return semiring.NewBinary("step_sphere", func(y geoSpot, g geoPull) geoSpot {
		t := [3]float64{g.X - g.C*y.X, g.Y - g.C*y.Y, g.Z - g.C*y.Z}
		pull := math.Sqrt(t[0]*t[0] + t[1]*t[1] + t[2]*t[2])
		if !(pull > g.Zeros) {
			y.Step = 0
			return y
		}
		length := (pull - g.Zeros) / g.W
		sin, cos := math.Sincos(length)
		sin /= pull
		return spotTowards(cos*y.X+sin*t[0], cos*y.Y+sin*t[1], cos*y.Z+sin*t[2], length)
	}, `[](A y, B g) -> C {
	const double a = g.X - g.C * y.X, b = g.Y - g.C * y.Y, c = g.Z - g.C * y.Z, pull = sqrt(a * a + b * b + c * c);
	if (!(pull > g.Zeros)) return C{y.Lat, y.Lon, y.X, y.Y, y.Z, 0};
	const double length = (pull - g.Zeros) / g.W, sine = sin(length) / pull, cosine = cos(length);
	const double u = cosine * y.X + sine * a, v = cosine * y.Y + sine * b, w = cosine * y.Z + sine * c, r = sqrt(u * u + v * v + w * w);
	const double degree = 57.29577951308232;
	return C{atan2(w, hypot(u, v)) * degree, u == 0 && v == 0 ? 0 : atan2(v, u) * degree, u / r, v / r, w / r, length};
}(x, y)`)
}

// spotTowards returns the point in the direction of a vector that is not zero.
func spotTowards(x, y, z, step float64) geoSpot {
	lat, lon := degreesOfVector(x, y, z)
	r := math.Sqrt(x*x + y*y + z*z)
	return geoSpot{lat, lon, x / r, y / r, z / r, step}
}

// begins returns the operator of the point at which a median begins. For MedianDegrees and three
// points or more it has their mean coordinates, else it is the midpoint on the sphere, which
// antipodes have over the north pole.
func begins(m GeoMedian) semiring.BinaryOp[geoSum, float64, geoSpot] {
	mean := m == MedianDegrees
	return semiring.NewBinary(fmt.Sprintf("begin_%v", mean), func(x geoSum, count float64) geoSpot {
		if count == 1 || mean && count > 2 {
			p := geoPointOf[float64](x.Lat/count, x.Lon/count)
			return geoSpot{p.lat, p.lon, p.x, p.y, p.z, math.Inf(1)}
		}
		switch {
		case math.Sqrt(x.X*x.X+x.Y*x.Y+x.Z*x.Z) > 1e-12:
			return spotTowards(x.X, x.Y, x.Z, math.Inf(1))
		case count-x.ZZ < 1e-12:
			return geoSpot{X: 1, Step: math.Inf(1)}
		}
		return spotTowards(-x.XZ/count, -x.YZ/count, 1-x.ZZ/count, math.Inf(1))
	}, fmt.Sprintf(`[](A s, double count) -> C {
	const double degree = 57.29577951308232, inf = 1.0 / 0.0;
	double u = s.X, v = s.Y, w = s.Z;
	if (count == 1 || (%v && count > 2)) {
		const double lat = s.Lat / count, lon = s.Lon / count, c = fabs(lat) == 90 ? 0 : cos(lat * 0.017453292519943295);
		return C{lat, lon, c * cos(lon * 0.017453292519943295), c * sin(lon * 0.017453292519943295), sin(lat * 0.017453292519943295), inf};
	}
	if (!(sqrt(u * u + v * v + w * w) > 1e-12)) {
		if (count - s.ZZ < 1e-12) return C{0, 0, 1, 0, 0, inf};
		u = -s.XZ / count, v = -s.YZ / count, w = 1 - s.ZZ / count;
	}
	const double r = sqrt(u * u + v * v + w * w);
	return C{atan2(w, hypot(u, v)) * degree, u == 0 && v == 0 ? 0 : atan2(v, u) * degree, u / r, v / r, w / r, inf};
}(x, y)`, mean))
}

// ends returns the operator that says whether a step, from the first point to the second one, ends
// a median.
func ends(m GeoMedian, tolerance float64) semiring.BinaryOp[geoSpot, geoSpot, bool] {
	if m == MedianDegrees {
		return semiring.NewBinary(fmt.Sprintf("ends_degrees_%x", math.Float64bits(tolerance)), func(_, y geoSpot) bool { return y.Step < tolerance },
			fmt.Sprintf("y.Step < %.17g", tolerance))
	}
	least := tolerance / (earthKm * 1000)
	return semiring.NewBinary(fmt.Sprintf("ends_sphere_%x", math.Float64bits(least)), func(x, y geoSpot) bool {
		ratio := y.Step / x.Step // the steps that follow sum to less than the tolerance
		return y.Step == 0 || y.Step < least && ratio < 1 && y.Step*ratio < least*(1-ratio)
	}, fmt.Sprintf("y.Step == 0 || (y.Step < %.17g && y.Step < x.Step && y.Step * (y.Step / x.Step) < %.17g * (1 - y.Step / x.Step))", least, least))
}

// geolocateByOperations is Geolocate by the pipeline.
func geolocateByOperations(a *matrix.View[bool], l *lines.Places, o GeolocateOptions) (*Geolocation, error) {
	p := &geoPipeline{o: o, n: len(l.Located), place: a.Place(), with: workflow.With(o.Run)}
	here := matrix.On(p.place)
	p.a = matrix.New[bool](p.n, p.n, here) // a view is no mask
	p.Do(ops.Apply(p.a, semiring.Identity[bool](), a, p.with))
	p.points, p.pass = matrix.NewVector[geoSpot](p.n, here), matrix.NewVector[int32](p.n, here)
	p.dispersion, p.tried = matrix.NewVector[float64](p.n, here), matrix.NewVector[float64](p.n, here)
	known := l.Locations()
	p.Do(known.Latitude.Move(p.place))
	p.Do(known.Longitude.Move(p.place))
	p.Do(ops.EWiseMult(p.points, spotOf(), known.Latitude, known.Longitude, p.with))
	p.Do(ops.AssignVectorScalar(p.pass.Masked(p.points.Structure()), 0, ops.All(), p.with))
	p.Do(ops.AssignVectorScalar(p.dispersion.Masked(p.points.Structure()), 0, ops.All(), p.with))
	res := &Geolocation{Known: l.Count, Located: l.Count}
	for p.OK() && (o.Passes == 0 || res.Passes < o.Passes) {
		workflow.Report(o.Run, fmt.Sprintf("geolocation, pass %d", res.Passes+1), res.Located, int64(p.n))
		located := p.next(int32(res.Passes + 1))
		if located == 0 {
			break
		}
		res.Passes++
		res.Located += located
	}
	workflow.Report(o.Run, "geolocation", res.Located, int64(p.n))
	res.Unlocated, res.Unfinished = int64(p.n)-res.Located, p.unfinished
	res.Latitude, res.Longitude = matrix.NewVector[float64](p.n, here), matrix.NewVector[float64](p.n, here)
	p.Do(ops.Apply(res.Latitude, semiring.NewUnary("latitude", func(x geoSpot) float64 { return x.Lat }, "x.Lat"), p.points, p.with))
	p.Do(ops.Apply(res.Longitude, semiring.NewUnary("longitude", func(x geoSpot) float64 { return x.Lon }, "x.Lon"), p.points, p.with))
	res.Pass, res.Dispersion = p.pass, p.dispersion
	return res, p.Err()
}

// next runs a pass, and returns the number of vertices that it located.
func (p *geoPipeline) next(pass int32) int64 {
	here := matrix.On(p.place)
	count, sums := matrix.NewVector[float64](p.n, here), matrix.NewVector[geoSum](p.n, here)
	p.Do(ops.MxV(count.Masked(p.points.Structure().Not()).Replace(), semiring.PlusPair[float64](), p.a.Pattern(), p.points.Pattern(), p.with))
	p.Do(ops.Select(count, semiring.ValueGE(float64(p.o.MinNeighbours)), count, p.with))
	old := matrix.NewVector[bool](p.n, here) // no neighbour more than when it was tried
	p.Do(ops.EWiseMult(old, semiring.Le[float64](), count, p.tried, p.with))
	p.Do(ops.Apply(count.Masked(old.MaskView().Not()).Replace(), semiring.Identity[float64](), count, p.with))
	if p.NVals(count) == 0 {
		return 0
	}
	all := semiring.New(semiring.NewMonoid(addSums(), geoSum{}), sumOfSpot())
	p.Do(ops.MxV(sums.Masked(count.Structure()), all, p.a, p.points, p.with))
	y, found := matrix.NewVector[geoSpot](p.n, here), matrix.NewVector[geoSpot](p.n, here)
	p.Do(ops.EWiseMult(y, begins(p.o.Median), sums, count, p.with))
	b := p.entries(count)
	p.medians(b, count, y, found)
	return p.locate(b, count, y, found, pass)
}

// entries returns the rows of A of the vertices with counts, in the columns of located vertices.
func (p *geoPipeline) entries(count *matrix.Vector[float64]) *matrix.Matrix[bool] {
	here := matrix.On(p.place)
	rows, cols := matrix.NewVector[bool](p.n, here), matrix.NewVector[bool](p.n, here)
	p.Do(ops.AssignVectorScalar(rows.Masked(count.Structure()), true, ops.All(), p.with))
	p.Do(ops.AssignVectorScalar(cols.Masked(p.points.Structure()), true, ops.All(), p.with))
	b := matrix.New[bool](p.n, p.n, here)
	for k, v := range []*matrix.Vector[bool]{rows, cols} {
		if !p.OK() {
			return b
		}
		d, err := workflow.Diagonal(v, p.with)
		p.Do(err)
		if k == 0 {
			p.Do(ops.MxM(b, semiring.AnyPair[bool](), d, p.a, p.with))
		} else {
			p.Do(ops.MxM(b, semiring.AnyPair[bool](), b, d, p.with))
		}
	}
	return b
}

// medians moves the medians from y to found. Medians that MaxIterations ended stay in y too.
func (p *geoPipeline) medians(b *matrix.Matrix[bool], count *matrix.Vector[float64], y, found *matrix.Vector[geoSpot]) {
	here := matrix.On(p.place)
	move := func(ended *matrix.Vector[bool]) {
		p.Do(ops.Apply(found.Masked(ended.MaskView()), semiring.Identity[geoSpot](), y, p.with))
		p.Do(ops.Apply(y.Masked(ended.MaskView().Not()).Replace(), semiring.Identity[geoSpot](), y, p.with))
	}
	ended := matrix.NewVector[bool](p.n, here)
	p.Do(ops.ApplySecond(ended, semiring.Le[float64](), count, 2, p.with))
	move(ended)
	next, g := matrix.NewVector[geoSpot](p.n, here), matrix.NewVector[geoPull](p.n, here)
	pull := semiring.New(semiring.NewMonoid(addPulls(), geoPull{}), pulls(p.o.Median))
	step, ends := steps(p.o.Median), ends(p.o.Median, p.o.Tolerance)
	for k := 0; k < p.o.MaxIterations && p.NVals(y) > 0; k++ {
		p.Do(ops.MxV(g, pull, p.at(b, y), p.points, p.with))
		p.Do(ops.EWiseMult(next, step, y, g, p.with))
		p.Do(ops.EWiseMult(ended, ends, y, next, p.with))
		p.Do(ops.Swap(y, next, p.with))
		move(ended)
	}
	p.Do(ops.EWiseAdd(found, semiring.Second[geoSpot, geoSpot](), found, y, p.with))
}

// at returns b with the value of its row at each entry.
func (p *geoPipeline) at(b *matrix.Matrix[bool], y *matrix.Vector[geoSpot]) *matrix.Matrix[geoSpot] {
	c := matrix.New[geoSpot](p.n, p.n, matrix.On(p.place))
	if !p.OK() {
		return c
	}
	d, err := workflow.Diagonal(y, p.with)
	if p.Do(err) {
		p.Do(ops.MxM(c, semiring.AnyFirst[geoSpot](), d, b.Pattern(), p.with))
	}
	return c
}

// locate takes the medians within the limits, and returns their number.
func (p *geoPipeline) locate(b *matrix.Matrix[bool], count *matrix.Vector[float64], unfinished, found *matrix.Vector[geoSpot], pass int32) int64 {
	here := matrix.On(p.place)
	mean, farthest := matrix.NewVector[float64](p.n, here), matrix.NewVector[float64](p.n, here)
	from := p.at(b, found)
	p.Do(ops.MxV(mean, semiring.New(semiring.Plus[float64](), kilometresTo()), from, p.points, p.with))
	p.Do(ops.MxV(farthest, semiring.New(semiring.Max[float64](), kilometresTo()), from, p.points, p.with))
	p.Do(ops.EWiseMult(mean, semiring.Div[float64](), mean, count, p.with))
	limit := func(v *matrix.Vector[float64], most float64) {
		if most > 0 {
			p.Do(ops.Select(v, semiring.ValueLE(most), v, p.with))
		}
	}
	limit(mean, p.o.MaxDispersion)
	limit(farthest, p.o.MaxDistance)
	p.Do(ops.Apply(p.tried.Masked(found.Structure()), semiring.Identity[float64](), count, p.with))
	p.Do(ops.Apply(mean.Masked(farthest.Structure()).Replace(), semiring.Identity[float64](), mean, p.with))
	p.Do(ops.Apply(found.Masked(mean.Structure()).Replace(), semiring.Identity[geoSpot](), found, p.with))
	p.Do(ops.EWiseAdd(p.points, semiring.Second[geoSpot, geoSpot](), p.points, found, p.with))
	p.Do(ops.EWiseAdd(p.dispersion, semiring.Second[float64, float64](), p.dispersion, mean, p.with))
	p.Do(ops.AssignVectorScalar(p.pass.Masked(found.Structure()), pass, ops.All(), p.with))
	p.Do(ops.Apply(unfinished.Masked(found.Structure()).Replace(), semiring.Identity[geoSpot](), unfinished, p.with))
	p.unfinished += p.NVals(unfinished)
	return p.NVals(found)
}
