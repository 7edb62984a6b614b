package lines

import (
	"fmt"
	"io"
	"slices"
	"strconv"

	"github.com/hiveblas/hiveblas/apps/internal/workflow"
	"github.com/hiveblas/hiveblas/graphio"
	"github.com/hiveblas/hiveblas/matrix"
)

// ValueOptions are the settings of ReadValues.
type ValueOptions struct {
	workflow.Run // Context and Progress, which counts bytes, are used
	TextOptions
	Name   string          // of the file, for errors
	Labels *graphio.Labels // names of the vertices of lines “vertex value”; nil for numbers from 0
}

// ReadValues reads a value for each of n vertices, of any number of vertices if n is −1: a number a
// line from vertex 0 on, or lines “vertex value” in any order, separated by tabs, commas or blanks;
// gzip-compressed or not. The first line decides. Blank lines, lines that begin with % or # (see
// TextOptions), and a first line of names of columns are skipped. ReadValues returns a
// *graphio.ParseError if a number is not finite, if a vertex is not in the graph, is repeated or
// has no value, or if there are more or fewer numbers than vertices.
func ReadValues(r io.Reader, n int, opts ...ValueOptions) (*matrix.Vector[float64], error) {
	const app = "ReadValues"
	o, err := workflow.Only(app, opts)
	if err == nil {
		err = CheckReader(app, r, n, -1, 0)
	}
	if err == nil {
		err = CheckText(o.TextOptions, app)
	}
	if err != nil {
		return nil, err
	}
	in := valueReader{o: o, most: n}
	if n < 0 {
		in.most = matrix.MaxDim
	}
	lines, err := EachLine(o.Run, r, o.TextOptions, o.Name, "read values", in.line)
	if err != nil {
		return nil, err
	}
	if in.pairs {
		return in.placed(n)
	}
	if len(in.list) < n {
		return nil, in.bad(lines, valuesRemedy, "%d values, and the graph has %d vertices", len(in.list), n)
	}
	return matrix.VectorOf(in.list)
}

const valuesRemedy = "give a number for each vertex, one a line, or lines “vertex value”"

// valueReader is the state of ReadValues.
type valueReader struct {
	o        ValueOptions
	most     int
	list     []float64
	begun    bool    // a line that is no comment is read
	pairs    bool    // the lines have a vertex and a value
	vertices []int32 // of pairs
	lines    []int64 // of pairs
}

func (in *valueReader) bad(line int64, remedy, format string, args ...any) error {
	return &graphio.ParseError{File: in.o.Name, Line: line, Msg: fmt.Sprintf(format, args...), Remedy: remedy}
}

// line reads a line. Its errors are a *graphio.ParseError.
func (in *valueReader) line(text []byte, line int64) error {
	f := FormatOf(in.o.TextOptions).Fields(text)
	first := !in.begun
	in.begun = true
	if first && isHeader(f, func(id string) bool { _, ok := in.vertex(id); return ok }) {
		return nil
	}
	if len(in.list) == 0 {
		in.pairs = len(f) == 2
	}
	switch want := 1; {
	case in.pairs && len(f) != 2:
		want = 2
		fallthrough
	case !in.pairs && len(f) != 1:
		return in.bad(line, valuesRemedy, "the line has %d fields, want %d", len(f), want)
	}
	x, err := in.o.number("", f[len(f)-1], in.o.Name, line, valuesRemedy)
	switch {
	case err != nil:
		return err
	case in.pairs:
		v, ok := in.vertex(f[0])
		if !ok || v < 0 || v >= in.most {
			return in.bad(line, "give vertices that occur in the graph", "the graph has no vertex %q", f[0])
		}
		in.vertices, in.lines = append(in.vertices, int32(v)), append(in.lines, line)
	case len(in.list) == in.most:
		return in.bad(line, valuesRemedy, "there are more than %d values, and the graph has as many vertices", in.most)
	}
	in.list = append(in.list, x)
	return nil
}

// vertex returns the vertex of a name, or of a number without labels.
func (in *valueReader) vertex(id string) (v int, ok bool) {
	if in.o.Labels == nil {
		v, err := strconv.Atoi(id)
		return v, err == nil
	}
	if v, ok = in.o.Labels.Index(id); !ok {
		v, ok = in.o.Labels.Index(unquoted(id))
	}
	return v, ok
}

// placed returns the values of pairs by vertex.
func (in *valueReader) placed(n int) (*matrix.Vector[float64], error) {
	if n < 0 && len(in.vertices) > 0 {
		n = int(slices.Max(in.vertices)) + 1
	}
	// Of vertices up to the number of pairs one lacks a value if any does.
	seen := make([]int64, min(n, len(in.vertices)+1))
	for k, v := range in.vertices {
		if int(v) < len(seen) {
			if before := seen[v]; before > 0 {
				return nil, in.bad(in.lines[k], "give each vertex once", "vertex %s is given twice, first in line %d", in.o.Labels.Name(int(v)), before)
			}
			seen[v] = in.lines[k]
		}
	}
	if v := slices.Index(seen, 0); v >= 0 {
		return nil, in.bad(0, "give a value for each vertex", "vertex %s has no value; %d values are given, and the graph has %d vertices", in.o.Labels.Name(v), len(in.list), n)
	}
	list := make([]float64, n)
	for k, v := range in.vertices {
		list[v] = in.list[k]
	}
	return matrix.VectorOf(list)
}
