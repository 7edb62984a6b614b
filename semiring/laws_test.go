package semiring_test

import (
	"math"
	"math/rand/v2"
	"reflect"
	"testing"

	"github.com/hiveblas/hiveblas/internal/cpu"
	"github.com/hiveblas/hiveblas/internal/sparse"
	"github.com/hiveblas/hiveblas/semiring"
)

// laws checks identity, associativity, commutativity and terminal of m on values, and its kernels
// against its operator.
func laws[T comparable](t *testing.T, typ string, m semiring.Monoid[T], values []T) {
	t.Helper()
	same := func(x, y T) bool { return nearly(x, y) }
	name := m.Name() + " over " + typ
	for _, x := range values {
		if m.IsAny() {
			break
		}
		// min and max ignore NaN.
		if id := m.Identity(); x == x && (!same(m.Combine(x, id), x) || !same(m.Combine(id, x), x)) {
			t.Errorf("%s: the identity %v changes %v", name, id, x)
		}
		if z, ok := m.Terminal(); ok && (m.Combine(z, x) != z || m.Combine(x, z) != z) {
			t.Errorf("%s: terminal %v and %v give %v and %v", name, z, x, m.Combine(z, x), m.Combine(x, z))
		}
		for _, y := range values {
			if !same(m.Combine(x, y), m.Combine(y, x)) {
				t.Errorf("%s: %v and %v do not commute: %v, %v", name, x, y, m.Combine(x, y), m.Combine(y, x))
			}
			for _, z := range values {
				if a, b := m.Combine(m.Combine(x, y), z), m.Combine(x, m.Combine(y, z)); !same(a, b) {
					t.Errorf("%s: (%v, %v, %v) gives %v and %v", name, x, y, z, a, b)
				}
			}
		}
	}
	monoidKernels(t, name, m, values)
}

// folded returns the sum of values from a start by Fold.
func folded[T any](m semiring.Monoid[T], start T, v []T) T {
	cpu.TypedMonoid[T](m.Inside().Monoid).Fold(&start, v)
	return start
}

func monoidKernels[T comparable](t *testing.T, name string, m semiring.Monoid[T], values []T) {
	t.Helper()
	r := rand.New(rand.NewPCG(1, 2))
	k := cpu.TypedMonoid[T](m.Inside().Monoid)
	for n := range 20 {
		v := make([]T, n)
		for p := range v {
			v[p] = values[r.IntN(len(values))]
		}
		want := m.Identity()
		for _, x := range v {
			want = m.Combine(want, x)
		}
		right := func(got T, from []T) bool {
			for _, x := range from {
				if m.IsAny() && nearly(got, x) {
					return true
				}
			}
			return nearly(got, want)
		}
		if got := folded(m, m.Identity(), v); !right(got, v) {
			t.Errorf("%s: Fold of %v is %v, want %v", name, v, got, want)
		}
		y := make([]T, 3)
		k.FoldRows(y, &k.Identity[0], []int64{0, 0, int64(n), int64(n)}, v)
		if !right(y[1], v) || !nearly(y[0], m.Identity()) || !nearly(y[2], m.Identity()) {
			t.Errorf("%s: FoldRows of %v is %v, want %v in the middle", name, v, y, want)
		}
		acc := []T{m.Identity(), m.Identity()}
		ci := make([]int32, n)
		for p := range ci {
			ci[p] = 1
		}
		k.Collect(acc, ci, v)
		if !right(acc[1], v) || !nearly(acc[0], m.Identity()) {
			t.Errorf("%s: Collect of %v is %v, want %v", name, v, acc, want)
		}
		if k.CollectMarked == nil {
			continue
		}
		again, marks := []T{m.Identity(), m.Identity()}, make([]uint64, 1)
		k.CollectMarked(again, marks, ci, v)
		if !nearly(again[1], acc[1]) || !nearly(again[0], m.Identity()) || marks[0] != uint64(min(n, 1))<<1 {
			t.Errorf("%s: CollectMarked of %v is %v, marks %b, want %v", name, v, again, marks, acc)
		}
	}
}

