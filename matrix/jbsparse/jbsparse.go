// Package jbsparse converts matrices to and from github.com/james-bowman/sparse.
//
// Every conversion copies: package sparse changes values, offsets and indices in place, and a
// Matrix and its derived forms, such as the kept transpose, would not know of the changes.
package jbsparse

import (
	"fmt"
	"slices"

	"github.com/james-bowman/sparse"
	"github.com/james-bowman/sparse/blas"

	"github.com/hiveblas/hiveblas/internal/access"
	"github.com/hiveblas/hiveblas/internal/hostmem"
	"github.com/hiveblas/hiveblas/matrix"
)

// ToCSR returns a copy of a as a CSR. It keeps entries that are 0. It returns a *matrix.SizeError
// if there are more rows than memory.
func ToCSR(a *matrix.Matrix[float64]) (*sparse.CSR, error) {
	if err := a.Err(); err != nil {
		return nil, err
	}
	m, n := a.Dims()
	ptr, ind, data, err := arrays("jbsparse.ToCSR", a.View(), m)
	if err != nil {
		return nil, err
	}
	return sparse.NewCSR(m, n, ptr, ind, data), nil
}

// ToCSC returns a copy of a as a CSC; see [ToCSR].
func ToCSC(a *matrix.Matrix[float64]) (*sparse.CSC, error) {
	if err := a.Err(); err != nil {
		return nil, err
	}
	m, n := a.Dims()
	ptr, ind, data, err := arrays("jbsparse.ToCSC", a.T(), n)
	if err != nil {
		return nil, err
	}
	return sparse.NewCSC(m, n, ptr, ind, data), nil
}

// arrays returns the n rows of v as CSR arrays.
func arrays(op string, v *matrix.View[float64], n int) (ptr, ind []int, data []float64, err error) {
	if bytes, have, ok := hostmem.Fits(int64(n)+1, 8); !ok {
		return nil, nil, nil, &matrix.SizeError{Op: op, Arg: "number of bytes of the offsets", Got: bytes, Limit: have}
	}
	st := access.Rows(v)
	ptr = make([]int, n+1)
	for k := range st.Vecs() {
		ptr[st.RowID(k)+1] = int(st.Ptr[k+1] - st.Ptr[k])
	}
	for i := range n {
		ptr[i+1] += ptr[i]
	}
	ind = make([]int, len(st.Idx))
	for p, j := range st.Idx {
		ind[p] = int(j)
	}
	return ptr, ind, slices.Clone(st.Val), nil
}

// ToCOO returns a copy of a as a COO with the entries in row-major order.
func ToCOO(a *matrix.Matrix[float64]) (*sparse.COO, error) {
	if err := a.Err(); err != nil {
		return nil, err
	}
	m, n := a.Dims()
	rows, cols, data := make([]int, 0, a.NVals()), make([]int, 0, a.NVals()), make([]float64, 0, a.NVals())
	for c, x := range a.All() {
		rows, cols, data = append(rows, c.Row), append(cols, c.Col), append(data, x)
	}
	return sparse.NewCOO(m, n, rows, cols, data), nil
}

// ToDOK returns a copy of a as a DOK.
func ToDOK(a *matrix.Matrix[float64]) (*sparse.DOK, error) {
	if err := a.Err(); err != nil {
		return nil, err
	}
	d := sparse.NewDOK(a.Dims())
	for c, x := range a.All() {
		d.Set(c.Row, c.Col, x)
	}
	return d, nil
}

// FromCSR returns a copy of c as a matrix. FromCSR returns a *matrix.DuplicateError if a position
// occurs twice, and a *matrix.InvalidError if offsets or indices are invalid.
func FromCSR(c *sparse.CSR) (*matrix.Matrix[float64], error) {
	if c == nil {
		return nil, errNil("FromCSR", "c")
	}
	return fromRaw(c.RawMatrix(), "jbsparse.FromCSR", false)
}

// FromCSC returns a copy of c as a matrix; see [FromCSR]. [TransposeOfCSC] takes less time: its
// rows are the columns of c.
func FromCSC(c *sparse.CSC) (*matrix.Matrix[float64], error) {
	if c == nil {
		return nil, errNil("FromCSC", "c")
	}
	return fromRaw(c.RawMatrix(), "jbsparse.FromCSC", true)
}

