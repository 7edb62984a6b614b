package order

import (
	"math"
	"slices"
	"sync/atomic"

	"github.com/hiveblas/hiveblas/apps/internal/workflow"
	"github.com/hiveblas/hiveblas/internal/fresh"
	"github.com/hiveblas/hiveblas/internal/parallel"
	"github.com/hiveblas/hiveblas/matrix"
)

// OrderOptions are the settings of ReverseCuthillMcKee.
type OrderOptions struct{ workflow.Run }

// ReverseCuthillMcKee returns an order of the vertices in which neighbours stand near each other:
// element k is the vertex at position k, so that ops.Extract by it for rows and columns makes the
// band of the matrix narrow. Blocks of such an order have few neighbours outside, if the graph is a
// road network or a mesh. Edges count in both directions, self-loops and values not at all.
//
// A component is searched by levels, the neighbours of a vertex by ascending degrees, from a vertex
// that is far from others (George and Liu, "An implementation of a pseudoperipheral node finder",
// TOMS 1979). Components follow by their least vertices, and the whole order is reversed (Cuthill
// and McKee, ACM 1969; George and Liu, 1981).
//
// It runs on the host, also for a graph elsewhere, by all threads: the order is the same for every
// number of them. O(entries + vertices · log of the largest degree) time for each of the few
// searches of a component, O(entries) memory.
func ReverseCuthillMcKee[T comparable](g matrix.Source[T], opts ...OrderOptions) ([]int32, error) {
	return reverseCuthillMcKee(g, opts)
}

// reverseCuthillMcKee is ReverseCuthillMcKee of a graph with values of any type.
func reverseCuthillMcKee(g workflow.Operand, opts []OrderOptions) ([]int32, error) {
	const app = "ReverseCuthillMcKee"
	o, err := workflow.OnlyPipeline(app, opts)
	if err != nil {
		return nil, err
	}
	a, n, _, err := workflow.Begun(app, "order of vertices", g, o.Run)
	if err != nil {
		return nil, err
	}
	if err := a.Fetch(); err != nil {
		return nil, err
	}
	threads := parallel.Threads(o.Threads)
	w := &bandWalk{run: o.Run, threads: threads, near: eitherWay(workflow.RowsOf(a), workflow.RowsOf(a.T()), threads), order: make([]int32, 0, n),
		level: fresh.Make[int32](int64(n)), claim: fresh.Make[int32](int64(n))}
	_ = parallel.Range(nil, threads, n, workflow.RowGrain, func(_, lo, hi int) {
		for u := lo; u < hi; u++ {
			w.level[u], w.claim[u] = -1, math.MaxInt32
		}
	})
	for u := range n {
		if w.level[u] >= 0 {
			continue
		}
		if w.near.Degree(int32(u)) == 0 { // a component by itself
			w.order, w.level[u] = append(w.order, int32(u)), 0
			continue
		}
		if w.expired(); w.err != nil {
			return nil, w.err
		}
		workflow.Report(o.Run, "order of vertices", int64(len(w.order)), int64(n))
		w.component(int32(u))
	}
	if w.err != nil {
		return nil, w.err
	}
	slices.Reverse(w.order)
	workflow.Traced(o.Run, app, "search", n, int64(len(w.near.Idx)))
	return w.order, nil
}

// eitherWay returns the neighbours of each vertex by rows or columns, ascending, without itself.
func eitherWay(rows, cols *workflow.Adjacency, threads int) *workflow.Adjacency {
	n := rows.N
	a := &workflow.Adjacency{N: n, Ptr: make([]int64, n+1)}
	each := func(f func(v int32)) {
		cuts := parallel.CutAt(threads, n, 8*threads, func(i int) int64 { return rows.Ptr[i] + cols.Ptr[i] + int64(i) })
		_ = parallel.Pieces(nil, threads, len(cuts)-1, func(_, piece int) {
			for v := cuts[piece]; v < cuts[piece+1]; v++ {
				f(int32(v))
			}
		})
	}
	merge := func(v int32, to []int32) (count int64) { // to may be nil
		x, y := rows.Of(v), cols.Of(v)
		for len(x) > 0 || len(y) > 0 {
			var u int32
			switch {
			case len(y) == 0 || len(x) > 0 && x[0] < y[0]:
				u, x = x[0], x[1:]
			case len(x) == 0 || y[0] < x[0]:
				u, y = y[0], y[1:]
			default:
				u, x, y = x[0], x[1:], y[1:]
			}
			if u == v {
				continue
			}
			if to != nil {
				to[count] = u
			}
			count++
		}
		return count
	}
	each(func(v int32) { a.Ptr[v+1] = merge(v, nil) })
	parallel.Sum(threads, a.Ptr)
	a.Idx = fresh.Make[int32](a.Ptr[n])
	each(func(v int32) {
		if to := a.Of(v); len(to) > 0 {
			merge(v, to)
		}
	})
	return a
}

// bandWalk is a search by levels that keeps its order.
type bandWalk struct {
	run     workflow.Run
	threads int
	near    *workflow.Adjacency
	order   []int32
	level   []int32 // −1 for vertices that no search has reached
	claim   []int32 // the least position of a neighbour in the level before; MaxInt32 outside of a step
	keys    []uint64
	before  []int64 // scratch of wide
	err     error   // of the context, which ends all searches
}

