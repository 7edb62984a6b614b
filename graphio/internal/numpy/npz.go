package numpy

import (
	"archive/zip"
	"bytes"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/hiveblas/hiveblas/graphio/internal/build"
	"github.com/hiveblas/hiveblas/graphio/internal/core"
	"github.com/hiveblas/hiveblas/internal/pieces"
	"github.com/hiveblas/hiveblas/internal/sparse"
	"github.com/hiveblas/hiveblas/matrix"
	"github.com/klauspost/compress/flate"
)

// npzReader reads the arrays of a file.
type npzReader struct {
	*build.GraphEdges
	files map[string]*zip.File
	plain *pieces.File
}

// ReadNPZ is graphio.ReadNPZ.
func ReadNPZ(r io.Reader, o *core.ReadOptions) (*sparse.Store, core.Sides, error) {
	g, err := build.NewGraphEdges("graphio.ReadNPZ", r, o)
	if err != nil {
		return nil, core.Sides{}, err
	}
	rd, err := openNPZ(g, r)
	if err != nil {
		return nil, core.Sides{}, err
	}
	return rd.read()
}

// openNPZ finds the arrays of a file.
func openNPZ(g *build.GraphEdges, r io.Reader) (*npzReader, error) {
	var at io.ReaderAt
	var size int64
	f := g.O.Random
	if f == nil {
		f, _ = r.(core.RandomReader)
	}
	if f != nil {
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
		e := g.O.Fail(0, "no .npz file: "+err.Error(), "the file is damaged or cut short")
		e.Err = err
		return nil, e
	}
	z.RegisterDecompressor(zip.Deflate, flate.NewReader)
	rd := &npzReader{GraphEdges: g, files: map[string]*zip.File{}, plain: &pieces.File{At: at, Size: size}}
	for _, f := range z.File {
		if name, ok := strings.CutSuffix(f.Name, ".npy"); ok {
			rd.files[name] = f
		}
	}
	return rd, nil
}

func (rd *npzReader) read() (*sparse.Store, core.Sides, error) {
	layout, err := rd.layout()
	if err != nil {
		return nil, core.Sides{}, err
	}
	var shape []int64
	if err := rd.load(npzInts(rd, "shape", 1<<62, &shape)); err != nil {
		return nil, core.Sides{}, err
	}
	if len(shape) != 2 || shape[0] > matrix.MaxDim || shape[1] > matrix.MaxDim {
		e := rd.O.Fail(0, fmt.Sprintf("the shape is %v, want two dimensions of at most %d", shape, matrix.MaxDim), "")
		e.Err = &matrix.SizeError{Op: "ReadNPZ", Arg: "dimension", Got: int64(len(shape)), Limit: matrix.MaxDim}
		return nil, core.Sides{}, e
	}
	m, n := int(shape[0]), int(shape[1])
	labels, err := rd.names(m, n)
	if err != nil {
		return nil, core.Sides{}, err
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
		return nil, core.Sides{}, err
	}
	if len(ptr) != m+1 || ptr[0] != 0 || !ascends(ptr, rd.O.Threads) || ptr[m] != int64(len(idx)) {
		return nil, core.Sides{}, rd.O.Fail(0, fmt.Sprintf("array indptr: want %d offsets that ascend from 0 to the %d entries", m+1, len(idx)), "")
	}
	rd.Count = int64(len(idx))
	st := &sparse.Store{Structure: sparse.Structure{NRows: m, NCols: n, Ptr: ptr, Idx: idx, NVals: rd.Count}, Val: val, Type: rd.E.T}
	if layout == "csr" {
		rd.Describe("SciPy csr", field(val), "general", m, n)
	} else {
		rd.Describe("SciPy csc", field(val), "general", n, m)
	}
	if st.Check(val.Len(), false) == nil && (!rd.O.Symmetrise || rd.Dup == nil) {
		if layout == "csc" {
			st = st.Transpose(rd.O.Threads)
		}
		if rd.O.Symmetrise {
			if m != n {
				return nil, core.Sides{}, rd.O.FailKind(0, fmt.Sprintf("cannot symmetrise a %d×%d matrix", m, n), core.RemedyNoSymmetrise)
			}
			st = build.Symmetrise(st.ToSparse(), rd.E, nil, rd.O.Threads)
		}
		return st.Settle(), labels, nil
	}
	rows := st.RowOfEntries() // columns are in any order, or repeated
	rd.Count = 0
	if layout == "csc" {
		rd.AddBlock(sparse.Block{Row: idx, Col: rows, Val: val})
		return rd.Finish(n, m, labels, false)
	}
	rd.AddBlock(sparse.Block{Row: rows, Col: idx, Val: val})
	return rd.Finish(m, n, labels, false)
}

