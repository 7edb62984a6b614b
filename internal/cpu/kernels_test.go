package cpu

import (
	"reflect"
	"strings"
	"testing"
	"unsafe"

	"github.com/hiveblas/hiveblas/internal/sparse"
)

// TestKernelLayout: the forms of kernels with and without element types have one memory layout, and
// their functions take arguments of the same kinds in the same order.
func TestKernelLayout(t *testing.T) {
	alike[KernelsOf[bool, int16, string], Kernels](t)
	alike[BinaryOf[bool, int16, string], Binary](t)
	alike[MonoidOf[[3]float32], Monoid](t)
	alike[UnaryOf[float32, string], Unary](t)
	alike[IndexOf[float32, string], Index](t)
	alike[PredicateOf[string], Predicate](t)
	if unsafe.Offsetof(Semiring{}.Kernels) != 0 {
		t.Error("a Semiring does not begin with its kernels")
	}
}

func alike[Typed, Untyped any](t *testing.T) {
	t.Helper()
	x, y := reflect.TypeFor[Typed](), reflect.TypeFor[Untyped]()
	if x.Size() != y.Size() || x.NumField() != y.NumField() {
		t.Fatalf("%v has %d bytes in %d fields, %v %d in %d", x, x.Size(), x.NumField(), y, y.Size(), y.NumField())
	}
	for k := range x.NumField() {
		f, g := x.Field(k), y.Field(k)
		if f.Name != g.Name || f.Offset != g.Offset {
			t.Errorf("field %d is %s at %d and %s at %d", k, f.Name, f.Offset, g.Name, g.Offset)
		}
		if f.Type.Kind() == reflect.Func {
			sameArguments(t, f.Name, f.Type, g.Type)
		} else if f.Type != g.Type && !slice(f.Type, g.Type) {
			t.Errorf("%s is %v and %v", f.Name, f.Type, g.Type)
		}
	}
}

func slice(f, g reflect.Type) bool {
	return f.Kind() == reflect.Slice && g == reflect.TypeFor[Values]()
}

func sameArguments(t *testing.T, name string, f, g reflect.Type) {
	t.Helper()
	if f.NumIn() != g.NumIn() || f.NumOut() != g.NumOut() {
		t.Fatalf("%s is %v and %v", name, f, g)
	}
	for k := range f.NumIn() {
		a, b := f.In(k), g.In(k)
		pointer := a.Kind() == reflect.Pointer && b.Kind() == reflect.UnsafePointer
		if a != b && !slice(a, b) && !pointer {
			t.Errorf("argument %d of %s is %v and %v", k, name, a, b)
		}
	}
	for k := range f.NumOut() {
		if f.Out(k) != g.Out(k) || strings.Contains(f.Out(k).String(), "Values") {
			t.Errorf("%s returns %v and %v", name, f.Out(k), g.Out(k))
		}
	}
}

// TestCalls: a kernel over a struct of strings is called by its form without element types, also
// with more arguments than fit into registers.
func TestCalls(t *testing.T) {
	type word struct{ A, B string }
	k := KernelsOf[word, [5]int8, word]{
		Scatter: func(acc []word, marks []uint64, a *word, ci []int32, bv [][5]int8) {
			for p, j := range ci {
				acc[j] = word{acc[j].A + a.A, acc[j].B + string(rune('0'+bv[p][4]))}
				marks[j>>6] |= 1 << (j & 63)
			}
		},
		DotPresent: func(y *word, ci []int32, av []word, x [][5]int8, present []uint8) bool {
			for p, j := range ci {
				if present[j] != 0 {
					y.A += av[p].B
				}
			}
			return len(x) == 3
		},
	}
	u := k.Untyped()
	acc, marks := make([]word, 70), make([]uint64, 2)
	a, bv := word{"x", "y"}, [][5]int8{{4: 1}, {4: 2}, {4: 3}}
	u.Scatter(valuesOf(acc), marks, unsafe.Pointer(&a), []int32{0, 69, 3}, valuesOf(bv))
	if acc[0] != (word{"x", "1"}) || acc[69] != (word{"x", "2"}) || acc[3] != (word{"x", "3"}) || marks[0] != 9 || marks[1] != 32 {
		t.Errorf("scattered %v, marks %v", acc, marks)
	}
	if !u.DotPresent(unsafe.Pointer(&a), []int32{0, 2}, valuesOf([]word{{B: "p"}, {B: "q"}}), valuesOf(bv), []uint8{0, 0, 1}) || a.A != "xq" {
		t.Errorf("the sum is %v", a)
	}
}

func valuesOf[T any](s []T) Values { return sparse.ValuesOf(s) }
