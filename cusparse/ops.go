package cusparse

import (
	"fmt"
	"slices"
	"strings"
	"unsafe"

	"github.com/hiveblas/hiveblas/cusparse/driver"
	"github.com/hiveblas/hiveblas/cusparse/internal/decide"
	"github.com/hiveblas/hiveblas/internal/device"
	"github.com/hiveblas/hiveblas/internal/sparse"
)

// usesName reports whether an operator's text speaks of a variable.
func usesName(text string, name byte) bool {
	letter := func(c byte) bool {
		return c == '_' || c >= '0' && c <= '9' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z'
	}
	for p := 0; p < len(text); p++ {
		if text[p] == name && (p == 0 || !letter(text[p-1]) && text[p-1] != '.') && (p+1 == len(text) || !letter(text[p+1])) {
			return true
		}
	}
	return false
}

// mapKey tells the programs of Apply and Select apart.
type mapKey struct {
	body                       string
	fn                         device.Func
	bound                      device.Type
	given, first, bare, vector bool
}

// Apply computes f of each entry.
func (d backend) Apply(c device.Call, dst device.Dest, fn device.Func, a device.Operand, y *device.Scalar, first bool) (device.Store, device.Ran, error) {
	f := d.begin(c)
	defer f.end()
	s := f.oriented(a)
	if f.err != nil {
		return nil, device.Ran{}, f.err
	}
	elem, uses := fn.X, fn.UsesX
	bound := device.Scalar{Type: boolType, P: unsafe.Pointer(&zeroBool)}
	params := "HB_A x, HB_Y y, hb_i64 i, hb_i64 j"
	if y != nil {
		bound = *y
		if first {
			elem, uses = fn.Y, fn.UsesY
			params = "HB_A y, HB_Y x, hb_i64 i, hb_i64 j"
		}
	}
	bare := s.val == nil && s.slots() != 0
	p := f.once(mapKey{"apply", fn, bound.Type, y != nil, first, bare, a.Vector}, func() *program {
		p := compose("apply", fn.Name).typ("HB_A", elem).typ("HB_Y", bound.Type).typ("HB_C", fn.Out).pattern("A", uses, bare)
		f.positions(p, fn.Text, y == nil, a.Vector)
		return p.function("hb_map", "HB_C", params, p.names(fn), fn.Text)
	})
	out := f.structure(s)
	out.typ = fn.Out
	n := s.slots()
	out.val = f.alloc(max(n, 1) * int64(fn.Out.Size)).share()
	f.each(f.kernel(p, "hb_apply"), n, s.desc(), n, flagOf(a.Vector), bound, out.val)
	return f.finish(dst, out, device.Ran{Method: "map"}, c, a)
}

var zeroBool bool

func flagOf(b bool) int32 {
	if b {
		return 1
	}
	return 0
}

// positions says which coordinates a text reads.
func (f *frame) positions(p *program, text string, may, vector bool) {
	i, j := may && usesName(text, 'i'), may && usesName(text, 'j')
	p.flag("HB_USES_POSITION", i || j).flag("HB_USES_I", i && !vector)
}

// Select keeps the entries for which f holds.
func (d backend) Select(c device.Call, dst device.Dest, fn device.Func, a device.Operand, y *device.Scalar) (device.Store, device.Ran, error) {
	f := d.begin(c)
	defer f.end()
	s := f.oriented(a)
	if f.err != nil {
		return nil, device.Ran{}, f.err
	}
	bound := device.Scalar{Type: boolType, P: unsafe.Pointer(&zeroBool)}
	if y != nil {
		bound = *y
	}
	fn.Out, fn.Y = boolType, fn.X
	bare := s.val == nil && s.slots() != 0
	p := f.once(mapKey{"select", fn, bound.Type, y != nil, false, bare, a.Vector}, func() *program {
		p := compose("select", fn.Name).typ("HB_A", fn.X).pattern("A", fn.UsesX, bare)
		f.positions(p, fn.Text, true, a.Vector)
		p.typ("HB_Y", bound.Type)
		return p.function("hb_keep", "bool", "HB_A x, HB_Y y, hb_i64 i, hb_i64 j", p.names(fn), fn.Text)
	})
	return f.finish(dst, f.selected(s, p, bound, a.Vector), device.Ran{Method: "select"}, c, a)
}