func (rd *npzReader) coordinates(m, n int, labels core.Sides) (*sparse.Store, core.Sides, error) {
	var rows, cols []int32
	var val sparse.Values
	first := npzInts(rd, "row", int64(m), &rows)
	values, field := rd.values(first, &val)
	if err := rd.load(first, npzInts(rd, "col", int64(n), &cols), values); err != nil {
		return nil, core.Sides{}, err
	}
	if len(cols) != len(rows) {
		return nil, core.Sides{}, rd.O.Fail(0, fmt.Sprintf("array col has %d items, and row has %d", len(cols), len(rows)), "")
	}
	rd.AddBlock(sparse.Block{Row: rows, Col: cols, Val: val})
	rd.Describe("SciPy coo", field(val), "general", m, n)
	return rd.Finish(m, n, labels, false)
}

// layout returns csr, csc or coo.
func (rd *npzReader) layout() (string, error) {
	if rd.files["format"] == nil {
		names := make([]string, 0, len(rd.files))
		for name := range rd.files {
			names = append(names, name)
		}
		slices.Sort(names)
		return "", rd.O.Fail(0, "the file is no sparse matrix of SciPy: its arrays are "+core.Quote(strings.Join(names, ", ")), "write the matrix with scipy.sparse.save_npz")
	}
	a, err := rd.array("format")
	if err != nil {
		return "", err
	}
	defer a.r.Close()
	layout, err := a.Text()
	if err != nil {
		return "", damagedArray(rd.O, "array format", err)
	}
	switch layout {
	case "csr", "csc", "coo":
		return layout, nil
	}
	return "", rd.O.Fail(0, "the layout is "+core.Quote(layout)+", want csr, csc or coo", "convert it with tocsr()")
}

// names reads the labels of an m×n matrix.
func (rd *npzReader) names(m, n int) (labels core.Sides, err error) {
	if rd.files["names"] != nil {
		if m != n {
			return labels, rd.O.Fail(0, "array names belongs to a square matrix", "write row_names and col_names")
		}
		labels.Rows, err = rd.labels("names", n)
		labels.Cols = labels.Rows
		return labels, err
	}
	if rd.files["row_names"] != nil {
		if labels.Rows, err = rd.labels("row_names", m); err != nil {
			return labels, err
		}
	}
	if rd.files["col_names"] != nil {
		labels.Cols, err = rd.labels("col_names", n)
	}
	return labels, err
}

func (rd *npzReader) labels(name string, n int) (*core.Labels, error) {
	s, err := rd.array(name)
	if err != nil {
		return nil, err
	}
	defer s.r.Close()
	if len(s.Shape) != 1 || s.Len() != n {
		return nil, rd.O.Fail(0, fmt.Sprintf("array %s has %d items in %d dimensions, want %d names", name, s.Len(), len(s.Shape), n), "")
	}
	if s.Kind == 'U' || s.Kind == 'S' {
		names := []string{}
		for s.Len() > 0 {
			text, err := s.Text()
			if err != nil {
				return nil, damagedArray(rd.O, "array "+name, err)
			}
			names = append(names, text)
		}
		rd.O.WarnBroken(rd.O.OneLine(names))
		return core.OfNames(names), nil
	}
	ids := []int64{}
	part := make([]int64, npyPart)
	for {
		k, err := s.Ints(part)
		if err != nil {
			return nil, damagedArray(rd.O, "array "+name, err)
		}
		if k == 0 {
			return core.OfIDs(ids), nil
		}
		ids = append(ids, part[:k]...)
	}
}
