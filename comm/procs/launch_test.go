package procs_test

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/hiveblas/hiveblas/comm"
	"github.com/hiveblas/hiveblas/comm/procs"
	"github.com/hiveblas/hiveblas/internal/commtest"
)

func TestDetect(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		reason, env, want string // want begins with "error" for errors that contain the rest
	}{
		{"nothing", "", "no launcher: one process"},
		{"torchrun", "RANK=1 WORLD_SIZE=4 LOCAL_RANK=1 LOCAL_WORLD_SIZE=2 MASTER_ADDR=n0 MASTER_PORT=29500", "rank 1 of 4 by torchrun, local rank 1, rendezvous at n0:29501"},
		{"Open MPI", "OMPI_COMM_WORLD_RANK=3 OMPI_COMM_WORLD_SIZE=4 OMPI_COMM_WORLD_LOCAL_RANK=0", "rank 3 of 4 by openmpi, local rank 0"},
		{"PMI", "PMI_RANK=0 PMI_SIZE=2", "rank 0 of 2 by pmi"},
		{"SLURM", "SLURM_PROCID=5 SLURM_NTASKS=8 SLURM_LOCALID=1 SLURM_STEP_ID=0 SLURM_JOB_ID=77", "rank 5 of 8 by slurm, local rank 1"},
		{"a batch script of SLURM", "SLURM_PROCID=0 SLURM_NTASKS=8 SLURM_JOB_ID=77", "no launcher: one process"},
		{"two that agree", "RANK=1 WORLD_SIZE=2 OMPI_COMM_WORLD_RANK=1 OMPI_COMM_WORLD_SIZE=2", "rank 1 of 2 by torchrun"},
		{"two that disagree", "RANK=0 WORLD_SIZE=2 OMPI_COMM_WORLD_RANK=1 OMPI_COMM_WORLD_SIZE=2", "error HIVEBLAS_LAUNCHER"},
		{"one chosen", "HIVEBLAS_LAUNCHER=openmpi RANK=0 WORLD_SIZE=2 OMPI_COMM_WORLD_RANK=1 OMPI_COMM_WORLD_SIZE=2", "rank 1 of 2 by openmpi"},
		{"none chosen", "HIVEBLAS_LAUNCHER=none RANK=0 WORLD_SIZE=2", "no launcher: one process"},
		{"chosen, not set", "HIVEBLAS_LAUNCHER=slurm RANK=0 WORLD_SIZE=2", "error not set"},
		{"chosen, unknown", "HIVEBLAS_LAUNCHER=ray", "error want one of"},
		{"size missing", "RANK=0", "error WORLD_SIZE"},
		{"rank missing", "WORLD_SIZE=2", "error RANK"},
		{"rank too large", "OMPI_COMM_WORLD_RANK=2 OMPI_COMM_WORLD_SIZE=2", "error OMPI_COMM_WORLD_RANK is \"2\", want 0 … 1"},
		{"no number", "PMI_RANK=x PMI_SIZE=2", "error PMI_RANK"},
		{"no port", "RANK=0 WORLD_SIZE=1 MASTER_ADDR=n MASTER_PORT=no", "error MASTER_PORT"},
	} {
		env := map[string]string{}
		for _, pair := range strings.Fields(tc.env) {
			k, v, _ := strings.Cut(pair, "=")
			env[k] = v
		}
		l, err := procs.Detect(func(name string) string { return env[name] })
		if part, failed := strings.CutPrefix(tc.want, "error "); failed {
			if !errors.Is(err, procs.ErrLaunch) || !strings.Contains(err.Error(), part) {
				t.Errorf("%s: %v, want %q", tc.reason, err, part)
			}
		} else if err != nil || l.String() != tc.want {
			t.Errorf("%s: %v, %v, want %q", tc.reason, l, err, tc.want)
		}
	}
}

func TestDeviceOf(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		l       procs.Launch
		n, want int // −1: an error
	}{
		{procs.Launch{LocalRank: 3}, 4, 3}, {procs.Launch{LocalRank: 3}, 1, 0}, {procs.Launch{LocalRank: -1}, 1, 0},
		{procs.Launch{LocalRank: -1}, 2, -1}, {procs.Launch{}, 0, -1}, {procs.Launch{LocalRank: 3, LocalSize: 4}, 2, -1},
	} {
		got, err := tc.l.DeviceOf(tc.n)
		if tc.want < 0 && !errors.Is(err, procs.ErrLaunch) || tc.want >= 0 && (err != nil || got != tc.want) {
			t.Errorf("%+v of %d: %d, %v, want %d", tc.l, tc.n, got, err, tc.want)
		}
	}
}

// joinAll joins p ranks of one process, as if they were processes.
func joinAll(ctx context.Context, p int, options func(rank int) []procs.JoinOption) ([]comm.Comm, []error) {
	group, errs := make([]comm.Comm, p), make([]error, p)
	var wait sync.WaitGroup
	for r := range p {
		wait.Go(func() { group[r], errs[r] = procs.Join(ctx, options(r)...) })
	}
	wait.Wait()
	return group, errs
}

func freePort(t *testing.T) string {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	return l.Addr().String()
}

