package apps

import (
	"slices"

	"github.com/hiveblas/hiveblas/matrix"
)

// OrderOptions are the settings of ReverseCuthillMcKee.
type OrderOptions struct{ Run }

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
// It runs on the host by one thread, also for a graph elsewhere. O(entries · log of the largest
// degree) time for each of the few searches of a component, O(entries) memory.
func ReverseCuthillMcKee[T comparable](g matrix.Source[T], opts ...OrderOptions) ([]int32, error) {
	const app = "ReverseCuthillMcKee"
	o, err := only(app, opts)
	if err != nil {
		return nil, err
	}
	if err := o.notFused(app); err != nil {
		return nil, err
	}
	a, n, err := begun(app, "order of vertices", g, o.Run)
	if err != nil {
		return nil, err
	}
	if err := a.Fetch(); err != nil {
		return nil, err
	}
	w := &bandWalk{rows: rowsOf(a), cols: rowsOf(a.T()), order: make([]int32, 0, n), level: make([]int32, n), degree: make([]int32, n)}
	for u := range w.degree {
		w.degree[u], w.level[u] = int32(len(w.near(int32(u)))), -1
	}
	for u := range n {
		if w.level[u] >= 0 {
			continue
		}
		if err := o.expired(); err != nil {
			return nil, err
		}
		o.report("order of vertices", int64(len(w.order)), int64(n))
		w.component(int32(u))
	}
	slices.Reverse(w.order)
	o.traced(app, "search", n, int64(len(w.rows.idx)))
	return w.order, nil
}

// bandWalk is a search by levels that keeps its order.
type bandWalk struct {
	rows, cols *adjacency
	degree     []int32
	order      []int32
	level      []int32 // −1 for vertices that no search has reached
	list       []int32
}

// near returns the neighbours of u, ascending. They are valid until the next call.
func (w *bandWalk) near(u int32) []int32 {
	w.list = append(append(w.list[:0], w.rows.of(u)...), w.cols.of(u)...)
	slices.Sort(w.list)
	w.list = slices.Compact(w.list)
	if at, ok := slices.BinarySearch(w.list, u); ok {
		w.list = slices.Delete(w.list, at, at+1)
	}
	return w.list
}

// component appends the component of u. The root moves to a vertex of least degree in the last
// level as long as the search from there is deeper.
func (w *bandWalk) component(u int32) {
	start := len(w.order)
	depth := w.search(u)
	for {
		next := w.order[len(w.order)-1]
		for k := len(w.order) - 1; k >= start && w.level[w.order[k]] == depth; k-- {
			if v := w.order[k]; w.degree[v] <= w.degree[next] {
				next = v
			}
		}
		for _, v := range w.order[start:] {
			w.level[v] = -1
		}
		w.order = w.order[:start]
		deeper := w.search(next)
		if deeper <= depth {
			return
		}
		depth = deeper
	}
}

// search appends what can be reached from u and returns the last level.
func (w *bandWalk) search(u int32) int32 {
	at := len(w.order)
	w.order, w.level[u] = append(w.order, u), 0
	for ; at < len(w.order); at++ {
		v, first := w.order[at], len(w.order)
		for _, x := range w.near(v) {
			if w.level[x] < 0 {
				w.level[x] = w.level[v] + 1
				w.order = append(w.order, x)
			}
		}
		slices.SortStableFunc(w.order[first:], func(x, y int32) int { return int(w.degree[x] - w.degree[y]) })
	}
	return w.level[w.order[len(w.order)-1]]
}
