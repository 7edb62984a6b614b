package semiring_test

import (
	"reflect"
	"testing"
	"unsafe"

	"github.com/hiveblas/hiveblas/internal/cpu"
	"github.com/hiveblas/hiveblas/semiring"
)

type (
	weight float64
	count  int32
	word   uint
)

// TestKindOf: types of one kind, named ones and types of the same size, share operators, and other
// types do not.
func TestKindOf(t *testing.T) {
	sums, pairs := map[*cpu.Sum]string{}, map[*cpu.Ring]string{}
	newKind[int8](t, sums, pairs)
	newKind[int16](t, sums, pairs)
	newKind[int32](t, sums, pairs)
	newKind[int64](t, sums, pairs)
	newKind[uint8](t, sums, pairs)
	newKind[uint16](t, sums, pairs)
	newKind[uint32](t, sums, pairs)
	newKind[uint64](t, sums, pairs)
	newKind[float32](t, sums, pairs)
	newKind[float64](t, sums, pairs)
	sameKind[weight, float64](t)
	sameKind[count, int32](t)
	if unsafe.Sizeof(int(0)) == 4 {
		sameKind[int, int32](t)
		sameKind[uint, uint32](t)
	} else {
		sameKind[int, int64](t)
		sameKind[uint, uint64](t)
	}
	sameKind[uintptr, uint](t)
	sameKind[word, uint](t)
	if semiring.AnyPair[bool]().Inside() != semiring.AnyPair[uint8]().Inside() {
		t.Error("bool and uint8 share no AnyPair")
	}
}

func newKind[T semiring.Number](t *testing.T, sums map[*cpu.Sum]string, pairs map[*cpu.Ring]string) {
	t.Helper()
	name, sum, pair := reflect.TypeFor[T]().String(), semiring.Min[T]().Inside(), semiring.AnyPair[T]().Inside()
	if sums[sum] != "" || pairs[pair] != "" {
		t.Errorf("%s shares Min with %q and AnyPair with %q", name, sums[sum], pairs[pair])
	}
	sums[sum], pairs[pair] = name, name
	if got, want := semiring.Min[T]().Identity(), semiring.MaxValue[T](); got != want {
		t.Errorf("the identity of min of %s is %v, want %v", name, got, want)
	}
}

