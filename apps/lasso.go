package apps

import (
	"github.com/hiveblas/hiveblas/apps/lasso"
	"github.com/hiveblas/hiveblas/matrix"
	"github.com/hiveblas/hiveblas/semiring"
)

// FusedLassoOptions are the settings of FusedLasso. See [lasso.FusedLassoOptions].
type FusedLassoOptions = lasso.FusedLassoOptions

// FusedLassoResult is the result of FusedLasso. See [lasso.FusedLassoResult].
type FusedLassoResult = lasso.FusedLassoResult

// FusedLasso smooths values on a graph: it returns the b with the least sum of squared errors,
// weighted differences along edges, and absolute values. See [lasso.FusedLasso].
func FusedLasso[T semiring.Number](g matrix.Source[T], y *matrix.Vector[float64], opts ...FusedLassoOptions) (*FusedLassoResult, error) {
	return lasso.FusedLasso(g, y, opts...)
}

// FusedLassoPath returns the solutions of FusedLasso for several λ₁, in the order given; Lambda1
// of the options is ignored. See [lasso.FusedLassoPath].
func FusedLassoPath[T semiring.Number](g matrix.Source[T], y *matrix.Vector[float64], lambdas []float64, opts ...FusedLassoOptions) ([]*FusedLassoResult, error) {
	return lasso.FusedLassoPath(g, y, lambdas, opts...)
}

// FusedLassoBatch returns the solutions of FusedLasso for several observations on one graph: the
// columns of the full n×k matrix ys. See [lasso.FusedLassoBatch].
func FusedLassoBatch[T semiring.Number](g matrix.Source[T], ys *matrix.Matrix[float64], opts ...FusedLassoOptions) ([]*FusedLassoResult, error) {
	return lasso.FusedLassoBatch(g, ys, opts...)
}
