package cusparse

import (
	"fmt"
	"unsafe"

	"github.com/hiveblas/hiveblas/cusparse/space"
	"github.com/hiveblas/hiveblas/internal/device"
	"github.com/hiveblas/hiveblas/internal/sparse"
)

// This file composes and launches the kernels of package space: products of a matrix and a vector
// by a plan.

// pullArg is hb_op of kernels/op/pull.cu.
type pullArg struct {
	x, mask                 descriptor
	comp, places            int32
	hit, out                uint64
	partRow, partHit, parts uint64
	rows                    uint64
}

// pushArg is hb_op of kernels/op/push.cu.
type pushArg struct {
	x, mask               descriptor
	comp, _               int32
	hit, out, next, count uint64
}

// itemsArg is hb_items of kernels/frontier.cu.
type itemsArg struct {
	list, present uint64
	count         int64
}

// byValue passes a struct of a layout that the kernel shares.
func byValue[T any](x *T) device.Scalar {
	return device.Scalar{Type: device.Type{Size: int(unsafe.Sizeof(*x))}, P: unsafe.Pointer(x)}
}

// walk is a product by a plan under way.
type walk struct {
	*frame
	s       device.Semiring
	flip    bool
	operand device.Operand
	u       *store // pull: dense, or a list if it is vast; push: listed with from=list, else dense
	single  bool   // nothing is found out about the matrix for later products
	mask    *device.Mask

	plan  space.Plan
	facts [2]*space.Facts // of the directions that were looked at
	rows  [2]*store       // the matrix that a direction walks by rows
	a     *store          // the matrix of the plan's direction
	form  *layout
	hit   bool // presence is written
	at    bool // push: the frontier's list holds positions of a dense u
	p     *program
}

// walkKey tells the programs of walks apart.
type walkKey struct {
	plan               space.Plan
	s                  device.Semiring
	flip, bareA, bareX bool
	xFormat            sparse.Format
	mask, hit, at      bool
	ordered, rest      bool
	bits, width        int
	diagonals          string
}

// launchedPlan is p as far as the text of its kernels depends on it.
func launchedPlan(p space.Plan) space.Plan {
	p.Columns, p.Ranges = false, min(p.Ranges, 1)
	if p.Layout != space.SELL {
		p.Order = space.Natural
	} else if p.Order != space.Natural {
		p.Order = space.Degree
	}
	return p
}

// compose writes the program of a walk.
func (w *walk) compose() {
	key := walkKey{
		plan: launchedPlan(w.plan), s: w.s, flip: w.flip,
		bareA: w.a.val == nil, bareX: w.u.val == nil && w.u.slots() != 0,
		xFormat: min(w.u.format, sparse.Full), hit: w.hit, at: w.at,
		mask:    w.mask != nil && (w.plan.Direction == space.Push || w.plan.From != space.List),
		ordered: w.form.arg.rows != 0, rest: w.form.arg.nvals != 0,
		bits: w.form.bits, width: len(w.form.diagonals),
	}
	key.plan.From = w.from()
	if w.plan.Baked {
		key.diagonals = w.form.diagonalText()
	}
	w.p = w.once(key, func() *program { return w.program(key) })
}

// from is the frontier as the kernel sees it: reordered rows are a list.
func (w *walk) from() space.Frontier {
	if w.listsOrder() {
		return space.List
	}
	return w.plan.From
}

// listsOrder reports whether the rows are walked by a list that reorders them.
func (w *walk) listsOrder() bool { return w.plan.Order != space.Natural && w.plan.Layout != space.SELL }

