package semiring

import (
	"math"
	"unsafe"

	"github.com/hiveblas/hiveblas/internal/cpu"
	"github.com/hiveblas/hiveblas/internal/prefetch"
)

// The kernels of tags. Operands that an operator does not read may be nil slices, so each kernel
// has a form without them; the tests of readsX and readsY fold away.

// dotBest is dot for min and max of operators that read both operands. Few products improve on the
// best one so far, so a branch costs less than Go's min, which also handles NaN and the order of −0
// and 0. Of −0 and 0, dotBest keeps the first.
func dotBest[A, B, C Number, P addTag, M mulTag](s C, ci []int32, av []A, x []B) C {
	av = av[:len(ci)]
	for p, j := range ci {
		if v := mul[A, B, C, M](av[p], x[j]); better[C, P](v, s) {
			s = v
		}
	}
	return s
}

// dotBits is dotBest for floats, by comparison of their bits as integers. The order of the bits is
// the order of the numbers where none is negative, and the minimum of integers is one instruction
// without a branch. It reports whether the result is valid: it is not if it is negative as an
// integer, or a NaN, which follows all numbers.
func dotBits[A, B, C Number, P addTag, M mulTag](id C, ci []int32, av []A, x []B) (C, bool) {
	s := bitsOf(id)
	s1 := s
	for len(ci) >= 16 && len(av) >= 16 {
		prefetch.Ahead(unsafe.Pointer(&av[0]), unsafe.Pointer(&ci[0]))
		for k := 0; k < 16; k += 4 {
			s = bestBits[P](s, bitsOf(mul[A, B, C, M](av[k], x[ci[k]])))
			s1 = bestBits[P](s1, bitsOf(mul[A, B, C, M](av[k+1], x[ci[k+1]])))
			s = bestBits[P](s, bitsOf(mul[A, B, C, M](av[k+2], x[ci[k+2]])))
			s1 = bestBits[P](s1, bitsOf(mul[A, B, C, M](av[k+3], x[ci[k+3]])))
		}
		ci, av = ci[16:], av[16:]
	}
	for len(ci) >= 4 && len(av) >= 4 {
		s = bestBits[P](s, bitsOf(mul[A, B, C, M](av[0], x[ci[0]])))
		s1 = bestBits[P](s1, bitsOf(mul[A, B, C, M](av[1], x[ci[1]])))
		s = bestBits[P](s, bitsOf(mul[A, B, C, M](av[2], x[ci[2]])))
		s1 = bestBits[P](s1, bitsOf(mul[A, B, C, M](av[3], x[ci[3]])))
		ci, av = ci[4:], av[4:]
	}
	s = bestBits[P](s, s1)
	av = av[:len(ci)]
	for p, j := range ci {
		s = bestBits[P](s, bitsOf(mul[A, B, C, M](av[p], x[j])))
	}
	v := ofBits[C](s)
	return v, s >= 0 && v == v
}

// bitsOf returns the bits of a float as a signed integer.
func bitsOf[T Number](x T) int64 {
	if unsafe.Sizeof(x) == 4 {
		return int64(int32(math.Float32bits(float32(x))))
	}
	return int64(math.Float64bits(float64(x)))
}

func ofBits[T Number](b int64) T {
	var x T
	if unsafe.Sizeof(x) == 4 {
		return T(math.Float32frombits(uint32(b)))
	}
	return T(math.Float64frombits(uint64(b)))
}

func bestBits[O addTag](x, y int64) int64 {
	var o O
	if len(o) == 2 {
		return min(x, y)
	}
	return max(x, y)
}

