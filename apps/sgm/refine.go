package sgm

import (
	"slices"

	"github.com/hiveblas/hiveblas/apps/internal/workflow"
	"github.com/hiveblas/hiveblas/internal/matching"
	"github.com/hiveblas/hiveblas/internal/splitmix"
	"github.com/hiveblas/hiveblas/matrix"
	"github.com/hiveblas/hiveblas/ops"
	"github.com/hiveblas/hiveblas/semiring"
)

const (
	// mostRounds bounds the rounds of products. Graphs of large diameter need many rounds that
	// change few colours, which matching.Align does faster.
	mostRounds = 32
	// hintRounds bounds the rounds that percolation sees.
	hintRounds = 8
	// alignWork bounds the edges that matching.Align reads, and growWork the marks of percolation.
	alignWork = 1 << 28
	growWork  = 1 << 26
)

// A colouring numbers the vertices of two graphs by what refinement has told apart so far.
type colouring struct {
	a, b   []int32
	kinds  int
	shared int        // vertices of A that have a partner of their colour
	stable bool       // the last round told no more vertices apart
	single []SeedPair // pairs that were alone in their colour when a round first told them apart
}

// words returns the graphs on the host without element types.
func (p *pairing[T]) words() (*matching.Pair, error) {
	if p.pair == nil {
		a, b, err := p.onHost()
		if err != nil {
			return nil, err
		}
		p.pair = matching.PairOf(a, b, p.symmetric)
		p.pair.Context = p.opts.Context
	}
	return p.pair, nil
}

// classOf returns the class of each vertex of both graphs, −1 for seeds that are fixed.
func (p *candidates) classOf() (a, b []int32) {
	a, b = slices.Repeat([]int32{-1}, p.n), slices.Repeat([]int32{-1}, p.n)
	for k, c := range p.classes() {
		a[p.rows[k]], b[p.cols[k]] = int32(c), int32(c)
	}
	return a, b
}

// colours refines colours from the seeds (1-dimensional Weisfeiler–Leman): each seed has a colour
// of its own, the other vertices have the colour of their label, and in each round vertices that
// differ in colour or in the colours around them get different colours. As products, with words W
// of the weights of edges and h, a hash of each vertex's colour:
//
//	s = W +.× h,  and for directed graphs  t = Wᵀ +.× h   (modulo 2⁶⁴)
//	colour = number of (colour, s, t) among the triples of both graphs
//
// Sums of words stand for multisets of neighbours. Graphs that correspond get as many vertices of
// each colour. Rounds end where they tell no more vertices apart, or where fewer than half of the
// vertices still have a partner of their colour, as in graphs with noise.
//
// It takes the time of two products and a sort of 2n words a round.
func (p *pairing[T]) colours() (*colouring, error) {
	pair, err := p.words()
	if err != nil {
		return nil, err
	}
	run := workflow.With(p.opts.Run)
	var w [2]*matrix.Matrix[uint64]
	for k, g := range []matching.Words{pair.A[0], pair.B[0]} {
		if w[k], err = matrix.FromCSR(p.n, p.n, g.Ptr, g.Idx, g.Word); err != nil {
			return nil, err
		}
		if err := w[k].Move(p.a.Place()); err != nil {
			return nil, err
		}
	}
	c := &colouring{}
	c.a, c.b = p.classOf()
	for k, s := range p.seeds {
		c.a[s.A], c.b[s.B] = int32(len(p.ends)+k), int32(len(p.ends)+k)
	}
	c.kinds = len(p.ends) + len(p.seeds)
	known := make([]bool, p.n)
	for _, s := range p.seeds {
		known[s.A] = true
	}
	p.rounds = nil
	for round := range mostRounds {
		workflow.Report(p.opts.Run, "sgm, refinement", int64(round), mostRounds)
		if err := p.ended(); err != nil {
			return nil, err
		}
		kinds := c.kinds
		var signs [2][]uint64
		for k, colour := range [][]int32{c.a, c.b} {
			if signs[k], err = p.signs(w[k], colour, run); err != nil {
				return nil, err
			}
		}
		c.renumber(signs[0], signs[1], known)
		if len(p.rounds) < hintRounds {
			p.rounds = append(p.rounds, matching.Colours{A: slices.Clone(c.a), B: slices.Clone(c.b)})
		}
		if c.stable = c.kinds == kinds; c.stable || 2*c.shared < p.n {
			break
		}
	}
	return c, nil
}