// selected keeps the entries of s for which hb_keep of p holds.
func (f *frame) selected(s *store, p *program, y device.Scalar, vector bool) *store {
	n := s.slots()
	flag := f.alloc(max(n, 1))
	f.each(f.kernel(p, "hb_select"), n, s.desc(), n, flagOf(vector), y, flag)
	if s.isListed() {
		return f.compacted(s, flag, s.typ, s.val)
	}
	out := f.newStore(s.m, s.n, sparse.Bitmap, s.typ, -1)
	out.present, out.val = flag.share(), s.val.share()
	if n == 0 {
		out.count.Store(0)
	}
	return out
}

// Transpose copies the transpose of a.
func (d backend) Transpose(c device.Call, dst device.Dest, a device.Operand) (device.Store, device.Ran, error) {
	f := d.begin(c)
	defer f.end()
	a.Transposed = !a.Transposed
	return f.finish(dst, f.oriented(a), device.Ran{Method: "transpose"}, c, a)
}

// Reduce adds up rows.
func (d backend) Reduce(c device.Call, dst device.Dest, m device.Monoid, a device.Operand) (device.Store, device.Ran, error) {
	f := d.begin(c)
	defer f.end()
	s := f.oriented(a)
	if f.err != nil {
		return nil, device.Ran{}, f.err
	}
	var ran device.Ran
	out := f.reduceRows(m, s, &ran)
	return f.finish(dst, out, ran, c, a)
}

func (f *frame) reducer(m device.Monoid, s *store) *program {
	type reduceKey struct {
		m    device.Monoid
		bare bool
	}
	bare := s.val == nil && s.slots() != 0
	return f.once(reduceKey{m, bare}, func() *program {
		return compose("reduce", m.Name).typ("HB_C", m.Out).pattern("C", true, bare).monoid(m).flag("HB_REDUCE_NUMBERS", m.Out.Number())
	})
}

// counted reports whether the sum of up to n ones by a monoid is their number, in the bits of any
// order.
func counted(m device.Monoid, n int) bool {
	if m.Text != "x + y" { // of package semiring
		return false
	}
	switch m.Out.Name {
	case "float":
		return n <= 1<<24
	case "double":
		return true
	}
	return m.Exact && m.Out.Number()
}

// reduceRows adds up rows: rows of a list as a product with a vector of ones, by a plan.
func (f *frame) reduceRows(m device.Monoid, s *store, ran *device.Ran) *store {
	if s.isListed() && s.val == nil && counted(m, s.n) {
		ran.Method = "reduce"
		hit, val := f.alloc(max(int64(s.nvec), 1)), f.alloc(max(int64(s.nvec), 1)*int64(m.Out.Size))
		f.each(f.kernel(f.reducer(m, s), "hb_reduce_lengths"), int64(s.nvec), s.desc(), hit, val)
		return f.perRow(s, s.nvec, m.Out, hit, val)
	}
	if s.isListed() {
		ones := f.newStore(1, s.n, sparse.Full, boolType, int64(s.n))
		first := device.Semiring{Name: m.Name, Add: m, Mul: device.Func{
			Name: "first", Text: "x", X: m.Out, Y: boolType, Out: m.Out, UsesX: true}}
		w := &walk{frame: f, s: first, operand: device.Operand{Store: s}, u: ones, single: true}
		out, _ := w.run(methodPull, ran)
		ran.Method = "reduce"
		return out
	}
	ran.Method = "reduce"
	p := f.reducer(m, s)
	if parts := min(int64(s.n)/reducePiece, reducePiece/max(int64(s.m), 1)); parts > 1 {
		sums := f.newStore(s.m, int(parts), s.format, m.Out, int64(s.m)*parts)
		hit := f.alloc(sums.cells())
		sums.val = f.alloc(sums.cells() * int64(m.Out.Size)).share()
		f.blocks(f.kernel(p, "hb_reduce_pieces"), sums.cells(), reduceBlock, s.desc(), parts, hit, sums.val)
		if s.format == sparse.Bitmap {
			sums.present = hit.share()
			sums.count.Store(-1)
		}
		return f.reduceRows(m, sums, ran)
	}
	hit, val := f.alloc(max(int64(s.m), 1)), f.alloc(max(int64(s.m), 1)*int64(m.Out.Size))
	if s.n < 32 {
		f.each(f.kernel(p, "hb_reduce_thread"), int64(s.m), s.desc(), hit, val)
	} else {
		f.blocks(f.kernel(p, "hb_reduce_block"), min(int64(s.m), maxGrid), reduceBlock, s.desc(), hit, val)
	}
	if s.format == sparse.Full && s.n > 0 {
		out := f.newStore(1, s.m, sparse.Full, m.Out, int64(s.m))
		out.val = val.share()
		return out
	}
	return f.perRow(s, s.m, m.Out, hit, val)
}

