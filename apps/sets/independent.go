// Package sets finds sets of vertices without edges between them: maximal independent sets and
// colourings.
package sets

import (
	"fmt"
	"math/bits"

	"github.com/hiveblas/hiveblas/apps/internal/workflow"
	"github.com/hiveblas/hiveblas/matrix"
	"github.com/hiveblas/hiveblas/ops"
	"github.com/hiveblas/hiveblas/semiring"
)

// SetPriority is the order in which MaximalIndependentSet takes vertices.
type SetPriority int

const (
	// RandomPriority takes vertices at random: the default.
	RandomPriority SetPriority = iota
	// DegreePriority takes vertices of small degree first, ties at random; degrees from 32 on are
	// in two classes for each power of two. Where degrees differ much, sets are larger, of R-MAT
	// graphs by 3 to 5 percent.
	DegreePriority
)

// String returns the name of the priority on the command line.
func (p SetPriority) String() string {
	if names := []string{"random", "degree"}; p >= 0 && int(p) < len(names) {
		return names[p]
	}
	return fmt.Sprintf("SetPriority(%d)", int(p))
}

// IndependentSetOptions are the settings of MaximalIndependentSet.
type IndependentSetOptions struct {
	workflow.Run
	Priority SetPriority
	Seed     int64 // of the random part of the order
}

// MaximalIndependentSet returns a maximal independent set of g: vertices without an edge between
// two of them, to which no vertex can be added. The vector has the entry true for each of them.
// Directions, values and self-loops are ignored.
//
// Every vertex has a priority p, at random (Luby, SIAM Journal on Computing 15, 1986) or by degree
// (Burtscher, Devale, Azimi, Jaiganesh, Powers, ACM Transactions on Parallel Computing 5, 2018),
// and a candidate joins if no candidate around it has a higher one; as priorities differ, only the
// vertex itself has the same one, along a self-loop:
//
//	m⟨C⟩ = p max.first A;   W = {v ∈ C : p(v) ≥ m(v)};   S ∪= W;   C = C \ W \ A any.pair W
//
// until there is no candidate. As priorities stay, the set is the one that takes vertices greedily
// in descending order (Blelloch, Fineman, Shun, SPAA 2012), which the host with Method Auto does:
// by one thread in that order, O(vertices · log vertices + edges), by four or more in rounds that
// read each edge about twice. The fused form reads each row once. The result depends on Priority
// and Seed alone.
func MaximalIndependentSet[T comparable](g matrix.Source[T], opts ...IndependentSetOptions) (*matrix.Vector[bool], error) {
	return maximalIndependentSet(g, opts)
}

// maximalIndependentSet is MaximalIndependentSet of a graph with values of any type.
func maximalIndependentSet(g workflow.Operand, opts []IndependentSetOptions) (*matrix.Vector[bool], error) {
	const app = "MaximalIndependentSet"
	o, err := workflow.Only(app, opts)
	if err != nil {
		return nil, err
	}
	if o.Priority < RandomPriority || o.Priority > DegreePriority {
		return nil, &workflow.ParameterError{App: app, Arg: "the priority", Got: fmt.Sprint(int(o.Priority)), Want: "RandomPriority or DegreePriority"}
	}
	a, n, form, err := workflow.BegunUndirected(app, "independent set", g, o.Run)
	if err != nil {
		return nil, err
	}
	name := "independent set"
	if o.Priority == DegreePriority {
		name += " by degree"
	}
	workflow.Announce(o.Run, app, name)
	switch {
	case form.Device != nil:
		return fusedIndependent(form.Device, a, n, o)
	case form.Host:
		return independentOnHost(workflow.RowsOf(a), o)
	}
	with, here := workflow.With(o.Run), matrix.On(a.Place())
	priority, err := workflow.FullVector(a.Place(), n, o.Seed, with)
	if err != nil {
		return nil, err
	}
	var s ops.Steps
	s.Do(ops.ApplyIndex(priority, randomPriority(), priority, with))
	if o.Priority == DegreePriority {
		loopless := matrix.New[bool](n, n, here)
		s.Do(ops.Select(loopless, semiring.Offdiag[bool](0), a, with))
		d, err := workflow.DegreesOf(loopless, n, o.Run)
		s.Do(err)
		s.Do(ops.Apply(priority.Accum(semiring.Plus[int64]()), rankPriority(), d, with))
	}
	set := matrix.NewVector[bool](n, here)
	newLuby(a, o.Run).set(&s, priority, func(winners *matrix.Vector[bool], in ops.Option) {
		s.Do(ops.AssignVectorScalar(set.Masked(winners.Structure()), true, ops.All(), in))
	}, with)
	return set, s.Err()
}

// shuffle32 is a bijection of 32 bits, the finaliser of MurmurHash3.
func shuffle32(z uint32) uint32 {
	z = (z ^ z>>16) * 0x85ebca6b
	z = (z ^ z>>13) * 0xc2b2ae35
	return z ^ z>>16
}

