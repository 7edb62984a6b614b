package semiring

import (
	"math"
	"unsafe"

	"github.com/hiveblas/hiveblas/internal/cpu"
	"github.com/hiveblas/hiveblas/internal/sparse"
)

// bound returns the semiring of two operators and its loops.
//
//go:noinline
func bound(add *innerMonoid, mul *innerBinary, k, flip cpu.Kernels) *innerRing {
	s := unbound(add, mul)
	s.Semiring = shell(k, add.Monoid, add.Any, mul.UsesX, mul.UsesY)
	s.Flipped = shell(flip, add.Monoid, add.Any, mul.UsesY, mul.UsesX)
	return s
}

// commuting returns the semiring of a commutative ⊗ and its loops.
//
//go:noinline
func commuting(add *innerMonoid, mul *innerBinary, k cpu.Kernels) *innerRing {
	return bound(add, mul, k, k)
}

// PlusTimes is the semiring of arithmetic.
func PlusTimes[T Number]() Semiring[T, T, T] {
	return Semiring[T, T, T]{in: plusTimes.at(kindOf[T]())}
}

var plusTimes = ringTable{make: func(k kind) *innerRing {
	return commuting(sumPlus.at(k), opTimes.at(k), plusTimesKernels(k))
}}

// MinPlus is the tropical semiring, for shortest paths.
func MinPlus[T Number]() Semiring[T, T, T] {
	return Semiring[T, T, T]{in: minPlus.at(kindOf[T]())}
}

var minPlus = ringTable{make: func(k kind) *innerRing {
	return absorbing(k, commuting(sumMin.at(k), opPlus.at(k), minPlusKernels(k)))
}}

// MaxPlus is the semiring of longest paths.
func MaxPlus[T Number]() Semiring[T, T, T] {
	return Semiring[T, T, T]{in: maxPlus.at(kindOf[T]())}
}

var maxPlus = ringTable{make: func(k kind) *innerRing {
	return absorbing(k, commuting(sumMax.at(k), opPlus.at(k), choosingOf[addMax, mulPlus](k)))
}}

// absorbing marks min.plus and max.plus over floats: an infinity represents an absent entry,
// because a + ∞ is ∞ or NaN for every a, and neither changes a minimum or maximum. Integers would
// wrap around.
func absorbing(k kind, s *innerRing) *innerRing {
	switch k {
	case kindFloat32:
		absorb[float32](s)
	case kindFloat64:
		absorb[float64](s)
	}
	return s
}

func absorb[T Float](s *innerRing) {
	id := sparse.SliceOf[T](s.add.Identity)[0]
	for _, k := range []*cpu.Semiring{s.Semiring, s.Flipped} {
		cpu.TypedKernels[T, T, T](k).IsIdentity = func(x *T) bool { return *x == id }
		k.Absent = k.Identity
	}
}

// MinTimes computes the minimum of products.
func MinTimes[T Number]() Semiring[T, T, T] {
	return Semiring[T, T, T]{in: minTimes.at(kindOf[T]())}
}

var minTimes = ringTable{make: func(k kind) *innerRing {
	return commuting(sumMin.at(k), opTimes.at(k), choosingOf[addMin, mulTimes](k))
}}

// MaxTimes computes the maximum of products: the most reliable path.
func MaxTimes[T Number]() Semiring[T, T, T] {
	return Semiring[T, T, T]{in: maxTimes.at(kindOf[T]())}
}

var maxTimes = ringTable{make: func(k kind) *innerRing {
	return commuting(sumMax.at(k), opTimes.at(k), choosingOf[addMax, mulTimes](k))
}}

// MinMax is the bottleneck semiring: it minimises the largest edge of a path.
func MinMax[T Number]() Semiring[T, T, T] {
	return Semiring[T, T, T]{in: minMax.at(kindOf[T]())}
}

var minMax = ringTable{make: func(k kind) *innerRing {
	return commuting(sumMin.at(k), opMax.at(k), choosingOf[addMin, mulMax](k))
}}

// MaxMin is the semiring of widest paths.
func MaxMin[T Number]() Semiring[T, T, T] {
	return Semiring[T, T, T]{in: maxMin.at(kindOf[T]())}
}

var maxMin = ringTable{make: func(k kind) *innerRing {
	return commuting(sumMax.at(k), opMin.at(k), choosingOf[addMax, mulMin](k))
}}

// PlusMin sums the smaller operands: the overlap of weighted neighbourhoods.
func PlusMin[T Number]() Semiring[T, T, T] {
	return Semiring[T, T, T]{in: plusMin.at(kindOf[T]())}
}

