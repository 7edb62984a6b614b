package hgb

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"io"
	"slices"
	"unsafe"

	"github.com/hiveblas/hiveblas/internal/fresh"
	"github.com/hiveblas/hiveblas/internal/sparse"
)

// Read reads a matrix or a vector with values e, compressed or not. With [Options].Convert the
// store may have values of another kind: the kind of the file.
func Read(r io.Reader, vector bool, e Item, o *Options) (st *sparse.Store, labels Sides, err error) {
	rd, err := OpenReader(r, o)
	if err != nil {
		return nil, labels, err
	}
	h, err := rd.Head(vector, e)
	if err != nil {
		return nil, labels, err
	}
	if !e.Holds(h.Element) {
		e = ofKind(h.Element)
	}
	st = &sparse.Store{Structure: h.Shape, Type: e.Type}
	if st.Format == Blocked {
		labels, err = rd.blocks(h, st, e)
	} else {
		labels, err = rd.arrays(h, st, e)
	}
	if err == nil && o.ToEnd {
		err = rd.atEnd()
	}
	if err != nil {
		return nil, labels, err
	}
	rd.finish()
	return st, labels, nil
}

// arrays reads the sections after the head of a file that is not in blocks.
func (rd *Reader) arrays(h *Head, st *sparse.Store, e Item) (labels Sides, err error) {
	cells := st.NVals
	if st.Sparse() {
		if st.Ptr, err = Section[int64](rd, SectionPtr, h.Vecs+1); err != nil {
			return labels, err
		}
		if st.Format == sparse.Hypersparse {
			if st.RowIDs, err = Section[int32](rd, SectionRows, h.Vecs); err != nil {
				return labels, err
			}
		}
		if st.Idx, err = Section[int32](rd, SectionCols, st.NVals); err != nil {
			return labels, err
		}
	} else {
		c, _ := st.Cells()
		cells = int64(c)
	}
	if st.Format == sparse.Bitmap {
		if st.Present, err = Section[uint8](rd, SectionPresent, cells); err != nil {
			return labels, err
		}
	}
	if st.Val, err = rd.Items(SectionVals, e, cells); err != nil {
		return labels, err
	}
	if err := st.Check(st.Val.Len(), false); err != nil {
		return labels, damaged("the matrix breaks its invariants", err.Error())
	}
	return rd.Sides(h)
}

// maxJob bounds the description of a job.
const maxJob = 1 << 16

// job reads the description of a job, which has so many bytes as its section says.
func (rd *Reader) job() ([]uint8, error) {
	head := make([]byte, 16)
	if err := rd.full(head, SectionName(SectionJob)); err != nil {
		return nil, err
	}
	n := binary.LittleEndian.Uint64(head[8:])
	if n > maxJob {
		return nil, damaged(SectionName(SectionJob), fmt.Sprintf("%d bytes", n))
	}
	again := &Reader{r: io.MultiReader(bytes.NewReader(head), rd.r), o: rd.o, taken: rd.taken}
	return Section[uint8](again, SectionJob, int64(n))
}

