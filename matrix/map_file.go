package matrix

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"io"
	"unsafe"

	"github.com/hiveblas/hiveblas/internal/sparse"
)

// Mapped is a matrix in a file of the binary form that is mapped into memory:
// pages are read when they are looked at, and given up by the system when
// memory is short. The file must not change, and Close only after the last use
// of the matrix and of anything that shares storage with it.
type Mapped[T Element] struct {
	Matrix *Matrix[T]
	data   []byte
}

// OpenMapped maps the file at path, which must be of the binary form, not
// compressed and not in blocks, and hold elements of type T. Its checksums are
// not verified, its invariants are.
func OpenMapped[T Element](path string) (*Mapped[T], error) {
	const op = "matrix.OpenMapped"
	e, ok := elementOf[T]()
	if !ok {
		return nil, &TypeError{op, e.name(), "bool, an integer or a float", ""}
	}
	if !hostLittle || e.fileWidth() != int(unsafe.Sizeof(e.one)) {
		return nil, &InvalidError{op, "numbers lie in files otherwise than in the memory of this machine; use ReadFile"}
	}
	data, err := mapFile(path)
	if err != nil {
		return nil, err
	}
	st, err := overlay(data, path, e)
	if err != nil {
		_ = unmap(data)
		return nil, err
	}
	return &Mapped[T]{FromStore(st), data}, nil
}

// Close gives the mapping up.
func (m *Mapped[T]) Close() error {
	if m == nil {
		return nil
	}
	m.Matrix = nil
	data := m.data
	m.data = nil
	return unmap(data)
}

// overlay makes a matrix of the bytes of a file.
func overlay[T Element](data []byte, path string, e element[T]) (*sparse.Store[T], error) {
	o := readOptionsOf([]ReadOption{FileName(path)})
	r := bytes.NewReader(data)
	rd := &binaryReader{r, o, func() int64 { return 0 }}
	st := &sparse.Store[T]{}
	vecs, err := readBinaryHead(rd, st, binaryMatrix, e, "matrix.OpenMapped")
	if err != nil {
		return nil, err
	}
	if st.Format == blocked {
		return nil, &InvalidError{"matrix.OpenMapped", path + " is in blocks, whose arrays do not lie together; use ReadFile, or convert it"}
	}
	left := data[binaryHead:]
	if st.Sparse() {
		if st.Ptr, left, err = overlaid[int64](rd, left, sectionPtr, vecs+1); err == nil && st.Format == Hypersparse {
			st.RowIDs, left, err = overlaid[int32](rd, left, sectionRows, vecs)
		}
		if err == nil {
			st.Idx, left, err = overlaid[int32](rd, left, sectionCols, st.NVals)
		}
		if err == nil {
			st.Val, _, err = overlaid[T](rd, left, sectionVals, st.NVals)
		}
	} else {
		c, _ := st.Cells()
		if st.Format == Bitmap {
			st.Present, left, err = overlaid[uint8](rd, left, sectionPresent, int64(c))
		}
		if err == nil {
			st.Val, _, err = overlaid[T](rd, left, sectionVals, int64(c))
		}
	}
	if err != nil {
		return nil, err
	}
	if err := st.Check(len(st.Val), false); err != nil {
		return nil, rd.damaged("the matrix breaks its invariants", err.Error())
	}
	return st, nil
}

// overlaid takes the items of a section where they lie.
func overlaid[E comparable](rd *binaryReader, data []byte, id uint32, n int64) (items []E, left []byte, err error) {
	what := "section " + sectionNames[id]
	var one E
	width := int64(unsafe.Sizeof(one))
	le := binary.LittleEndian
	if n < 0 || n > int64(len(data))/width || int64(len(data)) < sectionBytes(n, width) {
		e := rd.damaged(what, "the file ends in it")
		e.Remedy, e.Err = "the file is cut short", io.ErrUnexpectedEOF
		return nil, nil, e
	}
	if le.Uint32(data) != id || le.Uint32(data[4:]) != uint32(width) || le.Uint64(data[8:]) != uint64(n) {
		return nil, nil, rd.damaged(what, "another section stands in its place")
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
