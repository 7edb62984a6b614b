package paths

import (
	"slices"

	"github.com/hiveblas/hiveblas/apps/internal/workflow"
	"github.com/hiveblas/hiveblas/comm"
	"github.com/hiveblas/hiveblas/comm/spmd"
	"github.com/hiveblas/hiveblas/internal/access"
	"github.com/hiveblas/hiveblas/internal/device"
	"github.com/hiveblas/hiveblas/internal/rep"
	"github.com/hiveblas/hiveblas/matrix"
	"github.com/hiveblas/hiveblas/semiring"
)

// Searches of a graph on a group by rows. A rank has the distances of its own vertices and the
// edges to them. A step gathers the frontier, and each rank relaxes the edges from it. The frontier
// is gathered as records of vertex and distance, or, if it is large and all its distances are
// equal, as a bitmap, from which the unreached vertices pull. Vertices with a distance above the
// bound wait in a pile, and the bound rises when no rank has a frontier (near and far, see
// kernels/sssp.cu).

// rowsBits is the part of the vertices above which a frontier of levels is gathered as a bitmap: a
// record has 64 bits, a vertex of a bitmap one.
const rowsBits = 64

// A frontierRecord is a vertex of the frontier with its distance, hb_record in kernels/rows.cu.
type frontierRecord[T semiring.Number] struct {
	d T
	v uint32
}

// rankNumbers are what a rank tells the others after a step.
type rankNumbers struct {
	listed int64  // vertices of its frontier
	least  number // the least distance above the bound in its pile, if the frontier is empty
}

// rankSearch is the search of one rank.
type rankSearch interface {
	// start makes the own ones of the sources, which differ, the frontier. It and the steps return
	// the numbers of the next frontier.
	start(sources []int32) (rankNumbers, error)
	// records returns memory for the records of all ranks and of the own frontier. bitmap returns
	// memory for bits, the bits of each rank in words of their own.
	records(all, own int64) (whole, mine comm.Buffer)
	bitmap() (whole, mine comm.Buffer)
	// Push relaxes the edges of so many records, and lists vertices up to bound. pull gives level
	// depth to the unreached neighbours of the vertices in the bitmap.
	Push(records int64, bound, depth number) (rankNumbers, error)
	pull(depth number) (rankNumbers, error)
	// split makes the vertices of the pile with a distance in (settled, bound] the frontier.
	split(settled, bound number) (rankNumbers, error)
	// finish returns the distances of the own vertices, with parents the vertices before them,
	// which takes the levels of all, and how many are reached.
	finish(c comm.Comm, parents bool) (results []workflow.Block, reached int64, err error)
}

// searchRun is a search on a group: for distances in buckets of width delta, or for levels.
type searchRun struct {
	w       *workflow.Division
	n       int
	sources []int32 // ascending, without repeats
	levels  bool
	of      *arithmetic // of the distances
	delta   number
	parents bool        // with levels
	report  func(int64) // called with the size of each frontier

	reached int64
	deepest number // the largest level
}

// rank searches on one rank. The first rank of the process writes the results of the run.
func (q *searchRun) rank(k int, c comm.Comm, r rankSearch) ([]workflow.Block, error) {
	bound, depth := q.delta, number(0)
	if q.levels {
		bound = q.of.most
	}
	now, err := r.start(q.sources)
	if err != nil {
		return nil, err
	}
	err = workflow.Steps(q.w, c, now, func(all []rankNumbers) (g workflow.Gather, compute func() (rankNumbers, error)) {
		sum := rankNumbers{least: q.of.most}
		for _, x := range all {
			sum.listed += x.listed
			if q.of.less(x.least, sum.least) {
				sum.least = x.least
			}
			g.Bytes = append(g.Bytes, int(x.listed*q.of.record))
		}
		switch {
		case sum.listed == 0 && !q.of.less(sum.least, q.of.most):
			return g, nil
		case sum.listed == 0:
			settled := bound
			bound = q.of.plus(sum.least, q.delta)
			return workflow.Gather{}, func() (rankNumbers, error) { return r.split(settled, bound) }
		}
		if k == 0 {
			q.deepest = depth
			if q.report != nil {
				q.report(sum.listed)
			}
		}
		depth = q.of.plus(depth, q.of.one)
		if q.levels && sum.listed > int64(q.n/rowsBits) {
			g.All, g.Own = r.bitmap()
			g.Bytes = bitmapBytes(q.w)
			return g, func() (rankNumbers, error) { return r.pull(depth) }
		}
		g.All, g.Own = r.records(sum.listed, all[c.Rank()].listed)
		return g, func() (rankNumbers, error) { return r.Push(sum.listed, bound, depth) }
	})
	if err != nil {
		return nil, err
	}
	results, own, err := r.finish(c, q.parents)
	if err != nil {
		return nil, err
	}
	all, err := spmd.Tell(q.w.Session, c, own)
	for _, x := range all {
		if k == 0 {
			q.reached += x
		}
	}
	return results, err
}

