package bench

import (
	"encoding/binary"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strconv"
	"time"

	"github.com/hiveblas/hiveblas/apps"
	"github.com/hiveblas/hiveblas/bench/gen"
	"github.com/hiveblas/hiveblas/matrix"
	"github.com/hiveblas/hiveblas/semiring"
)

// flowNetwork makes the network of a name, 2^shrink times smaller, and whether there is one. The
// last two vertices are the source and the sink. Capacities are multiples of 1/16, so that sums are
// exact.
//
//	flowgrid1024  a picture to cut in two: a grid of 1024², edges by likeness, and an edge from
//	              the source or to the sink for each pixel, by its value
//	flowrmat18    R-MAT 18, symmetric capacities 1…255, 64 vertices at each end
//	flowplanar1m  a triangulated planar graph of a million vertices, a thousand at each end
func flowNetwork(name string, shrink int) (*gen.Graph, []float64, bool) {
	var rows, cols []int
	var capacity []float64
	add := func(i, j int, c float64) {
		rows, cols, capacity = append(rows, i), append(cols, j), append(capacity, c)
	}
	ends := func(n, most int) { // of drawn vertices, without limit: even ones at the source, odd ones at the sink
		for k := range most {
			v := int(gen.Hash(uint64(k), 61)%uint64(n/2))*2 + k%2
			from, to := n, v
			if k%2 == 1 {
				from, to = v, n+1
			}
			add(from, to, math.Inf(1))
		}
	}
	both := func(g *gen.Graph) {
		for i := range g.NRows {
			for _, j := range g.Row(i) {
				if k := min(i, int(j)); k != max(i, int(j)) {
					add(i, int(j), float64(1+gen.Hash(uint64(k)<<32|uint64(max(i, int(j))), 62)%255))
				}
			}
		}
	}
	n := 0
	switch name {
	case "flowgrid1024":
		s := gen.GridSignal(1024>>((shrink+1)/2), 1)
		n = s.NRows
		for i := range n {
			for _, j := range s.Row(i) {
				d := s.Y[i] - s.Y[j]
				c := 1 + math.Round(16*8*math.Exp(-d*d/2))/16
				add(i, int(j), c)
				add(int(j), i, c)
			}
			if c := math.Round(16*4*s.Y[i]) / 16; c > 0 {
				add(n, i, c)
			} else if c < 0 {
				add(i, n+1, -c)
			}
		}
	case "flowrmat18":
		g := gen.CSR(gen.Symmetrise(gen.RMAT(max(18-shrink, 5), 16, gen.RMATOptions{})))
		n = g.NRows
		both(g)
		ends(n, 128)
	case "flowplanar1m":
		g := gen.PlanarSignal(1_000_000>>shrink, 1).Graph
		n = g.NRows
		for i := range n {
			for _, j := range g.Row(i) {
				c := float64(1 + gen.Hash(uint64(i)<<32|uint64(j), 62)%255)
				add(i, int(j), c)
				add(int(j), i, c)
			}
		}
		ends(n, max(2000>>shrink, 2))
	default:
		return nil, nil, false
	}
	a, err := matrix.FromTuples(n+2, n+2, rows, cols, capacity, semiring.Max[float64]())
	if err != nil {
		return nil, nil, false
	}
	ptr, idx, val, err := a.CSR()
	if err != nil {
		return nil, nil, false
	}
	return &gen.Graph{NRows: n + 2, NCols: n + 2, Ptr: ptr, Idx: idx}, val, true
}

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

// gpuFlow is the maximum flow of a network on the device, from call to return, with the network
// kept there. The peers are the search trees of the host, on one thread, and if asked the pipeline
// on the device, which takes thousands of rounds on grids.
func gpuFlow(pipeline bool) func(b *gpuBench, in *gpuInput) (*gpuPlan, error) {
	return func(b *gpuBench, in *gpuInput) (*gpuPlan, error) {
		capacities, ok := in.kept["capacities"].([]float64)
		if !ok {
			return nil, fmt.Errorf("bench: the input has no capacities")
		}
		a, err := onDevice(b, in.graph, capacities)
		if err != nil {
			return nil, err
		}
		here, err := matrix.FromCSR(in.graph.NRows, in.graph.NCols, in.graph.Ptr, in.graph.Idx, capacities)
		if err != nil {
			return nil, err
		}
		n := in.graph.NRows
		found := map[string]*apps.MaxFlowResult{}
		contender := func(name string, g *matrix.Matrix[float64], method apps.Method) gpuContender {
			solve := func() (err error) {
				found[name], err = apps.MaxFlow(g, n-2, n-1, apps.MaxFlowOptions{Run: apps.Run{Method: method}})
				return err
			}
			return gpuContender{name: name, once: true, timed: func() (time.Duration, error) { return wall(solve) }}
		}
		plan := &gpuPlan{ours: []gpuContender{contender("hiveblas", a, apps.Fused)}, others: []gpuContender{contender("trees", here, apps.Auto)}}
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
						res, err := apps.FusedLasso(bare(in.f64), y, apps.FusedLassoOptions{Lambda1: lambda, Exact: true,
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
