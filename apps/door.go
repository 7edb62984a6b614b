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

// kindOf returns the kind of the values of a view, Invalid of the zero View.
func kindOf(v rep.View) reflect.Kind {
	if v.Matrix == nil {
		return reflect.Invalid
	}
	return sparse.GoType(v.Type()).Kind()
}

// patternOf returns the structure of an operand, whose entries are all true.
func patternOf(g operand) matrix.View[bool] {
	v := g.Inside()
	v.Matrix = v.Pattern()
	return matrix.ViewOf[bool](v)
}

// fetched copies an operand to the host if it is elsewhere.
func fetched(g operand) error {
	in := g.Inside()
	if in.Place() != nil {
		in.Stored()
	}
	return in.Err()
}

// shown returns a value as text. Its type is t, or T below it.
func shown[T semiring.Number](t *sparse.Type, x T) string {
	return fmt.Sprint(reflect.ValueOf(x).Convert(sparse.GoType(t)))
}
