//go:build linux && (amd64 || arm64)

package dl

import "github.com/ebitengine/purego"

// Supported reports whether libraries can be opened on this platform.
const Supported = true

// Open opens a library; later libraries may use its symbols.
func Open(path string) (uintptr, error) {
	return purego.Dlopen(path, purego.RTLD_NOW|purego.RTLD_GLOBAL)
}

// Symbol returns the address of a symbol.
func Symbol(lib uintptr, name string) (uintptr, error) { return purego.Dlsym(lib, name) }

// Call calls a C function of integers and pointers that returns an int. What the arguments point to
// is on the heap and stays alive until the function returns.
//
//go:uintptrescapes
func Call(fn uintptr, args ...uintptr) int32 {
	r, _, _ := purego.SyscallN(fn, args...)
	return int32(r)
}

// Bind makes fptr, a pointer to a variable of function type, call fn.
func Bind(fptr any, fn uintptr) { purego.RegisterFunc(fptr, fn) }