func (w *walk) program(key walkKey) *program {
	plan := key.plan
	p := multiplier("walk", w.s, w.flip, w.a, w.u)
	p.name = plan.String() + ", " + p.name
	pull := plan.Direction == space.Pull
	p.flag("HB_FLIP", w.flip).flag("HB_MASKED", key.mask).flag("HB_HIT", key.hit)
	p.flag("HB_ENDS", key.s.Ends).flag("HB_ADDS", plan.Ranges != 0)
	p.flag("HB_X_BITMAP", pull && key.xFormat == sparse.Bitmap)
	p.flag("HB_X_LISTED", pull && key.xFormat <= sparse.Hypersparse)
	p.flag("HB_X_AT", key.at).flag("HB_PLACED", plan.Layout == space.Hyper)
	p.define("HB_FRONTIER", int(plan.From)).define("HB_BLOCK", plan.Block)
	p.define("HB_UNROLL", 4).define("HB_LANES", max(plan.Lanes, 1))
	p.define("HB_TILE", max(plan.Tile, 32)).flag("HB_STARTS", plan.Schedule == space.MPP)
	p.define("HB_MIDDLE", 32).define("HB_LARGE", plan.Block)
	p.flag("HB_APPEND", plan.Frame == space.Append).flag("HB_ORDERED", key.ordered)
	index := "hb_i32"
	if plan.Layout == space.CSR16 {
		index = "hb_u16"
	}
	p.define("HB_INDEX", index)
	if plan.Layout == space.DIA {
		bits := map[int]string{1: "hb_u8", 2: "hb_u16", 4: "hb_u32", 8: "hb_u64"}
		p.define("HB_BITS", bits[key.bits]).define("HB_WIDTH", key.width)
		p.flag("HB_REST", key.rest).flag("HB_BAKED", plan.Baked)
		if plan.Baked {
			p.define("HB_DIAGONALS", key.diagonals)
		}
	}
	if p.parts = walkParts(plan); plan.Schedule.Own() != nil {
		p.own = plan.Schedule.Own().Text
	}
	if plan.Layout.Own() != nil {
		p.rows = plan.Layout.Own().Text
	}
	return p.native(w.s.Add)
}

// ownLayoutPart is the part that the text of a layout of a user's own follows.
const ownLayoutPart = "layout/own"

// walkParts are the files of a plan's kernel.
func walkParts(plan space.Plan) []string {
	layout, schedule, frame := plan.Layout.String(), plan.Schedule.String(), plan.Frame.String()
	if plan.Layout == space.CSR16 {
		layout = "csr"
	}
	if plan.Layout.Own() != nil {
		layout = "own"
	}
	if plan.Schedule == space.MPP {
		schedule = "strict"
	}
	parts := []string{"common", "block", "topology", "layout/" + layout}
	push := plan.Direction == space.Push
	if push || plan.Frame == space.Atomic {
		parts = append(parts, "atomics")
	}
	parts = append(parts, "op/"+plan.Direction.String(), "op/start", "frontier")
	switch {
	case push:
		parts = append(parts, "frame/atomic") // no schedule calls it: op/push adds by itself
	case plan.Frame != space.Store:
		parts = append(parts, "frame/"+frame)
	}
	if plan.Schedule.Own() != nil { // its text follows
		return append(parts, "walk")
	}
	return append(parts, "walk", "schedule/"+schedule)
}

// native defines the statement that adds y to *p by one instruction, if there is one.
func (p *program) native(m device.Monoid) *program {
	cast := map[string]string{"hb_i32": "(int *)", "hb_u32": "(unsigned *)", "hb_i64": "(unsigned long long *)", "hb_u64": "(unsigned long long *)",
		"float": "(float *)", "double": "(double *)"}[m.Out.Name]
	if cast != "" && m.Text == "x + y" {
		p.define("HB_NATIVE", fmt.Sprintf("atomicAdd(%sp, %s)y)", cast, cast[:len(cast)-3]))
	}
	return p
}

