// Package sparse defines the storage that every layer of hiveblas shares: the structure of a matrix
// (the positions of its entries), the values, and the conversions between formats.
//
// Invariants, which every constructor establishes and every reader assumes: rows in ascending
// order, column indices of a row strictly ascending (no duplicates), 0 ≤ index < NCols, Ptr[0] = 0
// and Ptr non-decreasing. Row offsets are 64-bit and column indices 32-bit: the wide offsets cost
// nothing and the narrow indices save bandwidth.
package sparse

import (
	"context"
	"fmt"
	"slices"
	"sync/atomic"
	"unsafe"

	"github.com/hiveblas/hiveblas/internal/fresh"
	"github.com/hiveblas/hiveblas/internal/parallel"
	"github.com/hiveblas/hiveblas/internal/stream"
)

// MaxDim is the largest number of rows or columns: indices are 32-bit.
const MaxDim = 1<<31 - 1

// Format is the storage layout of a matrix.
type Format uint8

// The formats. All are row-major.
const (
	CSR         Format = iota // offsets of every row, 32-bit column indices
	Hypersparse               // as CSR, with offsets of non-empty rows only
	Bitmap                    // one value and one presence byte per position
	Full                      // one value per position, every position present
	Automatic                 // the library chooses the format
)

// String returns the format's name in lower case.
func (f Format) String() string {
	switch f {
	case CSR:
		return "csr"
	case Hypersparse:
		return "hypersparse"
	case Bitmap:
		return "bitmap"
	case Full:
		return "full"
	case Automatic:
		return "automatic"
	}
	return fmt.Sprintf("format(%d)", uint8(f))
}

// Structure holds the positions of the entries of an NRows×NCols matrix.
type Structure struct {
	NRows, NCols int
	Format       Format
	NVals        int64
	Ptr          []int64 // CSR: NRows+1 offsets into Idx; Hypersparse: len(RowIDs)+1
	Idx          []int32 // CSR, Hypersparse: column of each entry
	RowIDs       []int32 // Hypersparse: row numbers of the stored rows, ascending
	Present      []uint8 // Bitmap: 1 where there is an entry, row-major
}

// Store is a structure and its values. Val is parallel to Idx (CSR, Hypersparse) or covers all
// positions row-major (Bitmap, Full). If Val is None and the structure has entries, the store is a
// pattern: every value is true.
type Store struct {
	Structure
	Val  Values
	Type *Type
	// Moved is the number of entries that small updates of a list have copied since it was made. A
	// bitmap that is made of the list keeps it; see UpdatesPay.
	Moved int64
}

// Empty returns an m×n store without entries: CSR if m is small, hypersparse otherwise, so that no
// memory is spent on the offsets of empty rows.
func Empty(t *Type, m, n int) *Store {
	s := &Store{Structure: EmptyShape(m, n), Val: t.Zeroed(0), Type: t}
	return s
}

// EmptyShape is the structure of Empty.
func EmptyShape(m, n int) Structure {
	s := Structure{NRows: m, NCols: n}
	if m > hyperMinRows {
		s.Format = Hypersparse
		s.Ptr = []int64{0}
		s.RowIDs = []int32{}
	} else {
		s.Ptr = make([]int64, m+1)
	}
	s.Idx = []int32{}
	return s
}

// boolType is the type of a pattern.
var boolType *Type

// Pattern returns a store over the same structure, without values.
func (s *Structure) Pattern() *Store { return &Store{Structure: *s, Type: boolType} }

// Is reports whether two listed structures are the same lists.
func (s *Structure) Is(t *Structure) bool {
	return s.NVals == t.NVals && s.Format == t.Format && s.NRows == t.NRows && s.NCols == t.NCols &&
		same(s.Ptr, t.Ptr) && same(s.Idx, t.Idx) && same(s.RowIDs, t.RowIDs)
}

func same[T any](a, b []T) bool {
	return len(a) == len(b) && unsafe.SliceData(a) == unsafe.SliceData(b)
}

// With returns a store of another structure for the same values.
func (s *Store) With(shape *Structure) *Store {
	return &Store{Structure: *shape, Val: s.Val, Type: s.Type}
}

// Holding returns a store of the same structure and type with other values.
func (s *Store) Holding(v Values) *Store { return &Store{Structure: s.Structure, Val: v, Type: s.Type} }

// Part returns the values lo … hi−1, and none of a pattern.
func (s *Store) Part(lo, hi int64) Values { return s.Type.Slice(s.Val, lo, hi) }

// ValueAt returns the value at a place, one value: True of a pattern.
func (s *Store) ValueAt(at int64) Values {
	if s.Val.None() {
		return s.Type.True
	}
	return s.Type.One(s.Val, at)
}

// Valued returns s with values. The entries of a pattern get the value Type.True.
func (s *Store) Valued() *Store {
	if !s.Val.None() {
		return s
	}
	n := len(s.Idx)
	if !s.Sparse() {
		n, _ = s.Cells()
	}
	return s.Holding(s.Type.Filled(int64(n), s.Type.True))
}

