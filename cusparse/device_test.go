package cusparse

import (
	"errors"
	"os"
	"runtime"
	"strconv"
	"strings"
	"testing"

	"github.com/hiveblas/hiveblas/comm"
	"github.com/hiveblas/hiveblas/cusparse/driver"
	"github.com/hiveblas/hiveblas/internal/access"
	"github.com/hiveblas/hiveblas/internal/conformance"
	"github.com/hiveblas/hiveblas/internal/device"
	"github.com/hiveblas/hiveblas/internal/emu"
	"github.com/hiveblas/hiveblas/internal/longtest"
	"github.com/hiveblas/hiveblas/internal/race"
	"github.com/hiveblas/hiveblas/internal/sure"
	"github.com/hiveblas/hiveblas/matrix"
	"github.com/hiveblas/hiveblas/ops"
	"github.com/hiveblas/hiveblas/semiring"
)

// emulated returns a device that runs on the CPU, blocks in an order that changes every turn.
func emulated(t testing.TB, opts ...emu.Option) (*Device, *emu.Emulator) {
	e, err := emu.New(append([]emu.Option{emu.Shuffled(uint64(longtest.Turn()))}, opts...)...)
	if errors.Is(err, emu.ErrUnavailable) {
		t.Skip(err)
	}
	if err != nil {
		t.Fatal(err)
	}
	d, err := Open(0, WithDriver(e), WithCompiler("emulator", func() (driver.Compiler, error) { return emu.NewCompiler() }), WithKernelCache("off"))
	if err != nil {
		t.Fatal(err)
	}
	return d, e
}

// on is the backend of a device for the conformance kit.
type on struct{ d *Device }

// slowly is the backend of the emulator. Kernels take a tenth of a second each to compile: two
// cases per unit of weight of the element types that differ in kind; in the long form one of two
// generators, those that it leaves out a turn later; and in the quick form one of eight.
// HIVEBLAS_KIT selects a part of all.
type slowly struct{ on }

func (slowly) Budget() int {
	if longtest.Enabled() {
		return 2
	}
	return 1
}

func (slowly) Every() int {
	switch {
	case os.Getenv("HIVEBLAS_KIT") != "":
		return 1
	case longtest.Enabled():
		return 2
	}
	return 8
}

// First is the first generator: another one each turn.
func (b slowly) First() int {
	if longtest.Enabled() {
		return longtest.Turn() % b.Every()
	}
	return 0
}

func (b slowly) Skip(name string) string {
	if os.Getenv("HIVEBLAS_KIT") == "" {
		for _, like := range []string{"/int8/", "/uint8/", "/int64/", "/uint64/", "/float32/"} {
			if strings.Contains(name+"/", like) {
				return "left to HIVEBLAS_KIT: its kernels are those of int32 and float64"
			}
		}
	}
	return b.on.Skip(name)
}

func (b on) Name() string        { return b.d.String() }
func (b on) Place() matrix.Place { return b.d }

// Budget is the budget of HIVEBLAS_KIT_BUDGET, for runs under tools that are slow.
func (b on) Budget() int {
	if n, err := strconv.Atoi(os.Getenv("HIVEBLAS_KIT_BUDGET")); err == nil {
		return n
	}
	return 60
}

// Skip leaves out operators without text: CUDA C cannot compare structs.
func (b on) Skip(name string) string {
	if strings.HasPrefix(name, "Select/Path/value") {
		return "structs have no == in CUDA C"
	}
	if only := os.Getenv("HIVEBLAS_KIT"); only != "" && !strings.HasPrefix(name, only) {
		return "not asked for"
	}
	return ""
}

// TestConformanceEmulated runs the kit against the GPU backend on the CPU.
func TestConformanceEmulated(t *testing.T) {
	t.Parallel()
	if race.Enabled {
		t.Skip("one goroutine: TestTwoGoroutines is for the race detector")
	}
	d, _ := emulated(t)
	conformance.Run(t, slowly{on{d}})
}

// TestBackend: a device, and a struct that embeds the device, have the same backend. The backend
// reads a matrix on either place without a copy.
func TestBackend(t *testing.T) {
	d, _ := emulated(t)
	named := struct{ *Device }{d}
	for _, p := range []matrix.Place{d, named} {
		a := matrix.New[int64](2, 2, matrix.On(p))
		check(t, ops.AssignScalar(a, 3, ops.All(), ops.All()))
		at := device.Of(p)
		if a.Place() != p || at != device.Of(d) || at.Place() != matrix.Place(d) || !access.HasRemote(a.View(), at) {
			t.Fatalf("the place is %v, its backend that of %v", a.Place(), at.Place())
		}
		first, err := access.RemoteOn(a, at)
		check(t, err)
		if again, err := access.RemoteOn(a, backend{d}); err != nil || again != first {
			t.Errorf("a copy was made on the device of the matrix, %v", err)
		}
		if x, ok := a.At(1, 1); !ok || x != 3 {
			t.Errorf("the value is %d, %v", x, ok)
		}
	}
	for _, p := range []any{nil, &comm.Group{}, "gpu:0"} {
		if at := device.Of(p); at != nil {
			t.Errorf("%v has the backend %v", p, at)
		}
	}
	none := matrix.New[int64](2, 2, matrix.On((*Device)(nil)))
	if err := ops.AssignScalar(none, 3, ops.All(), ops.All()); !errors.Is(err, matrix.ErrInvalid) {
		t.Errorf("an operation on a nil device: %v", err)
	}
}

// TestChangesOnDevice: a device sees entries that Set added and Delete removed, of a matrix on the
// host and of one that lives on the device, before and after it has a copy.
func TestChangesOnDevice(t *testing.T) {
	d, _ := emulated(t)
	const n = 600
	host := matrix.New[int64](n, n)
	check(t, host.SetFormat(matrix.CSR))
	there := host.Clone()
	check(t, there.Move(d))
	for _, a := range []*matrix.Matrix[int64]{host, there} {
		want := make([]int64, n)
		for round := range 3 {
			for i := range n {
				j := (i*7 + round) % n
				check(t, a.Set(i, j, int64(i+round)))
				want[i] += int64(i + round)
			}
			if round == 2 { // the entries of the first round
				for i := range n {
					check(t, a.Delete(i, i*7%n))
					want[i] -= int64(i)
				}
			}
			sums := matrix.NewVector[int64](n, matrix.On(d))
			check(t, ops.Reduce(sums, semiring.Plus[int64](), a))
			got, err := sums.Dense(0)
			check(t, err)
			for i, x := range got {
				if x != want[i] {
					t.Fatalf("round %d: row %d sums to %d, want %d", round, i, x, want[i])
				}
			}
		}
	}
}

// Scratch memory that comes back does not make the collector run, what the driver gives does.
func TestCollectorIsForFreshMemory(t *testing.T) {
	d, _ := emulated(t)
	f := d.begin(device.Call{Op: "test"})
	defer f.end()
	runs := func(scratch bool) uint32 {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		var kept []*mem
		for k := range 12 {
			m := sure.Get(d.pool.get(100 << 20))
			if scratch {
				m.release()
			} else {
				kept = append(kept, m)
			}
			kept = append(kept, sure.Get(d.pool.get(uint64(k+1)<<12)))
		}
		runtime.ReadMemStats(&after)
		for _, m := range kept {
			m.release()
		}
		return after.NumForcedGC - before.NumForcedGC
	}
	if n := runs(true); n > 0 {
		t.Errorf("the collector ran %d times for memory that came back", n)
	}
	if n := runs(false); n == 0 {
		t.Error("the collector did not run for 1.2 GB of fresh memory")
	}
}
