package cusparse

import (
	"github.com/hiveblas/hiveblas/cusparse/space"
	"github.com/hiveblas/hiveblas/internal/device"
)

// defaultUses is the number of products that a matrix is assumed to serve unless the caller states
// it: a layout is made at the first product if so many products pay for it.
const defaultUses = 64

// choose returns the plan of a product: the one that was tuned for this matrix on this device, else
// that of the table. ok is false if the table has none.
func (f *frame) choose(d space.Direction, s device.Semiring, a, u *store, mask *device.Mask) (plan space.Plan, ok bool) {
	facts := f.spaceFacts(s, a, u, mask)
	if f.err != nil {
		return plan, false
	}
	facts.Uses = defaultUses
	if plan, ok = f.tuned(d, facts, a); ok {
		return plan, true
	}
	plan, ok = space.Choose(d, facts)
	if ok && plan.Layout != space.CSR && !f.affords(layoutBytes(plan.Layout, facts)) {
		plan, ok = space.Choose(d, withoutLayouts(facts))
	}
	return plan, ok
}

// layoutBytes is about what a layout takes.
func layoutBytes(l space.Layout, f space.Facts) int64 {
	size := int64(max(f.Elements, 1))
	switch l {
	case space.COO:
		return 4 * f.Entries
	case space.CSR16:
		return 2 * f.Entries
	case space.DIA:
		return int64(f.Rows)*(int64(f.Diagonals)*size+16) + f.Entries/10*(size+4)
	}
	return f.Entries*(size+4)*5/4 + 24*int64(f.Rows)
}

// withoutLayouts are the facts of a matrix that no layout is to be made of.
func withoutLayouts(f space.Facts) space.Facts {
	f.Uses = 0
	return f
}