// expired keeps the error of the context.
func (w *bandWalk) expired() {
	if w.err == nil {
		w.err = workflow.Expired(w.run)
	}
}

// component appends the component of u. The root moves to a vertex of least degree in the last
// level as long as the search from there is deeper.
func (w *bandWalk) component(u int32) {
	start := len(w.order)
	depth := w.search(u)
	for {
		next := w.order[len(w.order)-1]
		for k := len(w.order) - 1; k >= start && w.level[w.order[k]] == depth; k-- {
			if v := w.order[k]; w.near.Degree(v) <= w.near.Degree(next) {
				next = v
			}
		}
		reached := w.order[start:]
		_ = parallel.Range(nil, w.threads, len(reached), workflow.RowGrain, func(_, lo, hi int) {
			for _, v := range reached[lo:hi] {
				w.level[v] = -1
			}
		})
		w.order = w.order[:start]
		deeper := w.search(next)
		if deeper <= depth || w.err != nil {
			return
		}
		depth = deeper
	}
}

// Threads share a level of bandWide neighbours or more, if there are at least bandThreads threads:
// wide reads the neighbours twice (R-MAT 18 on a Xeon: 145 ms on one thread, 170 on two, 53 on 16).
const (
	bandWide    = 1 << 14
	bandThreads = 3
)

// search appends what can be reached from u and returns the last level.
func (w *bandWalk) search(u int32) int32 {
	from := len(w.order)
	w.order, w.level[u] = append(w.order, u), 0
	depth := int32(0)
	for to := from + 1; from < to; from, to = to, len(w.order) {
		if w.expired(); w.err != nil {
			break
		}
		depth = w.level[w.order[from]]
		if w.threads >= bandThreads && w.wide(from, to) {
			continue
		}
		for at := from; at < to; at++ {
			first := len(w.order)
			for _, x := range w.near.Of(w.order[at]) {
				if w.level[x] < 0 {
					w.level[x] = depth + 1
					w.order = append(w.order, x)
				}
			}
			w.keys = w.byDegree(w.order[first:], w.keys)
		}
	}
	return depth
}

// byDegree sorts vertices by degree and number. It returns scratch.
func (w *bandWalk) byDegree(list []int32, keys []uint64) []uint64 {
	keys = keys[:0]
	for _, x := range list {
		keys = append(keys, uint64(w.near.Degree(x))<<32|uint64(x))
	}
	slices.Sort(keys)
	for k, key := range keys {
		list[k] = int32(uint32(key))
	}
	return keys
}

// wide appends the level after the level at positions from … to−1, by threads: a vertex follows the
// first of its neighbours, as if these were searched one after another (the order of Azad,
// Jacquelin, Buluç and Ng, "The reverse Cuthill-McKee algorithm in distributed-memory", IPDPS
// 2017). It reports false, and appends nothing, if they have too few neighbours.
func (w *bandWalk) wide(from, to int) bool {
	depth, level := w.level[w.order[from]], w.order[from:to]
	w.before = slices.Grow(w.before[:0], len(level)+1)[:len(level)+1]
	before := w.before
	before[0] = 0
	_ = parallel.Range(nil, w.threads, len(level), workflow.RowGrain, func(_, lo, hi int) {
		for k := lo; k < hi; k++ {
			before[k+1] = w.near.Degree(level[k]) + 1
		}
	})
	parallel.Sum(w.threads, before)
	if before[len(level)] < bandWide {
		return false
	}
	cuts := parallel.Cut(w.threads, before, 8*w.threads, 0)
	pieces := len(cuts) - 1
	_ = parallel.Pieces(nil, w.threads, pieces, func(_, piece int) {
		for k := cuts[piece]; k < cuts[piece+1]; k++ {
			for _, x := range w.near.Of(level[k]) {
				if w.level[x] >= 0 {
					continue
				}
				for at := &w.claim[x]; ; {
					least := atomic.LoadInt32(at)
					if least <= int32(k) || atomic.CompareAndSwapInt32(at, least, int32(k)) {
						break
					}
				}
			}
		}
	})
	found, keys := make([][]int32, pieces), make([][]uint64, w.threads)
	_ = parallel.Pieces(nil, w.threads, pieces, func(worker, piece int) {
		var list []int32
		for k := cuts[piece]; k < cuts[piece+1]; k++ {
			first := len(list)
			for _, x := range w.near.Of(level[k]) {
				if w.claim[x] == int32(k) { // only vertices without a level are claimed
					list = append(list, x)
				}
			}
			keys[worker] = w.byDegree(list[first:], keys[worker])
		}
		found[piece] = list
	})
	at := make([]int, pieces+1)
	for p, list := range found {
		at[p+1] = at[p] + len(list)
	}
	w.order = slices.Grow(w.order, at[pieces])[:to+at[pieces]]
	_ = parallel.Pieces(nil, w.threads, pieces, func(_, piece int) {
		copy(w.order[to+at[piece]:], found[piece])
		for _, x := range found[piece] {
			w.level[x], w.claim[x] = depth+1, math.MaxInt32
		}
	})
	return true
}
