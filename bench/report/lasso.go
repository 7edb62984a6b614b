package report

import (
	"fmt"
	"slices"
	"time"

	"github.com/hiveblas/hiveblas/apps"
	"github.com/hiveblas/hiveblas/bench/internal/inputs"
	"github.com/hiveblas/hiveblas/matrix"
)

// lassoTask is the fused lasso of the report: events of a city in space and time, to its proven
// optimum.
func lassoTask(b *reportBench, name string, lambda1 float64) (*reportTask, error) {
	signal, ok := inputs.LassoSignal(name, b.shrink)
	if !ok {
		return nil, fmt.Errorf("bench: no signal is called %q", name)
	}
	g := signal.Graph
	y, err := matrix.VectorOf(slices.Clone(signal.Y))
	if err != nil {
		return nil, err
	}
	in := Input{Generator: "gen.TaxiSignal", Seed: 1, Parameters: fmt.Sprintf("sparse events in space and time, λ₁ = %v", lambda1)}
	t := &reportTask{input: in.of(g), files: graphFile(g, nil), peers: map[string]peerCall{}, tolerance: 1e-10}
	t.ready = func(at matrix.Place, with apps.Run) (reportRun, error) {
		a, err := ones[float64](g, at)
		if err != nil {
			return nil, err
		}
		return func(clock func(func() error) (time.Duration, error), look bool) (o outcome, err error) {
			var res *apps.FusedLassoResult
			o.took, err = clock(func() (err error) {
				res, err = apps.FusedLasso(a, y, apps.FusedLassoOptions{Run: with, Lambda1: lambda1, Exact: true})
				return err
			})
			if err != nil || !look {
				return o, err
			}
			o.result = fmt.Sprintf("%d regions, objective %.10g", res.Regions, res.Objective)
			o.check = res.Objective
			return o, nil
		}, nil
	}
	return t, nil
}
