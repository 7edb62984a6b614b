package matrix

import (
	"fmt"
	"iter"
	"slices"
	"sync/atomic"
	"unsafe"

	"github.com/hiveblas/hiveblas/internal/sparse"
)

// MaxDim is the largest number of rows or columns, 2³¹−1.
const MaxDim = 1<<31 - 1

// Format is the storage layout of the entries; see the constants.
type Format uint8

// The formats. All are row-major. The compressed columns (CSC) of a matrix are the rows of its
// transpose, which is computed on first use and kept.
const (
	CSR         Format = iota // offsets of every row, 32-bit column indices
	Hypersparse               // as CSR, for the non-empty rows only
	Bitmap                    // a value and a presence byte per position
	Full                      // a value per position, every position present
	// Automatic is not a layout: after SetFormat(Automatic) the library selects the layout, as for
	// a new matrix. See [Matrix.SetFormat].
	Automatic
)

// String returns the name of the format in lower case.
func (f Format) String() string { return sparse.Format(f).String() }

// Matrix is an m×n sparse matrix with entries of type T.
//
// The zero value is an empty 0×0 matrix. Any number of goroutines may read a Matrix concurrently.
// Derived forms (the transpose, the row form of a bitmap, the first columns of rows) are computed
// at most once and kept until the matrix changes. A Matrix must not be copied; pass *Matrix.
type Matrix[T comparable] struct {
	// Package internal/access reads st, pending and the first fields of base.
	st      *sparse.Store[T]
	pending atomic.Pointer[pendingOf[T]] // changes of st that are not merged yet; nil for none
	base
	asRows atomic.Pointer[sparse.Store[T]]
	asCols atomic.Pointer[sparse.Store[T]]
}

// New returns an m×n matrix without entries. It takes at most O(m) time, and O(1) for very tall
// matrices. With invalid dimensions (negative, or above MaxDim) the matrix has a *SizeError: Err
// and every operation on the matrix return it.
func New[T comparable](m, n int, opts ...Option) *Matrix[T] {
	if err := checkDims("matrix.New", m, n); err != nil {
		return &Matrix[T]{base: base{err: err}}
	}
	o := gather(opts)
	if err := o.layout.check("matrix.New"); err != nil {
		return &Matrix[T]{base: base{err: err}}
	}
	return &Matrix[T]{st: sparse.Empty[T](m, n), base: base{place: o.place, replicated: o.replicated()}}
}

// NewFull returns a full m×n matrix with every entry equal to fill. More positions than there is
// memory for are a *SizeError.
func NewFull[T comparable](m, n int, fill T) (*Matrix[T], error) {
	if err := checkDense("matrix.NewFull", m, n, unsafe.Sizeof(fill)); err != nil {
		return nil, err
	}
	val := make([]T, m*n)
	if fill != *new(T) {
		for p := range val {
			val[p] = fill
		}
	}
	return FromDense(m, n, val)
}

// FromDense returns the full m×n matrix with the row-major values val. It does not copy val, which
// the matrix then owns. len(val) must be m·n.
func FromDense[T comparable](m, n int, val []T) (*Matrix[T], error) {
	if err := checkCells("matrix.FromDense", m, n); err != nil {
		return nil, err
	}
	if len(val) != m*n {
		return nil, &InvalidError{"matrix.FromDense", fmt.Sprintf("%d values given for %d×%d positions", len(val), m, n)}
	}
	if val == nil {
		val = []T{}
	}
	return fromStore(&sparse.Store[T]{Structure: sparse.Structure{
		NRows: m, NCols: n, Format: sparse.Full, NVals: int64(len(val))}, Val: val}), nil
}

// FromCSR returns the m×n matrix with the given row offsets (len m+1), column indices and values.
// It does not copy the slices, which the matrix then owns. Rows must be sorted and free of
// duplicates; an *InvalidError names the first violation. A [Builder] accepts tuples in any order.
// FromCSR takes O(entries) time.
func FromCSR[T comparable](m, n int, ptr []int64, idx []int32, val []T) (*Matrix[T], error) {
	if err := checkDims("matrix.FromCSR", m, n); err != nil {
		return nil, err
	}
	if idx == nil {
		idx = []int32{}
	}
	if val == nil {
		val = []T{}
	}
	st := &sparse.Store[T]{Structure: sparse.Structure{
		NRows: m, NCols: n, Ptr: ptr, Idx: idx, NVals: int64(len(idx))}, Val: val}
	if err := st.Check(len(val), false); err != nil {
		return nil, &InvalidError{"matrix.FromCSR", err.Error()}
	}
	return fromStore(st), nil
}

