package semiring

import (
	"unsafe"

	"github.com/hiveblas/hiveblas/internal/cpu"
	"github.com/hiveblas/hiveblas/internal/dots"
)

// gatheredFrom is the number of entries from which Dot is quicker by package dots.
const gatheredFrom = 12

// gathered replaces Dot and DotRows of plus.times, plus.second and min.plus over float32 and
// float64 by those of package dots, which round alike.
func gathered[A, B, C Number, P addTag, M mulTag](k *cpu.Kernels[A, B, C]) {
	if !dots.Available || !(is[B, float64]() && is[C, float64]() || is[B, float32]() && is[C, float32]()) {
		return
	}
	var p P
	var m M
	same := is[A, C]()
	switch plain := k.Dot; {
	case len(p) == len(addPlus{}) && len(m) == len(mulTimes{}) && same:
		if is[C, float64]() {
			gatheredTimes[A, B, C, float64](k, plain)
		} else {
			gatheredTimes[A, B, C, float32](k, plain)
		}
	case len(p) == len(addPlus{}) && len(m) == len(mulSecond{}):
		if is[C, float64]() {
			gatheredSecond[A, B, C, float64](k, plain)
		} else {
			gatheredSecond[A, B, C, float32](k, plain)
		}
	case len(p) == len(addMin{}) && len(m) == len(mulPlus{}) && same:
		if is[C, float64]() {
			gatheredMin[A, B, C, float64](k, plain)
		} else {
			gatheredMin[A, B, C, float32](k, plain)
		}
	}
}

// gatheredTimes sets the loops of plus.times, whose type F is A, B and C.
func gatheredTimes[A, B, C Number, F dots.Float](k *cpu.Kernels[A, B, C], plain func(s C, ci []int32, av []A, x []B) C) {
	k.DotRows = func(y []C, _ C, ptr []int64, ci []int32, av []A, x []B) {
		dots.PlusTimes(slice[F](y), ptr, ci, slice[F](av), slice[F](x))
	}
	k.Dot = func(s C, ci []int32, av []A, x []B) C {
		if s != 0 || len(ci) < gatheredFrom {
			return plain(s, ci, av, x)
		}
		return C(dots.PlusTimesRow(ci, slice[F](av), slice[F](x)))
	}
}

// gatheredSecond sets the loops of plus.second, whose type F is B and C.
func gatheredSecond[A, B, C Number, F dots.Float](k *cpu.Kernels[A, B, C], plain func(s C, ci []int32, av []A, x []B) C) {
	k.DotRows = func(y []C, _ C, ptr []int64, ci []int32, _ []A, x []B) {
		dots.PlusSecond(slice[F](y), ptr, ci, slice[F](x))
	}
	k.Dot = func(s C, ci []int32, av []A, x []B) C {
		if s != 0 || len(ci) < gatheredFrom {
			return plain(s, ci, av, x)
		}
		return C(dots.PlusSecondRow(ci, slice[F](x)))
	}
}

// gatheredMin sets the loops of min.plus, whose type F is A, B and C.
func gatheredMin[A, B, C Number, F dots.Float](k *cpu.Kernels[A, B, C], plain func(s C, ci []int32, av []A, x []B) C) {
	k.DotRows = func(y []C, id C, ptr []int64, ci []int32, av []A, x []B) {
		dots.MinPlus(slice[F](y), F(id), ptr, ci, slice[F](av), slice[F](x))
		for i, v := range y {
			if v == 0 { // of −0 and 0, the Go loops return the first
				lo, hi := ptr[i], ptr[i+1]
				y[i] = plain(id, ci[lo:hi], av[lo:hi], x)
			}
		}
	}
	k.Dot = func(s C, ci []int32, av []A, x []B) C {
		if len(ci) >= gatheredFrom {
			if v := C(dots.MinPlusRow(F(s), ci, slice[F](av), slice[F](x))); v != 0 {
				return v
			}
		}
		return plain(s, ci, av, x)
	}
}

// slice returns x as a slice of its type.
func slice[U, T any](x []T) []U { return *(*[]U)(unsafe.Pointer(&x)) }
