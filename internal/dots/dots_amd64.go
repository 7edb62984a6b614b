package dots

import (
	"unsafe"

	"golang.org/x/sys/cpu"
)

// distance is how many entries ahead the loops prefetch, with those that they prefetch at once; see
// gen/main.go.
const distance = 64 + 4

// cached is the size in bytes of vectors that caches hold: prefetches cost more than they save
// (R-MAT 18, 2 MB, two threads: 6.0 → 6.3 ms).
const cached = 4 << 20

// prefetches is whether prefetches from the operand save time: on processors by AMD. See
// gen/main.go.
var prefetches = maker() == 'A'|'u'<<8|'t'<<16|'h'<<24

// Available reports whether the processor has the instructions. The functions of this package panic
// without them.
var Available = cpu.X86.HasAVX

// PlusTimes sets y[i] to Σ av[p]·x[ci[p]] over row i of ptr. An index of ci must be below len(x);
// it is not checked.
func PlusTimes[T Float](y []T, ptr []int64, ci []int32, av, x []T) {
	plusTimes(y, ptr, ci, av, x, pays(x))
}

func plusTimes[T Float](y []T, ptr []int64, ci []int32, av, x []T, ahead bool) {
	if run, ok := rowsOf(y, ptr, ci, x, ahead); ok {
		_ = av[:ptr[len(y)]]
		if wide[T]() {
			plusTimes64(at[float64](y), len(y), 0, &ptr[0], &ci[0], at[float64](av), at[float64](x), run)
		} else {
			plusTimes32(at[float32](y), len(y), 0, &ptr[0], &ci[0], at[float32](av), at[float32](x), run)
		}
	}
}

// PlusSecond sets y[i] to Σ x[ci[p]] over row i of ptr, as PlusTimes.
func PlusSecond[T Float](y []T, ptr []int64, ci []int32, x []T) {
	plusSecond(y, ptr, ci, x, pays(x))
}

func plusSecond[T Float](y []T, ptr []int64, ci []int32, x []T, ahead bool) {
	if run, ok := rowsOf(y, ptr, ci, x, ahead); ok {
		if wide[T]() {
			plusSecond64(at[float64](y), len(y), 0, &ptr[0], &ci[0], nil, at[float64](x), run)
		} else {
			plusSecond32(at[float32](y), len(y), 0, &ptr[0], &ci[0], nil, at[float32](x), run)
		}
	}
}

// MinPlus sets y[i] to the least of most and av[p] + x[ci[p]] over row i of ptr, as PlusTimes. It
// ignores sums that are NaN. A minimum of 0 can have either sign.
func MinPlus[T Float](y []T, most T, ptr []int64, ci []int32, av, x []T) {
	minPlus(y, most, ptr, ci, av, x, pays(x))
}

func minPlus[T Float](y []T, most T, ptr []int64, ci []int32, av, x []T, ahead bool) {
	if run, ok := rowsOf(y, ptr, ci, x, ahead); ok {
		_ = av[:ptr[len(y)]]
		if wide[T]() {
			minPlus64(at[float64](y), len(y), float64(most), &ptr[0], &ci[0], at[float64](av), at[float64](x), run)
		} else {
			minPlus32(at[float32](y), len(y), float32(most), &ptr[0], &ci[0], at[float32](av), at[float32](x), run)
		}
		return
	}
	for i := range y {
		y[i] = most
	}
}

// PlusTimesRow returns PlusTimes of one row.
func PlusTimesRow[T Float](ci []int32, av, x []T) T {
	var y [1]T
	PlusTimes(y[:], []int64{0, int64(len(ci))}, ci, av, x)
	return y[0]
}

// PlusSecondRow returns PlusSecond of one row.
func PlusSecondRow[T Float](ci []int32, x []T) T {
	var y [1]T
	PlusSecond(y[:], []int64{0, int64(len(ci))}, ci, x)
	return y[0]
}

// MinPlusRow returns MinPlus of one row.
func MinPlusRow[T Float](most T, ci []int32, av, x []T) T {
	var y [1]T
	MinPlus(y[:], most, []int64{0, int64(len(ci))}, ci, av, x)
	return y[0]
}

// pays reports whether prefetches from a vector save time.
func pays[T Float](x []T) bool {
	return prefetches && len(x)*int(unsafe.Sizeof(*new(T))) > cached
}

// rowsOf returns the last index of ci from which a loop may prefetch if it is to, −1 for none. ok
// is false, and y is clear, if no row has an entry.
func rowsOf[T Float](y []T, ptr []int64, ci []int32, x []T, ahead bool) (last int, ok bool) {
	ptr = ptr[:len(y)+1]
	if len(y) == 0 || ptr[0] == ptr[len(y)] {
		clear(y)
		return 0, false
	}
	_ = ci[:ptr[len(y)]]
	if !ahead || len(ci) < distance {
		return -1, true
	}
	return len(ci) - distance, true
}

func wide[T Float]() bool { return unsafe.Sizeof(*new(T)) == 8 }

func at[U, T Float](x []T) *U { return (*U)(unsafe.Pointer(unsafe.SliceData(x))) }
