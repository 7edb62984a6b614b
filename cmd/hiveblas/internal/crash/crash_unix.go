//go:build unix

package crash

import (
	"os"

	"golang.org/x/sys/unix"
)

// OwnStderr returns standard error for the messages of the program. The runtime prints to file 2,
// which startWatch may replace.
func OwnStderr() *os.File {
	fd, err := unix.FcntlInt(2, unix.F_DUPFD_CLOEXEC, 3)
	if err != nil {
		return os.Stderr
	}
	return os.NewFile(uintptr(fd), "/dev/stderr")
}

// redirectRuntime makes w the file to which the runtime prints.
func redirectRuntime(w *os.File) error { return replaceFile(int(w.Fd()), 2) }
