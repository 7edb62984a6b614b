package semiring

import (
	"github.com/hiveblas/hiveblas/internal/cpu"
)

// tagged returns the built-in semiring of the tags P (⊕), M (⊗) and F (⊗ with its operands
// exchanged).
func tagged[A, B, C Number, P addTag, M, F mulTag](add *innerMonoid, mul *innerBinary) *innerRing {
	return bound(add, mul, kernels[A, B, C, P, M](), kernels[B, A, C, P, F]())
}

// bound returns the semiring of two operators and its loops.
//
//go:noinline
func bound(add *innerMonoid, mul *innerBinary, k, flip cpu.Kernels) *innerRing {
	s := unbound(add, mul)
	s.k = shell(k, add.k, add.any, mul.k.UsesX, mul.k.UsesY)
	s.flip = shell(flip, add.k, add.any, mul.k.UsesY, mul.k.UsesX)
	return s
}

// commuting is tagged for a commutative ⊗ over one type.
func commuting[T Number, P addTag, M mulTag](add Monoid[T], name, cuda string) Semiring[T, T, T] {
	return Semiring[T, T, T]{in: once[keyCommuting[P, M, T]](func() *innerRing {
		return tagged[T, T, T, P, M, M](add.in, binary[T, T, T, M](name, cuda))
	})}
}

// PlusTimes is the semiring of arithmetic.
func PlusTimes[T Number]() Semiring[T, T, T] {
	return commuting[T, addPlus, mulTimes](Plus[T](), "times", cudaTimes)
}

// MinPlus is the tropical semiring, for shortest paths.
func MinPlus[T Number]() Semiring[T, T, T] {
	return absorbing[addMin](commuting[T, addMin, mulPlus](Min[T](), "plus", cudaPlus))
}

// MaxPlus is the semiring of longest paths.
func MaxPlus[T Number]() Semiring[T, T, T] {
	return absorbing[addMax](commuting[T, addMax, mulPlus](Max[T](), "plus", cudaPlus))
}

// absorbing marks min.plus and max.plus over floats: an infinity represents an absent entry,
// because a + ∞ is ∞ or NaN for every a, and neither changes a minimum or maximum. Integers would
// wrap around.
func absorbing[P addTag, T Number](s Semiring[T, T, T]) Semiring[T, T, T] {
	if T(1)/2 == 0 {
		return s
	}
	return Semiring[T, T, T]{in: once[keyAbsorbing[P, T]](func() *innerRing {
		id := s.Add().Identity()
		in := s.in.copied()
		k, flip := *in.k, *in.flip
		for _, k := range []*cpu.Semiring{&k, &flip} {
			typed := cpu.TypedKernels[T, T, T](k)
			typed.IsIdentity = func(x *T) bool { return *x == id }
			k.Absent = k.Identity
		}
		in.k, in.flip = &k, &flip
		return in
	})}
}

// MinTimes computes the minimum of products.
func MinTimes[T Number]() Semiring[T, T, T] {
	return commuting[T, addMin, mulTimes](Min[T](), "times", cudaTimes)
}

// MaxTimes computes the maximum of products: the most reliable path.
func MaxTimes[T Number]() Semiring[T, T, T] {
	return commuting[T, addMax, mulTimes](Max[T](), "times", cudaTimes)
}

// MinMax is the bottleneck semiring: it minimises the largest edge of a path.
func MinMax[T Number]() Semiring[T, T, T] {
	return commuting[T, addMin, mulMax](Min[T](), "max", cudaMax)
}

// MaxMin is the semiring of widest paths.
func MaxMin[T Number]() Semiring[T, T, T] {
	return commuting[T, addMax, mulMin](Max[T](), "min", cudaMin)
}

// PlusMin sums the smaller operands: the overlap of weighted neighbourhoods.
func PlusMin[T Number]() Semiring[T, T, T] {
	return commuting[T, addPlus, mulMin](Plus[T](), "min", cudaMin)
}

// PlusMax sums the larger operands.
func PlusMax[T Number]() Semiring[T, T, T] {
	return commuting[T, addPlus, mulMax](Plus[T](), "max", cudaMax)
}

// PlusPlus sums both operands.
func PlusPlus[T Number]() Semiring[T, T, T] {
	return commuting[T, addPlus, mulPlus](Plus[T](), "plus", cudaPlus)
}

// PlusMinus sums differences x − y.
func PlusMinus[T Number]() Semiring[T, T, T] {
	s := New(Plus[T](), Minus[T]())
	collect := s.in.k.Collect
	s.in.k.Kernels = kernels[T, T, T, addPlus, mulMinus]()
	s.in.k.Collect = collect
	return s
}

