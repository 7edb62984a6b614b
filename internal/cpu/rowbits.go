package cpu

import (
	"github.com/hiveblas/hiveblas/internal/fresh"
	"github.com/hiveblas/hiveblas/internal/parallel"
	"github.com/hiveblas/hiveblas/internal/sparse"
)

// rowBits holds, for the dense rows of a CSR matrix, the columns as bits: for those with at least
// as many entries as words between their first and last column, so that the bits take no more than
// 8 bytes an entry. The or of a word then marks all its columns, whereas marks one by one wait for
// each other in a word. On two threads the sizes of A·A of R-MAT 16 take .53 of the time without,
// and S·S of R-MAT 14, which also keeps its marks (see keepDensity), .48.
type rowBits struct {
	ptr   []int64 // words of row c: ptr[c] … ptr[c+1]−1; none if the row is not dense
	words []uint64
}

// bitsReuse is how often a product must use the entries of the matrix to pay for the bits.
const bitsReuse = 4

// bitsOf returns the bits of the dense rows of b.
func bitsOf(threads int, b *sparse.Structure) *rowBits {
	r := &rowBits{ptr: make([]int64, b.NRows+1)}
	_ = b.RowBlocks(nil, threads, func(_, from, to int) {
		for c := from; c < to; c++ {
			if ci := b.Idx[b.Ptr[c]:b.Ptr[c+1]]; len(ci) > 0 {
				if words := int(ci[len(ci)-1]>>6) - int(ci[0]>>6) + 1; len(ci) >= words {
					r.ptr[c+1] = int64(words)
				}
			}
		}
	})
	parallel.Sum(threads, r.ptr)
	r.words = fresh.Make[uint64](r.ptr[b.NRows])
	_ = b.RowBlocks(nil, threads, func(_, from, to int) {
		for c := from; c < to; c++ {
			words := r.words[r.ptr[c]:r.ptr[c+1]]
			if len(words) == 0 {
				continue
			}
			clear(words)
			ci := b.Idx[b.Ptr[c]:b.Ptr[c+1]]
			first := ci[0] &^ 63
			for _, j := range ci {
				words[(j-first)>>6] |= 1 << (j & 63)
			}
		}
	})
	return r
}

// of returns the bits of row c, or nothing if it is not dense.
func (r *rowBits) of(c int32) []uint64 {
	if r == nil {
		return nil
	}
	return r.words[r.ptr[c]:r.ptr[c+1]]
}

// or sets the given bits in marks.
func or(marks, bits []uint64) {
	marks = marks[:len(bits)]
	for len(bits) >= 4 && len(marks) >= 4 {
		marks[0] |= bits[0]
		marks[1] |= bits[1]
		marks[2] |= bits[2]
		marks[3] |= bits[3]
		marks, bits = marks[4:], bits[4:]
	}
	for p, word := range bits {
		marks[p] |= word
	}
}
