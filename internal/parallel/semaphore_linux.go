//go:build linux && !go1.28 && !hiveblas_portable

package parallel

import (
	"sync/atomic"
	"syscall"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"
)

// semaphore counts permits, for which goroutines wait. Its zero value has none.
//
// Channels would do, but the scheduler of Go starts one thread at a time: each looks for work, and
// only once it has found some starts the next. The kernel wakes all threads that wait for a futex
// in one call (bench/results/2026-11-27-helpers-64core.txt).
//
// A goroutine that waits for a futex must not keep its processor. It gives it up by functions of
// the runtime, which says that it keeps them for other packages: see entersyscallblock in
// runtime/proc.go. A release of Go for which this was not tested takes semaphore_other.go.
type semaphore struct {
	permits atomic.Uint32
}

// Operations of futex(2) on memory of one process.
const (
	futexWait = 0 | 128
	futexWake = 1 | 128
)

// release adds permits and wakes as many waiters.
func (s *semaphore) release(permits int) {
	s.permits.Add(uint32(permits))
	_, _, _ = syscall.RawSyscall6(unix.SYS_FUTEX, uintptr(unsafe.Pointer(&s.permits)), futexWake, uintptr(permits), 0, 0, 0)
}

// acquire takes a permit, and reports whether there was one within the time, which is without limit
// if negative.
func (s *semaphore) acquire(within time.Duration) bool {
	since := time.Now()
	for {
		for n := s.permits.Load(); n > 0; n = s.permits.Load() {
			if s.permits.CompareAndSwap(n, n-1) {
				return true
			}
		}
		if within < 0 {
			s.wait(nil)
			continue
		}
		left := within - time.Since(since)
		if left <= 0 {
			return false
		}
		limit := unix.NsecToTimespec(int64(left))
		s.wait(&limit)
	}
}

// wait returns when there may be a permit, or after the limit if it is not nil.
//
//go:nosplit
func (s *semaphore) wait(limit *unix.Timespec) {
	entersyscallblock()
	_, _, _ = syscall.RawSyscall6(unix.SYS_FUTEX, uintptr(unsafe.Pointer(&s.permits)), futexWait, 0, uintptr(unsafe.Pointer(limit)), 0, 0)
	exitsyscall()
}

// entersyscallblock gives up the processor of the goroutine until exitsyscall.
//
//go:linkname entersyscallblock runtime.entersyscallblock
func entersyscallblock()

//go:linkname exitsyscall runtime.exitsyscall
func exitsyscall()
