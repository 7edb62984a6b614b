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

// The loops of plus.times, plus.second and min.plus over float32 and float64 come from package dots
// and from gonum where these have one; they round alike.

func plusTimesKernels(k kind) cpu.Kernels {
	s := plainKernels[addPlus, mulTimes](k)
	switch k {
	case kindFloat32:
		vectorTimes32(&s)
		gatherTimes[float32](&s)
	case kindFloat64:
		vectorTimes64(&s)
		gatherTimes[float64](&s)
	}
	return s
}

func plusSecondKernels(k kind) cpu.Kernels {
	s := plainSecond[addPlus](k)
	switch k {
	case kindFloat32:
		vectorSecond32(&s)
		gatherSecond[float32](&s)
	case kindFloat64:
		vectorSecond64(&s)
		gatherSecond[float64](&s)
	}
	return s
}

func minPlusKernels(k kind) cpu.Kernels {
	s := choosingOf[addMin, mulPlus](k)
	switch k {
	case kindFloat32:
		gatherLeast[float32](&s)
	case kindFloat64:
		gatherLeast[float64](&s)
	}
	return s
}

// typedKernels returns loops with their element types; the two share memory.
func typedKernels[A, B, C any](k *cpu.Kernels) *cpu.KernelsOf[A, B, C] {
	return (*cpu.KernelsOf[A, B, C])(unsafe.Pointer(k))
}

// long reports whether Dot goes by row, which starts from 0.
func long[F dots.Float](s F, ci []int32) bool { return s == 0 && len(ci) >= gatheredFrom }

// gatherTimes replaces Dot and DotRows of plus.times.
func gatherTimes[F dots.Float](s *cpu.Kernels) {
	if !dots.Available {
		return
	}
	k := typedKernels[F, F, F](s)
	plain := k.Dot
	k.DotRows = func(y []F, _ *F, ptr []int64, ci []int32, av, x []F) {
		dots.PlusTimes(y, ptr, ci, av, x)
	}
	k.Dot = func(y *F, ci []int32, av, x []F) {
		if long(*y, ci) {
			*y = dots.PlusTimesRow(ci, av, x)
			return
		}
		plain(y, ci, av, x)
	}
}

// gatherSecond replaces Dot and DotRows of plus.second.
func gatherSecond[F dots.Float](s *cpu.Kernels) {
	if !dots.Available {
		return
	}
	k := typedKernels[uint8, F, F](s)
	plain := k.Dot
	k.DotRows = func(y []F, _ *F, ptr []int64, ci []int32, _ []uint8, x []F) {
		dots.PlusSecond(y, ptr, ci, x)
	}
	k.Dot = func(y *F, ci []int32, av []uint8, x []F) {
		if long(*y, ci) {
			*y = dots.PlusSecondRow(ci, x)
			return
		}
		plain(y, ci, av, x)
	}
}

// gatherLeast replaces Dot and DotRows of min.plus.
func gatherLeast[F dots.Float](s *cpu.Kernels) {
	if !dots.Available {
		return
	}
	k := typedKernels[F, F, F](s)
	plain := k.Dot
	k.DotRows = func(y []F, id *F, ptr []int64, ci []int32, av, x []F) {
		dots.MinPlus(y, *id, ptr, ci, av, x)
		for i, v := range y {
			if v == 0 { // of −0 and 0, the Go loops return the first
				lo, hi := ptr[i], ptr[i+1]
				y[i] = *id
				plain(&y[i], ci[lo:hi], av[lo:hi], x)
			}
		}
	}
	k.Dot = func(y *F, ci []int32, av, x []F) {
		if len(ci) >= gatheredFrom {
			if v := dots.MinPlusRow(*y, ci, av, x); v != 0 {
				*y = v
				return
			}
		}
		plain(y, ci, av, x)
	}
}
