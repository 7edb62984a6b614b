package graphio

import (
	"archive/zip"
	"bytes"
	"fmt"
	"io"
	"io/fs"
	"slices"
	"strings"

	"github.com/klauspost/compress/flate"

	"github.com/hiveblas/hiveblas/internal/pieces"
	"github.com/hiveblas/hiveblas/internal/sparse"
	"github.com/hiveblas/hiveblas/matrix"
)

// randomReader is an input that can be read from any place, such as an *os.File. A reader of .npz
// buffers others.
type randomReader interface {
	io.ReaderAt
	Stat() (fs.FileInfo, error)
}

// ReadNPZ reads a sparse matrix that SciPy wrote by scipy.sparse.save_npz (.npz), in the layouts
// csr, csc and coo, compressed or not. Columns may be in any order. SciPy sums repeated entries
// when it computes; here they are an error unless [Duplicates] combines them. The text arrays
// row_names and col_names, or names for both, are labels; [WriteNPZ] writes them. Values are
// converted as [ReadNPY] does. r is read into memory unless it is an *os.File. All threads read an
// array that is not compressed; compressed arrays are read at once, each by a thread. Errors are a
// *[ParseError] that names the array.
func ReadNPZ[T matrix.Element](r io.Reader, opts ...ReadOption) (*Labelled[T], error) {
	a, s, err := readPlaced(r, optionsFor[T](opts), readNPZ)
	return labelled[T](a, s, err)
}

// npzReader reads the arrays of a file.
type npzReader struct {
	*graphEdges
	files map[string]*zip.File
	plain *pieces.File
}

func readNPZ(r io.Reader, o *readOptions) (*sparse.Store, sides, error) {
	g, err := newGraphEdges("graphio.ReadNPZ", r, o)
	if err != nil {
		return nil, sides{}, err
	}
	rd, err := openNPZ(g, r)
	if err != nil {
		return nil, sides{}, err
	}
	return rd.read()
}

// openNPZ finds the arrays of a file.
func openNPZ(g *graphEdges, r io.Reader) (*npzReader, error) {
	var at io.ReaderAt
	var size int64
	if f, ok := r.(randomReader); ok {
		if st, err := f.Stat(); err == nil && st.Mode().IsRegular() {
			at, size = f, st.Size()
		}
	}
	if at == nil {
		data, err := io.ReadAll(r)
		if err != nil {
			return nil, err
		}
		at, size = bytes.NewReader(data), int64(len(data))
	}
	z, err := zip.NewReader(at, size)
	if err != nil {
		e := g.o.fail(0, "no .npz file: "+err.Error(), "the file is damaged or cut short")
		e.Err = err
		return nil, e
	}
	z.RegisterDecompressor(zip.Deflate, flate.NewReader)
	rd := &npzReader{graphEdges: g, files: map[string]*zip.File{}, plain: &pieces.File{At: at, Size: size}}
	for _, f := range z.File {
		if name, ok := strings.CutSuffix(f.Name, ".npy"); ok {
			rd.files[name] = f
		}
	}
	return rd, nil
}

func (rd *npzReader) read() (*sparse.Store, sides, error) {
	layout, err := rd.layout()
	if err != nil {
		return nil, sides{}, err
	}
	var shape []int64
	if err := rd.load(npzInts(rd, "shape", 1<<62, &shape)); err != nil {
		return nil, sides{}, err
	}
	if len(shape) != 2 || shape[0] > matrix.MaxDim || shape[1] > matrix.MaxDim {
		e := rd.o.fail(0, fmt.Sprintf("the shape is %v, want two dimensions of at most %d", shape, matrix.MaxDim), "")
		e.Err = &matrix.SizeError{Op: "ReadNPZ", Arg: "dimension", Got: int64(len(shape)), Limit: matrix.MaxDim}
		return nil, sides{}, e
	}
	m, n := int(shape[0]), int(shape[1])
	labels, err := rd.names(m, n)
	if err != nil {
		return nil, sides{}, err
	}
	if layout == "coo" {
		return rd.coordinates(m, n, labels)
	}
	if layout == "csc" {
		m, n = n, m
	}
	var ptr []int64
	var idx []int32
	var val sparse.Values
	columns := npzInts(rd, "indices", int64(n), &idx)
	values, field := rd.values(columns, &val)
	if err := rd.load(npzInts(rd, "indptr", 1<<62, &ptr), columns, values); err != nil {
		return nil, sides{}, err
	}
	if len(ptr) != m+1 || ptr[0] != 0 || !ascends(ptr, rd.o.threads) || ptr[m] != int64(len(idx)) {
		return nil, sides{}, rd.o.fail(0, fmt.Sprintf("array indptr: want %d offsets that ascend from 0 to the %d entries", m+1, len(idx)), "")
	}
	rd.count = int64(len(idx))
	st := &sparse.Store{Structure: sparse.Structure{NRows: m, NCols: n, Ptr: ptr, Idx: idx, NVals: rd.count}, Val: val, Type: rd.e.t}
	if layout == "csr" {
		rd.describe("SciPy csr", field(val), "general", m, n)
	} else {
		rd.describe("SciPy csc", field(val), "general", n, m)
	}
	if st.Check(val.Len(), false) == nil && (!rd.o.symmetrise || rd.dup == nil) {
		if layout == "csc" {
			st = st.Transpose(rd.o.threads)
		}
		if rd.o.symmetrise {
			if m != n {
				return nil, sides{}, rd.o.failKind(0, fmt.Sprintf("cannot symmetrise a %d×%d matrix", m, n), RemedyNoSymmetrise)
			}
			st = symmetrise(st.ToSparse(), rd.e, nil, rd.o.threads)
		}
		return st.Settle(), labels, nil
	}
	rows := st.RowOfEntries() // columns are in any order, or repeated
	rd.count = 0
	if layout == "csc" {
		rd.addBlock(sparse.Block{Row: idx, Col: rows, Val: val})
		return rd.finish(n, m, labels, false)
	}
	rd.addBlock(sparse.Block{Row: rows, Col: idx, Val: val})
	return rd.finish(m, n, labels, false)
}

