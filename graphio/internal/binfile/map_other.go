//go:build !unix

package binfile

import "os"

// mapFile reads the file, on systems without a mapping.
func mapFile(path string) ([]byte, error) { return os.ReadFile(path) }

// Unmap does nothing: the bytes are a copy.
func Unmap([]byte) error { return nil }
