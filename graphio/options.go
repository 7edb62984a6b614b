package graphio

import (
	"context"
	"maps"
	"reflect"

	"github.com/hiveblas/hiveblas/graphio/internal/core"
	"github.com/hiveblas/hiveblas/graphio/internal/edgelist"
	"github.com/hiveblas/hiveblas/internal/sparse"
	"github.com/hiveblas/hiveblas/matrix"
)

// A ReadOption configures a reader. A reader ignores options that do not apply to
// its format.
type ReadOption interface{ read(*core.ReadOptions) }

// A WriteOption configures a writer. A writer ignores options that do not apply to
// its format.
type WriteOption interface{ write(*core.WriteOptions) }

// A FileOption configures readers and writers.
type FileOption interface {
	ReadOption
	WriteOption
}

type readOption func(*core.ReadOptions)

func (f readOption) read(o *core.ReadOptions) { f(o) }

type writeOption func(*core.WriteOptions)

func (f writeOption) write(o *core.WriteOptions) { f(o) }

type fileOption func(*core.Common)

func (f fileOption) read(o *core.ReadOptions) { f(&o.Common) }

func (f fileOption) write(o *core.WriteOptions) { f(&o.Common) }

// optionsFor is readOptionsOf for a reader into T.
func optionsFor[T matrix.Element](opts []ReadOption) *core.ReadOptions {
	o := readOptionsOf(opts)
	o.E = core.ElementOf(sparse.TypeOf[T]())
	return o
}

func readOptionsOf(opts []ReadOption) *core.ReadOptions {
	o := &core.ReadOptions{}
	for _, opt := range opts {
		if opt != nil {
			opt.read(o)
		}
	}
	return o
}

func writeOptionsOf(opts []WriteOption) *core.WriteOptions {
	o := &core.WriteOptions{}
	for _, opt := range opts {
		if opt != nil {
			opt.write(o)
		}
	}
	return o
}

// WithContext stops a reader or writer with ctx.Err() when ctx ends. It checks ctx
// between blocks of about a megabyte and does not interrupt a Read or Write.
func WithContext(ctx context.Context) FileOption {
	return fileOption(func(o *core.Common) { o.Ctx = ctx })
}

// Threads bounds the number of goroutines that parse or format. The default
// is GOMAXPROCS.
func Threads(n int) FileOption { return fileOption(func(o *core.Common) { o.Threads = n }) }

// FileName names the file in errors. Functions that take a path set it themselves.
func FileName(name string) FileOption { return fileOption(func(o *core.Common) { o.File = name }) }

// Progress calls f after each block, on the calling goroutine, with the number of
// bytes read so far (before decompression) or written so far.
func Progress(f func(bytes int64)) FileOption {
	return fileOption(func(o *core.Common) { o.Progress = f })
}

// Stages calls f, one call at a time, with the name of a stage and how much of it is done:
// "sort", in which a reader orders the entries it has read (entries), and "write" (entries of text
// formats, vertices of those that list them, bytes of .hgb, .npz and .npy). Readers report bytes by
// [Progress].
func Stages(f func(stage string, done, total int64)) FileOption {
	return fileOption(func(o *core.Common) { o.Stages = f })
}

// WithLabels gives rows and columns the names of l. Lists have l.Name(i) for index i, a
// binary file keeps the labels, and a Matrix Market file has them beside it (see
// [NamesBeside]).
func WithLabels(l *Labels) WriteOption { return WithRowColumnLabels(l, l) }

// WithRowColumnLabels is WithLabels with separate labels for rows and columns. A
// nil writes indices.
func WithRowColumnLabels(rows, cols *Labels) WriteOption {
	return writeOption(func(o *core.WriteOptions) { o.Labels, o.Cols = rows.core(), cols.core() })
}

// InFormat names the format of a file, whatever its name; see [FileFormat].
// Without it readers look at the first bytes and then at the extension, writers
// at the extension.
func InFormat(f FileFormat) FileOption {
	return fileOption(func(o *core.Common) { f.setIn(o) })
}

// Delimiter names the character between the fields of an edge list. ' ' stands
// for runs of blanks and tabs. Without it a reader finds the delimiter from the
// first lines (see [ReadEdgeList]), and a writer uses a tab.
func Delimiter(d rune) FileOption { return delimiterOption(d) }

type delimiterOption rune

func (d delimiterOption) read(o *core.ReadOptions) { o.Delimiter = rune(d) }

func (d delimiterOption) write(o *core.WriteOptions) { o.Delimiter = rune(d) }

// CheckDelimiter returns an error for a character that [Delimiter] refuses: one that can be part of
// an id or a number, or that marks comments or quotes.
func CheckDelimiter(d rune) error { return edgelist.CheckDelimiter(d) }

// CheckCommentChars returns an error for characters that [CommentChars] refuses.
func CheckCommentChars(chars string) error { return edgelist.CheckCommentChars(chars) }

