package cusparse

import (
	"unsafe"

	"github.com/hiveblas/hiveblas/cusparse/driver"
	"github.com/hiveblas/hiveblas/internal/device"
	"github.com/hiveblas/hiveblas/internal/sparse"
)

// multiplier is the text of a semiring for two stores: a's elements are HB_A, b's HB_X.
func (f *frame) multiplier(body string, s device.Semiring, flip bool, a, b *store) *program {
	return f.once(productKey{body: body, s: s, flip: flip, bareA: a.val == nil && a.slots() != 0, bareX: b.val == nil && b.slots() != 0}, func() *program {
		return multiplier(body, s, flip, a, b)
	})
}

// productKey tells the programs of products apart.
type productKey struct {
	body               string
	s                  device.Semiring
	flip, bareA, bareX bool
	shape              spmvShape
	cols               int
}

func multiplier(body string, s device.Semiring, flip bool, a, b *store) *program {
	x, y, usesX, usesY := s.Mul.X, s.Mul.Y, s.Mul.UsesX, s.Mul.UsesY
	if flip {
		x, y, usesX, usesY = y, x, usesY, usesX
	}
	p := compose(body, describe(s)).typ("HB_A", x).typ("HB_X", y).typ("HB_C", s.Add.Out)
	p.pattern("A", usesX, a.val == nil && a.slots() != 0).pattern("X", usesY, b.val == nil && b.slots() != 0)
	return p.semiring(s, flip)
}

// vast reports whether an array of n positions is out of all proportion to the number of entries.
func vast(n int, entries int64) bool { return n > 1<<24 && entries < int64(n)/1024 }

// MxV computes a·u.
func (d backend) MxV(c device.Call, dst device.Dest, s device.Semiring, flip bool, a, u device.Operand) (device.Store, device.Ran, error) {
	f := d.begin(c)
	defer f.end()
	us := f.oriented(u)
	as := f.here(a)
	if f.err != nil {
		return nil, device.Ran{}, f.err
	}
	ran := device.Ran{Method: c.Method}
	if c.Method == methodVendor {
		if us.isListed() {
			us = f.dense(us)
		}
		return f.multiplied(dst, f.vendorPull(s, f.rows(a), us), false, as, ran, c)
	}
	out, filtered := f.mxv(c.Method, s, flip, a, us, dst.Mask, &ran)
	return f.multiplied(dst, out, filtered, as, ran, c)
}

// multiplied writes a product of a matrix and a vector to its destination. filtered says that it
// lies within the mask.
func (f *frame) multiplied(dst device.Dest, out *store, filtered bool, a *store, ran device.Ran, c device.Call) (device.Store, device.Ran, error) {
	if c.Trace && ran.Work == 0 && f.err == nil {
		ran.Work = f.nvals(a)
	}
	if filtered && dst.Accum == nil && (dst.Replace || dst.Store == nil) {
		dst.Mask = nil // entries outside the mask are deleted, and the result has none
	}
	return f.finish(dst, out, ran, c)
}

// maxBatch bounds the products that expand holds at a time.
const maxBatch = 1 << 27

// batch is the number of products of size bytes that expand holds at a time:
// keys and their places twice, flags and sums have to fit.
func (f *frame) batch(total int64, size int) int64 {
	if f.affords(total * int64(64+2*size)) {
		return maxBatch
	}
	return min(maxBatch, max(1<<16, f.spare()/int64(64+2*size)))
}

// expand multiplies row by row: all products of some rows of a are written out, sorted by
// position, and equal positions added up, as in Dalton, Olson and Bell (ACM TOMS 41, 2015). It
// fits every type, monoid and shape; sums are taken in the order of k. vector: a is a vector
// pushed through the transpose; flip then says that ⊗ takes its elements second.
func (f *frame) expand(s device.Semiring, flip, vector bool, a, b *store, ran *device.Ran) *store {
	if f.err != nil {
		return nil
	}
	t := s.Add.Out
	n := a.known()
	if n == 0 || b.known() == 0 {
		return f.empty(a.m, b.n, t)
	}
	p := f.multiplier("expand", s, flip, a, b)
	lengths := f.alloc(8 * n)
	f.each(f.kernel(p, "hb_lengths"), n, a.desc(), int64(0), n, b.desc(), lengths)
	at := f.scan(lengths, n, 8)
	total := f.read(at, n)
	ran.Work = total
	if total == 0 || f.err != nil {
		return f.empty(a.m, b.n, t)
	}
	batch := f.batch(total, t.Size)
	if total <= batch {
		piece := f.expanded(p, s.Add, vector, vector && flip, a, b, 0, n, at, total)
		return f.keyed(a.m, b.n, t, piece.keys, piece.count, piece.sums)
	}
	return f.expandParts(p, s.Add, vector, vector && flip, a, b, at, batch)
}

