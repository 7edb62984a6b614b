package algorithms

import (
	"github.com/hiveblas/hiveblas/matrix"
	"github.com/hiveblas/hiveblas/ops"
	"github.com/hiveblas/hiveblas/semiring"
)

// isCluster is 1 if a row is of cluster y.
var isCluster = semiring.NewBinary("is", func(x, y int32) float32 {
	if x == y {
		return 1
	}
	return 0
}, "x == y ? 1.0f : 0.0f")

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
	rows, columns := matrix.NewVector[bool](m, here), matrix.NewVector[bool](n, here)
	cluster, before, changed := matrix.NewVector[int32](m, here), matrix.NewVector[int32](m, here), matrix.NewVector[bool](m, here)
	index, half, share := matrix.NewVector[int32](k, here), matrix.NewVector[float32](k, here), matrix.NewVector[float32](k, here)
	centres, scratch := matrix.New[float32](n, k, here), matrix.New[float32](n, k, here)
	score, member := matrix.New[float32](m, k, here), matrix.New[float32](m, k, here)
	plus, times, second := semiring.Plus[float32](), semiring.Times[float32](), semiring.PlusSecond[float32]()
	is := semiring.New(semiring.Any[float32](), isCluster)
	var s ops.Steps
	s.Do(ops.AssignVectorScalar(rows, true, ops.All()))
	s.Do(ops.AssignVectorScalar(columns, true, ops.All()))
	s.Do(ops.AssignVectorScalar(changed, true, ops.All()))
	s.Do(ops.AssignVectorScalar(before, -1, ops.All()))
	s.Do(ops.AssignVectorScalar(index, 0, ops.All()))
	s.Do(ops.ApplyIndex(index, semiring.RowIndex[int32](int32(0)), index))
	s.Do(ops.Extract(scratch, a.T(), ops.All(), ops.Of(first...)))
	s.Do(ops.AssignScalar(centres, 0, ops.All(), ops.All()))
	s.Do(ops.Apply(centres.Accum(plus), semiring.Identity[float32](), scratch))
	for in := range s.While(changed, ops.Passes(rounds), ops.WithOptions(opts...)) {
		// Scores, and the cluster of each row.
		s.Do(ops.EWiseMult(scratch, times, centres, centres, in))
		s.Do(ops.Reduce(half, plus, scratch.T(), in))
		s.Do(ops.ApplySecond(half, times, half, -.5, in))
		s.Do(ops.Outer(score, second, rows, half, in))
		s.Do(ops.MxM(score.Accum(plus), semiring.PlusTimes[float32](), a, centres, in))
		s.Do(ops.ArgMax(cluster, score, in))
		// Means of the rows of each cluster.
		s.Do(ops.Outer(member, is, cluster, index, in))
		s.Do(ops.Reduce(share, plus, member.T(), in))
		s.Do(ops.ApplySecond(share, semiring.Max[float32](), share, 1, in))
		s.Do(ops.Apply(share, semiring.Minv[float32](), share, in))
		s.Do(ops.Outer(scratch, second, columns, share, in))
		s.Do(ops.AssignScalar(centres, 0, ops.All(), ops.All(), in))
		s.Do(ops.MxM(centres.Accum(plus), semiring.PlusTimes[float32](), a.T(), member, in))
		s.Do(ops.EWiseMult(centres, times, centres, scratch, in))

		s.Do(ops.EWiseMult(changed, semiring.Ne[int32](), cluster, before, in))
		s.Do(ops.Select(changed, semiring.ValueEQ(true), changed, in))
		s.Do(ops.AssignVector(before, cluster, ops.All(), in))
	}
	return cluster, centres, s.Err()
}