// boolAs returns the built-in semiring s over bytes as one where A, B or C is bool: a Go bool is one
// byte, 0 or 1, and the operators bound here keep that.
func boolAs(s *innerRing, add *innerMonoid, mul *innerBinary) *innerRing {
	return bound(add, mul, s.k.Kernels, s.flip.Kernels)
}

// PlusPair counts the k where both operands have an entry. It reads no values, so it takes
// patterns: A.Pattern().
func PlusPair[C Number]() Semiring[bool, bool, C] {
	return Semiring[bool, bool, C]{in: once[keyPlusPair[C]](func() *innerRing {
		s := tagged[uint8, uint8, C, addPlus, mulPair, mulPair](Plus[C]().in, binary[uint8, uint8, C, mulPair]("pair", cudaPair))
		return boolAs(s, Plus[C]().in, Pair[bool, bool, C]().in)
	})}
}

func firstOf[T Number, P addTag](m Monoid[T]) Semiring[T, bool, T] {
	return Semiring[T, bool, T]{in: once[keyFirstOf[P, T]](func() *innerRing {
		s := tagged[T, uint8, T, P, mulFirst, mulSecond](m.in, binary[T, uint8, T, mulFirst]("first", cudaFirst))
		return boolAs(s, m.in, First[T, bool]().in)
	})}
}

func secondOf[T Number, P addTag](m Monoid[T]) Semiring[bool, T, T] {
	return Semiring[bool, T, T]{in: once[keySecondOf[P, T]](func() *innerRing {
		s := tagged[uint8, T, T, P, mulSecond, mulFirst](m.in, binary[uint8, T, T, mulSecond]("second", cudaSecond))
		return boolAs(s, m.in, Second[bool, T]().in)
	})}
}

// PlusFirst sums the values of the first operand; the second is a pattern.
func PlusFirst[T Number]() Semiring[T, bool, T] { return firstOf[T, addPlus](Plus[T]()) }

// PlusSecond sums the values of the second operand; the first is a pattern.
func PlusSecond[T Number]() Semiring[bool, T, T] { return secondOf[T, addPlus](Plus[T]()) }

// MinFirst computes the minimum of the values of the first operand; the second is a pattern.
func MinFirst[T Number]() Semiring[T, bool, T] { return firstOf[T, addMin](Min[T]()) }

// MinSecond computes the minimum of the values of the second operand; the first is a pattern.
func MinSecond[T Number]() Semiring[bool, T, T] { return secondOf[T, addMin](Min[T]()) }

// MaxFirst computes the maximum of the values of the first operand; the second is a pattern.
func MaxFirst[T Number]() Semiring[T, bool, T] { return firstOf[T, addMax](Max[T]()) }

// MaxSecond computes the maximum of the values of the second operand; the first is a pattern.
func MaxSecond[T Number]() Semiring[bool, T, T] { return secondOf[T, addMax](Max[T]()) }

// TimesFirst multiplies the values of the first operand; the second is a pattern.
func TimesFirst[T Number]() Semiring[T, bool, T] { return firstOf[T, addTimes](Times[T]()) }

// TimesSecond multiplies the values of the second operand; the first is a pattern.
func TimesSecond[T Number]() Semiring[bool, T, T] { return secondOf[T, addTimes](Times[T]()) }

func logicalOf[P addTag, M mulTag](add Monoid[bool], mul BinaryOp[bool, bool, bool]) Semiring[bool, bool, bool] {
	return Semiring[bool, bool, bool]{in: once[keyLogical[P, M]](func() *innerRing {
		m := monoid[uint8, P](binary[uint8, uint8, uint8, M](mul.Name(), mul.CUDA()), b2u(add.Identity()))
		s := tagged[uint8, uint8, uint8, P, M, M](m, binary[uint8, uint8, uint8, M](mul.Name(), mul.CUDA()))
		return boolAs(s, add.in, mul.in)
	})}
}

// LorLand is the Boolean semiring: reachability.
func LorLand() Semiring[bool, bool, bool] {
	return logicalOf[addLor, mulTimes](Lor(), Land().Op())
}

// LandLor is the dual of [LorLand].
func LandLor() Semiring[bool, bool, bool] { return logicalOf[addTimes, mulMax](Land(), Lor().Op()) }

