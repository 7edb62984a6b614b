package cpu

import (
	"math/bits"
	"slices"
	"sync"

	"github.com/hiveblas/hiveblas/internal/sparse"
)

// columnSet is a set of columns: a bit for each column, and a bit for each word of these bits. All
// bits are clear while it is idle.
type columnSet struct {
	marks, touched []uint64
	cols           []int32
}

var columnSets = sync.Pool{New: func() any { return new(columnSet) }}

// constant reports whether all products are equal and a sum is any of them, as of any.pair.
func (s *Semiring) constant() bool { return s.Any && !s.UsesX && !s.UsesY && !s.User }

// constantAhead is the prefetch distance of pushConstant in rows, which are short.
const constantAhead = 8

// maxConstant is the largest number of products that one thread lists in pushConstant.
const maxConstant = 1 << 14

// pushConstant is Push for a semiring with equal products, where sums need no accumulator: it lists
// the columns of the rows that the mask allows, each once. It returns nil if the products are too
// many, or the mask is listed and long. O(products + n/4096).
func pushConstant(s *Semiring, c *sparse.Type, u, a *sparse.Store, mask *Mask) *sparse.Store {
	n := a.NCols
	most := min(maxConstant, max(fewProducts(n), int64(n)>>4))
	if int64(len(u.Idx)) > most {
		return nil
	}
	total := int64(0)
	for _, k := range u.Idx {
		lo, hi := a.Span(int(k))
		if total += hi - lo; total > most {
			return nil
		}
	}
	var allow []uint8 // nil: all
	var flip uint8
	if mask != nil {
		switch {
		case mask.S.Format == sparse.Bitmap:
			allow, flip = mask.S.Present, b2u(mask.Comp)
		case mask.S.Format == sparse.Full:
			if mask.Comp {
				return newRow(c, n, nil, c.Make(0))
			}
		default:
			return nil
		}
	}
	set := columnSets.Get().(*columnSet)
	if words := (n + 63) / 64; len(set.marks) < words {
		set.marks, set.touched = make([]uint64, words), make([]uint64, n>>12+1)
	}
	if int64(len(set.cols)) < total {
		set.cols = make([]int32, total)
	}
	marks, cols, k := set.marks, set.cols, 0
	for p, row := range u.Idx {
		if p += constantAhead; p < len(u.Idx) {
			lo, _ := a.Span(int(u.Idx[p]))
			prefetchRow(a, lo)
		}
		lo, hi := a.Span(int(row))
		for _, j := range a.Idx[lo:hi] {
			word, bit := uint32(j)>>6, uint64(1)<<(uint32(j)&63)
			seen := marks[word]&bit != 0
			if allow != nil && allow[j]^flip == 0 || seen {
				continue
			}
			marks[word] |= bit
			cols[k] = j
			k++
		}
	}
	idx := make([]int32, k)
	set.drain(idx, cols[:k], n)
	columnSets.Put(set)
	val := c.Make(int64(k))
	if k > 0 {
		s.Products(c.Slice(val, 0, 1), u.Type.At(u.Val, 0), a.Part(0, 1))
		c.Fill(val, c.One(val, 0))
	}
	return newRow(c, n, idx, val)
}

// drain writes the columns of the set to idx in ascending order and clears the set. cols are the
// columns in any order.
func (set *columnSet) drain(idx, cols []int32, n int) {
	if len(cols) < 8+n>>16 { // sorting costs less than visiting n/4096 words
		for _, j := range cols {
			set.marks[uint32(j)>>6] = 0
		}
		copy(idx, cols)
		slices.Sort(idx)
		return
	}
	touched := set.touched[:n>>12+1]
	for _, j := range cols {
		touched[uint32(j)>>12] |= 1 << (uint32(j) >> 6 & 63)
	}
	k := 0
	for t, word := range touched {
		if word == 0 {
			continue
		}
		touched[t] = 0
		for ; word != 0; word &= word - 1 {
			w := t*64 + bits.TrailingZeros64(word)
			for m := set.marks[w]; m != 0; m &= m - 1 {
				idx[k] = int32(w*64 + bits.TrailingZeros64(m))
				k++
			}
			set.marks[w] = 0
		}
	}
}
