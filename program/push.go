package program

import (
	"slices"
	"sort"

	"github.com/hiveblas/hiveblas/internal/cpu"
	"github.com/hiveblas/hiveblas/internal/parallel"
)

// bandEdges is the number of edges from which a push runs on several threads.
const bandEdges = 1 << 13

// push adds the messages of the frontier to their destinations. Each worker owns a band of
// destinations and walks all sources; the edges of a source in the band are adjacent in memory:
// nothing is written by two threads, and each sum has the order of its sources.
func (e *engine[V, E, M]) push() error {
	front := e.front.listed(e.n)
	bands := []int32{0, int32(e.n)}
	if e.threads > 1 && e.front.edges >= bandEdges {
		if e.bands == nil {
			e.bands = bandsOf(e.out.Idx, e.n, e.threads)
		}
		bands = e.bands
	}
	lists := make([][]int32, len(bands)-1)
	err := parallel.Pieces(e.ctx, e.threads, len(bands)-1, func(w, b int) {
		k := e.workers[w]
		k.room()
		lists[b] = k.pushBand(front, bands[b], bands[b+1])
	})
	if err != nil {
		return err
	}
	if e.p.Everywhere {
		if err := e.vertices(func(k *worker[V, E, M], lo, hi int) { k.applyMarked(lo, hi) }); err != nil {
			return err
		}
		e.advance()
		return nil
	}
	err = parallel.Pieces(e.ctx, e.threads, len(bands)-1, func(w, b int) {
		lists[b] = e.workers[w].applyList(lists[b], int(bands[b]), int(bands[b+1]))
	})
	if err != nil {
		return err
	}
	e.front = frontier{list: slices.Concat(lists...)}
	for _, k := range e.workers {
		e.front.count += k.count
		e.front.edges += k.edges
	}
	if e.p.Priority.Func != nil {
		e.delay()
	}
	return nil
}

// bandsOf divides the destinations into bands of about equal numbers of edges, by a sample.
func bandsOf(idx []int32, n, threads int) []int32 {
	const samples = 1 << 12
	step := max(1, len(idx)/samples)
	sample := make([]int32, 0, samples+1)
	for p := 0; p < len(idx); p += step {
		sample = append(sample, idx[p])
	}
	slices.Sort(sample)
	bands := []int32{0}
	for b := 1; b < threads; b++ {
		if at := sample[len(sample)*b/threads]; at > bands[len(bands)-1] {
			bands = append(bands, at)
		}
	}
	return append(bands, int32(n))
}

// pushBand adds the messages of the frontier to the destinations lo … hi−1. It returns those that
// had none before.
func (k *worker[V, E, M]) pushBand(front []int32, lo, hi int32) (touched []int32) {
	ptr := k.out.Ptr
	whole := lo == 0 && int(hi) == k.n
	plain := k.closed == nil && !k.any && k.products(k.out)
	var flipped *cpu.KernelsOf[V, E, M]
	if plain {
		flipped = cpu.TypedKernels[V, E, M](k.p.Gather.flipped)
	}
	for _, u := range front {
		first, last := ptr[u], ptr[u+1]
		if !whole && first < last {
			row := k.out.Idx[first:last]
			skip := sort.Search(len(row), func(i int) bool { return row[i] >= lo })
			n := sort.Search(len(row)-skip, func(i int) bool { return row[skip+i] >= hi })
			first += int64(skip)
			last = first + int64(n)
		}
		if plain && first < last {
			to := k.out.Idx[first:last]
			flipped.ScatterAll(k.sums, &k.state[u], to, k.weights(k.out, first, last))
			touched = k.touch(to, touched)
			continue
		}
		for p := first; p < last; p += batch {
			touched = k.pushEdges(int(u), p, min(p+batch, last), touched)
		}
	}
	return touched
}

// pushEdges adds the messages along out-edges p … end−1 of u.
func (k *worker[V, E, M]) pushEdges(u int, p, end int64, touched []int32) []int32 {
	to := k.out.Idx[p:end]
	if k.mail == nil {
		to = k.alongEdges(u, p, end)
	} else {
		if k.closed != nil {
			n := 0
			for _, v := range to {
				k.to[n] = v
				n += int(1 - k.closed[v])
			}
			to = k.to[:n]
		}
		m, buf := k.mail[u], k.buf[:len(to)]
		for j := range buf {
			buf[j] = m
		}
	}
	if k.any {
		for j, v := range to {
			if k.hit[v] == 0 {
				k.sums[v], k.hit[v] = k.buf[j], 1
				touched = append(touched, v)
			}
		}
		return touched
	}
	k.sum.Collect(k.sums, to, k.buf[:len(to)])
	return k.touch(to, touched)
}

// touch marks vertices that have a message, and appends those that had none.
func (k *worker[V, E, M]) touch(to, touched []int32) []int32 {
	n := len(touched)
	touched = slices.Grow(touched, len(to))[:n+len(to)]
	for _, v := range to {
		touched[n] = v
		n += int(1 - k.hit[v])
		k.hit[v] = 1
	}
	return touched[:n]
}

// alongEdges puts the messages of Gather along out-edges p … end−1 of u into the buffer, and
// returns their destinations.
func (k *worker[V, E, M]) alongEdges(u int, p, end int64) []int32 {
	src, state := k.state[u], k.state
	list, weights := k.out.Idx[p:end], k.weights(k.out, p, end)
	var weight E
	if weights == nil {
		weight = k.unit()
	}
	f, g, n := k.p.Gather.Func, k.p.Gather.FuncIf, 0
	if f != nil && k.closed == nil && weights != nil {
		for j, v := range list {
			k.buf[j] = f(src, state[v], weights[j])
		}
		return list
	}
	for j, v := range list {
		if k.closed != nil && k.closed[v] != 0 {
			continue
		}
		if weights != nil {
			weight = weights[j]
		}
		ok := true
		if f != nil {
			k.buf[n] = f(src, state[v], weight)
		} else {
			k.buf[n], ok = g(src, state[v], weight)
		}
		k.to[n] = v
		n += int(bit(ok))
	}
	return k.to[:n]
}

// applyList applies the sums of a list of vertices in lo … hi−1, and empties them. It returns those
// that are active next, in the same memory.
func (k *worker[V, E, M]) applyList(touched []int32, lo, hi int) []int32 {
	if !k.sum.Exact || k.any {
		if len(touched) > (hi-lo)/256 {
			touched = appendMarked(touched[:0], k.hit, lo, hi)
		} else {
			slices.Sort(touched)
		}
	}
	next := touched[:0]
	for _, v := range touched {
		if k.apply(int(v), k.sums[v]) {
			next = append(next, v)
		}
		k.sums[v], k.hit[v] = k.sum.Identity[0], 0
	}
	return next
}
