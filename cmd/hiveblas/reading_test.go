package main

import (
	"bytes"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/hiveblas/hiveblas/graphio"
	"github.com/hiveblas/hiveblas/internal/npy"
	"github.com/hiveblas/hiveblas/internal/sure"
	"github.com/hiveblas/hiveblas/matrix"
)

// utf16 returns a text in UTF-16 with a byte order mark.
func utf16(text string) string {
	b := []byte{0xff, 0xfe}
	for _, c := range text {
		b = append(b, byte(c), byte(c>>8))
	}
	return string(b)
}

// array returns a .npy of float64.
func array(t *testing.T, rows, cols int, list ...float64) string {
	t.Helper()
	var b bytes.Buffer
	if err := npy.Write(&b, &npy.Array{Rows: rows, Cols: cols, Dims: 2, Val: list}, true); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// What other programs write is read, by the flags that say how.
func TestReadsOthers(t *testing.T) {
	const costs = "%%MatrixMarket matrix array real general\n2 3\ninf\n8\n11\ninf\n8\n0\n"
	for _, c := range []struct{ reason, name, text, args, want string }{
		{"GEXF", "a.gexf", `<gexf><graph defaultedgetype="undirected"><nodes><node id="1" label="a"/><node id="2" label="b"/></nodes><edges><edge source="1" target="2" weight="2.5"/></edges></graph></gexf>`,
			"sssp IN --source b -o -", "a\t2.5\nb\t0\n"},
		{"a dense adjacency matrix", "a.mtx", "%%MatrixMarket matrix array real symmetric\n3 3\n0\n1\n0\n0\n0\n0\n", "cc IN -o -", "0\t0\n1\t0\n2\t2\n"},
		{"its structure", "a.npy", array(t, 2, 2, 0, 0.5, 0, 0), "convert IN - --output-format tsv", "0\t1\t0.5\n"},
		{"with its zeros", "a.npy", array(t, 1, 2, 0, 0.5), "convert IN - --output-format tsv --keep-zeros", "0\t0\t0.0\n0\t1\t0.5\n"},
		{"names that begin as comments", "a.tsv", "x#A\tb\nb\tc\n#tag\tc\n", "convert IN - --output-format csv --ids renumber --comment none", "\"#tag\",c\nb,c\nx#A,b\n"},
		{"comments, as asked", "a.tsv", "x\tb\n#tag\tc\n", "convert IN - --output-format csv --ids renumber --comment #", "x,b\n"},
		{"UTF-16", "a.tsv", utf16("0\t1\t2\n"), "convert IN - --output-format tsv", "0\t1\t2\n"},
		{"decimal commas", "a.csv", "a;b;0,5\nb;c;1,25\n", "convert IN - --output-format tsv --ids renumber --decimal ,", "a\tb\t0.5\nb\tc\t1.25\n"},
		{"Gephi", "a.csv", "Source,Target,Type,Id,Label,timeset,Weight\n0,1,Directed,1,,,2.0\n", "convert IN - --output-format tsv", "0\t1\t2.0\n"},
		{"pandas", "a.csv", ",source,target,weight\n0,0,1,2.5\n", "convert IN - --output-format tsv", "0\t1\t2.5\n"},
		{"blanks and tabs", "a.txt", "0 \t 1  2.5\n1\t\t2 3.5\n", "convert IN - --output-format tsv --delimiter blank", "0\t1\t2.5\n1\t2\t3.5\n"},
		{"forbidden pairs, and a cost of zero", "a.mtx", costs, "lsap IN -o -", "0\t1\n1\t2\n"},
		{"forbidden pairs of a maximum", "a.tsv", "0 0 1\n0 1 -inf\n1 0 5\n1 1 2\n", "lsap IN --maximize -o -", "0\t0\n1\t1\n"},
		{"forbidden pairs in NumPy, and a cost of zero", "a.npy", array(t, 2, 2, math.Inf(1), 0, 3, 1), "lsap IN -o -", "0\t1\n1\t0\n"},
	} {
		path := write(t, c.name, c.text)
		if got := succeed(t, strings.Fields(strings.Replace(c.args, "IN", path, 1))...); got != c.want {
			t.Errorf("%s: got %q, want %q", c.reason, got, c.want)
		}
	}
	// The same by the binary form.
	dir := t.TempDir()
	hgb := filepath.Join(dir, "costs.hgb")
	succeed(t, "convert", write(t, "a.npy", array(t, 2, 2, 4, 0, 3, 1)), hgb, "--keep-zeros")
	if got := succeed(t, "lsap", hgb, "-o", "-"); got != "0\t1\n1\t0\n" {
		t.Errorf("costs in the binary form: %q", got)
	}
}

func TestReadingErrors(t *testing.T) {
	model := filepath.Join(t.TempDir(), "w.npz")
	var b bytes.Buffer
	weights := &npy.Array{Rows: 1, Cols: 1, Dims: 2, Val: []float64{math.Inf(1)}}
	if err := (&npy.Zip{Arrays: map[string]*npy.Array{"wf1": weights, "wa1": {Rows: 1, Cols: 1, Dims: 2, Val: []float64{1}}}}).Write(&b, func(string) bool { return false }); err != nil {
		t.Fatal(err)
	}
	sure.Do(os.WriteFile(model, b.Bytes(), 0o600))
	side := func(name, text string) string { return write(t, name, text) }
	hgb := filepath.Join(t.TempDir(), "nan.hgb")
	a, err := matrix.FromTuples(2, 2, []int{0}, []int{1}, []float32{float32(math.NaN())}, nil)
	if err == nil {
		err = graphio.WriteFile(hgb, a)
	}
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		reason, args string
		code         int
		want         string
	}{
		{"XGMML", "cc " + side("a.xgmml", `<graph xmlns="http://www.cs.rpi.edu/XGMML"/>`), 1, "XGMML (Cytoscape)"},
		{"an unknown encoding", "cc " + side("a.graphml", `<?xml version="1.0" encoding="x-none"?><graphml/>`), 1, `the encoding is "x-none"`},
		{"a name that begins as a comment", "cc --ids renumber " + side("a.tsv", "a\tb\n#b\tc\n"), 1, "--comment none reads such lines as edges"},
		{"METIS", "cc " + side("a.graph", "2 1\n2 2\n\n"), 1, ""},
		{"METIS, one end", "cc " + side("a.graph", "3 1\n2\n3\n\n"), 1, "a.graph:2: vertex 1 lists 2, which does not list 1; --undirected"},
		{"a decimal comma", "sssp --source a --ids renumber " + side("a.csv", "a;b;0,5\n"), 1, "has a decimal comma; --decimal , reads decimal commas"},
		{"blanks and tabs", "cc " + side("a.txt", "0 \t 1  2.5\n1\t\t2 3.5\n"), 1, "--delimiter blank separates fields at runs of blanks and tabs"},
		{"both signs", "cc --decimal , --delimiter comma x.csv", 2, "--decimal , and --delimiter comma exclude each other"},
		{"a sign", "cc --decimal ; x.csv", 2, `--decimal is ";"`},
		{"comments of letters", "cc --comment abc x.csv", 2, `--comment is "abc"`},
		{"NaN of a cost", "lsap " + side("a.npy", array(t, 1, 2, 1, math.NaN())), 1, "row 0, column 1"},
		{"an infinity on the other side", "lsap " + side("a.tsv", "0 0 -inf\n"), 1, "+Inf forbids a pair"},
		{"a forbidden pair beside a default", "lsap --default 2 " + side("a.tsv", "0 0 1\n1 1 inf\n"), 1, "row 1, column 1: the cost is +Inf; leave --default out"},
		{"only forbidden pairs", "lsap " + side("a.mtx", "%%MatrixMarket matrix array real general\n2 2\n1\n2\ninf\ninf\n"), 1, "no assignment exists"},
		{"NaN among features", "sage --all -o - --features " + side("x.npy", array(t, 2, 1, 1, math.NaN())) + " --weights " + model + " " + side("g.tsv", "0 1\n"), 1, "x.npy: item 1 of the array is NaN"},
		{"an infinity among weights", "sage --all -o - --features " + side("x.csv", "1\n2\n") + " --weights " + model + " " + side("g.tsv", "0 1\n"), 1, "w.npz: item 0 of array wf1 is +Inf"},
		{"NaN in the binary form", "sssp --source 0 " + hgb, 1, "the weight of the edge from 0 to 1 is NaN; correct the file: weights are finite numbers"},
	} {
		r := hiveblas(t, strings.Fields(c.args)...)
		if r.code != c.code || !strings.Contains(r.stderr, c.want) || r.stdout != "" {
			t.Errorf("%s: %+v, want %q", c.reason, r, c.want)
		}
		if id := goIdentifier.FindString(r.stderr); id != "" {
			t.Errorf("%s: the message names %s: %s", c.reason, id, r.stderr)
		}
	}
	if r := hiveblas(t, "cc", hgb); r.code != 0 {
		t.Errorf("the structure of a graph with NaN: %+v", r)
	}
}

