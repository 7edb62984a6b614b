package mapped

import "syscall"

const (
	random = syscall.MADV_RANDOM
	needed = syscall.MADV_WILLNEED
)

// advise is a hint; its errors do not matter.
func advise(data []byte, how int) { _ = syscall.Madvise(data, how) }
