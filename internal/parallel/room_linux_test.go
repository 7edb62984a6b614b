package parallel

import (
	"runtime"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// TestMove: a thread that moves may afterwards run where it might before.
func TestMove(t *testing.T) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	var before, after unix.CPUSet
	if err := unix.SchedGetaffinity(0, &before); err != nil {
		t.Skip(err)
	}
	for range 100 {
		move()
	}
	if err := unix.SchedGetaffinity(0, &after); err != nil || after != before {
		t.Errorf("allowed on %d processors, before on %d (%v)", after.Count(), before.Count(), err)
	}
}

// TestMakeRoom: a caller whose helpers do not begin asks once, in time.
func TestMakeRoom(t *testing.T) {
	c := crew{helpers: 1, since: time.Now()}
	if c.makeRoom(); c.placed {
		t.Error("no patience")
	}
	c.since = time.Now().Add(-2 * patience)
	if c.makeRoom(); !c.placed {
		t.Error("it would ask again at every piece")
	}
	begun := crew{helpers: 1, since: time.Now()}
	begun.begun.Add(1)
	if begun.makeRoom(); !begun.placed {
		t.Error("all have begun, and it would look again")
	}
}
