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

// Block is a block of coordinates and values in input order.
type Block struct {
	Row, Col []int32
	Val      Values
}

// Combine does v[to[p]] = v[to[p]] ⊕ v[from[p]], in order.
type Combine func(v Values, to, from []int64)

// DuplicateError reports a duplicate coordinate in an input that allows no duplicates. Tuples are
// the tuples of the input, with equal coordinates in input order: Build of them with an operator
// gives the same result as Build of the input.
type DuplicateError struct {
	Row, Col int
	Tuples   Block
}

func (e *DuplicateError) Error() string {
	return fmt.Sprintf("duplicate entry at row %d, column %d", e.Row, e.Col)
}

// collectAbove is the number of tuples above which Build runs the garbage collector before it
// allocates the result. The input blocks are garbage by then. The collector's own schedule is too
// late: reading 24M pattern entries peaks at 3.9× the size of the matrix without this collection
// and at 2.9× with it (TestReadPeakMemory). The collection takes a millisecond because the arrays
// contain no pointers.
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
func Build(t *Type, m, n int, blocks []Block, dup Combine, threads int, sorted func(done, total int64)) (*Store, error) {
	var count int64
	for _, b := range blocks {
		count += int64(len(b.Row))
	}
	if count == 0 {
		return Empty(t, m, n), nil
	}
	if sorted == nil {
		sorted = func(int64, int64) {}
	}
	sorted(0, count)
	defer sorted(count, count)
	if int64(max(m, n))/hyperRatio > count && max(m, n) > hyperMinRows {
		return buildBySort(t, m, n, blocks, count, dup)
	}
	full := blocks[:0]
	for _, b := range blocks {
		if len(b.Row) > 0 {
			full = append(full, b)
		}
	}
	clear(blocks[len(full):])
	blocks = full
	s, repeats := ascending(t, m, n, blocks, count, threads)
	if s == nil {
		c := byColumn(t, m, n, blocks, count, threads, func(done int64) { sorted(done/2, count) })
		if count > collectAbove {
			runtime.GC()
		}
		s = c.Transpose(threads)
		repeats = s.Vecs() != 1 || repeated(s.Idx, threads)
	}
	if repeats {
		if i, j, ok := combine(s, dup, threads); !ok {
			return nil, &DuplicateError{i, j, Block{s.RowOfEntries(), s.Idx, s.Val}}
		}
	}
	return s.Settle(), nil
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
func ascending(t *Type, m, n int, blocks []Block, count int64, threads int) (s *Store, repeats bool) {
	key := func(b *Block, p int) int64 { return int64(b.Row[p])<<32 | int64(b.Col[p]) }
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
	s = &Store{Structure: Structure{NRows: m, NCols: n, NVals: count}, Type: t}
	s.Ptr = make([]int64, m+1)
	s.Idx = fresh.Make[int32](count)
	s.Val = t.Make(count)
	// The first tuple of row i sets the offsets of row i and of the empty rows before it.
	_ = parallel.Pieces(nil, threads, len(blocks), func(_, k int) {
		b := blocks[k]
		copy(s.Idx[from[k]:], b.Col)
		t.Copy(s.Part(from[k], from[k+1]), b.Val)
		last := rows[k]
		for p, i := range b.Row {
			for ; last < int(i); last++ {
				s.Ptr[last+1] = from[k] + int64(p)
			}
		}
		blocks[k] = Block{}
	})
	for i := rows[len(blocks)] + 1; i <= m; i++ {
		s.Ptr[i] = count
	}
	return s, equal.Load()
}

// byColumn sorts the tuples stably by column. The result is the CSC form, stored as the CSR of the
// transpose; the rows of a column are in input order.
func byColumn(t *Type, m, n int, blocks []Block, count int64, threads int, sorted func(done int64)) *Store {
	c := &Store{Structure: Structure{NRows: n, NCols: m, NVals: count}, Type: t}
	c.Idx = fresh.Make[int32](count)
	c.Val = t.Make(count)
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
			placeBlock(c, &b, next)
			blocks[k] = Block{}
			if w == 0 { // about as far as the others
				done += int64(len(b.Col))
				sorted(min(done*int64(threads), count))
			}
		}
	})
	return c
}

