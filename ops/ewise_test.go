package ops_test

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/hiveblas/hiveblas/internal/sure"
	"github.com/hiveblas/hiveblas/matrix"
	"github.com/hiveblas/hiveblas/ops"
	"github.com/hiveblas/hiveblas/semiring"
)

// TestEWiseOfUnequalLengths computes unions of a long vector with short ones, which do not use the
// merge.
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
			sure.Do(v.Set(i, x))
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

// TestPositionalOperator checks that operations without products reject a positional operator, and
// that the error distinguishes it from the zero value.
func TestPositionalOperator(t *testing.T) {
	positional := semiring.MinSecondi[int64](0).Mul()
	var zero semiring.BinaryOp[bool, bool, int64]
	u, w := matrix.NewVector[bool](3), matrix.NewVector[int64](3)
	a, c := matrix.New[bool](1, 1), matrix.New[int64](1, 1)
	for _, o := range []struct {
		op   semiring.BinaryOp[bool, bool, int64]
		want string
	}{
		{positional, "the operator secondi is positional"},
		{semiring.NewIndexBinary("ij", func(_, _ bool, i, _, j int) int64 { return int64(i + j) }), "the operator ij is positional"},
		{zero, "the operator is the zero value"},
	} {
		for _, err := range []error{
			ops.EWiseMult(w, o.op, u, u),
			ops.EWiseUnion(w, o.op, u, true, u, true),
			ops.ApplyFirst(w, o.op, true, u),
			ops.ApplySecond(w, o.op, u, true),
			ops.Kronecker(c, o.op, a, a),
		} {
			if !errors.Is(err, ops.ErrOperator) || !strings.Contains(err.Error(), o.want) {
				t.Errorf("error %v, want %q", err, o.want)
			}
		}
		if err := ops.EWiseMult(w, o.op, u, u); strings.Contains(err.Error(), "semiring.New ") != (o.op.Position() != semiring.NotPositional) {
			t.Errorf("error %v: only the error of a positional operator names semiring.New", err)
		}
	}
}
