//go:build amd64 || arm64

package prefetch

import "unsafe"

// Row prefetches four lines from val and two from idx: a row of 32 entries of 8 bytes. The
// addresses need not be readable.
//
//go:noescape
func Row(val, idx unsafe.Pointer)

// Ahead prefetches two lines at Bytes after val and one after idx, which a loop over 16 entries
// reads some rounds later.
//
//go:noescape
func Ahead(val, idx unsafe.Pointer)
