package cusparse

import (
	"math/bits"
	"unsafe"

	"github.com/hiveblas/hiveblas/internal/device"
	"github.com/hiveblas/hiveblas/internal/sparse"
)

// Build makes a matrix of tuples: their keys are sorted by radix, stably, so
// that duplicates stand in the order they were given.
func (d backend) Build(m, n int, rows, cols []int32, t device.Type, val unsafe.Pointer, dup *device.Func) (device.Store, error) {
	f := d.begin(device.Call{Op: "Build"})
	defer f.end()
	total := int64(len(rows))
	if total == 0 || f.err != nil {
		s := f.empty(m, n, t)
		return f.result(s), f.err
	}
	i, j := f.ints(rows), f.ints(cols)
	values := f.upload(val, total*int64(t.Size))
	keys := f.alloc(8 * total)
	f.each(f.shape(1, "hb_join"), total, i, j, total, keys)
	sorted, num := f.sortKeys(keys, total, m, n)
	starts, runKeys, count := f.runs(sorted, total)
	if count != total && dup == nil {
		f.fail(device.ErrDuplicates)
	}
	var out *mem
	if dup == nil {
		out = f.alloc(total * int64(t.Size))
		f.each(f.shapeFor(t.Size, total > 1<<32-1, "hb_gather"), total, values, num, total, out)
	} else {
		out = f.sums(device.Monoid{Func: *dup, Identity: t.Name + "()"}, true, starts, count, total, num, values)
	}
	s := f.keyed(m, n, t, runKeys, count, out)
	f.sync() // the caller's slices may change
	if f.err != nil {
		return nil, f.err
	}
	return f.result(s), nil
}

// Scatter sums entries at listed positions: by atomics in a vector, if sums in any order are equal;
// else their keys are sorted by radix, stably, and runs of equal keys are added up in order.
func (d backend) Scatter(c device.Call, dst device.Dest, m device.Monoid, u device.Operand, rows, cols device.Indices) (device.Store, device.Ran, error) {
	f := d.begin(c)
	defer f.end()
	s := f.oriented(u)
	if f.err == nil && s.format != sparse.Full {
		s = f.list(s)
	}
	var i *mem
	if !dst.Vector {
		i = f.places(rows, wholeOf(rows, dst.Rows))
	}
	j := f.places(cols, wholeOf(cols, dst.Cols))
	if f.err != nil {
		return nil, device.Ran{}, f.err
	}
	total := s.slots()
	ran := device.Ran{Method: "scatter", Work: total}
	if total == 0 {
		return f.finish(dst, f.empty(dst.Rows, dst.Cols, m.Out), ran, c, u)
	}
	if rows.Of == 0 && cols.Of == 0 && dst.Vector && joins(m) && int64(dst.Cols) <= 8*total {
		sums := f.joined(dst.Cols, m, s, total, j)
		if cols.List != nil {
			f.sync() // the caller's list may change then
		}
		return f.finish(dst, sums, ran, c, u)
	}
	keys, kept := f.alloc(8*total), total
	height, width := int64(-1), int64(-1) // of a part
	lastRow, lastCol := dst.Rows, dst.Cols
	var inside *mem
	if rows.Of != 0 || cols.Of != 0 { // positions beyond the part are sorted behind it
		inside = f.zeros(8)
		if rows.Of != 0 {
			height, lastRow = int64(dst.Rows), dst.Rows+1
		}
		if cols.Of != 0 {
			width, lastCol = int64(dst.Cols), dst.Cols+1
		}
	}
	f.each(f.kernel(f.fixed("extract", "places"), "hb_places"), total, s.desc(), total,
		flagOf(dst.Vector), i, j, int64(rows.Lo), height, int64(cols.Lo), width, keys, inside)
	if inside != nil {
		if kept = f.read(inside, 0); kept == 0 {
			return f.finish(dst, f.empty(dst.Rows, dst.Cols, m.Out), ran, c, u)
		}
	}
	sorted, num := f.sortKeys(keys, total, lastRow, lastCol)
	starts, runKeys, count := f.runs(sorted, kept) // waits: the caller's lists may change then
	val := f.sums(m, false, starts, count, total, num, f.valued(s).val)
	return f.finish(dst, f.keyed(dst.Rows, dst.Cols, m.Out, runKeys, count, val), ran, c, u)
}

// joins reports whether atomics add up by a monoid, with equal bits in any order.
func joins(m device.Monoid) bool {
	return m.Exact && !m.Any && m.Out.Number() && bits.OnesCount(uint(m.Out.Size)) == 1
}

// joined returns the sums of the values of s at the places at, nil for all in order, in a vector of
// n.
func (f *frame) joined(n int, m device.Monoid, s *store, entries int64, at *mem) *store {
	type scatterKey struct {
		m    device.Monoid
		bare bool
	}
	bare := s.val == nil && s.slots() != 0
	p := f.once(scatterKey{m, bare}, func() *program {
		return compose("scatter", m.Name).typ("HB_C", m.Out).pattern("C", true, bare).monoid(m).native(m)
	})
	out := f.newStore(1, n, sparse.Bitmap, m.Out, -1)
	out.val, out.present = f.alloc(int64(n)*int64(m.Out.Size)).share(), f.alloc(int64(n)).share()
	f.each(f.kernel(p, "hb_scatter_start"), int64(n), int64(n), out.val, out.present)
	blocks := min((entries+threads-1)/threads, int64(8*max(f.d.props.Multiprocessors, 1))) // warps with many entries
	f.blocks(f.kernel(p, "hb_scatter_add"), blocks, threads, s.desc(), entries, at, out.val, out.present)
	return out
}

// wholeOf returns the number of rows or columns that a list of indices names, of a result of n.
func wholeOf(x device.Indices, n int) int {
	if x.Of != 0 {
		return x.Of
	}
	return n
}
