package semiring_test

import (
	"errors"
	"math"
	"strings"
	"testing"

	"github.com/hiveblas/hiveblas/semiring"
)

// check runs Check as a subtest.
func check[A, B, C any](t *testing.T, s semiring.Semiring[A, B, C]) {
	t.Helper()
	opts := semiring.CheckOptions[A, B, C]{Rounds: 500}
	if testing.Short() {
		opts.Rounds = 80
	}
	if err := semiring.Check(s, opts); err != nil {
		t.Errorf("over %T: %v", *new(C), err)
	}
}

func checkNumbers[T semiring.Number](t *testing.T) {
	for _, s := range []semiring.Semiring[T, T, T]{
		semiring.PlusTimes[T](), semiring.MinPlus[T](), semiring.MaxPlus[T](), semiring.MinTimes[T](), semiring.MaxTimes[T](),
		semiring.MinMax[T](), semiring.MaxMin[T](), semiring.PlusMin[T](), semiring.PlusMax[T](), semiring.PlusPlus[T](),
		semiring.PlusMinus[T](), semiring.New(semiring.Times[T](), semiring.Plus[T]()), semiring.New(semiring.Any[T](), semiring.Plus[T]()),
		semiring.New(semiring.Plus[T](), semiring.First[T, T]()), semiring.New(semiring.Plus[T](), semiring.Second[T, T]()),
		semiring.New(semiring.Plus[T](), semiring.Pair[T, T, T]()),
	} {
		check(t, s)
	}
	for _, s := range []semiring.Semiring[T, bool, T]{
		semiring.PlusFirst[T](), semiring.MinFirst[T](), semiring.MaxFirst[T](), semiring.TimesFirst[T](), semiring.AnyFirst[T](),
	} {
		check(t, s)
	}
	for _, s := range []semiring.Semiring[bool, T, T]{
		semiring.PlusSecond[T](), semiring.MinSecond[T](), semiring.MaxSecond[T](), semiring.TimesSecond[T](), semiring.AnySecond[T](),
	} {
		check(t, s)
	}
	for _, s := range []semiring.Semiring[bool, bool, T]{
		semiring.PlusPair[T](), semiring.AnyPair[T](), semiring.AnyFirsti(T(0)), semiring.AnyFirstj(T(1)), semiring.AnySecondi(T(0)),
		semiring.AnySecondj(T(0)), semiring.MinFirsti(T(0)), semiring.MinFirstj(T(0)), semiring.MinSecondi(T(1)), semiring.MinSecondj(T(0)),
		semiring.MaxSecondi(T(0)), semiring.MaxFirstj(T(0)),
	} {
		check(t, s)
	}
}

// TestCheckBuiltIns holds every kernel of every built-in semiring to its
// operators, over types of each size and sign.
func TestCheckBuiltIns(t *testing.T) {
	checkNumbers[int8](t)
	checkNumbers[uint8](t)
	checkNumbers[int16](t)
	checkNumbers[int32](t)
	checkNumbers[uint32](t)
	checkNumbers[int64](t)
	checkNumbers[uint64](t)
	checkNumbers[float32](t)
	checkNumbers[float64](t)
	for _, s := range []semiring.Semiring[bool, bool, bool]{
		semiring.LorLand(), semiring.LandLor(), semiring.LxorLand(), semiring.LxnorLor(), semiring.AnyPair[bool](), semiring.AnyFirst[bool](), semiring.AnySecond[bool](),
	} {
		check(t, s)
	}
}

// TestCheckFinds makes each kernel wrong in turn: Check must name it.
func TestCheckFinds(t *testing.T) {
	type kernels = semiring.Kernels[float64, float64, float64]
	s := semiring.PlusTimes[float64]()
	wrong := func(x, y float64) float64 { return x*y + 1 }
	add := func(x, y float64) float64 { return x + y }
	for name, k := range map[string]kernels{
		"Dot": {Dot: func(s float64, ci []int32, av, x []float64) float64 { return semiring.DotFn(s, ci, av, x, wrong, add) }},
		"DotPresent": {DotPresent: func(s float64, ci []int32, av, x []float64, present []uint8) (float64, bool) {
			return semiring.DotFn(s, ci, av, x, func(x, y float64) float64 { return x * y }, add), true
		}},
		"DotRows": {DotRows: func(y []float64, id float64, ptr []int64, ci []int32, av, x []float64) {}},
		"Axpy":    {Axpy: func(y []float64, a float64, b []float64) { semiring.AxpyFn(y, a, b, wrong, add) }},
		"Scatter": {Scatter: func(acc []float64, marks []uint64, a float64, ci []int32, bv []float64) {
			semiring.ScatterAllFn(acc, a, ci, bv, func(x, y float64) float64 { return x * y }, add) // forgets the marks
		}},
		"ScatterMasked": {ScatterMasked: func(acc []float64, state []uint8, a float64, ci []int32, bv []float64) {
			semiring.ScatterMaskedFn(acc, state, a, ci, bv, wrong, add)
		}},
		"ScatterAll": {ScatterAll: func(acc []float64, a float64, ci []int32, bv []float64) {
			semiring.ScatterAllFn(acc, a, ci, bv, wrong, add)
		}},
		"Products": {Products: func(out []float64, a float64, bv []float64) { semiring.ProductsFn(out, a, bv, wrong) }},
	} {
		err := semiring.Check(s.WithKernels(k), semiring.CheckOptions[float64, float64, float64]{})
		var c *semiring.CheckError
		if !errors.As(err, &c) || !errors.Is(err, semiring.ErrCheck) || c.Kernel != name {
			t.Errorf("a wrong %s gives %v", name, err)
		}
		err = semiring.Check(s.WithFlippedKernels(k), semiring.CheckOptions[float64, float64, float64]{})
		if !errors.As(err, &c) || c.Kernel != "flipped "+name {
			t.Errorf("a wrong flipped %s gives %v", name, err)
		}
	}
}

