package cpu

import (
	"math/bits"
	"reflect"
	"sync/atomic"

	"github.com/hiveblas/hiveblas/internal/fresh"
	"github.com/hiveblas/hiveblas/internal/parallel"
	"github.com/hiveblas/hiveblas/internal/sparse"
	"github.com/hiveblas/hiveblas/internal/stream"
)

// Method is an algorithm for the product of two sparse matrices.
type Method uint8

// The methods. All give the same result up to the order of summation, which is fixed for each
// method.
const (
	Auto   Method = iota // chosen by the number of products of each row
	SPA                  // dense accumulator and bitmap, row by row
	Sorted               // list the products of a row, sort, add
	Hash                 // hash table per row
)

// MaxAccumulator is the largest number of columns for which a thread gets a dense accumulator.
const MaxAccumulator = 1 << 26

// MxM computes a·b over s, with a and b listed (CSR or hypersparse), in two passes: the first
// counts the entries of each row, so that the second writes to an exact allocation. A mask that is
// not complemented needs no count: its rows bound the rows of the result. ran is the method that
// adds most of the products.
func MxM(env Env, s *Semiring, c *sparse.Type, a, b *sparse.Store, mask *Mask, method Method) (_ *sparse.Store, ran Method, _ error) {
	s = guardSemiring(env, s, c, a.Type, b.Type)
	g := &gustavson{s: s, c: c, a: a, b: b, mask: mask.list(), method: method}
	vecs, threads := a.Vecs(), parallel.Threads(env.Threads)
	bounds, threads, err := g.measure(env, threads)
	if err != nil {
		return nil, Auto, err
	}
	out := &sparse.Store{Structure: sparse.Structure{NRows: a.NRows, NCols: b.NCols, Format: a.Format, RowIDs: a.RowIDs}, Type: c}
	out.Ptr = make([]int64, vecs+1)
	g.out = out
	workers := make([]*worker, min(threads, len(bounds)-1)+1)
	bounded := g.mask != nil && !g.mask.Comp
	if bounded {
		_ = parallel.Range(nil, threads, vecs, 1<<14, func(_, from, to int) {
			for k := from; k < to; k++ {
				lo, hi := g.mask.S.Span(a.RowID(k))
				out.Ptr[k+1] = min(hi-lo, g.work[k+1]-g.work[k])
			}
		})
	} else {
		// Dense rows are likely.
		if g.mask == nil && !s.ScatterOnly && g.work[vecs] >= 64*int64(vecs) {
			g.found = make([]rowMarks, vecs)
		}
		if err := g.counts(env, threads, bounds, workers, out.Ptr[1:]); err != nil {
			return nil, Auto, err
		}
	}
	parallel.Sum(threads, out.Ptr)
	if err := roomFor("the entries of the product", out.Ptr[vecs], 4+c.Size); err != nil {
		return nil, Auto, err
	}
	out.Idx = fresh.Make[int32](out.Ptr[vecs])
	out.Val = c.Make(out.Ptr[vecs])
	g.past = large(c, int(out.Ptr[vecs]))
	lens := make([]int64, vecs)
	err = parallel.Pieces(env.Ctx, threads, len(bounds)-1, func(w, p int) {
		g.worker(workers, w)
		for k := bounds[p]; k < bounds[p+1]; k++ {
			lens[k] = g.row(workers[w], k)
		}
		if g.past {
			stream.Fence()
		}
	})
	if err != nil {
		return nil, Auto, err
	}
	releaseWorkers(c, workers)
	if bounded {
		compact(threads, out, lens)
	}
	out.NVals = int64(len(out.Idx))
	if out.Format == sparse.Hypersparse {
		dropEmptyRows(out)
	}
	return out.Settle(), g.dominant(), nil
}

// MxMSizes returns the number of entries of each stored row of a·b, which is the first pass of MxM.
func MxMSizes(env Env, a, b *sparse.Structure) ([]int64, error) {
	bytes := sparse.OfKind(reflect.Uint8)
	g := &gustavson{s: &Semiring{Identity: bytes.Zero}, c: bytes, a: a.Pattern(), b: b.Pattern()}
	threads := parallel.Threads(env.Threads)
	bounds, threads, err := g.measure(env, threads)
	if err != nil {
		return nil, err
	}
	g.out = &sparse.Store{Structure: sparse.Structure{NRows: a.NRows, NCols: b.NCols}, Type: bytes}
	workers := make([]*worker, min(threads, len(bounds)-1)+1)
	sizes := make([]int64, a.Vecs())
	if err = g.counts(env, threads, bounds, workers, sizes); err == nil {
		releaseWorkers(bytes, workers)
	}
	return sizes, err
}

