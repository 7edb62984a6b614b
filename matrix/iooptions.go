package matrix

import (
	"context"
	"errors"
	"io"

	"github.com/hiveblas/hiveblas/internal/chunk"
)

// A ReadOption changes how a reader works. Options that a reader has no use
// for are ignored.
type ReadOption interface{ read(*readOptions) }

// A WriteOption changes how a writer works. Options that a writer has no use
// for are ignored.
type WriteOption interface{ write(*writeOptions) }

// A FileOption is an option of readers and of writers.
type FileOption interface {
	ReadOption
	WriteOption
}

type common struct {
	ctx      context.Context
	threads  int
	file     string
	progress func(int64)
	labels   *Labels
	cols     *Labels
}

type readOptions struct {
	common
	dup         any // Combiner[T], given by Duplicates
	allowNaN    bool
	patternOnly bool
	symmetrise  bool
	info        *Info

	keepIDs, stringIDs bool
	header             int
	weightColumn       int // -1: the third, if there is one
	rows, columns      int
	dimsGiven          bool
}

type writeOptions struct {
	common
	comment          string
	array, symmetric bool
	pattern          bool
	compress         bool
}

type readOption func(*readOptions)

func (f readOption) read(o *readOptions) { f(o) }

type writeOption func(*writeOptions)

func (f writeOption) write(o *writeOptions) { f(o) }

type fileOption func(*common)

func (f fileOption) read(o *readOptions)   { f(&o.common) }
func (f fileOption) write(o *writeOptions) { f(&o.common) }

func readOptionsOf(opts []ReadOption) *readOptions {
	o := &readOptions{weightColumn: -1}
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

// WithContext makes a reader or writer stop with ctx.Err() between blocks of
// about a megabyte once ctx ends. A Read or Write in progress is not
// interrupted.
func WithContext(ctx context.Context) FileOption { return fileOption(func(o *common) { o.ctx = ctx }) }

// Threads bounds the number of goroutines that parse or format. The default
// is GOMAXPROCS.
func Threads(n int) FileOption { return fileOption(func(o *common) { o.threads = n }) }

// FileName names the file in errors. ReadFile and its like give it themselves.
func FileName(name string) FileOption { return fileOption(func(o *common) { o.file = name }) }

// Progress calls f from time to time with the number of bytes taken from the
// reader (before decompression) or given to the writer so far, and once at the
// end. f runs on the calling goroutine.
func Progress(f func(bytes int64)) FileOption {
	return fileOption(func(o *common) { o.progress = f })
}

// WithLabels makes WriteEdgeList and WriteVectorTSV write l's name for index i
// in place of i, for rows and columns alike.
func WithLabels(l *Labels) WriteOption { return WithRowColumnLabels(l, l) }

// WithRowColumnLabels is WithLabels with different names for rows and columns.
// A nil leaves indices as they are.
func WithRowColumnLabels(rows, cols *Labels) WriteOption {
	return writeOption(func(o *writeOptions) { o.labels, o.cols = rows, cols })
}

// Duplicates combines entries that a file gives more than once with op, in
// the order of the file. Without it the first is an error (a *ParseError
// around a *DuplicateError). T must be the element type that is read.
func Duplicates[T any](op Combiner[T]) ReadOption {
	return readOption(func(o *readOptions) { o.dup = op })
}

// AllowNaN accepts NaN and ±Inf in float matrices, which otherwise are an
// error: they are more often a mistake upstream than a value meant.
func AllowNaN() ReadOption { return readOption(func(o *readOptions) { o.allowNaN = true }) }

// PatternOnly reads where entries are and not what they are: every entry
// becomes 1 or true. Any weighted file can so be read into bool.
func PatternOnly() ReadOption { return readOption(func(o *readOptions) { o.patternOnly = true }) }

// Symmetrise gives the union of A and Aᵀ: an undirected graph of a list of
// directed edges. Where a file gives only one direction, both get its value;
// where it gives both and they differ, both get the smaller (NaN counting as
// the smallest). The diagonal is kept. A must be square.
func Symmetrise() ReadOption { return readOption(func(o *readOptions) { o.symmetrise = true }) }

// WithInfo fills info with what the file says about itself.
func WithInfo(info *Info) ReadOption { return readOption(func(o *readOptions) { o.info = info }) }

// KeepIDs takes the ids of an edge list as they are for 0-based indices: the
// matrix has as many rows and columns as the largest id plus one, or as
// [Dims] says.
func KeepIDs() ReadOption { return readOption(func(o *readOptions) { o.keepIDs = true }) }

// StringIDs takes the ids of an edge list as text even if all are integers.
func StringIDs() ReadOption { return readOption(func(o *readOptions) { o.stringIDs = true }) }

// Dims gives the dimensions of a matrix read with KeepIDs, or, as rows, the
// size of a vector. An id outside is an error.
func Dims(rows, columns int) ReadOption {
	return readOption(func(o *readOptions) { o.rows, o.columns, o.dimsGiven = rows, columns, true })
}

// SkipLines skips the first n lines of an edge list, such as the column names
// of a CSV file.
func SkipLines(n int) ReadOption { return readOption(func(o *readOptions) { o.header = n }) }

// WeightColumn names the column of an edge list that holds the values,
// counted from 1 (so 3 or more); columns beside it are ignored. 0 means none:
// every entry is 1 or true. Without this option a third column is the value
// and a fourth an error.
func WeightColumn(k int) ReadOption { return readOption(func(o *readOptions) { o.weightColumn = k }) }

// Comment writes text as a comment at the head of a file that can have one.
func Comment(text string) WriteOption {
	return writeOption(func(o *writeOptions) { o.comment = text })
}

// AsArray writes a Matrix Market file in array form (every position, by
// columns). The matrix must have an entry everywhere.
func AsArray() WriteOption { return writeOption(func(o *writeOptions) { o.array = true }) }

// AsSymmetric writes only the lower triangle, under a symmetric header. The
// matrix must be symmetric, which is verified first.
func AsSymmetric() WriteOption { return writeOption(func(o *writeOptions) { o.symmetric = true }) }

// AsPattern writes where entries are and leaves their values out.
func AsPattern() WriteOption { return writeOption(func(o *writeOptions) { o.pattern = true }) }

// Gzip compresses, whatever the name of the file.
func Gzip() WriteOption { return writeOption(func(o *writeOptions) { o.compress = true }) }

func (o *common) report(n int64) {
	if o.progress != nil {
		o.progress(n)
	}
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

// streamError makes a *ParseError of what a stream ended with where that says
// something of the file, and leaves other errors (of the disk, a context, a
// *ParseError) as they are.
func (o *common) streamError(line int64, err error) error {
	switch {
	case err == nil:
		return nil
	case errors.Is(err, chunk.ErrGzip):
		e := o.fail(line, err.Error(), "fetch or compress the file again")
		e.Err = err
		return e
	case errors.Is(err, chunk.ErrLine):
		e := o.fail(line, err.Error(), "this is no text file of one entry a line")
		e.Err = err
		return e
	}
	return err
}

// combiner returns the function that Duplicates gave, nil without one.
func combiner[T comparable](op string, o *readOptions) (Combiner[T], error) {
	if o.dup == nil {
		return nil, nil
	}
	if c, ok := o.dup.(Combiner[T]); ok {
		return c, nil
	}
	e, _ := elementOf[T]()
	return nil, &TypeError{op, "that of another Combiner", e.name(), "give Duplicates an operator on the element type that is read"}
}

// reportingWriter counts and reports what is written.
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
	return n, err
}
