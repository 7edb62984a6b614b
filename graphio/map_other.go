//go:build !unix

package graphio

import "os"

// mapFile reads the file, on systems without a mapping.
func mapFile(path string) ([]byte, error) { return os.ReadFile(path) }

func unmap([]byte) error { return nil }
