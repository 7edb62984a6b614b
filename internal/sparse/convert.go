package sparse

import (
	"context"
	"encoding/binary"
	"math/bits"

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
func (s *Store) Settle() *Store { return reshaped(s, SettleShape(&s.Structure)) }

// reshaped returns s with another structure for the same values.
func reshaped(s *Store, shape *Structure) *Store {
	if shape == &s.Structure {
		return s
	}
	return s.With(shape)
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
func (s *Store) ToHyper() *Store {
	s = s.ToSparse()
	return reshaped(s, HyperShape(&s.Structure))
}

// HyperShape returns the hypersparse form of a CSR or hypersparse structure.
func HyperShape(s *Structure) *Structure {
	if s.Format == Hypersparse {
		return s
	}
	// Each piece counts its rows with entries, then lists them.
	pieces := (s.NRows-1)/flatGrain + 1
	at := make([]int64, pieces+1)
	rows := func(list func(p, i int)) {
		_ = parallel.Pieces(nil, parallel.Threads(0), pieces, func(_, p int) {
			for i := p * flatGrain; i < min((p+1)*flatGrain, s.NRows); i++ {
				if s.Ptr[i+1] > s.Ptr[i] {
					list(p, i)
				}
			}
		})
	}
	rows(func(p, _ int) { at[p+1]++ })
	for p := range pieces {
		at[p+1] += at[p]
	}
	h := *s
	h.Format = Hypersparse
	h.Ptr, h.RowIDs = fresh.Make[int64](at[pieces]+1), fresh.Make[int32](at[pieces])
	h.Ptr[0] = 0
	rows(func(p, i int) { // moves the start of the piece
		h.RowIDs[at[p]], h.Ptr[at[p]+1] = int32(i), s.Ptr[i+1]
		at[p]++
	})
	return &h
}

// ToCSR returns the CSR form. The result shares Idx and Val with a hypersparse s. O(rows), plus
// O(positions) from Bitmap and Full.
func (s *Store) ToCSR() *Store {
	s = s.ToSparse()
	return reshaped(s, CSRShape(&s.Structure))
}

// CSRShape returns the CSR form of a CSR or hypersparse structure.
func CSRShape(s *Structure) *Structure {
	if s.Format == CSR {
		return s
	}
	c := *s
	c.Format, c.RowIDs = CSR, nil
	c.Ptr = fresh.Make[int64](int64(s.NRows) + 1)
	last := -1 // the last row with entries
	if k := len(s.RowIDs); k > 0 {
		last = int(s.RowIDs[k-1])
	}
	flat(len(s.RowIDs), func(lo, hi int) {
		row := 0
		if lo > 0 {
			row = int(s.RowIDs[lo-1]) + 1
		}
		for k := lo; k < hi; k++ {
			for ; row <= int(s.RowIDs[k]); row++ {
				c.Ptr[row] = s.Ptr[k]
			}
		}
	})
	flat(s.NRows-last, func(lo, hi int) { fill(c.Ptr[last+1+lo:last+1+hi], s.NVals) })
	return &c
}

// flatGrain is the number of items of a piece of a loop over an array. CSR to hypersparse to CSR of
// R-MAT 20 takes 9.4 ms on 16 threads of a Xeon with 2¹⁶, and 6.1 to 7.2 with flatGrain.
const flatGrain = 1 << 15

// flat runs fn on the pieces of [0, n) by all threads.
func flat(n int, fn func(lo, hi int)) {
	_ = parallel.Range(nil, parallel.Threads(0), n, flatGrain, func(_, lo, hi int) { fn(lo, hi) })
}

func fill[T any](list []T, x T) {
	for p := range list {
		list[p] = x
	}
}

// Filled returns n copies of x, written by all threads.
func Filled[T any](n int, x T) []T {
	list := fresh.Make[T](int64(n))
	flat(n, func(lo, hi int) { fill(list[lo:hi], x) })
	return list
}

// Dense returns the values of s by rows, as new memory, with x[0] at positions without an entry.
func (s *Store) Dense(x Values) Values {
	t := s.Type
	switch s.Format {
	case Full:
		return t.Clone(s.Val)
	case Bitmap:
		list := t.Clone(s.Val)
		absent := absentOf(s.Present)
		flat(len(s.Present), func(lo, hi int) {
			t.FillAt(t.Slice(list, int64(lo), int64(hi)), absent(lo, hi), x)
		})
		return list
	}
	cells := int64(s.NRows) * int64(s.NCols)
	var list Values
	if s.NVals == cells && !s.Val.None() {
		list = t.Make(s.NVals)
	} else {
		list = t.Filled(cells, x)
	}
	s.Scatter(nil, list, 0)
	return list
}

// absentOf returns a function that lists the positions of a piece of a bitmap that have no entry,
// from the begin of the piece.
func absentOf(present []uint8) func(lo, hi int) []int32 {
	return func(lo, hi int) []int32 {
		at := make([]int32, 0, hi-lo)
		for p, b := range present[lo:hi] {
			if b == 0 {
				at = append(at, int32(p))
			}
		}
		return at
	}
}

// ToSparse returns s if it is CSR or hypersparse, and its CSR form otherwise.
func (s *Store) ToSparse() *Store {
	if s.Sparse() {
		return s
	}
	return denseToCSR(s)
}

func denseToCSR(s *Store) *Store {
	n := s.NCols
	c := &Store{Structure: Structure{NRows: s.NRows, NCols: n, NVals: s.NVals}, Type: s.Type}
	c.Ptr = make([]int64, s.NRows+1)
	c.Idx = fresh.Make[int32](s.NVals)
	if !s.Val.None() {
		c.Val = s.Type.Make(s.NVals)
	}
	threads := parallel.Threads(0)
	grain := max(1, (1<<16)/max(1, n))
	if s.NRows == 1 {
		lineToCSR(s, c)
		return c
	}
	if s.Format == Full {
		_ = parallel.Range(nil, threads, s.NRows, grain, func(_, lo, hi int) {
			for i := lo; i < hi; i++ {
				c.Ptr[i+1] = int64(i+1) * int64(n)
				row := c.Idx[i*n : (i+1)*n]
				for j := range row {
					row[j] = int32(j)
				}
			}
			copyPart(c, s, int64(lo*n), int64(hi*n))
		})
		return c
	}
	_ = parallel.Range(nil, threads, s.NRows, grain, func(_, lo, hi int) {
		for i := lo; i < hi; i++ {
			c.Ptr[i+1] = CountPresent(s.Present[i*n : (i+1)*n])
		}
	})
	parallel.Sum(threads, c.Ptr)
	_ = parallel.Range(nil, threads, s.NRows, grain, func(_, lo, hi int) {
		for i := lo; i < hi; i++ {
			listRow(s, c, i*n, i*n+n, 0, c.Ptr[i], c.Ptr[i+1])
		}
	})
	return c
}

// copyPart copies the values from … to−1 of s to the same place in c.
func copyPart(c, s *Store, from, to int64) {
	if !s.Val.None() {
		s.Type.Copy(c.Part(from, to), s.Part(from, to))
	}
}

// AppendPresent appends the positions where present is 1. Most words of 8 bytes are 0 if there are
// few entries.
func AppendPresent(list []int32, present []uint8) []int32 {
	p := 0
	for ; p+8 <= len(present); p += 8 {
		for word := binary.LittleEndian.Uint64(present[p:]); word != 0; word &= word - 1 {
			list = append(list, int32(p+bits.TrailingZeros64(word)/8))
		}
	}
	for ; p < len(present); p++ {
		if present[p] != 0 {
			list = append(list, int32(p))
		}
	}
	return list
}

// CountPresent returns the number of bytes that are 1; all others are 0.
func CountPresent(present []uint8) (n int64) {
	p := 0
	for ; p+8 <= len(present); p += 8 {
		n += int64(bits.OnesCount64(binary.LittleEndian.Uint64(present[p:])))
	}
	for _, b := range present[p:] {
		n += int64(b)
	}
	return n
}

// listRow lists the entries at the positions from … to−1 of a bitmap s, which are the columns from
// first on of one row, as the entries lo … hi−1 of c.
func listRow(s, c *Store, from, to, first int, lo, hi int64) {
	out := AppendPresent(c.Idx[lo:lo:hi], s.Present[from:to])
	if !s.Val.None() {
		s.Type.Move(c.Part(lo, hi), nil, s.Part(int64(from), int64(to)), out)
	}
	if first > 0 {
		for q := range out {
			out[q] += int32(first)
		}
	}
}

// lineToCSR lists the entries of a dense vector s in c.
func lineToCSR(s, c *Store) {
	c.Ptr[1] = s.NVals
	if s.Format == Full {
		flat(s.NCols, func(lo, hi int) {
			for j := lo; j < hi; j++ {
				c.Idx[j] = int32(j)
			}
			copyPart(c, s, int64(lo), int64(hi))
		})
		return
	}
	at := make([]int64, s.NCols/flatGrain+2) // where the entries of each piece begin
	flat(s.NCols, func(lo, hi int) {
		at[lo/flatGrain+1] = CountPresent(s.Present[lo:hi])
	})
	for p := range len(at) - 1 {
		at[p+1] += at[p]
	}
	flat(s.NCols, func(lo, hi int) {
		piece := lo / flatGrain
		listRow(s, c, lo, hi, lo, at[piece], at[piece+1])
	})
}

// ToBitmap returns the bitmap form: O(positions) time and memory.
func (s *Store) ToBitmap() *Store {
	if s.Format == Bitmap {
		return s
	}
	cells, _ := s.Cells()
	b := &Store{Structure: Structure{NRows: s.NRows, NCols: s.NCols, NVals: s.NVals, Format: Bitmap}, Type: s.Type, Moved: s.Moved}
	if s.Format == Full {
		b.Present, b.Val = Filled[uint8](cells, 1), s.Type.Clone(s.Val)
		return b
	}
	b.Present = Filled[uint8](cells, 0)
	if !s.Val.None() {
		b.Val = s.Type.Filled(int64(cells), s.Type.Zero)
	}
	s.Scatter(b.Present, b.Val, 0)
	return b
}

// ToFull returns the full form, with the value x[0] at positions without an entry.
func (s *Store) ToFull(x Values) *Store {
	if s.Format == Full {
		return s
	}
	cells, _ := s.Cells()
	return &Store{Structure: Structure{NRows: s.NRows, NCols: s.NCols, NVals: int64(cells), Format: Full}, Val: s.Dense(x), Type: s.Type}
}

// Scatter writes the entries of a listed s to row-major arrays: it sets present to 1 and val to the
// value. present may be nil and val none. 0 threads are GOMAXPROCS.
func (s *Store) Scatter(present []uint8, val Values, threads int) {
	s.Structure.Mark(present, threads)
	if val.None() || s.Val.None() {
		return
	}
	_ = s.Spans(nil, threads, func(base int, lo, hi int64) {
		s.Type.Move(s.Type.Slice(val, int64(base), int64(base+s.NCols)), s.Idx[lo:hi], s.Part(lo, hi), nil)
	})
}

// Mark sets present, a row-major array or nil, to 1 at the entries of a listed s.
func (s *Structure) Mark(present []uint8, threads int) {
	if present == nil {
		return
	}
	_ = s.Spans(nil, threads, func(base int, lo, hi int64) {
		for _, j := range s.Idx[lo:hi] {
			present[base+int(j)] = 1
		}
	})
}

// RowOfEntries returns the row of each entry of a listed s.
func (s *Structure) RowOfEntries() []int32 {
	rows := fresh.Make[int32](s.NVals)
	_ = s.Spans(nil, 0, func(base int, lo, hi int64) { fill(rows[lo:hi], int32(base/max(s.NCols, 1))) })
	return rows
}

// Spans runs fn on the entries lo ≤ p < hi of each row, or a part of it, of a listed s. base is the
// position of the first column of the row. It returns ctx.Err() if the context ends before all of
// them have started.
func (s *Structure) Spans(ctx context.Context, threads int, fn func(base int, lo, hi int64)) error {
	threads = parallel.Threads(threads)
	if s.Vecs() == 1 { // divide the row
		base := s.RowID(0) * s.NCols
		return parallel.Range(ctx, threads, int(s.Ptr[1]), flatGrain, func(_, lo, hi int) { fn(base, int64(lo), int64(hi)) })
	}
	bounds := parallel.Cut(threads, s.Ptr, int(min(int64(8*threads), s.NVals/flatGrain+1)), 1)
	return parallel.Pieces(ctx, threads, len(bounds)-1, func(_, piece int) {
		for k := bounds[piece]; k < bounds[piece+1]; k++ {
			fn(s.RowID(k)*s.NCols, s.Ptr[k], s.Ptr[k+1])
		}
	})
}

// Nonzero returns the positions of s with a value other than the zero value.
func (s *Store) Nonzero() *Structure {
	if s.Val.None() {
		return &s.Structure
	}
	keep := make([]uint8, s.Val.Len())
	flat(len(keep), func(lo, hi int) { s.Type.Nonzero(keep[lo:hi], s.Part(int64(lo), int64(hi))) })
	if !s.Sparse() {
		b := &Structure{NRows: s.NRows, NCols: s.NCols, Format: Bitmap, Present: keep}
		for p := range keep {
			if s.Format == Bitmap {
				keep[p] &= s.Present[p]
			}
			b.NVals += int64(keep[p])
		}
		return b
	}
	out := s.Structure
	out.Ptr = make([]int64, len(s.Ptr))
	out.Idx = make([]int32, 0, len(s.Idx))
	for k := range s.Vecs() {
		for p := s.Ptr[k]; p < s.Ptr[k+1]; p++ {
			if keep[p] != 0 {
				out.Idx = append(out.Idx, s.Idx[p])
			}
		}
		out.Ptr[k+1] = int64(len(out.Idx))
	}
	out.NVals = int64(len(out.Idx))
	return &out
}