// placeBlock writes the tuples of a block to c; next holds the place of the next entry of each
// column.
func placeBlock(c *Store, b *Block, next []int64) {
	switch c.Type.Class {
	case Bytes1:
		placeTuples(c.Idx, SliceOf[E1](c.Val), b, SliceOf[E1](b.Val), next)
	case Bytes2:
		placeTuples(c.Idx, SliceOf[E2](c.Val), b, SliceOf[E2](b.Val), next)
	case Bytes4:
		placeTuples(c.Idx, SliceOf[E4](c.Val), b, SliceOf[E4](b.Val), next)
	case Bytes8:
		placeTuples(c.Idx, SliceOf[E8](c.Val), b, SliceOf[E8](b.Val), next)
	case Bytes16:
		placeTuples(c.Idx, SliceOf[E16](c.Val), b, SliceOf[E16](b.Val), next)
	default:
		const piece = 1 << 12
		var at [piece]int64
		for lo := 0; lo < len(b.Col); lo += piece {
			hi := min(lo+piece, len(b.Col))
			for p, j := range b.Col[lo:hi] {
				q := next[j]
				next[j] = q + 1
				c.Idx[q] = b.Row[lo+p]
				at[p] = q
			}
			c.Type.MoveWide(c.Val, at[:hi-lo], c.Type.Slice(b.Val, int64(lo), int64(hi)), nil)
		}
	}
}

func placeTuples[E Sized](idx []int32, out []E, b *Block, val []E, next []int64) {
	row, val := b.Row[:len(b.Col)], val[:len(b.Col)]
	for p, j := range b.Col {
		q := next[j]
		next[j] = q + 1
		idx[q] = row[p]
		out[q] = val[p]
	}
}

// combine merges equal neighbours in the sorted rows of s, in place. With a nil dup it changes
// nothing, and returns false and the position of the first.
func combine(s *Store, dup Combine, threads int) (row, col int, ok bool) {
	bounds := parallel.Cut(threads, s.Ptr, parallel.Threads(threads), 1)
	blocks := len(bounds) - 1
	kept := make([]int64, blocks)
	repeats := make([][]int, blocks)
	lens := make([]int64, s.Vecs()) // new row lengths
	parallel.Do(blocks, func(w int) {
		start := s.Ptr[bounds[w]]
		m := merger{s: s, dup: dup, to: start}
		for k := bounds[w]; k < bounds[w+1]; k++ {
			if lens[k] = m.row(s.Ptr[k], s.Ptr[k+1]); lens[k] < 0 {
				repeats[w] = []int{s.RowID(k), int(s.Idx[m.repeat])}
				return
			}
		}
		m.flush()
		kept[w] = m.to - start
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
	if s.Idx, s.Val = Join(s.Type, threads, s.Idx, s.Val, starts, kept); s.Val.Same(old) {
		s.Type.Clear(s.Type.Slice(old, total, int64(old.Len())))
	}
	copy(s.Ptr[1:], lens)
	parallel.Sum(threads, s.Ptr)
	s.NVals = total
	return 0, 0, true
}

// merger merges equal neighbours of a range of entries, in place: entry to is the place of the
// first distinct entry of keep, and the entries of add are added to the entries of into before keep
// moves.
type merger struct {
	s               *Store
	dup             Combine
	to              int64
	keep, into, add []int64
	repeat          int64 // the repeat that a nil dup does not allow
}

// row merges the entries lo … hi−1, a row, and returns how many are left. Without an operator it
// returns −1 at the first repeat.
func (m *merger) row(lo, hi int64) int64 {
	idx, before := m.s.Idx, len(m.keep)
	for p := lo; p < hi; p++ {
		switch {
		case p == lo || idx[p] != idx[p-1]:
			m.keep = append(m.keep, p)
		case m.dup == nil:
			m.repeat = p
			return -1
		default:
			m.into, m.add = append(m.into, m.keep[len(m.keep)-1]), append(m.add, p)
		}
	}
	kept := int64(len(m.keep) - before)
	if len(m.keep) > 1<<12 {
		m.flush()
	}
	return kept
}

// flush adds the repeats and moves the distinct entries.
func (m *merger) flush() {
	if len(m.into) > 0 {
		m.dup(m.s.Val, m.into, m.add)
	}
	if n := int64(len(m.keep)); n > 0 {
		if m.keep[n-1] != m.to+n-1 {
			for p, q := range m.keep {
				m.s.Idx[m.to+int64(p)] = m.s.Idx[q]
			}
			m.s.Type.MoveWide(m.s.Part(m.to, m.to+n), nil, m.s.Val, m.keep)
		}
		m.to += n
	}
	m.keep, m.into, m.add = m.keep[:0], m.into[:0], m.add[:0]
}

// Join returns the used parts of idx and val, joined. Part w begins at from[w] and has kept[w]
// entries; the parts are in ascending order. One or two threads move them within the arrays if
// little room is left over. Otherwise the threads copy them to new arrays, in any order.
func Join(t *Type, threads int, idx []int32, val Values, from, kept []int64) ([]int32, Values) {
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
				t.Copy(t.Slice(val, to[w], to[w]+n), t.Slice(val, at, at+n))
			}
		}
		return idx[:total:total], t.Slice(val, 0, total)
	}
	newIdx, newVal := fresh.Make[int32](total), t.Make(total)
	_ = parallel.Pieces(nil, threads, len(kept), func(_, w int) {
		at, n := from[w], kept[w]
		copy(newIdx[to[w]:], idx[at:at+n])
		t.Copy(t.Slice(newVal, to[w], to[w+1]), t.Slice(val, at, at+n))
	})
	return newIdx, newVal
}

