package bench

import (
	"fmt"
	"time"

	"github.com/hiveblas/hiveblas/apps"
	"github.com/hiveblas/hiveblas/bench/gen"
	"github.com/hiveblas/hiveblas/matrix"
)

// oursScan computes the scan statistics, with the orientation of the graph; the check is the
// triangles, which peers count.
func oursScan(b *cpuBench, in, _ *input) (time.Duration, float64, error) {
	in.f64.IsSymmetric()
	var res *apps.ScanResult
	d, err := timed(func() (err error) {
		res, err = apps.ScanStatistics(in.f64, apps.ScanOptions{Run: apps.Run{Threads: b.Threads}})
		return err
	})
	if err != nil {
		return 0, 0, err
	}
	return d, float64(res.Triangles), nil
}

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

// gpuScan computes scan statistics; the numbering by degree is made beforehand and stays with the
// graph. Beside it, our count of the triangles of the same graph, oriented beforehand.
func gpuScan(b *gpuBench, in *gpuInput) (*gpuPlan, error) {
	a, err := undirectedOn(b, in)
	if err != nil {
		return nil, err
	}
	var r ran
	var found *apps.ScanResult
	search := func(run apps.Run) (err error) {
		found, err = apps.ScanStatistics(a, apps.ScanOptions{Run: run})
		return err
	}
	plan := &gpuPlan{}
	plan.ours = []gpuContender{{name: "hiveblas", once: true, clock: b.dev.Time, method: r.method,
		prepare: func() error { return search(apps.Run{}) }, do: func() error { return search(apps.Run{}) }}}
	triangles, err := gpuTriangles(b, in)
	if err != nil {
		return nil, err
	}
	plan.others = []gpuContender{triangles.ours[0]}
	plan.others[0].name = "our triangles"
	plan.check = func() (string, error) {
		if err := search(r.run()); err != nil {
			return "", err
		}
		plan.notes = func() []string {
			return append(triangles.notes(), fmt.Sprintf("maximum %d, %d triangles", found.Max, found.Triangles))
		}
		g := in.graph
		here, err := matrix.FromCSR(g.NRows, g.NCols, g.Ptr, g.Idx, values(g, always))
		if err != nil {
			return "", err
		}
		want, err := apps.ScanStatistics(here)
		if err != nil {
			return "", err
		}
		return differs(found.Statistic, want.Statistic, func(x, y int64) bool { return x == y }), nil
	}
	return plan, nil
}