// LxorLand is arithmetic modulo 2.
func LxorLand() Semiring[bool, bool, bool] { return logicalOf[addLxor, mulTimes](Lxor(), Land().Op()) }

// LxnorLor is the dual of [LxorLand].
func LxnorLor() Semiring[bool, bool, bool] { return New(Lxnor(), Lor()) }

// anyKernels returns the kernels of the any monoid with first (the value of x), second (of y) or
// pair (one): the first product found settles a sum.
func anyKernels[A, B, C any](fromX func(A) C, fromY func(B) C, one C) cpu.Kernels {
	value := func(a *A) C {
		if fromX != nil {
			return fromX(*a)
		}
		return one
	}
	at := func(av []A, p int, x []B, j int32) C {
		if fromX != nil {
			return fromX(av[p])
		}
		if fromY != nil {
			return fromY(x[j])
		}
		return one
	}
	k := cpu.KernelsOf[A, B, C]{
		Dot: func(y *C, ci []int32, av []A, x []B) {
			if len(ci) > 0 {
				*y = at(av, 0, x, ci[0])
			}
		},
		DotPresent: func(y *C, ci []int32, av []A, x []B, present []uint8) bool {
			for p, j := range ci {
				if present[j] != 0 {
					*y = at(av, p, x, j)
					return true
				}
			}
			return false
		},
	}
	if fromY != nil {
		k.Axpy = func(y []C, _ *A, b []B) { MapFn(y, b, fromY) }
		k.Scatter = func(acc []C, marks []uint64, _ *A, ci []int32, bv []B) {
			for p, j := range ci {
				acc[j] = fromY(bv[p])
				marks[j>>6] |= 1 << (j & 63)
			}
		}
		k.ScatterMasked = func(acc []C, state []uint8, _ *A, ci []int32, bv []B) {
			for p, j := range ci {
				if state[j] != 0 {
					acc[j] = fromY(bv[p])
					state[j] = 2
				}
			}
		}
		k.ScatterAll = func(acc []C, _ *A, ci []int32, bv []B) {
			for p, j := range ci {
				acc[j] = fromY(bv[p])
			}
		}
		k.Products = func(out []C, _ *A, bv []B) { MapFn(out, bv, fromY) }
		return k.Untyped()
	}
	k.Axpy = func(y []C, a *A, _ []B) {
		v := value(a)
		for p := range y {
			y[p] = v
		}
	}
	k.Scatter = func(acc []C, marks []uint64, a *A, ci []int32, _ []B) {
		v := value(a)
		for _, j := range ci {
			acc[j] = v
			marks[j>>6] |= 1 << (j & 63)
		}
	}
	k.ScatterMasked = func(acc []C, state []uint8, a *A, ci []int32, _ []B) {
		v := value(a)
		for _, j := range ci {
			if state[j] != 0 {
				acc[j] = v
				state[j] = 2
			}
		}
	}
	k.ScatterAll = func(acc []C, a *A, ci []int32, _ []B) {
		v := value(a)
		for _, j := range ci {
			acc[j] = v
		}
	}
	k.Products = func(out []C, a *A, _ []B) {
		v := value(a)
		for p := range out {
			out[p] = v
		}
	}
	return k.Untyped()
}

func anyOf[A, B, C any](mul BinaryOp[A, B, C], fromX func(A) C, fromY func(B) C, one C) *innerRing {
	return bound(Any[C]().in, mul.in, anyKernels(fromX, fromY, one), anyKernels(fromY, fromX, one))
}

// AnyPair returns one where a sum has a term: reachability over patterns.
func AnyPair[C Element]() Semiring[bool, bool, C] {
	return Semiring[bool, bool, C]{in: once[keyAnyOf[mulPair, bool, bool, C]](func() *innerRing {
		return anyOf(Pair[bool, bool, C](), nil, nil, One[C]())
	})}
}

// AnyFirst returns the value of the first operand in any one term; the second is a pattern.
func AnyFirst[T comparable]() Semiring[T, bool, T] {
	return Semiring[T, bool, T]{in: once[keyAnyOf[mulFirst, T, bool, T]](func() *innerRing {
		return anyOf(First[T, bool](), func(x T) T { return x }, nil, *new(T))
	})}
}

// AnySecond returns the value of the second operand in any one term; the first is a pattern.
func AnySecond[T comparable]() Semiring[bool, T, T] {
	return Semiring[bool, T, T]{in: once[keyAnyOf[mulSecond, bool, T, T]](func() *innerRing {
		return anyOf(Second[bool, T](), nil, func(y T) T { return y }, *new(T))
	})}
}
