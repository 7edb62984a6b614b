package chunked

import (
	"reflect"
	"slices"
	"testing"

	"github.com/hiveblas/hiveblas/internal/sparse"
)

// TestConcat joins adjacent parts: two rows, one of them empty; an empty row; a row in two parts.
func TestConcat(t *testing.T) {
	for _, placed := range []bool{false, true} {
		idx, val := []int32{3, 5, 1, 4, 0, 2}, []int64{10, 20, 30, 40, 50, 60} // the last two are relative to column 5
		of := func(row, col int, at, n int, ptr ...int64) *piece {
			x := &piece{row: row, col: col, ptr: ptr, idx: idx[at : at+n : at+n], val: sparse.ValuesOf(val[at : at+n : at+n]), placed: placed}
			if !placed {
				x.idx, x.val = slices.Clone(x.idx), sparse.TypeOf[int64]().Clone(x.val)
			}
			return x
		}
		b := &block{Lo: 7, Hi: 11}
		b.concat(sparse.TypeOf[int64](), []*piece{of(7, 0, 0, 0, 0, 0), of(8, 0, 0, 2, 0, 0, 2), of(10, 0, 2, 2, 0, 2), of(10, 5, 4, 2, 0, 2)})
		if !slices.Equal(b.Ptr, []int64{0, 0, 0, 2, 6}) || !slices.Equal(b.Idx, []int32{3, 5, 1, 4, 5, 7}) || !slices.Equal(sparse.SliceOf[int64](b.Val), []int64{10, 20, 30, 40, 50, 60}) {
			t.Errorf("placed %v: %v %v %v", placed, b.Ptr, b.Idx, b.Val)
		}
		b = &block{Lo: 0, Hi: 2}
		if b.concat(sparse.TypeOf[int64](), []*piece{of(0, 0, 0, 0, 0, 0), of(1, 0, 0, 0, 0, 0)}); !slices.Equal(b.Ptr, []int64{0, 0, 0}) || len(b.Idx)+b.Val.Len() != 0 {
			t.Errorf("placed %v, empty pieces: %v %v %v", placed, b.Ptr, b.Idx, b.Val)
		}
	}
}

// A block and a Block have the same fields at the same places.
func TestLayout(t *testing.T) {
	typed, untyped := reflect.TypeFor[Block[string]](), reflect.TypeFor[block]()
	if typed.Size() != untyped.Size() || typed.NumField() != untyped.NumField() {
		t.Fatalf("%v and %v differ", typed, untyped)
	}
	for k := range typed.NumField() {
		a, b := typed.Field(k), untyped.Field(k)
		if a.Name != b.Name || a.Offset != b.Offset || a.Type.Size() != b.Type.Size() {
			t.Errorf("%v and %v differ", a, b)
		}
	}
}
