package gpu

import (
	"fmt"

	"github.com/hiveblas/hiveblas/apps"
	"github.com/hiveblas/hiveblas/bench/internal/gpuside"
	"github.com/hiveblas/hiveblas/bench/internal/inputs"
	"github.com/hiveblas/hiveblas/matrix"
)

// gpuScan computes scan statistics; the numbering by degree is made beforehand and stays with the
// graph. Beside it, our count of the triangles of the same graph, oriented beforehand.
func gpuScan(b *gpuBench, in *inputs.GPU) (*gpuPlan, error) {
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
	plan.ours = []gpuside.Contender{{Name: "hiveblas", Once: true, Clock: b.dev.Time, Method: r.method,
		Prepare: func() error { return search(apps.Run{}) }, Do: func() error { return search(apps.Run{}) }}}
	triangles, err := gpuTriangles(b, in)
	if err != nil {
		return nil, err
	}
	plan.others = []gpuside.Contender{triangles.ours[0]}
	plan.others[0].Name = "our triangles"
	plan.check = func() (string, error) {
		if err := search(r.run()); err != nil {
			return "", err
		}
		plan.notes = func() []string {
			return append(triangles.notes(), fmt.Sprintf("maximum %d, %d triangles", found.Max, found.Triangles))
		}
		g := in.Graph
		here, err := matrix.FromCSR(g.NRows, g.NCols, g.Ptr, g.Idx, inputs.Values(g, anyEntry))
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
