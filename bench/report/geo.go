package report

import (
	"fmt"
	"time"

	"github.com/hiveblas/hiveblas/apps"
	"github.com/hiveblas/hiveblas/bench/gen"
	"github.com/hiveblas/hiveblas/bench/internal/inputs"
	"github.com/hiveblas/hiveblas/internal/workload"
	"github.com/hiveblas/hiveblas/matrix"
)

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
			o.result, o.check = fmt.Sprintf("%d of %d located, %d passes", res.Located, g.NRows, res.Passes), inputs.GeoCheck(res)
			return o, nil
		}, nil
	}
	t.peers = map[string]peerCall{"SciPy": {name: "geolocate"}}
	if g.NNZ() > 20_000_000 {
		t.peers["SciPy"] = peerCall{left: "it takes minutes"}
	}
	return t, nil
}
