package apps

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"math"
	"strconv"

	"github.com/hiveblas/hiveblas/internal/chunk"
	"github.com/hiveblas/hiveblas/matrix"
)

// ValueOptions are the settings of ReadValues.
type ValueOptions struct {
	Run         // Context and Progress, which counts bytes, are used
	Name string // of the file, for errors
}

// ReadValues reads a value for each of n vertices, of any number of vertices if n is −1: a number a
// line, that of vertex 0 first, gzip-compressed or not. Blank lines, and those that begin with % or #, are skipped. A line that is
// no finite number, and more or fewer numbers than vertices, are a *matrix.ParseError with the line.
func ReadValues(r io.Reader, n int, opts ...ValueOptions) (*matrix.Vector[float64], error) {
	const app = "ReadValues"
	o, err := only(app, opts)
	switch {
	case err != nil:
		return nil, err
	case isNil(r):
		return nil, &ParameterError{app, "the reader", "nil", "a reader"}
	case n < -1 || n > matrix.MaxDim:
		return nil, &matrix.SizeError{Op: app, Arg: "the number of vertices", Got: int64(n), Limit: matrix.MaxDim}
	}
	src, taken, err := chunk.NewSource(r)
	if err != nil {
		return nil, &matrix.ParseError{File: o.Name, Msg: err.Error(), Err: err}
	}
	most := n
	if n < 0 {
		most = matrix.MaxDim
	}
	list := make([]float64, 0, min(most, 1<<20))
	for {
		text, line, err := src.Line()
		if err != nil && !errors.Is(err, io.EOF) {
			return nil, &matrix.ParseError{File: o.Name, Line: line, Msg: err.Error(), Err: err}
		}
		if errors.Is(err, io.EOF) {
			if len(list) < n {
				return nil, &matrix.ParseError{File: o.Name, Line: line, Msg: fmt.Sprintf("%d values, and the graph has %d vertices", len(list), n),
					Remedy: "give a number for each vertex, one a line"}
			}
			return matrix.VectorOf(list)
		}
		text = bytes.TrimSpace(bytes.TrimPrefix(text, []byte("\ufeff")))
		if len(text) == 0 || text[0] == '%' || text[0] == '#' {
			continue
		}
		x, err := strconv.ParseFloat(string(text), 64)
		if err != nil || math.IsNaN(x) || math.IsInf(x, 0) {
			return nil, &matrix.ParseError{File: o.Name, Line: line, Msg: fmt.Sprintf("%.40q is not a finite number", text),
				Remedy: "give a number for each vertex, one a line"}
		}
		if len(list) == most {
			return nil, &matrix.ParseError{File: o.Name, Line: line, Msg: fmt.Sprintf("there are more than %d values, and the graph has as many vertices", most),
				Remedy: "give a number for each vertex, one a line"}
		}
		list = append(list, x)
		if line%4096 == 0 {
			o.report("read values", taken(), 0)
			if o.Context != nil && o.Context.Err() != nil {
				return nil, o.Context.Err()
			}
		}
	}
}
