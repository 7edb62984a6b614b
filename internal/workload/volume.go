package workload

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/hiveblas/hiveblas/apps"
	"github.com/hiveblas/hiveblas/comm"
	"github.com/hiveblas/hiveblas/comm/model"
	"github.com/hiveblas/hiveblas/matrix"
	"github.com/hiveblas/hiveblas/ops"
)

// Apps are the names of the workflows that Run knows.
func Apps() (names []string) {
	for _, a := range list {
		names = append(names, a.name)
	}
	return names
}

// Apart reports whether a workflow is divided by ranges of its work, or by the operations of a
// pipeline, so that its ranks may take turns (see comm.TakeTurns).
func Apart(app string) bool {
	return slices.ContainsFunc(list, func(a workflow) bool { return a.name == app && (a.divided() == byRanges || a.divided() == byRows) })
}

// bytesOfEdge is what a kernel moves for an edge: 8 streamed (index and value) and 16 for the
// gather of the other end's value: half of the 32-byte sectors miss the L2. bytesOfRow are offsets,
// the result and the old value.
const (
	bytesOfEdge = 24
	bytesOfRow  = 24
)

// Run runs a workflow on a graph that it moves to a group, and returns the volume of the ranks of
// this process, without the placing of the graph and of other inputs, and the time. Some workflows
// run as pipelines; pagerank, bfs, cc, sssp and vn by the kernels of a rank for its rows; search
// (10 walks from each vertex), scan, lgc (1024 seeds), project, closeness (1024 targets),
// betweenness (64 sources), lasso (16 observations), sage and train are divided by ranges; louvain
// is whole on every rank. The ranks keep their calls (see comm.KeepCalls). source is the first
// vertex of bfs, sssp, vn and nominate. The calls of p ranks are the same on every kind of group,
// so ranks of goroutines predict ranks of devices exactly, but for sage, which devices divide by
// vertices and the host by rows of layers.
func Run(ctx context.Context, app string, g *matrix.Matrix[float64], at *comm.Group, source int) (v model.Volume, took time.Duration, err error) {
	own, method := workflowOf(app)
	n, cols := g.Dims()
	switch {
	case own == nil:
		return v, 0, fmt.Errorf("workload: no workflow %q to run on groups; they are %v", app, Apps())
	case n != cols:
		return v, 0, fmt.Errorf("workload: the graph is %d×%d, want square", n, cols)
	case source < 0 || source >= n:
		return v, 0, fmt.Errorf("workload: source %d of %d vertices", source, n)
	case at.Size() == 0:
		return v, 0, errors.New("workload: the group has no ranks; make one by comm.NewGroup")
	}
	if err := g.Move(at); err != nil {
		return v, 0, err
	}
	run, err := own.prepare(g, source, at)
	if err != nil {
		return v, 0, err
	}
	counts, err := g.View().Inside().Counts(ctx, at)
	if err != nil {
		return v, 0, err
	}
	entries := g.NVals()
	v.Ranks = at.Size()
	for _, c := range at.Ranks() {
		c.Ledger().Reset()
	}
	v.Division, v.OnHost = own.divided().String(), own.divided() == byRanges
	trace := func(t ops.Trace) {
		if t.Method == "" && t.Place == "" { // the name of the algorithm
			return
		}
		v.Steps++
		v.Imbalance = max(v.Imbalance, t.Imbalance)
		v.Bytes += bytesOfEdge*float64(t.Work) + bytesOfRow*float64(t.NVals)
	}
	at.Turns() // forgets the calls of the placing
	began := time.Now()
	if err := run(apps.Run{Context: ctx, Trace: trace, Method: method}); err != nil {
		return v, 0, err
	}
	took = time.Since(began)
	v.Turns = turnsOf(at, took)
	var calls [][]comm.Call
	for _, c := range at.Ranks() {
		calls = append(calls, c.Ledger().Calls())
	}
	if v.Calls, err = model.Merge(calls...); err != nil {
		return v, took, err
	}
	if own.divided() == fusedRows {
		v.Steps = len(v.Calls)
	}
	v.Extra = own.extra * float64(n)
	switch {
	case own.divided() == undivided:
		v.Imbalance = float64(at.Size())
		return v, took, nil
	case v.Imbalance > 0: // of ranges
		return v, took, nil
	}
	v.Imbalance = imbalanceOf(at, counts, n, entries)
	return v, took, nil
}

// workflowOf returns the workflow of a name, nil if there is none, and the method that it runs by.
func workflowOf(app string) (*workflow, apps.Method) {
	for k, a := range list {
		if a.name != app {
			continue
		}
		switch a.divided() {
		case byRanges:
			return &list[k], apps.Auto
		case fusedRows:
			return &list[k], apps.Fused
		}
		return &list[k], apps.Pipeline
	}
	return nil, apps.Pipeline
}

// turnsOf returns the time that the ranks of this process would take as processes of their own,
// where they run at the same time. took is the time of all, one after another.
func turnsOf(at *comm.Group, took time.Duration) (seconds float64) {
	for k, ranks := range at.Turns() {
		if k == 0 {
			seconds = took.Seconds()
		}
		seconds += slices.Max(ranks).Seconds()
		for _, t := range ranks {
			seconds -= t.Seconds()
		}
	}
	return seconds
}

// imbalanceOf returns the largest share of the rows and entries of a rank, times the number of
// ranks.
func imbalanceOf(at *comm.Group, counts []int64, n int, entries int64) float64 {
	most := int64(0)
	for r, cuts := 0, at.Cuts(n); r < at.Size(); r++ {
		most = max(most, counts[r]+int64(cuts[r+1]-cuts[r]))
	}
	return float64(most) * float64(at.Size()) / float64(max(1, entries+int64(n)))
}
