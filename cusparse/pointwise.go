package cusparse

import (
	"unsafe"

	"github.com/hiveblas/hiveblas/cusparse/internal/decide"
	"github.com/hiveblas/hiveblas/internal/device"
	"github.com/hiveblas/hiveblas/internal/sparse"
)

// maskArg is hb_mask of kernels/pointwise.cu, regionArg hb_region.
type maskArg struct {
	s        descriptor
	on, comp int32
}

type regionArg struct {
	rows, cols   uint64
	nrows, ncols int64
	on, scalar   int32
}

// region is a set of rows and columns of a result, each ascending; a nil list is all.
type region struct {
	rows, cols   *mem
	nrows, ncols int64
	scalar       bool // b is everywhere in it
}

// whole reports whether a region is all positions.
func (r *region) whole() bool { return r.rows == nil && r.cols == nil }

// pointwise is a decision position by position: entries of a and b, one of
// them or both, to entries of type out.
type pointwise struct {
	m, n  int
	name  string
	a, b  *store
	out   device.Type
	mask  *device.Mask
	in    *region
	table uint32
	// How a value of out is made. What one of them lacks is copied, or with
	// filled takes alpha for a, beta for b.
	both        device.Func
	filled      bool
	alpha, beta device.Scalar
}

// states calls f for the states that positions can have; stays says that such a position has a
// result.
func (q *pointwise) states(f func(allowed, inB, inA, stays bool)) {
	for state := range 16 {
		region, allowed, inB, inA := state&8 != 0, state&4 != 0, state&2 != 0, state&1 != 0
		switch {
		case !region && (q.in == nil || q.in.whole()), !allowed && q.mask == nil, q.a.format == sparse.Full && !inA,
			q.in == nil && q.b.format == sparse.Full && !inB, q.in != nil && q.in.scalar && inB != region,
			q.a.known() == 0 && inA, q.in == nil && q.b.known() == 0 && inB:
			continue
		}
		f(allowed, inB, inA, q.table>>(2*state)&3 != 0)
	}
}

// run makes the result.
func (f *frame) pointwise(q *pointwise) *store {
	if f.err != nil {
		return nil
	}
	f.check()
	maskStore, mask := f.maskOf(q.mask)
	var wantA, wantB, wantBoth, everywhere, onlyAllowed = false, false, false, true, true
	q.states(func(allowed, inB, inA, stays bool) {
		if !stays {
			everywhere = false
			return
		}
		wantA, wantB, wantBoth = wantA || inA && !inB, wantB || inB && !inA, wantBoth || inA && inB
		onlyAllowed = onlyAllowed && allowed
	})
	listedMask := q.mask != nil && !q.mask.Comp && maskStore.isListed()
	// Where to look: at the entries of first and then of second, or everywhere.
	var first, second *store
	scalar := q.in != nil && q.in.scalar
	switch {
	case !wantA && !wantB && !wantBoth:
		return f.empty(q.m, q.n, q.out)
	case listedMask && onlyAllowed && (!q.a.isListed() || !q.b.isListed() || scalar):
		first = maskStore
	case !wantA && !wantB && q.b.isListed() && !scalar && (!q.a.isListed() || q.b.known() < q.a.known()):
		first = q.b
	case !wantB && q.a.isListed():
		first = q.a
	case !wantA && !wantBoth && q.b.isListed() && !scalar, !wantA && q.b.isListed() && !scalar:
		first = q.b
	case q.a.isListed() && q.b.isListed() && !scalar:
		first, second = q.a, q.b
	case q.a.isListed() && scalar && listedMask && f.onlyMaskedB(q):
		first, second = q.a, maskStore
	}
	if !q.filled {
		q.alpha, q.beta = zeroOf(q.a.typ), zeroOf(q.b.typ)
	}
	bareA, bareB := q.a.val == nil && q.a.slots() != 0, q.b.val == nil && !scalar && q.b.slots() != 0
	type pointwiseKey struct {
		a, b, out            string
		both                 device.Func
		filled, bareA, bareB bool
	}
	p := f.once(pointwiseKey{q.a.typ.Name, q.b.typ.Name, q.out.Name, q.both, q.filled, bareA, bareB}, func() *program {
		p := compose("pointwise", q.name).typ("HB_A", q.a.typ).typ("HB_B", q.b.typ).typ("HB_C", q.out)
		p.pattern("A", true, bareA).pattern("B", true, bareB)
		f.combiners(p, q)
		return p
	})
	reg := q.in.arg()
	if first == nil {
		return f.everywhere(q, p, mask, reg, everywhere)
	}
	return f.amongListed(q, p, mask, reg, first, second)
}

