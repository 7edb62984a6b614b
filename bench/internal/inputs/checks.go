package inputs

import (
	"github.com/hiveblas/hiveblas/internal/access"
	"github.com/hiveblas/hiveblas/matrix"
	"github.com/hiveblas/hiveblas/semiring"
)

type F64 = float64

// Bare returns a without its derived forms, so that the timed part includes a
// transpose.
func Bare[T comparable](a *matrix.Matrix[T]) *matrix.Matrix[T] {
	return access.FromStore(access.Store(a))
}

func CheckMatrix[T semiring.Number](c *matrix.Matrix[T]) float64 {
	var sum float64
	for i, r := range c.Rows() {
		var row float64
		for p, j := range r.Cols {
			row += float64(r.Vals[p]) * float64(1+j%5)
		}
		sum += row * float64(1+i%7)
	}
	return sum
}

func CheckVector[T semiring.Number](v *matrix.Vector[T]) float64 {
	var sum float64
	for i, x := range v.All() {
		sum += float64(x) * float64(1+i%7)
	}
	return sum
}
