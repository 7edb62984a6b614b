package cpu

import (
	"slices"
	"sync"
	"sync/atomic"

	"github.com/hiveblas/hiveblas/internal/parallel"
	"github.com/hiveblas/hiveblas/internal/sparse"
)

// This file contains the serial forms of the element-wise operations. For operands of few entries,
// the blocks, prefix sums and closures of the parallel drivers cost more than the work itself.

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
type row struct {
	s   sparse.Store
	ptr [2]int64
}

// newRow returns the 1×n list of idx and val, and takes ownership of both.
func newRow(t *sparse.Type, n int, idx []int32, val Values) *sparse.Store {
	return new(row).of(t, n, idx, val)
}

// fewListed is the largest number of entries of a listedRow.
const fewListed = 8

// listedRow is a row, its list and values of up to 8 bytes in one allocation.
type listedRow struct {
	row
	idx [fewListed]int32
	val [fewListed]uint64
}

// newRowOf returns the 1×n list of a copy of idx. The caller must write its values.
func newRowOf(t *sparse.Type, n int, idx []int32) *sparse.Store {
	if len(idx) > fewListed || !t.Plain || t.Size > 8 {
		return newRow(t, n, slices.Clone(idx), t.Make(int64(len(idx))))
	}
	r := &listedRow{}
	return r.of(t, n, r.idx[:copy(r.idx[:], idx)], t.Slice(sparse.ValuesOf(r.val[:]), 0, int64(len(idx))))
}

func (r *row) of(t *sparse.Type, n int, idx []int32, val Values) *sparse.Store {
	r.ptr[1] = int64(len(idx))
	r.s = sparse.Store{Structure: sparse.Structure{NRows: 1, NCols: n, NVals: r.ptr[1], Ptr: r.ptr[:], Idx: idx}, Val: val, Type: t}
	return &r.s
}

// newDense returns a dense m×n store over val, or over new memory if val does not have m·n values.
// A nil present makes the store full.
func newDense(t *sparse.Type, m, n int, val Values, present []uint8, nvals int64) *sparse.Store {
	cells := int64(m) * int64(n)
	switch {
	case int64(val.Len()) == cells && !val.None():
	case present == nil: // all are written, so none is cleared
		val = t.Make(cells)
	default:
		val = t.Zeroed(cells)
	}
	s := &sparse.Store{Structure: sparse.Structure{NRows: m, NCols: n, Format: sparse.Full, NVals: nvals, Present: present}, Val: val, Type: t}
	if present != nil {
		s.Format = sparse.Bitmap
	}
	return s
}

// unionRow is Union for two small listed rows.
func unionRow(ops UnionOps, c *sparse.Type, a, b *sparse.Store) *sparse.Store {
	la, lb := len(a.Idx), len(b.Idx)
	ci, cv := make([]int32, la+lb), ops.Spare
	if cv.None() || cv.Cap() < la+lb {
		cv = c.Make(int64(la + lb))
	}
	cv = c.Grow(cv, la+lb)
	if lb == 0 {
		copy(ci, a.Idx)
		ops.Left(cv, a.Val)
		return newRow(c, a.NCols, ci, cv)
	}
	if la == 0 {
		copy(ci, b.Idx)
		ops.Right(cv, b.Val)
		return newRow(c, a.NCols, ci, cv)
	}
	m := getScratch()
	defer m.release()
	var n, k int
	var temp Values
	matchA := m.at[2][:]
	if la >= insertFrom*lb || lb >= insertFrom*la {
		n, k = unionAt(&m.merger, c, ops.Copies, ci, cv, side{a.Idx, a.Type, a.Val, ops.Left}, side{b.Idx, b.Type, b.Val, ops.Right}, &temp)
		matchA = m.matchA
	} else {
		n, k = m.union(ci, a.Idx, b.Idx)
		placeAt(c, cv, m.at[1][:lb], b.Val, ops.Right, ops.Copies, &temp)
		placeAt(c, cv, m.at[0][:la], a.Val, ops.Left, ops.Copies, &temp)
	}
	if k > 0 {
		ops.Both.ZipAt(cv, m.matchQ[:k], a.Val, matchA[:k], b.Val, m.matchB[:k])
	}
	return newRow(c, a.NCols, ci[:n:n], c.Grow(cv, n)) // with its capacity, for the next result
}

