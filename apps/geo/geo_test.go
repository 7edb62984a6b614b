package geo

import (
	"errors"
	"fmt"
	"math"
	"math/rand"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/hiveblas/hiveblas/apps/internal/lines"
	"github.com/hiveblas/hiveblas/apps/internal/samples"
	"github.com/hiveblas/hiveblas/apps/internal/workflow"
	"github.com/hiveblas/hiveblas/graphio"
	"github.com/hiveblas/hiveblas/internal/sure"
	"github.com/hiveblas/hiveblas/matrix"
	"github.com/hiveblas/hiveblas/testdata"
	"pgregory.net/rapid"
)

// place is a location in degrees.
type place struct{ lat, lon float64 }

// haversine is the distance of the report, in kilometres.
func haversine(p, q place) float64 {
	rad := math.Pi / 180
	a, b := math.Sin((q.lat-p.lat)*rad/2), math.Sin((q.lon-p.lon)*rad/2)
	return 2 * 6371 * math.Asin(min(1, math.Sqrt(a*a+math.Cos(p.lat*rad)*math.Cos(q.lat*rad)*b*b)))
}

func sumOfDistances(y place, pts []place) (sum float64) {
	for _, p := range pts {
		sum += haversine(y, p)
	}
	return sum
}

// reportMedian is the oracle of MedianDegrees: the report's iteration in its own terms, with the
// haversine formula.
func reportMedian(pts []place, tolerance float64, most int) place {
	var y place
	for _, p := range pts {
		y.lat += p.lat / float64(len(pts))
		y.lon += p.lon / float64(len(pts))
	}
	for range most {
		var t place
		var inverse float64
		zeros := 0
		for _, p := range pts {
			if d := haversine(p, y); d > 0 {
				inverse += 1 / d
			} else {
				zeros++
			}
		}
		for _, p := range pts {
			if d := haversine(p, y); d > 0 {
				t.lat += p.lat / d / inverse
				t.lon += p.lon / d / inverse
			}
		}
		next := t
		if zeros == len(pts) {
			return y
		}
		if zeros > 0 {
			r := math.Hypot(t.lat-y.lat, t.lon-y.lon) * inverse
			share := math.Inf(1)
			if r > 0 {
				share = float64(zeros) / r
			}
			next.lat = max(0, 1-share)*t.lat + min(1, share)*y.lat
			next.lon = max(0, 1-share)*t.lon + min(1, share)*y.lon
		}
		step := math.Hypot(next.lat-y.lat, next.lon-y.lon)
		if y = next; step < tolerance {
			break
		}
	}
	return y
}

func pointsOf[F workflow.Real](pts []place) []geoPoint[F] {
	list := make([]geoPoint[F], len(pts))
	for k, p := range pts {
		list[k] = geoPointOf[F](p.lat, p.lon)
	}
	return list
}

// scattered draws places within some kilometres of a centre, or anywhere.
func scattered(rng *rand.Rand, n int, centre place, km float64) []place {
	pts := make([]place, n)
	c := geoPointOf[float64](centre.lat, centre.lon)
	for k := range pts {
		x, y, z := rng.NormFloat64(), rng.NormFloat64(), rng.NormFloat64()
		if r := math.Sqrt(x*x + y*y + z*z); km < 20000 {
			r /= km / earthKm * rng.Float64()
			x, y, z = x/r+c.x, y/r+c.y, z/r+c.z
		}
		pts[k].lat, pts[k].lon = degreesOfVector(x, y, z)
	}
	return pts
}

func TestMedianDegrees(t *testing.T) {
	rng := rand.New(rand.NewSource(1))
	for k := range 300 {
		pts := scattered(rng, 3+k%9, place{rng.Float64()*160 - 80, rng.Float64()*340 - 170}, []float64{5, 500, 5000, 20000}[k%4])
		tolerance, most := []float64{1e-3, 1e-7}[k%2], []int{1, 7, 100, 1000}[k/4%4]
		want := reportMedian(pts, tolerance, most)
		got, _ := medianDegrees(pointsOf[float64](pts), tolerance, most)
		if math.Abs(got.lat-want.lat) > 1e-8 || math.Abs(got.lon-want.lon) > 1e-8 {
			t.Errorf("%v: got %v, %v, want %v", pts, got.lat, got.lon, want)
		}
		single, _ := medianDegrees(pointsOf[float32](pts), 1e-3, 300)
		want = reportMedian(pts, 1e-3, 300)
		if d := haversine(place{float64(single.lat), float64(single.lon)}, want); d > 15 {
			t.Errorf("float32: %v from %v: %v km", single, want, d)
		}
	}
}

