package centrality

import (
	"sync/atomic"

	"github.com/hiveblas/hiveblas/apps/internal/frontier"
	"github.com/hiveblas/hiveblas/apps/internal/workflow"
	"github.com/hiveblas/hiveblas/internal/parallel"
)

// sumTogether is sumDistances for few batches: all threads share the levels of each.
func sumTogether(out, in *workflow.Adjacency, targets []int32, o ClosenessOptions) (*distanceSums, error) {
	c := newClosenessWorker(out, in)
	l := frontier.NewFrontierLoops(o.Run)
	listed := make([]uint32, out.N)
	batches := (len(targets) + targetBatch - 1) / targetBatch
	for k := range batches {
		if k > 0 {
			clear(c.seen)
			clear(c.front)
		}
		if err := c.searchTogether(&l, listed, targets[k*targetBatch:min((k+1)*targetBatch, len(targets))]); err != nil {
			return nil, err
		}
		workflow.Report(o.Run, "closeness", int64(k+1), int64(batches))
	}
	return &distanceSums{c.reached, c.distances, c.harmonic}, workflow.Expired(o.Run)
}

// closenessGrain is the least number of edges that a thread pushes along.
const closenessGrain = 1 << 10

// searchTogether is search by the threads of l. listed is 0 for every vertex, and is so afterwards.
func (c *closenessWorker) searchTogether(l *frontier.FrontierLoops, listed []uint32, targets []int32) error {
	full := c.begin(targets)
	for level := int64(1); len(c.active) > 0; level++ {
		edges := l.Weigh(c.active, c.in)
		var err error
		if edges > int64(len(c.in.Idx))/8 {
			cuts := parallel.Cut(l.Threads, c.out.Ptr, 8*l.Threads, parallel.RowWork)
			err = parallel.Pieces(l.Ctx, l.Threads, len(cuts)-1, func(w, piece int) {
				l.Found[w] = c.pullRows(int32(cuts[piece]), int32(cuts[piece+1]), &full, l.Found[w])
			})
		} else {
			err = l.Push(c.active, edges, closenessGrain, c.in, func(v int32, row, grown []int32) []int32 {
				return c.pushTogether(c.front[v], row, listed, grown)
			})
		}
		if err != nil {
			return err
		}
		c.grown = append(c.grown[:0], l.Gather()...)
		each := func(list []int32, f func(v int32)) error {
			return parallel.Range(l.Ctx, l.Threads, len(list), 1<<10, func(_, lo, hi int) {
				for _, v := range list[lo:hi] {
					f(v)
				}
			})
		}
		if err := each(c.active, func(v int32) { c.front[v] = targetSet{} }); err != nil {
			return err
		}
		share := 1 / float64(level)
		err = each(c.grown, func(v int32) {
			c.arrive(v, level, share)
			listed[v] = 0
		})
		if err != nil {
			return err
		}
		c.active, c.grown = c.grown, c.active
	}
	return nil
}

// pushTogether gives targets to vertices, beside other threads. It appends those that get the first
// ones of the level.
func (c *closenessWorker) pushTogether(x targetSet, row []int32, listed []uint32, grown []int32) []int32 {
	for _, u := range row {
		s, fresh := &c.seen[u], false
		for k := range x {
			if y := x[k] &^ s[k]; y != 0 {
				atomic.OrUint64(&c.next[u][k], y)
				fresh = true
			}
		}
		if fresh && atomic.LoadUint32(&listed[u]) == 0 && atomic.SwapUint32(&listed[u], 1) == 0 {
			grown = append(grown, u)
		}
	}
	return grown
}
