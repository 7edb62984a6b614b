package graphio

import (
	"io"
	"os"
	"slices"

	"github.com/hiveblas/hiveblas/graphio/internal/build"
	"github.com/hiveblas/hiveblas/graphio/internal/core"
	"github.com/hiveblas/hiveblas/internal/rep"
	"github.com/hiveblas/hiveblas/matrix"
)

// Labelled is a matrix with the names of its rows and columns. A nil *Labels names them by their
// numbers. Of the graphs that Read returns as labelled, Rows and Cols are the same *Labels if rows
// and columns are the same vertices.
type Labelled[T matrix.Element] struct {
	Matrix     *matrix.Matrix[T]
	Rows, Cols *Labels
}

// Inside returns the matrix as the packages of this module see it; see [matrix.Matrix.Inside].
func (a *Labelled[T]) Inside() (v rep.View) {
	if a != nil && a.Matrix != nil {
		v = a.Matrix.Inside()
	}
	return v
}

// ExtractInside returns m, the given rows and columns of the matrix, with their names. It is for
// ops.ExtractLabelled.
func (a *Labelled[T]) ExtractInside(m rep.Matrix, rows, cols []int) (*Labelled[T], error) {
	if a == nil {
		return nil, errNoLabelled
	}
	out := &Labelled[T]{Matrix: matrix.OfInside[T](m)}
	var err error
	if out.Rows, err = a.Rows.Extract(rows); err != nil {
		return nil, err
	}
	if out.Cols = out.Rows; a.Rows != a.Cols || !slices.Equal(rows, cols) {
		if out.Cols, err = a.Cols.Extract(cols); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// ReadLabelled is [Read] with the names of the rows and of the columns: the ids of an edge list,
// the labels in a binary file, those beside a Matrix Market file (see [NamesBeside]). With
// [Bipartite] the sources and targets of an edge list are different vertices.
func ReadLabelled[T matrix.Element](r io.Reader, opts ...ReadOption) (*Labelled[T], error) {
	a, labels, err := readAny("graphio.ReadLabelled", r, optionsFor[T](opts))
	return labelled[T](a, labels, err)
}

// labelled returns what a reader has read.
func labelled[T matrix.Element](a rep.Matrix, labels core.Sides, err error) (*Labelled[T], error) {
	if err != nil {
		return nil, err
	}
	return &Labelled[T]{matrix.OfInside[T](a), (*Labels)(labels.Rows), (*Labels)(labels.Cols)}, nil
}

// ReadLabelledFile is [ReadLabelled] of the file at path.
func ReadLabelledFile[T matrix.Element](path string, opts ...ReadOption) (*Labelled[T], error) {
	a, labels, err := readPath(path, optionsFor[T](opts), anyReader("graphio.ReadLabelledFile"))
	return labelled[T](a, labels, err)
}

// reader reads a matrix in one format or in any.
type reader func(r io.Reader, o *core.ReadOptions) (rep.Matrix, core.Sides, error)

// readPath reads the file at path.
func readPath(path string, o *core.ReadOptions, read reader) (rep.Matrix, core.Sides, error) {
	f, err := openRead(path, o)
	if err != nil {
		return nil, core.Sides{}, err
	}
	defer f.Close()
	return read(f, o)
}

// openRead opens a file and sets the options that name it.
func openRead(path string, o *core.ReadOptions) (*os.File, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, build.Agree(o, err)
	}
	nameFile(o, path)
	return f, nil
}

// nameFile sets the options that name the file at path.
func nameFile(o *core.ReadOptions, path string) {
	if o.File == "" {
		o.File = path
	}
	if o.Beside == "" {
		o.Beside = core.WithoutGz(path)
	}
}

// errNoLabelled is the error of a nil *Labelled.
var errNoLabelled = &matrix.InvalidError{Op: "Labelled.Write", Reason: "the matrix is nil; make it with ReadLabelled or a literal"}

// Write is [Write] of the matrix with its labels.
func (a *Labelled[T]) Write(w io.Writer, opts ...WriteOption) error {
	if a == nil {
		return errNoLabelled
	}
	return Write(w, a.Matrix, a.options(opts)...)
}

// WriteFile is [WriteFile] of the matrix with its labels.
func (a *Labelled[T]) WriteFile(path string, opts ...WriteOption) error {
	if a == nil {
		return errNoLabelled
	}
	return WriteFile(path, a.Matrix, a.options(opts)...)
}

func (a *Labelled[T]) options(opts []WriteOption) []WriteOption {
	return append([]WriteOption{WithRowColumnLabels(a.Rows, a.Cols)}, opts...)
}
