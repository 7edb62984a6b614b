package classify

import (
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"math/rand"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/hiveblas/hiveblas/apps/internal/samples"
	"github.com/hiveblas/hiveblas/apps/internal/workflow"
	"github.com/hiveblas/hiveblas/graphio"
	"github.com/hiveblas/hiveblas/internal/access"
	"github.com/hiveblas/hiveblas/internal/sure"
	"github.com/hiveblas/hiveblas/matrix"
)

const (
	twoVertices = "2 3\n1 0.5 7\n0 1e1 -2\n" // not in the order of their numbers
	threeEdges  = "3 3\n0 1 4\n0 1 5\r\n\n1 1 6"
)

func TestReadAttributed(t *testing.T) {
	zipped := func(text string) *bytes.Buffer {
		var b bytes.Buffer
		z := gzip.NewWriter(&b)
		fmt.Fprint(z, text)
		z.Close()
		return &b
	}
	for reason, tables := range map[string][2]string{
		"counts":            {twoVertices, threeEdges},
		"names, and commas": {"vertex,first,second\n1,0.5,7\n0, 1e1, -2\n", "source\ttarget\tx\n0 1 4\n0,1,5\n1\t1\t6\n"},
	} {
		g := samples.Must[*Attributed](t)(ReadAttributed(zipped(tables[0]), strings.NewReader(tables[1])))
		if n, m := g.Dims(); n != 2 || m != 3 {
			t.Fatalf("%s: %d vertices, %d edges", reason, n, m)
		}
		got := fmt.Sprint(access.Store(g.Vertices).Val, access.Store(g.Edges).Val,
			ends(g.Source), ends(g.Target))
		if got != "[10 0.5 -2 7] [4 5 6] [0 0 1] [1 1 1]" {
			t.Errorf("%s: %s", reason, got)
		}
	}
}

func TestReadAttributedErrors(t *testing.T) {
	for _, c := range []struct{ reason, vertices, edges, want string }{
		{"nothing", "", threeEdges, "line 1: 0 fields"},
		{"no counts", "0 0.5 1\n", threeEdges, "line 1: 3 fields"},
		{"counts that are none", "two 3\n", threeEdges, "line 1: the table has two rows"},
		{"no column for the vertex", "2 0\n", threeEdges, "line 1: the table has 2 rows and 0 columns"},
		{"a negative count", "-1 3\n", threeEdges, "line 1: the table has -1 rows"},
		{"rows missing", "3 3\n0 1 1\n1 1 1\n", threeEdges, "ends after 2 of 3 rows"},
		{"rows too many", "1 3\n0 1 1\n1 1 1\n", threeEdges, "line 3: there are more than the 1 rows"},
		{"a field missing", "1 3\n0 1\n", threeEdges, "line 2: 2 fields, want 3"},
		{"a vertex that is none", "1 3\n0.0 1 1\n", threeEdges, `line 2: "0.0" is no vertex`},
		{"a vertex beyond", "2 2\n0 1\n2 1\n", threeEdges, "vertex 2 in row 1 is beyond"},
		{"a vertex twice", "2 2\n0 1\n0 1\n", threeEdges, "vertex 0 in row 1 is beyond the 2 vertices, or there twice"},
		{"no number", "1 3\n0 1 x\n", threeEdges, `line 2: feature 1: "x"`},
		{"NaN", "1 3\n0 NaN 1\n", threeEdges, `line 2: feature 0: "NaN"`},
		{"infinite", "1 3\n0 1 Inf\n", threeEdges, `line 2: feature 1: "Inf"`},
		{"beyond a float32", "1 3\n0 1 1e99\n", threeEdges, `line 2: feature 1 is "1e99"`},
		{"a target that is not there", twoVertices, "1 3\n0 2 5\n", "the target of edge 0 is vertex 2, and there are 2"},
		{"a source that is not there", twoVertices, "1 3\n7 1 5\n", "the source of edge 0 is vertex 7"},
		{"a count that would fill memory", "2000000000 1000\n0 1\n", threeEdges, "line 2: 2 fields"},
		{"a row unlike the names", "vertex,x\n0,1,2\n", threeEdges, "line 2: 3 fields, want 2"},
		{"damaged gzip", "\x1f\x8b\x00", threeEdges, ""},
	} {
		g, err := ReadAttributed(strings.NewReader(c.vertices), strings.NewReader(c.edges))
		if g != nil || !errors.Is(err, graphio.ErrParse) || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %q", c.reason, err, c.want)
		}
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	v, e := filepath.Join(t.TempDir(), "v"), filepath.Join(t.TempDir(), "e")
	for path, text := range map[string]string{v: twoVertices, e: threeEdges} {
		sure.Do(os.WriteFile(path, []byte(text), 0o600))
	}
	if _, err := ReadAttributedFiles(v, e, workflow.Run{Context: ctx}); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v", err)
	}
	if _, err := ReadAttributedFiles(v, e+"x", workflow.Run{}); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("no file: %v", err)
	}
}

