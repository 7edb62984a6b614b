package sgm

import (
	"github.com/hiveblas/hiveblas/apps/internal/workflow"
	"time"
	"unsafe"

	"github.com/hiveblas/hiveblas/matrix"
	"github.com/hiveblas/hiveblas/ops"
	"github.com/hiveblas/hiveblas/semiring"
)

// climb takes Frank–Wolfe steps until they gain nothing, or until a repair can take over.
// It returns the best matching among the targets of steps, nil if there was no step.
func (f *relaxation[T]) climb(res *SGMResult) (best []int32, err error) {
	f.early = false
	var top float64                         // its objective
	enough := 2 * f.opts.Tolerance * f.unit // s grows by 2 for each that ‖A − PBPᵀ‖² falls
	for !res.Converged && len(res.Iterations) < f.opts.MaxIterations {
		workflow.Report(f.opts.Run, "graph matching", int64(len(res.Iterations)), int64(f.opts.MaxIterations))
		it := SGMIteration{}
		clock := time.Now()
		t, err := f.ascent(&it)
		if err != nil {
			return nil, err
		}
		f.weigh(f.g) // with the copy that the assignment makes
		it.Assign = lap(&clock)
		h, err := f.product(nil, f.whole(t))
		if err != nil {
			return nil, err
		}
		it.Product = lap(&clock)
		before := f.objective()
		vertex, err := f.search(t, h, -1, &it)
		if err != nil {
			return nil, err
		}
		it.Search = lap(&clock)
		if best == nil || vertex > top {
			best, top = t, vertex
		}
		it.Objective, it.Entries = f.objective(), f.g.NVals()
		res.Iterations = append(res.Iterations, it)
		gain := it.Objective - before
		f.early = gain > enough && f.repairs() && f.nearly(gain)
		res.Converged = !(gain > enough) || f.early
	}
	return best, nil
}

// nearly reports whether the repair takes over after a step that gained gain: A and PBPᵀ differ at
// few entries, or at not many and steps are slow. f falls short of its limit by 2 for each entry.
func (f *relaxation[T]) nearly(gain float64) bool {
	entries := (f.limit - f.s) / (2 * f.unit)
	few, slow := float64(min(f.n/8, 2048)), gain < (f.limit-f.s)/16
	return f.start == 0 && (entries <= few || entries <= float64(f.n) && slow)
}

func lap(clock *time.Time) time.Duration {
	now := time.Now()
	took := now.Sub(*clock)
	*clock = now
	return took
}

// search moves P towards the matching t, with product h, as far as f grows. Along P + α(T − P),
// with s = tr(ÂᵀPB̂Pᵀ) and g its gradient except for a factor,
//
//	s(α) = s + α·factor·⟨g, T − P⟩ + α²·factor/2·⟨h − g, T − P⟩
//
// and the offset is quadratic too, so that four traces give the best step. None of them needs a
// product of matrices. It returns f at t. A forced step from 0 to 1 replaces the best one; a
// negative one is none.
func (f *relaxation[T]) search(t []int32, h *matrix.Matrix[T], forced float64, it *SGMIteration) (vertex float64, err error) {
	to, err := f.permutation(t)
	if err != nil {
		return 0, err
	}
	var s ops.Steps
	gt, err := f.atMatching(to)
	s.Do(err)
	hp, err := f.atP(h, false)
	s.Do(err)
	ht, err := f.trace(h, to)
	s.Do(err)
	slope := f.factor * (gt - f.gp)
	bend := f.factor / 2 * (ht - hp - gt + f.gp)
	vertex = f.s + slope + bend + f.c.at(0)
	lt, err := f.likeness(t)
	s.Do(err)
	vertex += 2 * lt
	it.Slope = slope - f.start*f.c.slope(f.start) + 2*(lt-f.lp)
	it.Step = bestStep(it.Slope, bend+f.c[2]*f.start*f.start)
	if forced >= 0 {
		it.Step = forced
	}
	f.work += f.g.NVals() + h.NVals()
	a := it.Step
	switch {
	case a == 1:
		f.g, f.p, f.gp, f.start, f.at = h, to, ht, 0, t
	case a > 0:
		f.at = nil
		s.Do(f.mix(&f.g, h, a))
		s.Do(f.mix(&f.p, to, a))
		f.gp = (1-a)*(1-a)*f.gp + a*(1-a)*(gt+hp) + a*a*ht
		f.start *= 1 - a
	}
	f.s += a * (slope + a*bend)
	f.lp += a * (lt - f.lp)
	return vertex, s.Err()
}

// bestStep returns where in [0, 1] slope·α + bend·α² is largest; 0 if in several
// places.
func bestStep(slope, bend float64) float64 {
	switch {
	case bend < 0:
		return min(1, max(0, -slope/(2*bend)))
	case slope+bend > 0:
		return 1
	}
	return 0
}

// mix makes x (1−α)x + αy.
func (f *relaxation[T]) mix(x **matrix.Matrix[T], y *matrix.Matrix[T], a float64) error {
	var s ops.Steps
	m, n := y.Dims()
	sum := f.matrix(m, n)
	s.Do(ops.ApplySecond(*x, semiring.Times[T](), *x, T(1-a), f.with))
	s.Do(ops.ApplySecond(y, semiring.Times[T](), y, T(a), f.with))
	s.Do(ops.EWiseAdd(sum, semiring.Plus[T](), *x, y, f.with))
	f.weigh(y, sum)
	*x = sum
	return s.Err()
}

// atMatching returns ⟨g, T⟩, with g's spread.
func (f *relaxation[T]) atMatching(t *matrix.Matrix[T]) (float64, error) {
	sum, err := f.trace(f.g, t)
	if err != nil || !f.spreading() {
		return sum, err
	}
	more, err := f.spread.gradient(f.sums, t)
	return sum + f.start*more, err
}

// atP returns ⟨M, P⟩ with P's spread, and with isG also the spread of g.
func (f *relaxation[T]) atP(m *matrix.Matrix[T], isG bool) (float64, error) {
	sum, err := f.trace(m, f.p)
	if err != nil || !f.spreading() {
		return sum, err
	}
	flat, err := f.flat(m)
	if err != nil || !isG {
		return sum + f.start*flat, err
	}
	more, err := f.spread.gradient(f.sums, f.p)
	if err != nil {
		return 0, err
	}
	own, err := f.spread.own(f.sums)
	return sum + f.start*(flat+more+f.start*own), err
}

// weigh updates the peak memory: the graphs, the matrices derived from them, the gradient, P, and
// the matrices given.
func (f *relaxation[T]) weigh(more ...*matrix.Matrix[T]) {
	views := []*matrix.View[T]{f.a, f.b, f.ah, f.bh, f.g.View(), f.p.View()}
	for _, t := range f.terms {
		views = append(views, t.left, t.right)
	}
	for _, m := range more {
		views = append(views, m.View())
	}
	var sum int64
	for _, v := range views {
		sum += bytesOf(v)
	}
	f.peak = max(f.peak, sum)
}

// bytesOf is the memory of a matrix by rows.
func bytesOf[T semiring.Float](v *matrix.View[T]) int64 {
	m, _ := v.Dims()
	return v.NVals()*int64(4+unsafe.Sizeof(*new(T))) + 8*int64(m+1)
}
