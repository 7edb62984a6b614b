package parallel

import (
	"cmp"
	"math/rand/v2"
	"slices"
	"testing"
)

func TestSortStable(t *testing.T) {
	type item struct{ key, at int }
	byKey := func(a, b item) int { return cmp.Compare(a.key, b.key) }
	rng := rand.New(rand.NewPCG(3, 3))
	for _, n := range []int{0, 1, 2, 3, 15, 16, 17, 33, 1000, sortGrain, 2*sortGrain + 1, 9*sortGrain + 77} {
		for _, keys := range []int{1, 3, 100, 1 << 40} {
			list := make([]item, n)
			for i := range list {
				list[i] = item{rng.IntN(keys), i}
			}
			want := slices.Clone(list)
			slices.SortStableFunc(want, byKey)
			for _, threads := range []int{1, 2, 3, 5, 8, 16} {
				got := slices.Clone(list)
				SortStable(threads, got, byKey)
				if !slices.Equal(got, want) {
					t.Fatalf("%d items of %d keys, %d threads: not in order", n, keys, threads)
				}
			}
			SortStable(3, want, byKey) // sorted already
			if !slices.IsSortedFunc(want, func(a, b item) int { return cmp.Or(byKey(a, b), cmp.Compare(a.at, b.at)) }) {
				t.Fatalf("%d items of %d keys: a sorted list is not kept", n, keys)
			}
		}
	}
}

func BenchmarkSortStable(b *testing.B) {
	list := make([]float64, 1<<18)
	for i := range list {
		list[i] = rand.Float64()
	}
	for name, sort := range map[string]func(list []float64){
		"slices":   func(list []float64) { slices.SortStableFunc(list, cmp.Compare[float64]) },
		"parallel": func(list []float64) { SortStable(2, list, cmp.Compare[float64]) },
		"one":      func(list []float64) { SortStable(1, list, cmp.Compare[float64]) },
		"pdq":      func(list []float64) { slices.SortFunc(list, cmp.Compare[float64]) },
	} {
		b.Run(name, func(b *testing.B) {
			for range b.N {
				sort(slices.Clone(list))
			}
		})
	}
}
