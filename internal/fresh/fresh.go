// Package fresh allocates large arrays without clearing them, for code that writes every item: one
// processor clears 10 GB/s, which is slower than the copies that fill the arrays.
package fresh

import (
	"reflect"
	"strings"
	"sync/atomic"
	"unsafe"
)

// from is the size in bytes from which Make does not clear.
const from = 1 << 16

// hugeFrom is the size from which Make requests huge pages, on systems that leave the choice to
// programs (as Ubuntu does). An array of 100 MB otherwise has 25000 pages, each with a fault, and a
// TLB entry for random access: the transpose of R-MAT 18 takes 88 ms with huge pages on two
// processors, 113 without.
const hugeFrom = 4 << 20

// clearing counts the calls of Cleared in progress.
var clearing atomic.Int32

// Cleared runs f while Make clears all arrays: for matrices of fake devices: no kernel writes their
// entries.
func Cleared(f func()) {
	clearing.Add(1)
	defer clearing.Add(-1)
	f()
}

// Make returns n items, which the caller must write before it reads them. Make clears small arrays
// and arrays of types with pointers.
func Make[T any](n int64) []T {
	size := int64(unsafe.Sizeof(*new(T)))
	if n*size < from || !Plain[T]() {
		return make([]T, n)
	}
	if p := Bytes(n * size); p != nil {
		return unsafe.Slice((*T)(p), n)
	}
	return make([]T, n)
}

// Bytes returns the address of n bytes of any content at the beginning of a page, nil if Make would
// clear them. It is for types without pointers for which every bit pattern is a value.
func Bytes(n int64) unsafe.Pointer {
	if n < from || clearing.Load() > 0 {
		return nil
	}
	p := unsafe.Pointer(unsafe.SliceData(uncleared(n)))
	if p != nil && n >= hugeFrom {
		advise(p, n)
	}
	return p
}

// builderBuffer is the offset of the buffer within a strings.Builder, or −1 if
// this version of Go keeps it elsewhere.
var builderBuffer = func() int {
	b := reflect.TypeFor[strings.Builder]()
	for i := range b.NumField() { // FieldByName is larger by the rules of embedded fields
		if f := b.Field(i); f.Name == "buf" && f.Type == reflect.TypeFor[[]byte]() {
			return int(f.Offset)
		}
	}
	return -1
}()

// uncleared returns n bytes of any content, or nil. The standard library clears
// every allocation but the buffer of a strings.Builder, which Grow makes. The
// buffer is taken from the field of the Builder, by its type and offset, before
// any string shares it: bytes of strings must not be written. A large buffer
// begins at a page.
func uncleared(n int64) []byte {
	if builderBuffer < 0 {
		return nil
	}
	var b strings.Builder
	b.Grow(int(n))
	buf := *(*[]byte)(unsafe.Add(unsafe.Pointer(&b), builderBuffer))
	if int64(cap(buf)) < n {
		return nil
	}
	return buf[:n]
}

// Plain reports whether every bit pattern is a valid T without pointers.
func Plain[T any]() bool { return PlainType(reflect.TypeFor[T]()) }

// PlainType reports whether every bit pattern is a valid T without pointers.
func PlainType(t reflect.Type) bool {
	switch k := t.Kind(); {
	case k >= reflect.Int && k <= reflect.Complex128 && k != reflect.Uintptr:
		return true
	case k == reflect.Array:
		return PlainType(t.Elem())
	case k == reflect.Struct:
		for i := range t.NumField() {
			if !PlainType(t.Field(i).Type) {
				return false
			}
		}
		return true
	}
	return false
}
