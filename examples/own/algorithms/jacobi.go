package algorithms

import (
	"github.com/hiveblas/hiveblas/matrix"
	"github.com/hiveblas/hiveblas/ops"
	"github.com/hiveblas/hiveblas/semiring"
)

// Jacobi solves a·x = b by the iteration x ← x + D⁻¹(b − a·x), where D is the diagonal of a, until
// no residual is above the tolerance, or after so many sweeps. It converges if a is diagonally
// dominant. b is full.
func Jacobi(a *matrix.Matrix[float32], b *matrix.Vector[float32], tolerance float32, sweeps int64, opts ...ops.Option) (*matrix.Vector[float32], error) {
	n, _ := a.Dims()
	here := matrix.On(a.Place())
	x, residual, step := matrix.NewVector[float32](n, here), matrix.NewVector[float32](n, here), matrix.NewVector[float32](n, here)
	diagonal := matrix.New[float32](n, n, here)
	inverse := matrix.NewVector[float32](n, here)
	largest, more := matrix.NewScalar[float32](here), matrix.ScalarOf(true, here)
	plus, minus, times := semiring.Plus[float32](), semiring.Minus[float32](), semiring.Times[float32]()
	var s ops.Steps
	s.Do(ops.Select(diagonal, semiring.DiagSelect[float32](0), a))
	s.Do(ops.Reduce(inverse, plus, diagonal))
	s.Do(ops.Apply(inverse, semiring.Minv[float32](), inverse))
	s.Do(ops.AssignVectorScalar(x, 0, ops.All()))
	for in := range s.While(more, ops.Passes(sweeps), ops.WithOptions(opts...)) {
		s.Do(ops.MxV(residual, semiring.PlusTimes[float32](), a, x, in))
		s.Do(ops.EWiseMult(residual, minus, b, residual, in))
		s.Do(ops.EWiseMult(step, times, residual, inverse, in))
		s.Do(ops.EWiseAdd(x, plus, x, step, in))
		s.Do(ops.Apply(residual, semiring.Abs[float32](), residual, in))
		s.Do(ops.ReduceInto(largest, semiring.Max[float32](), residual, in))
		s.Do(ops.ApplySecond(more, semiring.Gt[float32](), largest, tolerance, in))
	}
	return x, s.Err()
}
