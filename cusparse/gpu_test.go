package cusparse

import (
	"errors"
	"testing"

	"github.com/hiveblas/hiveblas/internal/conformance"
	"github.com/hiveblas/hiveblas/matrix"
	"github.com/hiveblas/hiveblas/ops"
	"github.com/hiveblas/hiveblas/semiring"
)

// realDevice returns the first GPU, or skips with the reason there is none.
func realDevice(t testing.TB) *Device {
	d, err := Open(0)
	if err != nil {
		t.Skip(err)
	}
	t.Cleanup(func() {
		if err := d.Close(); err != nil {
			t.Error(err)
		}
	})
	return d
}

// TestConformance runs the kit on a GPU.
func TestConformance(t *testing.T) { conformance.Run(t, on{realDevice(t)}) }

// TestGoroutinesOnGPU uses one GPU from several goroutines.
func TestGoroutinesOnGPU(t *testing.T) { testGoroutines(t, realDevice(t)) }

// TestOutOfMemoryOnGPU asks a GPU for 320 GB.
func TestOutOfMemoryOnGPU(t *testing.T) { testOutOfMemory(t, realDevice(t), 200000) }

// TestSpMVOnGPU compares the ways of SpMV with the CPU.
func TestSpMVOnGPU(t *testing.T) { testSpMV(t, realDevice(t)) }

// TestSpMMOnGPU compares products with full matrices with the CPU.
func TestSpMMOnGPU(t *testing.T) { testSpMM(t, realDevice(t)) }

// TestVendorOnGPU compares cuSPARSE's products with the CPU's.
func TestVendorOnGPU(t *testing.T) {
	d := realDevice(t)
	a := skewed[float32](700, 500, 5)
	x, err := matrix.NewFullVector(500, float32(2))
	if err != nil {
		t.Fatal(err)
	}
	b, err := matrix.NewFull(500, 20, float32(3))
	if err != nil {
		t.Fatal(err)
	}
	s := semiring.PlusTimes[float32]()
	cpu, gpu := matrix.NewVector[float32](700), matrix.NewVector[float32](700, matrix.On(d))
	wide, there := matrix.New[float32](700, 20), matrix.New[float32](700, 20, matrix.On(d))
	for range 2 {
		for _, err := range []error{
			ops.MxV(cpu, s, a, x), ops.MxV(gpu, s, a, x, ops.Using(ops.Vendor)),
			ops.MxM(wide, s, a, b), ops.MxM(there, s, a, b, ops.Using(ops.Vendor)),
		} {
			if err != nil {
				t.Fatal(err)
			}
		}
		if !gpu.Equal(cpu) || !there.Equal(wide) {
			t.Error("cuSPARSE's product differs from the CPU's")
		}
	}
	if err := ops.MxV(gpu, semiring.MinPlus[float32](), a, x, ops.Using(ops.Vendor)); !errors.Is(err, errVendor) {
		t.Errorf("min_plus by cuSPARSE: error %v, want errVendor", err)
	}
}
