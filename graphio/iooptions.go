package graphio

import (
	"context"
	"errors"
	"io"
	"maps"
	"reflect"

	"github.com/hiveblas/hiveblas/internal/chunk"
	"github.com/hiveblas/hiveblas/internal/pieces"
	"github.com/hiveblas/hiveblas/internal/sparse"
	"github.com/hiveblas/hiveblas/matrix"
)

// A ReadOption configures a reader. A reader ignores options that do not apply to
// its format.
type ReadOption interface{ read(*readOptions) }

// A WriteOption configures a writer. A writer ignores options that do not apply to
// its format.
type WriteOption interface{ write(*writeOptions) }

// A FileOption configures readers and writers.
type FileOption interface {
	ReadOption
	WriteOption
}

type common struct {
	ctx      context.Context
	threads  int
	file     string
	progress func(int64)
	stages   func(stage string, done, total int64)
	size     int64 // bytes that a writer of a binary form will write; 0 if unknown
	labels   *Labels
	cols     *Labels
	format   FileFormat
	beside   string // path of the file without .gz, for names beside it; "" if unknown
}

type readOptions struct {
	common
	e           element                     // of the matrix that is read
	dups        map[reflect.Type]duplicates // of Duplicates, by element type
	allowNaN    bool
	patternOnly bool
	symmetrise  bool
	info        *Info
	warn        func(Warning)

	renumber, stringIDs bool
	base                int // 0, 1 or BaseAuto
	skip                int // lines
	header              HeaderMode
	delimiter           rune // 0: found from the first lines
	comments            string
	commentsGiven       bool
	decimal             rune // 0: a point
	keepZeros           bool
	source, target      column
	weight              column
	rows, columns       int
	dimsGiven           bool
	bipartite           bool
	random              randomReader  // the input, or nil
	plain               *pieces.File  // the input, or nil
	place               matrix.Place  // of On; nil for the host
	layout              matrix.Layout // of On
	convert             bool          // values of a binary file may be of another type
	piece               int           // for tests: bytes that a thread reads at a time, or pieces.Serially
}

// A column is chosen by its number from 1, or by its name in a header.
type column struct {
	given  bool
	number int // 0 for a value that is read from no column
	name   string
}

type writeOptions struct {
	common
	comment          string
	array, symmetric bool
	pattern          bool
	compress         bool
	delimiter        rune // 0: tab
	real             bool
	layout           NPZLayout
}

type readOption func(*readOptions)

func (f readOption) read(o *readOptions) { f(o) }

type writeOption func(*writeOptions)

func (f writeOption) write(o *writeOptions) { f(o) }

type fileOption func(*common)

func (f fileOption) read(o *readOptions)   { f(&o.common) }
func (f fileOption) write(o *writeOptions) { f(&o.common) }

// optionsFor is readOptionsOf for a reader into T.
func optionsFor[T matrix.Element](opts []ReadOption) *readOptions {
	o := readOptionsOf(opts)
	o.e = elementOf(sparse.TypeOf[T]())
	return o
}

func readOptionsOf(opts []ReadOption) *readOptions {
	o := &readOptions{}
	for _, opt := range opts {
		if opt != nil {
			opt.read(o)
		}
	}
	return o
}

func writeOptionsOf(opts []WriteOption) *writeOptions {
	o := &writeOptions{}
	for _, opt := range opts {
		if opt != nil {
			opt.write(o)
		}
	}
	return o
}

// WithContext stops a reader or writer with ctx.Err() when ctx ends. It checks ctx
// between blocks of about a megabyte and does not interrupt a Read or Write.
func WithContext(ctx context.Context) FileOption { return fileOption(func(o *common) { o.ctx = ctx }) }

// Threads bounds the number of goroutines that parse or format. The default
// is GOMAXPROCS.
func Threads(n int) FileOption { return fileOption(func(o *common) { o.threads = n }) }

// FileName names the file in errors. Functions that take a path set it themselves.
func FileName(name string) FileOption { return fileOption(func(o *common) { o.file = name }) }

// Progress calls f after each block, on the calling goroutine, with the number of
// bytes read so far (before decompression) or written so far.
func Progress(f func(bytes int64)) FileOption {
	return fileOption(func(o *common) { o.progress = f })
}

// Stages calls f, one call at a time, with the name of a stage and how much of it is done:
// "sort", in which a reader orders the entries it has read (entries), and "write" (entries of text
// formats, vertices of those that list them, bytes of .hgb, .npz and .npy). Readers report bytes by
// [Progress].
func Stages(f func(stage string, done, total int64)) FileOption {
	return fileOption(func(o *common) { o.stages = f })
}

