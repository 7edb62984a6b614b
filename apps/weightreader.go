package apps

import (
	"reflect"
	"slices"
	"unsafe"

	"github.com/hiveblas/hiveblas/semiring"
)

// A weightReader returns the items lo to hi of a list as floats. It may write them to the buffer,
// and return that, or a larger one.
type weightReader func(buffer []float64, lo, hi int64) []float64

// numbersOf returns the numbers of a list, of which false is 0 and true is 1. nil is a list of
// ones.
func numbersOf[T semiring.Element](list []T) weightReader {
	if list == nil {
		return func(buffer []float64, lo, hi int64) []float64 {
			buffer = slices.Grow(buffer[:0], int(hi-lo))[:hi-lo]
			for k := range buffer {
				buffer[k] = 1
			}
			return buffer
		}
	}
	switch reflect.TypeFor[T]().Kind() {
	case reflect.Float64:
		floats := sameBytes[float64](list)
		return func(_ []float64, lo, hi int64) []float64 { return floats[lo:hi] }
	case reflect.Float32:
		return converted(sameBytes[float32](list))
	case reflect.Bool, reflect.Uint8:
		return converted(sameBytes[uint8](list))
	case reflect.Int8:
		return converted(sameBytes[int8](list))
	case reflect.Int16:
		return converted(sameBytes[int16](list))
	case reflect.Int32:
		return converted(sameBytes[int32](list))
	case reflect.Int:
		return converted(sameBytes[int](list))
	case reflect.Int64:
		return converted(sameBytes[int64](list))
	case reflect.Uint16:
		return converted(sameBytes[uint16](list))
	case reflect.Uint32:
		return converted(sameBytes[uint32](list))
	case reflect.Uint:
		return converted(sameBytes[uint](list))
	}
	return converted(sameBytes[uint64](list))
}

func converted[N semiring.Number](list []N) weightReader {
	return func(buffer []float64, lo, hi int64) []float64 {
		buffer = slices.Grow(buffer[:0], int(hi-lo))[:hi-lo]
		for k, x := range list[lo:hi] {
			buffer[k] = float64(x)
		}
		return buffer
	}
}

// sameBytes returns a list as one of a type with the same representation.
func sameBytes[N, T any](list []T) []N {
	return unsafe.Slice((*N)(unsafe.Pointer(unsafe.SliceData(list))), len(list))
}
