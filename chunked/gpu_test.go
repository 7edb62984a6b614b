package chunked

import (
	"testing"

	"github.com/hiveblas/hiveblas/cusparse"
	"github.com/hiveblas/hiveblas/matrix"
)

// realDevice returns the first GPU, or skips the test.
func realDevice(t testing.TB) *cusparse.Device {
	d, err := cusparse.Open(0)
	if err != nil {
		t.Skip(err)
	}
	t.Cleanup(func() { check(t, d.Close()) })
	return d
}

// TestMxMOnGPU compares products computed block by block on a GPU, within several budgets, with the
// product on the host.
func TestMxMOnGPU(t *testing.T) {
	d := realDevice(t)
	a := scattered(20000, 5000, 200000, 8)
	want := product(t, a.T(), a)
	for _, bytes := range []uint64{0, 256 << 20, 64 << 20} {
		var opts []Option
		if bytes > 0 {
			opts = append(opts, DeviceMemory(bytes))
		}
		got := matrix.New[int64](5000, 5000)
		rep, err := MxM(background, Into(got), plusTimes, a.T(), a, append(opts, On(d), Chunks(5))...)
		check(t, err)
		if !got.Equal(want) {
			t.Errorf("within %d bytes: the product differs", bytes)
		}
		if bytes > 0 && rep.PeakDevice > bytes {
			t.Errorf("%d bytes in use, the budget was %d", rep.PeakDevice, bytes)
		}
	}
}
