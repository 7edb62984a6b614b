package hgb

import (
	"encoding/binary"
	"testing"

	"github.com/hiveblas/hiveblas/internal/sparse"
)

// TestForeignByteOrder checks the code for big-endian and 32-bit hosts.
func TestForeignByteOrder(t *testing.T) {
	vals := []int32{1, -2, 1 << 30}
	raw := Bytes(sparse.TypeOf[int32](), sparse.ValuesOf(vals))
	reversed := encode(nil, raw, 4, 4, true)
	for k, v := range vals {
		if got := int32(binary.BigEndian.Uint32(reversed[4*k:])); HostLittle && got != v {
			t.Errorf("item %d reversed is %d, want %d", k, got, v)
		}
	}
	back := make([]int32, 3)
	into := Bytes(sparse.TypeOf[int32](), sparse.ValuesOf(back))
	if !decode(into, reversed, 4, 4, true) || back[1] != -2 {
		t.Errorf("decoded %v", back)
	}
	wide := encode(nil, raw, 4, 8, true) // an int of 32 bits, in 64
	for k, v := range vals {
		if got := int64(binary.LittleEndian.Uint64(wide[8*k:])); got != int64(v) {
			t.Errorf("item %d widened is %d, want %d", k, got, v)
		}
	}
	if !decode(into, wide, 4, 8, true) || back[2] != 1<<30 {
		t.Errorf("narrowed %v", back)
	}
	for _, x := range []uint64{1 << 40, 1 << 31} {
		if decode(into[:4], binary.LittleEndian.AppendUint64(nil, x), 4, 8, true) {
			t.Errorf("%d fits an int of 32 bits", x)
		}
	}
	if !decode(into[:4], binary.LittleEndian.AppendUint64(nil, 1<<31), 4, 8, false) || uint32(back[0]) != 1<<31 {
		t.Errorf("a uint of 32 bits: %v", back)
	}
	if decode(into[:4], binary.LittleEndian.AppendUint64(nil, 1<<32), 4, 8, false) {
		t.Error("2³² fits a uint of 32 bits")
	}
}