var plusMin = ringTable{make: func(k kind) *innerRing {
	return commuting(sumPlus.at(k), opMin.at(k), kernelsOf[addPlus, mulMin](k))
}}

// PlusMax sums the larger operands.
func PlusMax[T Number]() Semiring[T, T, T] {
	return Semiring[T, T, T]{in: plusMax.at(kindOf[T]())}
}

var plusMax = ringTable{make: func(k kind) *innerRing {
	return commuting(sumPlus.at(k), opMax.at(k), kernelsOf[addPlus, mulMax](k))
}}

// PlusPlus sums both operands.
func PlusPlus[T Number]() Semiring[T, T, T] {
	return Semiring[T, T, T]{in: plusPlus.at(kindOf[T]())}
}

var plusPlus = ringTable{make: func(k kind) *innerRing {
	return commuting(sumPlus.at(k), opPlus.at(k), plainKernels[addPlus, mulPlus](k))
}}

// PlusMinus sums differences x − y.
func PlusMinus[T Number]() Semiring[T, T, T] {
	return Semiring[T, T, T]{in: plusMinus.at(kindOf[T]())}
}

var plusMinus = ringTable{make: func(k kind) *innerRing {
	return bound(sumPlus.at(k), opMinus.at(k), plainKernels[addPlus, mulMinus](k), minusFlipped(k))
}}

// minusFlipped returns the loops of plus and y − x. mul has no case for it: it would not be
// inlined.
func minusFlipped(k kind) cpu.Kernels {
	switch k.plain() {
	case kindInt8:
		return flippedMinus[int8]()
	case kindInt16:
		return flippedMinus[int16]()
	case kindInt32:
		return flippedMinus[int32]()
	case kindInt64:
		return flippedMinus[int64]()
	case kindFloat32:
		return flippedMinus[float32]()
	}
	return flippedMinus[float64]()
}

func flippedMinus[T Number]() cpu.Kernels {
	k := closureKernels(func(x, y T) T { return x + y }, func(y, x T) T { return x - y }, true, true)
	return k.Untyped()
}

// PlusPair counts the k where both operands have an entry. It reads no values, so it takes
// patterns: A.Pattern().
func PlusPair[C Number]() Semiring[bool, bool, C] {
	return Semiring[bool, bool, C]{in: plusPair.at(kindOf[C]())}
}

var plusPair = ringTable{make: func(k kind) *innerRing {
	return commuting(sumPlus.at(k), boolPair.at(k), pairKernels[addPlus](k))
}}

// The semirings of first and second over numbers and patterns. A Go bool is one byte, so the loops
// are those over uint8, which they do not read.

func firstOf(sum *innerMonoid, k kind, first, second cpu.Kernels) *innerRing {
	return bound(sum, boolFirst.at(k), first, second)
}

func secondOf(sum *innerMonoid, k kind, first, second cpu.Kernels) *innerRing {
	return bound(sum, boolSecond.at(k), second, first)
}

// PlusFirst sums the values of the first operand; the second is a pattern.
func PlusFirst[T Number]() Semiring[T, bool, T] {
	return Semiring[T, bool, T]{in: plusFirst.at(kindOf[T]())}
}

var plusFirst = ringTable{make: func(k kind) *innerRing {
	return firstOf(sumPlus.at(k), k, plainFirst[addPlus](k), plusSecondKernels(k))
}}

// PlusSecond sums the values of the second operand; the first is a pattern.
func PlusSecond[T Number]() Semiring[bool, T, T] {
	return Semiring[bool, T, T]{in: plusSecond.at(kindOf[T]())}
}

var plusSecond = ringTable{make: func(k kind) *innerRing {
	return secondOf(sumPlus.at(k), k, plainFirst[addPlus](k), plusSecondKernels(k))
}}

// MinFirst computes the minimum of the values of the first operand; the second is a pattern.
func MinFirst[T Number]() Semiring[T, bool, T] {
	return Semiring[T, bool, T]{in: minFirst.at(kindOf[T]())}
}

var minFirst = ringTable{make: func(k kind) *innerRing {
	return firstOf(sumMin.at(k), k, firstKernels[addMin](k), secondKernels[addMin](k))
}}

// MinSecond computes the minimum of the values of the second operand; the first is a pattern.
func MinSecond[T Number]() Semiring[bool, T, T] {
	return Semiring[bool, T, T]{in: minSecond.at(kindOf[T]())}
}

var minSecond = ringTable{make: func(k kind) *innerRing {
	return secondOf(sumMin.at(k), k, firstKernels[addMin](k), secondKernels[addMin](k))
}}

