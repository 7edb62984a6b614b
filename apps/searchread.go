package apps

import (
	"encoding/binary"
	"fmt"
	"io"
	"os"
	"strconv"
	"unsafe"

	"github.com/hiveblas/hiveblas/graphio"
	"github.com/hiveblas/hiveblas/matrix"
)

// ScoreFileOptions are the settings of ReadScores.
type ScoreFileOptions struct {
	Run // Context and Progress, which counts bytes, are used
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
// A score that is no finite number, a vertex that the graph lacks or that is repeated, and another
// number of lines than n are a *graphio.ParseError with the line.
func ReadScores(r io.Reader, n int, opts ...ScoreFileOptions) (*matrix.Vector[float64], error) {
	const app = "ReadScores"
	o, err := only(app, opts)
	if err == nil {
		err = checkReader(app, r, n, 0, o.Base)
	}
	if err == nil {
		err = o.TextOptions.check(app)
	}
	if err != nil {
		return nil, err
	}
	in := scoreReader{locationReader{LocationOptions: LocationOptions(o),
		p: &places{located: make([]uint8, n)}, first: true, at: make([]int64, n)}, make([]float64, n), 0, 0}
	lines, err := eachLine(o.Run, r, o.TextOptions, o.Name, "read scores", func(text []byte, line int64) error { return in.line(text, line, n) })
	if err != nil {
		return nil, err
	}
	if in.fields == 1 && in.next < n {
		return nil, &graphio.ParseError{File: o.Name, Line: lines, Msg: fmt.Sprintf("the file has %d scores, and the graph %d vertices", in.next, n),
			Remedy: "give a number for each vertex, or lines “vertex score”"}
	}
	return presentVector(in.p.located, in.p.count, in.score), nil
}

// ReadScoresFile reads the file at path as ReadScores does. Name is ignored.
func ReadScoresFile(path string, n int, opts ...ScoreFileOptions) (*matrix.Vector[float64], error) {
	o, err := only("ReadScoresFile", opts)
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
	locationReader
	score  []float64
	fields int // of a line; 0 before the first
	next   int // vertex of a file of numbers
}

// line reads a line. Its errors are a *graphio.ParseError.
func (in *scoreReader) line(text []byte, line int64, n int) error {
	bad := func(remedy, format string, args ...any) error {
		return &graphio.ParseError{File: in.Name, Line: line, Msg: fmt.Sprintf(format, args...), Remedy: remedy}
	}
	f := in.format().Fields(text)
	first := in.first
	in.first = false
	if first && isHeader(f, func(id string) bool { return in.has(id, n) }) {
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
		if v, err = in.vertex(f[0], n, bad); err != nil {
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
	in.score[v], in.p.located[v] = x, 1
	in.p.count++
	return nil
}

// BinaryWalks returns a function for SearchOptions.Each that writes walks to w as little-endian
// uint32: the length of a walk for each, with 0xFFFFFFFF after its end.
func BinaryWalks(w io.Writer) func(SearchBlock) error {
	var buf []byte
	return func(b SearchBlock) error {
		if isNil(w) {
			return &ParameterError{"BinaryWalks", "the writer", "nil", "a writer"}
		}
		for list := b.Vertices; len(list) > 0; {
			part := list[:min(len(list), 1<<20)]
			list = list[len(part):]
			out := bytesOf(part)
			if binary.NativeEndian.Uint16([]byte{1, 0}) != 1 { // a big-endian machine
				buf = buf[:0]
				for _, v := range part {
					buf = binary.LittleEndian.AppendUint32(buf, uint32(v))
				}
				out = buf
			}
			if _, err := w.Write(out); err != nil {
				return err
			}
		}
		return nil
	}
}

// bytesOf returns the memory of a list.
func bytesOf(list []int32) []byte {
	return unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(list))), 4*len(list))
}

// TextWalks returns a function for SearchOptions.Each that writes a line for each walk to w: its
// vertices, separated by tabs, by name if name is not nil.
func TextWalks(w io.Writer, name func(vertex int) string) func(SearchBlock) error {
	var buf []byte
	return func(b SearchBlock) error {
		if isNil(w) {
			return &ParameterError{"TextWalks", "the writer", "nil", "a writer"}
		}
		buf = buf[:0]
		for k := range b.Walks() {
			for i, v := range b.Walk(k) {
				if i > 0 {
					buf = append(buf, '\t')
				}
				if name != nil {
					buf = append(buf, name(int(v))...)
				} else {
					buf = strconv.AppendInt(buf, int64(v), 10)
				}
			}
			if buf = append(buf, '\n'); len(buf) >= 1<<20 || k == b.Walks()-1 {
				if _, err := w.Write(buf); err != nil {
					return err
				}
				buf = buf[:0]
			}
		}
		return nil
	}
}
