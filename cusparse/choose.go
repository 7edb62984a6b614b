package cusparse

import (
	"github.com/hiveblas/hiveblas/cusparse/space"
	"github.com/hiveblas/hiveblas/internal/device"
	"github.com/hiveblas/hiveblas/internal/sparse"
)

// defaultUses is the number of products that a matrix is assumed to serve unless the caller states
// it: a layout is made at the first product if so many products pay for it.
const defaultUses = 64

// choice is what the automatic choice of plans rests on besides the table.
type choice struct {
	// floor is the number of entries up to which products take the kernels for small matrices: the
	// facts of a matrix cost two kernels and a wait, once.
	floor int64
	// rotate, in tests, picks the plan of every product that it can.
	rotate func(space.Direction, space.Facts) (space.Plan, bool)
}

var choiceDefaults = choice{floor: 1 << 16}

// choose returns the plan of the product a·u, and the matrix whose rows it walks: the plan that was
// tuned for this matrix on this device, else that of the table. ok is false where no plan is chosen:
// small and hypersparse matrices, a short mask, tiles, and vectors that no rule covers.
func (f *frame) choose(s device.Semiring, a device.Operand, u *store, mask *device.Mask) (plan space.Plan, walked *store, ok bool) {
	as := a.Store.(*store)
	c := f.d.choice
	if as.isListed() && as.known() <= c.floor || as.extra["relabelled"] != nil {
		return plan, nil, false
	}
	if u.isListed() && vast(u.n, u.known()) {
		return plan, nil, false
	}
	full := u.format == sparse.Full || u.known() == int64(u.n)
	var facts [2]*space.Facts
	var rows [2]*store
	for _, d := range []space.Direction{space.Pull, space.Push} {
		of, at := f.rows, hasRows
		if d == space.Push {
			if full && c.rotate == nil {
				break // every entry of the vector is used anyway
			}
			of, at = f.cols, hasCols
		}
		if !at(a) {
			continue
		}
		w := of(a)
		if f.err != nil || w.format != sparse.CSR || vast(w.n, w.known()) || vast(w.m, w.known()) {
			continue
		}
		x := f.spaceFacts(s, w, u, mask)
		if x.ListedMask && mask.Store.(*store).known() < int64(w.m)/4 && c.rotate == nil {
			return plan, nil, false
		}
		x.Uses = defaultUses
		facts[d], rows[d] = &x, w
	}
	if f.err != nil || facts[0] == nil && facts[1] == nil {
		return plan, nil, false
	}
	plan, ok = f.planFor(facts, rows)
	return plan, rows[plan.Direction], ok && plan.Schedule != space.Tiles
}

// planFor chooses among the directions that have facts.
func (f *frame) planFor(facts [2]*space.Facts, rows [2]*store) (plan space.Plan, ok bool) {
	for d, x := range facts {
		if x == nil {
			continue
		}
		if r := f.d.choice.rotate; r != nil {
			plan, ok = r(space.Direction(d), *x)
		} else {
			plan, ok = f.tuned(space.Direction(d), *x, rows[d])
		}
		if ok {
			return plan, true
		}
	}
	if f.d.choice.rotate != nil {
		return plan, false
	}
	plan, ok = space.Choose(facts[0], facts[1])
	if ok && plan.Layout != space.CSR && !f.affords(layoutBytes(plan.Layout, *facts[plan.Direction])) {
		for _, x := range facts {
			if x != nil {
				x.Uses = 0 // a layout is not to be made
			}
		}
		plan, ok = space.Choose(facts[0], facts[1])
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