// piece is the sums of some rows, by their keys.
type piece struct {
	keys, sums *mem
	count      int64
}

// expanded multiplies the n entries of a from lo. Their products begin at at.
func (f *frame) expanded(p *program, m device.Monoid, vector, swap bool, a, b *store, lo, n int64, at *mem, total int64) piece {
	keys, products := f.alloc(8*total), f.alloc(total*int64(m.Out.Size))
	f.each(f.kernel(p, "hb_products"), total, a.desc(), lo, n, b.desc(), at, total, flagOf(swap), keys, products)
	rows := a.m
	if vector {
		rows = 1
	}
	sorted, num := f.sortKeys(keys, total, rows, b.n)
	starts, runKeys, count := f.runs(sorted, total)
	return piece{runKeys, f.sums(m, false, starts, count, total, num, products), count}
}

// expandParts multiplies blocks of rows, each of at most batch products, or of one row.
func (f *frame) expandParts(p *program, m device.Monoid, vector, swap bool, a, b *store, at *mem, batch int64) *store {
	work, ptr := make([]int64, a.nvec+1), make([]int64, a.nvec+1)
	moved := f.alloc(8 * int64(a.nvec+1))
	f.each(f.shape(1, "hb_moved"), int64(a.nvec+1), a.ptr, at, int64(a.nvec+1), moved)
	f.download(unsafe.Pointer(unsafe.SliceData(work)), moved.ptr(), 8*int64(len(work)))
	f.download(unsafe.Pointer(unsafe.SliceData(ptr)), a.ptr.ptr(), 8*int64(len(ptr)))
	f.free(at)
	f.free(moved)
	var pieces []piece
	var count int64
	for from := 0; from < a.nvec && f.err == nil; {
		to := from + 1
		for to < a.nvec && work[to+1]-work[from] <= batch {
			to++
		}
		f.check()
		if total := work[to] - work[from]; total > 0 {
			// What a part leaves behind is kept, what it worked with is not.
			mark := len(f.temps)
			lo, n := ptr[from], ptr[to]-ptr[from]
			lengths := f.alloc(8 * n)
			f.each(f.kernel(p, "hb_lengths"), n, a.desc(), lo, n, b.desc(), lengths)
			x := f.expanded(p, m, vector, swap, a, b, lo, n, f.scan(lengths, n, 8), total)
			pieces = append(pieces, x)
			count += x.count
			f.freeSince(mark, x.keys, x.sums)
		}
		from = to
	}
	size := int64(m.Out.Size)
	keys, sums := f.alloc(8*count), f.alloc(size*count)
	var done int64
	for _, x := range pieces {
		if f.err == nil {
			f.copy(keys.addr+driver.Ptr(8*done), x.keys.addr, 8*x.count)
			f.copy(sums.addr+driver.Ptr(size*done), x.sums.addr, size*x.count)
		}
		f.free(x.keys)
		f.free(x.sums)
		done += x.count
	}
	return f.keyed(a.m, b.n, m.Out, keys, count, sums)
}

