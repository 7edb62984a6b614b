package binfile

import (
	"errors"
	"io/fs"

	"github.com/hiveblas/hiveblas/graphio/internal/core"
	"github.com/hiveblas/hiveblas/internal/filelock"
)

// lockBlocks takes the lock of PATH.part, which is the file PATH.part.lock.
func lockBlocks(path string) (*filelock.Lock, error) {
	l, err := filelock.Acquire(path + ".part.lock")
	var held *filelock.HeldError
	if errors.As(err, &held) {
		return nil, &core.BusyError{Path: path, PID: held.Owner.PID, Host: held.Owner.Host, Since: held.Owner.Since}
	}
	var at *fs.PathError
	if errors.As(err, &at) {
		return nil, &fs.PathError{Op: at.Op, Path: path, Err: at.Err}
	}
	return l, err
}