// ProductLengths returns the number of products of each stored row of a·b, and their sum.
func ProductLengths(env Env, a, b *sparse.Structure) (lengths []int64, total int64, err error) {
	lengths = make([]int64, a.Vecs())
	var sum atomic.Int64
	err = a.RowBlocks(env.Ctx, parallel.Threads(env.Threads), func(_, lo, hi int) {
		block := int64(0)
		for k := lo; k < hi; k++ {
			n := int64(0)
			for _, c := range a.Idx[a.Ptr[k]:a.Ptr[k+1]] {
				from, to := b.Span(int(c))
				n += to - from
			}
			lengths[k] = n
			block += n
		}
		sum.Add(block)
	})
	return lengths, sum.Load(), err
}

// productGrain is the number of products, and of rows, from which a further thread takes part:
// waking a thread for a product of 10×10 costs more than the product (2026-11-27-cpu-2core-mend).
const productGrain = 1 << 12

// measure counts the products of each row and cuts the rows into pieces of about equal numbers of
// products. It returns how many of the threads they are worth.
func (g *gustavson) measure(env Env, threads int) (bounds []int, share int, err error) {
	a, b := g.a, g.b
	vecs := a.Vecs()
	g.work = make([]int64, vecs+1)
	err = a.RowBlocks(env.Ctx, threads, func(_, lo, hi int) {
		for k := lo; k < hi; k++ {
			var f int64
			for _, c := range a.Idx[a.Ptr[k]:a.Ptr[k+1]] {
				blo, bhi := b.Span(int(c))
				f += bhi - blo
			}
			g.work[k+1] = f
		}
	})
	if err != nil {
		return nil, 0, err
	}
	parallel.Sum(threads, g.work)
	work := g.work[vecs] + int64(vecs)
	share = parallel.Share(threads, work, productGrain)
	return parallel.Cut(threads, g.work, int(min(int64(share*32), work/128+1)), 8), share, nil
}

// counts sets sizes to the number of entries of each row of the result.
func (g *gustavson) counts(env Env, threads int, bounds []int, workers []*worker, sizes []int64) error {
	if g.b.Format == sparse.CSR && g.work[len(g.work)-1] >= bitsReuse*g.b.NVals {
		g.bits = bitsOf(threads, &g.b.Structure)
	}
	return parallel.Pieces(env.Ctx, threads, len(bounds)-1, func(w, p int) {
		g.worker(workers, w)
		for k := bounds[p]; k < bounds[p+1]; k++ {
			sizes[k] = g.count(workers[w], k)
		}
	})
}

// dominant returns the method that adds most of the products.
func (g *gustavson) dominant() Method {
	if g.method != Auto {
		return g.method
	}
	var by [Hash + 1]int64
	for k := range len(g.work) - 1 {
		f := g.work[k+1] - g.work[k]
		by[g.pick(f)] += f
	}
	best := SPA
	for m, f := range by {
		if f > by[best] {
			best = Method(m)
		}
	}
	return best
}

// compact closes the gaps after rows that are shorter than their allocation: within the arrays on
// one thread, by a copy on more.
func compact(threads int, s *sparse.Store, lens []int64) {
	ptr := make([]int64, len(lens)+1)
	copy(ptr[1:], lens)
	parallel.Sum(threads, ptr)
	total := ptr[len(lens)]
	s.NVals = total
	if total == int64(len(s.Idx)) {
		return
	}
	t, idx, val := s.Type, s.Idx, s.Val
	threads = parallel.Share(threads, total, 1<<15)
	if threads > 1 {
		idx, val = fresh.Make[int32](total), t.Make(total)
	}
	_ = s.RowBlocks(nil, threads, func(_, lo, hi int) {
		for k := lo; k < hi; k++ {
			from, q, n := s.Ptr[k], ptr[k], lens[k]
			copy(idx[q:q+n], s.Idx[from:from+n])
			t.Copy(t.Slice(val, q, q+n), s.Part(from, from+n))
		}
	})
	if threads == 1 {
		t.Clear(t.Slice(val, total, int64(val.Len())))
	}
	s.Ptr, s.Idx, s.Val = ptr, idx[:total], t.Slice(val, 0, total)
}

