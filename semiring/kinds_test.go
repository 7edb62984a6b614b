package semiring

import (
	"reflect"
	"testing"
	"unsafe"
)

type (
	weight float64
	count  int32
	word   uint
)

// TestKindOf: kindOf finds the kind of built-in and named types, and kindOfType agrees.
func TestKindOf(t *testing.T) {
	testKind[int8](t, kindInt8)
	testKind[int16](t, kindInt16)
	testKind[int32](t, kindInt32)
	testKind[int64](t, kindInt64)
	testKind[uint8](t, kindUint8)
	testKind[uint16](t, kindUint16)
	testKind[uint32](t, kindUint32)
	testKind[uint64](t, kindUint64)
	testKind[float32](t, kindFloat32)
	testKind[float64](t, kindFloat64)
	testKind[weight](t, kindFloat64)
	testKind[count](t, kindInt32)
	signed, unsigned := kindInt64, kindUint64
	if unsafe.Sizeof(int(0)) == 4 {
		signed, unsigned = kindInt32, kindUint32
	}
	testKind[int](t, signed)
	testKind[uint](t, unsigned)
	testKind[uintptr](t, unsigned)
	testKind[word](t, unsigned)
	if k := elementKind[bool](); k != kindUint8 {
		t.Errorf("elementKind of bool is %d, want that of uint8", k)
	}
}

func testKind[T Number](t *testing.T, want kind) {
	t.Helper()
	if k := kindOf[T](); k != want {
		t.Errorf("kindOf[%v] is %d, want %d", reflect.TypeFor[T](), k, want)
	}
	if k := elementKind[T](); k != want {
		t.Errorf("elementKind[%v] is %d, want %d", reflect.TypeFor[T](), k, want)
	}
}

// TestKindsCompute: the loops of each kind compute what their operators do, for types that share
// loops too.
func TestKindsCompute(t *testing.T) {
	computes[int16](t)
	computes[int](t)
	computes[uint8](t)
	computes[uint32](t)
	computes[float32](t)
	computes[weight](t)
	computesMore(t)
}

func computes[T Number](t *testing.T) {
	for _, s := range []Semiring[T, T, T]{
		PlusTimes[T](), MinPlus[T](), MaxPlus[T](), MinTimes[T](), MaxTimes[T](), MinMax[T](), MaxMin[T](),
		PlusMin[T](), PlusMax[T](), PlusPlus[T](), PlusMinus[T](),
	} {
		checks(t, s)
	}
	for _, s := range []Semiring[T, bool, T]{PlusFirst[T](), MinFirst[T](), MaxFirst[T](), TimesFirst[T]()} {
		checks(t, s)
	}
	for _, s := range []Semiring[bool, T, T]{PlusSecond[T](), MinSecond[T](), MaxSecond[T](), TimesSecond[T]()} {
		checks(t, s)
	}
	for _, s := range []Semiring[bool, bool, T]{
		PlusPair[T](), AnyPair[T](), AnyFirsti(T(1)), AnySecondj(T(3)), MinSecondi(T(0)), MaxSecondi(T(2)),
	} {
		checks(t, s)
	}
	x, y := T(7), T(0)
	y-- // the largest unsigned number
	if got, want := Minus[T]().Apply(y, x), y-x; got != want {
		t.Errorf("minus of %v: %v, want %v", reflect.TypeFor[T](), got, want)
	}
	for _, op := range []struct {
		SelectOp[T]
		keeps bool
	}{{ValueLT(x), y < x}, {ValueLE(x), y <= x}, {ValueGT(x), y > x}, {ValueGE(x), y >= x}} {
		if op.Keep(y, 0, 0) != op.keeps {
			t.Errorf("%v %v of %v is kept: %v, want %v", op, x, y, !op.keeps, op.keeps)
		}
		if bound, ok := op.Bound(); !ok || bound != x {
			t.Errorf("%v: bound %v, %v, want %v", op, bound, ok, x)
		}
	}
}

func checks[A, B, C any](t *testing.T, s Semiring[A, B, C]) {
	t.Helper()
	if err := Check(s, CheckOptions[A, B, C]{Rounds: 40}); err != nil {
		t.Errorf("%v: %v", reflect.TypeFor[C](), err)
	}
}

