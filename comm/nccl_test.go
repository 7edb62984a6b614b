package comm_test

import (
	"context"
	"errors"
	"fmt"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/hiveblas/hiveblas/comm"
	"github.com/hiveblas/hiveblas/internal/commtest"
	"github.com/hiveblas/hiveblas/internal/longtest"
)

// fakeNCCL builds the stand-in for NCCL, and makes it the library to open.
func fakeNCCL(t *testing.T, flags ...string) string {
	t.Helper()
	gcc, err := exec.LookPath("gcc")
	if err != nil {
		t.Skip("no gcc")
	}
	lib := filepath.Join(t.TempDir(), "libnccl.so.2")
	args := append([]string{"-O1", "-w", "-shared", "-fPIC", "-pthread", "-o", lib, "testdata/fakenccl.c"}, flags...)
	if out, err := exec.Command(gcc, args...).CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	t.Setenv("HIVEBLAS_NCCL", lib)
	return lib
}

func hostDevices(p int) []comm.Device {
	out := make([]comm.Device, p)
	for i := range out {
		out[i] = &commtest.HostDevice{Ordinal: i}
	}
	return out
}

// TestNCCLFake runs the kit and the faults on the stand-in.
func TestNCCLFake(t *testing.T) {
	fakeNCCL(t)
	if _, version, err := comm.NCCLVersion(); err != nil || version != "2.28.9" {
		t.Fatal(version, err)
	}
	sizes := []int{1, 3}
	if longtest.Enabled() {
		sizes = []int{1, 2, 3, 4, 7, 8}
	}
	for _, p := range sizes {
		devices := hostDevices(p)
		group, err := comm.NCCL(t.Context(), devices, comm.Timeout(time.Minute))
		if err != nil {
			t.Fatal(err)
		}
		for _, err := range each(group, func(c comm.Comm) error {
			m := &commtest.DeviceMemory{Device: devices[c.Rank()]}
			err := commtest.Check(t.Context(), c, commtest.Options{
				Place: m, Memory: comm.StagingFolder(devices[c.Rank()]), Lacks: true, Large: 40,
			})
			if err == nil { // scalars of the host
				err = work(t.Context(), c)
			}
			return errors.Join(err, m.Free(), c.Close())
		}) {
			if err != nil {
				t.Error(err)
			}
		}
	}
	for _, does := range []comm.Misdeed{comm.FaultFails, comm.FaultHangs, comm.FaultOtherOp, comm.FaultOtherSize, comm.FaultDies} {
		devices := hostDevices(3)
		group, err := comm.NCCL(t.Context(), devices, comm.Timeout(100*time.Millisecond))
		if err != nil {
			t.Fatal(err)
		}
		group[1] = comm.WithFault(group[1], comm.Fault{Call: 12, Does: does})
		var first *comm.RankError
		for r, err := range each(group, func(c comm.Comm) error { return work(context.Background(), c) }) {
			var e *comm.RankError
			if r == 1 && does == comm.FaultDies {
				continue
			}
			if !errors.As(err, &e) || e.Rank != 1 || e.Number != 12 || first != nil && e != first {
				t.Errorf("misdeed %d, rank %d: %v", does, r, err)
			}
			first = e
		}
		for r, c := range group {
			if err := c.Close(); err != nil {
				t.Error(err)
			}
			if n := devices[r].(*commtest.HostDevice).Used(); n != 0 {
				t.Errorf("misdeed %d, rank %d: %d allocations are left", does, r, n)
			}
		}
	}
}

// TestNCCLMissing: libraries that cannot be used are named with path and version.
func TestNCCLMissing(t *testing.T) {
	for _, tc := range []struct{ reason, flag, want string }{
		{"too old", "-DVERSION=22005", "version 2.20.5"},
		{"before 2.9", "-DVERSION=2708", "version 2.7.8"},
		{"without a symbol", "-DNO_SCALABLE", "has no ncclCommInitRankScalable"},
	} {
		lib := fakeNCCL(t, tc.flag)
		_, err := comm.NCCL(t.Context(), hostDevices(2))
		if !errors.Is(err, comm.ErrNoNCCL) || !strings.Contains(err.Error(), tc.want) || !strings.Contains(err.Error(), lib) {
			t.Errorf("%s: %v", tc.reason, err)
		}
	}
	t.Setenv("HIVEBLAS_NCCL", "/nowhere/libnccl.so.2")
	if _, err := comm.NCCL(t.Context(), hostDevices(2)); !errors.Is(err, comm.ErrNoNCCL) || !strings.Contains(err.Error(), "/nowhere/libnccl.so.2") {
		t.Error(err)
	}
	same := hostDevices(2)
	same[1] = same[0]
	for _, list := range [][]comm.Device{nil, {nil}, same} {
		if _, err := comm.NCCL(t.Context(), list); !errors.Is(err, comm.ErrArgument) {
			t.Errorf("%v: %v", fmt.Sprint(list), err)
		}
	}
}
