package semiring

import (
	"math"
	"math/bits"
	"reflect"
	"unsafe"

	"github.com/hiveblas/hiveblas/internal/cpu"
	"github.com/hiveblas/hiveblas/internal/sparse"
)

// binary returns the built-in operator of tag M over A, B, C.
func binary[A, B, C Number, M mulTag](name, cuda string) *innerBinary {
	return operatorOf(binaryKernels[A, B, C, M](), name, cuda, pointerTo(mulOf[A, B, C, M]))
}

func mulOf[A, B, C Number, M mulTag](x A, y B) C { return mul[A, B, C, M](x, y) }

func binaryKernels[A, B, C Number, M mulTag]() *cpu.Binary {
	k := &cpu.BinaryOf[A, B, C]{
		Zip: func(c []C, a []A, b []B) {
			a, b = a[:len(c)], b[:len(c)]
			for p := range c {
				c[p] = mul[A, B, C, M](a[p], b[p])
			}
		},
		ZipAt: func(c []C, pc []int32, a []A, pa []int32, b []B, pb []int32) {
			if readsX[M]() {
				pa = pa[:len(pc)]
			}
			if readsY[M]() {
				pb = pb[:len(pc)]
			}
			for p, q := range pc {
				c[q] = mul[A, B, C, M](itemAt(a, pa, p, readsX[M]()), itemAt(b, pb, p, readsY[M]()))
			}
		},
		BindX: func(c []C, at *A, b []B) {
			c = c[:len(b)]
			x := *at
			for p, y := range b {
				c[p] = mul[A, B, C, M](x, y)
			}
		},
		BindY: func(c []C, a []A, at *B) {
			c = c[:len(a)]
			y := *at
			for p, x := range a {
				c[p] = mul[A, B, C, M](x, y)
			}
		},
		UsesX: readsX[M](), UsesY: readsY[M](),
	}
	return (*cpu.Binary)(unsafe.Pointer(k))
}

// itemAt is item at a position of a list.
func itemAt[T any](v []T, at []int32, p int, reads bool) (x T) {
	if reads {
		x = v[at[p]]
	}
	return x
}

// monoid returns the built-in monoid of the tag P with the binary operator op.
func monoid[T Number, P addTag](op *innerBinary) *innerMonoid {
	id, terminal := ends[T, P]()
	k := folds[T, P](id)
	k.Exact = chooses[P]() || T(1)/2 == 0
	return sumOf(k, op, terminal)
}

// ends returns the identity and the terminal value of plus, times, min or max.
func ends[T Number, P addTag]() (id T, terminal cpu.Values) {
	var o P
	switch len(o) {
	case len(addTimes{}):
		id = 1
	case len(addMin{}):
		return MaxValue[T](), one(MinValue[T]())
	case len(addMax{}):
		return MinValue[T](), one(MaxValue[T]())
	}
	return id, terminal
}

const (
	cudaPlus   = "x + y"
	cudaTimes  = "x * y"
	cudaMin    = "(y < x || x != x) ? y : x"
	cudaMax    = "(y > x || x != x) ? y : x"
	cudaFirst  = "x"
	cudaSecond = "y"
	cudaPair   = "1"
	cudaLor    = "(x != 0 || y != 0)"
	cudaLand   = "(x != 0 && y != 0)"
	cudaLxor   = "((x != 0) != (y != 0))"
	cudaEq     = "((x != 0) == (y != 0))"
	cudaMinus  = "x - y"
	cudaRminus = "y - x"
)

// Plus is addition. Its identity is 0. Integers wrap around, as in Go. A sum with a NaN, or with
// both infinities, is NaN. Like every [Monoid] it also serves as the binary operator x + y, for
// example in ops.EWiseAdd, ops.ApplySecond and as an accumulator.
func Plus[T Number]() Monoid[T] {
	return Monoid[T]{in: sumPlus.at(kindOf[T]())}
}

var sumPlus = monoidTable{make: func(k kind) *innerMonoid {
	m := plainMonoid[addPlus](k, opPlus.at(k))
	switch k {
	case kindFloat32:
		cpu.TypedMonoid[float32](m.Monoid).FoldRows = sumRows[float32]
	case kindFloat64:
		cpu.TypedMonoid[float64](m.Monoid).FoldRows = sumRows[float64]
	}
	return m
}}

