package main

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"
)

// Similarities, labels and padding reach the matching, and names of vertices go through.
func TestSGMFurtherInputs(t *testing.T) {
	path := write(t, "path.tsv", "ann bob\nbob cid\ncid dan\n")
	like := write(t, "like.tsv", "ann dan 1\nbob cid 1\ncid bob 1\ndan ann 1\n")
	matched := func(args ...string) string {
		t.Helper()
		out := filepath.Join(t.TempDir(), "match.tsv")
		succeed(t, append([]string{"sgm", path, path, "--seeds", "0", "--ids", "renumber", "--undirected", "-o", out}, args...)...)
		return contents(t, out)
	}
	if got := matched("--similarity", like); got != "ann\tdan\nbob\tcid\ncid\tbob\ndan\tann\n" {
		t.Errorf("by similarities: %q", got)
	}
	matrix := write(t, "like.mtx", "%%MatrixMarket matrix coordinate real general\n4 4 2\n1 4 1\n4 1 1\n")
	if got := matched("--similarity", matrix); !strings.HasPrefix(got, "ann\tdan\n") {
		t.Errorf("by a matrix of similarities: %q", got)
	}
	one, two := write(t, "one.txt", "1\n0\n0\n0\n"), write(t, "two.txt", "0\n0\n0\n1\n")
	if got := matched("--labels", one+","+two); !strings.HasPrefix(got, "ann\tdan\n") {
		t.Errorf("by labels: %q", got)
	}
	got := report(t, "sgm", path, write(t, "more.tsv", "ann bob\nbob cid\ncid dan\ndan eve\neve fay\n"), "--seeds", "2", "--hard", "--ids", "renumber", "--undirected", "--pad", "--adopted")
	if got["final_dist"] != 0.0 || got["matched"] != 4.0 {
		t.Errorf("a part of a longer path, adopted: %v", got)
	}
	wrong := write(t, "wrong.mtx", "%%MatrixMarket matrix coordinate real general\n4 3 1\n1 3 1\n")
	if r := hiveblas(t, "sgm", path, path, "--seeds", "0", "--ids", "renumber", "--similarity", wrong); r.code != 1 || !strings.Contains(r.stderr, "the matrix is 4×3") {
		t.Errorf("similarities of another size: exit %d, %s", r.code, r.stderr)
	}
}

// nominate --by sgm ranks vertices of the second graph by their names.
func TestNominateBySGM(t *testing.T) {
	var a, b strings.Builder
	for _, e := range [][2]int{{0, 1}, {1, 2}, {2, 3}, {3, 4}, {4, 0}, {0, 2}, {4, 5}, {5, 6}} {
		fmt.Fprintf(&a, "a%d a%d\n", e[0], e[1])
		fmt.Fprintf(&b, "b%d b%d\n", e[1], e[0])
	}
	first, second := write(t, "a.tsv", a.String()), write(t, "b.tsv", b.String())
	pairs := write(t, "pairs.tsv", "a0 b0\na2 b2\n")
	out := filepath.Join(t.TempDir(), "ranking.tsv")
	got := succeed(t, "nominate", first, "--by", "sgm", "--other", second, "--pairs", pairs, "--seeds", "a5", "--ids", "renumber", "--undirected", "-o", out)
	if list := contents(t, out); !strings.HasPrefix(list, "b5\t1\n") || strings.Count(list, "\n") != 5 {
		t.Errorf("%q", list)
	}
	if !strings.Contains(got, "b5") {
		t.Error(got)
	}
}
