package main

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/hiveblas/hiveblas/graphio"
	pq "github.com/parquet-go/parquet-go"
)

func TestConvert(t *testing.T) {
	t.Parallel()
	type row struct {
		Src, Dst string
		Weight   float32
	}
	dir := t.TempDir()
	in, out := filepath.Join(dir, "a.parquet"), filepath.Join(dir, "a.hgb")
	var b bytes.Buffer
	w := pq.NewGenericWriter[row](&b)
	if _, err := w.Write([]row{{"x", "y", 1.5}, {"x", "y", 2}}); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(in, b.Bytes(), 0o600); err != nil {
		t.Fatal(err)
	}
	var stderr bytes.Buffer
	if code := run([]string{in, out, "-ids", "renumber", "-duplicates", "sum"}, &stderr); code != 0 {
		t.Fatalf("exit %d: %s", code, stderr.String())
	}
	g, err := graphio.ReadLabelledFile[float64](out)
	if err != nil {
		t.Fatal(err)
	}
	if x, ok := g.Matrix.At(0, 1); !ok || x != 3.5 || g.Rows.Name(1) != "y" {
		t.Errorf("got %v, %v", g.Matrix, g.Rows)
	}
	for _, c := range []struct {
		args string
		code int
		want string
	}{
		{in + " " + out, 1, "is not an integer; -ids renumber numbers the ids"},
		{in + " " + out + " -ids renumber", 1, "given twice; -duplicates sum, min, max, first or last combines them\n"},
		{in + " " + filepath.Join(dir, "a.foo") + " -ids renumber -duplicates sum", 1, ".gml\n"},
		{in + " " + filepath.Join(dir, "a.graph") + " -ids renumber -duplicates sum", 1, "a.graph: the matrix is not symmetric, and a METIS graph is undirected; -undirected reads"},
		{in + " " + filepath.Join(dir, "a.graph") + " -ids renumber -duplicates first -undirected", 1, "a.graph: the edge from x to y has weight 1.5, and METIS wants positive integers; -no-weight leaves"},
		{in + " " + out + " -ids renumber -source nobody", 1, "no such column"},
		{in, 2, "usage"},
		{in + " " + out + " -ids some", 2, "usage"},
		{filepath.Join(dir, "absent") + " " + out, 1, "no such file"},
	} {
		stderr.Reset()
		if code := run(strings.Fields(c.args), &stderr); code != c.code || !strings.Contains(stderr.String(), c.want) {
			t.Errorf("%s: exit %d, %q; want %d, %q", c.args, code, stderr.String(), c.code, c.want)
		}
	}
}
