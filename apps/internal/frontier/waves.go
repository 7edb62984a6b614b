// Package frontier expands sets of vertices along edges on the host, by several threads.
package frontier

import (
	"github.com/hiveblas/hiveblas/apps/internal/workflow"
	"github.com/hiveblas/hiveblas/internal/parallel"
)

// WaveShares says how threads share the work of waves.
type WaveShares struct {
	Narrow int64 // vertices and edges of a queue, below which one thread expands it
	Grain  int64 // least edges of a piece of work
}

// UsualWaveShares are the shares for graphs on the host. Queues of a grid of 1024×1024 are narrow,
// queues of an R-MAT of scale 16 are not.
var UsualWaveShares = WaveShares{Narrow: 1 << 13, Grain: 1 << 9}

// Waves are searches on the host that expand a queue of vertices and their followers, in any order:
// one thread while the queue is narrow, else all.
type Waves struct {
	FrontierLoops
	WaveShares
	Run   workflow.Run
	queue []int32
}

func NewWaves(run workflow.Run, shares WaveShares) Waves {
	return Waves{FrontierLoops: NewFrontierLoops(run), WaveShares: shares, Run: run}
}

// Each calls f for pieces of [0, n). A thread keeps what f appends to found; see gather.
func (w *Waves) Each(n int, f func(lo, hi int, found []int32) []int32) error {
	return w.pieces(n, int(w.Grain)/8, f)
}

// Some is each for less work than a thread is worth for a few items.
func (w *Waves) Some(n int, f func(lo, hi int, found []int32) []int32) error {
	return w.pieces(n, int(w.Grain)*4, f)
}

// Listed returns the numbers below n for which f is true, in ascending order.
func (w *Waves) Listed(n int, f func(v int) bool) []int {
	return parallel.Gather(w.Threads, n, int(w.Grain)*4, func(lo, hi int, found []int) []int {
		for v := lo; v < hi; v++ {
			if f(v) {
				found = append(found, v)
			}
		}
		return found
	})
}

func (w *Waves) pieces(n, grain int, f func(lo, hi int, found []int32) []int32) error {
	return parallel.Range(w.Ctx, w.Threads, n, max(grain, n/(16*w.Threads)), func(worker, lo, hi int) {
		w.Found[worker] = f(lo, hi, w.Found[worker])
	})
}

// WaveStep says which vertices follow a vertex in a wave.
type WaveStep struct {
	Along *workflow.Adjacency
	Visit func(v int32, row, found []int32) []int32 // appends those in a part of v's row to found

	// Pull may be nil; else it may take the place of the visits of a queue with that many edges,
	// and reports whether it did.
	Pull func(work int64) (bool, error)
}

// Wave expands vertices, and their followers, until none is left, by steps without pull or by one
// step. It reports whether it got so far: it gives up after most edges, or when one thread alone
// has expanded more than alone vertices.
func (w *Waves) Wave(start []int32, alone, most int64, steps ...WaveStep) (bool, error) {
	queue := append(w.queue[:0], start...)
	defer func() { w.queue = queue }()
	for edges, expanded := int64(0), int64(0); len(queue) > 0; {
		head := 0
		for pending := w.pending(queue, steps); head < len(queue) && pending < w.Narrow; head++ {
			v, tail := queue[head], len(queue)
			for _, s := range steps {
				row := s.Along.Of(v)
				edges += int64(len(row))
				pending -= int64(len(row))
				queue = s.Visit(v, row, queue)
			}
			pending += w.pending(queue[tail:], steps) - 1
			if expanded++; expanded > alone || edges > most {
				return false, nil
			}
			if expanded&0xffff == 0 && workflow.Expired(w.Run) != nil {
				return false, workflow.Expired(w.Run)
			}
		}
		if queue = queue[head:]; len(queue) == 0 {
			break
		}
		for _, s := range steps {
			work := w.Weigh(queue, s.Along)
			if edges += work; edges > most {
				return false, nil
			}
			pulled, err := false, error(nil)
			if s.Pull != nil {
				pulled, err = s.Pull(work)
			}
			if !pulled && err == nil {
				err = w.Push(queue, work, w.Grain, s.Along, s.Visit)
			}
			if err != nil {
				return false, err
			}
		}
		next := w.Gather()
		queue, w.Gathered = next, queue
	}
	return true, workflow.Expired(w.Run)
}

// pending counts the vertices and edges of a queue, up to narrow vertices.
func (w *Waves) pending(queue []int32, steps []WaveStep) int64 {
	count := int64(len(queue))
	if count >= w.Narrow {
		return count
	}
	for _, s := range steps {
		for _, v := range queue {
			count += s.Along.Degree(v)
		}
	}
	return count
}
