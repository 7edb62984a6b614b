package cusparse

import (
	"errors"
	"math"
	"testing"

	"github.com/hiveblas/hiveblas/internal/conformance"
	"github.com/hiveblas/hiveblas/internal/sure"
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

// TestSpgemmOnGPU multiplies by all ways to cut up a product, and by all classes of rows.
func TestSpgemmOnGPU(t *testing.T) {
	d := realDevice(t)
	testSpgemmShapes(t, d)
	testSpgemmPlaced(t, d)
	testSpgemmClasses(t, d)
}

// TestVendorOnGPU compares cuSPARSE's products with the CPU's.
func TestVendorOnGPU(t *testing.T) {
	d := realDevice(t)
	a := skewed[float32](700, 500, 5)
	x := sure.Get(matrix.NewFullVector(500, float32(2)))
	b := sure.Get(matrix.NewFull(500, 20, float32(3)))
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
	// Two listed matrices, and two full ones under a mask.
	c := skewed[float32](500, 300, 6)
	cpuC, gpuC := matrix.New[float32](700, 300), matrix.New[float32](700, 300, matrix.On(d))
	check(t, ops.MxM(cpuC, s, a, c))
	check(t, ops.MxM(gpuC, s, a, c, ops.Using(ops.Vendor)))
	if !gpuC.EqualFunc(cpuC, func(x, y float32) bool { return math.Abs(float64(x-y)) <= 1e-4*math.Abs(float64(y)) }) {
		t.Error("cuSPARSE's SpGEMM differs from the CPU's product")
	}
	left, err := matrix.NewFull(700, 20, float32(2))
	check(t, err)
	check(t, left.Set(3, 4, 7))
	right, err := matrix.NewFull(20, 300, float32(3))
	check(t, err)
	cpuC.Clear()
	gpuC.Clear()
	mask := skewed[float32](700, 300, 7)
	check(t, ops.MxM(cpuC.Masked(mask.Structure()), s, left, right))
	check(t, ops.MxM(gpuC.Masked(mask.Structure()), s, left, right, ops.Using(ops.Vendor)))
	if !gpuC.Equal(cpuC) || gpuC.NVals() == 0 {
		t.Error("cuSPARSE's SDDMM differs from the CPU's product")
	}
	if err := ops.MxV(gpu, semiring.MinPlus[float32](), a, x, ops.Using(ops.Vendor)); !errors.Is(err, errVendor) {
		t.Errorf("min_plus by cuSPARSE: error %v, want errVendor", err)
	}
}

// TestManyEntriesOnGPU makes a matrix of 2.5·10⁹ entries, more than 32 bits
// count, and reads it with other operations.
func TestManyEntriesOnGPU(t *testing.T) {
	if testing.Short() {
		t.Skip("-short: takes 70 GB of device memory")
	}
	d := realDevice(t)
	if free, _, err := d.Free(); err != nil || free < 80<<30 {
		t.Skipf("%d bytes of device memory are free, 80 GiB wanted; %v", free, err)
	}
	const n, extra = 50_000, 7
	ones, err := matrix.NewFull(n, 1, true)
	check(t, err)
	check(t, ones.SetFormat(matrix.CSR))
	c := matrix.New[bool](n, n, matrix.On(d))
	check(t, ops.MxM(c, semiring.AnyPair[bool](), ones, ones.T()))
	if c.NVals() != n*n {
		t.Fatalf("%d entries, want %d", c.NVals(), n*n)
	}
	// Row sums weighted by the columns: each is 0 + 1 + … + (n−1).
	x, err := matrix.NewFullVector(n, int64(0))
	check(t, err)
	for j := range n {
		check(t, x.Set(j, int64(j)))
	}
	y := matrix.NewVector[int64](n, matrix.On(d))
	check(t, ops.MxV(y, semiring.PlusSecond[int64](), c.Pattern(), x))
	for i := range n {
		if s, ok := y.At(i); !ok || s != n*(n-1)/2 {
			t.Fatalf("row %d sums to %d, want %d", i, s, n*(n-1)/2)
		}
	}
	// The last rows, which lie beyond entry 2³¹, and what Select leaves of them.
	last := matrix.New[bool](extra, n, matrix.On(d))
	check(t, ops.Extract(last, c, ops.Span(n-extra, n), ops.All()))
	if last.NVals() != extra*n {
		t.Errorf("the last %d rows have %d entries, want %d", extra, last.NVals(), extra*n)
	}
	check(t, ops.Select(c, semiring.Tril[bool](0), c))
	if want := int64(n) * (n + 1) / 2; c.NVals() != want {
		t.Errorf("%d entries on and below the diagonal, want %d", c.NVals(), want)
	}
	last.Clear()
	check(t, ops.Extract(last, c, ops.Span(n-extra, n), ops.All()))
	if want := int64(extra)*n - extra*(extra-1)/2; last.NVals() != want {
		t.Errorf("the last %d rows have %d entries, want %d", extra, last.NVals(), want)
	}
}

// TestMaskedOnGPU multiplies under masks by dot products, for all limits.
func TestMaskedOnGPU(t *testing.T) { testMasked(t, realDevice(t)) }
