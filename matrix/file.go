package matrix

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/klauspost/compress/gzip"

	"github.com/hiveblas/hiveblas/internal/atomicfile"
	"github.com/hiveblas/hiveblas/internal/chunk"
)

type fileKind int

const (
	fileUnknown fileKind = iota
	fileMatrixMarket
	fileEdges
	fileBinary
)

const fileKinds = "want .mtx, .hgb, .tsv, .txt, .el or .csv, or one of these and .gz"

// kindOfName tells the kind of a file by its extension, and whether that ends
// in .gz.
func kindOfName(path string) (kind fileKind, gz bool) {
	name := strings.ToLower(filepath.Base(path))
	name, gz = strings.CutSuffix(name, ".gz")
	switch filepath.Ext(name) {
	case ".mtx", ".mm":
		return fileMatrixMarket, gz
	case ".tsv", ".txt", ".el", ".csv":
		return fileEdges, gz
	case ".hgb":
		return fileBinary, gz
	}
	return fileUnknown, gz
}

// kindOfContent tells the kind of a file by its first bytes, which may be
// compressed; fileUnknown if they leave it open.
func kindOfContent(head []byte) fileKind {
	plain, _, err := chunk.Open(bytes.NewReader(head))
	if err != nil {
		return fileUnknown
	}
	text := make([]byte, 64)
	n, _ := io.ReadFull(plain, text) // a cut stream gives what there is
	text = text[:n]
	if bytes.HasPrefix(text, []byte(binaryMagic)) {
		return fileBinary
	}
	text = bytes.TrimLeft(bytes.TrimPrefix(text, []byte("\xef\xbb\xbf")), " \t\r\n")
	if bytes.HasPrefix(bytes.ToLower(text), []byte("%%matrixmarket")) {
		return fileMatrixMarket
	}
	return fileUnknown
}

// openFile opens path for reading and tells its kind, by content first.
func openFile(path string, o *readOptions) (*os.File, io.Reader, fileKind, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, nil, fileUnknown, err
	}
	if o.file == "" {
		o.file = path
	}
	r := bufio.NewReaderSize(f, 1<<16)
	head, err := r.Peek(4096)
	if err != nil && err != io.EOF {
		f.Close()
		return nil, nil, fileUnknown, err
	}
	kind := kindOfContent(head)
	if kind == fileUnknown {
		kind, _ = kindOfName(path)
	}
	if kind == fileUnknown {
		f.Close()
		return nil, nil, kind, o.fail(0, "neither the name nor the first bytes tell what kind of file this is", fileKinds)
	}
	return f, r, kind, nil
}

// ReadFile reads the matrix in the file at path: Matrix Market, the binary
// form or an edge list ([ReadMatrixMarket], [ReadBinary], [ReadEdgeList]),
// gzip-compressed or not. The first bytes tell which, or else the extension:
// .mtx, .hgb, or .tsv, .txt, .el and .csv for edge lists. labels are the ids
// of an edge list, and nil for the others and with [KeepIDs].
func ReadFile[T Element](path string, opts ...ReadOption) (a *Matrix[T], labels *Labels, err error) {
	o := readOptionsOf(opts)
	f, r, kind, err := openFile(path, o)
	if err != nil {
		return nil, nil, err
	}
	defer f.Close()
	switch kind {
	case fileMatrixMarket:
		a, err = readMatrixMarket[T](r, o)
	case fileBinary:
		st, err := readBinary[T](r, binaryMatrix, "matrix.ReadFile", o)
		if err != nil {
			return nil, nil, err
		}
		return FromStore(st), nil, nil
	default:
		a, labels, _, err = readEdges[T](r, o, false)
	}
	return a, labels, err
}

// ReadVectorFile reads the vector in the file at path: a Matrix Market file of
// one column or row, the binary form, or lines of index and value; see
// [ReadFile] and [ReadVectorTSV].
func ReadVectorFile[T Element](path string, opts ...ReadOption) (*Vector[T], error) {
	o := readOptionsOf(opts)
	f, r, kind, err := openFile(path, o)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	opts = append(opts[:len(opts):len(opts)], FileName(o.file))
	switch kind {
	case fileMatrixMarket:
		return ReadVectorMatrixMarket[T](r, opts...)
	case fileBinary:
		return ReadVectorBinary[T](r, opts...)
	}
	return ReadVectorTSV[T](r, opts...)
}

// WriteFile writes a to the file at path, in the form that its extension
// tells: .mtx, .hgb, or .tsv, .txt, .el and .csv for edge lists; compressed if
// .gz follows or with [Gzip]. The file appears complete or not at all: an
// error or the end of the context leaves what was there before.
func WriteFile[T Element](path string, a *Matrix[T], opts ...WriteOption) error {
	return writeFile(path, writeOptionsOf(opts), func(w io.Writer, kind fileKind) error {
		switch kind {
		case fileMatrixMarket:
			return WriteMatrixMarket(w, a, opts...)
		case fileBinary:
			return WriteBinary(w, a, opts...)
		}
		return WriteEdgeList(w, a, opts...)
	})
}

// WriteVectorFile writes v to the file at path; see [WriteFile] and
// [WriteVectorTSV].
func WriteVectorFile[T Element](path string, v *Vector[T], opts ...WriteOption) error {
	return writeFile(path, writeOptionsOf(opts), func(w io.Writer, kind fileKind) error {
		switch kind {
		case fileMatrixMarket:
			return WriteVectorMatrixMarket(w, v, opts...)
		case fileBinary:
			return WriteVectorBinary(w, v, opts...)
		}
		return WriteVectorTSV(w, v, opts...)
	})
}

func writeFile(path string, o *writeOptions, write func(io.Writer, fileKind) error) error {
	kind, gz := kindOfName(path)
	if kind == fileUnknown {
		return &InvalidError{"matrix.WriteFile", fmt.Sprintf("the extension of %s tells no kind of file; %s", quote(filepath.Base(path)), fileKinds)}
	}
	return atomicfile.WriteFile(o.ctx, path, func(w io.Writer) error {
		buffered := bufio.NewWriterSize(w, 1<<16)
		if !gz && !o.compress {
			if err := write(buffered, kind); err != nil {
				return err
			}
			return buffered.Flush()
		}
		z := gzip.NewWriter(buffered)
		if err := write(z, kind); err != nil {
			return err
		}
		if err := z.Close(); err != nil {
			return err
		}
		return buffered.Flush()
	})
}
