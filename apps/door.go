package apps

import (
	"reflect"

	"github.com/hiveblas/hiveblas/internal/rep"
	"github.com/hiveblas/hiveblas/internal/sparse"
	"github.com/hiveblas/hiveblas/matrix"
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
	if g == nil {
		return v
	}
	in := g.Inside()
	in.Matrix = in.Pattern()
	return matrix.ViewOf[bool](in)
}

// kindOf returns the kind of the values of a view, Invalid of the zero View.
func kindOf(v rep.View) reflect.Kind {
	if v.Matrix == nil {
		return reflect.Invalid
	}
	return sparse.GoType(v.Type()).Kind()
}
