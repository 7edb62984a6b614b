package cpu

import (
	"slices"
	"sync"
	"sync/atomic"

	"github.com/hiveblas/hiveblas/internal/fresh"
	"github.com/hiveblas/hiveblas/internal/parallel"
	"github.com/hiveblas/hiveblas/internal/sparse"
)

// This file contains the serial forms of the element-wise operations. For operands of few entries,
// the blocks, prefix sums and closures of the parallel drivers cost more than the work itself:
// eWiseAdd of two vectors of 10 entries takes 0.5 µs instead of 4.5 µs.

// smallWork is the largest number of entries, or of positions of a dense operand, for the serial
// form of an operation.
const smallWork = denseChunk

// scratch is the working memory of one serial operation.
type scratch struct {
	merger
	keep [smallWork]uint8
	at   [3][smallWork]int32
	// By position: the marks, 0 between operations, and the places of the marked entries.
	marks  []uint8
	places []int32
}

var scratches = sync.Pool{New: func() any { return new(scratch) }}

func getScratch() *scratch  { return scratches.Get().(*scratch) }
func (s *scratch) release() { scratches.Put(s) }

// smallRow reports whether s is a single CSR row of few entries.
func smallRow(s *sparse.Structure) bool {
	return s.NRows == 1 && s.Format == sparse.CSR && len(s.Idx) <= smallWork
}

// smallDense reports whether s is dense with few positions.
func smallDense(s *sparse.Structure) bool {
	if s.Sparse() {
		return false
	}
	cells, ok := s.Cells()
	return ok && cells <= smallWork
}

// row is a 1×n list and its offsets in one allocation.
type row[T any] struct {
	s   sparse.Store[T]
	ptr [2]int64
}

// newRow returns the 1×n list of idx and val, and takes ownership of both.
func newRow[T any](n int, idx []int32, val []T) *sparse.Store[T] {
	r := &row[T]{}
	r.ptr[1] = int64(len(idx))
	r.s = sparse.Store[T]{Structure: sparse.Structure{NRows: 1, NCols: n, NVals: r.ptr[1], Ptr: r.ptr[:], Idx: idx}, Val: val}
	return &r.s
}

// newDense returns a dense m×n store over val, or over new memory if val does not have m·n values.
// A nil present makes the store full.
func newDense[T any](m, n int, val []T, present []uint8, nvals int64) *sparse.Store[T] {
	switch {
	case len(val) == m*n && val != nil:
	case present == nil: // all are written: clearing 2 GB takes one thread .25 s
		val = fresh.Make[T](int64(m) * int64(n))
	default:
		val = make([]T, m*n)
	}
	s := &sparse.Store[T]{Structure: sparse.Structure{NRows: m, NCols: n, Format: sparse.Full, NVals: nvals, Present: present}, Val: val}
	if present != nil {
		s.Format = sparse.Bitmap
	}
	return s
}

// unionRow is Union for two small listed rows.
func unionRow[A, B, C any](ops UnionOps[A, B, C], a *sparse.Store[A], b *sparse.Store[B]) *sparse.Store[C] {
	la, lb := len(a.Idx), len(b.Idx)
	ci, cv := make([]int32, la+lb), ops.Spare[:0]
	if cap(cv) >= la+lb {
		cv = cv[:la+lb]
	} else {
		cv = make([]C, la+lb)
	}
	if lb == 0 {
		copy(ci, a.Idx)
		ops.Left(cv, a.Val)
		return newRow(a.NCols, ci, cv)
	}
	if la == 0 {
		copy(ci, b.Idx)
		ops.Right(cv, b.Val)
		return newRow(a.NCols, ci, cv)
	}
	m := getScratch()
	defer m.release()
	var n, k int
	matchA := m.at[2][:]
	if la >= insertFrom*lb || lb >= insertFrom*la {
		n, k = unionAt(&m.merger, ops, ci, cv, a.Idx, a.Val, b.Idx, b.Val)
		matchA = m.matchA
	} else {
		n, k = m.union(ci, a.Idx, b.Idx)
		placeAt(cv, m.at[1][:lb], b.Val, ops.Right, ops.Copies)
		placeAt(cv, m.at[0][:la], a.Val, ops.Left, ops.Copies)
	}
	if k > 0 {
		ops.Both.ZipAt(cv, m.matchQ[:k], a.Val, matchA[:k], b.Val, m.matchB[:k])
	}
	return newRow(a.NCols, ci[:n:n], cv[:n]) // with its capacity, for the next result
}

