package bench

import (
	"fmt"
	"time"

	"github.com/hiveblas/hiveblas/apps"
	"github.com/hiveblas/hiveblas/bench/gen"
	"github.com/hiveblas/hiveblas/matrix"
)

// The medians of the rows of geolocation.
const (
	geoTolerance  = 1e-3 // degrees
	geoIterations = 100
)

// hashLocations are places of a tenth of n vertices, drawn by hashes, between 60°S and 60°N; the
// peers draw the same.
func hashLocations(n int) (*apps.Locations, error) {
	var vertices []int
	var lat, lon []float64
	share := func(v int, seed uint64) float64 { return float64(gen.Hash(uint64(v), seed)>>11) / (1 << 53) }
	for v := range n {
		if gen.Hash(uint64(v), 21)%10 == 0 {
			vertices = append(vertices, v)
			lat, lon = append(lat, 120*share(v, 22)-60), append(lon, 360*share(v, 23)-180)
		}
	}
	return apps.NewLocations(n, vertices, lat, lon)
}

// geoCheck sums the coordinates, from the south pole and the date line.
func geoCheck(res *apps.Geolocation) (sum float64) {
	for v, lat := range res.Latitude.All() {
		lon, _ := res.Longitude.At(v)
		sum += (lat + 90 + lon + 180) * float64(1+v%7)
	}
	return sum
}

func geoOptions(run apps.Run) apps.GeolocateOptions {
	return apps.GeolocateOptions{Run: run, Median: apps.MedianDegrees, Tolerance: geoTolerance, MaxIterations: geoIterations}
}

// oursGeo locates all vertices that can be, from a tenth.
func oursGeo(b *cpuBench, in, _ *input) (time.Duration, float64, error) {
	var err error
	known := memo(in, "locations", func() (l *apps.Locations) {
		l, err = hashLocations(in.graph.NRows)
		return l
	})
	if err != nil {
		return 0, 0, err
	}
	var res *apps.Geolocation
	d, err := timed(func() (err error) {
		res, err = apps.Geolocate(in.f64, known, geoOptions(apps.Run{Threads: b.Threads}))
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
	known, err := hashLocations(g.NRows)
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
			o.took, err = clock(func() (err error) { res, err = apps.Geolocate(a, known, geoOptions(with)); return err })
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