// MaxFirst computes the maximum of the values of the first operand; the second is a pattern.
func MaxFirst[T Number]() Semiring[T, bool, T] {
	return Semiring[T, bool, T]{in: maxFirst.at(kindOf[T]())}
}

var maxFirst = ringTable{make: func(k kind) *innerRing {
	return firstOf(sumMax.at(k), k, firstKernels[addMax](k), secondKernels[addMax](k))
}}

// MaxSecond computes the maximum of the values of the second operand; the first is a pattern.
func MaxSecond[T Number]() Semiring[bool, T, T] {
	return Semiring[bool, T, T]{in: maxSecond.at(kindOf[T]())}
}

var maxSecond = ringTable{make: func(k kind) *innerRing {
	return secondOf(sumMax.at(k), k, firstKernels[addMax](k), secondKernels[addMax](k))
}}

// TimesFirst multiplies the values of the first operand; the second is a pattern.
func TimesFirst[T Number]() Semiring[T, bool, T] {
	return Semiring[T, bool, T]{in: timesFirst.at(kindOf[T]())}
}

var timesFirst = ringTable{make: func(k kind) *innerRing {
	return firstOf(sumTimes.at(k), k, plainFirst[addTimes](k), plainSecond[addTimes](k))
}}

// TimesSecond multiplies the values of the second operand; the first is a pattern.
func TimesSecond[T Number]() Semiring[bool, T, T] {
	return Semiring[bool, T, T]{in: timesSecond.at(kindOf[T]())}
}

var timesSecond = ringTable{make: func(k kind) *innerRing {
	return secondOf(sumTimes.at(k), k, plainFirst[addTimes](k), plainSecond[addTimes](k))
}}

// logicalOf returns a semiring over bool with the loops over the bytes 0 and 1: a Go bool is one
// byte, 0 or 1, and the operators keep that.
func logicalOf[P addTag, M mulTag](
	add Monoid[bool], mul BinaryOp[bool, bool, bool], k func() cpu.Kernels,
) Semiring[bool, bool, bool] {
	return Semiring[bool, bool, bool]{in: once[keyLogical[P, M]](func() *innerRing {
		return commuting(add.in, mul.in, k())
	})}
}

// LorLand is the Boolean semiring: reachability.
func LorLand() Semiring[bool, bool, bool] {
	loops := kernels[uint8, uint8, uint8, addLor, mulTimes]
	return logicalOf[addLor, mulTimes](Lor(), Land().Op(), loops)
}

// LandLor is the dual of [LorLand].
func LandLor() Semiring[bool, bool, bool] {
	return logicalOf[addTimes, mulMax](Land(), Lor().Op(), summing[uint8, uint8, uint8, addTimes, mulMax])
}

// LxorLand is arithmetic modulo 2.
func LxorLand() Semiring[bool, bool, bool] {
	loops := summing[uint8, uint8, uint8, addLxor, mulTimes]
	return logicalOf[addLxor, mulTimes](Lxor(), Land().Op(), loops)
}

// LxnorLor is the dual of [LxorLand].
func LxnorLor() Semiring[bool, bool, bool] { return New(Lxnor(), Lor()) }

// The any monoid takes the first product that it finds. Its semirings move values and read no other
// operand, so that loops over C serve first and pair (anyX) and second (anyY) with any other
// operand.

// anyX returns the loops of the any monoid with first, or with the value one for every product.
func anyX[C any](one *C) cpu.Kernels {
	value := func(a *C) C {
		if one != nil {
			return *one
		}
		return *a
	}
	k := cpu.KernelsOf[C, uint8, C]{
		Dot: func(y *C, ci []int32, av []C, _ []uint8) {
			if len(ci) > 0 {
				*y = value(unsafe.SliceData(av))
			}
		},
		DotPresent: func(y *C, ci []int32, av []C, _, present []uint8) bool {
			for p, j := range ci {
				if present[j] == 0 {
					continue
				}
				if one != nil {
					*y = *one
				} else {
					*y = av[p]
				}
				return true
			}
			return false
		},
		Axpy: func(y []C, a *C, _ []uint8) {
			v := value(a)
			for p := range y {
				y[p] = v
			}
		},
		Scatter: func(acc []C, marks []uint64, a *C, ci []int32, _ []uint8) {
			v := value(a)
			for _, j := range ci {
				acc[j] = v
				marks[j>>6] |= 1 << (j & 63)
			}
		},
		ScatterMasked: func(acc []C, state []uint8, a *C, ci []int32, _ []uint8) {
			v := value(a)
			for _, j := range ci {
				if state[j] != 0 {
					acc[j], state[j] = v, 2
				}
			}
		},
		ScatterAll: func(acc []C, a *C, ci []int32, _ []uint8) {
			v := value(a)
			for _, j := range ci {
				acc[j] = v
			}
		},
		Products: func(out []C, a *C, _ []uint8) {
			v := value(a)
			for p := range out {
				out[p] = v
			}
		},
	}
	return k.Untyped()
}

