package philox

import (
	"math/big"
	"testing"
)

// TestBlock compares with the vectors that the authors publish for philox4x32 of 10 rounds (file
// kat_vectors of Random123).
func TestBlock(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		counter [4]uint32
		key     [2]uint32
		want    [4]uint32
	}{
		{[4]uint32{}, [2]uint32{}, [4]uint32{0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8}},
		{[4]uint32{^uint32(0), ^uint32(0), ^uint32(0), ^uint32(0)}, [2]uint32{^uint32(0), ^uint32(0)},
			[4]uint32{0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd}},
		{[4]uint32{0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344}, [2]uint32{0xa4093822, 0x299f31d0},
			[4]uint32{0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1}},
	} {
		pair := func(a, b uint32) uint64 { return uint64(a) | uint64(b)<<32 }
		x, y := Block(pair(c.counter[0], c.counter[1]), pair(c.counter[2], c.counter[3]), pair(c.key[0], c.key[1]))
		if x != pair(c.want[0], c.want[1]) || y != pair(c.want[2], c.want[3]) {
			t.Errorf("counter %x, key %x: got %016x %016x, want %x", c.counter, c.key, x, y, c.want)
		}
	}
}

func TestBelow(t *testing.T) {
	t.Parallel()
	for k := range uint64(100) {
		x, n := func() (uint64, uint64) { a, b := Block(k, 1, 2); return a, b>>(k%64) | 1 }()
		number, rest := Below(x, n)
		product := new(big.Int).Mul(new(big.Int).SetUint64(x), new(big.Int).SetUint64(n))
		want := new(big.Int).Rsh(product, 64).Uint64()
		low := new(big.Int).And(product, new(big.Int).SetUint64(^uint64(0))).Uint64()
		if number != want || rest != low || number >= n {
			t.Errorf("Below(%d, %d) is %d and %d, want %d and %d", x, n, number, rest, want, low)
		}
	}
}

func BenchmarkBlock(b *testing.B) {
	var sum uint64
	for k := range uint64(b.N) {
		x, y := Block(k, 1, 2)
		sum += x ^ y
	}
	sink = sum
}

var sink uint64
