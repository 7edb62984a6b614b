package bench

import (
	"fmt"
	"math"
	"time"

	"github.com/hiveblas/hiveblas/apps"
	"github.com/hiveblas/hiveblas/bench/gen"
	"github.com/hiveblas/hiveblas/internal/sure"
	"github.com/hiveblas/hiveblas/internal/workload"
	"github.com/hiveblas/hiveblas/matrix"
)

// geoCheck sums the coordinates, from the south pole and the date line.
func geoCheck(res *apps.Geolocation) (sum float64) {
	for v, lat := range res.Latitude.All() {
		lon, _ := res.Longitude.At(v)
		sum += (lat + 90 + lon + 180) * float64(1+v%7)
	}
	return sum
}

// oursGeo locates all vertices that can be, from a tenth.
func oursGeo(b *cpuBench, in, _ *input) (time.Duration, float64, error) {
	var err error
	known := memo(in, "locations", func() (l *apps.Locations) {
		l, err = workload.Locations(in.graph.NRows)
		return l
	})
	if err != nil {
		return 0, 0, err
	}
	var res *apps.Geolocation
	d, err := timed(func() (err error) {
		res, err = apps.Geolocate(in.f64, known, workload.GeoOptions(apps.Run{Threads: b.Threads}))
		return err
	})
	if err != nil {
		return 0, 0, err
	}
	return d, geoCheck(res), nil
}

// geoTask is geolocation of a graph from a tenth of its vertices.
func geoTask(b *reportBench, scale, factor int) (*reportTask, error) {
	s := b.shrunk(scale)
	g := gen.CSR(gen.Symmetrise(gen.RMAT(s, factor, gen.RMATOptions{})))
	known, err := workload.Locations(g.NRows)
	if err != nil {
		return nil, err
	}
	in := symmetricRMAT(s, factor)
	in.Parameters += "; a tenth located, medians in degrees to 1e-3 or 100 iterations"
	t := &reportTask{input: in.of(g), files: graphFile(g, nil), tolerance: 1e-6}
	t.ready = func(at matrix.Place, with apps.Run) (reportRun, error) {
		a, err := ones[float32](g, at)
		if err != nil {
			return nil, err
		}
		return func(clock func(func() error) (time.Duration, error), look bool) (o outcome, err error) {
			var res *apps.Geolocation
			o.took, err = clock(func() (err error) { res, err = apps.Geolocate(a, known, workload.GeoOptions(with)); return err })
			if err != nil || !look {
				return o, err
			}
			if err := res.Latitude.Fetch(); err != nil {
				return o, err
			}
			o.result, o.check = fmt.Sprintf("%d of %d located, %d passes", res.Located, g.NRows, res.Passes), geoCheck(res)
			return o, nil
		}, nil
	}
	t.peers = map[string]peerCall{"SciPy": {name: "geolocate"}}
	if g.NNZ() > 20_000_000 {
		t.peers["SciPy"] = peerCall{left: "it takes minutes"}
	}
	return t, nil
}

// gpuGeo locates vertices of a graph on the device from a tenth that is there too. With idle, the
// known places are the result, so that the only pass finds nothing.
func gpuGeo(single, idle bool) func(b *gpuBench, in *gpuInput) (*gpuPlan, error) {
	return func(b *gpuBench, in *gpuInput) (*gpuPlan, error) {
		a, err := undirectedOn(b, in)
		if err != nil {
			return nil, err
		}
		known, err := workload.Locations(in.graph.NRows)
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
		plan.ours = []gpuContender{{name: "hiveblas", once: true, clock: b.dev.Time, method: r.method, do: func() error { return search(apps.Run{}) }}}
		plan.check = func() (string, error) {
			if err := search(r.run()); err != nil {
				return "", err
			}
			plan.notes = func() []string {
				return []string{fmt.Sprintf("%d of %d located, %d passes, %d medians unfinished", found.Located, in.graph.NRows, found.Passes, found.Unfinished)}
			}
			if idle {
				if found.Passes > 0 {
					return fmt.Sprintf("%d passes", found.Passes), nil
				}
				return "", nil
			}
			g := in.graph
			here, err := matrix.FromCSR(g.NRows, g.NCols, g.Ptr, g.Idx, values(g, always))
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
