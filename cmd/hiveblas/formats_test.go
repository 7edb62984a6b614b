package main

import (
	"bytes"
	"path/filepath"
	"strings"
	"testing"

	"github.com/hiveblas/hiveblas/cmd/hiveblas/internal/job"
)

func TestFormats(t *testing.T) {
	dir := t.TempDir()
	list := write(t, "g.tsv", "0\t1\t2\n1\t2\t5\n2\t0\t1\n")
	npz := filepath.Join(dir, "g.npz")
	succeed(t, "convert", list, npz, "--layout", "csc", "--quiet")
	npy := filepath.Join(dir, "g.npy")
	succeed(t, "convert", npz, npy, "--quiet")
	flow := write(t, "flow.max", "p max 3 3\nn 1 s\nn 3 t\na 1 2 2\na 2 3 5\na 3 1 1\n")
	for _, c := range []struct{ reason, args, want string }{
		{"SciPy", "convert " + npz + " - --output-format tsv", "0\t1\t2\n1\t2\t5\n2\t0\t1\n"},
		{"NumPy", "convert " + npy + " - --output-format csv", "0,1,2\n1,2,5\n2,0,1\n"},
		{"METIS", "cc " + write(t, "g.graph", "3 1\n2\n1\n\n") + " -o -", "0\t0\n1\t0\n2\t2\n"},
		{"DIMACS", "sssp --source 0 -o - " + write(t, "g.gr", "p sp 3 2\na 1 2 2\na 2 3 5\n"), "0\t0\n1\t2\n2\t7\n"},
		{"colours", "convert " + write(t, "g.col", "p edge 2 1\ne 2 1\n") + " - --output-format tsv", "0\t1\n1\t0\n"},
		{"GraphML", "bfs --source b -o - " + write(t, "g.graphml", `<graphml><graph edgedefault="directed"><node id="a"/><node id="b"/><edge source="b" target="a"/></graph></graphml>`), "a\t1\nb\t0\n"},
		{"GML", "bfs --source b -o - " + write(t, "g.gml", `graph [ node [ id 4 label "a" ] node [ id 5 label "b" ] edge [ source 4 target 5 ] ]`), "a\t1\nb\t0\n"},
		{"Graph500", "cc --format graph500 -o - " + write(t, "g.bin", strings.Repeat("\x00", 8)+"\x01"+strings.Repeat("\x00", 7)), "0\t0\n1\t0\n"},
		{"a source and a sink in the file", "maxflow -o - " + flow, "0\t1\t2\n1\t2\t2\n"},
		{"those of the flags", "maxflow --source 2 --sink 0 -o - " + flow, "2\t0\t1\n"},
	} {
		if got := succeed(t, strings.Fields(c.args)...); got != c.want {
			t.Errorf("%s: got %q, want %q", c.reason, got, c.want)
		}
	}
	if got := piped(t, contents(t, npz), "info", "-"); !strings.Contains(got.stdout, "SciPy csc, integer") {
		t.Errorf("standard input: %+v", got)
	}
	for _, c := range []struct {
		args string
		code int
		want string
	}{
		{"convert " + list + " " + filepath.Join(dir, "a.tsv") + " --layout coo", 2, "--layout is for .npz"},
		{"convert " + list + " " + filepath.Join(dir, "a.npz") + " --layout bsr", 2, `--layout is "bsr"`},
		{"convert " + list + " " + filepath.Join(dir, "a.npz.gz"), 2, "a.npz.gz: .npz is not compressed by gzip; leave .gz out"},
		{"bfs --source 0 -o a.npy.gz " + list, 2, "a.npy.gz: .npy is not compressed by gzip; leave .gz out"},
		{"bfs --source 0 -o a.foo.gz " + list, 2, "want .tsv, .csv, .mtx, .hgb, .npz, .npy, or .tsv, .csv, .mtx, .hgb and .gz, or --output-format; see"},
		{"sage train --features f --classes c -o m.foo " + list, 2, "want .npz; see"},
		{"sage train --features f --classes c -o m.npz.gz " + list, 2, ".npz is not compressed by gzip"},
		{"convert " + write(t, "real.tsv", "0 1 1.5\n") + " --undirected " + filepath.Join(dir, "a.graph"), 1, "a.graph: the edge from 0 to 1 has weight 1.5, and METIS wants positive integers; --weight-column 0 leaves the weights out"},
		{"convert " + list + " " + filepath.Join(dir, "a.col"), 1, "is undirected; --undirected reads every edge in both directions"},
		{"head -o a.foo " + list, 2, "want .tsv, .csv, or one of these and .gz, or --output-format"},
		{"bfs --source 0 -o " + filepath.Join(dir, "a.npy") + " " + write(t, "two.tsv", "0 1\n2 0\n"), 1, "an array has a value everywhere, and 1 of 3 positions have none; use .tsv"},
		{"maxflow " + write(t, "none.max", "p max 2 1\na 1 2 3\n"), 1, "the file names no source and sink"},
		{"maxflow " + list, 2, "--source is missing"},
		{"cc " + write(t, "x.parquet", "PAR1"), 1, "hiveblas-parquet"},
		{"project --out-of-core -o " + filepath.Join(dir, "p.npz") + " " + list, 2, "out of core"},
		{"cc --format nope " + list, 2, "want auto, mtx, edges"},
	} {
		got := hiveblas(t, strings.Fields(c.args)...)
		if got.code != c.code || !strings.Contains(got.stderr, c.want) {
			t.Errorf("%s: got %+v, want %q", c.args, got, c.want)
		}
	}
	help := succeed(t, "help", "formats")
	for _, name := range job.FormatNames() {
		if !strings.Contains(help, "\n"+name+" ") {
			t.Errorf("help formats lacks %s:\n%s", name, help)
		}
	}
}

