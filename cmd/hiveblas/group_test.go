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

// Ranks of the host write the bytes that one place writes.
func TestRanks(t *testing.T) {
	file := groupFile(t)
	for _, args := range [][]string{{"pagerank", file}, {"bfs", file, "--source", "3"}, {"scc", file}, {"scan", file},
		{"search", file, "--length", "20", "--walks-per-vertex", "20"}, {"project", file}} {
		var files []string
		for _, device := range []string{"cpu", "ranks:3"} {
			out := filepath.Join(t.TempDir(), "out.tsv")
			text := runInProcess(t, append(args, "--duplicates", "sum", "--device", device, "-o", out)...)
			if device != "cpu" && !strings.Contains(text, "3 ranks on the host") {
				t.Errorf("%v: the place is not in\n%s", args, text)
			}
			got := sure.Get(os.ReadFile(out))
			files = append(files, string(got))
		}
		if files[0] != files[1] || len(files[0]) == 0 {
			t.Errorf("%v: ranks write other bytes", args)
		}
	}
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

// Workflows that are divided by ranges give the files of one process; the walks come from all
// processes, and the first writes them.
func TestMPIRanges(t *testing.T) {
	if cli.MPICommand() == nil {
		t.Skip("no mpirun")
	}
	file := groupFile(t)
	dir := t.TempDir()
	for _, args := range [][]string{
		{"scan", file},
		{"closeness", file},
		{"search", file, "--length", "20", "--walks-per-vertex", "20", "--visits", "VISITS"},
	} {
		var files [2]string
		for k := range files {
			out, visits := filepath.Join(dir, "out"+text2(k)+".tsv"), filepath.Join(dir, "visits"+text2(k)+".tsv")
			own := append(append([]string{}, args...), "--duplicates", "sum", "-o", out)
			for i, a := range own {
				if a == "VISITS" {
					own[i] = visits
				}
			}
			if k == 0 {
				runInProcess(t, append(own, "--device", "cpu")...)
			} else {
				run := cli.MPICommand(own...)
				text, err := exec.Command(run[0], run[1:]...).CombinedOutput()
				if err != nil || !strings.Contains(string(text), "ranges") {
					t.Fatalf("%v: %v\n%s", args, err, text)
				}
			}
			for _, f := range []string{out, visits} {
				if text, err := os.ReadFile(f); err == nil {
					files[k] += f[len(dir):len(dir)+4] + string(text)
				}
			}
		}
		if files[0] != files[1] || len(files[0]) < 100 {
			t.Errorf("%v: four processes write other bytes than one", args)
		}
	}
}
