package matrix

import (
	"fmt"
	"iter"
	"slices"
	"unsafe"

	"github.com/hiveblas/hiveblas/internal/rep"
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
type Matrix[T comparable] struct{ c core }

// coreOf returns the inside of the matrix. The inside of a nil matrix is empty and ignores what is
// written.
func coreOf[T comparable](a *Matrix[T]) *core {
	c := (*core)(unsafe.Pointer(a))
	if c != nil && c.t.Load() != nil {
		return c
	}
	return c.withType(sparse.TypeOf[T]())
}

// withType sets the type of a zero value. It replaces nil by the core that stands for a nil matrix.
func (c *core) withType(t *sparse.Type) *core {
	if c == nil {
		return nullOf(t)
	}
	c.t.Store(t)
	return c
}

// ofCore returns the matrix that is a core. Matrices are made by their cores: new(Matrix[T]) would
// have all methods of T compiled in the package that names it, as the type of an object does.
func ofCore[T comparable](c *core) *Matrix[T] { return (*Matrix[T])(unsafe.Pointer(c)) }

// Inside returns the matrix as the packages of this module see it. It is not for users: the type
// that it returns is internal.
func (a *Matrix[T]) Inside() rep.View { return rep.View{Matrix: coreOf(a)} }

// failedCore is failed of values of a type.
func failedCore(t *sparse.Type, err error) *core {
	c := &core{err: err}
	c.t.Store(t)
	return c
}

// New returns an m×n matrix without entries. It takes at most O(m) time, and O(1) for very tall
// matrices. With invalid dimensions (negative, or above MaxDim) the matrix has a *SizeError: Err
// and every operation on the matrix return it.
func New[T comparable](m, n int, opts ...Option) *Matrix[T] {
	return ofCore[T](newEmpty(sparse.TypeOf[T](), m, n, opts))
}

// newEmpty is New of values of a type.
func newEmpty(t *sparse.Type, m, n int, opts []Option) *core {
	if err := checkDims("matrix.New", m, n); err != nil {
		return failedCore(t, err)
	}
	o := gather(opts)
	if err := o.layout.check("matrix.New"); err != nil {
		return failedCore(t, err)
	}
	return newCoreWith(sparse.Empty(t, m, n), o)
}

// NewFull returns a full m×n matrix with every entry equal to fill. It returns a *SizeError if
// there are more positions than memory.
func NewFull[T comparable](m, n int, fill T) (*Matrix[T], error) {
	if err := checkDense("matrix.NewFull", m, n, unsafe.Sizeof(fill)); err != nil {
		return nil, err
	}
	return FromDense(m, n, sparse.SliceOf[T](filledWith(fill, m*n)))
}

// filledWith returns n copies of x.
func filledWith[T comparable](x T, n int) sparse.Values {
	return sparse.TypeOf[T]().Filled(int64(n), sparse.ValuesOf([]T{x}))
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
	return fromStore(sparse.Of(sparse.Structure{NRows: m, NCols: n, Format: sparse.Full, NVals: int64(len(val))}, val)), nil
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
	st := sparse.Of(sparse.Structure{NRows: m, NCols: n, Ptr: ptr, Idx: idx, NVals: int64(len(idx))}, val)
	if err := st.Check(len(val), false); err != nil {
		return nil, &InvalidError{"matrix.FromCSR", err.Error()}
	}
	return fromStore(st), nil
}

// FromTuples returns the m×n matrix of the given tuples, which may be in any order. rows and cols
// are []int, or []int32 as [Matrix.Tuples] returns them; see [Index]. dup combines duplicates from
// left to right; FromTuples returns a *DuplicateError if there are duplicates and dup is nil. It
// does not keep the slices. It takes O(tuples + m + n) time.
func FromTuples[T comparable, I Index](m, n int, rows, cols []I, vals []T, dup Combiner[T]) (*Matrix[T], error) {
	f, err := combiningOf(dup)
	if err != nil {
		return nil, err
	}
	if rows == nil {
		rows = []I{}
	}
	st, err := fromTuples(sparse.TypeOf[T](), "matrix.FromTuples", m, n, indexListOf(rows), indexListOf(cols), sparse.ValuesOf(vals), f)
	if err != nil {
		return nil, err
	}
	return ofCore[T](newCore(st)), nil
}

// fromStore returns the matrix with the given storage. The invariants of the storage must hold.
func fromStore[T comparable](st *sparse.Typed[T]) *Matrix[T] {
	return ofCore[T](newCore(sparse.Untyped(st)))
}

// Err returns the error of the construction of the matrix, or of a failed read from a device, or
// nil. A nil matrix is an error.
func (a *Matrix[T]) Err() error { return coreOf(a).err }

// Dims returns the number of rows and columns.
func (a *Matrix[T]) Dims() (rows, cols int) { return coreOf(a).Dims() }

// NVals returns the number of entries.
func (a *Matrix[T]) NVals() int64 { return coreOf(a).NVals() }

// Format returns the current storage layout.
func (a *Matrix[T]) Format() Format {
	return coreOf(a).format()
}

// At returns the value at row i, column j and whether there is an entry. A position outside the
// matrix has no entry; [Matrix.Value] returns an error for it. At takes O(log row length) time in
// the sparse formats and O(1) otherwise.
func (a *Matrix[T]) At(i, j int) (v T, ok bool) {
	list, at, ok := coreOf(a).find(i, j)
	if ok {
		v = sparse.SliceOf[T](list)[at]
	}
	return v, ok
}

// Value returns the value at row i, column j. The error is ErrNoEntry if there is no entry, an
// *IndexError if the position is outside the matrix, and the error of the device if the contents
// cannot be read from it.
func (a *Matrix[T]) Value(i, j int) (v T, err error) {
	if err := coreOf(a).checkIndex("Matrix.Value", i, j); err != nil {
		return v, err
	}
	v, ok := a.At(i, j)
	if !ok {
		return v, ErrNoEntry
	}
	return v, nil
}

// Set writes the entry at row i, column j. It takes O(1) time in Bitmap and Full, and O(log row
// length) in the sparse formats. There, new entries are pending until the matrix is read: At,
// Value, Row, NVals and Dims take the pending entries into account, and every other reader first
// merges them in O(entries + rows) time. Set and Delete merge them too once they are many, so that
// Set takes O(log entries) amortised time. A [Builder] makes a matrix of many entries in less time
// and memory. A matrix with the automatic format becomes a Bitmap where that makes Set O(1).
func (a *Matrix[T]) Set(i, j int, v T) error {
	if err := coreOf(a).checkIndex("Matrix.Set", i, j); err != nil {
		return err
	}
	sparse.SliceOf[T](a.c.room(i, j))[0] = v
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
// Delete takes the same time as Set, and its changes are pending as changes of Set are.
func (a *Matrix[T]) Delete(i, j int) error {
	if err := coreOf(a).checkIndex("Matrix.Delete", i, j); err != nil {
		return err
	}
	a.c.remove(i, j)
	return nil
}

// Clear removes every entry. It keeps the dimensions and the format that SetFormat pinned; a pinned
// Full becomes Bitmap.
func (a *Matrix[T]) Clear() {
	coreOf(a).clear(false)
}

// Clone returns a deep copy, on the host. The copy has the format of the matrix, pinned if
// SetFormat pinned it.
func (a *Matrix[T]) Clone() *Matrix[T] {
	if a == nil {
		return nil
	}
	return ofCore[T](coreOf(a).clone())
}

// Coord is the position of an entry.
type Coord struct{ Row, Col int }

// Fetch copies the contents to host memory if they are only on a device. It returns the error of
// the copy or of the construction of the matrix. After a nil error, At, All, Row, Rows and similar
// methods read the contents; after an error they read a matrix without entries.
func (a *Matrix[T]) Fetch() error {
	return coreOf(a).fetched("Matrix.Fetch")
}

// AllChecked is All for a matrix that may be on a device: it returns the error of [Matrix.Fetch]
// instead of an empty iterator.
func (a *Matrix[T]) AllChecked() (iter.Seq2[Coord, T], error) {
	if err := coreOf(a).fetched("Matrix.AllChecked"); err != nil {
		return nil, err
	}
	return a.All(), nil
}

// All iterates over the entries in row-major order. It is empty if the contents cannot be read from
// a device; see [Matrix.AllChecked].
func (a *Matrix[T]) All() iter.Seq2[Coord, T] {
	return eachEntry[T](coreOf(a).Rows())
}

// eachEntry iterates over the entries of a listed store with values. It is not inlined, since each
// caller would get a copy of the loop.
//
//go:noinline
func eachEntry[T comparable](st *sparse.Store) iter.Seq2[Coord, T] {
	return func(yield func(Coord, T) bool) {
		st := st.Valued()
		vals := sparse.SliceOf[T](st.Val)
		for k := range st.Vecs() {
			c := Coord{Row: st.RowID(k)}
			for p := st.Ptr[k]; p < st.Ptr[k+1]; p++ {
				c.Col = int(st.Idx[p])
				if !yield(c, vals[p]) {
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
func (r *Row[T]) Len() int {
	if r == nil {
		return 0
	}
	return len(r.Cols)
}

// All iterates over the columns and values of the row.
func (r *Row[T]) All() iter.Seq2[int, T] {
	if r == nil {
		r = &Row[T]{}
	}
	return entriesOf(r.Cols, r.Vals)
}

// entriesOf iterates over columns and their values.
func entriesOf[T any](cols []int32, vals []T) iter.Seq2[int, T] {
	return func(yield func(int, T) bool) {
		vals := vals[:len(cols)]
		for p, j := range cols {
			if !yield(int(j), vals[p]) {
				return
			}
		}
	}
}

// Row iterates over the columns and values of row i. A row outside the matrix has no entries. A
// loop over Row is inlined.
func (a *Matrix[T]) Row(i int) iter.Seq2[int, T] {
	cols, vals := coreOf(a).row(i)
	return entriesOf(cols, sparse.SliceOf[T](vals))
}

// Rows iterates over the rows that have entries, in ascending order.
func (a *Matrix[T]) Rows() iter.Seq2[int, Row[T]] {
	st := coreOf(a).Rows()
	return func(yield func(int, Row[T]) bool) {
		vals := sparse.SliceOf[T](st.Val)
		for k := range st.Vecs() {
			lo, hi := st.Ptr[k], st.Ptr[k+1]
			if lo < hi && !yield(st.RowID(k), Row[T]{st.Idx[lo:hi], vals[lo:hi]}) {
				return
			}
		}
	}
}

// OfInside returns the matrix with an inside, for the packages of this module; its values are of T,
// or of a type that is the same by sparse.Same. A Matrix is its core and nothing else, so that the
// two have one address.
func OfInside[T comparable](m rep.Matrix) *Matrix[T] {
	c, ok := m.(*core)
	if !ok || !sparse.Same(c.Type(), sparse.TypeOf[T]()) {
		return nil // which every operation refuses
	}
	return ofCore[T](c)
}

// NewInside is New for the packages of this module, by a type that is known at run time; see
// [Matrix.Inside].
func NewInside(t *sparse.Type, m, n int, opts ...Option) rep.Matrix {
	if t == nil || sparse.GoType(t) == nil {
		return nullOf(boolType)
	}
	return newCoreWith(sparse.Empty(t, m, n), gather(opts))
}
