package graphio

import (
	"bytes"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/hiveblas/hiveblas/internal/rep"
	"github.com/hiveblas/hiveblas/internal/sparse"
	"github.com/hiveblas/hiveblas/matrix"
)

// This file writes the formats of graphs: METIS, DIMACS, GraphML and GML. Each file is read back as
// the same matrix.

// graphOut is a square matrix to write as a graph.
type graphOut struct {
	op         string
	o          *writeOptions
	e          element
	w          io.Writer
	st         *sparse.Store
	n          int
	undirected bool // equal to the transpose
	weighted   bool
}

func newGraphOut(op string, w io.Writer, a rep.Matrix, o *writeOptions) (*graphOut, error) {
	if err := a.Err(); err != nil {
		return nil, err
	}
	if w == nil {
		return nil, nilWriter(op)
	}
	m, n := a.Dims()
	if m != n {
		return nil, &matrix.DimensionError{Op: op, Arg: "a", Got: fmt.Sprintf("%d×%d", m, n), Want: "a square matrix", Remedy: "this format has one kind of vertices; write .mtx, .npz or an edge list"}
	}
	st, err := rowsOf(a)
	if err != nil {
		return nil, err
	}
	if err := o.labels.check(op, n); err != nil {
		return nil, err
	}
	if o.labels != o.cols && !o.labels.Equal(o.cols) {
		return nil, &OptionError{Op: op, Option: "WithRowColumnLabels", Reason: "rows and columns have different names, and the file has one name for a vertex"}
	}
	e := elementOf(st.Type)
	g := &graphOut{op: op, o: o, e: e, w: &reportingWriter{w: w, o: &o.common}, st: st, n: n, undirected: a.IsSymmetric()}
	g.weighted = !o.pattern && !(e.isBool() && e.allOnes(st.Val))
	return g, nil
}

// head writes text and the comment of the options.
func (g *graphOut) head(format string, args ...any) error {
	_, err := fmt.Fprintf(g.w, format, args...)
	return err
}

// loops counts the self-loops.
func (g *graphOut) loops() (count int64) {
	for k := range g.st.Vecs() {
		i := g.st.RowID(k)
		for _, j := range g.st.Idx[g.st.Ptr[k]:g.st.Ptr[k+1]] {
			if int(j) == i {
				count++
			}
		}
	}
	return count
}

// wantSimple returns an error unless the graph is undirected and without self-loops.
func (g *graphOut) wantSimple(what string) error {
	if !g.undirected {
		return &OptionError{Op: g.op, Option: "a", Reason: "the matrix is not symmetric, and " + what + " is undirected", Kind: RemedySymmetrise}
	}
	if k := g.loops(); k > 0 {
		return &matrix.InvalidError{Op: g.op, Reason: fmt.Sprintf("the matrix has %d self-loops, and %s has none; leave them out, or write another format", k, what)}
	}
	return nil
}

// WriteMETIS writes a as a graph in the format of METIS (see [ReadMETIS]), for METIS, KaHIP and
// others: a line for each vertex with its neighbours, from 1. a must be symmetric and without
// self-loops, else the error is an [matrix.ErrInvalid]. Values are written as weights of edges unless all
// are true or with [AsPattern]; METIS wants positive integers, and others are an *OptionError.
// Names are not written. It takes O(entries + vertices) time.
func WriteMETIS[T matrix.Element](w io.Writer, a *matrix.Matrix[T], opts ...WriteOption) error {
	return writeMETIS(w, a.Inside().Matrix, writeOptionsOf(opts))
}