// reduceBlock is the number of threads that add up a row of a dense matrix.
const reduceBlock = 128

// reducePiece is the least number of positions of a piece of a row, and the most pieces of few
// rows.
const reducePiece = 2048

// perRow makes a vector of one value per stored row of s, where hit.
func (f *frame) perRow(s *store, vecs int, t device.Type, hit, val *mem) *store {
	if s.format != sparse.Hypersparse {
		out := f.newStore(1, s.m, sparse.Bitmap, t, -1)
		out.present, out.val = hit.share(), val.share()
		if s.m == 0 {
			out.count.Store(0)
		}
		return out
	}
	n := int64(vecs)
	if n == 0 || f.err != nil {
		return f.empty(1, s.m, t)
	}
	k := f.marked(f.compaction(t.Size), hit, n)
	count := k.count
	if count == 0 || f.err != nil {
		return f.empty(1, s.m, t)
	}
	out := f.newStore(1, s.m, sparse.CSR, t, count)
	ends := [2]int64{0, count}
	out.ptr = f.upload(unsafe.Pointer(&ends), 16).share()
	out.idx, out.val = f.alloc(4*count).share(), f.alloc(int64(t.Size)*count).share()
	k.move(f, s.rowids, out.idx, val, out.val)
	f.sync() // ends is ours
	return out
}

// ReduceScalar adds up all entries.
func (d backend) ReduceScalar(c device.Call, m device.Monoid, a device.Operand, out unsafe.Pointer) (device.Ran, error) {
	f := d.begin(c)
	defer f.end()
	ran := device.Ran{Method: "reduce"}
	s := f.here(a)
	if f.err != nil {
		return ran, f.err
	}
	if a.Pattern {
		s = f.pattern(s)
	}
	p := f.reducer(m, s)
	n := s.slots()
	const tile = 8192
	parts := max((n+tile-1)/tile, 1)
	has, sums := f.alloc(parts), f.alloc(parts*int64(m.Out.Size))
	size := int64(m.Out.Size) // less than there is pinned memory
	f.blocks(f.kernel(p, "hb_reduce_parts"), parts, 256, s.desc(), n, int64(tile), has, sums)
	f.blocks(f.kernel(p, "hb_reduce_last"), 1, 256, has, sums, parts, driver.Ptr(uintptr(f.d.pinned)))
	if f.sync(); f.err == nil {
		copy(unsafe.Slice((*byte)(out), size), unsafe.Slice((*byte)(f.d.pinned), size))
	}
	if c.Trace {
		ran.Work = f.nvals(s)
	}
	return ran, f.err
}

// hostSort is the length up to which the host sorts lists of indices.
const hostSort = 1 << 11

// sortedList is a list of indices below limit in ascending order, and where each stood.
func (f *frame) sortedList(list []int32, limit int) (sorted, place *mem) {
	if n := int64(len(list)); n > hostSort {
		sorted, place = f.sort(f.ints(list), n, 4, bitsFor(limit))
		f.sync() // the list is the caller's
		return sorted, place
	}
	order := make([]int32, len(list))
	for p := range order {
		order[p] = int32(p)
	}
	slices.SortStableFunc(order, func(a, b int32) int { return int(list[a]) - int(list[b]) })
	out := make([]int32, len(list))
	for p, q := range order {
		out[p] = list[q]
	}
	sorted, place = f.ints(out), f.ints(order)
	f.sync() // the lists are ours
	return sorted, place
}

