package numpy

import (
	"archive/zip"
	"bytes"
	"fmt"
	"io"

	"github.com/hiveblas/hiveblas/graphio/internal/core"
	"github.com/hiveblas/hiveblas/internal/hgb"
	"github.com/hiveblas/hiveblas/internal/npy"
	"github.com/hiveblas/hiveblas/internal/rep"
	"github.com/hiveblas/hiveblas/internal/sparse"
)

// WriteNPZ writes a matrix.
func WriteNPZ(w io.Writer, a rep.Matrix, o *core.WriteOptions) error {
	return writeNPZ("graphio.WriteNPZ", w, a, o)
}

func writeNPZ(op string, w io.Writer, a rep.Matrix, o *core.WriteOptions) error {
	st, err := core.RowsOf(a)
	if err != nil {
		return err
	}
	if w == nil {
		return core.NilWriter(op)
	}
	e := core.ElementOf(st.Type)
	if o.Layout > core.NPZCoordinates {
		return &core.OptionError{Op: op, Option: "InLayout", Reason: fmt.Sprintf("the layout is %d, want NPZRows, NPZColumns or NPZCoordinates", o.Layout)}
	}
	m, n := st.NRows, st.NCols
	if err := (core.Sides{Rows: o.Labels, Cols: o.Cols}).CheckCounts(op, m, n); err != nil {
		return err
	}
	if o.Layout == core.NPZColumns {
		st = st.Transpose(o.Threads)
	}
	names := map[string]*core.Labels{"row_names": o.Labels, "col_names": o.Cols}
	if o.Labels == o.Cols && m == n {
		names = map[string]*core.Labels{"names": o.Labels}
	}
	o.Size = 8*st.NVals + st.NVals*int64(e.Item().Width)
	if o.Layout != core.NPZCoordinates {
		o.Size = 4*(int64(st.NRows)+1+st.NVals) + st.NVals*int64(e.Item().Width)
	}
	nz := &npzWriter{z: zip.NewWriter(&core.ReportingWriter{W: w, O: &o.Common})}
	format := [...]string{"csr", "csc", "coo"}[o.Layout]
	nz.array("format", "|S3", "()", func(w io.Writer) error {
		_, err := io.WriteString(w, format)
		return err
	})
	nz.array("shape", "<i8", "(2,)", func(w io.Writer) error { return writeInts(w, []int64{int64(m), int64(n)}) })
	list := fmt.Sprintf("(%d,)", st.NVals)
	if o.Layout == core.NPZCoordinates {
		nz.array("row", "<i4", list, func(w io.Writer) error { return writeRowNumbers(w, &st.Structure) })
		nz.array("col", "<i4", list, func(w io.Writer) error { return writeInts(w, st.Idx) })
	} else {
		nz.offsets(&st.Structure)
	}
	kind := npyKind(e)
	if o.Pattern {
		kind = "|b1"
	}
	nz.array("data", kind, list, func(w io.Writer) error {
		if !o.Pattern {
			return writeItems(w, e.Item(), st.Val)
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
			nz.raw(name, func() ([]byte, error) { return npyNames(l, op, size) })
		}
	}
	if nz.err != nil {
		return nz.err
	}
	return nz.z.Close()
}

// WriteVectorNPZ writes a vector as a sparse matrix of one row.
func WriteVectorNPZ(w io.Writer, v rep.Matrix, o *core.WriteOptions) error {
	o.Labels = nil // of the one row
	return writeNPZ("graphio.WriteVector", w, v, o)
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
// offsets. Memory does not grow with the rows.
func (nz *npzWriter) offsets(st *sparse.Structure) {
	count, list := fmt.Sprintf("(%d,)", st.NRows+1), fmt.Sprintf("(%d,)", len(st.Idx))
	if int64(len(st.Idx)) > 1<<31-1 {
		nz.array("indices", "<i8", list, func(w io.Writer) error { return writeAs[int32, int64](w, st.Idx) })
		nz.array("indptr", "<i8", count, func(w io.Writer) error {
			return eachOffset(st, func(part []int64) error { return writeInts(w, part) })
		})
		return
	}
	nz.array("indices", "<i4", list, func(w io.Writer) error { return writeInts(w, st.Idx) })
	nz.array("indptr", "<i4", count, func(w io.Writer) error {
		return eachOffset(st, func(part []int64) error { return writeAs[int64, int32](w, part) })
	})
}

// eachOffset calls write with the offsets of all rows of a sparse structure, in parts.
func eachOffset(st *sparse.Structure, write func(part []int64) error) error {
	if st.Format == sparse.CSR {
		return write(st.Ptr)
	}
	part := make([]int64, 0, npyPart)
	add := func(offset int64) error {
		if part = append(part, offset); len(part) < npyPart {
			return nil
		}
		err := write(part)
		part = part[:0]
		return err
	}
	k := 0 // of the rows with entries
	for i := range st.NRows + 1 {
		for k < len(st.RowIDs) && int(st.RowIDs[k]) < i {
			k++
		}
		if err := add(st.Ptr[k]); err != nil {
			return err
		}
	}
	return write(part)
}

// writeInts writes integers.
func writeInts[E int32 | int64](w io.Writer, items []E) error {
	item, _ := hgb.ItemOf(sparse.TypeOf[E]())
	return writeItems(w, item, sparse.ValuesOf(items))
}

// writeAs writes integers in another type.
func writeAs[E, F int32 | int64](w io.Writer, items []E) error {
	part := make([]F, 0, npyPart)
	for len(items) > 0 {
		part = part[:0]
		for _, x := range items[:min(npyPart, len(items))] {
			part = append(part, F(x))
		}
		items = items[len(part):]
		if err := writeInts(w, part); err != nil {
			return err
		}
	}
	return nil
}

// writeRowNumbers writes the row of each entry.
func writeRowNumbers(w io.Writer, st *sparse.Structure) error {
	part := make([]int32, 0, npyPart)
	for k := range st.Vecs() {
		for p := st.Ptr[k]; p < st.Ptr[k+1]; p++ {
			if part = append(part, int32(st.RowID(k))); len(part) == npyPart {
				if err := writeInts(w, part); err != nil {
					return err
				}
				part = part[:0]
			}
		}
	}
	return writeInts(w, part)
}
