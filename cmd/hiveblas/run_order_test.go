package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/hiveblas/hiveblas/internal/cli"
)

// Programs on ranks write the bytes that one place writes, whatever the hops and the order are.
func TestRunOnRanks(t *testing.T) {
	dir := t.TempDir()
	grid := filepath.Join(dir, "grid.hgb")
	succeed(t, "generate", "grid", "--height", "14", "--width", "9", "--max-weight", "7", "--undirected", "-o", grid)
	parts := ""
	for v := range 14 * 9 {
		parts += strconv.Itoa(v%9/3) + "\n" // stripes
	}
	partition := write(t, "parts.txt", parts)
	for _, program := range [][]string{{"bfs", "--source", "7"}, {"sssp", "--source", "7"}, {"hcc"}, {"matching"}, {"labels"}, {"pagerank", "--plan", "pull"}} {
		ran := func(args ...string) string {
			out := filepath.Join(dir, "out.tsv")
			succeed(t, append(append(append([]string{"run"}, program...), grid, "-o", out), args...)...)
			return contents(t, out)
		}
		want := ran("--device", "cpu")
		if strings.Count(want, "\n") < 60 {
			t.Fatalf("%v: %q", program, want)
		}
		for _, args := range [][]string{{}, {"--hops", "4"}, {"--hops", "auto"}, {"--order", "rcm", "--hops", "2"}, {"--partition", partition}} {
			if _, exact := map[string]bool{"labels": true, "pagerank": true}[program[0]]; exact && len(args) > 0 && strings.Contains(args[0], "r") {
				continue // lists and sums in another order
			}
			if got := ran(append(args, "--device", "ranks:3")...); got != want {
				t.Errorf("%v %v: ranks write\n%s\nwant\n%s", program, args, got, want)
			}
		}
	}
	if args := cli.MPICommand("run", "sssp", grid, "--source", "7", "--hops", "3", "--order", "rcm", "-o", filepath.Join(dir, "mpi.tsv")); args != nil {
		if text, err := exec.Command(args[0], args[1:]...).CombinedOutput(); err != nil {
			t.Fatalf("%v\n%s", err, text)
		}
		succeed(t, "run", "sssp", "--source", "7", grid, "--device", "cpu", "-o", filepath.Join(dir, "one.tsv"))
		if contents(t, filepath.Join(dir, "mpi.tsv")) != contents(t, filepath.Join(dir, "one.tsv")) {
			t.Error("processes write other bytes")
		}
	}

	long := write(t, "long.txt", parts+"0\n")
	for _, c := range []struct {
		want string
		code int
		args []string
	}{
		{"--hops is \"0\"", 2, []string{"--hops", "0"}},
		{"--machine belongs to --hops auto", 2, []string{"--machine", "x.json"}},
		{"--order is \"metis\"", 2, []string{"--order", "metis"}},
		{"--order and --partition are both given", 2, []string{"--order", "rcm", "--partition", partition}},
		{"--hops: belongs to a group of ranks", 1, []string{"--hops", "2", "--device", "cpu"}},
		{"the group has 2 ranks", 1, []string{"--partition", partition, "--device", "ranks:2"}},
		{"ends after 1 vertices of 126", 1, []string{"--partition", write(t, "short.txt", "0\n"), "--device", "ranks:3"}},
		{":127: a line for vertex 126", 1, []string{"--partition", long, "--device", "ranks:3"}},
		{":1: \"x\" is no part", 1, []string{"--partition", write(t, "word.txt", "x\n"), "--device", "ranks:3"}},
		{"no.txt", 1, []string{"--partition", filepath.Join(dir, "no.txt"), "--device", "ranks:3"}},
		{"word.json", 1, []string{"--hops", "auto", "--machine", write(t, "word.json", "x"), "--device", "ranks:3"}},
	} {
		var out, bad strings.Builder
		file := filepath.Join(dir, "none.tsv")
		args := append([]string{"run", "bfs", grid, "--source", "1", "-o", file}, c.args...)
		if code := run(args, &out, &bad); code != c.code || !strings.Contains(bad.String(), c.want) {
			t.Errorf("%v: exit %d, %s, want %d, %s", c.args, code, bad.String(), c.code, c.want)
		}
		if _, err := os.Stat(file); err == nil {
			t.Errorf("%v: left a file", c.args)
		}
	}
}
