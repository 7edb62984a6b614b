package matrix

import (
	"bytes"
	"encoding/binary"
	"hash/crc32"
	"io"
	"reflect"
	"unsafe"

	"github.com/hiveblas/hiveblas/internal/sparse"
)

// The binary form (.hgb). All numbers are little-endian. Each line gives an
// offset, a number of bytes and the field.
//
//	head, 64 bytes:
//	 0  8  magic 0x89 "HGB" CR LF 0x1a LF
//	 8  2  version, 3
//	10  1  1 matrix, 2 vector
//	11  1  element: 1 bool, 2–5 int8…int64, 6–9 uint8…uint64, 10 float32, 11 float64
//	12  1  format: 0 csr, 1 hypersparse, 2 bitmap, 3 full, 4 csr in blocks of rows
//	13  1  labels of the rows: 0 none, 1 ids that count from one, 2 ascending ids, 3 ids,
//	       4 ascending names, 5 names
//	14  1  labels of the columns: the same, or 6 for those of the rows
//	15  1  zero
//	16  8  rows
//	24  8  columns
//	32  8  entries
//	40  8  rows with offsets: rows (csr), rows with entries (hypersparse), or 0;
//	       number of blocks (csr in blocks)
//	48 12  zero
//	60  4  CRC-32C of bytes 0…59
//	sections of the format, in this order:
//	 1 row offsets (int64), 2 row numbers (int32), 3 column indices (int32),
//	 4 presence (bytes), 5 values
//	sections of the labels of the rows, then of the columns:
//	 9 ids (int64), or the first of ids that count
//	 10 offsets of names in the text (int64), 11 the text (bytes)
//	 12 indices in the order of the labels (int32), for labels that do not ascend
//	a section:
//	 4 bytes number of the section, 4 bytes per item, 8 number of items, the items,
//	 zeros to 4 bytes before a multiple of 8, 4 CRC-32C of all bytes of the section
//
// Arrays begin at multiples of 8, so that a file can be mapped into memory. A file
// in blocks has these sections instead:
//
//	 6 first row of each block, then the number of rows (int64)
//	 7 description of the job, which a resumed run compares with its own (bytes)
//	 sections 1, 3 and 5 of each block, with offsets from 0
//	 sections of the labels
//	 8 position in the file and entries of each block (pairs of int64)
//	 position of section 8 (8 bytes), magic
//
// Its number of entries in the head is 2⁶³−1, and it has no labels, until the last block is
// written.
//
// Version 2, which is read too, has no labels.
//
// int and uint are stored as 64 bits.

const (
	binaryMagic   = "\x89HGB\r\n\x1a\n"
	binaryVersion = 3
	binaryOldest  = 2
	binaryHead    = 64
	binaryMatrix  = 1
	binaryVector  = 2
	binaryChunk   = 1 << 20
)

const (
	sectionPtr = 1 + iota
	sectionRows
	sectionCols
	sectionPresent
	sectionVals
	sectionBounds
	sectionJob
	sectionIndex
	sectionIDs
	sectionOffsets
	sectionText
	sectionOrder
)

var sectionNames = [...]string{sectionPtr: "row offsets", sectionRows: "row numbers", sectionCols: "column indices", sectionPresent: "presence", sectionVals: "values",
	sectionBounds: "rows of blocks", sectionJob: "job", sectionIndex: "index",
	sectionIDs: "ids", sectionOffsets: "offsets of names", sectionText: "names", sectionOrder: "order of labels"}

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

var binaryKinds = [...]reflect.Kind{1: reflect.Bool, 2: reflect.Int8, 3: reflect.Int16, 4: reflect.Int32, 5: reflect.Int64,
	6: reflect.Uint8, 7: reflect.Uint16, 8: reflect.Uint32, 9: reflect.Uint64, 10: reflect.Float32, 11: reflect.Float64}

// hostLittle reports whether the host is little-endian, as files are.
var hostLittle = func() bool {
	x := uint16(1)
	return *(*byte)(unsafe.Pointer(&x)) == 1
}()

