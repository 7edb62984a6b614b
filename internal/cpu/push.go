package cpu

import (
	"math/bits"
	"unsafe"

	"github.com/hiveblas/hiveblas/internal/fresh"
	"github.com/hiveblas/hiveblas/internal/parallel"
	"github.com/hiveblas/hiveblas/internal/prefetch"
	"github.com/hiveblas/hiveblas/internal/sparse"
)

// rowVisitCost is the assumed cost of visiting a row, in products: its offset, its columns and
// their targets cost one cache line each.
const rowVisitCost = 8

// rowsAhead is the prefetch distance in rows.
const rowsAhead = 4

// prefetchRow prefetches the row that begins at p.
func prefetchRow(a *sparse.Store, p int64) {
	if p >= int64(len(a.Idx)) {
		return
	}
	idx := unsafe.Pointer(&a.Idx[p])
	val := idx
	if !a.Val.None() {
		val = a.Type.At(a.Val, p)
	}
	prefetch.Row(val, idx)
}

// pushParts returns the number of parts of the products of a push. For inexact sums it depends only
// on the number of products, so that the order of summation is independent of the number of
// threads. If the order makes no difference, there are at most as many parts as threads, since each
// part has an accumulator with random access. Splitting the columns instead needs no merge but
// searches every short row twice.
func pushParts(work int64, exact bool, threads int) int {
	parts := 4
	switch {
	case work < 1<<15:
		parts = 1
	case work < 1<<20:
		parts = 2
	}
	if exact {
		parts = min(parts, threads)
	}
	return parts
}

// cutPush cuts the entries of a vector into parts of about equal work; work is the prefix sums of
// the products of each.
func cutPush(work []int64, exact bool, threads int) []int {
	n := len(work) - 1
	return parallel.Cut(threads, work, pushParts(work[n]+rowVisitCost*int64(n), exact, threads), rowVisitCost)
}

// PushParts returns how Push cuts the entries of a vector where the order of sums matters, for a
// result of n positions and prefix sums of the products of each entry. A push of some of the
// columns with these parts (see Env) has the sums of one of all columns.
func PushParts(work []int64, n, threads int) []int {
	if last := len(work) - 1; work[last] <= fewProducts(n) {
		return []int{0, last} // pushSorted sums in one part
	}
	return cutPush(work, false, threads)
}

// fewProducts returns the number of products up to which Push sorts them: a dense accumulator of n
// positions has to be searched for the sums.
func fewProducts(n int) int64 { return max(min(64, int64(n)>>1), int64(n)>>12) }

// AtMost reports whether the rows ks of a have at most so many entries, and are not more.
func AtMost(a *sparse.Structure, ks []int32, left int64) bool {
	if int64(len(ks)) > left {
		return false
	}
	for _, k := range ks {
		lo, hi := a.Span(int(k))
		if left -= hi - lo; left < 0 {
			return false
		}
	}
	return true
}