// FuzzReadAttributed: every input gives a valid graph or an error with a reason.
func FuzzReadAttributed(f *testing.F) {
	f.Add(twoVertices, threeEdges)
	f.Add("0 1\n", "0 2\n")
	f.Add("vertex,x\n0,1\n", "source,target\n0,0\n")
	f.Add("1 1\n0", "1 2\n0 0")
	f.Fuzz(func(t *testing.T, vertices, edges string) {
		g, err := ReadAttributed(strings.NewReader(vertices), strings.NewReader(edges))
		if err != nil {
			if !errors.Is(err, graphio.ErrParse) {
				t.Fatal(err)
			}
			return
		}
		if err := g.check("Fuzz", "the graph", false, workflow.Run{}); err != nil {
			t.Fatal(err)
		}
	})
}

// TestClassifyHIVEData compares with the oracle on the pattern and the vertices of the
// HIVE data, with random edges, since the original edges are not available.
func TestClassifyHIVEData(t *testing.T) {
	dir := filepath.Join(samples.Folder(), "ac")
	if _, err := os.Stat(dir); err != nil {
		t.Skip("no ../shared/data beside the checkout")
	}
	file := func(name string) *os.File {
		f := sure.Get(os.Open(filepath.Join(dir, name)))
		t.Cleanup(func() { f.Close() })
		return f
	}
	pattern := samples.Must[*Attributed](t)(ReadAttributed(file("georgiyPattern.Vertex.csv"), file("georgiyPattern.Edges.csv")))
	if n, m := pattern.Dims(); n != 10 || m != 21 {
		t.Fatalf("the pattern has %d vertices and %d edges", n, m)
	}
	const edges = 20135
	rng := rand.New(rand.NewSource(1))
	var list strings.Builder
	fmt.Fprintln(&list, edges, 19)
	for range edges {
		fmt.Fprint(&list, rng.Intn(1000), " ", rng.Intn(1000))
		for range 17 {
			fmt.Fprint(&list, " ", 10*rng.Float32())
		}
		list.WriteByte('\n')
	}
	data := samples.Must[*Attributed](t)(ReadAttributed(file("georgiyData.Vertex.csv.gz"), strings.NewReader(list.String())))
	got := samples.Must[*matrix.Matrix[float32]](t)(Classify(data, pattern, ClassifyOptions{}))
	samples.SameBeliefs(t, "the HIVE data", got, samples.ClassifyNaively(written(data), written(pattern), 10, false))
}

// written converts a graph for the oracle.
func written(g *Attributed) samples.Featured {
	rows := func(x *matrix.Matrix[float32]) [][]float64 {
		f, n := x.Dims()
		out := make([][]float64, n)
		for k := range out {
			for i := range f {
				v, _ := x.At(i, k)
				out[k] = append(out[k], float64(v))
			}
		}
		return out
	}
	list := func(a *matrix.Matrix[bool]) (out []int) {
		for _, v := range ends(a) {
			out = append(out, int(v))
		}
		return out
	}
	return samples.Featured{Vertices: rows(g.Vertices), Edges: rows(g.Edges), From: list(g.Source), To: list(g.Target)}
}