// onlyMaskedB reports whether b is taken where the mask allows only.
func (f *frame) onlyMaskedB(q *pointwise) bool {
	only := true
	q.states(func(allowed, inB, inA, stays bool) { only = only && (!inB || inA || !stays || allowed) })
	return only
}

func (f *frame) combiners(p *program, q *pointwise) {
	if q.both.Text != "" {
		p.binary("hb_op", q.both)
		p.function("hb_both", "HB_C", "HB_A x, HB_B y", "", "hb_op(x, y)")
	} else {
		p.function("hb_both", "HB_C", "HB_A x, HB_B y", "", "HB_C()")
	}
	one := func(name, param, other, filled string, t device.Type) {
		text := filled
		if !q.filled {
			text = "x"
			if t.Name != q.out.Name && !(t.Number() && q.out.Number()) {
				text = q.out.Name + "()" // never taken
			}
		}
		p.function(name, "HB_C", param+" x, "+other+" y", "", text)
	}
	one("hb_left", "HB_A", "HB_B", "hb_op(x, y)", q.a.typ)
	one("hb_right", "HB_B", "HB_A", "hb_op(y, x)", q.b.typ)
}

// zeroOf is a value that no kernel reads.
func zeroOf(t device.Type) device.Scalar {
	return device.Scalar{Type: t, P: unsafe.Pointer(&zeroBytes)}
}

var zeroBytes [64]byte

func (r *region) arg() *regionArg {
	a := &regionArg{}
	if r != nil {
		*a = regionArg{rows: uint64(r.rows.ptr()), cols: uint64(r.cols.ptr()), nrows: r.nrows, ncols: r.ncols, on: 1}
		if r.scalar {
			a.scalar = 1
		}
	}
	return a
}

// maskOf makes a mask ready for kernels.
func (f *frame) maskOf(m *device.Mask) (*store, *maskArg) {
	arg := &maskArg{}
	if m == nil {
		return nil, arg
	}
	s := f.here(device.Operand{Store: m.Store})
	if s == nil {
		return nil, arg
	}
	if !m.Structural {
		s = f.support(s)
	}
	arg.s, arg.on = *s.desc(), 1
	if m.Comp {
		arg.comp = 1
	}
	return s, arg
}

func (f *frame) everywhere(q *pointwise, p *program, mask *maskArg, reg *regionArg, full bool) *store {
	if q.m != 0 && int64(q.n) > maxCells/int64(q.m) {
		f.fail(&MemoryError{Asked: uint64(q.m) * uint64(q.n), err: errTooLarge})
		return nil
	}
	out := f.newStore(q.m, q.n, sparse.Bitmap, q.out, -1)
	cells := out.cells()
	if full {
		out.format = sparse.Full
		out.count.Store(cells)
	} else {
		out.present = f.alloc(max(cells, 1)).share()
	}
	out.val = f.alloc(max(cells, 1) * int64(q.out.Size)).share()
	f.each(f.kernel(p, "hb_dense"), cells, q.a.desc(), q.b.desc(), mask, reg, q.table, int32(q.m), int32(q.n), out.present, out.val, q.alpha, q.beta)
	if cells == 0 && f.err == nil {
		out.count.Store(0)
	}
	return out
}

// HB_OF_A and so on of kernels/pointwise.cu: the operand that has the entries of a domain.
const (
	ofA int32 = iota
	ofB
	ofNone
)

func (q *pointwise) owner(domain *store) int32 {
	switch {
	case domain == q.a:
		return ofA
	case domain == q.b && (q.in == nil || !q.in.scalar):
		return ofB
	}
	return ofNone
}

