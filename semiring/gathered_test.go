package semiring

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/hiveblas/hiveblas/internal/cpu"
	"github.com/hiveblas/hiveblas/internal/dots"
)

// TestGathered compares Dot and DotRows of package dots with the Go loops, bit for bit.
func TestGathered(t *testing.T) {
	if !dots.Available {
		t.Skip("no loops of package dots")
	}
	gatheredTypes[float64](t, kindFloat64, "")
	gatheredTypes[float32](t, kindFloat32, " of float32")
}

func gatheredTypes[T Float](t *testing.T, k kind, suffix string) {
	times, second, least := plusTimesKernels(k), plusSecondKernels(k), minPlusKernels(k)
	gatheredTest[T, T](t, "plus.times"+suffix, 0, &times, summing[T, T, T, addPlus, mulTimes]())
	gatheredTest[uint8, T](t, "plus.second"+suffix, 0, &second, gathering[uint8, T, T, addPlus, mulSecond]())
	gatheredTest[T, T](t, "min.plus"+suffix, T(math.Inf(1)), &least, choosingFloats[T, T, T, addMin, mulPlus]())
}

func gatheredTest[A Number, T Float](t *testing.T, name string, id T, loops *cpu.Kernels, others cpu.Kernels) {
	k, plain := typedKernels[A, T, T](loops), typedKernels[A, T, T](&others)
	r := rand.New(rand.NewPCG(3, 4))
	value := func() T {
		switch r.IntN(30) {
		case 0:
			return 0
		case 1:
			return T(math.Copysign(0, -1))
		case 2:
			return T(math.Inf(1))
		}
		return T(r.Float64()) - .1
	}
	x := make([]T, 100)
	for j := range x {
		x[j] = value()
	}
	for range 500 {
		ptr, ci, av := []int64{0}, []int32{}, []A{}
		for range 1 + r.IntN(20) {
			for range r.IntN(3 * gatheredFrom) {
				ci, av = append(ci, int32(r.IntN(len(x)))), append(av, A(value()))
			}
			ptr = append(ptr, int64(len(ci)))
		}
		got, want := make([]T, len(ptr)-1), make([]T, len(ptr)-1)
		k.DotRows(got, &id, ptr, ci, av, x)
		plain.DotRows(want, &id, ptr, ci, av, x)
		for i := range want {
			ci, av := ci[ptr[i]:ptr[i+1]], av[ptr[i]:ptr[i+1]]
			for _, s := range []T{id, 3, -3} {
				got, want := s, s
				k.Dot(&got, ci, av, x)
				plain.Dot(&want, ci, av, x)
				equalBits(t, name+": Dot", got, want)
			}
			equalBits(t, name+": DotRows", got[i], want[i])
		}
	}
}

func equalBits[T Float](t *testing.T, what string, got, want T) {
	t.Helper()
	if math.Float64bits(float64(got)) != math.Float64bits(float64(want)) && (got == got || want == want) {
		t.Fatalf("%s: %v, want %v", what, got, want)
	}
}