// union is merger.union for small rows. Its lists are arrays of a constant size: with slices, the
// loop spills its counters to the stack.
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

// side is a row of one operand of a union, and what makes values of the result from its values.
type side struct {
	idx []int32
	t   *sparse.Type
	val Values
	f   func(c, v Values)
}

// unionAt merges the rows a and b into ci and cv, values of c; copies is set if the functions of
// the rows copy. The caller computes the values of the matches, which are listed in matchA, matchB
// and matchQ. temp keeps memory for the next row.
func unionAt(m *merger, c *sparse.Type, copies bool, ci []int32, cv Values, a, b side, temp *Values) (n, k int) {
	la, lb := len(a.idx), len(b.idx)
	switch {
	case la >= insertFrom*lb:
		n, k = insertAt(m, c, ci, cv, &a, b.idx)
		placeAt(c, cv, m.posB[:lb], b.val, b.f, copies, temp)
	case lb >= insertFrom*la:
		n, k = insertAt(m, c, ci, cv, &b, a.idx)
		placeAt(c, cv, m.posB[:la], a.val, a.f, copies, temp)
		m.matchA, m.matchB = m.matchB, m.matchA
	default:
		n, k = m.union(ci, a.idx, b.idx)
		placeAt(c, cv, m.posB[:lb], b.val, b.f, copies, temp)
		placeAt(c, cv, m.posA[:la], a.val, a.f, copies, temp)
	}
	return n, k
}

// insertAt merges the columns short into the row long. The caller places the values of short.
func insertAt(m *merger, c *sparse.Type, ci []int32, cv Values, long *side, short []int32) (n, k int) {
	return m.insert(ci, long.idx, short, func(q, lo, hi int) {
		long.f(c.Slice(cv, int64(q), int64(q+hi-lo)), long.t.Slice(long.val, int64(lo), int64(hi)))
	})
}

// placeAt does cv[pos[p]] = f(v[p]), values of c; copies is set if f copies. temp is room for
// values of c, which it may replace.
func placeAt(c *sparse.Type, cv Values, pos []int32, v Values, f func(c, v Values), copies bool, temp *Values) {
	if copies && !v.None() {
		c.Move(cv, pos, v, nil)
		return
	}
	if temp.Len() < len(pos) {
		*temp = c.Make(int64(len(pos)))
	}
	t := c.Slice(*temp, 0, int64(len(pos)))
	f(t, v)
	c.Move(cv, pos, t, nil)
}

// intersectRow is Intersect for two small listed rows.
func intersectRow(f *Binary, c *sparse.Type, a, b *sparse.Store) *sparse.Store {
	ci := make([]int32, min(len(a.Idx), len(b.Idx)))
	if len(ci) == 0 {
		return newRow(c, a.NCols, ci, c.Make(0))
	}
	m := getScratch()
	defer m.release()
	var k int
	if marksPay(a.NCols, len(a.Idx)+len(b.Idx)) && !lopsided(len(a.Idx), len(b.Idx)) {
		k = m.intersectMarked(ci, a.Idx, b.Idx, a.NCols)
	} else {
		k = m.intersect(ci, a.Idx, b.Idx)
	}
	cv := c.Make(int64(k))
	f.ZipAt(cv, consecutive[:k], a.Val, m.matchA[:k], b.Val, m.matchB[:k])
	return newRow(c, a.NCols, ci[:k:k], cv)
}

// siftRow is sift for a small listed row.
func siftRow(s *sparse.Store, decide func(keep []uint8, i int, ci []int32, lo, hi int64)) *sparse.Store {
	m := getScratch()
	defer m.release()
	keep := m.keep[:len(s.Idx)]
	if len(keep) > 0 {
		decide(keep, 0, s.Idx, 0, int64(len(keep)))
	}
	return m.compress(s, keep)
}

