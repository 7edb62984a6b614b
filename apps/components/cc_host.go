package components

import (
	"slices"
	"sync/atomic"

	"github.com/hiveblas/hiveblas/apps/internal/workflow"
	"github.com/hiveblas/hiveblas/comm"
	"github.com/hiveblas/hiveblas/comm/spmd"
	"github.com/hiveblas/hiveblas/internal/fresh"
	"github.com/hiveblas/hiveblas/internal/parallel"
	"github.com/hiveblas/hiveblas/matrix"
)

// hostComponents is ConnectedComponents on the host, by the trees of all rows.
func hostComponents(a *matrix.View[bool], n int, o ComponentsOptions) (*Components, error) {
	workflow.Report(o.Run, "connected components", 0, 0)
	if a.Inside().Transposed { // directions do not matter
		a = a.T()
	}
	f := newHostForest(workflow.RowsOf(a), n, 0, n, o.Run)
	if err := f.plant(); err != nil {
		return nil, err
	}
	f.joinRows(a.Inside().Symmetric())
	c := &Components{}
	c.Count, c.Largest = f.count()
	if err := workflow.Expired(o.Run); err != nil {
		return nil, err
	}
	workflow.Traced(o.Run, "ConnectedComponents", "Afforest", n, int64(len(f.rows.Idx)))
	var err error
	c.Label, err = matrix.VectorOf([]int32(f.up))
	return c, err
}

// hostForest is a forest on the host: of all rows, or of the rows of one rank of a group.
type hostForest struct {
	rows    *workflow.Adjacency // of the own vertices, by all columns
	run     workflow.Run
	threads int
	grain   int // the least number of vertices of a piece of work
	n       int
	lo, own int // the own vertices begin at lo
	up      trees
	large   int32 // a vertex of a large tree

	// Of a rank of a group: parents before the last link or on another rank, and changes.
	other       []int32
	mine, whole []forestChange
}

func newHostForest(rows *workflow.Adjacency, n, lo, own int, run workflow.Run) *hostForest {
	return &hostForest{rows: rows, run: run, threads: parallel.Threads(run.Threads), grain: treeGrain, n: n, lo: lo, own: own,
		up: fresh.Make[int32](int64(n))}
}

// treeGrain is the usual least number of vertices of a piece of work.
const treeGrain = 1 << 11

// each calls f for pieces of n vertices, unless the context has ended.
func (f *hostForest) each(n int, work func(lo, hi int)) {
	_ = parallel.Range(f.run.Context, f.threads, n, max(f.grain, n/(32*f.threads)), func(_, lo, hi int) { work(lo, hi) })
}

// plant makes trees by the first two edges of each row. The first one leads to the parent if that
// is less than the vertex. If the context ends, there are none.
func (f *hostForest) plant() error {
	for _, others := range [][2]int{{0, f.lo}, {f.lo + f.own, f.n}} {
		for v := others[0]; v < others[1]; v++ {
			f.up[v] = int32(v)
		}
	}
	ptr, idx := f.rows.Ptr, f.rows.Idx
	share := max(f.grain, (f.own+f.threads-1)/f.threads) // trees of a piece are flat
	_ = parallel.Range(f.run.Context, f.threads, f.own, share, func(_, lo, hi int) {
		up := f.up[f.lo : f.lo+f.own]
		for row, at := range ptr[lo:hi] {
			row += lo
			top := int32(f.lo + row)
			if at < ptr[row+1] && idx[at] < top {
				top = idx[at]
				if before := int(top) - f.lo; before >= lo { // of this piece: its root is known
					top = up[before]
				}
			}
			up[row] = top
		}
	})
	if share < f.own {
		f.flatten()
	}
	f.each(f.own, func(lo, hi int) {
		for row, at := range ptr[lo:hi] {
			if row += lo; at+1 < ptr[row+1] {
				f.up.join(int32(f.lo+row), idx[at+1])
			}
		}
	})
	f.flatten()
	if err := workflow.Expired(f.run); err != nil {
		return err
	}
	f.large = f.guess()
	return nil
}