// Push computes w[j] = Σ u[k] ⊗ a(k,j) by scattering the rows of a (CSR or hypersparse) for which u
// has an entry. Parts of u of about equal work have separate accumulators, which are then added in
// order, one column range at a time. The result is 1×n: a list, or a bitmap if it is nearly full.
func Push(env Env, s *Semiring, c *sparse.Type, u, a *sparse.Store, mask *Mask) (*sparse.Store, error) {
	s = guardSemiring(env, s, c, u.Type, a.Type)
	n := a.NCols
	u = u.ToSparse()
	ks := u.Idx
	bounds := env.Parts
	if s.Constant() && !env.cancelled() {
		if out := pushConstant(s, c, u, a, mask); out != nil {
			return out, nil
		}
	}
	// One part.
	if len(bounds) <= 2 && (AtMost(&a.Structure, ks, fewProducts(n)) || n > 1<<22 && !fits(int64(n), 2*(c.Size+1))) {
		return pushSorted(env, s, c, u, a, mask)
	}
	los, work := make([]int64, len(ks)), make([]int64, len(ks)+1)
	_ = parallel.Range(nil, env.Threads, len(ks), 1<<11, func(_, from, to int) {
		for p, k := range ks[from:to] {
			lo, hi := a.Span(int(k))
			los[from+p], work[from+p+1] = lo, hi-lo
		}
	})
	parallel.Sum(env.Threads, work)
	total := work[len(ks)]
	if s.Constant() && total >= max(int64(n)>>6, 1) {
		return pushMarked(env, s, c, u, a, los, work, mask)
	}
	if bounds == nil {
		bounds = cutPush(work, s.Exact, parallel.Threads(env.Threads))
	}
	if threads := workers(env, total, 1<<13); threads > sortedPushThreads && total >= sortedPushMin && total <= sortedPushMax {
		if s.Exact { // one part: the order makes no difference
			bounds = []int{0, len(ks)}
		}
		return pushByBlocks(env, s, c, &pushed{a, u, los, work, bounds}, mask, threads)
	}
	spas := make([]*spa, len(bounds)-1)
	err := parallel.Pieces(env.Ctx, env.Threads, len(spas), func(_, part int) {
		sp := getSPA(c, n, s.Identity)
		spas[part] = sp
		for p := bounds[part]; p < bounds[part+1]; p++ {
			if q := p + rowsAhead; q < len(los) {
				prefetchRow(a, los[q])
			}
			lo, hi := los[p], los[p]+work[p+1]-work[p]
			if lo == hi {
				continue
			}
			s.Scatter(sp.acc, sp.marks, u.Type.At(u.Val, int64(p)), a.Idx[lo:hi], a.Part(lo, hi))
		}
	})
	if err != nil {
		return nil, err // the accumulators are not clean: do not return them to the pool
	}
	if total < int64(n)>>6 {
		out := drainTouched(s, spas, n, ks, &a.Structure, mask)
		for _, sp := range spas {
			sp.release()
		}
		if mask != nil && mask.S.Format == sparse.Bitmap {
			return out, nil
		}
		return Filter(env, out, mask)
	}
	out, err := drain(env, s, c, spas, n, total, mask)
	if err == nil {
		for _, sp := range spas {
			sp.release()
		}
	}
	return out, err
}

// drainTouched is drain for few products. It visits the words that the products of the rows ks of a
// marked: O(products + n/4096). It applies only a mask that is a bitmap.
func drainTouched(s *Semiring, spas []*spa, n int, ks []int32, a *sparse.Structure, mask *Mask) *sparse.Store {
	sp, t := spas[0], spas[0].t
	words := sp.touch(n, ks, a)
	for _, from := range spas[1:] {
		cols := from.take(words)
		sums := t.Make(int64(len(cols)))
		t.Move(sums, nil, from.acc, cols)
		s.Collect(sp.acc, cols, sums)
		t.FillAt(from.acc, cols, from.id)
		for _, j := range cols {
			sp.marks[j>>6] |= 1 << (j & 63)
		}
	}
	all := sp.take(words)
	kept := all
	if mask != nil && mask.S.Format == sparse.Bitmap {
		kept = sized(sp.kept, len(all))
		sp.kept = kept
		q, flip, allow := 0, b2u(mask.Comp), mask.S.Present
		for _, j := range all { // without a branch on the mask, as in forbid
			kept[q] = j
			q += int(allow[j] ^ flip)
		}
		kept = kept[:q]
	}
	idx, val := fresh.Make[int32](int64(len(kept))), t.Make(int64(len(kept)))
	copy(idx, kept)
	t.Move(val, nil, sp.acc, idx)
	t.FillAt(sp.acc, all, sp.id)
	return newRow(t, n, idx, val)
}

// touch returns the words of marks of the columns of the rows ks of a, ascending.
func (s *spa) touch(n int, ks []int32, a *sparse.Structure) []int32 {
	touched := s.touchable(n)
	for _, k := range ks {
		lo, hi := a.Span(int(k))
		for _, j := range a.Idx[lo:hi] {
			touched[uint32(j)>>12] |= 1 << (uint32(j) >> 6 & 63)
		}
	}
	words := s.words[:0]
	for t, word := range touched {
		touched[t] = 0
		for ; word != 0; word &= word - 1 {
			words = append(words, int32(t*64+bits.TrailingZeros64(word)))
		}
	}
	s.words = words
	return words
}