// TestJoin: processes of one GPU each, by a file and by TCP, on the stand-in for NCCL.
func TestJoin(t *testing.T) {
	commtest.FakeNCCL(t, "../nccl/testdata/fakenccl.c")
	t.Setenv("HIVEBLAS_LAUNCHER", "none")
	path := filepath.Join(t.TempDir(), "meeting")
	if err := os.WriteFile(path, []byte(`{"Host":"gone","Port":1}`), 0o600); err != nil { // of an earlier run
		t.Fatal(err)
	}
	for _, url := range []string{"file://" + path, "tcp://" + freePort(t)} {
		const p = 3
		ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
		defer cancel()
		devices := commtest.HostDevices(p)
		group, errs := joinAll(ctx, p, func(r int) []procs.JoinOption {
			return []procs.JoinOption{
				procs.As(procs.Launch{Rank: r, Size: p}), procs.OnGPU(devices[r]), procs.Rendezvous(url), procs.Token("secret"),
				procs.With(comm.Timeout(5*time.Second), comm.Check()),
			}
		})
		if err := errors.Join(errs...); err != nil {
			t.Fatal(url, err)
		}
		for _, err := range commtest.Each(group, func(c comm.Comm) error { return commtest.Work(ctx, c) }) {
			if err != nil {
				t.Error(url, err)
			}
		}
		if url[0] == 'f' {
			if _, err := os.Stat(path); err == nil {
				t.Error("the file is left")
			}
			for _, err := range commtest.Each(group, func(c comm.Comm) error {
				m := &commtest.DeviceMemory{Device: devices[c.Rank()]}
				err := commtest.Check(ctx, c, commtest.Options{Place: m, Memory: comm.StagingFolder(devices[c.Rank()]), Lacks: true, Large: 8})
				return errors.Join(err, c.Close(), m.Free())
			}) {
				if err != nil {
					t.Error(url, err)
				}
			}
			continue
		}
		// A mismatch has the same cause, rank and collective on all ranks.
		for r, err := range commtest.Each(group, func(c comm.Comm) error {
			if c.Rank() == 2 {
				return c.Broadcast(ctx, comm.Host(make([]int32, 1)), 0)
			}
			return c.Fence(ctx)
		}) {
			var e *comm.RankError
			if !errors.As(err, &e) || e.Rank != 2 || !errors.Is(err, comm.ErrMismatch) || e.Host == "" {
				t.Errorf("rank %d: %v", r, err)
			}
		}
		for _, c := range group {
			if err := c.Close(); err != nil {
				t.Error(err)
			}
		}
	}
}

// TestJoinErrors: what goes wrong on the way is named.
func TestJoinErrors(t *testing.T) {
	commtest.FakeNCCL(t, "../nccl/testdata/fakenccl.c")
	t.Setenv("HIVEBLAS_LAUNCHER", "none")
	t.Setenv("HIVEBLAS_RENDEZVOUS", "")
	t.Setenv("HIVEBLAS_TOKEN", "")
	d := commtest.HostDevices(1)[0]
	two := procs.As(procs.Launch{Rank: 0, Size: 2})
	for _, tc := range []struct {
		reason  string
		options []procs.JoinOption
		want    string
	}{
		{"hosts without MPI", []procs.JoinOption{two}, "mpirun"},
		{"no address", []procs.JoinOption{two, procs.OnGPU(d)}, "HIVEBLAS_RENDEZVOUS"},
		{"no token", []procs.JoinOption{two, procs.OnGPU(d), procs.Rendezvous("tcp://localhost:1")}, "HIVEBLAS_TOKEN"},
		{"a scheme", []procs.JoinOption{two, procs.OnGPU(d), procs.Rendezvous("udp://x")}, "udp://x"},
		{"no folder", []procs.JoinOption{two, procs.OnGPU(d), procs.Rendezvous("file:///nowhere/at/all")}, "/nowhere/at/all"},
		{"rank", []procs.JoinOption{procs.As(procs.Launch{Rank: 3, Size: 2})}, "rank 3 of 2"},
		{"a zero launch", []procs.JoinOption{procs.As(procs.Launch{})}, "rank 0 of 0"},
	} {
		if _, err := procs.Join(t.Context(), tc.options...); err == nil || !strings.Contains(err.Error(), tc.want) {
			t.Errorf("%s: %v, want %q", tc.reason, err, tc.want)
		}
	}
	// Rank 0 names who is missing, and why somebody was refused.
	address := freePort(t)
	ctx, cancel := context.WithTimeout(t.Context(), 500*time.Millisecond)
	defer cancel()
	_, errs := joinAll(ctx, 2, func(r int) []procs.JoinOption {
		return []procs.JoinOption{
			procs.As(procs.Launch{Rank: r, Size: 3}), procs.OnGPU(commtest.HostDevices(1)[0]), procs.Rendezvous("tcp://" + address),
			procs.Token(fmt.Sprint("token ", r)),
		}
	})
	if !errors.Is(errs[0], comm.ErrTimeout) || !strings.Contains(errs[0].Error(), "waits for ranks [1 2] of 3") || !strings.Contains(errs[0].Error(), "another token") {
		t.Error(errs[0])
	}
	if errs[1] == nil || !strings.Contains(errs[1].Error(), "another token") {
		t.Error(errs[1])
	}
	// Alone.
	c, err := procs.Join(t.Context())
	if err != nil || c.Size() != 1 {
		t.Fatal(c, err)
	}
	if err := errors.Join(commtest.Work(t.Context(), c), c.Close()); err != nil {
		t.Error(err)
	}
}
