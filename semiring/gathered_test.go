package semiring

import (
	"math"
	"math/rand/v2"
	"testing"
	"unsafe"

	"github.com/hiveblas/hiveblas/internal/cpu"
	"github.com/hiveblas/hiveblas/internal/dots"
)

// TestGathered compares Dot and DotRows of package dots with the Go loops, bit for bit.
func TestGathered(t *testing.T) {
	if !dots.Available {
		t.Skip("no loops of package dots")
	}
	gatheredTest[float64, addPlus, mulTimes](t, "plus.times")
	gatheredTest[float64, addPlus, mulSecond](t, "plus.second")
	gatheredTest[float64, addMin, mulPlus](t, "min.plus")
	gatheredTest[float32, addPlus, mulTimes](t, "plus.times of float32")
	gatheredTest[float32, addPlus, mulSecond](t, "plus.second of float32")
	gatheredTest[float32, addMin, mulPlus](t, "min.plus of float32")
}

func gatheredTest[T Float, P addTag, M mulTag](t *testing.T, name string) {
	k := typedKernels[T](kernels[T, T, T, P, M]())
	plain := cpu.KernelsOf[T, T, T]{Dot: dot[T, T, T, P, M], DotRows: dotRows[T, T, T, P, M]}
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
	var p P
	id := start[T, P]()
	if len(p) == len(addMin{}) {
		id = T(math.Inf(1))
	}
	for range 500 {
		ptr, ci, av := []int64{0}, []int32{}, []T{}
		for range 1 + r.IntN(20) {
			for range r.IntN(3 * gatheredFrom) {
				ci, av = append(ci, int32(r.IntN(len(x)))), append(av, value())
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

// typedKernels returns kernels over one type with it.
func typedKernels[T any](k cpu.Kernels) *cpu.KernelsOf[T, T, T] {
	return (*cpu.KernelsOf[T, T, T])(unsafe.Pointer(&k))
}