// product computes the product by the plan. filtered says that the result lies within the mask.
func (w *walk) product(ran *device.Ran) (out *store, filtered bool) {
	if w.err != nil {
		return nil, false
	}
	ran.Method = w.plan.Direction.String()
	w.report(ran)
	if w.plan.Direction == space.Pull && w.u.isListed() && !vast(w.u.n, w.u.known()) {
		w.u = w.dense(w.u)
	}
	switch w.plan.Schedule {
	case space.Expand: // u's elements come first in the kernel
		return w.expand(w.s, !w.flip, true, w.list(w.u), w.a, ran), false
	case space.Vendor:
		return w.vendorPull(w.s, w.a, w.u), false
	case space.Tiles:
		if w.plan.Columns {
			ran.Method = methodRelabelled
		}
		return w.tiledProduct(), w.mask != nil
	}
	if w.plan.Layout == space.CSR && w.a.format == sparse.Hypersparse {
		w.plan.Layout = space.Hyper
		w.report(ran)
	}
	if w.plan.Columns {
		w.relabelled()
	}
	if w.err != nil {
		return nil, false
	}
	if w.plan.Ranges != 0 {
		return w.pull(w.rangesOf(w.a, int(w.plan.Ranges))...), w.mask != nil
	}
	w.form = w.layoutOf(w.a, w.plan.Layout, w.plan.Order)
	if w.err != nil {
		return nil, false
	}
	if w.plan.Direction == space.Push {
		return w.push(ran), w.mask != nil
	}
	return w.pull(w.a), w.mask != nil
}

// relabelled takes the matrix with its columns by degree, and the full vector in their order.
func (w *walk) relabelled() {
	f, u := w.frame, w.u
	if w.a.known() == 0 {
		return
	}
	r := f.relabel(w.a)
	if f.err != nil {
		return
	}
	x := f.newStore(1, u.n, sparse.Full, u.typ, int64(u.n))
	x.val = f.alloc(max(int64(u.n), 1) * int64(u.typ.Size)).share()
	f.each(f.shapeFor(u.typ.Size, false, "hb_gather"), r.used, u.val, r.perm, r.used, x.val)
	w.a, w.u = r.s, x
}

// report tells a trace the plan; its text takes as long as a launch.
func (w *walk) report(ran *device.Ran) {
	if w.c.Trace {
		ran.Plan = w.plan.String()
	}
}

// maskDescriptor returns the mask for kernels.
func (w *walk) maskDescriptor() (d descriptor, comp int32) {
	s, arg := w.maskOf(w.mask)
	if s == nil {
		return d, 0
	}
	return arg.s, arg.comp
}

// itemsOf returns the rows that are walked: n of a list, or the rows of the plan.
func itemsOf(w *walk, list *mem, n int64) itemsArg {
	switch {
	case w.listsOrder():
		return itemsArg{list: uint64(w.orderOf(w.a, w.plan.Order).ptr()), count: int64(w.a.m)}
	case list != nil:
		return itemsArg{list: uint64(list.ptr()), count: n}
	case w.plan.From == space.Listed:
		return itemsArg{present: uint64(w.u.present.ptr()), count: int64(w.form.arg.nplaces)}
	}
	return itemsArg{count: int64(w.form.arg.nplaces)}
}

// pull collects the rows of the matrix, or of its ranges of columns, whose sums it joins in their
// order.
func (w *walk) pull(parts ...*store) *store {
	f := w.frame
	size := int64(w.s.Add.Out.Size)
	// Every row that has entries has a result where x is full and no row and no term is left out.
	w.hit = w.u.format != sparse.Full || w.mask != nil || w.s.If != "" || w.plan.Layout == space.Hyper ||
		w.s.Add.Any || w.single && w.a.full == 0
	arg := pullArg{x: *w.u.desc()}
	var list *mem
	count := int64(0)
	if w.plan.From == space.List { // the rows of the mask
		rows, _ := f.maskOf(w.mask)
		if rows = f.list(rows); f.err != nil {
			return nil
		}
		list, count = rows.idx, rows.known()
	} else {
		arg.mask, arg.comp = w.maskDescriptor()
	}
	n := int64(w.a.m)
	var hyper *store
	if w.plan.Layout == space.Hyper { // a result for each place
		hyper = w.form.hyper
		n = int64(hyper.nvec)
		arg.rows, arg.places = uint64(hyper.rowids.ptr()), int32(hyper.nvec)
	}
	var out *store
	var hit, val *mem
	if w.hit {
		hit, val = f.alloc(max(n, 1)), f.alloc(max(n, 1)*size)
	} else {
		out = f.entryPerRow(w.a, w.s.Add.Out)
		val = out.val
	}
	arg.hit, arg.out = uint64(hit.ptr()), uint64(val.ptr())
	whole := w.a
	for i, part := range parts {
		if w.plan.Ranges != 0 {
			w.a, w.form = part, f.layoutOf(part, w.plan.Layout, w.plan.Order)
		}
		if f.err != nil {
			return nil
		}
		if w.compose(); i == 0 && (w.plan.Ranges != 0 || w.plan.Schedule.Split() || w.plan.From == space.List) {
			f.each(f.kernel(w.p, "hb_start"), n, n, hit, val)
		}
		w.collect(itemsOf(w, list, count), &arg)
	}
	w.a = whole
	if out == nil && hyper != nil {
		out = f.perRow(hyper, hyper.nvec, w.s.Add.Out, hit, val)
	} else if out == nil {
		out = f.perRow(w.a, w.a.m, w.s.Add.Out, hit, val)
	}
	return out
}