// touchable returns a bit for each word of marks of n columns, all clear.
func (s *spa) touchable(n int) []uint64 {
	words := n>>12 + 1
	if len(s.touched) < words {
		s.touched = make([]uint64, words)
	}
	return s.touched[:words]
}

// take returns the marked columns of the words, ascending, and resets the marks.
func (s *spa) take(words []int32) []int32 {
	cols := s.cols[:0]
	for _, w := range words {
		for word := s.marks[w]; word != 0; word &= word - 1 {
			cols = append(cols, w*64+int32(bits.TrailingZeros64(word)))
		}
		s.marks[w] = 0
	}
	s.cols = cols
	return cols
}

// drainRange is the number of columns that are added and listed at a time.
const drainRange = 1 << 14

// drain adds the accumulators, lists the entries that the mask allows, and resets the accumulators.
func drain(env Env, s *Semiring, c *sparse.Type, spas []*spa, n int, work int64, mask *Mask) (*sparse.Store, error) {
	if len(spas) == 0 {
		return sparse.Empty(c, 1, n).ToCSR(), nil
	}
	var allow []uint8
	comp := false
	if mask != nil {
		comp = mask.Comp
		if mask.S.Sparse() { // mark the list in a buffer, and clear the marks after use
			m := getScratch()
			allow = m.marksFor(n)
			list := mask.S.Idx
			for _, j := range list {
				allow[j] = 1
			}
			defer func() {
				unmark(allow, list)
				m.release()
			}()
		} else {
			allow = mask.bytes(n)
		}
	}
	pieces := (n + drainRange - 1) / drainRange
	threads := env.Threads
	if work < 1<<14 {
		threads = 1
	}
	words := func(p int) (wlo, whi int) { return p * drainRange / 64, (min((p+1)*drainRange, n) + 63) / 64 }
	ends := make([]int64, pieces+1)
	err := parallel.Pieces(env.Ctx, threads, pieces, func(_, p int) {
		wlo, whi := words(p)
		for _, from := range spas[1:] {
			spas[0].addFrom(from, s, wlo, whi)
		}
		if allow != nil {
			spas[0].forbid(wlo, whi, allow, comp)
		}
		for _, w := range spas[0].marks[wlo:whi] {
			ends[p+1] += int64(bits.OnesCount64(w))
		}
	})
	if err != nil {
		return nil, err
	}
	for p := range pieces {
		ends[p+1] += ends[p]
	}
	total := ends[pieces]
	out := &sparse.Store{Structure: sparse.Structure{NRows: 1, NCols: n, NVals: total}, Type: c}
	if nearlyFull(total, int64(n)) {
		out.Format = sparse.Bitmap
		out.Present, out.Val = zeros[uint8](threads, n), zeroed(c, threads, n)
		return out, parallel.Pieces(env.Ctx, threads, pieces, func(_, p int) {
			wlo, whi := words(p)
			spas[0].scatter(wlo, whi, out.Present, out.Val)
		})
	}
	out.Ptr = []int64{0, total}
	out.Idx, out.Val = fresh.Make[int32](total), c.Make(total)
	return out, parallel.Pieces(env.Ctx, threads, pieces, func(_, p int) {
		wlo, whi := words(p)
		marks := spas[0].marks[wlo:whi]
		spas[0].gather(wlo, marks, out.Idx[ends[p]:ends[p+1]], out.Part(ends[p], ends[p+1]))
		clear(marks)
	})
}