// blocks reads the sections of a file in blocks, and returns its labels.
func (rd *Reader) blocks(h *Head, st *sparse.Store, e Item) (labels Sides, err error) {
	st.Format = sparse.CSR
	blocks, total, t := h.Vecs, st.NVals, e.Type
	bounds, err := Section[int64](rd, SectionBounds, blocks+1)
	if err != nil {
		return labels, err
	}
	if bounds[0] != 0 || bounds[blocks] != int64(st.NRows) || !slices.IsSorted(bounds) {
		return labels, damaged(SectionName(SectionBounds), fmt.Sprintf("the blocks do not cover the rows from 0 to %d in order", st.NRows))
	}
	job, err := rd.job()
	if err != nil {
		return labels, err
	}
	at := HeadBytes + SectionBytes(blocks+1, 8) + SectionBytes(int64(len(job)), 1)
	places := make([]int64, 0, 2*min(blocks, Chunk))
	st.Ptr = append(make([]int64, 0, min(int64(st.NRows)+1, Chunk)), 0)
	st.NVals, st.Val = 0, t.Make(0)
	for k := range blocks {
		ptr, err := Section[int64](rd, SectionPtr, bounds[k+1]-bounds[k]+1)
		if err != nil {
			return labels, err
		}
		most := int64(len(ptr)-1) * int64(st.NCols)
		if ptr[0] != 0 || !slices.IsSorted(ptr) || ptr[len(ptr)-1] > min(most, total-st.NVals) {
			return labels, damaged(SectionName(SectionPtr), fmt.Sprintf("the offsets of block %d do not ascend from 0 to at most the remaining entries", k))
		}
		n := ptr[len(ptr)-1]
		idx, err := Section[int32](rd, SectionCols, n)
		if err != nil {
			return labels, err
		}
		val, err := rd.Items(SectionVals, e, n)
		if err != nil {
			return labels, err
		}
		for _, p := range ptr[1:] {
			st.Ptr = append(st.Ptr, st.NVals+p)
		}
		if st.Idx == nil { // the first block is intact, so the count probably is too
			room := min(total, 8*n*blocks)
			st.Idx, st.Val = fresh.Make[int32](room)[:0], t.Make(room)
		}
		st.Idx = append(st.Idx, idx...)
		if st.NVals+n > int64(st.Val.Len()) {
			grown := t.Make(2 * (st.NVals + n))
			t.Copy(grown, t.Slice(st.Val, 0, st.NVals))
			st.Val = grown
		}
		t.Copy(t.Slice(st.Val, st.NVals, st.NVals+n), val)
		st.NVals += n
		places = append(places, at, n)
		at += BlockBytes(int64(len(ptr)-1), n, e)
	}
	if st.NVals != total {
		return labels, damaged("blocks", fmt.Sprintf("%d entries, the head says %d", st.NVals, total))
	}
	st.Val = t.Slice(st.Val, 0, total)
	if labels, err = rd.Sides(h); err != nil {
		return labels, err
	}
	at += labels.Bytes()
	index, err := Section[int64](rd, SectionIndex, 2*blocks)
	if err != nil {
		return labels, err
	}
	tail := make([]byte, 16)
	if err := rd.full(tail, "the end"); err != nil {
		return labels, err
	}
	if string(tail[8:]) != Magic || int64(binary.LittleEndian.Uint64(tail)) != at || !slices.Equal(index, places) {
		return labels, damaged(SectionName(SectionIndex), "the positions of the blocks are wrong")
	}
	if err := st.Check(st.Val.Len(), false); err != nil {
		return labels, damaged("the matrix breaks its invariants", err.Error())
	}
	return labels, nil
}

// BlockBytes returns the size of a block of so many rows with n entries.
func BlockBytes(rows, n int64, e Item) int64 {
	return SectionBytes(rows+1, 8) + SectionBytes(n, 4) + SectionBytes(n, int64(e.Width))
}

// SkipBlock verifies the checksums of a block of so many rows and returns the number of its
// entries.
func (rd *Reader) SkipBlock(rows int64, e Item) (n int64, err error) {
	ptr, err := Section[int64](rd, SectionPtr, rows+1)
	if err != nil {
		return 0, err
	}
	n = ptr[rows]
	if n < 0 {
		return 0, damaged(SectionName(SectionPtr), "the offsets do not ascend")
	}
	if err := rd.Skip(SectionCols, n, 4); err != nil {
		return 0, err
	}
	return n, rd.Skip(SectionVals, n, e.Width)
}

// Overlay returns the store with arrays in the bytes of a file, which it shares, and copies of the
// labels. It verifies the invariants of the matrix but no checksums of arrays.
func Overlay(data []byte, e Item) (st *sparse.Store, labels Sides, err error) {
	rd := NewReader(bytes.NewReader(data), &Options{})
	h, err := rd.Head(false, e)
	if err != nil {
		return nil, labels, err
	}
	st = &sparse.Store{Structure: h.Shape, Type: e.Type}
	if st.Format == Blocked {
		return nil, labels, ErrBlocked
	}
	left := data[HeadBytes:]
	next := func(id uint32, e Item, n int64) (v sparse.Values) {
		if err == nil {
			v, left, err = overlaid(left, id, e, n)
		}
		return v
	}
	cells := st.NVals
	if st.Sparse() {
		st.Ptr = sparse.SliceOf[int64](next(SectionPtr, longs, h.Vecs+1))
		if st.Format == sparse.Hypersparse {
			st.RowIDs = sparse.SliceOf[int32](next(SectionRows, words, h.Vecs))
		}
		st.Idx = sparse.SliceOf[int32](next(SectionCols, words, st.NVals))
	} else {
		c, _ := st.Cells()
		cells = int64(c)
	}
	if st.Format == sparse.Bitmap {
		st.Present = sparse.SliceOf[uint8](next(SectionPresent, bytes1, cells))
	}
	if st.Val = next(SectionVals, e, cells); err != nil {
		return nil, labels, err
	}
	if err := st.Check(st.Val.Len(), false); err != nil {
		return nil, labels, damaged("the matrix breaks its invariants", err.Error())
	}
	labels, err = NewReader(bytes.NewReader(left), &Options{}).Sides(h)
	return st, labels, err
}

