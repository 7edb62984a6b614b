package gpu

import (
	"fmt"
	"time"

	"github.com/hiveblas/hiveblas/apps"
	"github.com/hiveblas/hiveblas/bench/internal/gpuside"
	"github.com/hiveblas/hiveblas/bench/internal/inputs"
	"github.com/hiveblas/hiveblas/matrix"
)

// gpuFlow is the maximum flow of a network on the device, from call to return, with the network
// kept there. The peers are the search trees of the host, on one thread, and if asked the pipeline
// on the device, which takes thousands of rounds on grids.
func gpuFlow(pipeline bool) func(b *gpuBench, in *inputs.GPU) (*gpuPlan, error) {
	return func(b *gpuBench, in *inputs.GPU) (*gpuPlan, error) {
		capacities, ok := in.Kept["capacities"].([]float64)
		if !ok {
			return nil, fmt.Errorf("bench: the input has no capacities")
		}
		a, err := onDevice(b, in.Graph, capacities)
		if err != nil {
			return nil, err
		}
		here, err := matrix.FromCSR(in.Graph.NRows, in.Graph.NCols, in.Graph.Ptr, in.Graph.Idx, capacities)
		if err != nil {
			return nil, err
		}
		n := in.Graph.NRows
		found := map[string]*apps.MaxFlowResult{}
		contender := func(name string, g *matrix.Matrix[float64], method apps.Method) gpuside.Contender {
			solve := func() (err error) {
				found[name], err = apps.MaxFlow(g, n-2, n-1, apps.MaxFlowOptions{Run: apps.Run{Method: method}})
				return err
			}
			return gpuside.Contender{Name: name, Once: true, Timed: func() (time.Duration, error) { return gpuside.Wall(solve) }}
		}
		plan := &gpuPlan{ours: []gpuside.Contender{contender("hiveblas", a, apps.Fused)}, others: []gpuside.Contender{contender("trees", here, apps.Auto)}}
		if pipeline {
			plan.others = append(plan.others, contender("pipeline", a, apps.Pipeline))
		}
		plan.check = func() (string, error) {
			want, err := apps.MaxFlow(here, n-2, n-1)
			if err != nil {
				return "", err
			}
			if got := found["hiveblas"]; got.Value != want.Value { // capacities are multiples of 1/16
				return fmt.Sprintf("the value is %v, on the host %v", got.Value, want.Value), nil
			}
			return "", nil
		}
		plan.notes = func() []string { return []string{fmt.Sprintf("%d rounds", found["hiveblas"].Rounds)} }
		return plan, nil
	}
}
