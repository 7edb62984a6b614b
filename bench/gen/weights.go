package gen

import (
	"fmt"

	"github.com/hiveblas/hiveblas/internal/fresh"
)

// UniformFloats returns a weight in (0, 1] for every entry of g, in the order of g.Idx: the top 53
// bits of a hash of (row, column, seed), plus one, times 2⁻⁵³. When symmetric, the entries (i, j)
// and (j, i) have the same weight.
func UniformFloats(g *Graph, seed uint64, symmetric bool) []float64 {
	w := fresh.Make[float64](g.NNZ())
	eachWeight(g, seed, symmetric, func(p int64, word uint64) {
		w[p] = float64(word>>11+1) / (1 << 53)
	})
	return w
}

// UniformInts returns an integer weight in lo…hi, both included, for every entry of g, in the order
// of g.Idx, by the same hash as [UniformFloats]. It panics when hi < lo.
func UniformInts(g *Graph, lo, hi int64, seed uint64, symmetric bool) []int64 {
	if hi < lo {
		panic(fmt.Sprintf("gen: UniformInts from %d to %d: the range is empty", lo, hi))
	}
	w := fresh.Make[int64](g.NNZ())
	span := uint64(hi-lo) + 1
	eachWeight(g, seed, symmetric, func(p int64, word uint64) {
		if span != 0 { // 0 when lo…hi is all of int64
			word = below(word, span)
		}
		w[p] = lo + int64(word)
	})
	return w
}

// eachWeight calls set with the place of each entry and the random word that belongs to its
// position.
func eachWeight(g *Graph, seed uint64, symmetric bool, set func(p int64, word uint64)) {
	if g == nil || len(g.Ptr) == 0 {
		return
	}
	byRows(g.Ptr, func(lo, hi int) {
		for i := lo; i < hi; i++ {
			for p := g.Ptr[i]; p < g.Ptr[i+1]; p++ {
				a, b := int32(i), g.Idx[p]
				if symmetric && b < a {
					a, b = b, a
				}
				set(p, pairHash(a, b, seed))
			}
		}
	})
}