var opPlus = binaryTable{make: func(k kind) *innerBinary {
	return vectorPlus(k, plainBinary[mulPlus](k, "plus", cudaPlus))
}}

// Times is multiplication. Its identity is 1. Integers wrap around. As a binary operator it is x ·
// y.
func Times[T Number]() Monoid[T] {
	return Monoid[T]{in: sumTimes.at(kindOf[T]())}
}

var sumTimes = monoidTable{make: func(k kind) *innerMonoid { return plainMonoid[addTimes](k, opTimes.at(k)) }}

var opTimes = binaryTable{make: func(k kind) *innerBinary {
	return vectorScale(k, plainBinary[mulTimes](k, "times", cudaTimes))
}}

// Min is the minimum. Its identity is +Inf, or the largest integer.
//
// Min ignores NaN on either side, as C's fmin does. A sum of terms that are all NaN is therefore
// the identity +Inf, where SuiteSparse:GraphBLAS returns NaN. As a binary operator, min(x, NaN) is
// x and min(NaN, NaN) is NaN. [MinNaN] propagates NaN.
func Min[T Number]() Monoid[T] {
	return Monoid[T]{in: sumMin.at(kindOf[T]())}
}

var sumMin = monoidTable{make: func(k kind) *innerMonoid { return monoidOf[addMin](k, opMin.at(k)) }}

var opMin = binaryTable{make: func(k kind) *innerBinary {
	return binaryOf[mulMin](k, "min", cudaMin)
}}

// Max is the maximum. Its identity is −Inf, or the smallest integer. It treats NaN as [Min] does: a
// sum of terms that are all NaN is −Inf. [MaxNaN] propagates NaN.
func Max[T Number]() Monoid[T] {
	return Monoid[T]{in: sumMax.at(kindOf[T]())}
}

var sumMax = monoidTable{make: func(k kind) *innerMonoid { return monoidOf[addMax](k, opMax.at(k)) }}

var opMax = binaryTable{make: func(k kind) *innerBinary {
	return binaryOf[mulMax](k, "max", cudaMax)
}}

// MinNaN is the minimum that propagates NaN: a sum with a NaN among its terms is NaN, as with Go's
// built-in min. Its identity is +Inf. Its loops test every value for NaN, so it takes longer than
// [Min]. New(MinNaN[float64](), Plus[float64]()) is MinPlus that reports invalid weights.
func MinNaN[T Float]() Monoid[T] {
	m := newMonoid(newBinary("minnan", func(x, y T) T { return min(x, y) }, "(x != x || x < y) ? x : y"), MaxValue[T]())
	k := cpu.TypedMonoid[T](m.Monoid)
	k.Exact = true
	k.Fold = func(s *T, xs []T) { *s = FoldFn(*s, xs, func(x, y T) T { return min(x, y) }) }
	k.Collect = func(acc []T, ci []int32, v []T) { CollectFn(acc, ci, v, func(x, y T) T { return min(x, y) }) }
	return Monoid[T]{in: m}
}

// MaxNaN is the maximum that propagates NaN; see [MinNaN]. Its identity is −Inf.
func MaxNaN[T Float]() Monoid[T] {
	m := newMonoid(newBinary("maxnan", func(x, y T) T { return max(x, y) }, "(x != x || x > y) ? x : y"), MinValue[T]())
	k := cpu.TypedMonoid[T](m.Monoid)
	k.Exact = true
	k.Fold = func(s *T, xs []T) { *s = FoldFn(*s, xs, func(x, y T) T { return max(x, y) }) }
	k.Collect = func(acc []T, ci []int32, v []T) { CollectFn(acc, ci, v, func(x, y T) T { return max(x, y) }) }
	return Monoid[T]{in: m}
}

// Lor is the logical or. Its identity is false, its terminal true.
func Lor() Monoid[bool] {
	op := operatorOf(binaryKernels[uint8, uint8, uint8, mulMax](), "lor", cudaLor, pointerTo(func(x, y bool) bool { return x || y }))
	return Monoid[bool]{in: boolMonoid[addLor](false, op).withTerminal(one(true))}
}

