package cusparse

import (
	"errors"
	"runtime"
	"runtime/debug"
	"sync"
	"testing"

	"github.com/hiveblas/hiveblas/cusparse/driver"
	"github.com/hiveblas/hiveblas/internal/device"
	"github.com/hiveblas/hiveblas/internal/emu"
	"github.com/hiveblas/hiveblas/internal/sure"
	"github.com/hiveblas/hiveblas/matrix"
	"github.com/hiveblas/hiveblas/ops"
	"github.com/hiveblas/hiveblas/semiring"
)

// squareOf returns S·S on the CPU and a function that computes it at a place.
func squareOf(t *testing.T, seed uint64) (want *matrix.Matrix[float64], run func(p matrix.Place) (*matrix.Matrix[float64], error)) {
	a := skewed[float64](120, 120, seed)
	want = matrix.New[float64](120, 120)
	if err := ops.MxM(want, semiring.PlusTimes[float64](), a, a); err != nil {
		t.Fatal(err)
	}
	return want, func(p matrix.Place) (*matrix.Matrix[float64], error) {
		c := matrix.New[float64](120, 120, matrix.On(p))
		err := ops.MxM(c, semiring.PlusTimes[float64](), a, a)
		return c, err
	}
}

// TestTwoGoroutines uses one device from several goroutines at once.
func TestTwoGoroutines(t *testing.T) {
	d, _ := emulated(t)
	testGoroutines(t, d)
}

func testGoroutines(t *testing.T, d *Device) {
	var wg sync.WaitGroup
	for g := range 4 {
		want, run := squareOf(t, uint64(g))
		wg.Add(1)
		go func() {
			defer wg.Done()
			for range 5 {
				got, err := run(d)
				if err != nil {
					t.Error(err)
					return
				}
				if !got.Equal(want) {
					t.Error("a product differs from the CPU's")
					return
				}
			}
		}()
	}
	wg.Wait()
}

// TestOutOfMemory asks for a result that cannot fit: the error says how much
// was asked and free, the destination is as it was, and the device goes on.
func TestOutOfMemory(t *testing.T) {
	d, _ := emulated(t, emu.Memory(3<<20))
	testOutOfMemory(t, d, 200000)
}

func testOutOfMemory(t *testing.T, d *Device, n int) {
	want, run := squareOf(t, 1)
	big := matrix.New[float64](n, n, matrix.On(d))
	err := ops.AssignScalar(big, 1, ops.All(), ops.All())
	var m *MemoryError
	if !errors.As(err, &m) || !errors.Is(err, ErrMemory) || m.Asked == 0 {
		t.Fatalf("error %v, want a *MemoryError", err)
	}
	if big.NVals() != 0 {
		t.Errorf("the destination has %d entries after the error", big.NVals())
	}
	got, err := run(d)
	if err != nil {
		t.Fatal(err)
	}
	if !got.Equal(want) {
		t.Error("after running out of memory a product is wrong")
	}
}

// TestFaults makes every call of the driver fail in turn in the middle of an
// operation: the error is the driver's, the destination is as it was, and the
// next operation is right.
func TestFaults(t *testing.T) {
	d, e := emulated(t)
	a := skewed[float64](60, 60, 2)
	want := matrix.New[float64](60, 60)
	plus := semiring.Plus[float64]()
	if err := ops.MxM(want.Masked(a.Structure()).Accum(plus), semiring.PlusTimes[float64](), a, a.T()); err != nil {
		t.Fatal(err)
	}
	for _, call := range []string{"Launch", "Sync"} {
		t.Run(call, func(t *testing.T) {
			failed := 0
			for n := 1; ; n++ {
				c := matrix.New[float64](60, 60, matrix.On(d))
				fault := e.FailAfter(call, n, emu.LaunchFailed)
				err := ops.MxM(c.Masked(a.Structure()).Accum(plus), semiring.PlusTimes[float64](), a, a.T())
				fault.Cancel()
				if !fault.Fired() {
					if err != nil {
						t.Fatal(err)
					}
					if !c.Equal(want) {
						t.Fatalf("after %d failed calls the result is wrong", n-1)
					}
					break
				}
				failed++
				var code *driver.Error
				if !errors.As(err, &code) || code.Code != emu.LaunchFailed.Code {
					t.Fatalf("call %d failed, and the error is %v", n, err)
				}
				if c.NVals() != 0 {
					t.Fatalf("call %d failed, and the destination has changed", n)
				}
			}
			if failed == 0 {
				t.Errorf("%s was never called", call)
			}
		})
	}
}

