package fresh

import (
	"sync"
	"unsafe"

	"golang.org/x/sys/unix"
)

// hugePage is the size of a huge page on most processors. On others the gain is smaller.
const hugePage = 1 << 21

// advised holds the page numbers of earlier requests: memory that the collector reuses keeps the
// advice.
var advised = struct {
	sync.Mutex
	pages map[uintptr]struct{}
}{pages: map[uintptr]struct{}{}}

// advise requests huge pages within n bytes from p: for untouched memory at its first use, for
// other memory at once (from Linux 6.1). It ignores errors: the pages then keep their size.
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
