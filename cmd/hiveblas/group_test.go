package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/hiveblas/hiveblas/internal/longtest"
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
	if err := os.WriteFile(file, []byte(b.String()), 0o644); err != nil {
		t.Fatal(err)
	}
	return file
}

// Ranks of the host write the bytes that one place writes.
func TestRanks(t *testing.T) {
	file := groupFile(t)
	for _, args := range [][]string{{"pagerank", file}, {"bfs", file, "--source", "3"}, {"scc", file}} {
		var files []string
		for _, device := range []string{"cpu", "ranks:3"} {
			out := filepath.Join(t.TempDir(), "out.tsv")
			text := runInProcess(t, append(args, "--duplicates", "sum", "--device", device, "-o", out)...)
			if device != "cpu" && !strings.Contains(text, "3 ranks on the host") {
				t.Errorf("%v: the place is not in\n%s", args, text)
			}
			got, err := os.ReadFile(out)
			if err != nil {
				t.Fatal(err)
			}
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
	if mpiCommand() == nil {
		t.Skip("no mpirun")
	}
	file := groupFile(t)
	dir := t.TempDir()
	alone, out := filepath.Join(dir, "alone.tsv"), filepath.Join(dir, "out.tsv")
	runInProcess(t, "pagerank", file, "--duplicates", "sum", "--device", "cpu", "-o", alone)
	args := mpiCommand("pagerank", file, "--duplicates", "sum", "-o", out)
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

// ranksOf returns the processes that mpirun started and that already run the command with an
// argument, on Linux.
func ranksOf(mpirun int, arg string) (list []int) {
	files, _ := filepath.Glob("/proc/[0-9]*/stat")
	for _, f := range files {
		b, err := os.ReadFile(f)
		if err != nil {
			continue
		}
		fields := strings.Fields(string(b[strings.LastIndexByte(string(b), ')')+1:]))
		if len(fields) > 1 && fields[1] == strconv.Itoa(mpirun) {
			args, _ := os.ReadFile(filepath.Join(filepath.Dir(f), "cmdline"))
			if !strings.Contains(string(args), arg) {
				continue // between fork and exec
			}
			if n, err := strconv.Atoi(filepath.Base(filepath.Dir(f))); err == nil {
				list = append(list, n)
			}
		}
	}
	return list
}

// A rank that is killed ends the run of all ranks: mpirun fails, and there is no part of a file.
func TestKilledRank(t *testing.T) {
	if mpiCommand() == nil {
		t.Skip("no mpirun")
	}
	if testing.Short() {
		t.Skip("starts processes for seconds")
	}
	moments := 3
	if longtest.Enabled() {
		moments = 30
	}
	var b strings.Builder // edges between 1000 and 3000 vertices, so that PageRank converges slowly
	for v := range 4000 {
		for k := range 20 {
			to := (v*31 + k*k*17 + k) % 1000
			if v < 1000 {
				to = 1000 + (v*31+k*k*17+k)%3000
			}
			b.WriteString(text2(v) + "\t" + text2(to) + "\n")
		}
	}
	dir := t.TempDir()
	file := filepath.Join(dir, "graph.tsv")
	if err := os.WriteFile(file, []byte(b.String()), 0o644); err != nil {
		t.Fatal(err)
	}
	killed := 0
	for moment := range moments {
		out := filepath.Join(t.TempDir(), "out.tsv")
		args := mpiCommand("pagerank", file, "--duplicates", "sum", "--damping", "0.99999",
			"--tolerance", "1e-300", "--max-iterations", "100000", "-o", out)
		cmd := exec.Command(args[0], args[1:]...)
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		var ranks []int
		for begun := time.Now(); len(ranks) < 4 && time.Since(begun) < 10*time.Second; {
			time.Sleep(20 * time.Millisecond)
			ranks = ranksOf(cmd.Process.Pid, out)
		}
		if len(ranks) < 4 {
			_ = cmd.Process.Kill()
			_ = cmd.Wait()
			t.Fatalf("mpirun has %d ranks, want 4", len(ranks))
		}
		time.Sleep(time.Duration(moment*137%900) * time.Millisecond)
		if p, err := os.FindProcess(ranks[moment%4]); err == nil && p.Kill() == nil {
			killed++
		}
		done := make(chan error, 1)
		go func() { done <- cmd.Wait() }()
		select {
		case err := <-done:
			if err == nil {
				t.Errorf("moment %d: mpirun succeeds although a rank was killed", moment)
			}
		case <-time.After(time.Minute):
			_ = cmd.Process.Kill()
			t.Fatalf("moment %d: the other ranks go on for a minute", moment)
		}
		if list, _ := filepath.Glob(filepath.Join(filepath.Dir(out), "*")); len(list) > 0 {
			t.Errorf("moment %d: files are left: %v", moment, list)
		}
	}
	if killed == 0 {
		t.Error("no rank was killed")
	}
}
