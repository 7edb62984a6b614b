package apps

import (
	"slices"

	"github.com/hiveblas/hiveblas/internal/splitmix"
	"github.com/hiveblas/hiveblas/matrix"
	"github.com/hiveblas/hiveblas/ops"
	"github.com/hiveblas/hiveblas/semiring"
)

// The repair of a matching ends after so many attempts in vain: few where the
// search may be begun again, which takes as long as some fifty. It is for the
// last few vertices, and not begun if more than a quarter of all disagree, or
// more than repairLimit.
const (
	repairs     = 480
	fewRepairs  = 48
	repairSteps = 6 // of an attempt
	repairLimit = 2048
)

// A repair matches the vertices at which edges disagree again, all others being
// hard seeds: a search of large neighbourhoods (Shaw, CP 1998) by Frank–Wolfe.
// Steps end where each vertex is best matched given the others, which can be with
// a few vertices confused: a tail of two matched crosswise, or a part that few
// edges join to the rest. The attempts
//
//	rematch   all suspects, from where they are
//	loosen    those at which most of the edges disagree, unmatched at first
//	scatter   a random half of them, unmatched
//	ball      some and what is around them but for hubs, unmatched: when two
//	          parts are matched crosswise their inner edges agree
//
// with and without the diagonal of Â, break ties differently each time and take a
// few steps. One after which no more edges disagree than before is kept. All is
// done on the host, products of few rows and columns that would not fill a device.
type repair[T semiring.Float] struct {
	*relaxation[T]                   // its graphs on the host
	bare           [2]matrix.View[T] // Â and B̂ without their diagonals
	count          *tally[T]
	position       []int // in rows, −1 for none
	atB            []int // positions in cols
}

// repair improves a matching until so many attempts have been in vain, and
// returns its disagreements.
func (f *relaxation[T]) repair(t []int32, patience int) ([]int32, float64, error) {
	r, err := f.mended(t)
	if err != nil {
		return t, 0, err
	}
	if off := len(r.suspects()); off > min(f.n/4, repairLimit) {
		return t, r.count.sum(), nil
	}
	left := patience
	for try := 0; r.count.sum() > 0 && left > 0; try++ {
		f.opts.report("repair", int64(try), 0)
		left--
		before := r.count.sum()
		if t, err = r.attempt(t, try); err != nil {
			return t, 0, err
		}
		if r.count.sum() < before {
			left = patience
		}
	}
	return t, r.count.sum(), nil
}

// mended prepares the repair of t.
func (f *relaxation[T]) mended(t []int32) (*repair[T], error) {
	var s ops.Steps
	home := func(a matrix.View[T]) matrix.View[T] {
		if f.place == nil || !s.OK() {
			return a
		}
		there := f.matrix(f.n, f.n)
		s.Do(ops.Apply(there, semiring.Identity[T](), a, f.with))
		s.Do(there.Move(nil))
		return there.View()
	}
	p := *f.pairing
	p.a, p.b = home(f.a), home(f.b)
	r := &repair[T]{relaxation: &relaxation[T]{pairing: &p, sums: sums[T]{nil, f.with}, symmetric: f.symmetric, unit: f.unit}}
	if !s.OK() {
		return nil, s.Err()
	}
	s.Do(r.encode())
	for k, g := range []matrix.View[T]{p.a, p.b} {
		var err error
		r.bare[k], err = r.encoded(g, 0)
		s.Do(err)
	}
	if !s.OK() {
		return nil, s.Err()
	}
	r.count = newTally(p.a, p.b, f.symmetric, p.whole(t))
	r.position, r.atB = slices.Repeat([]int{-1}, f.n), inverse(p.cols, f.n)
	for k, v := range p.rows {
		r.position[v] = k
	}
	return r, nil
}

// suspects lists the positions at whose vertices edges disagree.
func (r *repair[T]) suspects() (off []int) {
	for k, v := range r.rows {
		if r.count.apart[v] > 0 {
			off = append(off, k)
		}
	}
	return off
}

