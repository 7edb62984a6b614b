package main

import (
	"path/filepath"
	"strings"
	"testing"
)

// The table of vertices is read by ac and by GraphSAGE.
func TestFeatures(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	at := func(name string) string { return filepath.Join(dir, name) }
	list := write(t, "g.tsv", "0 1\n1 2\n2 0\n2 3\n")
	columns := []string{"features", list, "--undirected", "--columns", "degree,triangles,clustering,core"}
	got := report(t, append(columns, "-o", at("v.csv"))...)
	if got["vertices"] != 4.0 || got["columns"] != 4.0 {
		t.Errorf("got %v", got)
	}
	text := contents(t, at("v.csv"))
	if want := "vertex,degree,triangles,clustering,core\n0,2,1,1,2\n1,2,1,1,2\n2,3,1,0.33333334,2\n3,1,0,0,1\n"; text != want {
		t.Errorf("the table is\n%s\nwant\n%s", text, want)
	}
	edges := write(t, "e.csv", "source,target\n0,1\n1,2\n2,0\n2,3\n")
	report(t, "ac", "--data-vertices", at("v.csv"), "--data-edges", edges, "--pattern-vertices", at("v.csv"), "--pattern-edges", edges, "-o", at("b.csv"))
	for k, line := range strings.Split(strings.TrimSpace(contents(t, at("b.csv"))), "\n") {
		if k > 0 && strings.Count(line, ",") != 4 {
			t.Errorf("line %d of the beliefs is %q", k, line)
		}
	}
	embedded := report(t, "sage", list, "--undirected", "--features", at("v.csv"), "--random-weights", "1", "--hidden", "3")
	succeed(t, append(columns, "-o", at("v.npy"))...)
	if array := report(t, "sage", list, "--undirected", "--features", at("v.npy"), "--random-weights", "1", "--hidden", "3"); array["sum"] != embedded["sum"] {
		t.Errorf("an array has embeddings of sum %v, a table %v", array["sum"], embedded["sum"])
	}
	if all := report(t, "features", karate, "--samples", "10", "--standardise"); all["columns"] != 9.0 {
		t.Errorf("all columns: %v", all)
	}
	for args, want := range map[string]string{"--samples 0": "--samples is 0", "--columns degree,size": `--columns has "size"`} {
		if r := hiveblas(t, append([]string{"features", karate}, strings.Fields(args)...)...); r.code != 2 || !strings.Contains(r.stderr, want) {
			t.Errorf("%s: %+v, want %q", args, r, want)
		}
	}
}
