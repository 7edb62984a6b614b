package graphio

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"reflect"
	"strings"

	"github.com/hiveblas/hiveblas/internal/chunk"
	"github.com/hiveblas/hiveblas/internal/hgb"
	"github.com/hiveblas/hiveblas/internal/npy"
	"github.com/hiveblas/hiveblas/internal/sparse"
	"github.com/hiveblas/hiveblas/matrix"
)

// FileInfo is what the first bytes of a file tell of it, so that a program can choose the element
// type of [ReadFile].
type FileInfo struct {
	Format     FileFormat
	Rows, Cols int    // −1 where only the whole file tells
	Entries    int64  // listed in the file, −1 where only the whole file tells
	Field      string // kind of values: "pattern", "integer", "real"; "" where only the whole file tells
	Element    string // Go type of the values of a binary format, such as "float32"; "" of text
	Symmetry   string // "symmetric", "skew-symmetric" or "general"; "" where only the whole file tells
	Vector     bool   // a vector in the binary form, or an array of one dimension
}

// String returns the information on one line.
func (i FileInfo) String() string {
	var parts []string
	add := func(text string) {
		if text != "" {
			parts = append(parts, text)
		}
	}
	add(i.Format.String())
	if i.Rows >= 0 {
		add(fmt.Sprintf("%d×%d", i.Rows, i.Cols))
	}
	if i.Vector {
		add("vector")
	}
	add(i.Field)
	add(i.Element)
	add(i.Symmetry)
	if i.Entries >= 0 {
		add(fmt.Sprintf("%d entries listed", i.Entries))
	}
	return strings.Join(parts, " ")
}

// ReadFileInfo reads the header of the file at path, in any of [Formats], and no entries. The kind
// of values of an edge list is that of its first 100 lines. Files of GraphML, GEXF and GML have no
// header. Errors are those of [ReadFile]. The time does not depend on the size of the file.
func ReadFileInfo(path string, opts ...ReadOption) (FileInfo, error) {
	return readFileInfo("graphio.ReadFileInfo", path, readOptionsOf(opts))
}

func readFileInfo(op, path string, o *readOptions) (FileInfo, error) {
	i := FileInfo{Rows: -1, Cols: -1, Entries: -1}
	o.e = elementOf(sparse.TypeOf[float64]()) // of no matrix
	f, err := os.Open(path)
	if err != nil {
		return i, err
	}
	defer f.Close()
	o.named(path)
	r, format, err := settleFormat(op, f, o)
	if err != nil {
		return i, err
	}
	i.Format = format
	switch {
	case format == FormatNPZ:
		err = i.npz(f, o)
	case format == FormatNPY:
		var s *npy.Stream
		if s, err = npy.Open(r); err != nil {
			return i, o.fail(0, err.Error(), "")
		}
		err = i.array(s, o)
	case format == FormatBinary:
		err = i.binary(r, o, op)
	case format == FormatGraphML, format == FormatGEXF, format == FormatGML:
	case format == FormatGraph500, format == FormatGraph500Packed:
		i.Field, i.Symmetry = "pattern", "general"
	default:
		err = i.text(r, o)
	}
	return i, err
}

// text reads the header of a text.
func (i *FileInfo) text(r io.Reader, o *readOptions) error {
	src, _, err := chunk.NewSource(r)
	if err != nil {
		return o.streamError(1, err)
	}
	switch i.Format {
	case FormatMatrixMarket:
		head, err := readHead(src, &o.common)
		if err == nil {
			i.Rows, i.Cols, i.Entries, i.Field, i.Symmetry = head.Rows, head.Cols, head.Entries, head.Field, head.Symmetry
		}
		return err
	case FormatMETIS:
		h, err := readMETISHead(src, o)
		if err == nil {
			i.Rows, i.Cols, i.Entries, i.Symmetry = int(h.vertices), int(h.vertices), 2*h.edges, "symmetric"
			if !h.weighted {
				i.Field = "pattern"
			}
		}
		return err
	case FormatDIMACS:
		h, err := readDIMACSHead(src, o)
		if err == nil {
			i.Rows, i.Cols, i.Entries, i.Symmetry = int(h.vertices), int(h.vertices), h.edges, "general"
			if h.kind == "edge" {
				i.Symmetry = "symmetric"
			}
		}
		return err
	}
	if err := o.checkLayout("graphio.ReadFileInfo"); err != nil {
		return err
	}
	l, ok, err := findLayout(src, o)
	i.Symmetry = "general"
	if err != nil || !ok {
		return err
	}
	i.Field = l.field(append(sample(src, nil, o), nil))
	return nil
}