// A mean at a point: the correction holds the iterate there, or lets it go.
func TestMedianDegreesAtAPoint(t *testing.T) {
	cross := []place{{0, 0}, {1, 0}, {-1, 0}, {0, 1}, {0, -1}}
	two := append([]place{{0, 0}, {0, 0}}, place{3, 0}, place{-3, 0})
	many := []place{{0, 0}}
	for range 400 { // pulls of more than 1/111 of a point each, together
		many = append(many, place{2, 0}, place{-1, 0}, place{-1, 0})
	}
	for k, pts := range [][]place{cross, two, many} {
		want := reportMedian(pts, 1e-6, 1000)
		if got, _ := medianDegrees(pointsOf[float64](pts), 1e-6, 1000); math.Abs(got.lat-want.lat) > 1e-7 || math.Abs(got.lon-want.lon) > 1e-7 {
			t.Errorf("case %d: got %v, want %v", k, got, want)
		}
	}
}

// refine is the oracle of MedianSphere: it moves to the best of some places around, at distances
// that shrink.
func refine(y place, pts []place) place {
	rng := rand.New(rand.NewSource(9))
	for step := 4.0; step > 1e-9; {
		c := geoPointOf[float64](y.lat, y.lon)
		best, sum := y, sumOfDistances(y, pts)
		east := [3]float64{-c.y, c.x, 0}
		if c.x == 0 && c.y == 0 {
			east = [3]float64{1, 0, 0}
		}
		r := math.Hypot(east[0], east[1])
		east[0], east[1] = east[0]/r, east[1]/r
		north := [3]float64{-c.z * east[1], c.z * east[0], c.x*east[1] - c.y*east[0]}
		for range 40 {
			sin, cos := math.Sincos(2 * math.Pi * rng.Float64())
			d := step * rng.Float64() * math.Pi / 180
			var q place
			q.lat, q.lon = degreesOfVector(c.x+d*(cos*east[0]+sin*north[0]), c.y+d*(cos*east[1]+sin*north[1]), c.z+d*(cos*east[2]+sin*north[2]))
			if s := sumOfDistances(q, pts); s < sum {
				best, sum = q, s
			}
		}
		if best == y {
			step *= .7
		}
		y = best
	}
	return y
}

// gridSearch is the best place of a grid over the whole earth, refined.
func gridSearch(pts []place) place {
	best, sum := place{}, math.Inf(1)
	for lat := -90.0; lat <= 90; lat += 5 {
		for lon := -180.0; lon < 180; lon += 5 {
			if s := sumOfDistances(place{lat, lon}, pts); s < sum {
				best, sum = place{lat, lon}, s
			}
		}
	}
	for _, p := range pts {
		if s := sumOfDistances(p, pts); s < sum {
			best, sum = p, s
		}
	}
	return refine(best, pts)
}

func sphereMedian(pts []place) (place, bool) {
	y, lat, lon, ok := centre(pointsOf[float64](pts), geoSettings{MedianSphere, .01, 10000})
	p := geoPointOf[float64](lat, lon)
	return place{lat, lon}, ok && kilometres(&p, &y) < 1e-6
}

func TestMedianSphere(t *testing.T) {
	rng := rand.New(rand.NewSource(2))
	centres := []place{{48, 11}, {-33, 151}, {89.9, 10}, {-90, 0}, {0, 180}, {12, -179.9}, {70, 179}}
	for k := range 210 {
		pts := scattered(rng, 3+k%8, centres[k%len(centres)], []float64{2, 300, 4000}[k/7%3])
		got, ok := sphereMedian(pts)
		want := gridSearch(pts)
		if !ok || haversine(got, want) > .002 || sumOfDistances(got, pts) > sumOfDistances(want, pts)+1e-6 {
			t.Errorf("around %v: got %v with the sum %v (converged: %v), want %v with %v", centres[k%len(centres)], got, sumOfDistances(got, pts), ok, want, sumOfDistances(want, pts))
		}
	}
}

