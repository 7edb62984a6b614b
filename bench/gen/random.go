package gen

import (
	"math/bits"

	"github.com/hiveblas/hiveblas/internal/splitmix"
)

// Hash is number x of the random stream called seed: mix(mix(seed) + (x+1)·golden), arithmetic
// modulo 2⁶⁴, where golden and mix are the increment and the finaliser of splitmix64. It is
// splitmix64 started at mix(seed), with random access.
func Hash(x, seed uint64) uint64 {
	return splitmix.At(x, splitmix.Mix(seed))
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

// Permutation returns the random permutation p of 0…n-1 called seed. Its definition, which every
// peer repeats:
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
