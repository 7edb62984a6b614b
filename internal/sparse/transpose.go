package sparse

import (
	"slices"

	"github.com/hiveblas/hiveblas/internal/fresh"
	"github.com/hiveblas/hiveblas/internal/parallel"
)

// Transpose returns the n×m transpose of s with sorted rows, using at most the given number of
// threads (0: all). CSR takes O(entries + rows + columns): a counting sort in which every thread
// has a block of rows and a private column histogram. A hypersparse result comes from a sort of the
// tuples.
func Transpose[T any](s *Store[T], threads int) *Store[T] {
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
	t := &Store[T]{Structure: Structure{NRows: s.NCols, NCols: s.NRows, NVals: s.NVals}}
	t.Ptr = make([]int64, s.NCols+1)
	t.Idx = fresh.Make[int32](s.NVals)
	if s.Val != nil {
		t.Val = fresh.Make[T](s.NVals)
	}
	if s.NVals < 1<<31 {
		countingSort[T, uint32](s, t, bounds)
	} else {
		countingSort[T, int64](s, t, bounds)
	}
	return t
}

// countingSort fills the transpose t of s. 32-bit cursors, if sufficient, halve the size of the
// histogram that every entry accesses.
func countingSort[T any, P uint32 | int64](s, t *Store[T], bounds []int) {
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
		next := counts[w]
		for k := bounds[w]; k < bounds[w+1]; k++ {
			row := int32(s.RowID(k))
			lo, hi := s.Ptr[k], s.Ptr[k+1]
			if s.Val == nil {
				for _, j := range s.Idx[lo:hi] {
					q := next[j]
					next[j] = q + 1
					t.Idx[q] = row
				}
				continue
			}
			v := s.Val[lo:hi]
			for p, j := range s.Idx[lo:hi] {
				q := next[j]
				next[j] = q + 1
				t.Idx[q] = row
				t.Val[q] = v[p]
			}
		}
	})
}

func hyperTranspose[T any](s *Store[T]) *Store[T] {
	type tuple struct {
		row, col int32
		at       int64
	}
	tuples := make([]tuple, 0, s.NVals)
	for k := range s.Vecs() {
		i := int32(s.RowID(k))
		for p := s.Ptr[k]; p < s.Ptr[k+1]; p++ {
			tuples = append(tuples, tuple{s.Idx[p], i, p})
		}
	}
	slices.SortFunc(tuples, func(a, b tuple) int {
		if a.row != b.row {
			return int(a.row) - int(b.row)
		}
		return int(a.col) - int(b.col)
	})
	t := &Store[T]{Structure: Structure{NRows: s.NCols, NCols: s.NRows, NVals: s.NVals, Format: Hypersparse}}
	t.Ptr, t.RowIDs = []int64{0}, []int32{}
	t.Idx = make([]int32, s.NVals)
	if s.Val != nil {
		t.Val = make([]T, s.NVals)
	}
	for p, e := range tuples {
		if n := len(t.RowIDs); n == 0 || t.RowIDs[n-1] != e.row {
			t.RowIDs = append(t.RowIDs, e.row)
			t.Ptr = append(t.Ptr, int64(p))
		}
		t.Ptr[len(t.Ptr)-1] = int64(p) + 1
		t.Idx[p] = e.col
		if s.Val != nil {
			t.Val[p] = s.Val[e.at]
		}
	}
	return t
}

// denseTranspose transposes Bitmap and Full in square tiles that fit in the L1 cache.
func denseTranspose[T any](s *Store[T], threads int) *Store[T] {
	const tile = 32
	m, n := s.NRows, s.NCols
	t := &Store[T]{Structure: Structure{NRows: n, NCols: m, NVals: s.NVals, Format: s.Format}}
	if s.Present != nil {
		t.Present = make([]uint8, len(s.Present))
	}
	if s.Val != nil {
		t.Val = make([]T, len(s.Val))
	}
	_ = parallel.Range(nil, threads, n, tile, func(_, jlo, jhi int) {
		for ilo := 0; ilo < m; ilo += tile {
			ihi := min(ilo+tile, m)
			for j := jlo; j < jhi; j++ {
				if t.Val != nil {
					out := t.Val[j*m+ilo : j*m+ihi]
					for d := range out {
						out[d] = s.Val[(ilo+d)*n+j]
					}
				}
				if t.Present != nil {
					out := t.Present[j*m+ilo : j*m+ihi]
					for d := range out {
						out[d] = s.Present[(ilo+d)*n+j]
					}
				}
			}
		}
	})
	return t
}