// Land is the logical and. Its identity is true, its terminal false.
func Land() Monoid[bool] {
	op := operatorOf(binaryKernels[uint8, uint8, uint8, mulTimes](), "land", cudaLand, pointerTo(func(x, y bool) bool { return x && y }))
	return Monoid[bool]{in: boolMonoid[addTimes](true, op).withTerminal(one(false))}
}

// Lxor is the exclusive or. Its identity is false.
func Lxor() Monoid[bool] {
	return Monoid[bool]{in: boolMonoid[addLxor](false, newBinary("lxor", func(x, y bool) bool { return x != y }, cudaLxor))}
}

// Lxnor is the equality of truth values (the monoid "eq" of the C API). Its identity is true.
func Lxnor() Monoid[bool] {
	return Monoid[bool]{in: exact(newMonoid(newBinary("lxnor", func(x, y bool) bool { return x == y }, cudaEq), true))}
}

// boolMonoid returns the monoid of tag P over the bytes 0 and 1, which a Go bool is.
func boolMonoid[P addTag](identity bool, op *innerBinary) *innerMonoid {
	k := folds[uint8, P](b2u(identity))
	k.Exact = true
	return sumOf(k, op, cpu.Values{})
}

// exact returns m, marked as a monoid with equal sums in any order.
func exact(m *innerMonoid) *innerMonoid {
	m.Exact = true
	return m
}

// Any returns either operand, whichever costs less to find: for sums of equal terms, or where any
// witness serves. Its identity is the zero value and never appears in a result.
func Any[T any]() Monoid[T] {
	return Monoid[T]{in: once[keyAny[T]](newAny[T])}
}

func newAny[T any]() *innerMonoid {
	m := newMonoid(newBinary("any", func(_, y T) T { return y }, "y"), *new(T))
	m.Any = true
	cpu.TypedMonoid[T](m.Monoid).Fold = func(s *T, xs []T) {
		if len(xs) > 0 {
			*s = xs[0]
		}
	}
	return m
}

// Bor is the bitwise or of integers. Its identity is 0.
func Bor[T Integer]() Monoid[T] {
	return Monoid[T]{in: exact(newMonoid(newBinary("bor", func(x, y T) T { return x | y }, "x | y"), T(0)))}
}

// Band is the bitwise and of integers. Its identity has all bits set.
func Band[T Integer]() Monoid[T] {
	return Monoid[T]{in: exact(newMonoid(newBinary("band", func(x, y T) T { return x & y }, "x & y"), ^T(0)))}
}

// Bxor is the bitwise exclusive or of integers. Its identity is 0.
func Bxor[T Integer]() Monoid[T] {
	return Monoid[T]{in: exact(newMonoid(newBinary("bxor", func(x, y T) T { return x ^ y }, "x ^ y"), T(0)))}
}

// First returns x.
func First[A comparable, B any]() BinaryOp[A, B, A] {
	return BinaryOp[A, B, A]{in: once[keyFirst[A, B]](newFirst[A, B])}
}

func newFirst[A comparable, B any]() *innerBinary {
	op := newBinary("first", func(x A, _ B) A { return x }, cudaFirst)
	k := cpu.TypedBinary[A, B, A](op.Binary)
	k.UsesY = false
	k.ZipAt = func(c []A, pc []int32, a []A, pa []int32, _ []B, _ []int32) {
		pa = pa[:len(pc)]
		for p, q := range pc {
			c[q] = a[pa[p]]
		}
	}
	k.Zip = func(c []A, a []A, _ []B) { copy(c, a[:len(c)]) }
	return op
}

// Second returns y.
func Second[A any, B comparable]() BinaryOp[A, B, B] {
	return BinaryOp[A, B, B]{in: once[keySecond[A, B]](newSecond[A, B])}
}

func newSecond[A any, B comparable]() *innerBinary {
	op := newBinary("second", func(_ A, y B) B { return y }, cudaSecond)
	k := cpu.TypedBinary[A, B, B](op.Binary)
	k.UsesX = false
	k.ZipAt = func(c []B, pc []int32, _ []A, _ []int32, b []B, pb []int32) {
		pb = pb[:len(pc)]
		for p, q := range pc {
			c[q] = b[pb[p]]
		}
	}
	k.Zip = func(c []B, _ []A, b []B) { copy(c, b[:len(c)]) }
	return op
}

