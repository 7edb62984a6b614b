package cusparse

import (
	"unsafe"

	"github.com/hiveblas/hiveblas/internal/device"
	"github.com/hiveblas/hiveblas/internal/sparse"
)

// Build makes a matrix of tuples: their keys are sorted by radix, stably, so
// that duplicates stand in the order they were given.
func (d *Device) Build(m, n int, rows, cols []int32, t device.Type, val unsafe.Pointer, dup *device.Func) (device.Store, error) {
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

// Scatter sums entries at listed positions: their keys are sorted by radix, stably, and runs of
// equal keys are added up in order.
func (d *Device) Scatter(c device.Call, dst device.Dest, m device.Monoid, u device.Operand, rows, cols device.Indices) (device.Store, device.Ran, error) {
	f := d.begin(c)
	defer f.end()
	s := f.oriented(u)
	if f.err == nil && s.format != sparse.Full {
		s = f.list(s)
	}
	var i *mem
	if !dst.Vector {
		i = f.places(rows, dst.Rows)
	}
	j := f.places(cols, dst.Cols)
	if f.err != nil {
		return nil, device.Ran{}, f.err
	}
	total := s.slots()
	ran := device.Ran{Method: "scatter", Work: total}
	if total == 0 {
		return f.finish(dst, f.empty(dst.Rows, dst.Cols, m.Out), ran, c, u)
	}
	keys := f.alloc(8 * total)
	f.each(f.kernel(f.fixed("extract", "places"), "hb_places"), total, s.desc(), total,
		flagOf(dst.Vector), i, j, keys)
	sorted, num := f.sortKeys(keys, total, dst.Rows, dst.Cols)
	starts, runKeys, count := f.runs(sorted, total) // waits: the caller's lists may change then
	val := f.sums(m, false, starts, count, total, num, f.valued(s).val)
	return f.finish(dst, f.keyed(dst.Rows, dst.Cols, m.Out, runKeys, count, val), ran, c, u)
}