// union is merger.union for small rows. Its lists are arrays of a constant size: with slices, the
// loop spills its counters to the stack. Two rows of 1000 entries 4.7 → 3.7 µs.
func (m *scratch) union(ci, ai, bi []int32) (n, matches int) {
	const last = smallWork - 1 // i&last needs no bounds check
	m.room(len(ai), len(bi))
	posA, posB, matchA := &m.at[0], &m.at[1], &m.at[2]
	i, j, q := 0, 0, 0
	if len(ai) > 0 && len(bi) > 0 {
		x, y := ai[0], bi[0]
		for i+1 < len(ai) && j+1 < len(bi) {
			nextX, nextY := ai[i+1], bi[j+1]
			posA[i&last], posB[j&last] = int32(q), int32(q)
			matchA[(i+j-q)&last] = int32(i)
			ci[q] = min(x, y)
			q++
			le, ge, newX := 0, 0, x
			if x <= y {
				le = 1
			}
			if y <= x {
				ge = 1
			}
			if x <= y {
				newX = nextX
			}
			if y <= x {
				y = nextY
			}
			x = newX
			i += le
			j += ge
		}
	}
	return m.finish(ci, ai, bi, posA[:], posB[:], matchA[:], i, j, q)
}

// unionAt merges the rows (ai, av) and (bi, bv) into ci and cv. The caller computes the values of
// the matches, which are listed in matchA, matchB and matchQ.
func unionAt[A, B, C any](m *merger, ops UnionOps[A, B, C], ci []int32, cv []C, ai []int32, av []A, bi []int32, bv []B) (n, k int) {
	la, lb := len(ai), len(bi)
	switch {
	case la >= insertFrom*lb:
		n, k = insertAt(m, ops.Left, ci, cv, ai, av, bi)
		placeAt(cv, m.posB[:lb], bv, ops.Right, ops.Copies)
	case lb >= insertFrom*la:
		n, k = insertAt(m, ops.Right, ci, cv, bi, bv, ai)
		placeAt(cv, m.posB[:la], av, ops.Left, ops.Copies)
		m.matchA, m.matchB = m.matchB, m.matchA
	default:
		n, k = m.union(ci, ai, bi)
		placeAt(cv, m.posB[:lb], bv, ops.Right, ops.Copies)
		placeAt(cv, m.posA[:la], av, ops.Left, ops.Copies)
	}
	return n, k
}

// insertAt merges the columns short into the row (long, v) and maps the values of long by f. The
// caller places the values of short.
func insertAt[S, C any](m *merger, f func(c []C, s []S), ci []int32, cv []C, long []int32, v []S, short []int32) (n, k int) {
	return m.insert(ci, long, short, func(q, lo, hi int) { f(cv[q:q+hi-lo], window(v, int64(lo), int64(hi))) })
}

// placeAt does c[pos[p]] = f(v[p]); copies is set if f copies.
func placeAt[S, C any](c []C, pos []int32, v []S, f func(c []C, s []S), copies bool) {
	if copies {
		if same, ok := any(&v).(*[]C); ok && v != nil {
			place(c, pos, *same)
			return
		}
	}
	t := make([]C, len(pos))
	f(t, v)
	place(c, pos, t)
}

// intersectRow is Intersect for two small listed rows.
func intersectRow[A, B, C any](f *Binary[A, B, C], a *sparse.Store[A], b *sparse.Store[B]) *sparse.Store[C] {
	ci := make([]int32, min(len(a.Idx), len(b.Idx)))
	if len(ci) == 0 {
		return newRow(a.NCols, ci, []C{})
	}
	m := getScratch()
	defer m.release()
	var k int
	if marksPay(a.NCols, len(a.Idx)+len(b.Idx)) && !lopsided(len(a.Idx), len(b.Idx)) {
		k = m.intersectMarked(ci, a.Idx, b.Idx, a.NCols)
	} else {
		k = m.intersect(ci, a.Idx, b.Idx)
	}
	cv := make([]C, k)
	f.ZipAt(cv, consecutive[:k], a.Val, m.matchA[:k], b.Val, m.matchB[:k])
	return newRow(a.NCols, ci[:k:k], cv)
}