func integerLaws[T semiring.Integer](t *testing.T, typ string) {
	values := []T{0, 1, 2, 3, 5, semiring.MaxValue[T](), semiring.MinValue[T](), semiring.MaxValue[T]() / 2, semiring.MaxValue[T]() - 1, ^T(0)}
	for _, m := range []semiring.Monoid[T]{semiring.Plus[T](), semiring.Times[T](), semiring.Min[T](), semiring.Max[T](), semiring.Bor[T](), semiring.Band[T](), semiring.Bxor[T]()} {
		laws(t, typ, m, values)
	}
	monoidKernels(t, "any over "+typ, semiring.Any[T](), values)
}

func TestMonoidLaws(t *testing.T) {
	integerLaws[uint8](t, "uint8")
	integerLaws[int64](t, "int64")
	moreIntegerLaws(t)
	for _, m := range []semiring.Monoid[bool]{semiring.Lor(), semiring.Land(), semiring.Lxor(), semiring.Lxnor()} {
		laws(t, "bool", m, []bool{false, true})
	}
	monoidKernels(t, "any over bool", semiring.Any[bool](), []bool{false, true})
	inf := math.Inf(1)
	floats := []float64{0, 1, -1, 2, 4, -8, inf, -inf, math.NaN()}
	for _, m := range []semiring.Monoid[float64]{semiring.Min[float64](), semiring.Max[float64]()} {
		laws(t, "float64", m, floats)
	}
	for _, m := range []semiring.Monoid[float64]{semiring.MinNaN[float64](), semiring.MaxNaN[float64]()} {
		laws(t, "float64", m, floats)
	}
	for _, m := range []semiring.Monoid[float64]{semiring.Plus[float64](), semiring.Times[float64]()} { // exact values
		laws(t, "float64", m, []float64{0, 1, -1, 2, 4, -8, math.NaN()})
	}
}

// TestNaN: the operators, sums and products of min and max ignore NaN on either side; plus and
// times propagate it.
func TestNaN(t *testing.T) {
	nan, inf := math.NaN(), math.Inf(1)
	for _, c := range []struct {
		name   string
		got    float64
		want   float64
		reason string
	}{
		{"min(NaN, 3)", semiring.Min[float64]().Combine(nan, 3), 3, "ignored on the left"},
		{"min(3, NaN)", semiring.Min[float64]().Combine(3, nan), 3, "ignored on the right"},
		{"min(NaN, NaN)", semiring.Min[float64]().Combine(nan, nan), nan, "both are NaN"},
		{"max(NaN, 3)", semiring.Max[float64]().Combine(nan, 3), 3, "ignored on the left"},
		{"max(3, NaN)", semiring.Max[float64]().Combine(3, nan), 3, "ignored on the right"},
		{"max(NaN, −Inf)", semiring.Max[float64]().Combine(nan, -inf), -inf, "an infinity is a number"},
		{"min as ⊗", semiring.MinMax[float64]().Mul().Apply(nan, 2), 2, "max ignores NaN as a product too"},
		{"max as ⊗", semiring.MaxMin[float64]().Mul().Apply(2, nan), 2, "min ignores NaN as a product too"},
		{"min of NaN alone", folded(semiring.Min[float64](), inf, []float64{nan, nan}), inf, "the identity"},
		{"min with NaN first", folded(semiring.Min[float64](), inf, []float64{nan, 5, 4}), 4, "whatever the order"},
		{"max with NaN last", folded(semiring.Max[float64](), -inf, []float64{5, 4, nan}), 5, "whatever the order"},
		{"minnan(NaN, 3)", semiring.MinNaN[float64]().Combine(nan, 3), nan, "propagated from the left"},
		{"maxnan(3, NaN)", semiring.MaxNaN[float64]().Combine(3, nan), nan, "propagated from the right"},
		{"minnan sum", folded(semiring.MinNaN[float64](), inf, []float64{1, nan, -inf}), nan, "propagated through a fold"},
		{"minnan", semiring.MinNaN[float64]().Combine(2, 3), 2, "the minimum without NaN"},
		{"maxnan", folded(semiring.MaxNaN[float64](), -inf, []float64{2, 5, 3}), 5, "the maximum without NaN"},
		{"plus", semiring.Plus[float64]().Combine(nan, 1), nan, "propagated"},
		{"plus of infinities", semiring.Plus[float64]().Combine(inf, -inf), nan, "undefined"},
		{"times", semiring.Times[float64]().Combine(0, inf), nan, "undefined"},
		{"float32 min", float64(semiring.Min[float32]().Combine(float32(nan), 3)), 3, "as float64"},
	} {
		if c.got != c.want && !(c.got != c.got && c.want != c.want) {
			t.Errorf("%s = %v, want %v: %s", c.name, c.got, c.want, c.reason)
		}
	}
}