// places returns a list of indices below limit on the device, nil for all. It checks those that are
// a vector, and waits for that.
func (f *frame) places(x device.Indices, limit int) *mem {
	if x.Values == nil {
		if x.List == nil {
			return nil
		}
		return f.ints(x.List)
	}
	s := f.here(*x.Values)
	if s != nil && s.format != sparse.Full {
		s = f.list(s)
	}
	if f.err != nil || s.slots() == 0 {
		return f.alloc(4)
	}
	first, n := f.alloc(8), s.slots()
	f.fill(first, 0xff, 8)
	f.each(f.kernel(f.fixed("extract", "places"), "hb_outside"), n, s.val, n, int64(limit), first)
	if at := f.read(first, 0); f.err == nil && at >= 0 {
		var bad int32
		f.download(unsafe.Pointer(&bad), s.val.ptr()+driver.Ptr(4*at), 4)
		f.fail(&device.IndexError{Arg: x.Arg, At: at, Index: int64(bad), Limit: int64(limit)})
	}
	if int64(x.N) == n {
		return s.val
	}
	part := f.alloc(4 * int64(max(x.N, 1)))
	f.copy(part.ptr(), s.val.ptr()+driver.Ptr(4*x.From), 4*int64(x.N))
	return part
}

// Extract takes rows and columns.
func (d backend) Extract(c device.Call, dst device.Dest, a device.Operand, rows, cols device.Indices) (device.Store, device.Ran, error) {
	f := d.begin(c)
	defer f.end()
	ran := device.Ran{Method: "extract"}
	if rows.All() && cols.All() {
		return f.finish(dst, f.oriented(a), ran, c, a)
	}
	if a.Vector && rows.All() {
		if s := f.oriented(a); f.err == nil && !s.isListed() {
			ran.Method = "gather"
			return f.finish(dst, f.gathered(s, cols), ran, c, a)
		}
	}
	s := f.rows(a)
	if f.err != nil {
		return nil, ran, f.err
	}
	return f.finish(dst, f.extract(s, rows, cols), ran, c, a)
}

// gathered takes positions of a dense vector.
func (f *frame) gathered(s *store, cols device.Indices) *store {
	n := int64(cols.N)
	list := f.places(cols, s.n)
	if n == 0 || f.err != nil {
		return f.empty(1, cols.N, s.typ)
	}
	out := f.newStore(1, cols.N, s.format, s.typ, -1)
	if s.val != nil {
		out.val = f.alloc(n * int64(s.typ.Size)).share()
		f.each(f.shape(s.typ.Size, "hb_gather"), n, s.val, list, n, out.val)
	}
	if s.format == sparse.Full {
		out.count.Store(n)
	} else {
		out.present = f.alloc(n).share()
		f.each(f.shape(1, "hb_gather"), n, s.present, list, n, out.present)
	}
	if cols.Values == nil {
		f.sync() // the caller's list may change
	}
	return out
}

func (f *frame) extract(s *store, rows, cols device.Indices) *store {
	p := f.fixed("extract", "extract")
	var rowList, at, colList, place *mem
	taken := s.known()
	if !rows.All() {
		rowList = f.places(rows, s.m)
		n := int64(rows.N)
		lengths := f.alloc(8 * max(n, 1))
		f.each(f.kernel(p, "hb_taken"), n, s.desc(), rowList, n, lengths)
		at = f.scan(lengths, n, 8)
		taken = f.read(at, n)
	}
	ascending := true
	switch {
	case cols.Values != nil: // as keys, numbers below 2³¹ are in the same order
		colList, place = f.sort(f.places(cols, s.n), int64(cols.N), 4, bitsFor(s.n))
		ascending = false
	case cols.List != nil:
		colList, place = f.sortedList(cols.List, s.n)
		ascending = slices.IsSorted(cols.List)
	}
	if taken == 0 || f.err != nil {
		return f.empty(rows.N, cols.N, s.typ)
	}
	from, row, copies := f.alloc(8*taken), f.alloc(4*taken), f.alloc(8*taken)
	f.each(f.kernel(p, "hb_take"), taken, s.desc(), rowList, int64(rows.N), at, taken, colList, int64(cols.N), from, row, copies)
	places := f.scan(copies, taken, 8)
	total := f.read(places, taken)
	if total == 0 || f.err != nil {
		return f.empty(rows.N, cols.N, s.typ)
	}
	keys, source := f.alloc(8*total), f.alloc(8*total)
	f.each(f.kernel(p, "hb_copy"), total, s.desc(), from, row, places, taken, total, colList, place, int64(cols.N), keys, source)
	if !ascending {
		sorted, num := f.sortKeys(keys, total, rows.N, cols.N)
		moved := f.alloc(8 * total)
		f.each(f.shapeFor(8, total > 1<<32-1, "hb_gather"), total, source, num, total, moved)
		keys, source = sorted, moved
	}
	var val *mem
	if s.val != nil {
		val = f.alloc(total * int64(s.typ.Size))
		f.each(f.shapeFor(s.typ.Size, true, "hb_gather"), total, s.val, source, total, val)
	}
	return f.keyed(rows.N, cols.N, s.typ, keys, total, val)
}

