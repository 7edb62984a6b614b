// Package reference has graph algorithms as one writes them by hand: plain loops over the rows of
// an undirected graph, by the methods of the GAP benchmark suite (Beamer, Asanović, Patterson: The
// GAP benchmark suite, arXiv 1508.03619). The benchmarks measure hiveblas beside them.
//
// The functions trust their arguments: an undirected graph with ascending rows, a vertex in range,
// weights that are not negative.
package reference

import (
	"slices"
	"sync/atomic"

	"github.com/hiveblas/hiveblas/internal/parallel"
)

// Graph is an undirected graph by its rows.
type Graph struct {
	Ptr []int64 // of each row, and the end
	Idx []int32 // ascending in a row
}

// Vertices returns the number of vertices.
func (g Graph) Vertices() int { return len(g.Ptr) - 1 }

func (g Graph) row(v int32) []int32 { return g.Idx[g.Ptr[v]:g.Ptr[v+1]] }

func (g Graph) degree(v int32) int64 { return g.Ptr[v+1] - g.Ptr[v] }

// grain is the number of vertices that a thread takes at once.
const grain = 1 << 10

// each calls f for pieces of [0, n).
func each(threads, n int, f func(worker, lo, hi int)) {
	_ = parallel.Range(nil, threads, n, grain, f)
}

// queue is a list to which threads append, a block at a time. What is appended becomes the content
// of the list by slide.
type queue struct {
	all  []int32
	from int
	to   int
	end  atomic.Int64
}

func newQueue(n int) *queue { return &queue{all: make([]int32, n)} }

func (q *queue) list() []int32 { return q.all[q.from:q.to] }

func (q *queue) add(block []int32) {
	copy(q.all[q.end.Add(int64(len(block)))-int64(len(block)):], block)
}

func (q *queue) slide() { q.from, q.to = q.to, int(q.end.Load()) }

// locals are lists of the threads, a cache line apart.
type locals[T any] []struct {
	list []T
	_    [40]byte
}

func newLocals[T any](threads int) locals[T] { return make(locals[T], parallel.Threads(threads)) }

// filled returns n times x.
func filled[T any](n int, x T) []T { return slices.Repeat([]T{x}, n) }

// eachOf is each with pieces of another size.
func eachOf(threads, n, piece int, f func(worker, lo, hi int)) {
	_ = parallel.Range(nil, threads, n, piece, f)
}
