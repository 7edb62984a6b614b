package graphio

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"path/filepath"

	"github.com/hiveblas/hiveblas/internal/atomicfile"
	"github.com/hiveblas/hiveblas/internal/chunk"
	"github.com/hiveblas/hiveblas/internal/hgb"
	"github.com/hiveblas/hiveblas/internal/pieces"
	"github.com/hiveblas/hiveblas/internal/rep"
	"github.com/hiveblas/hiveblas/internal/sparse"
	"github.com/hiveblas/hiveblas/matrix"
)

// formatOfContent returns the format that the first bytes of a file tell, which
// may be compressed; FormatAuto if none.
func formatOfContent(head []byte) FileFormat {
	text := plainHead(head)
	switch {
	case bytes.HasPrefix(text, []byte(hgb.Magic)):
		return FormatBinary
	case bytes.HasPrefix(text, []byte("PK\x03\x04")):
		return FormatNPZ
	case bytes.HasPrefix(text, []byte("\x93NUMPY")):
		return FormatNPY
	}
	text = bytes.TrimLeft(bytes.TrimPrefix(text, []byte("\xef\xbb\xbf")), " \t\r\n")
	if bytes.HasPrefix(bytes.ToLower(text), []byte("%%matrixmarket")) {
		return FormatMatrixMarket
	}
	if len(text) > 0 && text[0] == '<' {
		return xmlFormats[rootName(text)]
	}
	return FormatAuto
}

// xmlFormats are the formats in XML, by their root elements.
var xmlFormats = map[string]FileFormat{"graphml": FormatGraphML, "gexf": FormatGEXF}

func rootName(head []byte) string {
	name, _ := rootElement(head)
	return name
}

// plainHead returns the first bytes of a file, decompressed.
func plainHead(head []byte) []byte {
	plain, _, err := chunk.OpenText(bytes.NewReader(head))
	if err != nil {
		return nil
	}
	text := make([]byte, 4096)
	n, _ := io.ReadFull(plain, text) // a cut stream gives its first bytes
	return text[:n]
}

// unknownFormat says what is known of a file of no format.
func unknownFormat(head []byte) string {
	if bytes.HasPrefix(head, []byte("PAR1")) {
		return "Parquet is read by the command hiveblas-parquet, of the module github.com/hiveblas/hiveblas/parquet"
	}
	text := plainHead(head)
	if trimmed := bytes.TrimSpace(bytes.TrimPrefix(text, []byte("\xef\xbb\xbf"))); bytes.HasPrefix(trimmed, []byte("<")) {
		if name, space := rootElement(text); name != "" {
			return "the root element of the XML file is " + rootOf(name, space) + "; graphml and gexf are read"
		}
	}
	return "neither the name nor the first bytes tell the format of this file"
}

// settleFormat finds the format of a stream and returns the stream with the
// bytes that it looked at. On return o.format is the delimiter's choice: it stays
// FormatAuto for a list whose extension alone names it.
func settleFormat(op string, r io.Reader, o *readOptions) (io.Reader, FileFormat, error) {
	if r == nil {
		return nil, 0, nilReader(op)
	}
	if o.format >= fileFormats {
		return nil, 0, &OptionError{Op: op, Option: "InFormat", Reason: o.format.String() + " is no format"}
	}
	o.random, _ = r.(randomReader)
	o.plain = pieces.FileOf(r)
	b := bufio.NewReaderSize(r, 1<<16)
	head, err := b.Peek(4096)
	if err != nil && err != io.EOF {
		return nil, 0, err
	}
	content := formatOfContent(head)
	switch {
	case o.format != FormatAuto && content != FormatAuto && content != o.format:
		return nil, 0, o.failKind(0, fmt.Sprintf("the format is given as %s, and the file begins like %s", o.format, content), RemedyFormat)
	case o.format != FormatAuto:
		return b, o.format, nil
	case content != FormatAuto:
		return b, content, nil
	}
	name, _ := FormatOfName(o.file)
	if name == FormatAuto {
		return nil, 0, o.failKind(0, unknownFormat(head), RemedyFormat)
	}
	return b, name, nil
}