// forbid resets the marked positions of the words wlo … whi−1 that a mask does not allow; the bytes
// of allow are 0 or 1. It does not branch on them, because the branch predictor does not foresee
// them: with this and the marks of listed masks (drain), and the buffers of selects, k-core of
// email-Enron by operations takes 0.92 of the processor time.
func (s *spa) forbid(wlo, whi int, allow []uint8, comp bool) {
	m := getScratch()
	defer m.release()
	cols := m.at[0][:0]
	for w := wlo; w < whi; w++ {
		word := s.marks[w]
		if word == 0 {
			continue
		}
		bytes := allow[w*64:]
		kept := uint64(0)
		for rest := word; rest != 0; rest &= rest - 1 {
			bit := bits.TrailingZeros64(rest) & 63
			kept |= uint64(bytes[bit]) << bit
		}
		if comp {
			kept ^= word
		}
		s.marks[w] = kept
		if len(cols)+64 > cap(cols) {
			s.t.FillAt(s.acc, cols, s.id)
			cols = cols[:0]
		}
		for gone := word ^ kept; gone != 0; gone &= gone - 1 {
			cols = append(cols, int32(w*64+bits.TrailingZeros64(gone)))
		}
	}
	s.t.FillAt(s.acc, cols, s.id)
}

// marked calls fn with lists of the marked positions of the words wlo … whi−1, ascending.
func marked(marks []uint64, wlo, whi int, fn func(m *scratch, cols []int32)) {
	m := getScratch()
	defer m.release()
	cols := m.at[0][:0]
	for w := wlo; w < whi; w++ {
		for word := marks[w]; word != 0; word &= word - 1 {
			cols = append(cols, int32(w*64+bits.TrailingZeros64(word)))
		}
		if len(cols)+64 > cap(cols) {
			fn(m, cols)
			cols = cols[:0]
		}
	}
	if len(cols) > 0 {
		fn(m, cols)
	}
}

// scatter writes the marked positions of the words wlo … whi−1 to presence bytes and values by
// position, and resets them in the accumulator.
func (s *spa) scatter(wlo, whi int, present []uint8, val Values) {
	marked(s.marks, wlo, whi, func(_ *scratch, cols []int32) {
		for _, j := range cols {
			present[j] = 1
		}
		s.t.Move(val, cols, s.acc, cols)
		s.t.FillAt(s.acc, cols, s.id)
	})
	clear(s.marks[wlo:whi])
}

// addFrom adds the sums of another accumulator in the words wlo … whi−1 and resets them there.
func (s *spa) addFrom(from *spa, r *Semiring, wlo, whi int) {
	sums := getEntryBuffer(s.t, denseChunk)
	defer sums.release()
	marked(from.marks, wlo, whi, func(_ *scratch, cols []int32) {
		part := s.t.Slice(sums.val, 0, int64(len(cols)))
		s.t.Move(part, nil, from.acc, cols)
		r.Collect(s.acc, cols, part)
		s.t.FillAt(from.acc, cols, from.id)
	})
	for w := wlo; w < whi; w++ {
		s.marks[w] |= from.marks[w]
		from.marks[w] = 0
	}
}

// search returns the first index p of the ascending ci with ci[p] ≥ c, or len(ci).
func search(ci []int32, c int) int {
	if len(ci) == 0 || c <= int(ci[0]) {
		return 0
	}
	if c > int(ci[len(ci)-1]) {
		return len(ci)
	}
	lo, hi := 0, len(ci)
	for lo < hi {
		mid := int(uint(lo+hi) / 2)
		if int(ci[mid]) < c {
			lo = mid + 1
		} else {
			hi = mid
		}
	}
	return lo
}

// pushSorted is Push for few products: list, sort, add. O(products · log products), whatever the
// size of the result.
func pushSorted(env Env, s *Semiring, c *sparse.Type, u, a *sparse.Store, mask *Mask) (*sparse.Store, error) {
	l, ok := c.Kept(useList).(*list)
	if !ok {
		l = &list{}
	}
	defer c.Keep(useList, l)
	for p, k := range u.Idx {
		lo, hi := a.Span(int(k))
		appendProducts(l, s, c, u.Type.At(u.Val, int64(p)), a, lo, hi)
	}
	l.sum(s, c)
	if env.cancelled() {
		return nil, env.Ctx.Err()
	}
	l.restrict(c, mask)
	return newRow(c, a.NCols, append([]int32{}, l.idx...), c.Clone(l.val)), nil
}
