package classify

import (
	"math"
	"testing"

	"pgregory.net/rapid"
)

func TestExpBelow(t *testing.T) {
	check := func(t rapid.TB, x float64) {
		got, want := expBelow(x), math.Exp(x)
		if math.IsNaN(want) != math.IsNaN(got) || math.Abs(got-want) > 3e-10*want+4e-308 {
			t.Fatalf("exp(%v) is %v, want %v", x, got, want)
		}
	}
	for _, x := range []float64{0, math.Copysign(0, -1), -1e-300, -math.Ln2 / 2, -math.Ln2, -1, -707.999, -708, -708.001, -744, -746, math.Inf(-1), math.NaN()} {
		check(t, x)
	}
	for x := -3.0; x <= 0; x += 1.0 / 1024 {
		check(t, x)
	}
	t.Run("random", rapid.MakeCheck(func(t *rapid.T) { check(t, rapid.Float64Range(-800, 0).Draw(t, "x")) }))
}

// Sums do not depend on order and grouping.
func TestExpSum(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		x := rapid.SliceOfN(rapid.Float32Range(-3000, 3000), 0, 20).Draw(t, "x")
		for k := range x {
			if rapid.IntRange(0, 5).Draw(t, "nothing") == 0 {
				x[k] = minusInf
			}
		}
		top, sum := math.Inf(-1), 0.0
		for _, v := range x {
			top = max(top, float64(v))
		}
		for _, v := range x {
			if !math.IsInf(top, -1) {
				sum += math.Exp(float64(v) - top)
			}
		}
		want := top + math.Log(sum)
		if len(x) == 0 || math.IsInf(top, -1) {
			want = math.Inf(-1)
		}
		places := make([]int32, len(x))
		for p := range x {
			places[p] = int32(p)
		}
		cut := rapid.IntRange(0, len(x)).Draw(t, "cut")
		first := noTerms.terms(places[:cut], x)
		one := first
		for _, v := range x[cut:] {
			one = one.plus(noTerms.terms([]int32{0}, []float32{v}))
		}
		for _, got := range []float64{
			noTerms.terms(places, x).log(),
			first.terms(places[cut:], x).log(),
			one.log(),
		} {
			if got != want && !(math.Abs(got-want) <= 1e-8) {
				t.Fatalf("log Σ exp of %v cut at %d is %v, want %v", x, cut, got, want)
			}
		}
	})
}
