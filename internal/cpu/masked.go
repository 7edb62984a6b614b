package cpu

import (
	"encoding/binary"
	"sync/atomic"

	"github.com/hiveblas/hiveblas/internal/parallel"
	"github.com/hiveblas/hiveblas/internal/sparse"
)

// This file updates the positions of a mask in a dense destination, in place.

// mergeInto does c⟨m⟩ = t for dense c, t and m. c must be a bitmap unless t is full.
func mergeInto(c, t *sparse.Store, m *sparse.Structure, threads int) {
	c.NVals += byPositions(c.Val.Len(), threads, func(lo, hi int) int64 { return mergeRange(c, t, m, lo, hi) })
}

// byPositions runs fn on the pieces of [0, n) and returns the sum.
func byPositions(n, threads int, fn func(lo, hi int) int64) int64 {
	if n <= positionGrain {
		return fn(0, n)
	}
	var sum atomic.Int64
	_ = parallel.Range(nil, threads, n, positionGrain, func(_, lo, hi int) { sum.Add(fn(lo, hi)) })
	return sum.Load()
}

// mergeRange is mergeInto for the positions from ≤ p < end. It returns the number of entries that
// it adds.
func mergeRange(c, t *sparse.Store, m *sparse.Structure, from, end int) int64 {
	switch c.Type.Class {
	case sparse.Bytes1:
		return mergeValues(c, t, m, sparse.SliceOf[sparse.E1](c.Val), sparse.SliceOf[sparse.E1](t.Val), from, end)
	case sparse.Bytes2:
		return mergeValues(c, t, m, sparse.SliceOf[sparse.E2](c.Val), sparse.SliceOf[sparse.E2](t.Val), from, end)
	case sparse.Bytes4:
		return mergeValues(c, t, m, sparse.SliceOf[sparse.E4](c.Val), sparse.SliceOf[sparse.E4](t.Val), from, end)
	case sparse.Bytes8:
		return mergeValues(c, t, m, sparse.SliceOf[sparse.E8](c.Val), sparse.SliceOf[sparse.E8](t.Val), from, end)
	case sparse.Bytes16:
		return mergeValues(c, t, m, sparse.SliceOf[sparse.E16](c.Val), sparse.SliceOf[sparse.E16](t.Val), from, end)
	}
	var at []int32
	added := int64(0)
	for p := from; p < end; p++ {
		if m.Present != nil && m.Present[p] == 0 {
			continue
		}
		has := t.Present == nil || t.Present[p] != 0
		if has {
			at = append(at, int32(p-from))
		}
		if c.Present != nil {
			added += int64(b2u(has)) - int64(c.Present[p])
			c.Present[p] = b2u(has)
		}
	}
	c.Type.Move(c.Part(int64(from), int64(end)), at, t.Part(int64(from), int64(end)), at)
	return added
}

// mergeValues is mergeRange for the values out of c and in of t.
func mergeValues[E sparse.Sized](c, t *sparse.Store, m *sparse.Structure, out, in []E, from, end int) (added int64) {
	for lo := from; lo < end; lo += maskStep {
		hi := min(lo+maskStep, end)
		if m.Present != nil && !anyByte(m.Present[lo:hi]) {
			continue
		}
		for p := lo; p < hi; p++ {
			if m.Present != nil && m.Present[p] == 0 {
				continue
			}
			has := t.Present == nil || t.Present[p] != 0
			if has {
				out[p] = in[p]
			}
			if c.Present != nil {
				added += int64(b2u(has)) - int64(c.Present[p])
				c.Present[p] = b2u(has)
			}
		}
	}
	return added
}

// FillMasked does c⟨m⟩ = x[0] for a dense c, in place: O(entries of m), or a scan of its bytes.
func FillMasked(c *sparse.Store, m *sparse.Structure, x Values, threads int) {
	if smallRow(m) {
		c.NVals += fillListed(c.Type, c.Val, c.Present, m.Idx, x)
		return
	}
	if m.Sparse() {
		fillLarge(c, m, x, threads)
		return
	}
	c.NVals += byPositions(c.Val.Len(), threads, func(lo, hi int) int64 { return fillRange(c, m, x, lo, hi) })
}

// fillRange is FillMasked for the positions from ≤ p < end of a dense m. It returns the number of
// entries that it adds.
func fillRange(c *sparse.Store, m *sparse.Structure, x Values, from, end int) int64 {
	switch c.Type.Class {
	case sparse.Bytes1:
		return fillValues(c, m, sparse.SliceOf[sparse.E1](c.Val), sparse.SliceOf[sparse.E1](x), from, end)
	case sparse.Bytes2:
		return fillValues(c, m, sparse.SliceOf[sparse.E2](c.Val), sparse.SliceOf[sparse.E2](x), from, end)
	case sparse.Bytes4:
		return fillValues(c, m, sparse.SliceOf[sparse.E4](c.Val), sparse.SliceOf[sparse.E4](x), from, end)
	case sparse.Bytes8:
		return fillValues(c, m, sparse.SliceOf[sparse.E8](c.Val), sparse.SliceOf[sparse.E8](x), from, end)
	case sparse.Bytes16:
		return fillValues(c, m, sparse.SliceOf[sparse.E16](c.Val), sparse.SliceOf[sparse.E16](x), from, end)
	}
	var at []int32
	for p := from; p < end; p++ {
		if m.Present == nil || m.Present[p] != 0 {
			at = append(at, int32(p-from))
		}
	}
	return fillListed(c.Type, c.Part(int64(from), int64(end)), presence(c.Present, from, end), at, x)
}

// fillValues is fillRange for the values out of c.
func fillValues[E sparse.Sized](c *sparse.Store, m *sparse.Structure, out, x []E, from, end int) (added int64) {
	v := x[0]
	for lo := from; lo < end; lo += maskStep {
		hi := min(lo+maskStep, end)
		if m.Present != nil && !anyByte(m.Present[lo:hi]) {
			continue
		}
		for p := lo; p < hi; p++ { // without branches on the mask
			has, x := uint8(1), out[p]
			if m.Present != nil {
				has = m.Present[p]
			}
			if has != 0 {
				x = v
			}
			if out[p] = x; c.Present != nil {
				added += int64(has &^ c.Present[p])
				c.Present[p] |= has
			}
		}
	}
	return added
}

func fillLarge(c *sparse.Store, m *sparse.Structure, x Values, threads int) {
	var added atomic.Int64
	for k := range m.Vecs() {
		val, present := denseRow(c, m.RowID(k))
		ci := m.Idx[m.Ptr[k]:m.Ptr[k+1]]
		_ = parallel.Range(nil, threads, len(ci), 1<<14, func(_, lo, hi int) {
			added.Add(fillListed(c.Type, val, present, ci[lo:hi], x))
		})
	}
	c.NVals += added.Load()
}

// fillListed writes x[0] to the listed positions and returns the number of new entries. With a nil
// present, every position has an entry.
func fillListed(t *sparse.Type, val Values, present []uint8, ci []int32, x Values) int64 {
	fillAt(t, val, ci, x)
	if present == nil {
		return 0
	}
	existing := int64(0)
	for _, j := range ci {
		existing += int64(present[j])
		present[j] = 1
	}
	return int64(len(ci)) - existing
}

// maskStep is the number of presence bytes that are skipped at a time if all are 0.
const maskStep = 8

func anyByte(b []uint8) bool {
	if len(b) == maskStep {
		return binary.LittleEndian.Uint64(b) != 0
	}
	for _, x := range b {
		if x != 0 {
			return true
		}
	}
	return false
}