// TestDivision: integers do not panic, floats follow IEEE 754.
func TestDivision(t *testing.T) {
	for _, c := range []struct{ x, y, want int8 }{
		{7, 2, 3}, {-7, 2, -3}, {7, -2, -3}, {0, 5, 0}, {5, 0, 127}, {-5, 0, -128}, {0, 0, 0}, {-128, -1, -128},
	} {
		if got := semiring.Div[int8]().Apply(c.x, c.y); got != c.want {
			t.Errorf("div(%d, %d) = %d, want %d", c.x, c.y, got, c.want)
		}
		if got := semiring.Rdiv[int8]().Apply(c.y, c.x); got != c.want {
			t.Errorf("rdiv(%d, %d) = %d, want %d", c.y, c.x, got, c.want)
		}
	}
	if got := semiring.Div[uint8]().Apply(5, 0); got != 255 {
		t.Errorf("div(5, 0) of uint8 = %d, want 255", got)
	}
	if got := semiring.Minv[int32]().Apply(0); got != math.MaxInt32 {
		t.Errorf("minv(0) = %d", got)
	}
	if got := semiring.Div[float64]().Apply(-1, 0); !math.IsInf(got, -1) {
		t.Errorf("div(-1, 0) of float64 = %v", got)
	}
}

// TestOperatorsMean compares every arithmetic operator with a definition written out here.
func TestOperatorsMean(t *testing.T) {
	ints := map[string]struct {
		op semiring.BinaryOp[int32, int32, int32]
		f  func(x, y int32) int32
	}{
		"plus": {semiring.Plus[int32]().Op(), func(x, y int32) int32 { return x + y }}, "minus": {semiring.Minus[int32](), func(x, y int32) int32 { return x - y }},
		"rminus": {semiring.Rminus[int32](), func(x, y int32) int32 { return y - x }}, "times": {semiring.Times[int32]().Op(), func(x, y int32) int32 { return x * y }},
		"min": {semiring.Min[int32]().Op(), func(x, y int32) int32 { return min(x, y) }}, "max": {semiring.Max[int32]().Op(), func(x, y int32) int32 { return max(x, y) }},
		"first": {semiring.First[int32, int32](), func(x, _ int32) int32 { return x }}, "second": {semiring.Second[int32, int32](), func(_, y int32) int32 { return y }},
		"pair": {semiring.Pair[int32, int32, int32](), func(_, _ int32) int32 { return 1 }},
		"bor":  {semiring.Bor[int32]().Op(), func(x, y int32) int32 { return x | y }}, "band": {semiring.Band[int32]().Op(), func(x, y int32) int32 { return x & y }},
		"bxor": {semiring.Bxor[int32]().Op(), func(x, y int32) int32 { return x ^ y }},
	}
	tests := map[string]struct {
		op semiring.BinaryOp[int32, int32, bool]
		f  func(x, y int32) bool
	}{
		"eq": {semiring.Eq[int32](), func(x, y int32) bool { return x == y }}, "ne": {semiring.Ne[int32](), func(x, y int32) bool { return x != y }},
		"lt": {semiring.Lt[int32](), func(x, y int32) bool { return x < y }}, "le": {semiring.Le[int32](), func(x, y int32) bool { return x <= y }},
		"gt": {semiring.Gt[int32](), func(x, y int32) bool { return x > y }}, "ge": {semiring.Ge[int32](), func(x, y int32) bool { return x >= y }},
	}
	bools := map[string]struct {
		op semiring.BinaryOp[bool, bool, bool]
		f  func(x, y bool) bool
	}{
		"lor": {semiring.Lor().Op(), func(x, y bool) bool { return x || y }}, "land": {semiring.Land().Op(), func(x, y bool) bool { return x && y }},
		"lxor": {semiring.Lxor().Op(), func(x, y bool) bool { return x != y }}, "lxnor": {semiring.Lxnor().Op(), func(x, y bool) bool { return x == y }},
	}
	values := []int32{0, 1, -1, 2, 7, -8, math.MaxInt32, math.MinInt32}
	for name, c := range ints {
		agree(t, name, c.op, c.f, values, values)
	}
	for name, c := range tests {
		agree(t, name, c.op, c.f, values, values)
	}
	for name, c := range bools {
		agree(t, name, c.op, c.f, []bool{false, true}, []bool{false, true})
	}
	agree(t, "first", semiring.First[string, bool](), func(x string, _ bool) string { return x }, []string{"a", "b"}, []bool{true})
	agree(t, "pow", semiring.Pow[float64](), math.Pow, []float64{2, 0.5}, []float64{3, -1})
	agree(t, "hypot", semiring.Hypot[float64](), math.Hypot, []float64{3, 0}, []float64{4, -1})
	agree(t, "atan2", semiring.Atan2[float64](), math.Atan2, []float64{3, 0}, []float64{4, -1})
}