// dropEmptyRows restores the invariant that every hypersparse row has entries. It replaces RowIDs
// instead of writing to it, because RowIDs may be shared.
func dropEmptyRows(s *sparse.Store) {
	ids := make([]int32, 0, len(s.RowIDs))
	ptr := make([]int64, 1, len(s.Ptr))
	for k, r := range s.RowIDs {
		if s.Ptr[k] < s.Ptr[k+1] {
			ids = append(ids, r)
			ptr = append(ptr, s.Ptr[k+1])
		}
	}
	s.RowIDs, s.Ptr = ids, ptr
}

// keepDensity is the number of entries for each word of marks from which a row keeps its marks for
// the second pass. They take a sixth of the memory of its entries, or less.
const keepDensity = 4

// gustavson is one product by Gustavson's algorithm, row by row: row i of the result is the sum of
// the rows k of b over the entries (i, k) of a.
type gustavson struct {
	s      *Semiring
	c      *sparse.Type // of the result
	a, b   *sparse.Store
	mask   *Mask
	method Method
	work   []int64  // prefix sums of the products of each row
	bits   *rowBits // of b, or nil
	// found holds the marks of the dense rows of the result, from the first pass. It is nil if the
	// second pass cannot use them.
	found []rowMarks
	past  bool // the rows that found has are stored past the caches
	out   *sparse.Store
}

// worker is the scratch memory of one thread.
type worker struct {
	spa   *spa
	state []uint8 // for masks: 1 allowed, 2 allowed and hit; 0 between rows
	list  list
	hash  table
	room  []uint64 // for marks
	from  []int32
}

func (g *gustavson) worker(all []*worker, w int) {
	if all[w] == nil {
		if all[w], _ = g.c.Kept(useWorker).(*worker); all[w] == nil {
			all[w] = &worker{}
		}
	}
}

// releaseWorkers keeps the memory of workers with complete rows for other products.
func releaseWorkers(c *sparse.Type, workers []*worker) {
	for _, w := range workers {
		if w == nil {
			continue
		}
		if w.spa != nil {
			w.spa.release()
		}
		w.spa, w.room = nil, nil
		c.Keep(useWorker, w)
	}
}

// pick chooses the method for a row of f products. Sorting costs about f·log f; the accumulator
// costs a scan of the words of the bitmap between the first and last column of the row.
func (g *gustavson) pick(f int64) Method {
	width := int64(g.b.NCols)
	switch {
	case g.method == SPA && width <= MaxAccumulator, g.method == Sorted, g.method == Hash:
		return g.method
	case f <= 16 || f < 1<<30 && f*int64(bits.Len64(uint64(f)))*256 < width:
		return Sorted
	case width > MaxAccumulator:
		return Hash
	}
	return SPA
}

func (g *gustavson) accumulator(w *worker) *spa {
	if w.spa == nil {
		w.spa = getSPA(g.c, g.b.NCols, g.s.Identity)
	}
	return w.spa
}

// span returns the range of row c of b.
func (g *gustavson) span(c int32) (lo, hi int64) {
	if g.b.Format == sparse.CSR {
		return g.b.Ptr[c], g.b.Ptr[c+1]
	}
	return g.b.Span(int(c))
}

