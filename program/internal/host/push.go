package host

import (
	"slices"
	"sort"

	"github.com/hiveblas/hiveblas/internal/parallel"
)

// bandEdges is the number of edges from which a push runs on several threads.
const bandEdges = 1 << 13

// push adds the messages of the frontier to their destinations. Each worker owns a band of
// destinations and walks all sources; the edges of a source in the band are adjacent in memory:
// nothing is written by two threads, and each sum has the order of its sources.
func (e *Engine) push() error {
	front := e.front.listed(e.N)
	bands := []int32{0, int32(e.N)}
	if e.Threads > 1 && e.front.edges >= bandEdges {
		if e.bands == nil {
			e.bands = bandsOf(e.Out.Idx, e.N, e.Threads)
		}
		bands = e.bands
	}
	lists := make([][]int32, len(bands)-1)
	err := parallel.Pieces(e.Ctx, e.Threads, len(bands)-1, func(w, b int) {
		lists[b] = e.workers[w].pushBand(front, bands[b], bands[b+1])
	})
	if err != nil {
		return err
	}
	if e.P.Everywhere {
		if err := e.ranges(func(k *Worker, lo, hi int) { k.applySums(lo, hi) }); err != nil {
			return err
		}
		e.advance()
		return nil
	}
	err = parallel.Pieces(e.Ctx, e.Threads, len(bands)-1, func(w, b int) {
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
	if e.P.Priority {
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
func (k *Worker) pushBand(front []int32, lo, hi int32) (touched []int32) {
	ptr := k.Out.Ptr
	whole := lo == 0 && int(hi) == k.N
	plain := k.Closed == nil && !k.any && k.products(k.Out)
	for _, u := range front {
		first, last := ptr[u], ptr[u+1]
		if !whole && first < last {
			row := k.Out.Idx[first:last]
			skip := sort.Search(len(row), func(i int) bool { return row[i] >= lo })
			n := sort.Search(len(row)-skip, func(i int) bool { return row[skip+i] >= hi })
			first += int64(skip)
			last = first + int64(n)
		}
		if plain && first < last {
			to := k.Out.Idx[first:last]
			k.P.Flipped.ScatterAll(k.sums, k.P.State.At(k.State, int64(u)), to, k.Out.Part(first, last))
			touched = k.touch(to, touched)
			continue
		}
		for p := first; p < last; p += Batch {
			touched = k.pushEdges(u, p, min(p+Batch, last), touched)
		}
	}
	return touched
}

// pushEdges adds the messages along out-edges p … end−1 of u.
func (k *Worker) pushEdges(u int32, p, end int64, touched []int32) []int32 {
	t, to := k.P.Message, k.Out.Idx[p:end]
	if !k.P.Sends {
		to = k.fn.Out(k, u, to, k.Out.Part(p, end))
	} else if k.Closed != nil {
		n := 0
		for _, v := range to {
			k.To[n] = v
			n += int(1 - k.Closed[v])
		}
		to = k.To[:n]
	}
	if len(to) == 0 {
		return touched
	}
	if k.any {
		n, first := 0, len(touched)
		for j, v := range to {
			if k.hit[v] == 0 {
				k.hit[v] = 1
				k.from[n] = int32(j)
				n++
				touched = append(touched, v)
			}
		}
		if fresh := touched[first:]; k.P.Sends {
			t.FillAt(k.sums, fresh, t.One(k.Mail, int64(u)))
		} else {
			t.Move(k.sums, fresh, k.Buf, k.from[:n])
		}
		return touched
	}
	buf := t.Slice(k.Buf, 0, int64(len(to)))
	if k.P.Sends {
		t.Fill(buf, t.One(k.Mail, int64(u)))
	}
	k.sum.Collect(k.sums, to, buf)
	return k.touch(to, touched)
}

// touch marks vertices that have a message, and appends those that had none.
func (k *Worker) touch(to, touched []int32) []int32 {
	n := len(touched)
	touched = slices.Grow(touched, len(to))[:n+len(to)]
	for _, v := range to {
		touched[n] = v
		n += int(1 - k.hit[v])
		k.hit[v] = 1
	}
	return touched[:n]
}

// applyList applies the sums of a list of vertices in lo … hi−1, and empties them. It returns those
// that are active next, in the same memory.
func (k *Worker) applyList(touched []int32, lo, hi int) []int32 {
	if !k.sum.Exact || k.any {
		if len(touched) > (hi-lo)/256 {
			touched = appendMarked(touched[:0], k.hit, lo, hi)
		} else {
			slices.Sort(touched)
		}
	}
	next := touched[:0]
	for len(touched) > 0 {
		part := touched[:min(Batch, len(touched))]
		touched = touched[len(part):]
		active := k.applied(part, k.sums, 0)
		k.empty(part)
		next = append(next, active...)
	}
	return next
}
