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
// modified: they are the slices of the matrix if it is stored so, and a copy otherwise. A change of
// the matrix may change val. A matrix on a device is copied to the host. CSR takes O(1) time, or
// O(entries + rows) for another format; for a bitmap or full matrix, O(rows·columns). CSR returns a
// *SizeError if there are more rows than memory: [Matrix.Tuples] takes O(entries).
func (a *Matrix[T]) CSR() (ptr []int64, idx []int32, val []T, err error) {
	s, err := coreOf(a).compressed("Matrix.CSR", false)
	return s.Ptr, s.Idx, sparse.SliceOf[T](s.Val), err
}

// compressed returns the CSR form of the matrix or its transpose, and an empty store with an error.
func (a *core) compressed(op string, transposed bool) (*sparse.Store, error) {
	if err := a.fetched(op); err != nil {
		return new(sparse.Store), err
	}
	s := a.Rows()
	if transposed {
		s = a.Cols()
	}
	if s.Format != sparse.CSR {
		if err := checkRoom(op, fmt.Sprintf("%d offsets", s.NRows+1), int64(s.NRows)+1, 8); err != nil {
			return new(sparse.Store), err
		}
	}
	return s.ToCSR(), nil
}

// CSC is CSR of the transpose: compressed sparse columns. It takes O(entries + columns) time the
// first time, and the matrix keeps the result.
func (a *Matrix[T]) CSC() (ptr []int64, idx []int32, val []T, err error) {
	s, err := coreOf(a).compressed("Matrix.CSC", true)
	return s.Ptr, s.Idx, sparse.SliceOf[T](s.Val), err
}

// Tuples returns the row, column and value of every entry, by rows. The columns and values must not
// be modified: the matrix may share them. Tuples takes O(entries + rows) time.
func (a *Matrix[T]) Tuples() (rows, cols []int32, vals []T, err error) {
	rows, cols, list, err := coreOf(a).tuples("Matrix.Tuples")
	return rows, cols, sparse.SliceOf[T](list), err
}

// tuples returns the row, column and value of every entry, by rows.
func (a *core) tuples(op string) (rows, cols []int32, vals sparse.Values, err error) {
	if err := a.fetched(op); err != nil {
		return nil, nil, vals, err
	}
	s := a.Rows()
	return s.RowOfEntries(), s.Idx, s.Val, nil
}

// Dense returns the values by rows, with fill where there is no entry: the value of (i, j) is at
// i·columns + j. Dense returns a *SizeError if there are more positions than memory. Dense takes
// O(rows·columns) time.
func (a *Matrix[T]) Dense(fill T) ([]T, error) {
	list, err := coreOf(a).dense("Matrix.Dense", sparse.ValuesOf([]T{fill}))
	return sparse.SliceOf[T](list), err
}

// dense returns the values by rows. op is the method of the error of a nil matrix or vector.
func (a *core) dense(op string, fill sparse.Values) (sparse.Values, error) {
	if err := a.fetched(op); err != nil {
		return sparse.Values{}, err
	}
	m, n := a.Dims()
	if err := checkDense("Matrix.Dense", m, n, uintptr(a.Type().Size)); err != nil {
		return sparse.Values{}, err
	}
	return a.Stored().Dense(fill), nil
}
