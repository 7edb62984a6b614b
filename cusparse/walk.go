package cusparse

import (
	"errors"
	"strconv"
	"unsafe"

	"github.com/hiveblas/hiveblas/cusparse/space"
	"github.com/hiveblas/hiveblas/internal/device"
	"github.com/hiveblas/hiveblas/internal/sparse"
)

// This file composes and launches the kernels of package space: products of a matrix and a vector by
// a plan.

// pullArg is hb_op of kernels/op/pull.cu.
type pullArg struct {
	x, mask                           descriptor
	comp, _                           int32
	hit, out, partRow, partHit, parts uint64
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

// byValue passes a struct whose layout the kernel shares.
func byValue[T any](x *T) device.Scalar {
	return device.Scalar{Type: device.Type{Size: int(unsafe.Sizeof(*x))}, P: unsafe.Pointer(x)}
}

// walk is a product by a plan under way.
type walk struct {
	*frame
	plan space.Plan
	s    device.Semiring
	flip bool
	a    *store // the matrix whose rows are walked
	u    *store // pull: dense; push: listed with from=list, else dense
	mask *device.Mask
	hit  bool // presence is written
	form *layout
	p    *program
}

// walkKey tells the programs of walks apart.
type walkKey struct {
	plan                                  space.Plan
	s                                     device.Semiring
	flip, bareA, bareX, bitmap, mask, hit bool
	ordered, rest                         bool
	bits, width                           int
	diagonals                             string
}

// launchedPlan is p as far as the text of its kernels depends on it.
func launchedPlan(p space.Plan) space.Plan {
	if p.Layout != space.SELL {
		p.Order = space.Natural
	} else if p.Order != space.Natural {
		p.Order = space.Degree
	}
	return p
}

// compose writes the program of a walk.
func (w *walk) compose() {
	key := walkKey{plan: launchedPlan(w.plan), s: w.s, flip: w.flip, bareA: w.a.val == nil, bareX: w.u.val == nil && w.u.slots() != 0,
		bitmap: w.u.format == sparse.Bitmap, mask: w.mask != nil && !(w.plan.Direction == space.Pull && w.plan.From == space.List), hit: w.hit, ordered: w.form.arg.rows != 0, rest: w.form.arg.nvals != 0, bits: w.form.bits, width: len(w.form.diagonals)}
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
	p.flag("HB_FLIP", w.flip).flag("HB_MASKED", key.mask).flag("HB_HIT", key.hit).flag("HB_X_BITMAP", key.bitmap && plan.Direction == space.Pull)
	p.define("HB_FRONTIER", int(plan.From)).define("HB_BLOCK", plan.Block)
	p.define("HB_UNROLL", 4).define("HB_LANES", max(plan.Lanes, 1)).define("HB_TILE", max(plan.Tile, 32))
	p.flag("HB_STARTS", plan.Schedule == space.MPP).define("HB_MIDDLE", 32).define("HB_LARGE", plan.Block)
	p.flag("HB_APPEND", plan.Frame == space.Append).flag("HB_ORDERED", key.ordered)
	index := "hb_i32"
	if plan.Layout == space.CSR16 {
		index = "hb_u16"
	}
	p.define("HB_INDEX", index)
	if plan.Layout == space.DIA {
		p.define("HB_BITS", map[int]string{1: "hb_u8", 2: "hb_u16", 4: "hb_u32", 8: "hb_u64"}[key.bits])
		p.flag("HB_REST", key.rest).flag("HB_BAKED", plan.Baked)
		p.define("HB_WIDTH", key.width)
		if plan.Baked {
			p.define("HB_DIAGONALS", key.diagonals)
		}
	}
	if t := nativeAtomic(w.s.Add); t != "" {
		p.define("HB_NATIVE", t)
	}
	layout := plan.Layout.String()
	if plan.Layout == space.CSR16 {
		layout = "csr"
	}
	schedule := plan.Schedule.String()
	if plan.Schedule == space.MPP {
		schedule = "strict"
	}
	frame := plan.Frame.String()
	if plan.Direction == space.Push {
		frame = "atomic" // its parts vanish
	}
	p.parts = []string{"common", "warp", "block", "topology", "layout/" + layout, "atomics", "op/" + plan.Direction.String(), "op/start",
		"frontier", "frame/" + frame, "walk", "schedule/" + schedule}
	return p
}

// nativeAtomic is the statement that adds y to *p by one instruction, or "".
func nativeAtomic(m device.Monoid) string {
	cast := map[string]string{"hb_i32": "(int *)", "hb_u32": "(unsigned *)", "hb_i64": "(unsigned long long *)", "hb_u64": "(unsigned long long *)",
		"float": "(float *)", "double": "(double *)"}[m.Out.Name]
	if cast == "" {
		return ""
	}
	value := cast[:len(cast)-3] + ")y"
	switch m.Text {
	case "x + y":
		return "atomicAdd(" + cast + "p, " + value + ")"
	}
	return ""
}

// product computes the product by a plan. filtered says that the result lies within the mask.
func (w *walk) product(ran *device.Ran) (out *store, filtered bool) {
	if w.plan.Layout == space.CSR && w.a.format == sparse.Hypersparse {
		w.plan.Layout = space.Hyper
	}
	ran.Method, ran.Plan = w.plan.Direction.String(), w.plan.String()
	if w.plan.Direction == space.Pull && w.u.isListed() {
		w.u = w.dense(w.u)
	}
	w.form = w.layoutOf(w.a, w.plan.Layout, w.plan.Order)
	if w.err != nil {
		return nil, false
	}
	if w.plan.Direction == space.Push {
		return w.push(ran), w.mask != nil
	}
	return w.pull(), w.mask != nil
}

// maskDescriptor returns the mask for kernels.
func (w *walk) maskDescriptor() (d descriptor, comp int32) {
	s, arg := w.maskOf(w.mask)
	if s == nil {
		return d, 0
	}
	return arg.s, arg.comp
}

// items returns the rows that are walked.
func (w *walk) items(list *mem, n int64) itemsArg {
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

// pull collects the rows.
func (w *walk) pull() *store {
	f := w.frame
	n := int64(w.a.m)
	size := int64(w.s.Add.Out.Size)
	// Presence is known where x is full, every row has its turn and rows keep their places.
	w.hit = w.u.format != sparse.Full || w.mask != nil || w.plan.Layout == space.Hyper || w.s.Add.Any
	var out *store
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
	if w.hit {
		out = f.newStore(1, w.a.m, sparse.Bitmap, w.s.Add.Out, -1)
		out.present, out.val = f.alloc(max(n, 1)).share(), f.alloc(max(n, 1)*size).share()
		if w.a.m == 0 {
			out.count.Store(0)
		}
	} else {
		out = f.entryPerRow(w.a, w.s.Add.Out)
	}
	arg.hit, arg.out = uint64(out.present.ptr()), uint64(out.val.ptr())
	w.compose()
	if f.err != nil {
		return nil
	}
	if w.plan.Schedule.Tiled() || w.plan.Schedule.Flat() || w.plan.Layout == space.Hyper || list != nil {
		hit := out.present
		if !w.hit {
			hit = nil
		}
		f.each(f.kernel(w.p, "hb_start"), n, n, hit, out.val)
	}
	items := w.items(list, count)
	if items.count == 0 || w.a.known() == 0 && !w.hit {
		return out
	}
	if !w.plan.Schedule.Tiled() {
		f.launchWalk(w, items, byValue(&w.form.arg), byValue(&items), byValue(&arg))
		return out
	}
	at, starts, tiles := w.tiles(items, byValue(&arg))
	if tiles == 0 || f.err != nil {
		return out
	}
	if w.plan.Frame == space.Segmented {
		partRow := f.alloc(8 * tiles)
		arg.partRow, arg.parts = uint64(partRow.ptr()), uint64(f.alloc(2*tiles*size).ptr())
		if w.hit {
			arg.partHit = uint64(f.alloc(2 * tiles).ptr())
		}
		if f.err == nil { // tiles beyond the last have no parts
			f.fill(partRow, 255, 8*tiles)
		}
	}
	block := int64(w.plan.Block)
	f.blocks(f.kernel(w.p, "hb_walk"), min((tiles*32+block-1)/block, 1<<20), int(block), byValue(&w.form.arg), byValue(&items), byValue(&arg), at, starts)
	if w.plan.Frame == space.Segmented {
		f.blocks(f.kernel(w.p, "hb_parts"), (2*tiles+255)/256, 256, 2*tiles, byValue(&arg))
	}
	return out
}

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
	plain := w.from() == space.All && (w.plan.Layout == space.CSR || w.plan.Layout == space.Hyper || w.plan.Layout == space.COO || w.plan.Layout == space.CSR16)
	key := "starts " + w.plan.Layout.String() + " " + w.plan.Order.String() + " " + strconv.Itoa(int(tile))
	if w.plan.Schedule == space.MPP {
		if t, ok := w.a.extra[key].(*tileStarts); ok {
			return t.at, t.starts, t.tiles
		}
	}
	var total int64
	if plain && w.plan.Layout != space.Hyper {
		at, total = w.a.ptr, w.a.known()
	} else {
		p := w.p
		if w.plan.Schedule == space.MPP && w.mask != nil { // what is kept does not depend on a mask
			u := *w
			u.mask = nil
			u.compose()
			p = u.p
		}
		degrees := f.alloc(8 * items.count)
		f.each(f.kernel(p, "hb_degrees"), items.count, byValue(&w.form.arg), byValue(&items), op, degrees)
		at = f.scan(degrees, items.count, 8)
		total = w.slots() // no less than there are; the kernel knows the number
	}
	tiles = (total + tile - 1) / tile
	if w.plan.Schedule != space.MPP || tiles == 0 || f.err != nil {
		return at, nil, tiles
	}
	starts = f.alloc(4 * (tiles + 1))
	f.each(f.kernel(w.p, "hb_starts"), tiles+1, at, items.count, tiles, starts)
	if f.err == nil {
		w.a.retain(key, &tileStarts{at.share(), starts.share(), tiles})
	}
	return at, starts, tiles
}

// launchWalk launches a schedule that has no tiles: a thread an item, or as many as it takes.
func (f *frame) launchWalk(w *walk, items itemsArg, args ...any) {
	block := int64(w.plan.Block)
	threads := items.count
	switch w.plan.Schedule {
	case space.VW:
		threads *= int64(w.plan.Lanes)
	case space.EM, space.EMV:
		threads = w.slots()
		if w.plan.Schedule == space.EMV {
			threads = (threads + 3) / 4
		}
	}
	k := f.kernel(w.p, "hb_walk")
	f.blocks(k, min((threads+block-1)/block, int64(f.d.props.Multiprocessors)*256), int(block), args...)
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
	if w.a.n == 0 {
		out.count.Store(0)
	}
	out.present, out.val = f.alloc((n+7)/4*4).share(), f.alloc(max(n, 1)*int64(t.Size)).share()
	w.hit = true
	u := w.u
	var list *mem
	count := int64(0)
	switch w.plan.From {
	case space.List:
		u = f.list(u)
		list, count = u.idx, u.known()
	case space.Listed, space.All:
		u = f.dense(u)
		if w.plan.From == space.All && u.format != sparse.Full || w.plan.From == space.Listed && u.format == sparse.Full {
			w.plan.From = space.Listed
			if u.format == sparse.Full {
				w.plan.From = space.All
			}
			ran.Plan = w.plan.String()
		}
	}
	w.u = u
	w.compose()
	if f.err != nil {
		return nil
	}
	arg := pushArg{x: *u.desc(), hit: uint64(out.present.ptr()), out: uint64(out.val.ptr())}
	arg.mask, arg.comp = w.maskDescriptor()
	if w.plan.Frame == space.Append {
		next, total := f.alloc(4*max(n, 1)), f.zeros(8)
		arg.next, arg.count = uint64(next.ptr()), uint64(total.ptr())
	}
	f.each(f.kernel(w.p, "hb_start"), n, n, out.present, out.val)
	items := w.items(list, count)
	if w.a.known() == 0 || items.count == 0 {
		return out
	}
	if !w.plan.Schedule.Tiled() {
		f.launchWalk(w, items, byValue(&w.form.arg), byValue(&items), byValue(&arg))
		return out
	}
	at, starts, tiles := w.tiles(items, byValue(&arg))
	block := int64(w.plan.Block)
	if tiles > 0 {
		f.blocks(f.kernel(w.p, "hb_walk"), min((tiles*32+block-1)/block, int64(f.d.props.Multiprocessors)*max(2048/block, 1)), int(block), byValue(&w.form.arg), byValue(&items), byValue(&arg), at, starts)
	}
	return out
}

// planned computes a product by the plan that the caller names.
func (f *frame) planned(c device.Call, s device.Semiring, flip bool, a device.Operand, u *store, mask *device.Mask, ran *device.Ran) (out *store, filtered bool) {
	plan, err := space.Parse(c.Method)
	if err != nil {
		f.fail(&device.MethodError{Reason: err.Error()})
		return nil, false
	}
	rows := f.rows
	if plan.Direction == space.Push {
		rows = f.cols
	}
	as := rows(a)
	if f.err != nil {
		return nil, false
	}
	if plan.Layout != space.CSR && plan.Layout != space.Hyper && as.format == sparse.Hypersparse {
		as = f.csr(as)
	}
	if plan.Direction == space.Pull && u.isListed() {
		u = f.dense(u)
	}
	if err := plan.Legal(f.spaceFacts(s, as, u, mask)); err != nil {
		var clash *space.ClashError
		if errors.As(err, &clash) {
			f.fail(&device.MethodError{Reason: clash.A + " and " + clash.B + " clash: " + clash.Reason})
		}
		return nil, false
	}
	if plan.Schedule == space.Tiles {
		out := f.entryPerRow(as, s.Add.Out)
		if as.known() > 0 && f.err == nil {
			ran.Method = "pull"
			f.spmvTiles(s, flip, as, u, out.val, plan.Columns, ran)
		}
		return out, false
	}
	w := &walk{frame: f, plan: plan, s: s, flip: flip, a: as, u: u, mask: mask}
	return w.product(ran)
}
