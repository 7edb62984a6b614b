// Package core is what all formats share: options, errors, names of vertices, and values as words
// of 64 bits.
package core

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"reflect"

	"github.com/hiveblas/hiveblas/internal/chunk"
	"github.com/hiveblas/hiveblas/internal/pieces"
	"github.com/hiveblas/hiveblas/internal/sparse"
	"github.com/hiveblas/hiveblas/matrix"
)

// Common are the options of readers and writers.
type Common struct {
	Ctx       context.Context
	Threads   int
	File      string
	Progress  func(int64)
	Stages    func(stage string, done, total int64)
	Size      int64 // bytes that a writer of a binary form will write; 0 if unknown
	Labels    *Labels
	Cols      *Labels
	Format    uint8  // graphio.FileFormat
	Packed    bool   // the format is Graph500 tuples of 12 bytes
	Separator byte   // between the fields of the format: comma of .csv, tab of .tsv, else 0
	Beside    string // path of the file without .gz, for names beside it; "" if unknown
}

// ReadOptions are the options of readers; package graphio describes each.
type ReadOptions struct {
	Common
	E           Element                     // of the matrix that is read
	Dups        map[reflect.Type]Duplicates // of Duplicates, by element type
	AllowNaN    bool
	PatternOnly bool
	Symmetrise  bool
	Info        *Info
	Warn        func(Warning)

	Renumber, StringIDs bool
	Base                int // 0, 1 or BaseAuto
	Skip                int // lines
	Header              HeaderMode
	Delimiter           rune // 0: found from the first lines
	Comments            string
	CommentsGiven       bool
	Decimal             rune // 0: a point
	KeepZeros           bool
	Source, Target      Column
	Weight              Column
	Rows, Columns       int
	DimsGiven           bool
	Bipartite           bool
	Random              RandomReader  // the input, or nil
	Plain               *pieces.File  // the input, or nil
	Place               matrix.Place  // of On; nil for the host
	Layout              matrix.Layout // of On
	Convert             bool          // values of a binary file may be of another type
	Piece               int           // for tests: bytes that a thread reads at a time, or pieces.Serially
}

// A Column is chosen by its number from 1, or by its name in a header.
type Column struct {
	Given  bool
	Number int // 0 for a value that is read from no column
	Name   string
}

// WriteOptions are the options of writers; package graphio describes each.
type WriteOptions struct {
	Common
	Comment          string
	Array, Symmetric bool
	Pattern          bool
	Compress         bool
	Delimiter        rune // 0: tab
	Real             bool
	Layout           NPZLayout
}

// Duplicates is an operator of values of a type.
type Duplicates struct {
	Combine sparse.Combine
	Usable  bool
}

// Combiner returns the operator of Duplicates, nil without one.
func (o *ReadOptions) Combiner(op string) (sparse.Combine, error) {
	t := o.E.T
	if len(o.Dups) == 0 {
		return nil, nil
	}
	switch d, ok := o.Dups[sparse.GoType(t)]; {
	case !ok:
		return nil, &matrix.TypeError{Op: op, Got: "another type in Duplicates", Want: sparse.GoType(t).String(), Remedy: "give Duplicates an operator on the element type that is read"}
	case !d.Usable:
		return nil, &matrix.InvalidError{Op: op, Reason: "the operator of Duplicates is the zero value; make it with a constructor of package semiring or as a matrix.CombineFunc, or leave the option out to reject duplicates"}
	default:
		return d.Combine, nil
	}
}

// BaseAuto, as ReadOptions.Base, is 1 if the smallest id of the list is 1 or more, and 0 otherwise.
const BaseAuto = -1

// HeaderMode is graphio.HeaderMode: whether an edge list begins with a line of column names.
type HeaderMode uint8

// The header modes.
const (
	HeaderAuto HeaderMode = iota // if the reader recognises every name, or a column is chosen by name
	HeaderYes
	HeaderNo
)

// Report reports n bytes to Progress.
func (o *Common) Report(n int64) {
	if o.Progress != nil {
		o.Progress(n)
	}
}

// stage reports how much of a stage is done.
func (o *Common) stage(name string, done, total int64) {
	if o.Stages != nil {
		o.Stages(name, done, total)
	}
}

// Sorted returns the function that receives how much is sorted, nil for none.
func (o *Common) Sorted() func(done, total int64) {
	if o.Stages == nil {
		return nil
	}
	return func(done, total int64) { o.Stages("sort", done, total) }
}

// WritePieces formats pieces of a text several at a time, and writes them in order; of total items.
func (o *Common) WritePieces(w io.Writer, pieces int, total int64, format func(piece int, buf []byte) []byte) error {
	return chunk.Write(o.Ctx, w, o.Threads, pieces, format, func(wrote int) {
		o.stage("write", total*int64(wrote)/int64(pieces), total)
	})
}

// Stopped returns the error of the context.
func (o *Common) Stopped() error {
	if o.Ctx == nil {
		return nil
	}
	return o.Ctx.Err()
}

// Fail returns the *ParseError of a line of the file.
func (o *Common) Fail(line int64, msg, remedy string) *ParseError {
	return &ParseError{File: o.File, Line: line, Msg: msg, Remedy: remedy}
}

// FailKind is fail with a remedy of a kind.
func (o *Common) FailKind(line int64, msg string, kind RemedyKind) *ParseError {
	return &ParseError{File: o.File, Line: line, Msg: msg, Remedy: kind.String(), Kind: kind}
}

// StreamError wraps an error about the content of a stream in a *ParseError and
// returns other errors (of the disk, a context, a *ParseError) unchanged.
func (o *Common) StreamError(line int64, err error) error {
	switch {
	case err == nil:
		return nil
	case errors.Is(err, chunk.ErrGzip):
		e := o.Fail(line, err.Error(), "download or compress the file again")
		e.Err = err
		return e
	case errors.Is(err, chunk.ErrLine):
		e := o.Fail(line, err.Error(), "the file is not text with one entry per line")
		e.Err = err
		return e
	}
	return err
}

// ReportingWriter counts the bytes written and reports progress.
type ReportingWriter struct {
	W io.Writer
	O *Common
	n int64
}

// Write writes and reports.
func (r *ReportingWriter) Write(p []byte) (int, error) {
	if err := r.O.Stopped(); err != nil {
		return 0, err
	}
	n, err := r.W.Write(p)
	r.n += int64(n)
	r.O.Report(r.n)
	if r.O.Size > 0 {
		r.O.stage("write", min(r.n, r.O.Size), r.O.Size)
	}
	return n, err
}

// PlainFile returns the input of known size, nil for a stream: the file behind r, or the one that
// settleFormat found before it buffered it.
func (o *ReadOptions) PlainFile(r io.Reader) *pieces.File {
	switch {
	case o.Piece == pieces.Serially:
		return nil
	case o.Plain != nil:
		return o.Plain
	}
	return pieces.FileOf(r)
}

// Warning gives a warning about the file.
func (o *ReadOptions) Warning(kind RemedyKind, msg string) {
	if o.Warn != nil {
		o.Warn(Warning{File: o.File, Msg: msg, Remedy: kind.String(), Kind: kind})
	}
}

// RandomReader is an input that can be read from any place, such as an *os.File. A reader of .npz
// buffers others.
type RandomReader interface {
	io.ReaderAt
	Stat() (fs.FileInfo, error)
}

// A NPZLayout is a layout of a sparse matrix in a .npz file.
type NPZLayout uint8

// The layouts.
const (
	NPZRows        NPZLayout = iota // csr
	NPZColumns                      // csc
	NPZCoordinates                  // coo
)
