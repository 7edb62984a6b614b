package cpu

import (
	"math/bits"
	"slices"
	"sync"

	"github.com/hiveblas/hiveblas/internal/parallel"
	"github.com/hiveblas/hiveblas/internal/sparse"
)

// columnSet is the columns of some rows that a mask allows: a list, and to find repeats a bit for
// each column and for each word of these bits. The list is empty and all bits are clear while it is
// idle.
type columnSet struct {
	cols           []int32 // the list is the first n of them
	n              int
	marks, touched []uint64
	allow          []uint8 // of the mask; nil: all columns
	flip           uint8   // 1 for a complement
}

var columnSets = sync.Pool{New: func() any { return new(columnSet) }}

// list appends the columns of a row.
func (set *columnSet) list(row []int32) {
	for _, j := range row {
		if set.allow == nil || set.allow[j]^set.flip != 0 {
			set.cols[set.n] = j
			set.n++
		}
	}
}

// mark appends the columns of a row that are not marked, and marks them.
func (set *columnSet) mark(row []int32) {
	marks, allow, flip, cols, n := set.marks, set.allow, set.flip, set.cols, set.n
	for _, j := range row {
		word, bit := uint32(j)>>6, uint64(1)<<(uint32(j)&63)
		seen := marks[word]&bit != 0
		if allow != nil && allow[j]^flip == 0 || seen {
			continue
		}
		marks[word] |= bit
		cols[n] = j
		n++
	}
	set.n = n
}

// sorted returns the listed columns in ascending order, each once, and empties the set. They are
// valid until the next use of the set.
func (set *columnSet) sorted() []int32 {
	cols := set.cols[:set.n]
	set.n = 0
	slices.Sort(cols)
	return slices.Compact(cols)
}

// marked is sorted for marked columns below n.
func (set *columnSet) marked(n int) []int32 {
	touched, cols := set.touched[:n>>12+1], make([]int32, 0, set.n)
	for _, j := range set.cols[:set.n] {
		touched[uint32(j)>>12] |= 1 << (uint32(j) >> 6 & 63)
	}
	for t, word := range touched {
		if word == 0 {
			continue
		}
		touched[t] = 0
		for ; word != 0; word &= word - 1 {
			w := t*64 + bits.TrailingZeros64(word)
			for m := set.marks[w]; m != 0; m &= m - 1 {
				cols = append(cols, int32(w*64+bits.TrailingZeros64(m)))
			}
			set.marks[w] = 0
		}
	}
	set.n = 0
	return cols
}

// Constant reports whether all products are equal and a sum is any of them, as of any.pair.
func (s *Semiring) Constant() bool { return s.Any && !s.UsesX && !s.UsesY && !s.User }

// constantAhead is the prefetch distance of pushConstant in rows, which are short.
const constantAhead = 8

// maxConstant is the largest number of products that one thread lists in pushConstant.
const maxConstant = 1 << 14

// pushConstant is Push for a semiring with equal products, where sums need no accumulator: it lists
// the columns of the rows that the mask allows, each once. It returns nil if the products are too
// many or the mask is listed. It sorts few products, which needs no memory for n columns, and marks
// the columns of more: O(products + n/4096).
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
	var allow []uint8
	switch {
	case mask == nil:
	case mask.S.Format == sparse.Bitmap:
		allow = mask.S.Present
	case mask.S.Format != sparse.Full:
		return nil
	case mask.Comp:
		return newRow(c, n, nil, c.Make(0))
	}
	few := int64(8 + n>>16) // sorting them costs less than a visit of n/4096 words
	if n > 1<<22 {
		few = fewProducts(n)
	}
	set := columnSets.Get().(*columnSet)
	set.allow, set.flip = allow, b2u(mask != nil && mask.Comp)
	if int64(len(set.cols)) < total {
		set.cols = make([]int32, total)
	}
	if words := (n + 63) / 64; total > few && len(set.marks) < words {
		set.marks, set.touched = make([]uint64, words), make([]uint64, n>>12+1)
	}
	for p, row := range u.Idx {
		if p += constantAhead; p < len(u.Idx) {
			lo, _ := a.Span(int(u.Idx[p]))
			prefetchRow(a, lo)
		}
		if lo, hi := a.Span(int(row)); total > few {
			set.mark(a.Idx[lo:hi])
		} else {
			set.list(a.Idx[lo:hi])
		}
	}
	var out *sparse.Store
	if total > few {
		idx := set.marked(n)
		out = newRow(c, n, idx, c.Make(int64(len(idx))))
	} else {
		out = newRowOf(c, n, set.sorted())
	}
	if len(out.Idx) > 0 {
		s.Products(c.One(out.Val, 0), u.Type.At(u.Val, 0), a.Part(0, 1))
		c.Fill(out.Val, c.One(out.Val, 0))
	}
	set.allow = nil
	columnSets.Put(set)
	return out
}

// pushMarked is Push for a semiring with equal products of many rows: los has the beginnings of the
// rows and work the prefix sums of their lengths. Each part of the rows marks its columns by bits.
// The products are at least one for each word of these bits.
func pushMarked(env Env, s *Semiring, c *sparse.Type, u, a *sparse.Store, los, work []int64, mask *Mask) (*sparse.Store, error) {
	n, total := a.NCols, work[len(los)]
	words := (n + 63) / 64
	bounds := parallel.Cut(env.Threads, work, workers(env, total, max(1<<13, int64(words))), rowVisitCost)
	parts := make([][]uint64, len(bounds)-1)
	err := parallel.Pieces(env.Ctx, env.Threads, len(parts), func(_, part int) {
		marks := make([]uint64, words)
		for p := bounds[part]; p < bounds[part+1]; p++ {
			if q := p + rowsAhead; q < len(los) {
				prefetchRow(a, los[q])
			}
			for _, j := range a.Idx[los[p] : los[p]+work[p+1]-work[p]] {
				marks[uint32(j)>>6] |= 1 << (uint32(j) & 63)
			}
		}
		parts[part] = marks
	})
	if err != nil {
		return nil, err
	}
	var allow []uint8
	if mask != nil {
		allow = mask.bytes(n)
	}
	found := getEntryBuffer(c, n)
	defer found.release()
	product := c.Make(1)
	s.Products(product, u.Type.At(u.Val, 0), a.Part(0, 1))
	pieces := (words-1)/(drainRange/64) + 1
	counts, begins := make([]int, pieces), make([]int, pieces+1)
	err = parallel.Pieces(env.Ctx, workers(env, total, 1<<14), pieces, func(_, piece int) {
		begin := piece * drainRange
		q := begin
		for w := begin / 64; w < min(begin+drainRange, words*64)/64; w++ {
			word := uint64(0)
			for _, marks := range parts {
				word |= marks[w]
			}
			for ; word != 0; word &= word - 1 {
				j := int32(w*64 + bits.TrailingZeros64(word))
				found.idx[q] = j
				if allow == nil {
					q++
				} else { // without a branch on the mask, as in forbid
					q += int(allow[j] ^ b2u(mask.Comp))
				}
			}
		}
		counts[piece], begins[piece] = q-begin, begin
		c.Fill(c.Slice(found.val, int64(begin), int64(q)), product)
	})
	if err != nil {
		return nil, err
	}
	return joinBlocks(env, c, n, begins, counts, found.idx, found.val)
}