// TestCheckSpecialValues: disagreements that only NaN, an infinity or the end
// of the integers shows.
func TestCheckSpecialValues(t *testing.T) {
	min := semiring.MinPlus[float64]().WithKernels(semiring.Kernels[float64, float64, float64]{
		Dot: func(s float64, ci []int32, av, x []float64) float64 {
			return semiring.DotFn(s, ci, av, x, func(x, y float64) float64 { return x + y }, math.Min) // NaN wins
		},
	})
	if err := semiring.Check(min, semiring.CheckOptions[float64, float64, float64]{}); !errors.Is(err, semiring.ErrCheck) || !strings.Contains(err.Error(), "NaN") {
		t.Errorf("a minimum that keeps NaN passes: %v", err)
	}
	wrap := semiring.PlusTimes[int8]().WithKernels(semiring.Kernels[int8, int8, int8]{
		Products: func(out []int8, a int8, bv []int8) {
			semiring.ProductsFn(out, a, bv, func(x, y int8) int8 { return int8(max(-128, min8(int(x)*int(y)))) })
		},
	})
	if err := semiring.Check(wrap, semiring.CheckOptions[int8, int8, int8]{}); !errors.Is(err, semiring.ErrCheck) {
		t.Errorf("a product that saturates passes: %v", err)
	}
	if err := semiring.Check(semiring.Semiring[int8, int8, int8]{}, semiring.CheckOptions[int8, int8, int8]{}); err == nil {
		t.Error("the zero semiring passes")
	}
}

func min8(x int) int { return min(x, 127) }

// span is a user's element type: an interval, with its hull as sum and
// interval addition as product.
type span struct{ Lo, Hi float64 }

func hull(x, y span) span    { return span{math.Min(x.Lo, y.Lo), math.Max(x.Hi, y.Hi)} }
func shifted(x, y span) span { return span{x.Lo + y.Lo, x.Hi + y.Hi} }

// TestUserTypes: struct elements, mixed types, user kernels on both sides.
func TestUserTypes(t *testing.T) {
	m := semiring.NewMonoid(semiring.NewBinary("hull", hull, ""), span{math.Inf(1), math.Inf(-1)})
	s := semiring.New(m, semiring.NewBinary("shift", shifted, ""))
	if s.Name() != "hull_shift" || s.Named("intervals").String() != "intervals" {
		t.Errorf("names are %q and %q", s.Name(), s.Named("intervals"))
	}
	values := []span{{0, 1}, {-1, 1}, {2, 5}, {-3, -2}}
	fast := s.WithKernels(semiring.Kernels[span, span, span]{
		Scatter: func(acc []span, marks []uint64, a span, ci []int32, bv []span) {
			semiring.ScatterFn(acc, marks, a, ci, bv,
				func(x, y span) span { return span{x.Lo + y.Lo, x.Hi + y.Hi} },
				func(x, y span) span { return span{math.Min(x.Lo, y.Lo), math.Max(x.Hi, y.Hi)} })
		},
	})
	opts := semiring.CheckOptions[span, span, span]{A: values, B: values, C: values}
	if err := semiring.Check(s, opts); err != nil {
		t.Error(err)
	}
	if err := semiring.Check(fast, opts); err != nil {
		t.Error(err)
	}
	mixed := semiring.New(semiring.Plus[int64](), semiring.NewBinary("len", func(x span, k uint8) int64 { return int64(x.Hi-x.Lo) * int64(k) }, ""))
	if err := semiring.Check(mixed, semiring.CheckOptions[span, uint8, int64]{A: values}); err != nil {
		t.Error(err)
	}
	if s.WithKernels(semiring.Kernels[span, span, span]{}).Kernels().Dot == nil {
		t.Error("kernels that are not given do not stay")
	}
}
