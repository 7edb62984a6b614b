package cusparse

import (
	"errors"
	"runtime"
	"testing"
	"unsafe"

	"github.com/hiveblas/hiveblas/cusparse/driver"
	"github.com/hiveblas/hiveblas/cusparse/jit"
	"github.com/hiveblas/hiveblas/internal/emu"
	"github.com/hiveblas/hiveblas/matrix"
	"github.com/hiveblas/hiveblas/ops"
	"github.com/hiveblas/hiveblas/semiring"
)

func TestShareEmulated(t *testing.T) {
	d, _ := emulated(t)
	testShare(t, d, WithCompiler("emulator", func() (driver.Compiler, error) { return emu.NewCompiler() }), WithKernelCache("off"))
}

// TestShareOnGPU shares memory of a GPU's context.
func TestShareOnGPU(t *testing.T) { testShare(t, realDevice(t)) }

// raw puts items into memory that no allocator of ours knows.
func raw[T any](t *testing.T, d *Device, items []T) driver.Ptr {
	t.Helper()
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	bytes := uint64(len(items)) * uint64(unsafe.Sizeof(items[0]))
	check(t, d.ctx.Bind())
	p, err := d.ctx.Alloc(bytes)
	check(t, err)
	check(t, d.ctx.ToDevice(p, unsafe.Pointer(&items[0]), bytes, d.stream))
	check(t, d.ctx.Sync(d.stream))
	t.Cleanup(func() { check(t, d.ctx.Bind()); check(t, d.ctx.Free(p)) })
	return p
}

// testShare multiplies a matrix and a vector in memory of the context that
// another user of it allocated, and looks at the result by its address.
func testShare(t *testing.T, other *Device, opts ...Option) {
	x := raw(t, other, []float64{1, 10, 100})
	ptr, idx, val := raw(t, other, []int64{0, 2, 2, 3}), raw(t, other, []int32{0, 2, 1}), raw(t, other, []float64{1, 2, 3})
	d, err := Attach(other.ctx, 0, other.props, opts...)
	check(t, err)
	v, err := WrapVector[float64](d, x, 3)
	check(t, err)
	a, err := WrapCSR[float64](d, 3, 3, 3, ptr, idx, val)
	check(t, err)
	y := matrix.NewVector[float64](3, matrix.On(d))
	check(t, ops.MxV(y, semiring.PlusTimes[float64](), a, v))
	at, err := ShareVector(y)
	check(t, err)
	if at.Format != matrix.Bitmap || at.Slots != 3 || at.Present == 0 {
		t.Fatalf("the product lies as %+v", at)
	}
	got, has := make([]float64, 3), make([]byte, 3)
	runtime.LockOSThread()
	check(t, other.ctx.Bind())
	check(t, other.ctx.ToHost(unsafe.Pointer(&got[0]), at.Values, 24, other.stream))
	check(t, other.ctx.ToHost(unsafe.Pointer(&has[0]), at.Present, 3, other.stream))
	check(t, other.ctx.Sync(other.stream))
	runtime.UnlockOSThread()
	if got[0] != 201 || got[2] != 30 || [3]byte(has) != [3]byte{1, 0, 1} {
		t.Errorf("values %v present %v, want [201 _ 30], [1 0 1]", got, has)
	}
	if w, err := ShareVector(v); err != nil || w.Values != x {
		t.Errorf("the vector lies at %#x, want %#x; %v", w.Values, x, err)
	}
	// A write gives the vector memory of its own; the other's stays.
	check(t, ops.Apply(v, semiring.Abs[float64](), y))
	if w, err := ShareVector(v); err != nil || w.Values == x {
		t.Errorf("an operation wrote into shared memory: %v", err)
	}
	full, err := WrapMatrix[float64](d, x, 1, 3)
	check(t, err)
	if q, ok := full.At(0, 2); !ok || q != 100 {
		t.Errorf("the matrix holds %v at (0, 2), want 100", q)
	}
	check(t, d.Close())
	check(t, other.Sync()) // its context is still there
}

func TestShareErrors(t *testing.T) {
	d := &Device{ctx: struct{ driver.Context }{}, cache: &jit.Cache{}}
	var e *ShareError
	for name, err := range map[string]error{
		"no device":   second(WrapVector[float64](nil, 8, 3)),
		"no address":  second(WrapVector[float64](d, 0, 3)),
		"no length":   second(WrapMatrix[float64](d, 8, -1, 3)),
		"too large":   second(WrapMatrix[float64](d, 8, matrix.MaxDim, matrix.MaxDim)),
		"no offsets":  second(WrapCSR[float64](d, 3, 3, 0, 0, 8, 8)),
		"no columns":  second(WrapCSR[float64](d, 3, 3, 1, 8, 0, 8)),
		"on the host": second(Share(matrix.New[float64](2, 2))),
		"no vector":   second(ShareVector[float64](nil)),
	} {
		if !errors.As(err, &e) {
			t.Errorf("%s: error %v, want a ShareError", name, err)
		}
	}
	if _, err := Attach(nil, 0, driver.Properties{}); err == nil {
		t.Error("Attach took no context for one")
	}
}

func second[T any](_ T, err error) error { return err }
