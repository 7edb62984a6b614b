package lgc

import (
	"github.com/hiveblas/hiveblas/apps/internal/workflow"
	"github.com/hiveblas/hiveblas/comm"
	"github.com/hiveblas/hiveblas/comm/spmd"
	"github.com/hiveblas/hiveblas/matrix"
	"github.com/hiveblas/hiveblas/ops"
)

// leastSeeds is the number of seeds below which a further rank does not pay.
const leastSeeds = 4

// batchByRanges divides the seeds of a batch among the ranks of a group. The result is nil if they
// are not divided.
func (c *Clusterer) batchByRanges(seeds []int, tile int, o LocalClusterOptions) (*ClusterBatch, error) {
	d, err := workflow.Divide(o.Run, "LocalCluster", c.place, 0)
	if d == nil || err != nil || !workflow.Fits(d, c.a) {
		return nil, err
	}
	if tile == 0 {
		if tile = tileHost; d.Devices {
			tile = tileDevice
		}
	}
	ranks, err := c.onRanks(d)
	if err != nil {
		return nil, err
	}
	align := int64(tile)
	if o.Method == ClusterPush { // a query that has converged does not move, whatever others do
		align = 1
	}
	cuts := spmd.CutEvenly(int64(len(seeds)), d.Group.Size(), align, min(leastSeeds, d.LeastRange()))
	type facts struct {
		kkt              float64
		iterations, work int64
		converged        bool
	}
	told := make([][]facts, len(ranks))
	part, err := workflow.EachRange(d, cuts, func(k int, lo, hi int64, run workflow.Run) (*matrix.Matrix[float64], error) {
		told[k] = []facts{{converged: true}}
		if lo == hi {
			return matrix.New[float64](0, c.n, matrix.On(d.PlaceOf(k))), nil
		}
		own, found := o, &told[k][0]
		own.Run = run
		if d.Run.Trace != nil {
			own.Trace = func(t ops.Trace) { found.work += t.Work }
		}
		b, err := ranks[k].Batch(seeds[lo:hi], tile, own)
		if err != nil {
			return nil, err
		}
		found.kkt, found.iterations, found.converged = b.KKT, int64(b.Iterations), b.Converged
		return b.P, nil
	})
	if err != nil {
		return nil, err
	}
	all, err := spmd.GatherAll(d.Session, told)
	if err != nil {
		return nil, err
	}
	b, work := &ClusterBatch{Converged: true}, int64(0)
	for _, x := range all {
		b.KKT, b.Iterations, b.Converged = max(b.KKT, x.kkt), max(b.Iterations, int(x.iterations)), b.Converged && x.converged
		work += x.work
	}
	if b.P, err = workflow.RowsOn(d, len(seeds), c.n, cuts, part); err != nil {
		return nil, err
	}
	if d.Run.Trace != nil {
		d.Traced(work, b.P.NVals(), workflow.Imbalance(cuts))
	}
	workflow.Report(o.Run, "local clustering", int64(len(seeds)), int64(len(seeds)))
	return b, nil
}

// onRanks returns a Clusterer of the whole graph for each rank of this process, and keeps them.
// Ranks on the host share one.
func (c *Clusterer) onRanks(d *workflow.Division) ([]*Clusterer, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.ranks != nil {
		return c.ranks, nil
	}
	graph, err := workflow.Replicas(d, c.a)
	if err != nil {
		return nil, err
	}
	list := make([]*Clusterer, len(graph))
	if d.Devices {
		err = d.Apart(func(k int, _ comm.Comm, run workflow.Run) (err error) {
			list[k], err = NewClusterer(graph[k], run)
			return err
		})
	} else {
		var shared *Clusterer
		err = d.Shared(func(all workflow.Run) (err error) {
			shared, err = NewClusterer(graph[0], all)
			return err
		})
		for k := range list {
			list[k] = shared
		}
	}
	if err != nil {
		return nil, err
	}
	c.ranks = list
	return list, nil
}
