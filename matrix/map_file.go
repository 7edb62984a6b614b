package matrix

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"io"
	"unsafe"

	"github.com/hiveblas/hiveblas/internal/sparse"
)

// Mapped is a matrix in a binary file that is mapped into memory: the system loads
// pages on access and drops them when memory is short. The file must not change.
// Close invalidates the matrix and everything that shares its storage.
type Mapped[T Element] struct {
	Matrix     *Matrix[T]
	Rows, Cols *Labels // of the rows and columns, or nil; copied from the file
	data       []byte
}

// OpenMapped maps the file at path. It must be a binary file of elements of type
// T, neither compressed nor in blocks. OpenMapped verifies the invariants of the
// matrix but no checksums.
func OpenMapped[T Element](path string) (*Mapped[T], error) {
	const op = "matrix.OpenMapped"
	e, ok := elementOf[T]()
	if !ok {
		return nil, e.refused(op)
	}
	if !hostLittle || e.fileWidth() != int(unsafe.Sizeof(e.one)) {
		return nil, &InvalidError{op, "this machine stores numbers differently from the file; use ReadFile"}
	}
	data, err := mapFile(path)
	if err != nil {
		return nil, err
	}
	st, labels, err := overlay(data, path, e)
	if err != nil {
		_ = unmap(data)
		return nil, err
	}
	return &Mapped[T]{fromStore(st), labels.rows, labels.cols, data}, nil
}

// Close unmaps the file.
func (m *Mapped[T]) Close() error {
	if m == nil {
		return nil
	}
	m.Matrix = nil
	data := m.data
	m.data = nil
	return unmap(data)
}

// overlay returns the matrix whose arrays are in data, and its labels.
func overlay[T Element](data []byte, path string, e element[T]) (*sparse.Typed[T], sides, error) {
	o := readOptionsOf([]ReadOption{FileName(path)})
	r := bytes.NewReader(data)
	rd := &binaryReader{r: r, o: o, taken: noBytes}
	st := &sparse.Typed[T]{}
	vecs, kinds, err := readBinaryHead(rd, &st.Structure, binaryMatrix, e.item(), "matrix.OpenMapped")
	if err != nil {
		return nil, sides{}, err
	}
	if st.Format == blocked {
		return nil, sides{}, &InvalidError{"matrix.OpenMapped", path + " is in blocks, whose arrays are not contiguous; use ReadFile, or convert it"}
	}
	left := data[binaryHead:]
	if st.Sparse() {
		st.Ptr, left, err = overlaid[int64](rd, left, sectionPtr, vecs+1)
		if err == nil && st.Format == sparse.Hypersparse {
			st.RowIDs, left, err = overlaid[int32](rd, left, sectionRows, vecs)
		}
		if err == nil {
			st.Idx, left, err = overlaid[int32](rd, left, sectionCols, st.NVals)
		}
		if err == nil {
			st.Val, left, err = overlaid[T](rd, left, sectionVals, st.NVals)
		}
	} else {
		c, _ := st.Cells()
		if st.Format == sparse.Bitmap {
			st.Present, left, err = overlaid[uint8](rd, left, sectionPresent, int64(c))
		}
		if err == nil {
			st.Val, left, err = overlaid[T](rd, left, sectionVals, int64(c))
		}
	}
	if err != nil {
		return nil, sides{}, err
	}
	if err := st.Check(len(st.Val), false); err != nil {
		return nil, sides{}, rd.damaged("the matrix breaks its invariants", err.Error())
	}
	labels, err := overlaySides(rd, left, kinds, st.NRows, st.NCols)
	if err != nil {
		return nil, sides{}, err
	}
	return st, labels, nil
}

// overlaid returns the items of a section without copying them.
func overlaid[E comparable](rd *binaryReader, data []byte, id uint32, n int64) (items []E, left []byte, err error) {
	what := "section " + sectionNames[id]
	var one E
	width := int64(unsafe.Sizeof(one))
	le := binary.LittleEndian
	if n < 0 || n > int64(len(data))/width || int64(len(data)) < sectionBytes(n, width) {
		e := rd.damaged(what, "the file ends here")
		e.Remedy, e.Err = "the file is cut short", io.ErrUnexpectedEOF
		return nil, nil, e
	}
	if le.Uint32(data) != id || le.Uint32(data[4:]) != uint32(width) || le.Uint64(data[8:]) != uint64(n) {
		return nil, nil, rd.damaged(what, "found another section instead")
	}
	if n > 0 {
		items = unsafe.Slice((*E)(unsafe.Pointer(&data[16])), n)
	}
	if e, _ := elementOf[E](); e.isBool() {
		for _, x := range data[16 : 16+n] {
			if x > 1 {
				return nil, nil, rd.damaged(what, fmt.Sprintf("byte %d for a bool", x))
			}
		}
	}
	return items, data[sectionBytes(n, width):], nil
}
