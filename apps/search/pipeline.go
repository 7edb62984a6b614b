package search

import (
	"context"
	"fmt"
	"math"
	"math/bits"

	"github.com/hiveblas/hiveblas/apps/internal/workflow"
	"github.com/hiveblas/hiveblas/matrix"
	"github.com/hiveblas/hiveblas/ops"
	"github.com/hiveblas/hiveblas/semiring"
)

// stepPipeline moves walks by operations where the graph lives. The entries of the graph are
// numbered by rows: row v has degree(v) of them from first(v) on, and entry e is in column(e). With
// the positions a of some walks and a random number x for each, of 64 bits, a step is a gather:
//
//	d ← degree(a),  e ← first(a) + ⌊x∘d / 2⁶⁴⌋,  a ← column(e)
//
// Draws by weight use the alias tables of Walker: with r the upper half of what x∘d leaves,
//
//	a ← alias(e),  a⟨r < threshold(e)⟩ ← column(e)
//
// and greedy walks go to a ← best(a). Only the tables and the random numbers are made on the host,
// where [searcher.record] counts what the walks meet.
type stepPipeline struct {
	ops.Steps
	s     *searcher
	place matrix.Place
	with  ops.Option

	degree, first *matrix.Vector[uint64]
	column, alias *matrix.Vector[int32]
	threshold     *matrix.Vector[uint32]
	best, second  *matrix.Vector[int32] // of greedy walks
}

// mulHigh is the upper half of a product of 128 bits.
func mulHigh() semiring.BinaryOp[uint64, uint64, uint64] {
	return semiring.NewBinary("multiply_high", func(x, y uint64) uint64 {
		hi, _ := bits.Mul64(x, y)
		return hi
	}, "__umul64hi(x, y)")
}

// mulRest is the upper half of the lower half of a product of 128 bits.
func mulRest() semiring.BinaryOp[uint64, uint64, uint32] {
	return semiring.NewBinary("multiply_rest", func(x, y uint64) uint32 { return uint32(x * y >> 32) }, "C(x * y >> 32)")
}

// pipelineWalks is the number of walks that move together.
const pipelineWalks = 1 << 20

// byOperations prepares a searcher for steps by operations at a place.
func (s *searcher) byOperations(place matrix.Place) error {
	if len(s.idx) > math.MaxInt32 {
		return &workflow.ParameterError{App: "GraphSearch", Arg: "the method", Got: fmt.Sprintf("pipeline with %d entries", len(s.idx)), Want: "auto, or 2147483647 entries at most"}
	}
	most := int64(pipelineWalks)
	if s.opts.round > 0 {
		most = s.opts.round
	}
	if s.opts.Each != nil || s.opts.Paths {
		most = min(most, int64(roundPieces*pieceCells/s.opts.Length))
	}
	s.pieceWalks, s.roundPieces = int(max(1, min(most, s.to-s.from))), 1
	p := &stepPipeline{s: s, place: place, with: workflow.With(s.opts.Run)}
	if s.best != nil {
		p.best, p.second = vector(p, s.best), vector(p, s.second)
	} else {
		degree, first := make([]uint64, s.n), make([]uint64, s.n)
		for v := range degree {
			degree[v], first[v] = uint64(s.ptr[v+1]-s.ptr[v]), uint64(s.ptr[v])
		}
		p.degree, p.first, p.column = vector(p, degree), vector(p, first), vector(p, s.idx)
	}
	if s.slots != nil {
		column, alias, threshold := make([]int32, len(s.idx)), make([]int32, len(s.idx)), make([]uint32, len(s.idx))
		for e, slot := range s.slots {
			column[e], alias[e], threshold[e] = slot.own, slot.alias, slot.threshold
		}
		p.column, p.alias, p.threshold = vector(p, column), vector(p, alias), vector(p, threshold)
	}
	s.pipeline = p
	return p.Err()
}

// vector returns values as a full vector at the place.
func vector[T comparable](p *stepPipeline, values []T) *matrix.Vector[T] {
	v, err := workflow.VectorAt(p.place, values)
	p.Do(err)
	return v
}

// gathered returns u(list).
func gathered[T comparable](p *stepPipeline, u *matrix.Vector[T], list *matrix.Vector[int32]) *matrix.Vector[T] {
	out := matrix.NewVector[T](list.Size(), matrix.On(p.place))
	p.Do(ops.ExtractVector(out, u, ops.ValuesOf(list), p.with))
	return out
}

// round computes the round of a piece.
func (p *stepPipeline) round(ctx context.Context, piece *searchPiece, first int64) error {
	p.s.place(piece, first)
	defer piece.visited.flush(p.s.visits)
	p.s.record(piece, 0)
	for step := 1; step < p.s.opts.Length && len(piece.alive) > 0 && ctx.Err() == nil; step++ {
		if err := p.advance(piece, step); err != nil {
			return err
		}
		p.s.record(piece, step)
	}
	return ctx.Err()
}

// advance moves the walks of a piece that have not ended. Step counts from 1.
func (p *stepPipeline) advance(piece *searchPiece, step int) error {
	s := p.s
	next := piece.next[:len(piece.alive)]
	restarts := uint64(s.opts.Restart * restartCertain)
	var moving []int         // places in alive of the walks that go to a neighbour
	var list, before []int32 // the positions of these walks, and the positions before
	for k, w := range piece.alive {
		walk, v, last := piece.first+int64(w), piece.at[w], int32(-1)
		if piece.before != nil {
			last, piece.before[w] = piece.before[w], v
		}
		count := s.ptr[v+1] - s.ptr[v]
		switch {
		case restarts > 0 && s.random(walk, step, drawRestart)>>11 < restarts:
			next[k] = s.start(walk)
			piece.restarts++
			if piece.before != nil {
				piece.before[w] = -1
			}
		case count == 0 || s.opts.NonBacktracking && count == 1 && s.idx[s.ptr[v]] == last:
			next[k] = -1
		default:
			moving, list, before = append(moving, k), append(list, v), append(before, last)
		}
	}
	if len(moving) > 0 {
		to, err := p.choose(piece, moving, list, before, step)
		if err != nil {
			return err
		}
		for i, k := range moving {
			next[k] = to[i]
		}
	}
	piece.settle(next)
	return nil
}

