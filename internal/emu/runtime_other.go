//go:build !((linux || darwin || freebsd) && (amd64 || arm64))

package emu

import (
	"fmt"
	goruntime "runtime"
)

func mmap(n uint64) ([]byte, error) { return make([]byte, n), nil }

func munmap([]byte) {}

type runtime struct{}

func loadRuntime() (*runtime, error) {
	return nil, fmt.Errorf("%w on %s/%s", ErrUnavailable, goruntime.GOOS, goruntime.GOARCH)
}

type library struct{ from, to uintptr }

func loadLibrary(*runtime, []byte) (*library, error) { return nil, ErrUnavailable }

func (l *library) unload() {}

func (l *library) function(string) (uintptr, []uint32, error) { return 0, nil, ErrUnavailable }

func (r *runtime) run(*launchArgs) string { return ErrUnavailable.Error() }
