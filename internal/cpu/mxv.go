package cpu

import (
	"math/bits"
	"sync/atomic"
	"unsafe"

	"github.com/hiveblas/hiveblas/internal/fresh"
	"github.com/hiveblas/hiveblas/internal/parallel"
	"github.com/hiveblas/hiveblas/internal/prefetch"
	"github.com/hiveblas/hiveblas/internal/sparse"
)

// Pull computes the vector w with w[i] = Σ a(i,k) ⊗ u[k], with one dot product per row of a (CSR or
// hypersparse) that mask allows. u is 1×n in any format. The result is 1×m: full, bitmap or a list,
// according to its density. leads returns the leads of a (see sparse.Leads); Pull calls it only if
// all products are equal.
func Pull[A, B, C any](env Env, s *Semiring[A, B, C], a *sparse.Store[A], leads func() []int32, u *sparse.Store[B], mask *Mask) (*sparse.Store[C], error) {
	s = guardSemiring(env, s)
	done := env.done(s.User)
	m := a.NRows
	threads := workers(env, a.NVals+int64(a.Vecs()), 1<<12)
	if s.Any && !s.UsesX && !s.UsesY {
		return pullUniform(env, a, leads(), &u.Structure, mask, s.Mul(*new(A), *new(B)))
	}
	u = asFull(u)
	if u.Format == sparse.Full && mask == nil && a.Format == sparse.CSR {
		return pullFull(env, s, a, u.Val, threads)
	}
	x, present := dense(u, threads)
	full := u.Format == sparse.Full
	absorb := s.IsIdentity != nil && !full
	if absorb {
		filled := getSPA(u.NCols, s.Absent) // absent except at the entries of u
		val := x
		_ = parallel.Range(nil, threads, len(present), positionGrain, func(_, lo, hi int) {
			for j, b := range present[lo:hi] {
				if b != 0 {
					filled.acc[lo+j] = val[lo+j]
				}
			}
		})
		x = filled.acc
		defer func() {
			_ = parallel.Range(nil, threads, len(present), positionGrain, func(_, lo, hi int) {
				for j, b := range present[lo:hi] {
					if b != 0 {
						filled.acc[lo+j] = s.Absent
					}
				}
			})
			filled.release()
		}()
	}
	var allow []uint8
	if mask != nil {
		allow = mask.bytes(m)
	}
	// Every block lists its results in its own part of these arrays.
	vecs := a.Vecs()
	found := getEntryBuffer[C](vecs)
	defer found.release()
	idx, y := found.idx, found.val
	bounds := parallel.Cut(threads, a.Ptr, threads*16, 4)
	counts := make([]int, len(bounds)-1)
	err := parallel.Pieces(env.Ctx, threads, len(bounds)-1, func(_, b int) {
		q := bounds[b]
		for k := bounds[b]; k < bounds[b+1]; k++ {
			lo, hi := a.Ptr[k], a.Ptr[k+1]
			i := a.RowID(k)
			if lo == hi || allow != nil && (allow[i] != 0) == mask.Comp {
				continue
			}
			ci := a.Idx[lo:hi]
			var v C
			var hit bool
			if done != nil && ended(done) {
				break
			}
			if s.Any {
				if p := firstPresent(ci, present); p >= 0 {
					v, hit = s.Mul(pick(a.Val, lo+int64(p)), pick(x, int64(ci[p]))), true
				}
			} else if full || absorb {
				v = s.Dot(s.Identity, ci, window(a.Val, lo, hi), x)
				hit = full || !s.IsIdentity(v) || firstPresent(ci, present) >= 0
			} else {
				v, hit = s.DotPresent(s.Identity, ci, window(a.Val, lo, hi), x, present)
			}
			if hit {
				idx[q], y[q] = int32(i), v
				q++
			}
		}
		counts[b] = q - bounds[b]
	})
	if err != nil {
		return nil, err
	}
	return joinBlocks(env, m, bounds, counts, idx, y)
}