// choose returns the neighbours to which walks go.
func (p *stepPipeline) choose(piece *searchPiece, moving []int, list, before []int32, step int) ([]int32, error) {
	if p.s.opts.biased() {
		return p.chooseBiased(piece, moving, list, before, step)
	}
	s, from := p.s, vector(p, list)
	walk := func(i int) int64 { return piece.first + int64(piece.alive[moving[i]]) }
	draw := func(try uint64) *matrix.Vector[int32] {
		x := make([]uint64, len(moving))
		for i := range x {
			x[i] = s.random(walk(i), step, try)
		}
		return p.drawn(from, vector(p, x))
	}
	var to *matrix.Vector[int32]
	if s.best != nil {
		to = gathered(p, p.best, from)
	} else {
		to = draw(0)
	}
	if !s.opts.NonBacktracking {
		return p.values(to)
	}
	last, same := vector(p, before), matrix.NewVector[bool](len(list), matrix.On(p.place))
	again := func() bool { // whether walks go back
		p.Do(ops.EWiseMult(same, semiring.Eq[int32](), to, last, p.with))
		p.Do(ops.Select(same, semiring.ValueEQ(true), same, p.with))
		return p.OK() && p.NVals(same) > 0
	}
	if s.best != nil {
		if again() {
			p.Do(ops.Apply(to.Masked(same.Structure()), semiring.Identity[int32](), gathered(p, p.second, from), p.with))
		}
		return p.values(to)
	}
	for try := uint64(1); try < drawTries && again(); try++ {
		p.Do(ops.Apply(to.Masked(same.Structure()), semiring.Identity[int32](), draw(try), p.with))
	}
	out, err := p.values(to)
	for i := range out { // few: their rows are searched
		if out[i] == before[i] {
			out[i] = s.pickOther(list[i], before[i], walk(i), step, &piece.scratch)
		}
	}
	return out, err
}

// chooseBiased is choose of second-order walks: all draw by operations until each accepts its draw.
func (p *stepPipeline) chooseBiased(piece *searchPiece, moving []int, list, before []int32, step int) ([]int32, error) {
	s, to := p.s, make([]int32, len(list))
	walk := func(i int) int64 { return piece.first + int64(piece.alive[moving[i]]) }
	var left []int // places in list
	for i, v := range list {
		if before[i] >= 0 && s.ptr[v+1]-s.ptr[v] <= biasShort {
			to[i] = s.searchBiased(v, before[i], walk(i), step, &piece.scratch)
		} else {
			left = append(left, i)
		}
	}
	for try := uint64(0); len(left) > 0; try++ {
		from, x, accept := make([]int32, len(left)), make([]uint64, len(left)), make([]uint64, len(left))
		for k, i := range left {
			if from[k] = list[i]; before[i] < 0 {
				x[k] = s.random(walk(i), step, 0)
			} else {
				x[k], accept[k] = s.biasedNumbers(walk(i), step, try)
			}
		}
		drawn, err := p.values(p.drawn(vector(p, from), vector(p, x)))
		if err != nil {
			return nil, err
		}
		var refused []int
		for k, i := range left {
			to[i] = drawn[k]
			switch v := list[i]; {
			case before[i] < 0 || s.accepts(to[i], before[i], accept[k]>>32):
			case try+1 < uint64(min(s.ptr[v+1]-s.ptr[v], biasTries)):
				refused = append(refused, i)
			default:
				to[i] = s.searchBiased(v, before[i], walk(i), step, &piece.scratch)
			}
		}
		left = refused
	}
	return to, nil
}

// drawn returns the neighbours of vertices that random numbers draw.
func (p *stepPipeline) drawn(from *matrix.Vector[int32], x *matrix.Vector[uint64]) *matrix.Vector[int32] {
	on, n := matrix.On(p.place), from.Size()
	high, entry := matrix.NewVector[uint64](n, on), matrix.NewVector[int32](n, on)
	count := gathered(p, p.degree, from)
	p.Do(ops.EWiseMult(high, mulHigh(), x, count, p.with))
	p.Do(ops.EWiseMult(high, semiring.Plus[uint64](), high, gathered(p, p.first, from), p.with))
	p.Do(ops.Apply(entry, semiring.Convert[uint64, int32](), high, p.with))
	column := gathered(p, p.column, entry)
	if p.alias == nil {
		return column
	}
	to, rest, below := gathered(p, p.alias, entry), matrix.NewVector[uint32](n, on), matrix.NewVector[bool](n, on)
	p.Do(ops.EWiseMult(rest, mulRest(), x, count, p.with))
	p.Do(ops.EWiseMult(below, semiring.Lt[uint32](), rest, gathered(p, p.threshold, entry), p.with))
	p.Do(ops.Apply(to.Masked(below.MaskView()), semiring.Identity[int32](), column, p.with))
	return to
}

// values returns the values of a full vector.
func (p *stepPipeline) values(v *matrix.Vector[int32]) ([]int32, error) {
	if !p.OK() {
		return nil, p.Err()
	}
	return v.Dense(-1)
}
