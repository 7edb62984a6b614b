package graphio

import (
	"bufio"
	"fmt"
	"io"
	"path/filepath"

	"github.com/hiveblas/hiveblas/graphio/internal/build"
	"github.com/hiveblas/hiveblas/graphio/internal/core"
	"github.com/hiveblas/hiveblas/internal/atomicfile"
	"github.com/hiveblas/hiveblas/internal/chunk"
	"github.com/hiveblas/hiveblas/internal/pieces"
	"github.com/hiveblas/hiveblas/internal/rep"
	"github.com/hiveblas/hiveblas/internal/sparse"
	"github.com/hiveblas/hiveblas/matrix"
)

// settleFormat finds the format of a stream and returns the stream with the bytes that it looked
// at. On return o.Format is the choice of the delimiter: it stays FormatAuto for a list that the
// extension alone names.
func settleFormat(op string, r io.Reader, o *core.ReadOptions) (io.Reader, FileFormat, error) {
	if r == nil {
		return nil, 0, core.NilReader(op)
	}
	given := FileFormat(o.Format)
	if given >= fileFormats {
		return nil, 0, &core.OptionError{Op: op, Option: "InFormat", Reason: given.String() + " is no format"}
	}
	o.Random, _ = r.(core.RandomReader)
	o.Plain = pieces.FileOf(r)
	b := bufio.NewReaderSize(r, 1<<16)
	head, err := b.Peek(4096)
	if err != nil && err != io.EOF {
		return nil, 0, err
	}
	content := formatOfContent(head)
	switch {
	case given != FormatAuto && content != FormatAuto && content != given:
		return nil, 0, o.FailKind(0, fmt.Sprintf("the format is given as %s, and the file begins like %s", given, content), core.RemedyFormat)
	case given != FormatAuto:
		return b, given, nil
	case content != FormatAuto:
		return b, content, nil
	}
	name, _ := FormatOfName(o.File)
	if name == FormatAuto {
		return nil, 0, o.FailKind(0, unknownFormat(head), core.RemedyFormat)
	}
	return b, name, nil
}

// Read reads a matrix from r in any of [Formats]: Matrix Market, the binary form, an edge list
// ([ReadMatrixMarket], [ReadBinary], [ReadEdgeList]) and others, gzip-compressed or not. [InFormat]
// names the format, or else the first bytes tell it, or the extension of [FileName]. A binary file
// of another element type is converted as [ReadNPY] converts: Read returns a *[ParseError] if T
// does not hold a value, and [ReadFileInfo] tells what a file holds. labels are the names of rows
// and columns, nil if they are numbers or if rows and columns have different ones, which
// [ReadLabelled] returns.
func Read[T matrix.Element](r io.Reader, opts ...ReadOption) (a *matrix.Matrix[T], labels *Labels, err error) {
	m, both, err := readAny("graphio.Read", r, optionsFor[T](opts))
	return matrix.OfInside[T](m), shared(both), err
}

// anyReader is readAny with a name for errors.
func anyReader(op string) reader {
	return func(r io.Reader, o *core.ReadOptions) (rep.Matrix, core.Sides, error) { return readAny(op, r, o) }
}

func readAny(op string, r io.Reader, o *core.ReadOptions) (a rep.Matrix, labels core.Sides, err error) {
	r, format, err := settleFormat(op, r, o)
	if err != nil {
		return nil, core.Sides{}, build.Agree(o, err)
	}
	o.Convert = true
	return table()[format].read(op, r, o)
}

// ReadFile is [Read] of the file at path.
func ReadFile[T matrix.Element](path string, opts ...ReadOption) (a *matrix.Matrix[T], labels *Labels, err error) {
	m, both, err := readPath(path, optionsFor[T](opts), anyReader("graphio.ReadFile"))
	return matrix.OfInside[T](m), shared(both), err
}

// ReadVectorFile reads the vector in the file at path: a Matrix Market file of
// one column or row, the binary form, or lines of index and value; see
// [ReadFile] and [ReadVectorTSV].
func ReadVectorFile[T matrix.Element](path string, opts ...ReadOption) (*matrix.Vector[T], error) {
	o := optionsFor[T](opts)
	st, failed, err := readVectorFile(path, o)
	if failed {
		return nil, err
	}
	return vectorOf[T](o, st, err)
}

