package algorithms

import (
	"github.com/hiveblas/hiveblas/matrix"
	"github.com/hiveblas/hiveblas/ops"
	"github.com/hiveblas/hiveblas/semiring"
)

// KMeans divides the rows of a into clusters by the algorithm of Lloyd: each row goes to the
// nearest centre, and each centre to the mean of its rows, until no row changes, or after so many
// rounds. The first centres are the rows of first. It returns the cluster of each row, and the
// centres as columns; a cluster without rows has the centre 0.
//
// Of the squared distance |x|² − 2x·c + |c|² the first term is the same for all centres, so the
// nearest centre has the largest x·c − |c|²/2. Matrices of so few columns are full.
func KMeans(a *matrix.Matrix[float32], first []int, rounds int64, opts ...ops.Option) (cluster *matrix.Vector[int32], centres *matrix.Matrix[float32], err error) {
	m, n := a.Dims()
	k := len(first)
	here := matrix.On(a.Place())
	vector := func(size int) *matrix.Vector[float32] { return matrix.NewVector[float32](size, here) }
	cluster, before := matrix.NewVector[int32](m, here), matrix.NewVector[int32](m, here)
	centres, squares := matrix.New[float32](n, k, here), matrix.New[float32](n, k, here)
	score, member := matrix.New[float32](m, k, here), matrix.New[float32](m, k, here)
	ones, half, part, share := vector(m), vector(k), vector(k), vector(m)
	changed := matrix.NewVector[bool](m, here)
	plus, times := semiring.Plus[float32](), semiring.Times[float32]()
	var s ops.Steps
	s.Do(ops.AssignVectorScalar(ones, 1, ops.All()))
	s.Do(ops.AssignVectorScalar(before, -1, ops.All()))
	s.Do(ops.AssignVectorScalar(changed, true, ops.All()))
	s.Do(ops.Extract(squares, a.T(), ops.All(), ops.Of(first...)))
	s.Do(ops.AssignScalar(centres, 0, ops.All(), ops.All()))
	s.Do(ops.Apply(centres.Accum(plus), semiring.Identity[float32](), squares))
	for in := range s.While(changed, ops.Passes(rounds), ops.WithOptions(opts...)) {
		s.Do(ops.EWiseMult(squares, times, centres, centres, in))
		s.Do(ops.AssignVectorScalar(half, 0, ops.All(), in))
		s.Do(ops.Reduce(half.Accum(plus), plus, squares.T(), in))
		s.Do(ops.ApplySecond(half, times, half, -.5, in))
		s.Do(ops.Outer(score, semiring.PlusSecond[float32](), ones.Pattern(), half, in))
		s.Do(ops.MxM(score.Accum(plus), semiring.PlusTimes[float32](), a, centres, in))
		s.Do(ops.ArgMax(cluster, score, in))

		s.Do(ops.ScatterVector(part, plus, ones, ops.ValuesOf(cluster), in))
		s.Do(ops.Apply(part, semiring.Minv[float32](), part, in))
		s.Do(ops.ExtractVector(share, part, ops.ValuesOf(cluster), in))
		s.Do(ops.AssignScalar(member, 0, ops.All(), ops.All(), in))
		s.Do(ops.Scatter(member.Accum(plus), plus, share, ops.All(), ops.ValuesOf(cluster), in))
		s.Do(ops.AssignScalar(centres, 0, ops.All(), ops.All(), in))
		s.Do(ops.MxM(centres.Accum(plus), semiring.PlusTimes[float32](), a.T(), member, in))

		s.Do(ops.EWiseMult(changed, semiring.Ne[int32](), cluster, before, in))
		s.Do(ops.Select(changed, semiring.ValueEQ(true), changed, in))
		s.Do(ops.AssignVector(before, cluster, ops.All(), in))
	}
	return cluster, centres, s.Err()
}
