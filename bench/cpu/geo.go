package cpu

import (
	"time"

	"github.com/hiveblas/hiveblas/apps"
	"github.com/hiveblas/hiveblas/bench/internal/inputs"
	"github.com/hiveblas/hiveblas/internal/workload"
)

// geoBy locates all vertices that can be, from a tenth, by a method.
func geoBy(m apps.Method) ours {
	return func(b *cpuBench, in, _ *input) (time.Duration, float64, error) {
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
			res, err = apps.Geolocate(in.f64, known, workload.GeoOptions(apps.Run{Threads: b.Threads, Method: m}))
			return err
		})
		if err != nil {
			return 0, 0, err
		}
		return d, inputs.GeoCheck(res), nil
	}
}