// WithLabels gives rows and columns the names of l. Lists have l.Name(i) for index i, a
// binary file keeps the labels, and a Matrix Market file has them beside it (see
// [NamesBeside]).
func WithLabels(l *Labels) WriteOption { return WithRowColumnLabels(l, l) }

// WithRowColumnLabels is WithLabels with separate labels for rows and columns. A
// nil writes indices.
func WithRowColumnLabels(rows, cols *Labels) WriteOption {
	return writeOption(func(o *writeOptions) { o.labels, o.cols = rows, cols })
}

// InFormat names the format of a file, whatever its name; see [FileFormat].
// Without it readers look at the first bytes and then at the extension, writers
// at the extension.
func InFormat(f FileFormat) FileOption { return fileOption(func(o *common) { o.format = f }) }

// Delimiter names the character between the fields of an edge list. ' ' stands
// for runs of blanks and tabs. Without it a reader finds the delimiter from the
// first lines (see [ReadEdgeList]), and a writer uses a tab.
func Delimiter(d rune) FileOption { return delimiterOption(d) }

type delimiterOption rune

func (d delimiterOption) read(o *readOptions)   { o.delimiter = rune(d) }
func (d delimiterOption) write(o *writeOptions) { o.delimiter = rune(d) }

// CommentChars gives the characters of which each begins a comment where it begins a line of an
// edge list or of a vector; "" for none. Without it they are # and %, and a list with ids that are
// text is an error if such a line follows its first edge, because the source of an edge may begin
// so.
func CommentChars(chars string) ReadOption {
	return readOption(func(o *readOptions) { o.comments, o.commentsGiven = chars, true })
}

// Decimal gives the sign before the fraction of a number: a point, which is the default, or a
// comma. It is for delimited text, GraphML, GEXF and GML. A comma is then no [Delimiter].
func Decimal(sign rune) ReadOption { return readOption(func(o *readOptions) { o.decimal = sign }) }

// KeepZeros makes entries of the zeros of a dense file too: a Matrix Market array and a .npy. Such
// a file has a value at every position, and without the option its zeros are no entries, as in
// SciPy and NetworkX, so that a dense adjacency matrix is a graph. Readers of vectors keep zeros.
func KeepZeros() ReadOption { return readOption(func(o *readOptions) { o.keepZeros = true }) }

// Duplicates combines entries that a file gives more than once with op, in
// the order of the file. Without it the first is an error (a *ParseError
// around a *[matrix.DuplicateError]). With [Symmetrise] the entries of both directions
// are one entry. T must be the element type that is read; of several such options with
// different T, as [ReadAny] takes them, the one of this type counts.
func Duplicates[T any](op matrix.Combiner[T]) ReadOption {
	if op == nil {
		return readOption(func(o *readOptions) { o.dups = nil })
	}
	d := duplicates{sparse.Combining(op.Combine), usable(op)}
	return readOption(func(o *readOptions) {
		o.dups = maps.Clone(o.dups)
		if o.dups == nil {
			o.dups = map[reflect.Type]duplicates{}
		}
		o.dups[reflect.TypeFor[T]()] = d
	})
}

// duplicates is an operator of values of a type.
type duplicates struct {
	combine sparse.Combine
	usable  bool
}

// usable reports whether an operator can be called: it is no zero value.
func usable(op any) bool {
	if v, ok := op.(interface{ Valid() bool }); ok {
		return v.Valid()
	}
	v := reflect.ValueOf(op)
	return v.Kind() != reflect.Func || !v.IsNil()
}

// combiner returns the operator of Duplicates, nil without one.
func (o *readOptions) combiner(op string) (sparse.Combine, error) {
	t := o.e.t
	if len(o.dups) == 0 {
		return nil, nil
	}
	switch d, ok := o.dups[sparse.GoType(t)]; {
	case !ok:
		return nil, &matrix.TypeError{Op: op, Got: "another type in Duplicates", Want: sparse.GoType(t).String(), Remedy: "give Duplicates an operator on the element type that is read"}
	case !d.usable:
		return nil, &matrix.InvalidError{Op: op, Reason: "the operator of Duplicates is the zero value; make it with a constructor of package semiring or as a matrix.CombineFunc, or leave the option out to reject duplicates"}
	default:
		return d.combine, nil
	}
}

