package sparse

import (
	"cmp"
	"fmt"
	"runtime"
	"slices"
	"sync/atomic"

	"github.com/hiveblas/hiveblas/internal/fresh"
	"github.com/hiveblas/hiveblas/internal/parallel"
)

// Tuples is a block of coordinates and values in input order.
type Tuples[T any] struct {
	Row, Col []int32
	Val      []T
}

// DuplicateError reports a duplicate coordinate in an input that allows no duplicates. Tuples are
// those of the input, with those of a coordinate in their order: Build of them with an operator
// gives what Build of the input does.
type DuplicateError[T any] struct {
	Row, Col int
	Tuples   Tuples[T]
}

func (e *DuplicateError[T]) Error() string {
	return fmt.Sprintf("duplicate entry at row %d, column %d", e.Row, e.Col)
}

// collectAbove is the number of tuples above which Build runs the garbage collector before it
// allocates the result. The input blocks are garbage by then. The collector's own schedule is too
// late: reading 24M pattern entries peaks at 3.9 times the size of the matrix without this
// collection and at 2.9 times with it (TestReadPeakMemory). The collection takes a millisecond
// because the arrays contain no pointers.
const collectAbove = 1 << 20

// Build makes an m×n matrix from tuples. The caller has checked that all indices are in range. dup
// combines duplicates left to right in input order; with a nil dup, a duplicate returns a
// *DuplicateError.
//
// Method: two stable counting sorts, by column and then by row (the second is Transpose), in
// O(tuples + m + n) and without comparisons. If m or n is much larger than the number of tuples, a
// comparison sort replaces them. Build empties blocks as it reads them, so that their memory is
// free before the result is allocated. Timings for 10M tuples with duplicates, 262144², 2 threads:
// see bench/results.
//
// sorted, which may be nil, receives how much is sorted, one call at a time.
func Build[T any](m, n int, blocks []Tuples[T], dup func(x, y T) T, threads int, sorted func(done, total int64)) (*Store[T], error) {
	var count int64
	for _, b := range blocks {
		count += int64(len(b.Row))
	}
	if count == 0 {
		return Empty[T](m, n), nil
	}
	if sorted == nil {
		sorted = func(int64, int64) {}
	}
	sorted(0, count)
	defer sorted(count, count)
	if int64(max(m, n))/hyperRatio > count && max(m, n) > hyperMinRows {
		return buildBySort(m, n, blocks, count, dup)
	}
	blocks = slices.DeleteFunc(blocks, func(b Tuples[T]) bool { return len(b.Row) == 0 })
	s, repeats := ascending(m, n, blocks, count, threads)
	if s == nil {
		c := byColumn(m, n, blocks, count, threads, func(done int64) { sorted(done/2, count) })
		if count > collectAbove {
			runtime.GC()
		}
		s = Transpose(c, threads)
		repeats = s.Vecs() != 1 || repeated(s.Idx, threads)
	}
	if repeats {
		if i, j, ok := combine(s, dup, threads); !ok {
			return nil, &DuplicateError[T]{i, j, Tuples[T]{s.RowOfEntries(), s.Idx, s.Val}}
		}
	}
	return Settle(s), nil
}

// repeated reports whether two neighbours in a list are equal.
func repeated(list []int32, threads int) bool {
	var found atomic.Bool
	_ = parallel.Range(nil, threads, len(list), flatGrain, func(_, lo, hi int) {
		for p := max(lo, 1); p < hi; p++ {
			if list[p] == list[p-1] {
				found.Store(true)
				return
			}
		}
	})
	return found.Load()
}

