package matrix_test

import (
	"math"
	"strings"
	"testing"
	"unsafe"

	"github.com/hiveblas/hiveblas/matrix"
)

// paddedPair has bytes between its fields, which == ignores.
type paddedPair struct {
	A int8
	B int64
}

// pairWith returns a pair with all bytes between the fields set to fill.
func pairWith(a int8, b int64, fill byte) (p paddedPair) {
	bytes := unsafe.Slice((*byte)(unsafe.Pointer(&p)), unsafe.Sizeof(p))
	for i := range bytes {
		bytes[i] = fill
	}
	p.A, p.B = a, b
	return p
}

// equality compares matrices of one value as == compares the values, at once and row by row.
func equality[T comparable](t *testing.T, reason string, x, y T) {
	t.Helper()
	want := x == y
	one := func(v T, f matrix.Format) *matrix.Matrix[T] {
		a, err := matrix.FromTuples(3, 3, []int{1, 1, 2}, []int{0, 2, 1}, []T{v, v, v}, nil)
		if err != nil {
			t.Fatal(err)
		}
		if err := a.SetFormat(f); err != nil {
			t.Fatal(err)
		}
		return a
	}
	for _, f := range []matrix.Format{matrix.CSR, matrix.Hypersparse, matrix.Bitmap} {
		if got := one(x, matrix.CSR).Equal(one(y, f)); got != want {
			t.Errorf("%s: Equal of %v and %v (%v) is %v, want %v", reason, x, y, f, got, want)
		}
	}
	a := one(x, matrix.CSR)
	for _, v := range []T{x, y} {
		if err := a.Set(1, 2, v); err != nil {
			t.Fatal(err)
		}
		if err := a.Set(2, 1, x); err != nil {
			t.Fatal(err)
		}
		if err := a.Delete(1, 0); err != nil {
			t.Fatal(err)
		}
		if got, want := a.IsSymmetric(), x == v; got != want {
			t.Errorf("%s: IsSymmetric with %v and %v is %v, want %v", reason, x, v, got, want)
		}
	}
}

// TestEquality: values are equal by the == of their type, and not by their bytes.
func TestEquality(t *testing.T) {
	nan, zero := math.NaN(), 0.0
	equality(t, "zeros of both signs are equal", zero, math.Copysign(0, -1))
	equality(t, "also as float32", float32(0), float32(math.Copysign(0, -1)))
	equality(t, "NaN differs from itself", nan, nan)
	equality(t, "NaN in a struct", struct{ X float32 }{float32(nan)}, struct{ X float32 }{float32(nan)})
	equality(t, "complex numbers of two zeros", complex(0, 0), complex(math.Copysign(0, -1), 0))
	equality(t, "padding has no value", pairWith(1, 2, 0), pairWith(1, 2, 0xff))
	equality(t, "padding hides no value", pairWith(1, 2, 0), pairWith(1, 3, 0))
	equality(t, "strings at two addresses", strings.Repeat("a", 9), strings.Repeat("a", 9))
	equality(t, "interfaces of two types", any(1), any(1.0))
	equality(t, "interfaces with equal values", any("x"), any("x"))
	equality(t, "bools", true, false)
	equality(t, "integers", int16(-1), int16(1))
	equality(t, "values without size", struct{}{}, struct{}{})
}

// TestUncomparable: values whose == panics make a comparison panic as in Go, on the goroutine of
// the caller. Nothing else compares values.
func TestUncomparable(t *testing.T) {
	a, err := matrix.FromTuples(2, 2, []int{0, 1}, []int{1, 0}, []any{[]int{1}, []int{2}}, nil)
	if err != nil {
		t.Fatal(err)
	}
	for name, compare := range map[string]func() bool{
		"Equal":       func() bool { return a.Equal(a.Clone()) },
		"IsSymmetric": a.IsSymmetric,
	} {
		func() {
			defer func() {
				if r, ok := recover().(error); !ok || !strings.Contains(r.Error(), "uncomparable") {
					t.Errorf("%s panics with %v", name, r)
				}
			}()
			t.Errorf("%s of slices is %v", name, compare())
		}()
	}
	if x, ok := a.At(1, 0); !ok || x.([]int)[0] != 2 || a.NVals() != 2 {
		t.Error("the matrix is of no use afterwards")
	}
}
