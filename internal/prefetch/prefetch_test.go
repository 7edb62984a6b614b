package prefetch

import (
	"testing"
	"unsafe"
)

// TestChangesNothing: prefetches do not change memory.
func TestChangesNothing(t *testing.T) {
	val, idx := make([]float64, 1<<12), make([]int32, 1<<12)
	for i := range val {
		val[i], idx[i] = float64(i), int32(i)
	}
	for _, p := range []int{0, 1, 1000, len(val) - 1} {
		Row(unsafe.Pointer(&val[p]), unsafe.Pointer(&idx[p]))
		Ahead(unsafe.Pointer(&val[p]), unsafe.Pointer(&idx[p]))
	}
	for i := range val {
		if val[i] != float64(i) || idx[i] != int32(i) {
			t.Fatalf("entry %d is %v, %d", i, val[i], idx[i])
		}
	}
}
