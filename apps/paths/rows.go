package paths

import (
	"slices"
	"unsafe"

	"github.com/hiveblas/hiveblas/apps/internal/workflow"
	"github.com/hiveblas/hiveblas/comm"
	"github.com/hiveblas/hiveblas/internal/access"
	"github.com/hiveblas/hiveblas/internal/device"
	"github.com/hiveblas/hiveblas/internal/sparse"
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
// record has 8 bytes, 64 times as much as a bit.
const rowsBits = 64

// A frontierRecord is a vertex of the frontier with its distance, hb_record in kernels/rows.cu.
type frontierRecord[T semiring.Number] struct {
	d T
	v uint32
}

// rankNumbers are what a rank tells the others after a step.
type rankNumbers[T semiring.Number] struct {
	listed int64 // vertices of its frontier
	least  T     // the least distance above the bound in its pile, if the frontier is empty
	ended  bool  // its context has ended
}

// rankSearch is the search of one rank.
type rankSearch[T semiring.Number] interface {
	// start makes the own ones of the sources, which differ, the frontier. It and the steps return
	// the numbers of the next frontier.
	start(sources []int32) (rankNumbers[T], error)
	// records returns memory for the records of all ranks and those of the own frontier. bitmap
	// returns that for bits, those of each rank in words of their own.
	records(all, own int64) (whole, mine comm.Buffer)
	bitmap() (whole, mine comm.Buffer)
	// Push relaxes the edges of so many records, and lists vertices up to bound. pull gives level
	// depth to the unreached neighbours of the vertices in the bitmap.
	Push(records int64, bound, depth T) (rankNumbers[T], error)
	pull(depth T) (rankNumbers[T], error)
	// split makes the vertices of the pile with a distance in (settled, bound] the frontier.
	split(settled, bound T) (rankNumbers[T], error)
	// finish makes the results of the own vertices, and returns how many are reached. Parents need
	// the levels of all.
	finish(c comm.Comm, parents bool) (reached int64, err error)
}

// searchRun is a search on a group: for distances in buckets of width delta, or for levels.
type searchRun[T semiring.Number] struct {
	w       *workflow.RowGroup
	n       int
	sources []int32 // ascending, without repeats
	levels  bool
	delta   T
	parents bool        // with levels
	report  func(int64) // called with the size of each frontier

	reached int64
	deepest T // the largest level
}

// rank searches on one rank. The first rank of the process writes the results of the run.
func (q *searchRun[T]) rank(k int, c comm.Comm, r rankSearch[T]) error {
	most := semiring.MaxValue[T]()
	bound, depth := q.delta, T(0)
	if q.levels {
		bound = most
	}
	now, err := r.start(q.sources)
	if err != nil {
		return err
	}
	for {
		now.ended = q.w.Ended() != nil
		all, err := workflow.Tell(q.w, c, now)
		if err != nil {
			return err
		}
		sum, counts := rankNumbers[T]{least: most}, make([]int, len(all))
		for p, x := range all {
			sum.listed, sum.least = sum.listed+x.listed, min(sum.least, x.least)
			sum.ended = sum.ended || x.ended
			counts[p] = int(x.listed) * int(unsafe.Sizeof(frontierRecord[T]{}))
		}
		if sum.ended {
			return nil
		}
		if sum.listed == 0 && sum.least == most {
			break
		}
		if sum.listed == 0 {
			settled := bound
			if bound = most; sum.least <= most-q.delta {
				bound = sum.least + q.delta
			}
			if now, err = r.split(settled, bound); err != nil {
				return err
			}
			continue
		}
		if k == 0 {
			q.deepest = depth
			if q.report != nil {
				q.report(sum.listed)
			}
		}
		depth++
		if q.levels && sum.listed > int64(q.n/rowsBits) {
			whole, mine := r.bitmap()
			if err := c.AllGatherV(q.w.Wait, whole, bitmapBytes(q.w), mine); err != nil {
				return err
			}
			now, err = r.pull(depth)
		} else {
			whole, mine := r.records(sum.listed, now.listed)
			if err := c.AllGatherV(q.w.Wait, whole, counts, mine); err != nil {
				return err
			}
			now, err = r.Push(sum.listed, bound, depth)
		}
		if err != nil {
			return err
		}
	}
	own, err := r.finish(c, q.parents)
	if err != nil {
		return err
	}
	all, err := workflow.Tell(q.w, c, own)
	for _, x := range all {
		if k == 0 {
			q.reached += x
		}
	}
	return err
}

// bitmapBytes returns the bytes of the bitmap of each rank's vertices, in words of 32 bits.
func bitmapBytes(w *workflow.RowGroup) []int {
	list := make([]int, w.G.Size())
	for r := range list {
		list[r] = 4 * ((w.Cuts[r+1] - w.Cuts[r] + 31) / 32)
	}
	return list
}

// searchByRows runs a search over the edges of a, and returns the distances of the vertices
// reached, and with parents the vertex before each.
func searchByRows[T semiring.Number, A comparable](
	q *searchRun[T], a matrix.View[A],
) (dist *matrix.Vector[T], parent *matrix.Vector[int32], err error) {
	w := q.w
	if err := workflow.CutByRows(w, a.T()); err != nil {
		return nil, nil, err
	}
	in, err := workflow.BlocksByRows(w, a.T())
	if err != nil {
		return nil, nil, err
	}
	typ, err := device.TypeOf[T]()
	if err != nil {
		return nil, nil, err
	}
	slices.Sort(q.sources)
	q.sources = slices.Compact(q.sources)
	homes, before := make([]device.Store, len(in)), make([]device.Store, len(in))
	values, parents := make([]*sparse.Typed[T], len(in)), make([]*sparse.Typed[int32], len(in))
	err = w.G.Each(func(k int, c comm.Comm) error {
		lo, hi := w.Own(c)
		if !w.Devices {
			r := &hostSearch[T, A]{q: q, in: in[k], lo: lo, own: hi - lo}
			err := q.rank(k, c, r)
			values[k], parents[k] = r.values, r.parents
			return err
		}
		at := device.Of(w.G.PlaceOf(k))
		operand, err := access.Operand(in[k], at)
		if err != nil {
			return err
		}
		return w.On(k, func(s *device.Session) error {
			r := &deviceSearch[T]{q: q, s: s, typ: typ, operand: operand, lo: lo, own: hi - lo}
			err := q.rank(k, c, r)
			homes[k], before[k] = r.home, r.before
			return err
		})
	})
	if err = w.Failed(err); err != nil {
		return nil, nil, err
	}
	if w.Devices {
		dist = matrix.NewVector[T](q.n, matrix.On(w.G))
		access.SetVectorBlocks(dist, w.G, w.Cuts, homes)
		if q.parents {
			parent = matrix.NewVector[int32](q.n, matrix.On(w.G))
			access.SetVectorBlocks(parent, w.G, w.Cuts, before)
		}
	} else {
		d := &workflow.Division{G: w.G, Wait: w.Wait}
		if dist, err = workflow.StoresOn(d, q.n, w.Cuts, values); err == nil && q.parents {
			parent, err = workflow.StoresOn(d, q.n, w.Cuts, parents)
		}
	}
	w.Traced(a.NVals(), q.reached)
	return dist, parent, err
}

// rowsBFS is BFS on a group by rows. A step gathers 8 bytes of each vertex of the frontier, or one
// bit of each vertex; parents take 4 bytes of each vertex once more.
func rowsBFS(w *workflow.RowGroup, a matrix.View[bool], n, source int, o BFSOptions) (*BFSResult, error) {
	reached := int64(0)
	q := &searchRun[int32]{w: w, n: n, sources: []int32{int32(source)}, levels: true, parents: o.Parents,
		report: func(found int64) {
			workflow.Report(o.Run, "breadth-first search", reached, int64(n))
			reached += found
		}}
	level, parent, err := searchByRows(q, a)
	if err != nil {
		return nil, err
	}
	return &BFSResult{Level: level, Parent: parent, Reached: q.reached, MaxLevel: q.deepest}, nil
}

// rowsHops counts edges from the nearest of the seeds on a group by rows.
func rowsHops(w *workflow.RowGroup, a matrix.View[bool], n int, seeds []int, run workflow.Run) (*matrix.Vector[int32], int64, error) {
	workflow.Report(run, "vertex nomination", 0, int64(n))
	q := &searchRun[int32]{w: w, n: n, sources: workflow.Numbers(seeds), levels: true}
	level, _, err := searchByRows(q, a)
	return level, int64(q.deepest), err
}

// rowsSSSP is SSSP on a group by rows. A step gathers the distance and the number of each vertex of
// the frontier.
func rowsSSSP[T semiring.Number](
	w *workflow.RowGroup, a matrix.View[T], n int, sources []int, delta T, run workflow.Run,
) (*matrix.Vector[T], error) {
	workflow.Report(run, "shortest paths", 0, int64(n))
	dist, _, err := searchByRows(&searchRun[T]{w: w, n: n, sources: workflow.Numbers(sources), delta: delta}, a)
	return dist, err
}

// edgeWeights are what SSSP asks of the weights.
type edgeWeights[T semiring.Number] struct {
	bad     int64 // not 0: some are negative or NaN
	longest T     // the largest, of floats the largest finite one; of a bad graph, of those that are not
}

// rowsWeights reads the weights on a group by rows. Each rank tells two numbers.
func rowsWeights[T semiring.Number](w *workflow.RowGroup, a matrix.View[T]) (sum edgeWeights[T], err error) {
	if err := workflow.CutByRows(w, a.T()); err != nil {
		return sum, err
	}
	in, err := workflow.BlocksByRows(w, a.T())
	if err != nil {
		return sum, err
	}
	typ, err := device.TypeOf[T]()
	if w.Devices && err != nil {
		return sum, err
	}
	err = w.G.Each(func(k int, c comm.Comm) error {
		var own edgeWeights[T]
		if w.Devices {
			operand, err := access.Operand(in[k], device.Of(w.G.PlaceOf(k)))
			if err != nil {
				return err
			}
			if err := w.On(k, func(s *device.Session) error {
				own = weightsAt[T](s, rowsCode(s, typ), typ, operand)
				return s.Err()
			}); err != nil {
				return err
			}
		} else {
			own = weightsAmong(access.Rows(in[k]))
		}
		all, err := workflow.Tell(w, c, own)
		if k == 0 {
			for _, x := range all {
				sum.bad, sum.longest = sum.bad+x.bad, max(sum.longest, x.longest)
			}
		}
		return err
	})
	return sum, w.Failed(err)
}

// weightsAmong is weightsAt on the host.
func weightsAmong[T semiring.Number](st *sparse.Typed[T]) (w edgeWeights[T]) {
	if st.Val == nil && st.NVals > 0 { // a pattern
		return edgeWeights[T]{longest: 1}
	}
	limit, all := semiring.MaxValue[T](), T(1)/2 == 0
	for _, x := range st.Val {
		switch {
		case !(x >= 0):
			w.bad = 1
		case all || x < limit:
			w.longest = max(w.longest, x)
		}
	}
	return w
}
