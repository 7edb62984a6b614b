package matching

import (
	"slices"

	"github.com/hiveblas/hiveblas/auction"
	"github.com/hiveblas/hiveblas/internal/splitmix"
	"github.com/hiveblas/hiveblas/matrix"
	"github.com/hiveblas/hiveblas/semiring"
)

// A Problem is two graphs of n vertices, and which of them a search may match again.
type Problem[T semiring.Float] struct {
	A, B *matrix.View[T] // n×n, on the host
	// Like, if not nil, has similarities of vertices of A and B, which a search adds up over the
	// pairs of a matching: it minimises Σ|A − PBPᵀ| − ⟨Like, P⟩.
	Like      *matrix.View[T]
	Symmetric bool // both are
	// Free lists the vertices of A that may get another partner, class by class: class c is
	// Free[Ends[c−1]:Ends[c]], the first from 0. A vertex gets partners of its class only.
	Free []int
	Ends []int
	// Known are pairs that a search prefers where others are no better, such as seeds.
	Known map[int]int
	Unit  float64 // mean squared weight of an edge
	Seed  uint64  // of the choice of vertices and of the order in which ties are broken
	// Assignment are the settings of the assignment problems. Its Context ends the search.
	Assignment auction.Options
	// Progress receives the number of each attempt before it, from 0; may be nil.
	Progress func(attempt int64)
}

// A Limit ends a search, whichever of its bounds is reached first.
type Limit struct {
	Patience int   // attempts in a row without a gain
	Work     int64 // entries read, above which no attempt begins
}

// A Result is a matching and what it took.
type Result struct {
	Match    []int   // the vertex of B for each vertex of A
	Apart    float64 // Σ|A − PBPᵀ|
	Attempts int
	Work     int64 // entries read
}

// A search does not begin if more than half of all vertices disagree and more than fewSuspects, or
// more than mostSuspects. In graphs with noise most vertices disagree.
// Lower limits give up too early: with a quarter and 2048 a sample of 32768 vertices of email-Enron
// ends with 26800 disagreements, and with these 5200.
const (
	mostSuspects    = 1 << 14
	fewSuspects     = 1 << 13
	stepsPerAttempt = 6
)

// Improve matches the vertices at which edges disagree again, with all others fixed, by Frank–Wolfe
// steps. A matching from which whole steps gain nothing is best for each vertex given the others,
// which a few confused vertices allow: a tail of two matched crosswise, or a part that few edges
// join to the rest. The attempts
//
//	rematch   all suspects, from their present partners
//	loosen    the suspects at which most edges disagree, unmatched at first
//	scatter   a random half of the suspects, unmatched at first
//	ball      some suspects and their surroundings except hubs, unmatched at first: the inner
//	          edges of two parts that are matched crosswise agree
//
// with and without the diagonal of Â, break ties differently each time and take a few steps. An
// attempt is kept if it leaves no more disagreements. match, which Improve does not change, gives
// each vertex of A its vertex of B.
//
// It returns the errors of package auction, and the error of the context if the context ends.
func Improve[T semiring.Float](p Problem[T], match []int, limit Limit) (Result, error) {
	s := newSearch(p, match)
	res := Result{Apart: s.count.sum()}
	if off := len(s.suspects()); off > max(min(len(match)/2, mostSuspects), fewSuspects) {
		res.Match = s.count.match
		return res, nil
	}
	cost := s.cost()
	for left := limit.Patience; res.Apart > 0 && left > 0 && s.work < limit.Work; res.Attempts++ {
		if p.Progress != nil {
			p.Progress(int64(res.Attempts))
		}
		if ctx := p.Assignment.Context; ctx != nil && ctx.Err() != nil {
			return res, ctx.Err()
		}
		left--
		if err := s.attempt(res.Attempts); err != nil {
			return res, err
		}
		after := s.cost()
		if after < cost {
			left = limit.Patience
		}
		res.Apart, cost = s.count.sum(), after
	}
	res.Match, res.Work = s.count.match, s.work
	return res, nil
}

// search is the state of Improve.
type search[T semiring.Float] struct {
	Problem[T]
	count    *tally[T]
	position []int // in Free, −1 for none
	like     *edgeLists[T]
	patch    *patch[T]
	work     int64
}

func newSearch[T semiring.Float](p Problem[T], match []int) *search[T] {
	p.Assignment.Maximize, p.Assignment.Epsilon = true, 0
	s := &search[T]{Problem: p, count: newTally(p.A, p.B, p.Symmetric, slices.Clone(match))}
	s.position = slices.Repeat([]int{-1}, len(match))
	for k, v := range p.Free {
		s.position[v] = k
	}
	s.patch = newPatch(s.count)
	if p.Like != nil {
		like := edgeListsOf(p.Like)
		s.like, s.patch.like = &like, &like
	}
	return s
}

