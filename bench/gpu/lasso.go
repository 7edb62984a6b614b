package gpu

import (
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/hiveblas/hiveblas/apps"
	"github.com/hiveblas/hiveblas/bench/gen"
	"github.com/hiveblas/hiveblas/bench/internal/gpuside"
	"github.com/hiveblas/hiveblas/bench/internal/inputs"
	"github.com/hiveblas/hiveblas/matrix"
)

// lassoHostVertices bounds the graphs that the host solves too.
const lassoHostVertices = 300_000

// gpuLasso is the fused lasso of a graph on the device, from call to return, until every region is
// proven. What the graph alone decides is kept with it.
func gpuLasso(lambda1 float64) func(b *gpuBench, in *inputs.GPU) (*gpuPlan, error) {
	return func(b *gpuBench, in *inputs.GPU) (*gpuPlan, error) {
		a, list, err := lassoOn(b, in)
		if err != nil {
			return nil, err
		}
		y, err := matrix.VectorOf(slices.Clone(list))
		if err != nil {
			return nil, err
		}
		var found *apps.FusedLassoResult
		o := apps.FusedLassoOptions{Lambda1: lambda1, Exact: true}
		solve := func() (err error) {
			found, err = apps.FusedLasso(a, y, o)
			return err
		}
		plan := &gpuPlan{}
		plan.ours = []gpuside.Contender{{Name: "hiveblas", Once: true, Method: func() string { return "dual" },
			Prepare: solve, Timed: func() (time.Duration, error) { return gpuside.Wall(solve) }}}
		plan.check = func() (string, error) {
			plan.notes = func() []string {
				return []string{fmt.Sprintf("%d regions, %d iterations, %d vertices on the host, gap %.1e", found.Regions, found.Iterations,
					found.Divided, found.Gap)}
			}
			if !found.Proven || !(found.Gap <= 1e-12) {
				return fmt.Sprintf("proven %v, gap %v", found.Proven, found.Gap), nil
			}
			if in.Graph.NRows > lassoHostVertices {
				return "", nil
			}
			here, err := matrix.FromCSR(in.Graph.NRows, in.Graph.NCols, in.Graph.Ptr, in.Graph.Idx, slices.Repeat([]float64{1}, int(in.Graph.NNZ())))
			if err != nil {
				return "", err
			}
			want, err := apps.FusedLasso(here, y, o)
			if err != nil {
				return "", err
			}
			if math.Abs(found.Objective-want.Objective) > 1e-12*want.Objective || found.Regions != want.Regions {
				return fmt.Sprintf("objective %v of %d regions, on the host %v of %d", found.Objective, found.Regions, want.Objective, want.Regions), nil
			}
			return "", nil
		}
		return plan, nil
	}
}

// lassoOn is the graph and the values of a signal on the device.
func lassoOn(b *gpuBench, in *inputs.GPU) (a *matrix.Matrix[float64], values []float64, err error) {
	a, err = inputs.Kept(in, "terms", func() (*matrix.Matrix[float64], error) {
		return onDevice(b, in.Graph, slices.Repeat([]float64{1}, int(in.Graph.NNZ())))
	})
	if err != nil {
		return nil, nil, err
	}
	values, ok := in.Kept["values"].([]float64)
	if !ok {
		return nil, nil, fmt.Errorf("bench: the input has no values")
	}
	return a, values, nil
}

// sameLassos compares the solutions of several fused lassos with the solutions of one at a time.
func sameLassos(found, alone []*apps.FusedLassoResult) string {
	for k, f := range found {
		w := alone[k]
		if !f.Proven || !(f.Gap <= 1e-12) || math.Abs(f.Objective-w.Objective) > 1e-12*w.Objective || f.Regions != w.Regions {
			return fmt.Sprintf("solution %d: objective %v of %d regions, gap %v; alone %v of %d", k, f.Objective, f.Regions, f.Gap, w.Objective, w.Regions)
		}
	}
	return ""
}

// gpuLassos compares a call for several fused lassos with a call for each.
func gpuLassos(together func() ([]*apps.FusedLassoResult, error), count int, single func(k int) (*apps.FusedLassoResult, error)) *gpuPlan {
	var found, alone []*apps.FusedLassoResult
	all := func() (err error) {
		found, err = together()
		return err
	}
	each := func() error {
		alone = alone[:0]
		for k := range count {
			res, err := single(k)
			if err != nil {
				return err
			}
			alone = append(alone, res)
		}
		return nil
	}
	plan := &gpuPlan{}
	plan.ours = []gpuside.Contender{{Name: "hiveblas", Once: true, Prepare: all, Timed: func() (time.Duration, error) { return gpuside.Wall(all) }}}
	plan.others = []gpuside.Contender{{Name: "one at a time", Timed: func() (time.Duration, error) { return gpuside.Wall(each) }}}
	plan.check = func() (string, error) {
		if err := all(); err != nil {
			return "", err
		}
		if err := each(); err != nil {
			return "", err
		}
		return sameLassos(found, alone), nil
	}
	plan.notes = func() []string { return []string{fmt.Sprintf("%d solutions", len(found))} }
	return plan
}

// gpuLassoPath is a path of 20 λ₁ from .1 to 10, in equal ratios, beside cold calls.
func gpuLassoPath(b *gpuBench, in *inputs.GPU) (*gpuPlan, error) {
	a, values, err := lassoOn(b, in)
	if err != nil {
		return nil, err
	}
	y, err := matrix.VectorOf(slices.Clone(values))
	if err != nil {
		return nil, err
	}
	lambdas := make([]float64, max(20>>b.shrink, 3))
	for k := range lambdas {
		lambdas[k] = .1 * math.Pow(100, float64(k)/float64(len(lambdas)-1))
	}
	return gpuLassos(func() ([]*apps.FusedLassoResult, error) {
		return apps.FusedLassoPath(a, y, lambdas, apps.FusedLassoOptions{Exact: true})
	}, len(lambdas), func(k int) (*apps.FusedLassoResult, error) {
		return apps.FusedLasso(a, y, apps.FusedLassoOptions{Lambda1: lambdas[k], Exact: true})
	}), nil
}

// gpuLassoBatch is a batch of 64 observations, the values of the signal with other noise, λ₁ = 1.
func gpuLassoBatch(b *gpuBench, in *inputs.GPU) (*gpuPlan, error) {
	a, values, err := lassoOn(b, in)
	if err != nil {
		return nil, err
	}
	count, n := max(64>>b.shrink, 3), len(values)
	columns := make([]*matrix.Vector[float64], count)
	all := make([]float64, n*count)
	for k := range columns {
		y := make([]float64, n)
		for v, x := range values {
			y[v] = x + inputs.Unit[float64](gen.Hash(uint64(v), uint64(70+k))) - .5
			all[v*count+k] = y[v]
		}
		if columns[k], err = matrix.VectorOf(y); err != nil {
			return nil, err
		}
	}
	ys, err := matrix.FromDense(n, count, all)
	if err != nil {
		return nil, err
	}
	o := apps.FusedLassoOptions{Lambda1: 1, Exact: true}
	return gpuLassos(func() ([]*apps.FusedLassoResult, error) { return apps.FusedLassoBatch(a, ys, o) }, count,
		func(k int) (*apps.FusedLassoResult, error) { return apps.FusedLasso(a, columns[k], o) }), nil
}
