package graphio

import (
	"github.com/hiveblas/hiveblas/graphio/internal/core"
	"github.com/hiveblas/hiveblas/internal/sparse"
	"github.com/hiveblas/hiveblas/matrix"
)

// stored returns the storage of a matrix.
func stored[T comparable](a *matrix.Matrix[T]) *sparse.Typed[T] {
	return sparse.As[T](a.Inside().Stored())
}

// byRows returns the entries of a matrix by rows.
func byRows[T comparable](a *matrix.Matrix[T]) *sparse.Typed[T] {
	return sparse.As[T](a.Inside().Rows())
}

// sameEntries reports whether two matrices have the same entries; NaN equals NaN.
func sameEntries[T comparable](a, b *matrix.Matrix[T]) bool {
	return a.EqualFunc(b, func(x, y T) bool { return x == y || x != x && y != y })
}

// elementFor describes T.
func elementFor[T matrix.Element]() core.Element { return core.ElementOf(sparse.TypeOf[T]()) }
