package apps

import (
	"fmt"
	"reflect"

	"github.com/hiveblas/hiveblas/internal/rep"
	"github.com/hiveblas/hiveblas/internal/sparse"
	"github.com/hiveblas/hiveblas/matrix"
	"github.com/hiveblas/hiveblas/semiring"
)

// An operand is a matrix.Source without its element type. Exported functions give one to functions
// without type parameters, which are compiled once in this package.
type operand interface{ Inside() rep.View }

// inside returns the inside of an operand, the zero View of nil.
func inside(g operand) (v rep.View) {
	if g != nil {
		v = g.Inside()
	}
	return v
}

// pattern returns the structure of an operand, the zero View of nil.
func pattern(g operand) (v matrix.View[bool]) {
	in := inside(g)
	if in.Matrix == nil {
		return v
	}
	in.Matrix = in.Pattern()
	return matrix.ViewOf[bool](in)
}

// fetch copies a matrix to the host if it is elsewhere.
func fetch(v rep.View) error {
	if v.Place() != nil {
		v.Stored()
	}
	return v.Err()
}

// shown returns a value as text. Its type is t, or T below it.
func shown[T semiring.Number](t *sparse.Type, x T) string {
	return fmt.Sprint(reflect.ValueOf(x).Convert(sparse.GoType(t)))
}
