package sage

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/hiveblas/hiveblas/apps/internal/lines"
	"github.com/hiveblas/hiveblas/apps/internal/workflow"
	"github.com/hiveblas/hiveblas/apps/sage/internal/neural"
	"github.com/hiveblas/hiveblas/graphio"
	"github.com/hiveblas/hiveblas/internal/chunk"
	"github.com/hiveblas/hiveblas/internal/delimited"
	"github.com/hiveblas/hiveblas/internal/npy"
	"github.com/hiveblas/hiveblas/matrix"
)

// FeatureOptions are the settings of ReadFeatures.
type FeatureOptions struct {
	workflow.Run // Context, Threads and Progress, which counts bytes, are used
	lines.TextOptions
	Name   string // of the file, for errors
	Format string // csv, mtx or npy; "": by the extension of Name
	// Labels are the names of the vertices in a column “vertex”; nil for numbers from 0.
	Labels *graphio.Labels
}

// ReadFeatures reads features, or weights: .csv, a row on each line and numbers between commas,
// tabs or blanks; .mtx, sparse or array; .npy, of one or two dimensions, in 16 to 64 bits. In a
// .csv a first line with a word is a header, and a first column “vertex” names the vertex of each
// row. Each may be gzip-compressed. ReadFeatures returns a *graphio.ParseError with file and line
// or item if the input is bad or a number is not finite in float32.
func ReadFeatures(r io.Reader, opts ...FeatureOptions) (*matrix.Matrix[float32], error) {
	const app = "ReadFeatures"
	o, err := workflow.Only(app, opts)
	switch {
	case err != nil:
		return nil, err
	case lines.IsNil(r):
		return nil, &workflow.ParameterError{App: app, Arg: "the reader", Got: "nil", Want: "a reader"}
	}
	if err := lines.CheckText(o.TextOptions, app); err != nil {
		return nil, err
	}
	bad := func(err error) error {
		return &graphio.ParseError{File: o.Name, Msg: err.Error(), Err: err, Remedy: "give a file .csv, .mtx or .npy"}
	}
	format := o.Format
	if format == "" {
		format = strings.TrimPrefix(filepath.Ext(strings.TrimSuffix(strings.ToLower(o.Name), ".gz")), ".")
	}
	switch format {
	case "mtx":
		return graphio.ReadMatrixMarket[float32](r, graphio.FileName(o.Name), graphio.WithContext(o.Context), graphio.Threads(o.Threads), graphio.KeepZeros())
	case "npy":
		plain, _, err := chunk.Open(r)
		if err != nil {
			return nil, bad(err)
		}
		a, err := npy.Read(plain)
		if err != nil {
			return nil, bad(err)
		}
		val, err := neural.FiniteList(a, "the array")
		if err != nil {
			return nil, &graphio.ParseError{File: o.Name, Msg: err.Error(), Err: err, Remedy: "give finite numbers"}
		}
		return neural.AsMatrix(neural.Panel[float32]{Rows: a.Rows, Cols: a.Cols, Val: val}), nil
	case "csv", "tsv", "txt":
		return readNumbers(r, o)
	}
	return nil, &workflow.ParameterError{App: app, Arg: "the format", Got: fmt.Sprintf("%q", format), Want: "csv, mtx or npy, or a name with that extension"}
}

// ReadFeaturesFile reads the file at path as ReadFeatures does. Name is ignored.
func ReadFeaturesFile(path string, opts ...FeatureOptions) (*matrix.Matrix[float32], error) {
	o, err := workflow.Only("ReadFeaturesFile", opts)
	if err != nil {
		return nil, err
	}
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	o.Name = path
	return ReadFeatures(f, o)
}

// readNumbers reads rows of numbers.
func readNumbers(r io.Reader, o FeatureOptions) (*matrix.Matrix[float32], error) {
	var val []float32
	var vertices []int // of rows, if a column has them
	rows, cols := 0, -1
	first, named, format := true, false, lines.FormatOf(o.TextOptions)
	_, err := lines.EachLine(o.Run, r, o.TextOptions, o.Name, "read features", func(text []byte, line int64) error {
		f := format.Fields(text)
		header := first && slices.ContainsFunc(f, delimited.IsWord)
		first = false
		if header {
			cols, named = len(f), f[0] == "vertex"
			return nil
		}
		const want = "give as many finite numbers on each line"
		bad := func(format string, args ...any) error {
			return &graphio.ParseError{File: o.Name, Line: line, Msg: fmt.Sprintf(format, args...), Remedy: want}
		}
		if cols >= 0 && len(f) != cols {
			return bad("the line has %d numbers, and lines before have %d", len(f), cols)
		}
		cols = len(f)
		if named {
			v, ok := vertexOf(f[0], o.Labels)
			if !ok {
				return bad("the graph has no vertex %q", f[0])
			}
			vertices, f = append(vertices, v), f[1:]
		}
		for k, s := range f {
			x, fault, decimal := format.Number(s)
			if fault != "" {
				return lines.NumberError(fmt.Sprintf("number %d: %s", k+1, fault), decimal, o.Name, line, want)
			}
			if !delimited.Finite(float32(x)) {
				return bad("number %d is %q, which does not fit float32", k+1, s)
			}
			val = append(val, float32(x))
		}
		rows++
		return nil
	})
	if err != nil {
		return nil, err
	}
	x := neural.Panel[float32]{Rows: rows, Cols: max(cols, 0), Val: val}
	if named {
		x.Cols--
		if x, err = placed(x, vertices, o.Name); err != nil {
			return nil, err
		}
	}
	return neural.AsMatrix(x), nil
}

// vertexOf returns the vertex of a name, or of a number without labels.
func vertexOf(name string, labels *graphio.Labels) (v int, ok bool) {
	if labels != nil {
		return labels.Index(name)
	}
	v, err := strconv.Atoi(name)
	return v, err == nil && v >= 0
}

// placed returns the rows of x by their vertices. A vertex without a row, or with two, is a
// *graphio.ParseError.
func placed(x neural.Panel[float32], vertices []int, file string) (neural.Panel[float32], error) {
	to, seen := neural.NewPanel[float32](x.Rows, x.Cols), make([]bool, x.Rows)
	for k, v := range vertices {
		if v >= x.Rows || seen[v] {
			return x, &graphio.ParseError{File: file, Msg: fmt.Sprintf("row %d is of vertex %d, which has another row, or others have none", k, v),
				Remedy: "give a row for each vertex"}
		}
		seen[v] = true
		copy(neural.Row(to, v), neural.Row(x, k))
	}
	return to, nil
}
