package semiring

import (
	"unsafe"

	"github.com/hiveblas/hiveblas/internal/cpu"
	"github.com/hiveblas/hiveblas/internal/dots"
)

// gatheredFrom is the number of entries from which Dot is quicker by package dots. Go and assembly,
// float64 on an AMD EPYC, ns: 24 entries 27 and 32 (plus.times), 32 and 45 (min.plus); 32 entries
// 33 and 32, 50 and 35; 512 entries 618 and 318, 531 and 422.
const gatheredFrom = 32

// gathered replaces Dot and DotRows of plus.times, plus.second and min.plus over float32 and
// float64 by those of package dots, which round alike.
func gathered[A, B, C Number, P addTag, M mulTag](k *cpu.KernelsOf[A, B, C]) {
	switch {
	case !dots.Available:
	case is[B, float64]() && is[C, float64]():
		gatheredBy[A, B, C, P, M, float64](k)
	case is[B, float32]() && is[C, float32]():
		gatheredBy[A, B, C, P, M, float32](k)
	}
}

// gatheredBy is gathered for B and C that are F.
func gatheredBy[A, B, C Number, P addTag, M mulTag, F dots.Float](k *cpu.KernelsOf[A, B, C]) {
	var p P
	var m M
	plain, same := k.Dot, is[A, F]()
	// long reports whether Dot goes by row, which starts from 0.
	long := func(s C, ci []int32) bool { return s == 0 && len(ci) >= gatheredFrom }
	switch {
	case len(p) == len(addPlus{}) && len(m) == len(mulTimes{}) && same:
		k.DotRows = func(y []C, _ *C, ptr []int64, ci []int32, av []A, x []B) {
			dots.PlusTimes(slice[F](y), ptr, ci, slice[F](av), slice[F](x))
		}
		k.Dot = func(y *C, ci []int32, av []A, x []B) {
			if long(*y, ci) {
				*y = C(dots.PlusTimesRow(ci, slice[F](av), slice[F](x)))
				return
			}
			plain(y, ci, av, x)
		}
	case len(p) == len(addPlus{}) && len(m) == len(mulSecond{}):
		k.DotRows = func(y []C, _ *C, ptr []int64, ci []int32, _ []A, x []B) {
			dots.PlusSecond(slice[F](y), ptr, ci, slice[F](x))
		}
		k.Dot = func(y *C, ci []int32, av []A, x []B) {
			if long(*y, ci) {
				*y = C(dots.PlusSecondRow(ci, slice[F](x)))
				return
			}
			plain(y, ci, av, x)
		}
	case len(p) == len(addMin{}) && len(m) == len(mulPlus{}) && same:
		k.DotRows = func(y []C, id *C, ptr []int64, ci []int32, av []A, x []B) {
			dots.MinPlus(slice[F](y), F(*id), ptr, ci, slice[F](av), slice[F](x))
			for i, v := range y {
				if v == 0 { // of −0 and 0, the Go loops return the first
					lo, hi := ptr[i], ptr[i+1]
					y[i] = *id
					plain(&y[i], ci[lo:hi], av[lo:hi], x)
				}
			}
		}
		k.Dot = func(y *C, ci []int32, av []A, x []B) {
			if len(ci) >= gatheredFrom {
				if v := C(dots.MinPlusRow(F(*y), ci, slice[F](av), slice[F](x))); v != 0 {
					*y = v
					return
				}
			}
			plain(y, ci, av, x)
		}
	}
}

// slice returns x as a slice of its type.
func slice[U, T any](x []T) []U { return *(*[]U)(unsafe.Pointer(&x)) }
