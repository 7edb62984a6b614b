//go:build amd64 || arm64

package prefetch

import "unsafe"

// Row asks for the lines from val on, four, and from idx on, two: a row of 32
// entries of 8 bytes. What lies there need not be readable.
//
//go:noescape
func Row(val, idx unsafe.Pointer)

// Ahead asks for what comes Bytes after val, two lines, and after idx, one:
// what a loop over 16 entries will want some rounds later.
//
//go:noescape
func Ahead(val, idx unsafe.Pointer)