// count returns the number of entries of row k of the result (unmasked or under a complemented
// mask).
func (g *gustavson) count(w *worker, k int) int64 {
	f := g.work[k+1] - g.work[k]
	if f == 0 {
		return 0
	}
	cols := g.a.Idx[g.a.Ptr[k]:g.a.Ptr[k+1]]
	var forbidden []int32
	if g.mask != nil {
		forbidden = g.mask.row(g.a.RowID(k))
	}
	if len(cols) == 1 && len(forbidden) == 0 {
		return f
	}
	switch g.pick(f) {
	case Sorted:
		l := &w.list
		l.reset()
		for _, c := range cols {
			lo, hi := g.span(c)
			for _, j := range g.b.Idx[lo:hi] {
				l.keys = append(l.keys, uint64(j)<<32)
			}
		}
		return l.count(forbidden)
	case Hash:
		t := &w.hash
		t.reset(f)
		for _, c := range cols {
			lo, hi := g.span(c)
			t.insert(g.b.Idx[lo:hi])
		}
		n := int64(len(t.cols))
		for _, j := range forbidden {
			if t.has(j) {
				n--
			}
		}
		return n
	}
	sp := g.accumulator(w)
	wlo, whi := g.markRows(sp, cols)
	for _, j := range forbidden {
		sp.marks[j>>6] &^= 1 << (j & 63)
	}
	var n int64
	marks := sp.marks[wlo:whi]
	for _, word := range marks {
		n += int64(bits.OnesCount64(word))
	}
	if g.found != nil && n >= keepDensity*int64(len(marks)) {
		g.found[k] = w.keep(wlo, marks)
	}
	clear(marks)
	return n
}

// rowMarks are the marks of a row, from the word first on; there are none if it is not kept.
type rowMarks struct {
	first int
	words []uint64
}

// keep returns a copy of the marks of a row.
func (w *worker) keep(first int, marks []uint64) rowMarks {
	const chunk = 1 << 16
	n := len(marks)
	if len(w.room) < n {
		w.room = fresh.Make[uint64](int64(max(n, chunk)))
	}
	kept := w.room[:n:n]
	w.room = w.room[n:]
	copy(kept, marks)
	return rowMarks{first, kept}
}

// markRows sets the bits of the columns of the given rows of b and returns the range of words that
// contains them.
func (g *gustavson) markRows(sp *spa, cols []int32) (wlo, whi int) {
	wlo, whi = len(sp.marks), 0
	marks := sp.marks
	for _, c := range cols {
		lo, hi := g.span(c)
		if lo == hi {
			continue
		}
		ci := g.b.Idx[lo:hi]
		first := int(ci[0] >> 6)
		wlo, whi = min(wlo, first), max(whi, int(ci[len(ci)-1]>>6)+1)
		if words := g.bits.of(c); len(words) > 0 {
			or(marks[first:], words)
			continue
		}
		for _, j := range ci {
			marks[j>>6] |= 1 << (j & 63)
		}
	}
	return min(wlo, whi), whi
}

// row computes row k of the result in its allocated range and returns its length.
func (g *gustavson) row(w *worker, k int) int64 {
	f := g.work[k+1] - g.work[k]
	if f == 0 {
		return 0
	}
	i := g.a.RowID(k)
	alo, ahi := g.a.Ptr[k], g.a.Ptr[k+1]
	room := g.out.Ptr[k+1] - g.out.Ptr[k]
	idx := g.out.Idx[g.out.Ptr[k]:g.out.Ptr[k+1]]
	val := g.out.Part(g.out.Ptr[k], g.out.Ptr[k+1])
	if room == 0 {
		return 0
	}
	var allowed, forbidden []int32
	if g.mask != nil {
		if g.mask.Comp {
			forbidden = g.mask.row(i)
		} else {
			allowed = g.mask.row(i)
		}
	}
	method := g.pick(f)
	if allowed != nil && method == SPA {
		return g.rowMasked(w, alo, ahi, allowed, idx, val)
	}
	switch method {
	case Sorted:
		g.listRow(w, alo, ahi)
		return g.keep(w, idx, val, allowed, forbidden)
	case Hash:
		g.hashRow(w, alo, ahi, f)
		return g.keep(w, idx, val, allowed, forbidden)
	}
	return g.accumulatedRow(w, k, forbidden, idx, val)
}

// listRow leaves the sums of products of a row in w.list, by sorting.
func (g *gustavson) listRow(w *worker, alo, ahi int64) {
	l := &w.list
	l.reset()
	for p := alo; p < ahi; p++ {
		lo, hi := g.span(g.a.Idx[p])
		appendProducts(l, g.s, g.c, g.at(p), g.b, lo, hi)
	}
	l.sum(g.s, g.c)
}

// hashRow leaves the sums of f products of a row in w.list, by a hash table.
func (g *gustavson) hashRow(w *worker, alo, ahi, f int64) {
	t := &w.hash
	t.reset(f)
	for p := alo; p < ahi; p++ {
		lo, hi := g.span(g.a.Idx[p])
		t.insert(g.b.Idx[lo:hi])
		t.fill(g.c, g.s.Identity)
		g.s.ScatterAll(t.acc, g.at(p), t.slots, g.b.Part(lo, hi))
	}
	l := &w.list
	t.sorted(g.c, l)
}

