package rowsum

import (
	"unsafe"

	"golang.org/x/sys/cpu"
)

var wide = cpu.X86.HasAVX2 && cpu.X86.HasFMA

// sum64 sets 64 items of y to the sum of n rows, n above 0: Σ val[p]·x[idx[p]·step …], step in
// bytes.
//
//go:noescape
func sum64(y *float32, n int, val *float32, idx *int32, x *float32, step int)

// plain64 is sum64 with weights of 1.
//
//go:noescape
func plain64(y *float32, n int, idx *int32, x *float32, step int)

// relu8 and scale8 take n items, a multiple of 8 above 0.
//
//go:noescape
func relu8(x *float32, n int) (squares float32)

//go:noescape
func scale8(x *float32, n int, a float32)

func sumWide(y []float32, idx []int32, val []float32, x Matrix, begin int) {
	from, n := &x.Val[begin], len(idx)
	if val == nil {
		plain64(&y[0], n, &idx[0], from, 4*x.Step)
		return
	}
	sum64(&y[0], n, unsafe.SliceData(val[:n]), &idx[0], from, 4*x.Step)
}

func reluWide(x []float32) float32 {
	if len(x) == 0 {
		return 0
	}
	return relu8(&x[0], len(x))
}

func scaleWide(x []float32, a float32) {
	if len(x) > 0 {
		scale8(&x[0], len(x), a)
	}
}