// siftRow is sift for a small listed row.
func siftRow[T any](s *sparse.Store[T], decide func(keep []uint8, i int, ci []int32, lo, hi int64), fill *T) *sparse.Store[T] {
	m := getScratch()
	defer m.release()
	keep := m.keep[:len(s.Idx)]
	if len(keep) > 0 {
		decide(keep, 0, s.Idx, 0, int64(len(keep)))
	}
	return compress(s, keep, fill)
}

// compress keeps the entries of a small 1×n store for which keep, parallel to its values, is 1. The
// result is a bitmap if s is dense and the result nearly full, and a list otherwise.
func compress[T any](s *sparse.Store[T], keep []uint8, fill *T) *sparse.Store[T] {
	n := 0
	for _, b := range keep {
		n += int(b)
	}
	if !s.Sparse() && nearlyFull(int64(n), int64(len(keep))) {
		out := newDense[T](1, s.NCols, nil, append([]uint8(nil), keep...), int64(n))
		for p, b := range keep {
			if b == 0 {
				continue
			}
			if s.Val != nil {
				out.Val[p] = s.Val[p]
			} else if fill != nil {
				out.Val[p] = *fill
			}
		}
		return out
	}
	ci, cv := make([]int32, n), make([]T, n)
	idx := s.Idx
	if !s.Sparse() {
		idx = consecutive[:len(keep)]
	}
	if s.Val == nil {
		if fill != nil {
			for q := range cv {
				cv[q] = *fill
			}
		}
		q := 0
		for p, b := range keep {
			if b != 0 {
				ci[q] = idx[p]
				q++
			}
		}
		return newRow(s.NCols, ci, cv)
	}
	q := 0
	idx, val := idx[:len(keep)], s.Val[:len(keep)]
	for p, b := range keep {
		if q == n {
			break
		}
		ci[q], cv[q] = idx[p], val[p]
		q += int(b)
	}
	return newRow(s.NCols, ci, cv)
}

// classify lists the positions present in both bitmaps, only in pa, and only in pb; in a nil
// bitmap, every position is present.
func (m *scratch) classify(pa, pb []uint8, n int) (both, left, right []int32) {
	k, l, r := 0, 0, 0
	for p := range n {
		x, y := uint8(1), uint8(1)
		if pa != nil {
			x = pa[p]
		}
		if pb != nil {
			y = pb[p]
		}
		m.at[0][k], m.at[1][l], m.at[2][r] = int32(p), int32(p), int32(p)
		k += int(x & y)
		l += int(x &^ y)
		r += int(y &^ x)
	}
	return m.at[0][:k], m.at[1][:l], m.at[2][:r]
}

// listPresent lists the positions of a bitmap that have an entry.
func (m *scratch) listPresent(present []uint8) []int32 {
	k := 0
	for p, b := range present {
		m.at[0][k] = int32(p)
		k += int(b)
	}
	return m.at[0][:k]
}

// unionBitmap is Union for two small dense operands, at least one of them a bitmap.
func unionBitmap[A, B, C any](ops UnionOps[A, B, C], a *sparse.Store[A], b *sparse.Store[B]) *sparse.Store[C] {
	cells, _ := a.Cells()
	m := getScratch()
	defer m.release()
	both, left, right := m.classify(a.Present, b.Present, cells)
	var present []uint8
	if a.Present != nil && b.Present != nil {
		present = make([]uint8, cells)
		pa, pb := a.Present[:cells], b.Present[:cells]
		for p := range present {
			present[p] = pa[p] | pb[p]
		}
	}
	out := newDense[C](a.NRows, a.NCols, nil, present, int64(len(both)+len(left)+len(right)))
	ops.Both.ZipAt(out.Val, both, a.Val, both, b.Val, both)
	moveAt(out.Val, left, a.Val, ops.Left, ops.Copies)
	moveAt(out.Val, right, b.Val, ops.Right, ops.Copies)
	return out
}

// moveAt does c[at[p]] = f(v[at[p]]); copies is set if f copies.
func moveAt[S, C any](c []C, at []int32, v []S, f func(c []C, s []S), copies bool) {
	if copies {
		if same, ok := any(&v).(*[]C); ok && v != nil {
			for _, p := range at {
				c[p] = (*same)[p]
			}
			return
		}
	}
	mapAt(c, at, v, f)
}

