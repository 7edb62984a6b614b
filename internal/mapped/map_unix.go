//go:build unix

package mapped

import (
	"io/fs"
	"os"
	"syscall"
)

// Map maps a file into memory; writes stay private to the process.
func Map(path string) ([]byte, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil || info.Size() == 0 {
		return nil, err
	}
	data, err := syscall.Mmap(int(f.Fd()), 0, int(info.Size()), syscall.PROT_READ|syscall.PROT_WRITE, syscall.MAP_PRIVATE)
	if err != nil {
		return nil, &fs.PathError{Op: "mmap", Path: path, Err: err}
	}
	return data, nil
}

// Unmap releases the bytes of Map.
func Unmap(data []byte) error {
	if len(data) == 0 {
		return nil
	}
	forget(data)
	return syscall.Munmap(data)
}
