package sparse

import (
	"github.com/hiveblas/hiveblas/internal/fresh"
	"github.com/hiveblas/hiveblas/internal/parallel"
)

// hyperMinRows is the number of rows up to which Settle keeps a matrix in CSR format: the offsets
// of its empty rows take 32 KiB at most.
const hyperMinRows = 4096

// hyperRatio is the ratio of rows to non-empty rows above which a matrix is stored as hypersparse.
const hyperRatio = 16

// Settle returns s in CSR or hypersparse format, whichever suits the number of non-empty rows. The
// result shares Idx and Val with s.
func Settle[T any](s *Store[T]) *Store[T] { return reshaped(s, SettleShape(&s.Structure)) }

// reshaped returns s with another structure for the same values.
func reshaped[T any](s *Store[T], shape *Structure) *Store[T] {
	if shape == &s.Structure {
		return s
	}
	return &Store[T]{Structure: *shape, Val: s.Val}
}

// SettleShape is Settle for a structure.
func SettleShape(s *Structure) *Structure {
	switch {
	case s.Format == CSR && s.NRows > hyperMinRows:
		// Stop counting when the ratio is reached.
		used := 0
		for i := 0; i < s.NRows; i++ {
			if s.Ptr[i+1] > s.Ptr[i] {
				used++
			}
			if used*hyperRatio >= s.NRows {
				return s
			}
		}
		return HyperShape(s)
	case s.Format == Hypersparse && (s.NRows <= hyperMinRows || len(s.RowIDs)*hyperRatio >= s.NRows):
		return CSRShape(s)
	}
	return s
}

// ToHyper returns the hypersparse form. The result shares Idx and Val with a CSR s. O(rows), plus
// O(positions) from Bitmap and Full.
func ToHyper[T any](s *Store[T]) *Store[T] {
	s = ToSparse(s)
	return reshaped(s, HyperShape(&s.Structure))
}

// HyperShape returns the hypersparse form of a CSR or hypersparse structure.
func HyperShape(s *Structure) *Structure {
	if s.Format == Hypersparse {
		return s
	}
	h := *s
	h.Format = Hypersparse
	h.Ptr, h.RowIDs = []int64{0}, []int32{}
	for i := 0; i < s.NRows; i++ {
		if s.Ptr[i+1] > s.Ptr[i] {
			h.RowIDs = append(h.RowIDs, int32(i))
			h.Ptr = append(h.Ptr, s.Ptr[i+1])
		}
	}
	return &h
}

// ToCSR returns the CSR form. The result shares Idx and Val with a hypersparse s. O(rows), plus
// O(positions) from Bitmap and Full.
func ToCSR[T any](s *Store[T]) *Store[T] {
	s = ToSparse(s)
	return reshaped(s, CSRShape(&s.Structure))
}

// CSRShape returns the CSR form of a CSR or hypersparse structure.
func CSRShape(s *Structure) *Structure {
	if s.Format == CSR {
		return s
	}
	c := *s
	c.Format, c.RowIDs = CSR, nil
	c.Ptr = make([]int64, s.NRows+1)
	row := 0
	for k, r := range s.RowIDs {
		for ; row <= int(r); row++ {
			c.Ptr[row] = s.Ptr[k]
		}
	}
	for ; row <= s.NRows; row++ {
		c.Ptr[row] = s.NVals
	}
	return &c
}

// ToSparse returns s if it is CSR or hypersparse, and its CSR form otherwise.
func ToSparse[T any](s *Store[T]) *Store[T] {
	if s.Sparse() {
		return s
	}
	return denseToCSR(s)
}

