package cpu

import (
	"reflect"
	"slices"
	"sync/atomic"

	"github.com/hiveblas/hiveblas/internal/fresh"
	"github.com/hiveblas/hiveblas/internal/parallel"
	"github.com/hiveblas/hiveblas/internal/sparse"
)

// Indices is a list of rows or columns; a nil List is the range Lo … Lo+N−1.
type Indices struct {
	List []int32
	Lo   int
	N    int // length of the list or the range
}

// Len returns the number of indices.
func (x Indices) Len() int { return x.N }

// All reports whether x is all of n indices, as a range.
func (x Indices) All(n int) bool { return x.List == nil && x.N == n }

// Listed returns x as a list.
func (x Indices) Listed() Indices {
	if x.List == nil {
		x.List = fresh.Make[int32](int64(x.N))
		for p := range x.List {
			x.List[p] = int32(x.Lo + p)
		}
		x.Lo = 0
	}
	return x
}

// at returns the p-th index.
func (x Indices) at(p int) int {
	if x.List == nil {
		return x.Lo + p
	}
	return int(x.List[p])
}

// clip returns the places of the columns of a range within ci, which is ascending.
func (x Indices) clip(ci []int32) (lo, hi int64) {
	from := search(ci, x.Lo)
	return int64(from), int64(from + search(ci[from:], x.Lo+x.N))
}

// colMap maps columns to their places in a list of columns: column c has the places p = head[c],
// then next[p], …, until −1. A short list of a wide matrix uses a map.
type colMap struct {
	head   []int32
	sparse map[int32]int32
	next   []int32 // nil if no column is listed twice
	sorted bool    // places ascend with the columns, so rows stay sorted
}

func newColMap(cols Indices, n, threads int) *colMap {
	m := &colMap{sorted: true}
	dup := false
	if n > 1<<16 && (len(cols.List) < n/64 || !fits(int64(n), 4)) {
		m.sparse = make(map[int32]int32, len(cols.List))
	} else {
		m.head = fresh.Make[int32](int64(n))
		m.empty(threads)
		if threads = parallel.Share(threads, int64(len(cols.List)), 1<<14); threads > 1 {
			if m.distinct(cols.List, threads) {
				return m
			}
			m.empty(threads)
		}
	}
	next := make([]int32, len(cols.List))
	for p := len(cols.List) - 1; p >= 0; p-- {
		c := cols.List[p]
		if p > 0 && cols.List[p-1] >= c {
			m.sorted = false
		}
		next[p] = m.first(c)
		dup = dup || next[p] >= 0
		if m.head != nil {
			m.head[c] = int32(p)
		} else {
			m.sparse[c] = int32(p)
		}
	}
	if dup {
		m.next = next
	}
	return m
}

// empty sets head to −1.
func (m *colMap) empty(threads int) {
	Fill(sparse.OfKind(reflect.Int32), sparse.ValuesOf(m.head), sparse.ValuesOf([]int32{-1}), threads)
}

// distinct notes the places of the columns in list by all threads. It reports false, and leaves
// head of any content, if a column repeats.
func (m *colMap) distinct(list []int32, threads int) bool {
	var dup, unsorted atomic.Bool
	_ = parallel.Range(nil, threads, len(list), 1<<13, func(_, lo, hi int) {
		again, descends := false, false
		for p := lo; p < hi; p++ {
			descends = descends || p > 0 && list[p-1] >= list[p]
			again = again || !atomic.CompareAndSwapInt32(&m.head[list[p]], -1, int32(p))
		}
		if again {
			dup.Store(true)
		}
		if descends {
			unsorted.Store(true)
		}
	})
	m.sorted = !unsorted.Load()
	return !dup.Load()
}

func (m *colMap) first(c int32) int32 {
	if m.head != nil {
		return m.head[c]
	}
	if p, ok := m.sparse[c]; ok {
		return p
	}
	return -1
}

