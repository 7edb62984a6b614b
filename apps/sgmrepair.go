package apps

import (
	"math"

	"github.com/hiveblas/hiveblas/matrix"
	"github.com/hiveblas/hiveblas/ops"
	"github.com/hiveblas/hiveblas/semiring"
)

// The repair of a matching ends after so many attempts in vain. It is for the
// last few vertices, and not begun if more than a quarter of all disagree, or
// more than repairLimit.
const (
	repairs     = 120
	repairSteps = 6 // of an attempt
	repairLimit = 2048
)

// repair tries to match the vertices at which edges disagree again, all others
// being hard seeds. Frank–Wolfe steps end where each vertex is best matched given
// the others, which can be with a few vertices confused: a tail of two matched
// crosswise, or a part that few edges join to the rest. The attempts start at the
// matching, with and without the diagonal of Â, or with some of the vertices
// unmatched, those at which most of the edges disagree or any; they break ties
// differently each time, and take a few steps. One after which no more edges
// disagree than before is kept. That costs little, there being few vertices:
// products of few rows and columns, and an assignment on the host.
//
// Permuted samples of email-Enron, 1024 and 2048 vertices, whose seeds tell little
// of some parts, ended with 24 and 100 disagreements, and with 128 and 480 when
// attempts were single steps that unmatched nothing selectively.
func (f *relaxation[T]) repair(t []int32) ([]int32, float64, error) {
	off, apart, err := f.disagreeing(t)
	if err != nil || len(off) == 0 || len(off) > min(f.n/4, repairLimit) {
		return t, apart, err
	}
	bare := [2]*matrix.Matrix[T]{f.matrix(f.n, f.n), f.matrix(f.n, f.n)}
	var s steps
	s.do(ops.Select(bare[0], semiring.Offdiag[T](0), f.ah, f.with))
	s.do(ops.Select(bare[1], semiring.Offdiag[T](0), f.bh, f.with))
	left := repairs
	for try := 0; s.err == nil && apart > 0 && left > 0; try++ {
		f.opts.report("repair", int64(try), 0)
		left--
		next := t
		for step := range repairSteps {
			next, err = f.attempt(next, off, bare, try, step)
			if !s.do(err) || next == nil {
				break
			}
			offNext, apartNext, err := f.disagreeing(next)
			if !s.do(err) {
				break
			}
			if apartNext < apart {
				left = repairs
			}
			if apartNext <= apart {
				t, off, apart = next, offNext, apartNext
				break
			}
			if !unmatches(try) {
				break
			}
		}
	}
	return t, apart, s.err
}

// unmatches reports whether an attempt leaves suspects unmatched at first.
func unmatches(try int) bool { return try%4 >= 2 }

// A suspect is a position, and the share of the edges there that disagree.
type suspect struct {
	at    int
	share float64
}

// disagreeing returns the positions at whose vertices edges disagree, and the
// sum of the disagreements.
func (f *relaxation[T]) disagreeing(t []int32) (off []suspect, sum float64, err error) {
	match := f.whole(t)
	var s steps
	b := f.matrix(f.n, f.n)
	s.do(ops.Extract(b, f.b, ops.Of(match...), ops.Of(match...), f.with))
	d, err := f.differences(f.a, b)
	s.do(err)
	at, err := f.around(d)
	s.do(err)
	sum, err = ops.ReduceScalar(semiring.Plus[float64](), d, f.with)
	s.do(err)
	if s.err != nil || sum == 0 {
		return nil, sum, s.err
	}
	all := f.wide(f.n, f.n)
	both := semiring.NewBinary("both", func(x, y T) float64 { return math.Abs(float64(x)) + math.Abs(float64(y)) }, "fabs((double)x) + fabs((double)y)")
	s.do(ops.EWiseUnion(all, both, f.a, 0, b, 0, f.with))
	most, err := f.around(all)
	s.do(err)
	for k, v := range f.rows {
		if s.err == nil && at[v] > 0 {
			off = append(off, suspect{k, at[v] / most[v]})
		}
	}
	return off, sum, s.err
}

// around returns the sum of each vertex's row and column, on the host.
func (f *relaxation[T]) around(d *matrix.Matrix[float64]) ([]float64, error) {
	var s steps
	plus := semiring.Plus[float64]()
	out, in := matrix.NewVector[float64](f.n, matrix.On(f.place)), matrix.NewVector[float64](f.n, matrix.On(f.place))
	s.do(ops.Reduce(out, plus, d, f.with))
	s.do(ops.Reduce(in, plus, d.T(), f.with))
	s.do(ops.EWiseAdd(in, plus, in, out, f.with))
	if s.err == nil {
		s.do(in.Move(nil))
	}
	if s.err != nil {
		return nil, s.err
	}
	return in.Dense(0), nil
}

// attempt matches suspects again, nil if there is none. Its first step may
// leave some out of the matching it starts from. bare is Â and B̂ without their
// diagonals.
func (f *relaxation[T]) attempt(t []int32, off []suspect, bare [2]*matrix.Matrix[T], try, step int) ([]int32, error) {
	free := suspects(off, try, f.opts.Seed)
	if len(free) == 0 {
		return nil, nil
	}
	sub := f.among(t, free)
	if (try+step)%2 == 0 {
		sub.ah, sub.bh = bare[0].View(), bare[1].View()
	}
	var s steps
	s.do(sub.orient())
	from, to := []int(nil), f.whole(t)
	if unmatches(try) && step == 0 {
		from, to = sub.seedVertices()
	}
	g, err := sub.product(from, to)
	s.do(err)
	s.do(g.Move(nil))
	if s.err != nil {
		return nil, s.err
	}
	sub.place = nil
	if g, err = jittered(g, f.opts.Seed+uint64(try*repairSteps+step), f.with); err != nil {
		return nil, err
	}
	found, err := sub.assign(g, 0)
	if err != nil {
		return nil, err
	}
	match := sub.whole(found.t)
	next := make([]int32, len(t))
	at := inverse(f.cols, f.n)
	for k, v := range f.rows {
		next[k] = int32(at[match[v]])
	}
	return next, nil
}

// suspects picks those whom an attempt is about: all of them, those with a share
// of disagreements above a random one, or a random half.
func suspects(off []suspect, try int, seed uint64) (free []int) {
	word := mixed(mixed(seed) + uint64(try))
	for _, x := range off {
		switch try % 4 {
		case 2:
			if x.share < float64(word%64)/64 {
				continue
			}
		case 3:
			if mixed(word+uint64(x.at))%2 == 0 {
				continue
			}
		}
		free = append(free, x.at)
	}
	return free
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
	return &relaxation[T]{pairing: p, sums: f.sums, ah: f.ah, bh: f.bh, symmetric: f.symmetric}
}