// FromTuples returns the m×n matrix of the given tuples, which may be in any order. rows and cols
// are []int, or []int32 as [Matrix.Tuples] returns them; see [Index]. dup combines duplicates from
// left to right; with a nil dup, duplicates are a *DuplicateError. FromTuples does not keep the
// slices. It takes O(tuples + m + n) time.
func FromTuples[T comparable, I Index](m, n int, rows, cols []I, vals []T, dup Combiner[T]) (*Matrix[T], error) {
	if len(rows) != len(cols) || len(rows) != len(vals) {
		return nil, &InvalidError{"matrix.FromTuples", fmt.Sprintf("%d rows, %d columns and %d values given, want the same number", len(rows), len(cols), len(vals))}
	}
	if err := checkDims("matrix.FromTuples", m, n); err != nil {
		return nil, err
	}
	r, c, err := narrowed("matrix.FromTuples", m, n, rows, cols)
	if err != nil {
		return nil, err
	}
	b := NewBuilder[T](m, n)
	b.addTuples(r, c, vals)
	return b.Build(dup)
}

// fromStore returns the matrix with the given storage, whose invariants must hold.
func fromStore[T comparable](st *sparse.Store[T]) *Matrix[T] { return &Matrix[T]{st: st} }

// Err returns the error of the construction of the matrix, or of a failed read from a device, or
// nil. A nil matrix is an error.
func (a *Matrix[T]) Err() error { return a.failure() }

// The methods of core under the names of Matrix.

func (a *Matrix[T]) core() *core[T]           { return (*core[T])(a) }
func (a *Matrix[T]) failure() error           { return a.core().Err() }
func (a *Matrix[T]) stored() *sparse.Store[T] { return a.core().Stored() }
func (a *Matrix[T]) rows() *sparse.Store[T]   { return a.core().Rows() }
func (a *Matrix[T]) cols() *sparse.Store[T]   { return a.core().Cols() }
func (a *Matrix[T]) set(st *sparse.Store[T])  { a.core().SetStore(st) }

// Dims returns the number of rows and columns.
func (a *Matrix[T]) Dims() (rows, cols int) { return a.core().Dims() }

// NVals returns the number of entries.
func (a *Matrix[T]) NVals() int64 { return a.core().NVals() }

// Format returns the current storage layout.
func (a *Matrix[T]) Format() Format {
	if a == nil {
		return CSR
	}
	return formatOf(a.core())
}

// At returns the value at row i, column j and whether there is an entry. A position outside the
// matrix has no entry; [Matrix.Value] returns an error for it. At takes O(log row length) time in
// the sparse formats and O(1) otherwise.
func (a *Matrix[T]) At(i, j int) (v T, ok bool) {
	if m, n := a.Dims(); uint(i) >= uint(m) || uint(j) >= uint(n) {
		return v, false
	}
	if p := a.core().changes(); p != nil {
		return p.value(i, j)
	}
	st := a.stored()
	if uint(i) >= uint(st.NRows) || uint(j) >= uint(st.NCols) {
		return v, false
	}
	if at, ok := st.Has(i, j); ok {
		return st.Val[at], true
	}
	return v, false
}

// Value returns the value at row i, column j. The error is ErrNoEntry if there is no entry, an
// *IndexError if the position is outside the matrix, and the error of the device if the contents
// cannot be read from it.
func (a *Matrix[T]) Value(i, j int) (v T, err error) {
	if err := a.checkIndex("Matrix.Value", i, j); err != nil {
		return v, err
	}
	v, ok := a.At(i, j)
	if !ok {
		return v, ErrNoEntry
	}
	return v, nil
}

func (a *Matrix[T]) checkIndex(op string, i, j int) error {
	if a.core().changes() == nil {
		a.stored()
	}
	if err := a.failure(); err != nil {
		return naming(op, err)
	}
	m, n := a.Dims()
	if uint(i) >= uint(m) {
		return &IndexError{op, "row", int64(i), int64(m)}
	}
	if uint(j) >= uint(n) {
		return &IndexError{op, "column", int64(j), int64(n)}
	}
	return nil
}

