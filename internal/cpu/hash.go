package cpu

import (
	"math/bits"
	"slices"

	"github.com/hiveblas/hiveblas/internal/sparse"
)

// table maps the columns of one row to slots 0, 1, 2, … in order of first occurrence (open
// addressing, linear probing), for results too wide for a dense accumulator.
type table struct {
	keys  []int32 // column + 1, or 0
	slot  []int32
	cols  []int32 // column of each slot
	place []int32 // place in keys of each slot
	acc   Values  // sum of each slot
	slots []int32 // the slots of the last insert
	shift uint
	sums  int // the number of sums
}

// reset empties the table and reserves space for n columns.
func (t *table) reset(n int64) {
	size := 1 << max(6, bits.Len64(uint64(n)))
	if len(t.keys) < size {
		t.keys, t.slot = make([]int32, size), make([]int32, size)
	} else {
		size = len(t.keys)
		if len(t.cols)*16 < size {
			for _, h := range t.place {
				t.keys[h] = 0
			}
		} else {
			clear(t.keys)
		}
	}
	t.shift = uint(64 - bits.TrailingZeros(uint(size)))
	t.cols, t.place, t.sums = t.cols[:0], t.place[:0], 0
}

// find returns the place of column j, or the empty place for its insertion.
func (t *table) find(j int32) int {
	mask := len(t.keys) - 1
	h := int((uint64(uint32(j)) * 0x9E3779B97F4A7C15) >> t.shift)
	for t.keys[h] != 0 && t.keys[h] != j+1 {
		h = (h + 1) & mask
	}
	return h
}

func (t *table) has(j int32) bool { return t.keys[t.find(j)] != 0 }

// insert sets slots[p] to the slot of ci[p] and assigns new slots to new columns.
func (t *table) insert(ci []int32) {
	t.slots = t.slots[:0]
	for _, j := range ci {
		h := t.find(j)
		if t.keys[h] == 0 {
			t.keys[h] = j + 1
			t.slot[h] = int32(len(t.cols))
			t.cols = append(t.cols, j)
			t.place = append(t.place, int32(h))
		}
		t.slots = append(t.slots, t.slot[h])
	}
}

// fill sets the sums of new slots to the identity.
func (t *table) fill(c *sparse.Type, id Values) {
	if n := len(t.cols); t.sums < n {
		t.acc = c.Grow(t.acc, n)
		c.Fill(c.Slice(t.acc, int64(t.sums), int64(n)), id)
		t.sums = n
	}
}

// sorted stores the columns, ascending, and their sums in l.
func (t *table) sorted(c *sparse.Type, l *list) {
	l.keys = l.keys[:0]
	for s, j := range t.cols {
		l.keys = append(l.keys, uint64(j)<<32|uint64(s))
	}
	slices.Sort(l.keys)
	l.idx, l.from = l.idx[:0], l.from[:0]
	for _, key := range l.keys {
		l.idx, l.from = append(l.idx, int32(key>>32)), append(l.from, int32(key))
	}
	l.val = c.Grow(l.val, len(l.idx))
	c.Move(l.val, nil, t.acc, l.from)
	l.keys = l.keys[:0]
}
