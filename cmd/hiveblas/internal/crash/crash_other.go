//go:build !unix && !windows

package crash

import (
	"errors"
	"os"
)

func OwnStderr() *os.File { return os.Stderr }

func redirectRuntime(*os.File) error { return errors.ErrUnsupported }