// Extract computes c = a(rows, cols) for a listed a. Rows and columns of a list may repeat. A range
// of rows takes time for those that are stored, a range of columns two searches a row. One pass
// counts, one writes. Rows with columns out of order are sorted by (place, origin) packed in a
// word, each by itself: its entries stay in the cache; the entries of two transposes do not.
func Extract(env Env, a *sparse.Store, rows, cols Indices) (*sparse.Store, error) {
	m := rows.Len()
	out := &sparse.Store{Structure: sparse.Structure{NRows: m, NCols: cols.Len()}, Type: a.Type}
	x := extraction{a: a, out: out, rows: rows, cols: cols, first: rows.Lo, part: cols.List == nil && !cols.All(a.NCols)}
	if rows.List == nil && a.Format == sparse.Hypersparse {
		var end int
		x.first, end = search(a.RowIDs, rows.Lo), search(a.RowIDs, rows.Lo+rows.N)
		out.Format, out.RowIDs = sparse.Hypersparse, shifted(a.RowIDs[x.first:end], rows.Lo)
	}
	vecs := out.Vecs()
	out.Ptr = make([]int64, vecs+1)
	if cols.List != nil {
		x.cm = newColMap(cols, a.NCols, env.Threads)
	}
	threads := parallel.Threads(env.Threads)
	err := parallel.Range(env.Ctx, threads, vecs, 1024, func(_, klo, khi int) { x.count(klo, khi) })
	if err != nil {
		return nil, err
	}
	parallel.Sum(threads, out.Ptr)
	out.NVals = out.Ptr[vecs]
	out.Idx, out.Val = fresh.Make[int32](out.NVals), a.Type.Make(out.NVals)
	bounds := parallel.Cut(threads, out.Ptr, threads*32, 4)
	scratch := make([]keyScratch, threads)
	err = parallel.Pieces(env.Ctx, threads, len(bounds)-1, func(w, b int) {
		from, to := bounds[b], bounds[b+1]
		if a.Val.None() {
			a.Type.Fill(out.Part(out.Ptr[from], out.Ptr[to]), a.Type.True)
		}
		if x.cm == nil {
			x.copyRows(from, to)
			return
		}
		keys := scratch[w]
		defer func() { scratch[w] = keys }()
		x.mapRows(&keys, from, to)
	})
	if err != nil {
		return nil, err
	}
	if out.Format == sparse.Hypersparse {
		dropEmptyRows(out)
	}
	return out.Settle(), nil
}

// An extraction is the state of Extract.
type extraction struct {
	a, out     *sparse.Store
	rows, cols Indices
	first      int     // the stored row of a that is row 0 of the result, if rows is a range
	part       bool    // cols is a range that lacks columns
	cm         *colMap // of a list of columns
}

// source returns the entries of a in row k of the result.
func (x *extraction) source(k int) (lo, hi int64) {
	if x.rows.List == nil {
		lo, hi = x.a.Ptr[x.first+k], x.a.Ptr[x.first+k+1]
	} else {
		lo, hi = x.a.Span(int(x.rows.List[k]))
	}
	if x.part {
		from, to := x.cols.clip(x.a.Idx[lo:hi])
		lo, hi = lo+from, lo+to
	}
	return lo, hi
}

// count sets the offsets of the rows klo … khi−1 of the result to their numbers of entries.
func (x *extraction) count(klo, khi int) {
	cm := x.cm
	for k := klo; k < khi; k++ {
		lo, hi := x.source(k)
		n := hi - lo
		if cm != nil && !(cm.next == nil && len(x.cols.List) == x.a.NCols) {
			n = 0
			for _, c := range x.a.Idx[lo:hi] {
				for p := cm.first(c); p >= 0; {
					n++
					if cm.next == nil {
						break
					}
					p = cm.next[p]
				}
			}
		}
		x.out.Ptr[k+1] = n
	}
}

// copyRows writes the stored rows from … to−1 of the result, for a range of columns.
func (x *extraction) copyRows(from, to int) {
	a, out := x.a, x.out
	if x.rows.List == nil && !x.part && from < to { // they are one range of a
		lo, hi, q := a.Ptr[x.first+from], a.Ptr[x.first+to], out.Ptr[from]
		copy(out.Idx[q:], a.Idx[lo:hi])
		a.Type.Copy(out.Part(q, q+hi-lo), a.Part(lo, hi))
		return
	}
	for k := from; k < to; k++ {
		lo, hi := x.source(k)
		q := out.Ptr[k]
		if x.cols.Lo == 0 {
			copy(out.Idx[q:], a.Idx[lo:hi])
		} else {
			for e, j := range a.Idx[lo:hi] {
				out.Idx[q+int64(e)] = j - int32(x.cols.Lo)
			}
		}
		a.Type.Copy(out.Part(q, q+hi-lo), a.Part(lo, hi))
	}
}