// Vecs returns the number of stored rows: NRows, or len(RowIDs) for Hypersparse.
func (s *Structure) Vecs() int {
	if s.Format == Hypersparse {
		return len(s.RowIDs)
	}
	return s.NRows
}

// RowID returns the row number of the k-th stored row.
func (s *Structure) RowID(k int) int {
	if s.Format == Hypersparse {
		return int(s.RowIDs[k])
	}
	return k
}

// Span returns the range of row i in Idx, for CSR and Hypersparse.
func (s *Structure) Span(i int) (lo, hi int64) {
	if s.Format == CSR {
		return s.Ptr[i], s.Ptr[i+1]
	}
	lo32, hi32 := 0, len(s.RowIDs)
	for lo32 < hi32 {
		mid := int(uint(lo32+hi32) / 2)
		if int(s.RowIDs[mid]) < i {
			lo32 = mid + 1
		} else {
			hi32 = mid
		}
	}
	if lo32 < len(s.RowIDs) && int(s.RowIDs[lo32]) == i {
		return s.Ptr[lo32], s.Ptr[lo32+1]
	}
	return 0, 0
}

// RowBlocks runs fn on blocks of the stored rows of a listed structure, of about equal numbers of
// entries. It returns ctx.Err() if the context ends before all blocks have started.
//
// Blocks of equally many rows are uneven: the first 4096 rows of R-MAT 18 have a seventh of its
// entries.
func (s *Structure) RowBlocks(ctx context.Context, threads int, fn func(worker, lo, hi int)) error {
	const perRow, grain = 4, 1 << 12
	work := s.NVals + perRow*int64(s.Vecs())
	threads = parallel.Share(threads, work, grain)
	bounds := parallel.Cut(threads, s.Ptr, int(min(int64(16*threads), work/grain+1)), perRow)
	return parallel.Pieces(ctx, threads, len(bounds)-1, func(w, b int) { fn(w, bounds[b], bounds[b+1]) })
}

// Sparse reports whether the entries are listed (CSR or Hypersparse).
func (s *Structure) Sparse() bool { return s.Format <= Hypersparse }

// Cells returns NRows·NCols, or false if the product overflows an int.
func (s *Structure) Cells() (int, bool) { return Cells(s.NRows, s.NCols) }

// Cells returns m·n, or false if the product overflows an int.
func Cells(m, n int) (int, bool) {
	if m != 0 && n > (1<<62)/m {
		return 0, false
	}
	return m * n, true
}

// Has reports whether position (i, j) has an entry, and its index in Val. O(log row length) for
// listed formats, O(1) otherwise.
func (s *Structure) Has(i, j int) (at int64, ok bool) {
	switch s.Format {
	case Full:
		return int64(i)*int64(s.NCols) + int64(j), true
	case Bitmap:
		at = int64(i)*int64(s.NCols) + int64(j)
		return at, s.Present[at] != 0
	}
	lo, hi := s.Span(i)
	end := hi
	for lo < hi {
		mid := int64(uint64(lo+hi) / 2)
		if int(s.Idx[mid]) < j {
			lo = mid + 1
		} else {
			hi = mid
		}
	}
	return lo, lo < end && int(s.Idx[lo]) == j
}

// Clone returns a deep copy.
func (s *Store) Clone() *Store {
	return &Store{Structure: s.Structure.Clone(), Val: s.Type.Clone(s.Val), Type: s.Type, Moved: s.Moved}
}

// Own returns a copy with its own values and presence bytes. Offsets and indices are shared: they
// are immutable once built.
func (s *Store) Own() *Store {
	c := *s
	c.Val, c.Present = s.Type.Clone(s.Val), clone(s.Present)
	return &c
}

// Clone returns a deep copy.
func (s *Structure) Clone() Structure {
	c := *s
	c.Ptr, c.Idx, c.RowIDs, c.Present = clone(s.Ptr), clone(s.Idx), clone(s.RowIDs), clone(s.Present)
	return c
}

func clone[E any](x []E) []E {
	if x == nil {
		return nil
	}
	y := fresh.Make[E](int64(len(x)))
	_ = Copy(nil, 0, y, x)
	return y
}

// Copy copies src to dst by the threads, past the caches if they are larger than these.
func Copy[E any](ctx context.Context, threads int, dst, src []E) error {
	large := stream.Large[E](int64(len(dst)))
	return parallel.Range(ctx, threads, len(dst), flatGrain, func(_, lo, hi int) {
		if !large {
			copy(dst[lo:hi], src[lo:hi])
			return
		}
		stream.Copy(dst[lo:hi], src[lo:hi])
		stream.Fence()
	})
}

// Equal reports whether two lists are equal.
func Equal[E comparable](x, y []E) bool {
	if len(x) != len(y) {
		return false
	}
	var differ atomic.Bool
	flat(len(x), func(lo, hi int) {
		if !differ.Load() && !slices.Equal(x[lo:hi], y[lo:hi]) {
			differ.Store(true)
		}
	})
	return !differ.Load()
}