// compress keeps the entries of a small 1×n store for which keep, parallel to its values, is 1. The
// result is a bitmap if s is dense and the result nearly full, and a list otherwise. The entries of
// a pattern get the value True.
func (m *scratch) compress(s *sparse.Store, keep []uint8) *sparse.Store {
	n := int64(0)
	for _, b := range keep {
		n += int64(b)
	}
	t := s.Type
	if !s.Sparse() && nearlyFull(n, int64(len(keep))) {
		val := t.Make(int64(len(keep)))
		Copying(t)(val, s.Val)
		clearAbsent(t, val, keep)
		return newDense(t, 1, s.NCols, val, append([]uint8(nil), keep...), n)
	}
	ci, cv := make([]int32, n), t.Make(n)
	idx := s.Idx
	if !s.Sparse() {
		idx = consecutive[:len(keep)]
	}
	idx = idx[:len(keep)]
	switch {
	case s.Val.None():
		m.compressTyped(ci, cv, keep, idx, s)
	case t.Class == sparse.Bytes1:
		compressInto(ci, sparse.SliceOf[sparse.E1](cv), keep, idx, sparse.SliceOf[sparse.E1](s.Val))
	case t.Class == sparse.Bytes2:
		compressInto(ci, sparse.SliceOf[sparse.E2](cv), keep, idx, sparse.SliceOf[sparse.E2](s.Val))
	case t.Class == sparse.Bytes4:
		compressInto(ci, sparse.SliceOf[sparse.E4](cv), keep, idx, sparse.SliceOf[sparse.E4](s.Val))
	case t.Class == sparse.Bytes8:
		compressInto(ci, sparse.SliceOf[sparse.E8](cv), keep, idx, sparse.SliceOf[sparse.E8](s.Val))
	case t.Class == sparse.Bytes16:
		compressInto(ci, sparse.SliceOf[sparse.E16](cv), keep, idx, sparse.SliceOf[sparse.E16](s.Val))
	default:
		m.compressTyped(ci, cv, keep, idx, s)
	}
	return newRow(t, s.NCols, ci, cv)
}

// compressInto fills ci and cv with the items of idx and val for which keep is 1.
func compressInto[E sparse.Sized](ci []int32, cv []E, keep []uint8, idx []int32, val []E) {
	q := 0
	cv, idx, val = cv[:len(ci)], idx[:len(keep)], val[:len(keep)]
	for p, b := range keep {
		if q == len(ci) {
			break
		}
		ci[q], cv[q] = idx[p], val[p]
		q += int(b)
	}
}

