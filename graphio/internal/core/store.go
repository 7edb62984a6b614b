package core

import (
	"github.com/hiveblas/hiveblas/internal/rep"
	"github.com/hiveblas/hiveblas/internal/sparse"
	"github.com/hiveblas/hiveblas/matrix"
)

// Inside returns a new matrix with the given storage. The invariants of the storage must hold.
func Inside(st *sparse.Store) rep.Matrix {
	m := matrix.NewInside(st.Type, 0, 0)
	m.SetStore(st)
	return m
}

// RowsOf returns the entries of a matrix by rows, or its error.
func RowsOf(a rep.Matrix) (*sparse.Store, error) {
	if err := a.Err(); err != nil {
		return nil, err
	}
	st := a.Rows()
	return st, a.Err() // of a device that cannot be read
}