// WriteBinary writes a in the binary form of hiveblas (.hgb): the arrays of
// its storage format, each with a checksum, and the labels of [WithLabels], in an
// order for look-up. It takes little longer than a copy of the arrays.
// [ReadBinary] returns the same matrix in the same format, and [ReadLabelled] the
// labels too.
func WriteBinary[T Element](w io.Writer, a *Matrix[T], opts ...WriteOption) error {
	if a.Err() != nil {
		return a.Err()
	}
	if w == nil {
		return nilWriter("matrix.WriteBinary")
	}
	return writeBinary(w, a.stored(), binaryMatrix, "matrix.WriteBinary", writeOptionsOf(opts))
}

// WriteVectorBinary writes v in the binary form; see [WriteBinary].
func WriteVectorBinary[T Element](w io.Writer, v *Vector[T], opts ...WriteOption) error {
	if v.Err() != nil {
		return v.Err()
	}
	if w == nil {
		return nilWriter("matrix.WriteVectorBinary")
	}
	return writeBinary(w, v.m.stored1(), binaryVector, "matrix.WriteVectorBinary", writeOptionsOf(opts))
}

// MarshalBinary returns a in the binary form. Element types other than bool,
// integers and floats are a *TypeError.
func (a *Matrix[T]) MarshalBinary() ([]byte, error) {
	if err := a.Err(); err != nil {
		return nil, err
	}
	var b bytes.Buffer
	err := writeBinary(&b, a.stored(), binaryMatrix, "Matrix.MarshalBinary", &writeOptions{})
	return b.Bytes(), err
}

// MarshalBinary returns v in the binary form; see [Matrix.MarshalBinary].
func (v *Vector[T]) MarshalBinary() ([]byte, error) {
	if err := v.Err(); err != nil {
		return nil, err
	}
	var b bytes.Buffer
	err := writeBinary(&b, v.m.stored1(), binaryVector, "Vector.MarshalBinary", &writeOptions{})
	return b.Bytes(), err
}

func writeBinary[T comparable](w io.Writer, st *sparse.Typed[T], kind byte, op string, o *writeOptions) error {
	e, ok := elementOf[T]()
	if !ok {
		return e.refused(op)
	}
	return writeStore(w, rawOf(st), kind, op, o, e.item())
}

// writeStore is writeBinary for a type of values.
func writeStore(w io.Writer, st *raw, kind byte, op string, o *writeOptions, e item) error {
	le := binary.LittleEndian
	head := make([]byte, binaryHead)
	copy(head, binaryMagic)
	le.PutUint16(head[8:], binaryVersion)
	head[10], head[11], head[12] = kind, e.code(), byte(st.Format)
	le.PutUint64(head[16:], uint64(st.NRows))
	le.PutUint64(head[24:], uint64(st.NCols))
	le.PutUint64(head[32:], uint64(st.NVals))
	if st.Sparse() {
		le.PutUint64(head[40:], uint64(st.Vecs()))
	}
	labels := sides{o.labels, o.cols}
	if kind == binaryVector {
		labels.rows = nil
	}
	if err := labels.checkCounts(op, st.NRows, st.NCols); err != nil {
		return err
	}
	head[13], head[14] = labels.kinds(st.NRows, st.NCols)
	le.PutUint32(head[60:], crc32.Checksum(head[:60], castagnoli))
	o.size = int64(len(head)) + 8*int64(len(st.Ptr)) + 4*int64(len(st.RowIDs)+len(st.Idx)) + int64(len(st.Present)) + int64(len(st.val)/e.size)*int64(e.width)
	out := &reportingWriter{w: w, o: &o.common}
	if _, err := out.Write(head); err != nil {
		return err
	}
	if st.Sparse() {
		if err := writeSection(out, sectionPtr, st.Ptr, 8); err != nil {
			return err
		}
		if st.Format == sparse.Hypersparse {
			if err := writeSection(out, sectionRows, st.RowIDs, 4); err != nil {
				return err
			}
		}
		if err := writeSection(out, sectionCols, st.Idx, 4); err != nil {
			return err
		}
	}
	if st.Format == sparse.Bitmap {
		if err := writeSection(out, sectionPresent, st.Present, 1); err != nil {
			return err
		}
	}
	if err := e.values().write(out, st.val, e.width); err != nil {
		return err
	}
	return labels.write(out, st.NRows, st.NCols)
}

