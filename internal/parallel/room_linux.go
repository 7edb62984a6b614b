package parallel

import (
	"runtime"
	"unsafe"

	"golang.org/x/sys/unix"
)

const canMove = true

// moveThread moves the thread to another processor, if its affinity allows any.
func moveThread() {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	var here uint32
	if _, _, e := unix.RawSyscall(unix.SYS_GETCPU, uintptr(unsafe.Pointer(&here)), 0, 0); e != 0 {
		return
	}
	var all unix.CPUSet
	if unix.SchedGetaffinity(0, &all) != nil {
		return
	}
	others := all
	others.Clear(int(here))
	if others.Count() == 0 || unix.SchedSetaffinity(0, &others) != nil {
		return
	}
	_ = unix.SchedSetaffinity(0, &all)
}