// anyY returns the loops of the any monoid with second.
func anyY[C any]() cpu.Kernels {
	k := cpu.KernelsOf[uint8, C, C]{
		Dot: func(y *C, ci []int32, _ []uint8, x []C) {
			if len(ci) > 0 {
				*y = x[ci[0]]
			}
		},
		DotPresent: func(y *C, ci []int32, _ []uint8, x []C, present []uint8) bool {
			for _, j := range ci {
				if present[j] != 0 {
					*y = x[j]
					return true
				}
			}
			return false
		},
		Axpy: func(y []C, _ *uint8, b []C) { copy(y, b) },
		Scatter: func(acc []C, marks []uint64, _ *uint8, ci []int32, bv []C) {
			for p, j := range ci {
				acc[j] = bv[p]
				marks[j>>6] |= 1 << (j & 63)
			}
		},
		ScatterMasked: func(acc []C, state []uint8, _ *uint8, ci []int32, bv []C) {
			for p, j := range ci {
				if state[j] != 0 {
					acc[j], state[j] = bv[p], 2
				}
			}
		},
		ScatterAll: func(acc []C, _ *uint8, ci []int32, bv []C) {
			for p, j := range ci {
				acc[j] = bv[p]
			}
		},
		Products: func(out []C, _ *uint8, bv []C) { copy(out, bv) },
	}
	return k.Untyped()
}

// anyFirst and anySecond are AnyFirst and AnySecond of numbers, for positional semirings.
var (
	anyFirst = ringTable{make: func(k kind) *innerRing {
		x, y := anyLoops(k)
		return bound(sumAny.at(k), boolFirst.at(k), x, y)
	}}
	anySecond = ringTable{make: func(k kind) *innerRing {
		x, y := anyLoops(k)
		return bound(sumAny.at(k), boolSecond.at(k), y, x)
	}}
)

// anyLoops returns the loops of any with first and second, for the values of a size.
func anyLoops(k kind) (x, y cpu.Kernels) {
	switch k.plain() {
	case kindInt8:
		return anyX[uint8](nil), anyY[uint8]()
	case kindInt16:
		return anyX[uint16](nil), anyY[uint16]()
	case kindInt32, kindFloat32:
		return anyX[uint32](nil), anyY[uint32]()
	}
	return anyX[uint64](nil), anyY[uint64]()
}

// AnyPair returns one where a sum has a term: reachability over patterns.
func AnyPair[C Element]() Semiring[bool, bool, C] {
	return Semiring[bool, bool, C]{in: anyPair.at(elementKind[C]())}
}

var anyPair = ringTable{make: func(k kind) *innerRing {
	return commuting(sumAny.at(k), boolPair.at(k), anyOnes(k))
}}

// anyOnes returns the loops of any with pair: the bits of 1.
func anyOnes(k kind) cpu.Kernels {
	switch k.plain() {
	case kindInt8: // and bool
		return anyX(new(uint8(1)))
	case kindInt16:
		return anyX(new(uint16(1)))
	case kindInt32:
		return anyX(new(uint32(1)))
	case kindInt64:
		return anyX(new(uint64(1)))
	case kindFloat32:
		return anyX(new(math.Float32bits(1)))
	}
	return anyX(new(math.Float64bits(1)))
}

// AnyFirst returns the value of the first operand in any one term; the second is a pattern.
func AnyFirst[T comparable]() Semiring[T, bool, T] {
	return Semiring[T, bool, T]{in: once[keyAnyOf[mulFirst, T, bool, T]](func() *innerRing {
		return bound(once[keyAny[T]](newAny[T]), once[keyFirst[T, bool]](newFirst[T, bool]), anyX[T](nil), anyY[T]())
	})}
}

// AnySecond returns the value of the second operand in any one term; the first is a pattern.
func AnySecond[T comparable]() Semiring[bool, T, T] {
	return Semiring[bool, T, T]{in: once[keyAnyOf[mulSecond, bool, T, T]](func() *innerRing {
		return bound(once[keyAny[T]](newAny[T]), once[keySecond[bool, T]](newSecond[bool, T]), anyY[T](), anyX[T](nil))
	})}
}
