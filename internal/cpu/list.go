package cpu

import (
	"slices"

	"github.com/hiveblas/hiveblas/internal/sparse"
)

// list collects the products of one row and adds products of equal columns by sorting: the fastest
// method for rows of few products.
type list struct {
	keys []uint64 // column in the upper half, index into prod in the lower
	prod Values
	idx  []int32 // columns of the sums, after sum
	val  Values  // as many as idx, after sum
	// scratch: the product of each key, its sum, and the products in the order of the keys
	from, slot []int32
	ordered    Values
}

func (l *list) reset() { l.keys = l.keys[:0] }

// appendProducts appends the products x ⊗ b(k, ·), values of c. Row k of b is at lo … hi−1.
func appendProducts(l *list, s *Semiring, c *sparse.Type, x Value, b *sparse.Store, lo, hi int64) {
	base := len(l.keys)
	ci := b.Idx[lo:hi]
	l.prod = c.Grow(l.prod, base+len(ci))
	s.Products(c.Slice(l.prod, int64(base), int64(base+len(ci))), x, b.Part(lo, hi))
	for p, j := range ci {
		l.keys = append(l.keys, uint64(j)<<32|uint64(base+p))
	}
}

// sum sorts the products and adds products of equal columns, in the order they were appended.
func (l *list) sum(s *Semiring, c *sparse.Type) {
	slices.Sort(l.keys)
	n := len(l.keys)
	// Local lists: to store a slice in l at each key costs a write barrier.
	idx, from, slot := l.idx[:0], slices.Grow(l.from[:0], n)[:n], slices.Grow(l.slot[:0], n)[:n]
	for p, key := range l.keys {
		if j := int32(key >> 32); len(idx) == 0 || idx[len(idx)-1] != j {
			idx = append(idx, j)
		}
		from[p], slot[p] = int32(key), int32(len(idx)-1)
	}
	l.idx, l.from, l.slot = idx, from, slot
	l.val = c.Grow(l.val, len(idx))
	c.Fill(l.val, s.Identity)
	l.ordered = c.Grow(l.ordered, n)
	c.Move(l.ordered, nil, l.prod, from)
	s.Collect(l.val, slot, l.ordered)
	l.reset()
}

// restrict drops the sums that a mask of a vector does not allow: O(sums), times the logarithm of
// the entries of a listed mask.
func (l *list) restrict(c *sparse.Type, m *Mask) {
	if m == nil {
		return
	}
	l.from = l.from[:0]
	switch {
	case m.S.Format == sparse.Full:
		if !m.Comp {
			return
		}
	case m.S.Format == sparse.Bitmap:
		for p, j := range l.idx {
			if m.S.Present[j] != b2u(m.Comp) {
				l.from = append(l.from, int32(p))
			}
		}
	default:
		list := m.row(0)
		for p, j := range l.idx {
			list = list[search(list, int(j)):]
			if has := len(list) > 0 && list[0] == j; has != m.Comp {
				l.from = append(l.from, int32(p))
			}
		}
	}
	for q, p := range l.from {
		l.idx[q] = l.idx[p]
	}
	n := len(l.from)
	c.Move(l.val, nil, l.val, l.from) // from[q] ≥ q
	l.idx, l.val = l.idx[:n], c.Slice(l.val, 0, int64(n))
}

// count returns the number of distinct columns that are not in forbidden, which is ascending, and
// empties the list.
func (l *list) count(forbidden []int32) int64 {
	slices.Sort(l.keys)
	var n int64
	m := 0
	for p, key := range l.keys {
		j := int32(key >> 32)
		if p > 0 && int32(l.keys[p-1]>>32) == j {
			continue
		}
		for m < len(forbidden) && forbidden[m] < j {
			m++
		}
		if m == len(forbidden) || forbidden[m] != j {
			n++
		}
	}
	l.reset()
	return n
}