// TestFaultsOfFetching makes every copy to the host fail in turn: the error is
// the driver's.
func TestFaultsOfFetching(t *testing.T) {
	d, e := emulated(t)
	failed := 0
	for n := 1; ; n++ {
		a := skewed[float64](600, 600, 2)
		check(t, a.Move(d))
		c := matrix.New[float64](600, 600, matrix.On(d))
		check(t, ops.Apply(c, semiring.Identity[float64](), a))
		fault := e.FailAfter("ToHost", n, emu.LaunchFailed)
		err := c.Move(nil)
		fault.Cancel()
		if !fault.Fired() {
			if check(t, err); !c.Equal(a) {
				t.Error("what was fetched is wrong")
			}
			break
		}
		failed++
		var code *driver.Error
		if !errors.As(err, &code) || code.Code != emu.LaunchFailed.Code {
			t.Fatalf("copy %d failed, and the error is %v", n, err)
		}
	}
	if failed == 0 {
		t.Error("nothing was copied")
	}
}

// TestLimitOfKeptMemory sets a limit below what the allocator keeps from before.
func TestLimitOfKeptMemory(t *testing.T) {
	d, _ := emulated(t)
	take := func(n int) error {
		f := d.begin(device.Call{})
		defer f.end()
		for range n {
			f.alloc(1 << 20)
		}
		return f.err
	}
	check(t, take(8))
	before := d.Memory().InUse
	d.Limit(before + 3<<20)
	defer d.Limit(0)
	d.Peak()
	check(t, take(3))
	if err := take(4); !errors.Is(err, device.ErrMemory) {
		t.Errorf("beyond the limit: %v, want an error that memory is out", err)
	}
	if peak := d.Peak(); peak > before+3<<20 {
		t.Errorf("%d bytes were in use, the limit is %d", peak, before+3<<20)
	}
}

// TestLimitFindsForgotten sets a limit while matrices that were forgotten have
// more memory than it allows.
func TestLimitFindsForgotten(t *testing.T) {
	d, _ := emulated(t)
	collect(2)
	defer debug.SetGCPercent(debug.SetGCPercent(-1))
	before := d.Memory().InUse
	for range 5 {
		func() {
			a, err := matrix.NewFull(512, 512, 1.0)
			check(t, err)
			check(t, a.Move(d))
			check(t, ops.Apply(matrix.New[float64](512, 512, matrix.On(d)), semiring.Identity[float64](), a))
		}()
	}
	if d.Memory().InUse < before+4<<21 {
		t.Fatal("nothing was forgotten")
	}
	d.Limit(before + 3<<21)
	defer d.Limit(0)
	if in := d.Memory().InUse; in > before+1<<20 {
		t.Errorf("%d bytes are in use, %d were before", in, before)
	}
}

// TestMemoryComesBack runs many operations and looks for device memory that
// nobody holds any more.
func TestMemoryComesBack(t *testing.T) {
	d, _ := emulated(t)
	_, run := squareOf(t, 3)
	if _, err := run(d); err != nil {
		t.Fatal(err)
	}
	collect := func() uint64 {
		for range 3 {
			runtime.GC()
		}
		return d.Memory().InUse
	}
	before := collect()
	for range 20 {
		if _, err := run(d); err != nil {
			t.Fatal(err)
		}
	}
	if after := collect(); after > before+1<<16 {
		t.Errorf("%d bytes in use, %d before twenty products", after, before)
	}
	if s := d.Memory(); s.FromCache == 0 || s.Peak < s.InUse {
		t.Errorf("statistics %+v", s)
	}
}

// TestClosed refuses work on a closed device.
func TestClosed(t *testing.T) {
	d, _ := emulated(t)
	if err := d.Close(); err != nil {
		t.Fatal(err)
	}
	c := matrix.New[float64](2, 2, matrix.On(d))
	if err := ops.AssignScalar(c, 1, ops.All(), ops.All()); !errors.Is(err, ErrClosed) {
		t.Errorf("error %v, want ErrClosed", err)
	}
	if _, err := Open(3, WithDriver(mustEmu(t))); !errors.Is(err, driver.ErrNoDevice) {
		t.Errorf("opening GPU 3 of 1: %v, want ErrNoDevice", err)
	}
}

func mustEmu(t *testing.T) driver.Driver {
	e, err := emu.New()
	if err != nil {
		t.Skip(err)
	}
	return e
}

// TestMove moves matrices to a device and back.
func TestMove(t *testing.T) {
	d, _ := emulated(t)
	a := skewed[float32](50, 40, 4)
	want := a.Clone()
	sure.Do(a.Move(d))
	if a.Place() != matrix.Place(d) || !a.Equal(want) {
		t.Error("moving to the device changed the matrix")
	}
	if err := ops.Apply(a, semiring.Ainv[float32](), a); err != nil {
		t.Fatal(err)
	}
	sure.Do(a.Set(0, 0, 5))
	if err := ops.Apply(a, semiring.Ainv[float32](), a); err != nil {
		t.Fatal(err)
	}
	if v, ok := a.At(0, 0); !ok || v != -5 {
		t.Errorf("a value set on the host came back as %v", v)
	}
	sure.Do(want.Set(0, 0, -5))
	sure.Do(a.Move(nil))
	if a.Place() != nil || !a.Equal(want) {
		t.Error("moving back to the host changed the matrix")
	}
}
