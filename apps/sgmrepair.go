package apps

import (
	"github.com/hiveblas/hiveblas/matrix"
	"github.com/hiveblas/hiveblas/ops"
	"github.com/hiveblas/hiveblas/semiring"
)

// The repair of a matching ends after so many attempts in vain. It is for the
// last few vertices, and not begun if more than a quarter of all disagree, or
// more than repairLimit.
const (
	repairs     = 24
	repairLimit = 2048
)

// repair tries to match the vertices at which edges disagree again, all others
// being hard seeds. Frank–Wolfe steps end where each vertex is best matched
// given the others, which can be with a handful of vertices confused: a tail of
// two vertices, or a vertex and its neighbour, matched crosswise. The attempts
// take the gradient at the matching, with a diagonal of 0 and of 1 in Â, and
// that without the vertices in question, and break ties differently each time.
// One that disagrees no more is kept. It costs little, there being few vertices:
// products of few rows and columns, and an assignment on the host.
//
// Permuted samples of 8192 vertices of soc-Slashdot0902 with 100 seeds ended
// with 0 disagreements rather than 0 to 12.
func (f *relaxation[T]) repair(t []int32) ([]int32, float64, error) {
	off, apart, err := f.disagreeing(t)
	left := repairs
	for try := 0; err == nil && len(off) > 0 && len(off) <= min(f.n/4, repairLimit) && left > 0; try++ {
		left--
		f.opts.report("repair", int64(try), 0)
		next, err := f.attempt(t, off, try)
		if err != nil {
			return nil, 0, err
		}
		offNext, apartNext, err := f.disagreeing(next)
		if err != nil {
			return nil, 0, err
		}
		if apartNext < apart {
			left = repairs
		}
		if apartNext <= apart {
			t, off, apart = next, offNext, apartNext
		}
	}
	return t, apart, err
}

// disagreeing returns the positions at whose vertices edges disagree, and the
// sum of the disagreements.
func (f *relaxation[T]) disagreeing(t []int32) (off []int, sum float64, err error) {
	match := f.whole(t)
	var s steps
	b := f.matrix(f.n, f.n)
	s.do(ops.Extract(b, f.b, ops.Of(match...), ops.Of(match...), f.with))
	d, err := f.differences(f.a, b)
	s.do(err)
	plus := semiring.Plus[float64]()
	out, in := matrix.NewVector[float64](f.n, matrix.On(f.place)), matrix.NewVector[float64](f.n, matrix.On(f.place))
	s.do(ops.Reduce(out, plus, d, f.with))
	s.do(ops.Reduce(in, plus, d.T(), f.with))
	s.do(ops.EWiseAdd(in, plus, in, out, f.with))
	sum, err = ops.ReduceScalar(plus, out, f.with)
	s.do(err)
	if s.err != nil || sum == 0 {
		return nil, sum, s.err
	}
	at := in.Dense(0)
	for k, v := range f.rows {
		if at[v] > 0 {
			off = append(off, k)
		}
	}
	return off, sum, in.Err()
}

// attempt matches the given positions again.
func (f *relaxation[T]) attempt(t []int32, off []int, try int) ([]int32, error) {
	erase := try%3 == 2
	if erase {
		off = half(off, f.opts.Seed+uint64(try))
	}
	sub := f.among(t, off)
	sub.ah, sub.bh = f.ah, f.bh
	var s steps
	if try%2 == 0 {
		ah, bh := f.matrix(f.n, f.n), f.matrix(f.n, f.n)
		s.do(ops.Select(ah, semiring.Offdiag[T](0), f.ah, f.with))
		s.do(ops.Select(bh, semiring.Offdiag[T](0), f.bh, f.with))
		sub.ah, sub.bh = ah.View(), bh.View()
	}
	s.do(sub.orient())
	from, to := []int(nil), f.whole(t)
	if erase {
		from, to = sub.seedVertices()
	}
	g, err := sub.product(from, to)
	s.do(err)
	s.do(g.Move(nil))
	if s.err != nil {
		return nil, s.err
	}
	sub.place = nil
	if g, err = jittered(g, f.opts.Seed+uint64(try), f.with); err != nil {
		return nil, err
	}
	part, _, _, err := sub.assign(g)
	if err != nil {
		return nil, err
	}
	match := sub.whole(part)
	next := make([]int32, len(t))
	at := inverse(f.cols, f.n)
	for k, v := range f.rows {
		next[k] = int32(at[match[v]])
	}
	return next, nil
}

// half returns a random part of a list.
func half(list []int, seed uint64) (part []int) {
	for _, x := range list {
		if mixed(mixed(seed)+uint64(x))%2 == 0 {
			part = append(part, x)
		}
	}
	return part
}

// among returns the problem of matching the vertices at some positions with
// those that t gives them, all others being hard seeds.
func (f *relaxation[T]) among(t []int32, off []int) *relaxation[T] {
	p := &pairing[T]{opts: f.opts, a: f.a, b: f.b, n: f.n}
	free := make([]bool, f.n)
	from := 0
	for _, k := range off {
		free[f.rows[k]] = true
	}
	for _, end := range f.ends {
		for k := from; k < end; k++ {
			if free[f.rows[k]] {
				p.rows, p.cols = append(p.rows, f.rows[k]), append(p.cols, f.cols[t[k]])
			}
		}
		if len(p.rows) > 0 && (len(p.ends) == 0 || p.ends[len(p.ends)-1] < len(p.rows)) {
			p.ends = append(p.ends, len(p.rows))
		}
		from = end
	}
	for v, w := range f.whole(t) {
		if !free[v] {
			p.seeds = append(p.seeds, SeedPair{v, w})
		}
	}
	return &relaxation[T]{pairing: p, sums: f.sums}
}

// apart returns the disagreements of t.
func (f *relaxation[T]) apart(t []int32) (float64, error) {
	_, sum, err := f.disagreeing(t)
	return sum, err
}
