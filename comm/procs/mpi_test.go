package procs_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/hiveblas/hiveblas/comm"
	"github.com/hiveblas/hiveblas/comm/procs"
	"github.com/hiveblas/hiveblas/internal/commtest"
	"github.com/hiveblas/hiveblas/internal/longtest"
	"github.com/hiveblas/hiveblas/internal/sure"
)

// mpirun starts p ranks of this test binary, which run TestMPIRank, and returns what they print.
func mpirun(t *testing.T, p int, job string, env ...string) (string, error) {
	t.Helper()
	path, err := exec.LookPath("mpirun")
	if err != nil {
		t.Skip("no mpirun: apt-get install openmpi-bin")
	}
	if _, _, err := procs.MPIVersion(); err != nil {
		t.Skip(err)
	}
	self := sure.Get(os.Executable())
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	session, err := os.MkdirTemp("", "ompi") // Open MPI fails to share one with a run that ends
	if err != nil {
		t.Fatal(err)
	}
	defer os.RemoveAll(session)
	cmd := exec.CommandContext(ctx, path, "--oversubscribe", "--allow-run-as-root", "--bind-to", "none",
		"--mca", "btl", "self,vader", "--mca", "plm", "isolated", "--mca", "orte_tmpdir_base", session, "-np", fmt.Sprint(p), self, "-test.run=^TestMPIRank$", "-test.v")
	cmd.Env = append(append(os.Environ(), "HIVEBLAS_TEST_MPI="+job, "GOMAXPROCS=2"), env...)
	cmd.WaitDelay = 5 * time.Second // a rank that outlives mpirun keeps the pipe open
	out, err := cmd.CombinedOutput()
	return string(out), err
}

// TestMPI runs the kit under mpirun, with the limit of counts lowered in one run.
func TestMPI(t *testing.T) {
	t.Parallel()
	sizes := []int{3}
	if longtest.Enabled() {
		sizes = []int{1, 2, 3, 4, 7, 8}
	}
	for _, p := range sizes {
		out, err := mpirun(t, p, "kit", "HIVEBLAS_TEST_MPIMAX="+map[bool]string{true: "25"}[p == 3])
		if err != nil || strings.Count(out, "the kit passed") != p {
			t.Errorf("%d ranks: %v\n%s", p, err, out)
		}
	}
}

// TestMPIKill: when a process is killed, the others return the same RankError, which names it.
func TestMPIKill(t *testing.T) {
	t.Parallel()
	kills := 2
	if longtest.Enabled() {
		kills = 30
	}
	const p = 4
	for k := range kills {
		dir := t.TempDir()
		victim := k % p
		out, _ := mpirun(t, p, "kill", "HIVEBLAS_TEST_DIR="+dir, fmt.Sprint("HIVEBLAS_TEST_VICTIM=", victim))
		var first string
		for r := range p {
			text, err := os.ReadFile(filepath.Join(dir, fmt.Sprint(r)))
			if r == victim {
				if err == nil {
					t.Errorf("kill %d: rank %d survived: %s", k, r, text)
				}
				continue
			}
			if err != nil {
				t.Fatalf("kill %d: rank %d left no result\n%s", k, r, out)
			}
			if first == "" {
				first = string(text)
			}
			if string(text) != first || !strings.HasPrefix(first, fmt.Sprintf("rank %d died true timeout false: rank %d on ", victim, victim)) {
				t.Errorf("kill %d of %d: rank %d: %s, another: %s", k, victim, r, text, first)
			}
		}
	}
}

// TestMPIFaults: faults under MPI give the same RankError on all ranks.
func TestMPIFaults(t *testing.T) {
	t.Parallel()
	for k, tc := range []struct{ job, want string }{
		{"fails", comm.ErrInjected.Error()},
		{"hangs", "rank 1 was last seen before it, after 11 collectives"},
		{"size", comm.ErrMismatch.Error()},
		{"op", comm.ErrMismatch.Error()},
	} {
		if k%2 == 0 && !longtest.Enabled() {
			continue // a sample
		}
		dir := t.TempDir()
		out, _ := mpirun(t, 3, tc.job, "HIVEBLAS_TEST_DIR="+dir)
		for r := range 3 {
			text, err := os.ReadFile(filepath.Join(dir, fmt.Sprint(r)))
			if err != nil || !strings.Contains(string(text), tc.want) || !strings.Contains(string(text), ": rank 1 on ") || !strings.Contains(string(text), "collective 12,") {
				t.Errorf("%s, rank %d: %v %s\n%s", tc.job, r, err, text, out)
			}
		}
	}
}

// TestMPIRank is one rank, started by the tests above.
func TestMPIRank(t *testing.T) {
	job := os.Getenv("HIVEBLAS_TEST_MPI")
	if job == "" {
		t.Skip("a process of TestMPI and the like")
	}
	ctx := t.Context()
	most := math.MaxInt32
	if n, err := strconv.Atoi(os.Getenv("HIVEBLAS_TEST_MPIMAX")); err == nil {
		most = n
	}
	opts := []comm.Option{comm.Timeout(30 * time.Second)}
	switch job {
	case "hangs":
		opts = []comm.Option{comm.Timeout(200 * time.Millisecond)}
	case "size", "op":
		opts = append(opts, comm.Check())
	case "kit":
		opts = append(opts, comm.Check())
	}
	if job != "kit" {
		signal.Ignore(syscall.SIGTERM) // mpirun ends the other ranks, which first write their result
	}
	c, err := procs.JoinMPIBy(ctx, most, opts)
	if err != nil && job == "kit" {
		t.Fatal(err)
	}
	if job == "kit" {
		large := 40
		if os.Getenv("HIVEBLAS_TEST_MPIMAX") == "" {
			large = 400
		}
		if err := commtest.Check(ctx, c, commtest.Options{Lacks: true, Large: large}); err != nil {
			t.Fatal(err)
		}
		t.Log("the kit passed")
		if err := c.Close(); err != nil {
			t.Fatal(err)
		}
		return
	}
	fault := comm.Fault{Call: 12, Does: map[string]comm.Misdeed{
		"fails": comm.FaultFails, "hangs": comm.FaultHangs, "size": comm.FaultOtherSize, "op": comm.FaultOtherOp,
	}[job]}
	rank := os.Getenv("OMPI_COMM_WORLD_RANK") // c is nil if another rank was killed meanwhile
	if rank == "1" && job != "kill" {
		c = comm.WithFault(c, fault)
	}
	if os.Getenv("HIVEBLAS_TEST_VICTIM") == rank {
		time.AfterFunc(time.Duration(rand.IntN(30000))*time.Microsecond, func() { _ = syscall.Kill(os.Getpid(), syscall.SIGKILL) })
	}
	for err == nil {
		err = commtest.Work(ctx, c)
	}
	var e *comm.RankError
	if !errors.As(err, &e) {
		e = &comm.RankError{Rank: -2, Cause: err}
	}
	var text bytes.Buffer
	fmt.Fprintf(&text, "rank %d died %v timeout %v: %v", e.Rank, errors.Is(err, comm.ErrRankDied), errors.Is(err, comm.ErrTimeout), e)
	file := filepath.Join(os.Getenv("HIVEBLAS_TEST_DIR"), rank)
	if err := os.WriteFile(file+".part", text.Bytes(), 0o644); err == nil {
		_ = os.Rename(file+".part", file)
	}
	// Rank 0 goes last: it carries the failure.
	time.Sleep(100 * time.Millisecond)
	os.Exit(3)
}