// On places the matrix or vector that is read at p. A nil p is the host. A layout says how a group
// stores it, matrix.Blocks by default.
//
// On a group of several processes all call the reader with the same file. Each rank reads a part
// of a Matrix Market file of coordinates, an edge list with ids for indices, or a file in the
// binary form in one of the four formats of storage, and sends the entries to the ranks that own
// their rows; so a process holds its part and its block, and not the matrix. The result and the
// errors are those of a whole reading. What else there is, each process reads whole before it
// keeps its block: streams and compressed files, arrays, renumbered and textual ids, binary files
// in blocks, other formats, names of vertices, and vectors. Calls of [Progress] and of a Combiner
// in [Duplicates] then come from the goroutines of the ranks, of Progress one at a time.
func On(p matrix.Place, layout ...matrix.Layout) ReadOption {
	return readOption(func(o *readOptions) {
		if o.place, o.layout = p, matrix.Blocks; len(layout) > 0 {
			o.layout = layout[len(layout)-1]
		}
	})
}

// AllowNaN accepts NaN and ±Inf in float matrices. Without it they are an
// error, because they are usually a mistake of the program that wrote the file.
func AllowNaN() ReadOption { return readOption(func(o *readOptions) { o.allowNaN = true }) }

// PatternOnly reads the positions of entries and ignores their values: every
// entry becomes 1 or true. It reads any weighted file into bool. In an edge list
// the values may be any text.
func PatternOnly() ReadOption { return readOption(func(o *readOptions) { o.patternOnly = true }) }

// Symmetrise returns the union of A and Aᵀ: the undirected graph of a list of
// directed edges. A must be square; its diagonal is kept.
//
// With [Duplicates], the operator combines all entries of a pair of vertices,
// in both directions and in the order of the file (by rows in a binary file).
// Without it, a pair with an entry in each direction gets the smaller value
// (NaN counts as the smallest), and a second entry in one direction is an
// error.
func Symmetrise() ReadOption { return readOption(func(o *readOptions) { o.symmetrise = true }) }

// WithInfo fills info with the header of a Matrix Market file, or with the
// dimensions, entries and field (pattern, integer or real) of an edge list.
func WithInfo(info *Info) ReadOption { return readOption(func(o *readOptions) { o.info = info }) }

// Warn calls f, on the calling goroutine, for each [Warning] about a file that
// can be read. Without it readers are silent.
func Warn(f func(Warning)) ReadOption { return readOption(func(o *readOptions) { o.warn = f }) }

// RenumberIDs numbers the ids of an edge list in ascending order, whatever
// integers or texts they are, and returns them as [Labels]. Without it ids are
// indices that count from [Base].
func RenumberIDs() ReadOption { return readOption(func(o *readOptions) { o.renumber = true }) }

// StringIDs is [RenumberIDs] with ids as text even if all are integers.
func StringIDs() ReadOption {
	return readOption(func(o *readOptions) { o.renumber, o.stringIDs = true, true })
}

// BaseAuto is the [Base] that is 1 if the smallest id of the list is 1 or more,
// and 0 otherwise.
const BaseAuto = -1

// Base says whether the ids of an edge list count from 0, which is the default,
// or from 1, or [BaseAuto]. From 1 the labels give the ids back.
func Base(b int) ReadOption { return readOption(func(o *readOptions) { o.base = b }) }

// Dims gives the dimensions of the matrix of an edge list, or, as rows, the
// size of a vector. An id outside is an error. Without it a list has as many
// rows and columns as its largest index plus one.
func Dims(rows, columns int) ReadOption {
	return readOption(func(o *readOptions) { o.rows, o.columns, o.dimsGiven = rows, columns, true })
}

// Bipartite gives the sources and the targets of an edge list separate ids, as
// [ReadBipartite] does, in [ReadLabelled]; other formats have separate rows and columns
// already.
func Bipartite() ReadOption { return readOption(func(o *readOptions) { o.bipartite = true }) }

// SkipLines skips the first n lines of an edge list.
func SkipLines(n int) ReadOption { return readOption(func(o *readOptions) { o.skip = n }) }

// HeaderMode says whether an edge list begins with a line of column names.
type HeaderMode uint8

// The header modes.
const (
	HeaderAuto HeaderMode = iota // if [ReadEdgeList] recognises every name, or a column is chosen by name
	HeaderYes
	HeaderNo
)

// Header says whether the first line of an edge list, after SkipLines and
// comments, holds column names.
func Header(mode HeaderMode) ReadOption { return readOption(func(o *readOptions) { o.header = mode }) }

// SourceColumn chooses the column of the sources of an edge list, by its number
// from 1 or by its name in the header.
func SourceColumn[C int | string](c C) ReadOption {
	return readOption(func(o *readOptions) { o.source = columnOf(c) })
}

