package ops_test

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/hiveblas/hiveblas/matrix"
	"github.com/hiveblas/hiveblas/ops"
	"github.com/hiveblas/hiveblas/semiring"
)

// TestEWiseOfUnequalLengths unites a long vector with short ones, which takes
// another way than merging.
func TestEWiseOfUnequalLengths(t *testing.T) {
	const n = 10000
	r := rand.New(rand.NewPCG(1, 2))
	vector := func(count int, must ...int) (*matrix.Vector[float64], map[int]float64) {
		v, want := matrix.NewVector[float64](n), map[int]float64{}
		for _, i := range must {
			want[i] = float64(1 + r.IntN(100))
		}
		for len(want) < count {
			want[r.IntN(n)] = float64(1 + r.IntN(100))
		}
		for i, x := range want {
			if err := v.Set(i, x); err != nil {
				t.Fatal(err)
			}
		}
		return v, want
	}
	long, inLong := vector(3000, 0, 1, n-1)
	for _, must := range [][]int{nil, {0}, {n - 1}, {0, 1, 2}, {n - 2, n - 1}, {5000}} {
		for _, count := range []int{1, 3, 20, 150, 190} {
			short, inShort := vector(count, must...)
			for _, swap := range []bool{false, true} {
				a, b, inA, inB := long, short, inLong, inShort
				if swap {
					a, b, inA, inB = short, long, inShort, inLong
				}
				for _, filled := range []bool{false, true} {
					got, want := matrix.NewVector[float64](n), map[int]float64{}
					var err error
					if filled {
						err = ops.EWiseUnion(got, semiring.Minus[float64](), a, 1000, b, 2000)
					} else {
						err = ops.EWiseAdd(got, semiring.Minus[float64](), a, b)
					}
					if err != nil {
						t.Fatal(err)
					}
					for i := range n {
						x, atA := inA[i]
						y, atB := inB[i]
						switch {
						case atA && atB:
							want[i] = x - y
						case atA && filled:
							want[i] = x - 2000
						case atB && filled:
							want[i] = 1000 - y
						case atA:
							want[i] = x
						case atB:
							want[i] = y
						}
					}
					seen := 0
					for i, x := range got.All() {
						if y, ok := want[i]; !ok || x != y {
							t.Fatalf("%s: at %d %v, want %v (%v)", fmt.Sprint(must, count, swap, filled), i, x, y, ok)
						}
						seen++
					}
					if seen != len(want) {
						t.Fatalf("%v %d %v %v: %d entries, want %d", must, count, swap, filled, seen, len(want))
					}
				}
			}
		}
	}
}
