package main

import (
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

const realData = "../../../shared/data"

// realGraph returns the path of a file of the shared data, or skips the test.
func realGraph(t *testing.T, name string) string {
	t.Helper()
	path := filepath.Join(realData, name)
	if _, err := os.Stat(path); err != nil {
		t.Skipf("no real data beside the checkout: %v", err)
	}
	return path
}

// The published figures of the chesapeake projection: Gunrock HIVE report,
// 2018, ch. 9.
func TestChesapeakeProjection(t *testing.T) {
	in := realGraph(t, "graphs/chesapeake.mtx")
	out := filepath.Join(t.TempDir(), "p.tsv")
	if got := report(t, "project", in, "--undirected", "--unweighted", "-o", out); got["nnz"] != 1372.0 {
		t.Errorf("nnz is %v", got["nnz"])
	}
	list := "\n" + contents(t, out)
	if n := strings.Count(list, "\n") - 1; n != 1372 {
		t.Errorf("%d lines", n)
	}
	for _, want := range []string{"0\t1\t9", "0\t2\t1", "0\t3\t2", "38\t35\t28", "38\t36\t2", "38\t37\t18"} {
		if !strings.Contains(list, "\n"+want+"\n") {
			t.Errorf("no line %q", want)
		}
	}
}

// Figures that SNAP publishes for the graphs, confirmed with SciPy: vertices of the
// largest weakly connected component, and triangles.
func TestPublishedFigures(t *testing.T) {
	for _, c := range []struct {
		graph, command, key string
		want                float64
	}{
		{"graphs/email-Enron.mtx.gz", "tc", "triangles", 727044},
		{"graphs/email-Enron.mtx.gz", "cc", "largest", 33696},
		{"graphs/ca-GrQc.mtx.gz", "tc", "triangles", 48260},
		{"graphs/ca-HepTh.mtx.gz", "tc", "triangles", 28339},
		{"graphs/soc-Slashdot0902.mtx.gz", "tc", "triangles", 602592},
		{"graphs/soc-Slashdot0902.mtx.gz", "cc", "largest", 82168},
		{"graphs/wiki-Vote.mtx.gz", "tc", "triangles", 608389},
		{"graphs/wiki-Vote.mtx.gz", "cc", "largest", 7066},
	} {
		t.Run(c.command+" "+filepath.Base(c.graph), func(t *testing.T) {
			if got := report(t, c.command, realGraph(t, c.graph))[c.key]; got != c.want {
				t.Errorf("%s is %v, published are %v", c.key, got, c.want)
			}
		})
	}
}

// The figures of docs/real-input.md, which agree with SciPy.
func TestMovieLens(t *testing.T) {
	in := realGraph(t, "movielens/ml-100k.mtx.gz")
	for _, c := range []struct {
		args          string
		nnz, sum, max float64
	}{
		{"--onto cols", 1966412, 241982864, 8794},
		{"--onto cols --unweighted", 1966412, 20100812, 480},
		{"--onto cols --weight ratio", 1966412, 10050406, 252.2337301587302},
		{"--onto rows", 858220, 232669750, 4939},
		{"--onto rows --unweighted", 858220, 16707190, 346},
		{"--onto rows --weight ratio", 858220, 8353595, 222.02777777777777},
	} {
		t.Run(c.args, func(t *testing.T) {
			got := report(t, append([]string{"project", in}, strings.Fields(c.args)...)...)
			for key, want := range map[string]float64{"nnz": c.nnz, "sum": c.sum, "max": c.max} {
				if x := got[key].(float64); math.Abs(x-want) > 1e-12*want {
					t.Errorf("%s is %v, want %v", key, x, want)
				}
			}
		})
	}
}

func TestNominations(t *testing.T) {
	for _, c := range []struct {
		graph, seeds             string
		reached, distance, total float64
	}{
		{"graphs/ak2010.mtx.gz", "0,100,20000", 42381, 46367651, 183646002890},
		{"graphs/wiki-Vote.mtx.gz", "0,3,5", 2316, 4, 4837},
	} {
		t.Run(filepath.Base(c.graph), func(t *testing.T) {
			got := report(t, "vn", realGraph(t, c.graph), "--seeds", c.seeds)
			if got["reached"] != c.reached || got["max_distance"] != c.distance || got["sum_distance"] != c.total {
				t.Errorf("got %v", got)
			}
		})
	}
}

// The flows of the workflow's instances; the last two vertices are the source and the sink: Gunrock
// HIVE report, 2018, ch. 11.
func TestPublishedFlows(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		file, source, sink string
		want               float64
	}{
		{"std_added", "236", "237", 255.813},
		{"Wei_test2", "16", "17", 40.53},
		{"wei_problem_10_22", "227", "228", 213.871},
	} {
		got := report(t, "maxflow", realGraph(t, "sfl/"+c.file+".mtx"), "--format", "edges", "--skip-lines", "1", "--base", "1",
			"--source", c.source, "--sink", c.sink)["value"]
		if x, ok := got.(float64); !ok || math.Abs(x-c.want) > 1e-9 {
			t.Errorf("%s: value %v, published is %v", c.file, got, c.want)
		}
	}
}