// Places all over the earth have several local medians; the best is found in nearly all cases, and
// the result is never worse than a given place.
func TestMedianSphereOfTheWholeEarth(t *testing.T) {
	rng := rand.New(rand.NewSource(3))
	worse := 0
	for k := range 120 {
		pts := scattered(rng, 3+k%9, place{}, 20000)
		got, ok := sphereMedian(pts)
		sum := sumOfDistances(got, pts)
		if !ok {
			t.Errorf("%v: not converged", pts)
		}
		for _, p := range pts {
			if sumOfDistances(p, pts) < sum-1e-6 {
				t.Errorf("%v: %v is worse than %v", pts, got, p)
			}
		}
		if sum > sumOfDistances(gridSearch(pts), pts)*(1+1e-6) {
			worse++
		}
	}
	if worse > 2 {
		t.Errorf("%d of 120 medians are not the best", worse)
	}
}

func TestCentreOfSpecialPlaces(t *testing.T) {
	for _, c := range []struct {
		reason string
		pts    []place
		want   place
	}{
		{"one place", []place{{12.25, -33}}, place{12.25, -33}},
		{"two at one place", []place{{12.1, -33.3}, {12.1, -33.3}}, place{12.1, -33.3}},
		{"many at one place", []place{{12.1, -33.3}, {12.1, -33.3}, {12.1, -33.3}, {12.1, -33.3}}, place{12.1, -33.3}},
		{"most at one place", []place{{12.1, -33.3}, {12.1, -33.3}, {12.1, -33.3}, {14, -33}, {40, 3}}, place{12.1, -33.3}},
		{"a pair on the equator", []place{{0, 10}, {0, 30}}, place{0, 20}},
		{"a pair over the date line", []place{{0, 170}, {0, -160}}, place{0, -175}},
		{"a pair over the pole", []place{{80, 20}, {80, -160}}, place{90, 20}},
		{"antipodes", []place{{30, 40}, {-30, -140}}, place{60, -140}},
		{"antipodes, the other first", []place{{-30, -140}, {30, 40}}, place{60, -140}},
		{"antipodes on the equator", []place{{0, 0}, {0, 180}}, place{90, 0}},
		{"the poles", []place{{90, 12}, {-90, 77}}, place{0, 0}},
		{"a pole and its other longitude", []place{{90, 12}, {90, -100}}, place{90, 0}},
		{"around the north pole", []place{{80, 0}, {80, 120}, {80, -120}}, place{90, 0}},
		{"over the date line", []place{{0, 179}, {0, -179}, {0, 178}}, place{0, 179}},
		{"three of a great circle", []place{{0, 0}, {0, 120}, {0, -120}}, place{0, 0}},
		{"a cross of antipodes", []place{{0, 0}, {0, 180}, {0, 90}, {0, -90}}, place{math.NaN(), math.NaN()}},
	} {
		got, ok := sphereMedian(c.pts)
		if math.IsNaN(c.want.lat) { // any place is a median
			if math.Abs(sumOfDistances(got, c.pts)-2*math.Pi*earthKm) > 1e-3 {
				t.Errorf("%s: %v", c.reason, got)
			}
			continue
		}
		if !ok || !(haversine(got, c.want) < 1e-4) {
			t.Errorf("%s: got %v (converged: %v), want %v", c.reason, got, ok, c.want)
		}
		if len(c.pts) > 2 && sumOfDistances(got, c.pts) > sumOfDistances(gridSearch(c.pts), c.pts)+1e-3 {
			t.Errorf("%s: %v is not a median", c.reason, got)
		}
	}
	// Exactly, without rounding.
	for _, m := range []GeoMedian{MedianSphere, MedianDegrees} {
		pts := pointsOf[float64]([]place{{12.1, -33.3}, {12.1, -33.3}, {12.1, -33.3}})
		if _, lat, lon, ok := centre(pts, geoSettings{m, 1e-3, 10}); lat != 12.1 || lon != -33.3 || !ok {
			t.Errorf("%v: %v, %v", m, lat, lon)
		}
	}
}

// Distances agree with the haversine formula.
func TestKilometres(t *testing.T) {
	rng := rand.New(rand.NewSource(4))
	for k := range 2000 {
		pts := scattered(rng, 2, place{10, 20}, []float64{.01, 10, 3000, 20000}[k%4])
		p, q := geoPointOf[float64](pts[0].lat, pts[0].lon), geoPointOf[float64](pts[1].lat, pts[1].lon)
		if got, want := kilometres(&p, &q), haversine(pts[0], pts[1]); math.Abs(got-want) > 1e-8+1e-10*want {
			t.Errorf("%v: %v km, want %v", pts, got, want)
		}
		u, v := geoPointOf[float32](pts[0].lat, pts[0].lon), geoPointOf[float32](pts[1].lat, pts[1].lon)
		if got, want := kilometres(&u, &v), haversine(pts[0], pts[1]); math.Abs(got-want) > 2e-3+1e-6*want && want < 19900 {
			t.Errorf("float32, %v: %v km, want %v", pts, got, want)
		}
	}
}