// dot4 is dot for plus, times and lxor of operators that read both operands. It keeps four sums,
// which shortens the chain of dependent additions.
func dot4[A, B, C Number, P addTag, M mulTag](s C, ci []int32, av []A, x []B) C {
	if len(ci) >= 4 {
		s1, s2, s3 := start[C, P](), start[C, P](), start[C, P]()
		for len(ci) >= 16 && len(av) >= 16 {
			prefetch.Ahead(unsafe.Pointer(&av[0]), unsafe.Pointer(&ci[0]))
			for k := 0; k < 16; k += 4 {
				s = add[C, P](s, mul[A, B, C, M](av[k], x[ci[k]]))
				s1 = add[C, P](s1, mul[A, B, C, M](av[k+1], x[ci[k+1]]))
				s2 = add[C, P](s2, mul[A, B, C, M](av[k+2], x[ci[k+2]]))
				s3 = add[C, P](s3, mul[A, B, C, M](av[k+3], x[ci[k+3]]))
			}
			ci, av = ci[16:], av[16:]
		}
		for len(ci) >= 4 && len(av) >= 4 {
			s = add[C, P](s, mul[A, B, C, M](av[0], x[ci[0]]))
			s1 = add[C, P](s1, mul[A, B, C, M](av[1], x[ci[1]]))
			s2 = add[C, P](s2, mul[A, B, C, M](av[2], x[ci[2]]))
			s3 = add[C, P](s3, mul[A, B, C, M](av[3], x[ci[3]]))
			ci, av = ci[4:], av[4:]
		}
		s = add[C, P](add[C, P](s, s1), add[C, P](s2, s3))
	}
	av = av[:len(ci)]
	for p, j := range ci {
		s = add[C, P](s, mul[A, B, C, M](av[p], x[j]))
	}
	return s
}

// gather4 is dot4 for operators that read y alone.
func gather4[A, B, C Number, P addTag, M mulTag](s C, ci []int32, x []B) C {
	var a A
	if len(ci) >= 4 {
		s1, s2, s3 := start[C, P](), start[C, P](), start[C, P]()
		for len(ci) >= 16 {
			prefetch.Ahead(unsafe.Pointer(&ci[0]), unsafe.Pointer(&ci[0]))
			for k := 0; k < 16; k += 4 {
				s = add[C, P](s, mul[A, B, C, M](a, x[ci[k]]))
				s1 = add[C, P](s1, mul[A, B, C, M](a, x[ci[k+1]]))
				s2 = add[C, P](s2, mul[A, B, C, M](a, x[ci[k+2]]))
				s3 = add[C, P](s3, mul[A, B, C, M](a, x[ci[k+3]]))
			}
			ci = ci[16:]
		}
		for len(ci) >= 4 {
			s = add[C, P](s, mul[A, B, C, M](a, x[ci[0]]))
			s1 = add[C, P](s1, mul[A, B, C, M](a, x[ci[1]]))
			s2 = add[C, P](s2, mul[A, B, C, M](a, x[ci[2]]))
			s3 = add[C, P](s3, mul[A, B, C, M](a, x[ci[3]]))
			ci = ci[4:]
		}
		s = add[C, P](add[C, P](s, s1), add[C, P](s2, s3))
	}
	for _, j := range ci {
		s = add[C, P](s, mul[A, B, C, M](a, x[j]))
	}
	return s
}

// counts reports whether the tags are plus and pair, so that a sum is a number of terms.
func counts[P addTag, M mulTag]() bool {
	var o P
	var m M
	return len(o) == 0 && len(m) == 4
}

// operand returns the operand at a, and zero if the operator does not read it.
func operand[A Number, M mulTag](a *A) (x A) {
	if readsX[M]() {
		x = *a
	}
	return x
}

// item returns the item of an operand at p, zero if its operator does not read it: the operand may
// be nil then. reads is a constant in each instance of a loop, so the test folds away.
func item[T any](v []T, p int, reads bool) (x T) {
	if reads {
		x = v[p]
	}
	return x
}

// The functions below make the loops of a semiring, for one choice of Dot and DotRows each. Go
// compiles every instance that a function names, also in branches that are never taken, so the
// choice is the caller's. The loops are function literals: for an instance of a generic function
// that is used as a value, Go compiles a second function, which calls it. None of these functions
// is inlined, since each caller would get a copy of the literals.

