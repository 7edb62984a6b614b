package gpu

import (
	"fmt"
	"math"

	"github.com/hiveblas/hiveblas/apps"
	"github.com/hiveblas/hiveblas/bench/gen"
	"github.com/hiveblas/hiveblas/bench/internal/gpuside"
	"github.com/hiveblas/hiveblas/bench/internal/inputs"
	"github.com/hiveblas/hiveblas/matrix"
)

// gpuClassify measures a whole matching of graphs that live on the device, from the call to its
// end. The host's result is the check.
func gpuClassify(tuples func(shrink int) gen.Tuples) func(b *gpuBench, in *inputs.GPU) (*gpuPlan, error) {
	return func(b *gpuBench, _ *inputs.GPU) (*gpuPlan, error) {
		t := tuples(b.shrink)
		data, err := inputs.Attributed(t, 1)
		if err != nil {
			return nil, err
		}
		pattern, err := inputs.ACPattern()
		if err != nil {
			return nil, err
		}
		want, err := apps.Classify(data, pattern, apps.ClassifyOptions{Trusted: true})
		if err != nil {
			return nil, err
		}
		for _, g := range []*apps.Attributed{data, pattern} {
			if err := g.Move(b.dev); err != nil {
				return nil, err
			}
		}
		var r ran
		var mu *matrix.Matrix[float32]
		match := func(run apps.Run) (err error) {
			mu, err = apps.Classify(data, pattern, apps.ClassifyOptions{Run: run, Trusted: true})
			return err
		}
		plan := &gpuPlan{bytes: func() float64 { return inputs.ACBytes(t) }}
		plan.ours = []gpuside.Contender{{Name: "hiveblas", Once: true, Clock: b.dev.Time, Method: r.method, Do: func() error { return match(apps.Run{}) }}}
		plan.check = func() (string, error) {
			plan.notes = where(b, mu.Place())
			if err := match(r.run()); err != nil {
				return "", err
			}
			n, np := want.Dims()
			for v := range n {
				for j := range np {
					x, _ := mu.At(v, j)
					if y, _ := want.At(v, j); math.Abs(float64(x-y)) > 1e-3*math.Max(1, math.Abs(float64(y))) {
						return fmt.Sprintf("vertex %d for %d has %v, want %v", v, j, x, y), nil
					}
				}
			}
			return "", nil
		}
		return plan, nil
	}
}
