//go:build !unix && !windows

package main

import (
	"errors"
	"os"
)

func ownStderr() *os.File { return os.Stderr }

func redirectRuntime(*os.File) error { return errors.ErrUnsupported }