// Pair returns 1 (true) for all operands ("oneb" in the C API).
func Pair[A, B any, C Element]() BinaryOp[A, B, C] {
	return BinaryOp[A, B, C]{in: once[keyPair[A, B, C]](newPair[A, B, C])}
}

func newPair[A, B any, C Element]() *innerBinary {
	one := One[C]()
	op := newBinary("pair", func(A, B) C { return one }, cudaPair)
	k := cpu.TypedBinary[A, B, C](op.Binary)
	k.UsesX, k.UsesY = false, false
	k.ZipAt = func(c []C, pc []int32, _ []A, _ []int32, _ []B, _ []int32) {
		for _, q := range pc {
			c[q] = one
		}
	}
	k.Zip = func(c []C, _ []A, _ []B) {
		for p := range c {
			c[p] = one
		}
	}
	return op
}

// Minus returns x − y.
func Minus[T Number]() BinaryOp[T, T, T] {
	return BinaryOp[T, T, T]{in: opMinus.at(kindOf[T]())}
}

var opMinus = binaryTable{make: func(k kind) *innerBinary {
	return plainBinary[mulMinus](k, "minus", cudaMinus)
}}

// Rminus returns y − x.
func Rminus[T Number]() BinaryOp[T, T, T] {
	return BinaryOp[T, T, T]{in: once[keyRminus[T]](func() *innerBinary {
		return newBinary("rminus", func(x, y T) T { return y - x }, cudaRminus)
	})}
}

// Div returns x / y. Integer division truncates. Instead of a panic, integer division by zero
// returns the largest integer for x > 0, the smallest for x < 0 and 0 for x = 0, as
// SuiteSparse:GraphBLAS does.
func Div[T Number]() BinaryOp[T, T, T] {
	return BinaryOp[T, T, T]{in: once[keyDiv[T]](func() *innerBinary { return newBinary("div", div[T], "hb_div(x, y)") })}
}

// Rdiv returns y / x; see [Div].
func Rdiv[T Number]() BinaryOp[T, T, T] {
	return BinaryOp[T, T, T]{in: newBinary("rdiv", func(x, y T) T { return div(y, x) }, "hb_div(y, x)")}
}

func div[T Number](x, y T) T {
	if y == 0 && isInteger[T]() {
		switch {
		case x > 0:
			return MaxValue[T]()
		case x < 0:
			return MinValue[T]()
		}
		return 0
	}
	return x / y
}

func isInteger[T Number]() bool { return T(1)/2 == 0 }

// Pow returns x to the power y, in floats computed in float64. A power of integers is exact, and
// the largest or smallest integer where it is beyond that, as is 0 to a negative power; other
// negative powers are truncated: 2 to −1 is 0.
func Pow[T Number]() BinaryOp[T, T, T] {
	return BinaryOp[T, T, T]{in: once[keyPow[T]](func() *innerBinary {
		if !isInteger[T]() {
			return newBinary("pow", func(x, y T) T { return T(math.Pow(float64(x), float64(y))) }, "pow((double)x, (double)y)")
		}
		most, least := MaxValue[T](), MinValue[T]()
		return newBinary("pow", func(x, y T) T { return powInt(x, y, most, least) }, "hb_pow(x, y)")
	})}
}

// powInt is Pow of integers. The largest and smallest values of the type are given.
func powInt[T Number](x, y, most, least T) T {
	odd := uint64(y)&1 != 0
	size := uint64(x) // |x|
	if x < 0 {
		size = -size
	}
	if y < 0 {
		switch {
		case x == 0:
			return most
		case size != 1:
			return 0
		}
		y = T(uint64(y) & 1)
	}
	limit, negative := uint64(most), x < 0 && odd
	if negative {
		limit = -uint64(least)
	}
	power, ok := powLimited(size, uint64(y), limit)
	switch {
	case ok && negative:
		return T(-power)
	case ok:
		return T(power)
	case negative:
		return least
	}
	return most
}

// powLimited returns x to the power n, unless it is above limit.
func powLimited(x, n, limit uint64) (p uint64, ok bool) {
	for p = 1; n > 0; {
		if n&1 != 0 {
			hi, lo := bits.Mul64(p, x)
			if p = lo; hi != 0 || lo > limit {
				return 0, false
			}
		}
		if n >>= 1; n > 0 {
			hi, lo := bits.Mul64(x, x)
			if x = lo; hi != 0 { // a further factor is at least x²
				return 0, false
			}
		}
	}
	return p, true
}

