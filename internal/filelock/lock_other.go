//go:build !(darwin || dragonfly || freebsd || illumos || linux || netbsd || openbsd || windows)

package filelock

import (
	"errors"
	"os"
	"runtime"
)

func lock(*os.File) error {
	return errors.New("hiveblas cannot lock files on " + runtime.GOOS + "; write text instead of .hgb")
}

func release(path string, f *os.File) {
	f.Close()
	os.Remove(path)
}
