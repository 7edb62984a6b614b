package lines

import (
	"fmt"
	"io"
	"os"

	"github.com/hiveblas/hiveblas/apps/internal/workflow"
	"github.com/hiveblas/hiveblas/graphio"
	"github.com/hiveblas/hiveblas/matrix"
)

// ScoreFileOptions are the settings of ReadScores.
type ScoreFileOptions struct {
	workflow.Run // Context and Progress, which counts bytes, are used
	TextOptions
	Name string // of the file, for errors
	Base int    // the first vertex of a file of pairs: 0 or 1
	// Index returns the vertex of an id. It takes the place of Base if vertices have names. May be
	// nil.
	Index func(id string) (vertex int, ok bool)
}

// ReadScores reads scores of the n vertices of a graph, gzip-compressed or not: a number a line for
// all vertices in order, or pairs “vertex score”, separated by tabs, commas or blanks, in any order
// and for some of them. The first line decides. Lines that begin with % or # (see TextOptions),
// blank lines, and a first line of names of columns are skipped. The result has an entry for each
// vertex with a score.
//
// ReadScores returns a *graphio.ParseError with the line if a score is no finite number, if the
// graph lacks a vertex, if a vertex is repeated, or if there are not n lines.
func ReadScores(r io.Reader, n int, opts ...ScoreFileOptions) (*matrix.Vector[float64], error) {
	const app = "ReadScores"
	o, err := workflow.Only(app, opts)
	if err == nil {
		err = CheckReader(app, r, n, 0, o.Base)
	}
	if err == nil {
		err = CheckText(o.TextOptions, app)
	}
	if err != nil {
		return nil, err
	}
	in := scoreReader{LocationReader{LocationOptions: LocationOptions(o),
		p: &Places{Located: make([]uint8, n)}, first: true, at: make([]int64, n)}, make([]float64, n), 0, 0}
	lines, err := EachLine(o.Run, r, o.TextOptions, o.Name, "read scores", func(text []byte, line int64) error { return in.line(text, line, n) })
	if err != nil {
		return nil, err
	}
	if in.fields == 1 && in.next < n {
		return nil, &graphio.ParseError{File: o.Name, Line: lines, Msg: fmt.Sprintf("the file has %d scores, and the graph %d vertices", in.next, n),
			Remedy: "give a number for each vertex, or lines “vertex score”"}
	}
	return workflow.PresentVector(in.p.Located, in.p.Count, in.score), nil
}

// ReadScoresFile reads the file at path as ReadScores does. Name is ignored.
func ReadScoresFile(path string, n int, opts ...ScoreFileOptions) (*matrix.Vector[float64], error) {
	o, err := workflow.Only("ReadScoresFile", opts)
	if err != nil {
		return nil, err
	}
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	o.Name = path
	return ReadScores(f, n, o)
}

// scoreReader is the state of ReadScores.
type scoreReader struct {
	LocationReader
	score  []float64
	fields int // of a line; 0 before the first
	next   int // vertex of a file of numbers
}

// line reads a line. Its errors are a *graphio.ParseError.
func (in *scoreReader) line(text []byte, line int64, n int) error {
	bad := func(remedy, format string, args ...any) error {
		return &graphio.ParseError{File: in.Name, Line: line, Msg: fmt.Sprintf(format, args...), Remedy: remedy}
	}
	f := FormatOf(in.LocationReader.LocationOptions.TextOptions).Fields(text)
	first := in.first
	in.first = false
	if first && isHeader(f, func(id string) bool { return in.Has(id, n) }) {
		return nil
	}
	const want = "give a number on each line, or lines “vertex score”"
	if in.fields == 0 {
		in.fields = len(f)
	}
	if len(f) != in.fields || len(f) > 2 || len(f) == 0 {
		return bad(want, "the line has %d fields, want %d", len(f), min(max(in.fields, 1), 2))
	}
	v, text1 := in.next, f[len(f)-1]
	if in.fields == 1 {
		if in.next++; in.next > n {
			return bad(want, "there are more scores than the %d vertices of the graph", n)
		}
	} else {
		var err error
		if v, err = in.Vertex(f[0], n, bad); err != nil {
			return err
		}
		if before := in.at[v]; before > 0 {
			return bad("give each vertex once", "vertex %s is given twice, first in line %d", f[0], before)
		}
		in.at[v] = line
	}
	x, err := in.number("the score ", text1, in.Name, line, want)
	if err != nil {
		return err
	}
	in.score[v], in.p.Located[v] = x, 1
	in.p.Count++
	return nil
}
