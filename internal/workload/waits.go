package workload

import (
	"context"
	"slices"
	"time"

	"github.com/hiveblas/hiveblas/apps"
	"github.com/hiveblas/hiveblas/comm"
	"github.com/hiveblas/hiveblas/comm/model"
	"github.com/hiveblas/hiveblas/matrix"
	"github.com/hiveblas/hiveblas/ops"
	"github.com/hiveblas/hiveblas/semiring"
)

// Waits measures what workflows on a group take beside the work of their kernels, for
// model.Machine.Waits: on paths of few vertices, on which kernels have nothing to do. For workflows
// by rows, and for pipelines of operations, it runs breadth-first search on a short and on a longer
// path; for ranges, scan statistics. The group keeps its calls (see comm.KeepCalls).
func Waits(ctx context.Context, at *comm.Group) (map[string]model.Wait, error) {
	out := map[string]model.Wait{}
	for division, method := range map[division]apps.Method{fusedRows: apps.Fused, byRows: apps.Pipeline} {
		var seconds [2]float64
		var steps [2]int
		for k, n := range [2]int{8, 72} {
			var err error
			seconds[k], steps[k], err = probe(ctx, at, n, division, func(g *matrix.Matrix[float64], run apps.Run) error {
				run.Method = method
				_, err := apps.BFS(g, 0, apps.BFSOptions{Run: run})
				return err
			})
			if err != nil {
				return nil, err
			}
		}
		w := model.Wait{Step: max(0, (seconds[1]-seconds[0])/float64(max(steps[1]-steps[0], 1)))}
		w.Fixed = max(0, seconds[0]-w.Step*float64(steps[0]))
		out[division.String()] = w
	}
	seconds, _, err := probe(ctx, at, 72, byRanges, func(g *matrix.Matrix[float64], run apps.Run) error {
		_, err := apps.ScanStatistics(g, apps.ScanOptions{Run: run})
		return err
	})
	out[byRanges.String()] = model.Wait{Fixed: seconds}
	out[undivided.String()] = model.Wait{}
	return out, err
}

// probe returns the median time of a workflow on a path of n vertices, and its steps.
func probe(ctx context.Context, at *comm.Group, n int, d division, run func(g *matrix.Matrix[float64], run apps.Run) error) (seconds float64, steps int, err error) {
	const rounds = 9
	b := matrix.NewBuilder[float64](n, n)
	for v := range n - 1 {
		b.Add(v, v+1, 1)
		b.Add(v+1, v, 1)
	}
	g, err := b.Build(semiring.First[float64, float64]())
	if err != nil {
		return 0, 0, err
	}
	if err := g.Move(at); err != nil {
		return 0, 0, err
	}
	var took []float64
	for k := range rounds + 1 {
		steps = 0
		calls := len(at.Ranks()[0].Ledger().Calls())
		began := time.Now()
		if err := run(g, apps.Run{Context: ctx, Trace: func(t ops.Trace) {
			if t.Method != "" || t.Place != "" { // not the name of the algorithm
				steps++
			}
		}}); err != nil {
			return 0, 0, err
		}
		if k > 0 { // the first one makes kernels and forms
			took = append(took, time.Since(began).Seconds())
		}
		if d == fusedRows {
			steps = len(at.Ranks()[0].Ledger().Calls()) - calls
		}
	}
	slices.Sort(took)
	return took[rounds/2], steps, g.Move(nil)
}
