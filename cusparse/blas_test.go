package cusparse

import (
	"testing"

	"github.com/hiveblas/hiveblas/cusparse/driver"
	"github.com/hiveblas/hiveblas/internal/device"
)

// TestGemmWorkspaceIsHeld takes memory as large as the workspace of cuBLAS after the collector ran.
func TestGemmWorkspaceIsHeld(t *testing.T) {
	d, _ := emulated(t)
	f := d.begin(device.Call{})
	held := f.gemmWorkspace().addr
	f.end()
	check(t, f.err)
	for range 3 {
		collect(2)
		f := d.begin(device.Call{})
		other := f.alloc(driver.GemmWorkspace)
		if other == nil || held == 0 || other.addr == held {
			t.Errorf("memory at %#x is handed out, the workspace is at %#x", other.ptr(), held)
		}
		if again := f.gemmWorkspace().addr; again != held {
			t.Errorf("the workspace moved from %#x to %#x", held, again)
		}
		f.end()
		check(t, f.err)
	}
}
