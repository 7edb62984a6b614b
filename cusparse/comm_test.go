package cusparse_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"sync"
	"testing"
	"time"

	"github.com/hiveblas/hiveblas/comm"
	"github.com/hiveblas/hiveblas/comm/nccl"
	"github.com/hiveblas/hiveblas/cusparse"
	"github.com/hiveblas/hiveblas/cusparse/driver"
	"github.com/hiveblas/hiveblas/cusparse/jit"
	"github.com/hiveblas/hiveblas/internal/commtest"
	"github.com/hiveblas/hiveblas/internal/emu"
	"github.com/hiveblas/hiveblas/internal/sure"
)

// commDevices opens p devices. The last ones repeat if there are fewer.
func commDevices(t *testing.T, d driver.Driver, p int, kernels *jit.Cache) []comm.Device {
	t.Helper()
	n, err := d.Devices()
	if err != nil || n == 0 {
		t.Skip("no device:", err)
	}
	out := make([]comm.Device, p)
	for i := range out {
		ctx, err := d.Open(i % n)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = ctx.Close() })
		var s driver.Stream
		err = onThread(ctx, func() (err error) { s, err = ctx.NewStream(); return err })
		if err == nil {
			out[i], err = cusparse.CommDevice(ctx, i%n, s, kernels)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	return out
}

func onThread(ctx driver.Context, f func() error) error {
	d, err := cusparse.CommDevice(ctx, 0, 0, nil)
	if err != nil {
		return err
	}
	return d.Do(f)
}

// runKit runs the kit on the ranks of a group, on devices and then on the host.
func runKit(t *testing.T, group []comm.Comm, devices []comm.Device, large int, lacks, hostToo bool) {
	t.Helper()
	var wait sync.WaitGroup
	for i, c := range group {
		wait.Go(func() {
			m := &commtest.DeviceMemory{Device: devices[i]}
			err := commtest.Check(context.Background(), c, commtest.Options{
				Place: m, Memory: comm.StagingFolder(devices[i]), Lacks: lacks, Large: large,
			})
			if err == nil && hostToo {
				err = commtest.Check(context.Background(), c, commtest.Options{Large: large, Lacks: true})
			}
			if err = errors.Join(err, c.Close(), m.Free()); err != nil {
				t.Error(err)
			}
		})
	}
	wait.Wait()
}

// testPeers runs the kit with kernels for reductions, and on three ranks without.
func testPeers(t *testing.T, d driver.Driver, kernels *jit.Cache) {
	for _, p := range []int{1, 2, 3, 4} {
		t.Run(fmt.Sprint(p), func(t *testing.T) {
			devices := commDevices(t, d, p, kernels)
			group := sure.Get(comm.Peers(devices, comm.Timeout(time.Minute)))
			runKit(t, group, devices, 40, false, true)
		})
	}
	t.Run("without kernels", func(t *testing.T) {
		devices := commDevices(t, d, 3, nil)
		group := sure.Get(comm.Peers(devices, comm.Timeout(time.Minute)))
		runKit(t, group, devices, 40, true, false)
	})
}

func TestPeers(t *testing.T) {
	t.Parallel()
	d, err := emu.New(emu.Devices(4))
	if err != nil {
		t.Skip(err)
	}
	testPeers(t, d, jit.Open("off", "sm_90", "emulator", func() (driver.Compiler, error) { return emu.NewCompiler() }))
}

func TestPeersOnDevice(t *testing.T) {
	testPeers(t, realDriver(t), jit.Open("", "sm_90", driver.CompilerIdentity(), driver.OpenCompiler))
}

// TestCommKernelsByNVRTC compiles the reductions and copies.
func TestCommKernelsByNVRTC(t *testing.T) {
	if os.Getenv("HIVEBLAS_NVRTC") == "" {
		t.Skip("HIVEBLAS_NVRTC is not set")
	}
	c := sure.Get(driver.OpenCompiler())
	for _, source := range cusparse.CommKernels() {
		if _, err := c.Compile(source, "comm.cu", "sm_90"); err != nil {
			t.Error(err)
		}
	}
}

func realDriver(t *testing.T) driver.Driver {
	t.Helper()
	if os.Getenv("HIVEBLAS_TEST_GPU") == "" {
		t.Skip("HIVEBLAS_TEST_GPU is not set")
	}
	d, err := driver.Open()
	if err != nil {
		t.Fatal(err)
	}
	return d
}

// TestPeersArguments: wrong devices are errors with a remedy.
func TestPeersArguments(t *testing.T) {
	t.Parallel()
	for _, list := range [][]comm.Device{nil, {nil}} {
		if _, err := comm.Peers(list); !errors.Is(err, comm.ErrArgument) {
			t.Errorf("Peers(%v): %v", list, err)
		}
	}
	if _, err := cusparse.CommDevice(nil, 0, 0, nil); err == nil {
		t.Error("a nil context was accepted")
	}
	if _, err := (*cusparse.Device)(nil).Comm(); err == nil {
		t.Error("a nil device was accepted")
	}
}

// TestNCCLOnDevice runs the kit on all GPUs of the machine.
func TestNCCLOnDevice(t *testing.T) {
	d := realDriver(t)
	n, err := d.Devices()
	if err != nil {
		t.Fatal(err)
	}
	path, version, err := nccl.Version()
	if err != nil {
		t.Skip(err)
	}
	t.Logf("NCCL %s, %s", version, path)
	for p := 1; p <= n; p++ {
		devices := commDevices(t, d, p, nil)
		group, err := nccl.Ranks(t.Context(), devices, comm.Timeout(20*time.Second))
		if err != nil {
			t.Fatal(err)
		}
		runKit(t, group, devices, 40, true, false)
	}
}

// TestNCCLFaultsOnDevice: after a fault every rank has the same error within the timeout, and the
// devices can be used again.
func TestNCCLFaultsOnDevice(t *testing.T) {
	d := realDriver(t)
	n, err := d.Devices()
	if err != nil || n < 2 {
		t.Skip("needs two GPUs")
	}
	for _, does := range []comm.Misdeed{comm.FaultFails, comm.FaultHangs, comm.FaultOtherSize} {
		devices := commDevices(t, d, 2, nil)
		group, err := nccl.Ranks(t.Context(), devices, comm.Timeout(time.Second))
		if err != nil {
			t.Skip(err)
		}
		group[1] = comm.WithFault(group[1], comm.Fault{Call: 3, Does: does})
		errs := make([]error, 2)
		var wait sync.WaitGroup
		for i, c := range group {
			wait.Go(func() {
				x := comm.Host(make([]int64, 10))
				for errs[i] == nil {
					errs[i] = c.Reduce(context.Background(), x, x, comm.Sum, false)
				}
			})
		}
		wait.Wait()
		var e *comm.RankError
		if errs[0] != errs[1] || !errors.As(errs[0], &e) || e.Rank != 1 || e.Number != 3 {
			t.Errorf("misdeed %d: %v, %v", does, errs[0], errs[1])
		}
		for _, c := range group {
			if err := c.Close(); err != nil {
				t.Error(err)
			}
		}
		group, err = nccl.Ranks(t.Context(), devices, comm.Timeout(20*time.Second))
		if err != nil {
			t.Fatalf("after misdeed %d: %v", does, err)
		}
		for i, c := range group {
			wait.Go(func() { errs[i] = errors.Join(c.Fence(context.Background()), c.Close()) })
		}
		wait.Wait()
		if err := errors.Join(errs...); err != nil {
			t.Errorf("after misdeed %d: %v", does, err)
		}
	}
}
