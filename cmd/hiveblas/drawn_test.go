package main

import (
	"math"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/hiveblas/hiveblas/cmd/hiveblas/internal/job"
)

// A generated graph is the one that hiveblas generate writes, wherever the command computes.
func TestDrawnGraphs(t *testing.T) {
	places := [][]string{nil, {"--device", "ranks:3"}}
	t.Run("on a GPU", func(t *testing.T) {
		emulated(t)
		checkDrawn(t, [][]string{{"--device", "gpu"}})
	})
	checkDrawn(t, places)
}

func checkDrawn(t *testing.T, places [][]string) {
	t.Helper()
	dir := t.TempDir()
	file, out := filepath.Join(dir, "g.hgb"), filepath.Join(dir, "out.tsv")
	for _, c := range []struct{ kind, run string }{
		{"rmat,scale=7,edges=900,undirected,simple", "bfs --source 1"},
		{"rmat,scale=7,edges=900,seed=5,scramble", "cc"},
		{"grid,height=9,width=7,max-weight=20,undirected,scramble", "sssp --source 5"},
		{"uniform,vertices=90,edges=600,max-weight=1000000007,seed=3", "sssp --source 2"},
		{"planted,vertices=80,edges=500,communities=4,undirected", "cc"},
		{"watts-strogatz,vertices=60,degree=3,undirected", "pagerank"},
		{"bipartite,rows=40,columns=30,edges=300", "project"},
	} {
		parts := strings.Split(c.kind, ",")
		generate := []string{"generate", parts[0], "-o", file}
		for _, p := range parts[1:] {
			generate = append(generate, "--"+p)
		}
		runInProcess(t, generate...)
		run := strings.Fields(c.run)
		command := func(input string, more ...string) string {
			runInProcess(t, append(slices.Concat([]string{run[0], input, "-o", out}, run[1:]), more...)...)
			return contents(t, out)
		}
		want := command(file)
		if len(want) < 100 {
			t.Errorf("%s: %q", c.kind, want)
		}
		for _, at := range places {
			if got := command(job.DrawnPrefix+c.kind, at...); got != want && !sameTable(got, want) {
				t.Errorf("%s %v: the results differ from those of the file", c.kind, at)
			}
		}
	}
}

// The graph has the dimensions of its flags, not of its edges, and the summary names it.
func TestDrawnSummary(t *testing.T) {
	const name = "generate:grid,height=3,width=5,max-weight=2"
	if got := succeed(t, "bfs", name, "--source", "0"); !strings.HasPrefix(got, "bfs          "+name+", 15×15, 22 entries\n") {
		t.Errorf("%q", got)
	}
}

func TestDrawnErrors(t *testing.T) {
	for _, c := range []struct{ args, want string }{
		{"cc generate:unform", `"unform" is no kind of graph, want rmat, uniform`},
		{"cc generate:uniform,vertices", "vertices wants a value"},
		{"cc generate:uniform,scale=3", "scale means nothing for uniform, which takes vertices, edges"},
		{"cc generate:uniform,foo=3", `"foo" is no flag of hiveblas generate uniform`},
		{"cc generate:grid,height=abc", `height is "abc", want a value of type int`},
		{"cc generate:grid,height=2,height=3", "height is given twice"},
		{"cc generate:grid,height=-2", "generate:grid,height=-2"},
		{"cc generate:grid,max-weight=-2", "max-weight is -2, want 1 or more"},
		{"cc generate:grid,", `"" is no flag`},
		{"cc generate:", `"" is no kind of graph`},
		{"cc generate:grid --undirected", "--undirected is for files, and generate:grid is generated; leave it out"},
		{"project generate:bipartite,rows=5,undirected", "square"},
		{"convert generate:grid x.mtx", "convert reads files; write the graph with hiveblas generate first"},
	} {
		r := inside(strings.Fields(c.args)...)
		if r.code == 0 || !strings.Contains(r.stderr, c.want) || strings.Count(r.stderr, "\n") != 1 {
			t.Errorf("%s: exit %d, %q, want %q", c.args, r.code, r.stderr, c.want)
		}
	}
}

// sameTable compares two files of numbers in columns, the numbers to twelve digits.
func sameTable(a, b string) bool {
	x, y := strings.Fields(a), strings.Fields(b)
	return slices.EqualFunc(x, y, func(s, t string) bool {
		f, err := strconv.ParseFloat(s, 64)
		g, bad := strconv.ParseFloat(t, 64)
		return s == t || err == nil && bad == nil && math.Abs(f-g) <= 1e-12*math.Abs(f)
	})
}