// mapRows writes the stored rows from … to−1 of the result, for a list of columns.
func (x *extraction) mapRows(s *keyScratch, from, to int) {
	a, out, cm, unpack := x.a, x.out, x.cm, unpackOf(x.a)
	for k := from; k < to; k++ {
		lo, hi := x.source(k)
		keys := s.keys[:0]
		if cm.next == nil && cm.head != nil {
			for e, c := range a.Idx[lo:hi] {
				if p := cm.head[c]; p >= 0 {
					keys = append(keys, uint64(p)<<32|uint64(e))
				}
			}
		} else {
			for e, c := range a.Idx[lo:hi] {
				for p := cm.first(c); p >= 0; {
					keys = append(keys, uint64(p)<<32|uint64(e))
					if cm.next == nil {
						break
					}
					p = cm.next[p]
				}
			}
		}
		s.keys = keys
		if !cm.sorted || cm.next != nil {
			s.sort(keys, x.cols.Len())
		}
		q, end := out.Ptr[k], out.Ptr[k+1]
		unpack(out.Idx[q:end], out.Part(q, end), keys, a.Part(lo, hi))
	}
}

// keyScratch is the memory of a thread that sorts entries by their new columns: a key holds the
// column in the upper half and the place of the entry in its row in the lower.
type keyScratch struct {
	keySorter
	keys []uint64
}

// unpackOf returns the loop that sets idx[p] to the column of keys[p], and val[p] to the value of
// the row v of s at its place. It sets no values if s is a pattern.
func unpackOf(s *sparse.Store) func(idx []int32, val Values, keys []uint64, v Values) {
	t := s.Type
	if s.Val.None() {
		return func(idx []int32, _ Values, keys []uint64, _ Values) { unpackColumns(idx, keys) }
	}
	switch t.Class {
	case sparse.Bytes1:
		return unpack[sparse.E1]
	case sparse.Bytes2:
		return unpack[sparse.E2]
	case sparse.Bytes4:
		return unpack[sparse.E4]
	case sparse.Bytes8:
		return unpack[sparse.E8]
	case sparse.Bytes16:
		return unpack[sparse.E16]
	}
	var places []int32
	return func(idx []int32, val Values, keys []uint64, v Values) {
		unpackColumns(idx, keys)
		places = places[:0]
		for _, key := range keys {
			places = append(places, int32(uint32(key)))
		}
		t.Move(val, nil, v, places)
	}
}

func unpackColumns(idx []int32, keys []uint64) {
	idx = idx[:len(keys)]
	for p, key := range keys {
		idx[p] = int32(key >> 32)
	}
}

func unpack[E sparse.Sized](idx []int32, val Values, keys []uint64, v Values) {
	to, from := sparse.SliceOf[E](val), sparse.SliceOf[E](v)
	idx, to = idx[:len(keys)], to[:len(keys)]
	for p, key := range keys {
		idx[p], to[p] = int32(key>>32), from[uint32(key)]
	}
}

// shifted returns the items of a list less by. It shares the list if by is 0.
func shifted(list []int32, by int) []int32 {
	if by == 0 {
		return list
	}
	out := fresh.Make[int32](int64(len(list)))
	for p, i := range list {
		out[p] = i - int32(by)
	}
	return out
}

// Spread is the inverse of Extract: it returns the m×n matrix with entry (i, j) of a at (rows[i],
// cols[j]). Neither list may repeat an index.
func Spread(env Env, a *sparse.Store, rows, cols Indices, m, n int) *sparse.Store {
	type source struct {
		row int32
		k   int
	}
	threads := parallel.Threads(env.Threads)
	order := parallel.Gather(threads, a.Vecs(), 1<<14, func(lo, hi int, found []source) []source {
		for k := lo; k < hi; k++ {
			if a.Ptr[k] < a.Ptr[k+1] {
				found = append(found, source{int32(rows.at(a.RowID(k))), k})
			}
		}
		return found
	})
	if rows.List != nil && !slices.IsSorted(rows.List) {
		parallel.SortStable(threads, order, func(x, y source) int { return int(x.row) - int(y.row) })
	}
	out := &sparse.Store{Structure: sparse.Structure{NRows: m, NCols: n, Format: sparse.Hypersparse, NVals: a.NVals}, Type: a.Type}
	out.Ptr, out.RowIDs = make([]int64, len(order)+1), make([]int32, len(order))
	_ = parallel.Range(nil, threads, len(order), 1<<14, func(_, lo, hi int) {
		for at, o := range order[lo:hi] {
			out.RowIDs[lo+at], out.Ptr[lo+at+1] = o.row, a.Ptr[o.k+1]-a.Ptr[o.k]
		}
	})
	parallel.Sum(threads, out.Ptr)
	out.Idx, out.Val = fresh.Make[int32](a.NVals), a.Type.Make(a.NVals)
	if a.Val.None() {
		Fill(a.Type, out.Val, a.Type.True, threads)
	}
	sorted := cols.List == nil || slices.IsSorted(cols.List)
	bounds := parallel.Cut(threads, out.Ptr, int(min(int64(16*threads), a.NVals/(1<<12)+1)), 4)
	scratch := make([]keyScratch, threads)
	_ = parallel.Pieces(nil, threads, len(bounds)-1, func(w, piece int) {
		s, unpack := scratch[w], unpackOf(a)
		defer func() { scratch[w] = s }()
		for at := bounds[piece]; at < bounds[piece+1]; at++ {
			lo, hi := a.Ptr[order[at].k], a.Ptr[order[at].k+1]
			s.keys = s.keys[:0]
			for e, j := range a.Idx[lo:hi] {
				s.keys = append(s.keys, uint64(cols.at(int(j)))<<32|uint64(e))
			}
			if !sorted {
				s.sort(s.keys, n)
			}
			q, end := out.Ptr[at], out.Ptr[at+1]
			unpack(out.Idx[q:end], out.Part(q, end), s.keys, a.Part(lo, hi))
		}
	})
	return out.Settle()
}

