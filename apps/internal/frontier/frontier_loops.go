package frontier

import (
	"context"
	"slices"
	"sort"

	"github.com/hiveblas/hiveblas/apps/internal/workflow"
	"github.com/hiveblas/hiveblas/internal/parallel"
)

// FrontierLoops are the loops of searches on the host with threads that share each frontier. A
// thread appends what it finds to a list of its own.
type FrontierLoops struct {
	Ctx      context.Context
	Threads  int
	Found    [][]int32 // by each thread
	Gathered []int32
	Before   []int64 // edges of the vertices of a queue before each of them
}

func NewFrontierLoops(run workflow.Run) FrontierLoops {
	threads := parallel.Threads(run.Threads)
	return FrontierLoops{Ctx: run.Context, Threads: threads, Found: make([][]int32, threads)}
}

// Gather returns what the threads have found, in any order, until the next call.
func (l *FrontierLoops) Gather() []int32 {
	first := make([]int, l.Threads+1)
	for w, list := range l.Found {
		first[w+1] = first[w] + len(list)
	}
	total, threads := first[l.Threads], l.Threads
	l.Gathered = slices.Grow(l.Gathered[:0], total)[:total]
	if total < 1<<14 {
		threads = 1
	}
	_ = parallel.Pieces(nil, threads, l.Threads, func(_, w int) {
		copy(l.Gathered[first[w]:], l.Found[w])
		l.Found[w] = l.Found[w][:0]
	})
	return l.Gathered
}

// Weigh counts the edges of the vertices of a queue, and of the vertices before each.
func (l *FrontierLoops) Weigh(queue []int32, along *workflow.Adjacency) int64 {
	l.Before = slices.Grow(l.Before[:0], len(queue)+1)[:len(queue)+1]
	l.Before[0] = 0
	_ = parallel.Range(nil, l.Threads, len(queue), 1<<12, func(_, lo, hi int) {
		for k := lo; k < hi; k++ {
			l.Before[k+1] = along.Degree(queue[k])
		}
	})
	parallel.Sum(l.Threads, l.Before)
	return l.Before[len(queue)]
}

// Push visits the edges of a queue, which weigh has weighed, in pieces of about as many edges,
// grain at least. visit appends what it finds in a part of v's row.
func (l *FrontierLoops) Push(queue []int32, work, grain int64, along *workflow.Adjacency, visit func(v int32, row, found []int32) []int32) error {
	grain = max(grain, work/int64(8*l.Threads))
	pieces := int((work + grain - 1) / grain)
	return parallel.Pieces(l.Ctx, l.Threads, pieces, func(w, p int) {
		lo, hi := int64(p)*grain, min(int64(p+1)*grain, work)
		found := l.Found[w]
		k := sort.Search(len(queue), func(k int) bool { return l.Before[k+1] > lo })
		for ; k < len(queue) && l.Before[k] < hi; k++ {
			at := l.Before[k]
			if row := along.Of(queue[k])[max(lo, at)-at : min(hi, l.Before[k+1])-at]; len(row) > 0 {
				found = visit(queue[k], row, found)
			}
		}
		l.Found[w] = found
	})
}
