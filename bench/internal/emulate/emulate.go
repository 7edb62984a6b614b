package emulate

import (
	"errors"
	"testing"

	"github.com/hiveblas/hiveblas/cusparse"
	"github.com/hiveblas/hiveblas/cusparse/driver"
	"github.com/hiveblas/hiveblas/internal/emu"
)

// Driver returns an emulated driver and the options of a device on it.
func Driver() (driver.Driver, []cusparse.Option, error) {
	e, err := emu.New()
	if err != nil {
		return nil, nil, err
	}
	return e, []cusparse.Option{cusparse.WithDriver(e), cusparse.WithKernelCache("off"),
		cusparse.WithCompiler("emulator", func() (driver.Compiler, error) { return emu.NewCompiler() })}, nil
}

// Open returns a function that opens an emulated gpu.Run. It skips the test without an emulator.
func Open(t *testing.T) func() (*cusparse.Device, driver.Driver, error) {
	d, with, err := Driver()
	if errors.Is(err, emu.ErrUnavailable) {
		t.Skip(err)
	}
	if err != nil {
		t.Fatal(err)
	}
	return func() (*cusparse.Device, driver.Driver, error) {
		dev, err := cusparse.Open(0, with...)
		return dev, d, err
	}
}