func (f *frame) amongListed(q *pointwise, p *program, mask *maskArg, reg *regionArg, first, second *store) *store {
	mark := f.kernel(p, "hb_mark")
	n1, whose1, whose2 := first.known(), q.owner(first), q.owner(second)
	flag1 := f.alloc(max(n1, 1))
	f.each(mark, n1, first.desc(), whose1, int32(0), q.a.desc(), q.b.desc(), mask, reg, q.table, flag1)
	at1 := f.scan(flag1, n1, 1)
	var n2 int64
	var flag2, at2 *mem
	other := first
	count := f.read(at1, n1)
	if second != nil { // then first is A
		n2 = second.known()
		flag2 = f.alloc(max(n2, 1))
		f.each(mark, n2, second.desc(), whose2, int32(1), q.a.desc(), q.b.desc(), mask, reg, q.table, flag2)
		at2 = f.scan(flag2, n2, 1)
		count += f.read(at2, n2)
		other = second
	}
	if f.err != nil {
		return nil
	}
	if count == 0 {
		return f.empty(q.m, q.n, q.out)
	}
	out := f.newStore(q.m, q.n, sparse.CSR, q.out, count)
	out.idx = f.alloc(4 * count).share()
	out.val = f.alloc(int64(q.out.Size) * count).share()
	var rows *mem
	switch {
	case second == nil:
		out.format, out.nvec, out.rowids = first.format, first.nvec, first.rowids.share()
		out.ptr = f.alloc(8 * int64(out.nvec+1)).share()
		f.each(f.shape(1, "hb_moved"), int64(out.nvec+1), first.ptr, at1, int64(out.nvec+1), out.ptr)
	case first.format == sparse.CSR && second.format == sparse.CSR:
		out.ptr = f.alloc(8 * int64(q.m+1)).share()
		f.each(f.kernel(p, "hb_fill_offsets"), int64(q.m+1), first.ptr, at1, second.ptr, at2, int64(q.m), out.ptr)
	default:
		rows = f.alloc(4 * count)
	}
	search := int32(0) // for the place in the other domain
	if whose2 == ofNone {
		search = 1
	}
	fill := f.kernel(p, "hb_fill")
	f.each(fill, n1, first.desc(), whose1, int32(0), q.a.desc(), q.b.desc(), mask, reg, q.table, flag1, at1, search, other.desc(), at2, rows, out.idx, out.val, q.alpha, q.beta)
	if second != nil {
		f.each(fill, n2, second.desc(), whose2, int32(1), q.a.desc(), q.b.desc(), mask, reg, q.table, flag2, at2, int32(0), first.desc(), at1, rows, out.idx, out.val, q.alpha, q.beta)
	}
	if rows != nil {
		f.offsets(out, rows)
	}
	return out
}

// write puts a result into the destination: what it becomes.
func (f *frame) write(d device.Dest, t *store) *store {
	if f.err != nil {
		return nil
	}
	if d.Mask == nil && d.Accum == nil {
		return f.valued(t)
	}
	a := f.before(d)
	q := &pointwise{m: d.Rows, n: d.Cols, name: "a write", a: a, b: t, out: d.Type, mask: d.Mask}
	if d.Accum != nil {
		q.both, q.name = *d.Accum, "accumulate "+d.Accum.Name
	}
	q.table = decide.Write(d)
	return f.pointwise(q)
}

// before returns what the destination holds, or an empty matrix where that makes no difference.
func (f *frame) before(d device.Dest) *store {
	if d.Store == nil || d.Replace && d.Accum == nil {
		return f.empty(d.Rows, d.Cols, d.Type)
	}
	return f.here(device.Operand{Store: d.Store})
}

// EWise computes a union or an intersection.
func (d backend) EWise(c device.Call, dst device.Dest, how device.Pair, fn device.Func, a, b device.Operand, alpha, beta device.Scalar) (device.Store, device.Ran, error) {
	f := d.begin(c)
	defer f.end()
	as, bs := f.oriented(a), f.oriented(b)
	if f.err != nil {
		return nil, device.Ran{}, f.err
	}
	q := &pointwise{m: dst.Rows, n: dst.Cols, name: fn.Name, a: as, b: bs, out: fn.Out, both: fn}
	ran := device.Ran{Method: "union"}
	if how == device.Intersection {
		ran.Method = "intersection"
	}
	q.table = decide.Pair(how)
	q.filled, q.alpha, q.beta = how == device.Filled, alpha, beta
	return f.finish(dst, f.pointwise(q), ran, c, a, b)
}

// finish writes the result and tells what was done.
func (f *frame) finish(d device.Dest, t *store, ran device.Ran, c device.Call, read ...device.Operand) (device.Store, device.Ran, error) {
	out := f.write(d, t)
	if c.Trace && ran.Work == 0 {
		for _, o := range read {
			if s, ok := o.Store.(*store); ok {
				ran.Work += f.nvals(s)
			}
		}
	}
	if f.err != nil {
		return nil, ran, f.err
	}
	if d.Vector && out.format == sparse.Hypersparse {
		out = f.csr(out)
	}
	if out.keep { // it is an operand, or kept with one
		out = f.view(out)
	}
	return f.result(out), ran, nil
}
