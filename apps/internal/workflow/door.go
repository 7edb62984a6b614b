package workflow

import (
	"fmt"
	"reflect"

	"github.com/hiveblas/hiveblas/internal/rep"
	"github.com/hiveblas/hiveblas/internal/sparse"
	"github.com/hiveblas/hiveblas/matrix"
	"github.com/hiveblas/hiveblas/semiring"
)

// An Operand is a matrix.Source without its element type. Exported functions give one to functions
// without type parameters, which are compiled once, in the package of the workflow.
type Operand interface{ Inside() rep.View }

// Inside returns the inside of an operand, the zero rep.View of nil.
func Inside(g Operand) (v rep.View) {
	if g != nil {
		v = g.Inside()
	}
	return v
}

// Pattern returns the structure of an operand, nil of nil.
func Pattern(g Operand) (v *matrix.View[bool]) {
	in := Inside(g)
	if in.Matrix == nil {
		return v
	}
	in.Matrix = in.Pattern()
	return matrix.ViewOf[bool](in)
}

// Fetch copies a matrix to the host if it is elsewhere.
func Fetch(v rep.View) error {
	if v.Place() != nil {
		v.Stored()
	}
	return v.Err()
}

// Shown returns a value as text. Its type is t, or T below it.
func Shown[T semiring.Number](t *sparse.Type, x T) string {
	return fmt.Sprint(reflect.ValueOf(x).Convert(sparse.GoType(t)))
}
