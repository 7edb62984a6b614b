package hiveblas_test

import (
	"errors"
	"testing"

	"github.com/hiveblas/hiveblas/cusparse"
	"github.com/hiveblas/hiveblas/cusparse/driver"
	"github.com/hiveblas/hiveblas/internal/emu"
	"github.com/hiveblas/hiveblas/matrix"
	"github.com/hiveblas/hiveblas/ops"
	"github.com/hiveblas/hiveblas/semiring"
)

// The functions below are samples of the guides in docs, which TestSamples holds to this file.

func squareAnywhere(dev *cusparse.Device, a *matrix.Matrix[float64]) (*matrix.Matrix[float64], error) {
	n, _ := a.Dims()
	c := matrix.New[float64](n, n, matrix.On(dev))
	err := ops.MxM(c, semiring.PlusTimes[float64](), a, a)
	for _, full := range []error{cusparse.ErrMemory, cusparse.ErrBusy, cusparse.ErrFailed} {
		if errors.Is(err, full) { // c is unchanged: compute on the host
			c = matrix.New[float64](n, n)
			return c, ops.MxM(c, semiring.PlusTimes[float64](), a, a)
		}
	}
	return c, err
}

// TestFallback: on a device that is full, busy or fails, the sample computes on the host.
func TestFallback(t *testing.T) {
	t.Parallel()
	a, err := matrix.FromTuples(3, 3, []int{0, 1, 2}, []int{1, 2, 0}, []float64{2, 3, 5}, nil)
	if err != nil {
		t.Fatal(err)
	}
	want := matrix.New[float64](3, 3)
	if err := ops.MxM(want, semiring.PlusTimes[float64](), a, a); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		reason string
		code   int
		is     error
	}{
		{"full", 2, cusparse.ErrMemory}, {"busy", 46, cusparse.ErrBusy}, {"a kernel failed", 719, cusparse.ErrFailed},
		{"uncorrectable memory", 214, cusparse.ErrFailed}, {"an invalid argument is a bug", 1, nil},
	} {
		e, err := emu.New()
		if errors.Is(err, emu.ErrUnavailable) {
			t.Skip(err)
		}
		if err != nil {
			t.Fatal(err)
		}
		dev, err := cusparse.Open(0, cusparse.WithDriver(e), cusparse.WithKernelCache("off"),
			cusparse.WithCompiler("emulator", func() (driver.Compiler, error) { return emu.NewCompiler() }))
		if err != nil {
			t.Fatal(err)
		}
		fails := func() *emu.Fault {
			return e.FailAfter("AllocAsync", 1, driver.Error{Call: "cuMemAllocAsync", Code: c.code, Name: c.reason})
		}
		faults := []*emu.Fault{fails(), fails(), fails()} // memory is asked for again once it is freed
		d := matrix.New[float64](3, 3, matrix.On(dev))
		if err := ops.MxM(d, semiring.PlusTimes[float64](), a, a); c.is != nil && !errors.Is(err, c.is) || c.is == nil && err == nil {
			t.Errorf("%s: error %v, want %v", c.reason, err, c.is)
		}
		faults = append(faults, fails(), fails(), fails())
		got, err := squareAnywhere(dev, a)
		if c.is == nil {
			if err == nil {
				t.Errorf("%s: no error", c.reason)
			}
		} else if err != nil || got.Place() != nil || !got.Equal(want) {
			t.Errorf("%s: %v at %v (%v), want the result on the host", c.reason, got, got.Place(), err)
		}
		for _, f := range faults {
			f.Cancel()
		}
		if err := dev.Close(); err != nil {
			t.Fatal(err)
		}
	}
}
