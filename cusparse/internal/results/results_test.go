package results

import (
	"math"
	"reflect"
	"testing"
	"unsafe"
)

func bytesOf[T any](list ...T) []byte {
	return unsafe.Slice((*byte)(unsafe.Pointer(&list[0])), len(list)*int(unsafe.Sizeof(list[0])))
}

func TestDifference(t *testing.T) {
	nan := math.NaN()
	for _, c := range []struct {
		reason    string
		kind      reflect.Kind
		size      int
		want, got Vector
		differ    bool
	}{
		{"equal", reflect.Float64, 8, Vector{nil, bytesOf(1.0, 2)}, Vector{[]uint8{1, 1}, bytesOf(1.0, 2)}, false},
		{"another order of the sum", reflect.Float64, 8, Vector{nil, bytesOf(1.0, 2)}, Vector{nil, bytesOf(1+1e-12, 2)}, false},
		{"cancelled terms", reflect.Float64, 8, Vector{nil, bytesOf(1e-12, 2)}, Vector{nil, bytesOf(-1e-12, 2)}, false},
		{"a lost term", reflect.Float64, 8, Vector{nil, bytesOf(1.0, 2)}, Vector{nil, bytesOf(1.0, 1.9)}, true},
		{"NaN of other bits", reflect.Float64, 8, Vector{nil, bytesOf(nan, 2)}, Vector{nil, bytesOf(-nan, 2)}, false},
		{"NaN", reflect.Float64, 8, Vector{nil, bytesOf(1.0, 2)}, Vector{nil, bytesOf(nan, 2)}, true},
		{"a number in place of NaN", reflect.Float64, 8, Vector{nil, bytesOf(nan, 2)}, Vector{nil, bytesOf(1.0, 2)}, true},
		{"float32", reflect.Float32, 4, Vector{nil, bytesOf[float32](1, 2)}, Vector{nil, bytesOf[float32](1, 2.0001)}, false},
		{"float32, a lost term", reflect.Float32, 4, Vector{nil, bytesOf[float32](1, 2)}, Vector{nil, bytesOf[float32](1, 2.1)}, true},
		{"integers", reflect.Int32, 4, Vector{nil, bytesOf[int32](1, 1<<30)}, Vector{nil, bytesOf[int32](1, 1<<30+1)}, true},
		{"values of absent entries", reflect.Int32, 4, Vector{[]uint8{0, 1}, bytesOf[int32](1, 2)}, Vector{[]uint8{0, 1}, bytesOf[int32](7, 2)}, false},
		{"a lost entry", reflect.Int32, 4, Vector{nil, bytesOf[int32](1, 2)}, Vector{[]uint8{0, 1}, bytesOf[int32](1, 2)}, true},
	} {
		if d := Difference(c.kind, c.size, c.want, c.got); (d != "") != c.differ {
			t.Errorf("%s: %q", c.reason, d)
		}
	}
}