// CommentChars gives the characters that begin a comment at the start of a line of an edge list or
// of a vector; "" for none. Without it they are # and %, and a list with ids that are text is an
// error if such a line follows its first edge, because the source of an edge may begin so.
func CommentChars(chars string) ReadOption {
	return readOption(func(o *core.ReadOptions) { o.Comments, o.CommentsGiven = chars, true })
}

// Decimal gives the sign before the fraction of a number: a point, which is the default, or a
// comma. It is for delimited text, GraphML, GEXF and GML. A comma is then no [Delimiter].
func Decimal(sign rune) ReadOption { return readOption(func(o *core.ReadOptions) { o.Decimal = sign }) }

// KeepZeros makes entries of the zeros of a dense file too: a Matrix Market array and a .npy. Such
// a file has a value at every position, and without the option its zeros are no entries, as in
// SciPy and NetworkX, so that a dense adjacency matrix is a graph. Readers of vectors keep zeros.
func KeepZeros() ReadOption { return readOption(func(o *core.ReadOptions) { o.KeepZeros = true }) }

// Duplicates combines entries that a file gives more than once with op, in
// the order of the file. Without it the first is an error (a *ParseError
// around a *[matrix.DuplicateError]). With [Symmetrise] the entries of both directions
// are one entry. T must be the element type that is read; of several such options with
// different T, as [ReadAny] takes them, the one of this type counts.
func Duplicates[T any](op matrix.Combiner[T]) ReadOption {
	if op == nil {
		return readOption(func(o *core.ReadOptions) { o.Dups = nil })
	}
	d := core.Duplicates{Combine: sparse.Combining(op.Combine), Usable: usable(op)}
	return readOption(func(o *core.ReadOptions) {
		o.Dups = maps.Clone(o.Dups)
		if o.Dups == nil {
			o.Dups = map[reflect.Type]core.Duplicates{}
		}
		o.Dups[reflect.TypeFor[T]()] = d
	})
}

// usable reports whether an operator can be called: it is no zero value.
func usable(op any) bool {
	if v, ok := op.(interface{ Valid() bool }); ok {
		return v.Valid()
	}
	v := reflect.ValueOf(op)
	return v.Kind() != reflect.Func || !v.IsNil()
}

// On places the matrix or vector that is read at p. A nil p is the host. A layout says how a group
// stores it, matrix.Blocks by default.
//
// On a group of several processes all call the reader with the same file. Each rank reads a part of
// a Matrix Market file of coordinates, an edge list with ids for indices, or a file in the binary
// form in one of the four formats of storage, and sends the entries to the ranks that own their
// rows; so a process holds its part and its block, and not the matrix. The result and the errors
// are the same as of a whole reading. What else there is, each process reads whole before it keeps
// its block: streams and compressed files, arrays, renumbered and textual ids, binary files in
// blocks, other formats, names of vertices, and vectors. Calls of [Progress] and of a Combiner in
// [Duplicates] then come from the goroutines of the ranks, of Progress one at a time.
func On(p matrix.Place, layout ...matrix.Layout) ReadOption {
	return readOption(func(o *core.ReadOptions) {
		if o.Place, o.Layout = p, matrix.Blocks; len(layout) > 0 {
			o.Layout = layout[len(layout)-1]
		}
	})
}

// AllowNaN accepts NaN and ±Inf in float matrices. Without it they are an
// error, because they are usually a mistake of the program that wrote the file.
func AllowNaN() ReadOption { return readOption(func(o *core.ReadOptions) { o.AllowNaN = true }) }

// PatternOnly reads the positions of entries and ignores their values: every
// entry becomes 1 or true. It reads any weighted file into bool. In an edge list
// the values may be any text.
func PatternOnly() ReadOption { return readOption(func(o *core.ReadOptions) { o.PatternOnly = true }) }

// Symmetrise returns the union of A and Aᵀ: the undirected graph of a list of
// directed edges. A must be square; its diagonal is kept.
//
// With [Duplicates], the operator combines all entries of a pair of vertices,
// in both directions and in the order of the file (by rows in a binary file).
// Without it, a pair with an entry in each direction gets the smaller value
// (NaN counts as the smallest), and a second entry in one direction is an
// error.
func Symmetrise() ReadOption { return readOption(func(o *core.ReadOptions) { o.Symmetrise = true }) }

// WithInfo fills info with the header of a Matrix Market file, or with the
// dimensions, entries and field (pattern, integer or real) of an edge list.
func WithInfo(info *Info) ReadOption {
	return readOption(func(o *core.ReadOptions) { o.Info = (*core.Info)(info) })
}

// Warn calls f, on the calling goroutine, for each [Warning] about a file that
// can be read. Without it readers are silent.
func Warn(f func(Warning)) ReadOption {
	return readOption(func(o *core.ReadOptions) { o.Warn = f })
}

// RenumberIDs numbers the ids of an edge list in ascending order, whatever
// integers or texts they are, and returns them as [Labels]. Without it ids are
// indices that count from [Base].
func RenumberIDs() ReadOption { return readOption(func(o *core.ReadOptions) { o.Renumber = true }) }