// intersectBitmap is Intersect for two small dense operands, at least one of them a bitmap.
func intersectBitmap[A, B, C any](f *Binary[A, B, C], a *sparse.Store[A], b *sparse.Store[B]) *sparse.Store[C] {
	cells, _ := a.Cells()
	m := getScratch()
	defer m.release()
	both, _, _ := m.classify(a.Present, b.Present, cells)
	present := make([]uint8, cells)
	for _, p := range both {
		present[p] = 1
	}
	out := newDense[C](a.NRows, a.NCols, nil, present, int64(len(both)))
	f.ZipAt(out.Val, both, a.Val, both, b.Val, both)
	return out
}

// intersectMixedRow is Intersect for a small listed row and a bitmap. The result shares the indices
// of the list if the bitmap has all of them.
func intersectMixedRow[A, B, C any](f *Binary[A, B, C], a *sparse.Store[A], b *sparse.Store[B]) *sparse.Store[C] {
	list, present := a.Idx, b.Present
	if !a.Sparse() {
		list, present = b.Idx, a.Present
	}
	m := getScratch()
	defer m.release()
	at, ci := &m.at[0], &m.at[1]
	k := 0
	for p, j := range list {
		at[k], ci[k] = int32(p), j
		k += int(present[j])
	}
	idx, val := list, make([]C, k)
	if k < len(list) {
		idx = append([]int32(nil), ci[:k]...)
	}
	if a.Sparse() {
		f.ZipAt(val, consecutive[:k], a.Val, at[:k], b.Val, ci[:k])
	} else {
		f.ZipAt(val, consecutive[:k], a.Val, ci[:k], b.Val, at[:k])
	}
	return newRow(a.NCols, idx, val)
}

// applyBitmap is Apply for a small bitmap.
func applyBitmap[A, C any](s *sparse.Store[A], f func(c []C, a []A), fill A) *sparse.Store[C] {
	m := getScratch()
	defer m.release()
	at := m.listPresent(s.Present)
	out := newDense[C](s.NRows, s.NCols, nil, append([]uint8(nil), s.Present...), s.NVals)
	v := s.Val
	if v == nil {
		v = filled(len(s.Present), fill)
	}
	mapAt(out.Val, at, v, f)
	return out
}

// selectRow is Select for a small 1×n store.
func selectRow[T any](env Env, s *sparse.Store[T], f *Predicate[T], fn func(x T, i, j int) bool, fill *T) *sparse.Store[T] {
	m := getScratch()
	defer m.release()
	n, idx := len(s.Idx), s.Idx
	if !s.Sparse() {
		n, idx = s.NCols, consecutive[:s.NCols]
	}
	keep := m.keep[:n]
	switch {
	case n == 0:
	case f.Band && f.Keep == nil:
		for p, j := range idx {
			keep[p] = b2u(int64(j) >= f.Lo && int64(j) <= f.Hi)
		}
	case f.Keep != nil && s.Val != nil:
		f.Keep(keep, s.Val[:n], 0, idx, 0)
	default:
		var x T
		if fill != nil {
			x = *fill
		}
		done := env.done(true)
		for p, j := range idx {
			keep[p] = 0
			if p%guardBlock == 0 && ended(done) {
				clear(keep[p:])
				break
			}
			if s.Present != nil && s.Present[p] == 0 {
				continue
			}
			if s.Val != nil {
				x = s.Val[p]
			}
			keep[p] = b2u(fn(x, 0, int(j)))
		}
	}
	if s.Present != nil {
		for p, b := range s.Present[:n] {
			keep[p] &= b
		}
	}
	return compress(s, keep, fill)
}

// ExtractRow computes c = a(idx) for a listed row: entry p of the result is entry idx[p] of a.
// Indices may repeat and be in any order. O(len(idx) · log entries), or O(len(idx) + entries) if
// idx is ascending and long.
func ExtractRow[T any](a *sparse.Store[T], idx []int32, fill T) *sparse.Store[T] {
	n := len(a.Idx)
	ci, cv := make([]int32, 0, min(len(idx), n)), make([]T, 0, min(len(idx), n))
	at, last := 0, int32(-1)
	for p, i := range idx {
		if i < last {
			at = 0
		}
		last = i
		if at < n && a.Idx[at] < i {
			at += seek(a.Idx[at:], i)
		}
		if at == n || a.Idx[at] != i {
			continue
		}
		v := fill
		if a.Val != nil {
			v = a.Val[at]
		}
		ci, cv = append(ci, int32(p)), append(cv, v)
	}
	return newRow(len(idx), ci, cv)
}

