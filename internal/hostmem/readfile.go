package hostmem

import (
	"io"
	"os"
)

// ReadFile reads a file of the system. os.ReadFile asks for the size of the file first, by which a
// program links the texts of times and modes; these files have no size.
func ReadFile(name string) ([]byte, error) {
	f, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return io.ReadAll(f)
}
