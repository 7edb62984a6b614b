// Package decide makes the tables by which kernels/pointwise.cu decides what becomes of a position.
package decide

import "github.com/hiveblas/hiveblas/internal/device"

// action is what becomes of a position; see kernels/pointwise.cu.
type action uint32

const (
	skip action = iota
	left
	right
	both
)

// table lists the action for each state of a position.
func table(of func(region, allowed, inB, inA bool) action) (t uint32) {
	for state := range 16 {
		a := of(state&8 != 0, state&4 != 0, state&2 != 0, state&1 != 0)
		t |= uint32(a) << (2 * state)
	}
	return t
}

// Write is the table by which a result goes to its destination.
func Write(d device.Dest) uint32 {
	return table(func(_, allowed, inB, inA bool) action { return written(d, allowed, inB, inA) })
}

// Assign is the table of assignment: in the region the destination becomes b, or takes it with the
// accumulator; the mask is over all of it.
func Assign(d device.Dest) uint32 {
	return table(func(region, allowed, inB, inA bool) action {
		if d.Accum == nil && allowed && !region {
			if inA {
				return left
			}
			return skip
		}
		return written(d, allowed, inB, inA)
	})
}

// Pair is the table of a union or an intersection of entries.
func Pair(how device.Pair) uint32 {
	return table(func(_, _, inB, inA bool) action {
		switch {
		case inA && inB:
			return both
		case how == device.Intersection:
		case inA:
			return left
		case inB:
			return right
		}
		return skip
	})
}

func written(d device.Dest, allowed, inB, inA bool) action {
	switch {
	case !allowed && d.Replace:
		return skip
	case !allowed:
		if inA {
			return left
		}
		return skip
	case d.Accum != nil && inA && inB:
		return both
	case d.Accum != nil && inA:
		return left
	case inB:
		return right
	}
	return skip
}
