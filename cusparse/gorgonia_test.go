//go:build gorgonia && cgo

package cusparse

import (
	"runtime"
	"testing"
	"time"
	"unsafe"

	"gorgonia.org/cu"

	"github.com/hiveblas/hiveblas/cusparse/driver"
	"github.com/hiveblas/hiveblas/internal/conformance"
	"github.com/hiveblas/hiveblas/internal/device"
	"github.com/hiveblas/hiveblas/matrix"
	"github.com/hiveblas/hiveblas/ops"
	"github.com/hiveblas/hiveblas/semiring"
)

// gorgonian returns the first GPU by way of gorgonia.org/cu.
func gorgonian(t *testing.T) *Device {
	t.Helper()
	g, err := driver.OpenGorgonia()
	if err != nil {
		t.Skip(err)
	}
	d, err := Open(0, WithDriver(g))
	if err != nil {
		t.Skip(err)
	}
	t.Cleanup(func() { check(t, d.Close()) })
	return d
}

// TestGorgoniaKit runs the kit with the gorgonia driver; HIVEBLAS_KIT selects a part.
func TestGorgoniaKit(t *testing.T) { conformance.Run(t, on{gorgonian(t)}) }

// TestGorgoniaShare makes a context and memory with gorgonia.org/cu, multiplies there with
// hiveblas, and reads the result with gorgonia.org/cu.
func TestGorgoniaShare(t *testing.T) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	dev, err := cu.GetDevice(0)
	if err != nil {
		t.Skip(err)
	}
	ctx, err := dev.MakeContext(cu.SchedAuto)
	check(t, err)
	d, err := FromContext(ctx, 0)
	check(t, err)
	put := func(p unsafe.Pointer, bytes int64) driver.Ptr {
		at, err := cu.MemAlloc(bytes)
		check(t, err)
		check(t, cu.MemcpyHtoD(at, p, bytes))
		return driver.WrapPtr(at)
	}
	x := []float64{1, 10, 100}
	ptr, idx, val := []int64{0, 2, 2, 3}, []int32{0, 2, 1}, []float64{1, 2, 3}
	xAt := put(unsafe.Pointer(&x[0]), 24)
	v, err := WrapVector[float64](d, xAt, 3)
	check(t, err)
	a, err := WrapCSR[float64](d, 3, 3, 3, put(unsafe.Pointer(&ptr[0]), 32), put(unsafe.Pointer(&idx[0]), 12), put(unsafe.Pointer(&val[0]), 24))
	check(t, err)
	y := matrix.NewVector[float64](3, matrix.On(d))
	check(t, ops.MxV(y, semiring.PlusTimes[float64](), a, v))
	check(t, d.Sync())
	at, err := ShareVector(y)
	check(t, err)
	check(t, cu.SetCurrentContext(ctx))
	got := make([]float64, 3)
	check(t, cu.MemcpyDtoH(unsafe.Pointer(&got[0]), driver.UnwrapPtr(at.Values), 24))
	if got[0] != 201 || got[2] != 30 {
		t.Errorf("gorgonia.org/cu reads %v, want [201 _ 30]", got)
	}
	t.Logf("context %v, x at %#x, y at %#x, read by gorgonia.org/cu: %v", ctx, uint64(xAt), uint64(at.Values), got)
	check(t, d.Close())
}

// TestGorgoniaLaunch compares the host's cost of a launch with both drivers. It asserts that both
// launch; the times are in the log.
func TestGorgoniaLaunch(t *testing.T) {
	cost := func(d *Device) time.Duration {
		const n = 2000
		f := d.begin(device.Call{})
		defer f.end()
		m, out := f.zeros(16), f.zeros(8)
		k := f.shape(1, "hb_count")
		best := time.Hour
		for range 5 {
			f.sync()
			start := time.Now()
			for range n {
				f.blocks(k, 1, 32, m, int64(0), m, out)
			}
			best = min(best, time.Since(start)/n)
			f.sync()
		}
		check(t, f.err)
		return best
	}
	g := cost(gorgonian(t))
	p := cost(realDevice(t))
	if g <= 0 || p <= 0 {
		t.Errorf("a launch took %v and %v", g, p)
	}
	t.Logf("host time of a launch: gorgonia.org/cu (cgo) %v, purego %v", g, p)
}
