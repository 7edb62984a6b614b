package matrix_test

import (
	"math"
	"strings"
	"testing"
	"unsafe"

	"github.com/hiveblas/hiveblas/internal/sure"
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

// TestUncomparable: values whose == panics differ, and the matrices that hold them stay usable.
func TestUncomparable(t *testing.T) {
	uncomparable(t, "interfaces", any([]int{1}), any(map[int]int{}))
	uncomparable(t, "an interface in a struct", struct{ X any }{[]int{1}}, struct{ X any }{[]int{1}})
	uncomparable(t, "functions in an array", [2]any{1, func() {}}, [2]any{1, func() {}})
	a, err := matrix.FromTuples(2, 2, []int{0, 1}, []int{1, 0}, []any{[]int{1}, []int{2}}, nil)
	if err != nil {
		t.Fatal(err)
	}
	if a.Equal(a.Clone()) || a.IsSymmetric() {
		t.Error("slices are equal")
	}
	if x, ok := a.At(1, 0); !ok || x.([]int)[0] != 2 || a.NVals() != 2 {
		t.Error("the matrix is of no use afterwards")
	}
}

// uncomparable tests values for which == panics.
func uncomparable[T comparable](t *testing.T, name string, x, y T) {
	t.Helper()
	a := sure.Get(matrix.FromTuples(2, 2, []int{0, 1}, []int{1, 0}, []T{x, y}, nil))
	if b := sure.Get(matrix.FromTuples(2, 2, []int{0, 1}, []int{1, 0}, []T{x, x}, nil)); a.Equal(b) || b.IsSymmetric() {
		t.Errorf("%s: the matrices are equal", name)
	}
	u := sure.Get(matrix.VectorOf([]T{x, y}))
	if u.Equal(u.Clone()) {
		t.Errorf("%s: the vectors are equal", name)
	}
	if !a.EqualFunc(a.Clone(), func(T, T) bool { return true }) {
		t.Errorf("%s: EqualFunc compares by ==", name)
	}
}
