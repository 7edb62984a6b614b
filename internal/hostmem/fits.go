package hostmem

import (
	"math"
	"math/bits"
	"runtime"
)

// small is the number of bytes up to which Fits does not read the memory left: to read it takes
// some 50 µs.
const small = 1 << 26

// limit is the largest number of bytes that the runtime allocates at once, where the memory is
// unknown.
const limit = 1 << 47

// Fits tells before an allocation whether there is memory for n items of size bytes: the Go runtime
// ends the process where there is not. It returns their bytes, which saturate, and the bytes that
// there are.
func Fits(n, size int64) (bytes, have int64, ok bool) {
	bytes = math.MaxInt64
	if hi, lo := bits.Mul64(uint64(n), uint64(size)); hi == 0 && lo <= math.MaxInt64 {
		bytes = int64(lo)
	}
	if bytes <= small {
		return bytes, limit, true
	}
	if have = usable(); bytes > have {
		runtime.GC() // what it frees can be allocated
		have = usable()
	}
	return bytes, have, bytes <= have
}

// usable is Room less what the runtime itself needs for a larger heap within a limit of the address
// space: it does not always find room for an array in what it has mapped.
func usable() int64 {
	have, bound := Room()
	switch {
	case have <= 0:
		return limit
	case bound == addressLimit:
		return have / 16 * 15
	}
	return have
}
