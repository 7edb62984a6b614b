package cusparse

import (
	"errors"

	"github.com/hiveblas/hiveblas/cusparse/space"
	"github.com/hiveblas/hiveblas/internal/device"
	"github.com/hiveblas/hiveblas/internal/sparse"
)

// This file chooses the plan of a product of a matrix and a vector.

// defaultUses is the number of products that a matrix is assumed to serve unless [Prepare] states
// it: a layout is made at the first product if so many products pay for it.
const defaultUses = 64

// choice is what the automatic choice of plans rests on besides the table.
type choice struct {
	// floor is the number of entries up to which a matrix is not looked at: its
	// facts cost two kernels and a wait, once.
	floor int64
	// head is the number of entries from which those in the first columns are
	// counted, for tiles with x in shared memory.
	head int64
	// rotate, in tests, picks the plan of every product that it can.
	rotate func(space.Direction, space.Facts) (space.Plan, bool)
	// all, for lists of kernels, runs a product by every plan of the table.
	all bool
	// mostRead, for lists of kernels, is the number of values up to which a matrix is copied to the
	// host. 0 is no limit.
	mostRead int64
}

var choiceDefaults = choice{floor: 1 << 16, head: 8 << 20}

// Methods of a product that are no plans.
const (
	methodPull       = "pull"
	methodPush       = "push"
	methodRelabelled = "relabelled"
	methodVendor     = "cusparse"
)

// mxv computes a·u by a method: "" chooses a plan, "pull" and "push" choose a plan of that
// direction, "relabelled" is the plan of tiles, and else the method is the text of a plan. filtered
// says that the result lies within the mask.
func (f *frame) mxv(
	method string, s device.Semiring, flip bool, a device.Operand, u *store, mask *device.Mask,
	ran *device.Ran,
) (out *store, filtered bool) {
	if f.err != nil {
		return nil, false
	}
	return (&walk{frame: f, s: s, flip: flip, operand: a, u: u, mask: mask}).run(method, ran)
}

// run computes the product by a method; see mxv.
func (w *walk) run(method string, ran *device.Ran) (out *store, filtered bool) {
	f := w.frame
	switch method {
	case "", methodPull, methodPush:
		mark := len(f.temps)
		w.choose(method, true)
		if f.d.choice.all && f.err == nil {
			w.runAll()
		}
		out, filtered = w.product(ran)
		if errors.Is(f.err, ErrMemory) && (w.readsLayout() || w.plan.Columns) { // for want of a layout
			f.err = nil
			f.freeSince(mark)
			w.choose(method, false)
			out, filtered = w.product(ran)
		}
		if method == methodPull { // by whatever plan
			ran.Method = methodPull
		}
		return out, filtered
	case methodRelabelled:
		w.plan = space.Plan{Schedule: space.Tiles, Frame: space.Segmented, Columns: true}.Normal()
	default:
		plan, err := space.Parse(method)
		if err != nil {
			f.fail(&device.MethodError{Reason: err.Error()})
			return nil, false
		}
		w.plan = plan
	}
	facts := w.look(w.plan.Direction, true)
	if f.err != nil {
		return nil, false
	}
	if method == methodRelabelled && facts.Shared > 0 && facts.Entries >= f.d.choice.head {
		w.plan.Hot = true
	}
	var clash *space.ClashError
	if errors.As(w.plan.Legal(*facts), &clash) {
		f.fail(&device.MethodError{
			Reason: clash.A + " and " + clash.B + " clash: " + clash.Reason})
		return nil, false
	}
	w.a = w.rows[w.plan.Direction]
	out, filtered = w.product(ran)
	if errors.Is(f.err, ErrMemory) && w.readsLayout() && w.form == nil {
		reason := "the layout of " + w.plan.String() + " does not fit the device's memory: " + f.err.Error()
		f.err = nil
		f.fail(&device.MethodError{Reason: reason})
	}
	return out, filtered
}

// look gathers the facts of a direction. It makes the rows of the direction if they are missing.
// named says that the plan is given: even small matrices are looked at.
func (w *walk) look(d space.Direction, named bool) *space.Facts {
	rows := w.frame.rows
	if d == space.Push {
		rows = w.cols
	}
	a := rows(w.operand)
	if w.err != nil {
		return nil
	}
	if named {
		a = w.walkable(a, w.plan.Layout)
	}
	w.rows[d] = a
	seen := named || a.origin().facts != nil || a.known() > w.d.choice.floor && !w.single
	facts := w.spaceFacts(w.s, w.flip, a, w.u, w.mask, seen)
	facts.Uses = defaultUses
	if n := a.origin().uses; n > 0 {
		facts.Uses = n
	}
	w.facts[d] = &facts
	return &facts
}