// AssignRow computes c(idx) = x for a 1×n store c. val has one value per index; if val is nil,
// every index gets the scalar x. A position p with present[p] = 0 deletes the entry idx[p]; with a
// nil present, every position is present. No index may occur twice. A dense c is updated in place:
// O(len(idx)). A listed c is merged: O(entries + len(idx) · log len(idx)), or converted to a bitmap
// if adapt allows it and the bitmap is faster: a small update of many entries, or many indices in
// no order (8M of them into an empty vector on a busy core: 3.3 → 1.9 s, 1.7 of it the check for
// repeats).
func AssignRow[T any](c *sparse.Store[T], idx []int32, x T, val []T, present []uint8, adapt bool, threads int) *sparse.Store[T] {
	if c.Sparse() && adapt && denseRoom[T](&c.Structure) == nil && (int64(len(idx)) <= c.NVals/updateRatio && sparse.BitmapPays(&c.Structure) ||
		len(idx) > assignGrain && len(idx) >= c.NCols/unsortedShare && !slices.IsSorted(idx)) {
		c = sparse.ToBitmap(c)
	}
	if c.Format == sparse.Full && present != nil {
		c = sparse.ToBitmap(c)
	}
	if !c.Sparse() {
		assignDense(c, idx, x, val, present, threads)
		return c
	}
	keys := make([]uint64, len(idx))
	sorted := true
	for p, i := range idx {
		sorted = sorted && (p == 0 || idx[p-1] < i)
		keys[p] = uint64(i)<<32 | uint64(p)
	}
	if !sorted {
		slices.Sort(keys)
	}
	room := len(c.Idx) + len(idx)
	ci, cv := make([]int32, 0, room), make([]T, 0, room)
	from := 0
	for _, key := range keys {
		i, p := int32(key>>32), uint32(key)
		to := from + seek(c.Idx[from:], i)
		ci, cv = append(ci, c.Idx[from:to]...), append(cv, c.Val[from:to]...)
		if from = to; from < len(c.Idx) && c.Idx[from] == i {
			from++
		}
		if present != nil && present[p] == 0 {
			continue
		}
		if val != nil {
			x = val[p]
		}
		ci, cv = append(ci, i), append(cv, x)
	}
	ci, cv = append(ci, c.Idx[from:]...), append(cv, c.Val[from:]...)
	return newRow(c.NCols, ci, cv)
}

// unsortedShare: unsorted indices of at least one in so many positions are assigned by a bitmap.
const unsortedShare = 16

// assignGrain is the number of indices of a piece of an assignment.
const assignGrain = 1 << 13

// assignDense is AssignRow for a dense c, which must be a bitmap if present is not nil.
func assignDense[T any](c *sparse.Store[T], idx []int32, x T, val []T, present []uint8, threads int) {
	if len(idx) <= assignGrain {
		c.NVals += assignSome(c, idx, x, val, present)
		return
	}
	var added atomic.Int64
	_ = parallel.Range(nil, threads, len(idx), assignGrain, func(_, lo, hi int) {
		v, has := val, present
		if v != nil {
			v = v[lo:hi]
		}
		if has != nil {
			has = has[lo:hi]
		}
		added.Add(assignSome(c, idx[lo:hi], x, v, has))
	})
	c.NVals += added.Load()
}

// assignSome returns the number of entries that it adds.
func assignSome[T any](c *sparse.Store[T], idx []int32, x T, val []T, present []uint8) (added int64) {
	for p, i := range idx {
		has := uint8(1)
		if present != nil {
			has = present[p]
		}
		if val != nil {
			x = val[p]
		}
		if has != 0 {
			c.Val[i] = x
		} else {
			c.Val[i] = *new(T)
		}
		if c.Present != nil {
			added += int64(has) - int64(c.Present[i])
			c.Present[i] = has
		}
	}
	return added
}

// AccumulateRow computes c(idx) ⊕= v for a dense 1×n store, in place; see AccumulateInto. No index may
// occur twice.
func AccumulateRow[T any](env Env, c *sparse.Store[T], idx []int32, v []T, f *Binary[T, T, T]) error {
	return AccumulateInto(env, c, newRow(c.NCols, idx, v), f)
}
