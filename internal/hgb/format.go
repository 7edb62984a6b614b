// Package hgb reads and writes the binary form of matrices and vectors (.hgb). It knows no element
// types: values are of a kind. Package matrix marshals by it, and package graphio reads and writes
// files.
package hgb

import (
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"math"
	"reflect"
	"slices"
	"unsafe"

	"github.com/hiveblas/hiveblas/internal/pieces"
	"github.com/hiveblas/hiveblas/internal/sparse"
)

// The binary form. All numbers are little-endian. Each line gives an
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
//	14  1  labels of the columns: the same, or 6 for the labels of the rows
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

// The constants of the form.
const (
	Magic     = "\x89HGB\r\n\x1a\n"
	HeadBytes = 64
	Matrix    = 1 // a kind of file
	Vector    = 2
	Chunk     = 1 << 20          // items or bytes that are read or written at a time
	Blocked   = sparse.Full + 1  // the format code of files in blocks of rows, which are CSR in memory
	Open      = int64(1<<63 - 1) // the number of entries in the head of an unfinished file
	maxCells  = 1 << 40          // positions of a dense format, more than any memory holds
	maxDim    = sparse.MaxDim
	version   = 3
	oldest    = 2
)

// The sections.
const (
	SectionPtr = 1 + iota
	SectionRows
	SectionCols
	SectionPresent
	SectionVals
	SectionBounds
	SectionJob
	SectionIndex
	sectionIDs
	sectionOffsets
	sectionText
	sectionOrder
)

var sectionNames = [...]string{SectionPtr: "row offsets", SectionRows: "row numbers", SectionCols: "column indices", SectionPresent: "presence", SectionVals: "values",
	SectionBounds: "rows of blocks", SectionJob: "job", SectionIndex: "index",
	sectionIDs: "ids", sectionOffsets: "offsets of names", sectionText: "names", sectionOrder: "order of labels"}

// SectionName names a section in errors.
func SectionName(id uint32) string { return "section " + sectionNames[id] }

var kinds = [...]reflect.Kind{1: reflect.Bool, 2: reflect.Int8, 3: reflect.Int16, 4: reflect.Int32, 5: reflect.Int64,
	6: reflect.Uint8, 7: reflect.Uint16, 8: reflect.Uint32, 9: reflect.Uint64, 10: reflect.Float32, 11: reflect.Float64}

// HostLittle reports whether the host is little-endian, as files are.
var HostLittle = func() bool {
	x := uint16(1)
	return *(*byte)(unsafe.Pointer(&x)) == 1
}()

// Item is the type of the items of a section.
type Item struct {
	Kind  reflect.Kind
	Type  *sparse.Type // in memory
	Width int          // bytes in the file
}

// ItemOf returns the item that holds values of a type; ok is false for a type that files do not
// hold.
func ItemOf(t *sparse.Type) (e Item, ok bool) {
	e = Item{sparse.GoType(t).Kind(), t, int(t.Size)}
	switch e.Kind {
	case reflect.Int, reflect.Uint:
		e.Width = 8
	default:
		ok = slices.Contains(kinds[1:], e.Kind)
		return e, ok
	}
	return e, true
}

// ofKind returns the item of the built-in type of a kind that a head names.
func ofKind(kind reflect.Kind) Item {
	e, _ := ItemOf(sparse.OfKind(kind))
	return e
}

// The items of the sections that are not values.
var (
	longs  = ofKind(reflect.Int64)
	words  = ofKind(reflect.Int32)
	bytes1 = ofKind(reflect.Uint8)
)

// Fixed is the type of an item that is no value.
type Fixed interface{ int64 | int32 | uint8 }

// ItemFor returns the item of a fixed type.
func ItemFor[E Fixed]() Item {
	switch any(E(0)).(type) {
	case int64:
		return longs
	case int32:
		return words
	}
	return bytes1
}

// code returns the code of the type in a head.
func (e Item) code() byte {
	kind := e.Kind
	switch kind {
	case reflect.Int:
		kind = reflect.Int64
	case reflect.Uint:
		kind = reflect.Uint64
	}
	return byte(slices.Index(kinds[1:], kind) + 1)
}

