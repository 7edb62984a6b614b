//go:build !unix

package mapped

import "os"

// Map reads the file, on systems without a mapping.
func Map(path string) ([]byte, error) { return os.ReadFile(path) }

// Unmap does nothing but forget the bytes: they are a copy.
func Unmap(data []byte) error {
	forget(data)
	return nil
}
