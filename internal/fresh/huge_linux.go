package fresh

import (
	"sync"
	"unsafe"

	"golang.org/x/sys/unix"
)

// hugePage is the size of one on most processors; where it is another, less is
// won.
const hugePage = 1 << 21

// advised are the numbers of the pages that were asked for: memory that the
// collector got back and gives out again keeps what was said of it.
var advised = struct {
	sync.Mutex
	pages map[uintptr]struct{}
}{pages: map[uintptr]struct{}{}}

// advise asks for huge pages within n bytes from p: where memory was never
// touched for its first use, and where it was, at once (from Linux 6.1). A
// kernel that has none refuses, which is all right.
func advise(p unsafe.Pointer, n int64) {
	first := (uintptr(p) + hugePage - 1) / hugePage
	end := (uintptr(p) + uintptr(n)) / hugePage
	fresh := false
	advised.Lock()
	for page := first; page < end; page++ {
		if _, known := advised.pages[page]; !known {
			advised.pages[page] = struct{}{}
			fresh = true
		}
	}
	advised.Unlock()
	if fresh {
		whole := unsafe.Slice((*byte)(unsafe.Add(p, first*hugePage-uintptr(p))), (end-first)*hugePage)
		_ = unix.Madvise(whole, unix.MADV_HUGEPAGE)
		_ = unix.Madvise(whole, unix.MADV_COLLAPSE)
	}
}