// agree compares an operator and each of its kernels with f. Operands that it claims not to read
// are nil.
func agree[A, B comparable, C comparable](t *testing.T, name string, op semiring.BinaryOp[A, B, C], f func(A, B) C, as []A, bs []B) {
	t.Helper()
	if op.Name() != name {
		t.Errorf("%s is called %q", name, op.Name())
	}
	k := cpu.TypedBinary[A, B, C](op.Inside().Binary)
	var a []A
	var b []B
	var want []C
	for _, x := range as {
		for _, y := range bs {
			a, b, want = append(a, x), append(b, y), append(want, f(x, y))
			if got := op.Apply(x, y); got != want[len(want)-1] {
				t.Errorf("%s(%v, %v) = %v, want %v", name, x, y, got, f(x, y))
			}
		}
	}
	n := len(want)
	equal := func(kernel string, got []C) {
		t.Helper()
		for p, x := range got {
			if x != want[p] {
				t.Errorf("%s: %s(%v, %v) = %v, want %v", name, kernel, a[p], b[p], x, want[p])
			}
		}
	}
	seenA, seenB := a, b
	if !k.UsesX {
		seenA = nil
	}
	if !k.UsesY {
		seenB = nil
	}
	if k.UsesX && k.UsesY {
		c := make([]C, n)
		k.Zip(c, a, b)
		equal("Zip", c)
	}
	if name == "first" || name == "second" || name == "pair" { // the others read both
		c := make([]C, n)
		k.Zip(c, seenA, seenB)
		equal("Zip", c)
	}
	at := make([]int32, n)
	for p := range at {
		at[p] = int32((p * 5) % n)
	}
	if n%5 != 0 {
		c := make([]C, n)
		k.ZipAt(c, at, seenA, at, seenB, at)
		equal("ZipAt", c)
	}
	for p, x := range a {
		c := make([]C, 1)
		k.BindX(c, &x, b[p:p+1])
		if c[0] != want[p] {
			t.Errorf("%s: BindX(%v, %v) = %v, want %v", name, x, b[p], c[0], want[p])
		}
		k.BindY(c, a[p:p+1], &b[p])
		if c[0] != want[p] {
			t.Errorf("%s: BindY(%v, %v) = %v, want %v", name, x, b[p], c[0], want[p])
		}
	}
}

// TestReads: the tags report the operands that they read, so that a pattern may replace the others.
func TestReads(t *testing.T) {
	for name, c := range map[string]struct {
		x, y, wantX, wantY bool
	}{
		"times":          {semiring.PlusTimes[int8]().Inside().Semiring.UsesX, semiring.PlusTimes[int8]().Inside().Semiring.UsesY, true, true},
		"first":          {semiring.PlusFirst[int8]().Inside().Semiring.UsesX, semiring.PlusFirst[int8]().Inside().Semiring.UsesY, true, false},
		"second":         {semiring.PlusSecond[int8]().Inside().Semiring.UsesX, semiring.PlusSecond[int8]().Inside().Semiring.UsesY, false, true},
		"pair":           {semiring.PlusPair[int8]().Inside().Semiring.UsesX, semiring.PlusPair[int8]().Inside().Semiring.UsesY, false, false},
		"first, flipped": {semiring.PlusFirst[int8]().Inside().Flipped.UsesX, semiring.PlusFirst[int8]().Inside().Flipped.UsesY, false, true},
		"any_second":     {semiring.AnySecond[int8]().Inside().Semiring.UsesX, semiring.AnySecond[int8]().Inside().Semiring.UsesY, false, true},
	} {
		if c.x != c.wantX || c.y != c.wantY {
			t.Errorf("%s reads x: %v, y: %v", name, c.x, c.y)
		}
	}
}