// TestConvertToGraphs: a graph with names goes through every format of graphs and back.
func TestConvertToGraphs(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	in := write(t, "friends.tsv", "Ann\tBob & Co\t3\nBob & Co\tCid\t5\nAnn\tCid\t7\n")
	first := filepath.Join(dir, "first.hgb")
	succeed(t, "convert", in, first, "--ids", "renumber", "--undirected")
	want := runInProcess(t, "convert", first, "-", "--output-format", "tsv")
	numbers := runInProcess(t, "convert", first, "-", "--output-format", "tsv", "--vertex-numbers")
	for _, ext := range []string{".graphml", ".gml", ".graphml.gz", ".graph", ".gr", ".gr.gz"} {
		file := filepath.Join(dir, "g"+ext)
		var out, errs bytes.Buffer
		if code := run([]string{"convert", first, file}, &out, &errs); code != 0 {
			t.Fatalf("%s: exit %d\n%s", ext, code, &errs)
		}
		expect := want
		if named := strings.Contains(ext, "ml"); !named {
			expect = numbers
			if !strings.Contains(errs.String(), "names of the vertices are left out") {
				t.Errorf("%s: no warning of the names: %s", ext, &errs)
			}
		} else if errs.Len() > 0 {
			t.Errorf("%s: %s", ext, &errs)
		}
		if got := runInProcess(t, "convert", file, "-", "--output-format", "tsv"); got != expect {
			t.Errorf("%s: read back as\n%swant\n%s", ext, got, expect)
		}
	}
	for file, want := range map[string]string{"g.col": "weights of the edges are left out", "g.npy": "names of the vertices are left out"} {
		var out, errs bytes.Buffer
		if code := run([]string{"convert", first, filepath.Join(dir, file)}, &out, &errs); code != 0 || !strings.Contains(errs.String(), want) {
			t.Errorf("%s: exit %d, want a warning that the %s:\n%s", file, code, want, &errs)
		}
	}
	var out, errs bytes.Buffer
	if code := run([]string{"convert", in, filepath.Join(dir, "directed.graph"), "--ids", "renumber"}, &out, &errs); code != 1 || !strings.Contains(errs.String(), "not symmetric") {
		t.Errorf("a directed graph as METIS: exit %d\n%s", code, &errs)
	}
}

// TestFlagsOfLists: a flag that describes edge lists is refused for the only input if it is none.
func TestFlagsOfLists(t *testing.T) {
	t.Parallel()
	for _, flag := range []string{"--delimiter=comma", "--header=no", "--ids=renumber", "--base=1", "--skip-lines=1", "--source-column=2"} {
		var out, errs bytes.Buffer
		if code := run([]string{"stats", flag, karate}, &out, &errs); code != 2 || !strings.Contains(errs.String(), "is for edge lists, and ") {
			t.Errorf("%s: exit %d\n%s", flag, code, &errs)
		}
	}
}
