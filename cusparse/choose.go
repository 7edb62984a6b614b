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
	// floor is the number of entries up to which products take the kernels for small matrices: a
	// look at the facts of a matrix costs 40 µs once.
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
	listed := u.isListed() && u.known() < int64(u.n)
	if vast(u.n, max(u.known(), 1)) || !fitsAtomics(s) && listed {
		return plan, nil, false
	}
	for _, d := range []space.Direction{space.Pull, space.Push} {
		rows, at := f.rows, hasRows
		if d == space.Push {
			if !listed && c.rotate == nil {
				break // each entry of a full vector is used anyway
			}
			rows, at = f.cols, hasCols
		}
		if !at(a) {
			continue
		}
		walked = rows(a)
		if f.err != nil || walked.format != sparse.CSR || vast(walked.n, walked.known()) {
			continue
		}
		facts := f.spaceFacts(s, walked, u, mask)
		if facts.ListedMask && mask.Store.(*store).known() < int64(walked.m)/4 && c.rotate == nil {
			return plan, nil, false
		}
		if f.err != nil {
			return plan, nil, false
		}
		facts.Uses = defaultUses
		if plan, ok = f.planFor(d, facts, walked); ok {
			return plan, walked, plan.Schedule != space.Tiles
		}
	}
	return plan, nil, false
}

func (f *frame) planFor(d space.Direction, facts space.Facts, a *store) (plan space.Plan, ok bool) {
	if r := f.d.choice.rotate; r != nil {
		return r(d, facts)
	}
	if plan, ok = f.tuned(d, facts, a); ok {
		return plan, true
	}
	plan, ok = space.Choose(d, facts)
	if ok && plan.Layout != space.CSR && !f.affords(layoutBytes(plan.Layout, facts)) {
		facts.Uses = 0 // a layout is not to be made
		plan, ok = space.Choose(d, facts)
	}
	return plan, ok
}

// fitsAtomics reports whether results can be added atomically.
func fitsAtomics(s device.Semiring) bool {
	switch s.Add.Out.Size {
	case 1, 2, 4, 8:
		return true
	}
	return false
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