// fileWidth is the number of bytes of an element in a file.
func (e element[T]) fileWidth() int {
	if e.kind == reflect.Int || e.kind == reflect.Uint {
		return 8
	}
	return int(unsafe.Sizeof(e.one))
}

// writeSection writes one array as items of width bytes each.
func writeSection[E comparable](w io.Writer, id uint32, items []E, width int) error {
	le := binary.LittleEndian
	head := make([]byte, 16)
	le.PutUint32(head, id)
	le.PutUint32(head[4:], uint32(width))
	le.PutUint64(head[8:], uint64(len(items)))
	sum := crc32.Checksum(head, castagnoli)
	if _, err := w.Write(head); err != nil {
		return err
	}
	per, count := binaryChunk/width, len(items)
	var buf []byte
	for len(items) > 0 {
		part := items[:min(per, len(items))]
		items = items[len(part):]
		b := rawBytes(part)
		if !hostLittle || len(b) != len(part)*width {
			buf = encode(buf[:0], part, width)
			b = buf
		}
		sum = crc32.Update(sum, castagnoli, b)
		if _, err := w.Write(b); err != nil {
			return err
		}
	}
	tail := make([]byte, padding(int64(count)*int64(width)), 12)
	sum = crc32.Update(sum, castagnoli, tail)
	_, err := w.Write(le.AppendUint32(tail, sum))
	return err
}

// padding returns the number of zeros after items of so many bytes.
func padding(bytes int64) int64 { return (12 - bytes%8) % 8 }

// sectionBytes returns the size of a section of n items.
func sectionBytes(n, width int64) int64 { return 16 + n*width + padding(n*width) + 4 }

// rawBytes returns the memory of items.
func rawBytes[E any](items []E) []byte {
	if len(items) == 0 {
		return nil
	}
	return unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(items))), len(items)*int(unsafe.Sizeof(items[0])))
}

// encode appends items in the form of a file, on big-endian hosts and hosts with
// a 32-bit int.
func encode[E comparable](buf []byte, items []E, width int) []byte {
	e, _ := elementOf[E]()
	size := int(unsafe.Sizeof(e.one))
	raw := rawBytes(items)
	for k := range items {
		item := raw[k*size : (k+1)*size]
		if size == width {
			for b := range size {
				buf = append(buf, item[size-1-b])
			}
			continue
		}
		neg, mag := e.asInt(items[k])
		if neg {
			mag = -mag
		}
		buf = binary.LittleEndian.AppendUint64(buf, mag)
	}
	return buf
}

// decode is the reverse of encode; ok is false if an item does not fit.
func decode[E comparable](items []E, buf []byte, width int) (ok bool) {
	e, _ := elementOf[E]()
	size := int(unsafe.Sizeof(e.one))
	raw := rawBytes(items)
	for k := range items {
		in := buf[k*width : (k+1)*width]
		if size == width {
			for b := range size {
				raw[k*size+b] = in[size-1-b]
			}
			continue
		}
		mag := binary.LittleEndian.Uint64(in)
		neg := e.isSigned() && int64(mag) < 0
		if neg {
			mag = -mag
		}
		if items[k], ok = e.ofInt(neg, mag); !ok {
			return false
		}
	}
	return true
}

// raw is a store of a file, whose values have size bytes each.
type raw struct {
	sparse.Structure
	val  []byte // nil for a pattern
	size int
}

// rawOf returns a store as bytes, which it shares.
func rawOf[T comparable](st *sparse.Typed[T]) *raw {
	t := sparse.Untyped(st)
	return &raw{st.Structure, bytesOf(t.Type, t.Val), int(t.Type.Size)}
}

// valuesOfBytes returns the values in bytes that were allocated as values of T.
func valuesOfBytes[T any](b []byte) []T {
	if b == nil {
		return nil
	}
	return unsafe.Slice((*T)(unsafe.Pointer(unsafe.SliceData(b))), len(b)/int(unsafe.Sizeof(*new(T))))
}

// bytesOfSlice returns the memory of values without pointers, and nil for nil.
func bytesOfSlice[E any](s []E) []byte {
	if s == nil {
		return nil
	}
	return unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(s))), len(s)*int(unsafe.Sizeof(*new(E))))
}