// Set writes the entry at row i, column j. It takes O(1) time in Bitmap and Full, and O(log row
// length) in the sparse formats. There, new entries are pending until the matrix is read: At,
// Value, Row, NVals and Dims take the pending entries into account, and every other reader first
// merges them in O(entries + rows) time. Set and Delete merge them too once they are many, so that
// Set takes O(log entries) amortised time. A [Builder] makes a matrix of many entries in less time
// and memory. A matrix with the automatic format becomes a Bitmap where that makes Set O(1).
func (a *Matrix[T]) Set(i, j int, v T) error {
	if err := a.checkIndex("Matrix.Set", i, j); err != nil {
		return err
	}
	if a.core().changes() != nil {
		a.core().change(i, j, v, false)
		return nil
	}
	st := a.st
	at, ok := st.Has(i, j)
	if !ok && !a.pinned && sparse.BitmapPays(&st.Structure) {
		st = sparse.ToBitmap(st)
		at, _ = st.Has(i, j)
	}
	switch {
	case ok:
		st.Val[at] = v
	case st.Format == sparse.Bitmap:
		st.Present[at], st.Val[at] = 1, v
		st.NVals++
	case pends(&st.Structure):
		a.core().change(i, j, v, false)
		return nil
	default:
		shape, at := withEntry(st.Structure.Clone(), i, j)
		st = &sparse.Store[T]{Structure: shape, Val: append(st.Val, v)}
		copy(st.Val[at+1:], st.Val[at:])
		st.Val[at] = v
		st = sparse.Settle(st)
	}
	a.set(st)
	return nil
}

// pends reports whether a listed store has so much to copy that single changes wait.
func pends(s *sparse.Structure) bool { return len(s.Idx)+len(s.Ptr) > 1<<8 }

// withEntry adds an entry to a listed structure, a copy: matrices may share offsets and indices. It
// returns the place of the entry.
func withEntry(st sparse.Structure, i, j int) (sparse.Structure, int64) {
	k := i
	if st.Format == sparse.Hypersparse {
		var found bool
		if k, found = slices.BinarySearch(st.RowIDs, int32(i)); !found {
			st.RowIDs = slices.Insert(st.RowIDs, k, int32(i))
			st.Ptr = slices.Insert(st.Ptr, k, st.Ptr[k])
		}
	}
	at, _ := st.Has(i, j)
	st.Idx = slices.Insert(st.Idx, int(at), int32(j))
	for r := k + 1; r < len(st.Ptr); r++ {
		st.Ptr[r]++
	}
	st.NVals++
	return st, at
}

// withoutEntry removes the entry at place at, of row i, from a listed structure, a copy.
func withoutEntry(st sparse.Structure, i int, at int64) sparse.Structure {
	k := i
	if st.Format == sparse.Hypersparse {
		k, _ = slices.BinarySearch(st.RowIDs, int32(i))
	}
	st.Idx = slices.Delete(st.Idx, int(at), int(at)+1)
	for r := k + 1; r < len(st.Ptr); r++ {
		st.Ptr[r]--
	}
	if st.Format == sparse.Hypersparse && st.Ptr[k] == st.Ptr[k+1] {
		st.RowIDs = slices.Delete(st.RowIDs, k, k+1)
		st.Ptr = slices.Delete(st.Ptr, k, k+1)
	}
	st.NVals--
	return st
}

// Delete removes the entry at row i, column j if there is one. A full matrix becomes a bitmap.
// Delete takes the same time as Set, and its changes are pending as those of Set are.
func (a *Matrix[T]) Delete(i, j int) error {
	if err := a.checkIndex("Matrix.Delete", i, j); err != nil {
		return err
	}
	if a.core().changes() != nil {
		a.core().change(i, j, *new(T), true)
		return nil
	}
	st := a.st
	at, ok := st.Has(i, j)
	if !ok {
		return nil
	}
	if st.Sparse() && pends(&st.Structure) {
		a.core().change(i, j, *new(T), true)
		return nil
	}
	if st.Format == sparse.Full {
		st = sparse.ToBitmap(st)
	}
	if st.Format == sparse.Bitmap {
		st.Present[at] = 0
		st.Val[at] = *new(T)
		st.NVals--
	} else {
		val := st.Val[:at+int64(copy(st.Val[at:], st.Val[at+1:]))]
		clear(st.Val[len(val):])
		st = &sparse.Store[T]{Structure: withoutEntry(st.Structure.Clone(), i, at), Val: val}
	}
	a.set(st)
	return nil
}