// TransposeOfCSC returns a copy of the transpose of c as a matrix; see [FromCSR].
func TransposeOfCSC(c *sparse.CSC) (*matrix.Matrix[float64], error) {
	if c == nil {
		return nil, errNil("TransposeOfCSC", "c")
	}
	return fromRaw(c.RawMatrix(), "jbsparse.TransposeOfCSC", false)
}

func errNil(op, arg string) error {
	return &matrix.InvalidError{Op: "jbsparse." + op, Reason: arg + " is nil; make one with package sparse"}
}

// fromRaw returns the matrix with the rows of raw, or with transpose its columns.
func fromRaw(raw *blas.SparseMatrix, op string, transpose bool) (*matrix.Matrix[float64], error) {
	// I is the number of rows of a CSR and the number of columns of a CSC, where Indptr has the
	// offsets of the columns.
	m, n := raw.I, raw.J
	if m < 0 || m > matrix.MaxDim {
		return nil, &matrix.SizeError{Op: op, Arg: "number of rows", Got: int64(m), Limit: matrix.MaxDim}
	}
	if n < 0 || n > matrix.MaxDim {
		return nil, &matrix.SizeError{Op: op, Arg: "number of columns", Got: int64(n), Limit: matrix.MaxDim}
	}
	invalid := func(format string, args ...any) error {
		return &matrix.InvalidError{Op: op, Reason: fmt.Sprintf(format, args...)}
	}
	if len(raw.Indptr) != m+1 || raw.Indptr[0] != 0 || len(raw.Ind) != len(raw.Data) || raw.Indptr[m] != len(raw.Ind) {
		return nil, invalid("%d offsets, %d indices and %d values do not make a matrix of %d rows", len(raw.Indptr), len(raw.Ind), len(raw.Data), m)
	}
	ptr := make([]int64, m+1)
	sorted := true
	for i := range m {
		lo, hi := raw.Indptr[i], raw.Indptr[i+1]
		if lo > hi || hi > len(raw.Ind) {
			return nil, invalid("offsets run from %d to %d at row %d", lo, hi, i)
		}
		ptr[i+1] = int64(hi)
		for p := lo; p < hi; p++ {
			if uint(raw.Ind[p]) >= uint(n) {
				return nil, invalid("index %d at row %d, want 0…%d", raw.Ind[p], i, n-1)
			}
			sorted = sorted && (p == lo || raw.Ind[p-1] < raw.Ind[p])
		}
	}
	if !sorted || transpose {
		rows, cols := m, n
		if transpose {
			rows, cols = n, m
		}
		b := matrix.NewBuilder[float64](rows, cols)
		for i := range m {
			for p := raw.Indptr[i]; p < raw.Indptr[i+1]; p++ {
				if transpose {
					b.Add(raw.Ind[p], i, raw.Data[p])
				} else {
					b.Add(i, raw.Ind[p], raw.Data[p])
				}
			}
		}
		return b.Build(nil)
	}
	idx := make([]int32, len(raw.Ind))
	for p, j := range raw.Ind {
		idx[p] = int32(j)
	}
	return matrix.FromCSR(m, n, ptr, idx, slices.Clone(raw.Data[:len(idx)]))
}

// FromCOO returns a copy of c as a matrix. It adds the values of a position that occurs more than
// once, as package sparse does.
func FromCOO(c *sparse.COO) (*matrix.Matrix[float64], error) {
	if c == nil {
		return nil, errNil("FromCOO", "c")
	}
	return fromEntries(c.Dims, c.DoNonZero)
}

// FromDOK returns a copy of d as a matrix.
func FromDOK(d *sparse.DOK) (*matrix.Matrix[float64], error) {
	if d == nil {
		return nil, errNil("FromDOK", "d")
	}
	return fromEntries(d.Dims, d.DoNonZero)
}

func fromEntries(dims func() (m, n int), doNonZero func(func(i, j int, v float64))) (*matrix.Matrix[float64], error) {
	b := matrix.NewBuilder[float64](dims())
	doNonZero(func(i, j int, v float64) { b.Add(i, j, v) })
	return b.Build(matrix.CombineFunc[float64](func(x, y float64) float64 { return x + y }))
}
