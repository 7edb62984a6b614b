package hostmem

import (
	"errors"
	"io"
	"os"
)

// ReadFile reads a file of the system. os.ReadFile asks for the size of the file first, so that a
// program links the texts of times and modes, some 50 kB: these files have no size.
func ReadFile(name string) ([]byte, error) {
	f, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	text := make([]byte, 0, 4096)
	for {
		n, err := f.Read(text[len(text):cap(text)])
		text = text[:len(text)+n]
		if errors.Is(err, io.EOF) {
			return text, nil
		}
		if err != nil {
			return nil, err
		}
		if len(text) == cap(text) {
			text = append(text, 0)[:len(text)]
		}
	}
}
