package filelock

import (
	"errors"
	"os"

	"golang.org/x/sys/windows"
)

// beyond is the offset of the locked byte, behind the text of the lock: Windows prevents others
// from reading locked bytes.
const beyond = 1 << 30

func lock(f *os.File) error {
	at := windows.Overlapped{Offset: beyond}
	err := windows.LockFileEx(windows.Handle(f.Fd()), windows.LOCKFILE_EXCLUSIVE_LOCK|windows.LOCKFILE_FAIL_IMMEDIATELY, 0, 1, 0, &at)
	if errors.Is(err, windows.ERROR_LOCK_VIOLATION) || errors.Is(err, windows.ERROR_IO_PENDING) {
		return errHeld
	}
	return err
}

// release closes the file first, because Windows does not remove open files.
func release(path string, f *os.File) {
	f.Close()
	os.Remove(path)
}
