package components

import (
	"slices"
	"sync/atomic"

	"github.com/hiveblas/hiveblas/apps/internal/workflow"
	"github.com/hiveblas/hiveblas/internal/fresh"
	"github.com/hiveblas/hiveblas/internal/parallel"
)

// boruvka finds a forest by all threads. Edges of equal weight and vertices are one edge. (Borůvka
// 1926; in parallel Chung, Condon, IPPS 1996.)
type boruvka struct {
	run     workflow.Run
	threads int
	grain   int     // edges, vertices or trees of a piece, at least
	list    []link  // the edges of a round, all between trees
	tree    []int32 // of each vertex, the number of its tree, which is one of its vertices
	roots   []int32 // the trees
	best    []int64 // of each tree the place of its lightest edge in list, −1 without one
	up      trees   // from each tree to the one that it joins
	edges   []link  // of the forest
}

// forestGrain is the usual least number of edges, vertices or trees of a piece.
const forestGrain = 1 << 12

// lightLinks is the number of edges for each vertex that take part first. The edge that is the
// lightest so far is read at random, from memory if there are more of them than the caches hold.
const lightLinks = 2

// forestByRounds returns the edges of the lightest forest in ascending order. It reorders list. The
// lightest edges come first, then the others between trees.
func forestByRounds(list []link, n int, run workflow.Run, grain int) ([]link, error) {
	b := &boruvka{run: run, threads: parallel.Threads(run.Threads), grain: grain,
		tree: make([]int32, n), roots: make([]int32, n), best: make([]int64, n), up: make(trees, n)}
	b.each(n, func(lo, hi int) {
		for v := lo; v < hi; v++ {
			b.tree[v], b.up[v], b.roots[v] = int32(v), int32(v), int32(v)
		}
	})
	rest, room := list, fresh.Make[link](int64(len(list)))
	for len(rest) > 0 {
		size := len(rest)
		light, heavy := rest, rest[:0]
		if size > 2*lightLinks*n {
			pivot := pivotOf(rest, float64(lightLinks*n)/float64(size))
			count := b.compact(room, rest, func(e link) bool { return e.compare(pivot) <= 0 })
			b.compact(room[count:], rest, func(e link) bool { return e.compare(pivot) > 0 })
			rest, room = room, rest
			light, heavy = rest[:count], rest[count:size]
		}
		if err := b.rounds(light, room); err != nil {
			return nil, err
		}
		rest, room = room[:b.compact(room, heavy, b.joinsTrees)], rest
	}
	parallel.SortStable(b.threads, b.edges, link.compare)
	return b.edges, workflow.Expired(run)
}

// pivotOf returns the edge of a sample below which about a part of the list lies.
func pivotOf(list []link, part float64) link {
	sample := make([]link, min(len(list), 1023))
	for k := range sample {
		sample[k] = list[k*len(list)/len(sample)]
	}
	slices.SortFunc(sample, link.compare)
	return sample[int(part*float64(len(sample)))]
}

// rounds joins trees until no edge of the list is between two. spare has room for the list.
func (b *boruvka) rounds(list, spare []link) error {
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

// joinsTrees reports whether an edge joins two trees.
func (b *boruvka) joinsTrees(e link) bool { return b.tree[e.u] != b.tree[e.v] }

// compact writes the edges of a list for which keep is true to the front of out, in their order,
// and returns their number.
func (b *boruvka) compact(out, list []link, keep func(e link) bool) int {
	pieces := (len(list) + b.grain - 1) / b.grain
	first := make([]int64, pieces+1)
	_ = parallel.Range(nil, b.threads, len(list), b.grain, func(_, lo, hi int) {
		count := int64(0)
		for _, e := range list[lo:hi] {
			if keep(e) {
				count++
			}
		}
		first[lo/b.grain+1] = count
	})
	parallel.Sum(b.threads, first)
	_ = parallel.Range(nil, b.threads, len(list), b.grain, func(_, lo, hi int) {
		at := first[lo/b.grain]
		for _, e := range list[lo:hi] {
			if keep(e) {
				out[at] = e
				at++
			}
		}
	})
	return int(first[pieces])
}
