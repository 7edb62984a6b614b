package apps

import (
	"context"
	"slices"
	"sort"

	"github.com/hiveblas/hiveblas/internal/parallel"
)

// frontierLoops are the loops of searches on the host whose threads share each frontier. A thread
// appends what it finds to a list of its own.
type frontierLoops struct {
	ctx      context.Context
	threads  int
	found    [][]int32 // by each thread
	gathered []int32
	before   []int64 // edges of the vertices of a queue before each of them
}

func newFrontierLoops(run Run) frontierLoops {
	threads := parallel.Threads(run.Threads)
	return frontierLoops{ctx: run.Context, threads: threads, found: make([][]int32, threads)}
}

// gather returns what the threads have found, in any order, until the next call.
func (l *frontierLoops) gather() []int32 {
	first := make([]int, l.threads+1)
	for w, list := range l.found {
		first[w+1] = first[w] + len(list)
	}
	total, threads := first[l.threads], l.threads
	l.gathered = slices.Grow(l.gathered[:0], total)[:total]
	if total < 1<<14 {
		threads = 1
	}
	_ = parallel.Pieces(nil, threads, l.threads, func(_, w int) {
		copy(l.gathered[first[w]:], l.found[w])
		l.found[w] = l.found[w][:0]
	})
	return l.gathered
}

// weigh counts the edges of the vertices of a queue, and of those before each of them.
func (l *frontierLoops) weigh(queue []int32, along *adjacency) int64 {
	l.before = slices.Grow(l.before[:0], len(queue)+1)[:len(queue)+1]
	l.before[0] = 0
	_ = parallel.Range(nil, l.threads, len(queue), 1<<12, func(_, lo, hi int) {
		for k := lo; k < hi; k++ {
			l.before[k+1] = along.degree(queue[k])
		}
	})
	parallel.Sum(l.threads, l.before)
	return l.before[len(queue)]
}

// push visits the edges of a queue, which weigh has weighed, in pieces of about as many edges,
// grain at least. visit appends what it finds in a part of v's row.
func (l *frontierLoops) push(queue []int32, work, grain int64, along *adjacency, visit func(v int32, row, found []int32) []int32) error {
	grain = max(grain, work/int64(8*l.threads))
	pieces := int((work + grain - 1) / grain)
	return parallel.Pieces(l.ctx, l.threads, pieces, func(w, p int) {
		lo, hi := int64(p)*grain, min(int64(p+1)*grain, work)
		found := l.found[w]
		k := sort.Search(len(queue), func(k int) bool { return l.before[k+1] > lo })
		for ; k < len(queue) && l.before[k] < hi; k++ {
			at := l.before[k]
			if row := along.of(queue[k])[max(lo, at)-at : min(hi, l.before[k+1])-at]; len(row) > 0 {
				found = visit(queue[k], row, found)
			}
		}
		l.found[w] = found
	})
}