// Outside keeps the entries of c that are not in rows × cols.
func Outside(env Env, c *sparse.Store, rows, cols Indices) (*sparse.Store, error) {
	if rows.All(c.NRows) && cols.All(c.NCols) {
		return sparse.Empty(c.Type, c.NRows, c.NCols), nil
	}
	inRow, inCol := member(rows, c.NRows), member(cols, c.NCols)
	return sift(env, c.ToSparse(), func(keep []uint8, i int, ci []int32, _, _ int64) {
		in := inRow(int32(i))
		for p, j := range ci {
			keep[p] = b2u(!in || !inCol(j))
		}
	})
}

func member(x Indices, n int) func(int32) bool {
	if x.List == nil {
		return func(i int32) bool { return uint(int(i)-x.Lo) < uint(x.N) }
	}
	if n > 1<<16 && (len(x.List) < n/64 || !fits(int64(n), 1)) {
		set := make(map[int32]bool, len(x.List))
		for _, i := range x.List {
			set[i] = true
		}
		return func(i int32) bool { return set[i] }
	}
	set := make([]bool, n)
	for _, i := range x.List {
		set[i] = true
	}
	return func(i int32) bool { return set[i] }
}

// Kronecker computes a ⊗ b, values of c: entry (i·mb+k, j·nb+l) is f(a(i,j), b(k,l)). The
// dimensions of the result must be within range, and both operands must have values.
func Kronecker(env Env, f *Binary, c *sparse.Type, a, b *sparse.Store) (*sparse.Store, error) {
	f = guardBinary(env, f, c, a.Type, b.Type)
	bv := b.Vecs()
	rows := a.Vecs() * bv
	out := &sparse.Store{Structure: sparse.Structure{NRows: a.NRows * b.NRows, NCols: a.NCols * b.NCols, Format: sparse.Hypersparse}, Type: c}
	out.NVals = a.NVals * b.NVals
	out.Ptr, out.RowIDs = make([]int64, rows+1), make([]int32, rows)
	for ka := range a.Vecs() {
		for kb := range bv {
			r := ka*bv + kb
			out.RowIDs[r] = int32(a.RowID(ka)*b.NRows + b.RowID(kb))
			out.Ptr[r+1] = out.Ptr[r] + (a.Ptr[ka+1]-a.Ptr[ka])*(b.Ptr[kb+1]-b.Ptr[kb])
		}
	}
	out.Idx, out.Val = fresh.Make[int32](out.NVals), c.Make(out.NVals)
	bounds := parallel.Cut(env.Threads, out.Ptr, parallel.Threads(env.Threads)*16, 4)
	err := parallel.Pieces(env.Ctx, env.Threads, len(bounds)-1, func(_, p int) {
		for r := bounds[p]; r < bounds[p+1]; r++ {
			ka, kb := r/bv, r%bv
			q := out.Ptr[r]
			lo, hi := b.Ptr[kb], b.Ptr[kb+1]
			n := hi - lo
			bi, bval := b.Idx[lo:hi], b.Part(lo, hi)
			if n == 0 {
				continue
			}
			for e := a.Ptr[ka]; e < a.Ptr[ka+1]; e++ {
				base := a.Idx[e] * int32(b.NCols)
				for d, j := range bi {
					out.Idx[q+int64(d)] = base + j
				}
				f.BindX(out.Part(q, q+n), at(a.Type, a.Val, e), bval)
				q += n
			}
		}
	})
	if err != nil {
		return nil, err
	}
	dropEmptyRows(out)
	return out.Settle(), nil
}
