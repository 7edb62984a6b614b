package semiring

// The length of an array type, a tag, selects a built-in operator over numbers. len of a variable
// of a type parameter is a constant in each stencilled instance, so the switch folds away and the
// operator costs as much as a hand-written one. Go never inlines methods and closures there, which
// makes an edge of SpMV five times slower.
//
// The cases must stay few: Go inlines functions of at most 80 nodes, counted before folding.
// TestOperatorsInline verifies that add and mul inline.

// Integer is any Go integer type.
type Integer interface {
	~int | ~int8 | ~int16 | ~int32 | ~int64 | ~uint | ~uint8 | ~uint16 | ~uint32 | ~uint64 | ~uintptr
}

// Float is any Go floating-point type.
type Float interface{ ~float32 | ~float64 }

// Number is any Go integer or floating-point type.
type Number interface{ Integer | Float }

// Element is any type with built-in operators: numbers and bool.
type Element interface{ Number | ~bool }

type (
	addTag interface {
		[0]struct{} | [1]struct{} | [2]struct{} | [3]struct{} | [4]struct{} | [5]struct{}
	}
	addPlus  = [0]struct{}
	addTimes = [1]struct{} // and land, over the bytes 0 and 1
	addMin   = [2]struct{}
	addLxor  = [3]struct{} // over the bytes 0 and 1
	addMax   = [4]struct{}
	addLor   = [5]struct{} // max over the bytes 0 and 1, settled by 1
)

// add is the monoid operator of tag O in sums. x is the sum so far. It starts from the identity and
// is never NaN, because min and max ignore a NaN in y. The built-in min and max compile without a
// branch on the data.
func add[T Number, O addTag](x, y T) T {
	var o O
	switch len(o) {
	case 0:
		return x + y
	case 1:
		return x * y
	case 2:
		if y != y {
			return x
		}
		return min(x, y)
	case 3:
		return x + y - 2*x*y
	}
	if y != y {
		return x
	}
	return max(x, y)
}

// chooses reports whether a sum is one of its operands: min and max.
func chooses[O addTag]() bool {
	var o O
	return len(o) == 2 || len(o) == 4
}

// better reports whether x replaces the minimum or maximum y. NaN never does.
func better[T Number, O addTag](x, y T) bool {
	var o O
	if len(o) == 2 {
		return x < y
	}
	return x > y
}

// settled reports whether s is final under the monoid of tag O, for the monoid where the test pays:
// the logical or.
func settled[T Number, O addTag](s T) bool {
	var o O
	return len(o) == 5 && s != 0
}

// start returns the start of a further partial sum: the identity of plus, times and lxor.
func start[T Number, O addTag]() T {
	var o O
	if len(o) == 1 {
		return 1
	}
	return 0
}

type (
	mulTag interface {
		[0]struct{} | [1]struct{} | [2]struct{} | [3]struct{} | [4]struct{} | [5]struct{} | [6]struct{} | [7]struct{}
	}
	mulTimes  = [0]struct{} // and land, over the bytes 0 and 1
	mulPlus   = [1]struct{}
	mulFirst  = [2]struct{}
	mulSecond = [3]struct{}
	mulPair   = [4]struct{}
	mulMinus  = [5]struct{}
	mulMin    = [6]struct{}
	mulMax    = [7]struct{} // and lor, over the bytes 0 and 1
)

// mul is the binary operator of tag O.
func mul[A, B, C Number, O mulTag](x A, y B) C {
	var o O
	switch len(o) {
	case 0:
		return C(x) * C(y)
	case 1:
		return C(x) + C(y)
	case 3:
		return C(y)
	case 4:
		return 1
	case 5:
		return C(x) - C(y)
	case 6:
		if C(y) < C(x) || x != x {
			return C(y)
		}
	case 7:
		if C(y) > C(x) || x != x {
			return C(y)
		}
	}
	return C(x)
}

// readsX and readsY report whether the operator of tag O reads its operands.
func readsX[O mulTag]() bool {
	var o O
	return len(o) != 3 && len(o) != 4
}

func readsY[O mulTag]() bool {
	var o O
	return len(o) != 2 && len(o) != 4
}
