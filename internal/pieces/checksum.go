package pieces

import "hash/crc32"

// Polynomial is the polynomial of a checksum of 32 bits without the term x³², with the coefficient
// of x³¹ in the lowest bit. The checksum of two texts one after the other follows from their
// checksums, so that threads and ranks can read pieces of a text.
type Polynomial uint32

// The polynomials of CRC-32C (.hgb) and of CRC-32 (.npz).
const (
	CRC32C Polynomial = 0x82f63b78
	CRC32  Polynomial = 0xedb88320
)

// Castagnoli is the table of CRC-32C.
var Castagnoli = crc32.MakeTable(crc32.Castagnoli)

// Join returns the checksum of two texts one after the other, the second of n bytes: first·x⁸ⁿ +
// second, modulo the polynomial. O(log n).
func (p Polynomial) Join(first, second uint32, n int64) uint32 {
	return p.times(first, p.power(n)) ^ second
}

// join returns the checksum of a text of n bytes from the checksums of its pieces of per bytes; the
// last piece may be shorter.
func (p Polynomial) join(pieces []uint32, per, n int64) (sum uint32) {
	power := p.power(per)
	for k, s := range pieces {
		if left := n - int64(k)*per; left < per {
			power = p.power(left)
		}
		sum = p.times(sum, power) ^ s
	}
	return sum
}

// Of returns the checksum of b, and 0 for no polynomial.
func (p Polynomial) Of(b []byte) uint32 {
	switch p {
	case CRC32C:
		return crc32.Checksum(b, Castagnoli)
	case CRC32:
		return crc32.ChecksumIEEE(b)
	}
	return 0
}

// power returns x⁸ⁿ modulo the polynomial.
func (p Polynomial) power(n int64) uint32 {
	const one = 1 << 31 // x⁰
	result, square := uint32(one), uint32(one>>8)
	for ; n > 0; n >>= 1 {
		if n&1 != 0 {
			result = p.times(result, square)
		}
		square = p.times(square, square)
	}
	return result
}

// times returns a·b modulo the polynomial.
func (p Polynomial) times(a, b uint32) (product uint32) {
	for bit := uint32(1) << 31; bit != 0; bit >>= 1 {
		if a&bit != 0 {
			product ^= b
		}
		if b&1 != 0 {
			b = b>>1 ^ uint32(p)
		} else {
			b >>= 1
		}
	}
	return product
}