// DetectFormat returns the format that the first bytes of a file tell, which may be compressed,
// else that of the extension of its name; FormatAuto if none.
func DetectFormat(head []byte, name string) FileFormat {
	if f := formatOfContent(head); f != FormatAuto {
		return f
	}
	f, _ := FormatOfName(name)
	return f
}

// Read reads a matrix from r in any of [Formats]: Matrix Market, the binary form, an edge list
// ([ReadMatrixMarket], [ReadBinary], [ReadEdgeList]) and others, gzip-compressed or not. [InFormat]
// names the format, or else the first bytes tell it, or the extension of [FileName]. A binary file
// of another element type is converted as [ReadNPY] converts: a value that T does not hold is a
// *[ParseError], and [ReadFileInfo] tells what a file holds. labels are the names of rows and
// columns, nil if they are numbers or if rows and columns have different ones, which [ReadLabelled]
// returns.
func Read[T matrix.Element](r io.Reader, opts ...ReadOption) (a *matrix.Matrix[T], labels *Labels, err error) {
	m, both, err := readAny("graphio.Read", r, optionsFor[T](opts))
	return matrix.OfInside[T](m), both.both(), err
}

// anyReader is readAny with a name for errors.
func anyReader(op string) reader {
	return func(r io.Reader, o *readOptions) (rep.Matrix, sides, error) { return readAny(op, r, o) }
}

// wholeReader returns the reader of a format that each process of a group reads whole, nil for others.
func wholeReader(f FileFormat) func(io.Reader, *readOptions) (*sparse.Store, sides, error) {
	switch f {
	case FormatNPZ:
		return readNPZ
	case FormatNPY:
		return readNPY
	case FormatMETIS:
		return readMETIS
	case FormatDIMACS:
		return readDIMACS
	case FormatGraphML:
		return readGraphML
	case FormatGML:
		return readGML
	case FormatGEXF:
		return readGEXF
	case FormatGraph500, FormatGraph500Packed:
		return readGraph500
	}
	return nil
}

func readAny(op string, r io.Reader, o *readOptions) (a rep.Matrix, labels sides, err error) {
	r, format, err := settleFormat(op, r, o)
	if err != nil {
		return nil, sides{}, o.agree(err)
	}
	o.convert = true
	switch format {
	case FormatMatrixMarket:
		return readMatrixMarket(r, o)
	case FormatBinary:
		return readBinary(op, r, o)
	case FormatNPZ:
		if o.random != nil {
			r = struct {
				io.Reader
				randomReader
			}{r, o.random}
		}
	case FormatGraph500, FormatGraph500Packed:
		o.format = format
	}
	if read := wholeReader(format); read != nil {
		return readPlaced(r, o, read)
	}
	return readEdges(r, o, o.bipartite)
}

