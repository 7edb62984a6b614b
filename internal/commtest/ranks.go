package commtest

import (
	"context"
	"errors"
	"fmt"
	"os/exec"
	"path/filepath"
	"sync"
	"testing"

	"github.com/hiveblas/hiveblas/comm"
)

// Each runs f on every rank, and returns their errors.
func Each(group []comm.Comm, f func(c comm.Comm) error) []error {
	errs := make([]error, len(group))
	var wait sync.WaitGroup
	for i, c := range group {
		errs[i] = ErrEnded
		wait.Go(func() { errs[i] = f(c) })
	}
	wait.Wait()
	return errs
}

// ErrEnded is the error of a rank after its goroutine ended.
var ErrEnded = errors.New("the goroutine of the rank ended")

// Work is a sequence of collectives, with wrong data as an error.
func Work(ctx context.Context, c comm.Comm) error {
	p := c.Size()
	counts := make([]int, p)
	for i := range counts {
		counts[i] = 2
	}
	for step := range 20 {
		own := []int64{int64(step), int64(c.Rank())}
		all := make([]int64, 2*p)
		if err := c.AllGatherV(ctx, comm.Host(all), counts, comm.Host(own)); err != nil {
			return err
		}
		for r := range p {
			if all[2*r] != int64(step) || all[2*r+1] != int64(r) {
				return fmt.Errorf("wrong data %v in step %d", all, step)
			}
		}
		got := make([]int64, 2*p)
		if err := c.AllToAllV(ctx, comm.Host(got), counts, comm.Host(all), counts); err != nil {
			return err
		}
		if err := c.Reduce(ctx, comm.Host(got), comm.Host(all), comm.Sum, false); err != nil {
			return err
		}
		if got[1] != 0 || got[0] != int64(step*p) {
			return fmt.Errorf("wrong sum %v in step %d", got, step)
		}
		if err := c.Broadcast(ctx, comm.Host(own[:1]), step%p); err != nil {
			return err
		}
		if err := c.Fence(ctx); err != nil {
			return err
		}
	}
	return nil
}

// FakeNCCL builds the stand-in for NCCL of a source, and makes it the library to open. It returns
// its path.
func FakeNCCL(t *testing.T, source string, flags ...string) string {
	t.Helper()
	gcc, err := exec.LookPath("gcc")
	if err != nil {
		t.Skip("no gcc")
	}
	lib := filepath.Join(t.TempDir(), "libnccl.so.2")
	args := append([]string{"-O1", "-w", "-shared", "-fPIC", "-pthread", "-o", lib, source}, flags...)
	if out, err := exec.Command(gcc, args...).CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	t.Setenv("HIVEBLAS_NCCL", lib)
	return lib
}

// HostDevices returns p devices with host memory.
func HostDevices(p int) []comm.Device {
	out := make([]comm.Device, p)
	for i := range out {
		out[i] = &HostDevice{Ordinal: i}
	}
	return out
}