// flatten makes each vertex a child of its root.
func (f *hostForest) flatten() {
	f.each(f.n, f.up.flatten)
}

// guess returns the root of the tree that has the most vertices of a sample.
func (f *hostForest) guess() (most int32) {
	seen := map[int32]int{}
	for k := range uint64(ccSample) {
		l := f.up[k*2654435761%uint64(f.n)]
		if seen[l]++; seen[l] > seen[most] {
			most = l
		}
	}
	return most
}

// joinRows joins trees along all edges. With skip, the rows of vertices in the large tree are
// skipped: an edge that leads out of it is in another row too.
func (f *hostForest) joinRows(skip bool) {
	ptr := f.rows.Ptr
	work := func(row int) int64 { return ptr[row] + parallel.RowWork*int64(row) }
	_ = parallel.RangeAt(f.run.Context, f.threads, f.own, 64*f.threads, work, func(_, lo, hi int) {
		up, large := f.up, f.large
		for row := lo; row < hi; row++ {
			v := int32(f.lo + row)
			tree := atomic.LoadInt32(&up[v])
			if skip && tree == large {
				continue
			}
			for _, u := range f.rows.Of(int32(row)) {
				if atomic.LoadInt32(&up[u]) != tree {
					up.join(v, u)
					tree = atomic.LoadInt32(&up[v])
				}
			}
		}
	})
}

// count makes each vertex a child of its root, and counts the trees and the vertices of the
// largest.
func (f *hostForest) count() (trees int, largest int64) {
	large := f.up.root(f.large)
	size := make([]int32, f.n) // the children of the other trees
	var roots, inLarge, most atomic.Int64
	f.each(f.n, func(lo, hi int) {
		others, inner, outer := int64(0), int64(0), int32(0)
		f.up.flatten(lo, hi)
		for k, root := range f.up[lo:hi] {
			switch root {
			case large:
				inner++
			case int32(lo + k):
				others++
			default:
				outer = max(outer, atomic.AddInt32(&size[root], 1))
			}
		}
		roots.Add(others)
		inLarge.Add(inner)
		parallel.Raise(&most, int64(outer)+1)
	})
	return int(roots.Load()) + 1, max(inLarge.Load(), most.Load())
}

func (f *hostForest) sample() error {
	f.other = make([]int32, f.n)
	return f.plant()
}

func (f *hostForest) link(skip bool) error {
	if skip { // all ranks have the same forest
		f.large = f.guess()
		copy(f.other, f.up)
	}
	f.joinRows(skip)
	f.flatten()
	return nil
}

func (f *hostForest) forest() (own, other comm.Buffer) {
	return spmd.Memory([]int32(f.up)), spmd.Memory(f.other)
}

func (f *hostForest) join() error {
	f.each(f.n, func(lo, hi int) {
		for v := lo; v < hi; v++ {
			f.up.join(int32(v), f.other[v])
		}
	})
	f.flatten()
	return nil
}

func (f *hostForest) changes(int64) (int64, error) {
	for v, label := range f.up {
		if f.other[v] == int32(v) && label != int32(v) {
			f.mine = append(f.mine, forestChange{int32(v), label})
		}
	}
	return int64(len(f.mine)), nil
}

func (f *hostForest) lists(all, _ int64) (whole, mine comm.Buffer) {
	f.whole = make([]forestChange, all)
	return spmd.Memory(f.whole), spmd.Memory(f.mine)
}

func (f *hostForest) joinChanges(int64) error {
	for _, x := range f.whole {
		f.up.join(x.root, x.label)
	}
	f.flatten()
	return nil
}

func (f *hostForest) finish() (count int, largest int64, labels workflow.Block, err error) {
	count, largest = f.count()
	labels.Host = workflow.FullBlock(slices.Clone(f.up[f.lo : f.lo+f.own]))
	return count, largest, labels, nil
}