// kernels: no case of those below.
//
//go:noinline
func kernels[A, B, C Number, P addTag, M mulTag]() cpu.Kernels {
	dot := func(y *C, ci []int32, av []A, x []B) {
		var a A
		var b B
		s := *y
		switch {
		case readsX[M]() && readsY[M]():
			av = av[:len(ci)]
			for p, j := range ci {
				s = add[C, P](s, mul[A, B, C, M](av[p], x[j]))
				if settled[C, P](s) {
					break
				}
			}
		case readsX[M]():
			for _, a := range av[:len(ci)] {
				s = add[C, P](s, mul[A, B, C, M](a, b))
			}
		case readsY[M]():
			for _, j := range ci {
				s = add[C, P](s, mul[A, B, C, M](a, x[j]))
				if settled[C, P](s) {
					break
				}
			}
		default:
			if counts[P, M]() {
				s += C(len(ci))
				break
			}
			for range ci {
				s = add[C, P](s, mul[A, B, C, M](a, b))
			}
		}
		*y = s
	}
	return rest[A, B, C, P, M](dot, func(y []C, id *C, ptr []int64, ci []int32, av []A, x []B) {
		ptr = ptr[:len(y)+1]
		for i := range y {
			lo, hi := ptr[i], ptr[i+1]
			y[i] = *id
			if readsX[M]() {
				dot(&y[i], ci[lo:hi], av[lo:hi], x)
			} else {
				dot(&y[i], ci[lo:hi], nil, x)
			}
		}
	})
}

// choosing: min or max of integers, of an operator that reads both operands.
//
//go:noinline
func choosing[A, B, C Number, P addTag, M mulTag]() cpu.Kernels {
	return rest[A, B, C, P, M](func(y *C, ci []int32, av []A, x []B) {
		*y = dotBest[A, B, C, P, M](*y, ci, av, x)
	}, func(y []C, identity *C, ptr []int64, ci []int32, av []A, x []B) {
		ptr = ptr[:len(y)+1]
		id := *identity
		for i := range y {
			lo, hi := ptr[i], ptr[i+1]
			y[i] = dotBest[A, B, C, P, M](id, ci[lo:hi], av[lo:hi], x)
		}
	})
}

// choosingFloats: choosing for floats. Its DotRows uses dotBits until a row has no valid result.
//
//go:noinline
func choosingFloats[A, B, C Number, P addTag, M mulTag]() cpu.Kernels {
	return rest[A, B, C, P, M](func(y *C, ci []int32, av []A, x []B) {
		*y = dotBest[A, B, C, P, M](*y, ci, av, x)
	}, func(y []C, identity *C, ptr []int64, ci []int32, av []A, x []B) {
		ptr = ptr[:len(y)+1]
		id := *identity
		byBits := true
		for i := range y {
			lo, hi := ptr[i], ptr[i+1]
			if byBits && lo < hi {
				if y[i], byBits = dotBits[A, B, C, P, M](id, ci[lo:hi], av[lo:hi], x); byBits {
					continue
				}
			}
			y[i] = dotBest[A, B, C, P, M](id, ci[lo:hi], av[lo:hi], x)
		}
	})
}

// summing: plus, times or lxor, of an operator that reads both operands.
//
//go:noinline
func summing[A, B, C Number, P addTag, M mulTag]() cpu.Kernels {
	return rest[A, B, C, P, M](func(y *C, ci []int32, av []A, x []B) {
		*y = dot4[A, B, C, P, M](*y, ci, av, x)
	}, func(y []C, identity *C, ptr []int64, ci []int32, av []A, x []B) {
		ptr = ptr[:len(y)+1]
		id := *identity
		for i := range y {
			lo, hi := ptr[i], ptr[i+1]
			y[i] = dot4[A, B, C, P, M](id, ci[lo:hi], av[lo:hi], x)
		}
	})
}