// asFull returns a vector with an entry at each position in the format Full, so that the order of
// sums does not depend on the format that the vector happens to have.
func asFull[T any](u *sparse.Store[T]) *sparse.Store[T] {
	if u.Format == sparse.Full || u.NVals != int64(u.NCols) || len(u.Val) != u.NCols {
		return u
	}
	return &sparse.Store[T]{Structure: sparse.Structure{NRows: 1, NCols: u.NCols, Format: sparse.Full, NVals: u.NVals}, Val: u.Val}
}

// pullUniform is Pull for a semiring whose sums of one or more products are all equal: it only
// determines which rows have a product.
func pullUniform[A, C any](env Env, a *sparse.Store[A], lead []int32, u *sparse.Structure, mask *Mask, product C) (*sparse.Store[C], error) {
	threads := workers(env, int64(a.Vecs()), 1<<12)
	var allow []uint8
	comp := false
	if mask != nil {
		allow, comp = mask.bytes(a.NRows), mask.Comp
	}
	marks := marksOf(u, threads)
	found := getEntryBuffer[C](a.Vecs())
	defer found.release()
	bounds := parallel.Cut(threads, a.Ptr, threads*16, 64) // reads every row but few entries
	counts := make([]int, len(bounds)-1)
	err := parallel.Pieces(env.Ctx, threads, len(counts), func(_, b int) {
		q := bounds[b]
		counts[b] = meet(a, lead, q, bounds[b+1], marks, allow, comp, found.idx[q:])
		for p := range found.val[q : q+counts[b]] {
			found.val[q+p] = product
		}
	})
	if err != nil {
		return nil, err
	}
	return joinBlocks(env, a.NRows, bounds, counts, found.idx, found.val)
}

// meetBlock is the number of rows that meet processes together.
const meetBlock = 1 << 10

// meet lists the rows from … to−1 that mask allows and that have a marked column, and returns their
// number. lead, if not nil, holds their first columns (see sparse.Leads).
//
// The mask or the first columns decide most rows, and the branch predictor foresees neither. The
// code therefore does not branch on them: it lists the allowed rows of a block, tests their first
// columns, and then tests the remaining columns of the undecided rows. BFS of R-MAT 18 on two
// processors: 4.8–5.5 ms per source with lead, 5.5–5.8 without, 6 with branches, row by row.
func meet[A any](a *sparse.Store[A], lead []int32, from, to int, marks []uint64, allow []uint8, comp bool, out []int32) int {
	var rows, rest [meetBlock]int32
	var hit [meetBlock]uint8
	const blockMask = meetBlock - 1
	ptr, idx := a.Ptr, a.Idx
	q := 0
	for lo := from; lo < to; lo += meetBlock {
		n := 0
		offsets := ptr[lo : min(lo+meetBlock, to)+1]
		for k := range offsets[1:] { // non-empty rows
			rows[n&blockMask] = int32(lo + k)
			n += int(uint64(offsets[k]-offsets[k+1]) >> 63)
		}
		if allow != nil {
			n = allowed(rows[:n], a.RowIDs, allow, comp)
		}
		r := 0
		for c, k := range rows[:n] {
			p, last := ptr[k], ptr[k+1]-1
			var h uint64
			if lead != nil {
				first := lead[sparse.Lead*int(k) : sparse.Lead*int(k)+sparse.Lead]
				h = markOf(marks, first[0]) | markOf(marks, first[1]) | markOf(marks, first[2]) | markOf(marks, first[3])
			} else {
				h = markOf(marks, idx[p]) | markOf(marks, idx[min(p+1, last)]) | markOf(marks, idx[min(p+2, last)]) | markOf(marks, idx[min(p+3, last)])
			}
			h &= 1
			hit[c&blockMask] = uint8(h)
			rest[r&blockMask] = int32(c)
			r += int(uint64(p+sparse.Lead-1-last)>>63) &^ int(h) // no hit and more columns
		}
		for _, c := range rest[:r] {
			k := rows[c]
			hit[c] = uint8(anyMarked(idx[ptr[k]+sparse.Lead:ptr[k+1]], marks))
		}
		for c, k := range rows[:n] {
			out[q] = int32(a.RowID(int(k)))
			q += int(hit[c&blockMask])
		}
	}
	return q
}

