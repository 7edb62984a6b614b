package capacity

import (
	"math"
	"os"
	"strconv"
	"strings"
	"syscall"
)

// addressSpace returns the bytes that the limit of the address space (ulimit -v) leaves to the
// process: a part of them, because the runtime needs memory of its own for a larger heap, and does not
// always find room for an array in what it has mapped.
func addressSpace() int64 {
	var limit syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_AS, &limit); err != nil || limit.Cur > math.MaxInt64 {
		return math.MaxInt64
	}
	text, err := os.ReadFile("/proc/self/statm") // in pages, the size first
	if err != nil {
		return math.MaxInt64
	}
	size, _, _ := strings.Cut(string(text), " ")
	pages, err := strconv.ParseInt(size, 10, 64)
	if err != nil {
		return math.MaxInt64
	}
	return max(0, int64(limit.Cur)-pages*int64(os.Getpagesize())) / 16 * 15
}