// gathering: plus or times of second.
//
//go:noinline
func gathering[A, B, C Number, P addTag, M mulTag]() cpu.Kernels {
	return rest[A, B, C, P, M](func(y *C, ci []int32, _ []A, x []B) {
		*y = gather4[A, B, C, P, M](*y, ci, x)
	}, func(y []C, identity *C, ptr []int64, ci []int32, _ []A, x []B) {
		ptr = ptr[:len(y)+1]
		id := *identity
		for i := range y {
			y[i] = gather4[A, B, C, P, M](id, ci[ptr[i]:ptr[i+1]], x)
		}
	})
}

// ones returns the sum of present at the indices.
func ones(ci []int32, present []uint8) (n int64) {
	for _, j := range ci {
		n += int64(present[j])
	}
	return n
}

// dotLoop and rowsLoop are the types of Dot and DotRows.
type (
	dotLoop[A, B, C any]  = func(y *C, ci []int32, av []A, x []B)
	rowsLoop[A, B, C any] = func(y []C, id *C, ptr []int64, ci []int32, av []A, x []B)
)

// rest returns two loops and those that all semirings have alike, without their types.
//
//go:noinline
func rest[A, B, C Number, P addTag, M mulTag](dot dotLoop[A, B, C], rows rowsLoop[A, B, C]) cpu.Kernels {
	k := cpu.KernelsOf[A, B, C]{
		Dot: dot, DotRows: rows,
		DotPresent: func(y *C, ci []int32, av []A, x []B, present []uint8) bool {
			if counts[P, M]() {
				var n int64 // four a step: .85 of the time, triangles of R-MAT 18
				for ; len(ci) >= 4; ci = ci[4:] {
					n += int64(present[ci[0]]) + int64(present[ci[1]]) + int64(present[ci[2]]) + int64(present[ci[3]])
				}
				n += ones(ci, present)
				*y += C(n)
				return n != 0
			}
			s, hit := *y, uint8(0)
			if readsX[M]() {
				av = av[:len(ci)]
			}
			for p, j := range ci {
				if present[j] != 0 {
					s, hit = add[C, P](s, mul[A, B, C, M](item(av, p, readsX[M]()), item(x, int(j), readsY[M]()))), 1
					if settled[C, P](s) {
						break
					}
				}
			}
			*y = s
			return hit != 0
		},
		Axpy: func(y []C, a *A, b []B) {
			x := operand[A, M](a)
			if readsY[M]() {
				y = y[:len(b)]
			}
			for p := range y {
				y[p] = add[C, P](y[p], mul[A, B, C, M](x, item(b, p, readsY[M]())))
			}
		},
		Scatter: func(acc []C, marks []uint64, at *A, ci []int32, bv []B) {
			a := operand[A, M](at)
			if readsY[M]() {
				bv = bv[:len(ci)]
			}
			for p, j := range ci { // without a branch on better, which is mispredicted
				acc[j] = add[C, P](acc[j], mul[A, B, C, M](a, item(bv, p, readsY[M]())))
				marks[j>>6] |= 1 << (j & 63)
			}
		},
		ScatterMasked: func(acc []C, state []uint8, at *A, ci []int32, bv []B) {
			a := operand[A, M](at)
			if readsY[M]() {
				bv = bv[:len(ci)]
			}
			for p, j := range ci {
				if state[j] != 0 {
					acc[j] = add[C, P](acc[j], mul[A, B, C, M](a, item(bv, p, readsY[M]())))
					state[j] = 2
				}
			}
		},
		ScatterAll: func(acc []C, at *A, ci []int32, bv []B) {
			a := operand[A, M](at)
			if readsY[M]() {
				bv = bv[:len(ci)]
			}
			for p, j := range ci {
				acc[j] = add[C, P](acc[j], mul[A, B, C, M](a, item(bv, p, readsY[M]())))
			}
		},
		Products: func(out []C, at *A, bv []B) {
			a := operand[A, M](at)
			if readsY[M]() {
				out = out[:len(bv)]
			}
			for p := range out {
				out[p] = mul[A, B, C, M](a, item(bv, p, readsY[M]()))
			}
		},
	}
	return k.Untyped()
}
