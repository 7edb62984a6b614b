package cpu

import (
	"math/rand/v2"
	"slices"
	"testing"
)

// Keys of columns below 2 … 2³¹, in digits of one to three passes, and fewer keys than a radix sort
// takes.
func TestKeySort(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	var s keySorter
	for _, limit := range []int{1, 2, 3, 2047, 2048, 2049, 1 << 18, 1 << 22, 1<<22 + 1, 1<<31 - 1} {
		for _, n := range []int{0, 1, 2, keyRadix - 1, keyRadix, 1000, 5000} {
			keys := make([]uint64, n)
			for i := range keys {
				keys[i] = uint64(r.IntN(limit))<<32 | uint64(i)
			}
			if n > 1 {
				keys[n-1] = uint64(limit-1)<<32 | uint64(n-1)
			}
			want := slices.Clone(keys)
			slices.Sort(want)
			if s.sort(keys, limit); !slices.Equal(keys, want) {
				t.Errorf("%d columns below %d are not sorted", n, limit)
			}
		}
	}
}
