// Package philox provides the counter-based random numbers Philox4x32-10: a block of four 32-bit
// words is a function of a counter and a key, so that any number of a stream is computed without
// the numbers before it, by any thread or device.
//
// Source: Salmon, Moraes, Dror, Shaw, "Parallel random numbers: as easy as 1, 2, 3", SC 2011,
// doi:10.1145/2063384.2063405. kernels that use it on a device repeat the constants as text.
package philox

import "math/bits"

// The multipliers of a round, and the Weyl increments of the key.
const (
	mulA = 0xD2511F53
	mulB = 0xCD9E8D57
	addA = 0x9E3779B9
	addB = 0xBB67AE85
)

// Rounds is the number of rounds.
const Rounds = 10

// Block returns the words of a counter under a key: words 0 and 1, and words 2 and 3, each as a
// 64-bit number with the lower word first. The counter is low and high, and so is the key.
func Block(low, high, key uint64) (first, second uint64) {
	c0, c1, c2, c3 := uint32(low), uint32(low>>32), uint32(high), uint32(high>>32)
	k0, k1 := uint32(key), uint32(key>>32)
	for range Rounds {
		p, q := uint64(mulA)*uint64(c0), uint64(mulB)*uint64(c2)
		c0, c1, c2, c3 = uint32(q>>32)^c1^k0, uint32(q), uint32(p>>32)^c3^k1, uint32(p)
		k0 += addA
		k1 += addB
	}
	return uint64(c0) | uint64(c1)<<32, uint64(c2) | uint64(c3)<<32
}

// Below returns a number from 0 to n−1 by a random x, and the rest of x as a number that is
// uniform in 64 bits but for n/2⁶⁴. n is above 0.
func Below(x, n uint64) (number, rest uint64) { return bits.Mul64(x, n) }