// compressTyped is compressInto for the values of s, which have any type.
func (m *scratch) compressTyped(ci []int32, cv Values, keep []uint8, idx []int32, s *sparse.Store) {
	at := m.listPresent(keep)
	for q, p := range at {
		ci[q] = idx[p]
	}
	gather(s.Type, cv, s.Val, at)
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
func unionBitmap(ops UnionOps, c *sparse.Type, a, b *sparse.Store) *sparse.Store {
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
	out := newDense(c, a.NRows, a.NCols, Values{}, present, int64(len(both)+len(left)+len(right)))
	ops.Both.ZipAt(out.Val, both, a.Val, both, b.Val, both)
	moveAt(c, out.Val, left, a.Type, a.Val, ops.Left, ops.Copies)
	moveAt(c, out.Val, right, b.Type, b.Val, ops.Right, ops.Copies)
	return out
}

// moveAt does out[at[p]] = f(v[at[p]]), from values of s to values of c; copies is set if f copies.
func moveAt(c *sparse.Type, out Values, at []int32, s *sparse.Type, v Values, f func(c, s Values), copies bool) {
	if copies && !v.None() {
		c.Move(out, at, v, at)
		return
	}
	mapAt(c, out, at, s, v, f)
}

// intersectBitmap is Intersect for two small dense operands, at least one of them a bitmap.
func intersectBitmap(f *Binary, c *sparse.Type, a, b *sparse.Store) *sparse.Store {
	cells, _ := a.Cells()
	m := getScratch()
	defer m.release()
	both, _, _ := m.classify(a.Present, b.Present, cells)
	present := make([]uint8, cells)
	for _, p := range both {
		present[p] = 1
	}
	out := newDense(c, a.NRows, a.NCols, Values{}, present, int64(len(both)))
	f.ZipAt(out.Val, both, a.Val, both, b.Val, both)
	return out
}

// intersectMixedRow is Intersect for a small listed row and a bitmap. The result shares the indices
// of the list if the bitmap has all of them.
func intersectMixedRow(f *Binary, c *sparse.Type, a, b *sparse.Store) *sparse.Store {
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
	idx, val := list, c.Make(int64(k))
	if k < len(list) {
		idx = append([]int32(nil), ci[:k]...)
	}
	if a.Sparse() {
		f.ZipAt(val, consecutive[:k], a.Val, at[:k], b.Val, ci[:k])
	} else {
		f.ZipAt(val, consecutive[:k], a.Val, ci[:k], b.Val, at[:k])
	}
	return newRow(c, a.NCols, idx, val)
}

// applyBitmap is Apply for a small bitmap.
func applyBitmap(c *sparse.Type, s *sparse.Store, f func(c, a Values)) *sparse.Store {
	m := getScratch()
	defer m.release()
	at := m.listPresent(s.Present)
	out := newDense(c, s.NRows, s.NCols, Values{}, append([]uint8(nil), s.Present...), s.NVals)
	v := s.Val
	if v.None() {
		v = filled(s.Type, len(s.Present), s.Type.True)
	}
	mapAt(c, out.Val, at, s.Type, v, f)
	return out
}

// selectRow is Select for a small 1×n store.
func selectRow(s *sparse.Store, f *chooser) *sparse.Store {
	m := getScratch()
	defer m.release()
	n, idx := len(s.Idx), s.Idx
	if !s.Sparse() {
		n, idx = s.NCols, nil
	}
	keep := m.keep[:n]
	if n > 0 {
		f.keep(keep, s.Present, 0, idx, 0, 0)
	}
	if s.Present != nil {
		for p, b := range s.Present[:n] {
			keep[p] &= b
		}
	}
	return m.compress(s, keep)
}

// ExtractRow computes c = a(idx) for a listed row: entry p of the result is entry idx[p] of a.
// Indices may repeat and be in any order. O(len(idx) · log entries), or O(len(idx) + entries) if
// idx is ascending and long.
func ExtractRow(a *sparse.Store, idx []int32) *sparse.Store {
	n := len(a.Idx)
	m := getScratch()
	defer m.release()
	// The places in the result, and the entries of a.
	ci, found := make([]int32, 0, min(len(idx), n)), m.at[0][:0]
	k, last := 0, int32(-1)
	for p, i := range idx {
		if i < last {
			k = 0
		}
		last = i
		if k < n && a.Idx[k] < i {
			k += seek(a.Idx[k:], i)
		}
		if k == n || a.Idx[k] != i {
			continue
		}
		ci, found = append(ci, int32(p)), append(found, int32(k))
	}
	val := a.Type.Make(int64(len(found)))
	gather(a.Type, val, a.Val, found)
	return newRow(a.Type, len(idx), ci, val)
}

// AssignRow computes c(idx) = x for a 1×n store c. val has one value per index; if val has none,
// every index gets the scalar x[0]. A position p with present[p] = 0 deletes the entry idx[p]; with
// a nil present, every position is present. No index may occur twice. A dense c is updated in
// place: O(len(idx)). A listed c is merged: O(entries + len(idx) · log len(idx)), or converted to a
// bitmap if adapt allows it and the bitmap is faster: a small update of many entries, or many
// indices in no order.
func AssignRow(c *sparse.Store, idx []int32, x, val Values, present []uint8, adapt bool, threads int) *sparse.Store {
	if c.Sparse() && adapt && denseRoom(c.Type, &c.Structure) == nil && (int64(len(idx)) <= c.NVals/updateRatio && c.UpdatePays() ||
		len(idx) > assignGrain && len(idx) >= c.NCols/unsortedShare && !slices.IsSorted(idx)) {
		c = c.ToBitmap()
	}
	if c.Format == sparse.Full && present != nil {
		c = c.ToBitmap()
	}
	if !c.Sparse() {
		assignDense(c, idx, x, val, present, threads)
		return c
	}
	return countMoved(assignListed(c, idx, x, val, present), c, int64(len(idx)))
}

// assignListed is AssignRow for a listed c.
func assignListed(c *sparse.Store, idx []int32, x, val Values, present []uint8) *sparse.Store {
	keys := make([]uint64, len(idx))
	sorted := true
	for p, i := range idx {
		sorted = sorted && (p == 0 || idx[p-1] < i)
		keys[p] = uint64(i)<<32 | uint64(p)
	}
	if !sorted {
		slices.Sort(keys)
	}
	t, room := c.Type, len(c.Idx)+len(idx)
	ci, cv := make([]int32, 0, room), t.Make(int64(room))
	m := getScratch()
	defer m.release()
	to, from := m.at[0][:0], m.at[1][:0] // where new values are placed, and their places in val
	next := 0                            // the first entry of c that is not copied
	keep := func(end int) {
		if n := len(ci); end > next {
			ci = append(ci, c.Idx[next:end]...)
			t.Copy(t.Slice(cv, int64(n), int64(len(ci))), c.Part(int64(next), int64(end)))
			next = end
		}
	}
	for _, key := range keys {
		i, p := int32(key>>32), int32(uint32(key))
		if keep(next + seek(c.Idx[next:], i)); next < len(c.Idx) && c.Idx[next] == i {
			next++
		}
		if present != nil && present[p] == 0 {
			continue
		}
		to, from = append(to, int32(len(ci))), append(from, p)
		ci = append(ci, i)
	}
	keep(len(c.Idx))
	if val.None() {
		fillAt(t, cv, to, x)
	} else {
		t.Move(cv, to, val, from)
	}
	return newRow(t, c.NCols, ci, t.Grow(cv, len(ci)))
}

// unsortedShare: unsorted indices of at least one in so many positions are assigned by a bitmap.
const unsortedShare = 16

// assignGrain is the number of indices of a piece of an assignment.
const assignGrain = 1 << 13

// assignDense is AssignRow for a dense c, which must be a bitmap if present is not nil.
func assignDense(c *sparse.Store, idx []int32, x, val Values, present []uint8, threads int) {
	if len(idx) <= assignGrain {
		c.NVals += assignSome(c, idx, x, val, present)
		return
	}
	var added atomic.Int64
	_ = parallel.Range(nil, threads, len(idx), assignGrain, func(_, lo, hi int) {
		v := c.Type.Slice(val, int64(lo), int64(hi))
		added.Add(assignSome(c, idx[lo:hi], x, v, presence(present, lo, hi)))
	})
	c.NVals += added.Load()
}

// assignSome returns the number of entries that it adds.
func assignSome(c *sparse.Store, idx []int32, x, val Values, present []uint8) (added int64) {
	if val.None() {
		fillAt(c.Type, c.Val, idx, x)
	} else {
		c.Type.Move(c.Val, idx, val, nil)
	}
	if c.Present == nil {
		return 0
	}
	var absent []int32
	for p, i := range idx {
		has := uint8(1)
		if present != nil {
			if has = present[p]; has == 0 {
				absent = append(absent, i)
			}
		}
		added += int64(has) - int64(c.Present[i])
		c.Present[i] = has
	}
	fillAt(c.Type, c.Val, absent, c.Type.Zero)
	return added
}

// AccumulateRow computes c(idx) ⊕= v for a dense 1×n store, in place; see AccumulateInto. No index
// may occur twice.
func AccumulateRow(env Env, c *sparse.Store, idx []int32, v Values, f *Binary) error {
	return AccumulateInto(env, c, newRow(c.Type, c.NCols, idx, v), f)
}