// Holds reports whether a file of kind k has the values of e as they are.
func (e Item) Holds(k reflect.Kind) bool { return ofKind(k).code() == e.code() }

// Bytes returns the memory of values of a type without pointers, nil for none.
func Bytes(t *sparse.Type, v sparse.Values) []byte {
	if v.None() || v.Len() == 0 {
		return nil
	}
	return unsafe.Slice((*byte)(v.Pointer()), int64(v.Len())*t.Size)
}

// asStored reports whether the bytes of items in memory are their bytes in a file.
func (e Item) asStored() bool { return HostLittle && int64(e.Width) == e.Type.Size }

// Encoded returns items in the form of a file: their memory, or what it writes to buf.
func (e Item) Encoded(buf []byte, items sparse.Values) []byte {
	raw := Bytes(e.Type, items)
	if e.asStored() {
		return raw
	}
	return encode(buf[:0], raw, int(e.Type.Size), e.Width, e.Kind == reflect.Int)
}

// encode appends items of size bytes in the form of a file, on big-endian hosts and hosts with a
// 32-bit int.
func encode(buf, raw []byte, size, width int, signed bool) []byte {
	for ; len(raw) > 0; raw = raw[size:] {
		if size == width {
			for b := range size {
				buf = append(buf, raw[size-1-b])
			}
			continue
		}
		x := *(*uint32)(unsafe.Pointer(&raw[0]))
		wide := uint64(x)
		if signed {
			wide = uint64(int64(int32(x)))
		}
		buf = binary.LittleEndian.AppendUint64(buf, wide)
	}
	return buf
}

// decode is the reverse of encode; ok is false if an item does not fit.
func decode(raw, buf []byte, size, width int, signed bool) (ok bool) {
	for ; len(raw) > 0; raw, buf = raw[size:], buf[width:] {
		if size == width {
			for b := range size {
				raw[b] = buf[size-1-b]
			}
			continue
		}
		wide := binary.LittleEndian.Uint64(buf)
		if signed && int64(wide) != int64(int32(wide)) || !signed && wide > math.MaxUint32 {
			return false
		}
		*(*uint32)(unsafe.Pointer(&raw[0])) = uint32(wide)
	}
	return true
}

// settle makes items of the bytes of a file, which may be their memory, and returns what is wrong
// with them. A caller drops items with a fault: a bool in memory must be 0 or 1.
func (e Item) settle(items sparse.Values, b []byte) (fault string) {
	switch {
	case !e.asStored():
		if !decode(Bytes(e.Type, items), b, int(e.Type.Size), e.Width, e.Kind == reflect.Int) {
			return "a value does not fit " + sparse.GoType(e.Type).String()
		}
	case e.Kind == reflect.Bool:
		for _, x := range b {
			if x > 1 {
				return fmt.Sprintf("byte %d for a bool", x)
			}
		}
	}
	return ""
}

// Head is what the first bytes of a file tell.
type Head struct {
	Vector  bool
	Element reflect.Kind     // of the values in the file
	Shape   sparse.Structure // without arrays
	Vecs    int64            // rows with offsets, or blocks
	labels  [2]byte
}

// SetLabels records which labels an m×n matrix has.
func (h *Head) SetLabels(s Sides) { h.labels[0], h.labels[1] = s.kinds() }

// Encode returns the bytes of a head with values e.
func (h *Head) Encode(e Item) []byte {
	le := binary.LittleEndian
	head := make([]byte, HeadBytes)
	copy(head, Magic)
	le.PutUint16(head[8:], version)
	head[10], head[11], head[12] = Matrix, e.code(), byte(h.Shape.Format)
	if h.Vector {
		head[10] = Vector
	}
	head[13], head[14] = h.labels[0], h.labels[1]
	le.PutUint64(head[16:], uint64(h.Shape.NRows))
	le.PutUint64(head[24:], uint64(h.Shape.NCols))
	le.PutUint64(head[32:], uint64(h.Shape.NVals))
	le.PutUint64(head[40:], uint64(h.Vecs))
	le.PutUint32(head[60:], crc32.Checksum(head[:60], pieces.Castagnoli))
	return head
}