// geolocateNaively is the oracle of Geolocate: passes over maps, with the median of a test.
func geolocateNaively(out [][]samples.Arc, known map[int]place, passes, least int, limit func(y place, near []place) bool, median func([]place) place) (at map[int]place, pass map[int]int) {
	at, pass = map[int]place{}, map[int]int{}
	for v, p := range known {
		at[v], pass[v] = p, 0
	}
	for k := 1; passes == 0 || k <= passes; k++ {
		found := map[int]place{}
		for v, arcs := range out {
			if _, ok := at[v]; ok {
				continue
			}
			var near []place
			for _, e := range arcs {
				if p, ok := at[e.To]; ok {
					near = append(near, p)
				}
			}
			if len(near) == 0 || len(near) < least {
				continue
			}
			y := near[0]
			if len(near) > 1 {
				y = median(near)
			}
			if limit == nil || limit(y, near) {
				found[v] = y
			}
		}
		if len(found) == 0 {
			break
		}
		for v, p := range found {
			at[v], pass[v] = p, k
		}
	}
	return at, pass
}

// someLocations draws the places of about a share of the vertices.
func someLocations(rng *rand.Rand, n int, share float64) (map[int]place, *lines.Locations) {
	known := map[int]place{}
	var vertices []int
	var lat, lon []float64
	for v := range n {
		if rng.Float64() < share {
			p := scattered(rng, 1, place{}, 20000)[0]
			known[v] = p
			vertices, lat, lon = append(vertices, v), append(lat, p.lat), append(lon, p.lon)
		}
	}
	l, err := lines.NewLocations(n, vertices, lat, lon)
	if err != nil {
		panic(err)
	}
	return known, l
}

func checkGeolocation(t rapid.TB, name string, res *Geolocation, n int, known int, at map[int]place, pass map[int]int, km float64) {
	t.Helper()
	most := 0
	for v := range n {
		lat, ok1 := res.Latitude.At(v)
		lon, ok2 := res.Longitude.At(v)
		k, ok3 := res.Pass.At(v)
		d, ok4 := res.Dispersion.At(v)
		want, ok := at[v]
		if ok1 != ok || ok2 != ok || ok3 != ok || ok4 != ok {
			t.Fatalf("%s: vertex %d is located: %v %v %v %v, want %v", name, v, ok1, ok2, ok3, ok4, ok)
		}
		if !ok {
			continue
		}
		if int(k) != pass[v] || haversine(place{lat, lon}, want) > km || math.Abs(lat) > 90 || math.Abs(lon) > 180 || !(d >= 0) {
			t.Fatalf("%s: vertex %d is at %v, %v in pass %d, want %v in pass %d", name, v, lat, lon, k, want, pass[v])
		}
		if k == 0 && (place{lat, lon} != want || d != 0) {
			t.Fatalf("%s: known vertex %d has moved to %v, %v", name, v, lat, lon)
		}
		most = max(most, int(k))
	}
	if res.Known != int64(known) || res.Located != int64(len(at)) || res.Unlocated != int64(n-len(at)) || res.Passes != most {
		t.Fatalf("%s: %+v, want %d known, %d of %d located in %d passes", name, res, known, len(at), n, most)
	}
}

// degreesNaively is the report's centre of two places or more.
func degreesNaively(tolerance float64, most int) func(near []place) place {
	return func(near []place) place {
		if len(near) == 2 {
			lat, lon := midpoint(&pointsOf[float64](near)[0], &pointsOf[float64](near)[1])
			return place{lat, lon}
		}
		return reportMedian(near, tolerance, most)
	}
}

