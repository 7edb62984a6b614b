// Package splitmix provides the random numbers of splitmix64 as a hash: number k of a stream does
// not depend on the numbers before it.
//
// Source: Steele, Lea, Flood, "Fast splittable pseudorandom number generators", OOPSLA 2014,
// doi:10.1145/2660193.2660195; the constants are Stafford's variant 13.
package splitmix

// Golden is 2⁶⁴ divided by the golden ratio, the increment of splitmix64.
const Golden = 0x9E3779B97F4A7C15

// Mix is the finaliser of splitmix64, a bijection of 64-bit words in which every input bit affects
// every output bit.
func Mix(z uint64) uint64 {
	z = (z ^ z>>30) * 0xBF58476D1CE4E5B9
	z = (z ^ z>>27) * 0x94D049BB133111EB
	return z ^ z>>31
}

// At returns number x of splitmix64 with the start state: Mix(state + (x+1)·Golden), modulo 2⁶⁴.
func At(x, state uint64) uint64 { return Mix(state + (x+1)*Golden) }