// allowed keeps the rows that the bytes of a mask allow and returns their number. ids, if not nil,
// holds the row numbers of the stored rows.
func allowed(rows, ids []int32, allow []uint8, comp bool) int {
	n, c := 0, b2u(comp)
	if ids != nil {
		for _, k := range rows {
			rows[n] = k
			n += int(allow[ids[k]] ^ c)
		}
		return n
	}
	for _, k := range rows {
		rows[n] = k
		n += int(allow[k] ^ c)
	}
	return n
}

// markOf returns the mark of j in the lowest bit; the other bits are undefined.
func markOf(marks []uint64, j int32) uint64 { return marks[uint32(j)>>6] >> (uint32(j) & 63) }

// anyMarked returns 1 if a column of ci is marked, and 0 otherwise.
func anyMarked(ci []int32, marks []uint64) uint64 {
	for len(ci) >= 4 {
		if h := markOf(marks, ci[0]) | markOf(marks, ci[1]) | markOf(marks, ci[2]) | markOf(marks, ci[3]); h&1 != 0 {
			return 1
		}
		ci = ci[4:]
	}
	h := uint64(0)
	for _, j := range ci {
		h |= markOf(marks, j)
	}
	return h & 1
}

// positionGrain is the number of positions of a vector that a thread visits at a time.
const positionGrain = 1 << 15

// marksOf returns one bit per position of a vector, set if the position has an entry.
func marksOf(u *sparse.Structure, threads int) []uint64 {
	marks := make([]uint64, (u.NCols+63)/64)
	if u.Sparse() { // a range ends before a column whose word it does not begin
		begin := func(p int) int {
			for p > 0 && p < len(u.Idx) && u.Idx[p]>>6 == u.Idx[p-1]>>6 {
				p++
			}
			return p
		}
		_ = parallel.Range(nil, threads, len(u.Idx), positionGrain, func(_, lo, hi int) {
			for _, j := range u.Idx[begin(lo):begin(hi)] {
				marks[j>>6] |= 1 << (j & 63)
			}
		})
		return marks
	}
	_ = parallel.Range(nil, threads, u.NCols, positionGrain, func(_, lo, hi int) {
		if u.Format == sparse.Full {
			for j := lo; j < hi; j++ {
				marks[j>>6] |= 1 << (j & 63)
			}
			return
		}
		for j := lo; j < hi; j++ {
			marks[j>>6] |= uint64(u.Present[j]) << (j & 63)
		}
	})
	return marks
}

// nearlyFull reports whether a vector of m positions with n entries is stored as a bitmap. Lists
// are faster to traverse and to combine unless nearly every position has an entry.
func nearlyFull(n, m int64) bool { return 8*n > 7*m }

// joinBlocks makes a vector from the lists that the blocks wrote to idx and val.
func joinBlocks[C any](env Env, m int, bounds, counts []int, idx []int32, val []C) (*sparse.Store[C], error) {
	found := make([]entryBuffer[C], len(counts))
	for b, n := range counts {
		found[b] = entryBuffer[C]{idx[bounds[b] : bounds[b]+n], val[bounds[b] : bounds[b]+n]}
	}
	return joinFound(env, m, found, parallel.Threads(env.Threads))
}

