package classify

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"reflect"
	"slices"
	"strconv"
	"unicode"

	"github.com/hiveblas/hiveblas/apps/internal/workflow"
	"github.com/hiveblas/hiveblas/graphio"
	"github.com/hiveblas/hiveblas/internal/chunk"
	"github.com/hiveblas/hiveblas/internal/delimited"
	"github.com/hiveblas/hiveblas/matrix"
)

// ReadAttributed reads a graph from two tables in the layout of PNNL's application classification:
// a first line "count columns", then a line for each row, with fields separated by blanks, tabs or
// commas, gzip-compressed or not. The first line may have the names of the columns instead, such as
// “vertex,degree”. A row of vertices holds a vertex, numbered from 0 in any order, and its
// features; a row of edges holds a source, a target and the features.
//
// An error in a table is a *graphio.ParseError with its line. Counts are checked and not trusted:
// memory grows with the data read.
func ReadAttributed(vertices, edges io.Reader) (*Attributed, error) {
	for k, r := range []io.Reader{vertices, edges} {
		if v := reflect.ValueOf(r); r == nil || v.Kind() == reflect.Pointer && v.IsNil() {
			return nil, &workflow.ParameterError{App: "ReadAttributed", Arg: []string{"vertices", "edges"}[k], Got: "nil", Want: "a reader"}
		}
	}
	return readAttributed(namedReader{"", vertices}, namedReader{"", edges}, workflow.Run{})
}

// ReadAttributedFiles reads the files at two paths as ReadAttributed does. It uses Context and
// Progress of Run; progress counts bytes.
func ReadAttributedFiles(vertices, edges string, opts ...workflow.Run) (*Attributed, error) {
	run, err := workflow.Only("ReadAttributedFiles", opts)
	if err != nil {
		return nil, err
	}
	v, err := os.Open(vertices)
	if err != nil {
		return nil, err
	}
	defer v.Close()
	e, err := os.Open(edges)
	if err != nil {
		return nil, err
	}
	defer e.Close()
	return readAttributed(namedReader{vertices, v}, namedReader{edges, e}, run)
}

type namedReader struct {
	name string
	io.Reader
}

func readAttributed(vertices, edges namedReader, run workflow.Run) (*Attributed, error) {
	ids, x, err := readTable(vertices, 1, run)
	if err != nil {
		return nil, err
	}
	if x, err = byNumber(vertices.name, ids[0], x); err != nil {
		return nil, err
	}
	n := len(ids[0])
	ends, y, err := readTable(edges, 2, run)
	if err != nil {
		return nil, err
	}
	for side, list := range ends {
		for e, v := range list {
			if int(v) >= n {
				return nil, &graphio.ParseError{File: edges.name, Msg: fmt.Sprintf("the %s of edge %d is vertex %d, and there are %d vertices", []string{"source", "target"}[side], e, v, n),
					Remedy: "give the table of vertices that belongs to these edges"}
			}
		}
	}
	vx, err := stacked(x, n)
	if err != nil {
		return nil, err
	}
	ex, err := stacked(y, len(ends[0]))
	if err != nil {
		return nil, err
	}
	return NewAttributed(vx, ex, ends[0], ends[1])
}

// stacked makes a matrix of its rows.
func stacked(rows [][]float32, n int) (*matrix.Matrix[float32], error) {
	val := make([]float32, 0, len(rows)*n)
	for i, row := range rows {
		val = append(val, row...)
		rows[i] = nil // frees the row
	}
	return matrix.FromDense(len(rows), n, val)
}

// byNumber puts the features of vertices in the order of their numbers.
func byNumber(file string, ids []int32, x [][]float32) ([][]float32, error) {
	seen, sorted := make([]bool, len(ids)), true
	for k, v := range ids {
		if int(v) >= len(ids) || seen[v] {
			return nil, &graphio.ParseError{File: file, Msg: fmt.Sprintf("vertex %d in row %d is beyond the %d vertices, or there twice", v, k, len(ids)), Remedy: "number the vertices from 0, each once"}
		}
		seen[v] = true
		sorted = sorted && int(v) == k
	}
	if sorted {
		return x, nil
	}
	for i, row := range x {
		x[i] = make([]float32, len(row))
		for k, v := range ids {
			x[i][v] = row[k]
		}
	}
	return x, nil
}

