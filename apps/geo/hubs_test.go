package geo

import (
	"errors"
	"math"
	"math/rand"
	"testing"

	"github.com/hiveblas/hiveblas/apps/internal/lines"
	"github.com/hiveblas/hiveblas/apps/internal/samples"
	"github.com/hiveblas/hiveblas/apps/internal/workflow"
	"github.com/hiveblas/hiveblas/apps/scan"
	"github.com/hiveblas/hiveblas/internal/longtest"
	"github.com/hiveblas/hiveblas/internal/sure"
	"github.com/hiveblas/hiveblas/matrix"
)

// Vertices with few, hundreds and thousands of located neighbours, in both precisions, and all at
// one place.
func TestGeolocateHubsOnDevice(t *testing.T) {
	d := samples.RealOrEmulated(t)
	n := geoLarge + 700
	rng := rand.New(rand.NewSource(3))
	b := matrix.NewBuilder[bool](n, n)
	var vertices []int
	var lat, lon []float64
	for v := 6; v < n; v++ {
		p := scattered(rng, 1, place{-30, 100}, 3000)[0]
		if v >= n-300 {
			p = place{12.1, 34.3}
		}
		vertices, lat, lon = append(vertices, v), append(lat, p.lat), append(lon, p.lon)
		b.Add(0, v, true) // a block
		if v < 500 {
			b.Add(1, v, true) // a warp
		}
		if v < 100 {
			b.Add(2, v, true)
		}
		if v >= n-300 {
			b.Add(3, v, true) // all at one place
		}
	}
	b.Add(4, 7, true) // one
	b.Add(5, 0, true) // in the second pass
	for v := range 5 {
		b.Add(5, v, true)
	}
	g := samples.Must[*matrix.Matrix[bool]](t)(b.Build(matrix.CombineFunc[bool](func(x, _ bool) bool { return x })))
	l := samples.Must[*lines.Locations](t)(lines.NewLocations(n, vertices, lat, lon))
	there := samples.Must[*matrix.Matrix[bool]](t)(g.Clone(), nil)
	sure.Do(there.Move(d.Device))
	for _, single := range []bool{false, true} {
		o := GeolocateOptions{Median: MedianDegrees, Tolerance: 1e-4, MaxIterations: 40, Single: single}
		if !longtest.Enabled() {
			o.MaxIterations = 12
		}
		want := samples.Must[*Geolocation](t)(Geolocate(g, l, o))
		o.Method = workflow.Fused
		got := samples.Must[*Geolocation](t)(Geolocate(there, l, o))
		if got.Passes != 2 || got.Located != int64(n) || got.Known != want.Known || got.Latitude.Place() != matrix.Place(d.Device) {
			t.Errorf("%+v, want %+v", got, want)
		}
		within := map[bool]float64{false: 1e-9, true: 2e-3}[single]
		for v := range n {
			x, _ := got.Latitude.At(v)
			y, _ := got.Longitude.At(v)
			wx, _ := want.Latitude.At(v)
			wy, _ := want.Longitude.At(v)
			s, _ := got.Dispersion.At(v)
			ws, _ := want.Dispersion.At(v)
			if math.Abs(x-wx) > within || math.Abs(y-wy) > within || math.Abs(s-ws) > 200*within {
				t.Errorf("single %v, vertex %d: %v, %v within %v, want %v, %v within %v", single, v, x, y, s, wx, wy, ws)
			}
		}
	}
}

// Errors in locations equal the errors of the host; nothing to do is no error.
func TestGeolocateLittleOnDevice(t *testing.T) {
	d := samples.RealOrEmulated(t)
	g := samples.Build[float64](t, samples.Path(4), matrix.CSR)
	sure.Do(g.Move(d.Device))
	far := matrix.NewVector[float64](4)
	sure.Do(far.Set(1, 99))
	var e *lines.LocationError
	if _, err := Geolocate(g, &lines.Locations{Latitude: far, Longitude: far}, GeolocateOptions{Median: MedianDegrees}); !errors.As(err, &e) || e.Vertex != 1 {
		t.Errorf("a latitude of 99: %v", err)
	}
	none := samples.Must[*lines.Locations](t)(lines.NewLocations(4, nil, nil, nil))
	if res, err := Geolocate(g, none, GeolocateOptions{Median: MedianDegrees}); err != nil || res.Located != 0 || res.Passes != 0 || res.Unlocated != 4 {
		t.Errorf("no locations: %+v, %v", res, err)
	}
	empty := samples.Build[float64](t, samples.Blank(0), matrix.CSR)
	sure.Do(empty.Move(d.Device))
	nobody := samples.Must[*lines.Locations](t)(lines.NewLocations(0, nil, nil, nil))
	if res, err := Geolocate(empty, nobody, GeolocateOptions{Median: MedianDegrees}); err != nil || res.Located != 0 {
		t.Errorf("no vertices: %+v, %v", res, err)
	}
	if res, err := scan.ScanStatistics(empty); err != nil || res.Max != 0 || len(res.ArgMax) != 0 {
		t.Errorf("scan of no vertices: %+v, %v", res, err)
	}
}
