package auction

import (
	"math"
	"slices"
	"time"

	"github.com/hiveblas/hiveblas/internal/parallel"
)

// theta is the ratio of ε of one phase to ε of the next.
const theta = 5

// scale returns the factor of integer costs for which an ε of 1 is at most the one that was
// requested.
func (k *task) scale() float64 {
	if k.exact() || k.o.Epsilon >= 1 {
		return 1
	}
	return math.Ceil(1 / k.o.Epsilon)
}

// byAuction solves an instance by bidding. If an optimum is requested and bidding has not found
// one, augmenting paths complete it.
func byAuction[D price](k *task, start time.Time, in *instance[D], scale D) (*Result, error) {
	if scale != 1 {
		in.multiply(scale)
	}
	s := prepared(k, in, scale)
	for j := range in.col {
		in.col[j] *= scale
		s.v[j] = -in.col[j]
	}
	res := &Result{Method: "auction"}
	res.Seconds.Read = time.Since(start).Seconds()
	if !k.everywhere() {
		if err := k.feasible(in.ptr, in.idx, in.n); err != nil {
			return nil, err
		}
	}
	start = time.Now()
	a := newMarket(s, in.span(), k.o)
	if err := a.run(lastEpsilon(k, a.span, scale), k.exact(), k.o); err != nil {
		return nil, err
	}
	res.Rounds, res.Bids, res.Phases, res.Scanned = a.rounds, a.bids, a.phases, a.scanned
	res.Seconds.Bid = time.Since(start).Seconds()
	for j, p := range a.p {
		s.v[j] = -p
	}
	if !k.exact() {
		complete(k, s, int64(scale), res)
		return res, nil
	}
	s.tighten(parallel.Threads(k.o.Threads))
	if len(s.free) == 0 {
		complete(k, s, 1, res)
		return res, nil
	}
	res.Method = "auction+paths"
	s.warm = true
	return finish(k, s, res)
}

// lastEpsilon returns the ε to end with, in units of 1/scale.
func lastEpsilon[D price](k *task, span, scale D) D {
	switch {
	case D(1)/2 == 0 && (k.exact() || scale > 1):
		return 1
	case !k.exact():
		return D(k.o.Epsilon)
	}
	return span / D(max(k.n, 1)) // augmenting paths correct the rest
}

// run bids in phases of falling ε, down to last. With exact, a phase ends after a number of bids
// and augmenting paths do the rest. Where columns may stay free there is one phase, since their
// prices must not have risen. NoScaling also means one phase, unless prices could then rise for too
// long.
func (a *market[D]) run(last D, exact bool, o Options) error {
	if exact {
		a.limit = 64 * int64(a.in.m+16)
	}
	eps := last
	if a.in.m == a.in.n && !unscaled(o, float64(a.span), float64(last)) {
		eps = max(last, a.span/theta)
	}
	for {
		a.phases++
		if err := a.phase(eps, o.Bidding); err != nil {
			return err
		}
		if eps <= last {
			return nil
		}
		eps = max(last, eps/theta)
	}
}

// unscaledRaises bounds how often a price may have to rise by ε for the phases of larger ε to be
// left out: a price war over one column takes as many bids.
const unscaledRaises = 1 << 18

// unscaled reports whether an auction begins with the last ε.
func unscaled(o Options, span, last float64) bool {
	return o.NoScaling && span <= unscaledRaises*last
}

// multiply scales all costs.
func (in *instance[C]) multiply(by C) {
	if in.shared {
		in.val, in.shared = slices.Clone(in.val), false
	}
	for k := range in.val {
		in.val[k] *= by
	}
	in.def *= by
}

// span returns the greatest cost less the least.
func (in *instance[C]) span() C {
	var lo, hi C
	if in.implicit {
		lo, hi = in.def, in.def
	} else if len(in.val) > 0 {
		lo, hi = in.val[0], in.val[0]
	}
	for _, c := range in.val {
		lo, hi = min(lo, c), max(hi, c)
	}
	return hi - lo
}

// tighten frees the rows with a column that is not the best at the duals. The other pairs can be
// part of an optimum, which augmenting paths complete.
func (s *paths[C]) tighten(threads int) {
	byDual := s.byDual()
	_ = parallel.Range(nil, threads, s.in.m, 64, func(_, lo, hi int) {
		for i := lo; i < hi; i++ {
			if j := s.colOf[i]; j >= 0 && s.in.at(int32(i), j)-s.v[j] > s.leastOf(int32(i), byDual) {
				s.colOf[i], s.rowOf[j] = none, none
			}
		}
	})
	s.free = s.free[:0]
	for i, j := range s.colOf {
		if j < 0 {
			s.free = append(s.free, int32(i))
		}
	}
	if s.in.m < s.in.n && len(s.free) > 0 {
		s.reset() // a column without a row must have its initial dual
	}
}
