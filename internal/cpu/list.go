package cpu

import (
	"slices"

	"github.com/hiveblas/hiveblas/internal/sparse"
)

// list collects the products of one row and adds those of equal column by sorting: the fastest
// method for rows of few products.
type list[C any] struct {
	keys []uint64 // column in the upper half, index into prod in the lower
	prod []C
	idx  []int32 // columns of the sums, after sum
	val  []C
}

func (l *list[C]) reset() { l.keys, l.prod = l.keys[:0], l.prod[:0] }

// appendProducts appends the products x ⊗ b(k, ·). Row k of b is at lo … hi−1.
func appendProducts[A, B, C any](l *list[C], s *Semiring[A, B, C], x A, b *sparse.Store[B], lo, hi int64) {
	base := len(l.prod)
	ci := b.Idx[lo:hi]
	l.prod = slices.Grow(l.prod, len(ci))[:base+len(ci)]
	s.Products(l.prod[base:], x, window(b.Val, lo, hi))
	for p, j := range ci {
		l.keys = append(l.keys, uint64(j)<<32|uint64(base+p))
	}
}

// sum sorts the products and adds those of equal column, in the order they were appended.
func (l *list[C]) sum(add func(x, y C) C, id C) {
	slices.Sort(l.keys)
	l.idx, l.val = l.idx[:0], l.val[:0]
	for p, key := range l.keys {
		j, x := int32(key>>32), l.prod[uint32(key)]
		if p > 0 && int32(l.keys[p-1]>>32) == j {
			last := len(l.val) - 1
			l.val[last] = add(l.val[last], x)
			continue
		}
		l.idx = append(l.idx, j)
		l.val = append(l.val, add(id, x))
	}
	l.reset()
}

// restrict drops the sums that a mask of a vector does not allow: O(sums), times the logarithm of the
// entries of a listed mask.
func (l *list[C]) restrict(m *Mask) {
	if m == nil {
		return
	}
	keep := func(q, p int) { l.idx[q], l.val[q] = l.idx[p], l.val[p] }
	n := 0
	switch {
	case m.S.Format == sparse.Full:
		if !m.Comp {
			n = len(l.idx)
		}
	case m.S.Format == sparse.Bitmap:
		c := b2u(m.Comp)
		for p, j := range l.idx {
			keep(n, p)
			n += int(m.S.Present[j] ^ c)
		}
	default:
		list := m.row(0)
		for p, j := range l.idx {
			list = list[search(list, int(j)):]
			keep(n, p)
			if has := len(list) > 0 && list[0] == j; has != m.Comp {
				n++
			}
		}
	}
	l.idx, l.val = l.idx[:n], l.val[:n]
}

// count returns the number of distinct columns that are not in forbidden, which is ascending, and
// empties the list.
func (l *list[C]) count(forbidden []int32) int64 {
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
