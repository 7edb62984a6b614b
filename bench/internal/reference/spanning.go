package reference

import (
	"math"
	"slices"
	"sync/atomic"
)

// edge is an undirected edge with its weight.
type edge struct {
	u, v   int32
	weight float32
}

// Spanning returns the weight of the lightest spanning forest of a graph with weights that are not
// negative, and its number of edges: each tree takes its lightest edge to another one, in rounds
// over a list of edges. The lightest edge is the least word of a weight and a place in the list.
// The lightest edges of a sample come first, and the others drop out if they join no trees
// (Dhulipala, Blelloch, Shun: Theoretically efficient parallel graph algorithms can be fast and
// scalable, SPAA 2018).
func Spanning(g Graph, weight []float64, threads int) (total float64, edges int) {
	n := g.Vertices()
	b := &boruvka{threads: threads, tree: make([]int32, n), best: make([]uint64, n)}
	for v := range b.tree {
		b.tree[v] = int32(v)
	}
	var sample []float64
	for k := 0; k < len(weight); k += len(weight)/1000 + 1 {
		sample = append(sample, weight[k])
	}
	slices.Sort(sample)
	pivot := math.Inf(1)
	if most := 3 * n; len(weight)/2 > most {
		pivot = sample[len(sample)*most/(len(weight)/2)]
	}
	b.rounds(b.list(g, func(u, v int32, k int64) (float64, bool) { return weight[k], weight[k] <= pivot }))
	b.rounds(b.list(g, func(u, v int32, k int64) (float64, bool) {
		return weight[k], b.tree[u] != b.tree[v] && weight[k] > pivot
	}))
	return b.total, b.edges
}

type boruvka struct {
	threads int
	tree    []int32
	best    []uint64
	total   float64
	edges   int
}

// list returns the edges that take chooses, each once.
func (b *boruvka) list(g Graph, take func(u, v int32, k int64) (float64, bool)) []edge {
	found := newLocals[edge](b.threads)
	each(b.threads, g.Vertices(), func(w, lo, hi int) {
		list := found[w].list
		for u := int32(lo); u < int32(hi); u++ {
			for k := g.Ptr[u]; k < g.Ptr[u+1]; k++ {
				if v := g.Idx[k]; v > u {
					if x, ok := take(u, v, k); ok {
						list = append(list, edge{u, v, float32(x)})
					}
				}
			}
		}
		found[w].list = list
	})
	return slices.Concat(lists(found)...)
}

func lists[T any](of locals[T]) (all [][]T) {
	for w := range of {
		all = append(all, of[w].list)
	}
	return all
}

// rounds joins trees until no edge of the list does.
func (b *boruvka) rounds(list []edge) {
	for len(list) > 0 {
		each(b.threads, len(b.best), func(_, lo, hi int) {
			for v := lo; v < hi; v++ {
				b.best[v] = math.MaxUint64
			}
		})
		each(b.threads, len(list), func(_, lo, hi int) {
			for k, e := range list[lo:hi] {
				word := uint64(math.Float32bits(e.weight))<<32 | uint64(lo+k)
				for _, t := range [2]int32{b.tree[e.u], b.tree[e.v]} {
					for now := atomic.LoadUint64(&b.best[t]); word < now && !atomic.CompareAndSwapUint64(&b.best[t], now, word); {
						now = atomic.LoadUint64(&b.best[t])
					}
				}
			}
		})
		next := slices.Clone(b.tree)
		for t, word := range b.best {
			if word == math.MaxUint64 {
				continue
			}
			e := list[uint32(word)]
			other := b.tree[e.u] + b.tree[e.v] - int32(t)
			if b.best[other] == word && int32(t) < other {
				continue // other joins t
			}
			next[t] = other
			b.total += float64(e.weight)
			b.edges++
		}
		b.tree = next
		compress(b.tree, b.threads)
		left := newLocals[edge](b.threads)
		each(b.threads, len(list), func(w, lo, hi int) {
			for _, e := range list[lo:hi] {
				if b.tree[e.u] != b.tree[e.v] {
					left[w].list = append(left[w].list, e)
				}
			}
		})
		list = slices.Concat(lists(left)...)
	}
}
