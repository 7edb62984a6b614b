package semiring_test

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/hiveblas/hiveblas/internal/cpu"
	"github.com/hiveblas/hiveblas/internal/dots"
	"github.com/hiveblas/hiveblas/semiring"
)

// TestGathered compares Dot and DotRows of package dots with loops in Go, bit for bit: sums of
// every fourth term, and of the terms that are left, in their order.
func TestGathered(t *testing.T) {
	if !dots.Available {
		t.Skip("no loops of package dots")
	}
	gatheredTypes[float64](t, "")
	gatheredTypes[float32](t, " of float32")
}

func gatheredTypes[T semiring.Float](t *testing.T, suffix string) {
	gatheredTest(t, "plus.times"+suffix, 0, semiring.PlusTimes[T](), func(a, x T) T { return a * x }, fourSums)
	gatheredTest(t, "plus.second"+suffix, 0, semiring.PlusSecond[T](), func(_ bool, x T) T { return x }, fourSums)
	gatheredTest(t, "min.plus"+suffix, T(math.Inf(1)), semiring.MinPlus[T](), func(a, x T) T { return a + x }, func(s T, terms []T) T {
		for _, v := range terms {
			if v < s {
				s = v
			}
		}
		return s
	})
}

// fourSums adds the terms as the loops of floats do.
func fourSums[T semiring.Float](s T, terms []T) T {
	if len(terms) >= 4 {
		var s1, s2, s3 T
		for ; len(terms) >= 4; terms = terms[4:] {
			s += terms[0]
			s1 += terms[1]
			s2 += terms[2]
			s3 += terms[3]
		}
		s = (s + s1) + (s2 + s3)
	}
	for _, v := range terms {
		s += v
	}
	return s
}

func gatheredTest[A comparable, T semiring.Float](
	t *testing.T, name string, id T, ring semiring.Semiring[A, T, T], mul func(a A, x T) T, sum func(s T, terms []T) T,
) {
	k := cpu.TypedKernels[A, T, T](ring.Inside().Semiring)
	const most = 100 // entries of a row; above 32 package dots takes over
	r := rand.New(rand.NewPCG(3, 4))
	value := func() T {
		switch r.IntN(30) {
		case 0:
			return 0
		case 1:
			return T(math.Copysign(0, -1))
		case 2:
			return T(math.Inf(1))
		}
		return T(r.Float64()) - .1
	}
	x := make([]T, 100)
	for j := range x {
		x[j] = value()
	}
	for range 500 {
		ptr, ci, av := []int64{0}, []int32{}, []T{}
		for range 1 + r.IntN(20) {
			for range r.IntN(most) {
				ci, av = append(ci, int32(r.IntN(len(x)))), append(av, value())
			}
			ptr = append(ptr, int64(len(ci)))
		}
		var values []A // nil of an operator that does not read them
		if v, ok := any(av).([]A); ok {
			values = v
		}
		terms := make([]T, len(ci))
		for p, j := range ci {
			var a A
			if values != nil {
				a = values[p]
			}
			terms[p] = mul(a, x[j])
		}
		rows := make([]T, len(ptr)-1)
		k.DotRows(rows, &id, ptr, ci, values, x)
		for i := range rows {
			lo, hi := ptr[i], ptr[i+1]
			for _, s := range []T{id, 3, -3} {
				got := s
				if values != nil {
					k.Dot(&got, ci[lo:hi], values[lo:hi], x)
				} else {
					k.Dot(&got, ci[lo:hi], nil, x)
				}
				equalBits(t, name+": Dot", got, sum(s, terms[lo:hi]))
			}
			equalBits(t, name+": DotRows", rows[i], sum(id, terms[lo:hi]))
		}
	}
}

func equalBits[T semiring.Float](t *testing.T, what string, got, want T) {
	t.Helper()
	if math.Float64bits(float64(got)) != math.Float64bits(float64(want)) && (got == got || want == want) {
		t.Fatalf("%s: %v, want %v", what, got, want)
	}
}
