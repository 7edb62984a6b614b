package main

import (
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

// Figures published with the graphs by SNAP: vertices and edges of the largest
// weakly connected component, and triangles.
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
