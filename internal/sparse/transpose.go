package sparse

import (
	"github.com/hiveblas/hiveblas/internal/fresh"
	"github.com/hiveblas/hiveblas/internal/parallel"
)

// Transpose returns the n×m transpose of s with sorted rows, using at most the given number of
// threads (0: all). CSR takes O(entries + rows + columns): a counting sort in which every thread
// has a block of rows and a private column histogram. A hypersparse result comes from a sort of the
// tuples.
func (s *Store) Transpose(threads int) *Store {
	switch s.Format {
	case Bitmap, Full:
		return denseTranspose(s, threads)
	case Hypersparse:
		if s.NCols > hyperMinRows && int64(s.NCols) > hyperRatio*s.NVals {
			return hyperTranspose(s)
		}
	case CSR:
		if s.NCols > hyperMinRows && int64(s.NCols)/hyperRatio > s.NVals {
			return hyperTranspose(s)
		}
	}
	threads = parallel.Threads(threads)
	if s.NVals < 1<<15 {
		threads = 1
	}
	// Each thread has a histogram of NCols offsets: limit their total size to the entries.
	threads = max(1, min(threads, 1+int(s.NVals/int64(max(1, s.NCols)))))
	bounds := parallel.Cut(threads, s.Ptr, threads, 1)
	t := &Store{Structure: Structure{NRows: s.NCols, NCols: s.NRows, NVals: s.NVals}, Type: s.Type}
	t.Ptr = make([]int64, s.NCols+1)
	t.Idx = fresh.Make[int32](s.NVals)
	if !s.Val.None() {
		t.Val = s.Type.Make(s.NVals)
	}
	if s.NVals < 1<<31 {
		countingSort[uint32](s, t, bounds)
	} else {
		countingSort[int64](s, t, bounds)
	}
	return t
}

// countingSort fills the transpose t of s. 32-bit cursors, if sufficient, halve the size of the
// histogram that every entry accesses.
func countingSort[P uint32 | int64](s, t *Store, bounds []int) {
	threads := len(bounds) - 1
	counts := make([][]P, threads)
	parallel.Do(threads, func(w int) {
		c := make([]P, s.NCols)
		for _, j := range s.Idx[s.Ptr[bounds[w]]:s.Ptr[bounds[w+1]]] {
			c[j]++
		}
		counts[w] = c
	})
	parallel.Offsets(threads, counts, t.Ptr)
	parallel.Do(threads, func(w int) {
		from, to, next := bounds[w], bounds[w+1], counts[w]
		if s.Val.None() {
			placeShape(&s.Structure, &t.Structure, from, to, next)
			return
		}
		switch s.Type.Class {
		case Bytes1:
			placeRows(&s.Structure, &t.Structure, SliceOf[E1](s.Val), SliceOf[E1](t.Val), from, to, next)
		case Bytes2:
			placeRows(&s.Structure, &t.Structure, SliceOf[E2](s.Val), SliceOf[E2](t.Val), from, to, next)
		case Bytes4:
			placeRows(&s.Structure, &t.Structure, SliceOf[E4](s.Val), SliceOf[E4](t.Val), from, to, next)
		case Bytes8:
			placeRows(&s.Structure, &t.Structure, SliceOf[E8](s.Val), SliceOf[E8](t.Val), from, to, next)
		case Bytes16:
			placeRows(&s.Structure, &t.Structure, SliceOf[E16](s.Val), SliceOf[E16](t.Val), from, to, next)
		default:
			placeTyped(s, t, from, to, next)
		}
	})
}

// placeRows writes the entries of the stored rows from … to−1 of s to t; next holds the place of
// the next entry of each column.
func placeRows[E Sized, P uint32 | int64](s, t *Structure, val, out []E, from, to int, next []P) {
	for k := from; k < to; k++ {
		row := int32(s.RowID(k))
		lo, hi := s.Ptr[k], s.Ptr[k+1]
		v := val[lo:hi]
		for p, j := range s.Idx[lo:hi] {
			q := next[j]
			next[j] = q + 1
			t.Idx[q] = row
			out[q] = v[p]
		}
	}
}

