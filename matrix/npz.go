package matrix

import (
	"archive/zip"
	"bytes"
	"fmt"
	"io"
	"io/fs"
	"slices"
	"strings"

	"github.com/klauspost/compress/flate"

	"github.com/hiveblas/hiveblas/internal/npy"
	"github.com/hiveblas/hiveblas/internal/sparse"
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
// converted as [ReadNPY] does. r is read into memory unless it is an *os.File. Errors are a
// *[ParseError] that names the array.
func ReadNPZ[T Element](r io.Reader, opts ...ReadOption) (*Labelled[T], error) {
	a, s, err := readPlaced(r, readOptionsOf(opts), readNPZ[T])
	if err != nil {
		return nil, err
	}
	return &Labelled[T]{a, s.rows, s.cols}, nil
}

// npzReader reads the arrays of a file.
type npzReader[T comparable] struct {
	*graphEdges[T]
	files map[string]*zip.File
	open  io.Closer
}

func readNPZ[T comparable](r io.Reader, o *readOptions) (*Matrix[T], sides, error) {
	g, err := newGraphEdges[T]("matrix.ReadNPZ", r, o)
	if err != nil {
		return nil, sides{}, err
	}
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
			return nil, sides{}, err
		}
		at, size = bytes.NewReader(data), int64(len(data))
	}
	z, err := zip.NewReader(at, size)
	if err != nil {
		e := o.fail(0, "no .npz file: "+err.Error(), "the file is damaged or cut short")
		e.Err = err
		return nil, sides{}, e
	}
	z.RegisterDecompressor(zip.Deflate, flate.NewReader)
	rd := &npzReader[T]{graphEdges: g, files: map[string]*zip.File{}}
	for _, f := range z.File {
		if name, ok := strings.CutSuffix(f.Name, ".npy"); ok {
			rd.files[name] = f
		}
	}
	defer rd.close()
	return rd.read()
}

func (rd *npzReader[T]) close() {
	if rd.open != nil {
		_ = rd.open.Close() // read errors were reported
		rd.open = nil
	}
}

