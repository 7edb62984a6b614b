package apps

import (
	"fmt"
	"io"
	"math"
	"strconv"

	"github.com/hiveblas/hiveblas/matrix"
)

// ValueOptions are the settings of ReadValues.
type ValueOptions struct {
	Run         // Context and Progress, which counts bytes, are used
	Name string // of the file, for errors
}

// ReadValues reads a value for each of n vertices, of any number of vertices if n is −1: a number a
// line, that of vertex 0 first, gzip-compressed or not. Blank lines, and those that begin with % or
// #, are skipped. A line that is no finite number, and more or fewer numbers than vertices, are a
// *matrix.ParseError with the line.
func ReadValues(r io.Reader, n int, opts ...ValueOptions) (*matrix.Vector[float64], error) {
	const app = "ReadValues"
	o, err := only(app, opts)
	if err == nil {
		err = checkReader(app, r, n, -1, 0)
	}
	if err != nil {
		return nil, err
	}
	const remedy = "give a number for each vertex, one a line"
	most := n
	if n < 0 {
		most = matrix.MaxDim
	}
	list := make([]float64, 0, min(most, 1<<20))
	lines, err := o.eachLine(r, o.Name, "read values", func(text []byte, line int64) error {
		x, err := strconv.ParseFloat(string(text), 64)
		if err != nil || math.IsNaN(x) || math.IsInf(x, 0) {
			return &matrix.ParseError{File: o.Name, Line: line, Msg: fmt.Sprintf("%.40q is not a finite number", text), Remedy: remedy}
		}
		if len(list) == most {
			return &matrix.ParseError{File: o.Name, Line: line, Remedy: remedy,
				Msg: fmt.Sprintf("there are more than %d values, and the graph has as many vertices", most)}
		}
		list = append(list, x)
		return nil
	})
	if err != nil {
		return nil, err
	}
	if len(list) < n {
		return nil, &matrix.ParseError{File: o.Name, Line: lines, Remedy: remedy,
			Msg: fmt.Sprintf("%d values, and the graph has %d vertices", len(list), n)}
	}
	return matrix.VectorOf(list)
}
