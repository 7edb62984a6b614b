package graphio

import (
	"archive/zip"
	"bytes"
	"encoding/binary"
	"errors"
	"math"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/hiveblas/hiveblas/internal/npy"
	"github.com/hiveblas/hiveblas/internal/sure"
	"github.com/hiveblas/hiveblas/matrix"
)

// listOf lists the entries of a as “row column value”, by names.
func listOf[T matrix.Element](t *testing.T, a *Labelled[T]) string {
	t.Helper()
	var b strings.Builder
	if err := a.Write(&b, InFormat(FormatEdges), Delimiter(' ')); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

const (
	graphML = `<?xml version="1.0" encoding="UTF-8"?>
<graphml xmlns="http://graphml.graphdrawing.org/xmlns">
  <key id="d0" for="node" attr.name="label" attr.type="string"/>
  <key id="d1" for="edge" attr.name="weight" attr.type="double"><default>7</default></key>
  <key id="d2" for="edge" attr.name="value" attr.type="double"/>
  <graph id="G" edgedefault="directed">
    <edge source="n1" target="n0"><data key="d2">9</data><data key="d1">1.5</data></edge>
    <node id="n0"><data key="d0">Ann &amp; Bo</data></node>
    <node id="n1"><data key="d0">Cid</data></node>
    <edge source="n0" target="n0"/>
    <edge source="n0" target="n1" directed="false"><data key="d1">2</data></edge>
  </graph>
</graphml>`
	gml = `Creator "x"
Version 1
graph
[ comment "a [list] &quot;here&quot;"
  directed 0
  node [ id 10 label "Ann" graphics [ x 1.0 fill "#fff" ] ]
  node [ id 20
    label "Bo &amp; Cid" ]
  # a comment
  node [ id 30 label "D" ]
  edge [ source 10 target 20 value 4 ]
  edge [ source 30 target 20 weight 2.5 value 9 ]
  edge [ source 10 target 10 ] ]
`
)

func graph500Bytes(packed bool, edges ...int64) []byte {
	var b []byte
	le := binary.LittleEndian
	for k := 0; k < len(edges); k += 2 {
		s, d := uint64(edges[k]), uint64(edges[k+1])
		if packed {
			b = le.AppendUint32(le.AppendUint32(b, uint32(s)), uint32(d))
			b = le.AppendUint32(b, uint32(s>>32)&0xffff|uint32(d>>32)<<16)
		} else {
			b = le.AppendUint64(le.AppendUint64(b, s), d)
		}
	}
	return b
}

func TestReadGraphFormats(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		reason string
		format FileFormat
		text   string
		want   string
		opts   []ReadOption
		field  string
	}{
		{"METIS, the first example of the manual", FormatMETIS, "7 11\n5 3 2\n1 3 4\n5 4 2 1\n2 3 6 7\n1 3 6\n5 4 7\n6 4\n",
			"0 1 1\n0 2 1\n0 4 1\n1 0 1\n1 2 1\n1 3 1\n2 0 1\n2 1 1\n2 3 1\n2 4 1\n3 1 1\n3 2 1\n3 5 1\n3 6 1\n4 0 1\n4 2 1\n4 5 1\n5 3 1\n5 4 1\n5 6 1\n6 3 1\n6 5 1\n", nil, "pattern"},
		{"METIS with weights of edges, isolated vertices and comments", FormatMETIS, "% c\n4 1 1\n2 2.5\n%\n1 2.5\n\n\n\n", "0 1 2.5\n1 0 2.5\n", nil, "real"},
		{"METIS with sizes and weights of vertices", FormatMETIS, "2 1 111 2\n9 8 8 2 3\r\n9 8 8 1 3", "0 1 3\n1 0 3\n", nil, "integer"},
		{"DIMACS shortest paths", FormatDIMACS, "c x\np sp 3 3\na 1 2 5\nc y\na 2 3 6\na 3 1 -7\n", "0 1 5\n1 2 6\n2 0 -7\n", nil, "integer"},
		{"DIMACS shortest paths, both directions", FormatDIMACS, "p sp 2 1\na 1 2 5\n", "0 1 5\n1 0 5\n", []ReadOption{Symmetrise()}, "integer"},
		{"DIMACS maximum flow", FormatDIMACS, "p max 3 2\nn 3 t\nn 1 s\na 1 2 4\na 2 3 2.5", "0 1 4\n1 2 2.5\n", nil, "real"},
		{"DIMACS colouring is undirected, in any direction", FormatDIMACS, "p edge 3 2\ne 2 1\ne 1 2\ne 3 1\nn 1 4\n", "0 1 1\n0 2 1\n1 0 1\n2 0 1\n", nil, "pattern"},
		{"repeated arcs", FormatDIMACS, "p sp 2 2\na 1 2 5\na 1 2 6\n", "0 1 11\n", []ReadOption{Duplicates(matrix.CombineFunc[float64](func(x, y float64) float64 { return x + y }))}, "integer"},
		{"GraphML: labels, a default weight, an undirected edge", FormatGraphML, graphML, "Cid \"Ann & Bo\" 1.5\n\"Ann & Bo\" Cid 2\n\"Ann & Bo\" \"Ann & Bo\" 7\n", []ReadOption{Duplicates(matrix.CombineFunc[float64](func(x, _ float64) float64 { return x }))}, "real"},
		{"GraphML: another weight", FormatGraphML, strings.Replace(graphML, `directed="false"`, "", 1), "Cid \"Ann & Bo\" 9\n\"Ann & Bo\" Cid 1\n\"Ann & Bo\" \"Ann & Bo\" 1\n", []ReadOption{WeightColumn("value")}, "integer"},
		{"GraphML: undirected, ids", FormatGraphML, `<graphml><graph edgedefault="undirected"><node id="b"/><node id="a"/><edge source="a" target="b"/></graph></graphml>`, "b a 1\na b 1\n", nil, "pattern"},
		{"GraphML: ids that are numbers", FormatGraphML, `<graphml><graph edgedefault="directed"><node id="0"/><node id="1"/><edge source="1" target="0"/></graph></graphml>`, "1 0 1\n", nil, "pattern"},
		{"GML", FormatGML, gml, "Ann Ann 1\nAnn \"Bo & Cid\" 4\n\"Bo & Cid\" Ann 4\n\"Bo & Cid\" D 2.5\nD \"Bo & Cid\" 2.5\n", nil, "real"},
		{"GML: names of igraph", FormatGML, "graph [ directed 1 node [ id 0 name \"Ann\" ] node [ id 1 name \"Bo\" label \"Bob\" ] edge [ source 0 target 1 ] ]", "Ann Bob 1\n", nil, "pattern"},
		{"GML: directed, without labels", FormatGML, "graph [ directed 1 node [ id 7 ] node [ id 3 ] edge [ source 3 target 7 ] ]", "3 7 1\n", nil, "pattern"},
		{"Graph500", FormatGraph500, string(graph500Bytes(false, 3, 1, 0, 0)), "0 0 1\n3 1 1\n", nil, "pattern"},
		{"Graph500 in 12 bytes", FormatGraph500Packed, string(graph500Bytes(true, 3, 1, 0, 0)), "0 0 1\n3 1 1\n", nil, "pattern"},
	} {
		for _, zipped := range []bool{false, true} {
			data := []byte(c.text)
			if zipped {
				data = gz(t, c.text)
			}
			var info Info
			a, err := ReadLabelled[float64](bytes.NewReader(data), append(c.opts, InFormat(c.format), WithInfo(&info))...)
			if err != nil {
				t.Errorf("%s: %v", c.reason, err)
				continue
			}
			valid(t, a.Matrix)
			if got := listOf(t, a); strings.ReplaceAll(got, "\"", "") != strings.ReplaceAll(c.want, "\"", "") {
				t.Errorf("%s: got\n%swant\n%s", c.reason, got, c.want)
			}
			if info.Field != c.field {
				t.Errorf("%s: the field is %q, want %q", c.reason, info.Field, c.field)
			}
			if m, _ := a.Matrix.Dims(); info.Rows != m || c.reason == "DIMACS maximum flow" && !slices.Equal(info.Terminals, []int{0, 2}) {
				t.Errorf("%s: info %+v", c.reason, info)
			}
		}
		// The structure needs no values.
		if _, err := ReadLabelled[bool](strings.NewReader(c.text), InFormat(c.format), PatternOnly(), Duplicates(matrix.CombineFunc[bool](func(x, _ bool) bool { return x }))); err != nil {
			t.Errorf("%s, structure: %v", c.reason, err)
		}
	}
}

