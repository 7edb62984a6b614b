package bench

import (
	"context"
	"errors"
	"fmt"
	"math"
	"time"

	"github.com/hiveblas/hiveblas/apps"
	"github.com/hiveblas/hiveblas/comm"
	"github.com/hiveblas/hiveblas/comm/model"
	"github.com/hiveblas/hiveblas/internal/access"
	"github.com/hiveblas/hiveblas/matrix"
	"github.com/hiveblas/hiveblas/ops"
	"github.com/hiveblas/hiveblas/semiring"
)

// scaleApps are the workflows of ScaleRun: pipelines of operations, and workflows that are divided
// by ranges of their work.
var scaleApps = []struct {
	name   string
	ranges bool
	run    func(g *matrix.Matrix[float64], source int, run apps.Run) error
}{
	{"spmv", false, func(g *matrix.Matrix[float64], _ int, run apps.Run) error {
		n, _ := g.Dims()
		here := matrix.On(g.Place())
		x, y := matrix.NewVector[float64](n, here), matrix.NewVector[float64](n, here)
		with := ops.WithOptions(ops.WithContext(run.Context), ops.WithTraces(run.Trace))
		err := ops.AssignVectorScalar(x, 1, ops.All(), with)
		return errors.Join(err, ops.MxV(y, semiring.PlusTimes[float64](), g, x, with))
	}},
	{"pagerank", false, func(g *matrix.Matrix[float64], _ int, run apps.Run) error {
		// A number of iterations that no rounding changes: bytes are compared with those of the
		// host.
		_, err := apps.PageRank(g, apps.PageRankOptions{Run: run, MaxIterations: 20, Tolerance: math.SmallestNonzeroFloat64})
		return err
	}},
	{"bfs", false, func(g *matrix.Matrix[float64], source int, run apps.Run) error {
		_, err := apps.BFS(g, source, apps.BFSOptions{Run: run})
		return err
	}},
	{"cc", false, func(g *matrix.Matrix[float64], _ int, run apps.Run) error {
		_, err := apps.ConnectedComponents(g, apps.ComponentsOptions{Run: run})
		return err
	}},
	{"sssp", false, func(g *matrix.Matrix[float64], source int, run apps.Run) error {
		_, err := apps.SSSP(g, []int{source}, apps.SSSPOptions[float64]{Run: run})
		return err
	}},
	{"search", true, func(g *matrix.Matrix[float64], _ int, run apps.Run) error {
		_, err := apps.GraphSearch(g, nil, nil, apps.SearchOptions{Run: run, PerStart: 10, Visits: true})
		return err
	}},
	{"scan", true, func(g *matrix.Matrix[float64], _ int, run apps.Run) error {
		_, err := apps.ScanStatistics(g, apps.ScanOptions{Run: run})
		return err
	}},
	{"lgc", true, func(g *matrix.Matrix[float64], _ int, run apps.Run) error {
		c, err := apps.NewClusterer(g, run)
		if err != nil {
			return err
		}
		var seeds []int // the first vertices with edges
		for at := range g.All() {
			if at.Row != at.Col && (len(seeds) == 0 || seeds[len(seeds)-1] != at.Row) {
				seeds = append(seeds, at.Row)
			}
			if len(seeds) == scaleSeeds {
				break
			}
		}
		if len(seeds) == 0 {
			return nil
		}
		_, err = c.Batch(seeds, 0, apps.LocalClusterOptions{Run: run})
		return err
	}},
	{"project", true, func(g *matrix.Matrix[float64], _ int, run apps.Run) error {
		_, err := apps.Projection(g, apps.ProjectionOptions{Run: run})
		return err
	}},
	{"closeness", true, func(g *matrix.Matrix[float64], _ int, run apps.Run) error {
		_, err := apps.Closeness(g, apps.ClosenessOptions{Run: run, Samples: scaleSeeds})
		return err
	}},
	{"betweenness", true, func(g *matrix.Matrix[float64], _ int, run apps.Run) error {
		_, err := apps.Betweenness(g, apps.BetweennessOptions{Run: run, Samples: scaleSources})
		return err
	}},
	{"lasso", true, func(g *matrix.Matrix[float64], _ int, run apps.Run) error {
		n, _ := g.Dims()
		y := make([]float64, n*scaleColumns)
		for k := range y {
			y[k] = float64(k % 97)
		}
		ys, err := matrix.FromDense(n, scaleColumns, y)
		if err != nil {
			return err
		}
		_, err = apps.FusedLassoBatch(g, ys, apps.FusedLassoOptions{Run: run, Lambda1: 1})
		return err
	}},
}

