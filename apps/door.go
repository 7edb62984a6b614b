package apps

import (
	"github.com/hiveblas/hiveblas/internal/rep"
	"github.com/hiveblas/hiveblas/matrix"
)

// An operand is a matrix or a vector of any type, as its users pass it: exported functions with type
// parameters call functions that take operands and are compiled once.
type operand interface{ Inside() rep.View }

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
