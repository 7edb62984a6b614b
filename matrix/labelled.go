package matrix

import (
	"io"
	"os"
)

// Labelled is a matrix with the names of its rows and columns. A nil *Labels names them by their
// numbers. Of the graphs that Read returns as labelled, Rows and Cols are the same *Labels if rows
// and columns are the same vertices.
type Labelled[T Element] struct {
	Matrix     *Matrix[T]
	Rows, Cols *Labels
}

// ReadLabelled is [Read] with the names of the rows and of the columns: the ids of an edge list,
// the labels in a binary file, those beside a Matrix Market file (see [NamesBeside]). With
// [Bipartite] the sources and targets of an edge list are different vertices.
func ReadLabelled[T Element](r io.Reader, opts ...ReadOption) (*Labelled[T], error) {
	return readLabelled[T]("matrix.ReadLabelled", r, readOptionsOf(opts))
}

func readLabelled[T Element](op string, r io.Reader, o *readOptions) (*Labelled[T], error) {
	a, labels, err := readAny[T](op, r, o)
	if err != nil {
		return nil, err
	}
	return &Labelled[T]{a, labels.rows, labels.cols}, nil
}

// ReadLabelledFile is [ReadLabelled] of the file at path.
func ReadLabelledFile[T Element](path string, opts ...ReadOption) (*Labelled[T], error) {
	f, o, err := openRead(path, opts)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return readLabelled[T]("matrix.ReadLabelledFile", f, o)
}

// openRead opens a file and sets the options that name it.
func openRead(path string, opts []ReadOption) (*os.File, *readOptions, error) {
	o := readOptionsOf(opts)
	f, err := os.Open(path)
	if err != nil {
		return nil, nil, o.agree(err)
	}
	if o.file == "" {
		o.file = path
	}
	if o.beside == "" {
		o.beside = withoutGz(path)
	}
	return f, o, nil
}

// Write is [Write] of the matrix with its labels.
func (a *Labelled[T]) Write(w io.Writer, opts ...WriteOption) error {
	if a == nil {
		return errNil
	}
	return Write(w, a.Matrix, a.options(opts)...)
}

// WriteFile is [WriteFile] of the matrix with its labels.
func (a *Labelled[T]) WriteFile(path string, opts ...WriteOption) error {
	if a == nil {
		return errNil
	}
	return WriteFile(path, a.Matrix, a.options(opts)...)
}

func (a *Labelled[T]) options(opts []WriteOption) []WriteOption {
	return append([]WriteOption{WithRowColumnLabels(a.Rows, a.Cols)}, opts...)
}
