package inputs

import (
	"github.com/hiveblas/hiveblas/matrix"
)

// Graph64 is a matrix of float64.
type Graph64 = *matrix.Matrix[F64]