// tableHeader returns the rows and columns of a table by its first line, −1 rows for names of
// columns, or what is wrong with it.
func tableHeader(fields [][]byte, ids int) (count, columns int, fault string) {
	if len(fields) >= ids && !slices.ContainsFunc(fields, func(f []byte) bool { return !delimited.IsWord(string(f)) }) {
		return -1, len(fields), ""
	}
	if len(fields) != 2 {
		return 0, 0, fmt.Sprintf("%d fields, want the count and the columns of the table", len(fields))
	}
	count, err1 := strconv.Atoi(string(fields[0]))
	columns, err2 := strconv.Atoi(string(fields[1]))
	if err1 != nil || err2 != nil || count < 0 || count > matrix.MaxDim || columns < ids || columns > 1<<20 {
		return 0, 0, fmt.Sprintf("the table has %s rows and %s columns, want counts, of at least %d columns", fields[0], fields[1], ids)
	}
	return count, columns, ""
}

// readTable reads a table; its first columns are numbers of vertices.
func readTable(r namedReader, ids int, run workflow.Run) (id [][]int32, x [][]float32, err error) {
	var line int64
	bad := func(remedy, format string, args ...any) error {
		return &graphio.ParseError{File: r.name, Line: line, Msg: fmt.Sprintf(format, args...), Remedy: remedy}
	}
	src, taken, err := chunk.NewSource(r)
	if err != nil {
		return nil, nil, &graphio.ParseError{File: r.name, Msg: err.Error(), Err: err}
	}
	const header = "begin with a line “count columns”, or of names of columns"
	var text []byte
	next := func() (fields [][]byte, err error) {
		if text, line, err = src.Line(); err == nil || errors.Is(err, io.EOF) {
			return bytes.FieldsFunc(text, func(r rune) bool { return r == ',' || unicode.IsSpace(r) }), err
		}
		return nil, &graphio.ParseError{File: r.name, Line: line, Msg: err.Error(), Err: err}
	}
	fields, err := next()
	if err != nil && !errors.Is(err, io.EOF) {
		return nil, nil, err
	}
	count, columns, fault := tableHeader(fields, ids)
	if fault != "" {
		return nil, nil, bad(header, "%s", fault)
	}
	id, x = make([][]int32, ids), make([][]float32, columns-ids)
	for rows := 0; ; rows++ {
		fields, err := next()
		if errors.Is(err, io.EOF) {
			if rows < count {
				return nil, nil, bad("", "the table ends after %d of %d rows", rows, count)
			}
			return id, x, nil
		}
		if err != nil {
			return nil, nil, err
		}
		if len(fields) == 0 { // a blank line
			rows--
			continue
		}
		if rows == count || rows == matrix.MaxDim {
			return nil, nil, bad("", "there are more than the %d rows that the first line tells", count)
		}
		if len(fields) != columns {
			return nil, nil, bad("", "%d fields, want %d", len(fields), columns)
		}
		for k := range id {
			v, err := strconv.ParseUint(string(fields[k]), 10, 31)
			if err != nil {
				return nil, nil, bad("number vertices from 0", "%q is no vertex", fields[k])
			}
			id[k] = append(id[k], int32(v))
		}
		for k := range x {
			v, fault, _ := delimited.Format{}.Number(string(fields[ids+k]))
			if fault != "" {
				return nil, nil, bad("", "feature %d: %s", k, fault)
			}
			if math.Abs(v) > largestFeature {
				return nil, nil, bad("", "feature %d is %q, want a number of at most ±%g", k, fields[ids+k], float64(largestFeature))
			}
			x[k] = append(x[k], float32(v))
		}
		if rows%4096 == 0 {
			workflow.Report(run, "read", taken(), 0)
			if run.Context != nil && run.Context.Err() != nil {
				return nil, nil, run.Context.Err()
			}
		}
	}
}