// StringIDs is [RenumberIDs] with ids as text even if all are integers.
func StringIDs() ReadOption {
	return readOption(func(o *core.ReadOptions) { o.Renumber, o.StringIDs = true, true })
}

// Base says whether the ids of an edge list count from 0, which is the default,
// or from 1, or [BaseAuto]. From 1 the labels give the ids back.
func Base(b int) ReadOption { return readOption(func(o *core.ReadOptions) { o.Base = b }) }

// Dims gives the dimensions of the matrix of an edge list, or, as rows, the
// size of a vector. An id outside is an error. Without it a list has as many
// rows and columns as its largest index plus one.
func Dims(rows, columns int) ReadOption {
	return readOption(func(o *core.ReadOptions) { o.Rows, o.Columns, o.DimsGiven = rows, columns, true })
}

// Bipartite gives the sources and the targets of an edge list separate ids, as
// [ReadBipartite] does, in [ReadLabelled]; other formats have separate rows and columns
// already.
func Bipartite() ReadOption { return readOption(func(o *core.ReadOptions) { o.Bipartite = true }) }

// SkipLines skips the first n lines of an edge list.
func SkipLines(n int) ReadOption { return readOption(func(o *core.ReadOptions) { o.Skip = n }) }

// BaseAuto is the [Base] that is 1 if the smallest id of the list is 1 or more,
// and 0 otherwise.
const BaseAuto = core.BaseAuto

// HeaderMode says whether an edge list begins with a line of column names.
type HeaderMode uint8

// The header modes.
const (
	HeaderAuto HeaderMode = HeaderMode(core.HeaderAuto) // if [ReadEdgeList] recognises every name, or a column is chosen by name
	HeaderYes  HeaderMode = HeaderMode(core.HeaderYes)
	HeaderNo   HeaderMode = HeaderMode(core.HeaderNo)
)

// Header says whether the first line of an edge list, after SkipLines and
// comments, holds column names.
func Header(mode HeaderMode) ReadOption {
	return readOption(func(o *core.ReadOptions) { o.Header = core.HeaderMode(mode) })
}

// SourceColumn chooses the column of the sources of an edge list, by its number
// from 1 or by its name in the header.
func SourceColumn[C int | string](c C) ReadOption {
	return readOption(func(o *core.ReadOptions) { o.Source = columnOf(c) })
}

// TargetColumn is [SourceColumn] for the targets.
func TargetColumn[C int | string](c C) ReadOption {
	return readOption(func(o *core.ReadOptions) { o.Target = columnOf(c) })
}

// WeightColumn is [SourceColumn] for the values. 0 means none: every entry is 1
// or true.
func WeightColumn[C int | string](c C) ReadOption {
	return readOption(func(o *core.ReadOptions) { o.Weight = columnOf(c) })
}

func columnOf[C int | string](c C) core.Column {
	if name, ok := any(c).(string); ok {
		return core.Column{Given: true, Name: name}
	}
	return core.Column{Given: true, Number: any(c).(int)}
}

// Comment writes text as a comment at the start of a text file.
func Comment(text string) WriteOption {
	return writeOption(func(o *core.WriteOptions) { o.Comment = text })
}

// AsArray writes a Matrix Market file in array form (every position, by
// columns). The matrix must have an entry everywhere. [KeepZeros] reads its zeros back.
func AsArray() WriteOption { return writeOption(func(o *core.WriteOptions) { o.Array = true }) }

// AsSymmetric writes only the lower triangle, with a symmetric header. A matrix that
// is not symmetric is an error.
func AsSymmetric() WriteOption { return writeOption(func(o *core.WriteOptions) { o.Symmetric = true }) }

// AsPattern writes the positions of entries without their values.
func AsPattern() WriteOption { return writeOption(func(o *core.WriteOptions) { o.Pattern = true }) }

// AsReal writes every float of an edge list with a decimal point or an exponent,
// so that a list of whole numbers is read back as real numbers.
func AsReal() WriteOption { return writeOption(func(o *core.WriteOptions) { o.Real = true }) }

// Gzip compresses the file whatever its name.
func Gzip() WriteOption { return writeOption(func(o *core.WriteOptions) { o.Compress = true }) }

// A NPZLayout is a layout of a sparse matrix in a .npz file.
type NPZLayout uint8

// The layouts.
const (
	NPZRows        NPZLayout = NPZLayout(core.NPZRows)        // csr
	NPZColumns     NPZLayout = NPZLayout(core.NPZColumns)     // csc
	NPZCoordinates NPZLayout = NPZLayout(core.NPZCoordinates) // coo
)

// InLayout chooses the layout that [WriteNPZ] writes; the default is NPZRows.
func InLayout(l NPZLayout) WriteOption {
	return writeOption(func(o *core.WriteOptions) { o.Layout = core.NPZLayout(l) })
}
