package search

import (
	"encoding/binary"
	"io"
	"strconv"
	"unsafe"

	"github.com/hiveblas/hiveblas/apps/internal/lines"
	"github.com/hiveblas/hiveblas/apps/internal/workflow"
)

// BinaryWalks returns a function for SearchOptions.Each that writes walks to w as little-endian
// uint32: the length of a walk for each, with 0xFFFFFFFF after its end.
func BinaryWalks(w io.Writer) func(SearchBlock) error {
	var buf []byte
	return func(b SearchBlock) error {
		if lines.IsNil(w) {
			return &workflow.ParameterError{App: "BinaryWalks", Arg: "the writer", Got: "nil", Want: "a writer"}
		}
		for list := b.Vertices; len(list) > 0; {
			part := list[:min(len(list), 1<<20)]
			list = list[len(part):]
			out := bytesOf(part)
			if binary.NativeEndian.Uint16([]byte{1, 0}) != 1 { // a big-endian machine
				buf = buf[:0]
				for _, v := range part {
					buf = binary.LittleEndian.AppendUint32(buf, uint32(v))
				}
				out = buf
			}
			if _, err := w.Write(out); err != nil {
				return err
			}
		}
		return nil
	}
}

// bytesOf returns the memory of a list.
func bytesOf(list []int32) []byte {
	return unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(list))), 4*len(list))
}

// TextWalks returns a function for SearchOptions.Each that writes a line for each walk to w: its
// vertices, separated by tabs, by name if name is not nil.
func TextWalks(w io.Writer, name func(vertex int) string) func(SearchBlock) error {
	var buf []byte
	return func(b SearchBlock) error {
		if lines.IsNil(w) {
			return &workflow.ParameterError{App: "TextWalks", Arg: "the writer", Got: "nil", Want: "a writer"}
		}
		buf = buf[:0]
		for k := range b.Walks() {
			for i, v := range b.Walk(k) {
				if i > 0 {
					buf = append(buf, '\t')
				}
				if name != nil {
					buf = append(buf, name(int(v))...)
				} else {
					buf = strconv.AppendInt(buf, int64(v), 10)
				}
			}
			if buf = append(buf, '\n'); len(buf) >= 1<<20 || k == b.Walks()-1 {
				if _, err := w.Write(buf); err != nil {
					return err
				}
				buf = buf[:0]
			}
		}
		return nil
	}
}
