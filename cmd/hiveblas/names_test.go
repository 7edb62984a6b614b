package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/hiveblas/hiveblas/internal/sure"
)

// TestNamesTravel converts a list with names through every format that keeps them.
func TestNamesTravel(t *testing.T) {
	dir := t.TempDir()
	at := func(name string) string { return filepath.Join(dir, name) }
	list := write(t, "n.tsv", "bob\tann\t2\nann\t\"c d\"\t3\n")
	const want = "ann\tc d\t3\nbob\tann\t2\n"
	from := []string{list, "--ids", "renumber"}
	for _, name := range []string{"a.hgb", "b.mtx", "c.hgb.gz", "d.mtx.gz", "e.hgb"} {
		succeed(t, append(append([]string{"convert"}, from...), at(name), "--quiet")...)
		if got := succeed(t, "convert", at(name), "-", "--output-format", "tsv"); got != want {
			t.Fatalf("%s: got %q, want %q", name, got, want)
		}
		from = []string{at(name)}
	}
	if got := contents(t, at("b.mtx.names")); got != "ann\nbob\nc d\n" {
		t.Errorf("names beside b.mtx: %q", got)
	}
	for args, want := range map[string]string{
		"bfs --source bob":                          "ann\t1\nbob\t0\nc d\t2\n",
		"bfs --source bob --parents":                "ann\tbob\nbob\tbob\nc d\tann\n",
		"bfs --source 1 --vertex-numbers":           "0\t1\n1\t0\n2\t2\n",
		"sssp --source bob":                         "ann\t2\nbob\t0\nc d\t5\n",
		"vn --seeds ann,bob --unit":                 "ann\t0\nbob\t0\nc d\t1\n",
		"cc":                                        "ann\tann\nbob\tann\nc d\tann\n",
		"scan --hops 0":                             "ann\t2\nbob\t1\nc d\t1\n",
		"louvain --undirected":                      "ann\t0\nbob\t0\nc d\t0\n",
		"search --length 2":                         "ann\tc d\nbob\tann\nc d\n",
		"run hcc --undirected":                      "ann\tann\nbob\tann\nc d\tann\n",
		"maxflow --source bob --sink ann":           "bob\tann\t2\n",
		"project --diagonal":                        "ann\tann\t4\nc d\tc d\t9\n",
		"project --diagonal --vertex-numbers":       "0\t0\t4\n2\t2\t9\n",
		"project --diagonal --out-of-core":          "ann\tann\t4\nc d\tc d\t9\n",
		"project --onto rows --diagonal --chunks 2": "ann\tann\t9\nbob\tbob\t4\n",
		"convert OUT --vertex-numbers":              "0\t2\t3\n1\t0\t2\n",
	} {
		f := strings.Fields(args)
		for _, file := range []string{"e.hgb", "d.mtx.gz"} {
			line := append([]string{f[0], at(file)}, f[1:]...)
			if f[0] == "convert" {
				line = append([]string{"convert", at(file), "-", "--output-format", "tsv"}, f[2:]...)
			} else {
				if f[0] == "run" {
					line = append([]string{"run", f[1], at(file)}, f[2:]...)
				}
				line = append(line, "-o", "-")
			}
			if got := succeed(t, line...); got != want {
				t.Errorf("%s of %s: got %q, want %q", args, file, got, want)
			}
		}
	}
	// Results keep the names, out of core too.
	for _, name := range []string{"p.hgb", "p.mtx"} {
		succeed(t, "project", at("e.hgb"), "--diagonal", "--out-of-core", "-o", at(name), "--quiet")
		res := hiveblas(t, "convert", at(name), "-", "--output-format", "csv")
		if res.code != 0 || !strings.HasPrefix(res.stdout, "ann,ann,4") || !strings.Contains(res.stderr, "standard output: a list has no place") {
			t.Errorf("%s: exit %d, %q, %q", name, res.code, res.stdout, res.stderr)
		}
	}
	if got := succeed(t, "pagerank", at("e.hgb"), "--top", "1", "--json"); !strings.Contains(got, `"top":[{"vertex":"c d"`) {
		t.Errorf("pagerank: got %s", got)
	}
	if res := hiveblas(t, "convert", at("e.hgb"), "-", "--output-format", "mtx"); !strings.Contains(res.stderr, "warning: standard output: the names of the vertices are left out") {
		t.Errorf("names to standard output: %+v", res)
	}
}