// TestTypesStayDistinct: an operator over some types does not convert to one over others, although
// all are one pointer.
func TestTypesStayDistinct(t *testing.T) {
	for name, pair := range map[string][2]any{
		"Semiring": {PlusTimes[float64](), PlusTimes[int64]()},
		"operands": {PlusFirst[float64](), PlusSecond[float64]()},
		"Monoid":   {Plus[float64](), Plus[weight]()},
		"BinaryOp": {Minus[float64](), Minus[float32]()},
		"UnaryOp":  {Abs[float64](), Abs[float32]()},
		"IndexOp":  {RowIndex[bool](int64(0)), RowIndex[float64](int64(0))},
		"SelectOp": {Tril[float64](0), Tril[bool](0)},
	} {
		a, b := reflect.TypeOf(pair[0]), reflect.TypeOf(pair[1])
		if a.ConvertibleTo(b) {
			t.Errorf("%s: %v converts to %v", name, a, b)
		}
		if a.Size() != unsafe.Sizeof(uintptr(0)) {
			t.Errorf("%s: %v has %d bytes, want those of a pointer", name, a, a.Size())
		}
	}
}

// TestZeroOperators: zero values and operators of nil functions are not valid, and no method
// panics.
func TestZeroOperators(t *testing.T) {
	var s Semiring[int, int, int]
	var m Monoid[int]
	var op BinaryOp[int, int, int]
	var u UnaryOp[int, int]
	var at IndexOp[int, int]
	var keep SelectOp[int]
	for name, valid := range map[string]bool{
		"Semiring": s.Valid(), "Named": s.Named("x").Valid(), "WithKernels": s.WithKernels(Kernels[int, int, int]{}).Valid(),
		"WithFlippedKernels": s.WithFlippedKernels(Kernels[int, int, int]{}).Valid(), "Add": s.Add().Valid(), "Mul": s.Mul().Valid(),
		"Monoid": m.Valid(), "WithTerminal": m.WithTerminal(1).Valid(), "Op": m.Op().Valid(), "BinaryOp": op.Valid(),
		"UnaryOp": u.Valid(), "IndexOp": at.Valid(), "SelectOp": keep.Valid(), "New": New(m, op).Valid(),
		"New of nil": New[int, int, int](Plus[int](), nil).Valid(), "NewMonoid": NewMonoid(op, 1).Valid(),
		"NewBinary": NewBinary[int, int, int]("f", nil).Valid(), "NewUnary": NewUnary[int, int]("f", nil).Valid(),
		"NewIndex": NewIndex[int, int]("f", nil).Valid(), "NewSelect": NewSelect[int]("f", nil).Valid(),
		"NewIndexBinary": NewIndexBinary[int, int, int]("f", nil).Valid(), "WithMap": u.WithMap(func(c, a []int) {}).Valid(),
	} {
		if valid {
			t.Errorf("%s of a zero value or of nil is valid", name)
		}
	}
	got := []any{
		s.Name(), s.String(), s.Position(), s.Inside(), m.Name(), m.CUDA(), m.Identity(), m.IsAny(), m.Combine(1, 2), m.TerminalInside().None(),
		op.Name(), op.CUDA(), op.Apply(1, 2), op.ApplyAt(1, 2, 3, 4, 5), op.Position(), u.Name(), u.CUDA(), u.Apply(1),
		at.Name(), at.CUDA(), at.Apply(1, 2, 3), at.UsesValue(), keep.Name(), keep.CUDA(), keep.Keep(1, 2, 3), NewUnary[int, int]("", nil).Apply(3),
	}
	for p, v := range got {
		if x := reflect.ValueOf(v); !x.IsZero() && v != true {
			t.Errorf("value %d of a zero operator is %v", p, v)
		}
	}
	if _, ok := m.Terminal(); ok {
		t.Error("a zero monoid has a terminal value")
	}
	if _, ok := keep.Bound(); ok {
		t.Error("a zero predicate has a bound")
	}
}