// choose sets the plan: the plan that Prepare asked for, the plan tuned for this matrix on this
// device, or the plan of the table. layouts says that layouts may be made.
func (w *walk) choose(method string, layouts bool) {
	if w.err != nil {
		return
	}
	w.facts, w.rows = [2]*space.Facts{}, [2]*store{}
	for _, d := range []space.Direction{space.Pull, space.Push} {
		if method == "" && w.considers(d) || method == d.String() {
			w.look(d, false)
		}
	}
	if w.facts[space.Pull] == nil && w.facts[space.Push] == nil {
		w.look(space.Pull, false)
	}
	if w.err != nil {
		return
	}
	if !layouts {
		w.withoutLayouts()
	}
	var plan space.Plan
	ok := false
	if layouts {
		plan, ok = w.preferred(method)
	}
	if !ok {
		plan, ok = space.Choose(w.facts[space.Pull], w.facts[space.Push])
		if ok && (plan.Layout != space.CSR || plan.Columns) && !w.made(plan) &&
			!w.affords(plan.Bytes(*w.facts[plan.Direction])) {
			w.withoutLayouts()
			plan, ok = space.Choose(w.facts[space.Pull], w.facts[space.Push])
		}
	}
	if !ok {
		w.fail(&device.MethodError{Reason: "no plan of the table suits the operands"})
		return
	}
	w.plan, w.a = plan, w.walkable(w.rows[plan.Direction], plan.Layout)
}

// walkable returns a matrix with offsets of every row if a layout is made of offsets.
func (f *frame) walkable(a *store, l space.Layout) *store {
	if a == nil || a.format != sparse.Hypersparse || l == space.CSR || l == space.Hyper {
		return a
	}
	return f.csr(a)
}

// prepare makes the layout that a plan reads. It returns a *space.ClashError for a plan
// that no operands allow.
func (f *frame) prepare(o device.Operand, plan space.Plan) error {
	rows := f.rows
	if plan.Direction == space.Push {
		rows = f.cols
	}
	a := rows(o)
	if f.err != nil {
		return nil
	}
	a = f.walkable(a, plan.Layout)
	x := f.factsOf(a)
	if f.err != nil {
		return nil
	}
	facts := space.Facts{ // as much as operands may allow
		Rows: a.m, Cols: a.n, Entries: a.known(), Seen: true, MaxDegree: x.most,
		Diagonals: len(x.diagonals), OnDiagonals: x.onDiagonals, Frontier: 1, FullX: true,
		ListedMask: true, Exact: true, Constant: true, Result: 1, ReadsX: true, Shared: 1,
		Vendor: !f.d.noVendor && f.vendorLibrary().err == nil,
	}
	if err := plan.Legal(facts); err != nil {
		return err
	}
	switch {
	case plan.Columns && plan.Schedule == space.Tiles:
		f.relabel(a)
	case plan.Schedule != space.Tiles && plan.Schedule != space.Expand && plan.Schedule != space.Vendor:
		if plan.Columns && a.known() > 0 {
			r := f.relabel(a)
			if f.err != nil {
				return nil
			}
			a = r.s
		}
		parts := []*store{a}
		if plan.Ranges != 0 {
			parts = f.rangesOf(a, int(plan.Ranges))
		}
		for _, part := range parts {
			f.layoutOf(part, plan.Layout, plan.Order)
			if plan.Layout != space.SELL {
				f.orderOf(part, plan.Order)
			}
		}
	}
	return nil
}

// made reports whether the layout of a plan is kept already.
func (w *walk) made(plan space.Plan) bool {
	a := w.rows[plan.Direction]
	if plan.Layout == space.CSR {
		_, ok := formOf[*relabelled](w.frame, a, "relabelled")
		return ok
	}
	_, ok := formOf[*layout](w.frame, a, layoutKey(plan.Layout, plan.Order))
	return ok
}

// readsLayout reports whether the plan reads more than rows.
func (w *walk) readsLayout() bool {
	return w.plan.Layout != space.CSR || w.plan.Columns && w.plan.Schedule != space.Tiles || w.plan.Ranges != 0
}

// withoutLayouts keeps the table from plans with a layout that has to pay.
func (w *walk) withoutLayouts() {
	for _, x := range w.facts {
		if x != nil {
			x.Uses = 0
		}
	}
}