// TargetColumn is [SourceColumn] for the targets.
func TargetColumn[C int | string](c C) ReadOption {
	return readOption(func(o *readOptions) { o.target = columnOf(c) })
}

// WeightColumn is [SourceColumn] for the values. 0 means none: every entry is 1
// or true.
func WeightColumn[C int | string](c C) ReadOption {
	return readOption(func(o *readOptions) { o.weight = columnOf(c) })
}

func columnOf[C int | string](c C) column {
	if name, ok := any(c).(string); ok {
		return column{given: true, name: name}
	}
	return column{given: true, number: any(c).(int)}
}

// Comment writes text as a comment at the start of a text file.
func Comment(text string) WriteOption {
	return writeOption(func(o *writeOptions) { o.comment = text })
}

// AsArray writes a Matrix Market file in array form (every position, by
// columns). The matrix must have an entry everywhere. [KeepZeros] reads its zeros back.
func AsArray() WriteOption { return writeOption(func(o *writeOptions) { o.array = true }) }

// AsSymmetric writes only the lower triangle, with a symmetric header. A matrix that
// is not symmetric is an error.
func AsSymmetric() WriteOption { return writeOption(func(o *writeOptions) { o.symmetric = true }) }

// AsPattern writes the positions of entries without their values.
func AsPattern() WriteOption { return writeOption(func(o *writeOptions) { o.pattern = true }) }

// AsReal writes every float of an edge list with a decimal point or an exponent,
// so that a list of whole numbers is read back as real numbers.
func AsReal() WriteOption { return writeOption(func(o *writeOptions) { o.real = true }) }

// Gzip compresses the file whatever its name.
func Gzip() WriteOption { return writeOption(func(o *writeOptions) { o.compress = true }) }

func (o *common) report(n int64) {
	if o.progress != nil {
		o.progress(n)
	}
}

// stage reports how much of a stage is done.
func (o *common) stage(name string, done, total int64) {
	if o.stages != nil {
		o.stages(name, done, total)
	}
}

// sorted returns the function that receives how much is sorted, nil for none.
func (o *common) sorted() func(done, total int64) {
	if o.stages == nil {
		return nil
	}
	return func(done, total int64) { o.stages("sort", done, total) }
}

// writePieces formats pieces of a text several at a time, and writes them in order; of total items.
func (o *common) writePieces(w io.Writer, pieces int, total int64, format func(piece int, buf []byte) []byte) error {
	return chunk.Write(o.ctx, w, o.threads, pieces, format, func(wrote int) {
		o.stage("write", total*int64(wrote)/int64(pieces), total)
	})
}

func (o *common) stopped() error {
	if o.ctx == nil {
		return nil
	}
	return o.ctx.Err()
}

// fail returns the *ParseError of a line of the file.
func (o *common) fail(line int64, msg, remedy string) *ParseError {
	return &ParseError{File: o.file, Line: line, Msg: msg, Remedy: remedy}
}

// failKind is fail with a remedy of a kind.
func (o *common) failKind(line int64, msg string, kind RemedyKind) *ParseError {
	return &ParseError{File: o.file, Line: line, Msg: msg, Remedy: kind.String(), Kind: kind}
}

// streamError wraps an error about the content of a stream in a *ParseError and
// returns other errors (of the disk, a context, a *ParseError) unchanged.
func (o *common) streamError(line int64, err error) error {
	switch {
	case err == nil:
		return nil
	case errors.Is(err, chunk.ErrGzip):
		e := o.fail(line, err.Error(), "download or compress the file again")
		e.Err = err
		return e
	case errors.Is(err, chunk.ErrLine):
		e := o.fail(line, err.Error(), "the file is not text with one entry per line")
		e.Err = err
		return e
	}
	return err
}

// reportingWriter counts the bytes written and reports progress.
type reportingWriter struct {
	w io.Writer
	o *common
	n int64
}

func (r *reportingWriter) Write(p []byte) (int, error) {
	if err := r.o.stopped(); err != nil {
		return 0, err
	}
	n, err := r.w.Write(p)
	r.n += int64(n)
	r.o.report(r.n)
	if r.o.size > 0 {
		r.o.stage("write", min(r.n, r.o.size), r.o.size)
	}
	return n, err
}

// plainFile returns the input of known size, nil for a stream: the file behind r, or the one that
// settleFormat found before it buffered it.
func (o *readOptions) plainFile(r io.Reader) *pieces.File {
	switch {
	case o.piece == pieces.Serially:
		return nil
	case o.plain != nil:
		return o.plain
	}
	return pieces.FileOf(r)
}
