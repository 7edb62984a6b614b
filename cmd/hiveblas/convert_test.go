package main

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/spf13/cobra"

	"github.com/hiveblas/hiveblas/cmd/hiveblas/internal/job"
	"github.com/hiveblas/hiveblas/matrix"
)

// TestConvertWarns: what the format of the output cannot tell is left out with a warning.
func TestConvertWarns(t *testing.T) {
	const header = "%%MatrixMarket matrix coordinate real general\n"
	lone := write(t, "lone.mtx", header+"5 5 2\n1 2 1\n4 1 0\n")
	whole := write(t, "whole.mtx", header+"3 3 2\n1 3 1\n3 2 2\n")
	wide := write(t, "wide.mtx", header+"2 6 1\n1 2 1\n")
	named := write(t, "named.gml", "graph [ node [ id 0 label \"a\" ] node [ id 1 label \"b\" ] node [ id 2 label \"c\" ] edge [ source 0 target 2 ] ]\n")
	const noVertices = "a list has no place for vertices without edges; left out: "
	for _, c := range []struct{ in, out, want string }{
		{lone, "x.tsv", noVertices + "1\n"},
		{lone, "x.csv.gz", noVertices + "1\n"},
		{lone, "x.npy", "a .npy does not tell entries of value 0 from none; lost: 1"},
		{lone, "x.mtx", ""},
		{lone, "x.hgb", ""},
		{whole, "x.tsv", ""},
		{whole, "x.npy", ""},
		{wide, "x.tsv", noVertices + "5\n"},
		{named, "x.tsv", noVertices + "1\n"},
		{named, "x.graphml", ""},
	} {
		res := hiveblas(t, "convert", c.in, filepath.Join(t.TempDir(), c.out))
		if res.code != 0 || (c.want == "") != (res.stderr == "") || !strings.Contains(res.stderr, c.want) {
			t.Errorf("%s to %s: exit %d, %q, want %q", filepath.Base(c.in), c.out, res.code, res.stderr, c.want)
		}
	}
}

// TestFits: a graph is an error if its vertices alone need more memory than there is.
func TestFits(t *testing.T) {
	a := matrix.New[float64](1<<20, 1<<20)
	j := &job.Job{Inputs: job.Inputs{Graph: &job.Graph{Matrix: a, File: "few.tsv"}}, Cmd: &cobra.Command{Use: "bfs GRAPH"}}
	for room, want := range map[int64]string{0: "", 1 << 23: "",
		1<<23 - 1: "few.tsv: bfs of 1048576 vertices and 0 entries needs about 8.4 MB of memory, and 8.4 MB are there by ulimit -v; if few of the ids occur, --ids renumber"} {
		if err := j.FitsInto(room, "ulimit -v"); (err == nil) != (want == "") || err != nil && !strings.HasPrefix(err.Error(), want) {
			t.Errorf("%d bytes: %v, want %q", room, err, want)
		}
	}
	few := write(t, "few.tsv", "0\t400000000\n17\t5\n")
	for _, c := range []struct{ command, want string }{
		{"cc", "needs about 25.6 GB of memory, and 1.0 GB are there by --memory"}, {"pagerank", "needs about"}, {"kcore", "needs about"},
		{"diameter", "needs about"}, {"hits", "needs about"}, {"run hcc --undirected", "needs about"}, {"extract --largest -o -", "needs about"},
		{"project -o " + filepath.Join(t.TempDir(), "p.tsv"), "needs about"},
	} {
		res := hiveblas(t, append(strings.Fields(c.command), few, "--memory", "1GB")...)
		if res.code != 1 || !strings.Contains(res.stderr, c.want) || strings.Count(res.stderr, "\n") > 2 {
			t.Errorf("%s: exit %d, %q, want %q", c.command, res.code, res.stderr, c.want)
		}
	}
	if res := hiveblas(t, "cc", write(t, "more.tsv", "0\t4000\n17\t5\n"), "--memory", "1MB"); res.code != 0 {
		t.Errorf("a graph that fits: exit %d, %q", res.code, res.stderr)
	}
}
