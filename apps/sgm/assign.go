package sgm

import (
	"github.com/hiveblas/hiveblas/auction"
	"github.com/hiveblas/hiveblas/matrix"
	"github.com/hiveblas/hiveblas/ops"
)

// ascent returns T = argmax ⟨∇f, T⟩ over matchings of positions, to within ε, and a
// bound on how far it falls short of that. With a spread the assignment problem is
// not sparse, and T is an approximate solution.
func (f *relaxation[T]) ascent(it *SGMIteration) (t []int32, err error) {
	if !f.spreading() {
		costs, err := f.withLike(f.g)
		if err != nil {
			return nil, err
		}
		found, err := f.assign(costs, f.epsilon())
		it.LSAPGap, it.Rounds = f.factor*found.gap, found.rounds
		return found.t, err
	}
	costs, err := f.tilted()
	if err != nil {
		return nil, err
	}
	if costs, err = f.withLike(costs); err != nil {
		return nil, err
	}
	found, err := f.assign(costs, f.epsilon())
	if err != nil {
		return nil, err
	}
	t = found.t
	best, err := f.score(t)
	if err != nil {
		return nil, err
	}
	other, err := f.settled(t)
	if err != nil {
		return nil, err
	}
	score, err := f.score(other)
	if score > best {
		t, best = other, score
	}
	it.LSAPGap, it.Rounds = f.factor*max(0, found.value+found.gap+f.start*f.spread.most()-best), found.rounds
	return t, err
}

// epsilon is the ε of the assignments of steps, in units of the gradient.
//
// Steps to assignments near the best end as well as steps to the best. The first assignments of
// permuted samples of soc-Slashdot0902, 2048 vertices, by bidding: 33586, 7534 and 2037 rounds for
// the exact, 58, 63 and 22 for 1/16, 31, 28 and 16 for 1/4, 12, 10 and 6 for 4, after which 6176
// entries disagreed instead of 2920 with 1/4 and 1/16; of 8192 vertices 407, 264 and 46 for 1/16.
// With ε-scaling it was 2742, 1862 and 1168 for 1/16.
func (f *relaxation[T]) epsilon() float64 {
	const automatic = 1. / 16
	switch eps := f.opts.Epsilon; {
	case f.opts.Exact:
		return 0
	case eps > 0:
		return commonNeighbour * f.unit * eps
	}
	return commonNeighbour * f.unit * automatic
}

func (f *relaxation[T]) spreading() bool { return f.spread != nil && f.start > 0 }

// An assigned is a matching of positions, its value and a bound on the excess of the best value.
type assigned struct {
	t          []int32
	value, gap float64
	rounds     int64
}

// assign solves the assignment problem max Σ c(k, t(k)), label by label. A missing
// entry counts 0. Each row may miss its best by eps.
func (f *relaxation[T]) assign(costs *matrix.Matrix[T], eps float64) (assigned, error) {
	if len(f.ends) == 1 {
		return f.solve(costs, eps)
	}
	whole := assigned{t: make([]int32, len(f.rows))}
	from := 0
	for _, end := range f.ends {
		block := f.matrix(end-from, end-from)
		if err := ops.Extract(block, costs, ops.Span(from, end), ops.Span(from, end), f.with); err != nil {
			return whole, err
		}
		part, err := f.solve(block, eps)
		if err != nil {
			return whole, err
		}
		for k, q := range part.t {
			whole.t[from+k] = int32(from) + q
		}
		whole.value += part.value
		whole.gap += part.gap
		whole.rounds += part.rounds
		from = end
	}
	return whole, nil
}

// solve solves one assignment problem. It leaves out offsets of rows and columns, which change
// neither the best assignment nor the gap.
func (f *relaxation[T]) solve(costs *matrix.Matrix[T], eps float64) (assigned, error) {
	res, err := auction.Solve(auction.Implicit(costs, 0), f.opts.assignment(eps))
	if err != nil {
		return assigned{}, err
	}
	f.work += res.Scanned
	return assigned{res.Row, res.Value, res.Gap, res.Rounds}, nil
}

// assignment returns the settings of an assignment problem max Σ c(k, t(k)). Only exact problems
// are ε-scaled: most rows of a gradient prefer a column of their own.
func (o SGMOptions) assignment(eps float64) auction.Options {
	return auction.Options{
		Context: o.Context, Threads: o.Threads, Trace: o.Trace,
		Maximize: true, Epsilon: eps, NoScaling: eps > 0, Seed: o.Seed,
		Method: o.Assignment, Bidding: auction.Jacobi,
	}
}

// commonNeighbour is the weight of one in ÂPB̂ᵀ: Â and B̂ have a 2 for each edge.
const commonNeighbour = 4