// collect launches the kernels of a pull.
func (w *walk) collect(items itemsArg, arg *pullArg) {
	f := w.frame
	if items.count == 0 || w.a.known() == 0 && !w.hit {
		return
	}
	if !w.plan.Schedule.Tiled() {
		w.launchWalk(items, byValue(&w.form.arg), byValue(&items), byValue(arg))
		return
	}
	at, starts, tiles := w.tiles(items, byValue(arg))
	if tiles == 0 || f.err != nil {
		return
	}
	if w.plan.Frame == space.Segmented {
		partRow := f.alloc(8 * tiles)
		arg.partRow = uint64(partRow.ptr())
		arg.parts = uint64(f.alloc(2 * tiles * int64(w.s.Add.Out.Size)).ptr())
		if w.hit {
			arg.partHit = uint64(f.alloc(2 * tiles).ptr())
		}
		f.fill(partRow, 255, 8*tiles) // tiles beyond the last have no parts
	}
	block := int64(w.plan.Block)
	f.blocks(f.kernel(w.p, "hb_walk"), min((tiles*32+block-1)/block, maxGrid), int(block),
		byValue(&w.form.arg), byValue(&items), byValue(arg), at, starts)
	if w.plan.Frame == space.Segmented {
		f.blocks(f.kernel(w.p, "hb_parts"), (2*tiles+threads-1)/threads, threads,
			2*tiles, byValue(arg))
	}
}

// maxGrid bounds the blocks of a walk; its kernels loop.
const maxGrid = 1 << 20

// starts is what MPP keeps: the first row of each tile.
type tileStarts struct {
	at, starts *mem
	tiles      int64
}

func (t *tileStarts) drop() {
	t.at.release()
	t.starts.release()
}

// tiles finds where the slots of each item begin, and how many tiles there are.
func (w *walk) tiles(items itemsArg, op device.Scalar) (at, starts *mem, tiles int64) {
	f := w.frame
	tile := int64(w.plan.Tile)
	if items.count == 0 {
		return nil, nil, 0
	}
	key := fmt.Sprint("starts ", w.plan.Layout, w.plan.Order, tile)
	if w.plan.Schedule == space.MPP {
		if t, ok := formOf[*tileStarts](f, w.a, key); ok {
			return t.at, t.starts, t.tiles
		}
	}
	total := w.slots() // no less than there are; the kernel knows the number
	whole := w
	if w.plan.Schedule == space.MPP { // what is kept depends on no mask and no frontier
		u := *w
		u.mask, u.plan.From = nil, space.All
		items = itemsArg{count: int64(w.form.arg.nplaces)}
		whole = &u
	}
	switch w.plan.Layout {
	case space.CSR, space.CSR16, space.COO:
		if whole.from() == space.All {
			at = w.a.ptr
		}
	}
	if at == nil {
		if whole != w {
			whole.compose()
		}
		degrees := f.alloc(8 * items.count)
		f.each(f.kernel(whole.p, "hb_degrees"), items.count,
			byValue(&w.form.arg), byValue(&items), op, degrees)
		at = f.scan(degrees, items.count, 8)
	}
	tiles = (total + tile - 1) / tile
	if w.plan.Schedule != space.MPP || tiles == 0 || f.err != nil {
		return at, nil, tiles
	}
	starts = f.alloc(4 * (tiles + 1))
	f.each(f.kernel(w.p, "hb_starts"), tiles+1, at, items.count, tiles, starts)
	if f.err == nil {
		f.keepForm(w.a, key, &tileStarts{at.share(), starts.share(), tiles})
	}
	return at, starts, tiles
}

