// Package emulate opens emulated GPUs for tests.
package emulate

import (
	"errors"
	"os"
	"sync"
	"testing"

	"github.com/hiveblas/hiveblas/comm"
	"github.com/hiveblas/hiveblas/cusparse"
	"github.com/hiveblas/hiveblas/cusparse/driver"
	"github.com/hiveblas/hiveblas/internal/emu"
	"github.com/hiveblas/hiveblas/internal/longtest"
	"github.com/hiveblas/hiveblas/internal/sure"
)

// Driver returns an emulated driver and the options of a device on it.
func Driver(opts ...emu.Option) (*emu.Emulator, []cusparse.Option, error) {
	e, err := emu.New(opts...)
	if err != nil {
		return nil, nil, err
	}
	return e, []cusparse.Option{cusparse.WithDriver(e), cusparse.WithKernelCache("off"),
		cusparse.WithCompiler("emulator", func() (driver.Compiler, error) { return emu.NewCompiler() })}, nil
}

// Needed ends a test by err: it skips the test if there is no emulator.
func Needed(t testing.TB, err error) {
	t.Helper()
	if errors.Is(err, emu.ErrUnavailable) {
		t.Skip(err)
	}
	if err != nil {
		t.Fatal(err)
	}
}

// Open returns a function that opens an emulated gpu.Run. It skips the test without an emulator.
func Open(t testing.TB) func() (*cusparse.Device, driver.Driver, error) {
	t.Helper()
	d, with, err := Driver()
	Needed(t, err)
	return func() (*cusparse.Device, driver.Driver, error) {
		dev, err := cusparse.Open(0, with...)
		return dev, d, err
	}
}

// Devices opens n devices of one emulator. It skips the test without an emulator.
func Devices(t testing.TB, n int) (list []*cusparse.Device, e *emu.Emulator) {
	t.Helper()
	e, with, err := Driver(emu.Devices(n))
	Needed(t, err)
	for i := range n {
		d := sure.Get(cusparse.Open(i, with...))
		t.Cleanup(func() {
			if err := d.Close(); err != nil {
				t.Error(err)
			}
		})
		list = append(list, d)
	}
	return list, e
}

// Group makes a group of devices that reach each other's memory; a device may stand several times.
func Group(list ...*cusparse.Device) *comm.Group {
	var devices []comm.Device
	var at []comm.Place
	for _, d := range list {
		devices, at = append(devices, sure.Get(d.Comm())), append(at, d)
	}
	return sure.Get(comm.NewGroup(sure.Get(comm.Peers(devices)), comm.At(at...)))
}

var shared = sync.OnceValues(func() (*cusparse.Device, error) {
	if os.Getenv("HIVEBLAS_TEST_GPU") != "" {
		return cusparse.Open(0)
	}
	_, with, err := Driver(emu.Shuffled(uint64(longtest.Turn())))
	if err != nil {
		return nil, err
	}
	return cusparse.Open(0, with...)
})

// Shared returns a device for all tests of a package: the first GPU with HIVEBLAS_TEST_GPU, else an
// emulated one, which starts blocks in an order that changes every turn.
func Shared(t testing.TB) *cusparse.Device {
	t.Helper()
	d, err := shared()
	Needed(t, err)
	return d
}
