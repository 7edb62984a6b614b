package hgb

import (
	"encoding/binary"
	"hash/crc32"
	"io"

	"github.com/hiveblas/hiveblas/internal/pieces"
	"github.com/hiveblas/hiveblas/internal/sparse"
)

// Size returns the number of bytes of the arrays of a store in a file.
func Size(st *sparse.Store, e Item) int64 {
	return HeadBytes + 8*int64(len(st.Ptr)) + 4*int64(len(st.RowIDs)+len(st.Idx)) + int64(len(st.Present)) + int64(st.Val.Len())*int64(e.Width)
}

// Write writes a store, of a vector or a matrix, and its labels. e is the item of its values.
func Write(w io.Writer, st *sparse.Store, vector bool, e Item, labels Sides) error {
	h := Head{Vector: vector, Shape: sparse.Structure{NRows: st.NRows, NCols: st.NCols, NVals: st.NVals, Format: st.Format}}
	if st.Sparse() {
		h.Vecs = int64(st.Vecs())
	}
	h.SetLabels(labels)
	if _, err := w.Write(h.Encode(e)); err != nil {
		return err
	}
	if st.Sparse() {
		if err := WriteSection(w, SectionPtr, st.Ptr); err != nil {
			return err
		}
		if st.Format == sparse.Hypersparse {
			if err := WriteSection(w, SectionRows, st.RowIDs); err != nil {
				return err
			}
		}
		if err := WriteSection(w, SectionCols, st.Idx); err != nil {
			return err
		}
	}
	if st.Format == sparse.Bitmap {
		if err := WriteSection(w, SectionPresent, st.Present); err != nil {
			return err
		}
	}
	if err := WriteItems(w, SectionVals, e, st.Val); err != nil {
		return err
	}
	return labels.Write(w)
}

// WriteSection writes an array.
func WriteSection[E Fixed](w io.Writer, id uint32, items []E) error {
	return WriteItems(w, id, ItemFor[E](), sparse.ValuesOf(items))
}

// WriteItems writes an array of items e.
func WriteItems(w io.Writer, id uint32, e Item, items sparse.Values) error {
	le := binary.LittleEndian
	n := int64(items.Len())
	head := make([]byte, 16)
	le.PutUint32(head, id)
	le.PutUint32(head[4:], uint32(e.Width))
	le.PutUint64(head[8:], uint64(n))
	sum := crc32.Checksum(head, pieces.Castagnoli)
	if _, err := w.Write(head); err != nil {
		return err
	}
	var buf []byte
	per := int64(Chunk / e.Width)
	for at := int64(0); at < n; at += per {
		b := e.Encoded(buf, e.Type.Slice(items, at, min(at+per, n)))
		if !e.asStored() {
			buf = b
		}
		sum = crc32.Update(sum, pieces.Castagnoli, b)
		if _, err := w.Write(b); err != nil {
			return err
		}
	}
	tail := make([]byte, padding(n*int64(e.Width)), 12)
	sum = crc32.Update(sum, pieces.Castagnoli, tail)
	_, err := w.Write(le.AppendUint32(tail, sum))
	return err
}

// padding returns the number of zeros after items of so many bytes.
func padding(bytes int64) int64 { return (12 - bytes%8) % 8 }

// SectionBytes returns the size of a section of n items.
func SectionBytes(n, width int64) int64 { return 16 + n*width + padding(n*width) + 4 }