func TestNamesFlag(t *testing.T) {
	dir := t.TempDir()
	at := func(name, text string) string {
		path := filepath.Join(dir, name)
		sure.Do(os.WriteFile(path, []byte(text), 0o600))
		return path
	}
	g, ids := at("g.tsv", "0 1\n1 2\n"), at("ids.tsv", "70 5\n5 9\n")
	visits := at("visits.mtx", visits)
	all := at("all.txt", "ann\nbob\nc, d\n")
	for _, c := range []struct {
		reason, args, want string
	}{
		{"a name a line", "bfs " + g + " --source ann --names " + all, "ann\t0\nbob\t1\n\"c, d\"\t2\n"},
		{"pairs with a header, some missing", "bfs " + g + " --source bob --names " + at("some.tsv", "id\ttitle\n1\tbob\n9\tzoe\n"), "bob\t0\n2\t1\n"},
		{"pairs of ids", "bfs " + ids + " --ids renumber --source x --names " + at("ids.csv", "movieId,title,genres\n70,x,g\n5,\"y, z\",g\n9,w,g\n"), "\"y, z\"\t1\nw\t2\nx\t0\n"},
		{"rows and columns", "convert " + visits + " - --output-format tsv --names " + at("r.txt", "r\ns\n") + " --names " + at("c.txt", "a\nb\nc\n"),
			"r\ta\t1\nr\tb\t2\ns\tb\t3\ns\tc\t4\n"},
	} {
		f := strings.Fields(c.args)
		if f[0] != "convert" {
			f = append(f, "-o", "-")
		}
		got := hiveblas(t, f...)
		if got.code != 0 || got.stdout != c.want {
			t.Errorf("%s: got %+v, want %q", c.reason, got, c.want)
		}
	}
	for _, c := range []struct {
		reason, args string
		code         int
		want         string
	}{
		{"too few names", "cc " + g + " --names " + at("few.txt", "ann\n"), 1, "few.txt: the file has 1 names, and the graph has 3 vertices"},
		{"a vertex named twice", "cc " + g + " --names " + at("twice.tsv", "0\ta\n0\tb\n"), 1, "twice.tsv:2: vertex 0 gets a second name"},
		{"no vertex", "cc " + g + " --names " + at("none.tsv", "x\ta\n"), 1, "none.tsv: no line names a vertex of the graph"},
		{"an ambiguous seed", "bfs " + g + " --source a --names " + at("same.txt", "a\nb\na\n"), 1, `several vertices are named "a"; give numbers, with --vertex-numbers`},
		{"an unknown seed", "bfs " + g + " --source zoe --names " + all, 1, `there is no vertex "zoe"`},
		{"rows and columns of one name file", "convert " + visits + " - --names " + all, 1, "give --names twice"},
		{"three", "cc " + g + " --names a --names b --names c", 2, "--names is given 3 times"},
		{"names and numbers", "cc " + g + " --names a --vertex-numbers", 2, "exclude each other"},
		{"no file", "cc " + g + " --names " + filepath.Join(dir, "absent"), 1, "absent: no such file"},
	} {
		got := hiveblas(t, strings.Fields(c.args)...)
		if got.code != c.code || !strings.Contains(got.stderr, c.want) {
			t.Errorf("%s: got %+v, want %q", c.reason, got, c.want)
		}
	}
}

// A square matrix with different vertices as rows and columns is no graph.
func TestSquareBipartite(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	list, binary := filepath.Join(dir, "sq.tsv"), filepath.Join(dir, "sq.hgb")
	sure.Do(os.WriteFile(list, []byte("a\tx\nb\ty\n"), 0o666))
	succeed(t, "convert", list, binary, "--ids", "renumber", "--bipartite", "--header", "no")
	for _, command := range []string{"cc", "pagerank", "scc", "bfs --source a", "kcore", "hits", "toposort", "louvain", "tc", "extract --largest -o -"} {
		for _, input := range []string{list + " --ids renumber --bipartite", binary, "generate:bipartite,rows=4,columns=4,edges=5"} {
			if r := hiveblas(t, strings.Fields(command+" "+input)...); r.code != 1 || !strings.Contains(r.stderr, "its rows and columns are different vertices, and "+strings.Fields(command)[0]+" wants a graph") {
				if !strings.HasPrefix(command, "extract") || !strings.HasPrefix(input, "generate:") { // extract reads files
					t.Errorf("%s %s: exit %d, %s", command, input, r.code, r.stderr)
				}
			}
		}
	}
	if r := hiveblas(t, "sgm", binary, binary, "--seeds", "1"); r.code != 1 || !strings.Contains(r.stderr, "wants a graph") {
		t.Errorf("sgm: exit %d, %s", r.code, r.stderr)
	}
	if got := report(t, "stats", binary); got["symmetric"] != nil {
		t.Errorf("stats of rows and columns: %v", got)
	}
}
