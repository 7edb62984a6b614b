package philox

import (
	"cmp"
	"math"
	"slices"
)

// Number returns random number k for a vertex, a layer and a round: word k mod 2 of block k/2.
func Number(vertex int32, layer int, round uint64, k int, key uint64) uint64 {
	x, y := Block(uint64(vertex)|uint64(layer)<<32, uint64(k>>1)|round<<32, key)
	if k&1 == 1 {
		return y
	}
	return x
}

// Unit returns a number above 0 and at most 1.
func Unit(x uint64) float64 { return float64(x>>11+1) / (1 << 53) }

// Choose appends samples of the places 0 … n−1 to at, in the order of their draws, by Floyd's
// method: each set of so many is equally likely. number returns random number k. samples is at most
// n. It takes O(samples²) time.
func Choose(at []int32, n, samples int, number func(k int) uint64) []int32 {
	from := len(at)
	for k, last := 0, n-samples; last < n; k, last = k+1, last+1 { // j is new, or the last that may be drawn
		j, _ := Below(number(k), uint64(last+1))
		if slices.Contains(at[from:], int32(j)) {
			j = uint64(last)
		}
		at = append(at, int32(j))
	}
	return at
}

// Key is a place and its exponential key.
type Key struct {
	Key   float64
	Place int32
}

// ChooseByWeight appends samples of the places 0 … len(weights)−1 to at, drawn one by one in
// proportion to the weights of the remaining ones: the smallest of exponential keys (Efraimidis,
// Spirakis, Information Processing Letters 97, 2006). keys is scratch, and returned for the next
// call.
func ChooseByWeight(at []int32, keys []Key, weights []float64, samples int, number func(k int) uint64) ([]int32, []Key) {
	keys = keys[:0]
	for k, w := range weights {
		keys = append(keys, Key{-math.Log(Unit(number(k))) / w, int32(k)})
	}
	slices.SortFunc(keys, func(a, b Key) int {
		return cmp.Or(cmp.Compare(a.Key, b.Key), cmp.Compare(a.Place, b.Place))
	})
	for _, k := range keys[:samples] {
		at = append(at, k.Place)
	}
	return at, keys
}
