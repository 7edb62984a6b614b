package apps

import "github.com/hiveblas/hiveblas/internal/parallel"

// waveShares says how threads share the work of waves.
type waveShares struct {
	narrow int64 // vertices and edges of a queue, below which one thread expands it
	grain  int64 // least edges of a piece of work
}

// usualWaveShares are those of graphs on the host. Queues of a grid of 1024×1024 are narrow, those
// of an R-MAT of scale 16 are not.
var usualWaveShares = waveShares{narrow: 1 << 13, grain: 1 << 9}

// waves are searches on the host that expand a queue of vertices and those that follow them, in any
// order: one thread while the queue is narrow, else all.
type waves struct {
	frontierLoops
	waveShares
	run   Run
	queue []int32
}

func newWaves(run Run, shares waveShares) waves {
	return waves{frontierLoops: newFrontierLoops(run), waveShares: shares, run: run}
}

// each calls f for pieces of [0, n). A thread keeps what f appends to found; see gather.
func (w *waves) each(n int, f func(lo, hi int, found []int32) []int32) error {
	return w.pieces(n, int(w.grain)/8, f)
}

// some is each for less work than a thread is worth for a few items.
func (w *waves) some(n int, f func(lo, hi int, found []int32) []int32) error {
	return w.pieces(n, int(w.grain)*4, f)
}

// listed returns the numbers below n for which f is true, in ascending order.
func (w *waves) listed(n int, f func(v int) bool) []int {
	return parallel.Gather(w.threads, n, int(w.grain)*4, func(lo, hi int, found []int) []int {
		for v := lo; v < hi; v++ {
			if f(v) {
				found = append(found, v)
			}
		}
		return found
	})
}

func (w *waves) pieces(n, grain int, f func(lo, hi int, found []int32) []int32) error {
	return parallel.Range(w.ctx, w.threads, n, max(grain, n/(16*w.threads)), func(worker, lo, hi int) {
		w.found[worker] = f(lo, hi, w.found[worker])
	})
}

// waveStep says which vertices follow a vertex in a wave.
type waveStep struct {
	along *adjacency
	visit func(v int32, row, found []int32) []int32 // appends those in a part of v's row to found

	// pull may be nil; else it may take the place of the visits of a queue with that many edges,
	// and reports whether it did.
	pull func(work int64) (bool, error)
}

// wave expands vertices, and those that follow them, until none is left, by steps without pull or
// by one step. It reports whether it got so far: it gives up after most edges, or when one thread
// alone has expanded more than alone vertices.
func (w *waves) wave(start []int32, alone, most int64, steps ...waveStep) (bool, error) {
	queue := append(w.queue[:0], start...)
	defer func() { w.queue = queue }()
	for edges, expanded := int64(0), int64(0); len(queue) > 0; {
		head := 0
		for pending := w.pending(queue, steps); head < len(queue) && pending < w.narrow; head++ {
			v, tail := queue[head], len(queue)
			for _, s := range steps {
				row := s.along.of(v)
				edges += int64(len(row))
				pending -= int64(len(row))
				queue = s.visit(v, row, queue)
			}
			pending += w.pending(queue[tail:], steps) - 1
			if expanded++; expanded > alone || edges > most {
				return false, nil
			}
			if expanded&0xffff == 0 && w.run.expired() != nil {
				return false, w.run.expired()
			}
		}
		if queue = queue[head:]; len(queue) == 0 {
			break
		}
		for _, s := range steps {
			work := w.weigh(queue, s.along)
			if edges += work; edges > most {
				return false, nil
			}
			pulled, err := false, error(nil)
			if s.pull != nil {
				pulled, err = s.pull(work)
			}
			if !pulled && err == nil {
				err = w.push(queue, work, w.grain, s.along, s.visit)
			}
			if err != nil {
				return false, err
			}
		}
		next := w.gather()
		queue, w.gathered = next, queue
	}
	return true, w.run.expired()
}

// pending counts the vertices and edges of a queue, up to narrow vertices.
func (w *waves) pending(queue []int32, steps []waveStep) int64 {
	count := int64(len(queue))
	if count >= w.narrow {
		return count
	}
	for _, s := range steps {
		for _, v := range queue {
			count += s.along.degree(v)
		}
	}
	return count
}