func TestGeolocate(t *testing.T) {
	rng := rand.New(rand.NewSource(5))
	samples.OnGraphs(t, func(t rapid.TB, s samples.Sample) {
		known, l := someLocations(rng, s.N, []float64{0, .1, .4, 1}[rng.Intn(4)])
		passes, least := rng.Intn(3), 1+rng.Intn(2)
		at, pass := geolocateNaively(s.Arcs(), known, passes, least, nil, degreesNaively(1e-7, 50))
		samples.EveryForm(t, s, func(name string, g matrix.Source[int32], run workflow.Run) {
			o := GeolocateOptions{Run: run, Median: MedianDegrees, Passes: passes, MinNeighbours: least, Tolerance: 1e-7, MaxIterations: 50}
			res, err := Geolocate(g, l, o)
			if err != nil {
				t.Fatalf("%s: %v", name, err)
			}
			checkGeolocation(t, name, res, s.N, len(known), at, pass, 1e-3)
		})
	})
}

func TestGeolocateHubs(t *testing.T) {
	rng := rand.New(rand.NewSource(6))
	s := samples.Random(300, 1200, 7, true).Beside(samples.Blank(9)).Beside(samples.Path(30).Both())
	known, l := someLocations(rng, s.N, .1)
	g := samples.Build[float64](t, s, matrix.CSR)
	for _, passes := range []int{0, 1, 2} {
		at, pass := geolocateNaively(s.Arcs(), known, passes, 1, nil, degreesNaively(1e-6, 200))
		for threads := 1; threads <= 3; threads++ {
			o := GeolocateOptions{Run: workflow.Run{Threads: threads}, Median: MedianDegrees, Tolerance: 1e-6, MaxIterations: 200, Passes: passes}
			res, err := Geolocate(g, l, o)
			if err != nil {
				t.Fatal(err)
			}
			checkGeolocation(t, fmt.Sprint(threads, " threads"), res, s.N, len(known), at, pass, 1e-2)
		}
	}
	// On the sphere, with limits: a vertex that is beyond them is tried again in later passes.
	for _, c := range []struct{ mean, far float64 }{{0, 0}, {5000, 0}, {0, 9000}, {6000, 11000}} {
		limit := func(y place, near []place) bool {
			mean, far := 0.0, 0.0
			for _, p := range near {
				mean += haversine(y, p) / float64(len(near))
				far = max(far, haversine(y, p))
			}
			return (c.mean == 0 || mean <= c.mean) && (c.far == 0 || far <= c.far)
		}
		sphere := func(near []place) place { p, _ := sphereMedian(near); return p }
		at, pass := geolocateNaively(s.Arcs(), known, 0, 1, limit, sphere)
		res, err := Geolocate(g, l, GeolocateOptions{Tolerance: .01, MaxIterations: 10000, MaxDispersion: c.mean, MaxDistance: c.far})
		if err != nil {
			t.Fatal(err)
		}
		checkGeolocation(t, fmt.Sprint(c), res, s.N, len(known), at, pass, 1)
		if c.mean > 0 && res.Unlocated <= 9 {
			t.Errorf("a limit of %v km leaves %d vertices unlocated", c.mean, res.Unlocated)
		}
		for _, d := range res.Dispersion.All() {
			if c.mean > 0 && d > c.mean {
				t.Errorf("a dispersion of %v km, at most %v", d, c.mean)
			}
		}
	}
}

// In float32 the result is near that in float64.
func TestGeolocateSingle(t *testing.T) {
	s := samples.Random(300, 1200, 8, true)
	_, l := someLocations(rand.New(rand.NewSource(7)), s.N, .1)
	g := samples.Build[float64](t, s, matrix.CSR)
	for _, m := range []GeoMedian{MedianSphere, MedianDegrees} {
		o := GeolocateOptions{Median: m, Passes: 1}
		x, err1 := Geolocate(g, l, o)
		o.Single = true
		y, err2 := Geolocate(g, l, o)
		sure.Do(err1, err2)
		apart := 0
		for v, lat := range x.Latitude.All() {
			lon, _ := x.Longitude.At(v)
			lat2, ok := y.Latitude.At(v)
			lon2, _ := y.Longitude.At(v)
			if !ok {
				t.Fatalf("%v: vertex %d has no place in float32", m, v)
			}
			if haversine(place{lat, lon}, place{lat2, lon2}) > 5 {
				apart++
			}
		}
		if apart > 6 { // medians that stop some steps apart, or of several local ones
			t.Errorf("%v: %d of %d places differ by more than 5 km", m, apart, x.Located)
		}
	}
}

