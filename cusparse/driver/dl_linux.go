//go:build linux && (amd64 || arm64)

package driver

import (
	"sync"

	"github.com/ebitengine/purego"
)

func dlopen(path string) (uintptr, error) {
	return purego.Dlopen(path, purego.RTLD_NOW|purego.RTLD_GLOBAL)
}

func dlsym(handle uintptr, name string) (uintptr, error) { return purego.Dlsym(handle, name) }

// call calls a C function of integers and pointers. What the arguments point
// to stays alive and in place until it returns.
//
//go:uintptrescapes
func call(fn uintptr, args ...uintptr) uint32 {
	r, _, _ := purego.SyscallN(fn, args...)
	return uint32(r)
}

// argumentBlocks are for calls that must not allocate, as call does for its
// list of arguments.
var argumentBlocks = sync.Pool{New: func() any { return new([11]uintptr) }}

// call4 is call of up to four arguments; it allocates nothing.
//
//go:uintptrescapes
func call4(fn uintptr, a, b, c, d uintptr) uint32 {
	block := argumentBlocks.Get().(*[11]uintptr)
	block[0], block[1], block[2], block[3] = a, b, c, d
	r, _, _ := purego.SyscallN(fn, block[:4]...)
	argumentBlocks.Put(block)
	return uint32(r)
}

// call11 is call of eleven arguments; it allocates nothing.
//
//go:uintptrescapes
func call11(fn uintptr, a, b, c, d, e, f, g, h, i, j, k uintptr) uint32 {
	block := argumentBlocks.Get().(*[11]uintptr)
	*block = [11]uintptr{a, b, c, d, e, f, g, h, i, j, k}
	r, _, _ := purego.SyscallN(fn, block[:]...)
	argumentBlocks.Put(block)
	return uint32(r)
}

// bind makes fptr, a pointer to a variable of function type, call fn.
func bind(fptr any, fn uintptr) { purego.RegisterFunc(fptr, fn) }