func writeMETIS(w io.Writer, a rep.Matrix, o *writeOptions) error {
	g, err := newGraphOut("graphio.WriteMETIS", w, a, o)
	if err == nil {
		err = g.wantSimple("a METIS graph")
	}
	if err != nil {
		return err
	}
	format := ""
	if g.weighted {
		format = " 001"
		for k := range g.st.Vecs() {
			for p := g.st.Ptr[k]; p < g.st.Ptr[k+1]; p++ {
				if v := g.e.at(g.st.Val, p); !g.natural(v) {
					return &OptionError{Op: g.op, Option: "a", Kind: RemedyLeaveValues,
						Reason: fmt.Sprintf("the edge from %s to %s has weight %v, and METIS wants positive integers",
							g.o.labels.Name(g.st.RowID(k)), g.o.labels.Name(int(g.st.Idx[p])), g.e.text(v))}
				}
			}
		}
	}
	var comment strings.Builder
	writeComment(&comment, "%", g.o.comment)
	if err := g.head("%s%d %d%s\n", comment.String(), g.n, g.st.NVals/2, format); err != nil {
		return err
	}
	text := g.weights()
	st := g.st.ToCSR()
	return g.eachVertex(func(buf []byte, v int) []byte {
		for p := st.Ptr[v]; p < st.Ptr[v+1]; p++ {
			if p > st.Ptr[v] {
				buf = append(buf, ' ')
			}
			buf = strconv.AppendInt(buf, int64(st.Idx[p])+1, 10)
			if g.weighted {
				buf = text(append(buf, ' '), g.e.at(st.Val, p))
			}
		}
		return append(buf, '\n')
	})
}

// natural reports whether v is a positive integer.
func (g *graphOut) natural(v uint64) bool {
	if !g.e.isFloat() {
		negative, size := g.e.asInt(v)
		return !negative && size > 0
	}
	x := g.e.asFloat(v)
	return x > 0 && x == math.Trunc(x) && !math.IsInf(x, 1)
}

// weights formats a value: true as 1.
func (g *graphOut) weights() func(buf []byte, v uint64) []byte { return g.e.appender() }

// eachVertex formats vertices in order, several threads at a time.
func (g *graphOut) eachVertex(f func(buf []byte, v int) []byte) error {
	const piece = 1 << 12
	return g.o.writePieces(g.w, (g.n+piece-1)/piece, int64(g.n), func(k int, buf []byte) []byte {
		for v := k * piece; v < min((k+1)*piece, g.n); v++ {
			buf = f(buf, v)
		}
		return buf
	})
}

// WriteDIMACS writes a as shortest paths of the 9th DIMACS challenge, “p sp” and an arc for each
// entry, with length 1 where values are left out ([AsPattern]); see [ReadDIMACS]. If the file of
// [NamesBeside] ends in .col, it writes a graph to colour instead: a must be symmetric and without
// self-loops, and values are left out. A .max file has a source and a sink, which a matrix has not,
// so it is an *OptionError. Names are not written. It takes O(entries) time.
func WriteDIMACS[T matrix.Element](w io.Writer, a *matrix.Matrix[T], opts ...WriteOption) error {
	return writeDIMACS(w, a.Inside().Matrix, writeOptionsOf(opts))
}

func writeDIMACS(w io.Writer, a rep.Matrix, o *writeOptions) error {
	g, err := newGraphOut("graphio.WriteDIMACS", w, a, o)
	if err != nil {
		return err
	}
	var comment strings.Builder
	writeComment(&comment, "c", o.comment)
	name := strings.ToLower(withoutGz(o.beside))
	if strings.HasSuffix(name, ".max") {
		return &OptionError{Op: g.op, Option: "the file name", Reason: "a .max file has a source and a sink, which a matrix has not; write .gr"}
	}
	number := func(buf []byte, v int64) []byte { return strconv.AppendInt(append(buf, ' '), v+1, 10) }
	if strings.HasSuffix(name, ".col") {
		if err := g.wantSimple("a graph to colour"); err != nil {
			return err
		}
		if err := g.head("%sp edge %d %d\n", comment.String(), g.n, g.st.NVals/2); err != nil {
			return err
		}
		return writeRows(g.w, g.st, o, func(buf []byte, i int, j int32, _ uint64) []byte {
			if int(j) < i {
				return buf
			}
			return append(number(number(append(buf, 'e'), int64(i)), int64(j)), '\n')
		})
	}
	if err := g.head("%sp sp %d %d\n", comment.String(), g.n, g.st.NVals); err != nil {
		return err
	}
	text := g.weights()
	return writeRows(g.w, g.st, o, func(buf []byte, i int, j int32, v uint64) []byte {
		buf = append(number(number(append(buf, 'a'), int64(i)), int64(j)), ' ')
		if g.weighted {
			buf = text(buf, v)
		} else {
			buf = append(buf, '1')
		}
		return append(buf, '\n')
	})
}