func (rd *npzReader) coordinates(m, n int, labels sides) (*sparse.Store, sides, error) {
	var rows, cols []int32
	var val sparse.Values
	first := npzInts(rd, "row", int64(m), &rows)
	values, field := rd.values(first, &val)
	if err := rd.load(first, npzInts(rd, "col", int64(n), &cols), values); err != nil {
		return nil, sides{}, err
	}
	if len(cols) != len(rows) {
		return nil, sides{}, rd.o.fail(0, fmt.Sprintf("array col has %d items, and row has %d", len(cols), len(rows)), "")
	}
	rd.addBlock(sparse.Block{Row: rows, Col: cols, Val: val})
	rd.describe("SciPy coo", field(val), "general", m, n)
	return rd.finish(m, n, labels, false)
}

// layout returns csr, csc or coo.
func (rd *npzReader) layout() (string, error) {
	if rd.files["format"] == nil {
		names := make([]string, 0, len(rd.files))
		for name := range rd.files {
			names = append(names, name)
		}
		slices.Sort(names)
		return "", rd.o.fail(0, "the file is no sparse matrix of SciPy: its arrays are "+quote(strings.Join(names, ", ")), "write the matrix with scipy.sparse.save_npz")
	}
	a, err := rd.array("format")
	if err != nil {
		return "", err
	}
	defer a.r.Close()
	layout, err := a.Text()
	if err != nil {
		return "", rd.o.damagedArray("array format", err)
	}
	switch layout {
	case "csr", "csc", "coo":
		return layout, nil
	}
	return "", rd.o.fail(0, "the layout is "+quote(layout)+", want csr, csc or coo", "convert it with tocsr()")
}

// names reads the labels of an m×n matrix.
func (rd *npzReader) names(m, n int) (labels sides, err error) {
	if rd.files["names"] != nil {
		if m != n {
			return labels, rd.o.fail(0, "array names belongs to a square matrix", "write row_names and col_names")
		}
		labels.rows, err = rd.labels("names", n)
		labels.cols = labels.rows
		return labels, err
	}
	if rd.files["row_names"] != nil {
		if labels.rows, err = rd.labels("row_names", m); err != nil {
			return labels, err
		}
	}
	if rd.files["col_names"] != nil {
		labels.cols, err = rd.labels("col_names", n)
	}
	return labels, err
}

func (rd *npzReader) labels(name string, n int) (*Labels, error) {
	s, err := rd.array(name)
	if err != nil {
		return nil, err
	}
	defer s.r.Close()
	if len(s.Shape) != 1 || s.Len() != n {
		return nil, rd.o.fail(0, fmt.Sprintf("array %s has %d items in %d dimensions, want %d names", name, s.Len(), len(s.Shape), n), "")
	}
	l := &Labels{}
	if s.Kind == 'U' || s.Kind == 'S' {
		for s.Len() > 0 {
			text, err := s.Text()
			if err != nil {
				return nil, rd.o.damagedArray("array "+name, err)
			}
			l.names = append(l.names, text)
		}
		rd.o.warnBroken(rd.o.oneLine(l.names))
		return l, nil
	}
	l.numeric, l.ids = true, []int64{}
	part := make([]int64, npyPart)
	for {
		k, err := s.Ints(part)
		if err != nil {
			return nil, rd.o.damagedArray("array "+name, err)
		}
		if k == 0 {
			return l, nil
		}
		l.ids = append(l.ids, part[:k]...)
	}
}
