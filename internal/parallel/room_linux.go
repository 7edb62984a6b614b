package parallel

import (
	"runtime"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"
)

// patience is how long the caller of a loop waits for its helpers to begin
// before it makes room: twice what waking one takes.
const patience = 250 * time.Microsecond

// few is up to how many processors makeRoom is for.
const few = 8

// makeRoom is called by worker 0 between pieces. A helper's thread that is
// woken on the processor of its caller shares it with the caller, beside an
// idle one, until the kernel's next tick: 4 ms at 250 Hz. Linux prefers an idle
// processor, but looks for one only among as many as were idle of late: of two
// that have been busy, none (SIS_UTIL in kernel/sched/fair.c). On two processors
// 62 of 100 loops after a pause began so late, SpMV of R-MAT 18 in 22 ms instead
// of 14.6. A caller whose helpers have not begun in time moves to another
// processor: then 0–3 of 100. Where processors are many, that other might be a
// busy one, and the kernel does find an idle one.
func (c *crew) makeRoom() {
	if c.placed || int(c.begun.Load()) == c.helpers {
		c.placed = true
		return
	}
	if time.Since(c.since) > patience {
		c.placed = true
		if c.helpers < runtime.GOMAXPROCS(0) && runtime.NumCPU() <= few {
			move()
		}
	}
}

// gather is makeRoom for a loop without pieces: it waits for the helpers to
// begin, or for its patience to end.
func (c *crew) gather() {
	for c.helpers < runtime.GOMAXPROCS(0) && !c.placed {
		c.makeRoom()
	}
}

// move makes the thread go on on another processor, if it may run on any.
func move() {
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