// entity replaces the characters that XML and GML write as entities.
var entity = strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;", `"`, "&quot;")

// names returns the names of the vertices as text of XML and GML, nil without names. A character
// that neither can have is an *OptionError. ascii writes others as their numbers.
func (g *graphOut) names(ascii bool) (func(buf []byte, v int) []byte, error) {
	if g.o.labels == nil {
		return nil, nil
	}
	for v := range g.n {
		name := g.o.labels.Name(v)
		for _, c := range name {
			if c < ' ' && c != '\t' || c == utf8.RuneError || c == 0xfffe || c == 0xffff {
				return nil, &OptionError{Op: g.op, Option: "WithLabels", Reason: fmt.Sprintf("label %s has a character that the format cannot have", quote(name))}
			}
		}
		if strings.TrimSpace(name) != name {
			return nil, &OptionError{Op: g.op, Option: "WithLabels", Reason: fmt.Sprintf("label %s has blanks around it, which would be lost", quote(name))}
		}
	}
	return func(buf []byte, v int) []byte {
		text := entity.Replace(g.o.labels.Name(v))
		if !ascii {
			return append(buf, text...)
		}
		for _, c := range text {
			if c < utf8.RuneSelf {
				buf = append(buf, byte(c))
				continue
			}
			buf = append(strconv.AppendInt(append(buf, "&#"...), int64(c), 10), ';')
		}
		return buf
	}, nil
}

// WriteGraphML writes a as a graph in GraphML, for Gephi, yEd, igraph, NetworkX and others: nodes
// 0, 1, 2, …, with the names of [WithLabels] as labels, and an edge for each entry with its value
// as weight, unless values are left out as by [WriteEdgeList]. The graph is undirected, with each
// edge once, if a is symmetric. Names that XML cannot have are an *OptionError, and infinite and
// NaN values an *InvalidError. [ReadGraphML] reads the same matrix back. It takes O(entries +
// vertices) time.
func WriteGraphML[T matrix.Element](w io.Writer, a *matrix.Matrix[T], opts ...WriteOption) error {
	return writeGraphML(w, a.Inside().Matrix, writeOptionsOf(opts))
}

func writeGraphML(w io.Writer, a rep.Matrix, o *writeOptions) error {
	g, err := newGraphOut("graphio.WriteGraphML", w, a, o)
	if err != nil {
		return err
	}
	name, err := g.names(false)
	if err == nil {
		err = g.wantFinite()
	}
	if err != nil {
		return err
	}
	head := `<?xml version="1.0" encoding="UTF-8"?>` + "\n"
	if c := g.o.comment; c != "" {
		head += "<!-- " + strings.ReplaceAll(entity.Replace(c), "--", "- -") + " -->\n"
	}
	head += `<graphml xmlns="http://graphml.graphdrawing.org/xmlns">` + "\n"
	if name != nil {
		head += `<key id="label" for="node" attr.name="label" attr.type="string"/>` + "\n"
	}
	if g.weighted {
		kind := "long"
		switch {
		case g.e.isFloat():
			kind = "double"
		case g.e.isBool():
			kind = "int"
		}
		head += `<key id="weight" for="edge" attr.name="weight" attr.type="` + kind + `"/>` + "\n"
	}
	direction := "directed"
	if g.undirected {
		direction = "undirected"
	}
	if err := g.head("%s<graph edgedefault=\"%s\">\n", head, direction); err != nil {
		return err
	}
	err = g.eachVertex(func(buf []byte, v int) []byte {
		buf = strconv.AppendInt(append(buf, `<node id="`...), int64(v), 10)
		if name == nil {
			return append(buf, "\"/>\n"...)
		}
		return append(name(append(buf, `"><data key="label">`...), v), "</data></node>\n"...)
	})
	if err != nil {
		return err
	}
	text := g.weights()
	err = g.eachEdge(func(buf []byte, i int, j int32, v uint64) []byte {
		buf = strconv.AppendInt(append(buf, `<edge source="`...), int64(i), 10)
		buf = strconv.AppendInt(append(buf, `" target="`...), int64(j), 10)
		if !g.weighted {
			return append(buf, "\"/>\n"...)
		}
		return append(text(append(buf, `"><data key="weight">`...), v), "</data></edge>\n"...)
	})
	if err != nil {
		return err
	}
	return g.head("</graph>\n</graphml>\n")
}

