package apps

import (
	"slices"

	"github.com/hiveblas/hiveblas/internal/splitmix"
	"github.com/hiveblas/hiveblas/matrix"
	"github.com/hiveblas/hiveblas/ops"
	"github.com/hiveblas/hiveblas/semiring"
)

// A repair ends after a number of attempts in vain: fewer where another search may follow. It does
// not begin if more than half of all vertices disagree, or more than repairLimit. With a limit of a
// quarter and 2048 a sample of 32768 vertices of email-Enron ended with 26800 disagreements, at some
// 8000 vertices; 80 attempts leave 5200 of these, in 8 s on two cores.
const (
	repairs     = 480
	fewRepairs  = 48
	repairSteps = 6 // of an attempt
	repairLimit = 1 << 14
)

// A repair matches the vertices at which edges disagree again, with all others fixed: a search of
// large neighbourhoods (Shaw, CP 1998) by Frank–Wolfe steps. The search ends where each vertex is
// best matched given the others, which a few confused vertices allow: a tail of two matched
// crosswise, or a part that few edges join to the rest. The attempts
//
//	rematch   all suspects, from their present partners
//	loosen    the suspects at which most edges disagree, unmatched at first
//	scatter   a random half of the suspects, unmatched at first
//	ball      some suspects and their surroundings except hubs, unmatched at first: the inner
//	          edges of two parts that are matched crosswise agree
//
// with and without the diagonal of Â, break ties differently each time and take a few steps. An
// attempt is kept if it leaves no more disagreements. Everything runs on the host, since problems
// of so few vertices do not fill a device.
type repair[T semiring.Float] struct {
	*pairing[T]
	unit     float64 // mean squared weight of an edge
	count    *tally[T]
	position []int // in rows, −1 for none
	atB      []int // positions in cols
	patch    *patch[T]
	work     int64
}

// repair improves a matching until patience attempts in a row are in vain or its work exceeds a
// limit, whichever is first. It returns the matching and its disagreements.
func (f *relaxation[T]) repair(t []int32, patience int, limit int64) ([]int32, float64, error) {
	r, err := f.newRepair(t)
	if err != nil {
		return t, 0, err
	}
	if off := len(r.suspects()); off > min(f.n/2, repairLimit) {
		return t, r.count.sum(), nil
	}
	left := patience
	for try := 0; r.count.sum() > 0 && left > 0 && r.work < limit; try++ {
		f.opts.report("repair", int64(try), 0)
		if ctx := f.opts.Context; ctx != nil && ctx.Err() != nil {
			return t, 0, ctx.Err()
		}
		left--
		before := r.count.sum()
		if t, err = r.attempt(t, try); err != nil {
			return t, 0, err
		}
		if r.count.sum() < before {
			left = patience
		}
	}
	f.mending += r.work
	return t, r.count.sum(), nil
}

// newRepair prepares the repair of t.
func (f *relaxation[T]) newRepair(t []int32) (*repair[T], error) {
	var s ops.Steps
	host := func(a matrix.View[T]) matrix.View[T] {
		if f.place == nil || !s.OK() {
			return a
		}
		copied := f.matrix(f.n, f.n)
		s.Do(ops.Apply(copied, semiring.Identity[T](), a, f.with))
		s.Do(copied.Move(nil))
		return copied.View()
	}
	p := *f.pairing
	p.a, p.b = host(f.a), host(f.b)
	if !s.OK() {
		return nil, s.Err()
	}
	r := &repair[T]{pairing: &p, unit: f.unit, count: newTally(p.a, p.b, f.symmetric, p.whole(t))}
	r.position, r.atB = slices.Repeat([]int{-1}, f.n), inverse(p.cols, f.n)
	for k, v := range p.rows {
		r.position[v] = k
	}
	r.patch = newPatch(r.count)
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

// attempt tries to match some vertices better than t does, and returns a matching that is no worse.
func (r *repair[T]) attempt(t []int32, try int) ([]int32, error) {
	free, loose := r.pick(try)
	r.work += int64(r.n) + 64*int64(len(free)) + 4096
	if len(free) == 0 {
		return t, nil
	}
	slices.Sort(free)
	vertices, old := make([]int, len(free)), make([]int, len(free))
	for k, i := range free {
		vertices[k] = r.rows[i]
		old[k] = r.count.match[r.rows[i]]
	}
	before := r.count.sum()
	next := slices.Clone(t)
	for step := range repairSteps {
		if err := r.step(next, free, vertices, loose && step == 0, try*repairSteps+step); err != nil {
			return t, err
		}
		if r.count.sum() <= before {
			return next, nil
		}
		if !loose {
			break
		}
	}
	r.work += r.count.move(vertices, old)
	return t, nil
}

// step matches free positions again in t, one Frank–Wolfe step from t or, if they are loose, from t
// without them.
func (r *repair[T]) step(t []int32, free, vertices []int, loose bool, number int) error {
	partners := make([]int, len(vertices))
	for k, v := range vertices {
		partners[k] = r.count.match[v]
	}
	loop := 1.0
	if number/repairSteps%2 == number%2 {
		loop = 0
	}
	r.patch.begin(vertices, partners, loose, loop)
	next := make([]int, len(free))
	from := 0
	for _, end := range r.ends {
		to := from
		for to < len(free) && free[to] < end {
			to++
		}
		if to > from {
			costs, err := r.patch.costs(from, to, r.jitter(number))
			if err != nil {
				return err
			}
			found, err := solveCosts(r.opts, costs, 0)
			if err != nil {
				return err
			}
			r.work += found.scanned
			for k, q := range found.t {
				next[from+k] = partners[from+int(q)]
			}
		}
		from = to
	}
	r.work += r.patch.end()
	r.work += r.count.move(vertices, next)
	for k, i := range free {
		t[i] = int32(r.atB[next[k]])
	}
	return nil
}

// jitter returns random numbers below 1/16 of a common neighbour, of edges of mean weight, which
// break ties in another way for each number. Costs of whole numbers stay so, times jitterScale.
func (r *repair[T]) jitter(number int) func(v, w int) float64 {
	const levels = jitterScale * commonNeighbour / 16
	seed := splitmix.Mix(r.opts.Seed + uint64(number))
	return func(v, w int) float64 {
		return r.unit * float64(splitmix.Mix(seed+uint64(v)<<32+uint64(w))%levels)
	}
}

const jitterScale = 64

// pick chooses the positions of an attempt, and reports whether they are unmatched at first.
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