// Hypot returns √(x² + y²) without intermediate overflow.
func Hypot[T Float]() BinaryOp[T, T, T] {
	return BinaryOp[T, T, T]{in: newBinary("hypot", func(x, y T) T { return T(math.Hypot(float64(x), float64(y))) }, "hypot(x, y)")}
}

// Atan2 returns the angle of the point (y, x), as math.Atan2(x, y).
func Atan2[T Float]() BinaryOp[T, T, T] {
	return BinaryOp[T, T, T]{in: newBinary("atan2", func(x, y T) T { return T(math.Atan2(float64(x), float64(y))) }, "atan2(x, y)")}
}

// Eq reports x = y.
func Eq[T comparable]() BinaryOp[T, T, bool] {
	return BinaryOp[T, T, bool]{in: newBinary("eq", func(x, y T) bool { return x == y }, "x == y")}
}

// Ne reports x ≠ y.
func Ne[T comparable]() BinaryOp[T, T, bool] {
	return BinaryOp[T, T, bool]{in: newBinary("ne", func(x, y T) bool { return x != y }, "x != y")}
}

// comparing gives a comparison of numbers the loops of predicates on values for a bound argument: x
// of a bound first one, y of a bound second one.
func comparing(op *innerBinary, k kind, x, y func(k kind, y cpu.Value) keepFunc) *innerBinary {
	op.BindX = func(c cpu.Values, at cpu.Value, v cpu.Values) {
		x(k, at)(sparse.SliceOf[uint8](c), v, 0, nil, 0, false)
	}
	op.BindY = func(c, v cpu.Values, at cpu.Value) {
		y(k, at)(sparse.SliceOf[uint8](c), v, 0, nil, 0, false)
	}
	return op
}

// Lt reports x < y.
func Lt[T Number]() BinaryOp[T, T, bool] {
	op := newBinary("lt", func(x, y T) bool { return x < y }, "x < y")
	return BinaryOp[T, T, bool]{in: comparing(op, kindOf[T](), loopGT, loopLT)}
}

// Le reports x ≤ y.
func Le[T Number]() BinaryOp[T, T, bool] {
	op := newBinary("le", func(x, y T) bool { return x <= y }, "x <= y")
	return BinaryOp[T, T, bool]{in: comparing(op, kindOf[T](), loopGE, loopLE)}
}

// Gt reports x > y.
func Gt[T Number]() BinaryOp[T, T, bool] {
	op := newBinary("gt", func(x, y T) bool { return x > y }, "x > y")
	return BinaryOp[T, T, bool]{in: comparing(op, kindOf[T](), loopLT, loopGT)}
}

// Ge reports x ≥ y.
func Ge[T Number]() BinaryOp[T, T, bool] {
	op := newBinary("ge", func(x, y T) bool { return x >= y }, "x >= y")
	return BinaryOp[T, T, bool]{in: comparing(op, kindOf[T](), loopLE, loopGE)}
}

// MaxValue returns +Inf for floats and the largest value of an integer type.
func MaxValue[T Number]() T {
	var x T
	v := reflect.ValueOf(&x).Elem()
	switch {
	case v.CanFloat():
		v.SetFloat(math.Inf(1))
	case v.CanInt():
		v.SetInt(1<<(v.Type().Bits()-1) - 1)
	default:
		v.SetUint(1<<v.Type().Bits() - 1)
	}
	return x
}

// MinValue returns −Inf for floats and the smallest value of an integer type.
func MinValue[T Number]() T {
	var x T
	v := reflect.ValueOf(&x).Elem()
	switch {
	case v.CanFloat():
		v.SetFloat(math.Inf(-1))
	case v.CanInt():
		v.SetInt(-1 << (v.Type().Bits() - 1))
	}
	return x
}

// One returns 1, or true.
func One[T Element]() T {
	var x T
	v := reflect.ValueOf(&x).Elem()
	switch {
	case v.CanFloat():
		v.SetFloat(1)
	case v.CanInt():
		v.SetInt(1)
	case v.CanUint():
		v.SetUint(1)
	default:
		v.SetBool(true)
	}
	return x
}
