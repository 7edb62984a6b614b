package emu

import (
	"bytes"
	"fmt"
	"sort"
	"unsafe"
)

const (
	poison = 0xA5 // of uninitialised memory
	canary = 0xC7 // beside every allocation
	margin = 128  // bytes of canary on either side
)

// untouched is the content of an intact margin. Launches compare it often, so the comparison must
// be fast.
var untouched = bytes.Repeat([]byte{canary}, margin+16)

// allocation is one allocation.
type allocation struct {
	mapping []byte
	start   uintptr
	size    uint64
	place   int // in heap.list
}

// heap is a table of allocations.
type heap struct {
	blocks map[uintptr]*allocation
	list   []*allocation    // the same, for iteration
	freed  map[uintptr]bool // freed addresses not in use again
	sorted []uintptr        // nil after a change of blocks
	bytes  uint64
}

func newHeap() heap {
	return heap{blocks: map[uintptr]*allocation{}, freed: map[uintptr]bool{}}
}

// alloc returns poisoned memory between two canaries.
func (h *heap) alloc(n uint64) (*allocation, error) {
	mapping, err := mmap(2*margin + (n+15)&^15)
	if err != nil {
		return nil, err
	}
	fill(mapping, canary)
	b := &allocation{mapping: mapping, start: uintptr(unsafe.Pointer(&mapping[0])) + margin, size: n}
	fill(b.bytes(0, n), poison)
	h.blocks[b.start] = b
	b.place = len(h.list)
	h.list = append(h.list, b)
	h.sorted = nil
	delete(h.freed, b.start)
	h.bytes += n
	return b, nil
}

// fill doubles the initialised part: copy is much faster than a loop.
func fill(p []byte, v byte) {
	if len(p) == 0 {
		return
	}
	p[0] = v
	for n := 1; n < len(p); n *= 2 {
		copy(p[n:], p[:n])
	}
}

// free frees p, or returns the reason why it cannot.
func (h *heap) free(p uintptr) error {
	b := h.blocks[p]
	if b == nil {
		if h.freed[p] {
			return fmt.Errorf("%#x was freed before", p)
		}
		return fmt.Errorf("%#x is not the start of an allocation", p)
	}
	err := b.intact()
	delete(h.blocks, p)
	last := h.list[len(h.list)-1]
	h.list[b.place], last.place = last, b.place
	h.list = h.list[:len(h.list)-1]
	h.sorted = nil
	h.freed[p] = true
	h.bytes -= b.size
	munmap(b.mapping)
	return err
}

func (b *allocation) bytes(offset, n uint64) []byte {
	return b.mapping[margin+offset : margin+offset+n]
}

// intact checks the canaries.
func (b *allocation) intact() error {
	before, after := b.mapping[:margin], b.mapping[margin+b.size:]
	if bytes.Equal(before, untouched[:margin]) && bytes.Equal(after, untouched[:len(after)]) {
		return nil
	}
	for i, v := range before {
		if v != canary {
			return fmt.Errorf("byte −%d of an allocation of %d bytes was written to", margin-i, b.size)
		}
	}
	for i, v := range after {
		if v != canary {
			return fmt.Errorf("byte %d of an allocation of %d bytes was written to", b.size+uint64(i), b.size)
		}
	}
	return nil
}

// intact checks the canaries of every allocation.
func (h *heap) intact() error {
	for _, b := range h.list {
		if err := b.intact(); err != nil {
			b.repair()
			return err
		}
	}
	return nil
}

// repair restores the canaries, so that damage is reported once.
func (b *allocation) repair() {
	fill(b.mapping[:margin], canary)
	fill(b.mapping[margin+int(b.size):], canary)
}

// find returns the n bytes at p, which must lie in one allocation.
func (h *heap) find(p uintptr, n uint64) ([]byte, error) {
	if h.sorted == nil {
		h.sorted = make([]uintptr, 0, len(h.blocks))
		for a := range h.blocks {
			h.sorted = append(h.sorted, a)
		}
		sort.Slice(h.sorted, func(i, j int) bool { return h.sorted[i] < h.sorted[j] })
	}
	i := sort.Search(len(h.sorted), func(i int) bool { return h.sorted[i] > p }) - 1
	if i >= 0 {
		b := h.blocks[h.sorted[i]]
		if offset := uint64(p - b.start); offset <= b.size && n <= b.size-offset {
			return b.bytes(offset, n), nil
		}
	}
	return nil, fmt.Errorf("%d bytes at %#x are not within an allocation", n, p)
}