// Symmetrise reads METIS files that list an edge at one end.
func TestReadMETISOneEnd(t *testing.T) {
	a, err := ReadMETIS[int](strings.NewReader("3 1\n2\n3\n\n"), Symmetrise())
	if err != nil || entriesOf(a) != "(0,1)=1 (1,0)=1 (1,2)=1 (2,1)=1" {
		t.Errorf("%v, %v", a, err)
	}
}

func TestGraphFormatErrors(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		reason string
		format FileFormat
		text   string
		line   int64
		want   string
	}{
		{"no line", FormatMETIS, "% c\n", 2, "vertices edges"},
		{"a word", FormatMETIS, "3 x\n", 1, `want a count, got "x"`},
		{"a bad format", FormatMETIS, "3 1 12\n", 1, "three digits"},
		{"too many vertices", FormatMETIS, "3000000000 1\n", 1, "beyond the limits"},
		{"a neighbour outside", FormatMETIS, "2 1\n2\n% c\n1 3\n", 4, `the neighbour "3" is no vertex, want 1 to 2`},
		{"no weight", FormatMETIS, "2 1 1\n2 5\n1\n", 3, "the weight is missing"},
		{"a bad weight", FormatMETIS, "2 1 1\n2 5\n1 x\n", 3, `want a number, got "x"`},
		{"cut", FormatMETIS, "3 1\n2\n1\n", 4, "after 2 of 3 vertices"},
		{"too many lines", FormatMETIS, "1 0\n\n1\n", 0, "more lines of vertices than the 1"},
		{"another number of edges", FormatMETIS, "2 2\n2\n1\n", 0, "2 entries, want 2 for each of the 2 edges"},
		{"a repeated neighbour", FormatMETIS, "2 2\n2 2\n1 1\n", 0, "the edge from 0 to 1 is given twice"},
		{"a neighbour that does not list the vertex", FormatMETIS, "% a\n3 2\n% b\n2 3\n% c\n3\n1\n", 4, "vertex 1 lists 2, which does not list 1"},
		{"the same below the diagonal", FormatMETIS, "4 2\n\n4\n2\n3 2\n", 4, "vertex 3 lists 2, which does not list 3"},
		{"a vertex whose neighbour comes later", FormatMETIS, "3 1\n\n\n1 2\n", 4, "vertex 3 lists 1, which does not list 3"},
		{"weights that differ", FormatMETIS, "2 1 1\n2 5\n1 6\n", 2, "from 1 to 2 has the weight 5, and from 2 to 1 6"},
		{"no problem", FormatDIMACS, "c\nx 1 2\n", 2, "the line is"},
		{"another problem", FormatDIMACS, "p asn 3 3\n", 1, `"asn" are not read`},
		{"an arc to colour", FormatDIMACS, "p edge 2 1\na 1 2 3\n", 2, "has no place"},
		{"vertex 0", FormatDIMACS, "p sp 2 1\na 0 1 3\n", 2, "want two vertices from 1 to 2"},
		{"no length", FormatDIMACS, "p sp 2 1\na 1 2\n", 2, "the weight is missing"},
		{"a fifth field", FormatDIMACS, "p sp 2 1\na 1 2 3 4\n", 2, `goes on with "4"`},
		{"cut", FormatDIMACS, "p sp 2 2\na 1 2 3\n", 3, "the file ends after 1 of 2 arcs"},
		{"too many arcs", FormatDIMACS, "p sp 2 1\na 1 2 3\na 2 1 3\n", 3, "more than the 1 arcs"},
		{"a long word", FormatDIMACS, "p sp 2 1\narc 1 2 3\n", 2, `begins with "arc"`},
		{"no graph", FormatGraphML, "<graphml/>", 0, "no element graph"},
		{"not well formed", FormatGraphML, "<graphml>\n<graph>\n</graphml>", 3, "not well formed"},
		{"an unknown node", FormatGraphML, "<graphml><graph>\n<node id='a'/>\n<edge source='a' target='b'/></graph></graphml>", 3, `there is no node "b"`},
		{"a node twice", FormatGraphML, "<graphml><graph><node id='a'/>\n<node id='a'/></graph></graphml>", 2, "a second node"},
		{"a hyperedge", FormatGraphML, "<graphml><graph><hyperedge/></graph></graphml>", 1, "hyperedges"},
		{"an unknown encoding", FormatGraphML, `<?xml version="1.0" encoding="latin99"?><graphml/>`, 1, "latin99"},
		{"a bad weight", FormatGraphML, "<graphml><key id='w' for='edge' attr.name='weight'/><graph><node id='a'/>\n<edge source='a' target='a'><data key='w'>x</data></edge></graph></graphml>", 2, `got "x"`},
		{"no graph", FormatGML, "Creator 1\n", 0, "no “graph"},
		{"a list without end", FormatGML, "graph [\n node [ id 1 ]\n", 3, "ends within a list"},
		{"a string without end", FormatGML, "graph [\n label \"x\n", 3, "ends within a string"},
		{"no id", FormatGML, "graph [\n node [ label \"x\" ] ]", 2, "the node has no id"},
		{"an edge to nowhere", FormatGML, "graph [ node [ id 1 ]\nedge [ source 1 target 2 ] ]", 2, `there is no node "2"`},
		{"nested too deeply", FormatGML, "graph [ " + strings.Repeat("a [ ", 200), 1, "nested too deeply"},
		{"cut", FormatGraph500, string(graph500Bytes(false, 3, 1)) + "x", 0, "edge 1: the file ends after 1 of its 16 bytes"},
		{"a negative vertex", FormatGraph500, string(graph500Bytes(false, 3, -1)), 0, "edge 0 from 3 to -1 is out of range"},
		{"a large vertex", FormatGraph500Packed, string(graph500Bytes(true, 1, 1, 1<<40, 2)), 0, "edge 1 from 1099511627776 to 2 is out of range"},
		{"another file", FormatNPZ, "PK\x03\x04 and more", 0, "no .npz file"},
		{"another file", FormatNPY, "\x93NUMPX", 0, "does not begin as one of NumPy"},
	} {
		_, err := ReadLabelled[float64](strings.NewReader(c.text), InFormat(c.format), FileName("f"))
		var e *ParseError
		if !errors.As(err, &e) || e.Line != c.line || e.File != "f" || !strings.Contains(e.Msg, c.want) {
			t.Errorf("%v, %s: got %v, want line %d, %q", c.format, c.reason, err, c.line, c.want)
		}
	}
}