// MxM computes a·b.
func (d backend) MxM(c device.Call, dst device.Dest, s device.Semiring, a, b device.Operand) (device.Store, device.Ran, error) {
	f := d.begin(c)
	defer f.end()
	ran := device.Ran{}
	as, bs := f.here(a), f.here(b)
	if f.err != nil {
		return nil, ran, f.err
	}
	full := bs.format == sparse.Full && !b.Transposed
	listedMask := dst.Mask != nil && !dst.Mask.Comp && dst.Mask.Store.Format() <= sparse.Hypersparse
	var out *store
	switch {
	case c.Method == methodVendor:
		ran = device.Ran{Method: c.Method, Work: as.known() * int64(bs.n)}
		out = f.vendorProduct(s, f.oriented(a), f.oriented(b), dst.Mask)
	case listedMask && (c.Method == "" || c.Method == "dot") && !as.isListed() && !bs.isListed():
		mask, _ := f.maskOf(dst.Mask)
		ran.Method = "dot"
		out = f.denseDot(s, a, b, mask, &ran)
		withinMask(&dst)
	case full && c.Method == "" && dst.Mask == nil && !b.Pattern && f.vendorWon(s, a, bs):
		ran = device.Ran{Method: methodVendor, Work: as.known() * int64(bs.n)}
		out = f.vendorSpMM(s, f.rows(a), bs)
	case full && (c.Method == "spmm" || c.Method == "" && f.rows(a).format == sparse.CSR):
		if b.Pattern {
			bs = f.pattern(bs)
		}
		ran = device.Ran{Method: "spmm", Work: as.known() * int64(bs.n)}
		out = f.spmm(s, f.rows(a), bs)
	case c.Method == "dot" || c.Method == "" && listedMask && f.dotPays(a, b, dst.Mask):
		mask, _ := f.maskOf(dst.Mask)
		ran.Method = "dot"
		out = f.dot(s, f.rows(a), f.cols(b), mask, &ran)
		withinMask(&dst)
	default:
		var rows *store
		if listedMask {
			rows, _ = f.maskOf(dst.Mask)
		}
		out = f.multiply(c.Method, s, f.rows(a), f.rows(b), rows, &ran)
	}
	if c.Trace && ran.Work == 0 && f.err == nil {
		ran.Work = max(f.nvals(as), 0)
	}
	work := ran.Work
	st, ran, err := f.finish(dst, out, ran, c)
	ran.Work = work
	return st, ran, err
}

// withinMask takes the mask off the destination of a result within it, if nothing outside is kept.
func withinMask(dst *device.Dest) {
	if dst.Accum != nil {
		return
	}
	if s, ok := dst.Store.(*store); dst.Replace || dst.Store == nil || ok && s != nil && s.known() == 0 {
		dst.Mask = nil
	}
}

// multiply computes a product row by row, by the method that suits it. With
// mask, which is listed, only rows that it has entries in need to be computed.
func (f *frame) multiply(method string, s device.Semiring, a, b, mask *store, ran *device.Ran) *store {
	if out := f.fastMultiply(method, s, a, b, mask, ran); out != nil || f.err != nil {
		return out
	}
	if method == methodSPA || method == methodHash {
		f.fail(&device.MethodError{Reason: "it needs elements of at most 16 bytes, a multiplication that does not depend on positions, and accumulators that fit the device; use expand"})
		return nil
	}
	ran.Method = "expand"
	return f.expand(s, false, false, a, b, ran)
}

// dotPays compares the entries that either way would look at.
func (f *frame) dotPays(a, b device.Operand, m *device.Mask) bool {
	mask, _ := f.maskOf(m)
	if f.err != nil {
		return false
	}
	as, bs := f.rows(a), b.Store.(*store)
	inner := max(bs.m, 1)
	if b.Transposed {
		inner = max(bs.n, 1)
	}
	products := float64(as.known()) * float64(f.nvals(bs)) / float64(inner)
	if hasCols(b) || b.Transposed {
		return float64(mask.known())*8 < products || mask.known() <= as.known()*4
	}
	return float64(mask.known())*8+6*float64(f.nvals(bs)) < products
}

// rowsFull reports whether every row of a listed store has an entry, and makes
// a.filled, a byte per row that says so. Both are kept.
func (f *frame) rowsFull(a *store) bool {
	if f.err != nil || a.format != sparse.CSR {
		return false
	}
	if a.full == 0 {
		a.filled = f.alloc(max(int64(a.m), 1)).share()
		total := f.zeros(8)
		f.each(f.shape(1, "hb_row_present"), int64(a.m), a.ptr, int64(a.m), a.filled, total)
		n := f.read(total, 0)
		if f.err != nil {
			return false
		}
		a.full, a.filledRows = -1, n
		if n == int64(a.m) {
			a.full = 1
		}
	}
	return a.full > 0
}
