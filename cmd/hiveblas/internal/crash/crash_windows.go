package crash

import (
	"os"

	"golang.org/x/sys/windows"
)

// OwnStderr returns standard error for the messages of the program. The runtime prints to the
// handle of standard error, which startWatch may replace.
func OwnStderr() *os.File {
	h, err := duplicate(os.Stderr)
	if err != nil {
		return os.Stderr
	}
	return os.NewFile(uintptr(h), os.Stderr.Name())
}

// redirectRuntime makes w the file to which the runtime prints. w may be closed.
func redirectRuntime(w *os.File) error {
	h, err := duplicate(w)
	if err != nil {
		return err
	}
	return windows.SetStdHandle(windows.STD_ERROR_HANDLE, h)
}

// duplicate returns another handle of the same file, which processes that this one starts do not
// inherit.
func duplicate(f *os.File) (h windows.Handle, err error) {
	own := windows.CurrentProcess()
	err = windows.DuplicateHandle(own, windows.Handle(f.Fd()), own, &h, 0, false, windows.DUPLICATE_SAME_ACCESS)
	return h, err
}
