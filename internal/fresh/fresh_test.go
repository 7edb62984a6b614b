package fresh

import (
	"runtime"
	"testing"
	"unsafe"
)

type pair struct {
	A int32
	B [2]float64
}

func testMake[T comparable](t *testing.T, n int64, v T) {
	t.Helper()
	a := Make[T](n)
	if int64(len(a)) != n {
		t.Fatalf("%d items, want %d", len(a), n)
	}
	if n > 0 && uintptr(unsafe.Pointer(&a[0]))%unsafe.Alignof(v) != 0 {
		t.Error("not aligned")
	}
	for i := range a {
		a[i] = v
	}
	runtime.GC()
	for i, x := range a {
		if x != v {
			t.Fatalf("item %d is %v after a collection, want %v", i, x, v)
		}
	}
}

// TestMake writes and reads arrays of several types, across a collection.
func TestMake(t *testing.T) {
	for _, n := range []int64{0, 1, 1 << 10, 1<<20 + 3} {
		testMake(t, n, int8(7))
		testMake(t, n, int64(-7))
		testMake(t, n, float32(7))
		testMake(t, n, pair{1, [2]float64{2, 3}})
		testMake(t, n, "with a pointer")
		testMake(t, n, true)
	}
}

// TestCleared allocates arrays in memory that other arrays have written to.
func TestCleared(t *testing.T) {
	for range 10 {
		a := Make[int64](1 << 16)
		for i := range a {
			a[i] = -1
		}
		runtime.GC()
		Cleared(func() {
			for i, x := range Make[int64](1 << 16) {
				if x != 0 {
					t.Fatalf("item %d is %d", i, x)
				}
			}
		})
	}
}