// attempt tries to match some vertices better than t does, and returns what is
// no worse.
func (r *repair[T]) attempt(t []int32, try int) ([]int32, error) {
	free, loose := r.pick(try)
	if len(free) == 0 {
		return t, nil
	}
	old, before := slices.Clone(r.count.match), r.count.sum()
	next := t
	for step := range repairSteps {
		var err error
		if next, err = r.step(next, free, loose && step == 0, try*repairSteps+step); err != nil {
			return t, err
		}
		r.count.move(r.whole(next))
		if r.count.sum() <= before {
			return next, nil
		}
		if !loose {
			break
		}
	}
	r.count.move(old)
	return t, nil
}

// pick chooses the positions that an attempt is about, and whether they are
// unmatched at first.
func (r *repair[T]) pick(try int) (free []int, loose bool) {
	off := r.suspects()
	word := splitmix.Mix(splitmix.Mix(r.opts.Seed) + uint64(try))
	if len(off) == 0 {
		return nil, false
	}
	switch {
	case try%4 == 0 || try == 1:
		return off, false
	case try%8 == 1:
		least := float64(word%64) / 64
		return slices.DeleteFunc(off, func(k int) bool { return r.count.share(r.rows[k]) < least }), true
	case try%8 == 5:
		return slices.DeleteFunc(off, func(k int) bool { return splitmix.Mix(word+uint64(k))%2 == 0 }), true
	}
	size, degree := 8<<(word%6), 8<<(word>>4%4)
	centres := make([]int, 1<<(word>>8%4))
	for k := range centres {
		centres[k] = r.rows[off[splitmix.Mix(word+uint64(k))%uint64(len(off))]]
	}
	for _, v := range r.count.ball(centres, size, degree) {
		if k := r.position[v]; k >= 0 {
			free = append(free, k)
		}
	}
	return free, true
}

// step matches free positions again, one Frank–Wolfe step from t or, if they are
// loose, from t without them.
func (r *repair[T]) step(t []int32, free []int, loose bool, number int) ([]int32, error) {
	sub := r.among(t, free)
	if number/repairSteps%2 == number%2 {
		sub.ah, sub.bh = r.bare[0], r.bare[1]
	}
	from, to := sub.seedVertices()
	if !loose {
		from, to = append(from, sub.rows...), append(to, sub.cols...)
	}
	g, err := sub.corner(from, to)
	if err != nil {
		return nil, err
	}
	if g, err = jittered(g, r.opts.Seed+uint64(number), r.with); err != nil {
		return nil, err
	}
	found, err := sub.assign(g, 0)
	if err != nil {
		return nil, err
	}
	next := slices.Clone(t)
	for k, q := range found.t {
		next[r.position[sub.rows[k]]] = int32(r.atB[sub.cols[q]])
	}
	return next, nil
}

// corner is product for few free positions: it takes no column of a graph.
func (f *relaxation[T]) corner(from, to []int) (*matrix.Matrix[T], error) {
	var s ops.Steps
	g := f.matrix(len(f.rows), len(f.cols))
	sides := [][2]matrix.View[T]{{f.ah, f.bh}}
	if !f.symmetric {
		sides = append(sides, [2]matrix.View[T]{f.ah.T(), f.bh.T()})
	}
	for _, side := range sides {
		left, right := f.matrix(len(f.rows), len(from)), f.matrix(len(f.cols), len(to))
		s.Do(ops.Extract(left, side[0], ops.Of(f.rows...), ops.Of(from...), f.with))
		s.Do(ops.Extract(right, side[1], ops.Of(f.cols...), ops.Of(to...), f.with))
		s.Do(ops.MxM(g.Accum(semiring.Plus[T]()), semiring.PlusTimes[T](), left, right.T(), f.with))
	}
	return g, s.Err()
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