func denseToCSR[T any](s *Store[T]) *Store[T] {
	n := s.NCols
	c := &Store[T]{Structure: Structure{NRows: s.NRows, NCols: n, NVals: s.NVals}}
	c.Ptr = make([]int64, s.NRows+1)
	c.Idx = fresh.Make[int32](s.NVals)
	if s.Val != nil {
		c.Val = fresh.Make[T](s.NVals)
	}
	threads := parallel.Threads(0)
	grain := max(1, (1<<16)/max(1, n))
	if s.Format == Full {
		_ = parallel.Range(nil, threads, s.NRows, grain, func(_, lo, hi int) {
			for i := lo; i < hi; i++ {
				c.Ptr[i+1] = int64(i+1) * int64(n)
				row := c.Idx[i*n : (i+1)*n]
				for j := range row {
					row[j] = int32(j)
				}
			}
			if s.Val != nil {
				copy(c.Val[lo*n:hi*n], s.Val[lo*n:hi*n])
			}
		})
		return c
	}
	_ = parallel.Range(nil, threads, s.NRows, grain, func(_, lo, hi int) {
		for i := lo; i < hi; i++ {
			var count int64
			for _, b := range s.Present[i*n : (i+1)*n] {
				count += int64(b)
			}
			c.Ptr[i+1] = count
		}
	})
	parallel.Sum(threads, c.Ptr)
	_ = parallel.Range(nil, threads, s.NRows, grain, func(_, lo, hi int) {
		p := c.Ptr[lo]
		for i := lo; i < hi; i++ {
			base := i * n
			for j, b := range s.Present[base : base+n] {
				if b == 0 {
					continue
				}
				c.Idx[p] = int32(j)
				if s.Val != nil {
					c.Val[p] = s.Val[base+j]
				}
				p++
			}
		}
	})
	return c
}

// ToBitmap returns the bitmap form: O(positions) time and memory.
func ToBitmap[T any](s *Store[T]) *Store[T] {
	if s.Format == Bitmap {
		return s
	}
	cells, _ := s.Cells()
	b := &Store[T]{Structure: Structure{NRows: s.NRows, NCols: s.NCols, NVals: s.NVals, Format: Bitmap}}
	b.Present = make([]uint8, cells)
	if s.Format == Full {
		for p := range b.Present {
			b.Present[p] = 1
		}
		b.Val = clone(s.Val)
		return b
	}
	if s.Val != nil {
		b.Val = make([]T, cells)
	}
	Scatter(s, b.Present, b.Val)
	return b
}

// ToFull returns the full form, with the value fill at positions without an entry.
func ToFull[T any](s *Store[T], fill T) *Store[T] {
	if s.Format == Full {
		return s
	}
	cells, _ := s.Cells()
	f := &Store[T]{Structure: Structure{NRows: s.NRows, NCols: s.NCols, NVals: int64(cells), Format: Full}}
	f.Val = make([]T, cells)
	if s.Format == Bitmap {
		for p, b := range s.Present {
			if b != 0 {
				f.Val[p] = s.Val[p]
			} else {
				f.Val[p] = fill
			}
		}
		return f
	}
	var zero any = *new(T)
	if any(fill) != zero {
		for p := range f.Val {
			f.Val[p] = fill
		}
	}
	Scatter(s, nil, f.Val)
	return f
}

// Scatter writes the entries of a listed s to row-major arrays: it sets present to 1 and val to the
// value. Either array may be nil.
func Scatter[T any](s *Store[T], present []uint8, val []T) {
	s.Structure.Mark(present)
	if val == nil || s.Val == nil {
		return
	}
	for k := range s.Vecs() {
		base := s.RowID(k) * s.NCols
		lo, hi := s.Ptr[k], s.Ptr[k+1]
		v := s.Val[lo:hi]
		for p, j := range s.Idx[lo:hi] {
			val[base+int(j)] = v[p]
		}
	}
}

// Mark sets present, a row-major array or nil, to 1 at the entries of a listed s.
func (s *Structure) Mark(present []uint8) {
	if present == nil {
		return
	}
	for k := range s.Vecs() {
		base := s.RowID(k) * s.NCols
		for _, j := range s.Idx[s.Ptr[k]:s.Ptr[k+1]] {
			present[base+int(j)] = 1
		}
	}
}

// Nonzero returns the positions of s whose value is not the zero value of T.
func Nonzero[T comparable](s *Store[T]) *Structure {
	if s.Val == nil {
		return &s.Structure
	}
	var zero T
	if !s.Sparse() {
		b := &Structure{NRows: s.NRows, NCols: s.NCols, Format: Bitmap, Present: make([]uint8, len(s.Val))}
		for p, v := range s.Val {
			if v != zero && (s.Format == Full || s.Present[p] != 0) {
				b.Present[p] = 1
				b.NVals++
			}
		}
		return b
	}
	out := s.Structure
	out.Ptr = make([]int64, len(s.Ptr))
	out.Idx = make([]int32, 0, len(s.Idx))
	for k := range s.Vecs() {
		for p := s.Ptr[k]; p < s.Ptr[k+1]; p++ {
			if s.Val[p] != zero {
				out.Idx = append(out.Idx, s.Idx[p])
			}
		}
		out.Ptr[k+1] = int64(len(out.Idx))
	}
	out.NVals = int64(len(out.Idx))
	return &out
}
