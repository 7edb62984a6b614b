package chunked

import (
	"testing"

	"github.com/hiveblas/hiveblas/cusparse"
	"github.com/hiveblas/hiveblas/internal/emulate"
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

// realPlaces returns the first GPU, and the group of all if there are several.
func realPlaces(t testing.TB) []matrix.Place {
	list := []*cusparse.Device{realDevice(t)}
	for i := 1; ; i++ {
		d, err := cusparse.Open(i)
		if err != nil {
			break
		}
		t.Cleanup(func() { check(t, d.Close()) })
		list = append(list, d)
	}
	if len(list) == 1 {
		return []matrix.Place{list[0]}
	}
	return []matrix.Place{list[0], emulate.Group(list...)}
}

// TestMxMOnGPU compares products computed block by block on a GPU, within several budgets, with the
// product on the host.
func TestMxMOnGPU(t *testing.T) {
	places := realPlaces(t)
	a := scattered(20000, 5000, 200000, 8)
	want := product(t, a.T(), a)
	for _, at := range places {
		for _, bytes := range []uint64{0, 256 << 20, 64 << 20} {
			var opts []Option
			if bytes > 0 {
				opts = append(opts, DeviceMemory(bytes))
			}
			got := matrix.New[int64](5000, 5000)
			rep, err := MxM(background, Into(got), plusTimes, a.T(), a, append(opts, On(at), Chunks(5))...)
			check(t, err)
			if !got.Equal(want) {
				t.Errorf("%s, within %d bytes: the product differs", at, bytes)
			}
			if bytes > 0 && rep.PeakDevice > bytes {
				t.Errorf("%s: %d bytes in use, the budget was %d", at, rep.PeakDevice, bytes)
			}
		}
	}
}