// OverlayStructure returns the structure of the matrix in the bytes of a file, which it shares,
// with any values, and copies of the labels. It reads the head, the ends of the sections and the
// labels, and verifies neither invariants nor checksums of arrays.
func OverlayStructure(data []byte) (s *sparse.Structure, labels Sides, err error) {
	h, err := NewReader(bytes.NewReader(data), &Options{Convert: true}).Head(false, bytes1)
	if err != nil {
		return nil, labels, err
	}
	s = &h.Shape
	switch {
	case s.Format == Blocked:
		return nil, labels, ErrBlocked
	case s.Format != sparse.CSR:
		return nil, labels, damaged("head", "the matrix is not in compressed sparse rows")
	}
	left := data[HeadBytes:]
	ptr, left, err := overlaid(left, SectionPtr, longs, h.Vecs+1)
	if err != nil {
		return nil, labels, err
	}
	idx, left, err := overlaid(left, SectionCols, words, s.NVals)
	if err != nil {
		return nil, labels, err
	}
	s.Ptr, s.Idx = sparse.SliceOf[int64](ptr), sparse.SliceOf[int32](idx)
	if s.Ptr[0] != 0 || s.Ptr[h.Vecs] != s.NVals {
		return nil, labels, damaged(SectionName(SectionPtr), "the offsets do not span the entries")
	}
	if len(left) < 16 { // the number of its values precedes them
		return nil, labels, damaged(SectionName(SectionVals), "the file ends here")
	}
	width := int64(binary.LittleEndian.Uint32(left[4:]))
	if width < 1 || width > 16 || int64(len(left)) < SectionBytes(s.NVals, width) {
		return nil, labels, damaged(SectionName(SectionVals), "the file ends here")
	}
	labels, err = NewReader(bytes.NewReader(left[SectionBytes(s.NVals, width):]), &Options{}).Sides(h)
	return s, labels, err
}

// ErrBlocked says that a file in blocks has no contiguous arrays.
var ErrBlocked error = &Damage{Msg: "the file is in blocks, whose arrays are not contiguous"}

// overlaid returns the items of a section without copying them.
func overlaid(data []byte, id uint32, e Item, n int64) (items sparse.Values, left []byte, err error) {
	what, width := SectionName(id), int64(e.Width)
	le := binary.LittleEndian
	if n < 0 || n > int64(len(data))/width || int64(len(data)) < SectionBytes(n, width) {
		return items, nil, &Damage{what + ": the file ends here", "the file is cut short", io.ErrUnexpectedEOF}
	}
	if le.Uint32(data) != id || le.Uint32(data[4:]) != uint32(width) || le.Uint64(data[8:]) != uint64(n) {
		return items, nil, damaged(what, "found another section instead")
	}
	if items = e.Type.Make(0); n > 0 {
		items = valuesAt(unsafe.Pointer(&data[16]), n, width)
	}
	if fault := e.settle(items, data[16:16+n*width]); fault != "" {
		return items, nil, damaged(what, fault)
	}
	return items, data[SectionBytes(n, width):], nil
}

// valuesAt returns n values of width bytes each at an address.
func valuesAt(at unsafe.Pointer, n, width int64) sparse.Values {
	switch width {
	case 1:
		return sparse.ValuesOf(unsafe.Slice((*sparse.E1)(at), n))
	case 2:
		return sparse.ValuesOf(unsafe.Slice((*sparse.E2)(at), n))
	case 4:
		return sparse.ValuesOf(unsafe.Slice((*sparse.E4)(at), n))
	}
	return sparse.ValuesOf(unsafe.Slice((*sparse.E8)(at), n))
}