func sameKind[T, U semiring.Number](t *testing.T) {
	t.Helper()
	if semiring.Min[T]().Inside() != semiring.Min[U]().Inside() || semiring.AnyPair[T]().Inside() != semiring.AnyPair[U]().Inside() {
		t.Errorf("%v and %v share no operators", reflect.TypeFor[T](), reflect.TypeFor[U]())
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

func computes[T semiring.Number](t *testing.T) {
	for _, s := range []semiring.Semiring[T, T, T]{
		semiring.PlusTimes[T](), semiring.MinPlus[T](), semiring.MaxPlus[T](), semiring.MinTimes[T](), semiring.MaxTimes[T](), semiring.MinMax[T](), semiring.MaxMin[T](),
		semiring.PlusMin[T](), semiring.PlusMax[T](), semiring.PlusPlus[T](), semiring.PlusMinus[T](),
	} {
		checks(t, s)
	}
	for _, s := range []semiring.Semiring[T, bool, T]{semiring.PlusFirst[T](), semiring.MinFirst[T](), semiring.MaxFirst[T](), semiring.TimesFirst[T]()} {
		checks(t, s)
	}
	for _, s := range []semiring.Semiring[bool, T, T]{semiring.PlusSecond[T](), semiring.MinSecond[T](), semiring.MaxSecond[T](), semiring.TimesSecond[T]()} {
		checks(t, s)
	}
	for _, s := range []semiring.Semiring[bool, bool, T]{
		semiring.PlusPair[T](), semiring.AnyPair[T](), semiring.AnyFirsti(T(1)), semiring.AnySecondj(T(3)), semiring.MinSecondi(T(0)), semiring.MaxSecondi(T(2)),
	} {
		checks(t, s)
	}
	x, y := T(7), T(0)
	y-- // the largest unsigned number
	if got, want := semiring.Minus[T]().Apply(y, x), y-x; got != want {
		t.Errorf("minus of %v: %v, want %v", reflect.TypeFor[T](), got, want)
	}
	for _, op := range []struct {
		semiring.SelectOp[T]
		keeps bool
	}{{semiring.ValueLT(x), y < x}, {semiring.ValueLE(x), y <= x}, {semiring.ValueGT(x), y > x}, {semiring.ValueGE(x), y >= x}} {
		if op.Keep(y, 0, 0) != op.keeps {
			t.Errorf("%v %v of %v is kept: %v, want %v", op, x, y, !op.keeps, op.keeps)
		}
		if bound, ok := op.Bound(); !ok || bound != x {
			t.Errorf("%v: bound %v, %v, want %v", op, bound, ok, x)
		}
	}
}

func checks[A, B, C any](t *testing.T, s semiring.Semiring[A, B, C]) {
	t.Helper()
	if err := semiring.Check(s, semiring.CheckOptions[A, B, C]{Rounds: 40}); err != nil {
		t.Errorf("%v: %v", reflect.TypeFor[C](), err)
	}
}

// TestTypesStayDistinct: an operator over some types does not convert to one over others, although
// all are one pointer.
func TestTypesStayDistinct(t *testing.T) {
	for name, pair := range map[string][2]any{
		"Semiring": {semiring.PlusTimes[float64](), semiring.PlusTimes[int64]()},
		"operands": {semiring.PlusFirst[float64](), semiring.PlusSecond[float64]()},
		"Monoid":   {semiring.Plus[float64](), semiring.Plus[weight]()},
		"BinaryOp": {semiring.Minus[float64](), semiring.Minus[float32]()},
		"UnaryOp":  {semiring.Abs[float64](), semiring.Abs[float32]()},
		"IndexOp":  {semiring.RowIndex[bool](int64(0)), semiring.RowIndex[float64](int64(0))},
		"SelectOp": {semiring.Tril[float64](0), semiring.Tril[bool](0)},
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
	var s semiring.Semiring[int, int, int]
	var m semiring.Monoid[int]
	var op semiring.BinaryOp[int, int, int]
	var u semiring.UnaryOp[int, int]
	var at semiring.IndexOp[int, int]
	var keep semiring.SelectOp[int]
	for name, valid := range map[string]bool{
		"Semiring": s.Valid(), "Named": s.Named("x").Valid(), "WithKernels": s.WithKernels(semiring.Kernels[int, int, int]{}).Valid(),
		"WithFlippedKernels": s.WithFlippedKernels(semiring.Kernels[int, int, int]{}).Valid(), "Add": s.Add().Valid(), "Mul": s.Mul().Valid(),
		"Monoid": m.Valid(), "WithTerminal": m.WithTerminal(1).Valid(), "Op": m.Op().Valid(), "BinaryOp": op.Valid(),
		"UnaryOp": u.Valid(), "IndexOp": at.Valid(), "SelectOp": keep.Valid(), "New": semiring.New(m, op).Valid(),
		"New of nil": semiring.New[int, int, int](semiring.Plus[int](), nil).Valid(), "NewMonoid": semiring.NewMonoid(op, 1).Valid(),
		"NewBinary": semiring.NewBinary[int, int, int]("f", nil).Valid(), "NewUnary": semiring.NewUnary[int, int]("f", nil).Valid(),
		"NewIndex": semiring.NewIndex[int, int]("f", nil).Valid(), "NewSelect": semiring.NewSelect[int]("f", nil).Valid(),
		"NewIndexBinary": semiring.NewIndexBinary[int, int, int]("f", nil).Valid(), "WithMap": u.WithMap(func(c, a []int) {}).Valid(),
	} {
		if valid {
			t.Errorf("%s of a zero value or of nil is valid", name)
		}
	}
	got := []any{
		s.Name(), s.String(), s.Position(), s.Inside(), m.Name(), m.CUDA(), m.Identity(), m.IsAny(), m.Combine(1, 2), m.Inside(), op.Inside(),
		op.Name(), op.CUDA(), op.Apply(1, 2), op.ApplyAt(1, 2, 3, 4, 5), op.Position(), u.Name(), u.CUDA(), u.Apply(1),
		at.Name(), at.CUDA(), at.Apply(1, 2, 3), at.UsesValue(), keep.Name(), keep.CUDA(), keep.Keep(1, 2, 3), semiring.NewUnary[int, int]("", nil).Apply(3),
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