// Assign writes a into rows and columns.
func (d backend) Assign(c device.Call, dst device.Dest, a device.Operand, rows, cols device.Indices) (device.Store, device.Ran, error) {
	f := d.begin(c)
	defer f.end()
	ran := device.Ran{Method: "assign"}
	if rows.List == nil && cols.List == nil {
		return f.finish(dst, f.oriented(a), ran, c, a)
	}
	s := f.rows(a)
	if f.err != nil {
		return nil, ran, f.err
	}
	q := &pointwise{m: dst.Rows, n: dst.Cols, name: "assign", a: f.here(device.Operand{Store: dst.Store}), out: dst.Type, mask: dst.Mask, table: decide.Assign(dst)}
	q.b = f.renumbered(s, rows, cols, dst.Rows, dst.Cols)
	q.in = f.regionOf(rows, cols, dst.Rows, dst.Cols)
	if dst.Accum != nil {
		q.both = *dst.Accum
	}
	return f.assigned(dst, f.pointwise(q), ran, c, s)
}

func (f *frame) assigned(dst device.Dest, out *store, ran device.Ran, c device.Call, s *store) (device.Store, device.Ran, error) {
	if c.Trace && s != nil && f.err == nil {
		ran.Work = f.nvals(s)
	}
	dst.Mask, dst.Accum = nil, nil
	c.Trace = false
	return f.finish(dst, out, ran, c)
}

func (f *frame) regionOf(rows, cols device.Indices, m, n int) *region {
	r := &region{}
	if rows.List != nil {
		r.rows, _ = f.sortedList(rows.List, m)
		r.nrows = int64(len(rows.List))
	}
	if cols.List != nil {
		r.cols, _ = f.sortedList(cols.List, n)
		r.ncols = int64(len(cols.List))
	}
	return r
}

// renumbered moves entry (i, j) of s to (rows[i], cols[j]) of an m×n matrix.
func (f *frame) renumbered(s *store, rows, cols device.Indices, m, n int) *store {
	total := s.known()
	if total == 0 || f.err != nil {
		return f.empty(m, n, s.typ)
	}
	keys := f.alloc(8 * total)
	var rowList, colList *mem
	if rows.List != nil {
		rowList = f.ints(rows.List)
	}
	if cols.List != nil {
		colList = f.ints(cols.List)
	}
	f.each(f.kernel(f.fixed("extract", "assign"), "hb_renumber"), total, s.desc(), rowList, colList, keys)
	val := s.val
	if !slices.IsSorted(rows.List) || !slices.IsSorted(cols.List) {
		sorted, num := f.sortKeys(keys, total, m, n)
		keys = sorted
		if s.val != nil {
			val = f.alloc(total * int64(s.typ.Size))
			f.each(f.shapeFor(s.typ.Size, total > 1<<32-1, "hb_gather"), total, s.val, num, total, val)
		}
	}
	f.sync() // the caller's lists may change
	return f.keyed(m, n, s.typ, keys, total, val)
}

// AssignScalar writes x to rows and columns.
func (d backend) AssignScalar(c device.Call, dst device.Dest, x device.Scalar, rows, cols device.Indices) (device.Store, device.Ran, error) {
	f := d.begin(c)
	defer f.end()
	ran := device.Ran{Method: "assign"}
	old := f.here(device.Operand{Store: dst.Store})
	if f.err != nil {
		return nil, ran, f.err
	}
	q := &pointwise{m: dst.Rows, n: dst.Cols, name: "assign a scalar", a: old, out: dst.Type, mask: dst.Mask, table: decide.Assign(dst)}
	if dst.Accum != nil {
		q.both = *dst.Accum
	}
	q.in = f.regionOf(rows, cols, dst.Rows, dst.Cols)
	q.in.scalar = true
	b := f.newStore(dst.Rows, dst.Cols, sparse.Full, x.Type, int64(dst.Rows)*int64(dst.Cols))
	b.val = f.upload(x.P, int64(x.Type.Size)).share()
	q.b = b
	whole := rows.List == nil && cols.List == nil
	listedMask := dst.Mask != nil && !dst.Mask.Comp && dst.Mask.Store.Format() <= sparse.Hypersparse
	if !(whole && listedMask) && old.isListed() && sparseRegion(dst, rows, cols) {
		// Few of many positions: the region is listed.
		q.b = f.grid(dst, x, rows, cols)
		q.in.scalar = false
	}
	return f.assigned(dst, f.pointwise(q), ran, c, nil)
}

