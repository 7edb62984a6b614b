package algorithms

import (
	"github.com/hiveblas/hiveblas/matrix"
	"github.com/hiveblas/hiveblas/ops"
	"github.com/hiveblas/hiveblas/semiring"
)

// Labelled is a label with its strength, one number: Strongest compares strengths first.
func Labelled(strength, label int32) int64 { return int64(strength)<<32 | int64(label) }

// Strength and Label are the parts of a number of [Labelled].
func Strength(x int64) int32 { return int32(x >> 32) }
func Label(x int64) int32    { return int32(x) }

// fade is what an edge of weight y passes on: the label, with y/256 of its strength.
var fade = semiring.NewBinary("fade", func(x int64, y int32) int64 {
	return Labelled(int32(int64(Strength(x))*int64(y)>>8), Label(x))
}, "((x >> 32) * y >> 8 << 32) | (x & 0xffffffff)")

// stronger is a label that is stronger than the one before, and else 0.
var stronger = semiring.NewBinary("stronger", func(x, before int64) int64 {
	if x > before {
		return x
	}
	return 0
}, "x > y ? x : 0")

// Spread spreads labels along edges with decay. Entry (u, v) of weights, from 0 to 255, says which
// part of the strength the edge from u to v passes on, in 256ths. A vertex has the strongest label
// that reaches it with at least the strength least, above 0, of equally strong ones the largest.
// seeds and the result have numbers of [Labelled]; seeds keep theirs unless a stronger one comes.
func Spread(weights *matrix.Matrix[int32], seeds *matrix.Vector[int64], least int32, opts ...ops.Option) (*matrix.Vector[int64], error) {
	n, _ := weights.Dims()
	here := matrix.On(weights.Place())
	best, front := matrix.NewVector[int64](n, here), matrix.NewVector[int64](n, here)
	strongest, same := semiring.Max[int64](), semiring.Identity[int64]()
	var s ops.Steps
	s.Do(ops.AssignVectorScalar(best, 0, ops.All()))
	s.Do(ops.Apply(best.Accum(strongest), same, seeds))
	s.Do(ops.Apply(front, same, seeds))
	for in := range s.While(front, opts...) {
		s.Do(ops.VxM(front, semiring.New(strongest, fade), front, weights, in))
		s.Do(ops.EWiseMult(front, stronger, front, best, in))
		s.Do(ops.Select(front, semiring.ValueGE(Labelled(least, 0)), front, in))
		s.Do(ops.Apply(best.Accum(strongest), same, front, in))
	}
	s.Do(ops.Select(best, semiring.ValueGT[int64](0), best))
	return best, s.Err()
}