// accumulatedRow is row by the sparse accumulator.
func (g *gustavson) accumulatedRow(w *worker, k int, forbidden []int32, idx []int32, val Values) int64 {
	alo, ahi := g.a.Ptr[k], g.a.Ptr[k+1]
	sp := g.accumulator(w)
	if g.found != nil && g.found[k].words != nil {
		for p := alo; p < ahi; p++ {
			lo, hi := g.span(g.a.Idx[p])
			g.s.ScatterAll(sp.acc, g.at(p), g.b.Idx[lo:hi], g.b.Part(lo, hi))
		}
		if g.past {
			return sp.gatherPast(g.found[k].first, g.found[k].words, idx, val)
		}
		return sp.gather(g.found[k].first, g.found[k].words, idx, val)
	}
	wlo, whi := len(sp.marks), 0
	for p := alo; p < ahi; p++ {
		lo, hi := g.span(g.a.Idx[p])
		if lo == hi {
			continue
		}
		ci := g.b.Idx[lo:hi]
		first := int(ci[0] >> 6)
		wlo, whi = min(wlo, first), max(whi, int(ci[len(ci)-1]>>6)+1)
		if words := g.bits.of(g.a.Idx[p]); len(words) > 0 && !g.s.ScatterOnly {
			or(sp.marks[first:], words)
			g.s.ScatterAll(sp.acc, g.at(p), ci, g.b.Part(lo, hi))
			continue
		}
		g.s.Scatter(sp.acc, sp.marks, g.at(p), ci, g.b.Part(lo, hi))
	}
	for _, j := range forbidden {
		if bit := uint64(1) << (j & 63); sp.marks[j>>6]&bit != 0 {
			sp.marks[j>>6] &^= bit
			g.c.Fill(g.c.One(sp.acc, int64(j)), sp.id)
		}
	}
	marks := sp.marks[min(wlo, whi):whi]
	n := sp.gather(min(wlo, whi), marks, idx, val)
	clear(marks)
	return n
}

// at returns the address of the value of entry p of a, nil of a pattern.
func (g *gustavson) at(p int64) Value { return g.a.Type.At(g.a.Val, p) }

// gather writes the positions marked in the words from wlo on, ascending, and their sums to idx and
// val, and resets the sums in the accumulator.
func (s *spa) gather(wlo int, marks []uint64, idx []int32, val Values) int64 {
	switch s.t.Class {
	case sparse.Bytes1:
		return gatherMarked[sparse.E1](s, wlo, marks, idx, val)
	case sparse.Bytes2:
		return gatherMarked[sparse.E2](s, wlo, marks, idx, val)
	case sparse.Bytes4:
		return gatherMarked[sparse.E4](s, wlo, marks, idx, val)
	case sparse.Bytes8:
		return gatherMarked[sparse.E8](s, wlo, marks, idx, val)
	case sparse.Bytes16:
		return gatherMarked[sparse.E16](s, wlo, marks, idx, val)
	}
	n := listMarked(wlo, marks, idx)
	s.t.Move(val, nil, s.acc, idx[:n])
	s.t.FillAt(s.acc, idx[:n], s.id)
	return int64(n)
}

// listMarked writes the positions marked in the words from wlo on, ascending, to idx.
func listMarked(wlo int, marks []uint64, idx []int32) int {
	q := 0
	for w, word := range marks {
		base := (wlo + w) << 6
		for ; word != 0; word &= word - 1 {
			idx[q] = int32(base + bits.TrailingZeros64(word))
			q++
		}
	}
	return q
}

func gatherMarked[E sparse.Sized](s *spa, wlo int, marks []uint64, idx []int32, values Values) int64 {
	acc, id := sparse.SliceOf[E](s.acc), sparse.SliceOf[E](s.id)[0]
	val := sparse.SliceOf[E](values)[:len(idx)]
	q := 0
	for w, word := range marks {
		base := (wlo + w) << 6
		for ; word != 0; word &= word - 1 {
			j := base + bits.TrailingZeros64(word)
			idx[q] = int32(j)
			val[q] = acc[j]
			acc[j] = id
			q++
		}
	}
	return int64(q)
}

