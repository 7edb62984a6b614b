package chunked

import (
	"syscall"
	"unsafe"
)

// largePages requests large pages for fresh memory: the kernel then clears 2 MB at once, while
// clearing 4 KB at a time costs more than the copy that fills it.
func largePages(b []byte) {
	const page, madviseHugepage = 1 << 12, 14
	if len(b) < 64<<20 {
		return
	}
	off := int(-uintptr(unsafe.Pointer(unsafe.SliceData(b))) & (page - 1))
	_ = syscall.Madvise(b[off:off+(len(b)-off)&^(page-1)], madviseHugepage)
}
