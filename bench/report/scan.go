package report

import (
	"fmt"
	"time"

	"github.com/hiveblas/hiveblas/apps"
	"github.com/hiveblas/hiveblas/bench/gen"
	"github.com/hiveblas/hiveblas/matrix"
)

// scanTask is scan statistics of a graph in the shape of one of the report's.
func scanTask(b *reportBench, scale, factor int) (*reportTask, error) {
	s := b.shrunk(scale)
	g := gen.CSR(gen.Symmetrise(gen.RMAT(s, factor, gen.RMATOptions{})))
	t := &reportTask{input: symmetricRMAT(s, factor).of(g), files: graphFile(g, nil)}
	t.ready = func(at matrix.Place, with apps.Run) (reportRun, error) {
		a, err := ones[float32](g, nil)
		if err != nil {
			return nil, err
		}
		a.IsSymmetric()
		if err := a.Move(at); err != nil {
			return nil, err
		}
		return func(clock func(func() error) (time.Duration, error), look bool) (o outcome, err error) {
			var res *apps.ScanResult
			o.took, err = clock(func() (err error) {
				res, err = apps.ScanStatistics(a, apps.ScanOptions{Run: with})
				return err
			})
			if err != nil || !look {
				return o, err
			}
			o.result, o.check = fmt.Sprintf("maximum %d, %d triangles", res.Max, res.Triangles), float64(res.Triangles)
			return o, nil
		}, nil
	}
	t.peers = map[string]peerCall{"SuiteSparse": {name: "tricount"}}
	t.notes = []string{"Scan statistics: SuiteSparse counts the triangles of the graph alone"}
	return t, nil
}
