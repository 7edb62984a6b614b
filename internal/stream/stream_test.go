package stream

import (
	"errors"
	"fmt"
	"testing"
	"unsafe"
)

type pairOf64 struct{ A, B uint64 }

// testBoth copies to and fills parts of an array at all offsets within a line, and compares the
// whole array.
func testBoth[T comparable](t *testing.T, item func(i int) T) {
	t.Helper()
	size := int(unsafe.Sizeof(item(0)))
	perLine := line / size
	src := make([]T, 5*perLine)
	for i := range src {
		src[i] = item(i + 1)
	}
	for lo := range perLine + 1 {
		for _, n := range []int{0, 1, perLine - 1, perLine, perLine + 1, 2*perLine - 1, 3*perLine + 2} {
			for from := range 3 {
				dst := make([]T, 6*perLine)
				Copy(dst[lo:lo+n], src[from:])
				Fence()
				for i, x := range dst {
					want := *new(T)
					if lo <= i && i < lo+n {
						want = src[from+i-lo]
					}
					if x != want {
						t.Fatalf("%T, %d items at %d from %d: item %d is %v, want %v", x, n, lo, from, i, x, want)
					}
				}
			}
			dst := make([]T, 6*perLine)
			Fill(dst[lo:lo+n], item(7))
			Fence()
			for i, x := range dst {
				want := *new(T)
				if lo <= i && i < lo+n {
					want = item(7)
				}
				if x != want {
					t.Fatalf("%T filled, %d items at %d: item %d is %v, want %v", x, n, lo, i, x, want)
				}
			}
		}
	}
}

func TestCopyAndFill(t *testing.T) {
	testBoth(t, func(i int) uint8 { return uint8(i) })
	testBoth(t, func(i int) int16 { return int16(-i) })
	testBoth(t, func(i int) float32 { return float32(i) / 3 })
	testBoth(t, func(i int) float64 { return float64(i) / 3 })
	testBoth(t, func(i int) complex128 { return complex(float64(i), -float64(i)) })
	testBoth(t, func(i int) pairOf64 { return pairOf64{uint64(i), uint64(i * i)} })
	testBoth(t, func(i int) [2]int32 { return [2]int32{int32(i), int32(-i)} })
}

// TestShort: a source that is too short panics, as it does for a slice expression, and nothing is
// written.
func TestShort(t *testing.T) {
	dst := make([]int64, 100)
	defer func() {
		if recover() == nil {
			t.Error("no panic")
		}
		for i, x := range dst {
			if x != 0 {
				t.Errorf("item %d is written", i)
			}
		}
	}()
	Copy(dst, []int64{1, 2, 3, 4, 5, 6, 7, 8, 9})
}

func TestLarge(t *testing.T) {
	type named float64
	for _, x := range []struct {
		name string
		got  bool
		want bool
	}{
		{"few", Large[float64](1000), false},
		{"many", Large[float64](1 << 40), direct},
		{"many of a named type", Large[named](1 << 40), direct},
		{"many pairs", Large[pairOf64](1 << 40), direct},
		{"text", Large[string](1 << 40), false},
		{"pointers", Large[*int](1 << 40), false},
		{"of 12 bytes", Large[[3]int32](1 << 40), false},
		{"of 24 bytes", Large[[3]int64](1 << 40), false},
		{"without bytes", Large[struct{}](1 << 40), false},
	} {
		if x.got != x.want {
			t.Errorf("%s: %t, want %t", x.name, x.got, x.want)
		}
	}
}

func TestLastCache(t *testing.T) {
	none := errors.New("no such file")
	for _, x := range []struct {
		sizes []string // of index2, index3, …
		want  int64
	}{
		{nil, 64 << 20},
		{[]string{"512K\n"}, 512 << 10},
		{[]string{"512K\n", "32768K\n"}, 32 << 20},
		{[]string{"2048K\n", "307200K\n"}, 300 << 20},
		{[]string{"x"}, 64 << 20},
		{[]string{"512K", "many"}, 512 << 10},
	} {
		got := lastCache(func(name string) ([]byte, error) {
			for k, size := range x.sizes {
				if name == fmt.Sprintf("/sys/devices/system/cpu/cpu0/cache/index%d/size", k+2) {
					return []byte(size), nil
				}
			}
			return nil, none
		})
		if got != x.want {
			t.Errorf("%q: %d, want %d", x.sizes, got, x.want)
		}
	}
}
