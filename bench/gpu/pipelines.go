package gpu

import (
	"fmt"

	"github.com/hiveblas/hiveblas/apps"
	"github.com/hiveblas/hiveblas/bench/internal/gpuside"
	"github.com/hiveblas/hiveblas/bench/internal/inputs"
	"github.com/hiveblas/hiveblas/matrix"
)

// Workflows by public operations, each beside its fused form. Both get the same matrix, and keep
// with it what they keep.

// methodsPlan compares the pipeline of a workflow with its fused form; both return counts.
func methodsPlan(b *gpuBench, in *inputs.GPU, run func(a *matrix.Matrix[bool], r apps.Run) ([2]int64, error)) (*gpuPlan, error) {
	a, err := undirectedOn(b, in)
	if err != nil {
		return nil, err
	}
	var pipeline, fused [2]int64
	contender := func(name string, m apps.Method, to *[2]int64) gpuside.Contender {
		return gpuside.Contender{Name: name, Once: true, Clock: gpuside.Wall, Do: func() (err error) {
			if *to, err = run(a, apps.Run{Method: m}); err != nil {
				return err
			}
			return b.dev.Sync()
		}}
	}
	return &gpuPlan{
		ours:   []gpuside.Contender{contender("pipeline", apps.Pipeline, &pipeline)},
		others: []gpuside.Contender{contender("our apps", apps.Fused, &fused)},
		check: func() (string, error) {
			want, err := run(a, apps.Run{Method: apps.Fused})
			if err != nil || pipeline == want {
				return "", err
			}
			return fmt.Sprintf("counts of %v, want %v", pipeline, want), nil
		},
	}, nil
}

func pipelineTriangles(b *gpuBench, in *inputs.GPU) (*gpuPlan, error) {
	return methodsPlan(b, in, func(a *matrix.Matrix[bool], r apps.Run) (n [2]int64, err error) {
		n[0], err = apps.TriangleCount(a, apps.TriangleOptions{Run: r})
		return n, err
	})
}

func pipelineScan(b *gpuBench, in *inputs.GPU) (*gpuPlan, error) {
	return methodsPlan(b, in, func(a *matrix.Matrix[bool], r apps.Run) ([2]int64, error) {
		found, err := apps.ScanStatistics(a, apps.ScanOptions{Run: r})
		if err != nil {
			return [2]int64{}, err
		}
		return [2]int64{found.Max, found.Sum}, nil
	})
}
