// Package capacity tells before an allocation whether there is memory for it. The Go runtime ends the
// process where there is not.
package capacity

import (
	"math"
	"math/bits"
	"runtime"
	"runtime/metrics"

	"github.com/hiveblas/hiveblas/internal/hostmem"
)

// small is the number of bytes that are not asked for: reading what there is takes some 50 µs.
const small = 1 << 26

// limit is the largest number of bytes that the runtime allocates at once, where the memory is
// unknown.
const limit = 1 << 47

// Fits reports whether n items of size bytes can be allocated: their bytes, which saturate, and the
// bytes that there are.
func Fits(n, size int64) (bytes, have int64, ok bool) {
	bytes = math.MaxInt64
	if hi, lo := bits.Mul64(uint64(n), uint64(size)); hi == 0 && lo <= math.MaxInt64 {
		bytes = int64(lo)
	}
	if bytes <= small {
		return bytes, limit, true
	}
	if have = room(); bytes > have {
		runtime.GC() // what it frees can be allocated
		have = room()
	}
	return bytes, have, bytes <= have
}

// room returns the bytes that the system can provide, with those that the runtime holds and does not
// use, within the limit of the address space.
func room() int64 {
	have := hostmem.Available()
	if have <= 0 {
		have = limit
	}
	free := []metrics.Sample{{Name: "/memory/classes/heap/free:bytes"}}
	metrics.Read(free)
	return min(have+int64(free[0].Value.Uint64()), addressSpace())
}
