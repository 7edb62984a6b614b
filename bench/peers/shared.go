package peers

import "github.com/hiveblas/hiveblas/bench/gen"

// The random streams of the inputs that every contender makes for itself; gen.Hash(x, seed) is
// number x of one. The harnesses in C and Python hold the same definitions.
const (
	seedFrontier      = 1
	seedFrontierValue = 2
	seedMask          = 3
	seedDense         = 4
	seedPermutation   = 5
)

// Dense is the shared full vector of n elements: x[j] = 1 + (Hash(j, 4) mod 16)/16, exact in
// float32 too.
func Dense(n int) []float64 {
	x := make([]float64, n)
	for j := range x {
		x[j] = 1 + float64(gen.Hash(uint64(j), seedDense)%16)/16
	}
	return x
}

// Frontier is the shared sparse vector over n vertices. About percent of them take part: vertex i
// is in it when Hash(i, 1) mod 100 < percent, with the value Hash(i, 2) mod 1024.
func Frontier(n, percent int) (index []int32, value []float64) {
	for i := range n {
		if gen.Hash(uint64(i), seedFrontier)%100 < uint64(percent) {
			index = append(index, int32(i))
			value = append(value, float64(gen.Hash(uint64(i), seedFrontierValue)%1024))
		}
	}
	return index, value
}

// HalfMask is the shared mask over n vertices: vertex i is in it when Hash(i, 3) is odd.
func HalfMask(n int) []int32 {
	var index []int32
	for i := range n {
		if gen.Hash(uint64(i), seedMask)&1 == 1 {
			index = append(index, int32(i))
		}
	}
	return index
}

// Permutation is the shared permutation of n vertices, [gen.Permutation](n, 5). The case extract_pp
// makes C = A(p, p), that is C(i, j) = A(p[i], p[j]).
func Permutation(n int) []int32 { return gen.Permutation(n, seedPermutation) }

// MatrixCheck is the check figure of a matrix in compressed rows: the sum of C(i, j)·(1 + i mod
// 7)·(1 + j mod 5), in float64. A nil val stands for ones.
func MatrixCheck(ptr []int64, idx []int32, val []float64) float64 {
	var sum float64
	for i := range len(ptr) - 1 {
		var row float64
		for p := ptr[i]; p < ptr[i+1]; p++ {
			v := 1.0
			if val != nil {
				v = val[p]
			}
			row += v * float64(1+idx[p]%5)
		}
		sum += row * float64(1+i%7)
	}
	return sum
}

// VectorCheck is the check figure of a vector: the sum of v(i)·(1 + i mod 7), in float64. A nil
// index means that the vector is full.
func VectorCheck(index []int32, val []float64) float64 {
	var sum float64
	for k, v := range val {
		i := int32(k)
		if index != nil {
			i = index[k]
		}
		sum += v * float64(1+i%7)
	}
	return sum
}
