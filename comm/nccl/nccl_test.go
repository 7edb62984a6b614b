package nccl_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/hiveblas/hiveblas/comm"
	"github.com/hiveblas/hiveblas/comm/nccl"
	"github.com/hiveblas/hiveblas/internal/commtest"
	"github.com/hiveblas/hiveblas/internal/longtest"
)

// TestFake runs the kit and the faults on the stand-in.
func TestFake(t *testing.T) {
	commtest.FakeNCCL(t, "testdata/fakenccl.c")
	if _, version, err := nccl.Version(); err != nil || version != "2.28.9" {
		t.Fatal(version, err)
	}
	sizes := []int{1, 3}
	if longtest.Enabled() {
		sizes = []int{1, 2, 3, 4, 7, 8}
	}
	for _, p := range sizes {
		devices := commtest.HostDevices(p)
		group, err := nccl.Ranks(t.Context(), devices, comm.Timeout(time.Minute))
		if err != nil {
			t.Fatal(err)
		}
		for _, err := range commtest.Each(group, func(c comm.Comm) error {
			m := &commtest.DeviceMemory{Device: devices[c.Rank()]}
			err := commtest.Check(t.Context(), c, commtest.Options{
				Place: m, Memory: comm.StagingFolder(devices[c.Rank()]), Lacks: true, Large: 40,
			})
			if err == nil { // scalars of the host
				err = commtest.Work(t.Context(), c)
			}
			return errors.Join(err, m.Free(), c.Close())
		}) {
			if err != nil {
				t.Error(err)
			}
		}
	}
	for _, does := range []comm.Misdeed{comm.FaultFails, comm.FaultHangs, comm.FaultOtherOp, comm.FaultOtherSize, comm.FaultDies} {
		devices := commtest.HostDevices(3)
		group, err := nccl.Ranks(t.Context(), devices, comm.Timeout(100*time.Millisecond))
		if err != nil {
			t.Fatal(err)
		}
		group[1] = comm.WithFault(group[1], comm.Fault{Call: 12, Does: does})
		var first *comm.RankError
		for r, err := range commtest.Each(group, func(c comm.Comm) error { return commtest.Work(context.Background(), c) }) {
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

// TestMissing: libraries that cannot be used are named with path and version.
func TestMissing(t *testing.T) {
	for _, tc := range []struct{ reason, flag, want string }{
		{"too old", "-DVERSION=22005", "version 2.20.5"},
		{"before 2.9", "-DVERSION=2708", "version 2.7.8"},
		{"without a symbol", "-DNO_SCALABLE", "has no ncclCommInitRankScalable"},
	} {
		lib := commtest.FakeNCCL(t, "testdata/fakenccl.c", tc.flag)
		_, err := nccl.Ranks(t.Context(), commtest.HostDevices(2))
		if !errors.Is(err, nccl.ErrMissing) || !strings.Contains(err.Error(), tc.want) || !strings.Contains(err.Error(), lib) {
			t.Errorf("%s: %v", tc.reason, err)
		}
	}
	t.Setenv("HIVEBLAS_NCCL", "/nowhere/libnccl.so.2")
	if _, err := nccl.Ranks(t.Context(), commtest.HostDevices(2)); !errors.Is(err, nccl.ErrMissing) || !strings.Contains(err.Error(), "/nowhere/libnccl.so.2") {
		t.Error(err)
	}
	same := commtest.HostDevices(2)
	same[1] = same[0]
	for _, list := range [][]comm.Device{nil, {nil}, same} {
		if _, err := nccl.Ranks(t.Context(), list); !errors.Is(err, comm.ErrArgument) {
			t.Errorf("%v: %v", fmt.Sprint(list), err)
		}
	}
}