// bitmapBytes returns the bytes of the bitmap of each rank's vertices, in words of 32 bits.
func bitmapBytes(w *workflow.Division) []int {
	list := make([]int, w.Group.Size())
	for r := range list {
		list[r] = 4 * ((w.Cuts[r+1] - w.Cuts[r] + 31) / 32)
	}
	return list
}

// searchByRows runs a search over the edges of a, and returns the distances of the vertices
// reached, and with parents the vertex before each, an int32.
func searchByRows(q *searchRun, a rep.View) (dist, parent rep.View, err error) {
	w := q.w
	rows, err := w.CutRows(a.T())
	if err != nil {
		return dist, parent, err
	}
	typ, err := q.of.onDevice()
	if err != nil {
		return dist, parent, err
	}
	slices.Sort(q.sources)
	q.sources = slices.Compact(q.sources)
	dist = q.of.vector(q.n, w.Group)
	results := []rep.View{dist}
	if q.parents {
		parent = matrix.NewVector[int32](q.n, matrix.On(w.Group)).Inside()
		results = append(results, parent)
	}
	err = w.RunRows(rows, results, func(k int, c comm.Comm, s *device.Session, in []device.Operand) ([]workflow.Block, error) {
		lo, hi := w.Own(c)
		var r rankSearch
		if s == nil {
			r = q.of.host(q, rows[0][k], lo, hi-lo)
		} else {
			r = &deviceSearch{q: q, s: s, tuning: workflow.Tuning(w.Run, rowsDefaults), typ: typ, operand: in[0], lo: lo, own: hi - lo}
		}
		return q.rank(k, c, r)
	})
	if err != nil {
		return dist, parent, err
	}
	w.Traced(a.NVals(), q.reached, 0)
	return dist, parent, nil
}

// rowsBFS is BFS on a group by rows. A step gathers 8 bytes of each vertex of the frontier, or one
// bit of each vertex; parents take 4 bytes of each vertex once more.
func rowsBFS(w *workflow.Division, a *matrix.View[bool], n, source int, o BFSOptions) (*BFSResult, error) {
	reached := int64(0)
	q := &searchRun{w: w, n: n, of: arithmeticOf[int32](), sources: []int32{int32(source)}, levels: true, parents: o.Parents,
		report: func(found int64) {
			workflow.Report(o.Run, "breadth-first search", reached, int64(n))
			reached += found
		}}
	level, parent, err := searchByRows(q, a.Inside())
	if err != nil {
		return nil, err
	}
	return &BFSResult{Level: access.VectorAs[int32](level), Parent: access.VectorAs[int32](parent), Reached: q.reached,
		MaxLevel: valueOf[int32](q.deepest)}, nil
}

// rowsHops counts edges from the nearest of the seeds on a group by rows.
func rowsHops(w *workflow.Division, a *matrix.View[bool], n int, seeds []int, run workflow.Run) (*matrix.Vector[int32], int64, error) {
	workflow.Report(run, "vertex nomination", 0, int64(n))
	q := &searchRun{w: w, n: n, of: arithmeticOf[int32](), sources: workflow.Numbers(seeds), levels: true}
	level, _, err := searchByRows(q, a.Inside())
	return access.VectorAs[int32](level), int64(valueOf[int32](q.deepest)), err
}

// rowsSSSP is SSSP on a group by rows. A step gathers the distance and the number of each vertex of
// the frontier.
func rowsSSSP(w *workflow.Division, a rep.View, n int, sources []int, of *arithmetic, delta number, run workflow.Run) (rep.View, error) {
	workflow.Report(run, "shortest paths", 0, int64(n))
	dist, _, err := searchByRows(&searchRun{w: w, n: n, sources: workflow.Numbers(sources), of: of, delta: delta}, a)
	return dist, err
}

// edgeWeights are what SSSP asks of the weights.
type edgeWeights struct {
	bad     int64  // not 0: some are negative or NaN
	longest number // the largest, of floats the largest finite one; of a bad graph, of those that are not
}

// rowsWeights reads the weights on a group by rows. Each rank tells two numbers.
func rowsWeights(w *workflow.Division, a rep.View, of *arithmetic) (sum edgeWeights, err error) {
	rows, err := w.CutRows(a.T())
	if err != nil {
		return sum, err
	}
	typ, err := of.onDevice()
	if w.Devices && err != nil {
		return sum, err
	}
	err = w.RunRows(rows, nil, func(k int, c comm.Comm, s *device.Session, in []device.Operand) ([]workflow.Block, error) {
		var own edgeWeights
		if s == nil {
			own = of.weights(rows[0][k].Rows())
		} else if own = weightsAt(s, rowsCode(s, typ), typ, of, in[0]); s.Err() != nil {
			return nil, s.Err()
		}
		all, err := spmd.Tell(w.Session, c, own)
		if k == 0 {
			for _, x := range all {
				sum.bad += x.bad
				if of.less(sum.longest, x.longest) {
					sum.longest = x.longest
				}
			}
		}
		return nil, err
	})
	return sum, w.Failed(err)
}
