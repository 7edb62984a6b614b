package parallel

import (
	"runtime"
	"time"
)

// patience is the time that the caller of a loop waits for its helpers to start before it makes
// room: twice the time to wake one.
const patience = 250 * time.Microsecond

// few is the largest number of processors that makeRoom serves.
const few = 8

// hopeless reports whether makeRoom cannot help so many helpers.
func hopeless(helpers int) bool {
	return !canMove || runtime.NumCPU() > few || helpers >= runtime.GOMAXPROCS(0)
}

// makeRoom moves a caller to another processor if its helpers have not started in time. Worker 0
// calls it between pieces. A helper's thread that wakes on the processor of its caller shares that
// processor, beside an idle one, until the next tick of the kernel: 4 ms at 250 Hz. Linux prefers
// an idle processor, but searches only as many as were idle recently: none of two that have been
// busy (SIS_UTIL in kernel/sched/fair.c). On many processors the other one might be busy, and the
// kernel does find an idle one.
func (c *crew) makeRoom() {
	switch {
	case c.placed:
	case joinedOf(c.state.Load()) >= c.limit:
		c.placed = true
	case time.Since(c.since) > patience:
		c.placed = true
		moveThread()
	}
}

// gather is makeRoom for a loop without pieces: it waits until the helpers have started, or
// patience ends. Each helper has a part of the work, so the wait costs nothing.
func (c *crew) gather() {
	for !c.placed {
		c.makeRoom()
	}
}
