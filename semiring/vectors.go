package semiring

import (
	"runtime"
	"unsafe"

	"gonum.org/v1/gonum/blas/gonum"

	"github.com/hiveblas/hiveblas/internal/cpu"
)

// vectorFrom is the number of values from which the vector instructions of gonum take no more time
// than a loop: 64 values of float32 24.7 → 11.0 ns, 16 values 7.7 → 8.0.
const vectorFrom = 16

// vectors replaces Axpy of plus.times and plus.second over float32 and float64 by gonum's, which
// has vector instructions on amd64 and rounds as the loop does, each product and each sum.
func vectors[A, B, C Number, P addTag, M mulTag](k *cpu.KernelsOf[A, B, C]) {
	var p P
	var m M
	second := len(m) == len(mulSecond{})
	if runtime.GOARCH != "amd64" || len(p) != len(addPlus{}) || !second && len(m) != len(mulTimes{}) {
		return
	}
	switch {
	case is[B, float32]() && is[C, float32]() && (second || is[A, float32]()):
		k.Axpy = vectorAxpy(k.Axpy, second, gonum.Implementation{}.Saxpy)
	case is[B, float64]() && is[C, float64]() && (second || is[A, float64]()):
		k.Axpy = vectorAxpy(k.Axpy, second, gonum.Implementation{}.Daxpy)
	}
}

// vectorAxpy returns Axpy by a function of BLAS, whose F is B and C. second: by 1, not by x.
func vectorAxpy[A, B, C Number, F Float](
	plain func(y []C, x *A, b []B), second bool, axpy func(n int, alpha F, x []F, incX int, y []F, incY int),
) func(y []C, x *A, b []B) {
	return func(y []C, x *A, b []B) {
		alpha := F(1)
		if !second {
			alpha = F(*x)
		}
		if len(b) < vectorFrom || alpha == 0 { // BLAS takes 0·∞ for 0
			plain(y, x, b)
			return
		}
		axpy(len(b), alpha, *(*[]F)(unsafe.Pointer(&b)), 1, *(*[]F)(unsafe.Pointer(&y)), 1)
	}
}

// is reports whether T is the type U itself.
func is[T, U any]() bool {
	_, ok := any(*new(T)).(U)
	return ok
}