// signs returns a word for each vertex: of its colour and the colours around it.
func (p *pairing[T]) signs(w *matrix.Matrix[uint64], colour []int32, run ops.Option) ([]uint64, error) {
	var s ops.Steps
	hashes, all := make([]uint64, p.n), make([]int32, p.n)
	for v, c := range colour {
		all[v], hashes[v] = int32(v), splitmix.At(uint64(c), p.opts.Seed)|1
	}
	h, err := matrix.VectorFromTuples(p.n, all, slices.Clone(hashes), nil)
	if err != nil {
		return nil, err
	}
	s.Do(h.Move(p.a.Place()))
	signs := make([]uint64, p.n)
	for v, c := range colour {
		signs[v] = splitmix.At(uint64(c), 0)
	}
	views := []*matrix.View[uint64]{w.View(), w.T()}
	if p.symmetric {
		views = views[:1]
	}
	for _, g := range views {
		sums := matrix.NewVector[uint64](p.n, matrix.On(p.a.Place()))
		s.Do(ops.MxV(sums, semiring.PlusTimes[uint64](), g, h, run))
		if !s.OK() {
			return nil, s.Err()
		}
		s.Do(sums.Fetch())
		around, err := sums.Dense(0)
		s.Do(err)
		if !s.OK() {
			return nil, s.Err()
		}
		for v, x := range around {
			signs[v] = splitmix.Mix(signs[v] + splitmix.Golden*splitmix.Mix(x))
		}
	}
	return signs, s.Err()
}

// renumber makes the colours the numbers of the words among the words of both graphs, and lists the
// vertices that are alone in their colour and were not before.
func (c *colouring) renumber(a, b []uint64, known []bool) {
	all := slices.Concat(a, b)
	slices.Sort(all)
	all = slices.Compact(all)
	c.kinds = len(all)
	in, last := [2][]int32{make([]int32, len(all)), make([]int32, len(all))}, [2][]int32{make([]int32, len(all)), make([]int32, len(all))}
	for k, words := range [][]uint64{a, b} {
		colours := [][]int32{c.a, c.b}[k]
		for v, x := range words {
			at, _ := slices.BinarySearch(all, x)
			colours[v] = int32(at)
			in[k][at]++
			last[k][at] = int32(v)
		}
	}
	c.shared = 0
	taken := map[int]bool{}
	for _, s := range c.single {
		taken[s.B] = true
	}
	for at := range all {
		c.shared += int(min(in[0][at], in[1][at]))
		v, w := int(last[0][at]), int(last[1][at])
		if in[0][at] == 1 && in[1][at] == 1 && !known[v] && !taken[w] {
			known[v] = true
			c.single = append(c.single, SeedPair{v, w})
		}
	}
}

// refined looks for a matching by refinement. exact is a matching of positions without a
// disagreement; else pl is a search from what refinement found, if that is a quarter of the
// vertices or all of them.
func (p *pairing[T]) refined() (exact []int32, pl *plan, err error) {
	c, err := p.colours()
	if err != nil {
		return nil, nil, err
	}
	pl = &plan{start: SparseStart, seed: p.opts.Seed}
	if c.shared == p.n {
		match, _, _ := p.pair.Align(c.a, c.b, c.stable, alignWork)
		if err := p.ended(); err != nil {
			return nil, nil, err
		}
		if match != nil {
			t := p.positions(match)
			after, err := p.cost(t)
			if err != nil || after == 0 {
				return t, nil, err
			}
			pl.from = t
			return nil, pl, nil
		}
	}
	if 4*len(c.single) >= p.n-len(p.seeds) && len(c.single) > 0 {
		pl.pairs = c.single
		return nil, pl, nil
	}
	return nil, nil, nil
}

// grown returns the searches from the pairs that percolation from the seeds finds, none if it finds
// none: from the pairs as seeds, and from a matching with the pairs.
func (p *pairing[T]) grown() ([]*plan, error) {
	pair, err := p.words()
	if err != nil {
		return nil, err
	}
	seeds := make([][2]int32, len(p.seeds))
	for k, s := range p.seeds {
		seeds[k] = [2]int32{int32(s.A), int32(s.B)}
	}
	classA, classB := p.classOf()
	pairs, _ := pair.Grow(seeds, classA, classB, p.rounds, growWork)
	if err := p.ended(); err != nil || len(pairs) == len(seeds) {
		return nil, err
	}
	some, whole := &plan{start: SparseStart, seed: p.opts.Seed}, &plan{start: SparseStart, seed: p.opts.Seed}
	for _, x := range pairs[len(seeds):] {
		some.pairs = append(some.pairs, SeedPair{int(x[0]), int(x[1])})
	}
	q := p.candidates
	q.adopt(some.pairs)
	whole.from = slices.Repeat([]int32{-1}, len(p.rows))
	taken := make([]bool, len(p.rows))
	for _, s := range q.soft {
		whole.from[s.A], taken[s.B] = int32(s.B), true
	}
	p.complete(whole.from, taken)
	plans := []*plan{some, whole}
	if !pair.Plain() {
		equal := *some
		equal.equal = true
		plans = append(plans, &equal)
	}
	return plans, nil
}

// ended returns the error of the context, if it has ended.
func (p *candidates) ended() error {
	if p.opts.Context == nil {
		return nil
	}
	return p.opts.Context.Err()
}

// adopt adds pairs to the seeds at which a search starts. They are not fixed.
func (p *candidates) adopt(pairs []SeedPair) {
	p.seeds = slices.Concat(p.seeds, pairs)
	atA, atB := inverse(p.rows, p.n), inverse(p.cols, p.n)
	p.soft = slices.Clone(p.soft)
	for _, s := range pairs {
		p.soft = append(p.soft, SeedPair{atA[s.A], atB[s.B]})
	}
}
