package neural

import (
	"fmt"

	"github.com/hiveblas/hiveblas/internal/delimited"
	"github.com/hiveblas/hiveblas/internal/npy"
)

// ArrayOf converts a matrix.
func ArrayOf(m Panel[float32], dims int) *npy.Array {
	a := &npy.Array{Rows: m.Rows, Cols: m.Cols, Dims: dims, Val: make([]float64, len(m.Val))}
	for i, x := range m.Val {
		a.Val[i] = float64(x)
	}
	return a
}

// FiniteList is ListOf for numbers that must be finite in float32. name names the array in errors.
func FiniteList(a *npy.Array, name string) ([]float32, error) {
	list := ListOf(a)
	if k := delimited.NotFinite(list); k >= 0 {
		return nil, fmt.Errorf("item %d of %s is %v, and numbers must be finite in float32", k, name, a.Val[k])
	}
	return list, nil
}

// ListOf converts an array to float32.
func ListOf(a *npy.Array) []float32 {
	list := make([]float32, len(a.Val))
	for i, x := range a.Val {
		list[i] = float32(x)
	}
	return list
}