// The values that the report prints for chesapeake, in float32: its last digits are 4e-6 and 8e-6.
func TestGeolocateAsInTheReport(t *testing.T) {
	g := samples.Own(t, testdata.Chesapeake)
	file := filepath.Join(samples.Folder(), "geolocation", "locations.labels")
	if _, err := os.Stat(file); err != nil {
		t.Skip("no ../shared/data beside the checkout")
	}
	l, err := lines.ReadLocationsFile(file, 39, lines.LocationOptions{Base: 1})
	if err != nil {
		t.Fatal(err)
	}
	zero, err := lines.ReadLocationsFile(filepath.Join(filepath.Dir(file), "locations_0based.labels"), 39)
	if err != nil || !zero.Latitude.Equal(l.Latitude) || !zero.Longitude.Equal(l.Longitude) {
		t.Errorf("the file that counts from 0 differs (%v)", err)
	}
	res, err := Geolocate(g, l, GeolocateOptions{Median: MedianDegrees, Passes: 1})
	if err != nil {
		t.Fatal(err)
	}
	for v, want := range map[int]place{35: {37.864429, -122.199409}, 36: {37.807079, -122.134163}, 37: {37.053719, -115.913628}, 38: {9.427616, -110.640709}} {
		lat, _ := res.Latitude.At(v)
		lon, _ := res.Longitude.At(v)
		if math.Abs(lat-want.lat) > 5e-6 || math.Abs(lon-want.lon) > 2e-5 {
			t.Errorf("vertex %d is at %.6f, %.6f, want %v", v, lat, lon, want)
		}
	}
	if res.Known != 11 {
		t.Errorf("%d known", res.Known)
	}
}

func TestReadLocations(t *testing.T) {
	l, err := lines.ReadLocations(strings.NewReader("% ids\n# from 1\n\n5 2 2\n1 10 -20.5\n 3  \n2\t\t\n4,nan,NaN\n5, -90 ,180\r\n"), 5, lines.LocationOptions{Base: 1})
	if err != nil {
		t.Fatal(err)
	}
	if l.Latitude.NVals() != 2 || l.Longitude.NVals() != 2 {
		t.Errorf("%v", l.Latitude)
	}
	if lat, _ := l.Latitude.At(4); lat != -90 {
		t.Errorf("latitude %v", lat)
	}
	// "n 2 2" is a header in the first line only, and only with the number of vertices.
	l, err = lines.ReadLocations(strings.NewReader("1 1 1\n2 2 2"), 5)
	if err != nil || l.Latitude.NVals() != 2 {
		t.Errorf("%v, %v", l, err)
	}
	names := lines.LocationOptions{Index: func(id string) (int, bool) { return len(id) - 1, id != "x" }}
	if l, err = lines.ReadLocations(strings.NewReader("abc\t1\t2\n"), 5, names); err != nil {
		t.Error(err)
	} else if x, ok := l.Longitude.At(2); !ok || x != 2 {
		t.Errorf("named: %v", l.Longitude)
	}
	for _, c := range []struct {
		text string
		o    lines.LocationOptions
	}{
		{"vertex,latitude,longitude\n1,10.5,20\n3,0,0\n", lines.LocationOptions{}},
		{"# c\nID\tLat\tLon\n1\t10.5\t20\n3\t0\t0\n", lines.LocationOptions{}},
		{"node;x;y\n1;10,5;20\n3;0;0\n", lines.LocationOptions{TextOptions: lines.TextOptions{Decimal: ','}}},
	} {
		l, err := lines.ReadLocations(strings.NewReader(c.text), 5, c.o)
		if err != nil || l.Latitude.NVals() != 2 {
			t.Errorf("%q: %v", c.text, err)
		} else if x, _ := l.Latitude.At(1); x != 10.5 {
			t.Errorf("%q: latitude %v", c.text, x)
		}
	}
	for _, c := range []struct {
		reason, text string
		line         int64
		what         string
	}{
		{"a latitude beyond the pole", "0 1 1\n1 91 5\n", 2, "latitude 91"},
		{"a longitude beyond the date line", "0 1 181", 1, "longitude 181"},
		{"an infinite latitude", "0 inf 1", 1, "the latitude \"inf\" is not a finite number"},
		{"a decimal comma", "0\t1,5\t2\n", 1, "\"1,5\" has a decimal comma; the option Decimal"},
		{"words after a vertex", "0,lat,long\n", 1, "lat"},
		{"one NaN", "0 nan 1", 1, "latitude NaN"},
		{"a duplicate", "% x\n4 1 1\n3 1 1\n4 1 1\n", 4, "first in line 2"},
		{"a duplicate without a place", "4\n4 1 1\n", 2, "given twice"},
		{"an id beyond the graph", "5 1 1\n", 1, "not in the graph"},
		{"a negative id", "-1 1 1\n", 1, "not in the graph"},
		{"a word", "one 1 1\n", 1, "is no vertex"},
		{"one coordinate", "1 5\n", 1, "one coordinate"},
		{"four fields", "1 5 6 7\n", 1, "4 fields"},
		{"words for numbers", "1 north east\n", 1, "north"},
		{"a header of another graph", "9 2 2\n", 1, "“9 2 2” is the header of 9 vertices, and the graph has 5; give"},
		{"no header", "0 1 1\n9 2 2\n", 2, "vertex 9 is not in the graph"},
		{"a base", "5 1 1\n", 1, "the vertices of the file count from 0; the option Base is 1"},
	} {
		_, err := lines.ReadLocations(strings.NewReader(c.text), 5, lines.LocationOptions{Name: "places.txt"})
		var e *graphio.ParseError
		if !errors.As(err, &e) || e.Line != c.line || e.File != "places.txt" || !strings.Contains(err.Error(), c.what) || e.Remedy == "" {
			t.Errorf("%s: %v", c.reason, err)
		}
	}
	if _, err := lines.ReadLocationsFile("no such file", 3); !errors.Is(err, os.ErrNotExist) {
		t.Error(err)
	}
}