// eachEdge formats the entries in order, those of one triangle of an undirected graph.
func (g *graphOut) eachEdge(f func(buf []byte, i int, j int32, v uint64) []byte) error {
	return writeRows(g.w, g.st, g.o, func(buf []byte, i int, j int32, v uint64) []byte {
		if g.undirected && int(j) < i {
			return buf
		}
		return f(buf, i, j, v)
	})
}

// wantFinite returns an error for a value that the format has no text for.
func (g *graphOut) wantFinite() error {
	if !g.weighted || !g.e.isFloat() {
		return nil
	}
	for p := range g.st.NVals {
		if v := g.e.at(g.st.Val, p); math.IsNaN(g.e.asFloat(v)) || math.IsInf(g.e.asFloat(v), 0) {
			return &matrix.InvalidError{Op: g.op, Reason: fmt.Sprintf("a value is %v, which the format cannot have; leave the entry out, or write .mtx or .hgb", g.e.text(v))}
		}
	}
	return nil
}

// WriteGML writes a as a graph in GML, for Gephi, Cytoscape, igraph, NetworkX and others; see
// [WriteGraphML], whose rules it follows. Names are ASCII with entities, as GML demands. A vertex
// without a name has its number as label, which [ReadGML] reads as a number: NetworkX wants labels,
// and different ones unless it reads with label='id'.
func WriteGML[T matrix.Element](w io.Writer, a *matrix.Matrix[T], opts ...WriteOption) error {
	return writeGML(w, a.Inside().Matrix, writeOptionsOf(opts))
}

func writeGML(w io.Writer, a rep.Matrix, o *writeOptions) error {
	g, err := newGraphOut("graphio.WriteGML", w, a, o)
	if err != nil {
		return err
	}
	name, err := g.names(true)
	if err == nil {
		err = g.wantFinite()
	}
	if err != nil {
		return err
	}
	var head strings.Builder
	writeComment(&head, "#", g.o.comment)
	directed := 1
	if g.undirected {
		directed = 0
	}
	if err := g.head("%sgraph [\n  directed %d\n", head.String(), directed); err != nil {
		return err
	}
	err = g.eachVertex(func(buf []byte, v int) []byte {
		buf = strconv.AppendInt(append(buf, "  node [ id "...), int64(v), 10)
		buf = append(buf, ` label "`...)
		if name != nil {
			buf = name(buf, v)
		} else {
			buf = strconv.AppendInt(buf, int64(v), 10)
		}
		return append(buf, "\" ]\n"...)
	})
	if err != nil {
		return err
	}
	text, real := g.weights(), g.e.isFloat()
	err = g.eachEdge(func(buf []byte, i int, j int32, v uint64) []byte {
		buf = strconv.AppendInt(append(buf, "  edge [ source "...), int64(i), 10)
		buf = strconv.AppendInt(append(buf, " target "...), int64(j), 10)
		if g.weighted {
			buf = append(buf, " weight "...)
			at := len(buf)
			buf = text(buf, v)
			if e := bytes.IndexByte(buf[at:], 'e'); e >= 0 && real && bytes.IndexByte(buf[at:], '.') < 0 {
				buf = slices.Insert(buf, at+e, '.', '0') // a real number of GML has a point
			}
		}
		return append(buf, " ]\n"...)
	})
	if err != nil {
		return err
	}
	return g.head("]\n")
}
