package semiring_test

import (
	"errors"
	"math"
	"strings"
	"testing"

	"github.com/hiveblas/hiveblas/internal/longtest"
	"github.com/hiveblas/hiveblas/semiring"
)

// check runs Check as a subtest.
func check[A, B, C any](t *testing.T, s semiring.Semiring[A, B, C]) {
	t.Helper()
	opts := semiring.CheckOptions[A, B, C]{Rounds: 80}
	if longtest.Enabled() {
		opts.Rounds = 500
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

// TestCheckBuiltIns checks every kernel of every built-in semiring: over types of each size and
// sign with the build tag long, over two of them without it.
func TestCheckBuiltIns(t *testing.T) {
	checkNumbers[int32](t)
	checkNumbers[float64](t)
	checkMoreNumbers(t)
	for _, s := range []semiring.Semiring[bool, bool, bool]{
		semiring.LorLand(), semiring.LandLor(), semiring.LxorLand(), semiring.LxnorLor(), semiring.AnyPair[bool](), semiring.AnyFirst[bool](), semiring.AnySecond[bool](),
	} {
		check(t, s)
	}
}

// TestCheckFinds breaks each kernel in turn; Check must name it.
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
			semiring.ScatterAllFn(acc, a, ci, bv, func(x, y float64) float64 { return x * y }, add) // sets no marks
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

// TestCheckSpecialValues: Check finds kernels that fail only for NaN, an infinity or the largest
// integers.
func TestCheckSpecialValues(t *testing.T) {
	min := semiring.MinPlus[float64]().WithKernels(semiring.Kernels[float64, float64, float64]{
		Dot: func(s float64, ci []int32, av, x []float64) float64 {
			return semiring.DotFn(s, ci, av, x, func(x, y float64) float64 { return x + y }, math.Min) // propagates NaN
		},
	})
	if err := semiring.Check(min, semiring.CheckOptions[float64, float64, float64]{}); !errors.Is(err, semiring.ErrCheck) || !strings.Contains(err.Error(), "NaN") {
		t.Errorf("Check accepts a minimum that keeps NaN: %v", err)
	}
	wrap := semiring.PlusTimes[int8]().WithKernels(semiring.Kernels[int8, int8, int8]{
		Products: func(out []int8, a int8, bv []int8) {
			semiring.ProductsFn(out, a, bv, func(x, y int8) int8 { return int8(max(-128, min8(int(x)*int(y)))) })
		},
	})
	if err := semiring.Check(wrap, semiring.CheckOptions[int8, int8, int8]{}); !errors.Is(err, semiring.ErrCheck) {
		t.Errorf("Check accepts a product that saturates: %v", err)
	}
	if err := semiring.Check(semiring.Semiring[int8, int8, int8]{}, semiring.CheckOptions[int8, int8, int8]{}); err == nil {
		t.Error("Check accepts the zero semiring")
	}
}

func min8(x int) int { return min(x, 127) }

// span is a user-defined element type: an interval, with its hull as sum and interval addition as
// product.
type span struct{ Lo, Hi float64 }

func hull(x, y span) span    { return span{math.Min(x.Lo, y.Lo), math.Max(x.Hi, y.Hi)} }
func shifted(x, y span) span { return span{x.Lo + y.Lo, x.Hi + y.Hi} }

// TestUserTypes checks struct elements, mixed types and users' kernels for both orders.
func TestUserTypes(t *testing.T) {
	m := semiring.NewMonoid(semiring.NewBinary("hull", hull), span{math.Inf(1), math.Inf(-1)})
	s := semiring.New(m, semiring.NewBinary("shift", shifted))
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
	mixed := semiring.New(semiring.Plus[int64](), semiring.NewBinary("len", func(x span, k uint8) int64 { return int64(x.Hi-x.Lo) * int64(k) }))
	if err := semiring.Check(mixed, semiring.CheckOptions[span, uint8, int64]{A: values}); err != nil {
		t.Error(err)
	}
	if s.WithKernels(semiring.Kernels[span, span, span]{}).Inside().Semiring.Dot == nil {
		t.Error("WithKernels drops kernels that it was not given")
	}
}

// TestCheckLaws: Check reports every law that ⊕ breaks, and distributivity where the caller claims
// it.
func TestCheckLaws(t *testing.T) {
	type monoid = semiring.Monoid[float64]
	minus := semiring.NewMonoid(semiring.Minus[float64](), 0)
	mean := semiring.NewBinary("mean", func(x, y float64) float64 { return (x + y) / 2 })
	for _, c := range []struct {
		add          monoid
		mul          semiring.Operator[float64, float64, float64]
		distributive bool
		law          string
		reason       string
	}{
		{semiring.Plus[float64](), semiring.Times[float64](), false, "", "arithmetic"},
		{semiring.Min[float64](), semiring.Plus[float64](), false, "", "shortest paths; NaN is no sum"},
		{semiring.MinNaN[float64](), semiring.Plus[float64](), false, "", "NaN propagates"},
		{minus, semiring.Times[float64](), false, "identity", "0 − x is not x"},
		{semiring.NewMonoid(semiring.Plus[float64]().Op(), 1), semiring.Times[float64](), false, "identity", "1 + x is not x"},
		{semiring.NewMonoid(mean, math.NaN()), semiring.Times[float64](), false, "identity", "a mean has no identity"},
		{semiring.NewMonoid(semiring.First[float64, float64](), 0), semiring.Times[float64](), false, "identity", "0 first x is 0"},
		{semiring.Max[float64]().WithTerminal(3), semiring.Times[float64](), false, "terminal", "max(3, 4) is not 3"},
		{semiring.Plus[float64](), semiring.Min[float64](), false, "", "plus_min does not claim to distribute"},
		{semiring.Plus[float64](), semiring.Min[float64](), true, "distribute", "min(1, 1 + 1) is 1, min(1, 1) + min(1, 1) is 2"},
	} {
		opts := semiring.CheckOptions[float64, float64, float64]{Rounds: 20, Distributive: c.distributive}
		err := semiring.Check(semiring.New(c.add, c.mul), opts)
		var e *semiring.CheckError
		switch {
		case c.law == "" && err != nil:
			t.Errorf("%s: %v", c.reason, err)
		case c.law != "" && (!errors.As(err, &e) || !errors.Is(err, semiring.ErrCheck) || !strings.Contains(e.Law, c.law)):
			t.Errorf("%s: error %v, want one about %s", c.reason, err, c.law)
		}
	}
	ints := semiring.CheckOptions[int8, int8, int8]{Rounds: 20, Distributive: true}
	if err := semiring.Check(semiring.PlusTimes[int8](), ints); err != nil {
		t.Errorf("integers modulo 256: %v", err)
	}
	// Associativity and commutativity, with an identity that holds.
	rps := semiring.NewBinary("rock-paper-scissors", func(x, y int8) int8 {
		switch {
		case x == 0:
			return y
		case y == 0, x == y, (x-y+3)%3 == 1:
			return x
		}
		return y
	}, "")
	leftmost := semiring.NewBinary("left", func(x, y int8) int8 {
		if x == 0 {
			return y
		}
		return x
	}, "")
	for law, op := range map[string]semiring.BinaryOp[int8, int8, int8]{"associative": rps, "commutative": leftmost} {
		s := semiring.New(semiring.NewMonoid(op, 0), semiring.Times[int8]())
		err := semiring.Check(s, semiring.CheckOptions[int8, int8, int8]{C: []int8{0, 1, 2, 3}, Rounds: 20})
		var e *semiring.CheckError
		if !errors.As(err, &e) || !strings.Contains(e.Law, law) {
			t.Errorf("error %v, want one that ⊕ is not %s", err, law)
		}
	}
}

// TestPositionalOperator: the operator of a positional semiring makes semirings with other sums,
// and is refused by everything that applies it to values.
func TestPositionalOperator(t *testing.T) {
	op := semiring.MinSecondi[int32](7).Mul()
	if op.Valid() || op.Position() != semiring.PositionK || op.CUDA() != "(C)k + (C)7" {
		t.Errorf("operator %q: valid %v, position %v, CUDA %q", op, op.Valid(), op.Position(), op.CUDA())
	}
	if semiring.NewMonoid(semiring.NewBinary("plus", func(x, y int32) int32 { return x + y }), 0).Op().Position() != semiring.NotPositional {
		t.Error("an ordinary operator has a position")
	}
	s := semiring.New(semiring.Plus[int32](), op)
	if !s.Valid() || s.Position() != semiring.PositionK || s.Name() != "plus_secondi+7" {
		t.Errorf("semiring %q: valid %v, position %v", s, s.Valid(), s.Position())
	}
	if err := semiring.Check(s, semiring.CheckOptions[bool, bool, int32]{Rounds: 50}); err != nil {
		t.Error(err)
	}
	if again := semiring.New(semiring.Max[int32](), s.Mul()); again.Position() != semiring.PositionK {
		t.Error("the operator loses its position when it is taken from a semiring of New")
	}
	for _, c := range []struct{ name, want string }{
		{semiring.AnyFirsti[int32](0).Name(), "any_firsti"}, {semiring.AnyFirsti[int32](1).Name(), "any_firsti1"},
		{semiring.AnyFirsti[int32](-3).Name(), "any_firsti-3"}, {semiring.MaxFirstj(0.5).Name(), "max_firstj+0.5"},
	} {
		if c.name != c.want {
			t.Errorf("name %q, want %q", c.name, c.want)
		}
	}
}

// TestIndexBinary: an index-binary operator makes semirings, has a value at a position alone, and
// passes Check, which finds a broken sum.
func TestIndexBinary(t *testing.T) {
	t.Parallel()
	op := semiring.NewIndexBinary("at", func(x, y int64, i, k, j int) int64 { return x*y + int64(i-2*k+3*j) }, "x * y + i - 2 * k + 3 * j")
	if op.Valid() || op.Position() != semiring.PositionsAll || op.Name() != "at" || op.Apply(2, 3) != 0 {
		t.Errorf("operator %q: valid %v, position %v", op, op.Valid(), op.Position())
	}
	if got := op.ApplyAt(2, 3, 10, 1, 5); got != 29 {
		t.Errorf("at (10, 1, 5): %d, want 29", got)
	}
	s := semiring.New(semiring.Plus[int64](), op)
	if !s.Valid() || s.Position() != semiring.PositionsAll || s.Name() != "plus_at" || s.Mul().CUDA() != op.CUDA() {
		t.Errorf("semiring %q: valid %v, position %v", s, s.Valid(), s.Position())
	}
	if err := semiring.Check(s, semiring.CheckOptions[int64, int64, int64]{}); err != nil {
		t.Error(err)
	}
	minus := semiring.NewMonoid(semiring.NewBinary("minus", func(x, y int64) int64 { return x - y }), 0)
	if err := semiring.Check(semiring.New(minus, op), semiring.CheckOptions[int64, int64, int64]{}); !errors.Is(err, semiring.ErrCheck) {
		t.Errorf("a sum that is not commutative: error %v", err)
	}
	if semiring.New(semiring.Plus[int64](), semiring.NewIndexBinary[int64, int64, int64]("nil", nil)).Valid() {
		t.Error("a nil function makes a valid semiring")
	}
	positions := semiring.MinFirsti[int64](1).Mul()
	if positions.ApplyAt(true, true, 4, 5, 6) != 5 || semiring.MinSecondj[int64](0).Mul().ApplyAt(true, true, 4, 5, 6) != 6 ||
		semiring.MinSecondi[int64](0).Mul().ApplyAt(true, true, 4, 5, 6) != 5 || semiring.Minus[int64]().ApplyAt(9, 4, 1, 1, 1) != 5 {
		t.Error("ApplyAt of positional and plain operators")
	}
}
