package gpu

import (
	"fmt"
	"math"

	"github.com/hiveblas/hiveblas/apps"
	"github.com/hiveblas/hiveblas/bench/internal/gpuside"
	"github.com/hiveblas/hiveblas/bench/internal/inputs"
	"github.com/hiveblas/hiveblas/internal/sure"
	"github.com/hiveblas/hiveblas/internal/workload"
	"github.com/hiveblas/hiveblas/matrix"
)

// gpuGeo locates vertices of a graph on the device from a tenth that is there too. With idle, the
// known places are the result, so that the only pass finds nothing.
func gpuGeo(single, idle bool) func(b *gpuBench, in *inputs.GPU) (*gpuPlan, error) {
	return func(b *gpuBench, in *inputs.GPU) (*gpuPlan, error) {
		a, err := undirectedOn(b, in)
		if err != nil {
			return nil, err
		}
		known, err := workload.Locations(in.Graph.NRows)
		if err != nil {
			return nil, err
		}
		for _, v := range []*matrix.Vector[float64]{known.Latitude, known.Longitude} {
			if err := v.Move(b.dev); err != nil {
				return nil, err
			}
		}
		var r ran
		var found *apps.Geolocation
		search := func(run apps.Run) (err error) {
			o := workload.GeoOptions(run)
			o.Single = single
			found, err = apps.Geolocate(a, known, o)
			return err
		}
		if idle {
			if err := search(apps.Run{}); err != nil {
				return nil, err
			}
			known = &found.Locations
		}
		plan := &gpuPlan{}
		plan.ours = []gpuside.Contender{{Name: "hiveblas", Once: true, Clock: b.dev.Time, Method: r.method, Do: func() error { return search(apps.Run{}) }}}
		plan.check = func() (string, error) {
			if err := search(r.run()); err != nil {
				return "", err
			}
			plan.notes = func() []string {
				return []string{fmt.Sprintf("%d of %d located, %d passes, %d medians unfinished", found.Located, in.Graph.NRows, found.Passes, found.Unfinished)}
			}
			if idle {
				if found.Passes > 0 {
					return fmt.Sprintf("%d passes", found.Passes), nil
				}
				return "", nil
			}
			g := in.Graph
			here, err := matrix.FromCSR(g.NRows, g.NCols, g.Ptr, g.Idx, inputs.Values(g, anyEntry))
			if err != nil {
				return "", err
			}
			want, err := apps.Geolocate(here, known, workload.GeoOptions(apps.Run{}))
			if err != nil {
				return "", err
			}
			return sameGeolocation(found, want, single)
		}
		return plan, nil
	}
}

// sameGeolocation compares passes, and places but for a share of a thousandth: a step that is equal
// to the tolerance but for rounding ends a median or not.
func sameGeolocation(got, want *apps.Geolocation, single bool) (string, error) {
	if err := got.Latitude.Fetch(); err != nil {
		return "", err
	}
	within, apart := map[bool]float64{false: 1e-6, true: .05}[single], int64(0)
	if got.Located != want.Located || got.Passes != want.Passes {
		return fmt.Sprintf("%d located in %d passes, want %d in %d", got.Located, got.Passes, want.Located, want.Passes), nil
	}
	lat, lon := sure.Get(got.Latitude.Dense(0)), sure.Get(got.Longitude.Dense(0))
	wantLon := sure.Get(want.Longitude.Dense(0))
	for v, x := range want.Latitude.All() {
		if math.Abs(lat[v]-x) > within || math.Abs(lon[v]-wantLon[v]) > within {
			apart++
		}
	}
	if most := want.Located / map[bool]int64{false: 1000, true: 100}[single]; apart > most {
		return fmt.Sprintf("%d places of %d differ by more than %v°", apart, want.Located, within), nil
	}
	return "", nil
}
