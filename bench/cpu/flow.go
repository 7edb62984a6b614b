package cpu

import (
	"encoding/binary"
	"math"
	"os"
	"path/filepath"
	"strconv"
	"time"

	"github.com/hiveblas/hiveblas/apps"
	"github.com/hiveblas/hiveblas/bench/internal/inputs"
	"github.com/hiveblas/hiveblas/matrix"
)

// flowCases are the rows of maximum flow, beside libmaxflow.
func flowCases() (cases []cpuCase) {
	for _, in := range []string{"flowgrid1024", "flowrmat18", "flowplanar1m"} {
		n := map[string]int{"flowgrid1024": 1 << 20, "flowrmat18": 1 << 18, "flowplanar1m": 1_000_000}[in]
		cases = append(cases, cpuCase{name: "maximum flow " + in[len("flow"):], bar: 1.5, input: in, peer: []string{"maxflow"},
			args: []string{strconv.Itoa(n), strconv.Itoa(n + 1)}, rounds: 3,
			ours: func(b *cpuBench, in, _ *input) (time.Duration, float64, error) {
				n, value := in.graph.NRows, 0.0
				d, err := timed(func() error {
					res, err := apps.MaxFlow(in.f64, n-2, n-1, apps.MaxFlowOptions{Run: apps.Run{Threads: b.Threads, Context: b.ctx}})
					if err == nil {
						value = res.Value
					}
					return err
				})
				return d, value, err
			}})
	}
	return cases
}

// lassoCases are the rows of the fused lasso to the proven optimum, beside the serial solver:
// small, middle and large λ₁ of the families of ../shared/FUSED-LASSO.md.
func lassoCases() (cases []cpuCase) {
	for _, c := range []struct {
		input  string
		lambda []float64
	}{
		{"planar213k", []float64{.2, 1, 5}}, {"taxi", []float64{1, 6, 20}}, {"grid512", []float64{.2, 1, 5}}, {"rmatsignal16", []float64{.02, .1, .5}},
	} {
		for _, lambda := range c.lambda {
			text := strconv.FormatFloat(lambda, 'g', -1, 64)
			cases = append(cases, cpuCase{name: "fused lasso " + c.input + " λ₁ = " + text, bar: 1, input: c.input, rounds: 2,
				peer: []string{"fusedlasso", "fusedlasso_split"}, args: []string{text}, beside: writeSignal,
				ours: func(b *cpuBench, in, _ *input) (time.Duration, float64, error) {
					y, err := matrix.VectorOf(append([]float64(nil), in.more["values"].([]float64)...))
					if err != nil {
						return 0, 0, err
					}
					objective := 0.0
					d, err := timed(func() error {
						res, err := apps.FusedLasso(inputs.Bare(in.f64), y, apps.FusedLassoOptions{Lambda1: lambda, Exact: true,
							Run: apps.Run{Threads: b.Threads, Context: b.ctx}})
						if err == nil {
							objective = res.Objective
						}
						return err
					})
					return d, objective, err
				}})
		}
	}
	return cases
}

// writeSignal writes the values of the vertices.
func writeSignal(b *cpuBench, in *input) (string, error) {
	path := filepath.Join(b.dir, in.name+".values")
	var data []byte
	for _, y := range in.more["values"].([]float64) {
		data = binary.LittleEndian.AppendUint64(data, math.Float64bits(y))
	}
	return path, os.WriteFile(path, data, 0o666)
}
