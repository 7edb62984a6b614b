// Package results compares vectors that two plans of one product have computed, as bytes.
package results

import (
	"bytes"
	"fmt"
	"math"
	"reflect"
	"unsafe"
)

// Vector is a vector on the host: a byte for each position, 0 where there is no entry or nil if
// there are all, and the values of all positions.
type Vector struct {
	Present []uint8
	Values  []byte
}

func (v Vector) at(i, size int) (x []byte, ok bool) {
	return v.Values[i*size : (i+1)*size], v.Present == nil || v.Present[i] != 0
}

// Difference names the first position at which got differs from want, "" if there is none. Floats
// may differ as sums in another order do: by a share of the larger one, or of the largest of want,
// since terms may cancel.
func Difference(kind reflect.Kind, size int, want, got Vector) string {
	number := func(x []byte) float64 {
		if kind == reflect.Float32 {
			return float64(*(*float32)(unsafe.Pointer(&x[0])))
		}
		return *(*float64)(unsafe.Pointer(&x[0]))
	}
	float, tolerance := kind == reflect.Float32 || kind == reflect.Float64, 1e-9
	if kind == reflect.Float32 {
		tolerance = 1e-3
	}
	n, largest := len(want.Values)/size, 0.0
	for i := 0; float && i < n; i++ {
		if x, ok := want.at(i, size); ok && !math.IsNaN(number(x)) && !math.IsInf(number(x), 0) {
			largest = max(largest, math.Abs(number(x)))
		}
	}
	for i := range n {
		x, is := want.at(i, size)
		y, has := got.at(i, size)
		switch {
		case is != has:
			return fmt.Sprintf("position %d has an entry: %t, want %t", i, has, is)
		case !is || bytes.Equal(x, y):
		case float && (number(x) == number(y) || math.Abs(number(x)-number(y)) <= tolerance*largest || math.IsNaN(number(x)) && math.IsNaN(number(y))):
		case float:
			return fmt.Sprintf("position %d is %v, want %v", i, number(y), number(x))
		default:
			return fmt.Sprintf("position %d is %x, want %x (bytes)", i, y, x)
		}
	}
	return ""
}