func buildBySort(t *Type, m, n int, blocks []Block, count int64, dup Combine) (*Store, error) {
	order := make([]TupleAt, 0, count)
	vals := t.Make(count)
	done := int64(0)
	for k, b := range blocks {
		order = placed(order, b.Row, b.Col)
		t.Copy(t.Slice(vals, done, int64(len(order))), b.Val)
		done = int64(len(order))
		blocks[k] = Block{}
	}
	shape, repeat := sortPlaced(m, n, order, dup != nil)
	from := make([]int64, count)
	for p, e := range order {
		from[p] = e.At
	}
	sorted := t.Make(count)
	t.MoveWide(sorted, nil, vals, from)
	if repeat >= 0 {
		b := Block{make([]int32, count), make([]int32, count), sorted}
		for p, e := range order {
			b.Row[p], b.Col[p] = int32(e.Key>>32), int32(e.Key)
		}
		return nil, &DuplicateError{int(b.Row[repeat]), int(b.Col[repeat]), b}
	}
	h := &Store{Structure: *shape, Val: sorted, Type: t}
	if shape.NVals < count { // first entries of each position, with the others added
		var into, add, first []int64
		for p, e := range order {
			if p > 0 && order[p-1].Key == e.Key {
				into, add = append(into, first[len(first)-1]), append(add, int64(p))
				continue
			}
			first = append(first, int64(p))
		}
		dup(sorted, into, add)
		h.Val = t.Make(shape.NVals)
		t.MoveWide(h.Val, nil, sorted, first)
	}
	return h.Settle(), nil
}

// TupleAt is the position of a tuple, row<<32 | column, and its place in the input.
type TupleAt struct{ Key, At int64 }

// SortTuples sorts tuples by position, equal ones in the order of the input.
func SortTuples(order []TupleAt) {
	slices.SortFunc(order, func(a, b TupleAt) int {
		if a.Key != b.Key {
			return cmp.Compare(a.Key, b.Key)
		}
		return cmp.Compare(a.At, b.At)
	})
}

// placed appends tuples.
func placed(order []TupleAt, rows, cols []int32) []TupleAt {
	for p, i := range rows {
		order = append(order, TupleAt{int64(i)<<32 | int64(cols[p]), int64(len(order))})
	}
	return order
}

// sortPlaced sorts tuples by position, equal ones in the order of the input, and returns the
// structure of the hypersparse matrix of their positions. Unless they may repeat, it returns the
// place of the first tuple that does, else −1.
func sortPlaced(m, n int, order []TupleAt, repeats bool) (s *Structure, repeat int) {
	SortTuples(order)
	h := &Structure{NRows: m, NCols: n, Format: Hypersparse, Ptr: []int64{0}, RowIDs: []int32{}}
	h.Idx = make([]int32, 0, len(order))
	for p, e := range order {
		i, j := int32(e.Key>>32), int32(e.Key)
		if p > 0 && order[p-1].Key == e.Key {
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
