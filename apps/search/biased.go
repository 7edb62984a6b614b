package search

import (
	"math"
	"math/bits"
	"slices"

	"github.com/hiveblas/hiveblas/internal/philox"
)

// Second-order walks draw a neighbour by its usual weight times a bias by the vertex before: 1/p if
// it is this vertex, 1 if this vertex has an edge to it, else 1/q (Grover, Leskovec: node2vec, KDD
// 2016). Long rows draw by the usual weight and accept by the bias (Yang, Zhang, Chen, Ma, Jiang:
// KnightKing, SOSP 2019); after as many refusals as entries, and in short rows, the row is
// searched. Both ways draw from the same distribution.
const (
	biasTries  = 1 << 16 // draws before the row is searched, at most; else as many as its entries
	biasShort  = 8       // entries up to which a row is searched at once
	drawBiased = 1 << 17 // purpose of the first draw; see searchRows.random
)

// A searchBias is the bias of neighbours as multiples of 2⁻³² of the largest.
type searchBias struct{ back, common, away uint64 }

// biased reports whether walks are of second order.
func (o *SearchOptions) biased() bool { return o.Return != 1 || o.InOut != 1 }

// remembers reports whether a step needs the vertex before.
func (o *SearchOptions) remembers() bool { return o.NonBacktracking || o.biased() }

// newBias returns the bias of the settings.
func newBias(o *SearchOptions) searchBias {
	most := max(1, 1/o.InOut)
	if !o.NonBacktracking {
		most = max(most, 1/o.Return)
	}
	share := func(x float64) uint64 { return max(1, uint64(math.Round(x/most*(1<<32)))) }
	b := searchBias{share(1 / o.Return), share(1), share(1 / o.InOut)}
	if o.NonBacktracking {
		b.back = 0
	}
	return b
}

// biasOf returns the bias of a neighbour u of a vertex that a walk reached from before.
func (g *searchRows) biasOf(u, before int32) uint64 {
	switch {
	case u == before:
		return g.bias.back
	case g.bias.common == g.bias.away:
		return g.bias.away
	}
	if _, edge := slices.BinarySearch(g.idx[g.ptr[before]:g.ptr[before+1]], u); edge {
		return g.bias.common
	}
	return g.bias.away
}

// accepts reports whether x, of 32 bits, is below the bias of a neighbour u. It looks for an edge
// from before to u only where this decides.
func (g *searchRows) accepts(u, before int32, x uint64) bool {
	switch b := &g.bias; {
	case u == before:
		return x < b.back
	case x >= max(b.common, b.away):
		return false
	case x < min(b.common, b.away):
		return true
	}
	return x < g.biasOf(u, before)
}

// biasedNumbers returns the random numbers of draw try of a step: for the draw and for its
// acceptance.
func (g *searchRows) biasedNumbers(walk int64, step int, try uint64) (draw, accept uint64) {
	return philox.Block(uint64(walk), uint64(step)|(drawBiased+try)<<32, g.o.Seed)
}

// pickBiased is pick in a walk of second order that reached v from before.
func (g *searchRows) pickBiased(v, before int32, walk int64, step int, s *searchScratch) int32 {
	count := g.ptr[v+1] - g.ptr[v]
	if count == 0 || count == 1 && g.o.NonBacktracking && g.idx[g.ptr[v]] == before {
		return -1
	}
	if count > biasShort {
		for try := range uint64(min(count, biasTries)) {
			x, y := g.biasedNumbers(walk, step, try)
			if u := g.pick(v, x); g.accepts(u, before, y>>32) {
				return u
			}
		}
	}
	return g.searchBiased(v, before, walk, step, s)
}

// searchBiased is pickBiased by the masses of all neighbours. If they are all 0, the biases alone
// are the masses.
func (g *searchRows) searchBiased(v, before int32, walk int64, step int, s *searchScratch) int32 {
	row := g.idx[g.ptr[v]:g.ptr[v+1]]
	x, _ := g.biasedNumbers(walk, step, biasTries)
	mass := slices.Grow(s.biased[:0], len(row))[:len(row)]
	s.biased = mass
	var sum uint64
	if g.slots != nil {
		weights, _ := g.weigh(v, s)
		s.mass = integerMasses(weights, s.mass)
		for k, u := range row {
			mass[k], _ = bits.Mul64(s.mass[k], g.biasOf(u, before)<<31)
			sum += mass[k]
		}
	}
	if sum == 0 {
		for k, u := range row {
			mass[k] = g.biasOf(u, before)
			sum += mass[k]
		}
	}
	left, _ := philox.Below(x, sum)
	for k, m := range mass {
		if left < m {
			return row[k]
		}
		left -= m
	}
	return -1
}