// cost is what a search minimises: the disagreements less the similarities.
func (s *search[T]) cost() float64 {
	cost := s.count.sum()
	if s.like == nil {
		return cost
	}
	for v, w := range s.count.match {
		near, x := s.like.of(v)
		if at, ok := slices.BinarySearch(near, int32(w)); ok {
			cost -= float64(x[at])
		}
	}
	return cost
}

// known counts the known pairs of the matching.
func (s *search[T]) known() (kept int) {
	for v, w := range s.Known {
		if s.count.match[v] == w {
			kept++
		}
	}
	return kept
}

// suspects lists the positions of vertices with edges that disagree.
func (s *search[T]) suspects() (off []int) {
	for k, v := range s.Free {
		if s.count.apart[v] > 0 {
			off = append(off, k)
		}
	}
	return off
}

// attempt tries to match some vertices better, and leaves the matching no worse.
func (s *search[T]) attempt(try int) error {
	free, loose := s.pick(try)
	s.work += int64(len(s.count.match)) + 64*int64(len(free)) + 4096
	if len(free) == 0 {
		return nil
	}
	slices.Sort(free)
	vertices, old := make([]int, len(free)), make([]int, len(free))
	for k, i := range free {
		vertices[k] = s.Free[i]
		old[k] = s.count.match[s.Free[i]]
	}
	before, known := s.cost(), s.known()
	for step := range stepsPerAttempt {
		if err := s.step(free, vertices, loose && step == 0, try*stepsPerAttempt+step); err != nil {
			return err
		}
		if after := s.cost(); after < before || after == before && s.known() >= known {
			return nil
		}
		if !loose {
			break
		}
	}
	s.work += s.count.move(vertices, old)
	return nil
}

// step matches free positions again, one Frank–Wolfe step from the matching or, if they are loose,
// from the matching without them.
func (s *search[T]) step(free, vertices []int, loose bool, number int) error {
	partners := make([]int, len(vertices))
	for k, v := range vertices {
		partners[k] = s.count.match[v]
	}
	loop := 1.0
	if number/stepsPerAttempt%2 == number%2 {
		loop = 0
	}
	s.patch.begin(vertices, partners, loose, loop)
	next := make([]int, len(free))
	from := 0
	for _, end := range s.Ends {
		to := from
		for to < len(free) && free[to] < end {
			to++
		}
		if to > from {
			costs, err := s.patch.costs(from, to, s.jitter(number))
			if err != nil {
				return err
			}
			found, err := auction.Solve(auction.Implicit(costs, 0), s.Assignment)
			if err != nil {
				return err
			}
			s.work += found.Scanned
			for k, q := range found.Row {
				next[from+k] = partners[from+int(q)]
			}
		}
		from = to
	}
	s.work += s.patch.end()
	s.work += s.count.move(vertices, next)
	return nil
}

// commonNeighbour is the weight of one in ÂPB̂ᵀ: Â and B̂ have a 2 for each edge.
const commonNeighbour = 4

// jitter returns random numbers below 1/16 of a common neighbour, of edges of mean weight, which
// break ties in another way for each number, and 1/16 for known pairs. Costs of whole numbers stay
// so, times jitterScale.
func (s *search[T]) jitter(number int) func(v, w int) float64 {
	const levels = jitterScale * commonNeighbour / 16
	seed := splitmix.Mix(s.Seed + uint64(number))
	return func(v, w int) float64 {
		if x, ok := s.Known[v]; ok && x == w {
			return s.Unit * levels
		}
		return s.Unit * float64(splitmix.Mix(seed+uint64(v)<<32+uint64(w))%levels)
	}
}

const jitterScale = 64

// pick chooses the positions of an attempt, and reports whether they are unmatched at first.
func (s *search[T]) pick(try int) (free []int, loose bool) {
	off := s.suspects()
	word := splitmix.Mix(splitmix.Mix(s.Seed) + uint64(try))
	if len(off) == 0 {
		return nil, false
	}
	switch {
	case 2*len(off) > len(s.count.match): // noise everywhere: a large part is no better than a step
	case try%4 == 0 || try == 1:
		return off, false
	case try%8 == 1:
		least := float64(word%64) / 64
		return slices.DeleteFunc(off, func(k int) bool { return s.count.share(s.Free[k]) < least }), true
	case try%8 == 5:
		return slices.DeleteFunc(off, func(k int) bool { return splitmix.Mix(word+uint64(k))%2 == 0 }), true
	}
	size, degree := 8<<(word%6), 8<<(word>>4%4)
	centres := make([]int, 1<<(word>>8%4))
	for k := range centres {
		centres[k] = s.Free[off[splitmix.Mix(word+uint64(k))%uint64(len(off))]]
	}
	for _, v := range s.count.ball(centres, size, degree) {
		if k := s.position[v]; k >= 0 {
			free = append(free, k)
		}
	}
	return free, true
}
