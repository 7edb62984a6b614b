package apps

import (
	"github.com/hiveblas/hiveblas/auction"
	"github.com/hiveblas/hiveblas/matrix"
	"github.com/hiveblas/hiveblas/ops"
	"github.com/hiveblas/hiveblas/semiring"
)

// ascent returns the matching of positions that goes furthest along the
// gradient, T = argmax ⟨∇f, T⟩, and a bound on how far it falls short of that.
// With a spread the assignment problem is no longer sparse, and T is a good
// answer rather than the best.
func (f *relaxation[T]) ascent() (t []int32, gap float64, err error) {
	if !f.spreading() {
		t, _, gap, err = f.assign(f.g)
		return t, f.factor * gap, err
	}
	costs, err := f.tilted()
	if err != nil {
		return nil, 0, err
	}
	t, value, gap, err := f.assign(costs)
	if err != nil {
		return nil, 0, err
	}
	best, err := f.score(t)
	if err != nil {
		return nil, 0, err
	}
	other, err := f.settled(t)
	if err != nil {
		return nil, 0, err
	}
	score, err := f.score(other)
	if score > best {
		t, best = other, score
	}
	return t, f.factor * max(0, value+gap+f.start*f.spread.most()-best), err
}

func (f *relaxation[T]) spreading() bool { return f.spread != nil && f.start > 0 }

// assign solves the assignment problem max Σ c(k, t(k)), label by label; a
// missing entry counts 0. The best value is at most value + gap.
func (f *relaxation[T]) assign(costs *matrix.Matrix[T]) (t []int32, value, gap float64, err error) {
	if len(f.ends) == 1 {
		return f.solve(costs)
	}
	t = make([]int32, len(f.rows))
	from := 0
	for _, end := range f.ends {
		block := f.matrix(end-from, end-from)
		if err := ops.Extract(block, costs, ops.Span(from, end), ops.Span(from, end), f.with); err != nil {
			return nil, 0, 0, err
		}
		part, v, g, err := f.solve(block)
		if err != nil {
			return nil, 0, 0, err
		}
		for k, q := range part {
			t[from+k] = int32(from) + q
		}
		value, gap, from = value+v, gap+g, end
	}
	return t, value, gap, nil
}

// solve solves one assignment problem. Offsets of rows and columns are left
// out: they change neither the best assignment nor the gap.
func (f *relaxation[T]) solve(costs *matrix.Matrix[T]) (t []int32, value, gap float64, err error) {
	res, err := auction.Solve(auction.Implicit(costs, 0), auction.Options{
		Context: f.opts.Context, Threads: f.opts.Threads, Trace: f.opts.Trace,
		Maximize: true, Epsilon: commonNeighbour * f.opts.Epsilon, Seed: f.opts.Seed,
		Method: f.opts.Assignment,
	})
	if err != nil {
		return nil, 0, 0, err
	}
	return res.Row, res.Value, res.Gap, nil
}

// commonNeighbour is what one counts in ÂPB̂ᵀ: Â and B̂ have a 2 for each edge.
const commonNeighbour = 4

// jittered returns costs with random numbers below 1/16 of a common neighbour
// added to its entries, so that ties are broken in another way each time. Whole
// numbers stay whole, times a constant.
func jittered[T semiring.Float](costs *matrix.Matrix[T], seed uint64, with ops.Option) (*matrix.Matrix[T], error) {
	const scale, levels = 64, 4 * 4
	m, n := costs.Dims()
	x := matrix.New[T](m, n)
	jitter := semiring.NewIndex("jitter", func(c T, i, j int) T {
		return scale*c + T(mixed(mixed(seed)+uint64(i)<<32+uint64(j))%levels)
	}, "")
	return x, ops.ApplyIndex(x, jitter, costs, with)
}

// mixed is the finaliser of splitmix64 (Steele, Lea and Flood, OOPSLA 2014).
func mixed(z uint64) uint64 {
	z = (z ^ z>>30) * 0xBF58476D1CE4E5B9
	z = (z ^ z>>27) * 0x94D049BB133111EB
	return z ^ z>>31
}
