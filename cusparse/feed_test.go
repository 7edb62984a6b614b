package cusparse

import (
	"errors"
	"fmt"
	"testing"
	"unsafe"

	"github.com/hiveblas/hiveblas/internal/device"
)

func TestFeed(t *testing.T) { testFeed(t, func() *Device { d, _ := emulated(t); return d }()) }

// TestFeedOnGPU copies pieces beside kernels on a GPU.
func TestFeedOnGPU(t *testing.T) { testFeed(t, realDevice(t)) }

// Pieces arrive whole and in order; at most feedPieces are filled before the first of them is used,
// and all memory is given back, after an error too.
func testFeed(t *testing.T, d *Device) {
	item := func(k, i int) byte { return byte(31*k + 7*i + i>>8) }
	for _, c := range []struct{ count, bytes int }{{0, 10}, {3, 0}, {1, 1}, {2, 256}, {3, 300}, {7, 5000}} {
		what := fmt.Sprintf("%d pieces of %d bytes", c.count, c.bytes)
		before := d.Memory().InUse
		out := make([]byte, max(c.count*c.bytes, 1))
		filled, used := 0, 0
		err := backend{d}.Run(device.Call{Op: "test"}, func(s *device.Session) {
			all := s.Zeros(int64(len(out)))
			s.Feed(c.count, int64(c.bytes), func(k int, to []byte) {
				if k != filled || k-used >= feedPieces || len(to) < c.bytes {
					t.Errorf("%s: fill of piece %d of %d bytes after %d fills and %d uses", what, k, len(to), filled, used)
				}
				filled++
				for i := range c.bytes {
					to[i] = item(k, i)
				}
			}, func(k int, at device.Buffer) {
				if k != used || k != filled-1 {
					t.Errorf("%s: use of piece %d after %d fills and %d uses", what, k, filled, used)
				}
				used++
				s.Copy(all.At(int64(k*c.bytes)), at, int64(c.bytes))
			})
			s.Download(unsafe.Pointer(&out[0]), all, int64(len(out)))
		})
		check(t, err)
		want := c.count
		if c.bytes == 0 {
			want = 0
		}
		if filled != want || used != want {
			t.Errorf("%s: %d fills and %d uses", what, filled, used)
		}
		for k := range c.count {
			for i := range c.bytes {
				if got := out[k*c.bytes+i]; got != item(k, i) {
					t.Fatalf("%s: byte %d of piece %d is %d, want %d", what, i, k, got, item(k, i))
				}
			}
		}
		if after := d.Memory().InUse; after != before {
			t.Errorf("%s: %d bytes in use, %d before", what, after, before)
		}
	}
	stop, fills := errors.New("stop"), 0
	before := d.Memory().InUse
	err := backend{d}.Run(device.Call{Op: "test"}, func(s *device.Session) {
		s.Feed(5, 100, func(int, []byte) { fills++ }, func(k int, _ device.Buffer) {
			if k == 1 {
				s.Fail(stop)
			}
		})
	})
	if !errors.Is(err, stop) || fills != 2 {
		t.Errorf("after an error in the second piece: %d fills, %v", fills, err)
	}
	if after := d.Memory().InUse; after != before {
		t.Errorf("after an error: %d bytes in use, %d before", after, before)
	}
}
