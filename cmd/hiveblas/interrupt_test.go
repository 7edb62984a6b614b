//go:build unix

package main

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/hiveblas/hiveblas/bench/gen"
	"github.com/hiveblas/hiveblas/graphio"
	"github.com/hiveblas/hiveblas/internal/sure"
	"github.com/hiveblas/hiveblas/matrix"
)

// bigGraph writes an R-MAT graph in the binary form.
func bigGraph(t *testing.T, scale int) string {
	t.Helper()
	g := gen.CSR(gen.Symmetrise(gen.RMAT(scale, 16, gen.RMATOptions{Seed: 1})))
	a := sure.Get(matrix.FromCSR(g.NRows, g.NCols, g.Ptr, g.Idx, gen.UniformFloats(g, 1, true)))
	path := filepath.Join(t.TempDir(), "big.hgb")
	sure.Do(graphio.WriteFile(path, a))
	return path
}

// start runs the program in the background.
func start(t *testing.T, args ...string) (cmd *exec.Cmd, stdout, stderr *bytes.Buffer) {
	t.Helper()
	cmd = exec.Command(binary, args...)
	stdout, stderr = &bytes.Buffer{}, &bytes.Buffer{}
	cmd.Stdout, cmd.Stderr = stdout, stderr
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { cmd.Process.Kill() })
	return cmd, stdout, stderr
}

// stops waits for the program, which must exit within 10 s with a code and one line.
func stops(t *testing.T, cmd *exec.Cmd, stderr *bytes.Buffer, code int, line string) {
	t.Helper()
	asked := time.Now()
	cmd.Wait()
	if took := time.Since(asked); took > 10*time.Second {
		t.Errorf("it took %v to stop", took)
	}
	if got := cmd.ProcessState.ExitCode(); got != code {
		t.Errorf("exit code %d, want %d", got, code)
	}
	if got := stderr.String(); !strings.HasPrefix(got, line) || strings.Count(got, "\n") != 1 {
		t.Errorf("stderr is %q, want one line %q", got, line)
	}
}

func TestInterruptWhileComputing(t *testing.T) {
	big := bigGraph(t, 12)
	for _, sig := range []os.Signal{os.Interrupt, syscall.SIGTERM, syscall.SIGHUP} {
		t.Run(sig.String(), func(t *testing.T) {
			if signal.Ignored(sig) {
				t.Skip("the tests run with this signal ignored, as under nohup")
			}
			dir := t.TempDir()
			cmd, stdout, stderr := start(t, "pagerank", big, "--tolerance", "1e-300", "--max-iterations", "2000000000", "--json", "-o", filepath.Join(dir, "r.tsv"))
			time.Sleep(time.Second)
			if err := cmd.Process.Signal(sig); err != nil {
				t.Fatal(err)
			}
			stops(t, cmd, stderr, 130, "hiveblas: interrupted\n")
			if stdout.Len() > 0 || len(files(t, dir)) > 0 {
				t.Errorf("left %q and %v", stdout, files(t, dir))
			}
		})
	}
}

func TestInterruptWhileWriting(t *testing.T) {
	big := bigGraph(t, 16)
	for range 5 {
		if interruptWriting(t, big) {
			return
		}
	}
	t.Fatal("the job always finished before the signal")
}

// interruptWriting reports whether the signal arrived before the end.
func interruptWriting(t *testing.T, big string) bool {
	dir := t.TempDir()
	cmd, _, stderr := start(t, "convert", big, filepath.Join(dir, "big.mtx.gz"))
	for begun := time.Now(); len(files(t, dir)) == 0; time.Sleep(time.Millisecond) {
		if time.Since(begun) > 60*time.Second {
			t.Fatal("no temporary file appears")
		}
	}
	early := files(t, dir)[0] != "big.mtx.gz"
	if err := cmd.Process.Signal(os.Interrupt); err != nil || !early {
		cmd.Wait()
		if cmd.ProcessState.ExitCode() != 0 { // the file has its final name, so the job is finished
			t.Fatalf("the file has its name, yet the exit code is %d", cmd.ProcessState.ExitCode())
		}
		return false
	}
	cmd.Wait()
	if cmd.ProcessState.ExitCode() == 0 && files(t, dir)[0] == "big.mtx.gz" {
		return false
	}
	stops(t, cmd, stderr, 130, "hiveblas: interrupted\n")
	if left := files(t, dir); len(left) > 0 {
		t.Errorf("left %v", left)
	}
	return true
}

func TestInterruptWhileReading(t *testing.T) {
	pipe := filepath.Join(t.TempDir(), "pipe.mtx") // without a writer: opening it blocks
	if err := syscall.Mkfifo(pipe, 0o600); err != nil {
		t.Skip(err)
	}
	cmd, _, stderr := start(t, "info", pipe)
	time.Sleep(time.Second)
	if err := cmd.Process.Signal(os.Interrupt); err != nil {
		t.Fatal(err)
	}
	stops(t, cmd, stderr, 130, "hiveblas: interrupted\n")
}

func TestTimeout(t *testing.T) {
	big, dir := bigGraph(t, 12), t.TempDir()
	for _, timeout := range []string{"0.5", "500ms"} { // a plain number counts seconds
		cmd, stdout, stderr := start(t, "pagerank", big, "--tolerance", "1e-300", "--max-iterations", "2000000000", "--timeout", timeout, "-o", filepath.Join(dir, "r.tsv"))
		stops(t, cmd, stderr, 1, "hiveblas: --timeout: pagerank not finished after 500ms; raise the timeout\n")
		if stdout.Len() > 0 || len(files(t, dir)) > 0 {
			t.Errorf("left %q and %v", stdout, files(t, dir))
		}
	}
	succeed(t, "tc", karate, "--timeout", "1m")
}

// A diameter that is stopped prints the bounds so far, and fails.
func TestStoppedDiameter(t *testing.T) {
	const n = 40000
	var lines bytes.Buffer
	for v := range n {
		fmt.Fprintf(&lines, "%d %d\n", v, (v+1)%n)
	}
	ring := write(t, "ring.tsv", lines.String())
	for _, args := range [][]string{{"--timeout", "1"}, {"--timeout", "1", "--json"}, nil} {
		cmd, stdout, stderr := start(t, append([]string{"diameter", ring}, args...)...)
		code, line := 1, "hiveblas: --timeout: diameter not finished after 1s; raise the timeout\n"
		if args == nil {
			time.Sleep(time.Second)
			if err := cmd.Process.Signal(os.Interrupt); err != nil {
				t.Fatal(err)
			}
			code, line = 130, "hiveblas: interrupted\n"
		}
		stops(t, cmd, stderr, code, line)
		if got := stdout.String(); !strings.Contains(got, "at least  20000\n") && !strings.Contains(got, `"lower":20000,"upper":`) {
			t.Errorf("%v: printed %q", args, got)
		}
	}
}