func FuzzReadLocations(f *testing.F) {
	f.Add("% c\n3 2 2\n0 1 2\n1\n2,3,4\n", 3)
	f.Add("0\t\t\n1 nan nan\r\n", 2)
	f.Add("\v", 4) // blank, and no field
	f.Fuzz(func(t *testing.T, text string, n int) {
		n = n & 15
		l, err := lines.ReadLocations(strings.NewReader(text), n)
		if err != nil {
			return
		}
		if _, err := lines.PlacesOf(l, "test", n); err != nil {
			t.Errorf("%q: read, and then %v", text, err)
		}
	})
}

func TestLocationErrors(t *testing.T) {
	var e *lines.LocationError
	for _, c := range []struct {
		vertices []int
		lat, lon []float64
	}{{[]int{0}, []float64{-91}, []float64{0}}, {[]int{0}, []float64{0}, []float64{math.NaN()}}, {[]int{1, 1}, []float64{0, 0}, []float64{0, 0}}} {
		if _, err := lines.NewLocations(3, c.vertices, c.lat, c.lon); !errors.As(err, &e) {
			t.Errorf("%v: %v", c, err)
		}
	}
	g := samples.Own(t, testdata.Karate)
	vector := func(n int, at int, x float64) *matrix.Vector[float64] {
		v := matrix.NewVector[float64](n)
		sure.Do(v.Set(at, x))
		return v
	}
	for _, l := range []*lines.Locations{{Latitude: vector(34, 3, 95), Longitude: vector(34, 3, 5)}, {Latitude: vector(34, 3, 5), Longitude: vector(34, 4, 5)}} {
		if _, err := Geolocate(g, l); !errors.As(err, &e) {
			t.Errorf("%v", err)
		}
	}
	var dim *matrix.DimensionError
	if _, err := Geolocate(g, &lines.Locations{Latitude: vector(33, 3, 5), Longitude: vector(33, 3, 5)}); !errors.As(err, &dim) {
		t.Errorf("%v", err)
	}
	var p *workflow.ParameterError
	ok := &lines.Locations{Latitude: vector(34, 3, 5), Longitude: vector(34, 3, 5)}
	for _, l := range []*lines.Locations{nil, {}, {Latitude: vector(34, 3, 5)}, {Latitude: vector(34, 3, 5), Longitude: matrix.NewVector[float64](34)}} {
		if _, err := Geolocate(g, l); !errors.As(err, &p) {
			t.Errorf("%v", err)
		}
	}
	for _, o := range []GeolocateOptions{{Median: 2}, {Passes: -1}, {Tolerance: -1}, {Tolerance: math.NaN()}, {MaxIterations: -1}, {MinNeighbours: -1},
		{MaxDispersion: -1}, {MaxDistance: math.NaN()}} {
		if _, err := Geolocate(g, ok, o); !errors.As(err, &p) {
			t.Errorf("%+v: %v", o, err)
		}
	}
}
