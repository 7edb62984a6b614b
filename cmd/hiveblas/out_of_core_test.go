//go:build unix

package main

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"syscall"
	"testing"
	"time"

	"github.com/hiveblas/hiveblas/internal/sure"
)

// TestOutOfCoreJobs runs two jobs for one output: the second names the first.
// Then the first is interrupted, says what it keeps, and is resumed.
func TestOutOfCoreJobs(t *testing.T) {
	big := bigGraph(t, 12)
	dir := t.TempDir()
	out, alone := filepath.Join(dir, "c.hgb"), filepath.Join(dir, "alone.hgb")
	args := []string{"project", big, "--out-of-core", "--chunks", "300", "--quiet", "-o"}
	succeed(t, append(args, alone)...)
	want := sure.Get(os.ReadFile(alone))

	cmd, _, stderr := start(t, append(args, out)...)
	part := out + ".part"
	for size := int64(0); size < 1<<20; { // a block or more
		if st, err := os.Stat(part); err == nil {
			size = st.Size()
		}
		if _, err := os.Stat(out); err == nil {
			t.Skip("the first job ended before the second began")
		}
		time.Sleep(time.Millisecond)
	}
	if err := cmd.Process.Signal(syscall.SIGSTOP); err != nil {
		t.Fatal(err)
	}
	for _, other := range [][]string{append(args, out), {"project", big, "--onto", "rows", "--diagonal", "--out-of-core", "--quiet", "-o", out}} {
		r := hiveblas(t, other...)
		if r.code != 1 || !regexp.MustCompile(fmt.Sprintf(`^hiveblas: %s: process %d on host .* since 2.* writes this file; wait until it ends, or write to another file\n$`, regexp.QuoteMeta(out), cmd.Process.Pid)).MatchString(r.stderr) {
			t.Errorf("%v: exit %d, %q", other, r.code, r.stderr)
		}
	}
	if err := cmd.Process.Signal(syscall.SIGINT); err != nil {
		t.Fatal(err)
	}
	if err := cmd.Process.Signal(syscall.SIGCONT); err != nil {
		t.Fatal(err)
	}
	cmd.Wait()
	if got := stderr.String(); cmd.ProcessState.ExitCode() != 130 ||
		!regexp.MustCompile(`^hiveblas: interrupted; \d+ of \d+ blocks are kept in `+regexp.QuoteMeta(part)+`, and the same command resumes there\n$`).MatchString(got) {
		t.Errorf("interrupted: exit %d, %q", cmd.ProcessState.ExitCode(), got)
	}
	resumed := report(t, append(args, out)...)
	for _, key := range []string{"nnz", "sum", "max"} {
		if value, ok := resumed[key]; !ok || value != nil {
			t.Errorf("a resumed run reports %s %v, want null", key, value)
		}
	}
	if resumed["nnz_added"].(float64) <= 0 {
		t.Errorf("a resumed run reports %v", resumed)
	}
	if got, err := os.ReadFile(out); err != nil || !bytes.Equal(got, want) {
		t.Errorf("the resumed file differs (%v)", err)
	}
	if left := files(t, dir); len(left) != 2 {
		t.Errorf("left %v", left)
	}
}
