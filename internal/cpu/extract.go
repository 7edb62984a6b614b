package cpu

import (
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

// colMap maps columns to their places in a list of columns: those of column c are p = head[c], then
// next[p], …, until −1. A short list of a wide matrix uses a map.
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
		Fill(m.head, -1, threads)
		if threads = parallel.Share(threads, int64(len(cols.List)), 1<<14); threads > 1 {
			if m.distinct(cols.List, threads) {
				return m
			}
			Fill(m.head, -1, threads)
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

// Extract computes c = a(rows, cols) for a listed a. Rows and columns of a list may repeat. A range of
// rows takes time for those that are stored, a range of columns two searches a row. One pass counts,
// one writes. Rows whose columns are out of order are sorted by (place, origin) packed in a word,
// each by itself: its entries stay in the cache, which those of two transposes do not.
func Extract[T any](env Env, a *sparse.Store[T], rows, cols Indices, fill T) (*sparse.Store[T], error) {
	m := rows.Len()
	out := &sparse.Store[T]{Structure: sparse.Structure{NRows: m, NCols: cols.Len()}}
	first := rows.Lo // the stored row of a that is row 0 of the result, if rows is a range
	if rows.List == nil && a.Format == sparse.Hypersparse {
		var end int
		first, end = search(a.RowIDs, rows.Lo), search(a.RowIDs, rows.Lo+rows.N)
		out.Format, out.RowIDs = sparse.Hypersparse, shifted(a.RowIDs[first:end], rows.Lo)
	}
	vecs := out.Vecs()
	part := cols.List == nil && !cols.All(a.NCols)
	src := func(k int) (lo, hi int64) { // entries of a in result row k
		if rows.List == nil {
			lo, hi = a.Ptr[first+k], a.Ptr[first+k+1]
		} else {
			lo, hi = a.Span(int(rows.List[k]))
		}
		if part {
			from, to := cols.clip(a.Idx[lo:hi])
			lo, hi = lo+from, lo+to
		}
		return lo, hi
	}
	out.Ptr = make([]int64, vecs+1)
	var cm *colMap
	if cols.List != nil {
		cm = newColMap(cols, a.NCols, env.Threads)
	}
	threads := parallel.Threads(env.Threads)
	err := parallel.Range(env.Ctx, threads, vecs, 1024, func(_, klo, khi int) {
		for k := klo; k < khi; k++ {
			lo, hi := src(k)
			n := hi - lo
			if cm != nil && !(cm.next == nil && len(cols.List) == a.NCols) {
				n = 0
				for _, c := range a.Idx[lo:hi] {
					for p := cm.first(c); p >= 0; {
						n++
						if cm.next == nil {
							break
						}
						p = cm.next[p]
					}
				}
			}
			out.Ptr[k+1] = n
		}
	})
	if err != nil {
		return nil, err
	}
	parallel.Sum(threads, out.Ptr)
	out.NVals = out.Ptr[vecs]
	out.Idx, out.Val = fresh.Make[int32](out.NVals), fresh.Make[T](out.NVals)
	bounds := parallel.Cut(threads, out.Ptr, threads*32, 4)
	sorters, scratch := make([]keySorter, threads), make([][]uint64, threads)
	err = parallel.Pieces(env.Ctx, threads, len(bounds)-1, func(w, b int) {
		keys := scratch[w]
		defer func() { scratch[w] = keys }()
		for k := bounds[b]; k < bounds[b+1]; k++ {
			lo, hi := src(k)
			q := out.Ptr[k]
			if cm == nil {
				if cols.Lo == 0 {
					copy(out.Idx[q:], a.Idx[lo:hi])
				} else {
					for e, j := range a.Idx[lo:hi] {
						out.Idx[q+int64(e)] = j - int32(cols.Lo)
					}
				}
				if a.Val != nil {
					copy(out.Val[q:], a.Val[lo:hi])
					continue
				}
				for e := q; e < out.Ptr[k+1]; e++ {
					out.Val[e] = fill
				}
				continue
			}
			keys = keys[:0]
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
			if !cm.sorted || cm.next != nil {
				sorters[w].sort(keys, cols.Len())
			}
			idx, val := out.Idx[q:out.Ptr[k+1]], out.Val[q:out.Ptr[k+1]]
			for e, key := range keys {
				idx[e] = int32(key >> 32)
				if a.Val != nil {
					val[e] = a.Val[lo+int64(uint32(key))]
				} else {
					val[e] = fill
				}
			}
		}
	})
	if err != nil {
		return nil, err
	}
	if out.Format == sparse.Hypersparse {
		dropEmptyRows(out)
	}
	return sparse.Settle(out), nil
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
func Spread[T any](env Env, a *sparse.Store[T], rows, cols Indices, m, n int, fill T) *sparse.Store[T] {
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
	out := &sparse.Store[T]{Structure: sparse.Structure{NRows: m, NCols: n, Format: sparse.Hypersparse, NVals: a.NVals}}
	out.Ptr, out.RowIDs = make([]int64, len(order)+1), make([]int32, len(order))
	_ = parallel.Range(nil, threads, len(order), 1<<14, func(_, lo, hi int) {
		for at, o := range order[lo:hi] {
			out.RowIDs[lo+at], out.Ptr[lo+at+1] = o.row, a.Ptr[o.k+1]-a.Ptr[o.k]
		}
	})
	parallel.Sum(threads, out.Ptr)
	out.Idx, out.Val = fresh.Make[int32](a.NVals), fresh.Make[T](a.NVals)
	sorted := cols.List == nil || slices.IsSorted(cols.List)
	bounds := parallel.Cut(threads, out.Ptr, int(min(int64(16*threads), a.NVals/(1<<12)+1)), 4)
	sorters, scratch := make([]keySorter, threads), make([][]uint64, threads)
	_ = parallel.Pieces(nil, threads, len(bounds)-1, func(w, piece int) {
		keys := scratch[w]
		defer func() { scratch[w] = keys }()
		for at := bounds[piece]; at < bounds[piece+1]; at++ {
			lo, hi := a.Ptr[order[at].k], a.Ptr[order[at].k+1]
			keys = keys[:0]
			for e, j := range a.Idx[lo:hi] {
				keys = append(keys, uint64(cols.at(int(j)))<<32|uint64(e))
			}
			if !sorted {
				sorters[w].sort(keys, n)
			}
			to := out.Ptr[at]
			for p, key := range keys {
				out.Idx[to+int64(p)] = int32(key >> 32)
				if a.Val != nil {
					out.Val[to+int64(p)] = a.Val[lo+int64(uint32(key))]
				} else {
					out.Val[to+int64(p)] = fill
				}
			}
		}
	})
	return sparse.Settle(out)
}

// Outside keeps the entries of c that are not in rows × cols.
func Outside[T any](env Env, c *sparse.Store[T], rows, cols Indices) (*sparse.Store[T], error) {
	if rows.All(c.NRows) && cols.All(c.NCols) {
		return sparse.Empty[T](c.NRows, c.NCols), nil
	}
	inRow, inCol := member(rows, c.NRows), member(cols, c.NCols)
	return sift(env, sparse.ToSparse(c), func(keep []uint8, i int, ci []int32, _, _ int64) {
		in := inRow(int32(i))
		for p, j := range ci {
			keep[p] = b2u(!in || !inCol(j))
		}
	}, nil)
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

// Kronecker computes c = a ⊗ b: entry (i·mb+k, j·nb+l) is f(a(i,j), b(k,l)). The dimensions of the
// result must be within range, and both operands must have values.
func Kronecker[A, B, C any](env Env, f *Binary[A, B, C], a *sparse.Store[A], b *sparse.Store[B]) (*sparse.Store[C], error) {
	f = guardBinary(env, f)
	bv := b.Vecs()
	rows := a.Vecs() * bv
	out := &sparse.Store[C]{Structure: sparse.Structure{NRows: a.NRows * b.NRows, NCols: a.NCols * b.NCols, Format: sparse.Hypersparse}}
	out.NVals = a.NVals * b.NVals
	out.Ptr, out.RowIDs = make([]int64, rows+1), make([]int32, rows)
	for ka := range a.Vecs() {
		for kb := range bv {
			r := ka*bv + kb
			out.RowIDs[r] = int32(a.RowID(ka)*b.NRows + b.RowID(kb))
			out.Ptr[r+1] = out.Ptr[r] + (a.Ptr[ka+1]-a.Ptr[ka])*(b.Ptr[kb+1]-b.Ptr[kb])
		}
	}
	out.Idx, out.Val = fresh.Make[int32](out.NVals), fresh.Make[C](out.NVals)
	bounds := parallel.Cut(env.Threads, out.Ptr, parallel.Threads(env.Threads)*16, 4)
	err := parallel.Pieces(env.Ctx, env.Threads, len(bounds)-1, func(_, p int) {
		for r := bounds[p]; r < bounds[p+1]; r++ {
			ka, kb := r/bv, r%bv
			q := out.Ptr[r]
			lo, hi := b.Ptr[kb], b.Ptr[kb+1]
			n := hi - lo
			bi, bval := b.Idx[lo:hi], b.Val[lo:hi]
			if n == 0 {
				continue
			}
			var x A
			for e := a.Ptr[ka]; e < a.Ptr[ka+1]; e++ {
				base := a.Idx[e] * int32(b.NCols)
				x = a.Val[e]
				for d, j := range bi {
					out.Idx[q+int64(d)] = base + j
				}
				f.BindX(out.Val[q:q+n], x, bval)
				q += n
			}
		}
	})
	if err != nil {
		return nil, err
	}
	dropEmptyRows(out)
	return sparse.Settle(out), nil
}
