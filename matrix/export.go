package matrix

import (
	"fmt"
	"unsafe"

	"github.com/hiveblas/hiveblas/internal/sparse"
)

// This file gives the contents of a matrix to other packages, and takes them.

// Identity returns the n×n matrix with ones on the diagonal.
func Identity[T Number](n int) (*Matrix[T], error) {
	if err := checkDims("matrix.Identity", n, n); err != nil {
		return nil, err
	}
	if err := checkRoom("matrix.Identity", fmt.Sprintf("%d entries", n), int64(n), 12+int64(unsafe.Sizeof(*new(T)))); err != nil {
		return nil, err
	}
	ptr, idx, val := make([]int64, n+1), make([]int32, n), make([]T, n)
	for i := range n {
		ptr[i+1], idx[i], val[i] = int64(i+1), int32(i), 1
	}
	return FromCSR(n, n, ptr, idx, val)
}

// FromCSC returns the m×n matrix with the given column offsets (len n+1), row indices and values.
// It does not copy the slices, which the matrix then owns and keeps beside its rows. Columns must
// be sorted and free of duplicates; an *InvalidError names the first violation. FromCSC takes
// O(entries + m + n) time, for the transpose.
func FromCSC[T comparable](m, n int, ptr []int64, idx []int32, val []T) (*Matrix[T], error) {
	if err := checkDims("matrix.FromCSC", m, n); err != nil {
		return nil, err
	}
	if idx == nil {
		idx = []int32{}
	}
	if val == nil {
		val = []T{}
	}
	st := sparse.Of(sparse.Structure{NRows: n, NCols: m, Ptr: ptr, Idx: idx, NVals: int64(len(idx))}, val)
	if err := st.Check(len(val), false); err != nil {
		return nil, &InvalidError{"matrix.FromCSC", "of the transpose, " + err.Error()}
	}
	a := fromStore(sparse.Transpose(st, 0))
	a.c.asCols.Store(sparse.Untyped(st))
	return a, nil
}

// CSR returns the row offsets, column indices and values of a matrix in compressed sparse rows: row
// i has the entries ptr[i] … ptr[i+1]−1, in ascending order of columns. The slices must not be
// modified: they are those of the matrix if it is stored so, and a copy otherwise. A change of the
// matrix may change val. A matrix on a device is copied to the host. CSR takes O(1) time, or
// O(entries + rows) for another format; for a bitmap or full matrix, O(rows·columns). More rows
// than there is memory for are a *SizeError: [Matrix.Tuples] takes O(entries).
func (a *Matrix[T]) CSR() (ptr []int64, idx []int32, val []T, err error) {
	if err := a.Fetch(); err != nil {
		return nil, nil, nil, naming("Matrix.CSR", err)
	}
	s, err := compressed("Matrix.CSR", a.inside().Rows())
	if err != nil {
		return nil, nil, nil, err
	}
	return s.Ptr, s.Idx, sparse.SliceOf[T](s.Val), nil
}

// compressed returns the CSR form of a listed store.
func compressed(op string, s *sparse.Store) (*sparse.Store, error) {
	if s.Format != sparse.CSR {
		if err := checkRoom(op, fmt.Sprintf("%d offsets", s.NRows+1), int64(s.NRows)+1, 8); err != nil {
			return nil, err
		}
	}
	return s.ToCSR(), nil
}

// CSC is CSR of the transpose: compressed sparse columns. It takes O(entries + columns) time the
// first time, and the matrix keeps the result.
func (a *Matrix[T]) CSC() (ptr []int64, idx []int32, val []T, err error) {
	if err := a.Fetch(); err != nil {
		return nil, nil, nil, naming("Matrix.CSC", err)
	}
	s, err := compressed("Matrix.CSC", a.inside().Cols())
	if err != nil {
		return nil, nil, nil, err
	}
	return s.Ptr, s.Idx, sparse.SliceOf[T](s.Val), nil
}

// Tuples returns the row, column and value of every entry, by rows. The columns and values must not
// be modified: they may be those of the matrix. Tuples takes O(entries + rows) time.
func (a *Matrix[T]) Tuples() (rows, cols []int32, vals []T, err error) {
	if err := a.Fetch(); err != nil {
		return nil, nil, nil, naming("Matrix.Tuples", err)
	}
	s := a.inside().Rows()
	return s.RowOfEntries(), s.Idx, sparse.SliceOf[T](s.Val), nil
}

// Dense returns the values by rows, with fill where there is no entry: the value of (i, j) is at
// i·columns + j. More positions than there is memory for are a *SizeError. Dense takes
// O(rows·columns) time.
func (a *Matrix[T]) Dense(fill T) ([]T, error) {
	if err := a.Fetch(); err != nil {
		return nil, naming("Matrix.Dense", err)
	}
	m, n := a.Dims()
	if err := checkDense("Matrix.Dense", m, n, unsafe.Sizeof(fill)); err != nil {
		return nil, err
	}
	return sparse.SliceOf[T](a.inside().Stored().Dense(sparse.ValuesOf([]T{fill}))), nil
}
