package graphio

import (
	"errors"
	"fmt"
	"io/fs"
	"time"

	"github.com/hiveblas/hiveblas/internal/filelock"
)

// ErrBusy is the sentinel of BusyError.
var ErrBusy = errors.New("another job writes this file")

// A BusyError reports that another job writes a file in blocks. Its owner is
// a process, of this program or another, that has not ended: the lock of one
// that crashed is free.
type BusyError struct {
	Path  string    // as given to CreateBlocks
	PID   int       // of the owner; 0 if unknown
	Host  string    // of the owner; "" if unknown
	Since time.Time // when the owner began; zero if unknown
}

func (e *BusyError) Error() string {
	owner := filelock.Owner{PID: e.PID, Host: e.Host, Since: e.Since}
	return fmt.Sprintf("%s: %s writes this file; wait until it ends, or write to another file", e.Path, owner)
}

// Is reports whether target is ErrBusy.
func (e *BusyError) Is(target error) bool { return target == ErrBusy }

// lockBlocks takes the lock of PATH.part, which is the file PATH.part.lock.
func lockBlocks(path string) (*filelock.Lock, error) {
	l, err := filelock.Acquire(path + ".part.lock")
	var held *filelock.HeldError
	if errors.As(err, &held) {
		return nil, &BusyError{path, held.Owner.PID, held.Owner.Host, held.Owner.Since}
	}
	var at *fs.PathError
	if errors.As(err, &at) {
		return nil, &fs.PathError{Op: at.Op, Path: path, Err: at.Err}
	}
	return l, err
}
