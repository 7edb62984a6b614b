package matrix

import "hash/crc32"

// polynomial is the polynomial of a checksum of 32 bits without that of x³², the coefficient of x³¹
// in the lowest bit. The checksum of two texts one after the other follows from theirs, so that
// threads and ranks can read pieces of a text.
type polynomial uint32

// The polynomials of CRC-32C (.hgb) and of CRC-32 (.npz).
const (
	polynomialCastagnoli polynomial = 0x82f63b78
	polynomialIEEE       polynomial = 0xedb88320
)

// join returns the checksum of two texts one after the other, of which the second has n bytes:
// that of the first times x⁸ⁿ, modulo the polynomial, plus that of the second. O(log n).
func (p polynomial) join(first, second uint32, n int64) uint32 {
	return p.times(first, p.power(n)) ^ second
}

// joinPieces returns the checksum of a text of n bytes from those of its pieces of per bytes, of
// which the last may be shorter.
func (p polynomial) joinPieces(pieces []uint32, per, n int64) (sum uint32) {
	power := p.power(per)
	for k, s := range pieces {
		if left := n - int64(k)*per; left < per {
			power = p.power(left)
		}
		sum = p.times(sum, power) ^ s
	}
	return sum
}

// of returns the checksum of b.
func (p polynomial) of(b []byte) uint32 {
	switch p {
	case polynomialCastagnoli:
		return crc32.Checksum(b, castagnoli)
	case polynomialIEEE:
		return crc32.ChecksumIEEE(b)
	}
	return 0
}

// power returns x⁸ⁿ modulo the polynomial.
func (p polynomial) power(n int64) uint32 {
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
func (p polynomial) times(a, b uint32) (product uint32) {
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
