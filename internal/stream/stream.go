// Package stream writes arrays past the caches. An ordinary store first reads the line of memory
// that it changes, and the line then takes the place of another in the caches: a result that is
// larger than they are gains nothing by either. On 16 threads of an Intel Xeon with an L3 of 300 MB
// a loop fills 2 GB at 66 GB/s, this package at 179. An array that the L3 holds is read slower
// after it.
//
// The stores are MOVNTDQ on amd64. Elsewhere Large is false.
package stream

import (
	"strconv"
	"strings"
	"sync/atomic"
	"unsafe"

	"github.com/hiveblas/hiveblas/internal/fresh"
	"github.com/hiveblas/hiveblas/internal/hostmem"
)

// line is the size of a line of memory in bytes.
const line = 64

// Large reports whether a result of n items of T is written past the caches: whether it has as many
// bytes as the last cache or more.
func Large[T any](n int64) bool {
	size := int64(unsafe.Sizeof(*new(T)))
	return direct && n*size >= threshold() && size <= 16 && size&(size-1) == 0 && fresh.Plain[T]()
}

// Bounds of the size in bytes from which Large is true.
const smallest, largest = 16 << 20, 1 << 30

// from is the size in bytes from which Large is true, 0 before the first call.
var from atomic.Int64

func threshold() int64 {
	if from.Load() == 0 {
		from.CompareAndSwap(0, min(max(lastCache(hostmem.ReadFile), smallest), largest))
	}
	return from.Load()
}

// From runs f while Large is true from a size in bytes on: for tests.
func From(size int64, f func()) {
	defer from.Store(from.Swap(size))
	f()
}

// lastCache returns the size in bytes of the last cache of the first processor, or 64 MB where the
// system does not tell.
func lastCache(read func(name string) ([]byte, error)) int64 {
	size := int64(64 << 20)
	for level := 2; level <= 4; level++ {
		text, err := read("/sys/devices/system/cpu/cpu0/cache/index" + strconv.Itoa(level) + "/size")
		if err != nil {
			break
		}
		number, found := strings.CutSuffix(strings.TrimSpace(string(text)), "K")
		if kb, err := strconv.ParseInt(number, 10, 40); err == nil && found {
			size = kb << 10
		}
	}
	return size
}

// Copy copies len(dst) items of src to dst past the caches. T is one for which Large can be true.
// Call Fence before other threads may read them.
func Copy[T any](dst, src []T) {
	src = src[:len(dst)]
	head, lines := split(dst)
	copy(dst[:head], src)
	if lines == 0 {
		return
	}
	copyLines(unsafe.Pointer(&dst[head]), unsafe.Pointer(&src[head]), lines)
	done := head + lines*line/int(unsafe.Sizeof(dst[0]))
	copy(dst[done:], src[done:])
}

// Fill sets the items of dst to x past the caches. T is one for which Large can be true. Call Fence
// before other threads may read them.
func Fill[T any](dst []T, x T) {
	head, lines := split(dst)
	size := int(unsafe.Sizeof(x))
	rest := func(part []T) {
		for i := range part {
			part[i] = x
		}
	}
	rest(dst[:head])
	if lines == 0 {
		return
	}
	var pattern [16]byte
	rest(unsafe.Slice((*T)(unsafe.Pointer(&pattern)), 16/size))
	fillLines(unsafe.Pointer(&dst[head]), &pattern, lines)
	rest(dst[head+lines*line/size:])
}

// split returns the number of items before the first line that begins in dst, all if no line ends
// there, and the number of whole lines after them.
func split[T any](dst []T) (head, lines int) {
	size := int(unsafe.Sizeof(*new(T)))
	head = int(-uintptr(unsafe.Pointer(unsafe.SliceData(dst)))%line) / size
	if lines = (len(dst) - head) * size / line; lines <= 0 {
		return len(dst), 0
	}
	return head, lines
}

// Fence lets no later store of the thread become visible before the stores of Copy and Fill.
func Fence() { fence() }
