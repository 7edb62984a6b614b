package parallel

import (
	"runtime"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// TestMove: moveThread preserves the affinity of the thread.
func TestMove(t *testing.T) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	var before, after unix.CPUSet
	if err := unix.SchedGetaffinity(0, &before); err != nil {
		t.Skip(err)
	}
	for range 100 {
		moveThread()
	}
	if err := unix.SchedGetaffinity(0, &after); err != nil || after != before {
		t.Errorf("allowed on %d processors, before on %d (%v)", after.Count(), before.Count(), err)
	}
}

// TestMakeRoom: a caller moves once, in time, if its helpers do not start.
func TestMakeRoom(t *testing.T) {
	c := crew{limit: 1, since: time.Now()}
	if c.makeRoom(); c.placed {
		t.Error("the caller moves before patience ends")
	}
	c.since = time.Now().Add(-2 * patience)
	if c.makeRoom(); !c.placed {
		t.Error("the caller would move at every piece")
	}
	begun := crew{limit: 1, since: time.Now()}
	begun.state.Add(oneJoined)
	if begun.makeRoom(); !begun.placed {
		t.Error("the caller would test helpers that have all started")
	}
}
