package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// partsList has the weak components {a, b, c, d, e}, {f, g} and {h}.
const partsList = "a\tb\t3\nb\tc\t1\nc\td\t2\ne\tb\t9\nf\tg\t5\nh\th\t4\n"

func TestParts(t *testing.T) {
	dir := t.TempDir()
	g := filepath.Join(dir, "g.hgb")
	succeed(t, "convert", write(t, "g.tsv", partsList), g, "--ids", "renumber", "--quiet")
	some := write(t, "some.txt", "b\nc\ne\n")
	for _, c := range []struct{ reason, args, want string }{
		{"the component of a vertex", "extract --component g", "f\tg\t5\n"},
		{"the largest component", "extract --largest", "a\tb\t3\nb\tc\t1\nc\td\t2\ne\tb\t9\n"},
		{"an ego net", "extract --ego a --hops 2", "a\tb\t3\nb\tc\t1\n"},
		{"of no hops", "extract --ego h --hops 0", "h\th\t4\n"},
		{"against the edges", "extract --ego b --undirected", "a\tb\t3\nb\ta\t3\nb\tc\t1\nb\te\t9\nc\tb\t1\ne\tb\t9\n"},
		{"a list", "extract --vertices b,c,e", "b\tc\t1\ne\tb\t9\n"},
		{"a file", "extract --vertices " + some, "b\tc\t1\ne\tb\t9\n"},
		{"numbers", "extract --vertices 1,2,4 --vertex-numbers", "0\t1\t1\n2\t0\t9\n"},
		{"all vertices", "sample --vertices 99", partsList},
		{"no edges", "sample --edges 0", ""},
		{"everything burns", "sample --forest-fire 8", partsList},
		{"by weight", "sort", "b\tc\t1\nc\td\t2\na\tb\t3\nh\th\t4\nf\tg\t5\ne\tb\t9\n"},
		{"the other way round", "sort --by weight --reverse", "e\tb\t9\nf\tg\t5\nh\th\t4\na\tb\t3\nc\td\t2\nb\tc\t1\n"},
		{"by degree", "sort --by degree", "b\tc\t1\nc\td\t2\nh\th\t4\na\tb\t3\ne\tb\t9\nf\tg\t5\n"},
		{"by name, backwards", "sort --by name --reverse", "h\th\t4\nf\tg\t5\ne\tb\t9\nc\td\t2\nb\tc\t1\na\tb\t3\n"},
		{"the first", "head --count 2", "a\tb\t3\nb\tc\t1\n"},
		{"none", "head --count 0", ""},
		{"sizes", "cc --sizes", "a\t5\nf\t2\nh\t1\n"},
		{"several sources", "bfs --source a,e", "a\t0\nb\t1\nc\t2\nd\t3\ne\t0\n"},
		{"sources of a file", "bfs --source " + some, "b\t0\nc\t0\nd\t1\ne\t0\n"},
		{"distances from several", "sssp --source a,e", "a\t0\nb\t3\nc\t4\nd\t6\ne\t0\n"},
	} {
		f := strings.Fields(c.args)
		got := succeed(t, append(append([]string{f[0], g}, f[1:]...), "-o", "-")...)
		if got != c.want {
			t.Errorf("%s: %s: got %q, want %q", c.reason, c.args, got, c.want)
		}
	}
	if got := succeed(t, "head", g, "--count", "1"); got != "a\tb\t3\n" {
		t.Errorf("head: got %q", got)
	}
	// Numbers become names, so that the vertices of a part can be told.
	list := write(t, "n.tsv", "0 1\n1 2\n3 4\n")
	if got := succeed(t, "extract", list, "--component", "4", "-o", "-"); got != "3\t4\n" {
		t.Errorf("numbers: got %q", got)
	}
	if got := succeed(t, "cc", g, "--sizes", "--top", "1", "--json"); !strings.Contains(got, `"top":[{"vertex":"a","value":5}]`) {
		t.Errorf("the largest component: %s", got)
	}
	for _, c := range []struct {
		args string
		code int
		want string
	}{
		{"extract " + g + " -o -", 2, "give one of --component"},
		{"extract " + g + " --largest", 2, "-o is missing"},
		{"extract " + g + " --largest --hops 2 -o -", 2, "--hops needs --ego"},
		{"extract " + g + " --component zoe -o -", 1, `there is no vertex "zoe"`},
		{"extract --bipartite --largest -o - " + list, 1, "wants a graph"},
		{"sample " + g + " --vertices 2 --edges 2 -o -", 2, "give one of"},
		{"sample " + g + " --vertices 2 --burn .5 -o -", 2, "--burn needs"},
		{"sample " + g + " --forest-fire 2 --burn 1 -o -", 2, "--burn is 1"},
		{"sort " + g + " --by size -o -", 2, `--by is "size"`},
		{"sort " + g + " -o " + filepath.Join(dir, "x.mtx"), 2, "--by weight writes"},
		{"head " + g + " --count -1", 2, "--count is -1"},
		{"cc " + g + " --top 3", 2, "--top needs --sizes"},
		{"cc " + g + " --sizes -o " + filepath.Join(dir, "x.mtx"), 2, "--sizes writes"},
		{"bfs " + g + " --source a,b --parents -o -", 2, "one source"},
	} {
		got := hiveblas(t, strings.Fields(c.args)...)
		if got.code != c.code || !strings.Contains(got.stderr, c.want) {
			t.Errorf("%s: got %+v, want %q", c.args, got, c.want)
		}
	}
}

