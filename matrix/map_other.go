//go:build !unix

package matrix

import "os"

// mapFile reads the file: this system maps none here.
func mapFile(path string) ([]byte, error) { return os.ReadFile(path) }

func unmap([]byte) error { return nil }