// ascending returns the tuples as CSR if they are already sorted by row and column, as in many
// files, and whether coordinates repeat. It returns nil if they are not sorted. No block is empty.
func ascending[T any](m, n int, blocks []Tuples[T], count int64, threads int) (s *Store[T], repeats bool) {
	key := func(b *Tuples[T], p int) int64 { return int64(b.Row[p])<<32 | int64(b.Col[p]) }
	var descends, equal atomic.Bool
	_ = parallel.Pieces(nil, threads, len(blocks), func(_, k int) {
		if descends.Load() {
			return
		}
		b := &blocks[k]
		last := int64(-1)
		if k > 0 {
			last = key(&blocks[k-1], len(blocks[k-1].Row)-1)
		}
		col := b.Col[:len(b.Row)]
		for p, i := range b.Row {
			key := int64(i)<<32 | int64(col[p])
			if key <= last {
				if key < last {
					descends.Store(true)
					return
				}
				equal.Store(true)
			}
			last = key
		}
	})
	if descends.Load() {
		return nil, false
	}
	from, rows := make([]int64, len(blocks)+1), make([]int, len(blocks)+1) // first entries, rows before them
	rows[0] = -1
	for k, b := range blocks {
		from[k+1], rows[k+1] = from[k]+int64(len(b.Row)), int(b.Row[len(b.Row)-1])
	}
	s = &Store[T]{Structure: Structure{NRows: m, NCols: n, NVals: count}}
	s.Ptr = make([]int64, m+1)
	s.Idx = fresh.Make[int32](count)
	s.Val = fresh.Make[T](count)
	// The first tuple of row i sets the offsets of row i and of the empty rows before it.
	_ = parallel.Pieces(nil, threads, len(blocks), func(_, k int) {
		b := blocks[k]
		copy(s.Idx[from[k]:], b.Col)
		copy(s.Val[from[k]:], b.Val)
		last := rows[k]
		for p, i := range b.Row {
			for ; last < int(i); last++ {
				s.Ptr[last+1] = from[k] + int64(p)
			}
		}
		blocks[k] = Tuples[T]{}
	})
	for i := rows[len(blocks)] + 1; i <= m; i++ {
		s.Ptr[i] = count
	}
	return s, equal.Load()
}

// byColumn sorts the tuples stably by column. The result is the CSC form, stored as the CSR of the
// transpose; the rows of a column are in input order.
func byColumn[T any](m, n int, blocks []Tuples[T], count int64, threads int, sorted func(done int64)) *Store[T] {
	c := &Store[T]{Structure: Structure{NRows: n, NCols: m, NVals: count}}
	c.Idx = fresh.Make[int32](count)
	c.Val = fresh.Make[T](count)
	threads = min(parallel.Threads(threads), len(blocks))
	threads = max(1, min(threads, 1+int(count/int64(max(1, n)))))
	cut := func(w int) int { return w * len(blocks) / threads }
	counts := make([][]int64, threads)
	parallel.Do(threads, func(w int) {
		h := make([]int64, n)
		for _, b := range blocks[cut(w):cut(w+1)] {
			for _, j := range b.Col {
				h[j]++
			}
		}
		counts[w] = h
	})
	c.Ptr = make([]int64, n+1)
	parallel.Offsets(threads, counts, c.Ptr)
	done := int64(0)
	parallel.Do(threads, func(w int) {
		next := counts[w]
		for k := cut(w); k < cut(w+1); k++ {
			b := blocks[k]
			row, val := b.Row[:len(b.Col)], b.Val[:len(b.Col)]
			for p, j := range b.Col {
				q := next[j]
				next[j] = q + 1
				c.Idx[q] = row[p]
				c.Val[q] = val[p]
			}
			blocks[k] = Tuples[T]{}
			if w == 0 { // about as far as the others
				done += int64(len(b.Col))
				sorted(min(done*int64(threads), count))
			}
		}
	})
	return c
}

// combine merges equal neighbours in the sorted rows of s, in place. With a nil dup it changes
// nothing, and returns false and the position of the first.
func combine[T any](s *Store[T], dup func(x, y T) T, threads int) (row, col int, ok bool) {
	bounds := parallel.Cut(threads, s.Ptr, parallel.Threads(threads), 1)
	blocks := len(bounds) - 1
	kept := make([]int64, blocks)
	repeats := make([][]int, blocks)
	lens := make([]int64, s.Vecs()) // new row lengths
	parallel.Do(blocks, func(w int) {
		q := s.Ptr[bounds[w]]
		start := q
		for k := bounds[w]; k < bounds[w+1]; k++ {
			first := q
			for p := s.Ptr[k]; p < s.Ptr[k+1]; p++ {
				j := s.Idx[p]
				if q > first && s.Idx[q-1] == j {
					if dup == nil {
						repeats[w] = []int{s.RowID(k), int(j)}
						return
					}
					s.Val[q-1] = dup(s.Val[q-1], s.Val[p])
					continue
				}
				if q != p {
					s.Idx[q], s.Val[q] = j, s.Val[p]
				}
				q++
			}
			lens[k] = q - first
		}
		kept[w] = q - start
	})
	for _, at := range repeats {
		if at != nil {
			return at[0], at[1], false
		}
	}
	total := int64(0)
	for _, n := range kept {
		total += n
	}
	if total == s.NVals {
		return 0, 0, true
	}
	starts := make([]int64, blocks)
	for w := range starts {
		starts[w] = s.Ptr[bounds[w]]
	}
	old := s.Val
	if s.Idx, s.Val = Join(threads, s.Idx, s.Val, starts, kept); &s.Val[0] == &old[0] {
		clear(old[total:])
	}
	copy(s.Ptr[1:], lens)
	parallel.Sum(threads, s.Ptr)
	s.NVals = total
	return 0, 0, true
}