// npzOf returns a .npz file of arrays, with their items as bytes.
func npzOf(t testing.TB, arrays ...[4]string) []byte {
	t.Helper()
	var b bytes.Buffer
	z := zip.NewWriter(&b)
	for _, a := range arrays { // name, type, shape, items
		w, err := z.Create(a[0] + ".npy")
		if err != nil {
			t.Fatal(err)
		}
		if _, err := w.Write(append(npy.AppendHeader(nil, a[1], a[2]), a[3]...)); err != nil {
			t.Fatal(err)
		}
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

var (
	npzFormat = [4]string{"format", "|S3", "()", "csr"}
	npzShape  = [4]string{"shape", "<i8", "(2,)", "\x02\x00\x00\x00\x00\x00\x00\x00\x03\x00\x00\x00\x00\x00\x00\x00"}
	npzPtr    = [4]string{"indptr", "<i4", "(3,)", "\x00\x00\x00\x00\x02\x00\x00\x00\x03\x00\x00\x00"}
	npzIdx    = [4]string{"indices", "<u2", "(3,)", "\x02\x00\x00\x00\x01\x00"} // not sorted
	npzData   = [4]string{"data", "|i1", "(3,)", "\x05\xff\x07"}
)

func TestReadNPZ(t *testing.T) {
	t.Parallel()
	a, err := ReadNPZ[int32](bytes.NewReader(npzOf(t, npzFormat, npzShape, npzPtr, npzIdx, npzData)))
	if want := mustTuples(t, 2, 3, []int{0, 0, 1}, []int{2, 0, 1}, []int32{5, -1, 7}); err != nil || !a.Matrix.Equal(want) {
		t.Fatalf("columns in any order: got %v, %v", a, err)
	}
	bad := func(reason, want string, arrays ...[4]string) {
		t.Helper()
		_, err := ReadNPZ[int32](bytes.NewReader(npzOf(t, arrays...)), FileName("f"))
		if !errors.Is(err, ErrParse) || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: got %v, want %q", reason, err, want)
		}
	}
	bad("another file", `its arrays are "data, shape"`, npzShape, npzData)
	bad("another layout", `"bsr"`, [4]string{"format", "|S3", "()", "bsr"})
	bad("no offsets", "no array indptr", npzFormat, npzShape, npzIdx, npzData)
	bad("a column outside", "item 1 of array indices is 9, want 0 to 2", npzFormat, npzShape, npzPtr, [4]string{"indices", "|i1", "(3,)", "\x02\x09\x01"}, npzData)
	bad("offsets that descend", "array indptr", npzFormat, npzShape, [4]string{"indptr", "|i1", "(3,)", "\x02\x00\x03"}, npzIdx, npzData)
	bad("too few values", "array data has 2 items", npzFormat, npzShape, npzPtr, npzIdx, [4]string{"data", "|i1", "(2,)", "\x01\x02"})
	bad("a fraction", "item 1 of array data", npzFormat, npzShape, npzPtr, npzIdx, [4]string{"data", "<f4", "(3,)", "\x00\x00\x80\x3f\x00\x00\xc0\x3f\x00\x00\x80\x3f"})
	bad("cut", "the file ends before", npzFormat, npzShape, npzPtr, npzIdx, [4]string{"data", "<f4", "(3,)", "\x00"})
	bad("complex numbers", `"c8"`, npzFormat, npzShape, npzPtr, npzIdx, [4]string{"data", "<c8", "(3,)", ""})
	bad("a repeated entry", "given twice", npzFormat, npzShape, npzPtr, [4]string{"indices", "|i1", "(3,)", "\x02\x02\x01"}, npzData)
	bad("names of another size", "want 3 names", npzFormat, npzShape, [4]string{"col_names", "<U1", "(1,)", "a\x00\x00\x00"}, npzPtr, npzIdx, npzData)
}

func TestNPZRoundTrip(t *testing.T) {
	t.Parallel()
	names := NewLabels([]string{"ann", "", "Ωmega", "d"})
	a := mustTuples(t, 4, 4, []int{0, 1, 3, 3}, []int{3, 0, 1, 2}, []float64{1.5, -2, 1e300, 4})
	for layout := NPZRows; layout <= NPZCoordinates; layout++ {
		for _, g := range []Labelled[float64]{{a, nil, nil}, {a, names, names}, {a, names, NewIDs([]int64{7, -1, 0, 2})}} {
			path := filepath.Join(t.TempDir(), "a.npz")
			if err := g.WriteFile(path, InLayout(layout)); err != nil {
				t.Fatal(err)
			}
			got, err := ReadLabelledFile[float64](path)
			if err != nil || !got.Matrix.Equal(a) || !got.Rows.Equal(g.Rows) || !got.Cols.Equal(g.Cols) {
				t.Errorf("layout %d: got %+v, %v", layout, got, err)
			}
			sym, _, err := ReadFile[float64](path, Symmetrise())
			want := mustTuples(t, 4, 4, []int{0, 0, 1, 1, 2, 3, 3, 3}, []int{1, 3, 0, 3, 3, 0, 1, 2}, []float64{-2, 1.5, -2, 1e300, 4, 1.5, 1e300, 4})
			if err != nil || !sym.Equal(want) {
				t.Errorf("layout %d, both directions: got %v, %v", layout, sym, err)
			}
		}
	}
	for _, a := range everyFormat(t) {
		if m, _ := a.Dims(); m > 1000 {
			continue
		}
		var b bytes.Buffer
		if err := WriteNPZ(&b, a); err != nil {
			t.Fatal(err)
		}
		if got, err := ReadNPZ[int64](&b); err != nil || got.Matrix.NVals() != a.NVals() {
			t.Errorf("%v: got %v, %v", a.Format(), got, err)
		}
	}
	const n = 1<<31 - 1 // offsets of all rows would take 16 GiB
	huge := mustTuples(t, n, n, []int{3, n - 1}, []int{n - 1, 5}, []float64{1, 7})
	var b bytes.Buffer
	if err := WriteNPZ(&b, huge, InLayout(NPZCoordinates)); err != nil || b.Len() > 2000 {
		t.Errorf("a huge matrix: %d bytes, %v", b.Len(), err)
	}
	if got, err := ReadNPZ[float64](&b); err != nil || !got.Matrix.Equal(huge) {
		t.Errorf("a huge matrix: %v", err)
	}
	tall := mustTuples(t, 1<<20, 3, []int{7, 7, 1<<20 - 1}, []int{0, 2, 1}, []float64{1, 7, 5}) // hypersparse
	for _, layout := range []NPZLayout{NPZRows, NPZColumns} {
		for _, m := range []*matrix.Matrix[float64]{tall, matrix.New[float64](1<<20, 1<<20)} {
			b.Reset()
			if err := WriteNPZ(&b, m, InLayout(layout)); err != nil {
				t.Fatal(err)
			}
			if got, err := ReadNPZ[float64](&b); err != nil || !got.Matrix.Equal(m) {
				t.Errorf("layout %d of few rows: %v, %v", layout, got, err)
			}
		}
	}
	if err := WriteNPZ(&bytes.Buffer{}, a, InLayout(9)); !errors.Is(err, matrix.ErrInvalid) {
		t.Errorf("an unknown layout: %v", err)
	}
}

func TestNPY(t *testing.T) {
	t.Parallel()
	a := mustTuples(t, 2, 3, []int{0, 1}, []int{2, 0}, []float32{1.5, -2})
	var b bytes.Buffer
	if err := WriteNPY(&b, a); err != nil {
		t.Fatal(err)
	}
	data := bytes.Clone(b.Bytes())
	if got, err := ReadNPY[float32](&b); err != nil || !got.Equal(a) {
		t.Errorf("got %v, %v", got, err)
	}
	fortran := bytes.Replace(data, []byte("False, 'shape': (2, 3)"), []byte("True , 'shape': (3, 2)"), 1)
	if got, err := ReadNPY[float64](bytes.NewReader(fortran)); err != nil || got.NVals() != 2 {
		t.Errorf("columns first: %v, %v", got, err)
	} else if x, ok := got.At(2, 0); !ok || x != 1.5 {
		t.Errorf("columns first: %v", got)
	}
	if _, err := ReadNPY[int8](bytes.NewReader(data)); !errors.Is(err, ErrParse) || !strings.Contains(err.Error(), "item 2 of the array") {
		t.Errorf("a fraction in int8: %v", err)
	}
	line := npy.AppendHeader(nil, "|b1", "(2,)")
	if _, err := ReadNPY[bool](bytes.NewReader(append(line, 1, 0))); !errors.Is(err, ErrParse) || !strings.Contains(err.Error(), "1 dimensions") {
		t.Errorf("one dimension: %v", err)
	}
	nan := npy.AppendHeader(nil, "<f8", "(1, 1)")
	nan = binary.LittleEndian.AppendUint64(nan, math.Float64bits(math.NaN()))
	if _, err := ReadNPY[float64](bytes.NewReader(nan)); !errors.Is(err, ErrParse) {
		t.Errorf("NaN: %v", err)
	}
	if got, err := ReadNPY[float64](bytes.NewReader(nan), AllowNaN()); err != nil || got.NVals() != 1 {
		t.Errorf("NaN, allowed: %v, %v", got, err)
	}
	if got, err := ReadNPY[float32](bytes.NewReader(data), KeepZeros()); err != nil || got.NVals() != 6 {
		t.Errorf("zeros kept: %v, %v", got, err)
	}
	negative := append(npy.AppendHeader(nil, "<f4", "(1, 3)"), 0, 0, 0, 0x80, 0, 0, 0, 0x3f, 0, 0, 0xc0, 0x7f) // -0, 0.5, NaN
	if got, err := ReadNPY[bool](bytes.NewReader(negative), PatternOnly()); err != nil || entriesOf(got) != "(0,1)=true (0,2)=true" {
		t.Errorf("positions: %v, %v", entriesOf(got), err)
	}
	if got, err := ReadNPY[bool](bytes.NewReader(negative), PatternOnly(), KeepZeros()); err != nil || got.NVals() != 3 {
		t.Errorf("all positions: %v, %v", entriesOf(got), err)
	}
	v, _ := matrix.VectorOf([]int16{3, 0, -1})
	if err := WriteVectorNPY(&b, v); err != nil || !strings.HasSuffix(b.String(), "\x03\x00\x00\x00\xff\xff") {
		t.Errorf("a vector: %q, %v", b.String(), err)
	}
	if err := WriteVectorNPY(&b, matrix.NewVector[int16](2)); !errors.Is(err, matrix.ErrInvalid) {
		t.Errorf("a vector with holes: %v", err)
	}
}

// TestSciPy exchanges files with SciPy and NetworkX, where they are installed.
func TestSciPy(t *testing.T) {
	t.Parallel()
	const python = "/usr/bin/python3"
	if err := exec.Command(python, "-c", "import scipy.sparse, networkx").Run(); err != nil {
		t.Skip("SciPy or NetworkX is missing")
	}
	dir := t.TempDir()
	names := NewLabels([]string{"ann", "bob", "Ωmega"})
	a := mustTuples(t, 3, 3, []int{0, 1, 2}, []int{1, 2, 0}, []float64{1.5, -2, 4})
	for layout, name := range []string{"csr", "csc", "coo"} {
		g := &Labelled[float64]{a, names, names}
		if err := g.WriteFile(filepath.Join(dir, name+".npz"), InLayout(NPZLayout(layout))); err != nil {
			t.Fatal(err)
		}
	}
	if err := WriteFile(filepath.Join(dir, "dense.npy"), a); err != nil {
		t.Fatal(err)
	}
	script := `
import numpy as np, scipy.sparse as sp, networkx as nx
want = np.array([[0, 1.5, 0], [0, 0, -2], [4, 0, 0]])
for f in ["csr", "csc", "coo"]:
    a = sp.load_npz(f + ".npz")
    assert a.format == f and (a.toarray() == want).all(), f
    assert list(np.load(f + ".npz")["names"]) == ["ann", "bob", "\u03a9mega"]
assert (np.load("dense.npy") == want).all()
b = sp.csr_matrix((np.array([7, 8, 9], "i8"), np.array([2, 0, 1]), np.array([0, 2, 3])), shape=(2, 3))
for f in ["csr", "csc", "coo"]:
    sp.save_npz("s_" + f, b.asformat(f), compressed=f != "csc")
np.save("s_dense", np.asfortranarray(b.toarray()))
g = nx.DiGraph()
g.add_edge("x", "y & z", weight=2.5)
g.add_edge("y & z", "w")
nx.write_graphml(g, "s.graphml")
nx.write_gml(g, "s.gml")
`
	cmd := exec.Command(python, "-c", script)
	cmd.Dir = dir
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	want := mustTuples(t, 2, 3, []int{0, 0, 1}, []int{2, 0, 1}, []int64{7, 8, 9})
	for _, name := range []string{"s_csr.npz", "s_csc.npz", "s_coo.npz", "s_dense.npy"} {
		got, _, err := ReadFile[int64](filepath.Join(dir, name))
		if err != nil || !got.Equal(want) {
			t.Errorf("%s: got %v, %v", name, got, err)
		}
	}
	for _, name := range []string{"s.graphml", "s.gml"} {
		g, err := ReadLabelledFile[float64](filepath.Join(dir, name))
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if got := listOf(t, g); strings.ReplaceAll(got, "\"", "") != "x y & z 2.5\ny & z w 1\n" {
			t.Errorf("%s: got %q", name, got)
		}
	}
}

func TestFormatsTable(t *testing.T) {
	t.Parallel()
	for _, info := range Formats() {
		if f, ok := ParseFormat(info.Name); !ok || f != info.Format || f.String() != info.Name {
			t.Errorf("%s is parsed as %v", info.Name, f)
		}
		for _, ext := range info.Extensions {
			if f, gz := FormatOfName("a/b" + strings.ToUpper(ext) + ".gz"); f != info.Format || !gz {
				t.Errorf("%s: the format is %v", ext, f)
			}
		}
		a := mustTuples(t, 2, 2, []int{0, 1}, []int{1, 0}, []int8{1, 1})
		if err := Write(&bytes.Buffer{}, a, InFormat(info.Format)); (err == nil) != info.Writes {
			t.Errorf("writing %s: %v", info.Name, err)
		}
	}
	if f, _ := FormatOfName("graph"); f != FormatAuto {
		t.Errorf("a name without extension: %v", f)
	}
}

// TestWriteGraphFormats: METIS, DIMACS, GraphML and GML are read back as the same matrix with the
// same names, by any number of threads.
func TestWriteGraphFormats(t *testing.T) {
	t.Parallel()
	names := NewLabels([]string{`Ann <"&"> Bo`, "Çid Δ", "x;y", "a, b", "7"})
	directed := sure.Get(matrix.FromTuples(5, 5, []int{0, 1, 4, 2, 2}, []int{1, 0, 4, 3, 0}, []float64{1.5, -2, 1e-9, 3, 1e20}, nil))
	both := sure.Get(matrix.FromTuples(5, 5, []int{0, 1, 1, 3, 3, 4}, []int{1, 0, 3, 1, 4, 3}, []int64{3, 3, 5, 5, 1 << 60, 1 << 60}, nil))
	truth := matrix.New[bool](5, 5)
	for c := range both.All() {
		sure.Do(truth.Set(c.Row, c.Col, true))
	}
	for _, f := range []FileFormat{FormatMETIS, FormatDIMACS, FormatGraphML, FormatGML} {
		for _, labels := range []*Labels{nil, names} {
			opts := []WriteOption{InFormat(f), WithLabels(labels), Comment("made -- for a test\nof writers"), Threads(3)}
			if f != FormatMETIS {
				graphRoundTrip(t, f, directed, labels, opts)
			}
			graphRoundTrip(t, f, both, labels, opts)
			graphRoundTrip(t, f, truth, labels, opts)
		}
		graphRoundTrip(t, f, matrix.New[float64](0, 0), nil, []WriteOption{InFormat(f)})
		graphRoundTrip(t, f, matrix.New[float64](3, 3), nil, []WriteOption{InFormat(f)})
	}
	large := matrix.NewBuilder[int32](5000, 5000)
	for i := range 4999 {
		large.Add(i, i+1, int32(i+1))
		large.Add(i+1, i, int32(i+1))
	}
	line := sure.Get(large.Build(nil))
	for _, f := range []FileFormat{FormatMETIS, FormatDIMACS, FormatGraphML, FormatGML} {
		graphRoundTrip(t, f, line, nil, []WriteOption{InFormat(f), Threads(2)})
	}
}

func graphRoundTrip[T matrix.Element](t *testing.T, f FileFormat, a *matrix.Matrix[T], labels *Labels, opts []WriteOption) {
	t.Helper()
	var b bytes.Buffer
	if err := Write(&b, a, opts...); err != nil {
		t.Errorf("%v: %v", f, err)
		return
	}
	got, err := ReadLabelled[T](bytes.NewReader(b.Bytes()), InFormat(f))
	if err != nil {
		t.Errorf("%v: %v\n%.400s", f, err, &b)
		return
	}
	if f == FormatMETIS || f == FormatDIMACS {
		labels = nil
	}
	if !got.Matrix.Equal(a) || !got.Rows.Equal(labels) {
		t.Errorf("%v: %v of %v, want %v of %v\n%.400s", f, got.Matrix, got.Rows, a, labels, &b)
	}
}

// TestWriteGMLForOthers: NetworkX wants a point in a real number and a label of each node.
func TestWriteGMLForOthers(t *testing.T) {
	t.Parallel()
	a := sure.Get(matrix.FromTuples(2, 2, []int{0, 1}, []int{1, 1}, []float64{1e21, -2.5e-30}, nil))
	var b bytes.Buffer
	want := "graph [\n  directed 1\n  node [ id 0 label \"0\" ]\n  node [ id 1 label \"1\" ]\n" +
		"  edge [ source 0 target 1 weight 1.0e+21 ]\n  edge [ source 1 target 1 weight -2.5e-30 ]\n]\n"
	if err := WriteGML(&b, a); err != nil || b.String() != want {
		t.Errorf("%v\n%s", err, &b)
	}
	graphRoundTrip(t, FormatGML, a, nil, []WriteOption{InFormat(FormatGML)})
}

// TestWriteColouring: a .col file has each edge once and no values, and a .max file needs more.
func TestWriteColouring(t *testing.T) {
	t.Parallel()
	a := sure.Get(matrix.FromTuples(3, 3, []int{0, 1, 1, 2}, []int{1, 0, 2, 1}, []float64{2, 2, 3, 3}, nil))
	dir := t.TempDir()
	path := filepath.Join(dir, "g.COL.gz")
	if err := WriteFile(path, a); err != nil {
		t.Fatal(err)
	}
	got, _, err := ReadFile[float64](path)
	if err != nil || got.NVals() != 4 || !got.IsSymmetric() {
		t.Errorf("%v (%v)", got, err)
	}
	if x, _ := got.At(0, 1); x != 1 {
		t.Errorf("the edge has value %v, want 1", x)
	}
	if err := WriteFile(filepath.Join(dir, "g.max"), a); !errors.Is(err, matrix.ErrInvalid) || strings.Contains(err.Error(), "NamesBeside") {
		t.Errorf(".max: %v", err)
	}
	if err := WriteFile(filepath.Join(dir, "g.foo"), a); !errors.Is(err, matrix.ErrInvalid) || !strings.Contains(err.Error(), ".gr, .col, .dimacs") {
		t.Errorf(".foo: %v", err)
	}
	var b bytes.Buffer
	if err := WriteDIMACS(&b, a, AsPattern()); err != nil || !strings.Contains(b.String(), "p sp 3 4\na 1 2 1\n") {
		t.Errorf("%v\n%s", err, &b)
	}
}

// TestWriteGraphErrors: what a format cannot have is an error before anything is written.
func TestWriteGraphErrors(t *testing.T) {
	t.Parallel()
	make3 := func(rows, cols []int, vals []float64) *matrix.Matrix[float64] {
		a := sure.Get(matrix.FromTuples(3, 3, rows, cols, vals, nil))
		return a
	}
	directed := make3([]int{0}, []int{1}, []float64{1})
	loop := make3([]int{1}, []int{1}, []float64{1})
	half := make3([]int{0, 1}, []int{1, 0}, []float64{.5, .5})
	infinite := make3([]int{0}, []int{1}, []float64{math.Inf(1)})
	for _, c := range []struct {
		name string
		err  func(b *bytes.Buffer) error
		is   error
		says string
	}{
		{"METIS directed", func(b *bytes.Buffer) error { return WriteMETIS(b, directed) }, matrix.ErrInvalid, "not symmetric"},
		{"METIS loop", func(b *bytes.Buffer) error { return WriteMETIS(b, loop) }, matrix.ErrInvalid, "1 self-loops"},
		{"METIS weight", func(b *bytes.Buffer) error { return WriteMETIS(b, half) }, matrix.ErrInvalid, "the edge from 0 to 1 has weight 0.5, and METIS wants positive integers; AsPattern"},
		{"METIS weight between names", func(b *bytes.Buffer) error {
			return WriteMETIS(b, half, WithLabels(NewLabels([]string{"ann", "bob", "cid"})))
		}, matrix.ErrInvalid, "the edge from ann to bob has weight 0.5"},
		{"GraphML infinite", func(b *bytes.Buffer) error { return WriteGraphML(b, infinite) }, matrix.ErrInvalid, "+Inf"},
		{"GML infinite", func(b *bytes.Buffer) error { return WriteGML(b, infinite) }, matrix.ErrInvalid, "+Inf"},
		{"GML wide", func(b *bytes.Buffer) error { return WriteGML(b, matrix.New[int](2, 3)) }, matrix.ErrDimension, "2×3"},
		{"GraphML name", func(b *bytes.Buffer) error {
			return WriteGraphML(b, directed, WithLabels(NewLabels([]string{"a", "b\x01", "c"})))
		}, matrix.ErrInvalid, "character"},
		{"GraphML blanks", func(b *bytes.Buffer) error {
			return WriteGraphML(b, directed, WithLabels(NewLabels([]string{"a", " b", "c"})))
		}, matrix.ErrInvalid, "blanks"},
		{"GML names", func(b *bytes.Buffer) error {
			return WriteGML(b, directed, WithRowColumnLabels(NewLabels([]string{"a", "b", "c"}), nil))
		}, matrix.ErrInvalid, "different names"},
		{"DIMACS nil", func(*bytes.Buffer) error { return WriteDIMACS[float64](nil, directed) }, matrix.ErrInvalid, "nil"},
	} {
		var b bytes.Buffer
		if err := c.err(&b); !errors.Is(err, c.is) || !strings.Contains(err.Error(), c.says) || b.Len() > 0 {
			t.Errorf("%s: error %v, %d bytes", c.name, err, b.Len())
		}
	}
	if err := WriteMETIS(&bytes.Buffer{}, half, AsPattern()); err != nil {
		t.Errorf("METIS without weights: %v", err)
	}
}