func pullFull[A, B, C any](env Env, s *Semiring[A, B, C], a *sparse.Store[A], x []B, threads int) (*sparse.Store[C], error) {
	m := a.NRows
	y, present := fresh.Make[C](int64(m)), fresh.Make[uint8](int64(m))
	bounds := parallel.Cut(threads, a.Ptr, threads*64, 2)
	var used atomic.Int64
	err := parallel.Pieces(env.Ctx, threads, len(bounds)-1, func(_, b int) {
		lo, hi := bounds[b], bounds[b+1]
		ptr := a.Ptr[lo : hi+1]
		if s.DotRows != nil {
			s.DotRows(y[lo:hi], s.Identity, ptr, a.Idx, a.Val, x)
		} else {
			for i := lo; i < hi; i++ {
				y[i] = s.Dot(s.Identity, a.Idx[a.Ptr[i]:a.Ptr[i+1]], window(a.Val, a.Ptr[i], a.Ptr[i+1]), x)
			}
		}
		used.Add(markRows(present[lo:hi], ptr))
	})
	out := &sparse.Store[C]{Structure: sparse.Structure{NRows: 1, NCols: m, NVals: used.Load(), Format: sparse.Full}, Val: y}
	if used.Load() < int64(m) {
		out.Format, out.Present = sparse.Bitmap, present
	}
	return out, err
}

// firstPresent returns the first index into ci whose column is present, or −1.
func firstPresent(ci []int32, present []uint8) int {
	for p, j := range ci {
		if present[j] != 0 {
			return p
		}
	}
	return -1
}

// pick returns v[p], or the zero value if v is nil (a pattern).
func pick[T any](v []T, p int64) (x T) {
	if v != nil {
		x = v[p]
	}
	return x
}

// window returns v[lo:hi], or nil if v is nil (a pattern).
func window[T any](v []T, lo, hi int64) []T {
	if v == nil {
		return nil
	}
	return v[lo:hi]
}

// dense returns the values of a 1×n vector by position and its presence bytes. x is nil for a
// pattern.
func dense[T any](u *sparse.Store[T], threads int) (x []T, present []uint8) {
	switch u.Format {
	case sparse.Bitmap:
		return u.Val, u.Present
	case sparse.Full:
		present = fresh.Make[uint8](int64(u.NCols))
		_ = parallel.Range(nil, threads, len(present), positionGrain, func(_, lo, hi int) {
			for i := lo; i < hi; i++ {
				present[i] = 1
			}
		})
		return u.Val, present
	}
	present = make([]uint8, u.NCols)
	if u.Val != nil {
		x = make([]T, u.NCols)
	}
	sparse.Scatter(u, present, x, threads)
	return x, present
}

// rowVisitCost is the assumed cost of visiting a row, in products: its offset, its columns and
// their targets cost one cache line each.
const rowVisitCost = 8

// rowsAhead is the prefetch distance in rows.
const rowsAhead = 4

// prefetchRow prefetches the row that begins at p.
func prefetchRow[T any](a *sparse.Store[T], p int64) {
	if p >= int64(len(a.Idx)) {
		return
	}
	idx := unsafe.Pointer(&a.Idx[p])
	val := idx
	if a.Val != nil {
		val = unsafe.Pointer(&a.Val[p])
	}
	prefetch.Row(val, idx)
}

// pushParts returns the number of parts of the products of a push. For inexact sums it depends only
// on the number of products, so that the order of summation is independent of the number of
// threads. If the order makes no difference, there are at most as many parts as threads, since each
// part has an accumulator with random access (min.plus on two threads, SSSP of R-MAT 18: two parts
// 93 ms, four 101). Splitting the columns instead needs no merge but searches every short row
// twice: on R-MAT 18 with a 10 % frontier it takes 0.7 of the peer's time; this method takes
// 0.4–0.6.
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

