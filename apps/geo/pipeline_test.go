package geo

import (
	"fmt"
	"math/rand"
	"testing"

	"github.com/hiveblas/hiveblas/apps/internal/lines"
	"github.com/hiveblas/hiveblas/apps/internal/samples"
	"github.com/hiveblas/hiveblas/apps/internal/workflow"
	"github.com/hiveblas/hiveblas/comm"
	"github.com/hiveblas/hiveblas/internal/sure"
	"github.com/hiveblas/hiveblas/matrix"
)

// Medians of nearby points on the sphere, where there is one local median each, are the same by
// operations: on the host, a device and a group.
func TestMedianSphereByOperations(t *testing.T) {
	t.Parallel()
	d := samples.RealOrEmulated(t)
	s := samples.Hubbed(120)
	rng := rand.New(rand.NewSource(3))
	var known []int
	var lat, lon []float64
	for v := range s.N {
		if rng.Intn(2) == 0 {
			known, lat, lon = append(known, v), append(lat, 40+10*rng.Float64()), append(lon, 175+10*rng.Float64())
			if at := len(lon) - 1; lon[at] > 180 {
				lon[at] -= 360
			}
		}
	}
	l := sure.Get(lines.NewLocations(s.N, known, lat, lon))
	run := func(at matrix.Place, o GeolocateOptions) *Geolocation {
		g := samples.Build[float64](t, s, matrix.CSR)
		sure.Do(g.Move(at))
		return samples.Must[*Geolocation](t)(Geolocate(g, l, o))
	}
	for _, o := range []GeolocateOptions{{MaxIterations: 3000, Tolerance: .01}, {MaxIterations: 3000, Tolerance: .01, MaxDispersion: 400, MaxDistance: 900, MinNeighbours: 2}} {
		want := run(nil, o)
		o.Method = workflow.Pipeline
		for _, at := range []matrix.Place{nil, d.Device, sure.Get(comm.LocalGroup(2))} {
			got, what := run(at, o), fmt.Sprintf("%+v at %v", o, at)
			if got.Latitude.Place() != at || got.Dispersion.Place() != at {
				t.Errorf("%s: the result is at %v", what, got.Latitude.Place())
			}
			if got.Located != want.Located || got.Passes != want.Passes || got.Known != want.Known || got.Located == got.Known {
				t.Fatalf("%s: %+v, want %+v", what, got, want)
			}
			for v, x := range want.Latitude.All() {
				y, _ := want.Longitude.At(v)
				a, ok := got.Latitude.At(v)
				b, _ := got.Longitude.At(v)
				p, _ := want.Pass.At(v)
				q, _ := got.Pass.At(v)
				r, _ := want.Dispersion.At(v)
				u, _ := got.Dispersion.At(v)
				if far := haversine(place{a, b}, place{x, y}); !ok || p != q || far > .01 || r-u > .01 || u-r > .01 {
					t.Errorf("%s: vertex %d is at %v, %v, in pass %d, %v km from its neighbours; want %v, %v, pass %d, %v km", what, v, a, b, q, u, x, y, p, r)
				}
			}
		}
	}
}
