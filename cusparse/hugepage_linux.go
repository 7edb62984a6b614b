package cusparse

import (
	"syscall"
	"unsafe"
)

// largePages asks for large pages for fresh memory: a page of 2 MB is cleared at
// once, where 4 KB at a time costs more than the copy that fills them.
func largePages(p unsafe.Pointer, bytes int64) {
	const page, madviseHugepage = 1 << 12, 14
	lo := (uintptr(p) + page - 1) &^ (page - 1)
	off := int64(lo - uintptr(p))
	if n := (bytes - off) &^ (page - 1); n > 0 {
		_ = syscall.Madvise(unsafe.Slice((*byte)(unsafe.Add(p, off)), n), madviseHugepage)
	}
}
