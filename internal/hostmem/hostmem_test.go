package hostmem

import (
	"os"
	"testing"
)

func TestMemory(t *testing.T) {
	if _, err := os.Stat("/proc/self/status"); err != nil {
		t.Skip(err)
	}
	if n := Available(); n <= 0 {
		t.Errorf("%d bytes are available", n)
	}
	before := PeakResident()
	b := make([]byte, before+64<<20)
	for i := 0; i < len(b); i += 4096 {
		b[i] = 1
	}
	if after := PeakResident(); after < int64(len(b)) {
		t.Errorf("with %d bytes in use the peak is %d", len(b), after)
	}
}
