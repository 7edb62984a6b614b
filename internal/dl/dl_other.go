//go:build !(linux && (amd64 || arm64))

package dl

// Supported reports whether libraries can be opened on this platform.
const Supported = false

// Open returns an error.
func Open(string) (uintptr, error) { return 0, ErrNoLibrary }

// Symbol returns an error.
func Symbol(uintptr, string) (uintptr, error) { return 0, ErrNoLibrary }

// Call is not reached: Open fails.
//
//go:uintptrescapes
func Call(uintptr, ...uintptr) int32 { panic(ErrNoLibrary) }

// Bind does nothing.
func Bind(any, uintptr) {}
