package gen

import "math/bits"

// golden is 2⁶⁴ divided by the golden ratio, the increment of splitmix64.
const golden = 0x9E3779B97F4A7C15

// Mix is the finaliser of splitmix64, a bijection of 64-bit words in which every input bit moves every output bit.
//
// Source: Steele, Lea, Flood, "Fast splittable pseudorandom number generators", OOPSLA 2014,
// doi:10.1145/2660193.2660195; the constants are Stafford's variant 13.
func Mix(z uint64) uint64 {
	z = (z ^ z>>30) * 0xBF58476D1CE4E5B9
	z = (z ^ z>>27) * 0x94D049BB133111EB
	return z ^ z>>31
}

// Hash is number x of the random stream called seed: Mix(Mix(seed) + (x+1)·golden), arithmetic modulo 2⁶⁴. It is
// splitmix64 started at Mix(seed) and read at any place.
func Hash(x, seed uint64) uint64 {
	return Mix(Mix(seed) + (x+1)*golden)
}

// pairHash is a random number that belongs to position (i, j).
func pairHash(i, j int32, seed uint64) uint64 {
	return Hash(uint64(uint32(i))<<32|uint64(uint32(j)), seed)
}

// below maps a random word to [0, n) by the high half of a product: no division, bias below n/2⁶⁴.
func below(word, n uint64) uint64 {
	hi, _ := bits.Mul64(word, n)
	return hi
}

// Permutation returns the random permutation p of 0…n-1 called seed. Its definition, which every peer repeats:
//
//	p = 0, 1, …, n-1
//	for i = n-1, n-2, …, 1:  swap p[i] with p[Hash(i, seed) mod (i+1)]
func Permutation(n int, seed uint64) []int32 {
	p := make([]int32, n)
	for i := range p {
		p[i] = int32(i)
	}
	for i := n - 1; i > 0; i-- {
		j := Hash(uint64(i), seed) % uint64(i+1)
		p[i], p[j] = p[j], p[i]
	}
	return p
}
