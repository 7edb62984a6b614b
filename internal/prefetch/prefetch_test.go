//go:build unix

package prefetch

import (
	"testing"
	"unsafe"

	"golang.org/x/sys/unix"
)

// TestNoFault prefetches memory that cannot be read: the end of a page, and the
// page after it, which is protected. A load in place of a prefetch is a fault,
// which ends the test binary.
func TestNoFault(t *testing.T) {
	page := unix.Getpagesize()
	mem, err := unix.Mmap(-1, 0, 2*page, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_ANON|unix.MAP_PRIVATE)
	if err != nil {
		t.Skip(err)
	}
	defer func() { _ = unix.Munmap(mem) }()
	for p := range mem[:page] {
		mem[p] = byte(p)
	}
	if err := unix.Mprotect(mem[page:], unix.PROT_NONE); err != nil {
		t.Fatal(err)
	}
	for _, at := range []int{0, page / 2, page - 8, page - 1, page, 2*page - 64} {
		p := unsafe.Pointer(&mem[at])
		Row(p, p)
		Ahead(p, p)
	}
	for p := range mem[:page] {
		if mem[p] != byte(p) {
			t.Fatalf("byte %d is %d after the prefetches, want %d", p, mem[p], byte(p))
		}
	}
}