// ReadFile is [Read] of the file at path.
func ReadFile[T matrix.Element](path string, opts ...ReadOption) (a *matrix.Matrix[T], labels *Labels, err error) {
	m, both, err := readPath(path, optionsFor[T](opts), anyReader("graphio.ReadFile"))
	return matrix.OfInside[T](m), both.both(), err
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

// readVectorFile reads a vector. failed says that the processes of a group have agreed about an error
// already, or that no process reads a vector from the format.
func readVectorFile(path string, o *readOptions) (st *sparse.Store, failed bool, err error) {
	const op = "graphio.ReadVectorFile"
	f, err := openRead(path, o)
	if err != nil {
		return nil, true, err
	}
	defer f.Close()
	r, format, err := settleFormat(op, f, o)
	if err != nil {
		return nil, true, o.agree(err)
	}
	o.convert = true
	switch {
	case format == FormatMatrixMarket:
		st, err = readVectorMatrixMarket(r, o)
	case format == FormatBinary:
		st, _, err = readStore("graphio.ReadVectorBinary", r, true, o)
	case format.IsList():
		st, err = readVectorTSV(r, o)
	default:
		return nil, true, o.failKind(0, "vectors are not read from "+format.String(), RemedyLists)
	}
	return st, false, err
}

// Write writes a to w in the format of [InFormat], which it needs.
func Write[T matrix.Element](w io.Writer, a *matrix.Matrix[T], opts ...WriteOption) error {
	return writeMatrix(w, a.Inside().Matrix, writeOptionsOf(opts))
}

func writeMatrix(w io.Writer, a rep.Matrix, o *writeOptions) error {
	const op = "graphio.Write"
	switch {
	case w == nil:
		return nilWriter(op)
	case o.format == FormatMatrixMarket:
		return writeMatrixMarket(w, a, o)
	case o.format == FormatBinary:
		return writeBinary("graphio.WriteBinary", w, a, false, o)
	case o.format == FormatNPZ:
		return writeNPZ("graphio.WriteNPZ", w, a, o)
	case o.format == FormatNPY:
		return writeNPY(w, a, o)
	case o.format == FormatMETIS:
		return writeMETIS(w, a, o)
	case o.format == FormatDIMACS:
		return writeDIMACS(w, a, o)
	case o.format == FormatGraphML:
		return writeGraphML(w, a, o)
	case o.format == FormatGML:
		return writeGML(w, a, o)
	case o.format.IsList():
		return writeEdgeList(w, a, o)
	}
	return unwritable(op, o)
}

// unwritable is the error of a format that is not written.
func unwritable(op string, o *writeOptions) error {
	return &OptionError{Op: op, Option: "InFormat", Reason: o.format.String() + " is no format to write", Kind: RemedyFormat}
}

// WriteVector is [Write] of a vector; see [WriteVectorTSV].
func WriteVector[T matrix.Element](w io.Writer, v *matrix.Vector[T], opts ...WriteOption) error {
	return writeVector(w, v.Inside().Matrix, writeOptionsOf(opts))
}

func writeVector(w io.Writer, v rep.Matrix, o *writeOptions) error {
	const op = "graphio.WriteVector"
	switch {
	case w == nil:
		return nilWriter(op)
	case o.format == FormatMatrixMarket:
		return writeVectorMatrixMarket(w, v, o)
	case o.format == FormatBinary:
		return writeBinary("graphio.WriteVectorBinary", w, v, true, o)
	case o.format == FormatNPZ:
		return writeVectorNPZ(w, v, o)
	case o.format == FormatNPY:
		return writeVectorNPY(w, v, o)
	case o.format.IsList():
		return writeVectorTSV(w, v, o)
	}
	return unwritable(op, o)
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

func writeFile(path string, a rep.Matrix, write func(io.Writer, rep.Matrix, *writeOptions) error, o *writeOptions) error {
	if o.beside == "" {
		o.beside = withoutGz(path)
	}
	format, gz := FormatOfName(path)
	if o.format != FormatAuto {
		format = o.format
	}
	if format == FormatAuto {
		return &OptionError{Op: "graphio.WriteFile", Option: "the file name", Kind: RemedyFormat,
			Reason: fmt.Sprintf("the extension of %s tells no format; %s", quote(filepath.Base(path)), writable())}
	}
	if format.zipped() && (gz || o.compress) {
		return &OptionError{Op: "graphio.WriteFile", Option: "Gzip", Reason: format.String() + " is not compressed by gzip"}
	}
	o.format = format
	return atomicfile.WriteFile(o.ctx, path, func(w io.Writer) error {
		buffered := bufio.NewWriterSize(w, 1<<16)
		if !gz && !o.compress {
			if err := write(atomicfile.Through(buffered, w), a, o); err != nil {
				return err
			}
			return buffered.Flush()
		}
		err := chunk.Gzip(buffered, o.threads, func(z io.Writer) error { return write(atomicfile.Through(z, w), a, o) })
		if err != nil {
			return err
		}
		return buffered.Flush()
	})
}