// Check verifies the invariants of the package comment and returns the first violation. O(entries).
func (s *Structure) Check(nval int, pattern bool) error {
	if s.NRows < 0 || s.NCols < 0 || s.NRows > MaxDim || s.NCols > MaxDim {
		return fmt.Errorf("dimensions %d×%d outside 0…%d", s.NRows, s.NCols, MaxDim)
	}
	switch s.Format {
	case Full, Bitmap:
		cells, ok := s.Cells()
		if !ok || (!pattern && nval != cells) {
			return fmt.Errorf("%d values for %d×%d positions", nval, s.NRows, s.NCols)
		}
		if s.Format == Full {
			if s.NVals != int64(cells) {
				return fmt.Errorf("full matrix of %d positions counts %d entries", cells, s.NVals)
			}
			return nil
		}
		if len(s.Present) != cells {
			return fmt.Errorf("%d presence bytes for %d positions", len(s.Present), cells)
		}
		var n atomic.Int64
		if err := firstError(cells, cells, func(lo, hi int) error {
			var ones int64
			for p, b := range s.Present[lo:hi] {
				if b > 1 {
					return fmt.Errorf("presence byte %d at position %d, want 0 or 1", b, lo+p)
				}
				ones += int64(b)
			}
			n.Add(ones)
			return nil
		}); err != nil {
			return err
		}
		if n.Load() != s.NVals {
			return fmt.Errorf("bitmap holds %d entries, counts %d", n.Load(), s.NVals)
		}
		return nil
	case Hypersparse:
		if err := firstError(len(s.RowIDs), len(s.RowIDs), s.checkRowIDs); err != nil {
			return err
		}
	}
	if len(s.Ptr) != s.Vecs()+1 {
		return fmt.Errorf("%d row offsets for %d rows, want %d", len(s.Ptr), s.Vecs(), s.Vecs()+1)
	}
	if s.Ptr[0] != 0 || s.Ptr[len(s.Ptr)-1] != int64(len(s.Idx)) {
		return fmt.Errorf("row offsets run from %d to %d, want 0 to %d", s.Ptr[0], s.Ptr[len(s.Ptr)-1], len(s.Idx))
	}
	if s.NVals != int64(len(s.Idx)) || (!pattern && nval != len(s.Idx)) {
		return fmt.Errorf("%d column indices, %d values, count %d", len(s.Idx), nval, s.NVals)
	}
	rows := len(s.Ptr) - 1
	return firstError(rows, rows+len(s.Idx), s.checkRows)
}

// firstError runs check on pieces of [0, n), which take work steps together, by all threads. It
// returns the error of the first piece with one.
func firstError(n, work int, check func(lo, hi int) error) error {
	pieces := max(1, work/flatGrain)
	found := make([]error, pieces)
	_ = parallel.Pieces(nil, parallel.Threads(0), pieces, func(_, p int) {
		found[p] = check(n*p/pieces, n*(p+1)/pieces)
	})
	for _, err := range found {
		if err != nil {
			return err
		}
	}
	return nil
}

// checkRowIDs returns the first row number of a part of the list that does not ascend, or nil.
func (s *Structure) checkRowIDs(from, to int) error {
	for k := from; k < to; k++ {
		if r := s.RowIDs[k]; r < 0 || int(r) >= s.NRows || (k > 0 && s.RowIDs[k-1] >= r) {
			return fmt.Errorf("row list is not ascending within 0…%d at %d", s.NRows-1, k)
		}
	}
	return nil
}

// checkRows returns the first of some rows that is not ascending, or nil. The offsets begin at 0
// and end at the number of entries.
func (s *Structure) checkRows(from, to int) error {
	for k := from; k < to; k++ {
		lo, hi := s.Ptr[k], s.Ptr[k+1]
		if lo < 0 || lo > hi || hi > int64(len(s.Idx)) {
			return fmt.Errorf("row offsets decrease at row %d", s.RowID(k))
		}
		prev := int32(-1)
		for _, j := range s.Idx[lo:hi] {
			if j <= prev || int(j) >= s.NCols {
				return fmt.Errorf("row %d: column %d after %d, want ascending within 0…%d", s.RowID(k), j, prev, s.NCols-1)
			}
			prev = j
		}
	}
	return nil
}

// SameAs reports whether s and t have entries at the same positions. Both must be CSR or
// hypersparse. O(1) if they share storage.
func (s *Structure) SameAs(t *Structure) bool {
	if s.NRows != t.NRows || s.NCols != t.NCols || s.NVals != t.NVals {
		return false
	}
	if s.NVals == 0 || &s.Idx[0] == &t.Idx[0] {
		return true
	}
	if s.Format != t.Format {
		s, t = HyperShape(s), HyperShape(t)
	}
	return Equal(s.RowIDs, t.RowIDs) && Equal(s.Ptr, t.Ptr) && Equal(s.Idx, t.Idx)
}
