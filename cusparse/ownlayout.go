package cusparse

import (
	"fmt"
	"unsafe"

	"github.com/hiveblas/hiveblas/cusparse/space"
	"github.com/hiveblas/hiveblas/internal/device"
)

// This file makes layouts of a user's own, and cuts matrices into ranges of columns.

// ownOf makes a registered layout, on the host or on the device as it declares.
func (f *frame) ownOf(a *store, o *space.OwnLayout, x *layout) {
	m := int64(a.m)
	var at, idx, entries, extra *mem
	var slots int64
	if o.Build != nil {
		r := space.CompressedRows{Cols: a.n, Ptr: make([]int64, a.m+1), Columns: make([]int32, a.known())}
		f.download(unsafe.Pointer(&r.Ptr[0]), a.ptr.ptr(), 8*(m+1))
		if len(r.Columns) > 0 {
			f.download(unsafe.Pointer(&r.Columns[0]), a.idx.ptr(), 4*a.known())
		}
		if f.err != nil {
			return
		}
		s, err := o.Build(r)
		if err == nil {
			err = o.Check(s, a.m)
		}
		if err != nil {
			f.fail(err)
			return
		}
		slots = int64(len(s.Columns))
		at = f.upload(unsafe.Pointer(&s.At[0]), 8*int64(len(s.At)))
		idx, extra = f.ints(s.Columns), f.ints(s.Extra)
		entries = f.upload(unsafe.Pointer(unsafe.SliceData(s.Entries)), 8*slots)
	} else {
		p := f.once([2]string{"layout", o.Name}, func() *program {
			p := compose("layout", "the layout "+o.Name)
			p.parts, p.own = []string{"common"}, o.Kernels
			return p
		})
		groups := int64(o.Groups(a.m))
		sizes := f.zeros(8 * max(groups, 1))
		extra = f.zeros(4 * max(m*int64(o.Extra), 1))
		f.each(f.kernel(p, "hb_sizes"), groups, m, a.ptr, a.idx, sizes)
		at = f.scan(sizes, groups, 8)
		if slots = f.read(at, groups); slots < 0 || slots > 1<<40 {
			f.fail(&space.LayoutError{Name: o.Name, Reason: fmt.Sprintf("got %d slots from hb_sizes", slots)})
			return
		}
		idx, entries = f.alloc(4*max(slots, 1)), f.alloc(8*max(slots, 1))
		f.fill(idx, 255, 4*slots) // −1
		f.fill(entries, 255, 8*slots)
		f.each(f.kernel(p, "hb_fill"), m, m, a.ptr, a.idx, at, idx, entries, extra)
	}
	x.arg.ptr, x.arg.idx, x.arg.extra = x.own(at), x.own(idx), x.own(extra)
	x.arg.val = x.own(f.ownValues(a, o, slots, idx, entries))
	x.arg.nvals, x.arg.width = slots, int32(o.Group)
}

// ownValues returns the values of the slots, and fails unless each entry has one slot.
func (f *frame) ownValues(a *store, o *space.OwnLayout, slots int64, idx, entries *mem) *mem {
	var val *mem
	if a.val != nil {
		val = f.zeros(int64(a.typ.Size) * max(slots, 1))
	}
	seen, counts := f.zeros((a.known()/32+1)*4), f.zeros(16)
	if f.err != nil {
		return nil
	}
	f.each(f.layoutKernel(elementSize(a), "hb_own_fill"), slots, slots, int32(a.n), a.known(), idx, entries, a.val, val, seen, counts.addr, counts.addr+8)
	found, faults := f.read(counts, 0), f.read(counts, 1)
	if f.err == nil && (faults != 0 || found != a.known()) {
		f.fail(&space.LayoutError{Name: o.Name, Reason: fmt.Sprintf("has %d of %d entries in slots, and %d slots with an entry twice, a number that is no entry or a column outside 0 … %d", found, a.known(), faults, a.n-1)})
	}
	return val
}

// ranges is a matrix cut into ranges of columns, which keep their numbers.
type ranges struct{ list []*store }

func (r *ranges) drop() {
	for _, s := range r.list {
		s.drop()
	}
}

var limitsType, _ = device.TypeOf[uint64]()

// rangesOf cuts a listed matrix into n ranges of columns and keeps them.
func (f *frame) rangesOf(a *store, n int) []*store {
	key := fmt.Sprint("ranges ", n)
	if r, ok := formOf[*ranges](f, a, key); ok {
		return r.list
	}
	p := f.once([2]any{"ranges", a.typ}, func() *program {
		p := compose("select", "a range of columns").typ("HB_A", a.typ).typ("HB_Y", limitsType).pattern("A", false, false).
			flag("HB_USES_I", false).flag("HB_USES_POSITION", true)
		return p.function("hb_keep", "bool", "HB_A x, HB_Y y, hb_i64 i, hb_i64 j", "", "j >= (hb_i64)(y >> 32) && j < (hb_i64)(y & 0xffffffffu)")
	})
	r := &ranges{}
	for k := range n {
		limits := uint64(k*a.n/n)<<32 | uint64((k+1)*a.n/n)
		part := f.csr(f.selected(a, p, device.Scalar{Type: limitsType, P: unsafe.Pointer(&limits)}, false))
		if f.err != nil {
			r.drop()
			return nil
		}
		r.list = append(r.list, f.result(part))
	}
	f.keepForm(a, key, r)
	return r.list
}
