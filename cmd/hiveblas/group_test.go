package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/hiveblas/hiveblas/internal/cli"
	"github.com/hiveblas/hiveblas/internal/sure"
)

// groupFile writes a graph and returns its path.
func groupFile(t *testing.T) string {
	t.Helper()
	var b strings.Builder
	for v := range 300 {
		for _, w := range []int{v + 1, 7 * v, v * v} {
			b.WriteString(text2(v) + "\t" + text2(w%300) + "\n")
		}
	}
	file := filepath.Join(t.TempDir(), "graph.tsv")
	sure.Do(os.WriteFile(file, []byte(b.String()), 0o644))
	return file
}

// --device wants numbers of ranks and of GPUs.
func TestRanksFlag(t *testing.T) {
	file := groupFile(t)
	for _, device := range []string{"ranks:0", "ranks:x", "gpu:0,", "ranks"} {
		var out, bad strings.Builder
		if code := run([]string{"pagerank", file, "--device", device}, &out, &bad); code != 2 || !strings.Contains(bad.String(), "--device") {
			t.Errorf("%s: exit %d, %s", device, code, bad.String())
		}
	}
}

// Processes of mpirun are ranks of one group: rank 0 alone prints and writes.
func TestMPIRanks(t *testing.T) {
	if cli.MPICommand() == nil {
		t.Skip("no mpirun")
	}
	file := groupFile(t)
	dir := t.TempDir()
	alone, out := filepath.Join(dir, "alone.tsv"), filepath.Join(dir, "out.tsv")
	runInProcess(t, "pagerank", file, "--duplicates", "sum", "--device", "cpu", "-o", alone)
	args := cli.MPICommand("pagerank", file, "--duplicates", "sum", "-o", out)
	cmd := exec.Command(args[0], args[1:]...) // the test is the program, see TestMain
	text, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, text)
	}
	if n := strings.Count(string(text), "iterations"); n != 1 || !strings.Contains(string(text), "rank 0 of 4") {
		t.Errorf("%d ranks print, want 1:\n%s", n, text)
	}
	want, _ := os.ReadFile(alone)
	got, err := os.ReadFile(out)
	if err != nil || string(got) != string(want) || len(got) == 0 {
		t.Errorf("four processes write other bytes than one (%v)", err)
	}
}