// TestInvalid: operators, monoids and semirings made of invalid parts are not Valid, and nothing
// panics.
func TestInvalid(t *testing.T) {
	none := semiring.NewBinary[int8, int8, int8]("none", nil)
	for name, valid := range map[string]bool{
		"binary": none.Valid(), "monoid": semiring.NewMonoid(none, 0).Valid(), "unary": semiring.NewUnary[int8, int8]("none", nil).Valid(),
		"index": semiring.NewIndex[int8, int8]("none", nil).Valid(), "select": semiring.NewSelect[int8]("none", nil).Valid(),
		"semiring": semiring.New(semiring.Plus[int8](), none).Valid(), "semiring of no sum": semiring.New(semiring.Monoid[int8]{}, semiring.Plus[int8]()).Valid(),
		"semiring of nil": semiring.New[int8, int8](semiring.Plus[int8](), nil).Valid(),
		"kernels":         semiring.Semiring[int8, int8, int8]{}.WithKernels(semiring.Kernels[int8, int8, int8]{}).Valid(),
	} {
		if valid {
			t.Errorf("a %s of invalid parts is valid", name)
		}
	}
	s := semiring.MinFirsti[int64](0)
	if got := s.WithKernels(semiring.Kernels[bool, bool, int64]{}).WithFlippedKernels(semiring.Kernels[bool, bool, int64]{}); got.Position() != semiring.PositionI {
		t.Error("a positional semiring loses its position")
	}
	if got := semiring.Tril[int8](math.MaxInt).Inside(); !got.Band || got.Hi+1<<31 < 0 {
		t.Error("the band of Tril overflows")
	}
}

// TestUnary compares the unary operators with their definitions.
func TestUnary(t *testing.T) {
	floats := []float64{0, 1, -1, 4, -0.5, math.Inf(1)}
	for _, c := range []struct {
		op semiring.UnaryOp[float64, float64]
		f  func(float64) float64
	}{
		{semiring.Identity[float64](), func(x float64) float64 { return x }}, {semiring.Ainv[float64](), func(x float64) float64 { return -x }},
		{semiring.Minv[float64](), func(x float64) float64 { return 1 / x }}, {semiring.Abs[float64](), math.Abs}, {semiring.OneOp[float64, float64](), func(float64) float64 { return 1 }},
		{semiring.Sqrt[float64](), math.Sqrt}, {semiring.Exp[float64](), math.Exp}, {semiring.Log[float64](), math.Log},
	} {
		got := make([]float64, len(floats))
		c.op.Inside().Map(sparse.ValuesOf(got), sparse.ValuesOf(floats))
		for p, x := range floats {
			if want := c.f(x); !nearly(got[p], want) || !nearly(c.op.Apply(x), want) {
				t.Errorf("%s(%v) = %v and %v, want %v", c.op, x, got[p], c.op.Apply(x), want)
			}
		}
	}
	if semiring.Convert[float64, int8]().Apply(-3.9) != -3 || semiring.Convert[int32, uint8]().Apply(257) != 1 {
		t.Error("convert does not truncate or wrap")
	}
	if semiring.Abs[int8]().Apply(-128) != -128 || semiring.Lnot().Apply(true) {
		t.Error("abs or lnot")
	}
}

// nearly is ==, except that NaN equals NaN and floats may differ by the rounding of another
// summation order.
func nearly[T comparable](x, y T) bool {
	v, w := reflect.ValueOf(x), reflect.ValueOf(y)
	if !v.CanFloat() {
		return x == y
	}
	a, b, tolerance := v.Float(), w.Float(), 1e-13
	if v.Type().Bits() == 32 {
		tolerance = 1e-5
	}
	return a == b || a != a && b != b || math.Abs(a-b) <= tolerance*max(1, math.Abs(a), math.Abs(b))
}