const (
	scaleSeeds   = 1024 // of lgc, and targets of closeness, at most
	scaleSources = 64   // of betweenness, at most
	scaleColumns = 16   // observations of lasso
)

// ScaleApps are the names of the workflows that ScaleRun knows.
func ScaleApps() (names []string) {
	for _, a := range scaleApps {
		names = append(names, a.name)
	}
	return names
}

// bytesOfEdge is what a kernel moves for an edge: 8 streamed (index and value) and 16 for the
// gather of the other end's value, half of whose 32-byte sectors miss the L2. bytesOfRow are
// offsets, the result and the old value.
const (
	bytesOfEdge = 24
	bytesOfRow  = 24
)

// ScaleRun runs a workflow on a graph that it moves to a group, and returns the volume of the ranks
// of this process, without the placing of the graph, and the time. Some workflows run as pipelines;
// search (10 walks from each vertex), scan, lgc (1024 seeds), project, closeness (1024 targets),
// betweenness (64 sources) and lasso (16 observations) are divided by ranges. The ranks keep their
// calls (see comm.KeepCalls). source is the first vertex of bfs and sssp. The calls of p ranks are
// the same on every kind of group, so ranks of goroutines predict those of devices exactly.
func ScaleRun(ctx context.Context, app string, g *matrix.Matrix[float64], at *comm.Group, source int) (v model.Volume, took time.Duration, err error) {
	var run func(*matrix.Matrix[float64], int, apps.Run) error
	method := apps.Pipeline
	for _, a := range scaleApps {
		if a.name == app {
			run = a.run
			if a.ranges {
				method = apps.Auto
			}
		}
	}
	n, cols := g.Dims()
	switch {
	case run == nil:
		return v, 0, fmt.Errorf("bench: no workflow %q to run on groups; they are %v", app, ScaleApps())
	case n != cols:
		return v, 0, fmt.Errorf("bench: the graph is %d×%d, want square", n, cols)
	case source < 0 || source >= n:
		return v, 0, fmt.Errorf("bench: source %d of %d vertices", source, n)
	case at.Size() == 0:
		return v, 0, errors.New("bench: the group has no ranks; make one by comm.NewGroup")
	}
	if err := g.Move(at); err != nil {
		return v, 0, err
	}
	counts, err := access.GroupCounts(ctx, g.View(), at)
	if err != nil {
		return v, 0, err
	}
	entries := g.NVals()
	v.Ranks = at.Size()
	for _, c := range at.Ranks() {
		c.Ledger().Reset()
	}
	trace := func(t ops.Trace) {
		v.Steps++
		v.Imbalance = max(v.Imbalance, t.Imbalance)
		v.Bytes += bytesOfEdge*float64(t.Work) + bytesOfRow*float64(t.NVals)
	}
	began := time.Now()
	if err := run(g, source, apps.Run{Context: ctx, Trace: trace, Method: method}); err != nil {
		return v, 0, err
	}
	took = time.Since(began)
	var calls [][]comm.Call
	for _, c := range at.Ranks() {
		calls = append(calls, c.Ledger().Calls())
	}
	if v.Calls, err = model.Merge(calls...); err != nil {
		return v, took, err
	}
	if v.Imbalance > 0 { // of ranges
		return v, took, nil
	}
	most := int64(0)
	for r, cuts := 0, at.Cuts(n); r < at.Size(); r++ {
		most = max(most, counts[r]+int64(cuts[r+1]-cuts[r]))
	}
	v.Imbalance = float64(most) * float64(at.Size()) / float64(max(1, entries+int64(n)))
	return v, took, nil
}
