package components

import (
	"slices"
	"sync/atomic"

	"github.com/hiveblas/hiveblas/apps/internal/workflow"
	"github.com/hiveblas/hiveblas/internal/parallel"
)

// boruvka joins the trees of a forest by all threads. Edges of equal weight and vertices are one
// edge. (Borůvka 1926; in parallel Chung, Condon, IPPS 1996.)
type boruvka struct {
	*forest
	list  []link  // the edges of a round, all between trees
	roots []int32 // the trees
	best  []int64 // of each tree the place of its lightest edge in list, −1 without one
	up    trees   // from each tree to the one that it joins
}

func newBoruvka(f *forest) *boruvka {
	n := len(f.tree)
	b := &boruvka{forest: f, roots: make([]int32, n), best: make([]int64, n), up: make(trees, n)}
	copy(b.roots, f.tree)
	copy(b.up, f.tree)
	return b
}

// rounds adds the edges of a list that join trees, in ascending order: each tree takes its lightest
// edge, until no edge of the list is between two trees. spare has room for the list.
func (b *boruvka) rounds(list, spare []link) error {
	from := len(b.edges)
	for len(list) > 0 {
		if err := workflow.Expired(b.run); err != nil {
			return err
		}
		b.list = list
		b.edges = append(b.edges, b.lightest()...)
		b.join()
		workflow.Report(b.run, "spanning forest", int64(len(b.edges)), int64(len(b.tree)))
		count := b.compact(spare, list, b.joinsTrees)
		list, spare = spare[:count], list
	}
	parallel.SortStable(b.threads, b.edges[from:], link.compare)
	return nil
}

// each calls f for pieces of [0, n).
func (b *boruvka) each(n int, f func(lo, hi int)) {
	_ = parallel.Range(nil, b.threads, n, max(b.grain, n/(16*b.threads)), func(_, lo, hi int) { f(lo, hi) })
}

// lightest chooses the lightest edge of each tree, lets trees join by them, and returns the edges.
// Of two trees with the same edge the one with the lesser number stays.
func (b *boruvka) lightest() []link {
	b.each(len(b.roots), func(lo, hi int) {
		for _, r := range b.roots[lo:hi] {
			b.best[r] = -1
		}
	})
	b.each(len(b.list), func(lo, hi int) {
		for k := lo; k < hi; k++ {
			b.offer(b.tree[b.list[k].u], int64(k))
			b.offer(b.tree[b.list[k].v], int64(k))
		}
	})
	found := make([][]link, b.threads)
	_ = parallel.Range(nil, b.threads, len(b.roots), b.grain, func(w, lo, hi int) {
		for _, r := range b.roots[lo:hi] {
			if b.best[r] < 0 {
				continue
			}
			e := b.list[b.best[r]]
			other := b.tree[e.u] + b.tree[e.v] - r
			if b.list[b.best[other]].compare(e) == 0 && r < other {
				continue // other joins r
			}
			b.up[r] = other
			found[w] = append(found[w], e)
		}
	})
	return slices.Concat(found...)
}

// offer makes the edge at k the lightest of a tree if it is.
func (b *boruvka) offer(tree int32, k int64) {
	best := &b.best[tree]
	for now := atomic.LoadInt64(best); now < 0 || b.list[k].compare(b.list[now]) < 0; now = atomic.LoadInt64(best) {
		if atomic.CompareAndSwapInt64(best, now, k) {
			return
		}
	}
}

// join gives all vertices the trees that theirs have joined.
func (b *boruvka) join() {
	b.each(len(b.roots), func(lo, hi int) {
		for _, r := range b.roots[lo:hi] {
			atomic.StoreInt32(&b.up[r], b.up.root(r))
		}
	})
	b.each(len(b.tree), func(lo, hi int) {
		for v := lo; v < hi; v++ {
			b.tree[v] = b.up[b.tree[v]]
		}
	})
	b.roots = parallel.Gather(b.threads, len(b.roots), b.grain, func(lo, hi int, found []int32) []int32 {
		for _, r := range b.roots[lo:hi] {
			if b.up[r] == r {
				found = append(found, r)
			}
		}
		return found
	})
}