// gatherPast is gather for a result that is stored past the caches. S·S of R-MAT 14, 490 MB, on 32
// threads of an Intel Xeon, four runs of each by turns: gather .28, .28, .25 and .28 of the time of
// SuiteSparse:GraphBLAS in the same run, gatherPast .23, .24, .24 and .25. On two threads of an AMD
// EPYC they take the same time.
func (s *spa) gatherPast(wlo int, marks []uint64, idx []int32, val Values) int64 {
	switch s.t.Class {
	case sparse.Bytes1:
		return gatherStreamed[sparse.E1](s, wlo, marks, idx, val)
	case sparse.Bytes2:
		return gatherStreamed[sparse.E2](s, wlo, marks, idx, val)
	case sparse.Bytes4:
		return gatherStreamed[sparse.E4](s, wlo, marks, idx, val)
	case sparse.Bytes8:
		return gatherStreamed[sparse.E8](s, wlo, marks, idx, val)
	case sparse.Bytes16:
		return gatherStreamed[sparse.E16](s, wlo, marks, idx, val)
	}
	return s.gather(wlo, marks, idx, val)
}

func gatherStreamed[E sparse.Sized](s *spa, wlo int, marks []uint64, idx []int32, values Values) int64 {
	const room = 512
	var cols [room]int32
	var sums [room]E
	acc, id, val := sparse.SliceOf[E](s.acc), sparse.SliceOf[E](s.id)[0], sparse.SliceOf[E](values)
	n, q := 0, 0 // stored, and not yet
	for w, word := range marks {
		base := (wlo + w) << 6
		for ; word != 0; word &= word - 1 {
			j := base + bits.TrailingZeros64(word)
			cols[q&(room-1)], sums[q&(room-1)] = int32(j), acc[j]
			acc[j] = id
			q++
		}
		if q > room-64 {
			stream.Copy(idx[n:n+q], cols[:q])
			stream.Copy(val[n:n+q], sums[:q])
			n, q = n+q, 0
		}
	}
	stream.Copy(idx[n:n+q], cols[:q])
	stream.Copy(val[n:n+q], sums[:q])
	return int64(n + q)
}

// rowMasked is row by accumulator for a mask: it scatters only to positions of the mask.
func (g *gustavson) rowMasked(w *worker, alo, ahi int64, allowed []int32, idx []int32, val Values) int64 {
	sp := g.accumulator(w)
	if len(w.state) < g.b.NCols {
		w.state = make([]uint8, g.b.NCols)
	}
	if len(allowed) == 0 {
		return 0
	}
	for _, j := range allowed {
		w.state[j] = 1
	}
	first, last := allowed[0], allowed[len(allowed)-1]
	for p := alo; p < ahi; p++ {
		lo, hi := g.span(g.a.Idx[p])
		if lo == hi || g.b.Idx[lo] > last || g.b.Idx[hi-1] < first {
			continue
		}
		g.s.ScatterMasked(sp.acc, w.state, g.at(p), g.b.Idx[lo:hi], g.b.Part(lo, hi))
	}
	q := 0
	for _, j := range allowed {
		if w.state[j] == 2 {
			idx[q] = j
			q++
		}
		w.state[j] = 0
	}
	g.c.Move(val, nil, sp.acc, idx[:q])
	g.c.FillAt(sp.acc, idx[:q], sp.id)
	return int64(q)
}

// keep copies the sums of the list that the mask allows. allowed and forbidden are ascending; each
// is nil if there is no mask of that kind.
func (g *gustavson) keep(w *worker, idx []int32, val Values, allowed, forbidden []int32) int64 {
	l := &w.list
	mask := allowed
	if forbidden != nil {
		mask = forbidden
	}
	if mask == nil {
		g.c.Copy(val, l.val)
		return int64(copy(idx, l.idx))
	}
	m, from := 0, w.from[:0]
	for p, j := range l.idx {
		for m < len(mask) && mask[m] < j {
			m++
		}
		if found := m < len(mask) && mask[m] == j; found == (forbidden == nil) {
			idx[len(from)] = j
			from = append(from, int32(p))
		}
	}
	g.c.Move(val, nil, l.val, from)
	w.from = from
	return int64(len(from))
}
