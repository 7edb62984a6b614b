package matrix

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"path/filepath"

	"github.com/hiveblas/hiveblas/internal/atomicfile"
	"github.com/hiveblas/hiveblas/internal/chunk"
)

// formatOfContent returns the format that the first bytes of a file tell, which
// may be compressed; FormatAuto if none.
func formatOfContent(head []byte) FileFormat {
	text := plainHead(head)
	switch {
	case bytes.HasPrefix(text, []byte(binaryMagic)):
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
	o.plain = plainFileOf(r)
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
func Read[T Element](r io.Reader, opts ...ReadOption) (a *Matrix[T], labels *Labels, err error) {
	a, both, err := readAny[T]("matrix.Read", r, readOptionsOf(opts))
	return a, both.both(), err
}

func readAny[T Element](op string, r io.Reader, o *readOptions) (a *Matrix[T], labels sides, err error) {
	r, format, err := settleFormat(op, r, o)
	if err != nil {
		return nil, sides{}, o.agree(err)
	}
	o.convert = true
	switch format {
	case FormatMatrixMarket:
		return readMatrixMarket[T](r, o)
	case FormatBinary:
		return readBinaryMatrix[T](op, r, o)
	case FormatNPZ:
		if o.random != nil {
			r = struct {
				io.Reader
				randomReader
			}{r, o.random}
		}
		return readPlaced(r, o, readNPZ[T])
	case FormatNPY:
		return readPlaced(r, o, readNPY[T])
	case FormatMETIS:
		return readPlaced(r, o, readMETIS[T])
	case FormatDIMACS:
		return readPlaced(r, o, readDIMACS[T])
	case FormatGraphML:
		return readPlaced(r, o, readGraphML[T])
	case FormatGML:
		return readPlaced(r, o, readGML[T])
	case FormatGEXF:
		return readPlaced(r, o, readGEXF[T])
	case FormatGraph500, FormatGraph500Packed:
		o.format = format
		return readPlaced(r, o, readGraph500[T])
	}
	a, labels.rows, labels.cols, err = readEdges[T](r, o, o.bipartite)
	return a, labels, err
}

// ReadFile is [Read] of the file at path.
func ReadFile[T Element](path string, opts ...ReadOption) (a *Matrix[T], labels *Labels, err error) {
	f, o, err := openRead(path, opts)
	if err != nil {
		return nil, nil, err
	}
	defer f.Close()
	a, both, err := readAny[T]("matrix.ReadFile", f, o)
	return a, both.both(), err
}

// ReadVectorFile reads the vector in the file at path: a Matrix Market file of
// one column or row, the binary form, or lines of index and value; see
// [ReadFile] and [ReadVectorTSV].
func ReadVectorFile[T Element](path string, opts ...ReadOption) (*Vector[T], error) {
	f, o, err := openRead(path, opts)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	r, format, err := settleFormat("matrix.ReadVectorFile", f, o)
	if err != nil {
		return nil, o.agree(err)
	}
	o.convert = true
	opts = append(opts[:len(opts):len(opts)], FileName(o.file))
	switch format {
	case FormatMatrixMarket:
		return ReadVectorMatrixMarket[T](r, opts...)
	case FormatBinary:
		return readVectorBinary[T](r, o)
	}
	if !format.IsList() {
		return nil, o.failKind(0, "vectors are not read from "+format.String(), RemedyLists)
	}
	return ReadVectorTSV[T](r, opts...)
}

// Write writes a to w in the format of [InFormat], which it needs.
func Write[T Element](w io.Writer, a *Matrix[T], opts ...WriteOption) error {
	const op = "matrix.Write"
	o := writeOptionsOf(opts)
	switch {
	case w == nil:
		return nilWriter(op)
	case o.format == FormatMatrixMarket:
		return WriteMatrixMarket(w, a, opts...)
	case o.format == FormatBinary:
		return WriteBinary(w, a, opts...)
	case o.format == FormatNPZ:
		return WriteNPZ(w, a, opts...)
	case o.format == FormatNPY:
		return WriteNPY(w, a, opts...)
	case o.format == FormatMETIS:
		return WriteMETIS(w, a, opts...)
	case o.format == FormatDIMACS:
		return WriteDIMACS(w, a, opts...)
	case o.format == FormatGraphML:
		return WriteGraphML(w, a, opts...)
	case o.format == FormatGML:
		return WriteGML(w, a, opts...)
	case o.format.IsList():
		return WriteEdgeList(w, a, opts...)
	}
	return &OptionError{Op: op, Option: "InFormat", Reason: o.format.String() + " is no format to write", Kind: RemedyFormat}
}

// WriteVector is [Write] of a vector; see [WriteVectorTSV].
func WriteVector[T Element](w io.Writer, v *Vector[T], opts ...WriteOption) error {
	const op = "matrix.WriteVector"
	o := writeOptionsOf(opts)
	switch {
	case w == nil:
		return nilWriter(op)
	case o.format == FormatMatrixMarket:
		return WriteVectorMatrixMarket(w, v, opts...)
	case o.format == FormatBinary:
		return WriteVectorBinary(w, v, opts...)
	case o.format == FormatNPZ:
		return writeVectorNPZ(w, v, o)
	case o.format == FormatNPY:
		return WriteVectorNPY(w, v, opts...)
	case o.format.IsList():
		return WriteVectorTSV(w, v, opts...)
	}
	return &OptionError{Op: op, Option: "InFormat", Reason: o.format.String() + " is no format to write", Kind: RemedyFormat}
}

// WriteFile writes a to the file at path, in the format of [InFormat] or else of its extension:
// .mtx, .hgb, .npz, .npy, .graph, .gr, .col, .graphml, .gml, .csv, or .tsv, .txt and .el for edge
// lists with tabs; compressed if .gz follows or with [Gzip], but .npz and .npy. The file appears
// complete or not at all: an error or the end of the context leaves an existing file as it is. A
// Matrix Market file has the names of
// [WithLabels] beside it; see [NamesBeside].
func WriteFile[T Element](path string, a *Matrix[T], opts ...WriteOption) error {
	opts = append([]WriteOption{NamesBeside(path)}, opts...)
	return writeFile(path, writeOptionsOf(opts), func(w io.Writer, f FileFormat) error {
		return Write(w, a, append(opts[:len(opts):len(opts)], InFormat(f))...)
	})
}

// WriteVectorFile writes v to the file at path; see [WriteFile] and
// [WriteVectorTSV].
func WriteVectorFile[T Element](path string, v *Vector[T], opts ...WriteOption) error {
	opts = append([]WriteOption{NamesBeside(path)}, opts...)
	return writeFile(path, writeOptionsOf(opts), func(w io.Writer, f FileFormat) error {
		return WriteVector(w, v, append(opts[:len(opts):len(opts)], InFormat(f))...)
	})
}

func writeFile(path string, o *writeOptions, write func(io.Writer, FileFormat) error) error {
	format, gz := FormatOfName(path)
	if o.format != FormatAuto {
		format = o.format
	}
	if format == FormatAuto {
		return &OptionError{Op: "matrix.WriteFile", Option: "the file name", Kind: RemedyFormat,
			Reason: fmt.Sprintf("the extension of %s tells no format; %s", quote(filepath.Base(path)), writable())}
	}
	if format.zipped() && (gz || o.compress) {
		return &OptionError{Op: "matrix.WriteFile", Option: "Gzip", Reason: format.String() + " is not compressed by gzip"}
	}
	return atomicfile.WriteFile(o.ctx, path, func(w io.Writer) error {
		buffered := bufio.NewWriterSize(w, 1<<16)
		if !gz && !o.compress {
			if err := write(atomicfile.Through(buffered, w), format); err != nil {
				return err
			}
			return buffered.Flush()
		}
		err := chunk.Gzip(buffered, o.threads, func(z io.Writer) error { return write(atomicfile.Through(z, w), format) })
		if err != nil {
			return err
		}
		return buffered.Flush()
	})
}
