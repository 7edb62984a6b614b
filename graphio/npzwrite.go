package graphio

import (
	"archive/zip"
	"bytes"
	"fmt"
	"io"

	"github.com/hiveblas/hiveblas/internal/hgb"
	"github.com/hiveblas/hiveblas/internal/npy"
	"github.com/hiveblas/hiveblas/internal/rep"
	"github.com/hiveblas/hiveblas/internal/sparse"
	"github.com/hiveblas/hiveblas/matrix"
)

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
func WriteNPZ[T matrix.Element](w io.Writer, a *matrix.Matrix[T], opts ...WriteOption) error {
	return writeNPZ("graphio.WriteNPZ", w, a.Inside().Matrix, writeOptionsOf(opts))
}

func writeNPZ(op string, w io.Writer, a rep.Matrix, o *writeOptions) error {
	st, err := rowsOf(a)
	if err != nil {
		return err
	}
	if w == nil {
		return nilWriter(op)
	}
	e := elementOf(st.Type)
	if o.layout > NPZCoordinates {
		return &OptionError{Op: op, Option: "InLayout", Reason: fmt.Sprintf("the layout is %d, want NPZRows, NPZColumns or NPZCoordinates", o.layout)}
	}
	m, n := st.NRows, st.NCols
	if err := (sides{o.labels, o.cols}).checkCounts(op, m, n); err != nil {
		return err
	}
	if o.layout == NPZColumns {
		st = st.Transpose(o.threads)
	}
	names := map[string]*Labels{"row_names": o.labels, "col_names": o.cols}
	if o.labels == o.cols && m == n {
		names = map[string]*Labels{"names": o.labels}
	}
	o.size = 8*st.NVals + st.NVals*int64(e.item().Width)
	if o.layout != NPZCoordinates {
		o.size = 4*(int64(st.NRows)+1+st.NVals) + st.NVals*int64(e.item().Width)
	}
	nz := &npzWriter{z: zip.NewWriter(&reportingWriter{w: w, o: &o.common})}
	format := [...]string{"csr", "csc", "coo"}[o.layout]
	nz.array("format", "|S3", "()", func(w io.Writer) error {
		_, err := io.WriteString(w, format)
		return err
	})
	nz.array("shape", "<i8", "(2,)", func(w io.Writer) error { return writeInts(w, []int64{int64(m), int64(n)}) })
	list := fmt.Sprintf("(%d,)", st.NVals)
	if o.layout == NPZCoordinates {
		nz.array("row", "<i4", list, func(w io.Writer) error { return writeRowNumbers(w, &st.Structure) })
		nz.array("col", "<i4", list, func(w io.Writer) error { return writeInts(w, st.Idx) })
	} else {
		nz.offsets(&st.Structure)
	}
	kind := e.npyKind()
	if o.pattern {
		kind = "|b1"
	}
	nz.array("data", kind, list, func(w io.Writer) error {
		if !o.pattern {
			return writeItems(w, e.item(), st.Val)
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

// writeVectorNPZ writes a vector as a sparse matrix of one row.
func writeVectorNPZ(w io.Writer, v rep.Matrix, o *writeOptions) error {
	o.labels = nil // of the one row
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