// readVectorFile reads a vector. failed says that the processes of a group have agreed about an
// error already, or that no process reads a vector from the format.
func readVectorFile(path string, o *core.ReadOptions) (st *sparse.Store, failed bool, err error) {
	const op = "graphio.ReadVectorFile"
	f, err := openRead(path, o)
	if err != nil {
		return nil, true, err
	}
	defer f.Close()
	r, format, err := settleFormat(op, f, o)
	if err != nil {
		return nil, true, build.Agree(o, err)
	}
	o.Convert = true
	read := table()[format].readVector
	if read == nil {
		return nil, true, o.FailKind(0, "vectors are not read from "+format.String(), core.RemedyLists)
	}
	st, err = read(r, o)
	return st, false, err
}

// Write writes a to w in the format of [InFormat], which it needs.
func Write[T matrix.Element](w io.Writer, a *matrix.Matrix[T], opts ...WriteOption) error {
	return writeMatrix(w, a.Inside().Matrix, writeOptionsOf(opts))
}

func writeMatrix(w io.Writer, a rep.Matrix, o *core.WriteOptions) error {
	return writeBy("graphio.Write", w, a, o, func(f *format) writeFunc { return f.write })
}

// writeBy writes by a function of the format.
func writeBy(op string, w io.Writer, a rep.Matrix, o *core.WriteOptions, by func(*format) writeFunc) error {
	if w == nil {
		return core.NilWriter(op)
	}
	if all := table(); FileFormat(o.Format) < fileFormats {
		if write := by(&all[o.Format]); write != nil {
			return write(w, a, o)
		}
	}
	return &core.OptionError{Op: op, Option: "InFormat", Reason: FileFormat(o.Format).String() + " is no format to write", Kind: core.RemedyFormat}
}

// WriteVector is [Write] of a vector; see [WriteVectorTSV].
func WriteVector[T matrix.Element](w io.Writer, v *matrix.Vector[T], opts ...WriteOption) error {
	return writeVector(w, v.Inside().Matrix, writeOptionsOf(opts))
}

func writeVector(w io.Writer, v rep.Matrix, o *core.WriteOptions) error {
	return writeBy("graphio.WriteVector", w, v, o, func(f *format) writeFunc { return f.writeVector })
}

// WriteFile writes a to the file at path, in the format of [InFormat] or else of its extension:
// .mtx, .hgb, .npz, .npy, .graph, .gr, .col, .graphml, .gml, .csv, or .tsv, .txt and .el for edge
// lists with tabs; compressed if .gz follows or with [Gzip], but .npz and .npy. The file appears
// complete or not at all: an error or the end of the context leaves an existing file as it is. A
// Matrix Market file has the names of
// [WithLabels] beside it; see [NamesBeside].
func WriteFile[T matrix.Element](path string, a *matrix.Matrix[T], opts ...WriteOption) error {
	return writeFile(path, a.Inside().Matrix, writeMatrix, writeOptionsOf(opts))
}

// WriteVectorFile writes v to the file at path; see [WriteFile] and
// [WriteVectorTSV].
func WriteVectorFile[T matrix.Element](path string, v *matrix.Vector[T], opts ...WriteOption) error {
	return writeFile(path, v.Inside().Matrix, writeVector, writeOptionsOf(opts))
}

func writeFile(path string, a rep.Matrix, write func(io.Writer, rep.Matrix, *core.WriteOptions) error, o *core.WriteOptions) error {
	if o.Beside == "" {
		o.Beside = core.WithoutGz(path)
	}
	format, gz := FormatOfName(path)
	if given := FileFormat(o.Format); given != FormatAuto {
		format = given
	}
	if format == FormatAuto {
		return &core.OptionError{Op: "graphio.WriteFile", Option: "the file name", Kind: core.RemedyFormat,
			Reason: fmt.Sprintf("the extension of %s tells no format; %s", core.Quote(filepath.Base(path)), writable())}
	}
	if format < fileFormats && table()[format].zipped && (gz || o.Compress) {
		return &core.OptionError{Op: "graphio.WriteFile", Option: "Gzip", Reason: format.String() + " is not compressed by gzip"}
	}
	format.setIn(&o.Common)
	return atomicfile.WriteFile(o.Ctx, path, func(w io.Writer) error {
		buffered := bufio.NewWriterSize(w, 1<<16)
		if !gz && !o.Compress {
			if err := write(atomicfile.Through(buffered, w), a, o); err != nil {
				return err
			}
			return buffered.Flush()
		}
		err := chunk.Gzip(buffered, o.Threads, func(z io.Writer) error { return write(atomicfile.Through(z, w), a, o) })
		if err != nil {
			return err
		}
		return buffered.Flush()
	})
}