// Clear removes every entry. It keeps the dimensions and the format that SetFormat pinned, of which
// Full becomes Bitmap.
func (a *Matrix[T]) Clear() {
	a.set(pinnedTo(a.core(), sparse.Empty[T](a.Dims())))
}

// pinnedTo returns st in the pinned format of a.
func pinnedTo[T comparable](a *core[T], st *sparse.Store[T]) *sparse.Store[T] {
	if a == nil || !a.pinned {
		return st
	}
	return sparse.Convert(st, a.pin)
}

// Clone returns a deep copy, on the host. The copy has the format of the matrix, pinned if
// SetFormat pinned it.
func (a *Matrix[T]) Clone() *Matrix[T] {
	if a == nil {
		return nil
	}
	return &Matrix[T]{st: a.stored().Clone(), base: base{err: a.err, pinned: a.pinned, pin: a.pin}}
}

// Coord is the position of an entry.
type Coord struct{ Row, Col int }

// Fetch copies the contents to host memory if they are only on a device. It returns the error of
// the copy or of the construction of the matrix. After a nil error, At, All, Row, Rows and similar
// methods read the contents; after an error they read a matrix without entries.
func (a *Matrix[T]) Fetch() error {
	a.stored()
	return naming("Matrix.Fetch", a.failure())
}

// AllChecked is All for a matrix that may be on a device: it returns the error of [Matrix.Fetch]
// instead of an empty iterator.
func (a *Matrix[T]) AllChecked() (iter.Seq2[Coord, T], error) {
	if err := a.Fetch(); err != nil {
		return nil, naming("Matrix.AllChecked", err)
	}
	return a.All(), nil
}

// All iterates over the entries in row-major order. It is empty if the contents cannot be read from
// a device; see [Matrix.AllChecked].
func (a *Matrix[T]) All() iter.Seq2[Coord, T] {
	return eachEntry(a.rows())
}

// eachEntry iterates over the entries of a listed store with values.
func eachEntry[T comparable](st *sparse.Store[T]) iter.Seq2[Coord, T] {
	return func(yield func(Coord, T) bool) {
		for k := range st.Vecs() {
			c := Coord{Row: st.RowID(k)}
			for p := st.Ptr[k]; p < st.Ptr[k+1]; p++ {
				c.Col = int(st.Idx[p])
				if !yield(c, st.Val[p]) {
					return
				}
			}
		}
	}
}

// Row holds the entries of one row: the columns in ascending order and the value of each. It is
// read-only and valid until the matrix changes.
type Row[T comparable] struct {
	Cols []int32
	Vals []T
}

// Len returns the number of entries in the row.
func (r Row[T]) Len() int { return len(r.Cols) }

// All iterates over the columns and values of the row.
func (r Row[T]) All() iter.Seq2[int, T] {
	return func(yield func(int, T) bool) {
		vals := r.Vals[:len(r.Cols)]
		for p, j := range r.Cols {
			if !yield(int(j), vals[p]) {
				return
			}
		}
	}
}

// row returns the entries of row i, and no entries if i is out of range.
func (a *Matrix[T]) row(i int) Row[T] {
	if p := a.core().changes(); p != nil {
		if uint(i) >= uint(p.rows) {
			return Row[T]{}
		}
		return p.row(i)
	}
	st := a.rows()
	if uint(i) >= uint(st.NRows) {
		return Row[T]{}
	}
	lo, hi := st.Span(i)
	return Row[T]{st.Idx[lo:hi], st.Val[lo:hi]}
}

// Row iterates over the columns and values of row i. A row outside the matrix has no entries. A
// loop over Row is inlined.
func (a *Matrix[T]) Row(i int) iter.Seq2[int, T] { return a.row(i).All() }

// Rows iterates over the rows that have entries, in ascending order.
func (a *Matrix[T]) Rows() iter.Seq2[int, Row[T]] {
	st := a.rows()
	return func(yield func(int, Row[T]) bool) {
		for k := range st.Vecs() {
			lo, hi := st.Ptr[k], st.Ptr[k+1]
			if lo < hi && !yield(st.RowID(k), Row[T]{st.Idx[lo:hi], st.Val[lo:hi]}) {
				return
			}
		}
	}
}
