package cusparse

import (
	"testing"

	"github.com/hiveblas/hiveblas/internal/conformance"
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