func (rd *npzReader[T]) read() (*Matrix[T], sides, error) {
	layout, err := rd.layout()
	if err != nil {
		return nil, sides{}, err
	}
	shape, err := npzInts[int64](rd, "shape", 1<<62)
	if err != nil {
		return nil, sides{}, err
	}
	if len(shape) != 2 || shape[0] > MaxDim || shape[1] > MaxDim {
		e := rd.o.fail(0, fmt.Sprintf("the shape is %v, want two dimensions of at most %d", shape, MaxDim), "")
		e.Err = &SizeError{"ReadNPZ", "dimension", int64(len(shape)), MaxDim}
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
	ptr, err := npzInts[int64](rd, "indptr", 1<<62)
	if err != nil {
		return nil, sides{}, err
	}
	idx, err := npzInts[int32](rd, "indices", int64(n))
	if err != nil {
		return nil, sides{}, err
	}
	val, field, err := rd.values(len(idx))
	if err != nil {
		return nil, sides{}, err
	}
	if len(ptr) != m+1 || ptr[0] != 0 || !slices.IsSorted(ptr) || ptr[m] != int64(len(idx)) {
		return nil, sides{}, rd.o.fail(0, fmt.Sprintf("array indptr: want %d offsets that ascend from 0 to the %d entries", m+1, len(idx)), "")
	}
	rd.count = int64(len(idx))
	st := &sparse.Store[T]{Structure: sparse.Structure{NRows: m, NCols: n, Ptr: ptr, Idx: idx, NVals: rd.count}, Val: val}
	if layout == "csr" {
		rd.describe("SciPy csr", field, "general", m, n)
	} else {
		rd.describe("SciPy csc", field, "general", n, m)
	}
	if st.Check(len(val), false) == nil && (!rd.o.symmetrise || rd.dup == nil) {
		if layout == "csc" {
			st = sparse.Transpose(st, rd.o.threads)
		}
		if rd.o.symmetrise {
			if m != n {
				return nil, sides{}, rd.o.failKind(0, fmt.Sprintf("cannot symmetrise a %d×%d matrix", m, n), RemedyNoSymmetrise)
			}
			st = symmetrise(sparse.ToSparse(st), rd.e, nil, rd.o.threads)
		}
		return fromStore(sparse.Settle(st)), labels, nil
	}
	rows := make([]int32, len(idx)) // columns in any order, or repeated
	for i := range m {
		for p := ptr[i]; p < ptr[i+1]; p++ {
			rows[p] = int32(i)
		}
	}
	rd.count = 0
	if layout == "csc" {
		rd.addBlock(sparse.Tuples[T]{Row: idx, Col: rows, Val: val})
		return rd.finish(n, m, labels, false)
	}
	rd.addBlock(sparse.Tuples[T]{Row: rows, Col: idx, Val: val})
	return rd.finish(m, n, labels, false)
}

func (rd *npzReader[T]) coordinates(m, n int, labels sides) (*Matrix[T], sides, error) {
	rows, err := npzInts[int32](rd, "row", int64(m))
	if err != nil {
		return nil, sides{}, err
	}
	cols, err := npzInts[int32](rd, "col", int64(n))
	if err != nil {
		return nil, sides{}, err
	}
	val, field, err := rd.values(len(rows))
	if err != nil {
		return nil, sides{}, err
	}
	if len(cols) != len(rows) {
		return nil, sides{}, rd.o.fail(0, fmt.Sprintf("array col has %d items, and row has %d", len(cols), len(rows)), "")
	}
	rd.addBlock(sparse.Tuples[T]{Row: rows, Col: cols, Val: val})
	rd.describe("SciPy coo", field, "general", m, n)
	return rd.finish(m, n, labels, false)
}

// array opens an array.
func (rd *npzReader[T]) array(name string) (*npy.Stream, error) {
	rd.close()
	f := rd.files[name]
	if f == nil {
		return nil, rd.o.fail(0, "the file has no array "+name, "write the matrix with scipy.sparse.save_npz")
	}
	r, err := f.Open()
	if err != nil {
		return nil, rd.o.damagedArray("array "+name, err)
	}
	rd.open = r
	s, err := npy.Open(r)
	if err != nil {
		return nil, rd.o.damagedArray("array "+name, err)
	}
	return s, nil
}

// layout returns csr, csc or coo.
func (rd *npzReader[T]) layout() (string, error) {
	if rd.files["format"] == nil {
		names := make([]string, 0, len(rd.files))
		for name := range rd.files {
			names = append(names, name)
		}
		slices.Sort(names)
		return "", rd.o.fail(0, "the file is no sparse matrix of SciPy: its arrays are "+quote(strings.Join(names, ", ")), "write the matrix with scipy.sparse.save_npz")
	}
	s, err := rd.array("format")
	if err != nil {
		return "", err
	}
	layout, err := s.Text()
	if err != nil {
		return "", rd.o.damagedArray("array format", err)
	}
	switch layout {
	case "csr", "csc", "coo":
		return layout, nil
	}
	return "", rd.o.fail(0, "the layout is "+quote(layout)+", want csr, csc or coo", "convert it with tocsr()")
}

// npzInts reads an array of integers from 0 below limit, which N holds.
func npzInts[N int32 | int64, T comparable](rd *npzReader[T], name string, limit int64) ([]N, error) {
	s, err := rd.array(name)
	if err != nil {
		return nil, err
	}
	if len(s.Shape) != 1 {
		return nil, rd.o.fail(0, fmt.Sprintf("array %s has %d dimensions, want 1", name, len(s.Shape)), "")
	}
	part := make([]int64, npyPart)
	all := []N{}
	for {
		if err := rd.o.stopped(); err != nil {
			return nil, err
		}
		n, err := s.Ints(part)
		if err != nil {
			return nil, rd.o.damagedArray("array "+name, err)
		}
		if n == 0 {
			return all, nil
		}
		for _, x := range part[:n] {
			if x < 0 || x >= limit {
				e := rd.o.fail(0, fmt.Sprintf("item %d of array %s is %d, want 0 to %d", len(all), name, x, limit-1), "")
				e.Err = &IndexError{"ReadNPZ", name, x, limit}
				return nil, e
			}
			all = append(all, N(x))
		}
	}
}

// values reads the values of n entries and the kind of their array.
func (rd *npzReader[T]) values(n int) (val []T, field string, err error) {
	s, err := rd.array("data")
	if err != nil {
		return nil, "", err
	}
	if len(s.Shape) != 1 || s.Len() != n || s.Kind == 'U' || s.Kind == 'S' {
		return nil, "", rd.o.fail(0, fmt.Sprintf("array data has %d items in %d dimensions, want a number for each of the %d entries", s.Len(), len(s.Shape), n), "")
	}
	field = npyField(s)
	r := newNPYValues(s, rd.e, rd.o, "array data")
	val = make([]T, 0, min(n, binaryChunk))
	for s.Len() > 0 {
		part, err := r.next()
		if err != nil {
			return nil, "", err
		}
		val = append(val, part...)
	}
	if field == "pattern" && slices.ContainsFunc(val, func(v T) bool { return v != rd.e.one }) {
		field = "integer"
	}
	return val, field, nil
}

// names reads the labels of an m×n matrix.
func (rd *npzReader[T]) names(m, n int) (labels sides, err error) {
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

func (rd *npzReader[T]) labels(name string, n int) (*Labels, error) {
	s, err := rd.array(name)
	if err != nil {
		return nil, err
	}
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

// A NPZLayout is a layout of a sparse matrix in a .npz file.
type NPZLayout uint8

// The layouts.
const (
	NPZRows        NPZLayout = iota // csr
	NPZColumns                      // csc
	NPZCoordinates                  // coo
)

// InLayout chooses the layout that [WriteNPZ] writes; the default is NPZRows.
func InLayout(l NPZLayout) WriteOption { return writeOption(func(o *writeOptions) { o.layout = l }) }

// WriteNPZ writes a as scipy.sparse.save_npz does (.npz), not compressed, in the layout of
// [InLayout]; scipy.sparse.load_npz reads it. Labels are the arrays row_names and col_names, or
// names if rows and columns have the same ones, which SciPy ignores and numpy.load reads. With
// [AsPattern] the values are Booleans.
func WriteNPZ[T Element](w io.Writer, a *Matrix[T], opts ...WriteOption) error {
	const op = "matrix.WriteNPZ"
	if a.Err() != nil {
		return a.Err()
	}
	if w == nil {
		return nilWriter(op)
	}
	return writeNPZ(op, w, a, writeOptionsOf(opts))
}

func writeNPZ[T comparable](op string, w io.Writer, a *Matrix[T], o *writeOptions) error {
	e, ok := elementOf[T]()
	if !ok {
		return &TypeError{op, e.name(), "bool, an integer or a float", ""}
	}
	if o.layout > NPZCoordinates {
		return &OptionError{Op: op, Option: "InLayout", Reason: fmt.Sprintf("the layout is %d, want NPZRows, NPZColumns or NPZCoordinates", o.layout)}
	}
	m, n := a.Dims()
	if err := (sides{o.labels, o.cols}).checkCounts(op, m, n); err != nil {
		return err
	}
	st := sparse.ToCSR(a.rows())
	if o.layout == NPZColumns {
		st = sparse.ToCSR(sparse.Transpose(st, o.threads))
	}
	names := map[string]*Labels{"row_names": o.labels, "col_names": o.cols}
	if o.labels == o.cols && m == n {
		names = map[string]*Labels{"names": o.labels}
	}
	o.size = 4*int64(len(st.Ptr)+len(st.Idx)) + int64(len(st.Val))*int64(e.fileWidth())
	nz := &npzWriter{z: zip.NewWriter(&reportingWriter{w: w, o: &o.common})}
	format := [...]string{"csr", "csc", "coo"}[o.layout]
	nz.array("format", "|S3", "()", func(w io.Writer) error {
		_, err := io.WriteString(w, format)
		return err
	})
	nz.array("shape", "<i8", "(2,)", func(w io.Writer) error { return writeItems(w, []int64{int64(m), int64(n)}, 8) })
	list := fmt.Sprintf("(%d,)", st.NVals)
	if o.layout == NPZCoordinates {
		nz.array("row", "<i4", list, func(w io.Writer) error { return writeRowNumbers(w, st) })
		nz.array("col", "<i4", list, func(w io.Writer) error { return writeItems(w, st.Idx, 4) })
	} else {
		nz.offsets(st.Ptr, st.Idx)
	}
	kind, width := e.npyKind(), e.fileWidth()
	if o.pattern {
		kind = "|b1"
	}
	nz.array("data", kind, list, func(w io.Writer) error {
		if !o.pattern {
			return writeItems(w, st.Val, width)
		}
		ones := bytes.Repeat([]byte{1}, npyPart)
		for left := st.NVals; left > 0; left -= npyPart {
			if _, err := w.Write(ones[:min(left, npyPart)]); err != nil {
				return err
			}
		}
		return nil
	})
	for _, name := range []string{"names", "row_names", "col_names"} {
		if l := names[name]; l != nil {
			size := m
			if name != "row_names" {
				size = n
			}
			nz.raw(name, func() ([]byte, error) { return l.npyNames(op, size) })
		}
	}
	if nz.err != nil {
		return nz.err
	}
	return nz.z.Close()
}

// writeVectorNPZ writes v as a sparse matrix of one row.
func writeVectorNPZ[T comparable](w io.Writer, v *Vector[T], o *writeOptions) error {
	if err := v.Err(); err != nil {
		return err
	}
	o.labels = nil // of the one row
	return writeNPZ("matrix.WriteVector", w, fromStore(v.m.rows1()), o)
}

// npzWriter writes arrays until the first error.
type npzWriter struct {
	z   *zip.Writer
	err error
}

func (nz *npzWriter) array(name, kind, shape string, items func(w io.Writer) error) {
	if nz.err != nil {
		return
	}
	w, err := nz.z.CreateHeader(&zip.FileHeader{Name: name + ".npy", Method: zip.Store})
	if err == nil {
		_, err = w.Write(npy.AppendHeader(nil, kind, shape))
	}
	if err == nil {
		err = items(w)
	}
	nz.err = err
}

// raw writes an array with its header.
func (nz *npzWriter) raw(name string, text func() ([]byte, error)) {
	if nz.err != nil {
		return
	}
	data, err := text()
	if err == nil {
		var w io.Writer
		if w, err = nz.z.CreateHeader(&zip.FileHeader{Name: name + ".npy", Method: zip.Store}); err == nil {
			_, err = w.Write(data)
		}
	}
	nz.err = err
}

// offsets writes indptr and indices, which SciPy wants in one type: of 32 bits if that holds the
// offsets.
func (nz *npzWriter) offsets(ptr []int64, idx []int32) {
	count, list := fmt.Sprintf("(%d,)", len(ptr)), fmt.Sprintf("(%d,)", len(idx))
	if int64(len(idx)) > 1<<31-1 {
		nz.array("indices", "<i8", list, func(w io.Writer) error { return writeAs[int32, int64](w, idx) })
		nz.array("indptr", "<i8", count, func(w io.Writer) error { return writeItems(w, ptr, 8) })
		return
	}
	nz.array("indices", "<i4", list, func(w io.Writer) error { return writeItems(w, idx, 4) })
	nz.array("indptr", "<i4", count, func(w io.Writer) error { return writeAs[int64, int32](w, ptr) })
}

// writeAs writes integers in another type.
func writeAs[E, F int32 | int64](w io.Writer, items []E) error {
	part := make([]F, 0, npyPart)
	width := 4
	if any(F(0)) == any(int64(0)) {
		width = 8
	}
	for len(items) > 0 {
		part = part[:0]
		for _, x := range items[:min(npyPart, len(items))] {
			part = append(part, F(x))
		}
		items = items[len(part):]
		if err := writeItems(w, part, width); err != nil {
			return err
		}
	}
	return nil
}

// writeRowNumbers writes the row of each entry.
func writeRowNumbers[T any](w io.Writer, st *sparse.Store[T]) error {
	part := make([]int32, 0, npyPart)
	for k := range st.Vecs() {
		for p := st.Ptr[k]; p < st.Ptr[k+1]; p++ {
			if part = append(part, int32(st.RowID(k))); len(part) == npyPart {
				if err := writeItems(w, part, 4); err != nil {
					return err
				}
				part = part[:0]
			}
		}
	}
	return writeItems(w, part, 4)
}