// Files about vertices have headers, commas, comments and encodings as edge lists have them.
func TestSideInputs(t *testing.T) {
	graph := write(t, "g.tsv", "0\t1\n0\t2\n3\t1\n")
	named := write(t, "n.tsv", "a\tb\n#b\tb\n")
	for _, c := range []struct{ reason, args, want string }{
		{"a header of places", "geo --undirected -o - --locations " + write(t, "l.csv", "vertex,latitude,longitude\n1,10,20\n2,10,20\n") + " " + graph, "0\t10"},
		{"decimal commas of places", "geo --undirected -o - --decimal , --locations " + write(t, "l.csv", "vertex;latitude;longitude\n1;10,5;20\n2;10,5;20\n") + " " + graph, "0\t10.5"},
		{"a header of seeds", "pagerank -o - --seeds " + write(t, "s.csv", "vertex\n3\n") + " " + graph, "3\t"},
		{"seeds in UTF-16", "pagerank -o - --seeds " + write(t, "s.txt", utf16("3\n")) + " " + graph, "3\t"},
		{"a seed that begins as a comment", "pagerank -o - --ids renumber --comment none --seeds " + write(t, "s.txt", "#b\n") + " " + named, "\"#b\"\t"},
		{"names in UTF-16", "cc -o - --names " + write(t, "n.txt", utf16("0\tann\n1\tbob\n")) + " " + graph, "ann\tann"},
	} {
		if got := succeed(t, strings.Fields(c.args)...); !strings.Contains(got, c.want) {
			t.Errorf("%s: got %q, want %q", c.reason, got, c.want)
		}
	}
}