// launchWalk launches a schedule that has no tiles: a thread an item, or as many as it takes.
func (w *walk) launchWalk(items itemsArg, args ...any) {
	n := items.count
	if o := w.plan.Schedule.Own(); o != nil {
		n *= int64(o.Threads)
	}
	switch w.plan.Schedule {
	case space.VW:
		n *= int64(w.plan.Lanes)
	case space.EM:
		n = w.slots()
	case space.EMV:
		n = (w.slots() + 3) / 4
	}
	block := int64(w.plan.Block)
	w.blocks(w.kernel(w.p, "hb_walk"), min((n+block-1)/block, maxGrid), int(block), args...)
}

// slots is the number of slots of the layout: hb_slots.
func (w *walk) slots() int64 {
	n := w.form.arg.nvals
	switch w.plan.Layout {
	case space.ELL, space.DIA:
		n += int64(w.a.m) * int64(w.form.arg.width)
	case space.SELL:
		n = w.form.arg.pitch
	}
	return n
}

// push sends the entries of u along the rows of a.
func (w *walk) push(ran *device.Ran) *store {
	f := w.frame
	n := int64(w.a.n)
	t := w.s.Add.Out
	out := f.newStore(1, w.a.n, sparse.Bitmap, t, -1)
	out.present, out.val = f.alloc((n+7)/4*4).share(), f.alloc(max(n, 1)*int64(t.Size)).share()
	w.hit = true
	list, count := w.frontier()
	w.report(ran) // a vector without holes changes from=bitmap to all
	if w.compose(); f.err != nil {
		return nil
	}
	arg := pushArg{x: *w.u.desc(), hit: uint64(out.present.ptr()), out: uint64(out.val.ptr())}
	arg.mask, arg.comp = w.maskDescriptor()
	var next, written *mem
	if w.plan.Frame == space.Append {
		next, written = f.alloc(4*max(n, 1)), f.zeros(8)
		arg.next, arg.count = uint64(next.ptr()), uint64(written.ptr())
	}
	f.each(f.kernel(w.p, "hb_start"), n, n, out.present, out.val)
	items := itemsOf(w, list, count)
	if n == 0 || w.a.known() == 0 || items.count == 0 {
		out.count.Store(0)
		return out
	}
	if w.plan.Schedule.Tiled() {
		if at, starts, tiles := w.tiles(items, byValue(&arg)); tiles > 0 {
			block := int64(w.plan.Block)
			f.blocks(f.kernel(w.p, "hb_walk"), min((tiles*32+block-1)/block, maxGrid), int(block),
				byValue(&w.form.arg), byValue(&items), byValue(&arg), at, starts)
		}
	} else {
		w.launchWalk(items, byValue(&w.form.arg), byValue(&items), byValue(&arg))
	}
	if written != nil { // the next product needs the number, and need not look for the positions
		out.count.Store(f.read(written, 0))
		out.frontier = next.share()
	}
	return out
}

// frontier brings u into the form that the plan of a push takes. It returns the list of the rows to
// walk, nil for all rows or the rows of a bitmap.
func (w *walk) frontier() (list *mem, count int64) {
	switch {
	case w.plan.From == space.List && w.u.frontier != nil:
		w.at = true
		return w.u.frontier, w.u.known()
	case w.plan.From == space.List && w.s.Ends: // the values stay where they are
		list := w.list(w.u)
		if w.err != nil {
			return nil, 0
		}
		w.at = true
		return list.idx, list.known()
	case w.plan.From == space.List:
		if w.u = w.list(w.u); w.err != nil {
			return nil, 0
		}
		return w.u.idx, w.u.known()
	}
	if w.u = w.dense(w.u); w.u.format == sparse.Full {
		w.plan.From = space.All
	} else {
		w.plan.From = space.Listed
	}
	return nil, 0
}
