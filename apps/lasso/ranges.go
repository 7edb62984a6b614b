package lasso

import (
	"github.com/hiveblas/hiveblas/apps/internal/workflow"
	"github.com/hiveblas/hiveblas/comm"
	"github.com/hiveblas/hiveblas/comm/spmd"
	"github.com/hiveblas/hiveblas/internal/device"
	"github.com/hiveblas/hiveblas/internal/rep"
	"github.com/hiveblas/hiveblas/matrix"
)

// lassosByRanges divides the solutions of a fused lasso among the ranks of a group: each solves a
// range of the λ₁ or of the observations, and sends the others their blocks of the solutions. The
// result is nil if they are not divided.
func lassosByRanges(v rep.View, o FusedLassoOptions, jobs lassoJobs) ([]*FusedLassoResult, error) {
	d, graph, err := workflow.DivideGraph(o.Run, "FusedLasso", v, 0, nil)
	if d == nil || err != nil {
		return nil, err
	}
	n, _ := v.Dims()
	if o.VertexWeights != nil { // which may be on the group: all ranks read them here
		nu, err := (&lasso{n: n}).weights(o.VertexWeights)
		if err != nil {
			return nil, err
		}
		if o.VertexWeights, err = matrix.VectorOf(nu); err != nil {
			return nil, err
		}
	}
	var l *lasso // of all ranks on the host
	err = d.Shared(func(run workflow.Run) (err error) {
		all := o
		all.Run = run
		l, err = newLasso(graph[0], all)
		return err
	})
	if err != nil {
		return nil, err
	}
	cuts := spmd.CutEvenly(int64(len(jobs)), d.Group.Size(), 1, 1)
	busy := 0 // ranks of this process with a job
	for _, c := range d.Group.Ranks() {
		if cuts[c.Rank()] < cuts[c.Rank()+1] {
			busy++
		}
	}
	part, err := workflow.EachRange(d, cuts, func(k int, lo, hi int64, run workflow.Run) (found []*FusedLassoResult, err error) {
		own := o
		own.Run = run
		own.Threads = max(1, d.Threads()/max(busy, 1))
		if at := device.Of(d.PlaceOf(k)); at != nil && lo < hi {
			found, err = fusedLassos(at, graph[k], own, jobs[lo:hi])
		} else if lo < hi {
			found, err = l.solveAll(jobs[lo:hi], own)
		}
		for _, res := range found {
			if err == nil {
				err = res.B.Fetch()
			}
		}
		return found, err
	})
	if err != nil {
		return nil, err
	}
	list, err := lassoFigures(d, part, cuts)
	if err != nil {
		return nil, err
	}
	if err := lassoSpread(d, list, part, cuts, n); err != nil {
		return nil, err
	}
	work := int64(0)
	for _, res := range list {
		work += int64(res.Iterations) * v.NVals()
	}
	d.Done("fused lasso", int64(n), work, int64(n)*int64(len(jobs)), workflow.Imbalance(cuts))
	return list, nil
}

// lassoFigures gives all ranks the numbers of all solutions.
func lassoFigures(d *workflow.Division, part [][]*FusedLassoResult, cuts []int64) ([]*FusedLassoResult, error) {
	type figures struct {
		lambda, objective, gap              float64
		regions, zeros, iterations, divided int64
		proven                              bool
	}
	own, counts := make([][]figures, len(part)), make([]int, d.Group.Size())
	for k, list := range part {
		for _, r := range list {
			own[k] = append(own[k], figures{r.Lambda1, r.Objective, r.Gap, int64(r.Regions), int64(r.Zeros), int64(r.Iterations), int64(r.Divided), r.Proven})
		}
	}
	for r := range counts {
		counts[r] = int(cuts[r+1] - cuts[r])
	}
	all, err := spmd.GatherAllV(d.Session, own, counts)
	list := make([]*FusedLassoResult, len(all))
	for q, x := range all {
		list[q] = &FusedLassoResult{Lambda1: x.lambda, Objective: x.objective, Gap: x.gap, Regions: int(x.regions), Zeros: int(x.zeros),
			Proven: x.proven, Iterations: int(x.iterations), Divided: int(x.divided)}
	}
	return list, err
}

// lassoSpread makes vectors of the group of the solutions: every rank gets its block of each.
func lassoSpread(d *workflow.Division, list []*FusedLassoResult, part [][]*FusedLassoResult, cuts []int64, n int) error {
	p := d.Group.Size()
	rows := make([]int64, p+1)
	for r, at := range d.Group.Cuts(n) {
		rows[r] = int64(at)
	}
	blocks := make([][][]float64, len(list)) // by solution and rank of this process
	for q := range blocks {
		blocks[q] = make([][]float64, len(part))
	}
	err := d.Each(func(k int, c comm.Comm) error {
		r := c.Rank()
		jobs, height := int(cuts[r+1]-cuts[r]), int(rows[r+1]-rows[r])
		send, recv := make([]int, p), make([]int, p)
		out := make([]float64, 0, jobs*n)
		for to := range p {
			send[to], recv[to] = jobs*int(rows[to+1]-rows[to]), int(cuts[to+1]-cuts[to])*height
			for _, res := range part[k] {
				b, err := res.B.Dense(0)
				if err != nil {
					return err
				}
				out = append(out, b[rows[to]:rows[to+1]]...)
			}
		}
		in, err := spmd.AllToAll(d.Wait, c, out, send, recv)
		if err != nil {
			return err
		}
		for q := range list { // the jobs of a rank follow the jobs of the rank before
			blocks[q][k] = in[q*height : (q+1)*height : (q+1)*height]
		}
		return nil
	})
	if err != nil {
		return err
	}
	for q, res := range list {
		if res.B, err = workflow.EntriesOn(d, n, rows, blocks[q]); err != nil {
			return err
		}
	}
	return nil
}
