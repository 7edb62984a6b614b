package parallel

import (
	"runtime"
	"time"
)

// patience is how long the caller of a loop waits for its helpers to begin
// before it makes room: twice what waking one takes.
const patience = 250 * time.Microsecond

// few is up to how many processors makeRoom is for.
const few = 8

// hopeless reports whether making room could not help so many helpers.
func hopeless(helpers int) bool {
	return !canMove || runtime.NumCPU() > few || helpers >= runtime.GOMAXPROCS(0)
}

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
	switch {
	case c.placed:
	case int(c.begun.Load()) == c.helpers:
		c.placed = true
	case time.Since(c.since) > patience:
		c.placed = true
		move()
	}
}

// gather is makeRoom for a loop without pieces: it waits for the helpers to
// begin, or for its patience to end. They all have a part, so that nothing is
// lost by waiting.
func (c *crew) gather() {
	for !c.placed {
		c.makeRoom()
	}
}