// few reports whether the products of the rows ks of a are at most fewProducts.
func few[B any](a *sparse.Store[B], ks []int32, n int) bool {
	left := fewProducts(n)
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
func Push[A, B, C any](env Env, s *Semiring[A, B, C], u *sparse.Store[A], a *sparse.Store[B], mask *Mask) (*sparse.Store[C], error) {
	s = guardSemiring(env, s)
	n := a.NCols
	ks, uv := entries(u)
	bounds := env.Parts
	if len(bounds) <= 2 && (few(a, ks, n) || n > 1<<22 && !fits(int64(n), 2*(sizeOf[C]()+1))) { // one part
		return pushSorted(env, s, ks, uv, a, mask)
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
	if bounds == nil {
		bounds = cutPush(work, s.Exact, parallel.Threads(env.Threads))
	}
	if threads := workers(env, total, 1<<13); threads > sortedPushThreads && total >= sortedPushMin && total <= sortedPushMax {
		if s.Exact { // one part: the order makes no difference
			bounds = []int{0, len(ks)}
		}
		return pushByBlocks(env, s, &pushed[A, B, C]{a, ks, uv, los, work, bounds}, mask, threads)
	}
	spas := make([]*spa[C], len(bounds)-1)
	err := parallel.Pieces(env.Ctx, env.Threads, len(spas), func(_, part int) {
		sp := getSPA(n, s.Identity)
		spas[part] = sp
		var x A
		for p := bounds[part]; p < bounds[part+1]; p++ {
			if q := p + rowsAhead; q < len(los) {
				prefetchRow(a, los[q])
			}
			lo, hi := los[p], los[p]+work[p+1]-work[p]
			if lo == hi {
				continue
			}
			if uv != nil {
				x = uv[p]
			}
			s.Scatter(sp.acc, sp.marks, x, a.Idx[lo:hi], window(a.Val, lo, hi))
		}
	})
	if err != nil {
		return nil, err // the accumulators are not clean: do not return them to the pool
	}
	if len(spas) == 1 && total < int64(n)>>6 {
		out := drainTouched(spas[0], n, ks, a, mask)
		spas[0].release()
		if mask != nil && mask.S.Format == sparse.Bitmap {
			return out, nil
		}
		return Filter(env, out, mask)
	}
	out, err := drain(env, s.Add, spas, n, total, mask)
	if err == nil {
		for _, sp := range spas {
			sp.release()
		}
	}
	return out, err
}

// drainTouched is drain for one accumulator and few products. It visits the words that the products of
// the rows ks of a marked: O(products + n/4096). Of the masks, it applies a bitmap.
func drainTouched[B, C any](s *spa[C], n int, ks []int32, a *sparse.Store[B], mask *Mask) *sparse.Store[C] {
	if words := n>>12 + 1; len(s.touched) < words {
		s.touched = make([]uint64, words)
	}
	touched := s.touched
	for _, k := range ks {
		lo, hi := a.Span(int(k))
		for _, j := range a.Idx[lo:hi] {
			touched[uint32(j)>>12] |= 1 << (uint32(j) >> 6 & 63)
		}
	}
	total := 0
	for t, word := range touched {
		for ; word != 0; word &= word - 1 {
			w := t*64 + bits.TrailingZeros64(word)
			if mask != nil && mask.S.Format == sparse.Bitmap {
				s.forbid(w, w+1, mask.S.Present, mask.Comp)
			}
			total += bits.OnesCount64(s.marks[w])
		}
	}
	idx, val := fresh.Make[int32](int64(total)), fresh.Make[C](int64(total))
	q := 0
	for t, word := range touched {
		touched[t] = 0
		for ; word != 0; word &= word - 1 {
			w := t*64 + bits.TrailingZeros64(word)
			c := bits.OnesCount64(s.marks[w])
			s.gather(w, s.marks[w:w+1], idx[q:q+c], val[q:q+c])
			s.marks[w] = 0
			q += c
		}
	}
	return newRow(n, idx, val)
}

// drainRange is the number of columns that are added and listed at a time.
const drainRange = 1 << 14

// drain adds the accumulators, lists the entries that the mask allows, and resets the accumulators.
func drain[C any](env Env, add func(x, y C) C, spas []*spa[C], n int, work int64, mask *Mask) (*sparse.Store[C], error) {
	if len(spas) == 0 {
		return sparse.ToCSR(sparse.Empty[C](1, n)), nil
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
			spas[0].addFrom(from, add, wlo, whi)
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
	out := &sparse.Store[C]{Structure: sparse.Structure{NRows: 1, NCols: n, NVals: total}}
	if nearlyFull(total, int64(n)) {
		out.Format = sparse.Bitmap
		out.Present, out.Val = zeros[uint8](threads, n), zeros[C](threads, n)
		return out, parallel.Pieces(env.Ctx, threads, pieces, func(_, p int) {
			wlo, whi := words(p)
			spas[0].scatter(wlo, whi, out.Present, out.Val)
		})
	}
	out.Ptr = []int64{0, total}
	out.Idx, out.Val = fresh.Make[int32](total), fresh.Make[C](total)
	return out, parallel.Pieces(env.Ctx, threads, pieces, func(_, p int) {
		wlo, whi := words(p)
		marks := spas[0].marks[wlo:whi]
		spas[0].gather(wlo, marks, out.Idx[ends[p]:ends[p+1]], out.Val[ends[p]:ends[p+1]])
		clear(marks)
	})
}

// forbid resets the marked positions of the words wlo … whi−1 that a mask does not allow; the bytes
// of allow are 0 or 1. It does not branch on them, because the branch predictor does not foresee
// them: with this and the marks of listed masks (drain), and the buffers of selects, k-core of
// email-Enron by operations takes 0.92 of the processor time.
func (s *spa[C]) forbid(wlo, whi int, allow []uint8, comp bool) {
	acc, id := s.acc, s.id
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
		for gone := word ^ kept; gone != 0; gone &= gone - 1 {
			acc[w*64+bits.TrailingZeros64(gone)] = id
		}
	}
}

// scatter writes the marked positions of the words wlo … whi−1 to presence bytes and values by
// position, and resets them in the accumulator.
func (s *spa[C]) scatter(wlo, whi int, present []uint8, val []C) {
	for w := wlo; w < whi; w++ {
		word := s.marks[w]
		s.marks[w] = 0
		for ; word != 0; word &= word - 1 {
			j := w*64 + bits.TrailingZeros64(word)
			present[j], val[j] = 1, s.acc[j]
			s.acc[j] = s.id
		}
	}
}

// addFrom adds the sums of another accumulator in the words wlo … whi−1 and resets them there.
func (s *spa[C]) addFrom(from *spa[C], add func(x, y C) C, wlo, whi int) {
	for w := wlo; w < whi; w++ {
		word := from.marks[w]
		if word == 0 {
			continue
		}
		from.marks[w] = 0
		s.marks[w] |= word
		for ; word != 0; word &= word - 1 {
			j := w*64 + bits.TrailingZeros64(word)
			s.acc[j] = add(s.acc[j], from.acc[j])
			from.acc[j] = from.id
		}
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

// entries returns the positions and values of a 1×n vector; uv is nil for a pattern.
func entries[T any](u *sparse.Store[T]) (ks []int32, uv []T) {
	if u.Sparse() {
		return u.Idx, u.Val
	}
	r := sparse.ToSparse(u)
	return r.Idx, r.Val
}

// pushSorted is Push for few products: list, sort, add. O(products · log products), whatever the size
// of the result.
func pushSorted[A, B, C any](env Env, s *Semiring[A, B, C], ks []int32, uv []A, a *sparse.Store[B], mask *Mask) (*sparse.Store[C], error) {
	pool := poolOf[list[C]]()
	l, ok := pool.Get().(*list[C])
	if !ok {
		l = &list[C]{}
	}
	defer pool.Put(l)
	for p, k := range ks {
		var x A
		if uv != nil {
			x = uv[p]
		}
		lo, hi := a.Span(int(k))
		appendProducts(l, s, x, a, lo, hi)
	}
	l.sum(s.Add, s.Identity)
	if env.cancelled() {
		return nil, env.Ctx.Err()
	}
	l.restrict(mask)
	return newRow(a.NCols, append([]int32{}, l.idx...), append([]C{}, l.val...)), nil
}