// sparseRegion reports whether a region is so small a part of the positions
// that the result is better listed.
func sparseRegion(dst device.Dest, rows, cols device.Indices) bool {
	if dst.Rows == 0 || dst.Cols == 0 {
		return false
	}
	return float64(rows.N)*float64(cols.N) < float64(dst.Rows)*float64(dst.Cols)/8 || int64(dst.Cols) > 1<<34/int64(dst.Rows)
}

// grid lists the positions of a region, all with the value x.
func (f *frame) grid(dst device.Dest, x device.Scalar, rows, cols device.Indices) *store {
	total := int64(rows.N) * int64(cols.N)
	if total == 0 || f.err != nil {
		return f.empty(dst.Rows, dst.Cols, x.Type)
	}
	var rowList, colList *mem
	if rows.List != nil {
		rowList, _ = f.sortedList(rows.List, dst.Rows)
	}
	if cols.List != nil {
		colList, _ = f.sortedList(cols.List, dst.Cols)
	}
	out := f.newStore(dst.Rows, dst.Cols, sparse.CSR, x.Type, total)
	row := f.alloc(4 * total)
	out.idx, out.val = f.alloc(4*total).share(), f.alloc(total*int64(x.Type.Size)).share()
	f.each(f.kernel(f.fixed("extract", "assign"), "hb_grid"), total, rowList, colList, int64(rows.N), int64(cols.N), row, out.idx)
	f.each(f.shape(x.Type.Size, "hb_set"), total, out.val, total, x)
	f.offsets(out, row)
	return out
}

// Kronecker multiplies every entry of a with every entry of b.
func (d backend) Kronecker(c device.Call, dst device.Dest, fn device.Func, a, b device.Operand) (device.Store, device.Ran, error) {
	f := d.begin(c)
	defer f.end()
	as, bs := f.rows(a), f.rows(b)
	if f.err != nil {
		return nil, device.Ran{}, f.err
	}
	total := as.known() * bs.known()
	ran := device.Ran{Method: "kronecker", Work: total}
	if total == 0 {
		return f.finish(dst, f.empty(dst.Rows, dst.Cols, fn.Out), ran, c)
	}
	p := compose("kronecker", fn.Name).typ("HB_A", fn.X).typ("HB_B", fn.Y).typ("HB_C", fn.Out).
		pattern("A", fn.UsesX, as.val == nil).pattern("B", fn.UsesY, bs.val == nil)
	p.binary("hb_both", fn)
	// Stored rows in pairs: row (ka, kb) has their lengths' product. Entries of
	// one row are laid out a by a, so rows and columns ascend.
	pairs := int64(as.nvec) * int64(bs.nvec)
	lengths := f.alloc(8 * pairs)
	f.each(f.kernel(p, "hb_kron_lengths"), pairs, as.desc(), bs.desc(), lengths)
	at := f.scan(lengths, pairs, 8)
	row := f.alloc(4 * total)
	out := f.newStore(dst.Rows, dst.Cols, sparse.CSR, fn.Out, total)
	out.idx, out.val = f.alloc(4*total).share(), f.alloc(total*int64(fn.Out.Size)).share()
	f.each(f.kernel(p, "hb_kron"), total, as.desc(), bs.desc(), at, total, row, out.idx, out.val)
	f.offsets(out, row)
	return f.finish(dst, out, ran, c)
}

// describe names a semiring for messages.
func describe(s device.Semiring) string {
	return fmt.Sprintf("%s (⊗: %s, ⊕: %s)", s.Name, strings.TrimSpace(s.Mul.Text), strings.TrimSpace(s.Add.Text))
}
