package prefetch

import (
	"runtime/debug"
	"syscall"
	"testing"
	"unsafe"
)

// TestUnreadable prefetches from pages that cannot be read, as rows at the end
// of an array do. A load in place of the prefetch would fault.
func TestUnreadable(t *testing.T) {
	defer debug.SetPanicOnFault(debug.SetPanicOnFault(true))
	page := syscall.Getpagesize()
	m, err := syscall.Mmap(-1, 0, 4*page, syscall.PROT_NONE, syscall.MAP_ANON|syscall.MAP_PRIVATE)
	if err != nil {
		t.Skip(err)
	}
	defer func() {
		if err := syscall.Munmap(m); err != nil {
			t.Error(err)
		}
	}()
	p := unsafe.Pointer(unsafe.SliceData(m))
	faults := func(f func()) (faulted bool) {
		defer func() { faulted = recover() != nil }()
		f()
		return false
	}
	if !faults(func() { sink = *(*byte)(p) }) {
		t.Fatal("a load of an unreadable page does not fault")
	}
	for name, prefetch := range map[string]func(val, idx unsafe.Pointer){"Row": Row, "Ahead": Ahead} {
		if faults(func() { prefetch(p, p) }) {
			t.Errorf("%s reads memory", name)
		}
	}
}

var sink byte
