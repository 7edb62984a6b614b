package lgc

import (
	"github.com/hiveblas/hiveblas/matrix"
	"github.com/hiveblas/hiveblas/ops"
	"github.com/hiveblas/hiveblas/semiring"
)

// The steps of LocalCluster over full vectors. Once a large part of the graph moves, a
// product with a full vector, which reads every edge once and in order, costs less than
// the merging, sorting and counting of sparse vectors.

type lgcVector = *matrix.Vector[float64]

// The share of all edges at the vertices that move from which full vectors are used. On a GPU a
// push sorts its products, at some ten times the time of an edge in a pull; on the host it costs
// little more. On R-MAT 18 with 2/3 of the vertices found and two cores, full vectors take FISTA
// from 1.47 to 0.88 s.
const (
	fullFrom       = 1.0 / 3
	fullFromDevice = 1.0 / 64
)

// crowded reports whether the vertices in v have so many edges that steps over
// full vectors cost less.
func (c *Clusterer) crowded(v lgcVector, with ops.Option) (bool, error) {
	if v.NVals() < int64(c.n)/1024 { // too few to count their edges in every step
		return false, nil
	}
	degrees := matrix.NewVector[float64](c.n, matrix.On(c.place))
	if err := ops.EWiseMult(degrees, semiring.Second[float64, float64](), v, c.degree, with); err != nil {
		return false, err
	}
	volume, err := ops.ReduceScalar(semiring.Plus[float64](), degrees, with)
	return volume > c.fullFrom*float64(c.volume), err
}

// full is a descent over full vectors. It keeps no residual: every step computes it from x by a
// product, so no rounding adds up.
type full struct {
	*descent
	c *Clusterer
}

// widened returns the steps over full vectors, which continue from the sparse ones.
func (c *Clusterer) widened(l *descent) (step func() (done bool, err error), err error) {
	f := full{l, c}
	x, err := f.filled(l.x.(lgcVector))
	if err != nil {
		return nil, err
	}
	l.x = x
	if l.o.Method == ClusterFISTA {
		return f.accelerated()
	}
	return f.monotone()
}

func (f full) vector() lgcVector { return matrix.NewVector[float64](f.c.n, matrix.On(f.c.place)) }

// filled returns v with zeros where it has no entry.
func (f full) filled(v lgcVector) (lgcVector, error) {
	y := f.vector()
	var s ops.Steps
	s.Do(ops.ApplySecond(y, semiring.Times[float64](), f.c.degree, 0, f.with))
	s.Do(ops.EWiseAdd(y, semiring.Plus[float64](), y, v, f.with))
	return y, s.Err()
}

// affine sets y = base + weight∘Ax.
func (f full) affine(y, base, weight lgcVector) error {
	var s ops.Steps
	s.Do(ops.MxV(y, semiring.PlusSecond[float64](), f.c.a, f.x.(lgcVector), f.with, ops.Using(ops.Pull)))
	s.Do(ops.EWiseMult(y, semiring.Times[float64](), y, weight, f.with))
	s.Do(ops.EWiseAdd(y, semiring.Plus[float64](), base, y, f.with))
	return s.Err()
}

// monotone is descent.monotone: x becomes the larger of x and x + g − 1, which
// is (1 + own)x + D⁻¹s/ρ − 1 + sent·D⁻¹Ax. A push moves every entry above 1.
func (f full) monotone() (func() (bool, error), error) {
	weight, excess, target := f.vector(), f.vector(), f.vector()
	plus, minus, times := semiring.Plus[float64](), semiring.Minus[float64](), semiring.Times[float64]()
	var s ops.Steps
	base, err := f.filled(f.start.(lgcVector))
	s.Do(err)
	s.Do(ops.ApplySecond(base, minus, base, 1, f.with))
	s.Do(ops.ApplySecond(weight, times, f.c.share, f.o.sent(), f.with))
	return func() (bool, error) {
		var s ops.Steps
		x := f.x.(lgcVector)
		s.Do(f.affine(target, base, weight))
		if f.o.Method == ClusterISTA { // own is −1 of a push
			s.Do(ops.ApplySecond(excess, times, x, 1+f.o.own(), f.with))
			s.Do(ops.EWiseAdd(target, plus, target, excess, f.with))
		}
		s.Do(ops.EWiseMult(excess, minus, target, x, f.with))
		most, err := ops.ReduceScalar(semiring.Max[float64](), excess, f.with)
		s.Do(err)
		if !s.OK() || most <= f.o.Epsilon {
			return true, s.Err()
		}
		return false, ops.EWiseMult(x, semiring.Max[float64](), x, target, f.with)
	}, s.Err()
}

// accelerated is descent.accelerated. x + g is affine in x, so that at y = x + β(x − x₋) it follows
// from x + g of two steps.
func (f full) accelerated() (func() (bool, error), error) {
	weight, g, own, y := f.vector(), f.vector(), f.vector(), f.vector()
	plus, minus, times := semiring.Plus[float64](), semiring.Minus[float64](), semiring.Times[float64]()
	var s ops.Steps
	base, err := f.filled(f.start.(lgcVector))
	s.Do(err)
	s.Do(ops.ApplySecond(weight, times, f.c.share, f.o.sent(), f.with))
	var old lgcVector
	return func() (bool, error) {
		var s ops.Steps
		x := f.x.(lgcVector)
		s.Do(f.affine(g, base, weight))
		s.Do(ops.ApplySecond(own, times, x, f.o.own(), f.with))
		s.Do(ops.EWiseAdd(g, plus, g, own, f.with))
		f.g = g
		kkt, err := f.violation()
		s.Do(err)
		if !s.OK() || kkt <= f.o.Epsilon {
			return true, s.Err()
		}
		forward := f.vector()
		s.Do(ops.EWiseAdd(forward, plus, x, g, f.with))
		if old == nil {
			old = forward
		}
		s.Do(ops.EWiseMult(y, minus, forward, old, f.with))
		s.Do(ops.ApplySecond(y, times, y, f.o.momentum(), f.with))
		s.Do(ops.EWiseAdd(y, plus, y, forward, f.with))
		s.Do(ops.ApplySecond(x, shrink(), y, 1, f.with))
		old = forward
		return false, s.Err()
	}, s.Err()
}