// placeShape is placeRows without values.
func placeShape[P uint32 | int64](s, t *Structure, from, to int, next []P) {
	for k := from; k < to; k++ {
		row := int32(s.RowID(k))
		for _, j := range s.Idx[s.Ptr[k]:s.Ptr[k+1]] {
			q := next[j]
			next[j] = q + 1
			t.Idx[q] = row
		}
	}
}

// placeTyped is placeRows for values of any type: it lists their places and moves a row at a time.
func placeTyped[P uint32 | int64](s, t *Store, from, to int, next []P) {
	var at []int64
	for k := from; k < to; k++ {
		row := int32(s.RowID(k))
		lo, hi := s.Ptr[k], s.Ptr[k+1]
		at = at[:0]
		for _, j := range s.Idx[lo:hi] {
			q := next[j]
			next[j] = q + 1
			t.Idx[q] = row
			at = append(at, int64(q))
		}
		s.Type.MoveWide(t.Val, at, s.Part(lo, hi), nil)
	}
}

func hyperTranspose(s *Store) *Store {
	order := make([]TupleAt, 0, s.NVals)
	for k := range s.Vecs() {
		i := int64(s.RowID(k))
		for p := s.Ptr[k]; p < s.Ptr[k+1]; p++ {
			order = append(order, TupleAt{int64(s.Idx[p])<<32 | i, p})
		}
	}
	shape, _ := sortPlaced(s.NCols, s.NRows, order, false)
	t := &Store{Structure: *shape, Type: s.Type}
	if s.Val.None() {
		return t
	}
	from := make([]int64, len(order))
	for p, e := range order {
		from[p] = e.At
	}
	t.Val = s.Type.Make(s.NVals)
	s.Type.MoveWide(t.Val, nil, s.Val, from)
	return t
}

// denseTranspose transposes Bitmap and Full in square tiles that fit in the L1 cache.
func denseTranspose(s *Store, threads int) *Store {
	m, n := s.NRows, s.NCols
	t := &Store{Structure: Structure{NRows: n, NCols: m, NVals: s.NVals, Format: s.Format}, Type: s.Type}
	if s.Present != nil {
		t.Present = make([]uint8, len(s.Present))
	}
	if !s.Val.None() {
		t.Val = s.Type.Make(int64(s.Val.Len()))
	}
	_ = parallel.Range(nil, threads, n, tile, func(_, lo, hi int) {
		if t.Present != nil {
			tiles(m, n, s.Present, t.Present, lo, hi)
		}
		if s.Val.None() {
			return
		}
		switch s.Type.Class {
		case Bytes1:
			tiles(m, n, SliceOf[E1](s.Val), SliceOf[E1](t.Val), lo, hi)
		case Bytes2:
			tiles(m, n, SliceOf[E2](s.Val), SliceOf[E2](t.Val), lo, hi)
		case Bytes4:
			tiles(m, n, SliceOf[E4](s.Val), SliceOf[E4](t.Val), lo, hi)
		case Bytes8:
			tiles(m, n, SliceOf[E8](s.Val), SliceOf[E8](t.Val), lo, hi)
		case Bytes16:
			tiles(m, n, SliceOf[E16](s.Val), SliceOf[E16](t.Val), lo, hi)
		default:
			from := make([]int64, m)
			for j := lo; j < hi; j++ {
				for i := range from {
					from[i] = int64(i)*int64(n) + int64(j)
				}
				s.Type.MoveWide(t.Part(int64(j)*int64(m), int64(j+1)*int64(m)), nil, s.Val, from)
			}
		}
	})
	return t
}

// tile is the number of rows and columns of a tile.
const tile = 32

// tiles writes the rows from … to−1 of the transpose of an m×n array.
func tiles[E any](m, n int, val, out []E, from, to int) {
	for ilo := 0; ilo < m; ilo += tile {
		ihi := min(ilo+tile, m)
		for j := from; j < to; j++ {
			part := out[j*m+ilo : j*m+ihi]
			for d := range part {
				part[d] = val[(ilo+d)*n+j]
			}
		}
	}
}