// considers reports whether the choice includes a direction: its rows are at hand, or
// cheap to make.
func (w *walk) considers(d space.Direction) bool {
	as := w.operand.Store.(*store)
	small := as.isListed() && (as.known() <= w.d.choice.floor || as.format == sparse.Hypersparse)
	full := w.u.format == sparse.Full || w.u.isListed() && w.u.known() == int64(w.u.n)
	if d == space.Pull {
		return hasRows(w.operand) || small || !w.u.isListed()
	}
	switch {
	case w.d.choice.rotate != nil:
		return hasCols(w.operand)
	case full:
		return false // every entry of the vector is used anyway
	}
	return hasCols(w.operand) || w.u.isListed() && (small || vast(w.u.n, w.u.known()))
}

// preferred returns a plan that goes before the plans of the table.
func (w *walk) preferred(method string) (plan space.Plan, ok bool) {
	legal := func(p space.Plan) bool {
		x := w.facts[p.Direction]
		return x != nil && p.Legal(*x) == nil
	}
	if rotate := w.d.choice.rotate; rotate != nil {
		for d, x := range w.facts {
			if x != nil {
				if plan, ok = rotate(space.Direction(d), *x); ok {
					return plan, true
				}
			}
		}
		return plan, false
	}
	for _, a := range w.rows {
		if a == nil {
			continue
		}
		if p := a.origin().plan; p != (space.Plan{}) && legal(p) {
			return p, true
		}
		if _, made := formOf[*relabelled](w.frame, a, "relabelled"); made && method == "" && w.mask == nil {
			p := space.Plan{Schedule: space.Tiles, Frame: space.Segmented, Columns: true,
				Hot: w.facts[0] != nil && w.facts[0].Shared > 0 && a.known() >= w.d.choice.head}
			if legal(p) {
				return p.Normal(), true
			}
		}
	}
	plan, ok = w.tuned()
	return plan, ok && legal(plan) && (plan.Schedule != space.Vendor || w.vendorLibrary().err == nil)
}

// spaceFacts gathers what the legality and the choice of a plan depend on. a is the matrix to walk
// by rows; seen says that its degrees are looked at.
func (f *frame) spaceFacts(
	s device.Semiring, flip bool, a, u *store, mask *device.Mask, seen bool,
) space.Facts {
	out := space.Facts{
		Rows: a.m, Cols: a.n, Entries: a.known(),
		Hyper: a.format == sparse.Hypersparse, Tall: vast(a.m, a.known()), Wide: vast(a.n, a.known()), Frontier: 1, FullX: u.format == sparse.Full,
		ListedX: u.isListed() || u.frontier != nil, VastX: u.isListed() && vast(u.n, u.known()),
		Masked: mask != nil, Wanted: 1, Any: s.Add.Any, Exact: s.Add.Exact,
		Constant: !s.Mul.UsesX && !s.Mul.UsesY && s.Position == 0,
		Result:   s.Add.Out.Size, Position: s.Position != 0, Ends: s.Ends,
	}
	if a.format == sparse.CSR && seen {
		x := f.factsOf(a)
		if f.err != nil {
			return out
		}
		out.Seen, out.MaxDegree, out.Variation = true, x.most, x.variation
		out.Diagonals, out.OnDiagonals = len(x.diagonals), x.onDiagonals
	}
	if a.val != nil {
		out.Elements = a.typ.Size
	}
	out.Vendor = !f.d.noVendor && out.FullX && mask == nil && f.vendorHas(s, a, u)
	if mask != nil && !mask.Comp && mask.Store.Format() <= sparse.Hypersparse {
		out.ListedMask = true
		out.Wanted = float64(mask.Store.(*store).known()) / float64(max(a.m, 1))
	}
	if u.format != sparse.Full && u.n > 0 {
		out.Frontier = float64(f.nvals(u)) / float64(u.n)
		out.FullX = out.FullX || u.isListed() && out.Frontier == 1
	}
	out.ReadsX = u.val != nil && (s.Mul.UsesY && !flip || s.Mul.UsesX && flip)
	if bytes := f.d.spmv.sharedFor(u.typ.Size); out.ReadsX && f.d.props.SharedPerBlock >= bytes {
		out.Shared = min(bytes/u.typ.Size, a.n)
		if out.Seen && out.FullX && out.Entries >= f.d.choice.head {
			out.Head = f.share(a, int32(out.Shared))
		}
	}
	return out
}
