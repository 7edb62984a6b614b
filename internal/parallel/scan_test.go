package parallel

import (
	"math/rand/v2"
	"slices"
	"testing"
)

func TestSum(t *testing.T) {
	for _, n := range []int{0, 1, 5, scanGrain, scanGrain + 1, 5*scanGrain + 7} {
		in := make([]int64, n)
		for i := range in {
			in[i] = rand.Int64N(100) - 20
		}
		want := slices.Clone(in)
		for i := 1; i < n; i++ {
			want[i] += want[i-1]
		}
		for _, threads := range []int{1, 2, 3, 8} {
			got := slices.Clone(in)
			if Sum(threads, got); !slices.Equal(got, want) {
				t.Errorf("%d items, %d threads: wrong sums", n, threads)
			}
		}
	}
}

// TestOffsets: the offsets sort keys stably.
func TestOffsets(t *testing.T) {
	for _, keys := range []int{1, 3, 1 << 12, 1<<12 + 1, 150000} {
		for _, parts := range []int{1, 2, 5} {
			for _, threads := range []int{1, 8} {
				items := make([][]int, parts)
				counts := make([][]uint32, parts)
				var all []int
				for w := range items {
					counts[w] = make([]uint32, keys)
					for range rand.IntN(4000) {
						k := rand.IntN(keys)
						items[w] = append(items[w], k)
						counts[w][k]++
					}
					all = append(all, items[w]...)
				}
				ptr := make([]int64, keys+1)
				Offsets(threads, counts, ptr)
				sorted := make([]int, len(all)) // the places of the items in the input
				at := 0
				for w, part := range items {
					for _, k := range part {
						sorted[counts[w][k]] = at
						counts[w][k]++
						at++
					}
				}
				want := make([]int, len(all))
				for i := range want {
					want[i] = i
				}
				slices.SortStableFunc(want, func(x, y int) int { return all[x] - all[y] })
				if !slices.Equal(sorted, want) {
					t.Fatalf("%d keys, %d parts, %d threads: wrong order", keys, parts, threads)
				}
				for k := range keys {
					if p := int(ptr[k]); p < len(all) && all[sorted[p]] < k || p > 0 && all[sorted[p-1]] >= k {
						t.Fatalf("%d keys: ptr[%d] = %d", keys, k, ptr[k])
					}
				}
			}
		}
	}
}

// Gather lists what all pieces find, in order.
func TestGather(t *testing.T) {
	for _, n := range []int{0, 1, 10, 99, 1000} {
		var want []int
		for i := range n {
			if i%3 == 1 || i > 500 && i < 620 {
				want = append(want, i)
			}
		}
		for _, threads := range []int{1, 2, 8} {
			for _, grain := range []int{1, 10, 1000} {
				got := Gather(threads, n, grain, func(lo, hi int, found []int) []int {
					for i := lo; i < hi; i++ {
						if i%3 == 1 || i > 500 && i < 620 {
							found = append(found, i)
						}
					}
					return found
				})
				if !slices.Equal(got, want) {
					t.Fatalf("%d items, %d threads, grain %d: %v, want %v", n, threads, grain, got, want)
				}
			}
		}
	}
}