// Join returns the used parts of idx and val, joined. Part w begins at from[w] and has kept[w]
// entries; the parts are in ascending order. One or two threads move them within the arrays if
// little room is left over. Otherwise the threads copy them to new arrays, in any order.
func Join[T any](threads int, idx []int32, val []T, from, kept []int64) ([]int32, []T) {
	to := make([]int64, len(kept)+1)
	for w, n := range kept {
		to[w+1] = to[w] + n
	}
	total := to[len(kept)]
	if total == int64(len(idx)) {
		return idx, val
	}
	few := parallel.Threads(threads) <= 2 || total < 1<<16
	if few && int64(len(idx))-total <= total/4+1024 {
		for w, n := range kept {
			if at := from[w]; at != to[w] {
				copy(idx[to[w]:], idx[at:at+n])
				copy(val[to[w]:], val[at:at+n])
			}
		}
		return idx[:total:total], val[:total:total]
	}
	newIdx, newVal := fresh.Make[int32](total), fresh.Make[T](total)
	_ = parallel.Pieces(nil, threads, len(kept), func(_, w int) {
		at, n := from[w], kept[w]
		copy(newIdx[to[w]:], idx[at:at+n])
		copy(newVal[to[w]:], val[at:at+n])
	})
	return newIdx, newVal
}

func buildBySort[T any](m, n int, blocks []Tuples[T], count int64, dup func(x, y T) T) (*Store[T], error) {
	order := make([]tupleAt, 0, count)
	vals := make([]T, 0, count)
	for k, b := range blocks {
		order = placed(order, b.Row, b.Col)
		vals = append(vals, b.Val...)
		blocks[k] = Tuples[T]{}
	}
	shape, repeat := sortPlaced(m, n, order, dup != nil)
	if repeat >= 0 {
		t := Tuples[T]{make([]int32, count), make([]int32, count), make([]T, count)}
		for p, e := range order {
			t.Row[p], t.Col[p], t.Val[p] = int32(e.key>>32), int32(e.key), vals[e.at]
		}
		return nil, &DuplicateError[T]{int(t.Row[repeat]), int(t.Col[repeat]), t}
	}
	h := &Store[T]{Structure: *shape, Val: make([]T, 0, shape.NVals)}
	for p, e := range order {
		if p > 0 && order[p-1].key == e.key {
			last := len(h.Val) - 1
			h.Val[last] = dup(h.Val[last], vals[e.at])
			continue
		}
		h.Val = append(h.Val, vals[e.at])
	}
	return Settle(h), nil
}

// tupleAt is the row and the column of a tuple, and its place in the input.
type tupleAt struct{ key, at int64 }

// placed appends tuples.
func placed(order []tupleAt, rows, cols []int32) []tupleAt {
	for p, i := range rows {
		order = append(order, tupleAt{int64(i)<<32 | int64(cols[p]), int64(len(order))})
	}
	return order
}

// sortPlaced sorts tuples by position, equal ones in the order of the input, and returns the
// structure of the hypersparse matrix of their positions. Unless they may repeat, it returns the
// place of the first tuple that does, else −1.
func sortPlaced(m, n int, order []tupleAt, repeats bool) (s *Structure, repeat int) {
	slices.SortFunc(order, func(a, b tupleAt) int {
		if a.key != b.key {
			return cmp.Compare(a.key, b.key)
		}
		return cmp.Compare(a.at, b.at)
	})
	h := &Structure{NRows: m, NCols: n, Format: Hypersparse, Ptr: []int64{0}, RowIDs: []int32{}}
	h.Idx = make([]int32, 0, len(order))
	for p, e := range order {
		i, j := int32(e.key>>32), int32(e.key)
		if p > 0 && order[p-1].key == e.key {
			if !repeats {
				return nil, p
			}
			continue
		}
		if k := len(h.RowIDs); k == 0 || h.RowIDs[k-1] != i {
			h.RowIDs = append(h.RowIDs, i)
			h.Ptr = append(h.Ptr, int64(len(h.Idx)))
		}
		h.Idx = append(h.Idx, j)
		h.Ptr[len(h.Ptr)-1] = int64(len(h.Idx))
	}
	h.NVals = int64(len(h.Idx))
	return h, -1
}