// field returns the kind of the values in some lines.
func (l *edgeLayout) field(lines [][]byte) string {
	if l.weight == 0 {
		return "pattern"
	}
	for _, line := range lines {
		if len(line) == 0 {
			continue
		}
		fields, msg := l.split.split(line)
		if msg == "" && len(fields) >= l.weight && !writtenAsInteger([]byte(fields[l.weight-1])) {
			return "real"
		}
	}
	return "integer"
}

// array describes an array of NumPy.
func (i *FileInfo) array(s *npy.Stream, o *readOptions) error {
	if s.Kind == 'U' || s.Kind == 'S' {
		return o.fail(0, "the items are text, want numbers", "")
	}
	i.Field, i.Element = npyField(s), elementOfArray(s)
	switch len(s.Shape) {
	case 1:
		i.Vector, i.Rows, i.Cols = true, 1, s.Shape[0]
	case 2:
		i.Rows, i.Cols = s.Shape[0], s.Shape[1]
	default:
		return o.fail(0, fmt.Sprintf("the array has %d dimensions, want one or two", len(s.Shape)), "")
	}
	return nil
}

// elementOfArray returns the Go type of the items of an array.
func elementOfArray(s *npy.Stream) string {
	switch s.Kind {
	case 'f':
		if s.Width == 2 {
			return "float32" // the least that holds them
		}
		return fmt.Sprintf("float%d", 8*s.Width)
	case 'i':
		return fmt.Sprintf("int%d", 8*s.Width)
	case 'u':
		return fmt.Sprintf("uint%d", 8*s.Width)
	}
	return "bool"
}

// npz describes a sparse matrix of SciPy.
func (i *FileInfo) npz(r io.Reader, o *readOptions) error {
	g, err := newGraphEdges("graphio.ReadFileInfo", r, o)
	if err != nil {
		return err
	}
	rd, err := openNPZ(g, r)
	if err != nil {
		return err
	}
	if _, err := rd.layout(); err != nil {
		return err
	}
	var shape []int64
	if err := rd.load(npzInts(rd, "shape", 1<<62, &shape)); err != nil {
		return err
	}
	data, err := rd.array("data")
	if err != nil {
		return err
	}
	defer data.r.Close()
	if len(shape) != 2 || shape[0] > matrix.MaxDim || shape[1] > matrix.MaxDim {
		return o.fail(0, fmt.Sprintf("the shape is %v, want two dimensions of at most %d", shape, matrix.MaxDim), "")
	}
	if err := i.array(data.Stream, o); err != nil {
		return err
	}
	i.Vector, i.Rows, i.Cols, i.Entries, i.Symmetry = false, int(shape[0]), int(shape[1]), int64(data.Len()), "general"
	return nil
}

// binary describes a file in the binary form.
func (i *FileInfo) binary(r io.Reader, o *readOptions, op string) error {
	plain, _, err := chunk.Open(r)
	if err != nil {
		return o.streamError(0, err)
	}
	head := make([]byte, hgb.HeadBytes)
	n, err := io.ReadFull(plain, head)
	if err != nil && err != io.EOF && !errors.Is(err, io.ErrUnexpectedEOF) {
		return o.streamError(0, err)
	}
	i.Vector = n > 10 && head[10] == hgb.Vector
	h, err := hgb.NewReader(bytes.NewReader(head[:n]), &hgb.Options{Convert: true}).Head(i.Vector, o.e.item())
	if err != nil {
		return o.binaryError(op, err)
	}
	st := &h.Shape
	i.Rows, i.Cols, i.Element, i.Field, i.Symmetry = st.NRows, st.NCols, h.Element.String(), "integer", "general"
	switch h.Element {
	case reflect.Bool:
		i.Field = "pattern"
	case reflect.Float32, reflect.Float64:
		i.Field = "real"
	}
	i.Entries = st.NVals
	return nil
}