func TestSamplesDependOnTheSeed(t *testing.T) {
	dir := t.TempDir()
	g := filepath.Join(dir, "g.hgb")
	succeed(t, "generate", "uniform", "--vertices", "500", "--edges", "4000", "-o", g, "--quiet")
	for _, how := range []string{"--vertices", "--edges", "--forest-fire"} {
		sample := func(seed string) string { return succeed(t, "sample", g, how, "60", "--seed", seed, "-o", "-") }
		one := sample("1")
		if one != sample("1") || one == sample("2") {
			t.Errorf("%s: the sample does not follow from the seed", how)
		}
		vertices := map[string]bool{}
		for line := range strings.Lines(one) {
			f := strings.Fields(line)
			vertices[f[0]], vertices[f[1]] = true, true
		}
		lines := strings.Count(one, "\n")
		if how == "--edges" && lines != 60 || how != "--edges" && len(vertices) > 60 || how == "--forest-fire" && lines < 60 {
			t.Errorf("%s: %d edges of %d vertices", how, lines, len(vertices))
		}
	}
}

func TestGenerate(t *testing.T) {
	dir := t.TempDir()
	at := func(name string) string { return filepath.Join(dir, name) }
	for _, kind := range []string{
		"rmat --scale 6 --edges 300", "uniform --vertices 50 --edges 300 --scramble", "planted --vertices 60 --edges 300 --communities 4",
		"watts-strogatz --vertices 40 --degree 3", "grid --height 5 --width 7", "bipartite --rows 20 --columns 20 --edges 200",
	} {
		f := append([]string{"generate"}, strings.Fields(kind)...)
		run := func(more ...string) string { return succeed(t, append(append([]string(nil), f...), more...)...) }
		list := run("-o", "-", "--threads", "1")
		if list != run("-o", "-", "--threads", "3") || strings.Count(list, "\n") == 0 {
			t.Errorf("%s: the list depends on the threads", kind)
		}
		if f[1] != "grid" && list == run("-o", "-", "--seed", "2") {
			t.Errorf("%s: the list does not depend on the seed", kind)
		}
		// Every format has the same edges.
		want := ""
		for _, name := range []string{"g.tsv.gz", "g.csv", "g.mtx", "g.g500", "g.hgb", "g.npz"} {
			run("-o", at(name), "--quiet")
			args := []string{"convert", at(name), "-", "--output-format", "tsv", "--duplicates", "first", "--weight-column", "0"}
			res := hiveblas(t, args...) // some kinds have vertices without edges; it warns of these
			got := res.stdout
			if res.code != 0 {
				t.Errorf("%s: exit %d: %s", name, res.code, res.stderr)
			}
			if want == "" {
				want = got
			}
			if strings.ReplaceAll(got, "\t1\n", "\n") != strings.ReplaceAll(want, "\t1\n", "\n") {
				t.Errorf("%s: %s differs from the list", kind, name)
			}
		}
		made := report(t, append(append([]string(nil), f...), "-o", at("s.hgb"), "--json", "--simple", "--max-weight", "9", "--undirected")...)
		stats := report(t, "stats", at("s.hgb"), "--json")
		if made["input"].(map[string]any)["nnz"] != stats["input"].(map[string]any)["nnz"] {
			t.Errorf("%s: generate reports %v, the file has %v", kind, made["input"], stats["input"])
		}
		if stats["symmetric"] != true || stats["self_loops"] != 0.0 {
			t.Errorf("%s: simple and undirected: %v", kind, stats)
		}
		info := report(t, "info", at("s.hgb"), "--json")
		if info["min"].(float64) < 1 || info["max"].(float64) > 9 || info["elements"] != "integer" {
			t.Errorf("%s: weights: %v", kind, info)
		}
	}
	// A streamed symmetric file has the graph that is built in memory.
	grid := []string{"generate", "grid", "--height", "4", "--width", "3", "--undirected", "--max-weight", "50", "--quiet"}
	succeed(t, append(grid, "-o", at("u.mtx"))...)
	succeed(t, append(grid, "-o", at("u.hgb"))...)
	if a, b := succeed(t, "head", at("u.mtx"), "--count", "99"), succeed(t, "head", at("u.hgb"), "--count", "99"); a != b || a == "" {
		t.Errorf("streamed %q, built %q", a, b)
	}
	succeed(t, "generate", "planted", "--vertices", "9", "--edges", "1", "--communities", "3", "--truth", at("t.csv"), "-o", at("p.tsv"), "--quiet")
	if got := contents(t, at("t.csv")); got != "0,0\n1,0\n2,0\n3,1\n4,1\n5,1\n6,2\n7,2\n8,2\n" {
		t.Errorf("communities: %q", got)
	}
	for _, c := range []struct{ args, want string }{
		{"star -o -", "is no kind of graph, want rmat, uniform"},
		{"rmat", "-o is missing"},
		{"rmat --vertices 5 -o -", "--vertices means nothing for rmat, which takes --scale, --edges"},
		{"rmat --scale 40 -o -", "the scale is 40, want 0 to 30"},
		{"uniform --undirected -o -", "wants --simple"},
		{"bipartite --rows 3 --undirected -o " + at("x.hgb"), "one set of vertices"},
		{"grid --max-weight 5 -o " + at("x.g500"), "without weights"},
		{"grid --max-weight -5 -o -", "--max-weight is -5"},
	} {
		got := hiveblas(t, append([]string{"generate"}, strings.Fields(c.args)...)...)
		if got.code != 2 || !strings.Contains(got.stderr, c.want) {
			t.Errorf("generate %s: got %+v, want %q", c.args, got, c.want)
		}
	}
	if _, err := os.Stat(at("x.hgb")); err == nil {
		t.Error("a failed command leaves a file")
	}
}
