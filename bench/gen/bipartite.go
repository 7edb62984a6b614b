package gen

import (
	"fmt"
	"math"
	"math/bits"
	"slices"
)

// Bipartite returns exactly nnz distinct entries of a rows×cols matrix in the shape of "users rate
// items" data: row degrees fall off gently, as 1/√(k+s) with rank k and s = 1+rows/150, and columns
// are drawn with a Zipf–Mandelbrot law, weight 1/(k+s), s = 1+cols/512. For 6743×13950 with 1M
// entries AᵀA then has 2.2·10⁸ products and about 6·10⁷ entries. Labels are scrambled, so rank
// cannot be read from them. The tuples are in row order, unsorted within a row.
//
// Row degrees are the weights scaled to sum to nnz (rounded down, the remainder one each to the
// heaviest rows, none above cols). Each row then draws distinct columns by weight until it has its
// degree; after 16 draws per wanted entry the rest is filled with the columns of least rank not yet
// taken, which matters only for rows that are nearly full. It panics when nnz > rows·cols.
func Bipartite(rows, cols, nnz int, seed uint64) Tuples {
	if rows < 0 || cols < 0 || nnz < 0 || nnz > 0 && (cols == 0 || (nnz+cols-1)/cols > rows) {
		panic(fmt.Sprintf("gen: Bipartite(%d, %d, %d): the entries do not fit", rows, cols, nnz))
	}
	degree := rowDegrees(rows, cols, nnz)
	ptr := make([]int64, rows+1)
	for i, d := range degree {
		ptr[i+1] = ptr[i] + int64(d)
	}
	sum := make([]uint64, cols) // inclusive prefix sums of the column weights
	var total uint64
	for k := range sum {
		total += columnWeight(k, cols)
		sum[k] = total
	}
	rowLabel, colLabel := Permutation(rows, Hash(0, seed)), Permutation(cols, Hash(1, seed))

	t := Tuples{Rows: make([]int32, nnz), Cols: make([]int32, nnz), NRows: rows, NCols: cols}
	byRows(ptr, func(lo, hi int) {
		taken := make([]bool, cols)
		for i := lo; i < hi; i++ {
			out := t.Cols[ptr[i]:ptr[i]:ptr[i+1]]
			stream := Hash(uint64(i)+2, seed)
			for k := 0; len(out) < cap(out) && k < 16*cap(out); k++ {
				c, _ := slices.BinarySearch(sum, below(Hash(uint64(k), stream), total)+1)
				if !taken[c] {
					taken[c] = true
					out = append(out, int32(c))
				}
			}
			for c := 0; len(out) < cap(out); c++ {
				if !taken[c] {
					taken[c] = true
					out = append(out, int32(c))
				}
			}
			for k, c := range out {
				taken[c] = false
				out[k] = colLabel[c]
				t.Rows[ptr[i]+int64(k)] = rowLabel[i]
			}
		}
	})
	return t
}

// columnWeight is the weight of the column of rank k among n, and rowWeight the weight of a row: in
// integers, or by a square root, which IEEE 754 rounds one way only, so that every platform agrees.
func columnWeight(k, n int) uint64 { return (1 << 40) / uint64(k+1+n/512) }

func rowWeight(k, n int) uint64 { return uint64((1 << 40) / math.Sqrt(float64(k+1+n/150))) }

// rowDegrees splits nnz into n degrees of at most limit each, in proportion to the weights,
// heaviest first.
func rowDegrees(n, limit, nnz int) []int {
	var total uint64
	for k := range n {
		total += rowWeight(k, n)
	}
	degree, left := make([]int, n), nnz
	for k := range degree {
		hi, lo := bits.Mul64(uint64(nnz), rowWeight(k, n))
		q, _ := bits.Div64(hi, lo, total)
		degree[k] = min(int(q), limit)
		left -= degree[k]
	}
	for left > 0 {
		for k := 0; k < n && left > 0; k++ {
			if degree[k] < limit {
				degree[k]++
				left--
			}
		}
	}
	return degree
}