// priorityOf is the priority of a vertex: different for each.
func priorityOf(v int, seed int64) int64 {
	return int64(shuffle32(uint32(v) + uint32(seed)*0x9e3779b9))
}

// randomPriority is priorityOf with the seed as value of the vertex.
func randomPriority() semiring.IndexOp[int64, int64] {
	return semiring.NewIndex("randomPriority", func(seed int64, v, _ int) int64 { return priorityOf(v, seed) },
		`([](unsigned z) { z = (z ^ z >> 16) * 0x85ebca6bu; z = (z ^ z >> 13) * 0xc2b2ae35u; return (long long)(z ^ z >> 16); }((unsigned)i + (unsigned)x * 0x9e3779b9u))`)
}

// degreeRank is the rank of a vertex by its degree, from 63 for degree 0 to 0: one for each degree
// to 31, then two for each power of two.
func degreeRank(d int64) uint8 {
	if d >= 32 {
		log := bits.Len64(uint64(d)) - 1
		d = min(63, int64(32+2*(log-5))+d>>(log-1)&1)
	}
	return uint8(63 - d)
}

// rankPriority makes of a degree its part of the priority, above the random part.
func rankPriority() semiring.UnaryOp[int64, int64] {
	return semiring.NewUnary("rankPriority", func(d int64) int64 { return int64(degreeRank(d)) << 32 },
		`([](long long d) { if (d >= 32) { int log = 63 - __clzll(d); d = 32 + 2 * (log - 5) + (d >> (log - 1) & 1); } return (63 - (d < 63 ? d : 63)) << 32; }(x))`)
}

// setOrder is the order of the vertices on the host.
type setOrder struct {
	seed int64
	rank []uint8 // by degree; nil: all are random
}

// of is the priority of v: different for each vertex.
func (o *setOrder) of(v int) int64 {
	p := priorityOf(v, o.seed)
	if o.rank != nil {
		p |= int64(o.rank[v]) << 32
	}
	return p
}

// luby finds maximal independent sets by operations. Its vectors are kept for the next set.
type luby struct {
	a                 *matrix.View[bool]
	run               workflow.Run
	candidates, above *matrix.Vector[int64]
	winners, removed  *matrix.Vector[bool]
}

func newLuby(a *matrix.View[bool], run workflow.Run) *luby {
	n, _ := a.Dims()
	here := matrix.On(a.Place())
	return &luby{a, run, matrix.NewVector[int64](n, here), matrix.NewVector[int64](n, here),
		matrix.NewVector[bool](n, here), matrix.NewVector[bool](n, here)}
}

// set calls take with the vertices that join, round by round, until the vertices of priority hold
// a maximal independent set. in is the option of a loop around it, or any other.
func (l *luby) set(s *ops.Steps, priority *matrix.Vector[int64], take func(winners *matrix.Vector[bool], in ops.Option), in ops.Option) {
	c, keep := l.candidates, semiring.Identity[int64]()
	s.Do(ops.Apply(c, keep, priority, in))
	for in := range s.While(c, in, workflow.Passing(l.run, "independent set")) {
		s.Do(ops.VxM(l.above.Masked(c.Structure()).Replace(), semiring.MaxFirst[int64](), c, l.a.Pattern(), in))
		s.Do(ops.EWiseUnion(l.winners, semiring.Ge[int64](), c, -1, l.above, -1, in))
		s.Do(ops.Select(l.winners, semiring.ValueEQ(true), l.winners, in))
		take(l.winners, in)
		s.Do(ops.VxM(l.removed, semiring.AnyPair[bool](), l.winners.Pattern(), l.a.Pattern(), in))
		s.Do(ops.Apply(c.Masked(l.winners.Structure().Not()).Replace(), keep, c, in))
		s.Do(ops.Apply(c.Masked(l.removed.Structure().Not()).Replace(), keep, c, in))
	}
}

// descending returns the vertices by descending priority, a radix sort in digits of 11 bits. Digits
// that all priorities share are skipped. Priorities are not negative.
func descending(n int, priority func(v int) int64) []int32 {
	const bits, digits = 11, 1 << 11
	type ranked struct {
		priority uint64 // the complement, which ascends
		v        int32
	}
	list, sorted := make([]ranked, n), make([]ranked, n)
	either, all := uint64(0), ^uint64(0)
	for v := range list {
		p := ^uint64(priority(v))
		list[v] = ranked{p, int32(v)}
		either |= p
		all &= p
	}
	for shift := 0; shift < 64; shift += bits {
		if (either^all)>>shift%digits == 0 {
			continue
		}
		var first [digits + 1]int32
		for _, r := range list {
			first[r.priority>>shift%digits+1]++
		}
		for d := range digits {
			first[d+1] += first[d]
		}
		for _, r := range list {
			d := r.priority >> shift % digits
			sorted[first[d]] = r
			first[d]++
		}
		list, sorted = sorted, list
	}
	order := make([]int32, n)
	for k, r := range list {
		order[k] = r.v
	}
	return order
}
