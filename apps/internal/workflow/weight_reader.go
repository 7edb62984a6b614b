package workflow

import (
	"reflect"
	"slices"

	"github.com/hiveblas/hiveblas/internal/sparse"
	"github.com/hiveblas/hiveblas/semiring"
)

// A WeightReader returns the items lo to hi of a list as floats. It may write them to the buffer,
// and return that, or a larger one.
type WeightReader func(buffer []float64, lo, hi int64) []float64

// NumbersOf returns the numbers of a list; false is 0 and true is 1. nil is a list of ones.
func NumbersOf[T semiring.Element](list []T) WeightReader {
	return NumbersIn(sparse.TypeOf[T](), sparse.ValuesOf(list))
}

// NumbersIn is numbersOf values of a type.
func NumbersIn(t *sparse.Type, v sparse.Values) WeightReader {
	if v.None() {
		return func(buffer []float64, lo, hi int64) []float64 {
			buffer = slices.Grow(buffer[:0], int(hi-lo))[:hi-lo]
			for k := range buffer {
				buffer[k] = 1
			}
			return buffer
		}
	}
	switch sparse.GoType(t.Under()).Kind() {
	case reflect.Float64:
		floats := sparse.SliceOf[float64](v)
		return func(_ []float64, lo, hi int64) []float64 { return floats[lo:hi] }
	case reflect.Float32:
		return converted(sparse.SliceOf[float32](v))
	case reflect.Bool, reflect.Uint8:
		return converted(sparse.SliceOf[uint8](v))
	case reflect.Int8:
		return converted(sparse.SliceOf[int8](v))
	case reflect.Int16:
		return converted(sparse.SliceOf[int16](v))
	case reflect.Int32:
		return converted(sparse.SliceOf[int32](v))
	case reflect.Int64:
		return converted(sparse.SliceOf[int64](v))
	case reflect.Uint16:
		return converted(sparse.SliceOf[uint16](v))
	case reflect.Uint32:
		return converted(sparse.SliceOf[uint32](v))
	}
	return converted(sparse.SliceOf[uint64](v))
}

func converted[N semiring.Number](list []N) WeightReader {
	return func(buffer []float64, lo, hi int64) []float64 {
		buffer = slices.Grow(buffer[:0], int(hi-lo))[:hi-lo]
		for k, x := range list[lo:hi] {
			buffer[k] = float64(x)
		}
		return buffer
	}
}
