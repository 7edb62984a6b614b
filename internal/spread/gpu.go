package spread

import (
	_ "embed"
	"reflect"
	"unsafe"

	"github.com/hiveblas/hiveblas/comm"
	"github.com/hiveblas/hiveblas/internal/collect"
	"github.com/hiveblas/hiveblas/internal/device"
)

//go:embed kernels/spread.cu
var spreadText string

// spreadKey tells the programs of kernels/spread.cu apart.
type spreadKey struct{ t device.Type }

func spreadProgram(t device.Type) device.Program {
	equal := 1
	if t.Kind == reflect.Struct { // which may define no equality
		equal = 0
	}
	return device.Program{File: "spread", Of: "blocks of " + t.Go, Parts: []string{"common"},
		Types: []device.Typedef{{Name: "HB_V", Type: t}}, Body: spreadText, Defines: map[string]any{"HB_EQUAL": equal}}
}

// Kernels returns the programs with which blocks of values of type t travel between devices.
func (onGroup) Kernels(t device.Type) []device.Program { return []device.Program{spreadProgram(t)} }

// Kernels returns the kernels of a matrix that is not nil.
func (noGroup) Kernels(t device.Type) []device.Program { return onGroup{}.Kernels(t) }

// onDevices reports whether the blocks are on devices and the group moves their memory.
func (s *Blocks) onDevices() bool { return s.g.MovesDeviceMemory() && s.atDevices() && !s.loose }

// atDevices reports whether all ranks of this process compute on devices.
func (s *Blocks) atDevices() bool {
	for k := range s.part {
		if device.Of(s.g.PlaceOf(k)) == nil {
			return false
		}
	}
	return true
}

// vastRows is the number of rows above which lists travel through the host: the steps on a device
// take memory for every row.
const vastRows = 1 << 27

// gathersOnDevices reports whether the blocks are gathered from device to device. Only counts come
// to the host then.
func (s *Blocks) gathersOnDevices() bool {
	return s.onDevices() && (s.vector || s.rows <= vastRows)
}

// deviceMemory is the memory of a rank on a device.
type deviceMemory struct {
	*rank
	at      device.Runner
	t       device.Type    // of a value
	operand device.Operand // the block
	kept    []device.Buffer
	in      [3]device.Buffer // of room: head, columns, values
	st      device.Store     // the whole matrix until it is returned
}

// release gives up the memory that results do not have.
func (m *deviceMemory) release() {
	for _, b := range m.kept {
		b.Release()
	}
	if m.st != nil {
		m.st.Drop()
	}
}

// run calls use with the device, and waits for what it queued.
func (m *deviceMemory) run(use func(d *device.Session, kernel func(name string) device.Kernel)) error {
	return m.at.Run(device.Call{Context: m.ctx, Op: "gather"}, func(d *device.Session) {
		code := d.Program(spreadKey{m.t}, func() device.Program { return spreadProgram(m.t) })
		use(d, func(name string) device.Kernel { return d.Kernel(code, name) })
		d.Sync()
	})
}

// keep keeps a buffer until the rank has finished.
func (m *deviceMemory) keep(d *device.Session, b device.Buffer) device.Buffer {
	if d.Err() == nil && b.Mem != nil {
		m.kept = append(m.kept, d.Retain(b))
	}
	return b
}

// keepView keeps the parts of a view.
func (m *deviceMemory) keepView(d *device.Session, v device.View) device.View {
	for _, b := range []device.Buffer{v.Ptr, v.Idx, v.Present, v.Val} {
		m.keep(d, b)
	}
	return v
}

// sent describes device memory of n bytes to the group.
func sent(b device.Buffer, n int) comm.Buffer { return comm.OnDevice(b.Addr, comm.Uint8, n) }

// made returns a matrix at the place of the rank.
func (m *deviceMemory) made(st device.Store) Matrix { return m.s.make.NewAt(m.kind, m.place, st) }

func (m *deviceMemory) size() int64 {
	if m.shape {
		return 0
	}
	return int64(m.t.Size)
}

func (m *deviceMemory) room(head, entries int) (in streams, err error) {
	err = m.run(func(d *device.Session, _ func(string) device.Kernel) {
		alloc := func(i, n int) comm.Buffer {
			m.in[i] = m.keep(d, d.Alloc(max(int64(n), 4)))
			return sent(m.in[i], n)
		}
		in.head = alloc(0, head)
		if entries >= 0 {
			in.idx, in.val = alloc(1, 4*entries), alloc(2, entries*m.t.Size)
		}
	})
	return in, err
}

func (m *deviceMemory) pack(f *gatherForm) (own streams, pairs int, err error) {
	rank := m.c.Rank()
	lo, rows := m.s.block(m.c)
	rows -= lo
	m.operand.Pattern = m.shape
	err = m.run(func(d *device.Session, kernel func(string) device.Kernel) {
		v := device.View{}
		if f.dense {
			v = d.Dense(m.operand)
		} else {
			v = d.Rows(m.operand)
		}
		v = m.keepView(d, v)
		own.idx, own.val = sent(v.Idx, f.idx[rank]), sent(v.Val, f.val[rank])
		var head device.Buffer
		bytes := f.head[rank]
		each := int64(rows)
		switch {
		case f.full:
			return
		case f.dense:
			n := int64(f.items[rank])
			head = d.Alloc(max(int64(bytes), 4))
			d.Each(kernel("hb_pack_bits"), (n+7)/8, v.Present, n, head)
		case m.s.vector:
			idx := m.keep(d, d.Alloc(max(4*v.Entries, 4)))
			d.Each(kernel("hb_shift"), v.Entries, v.Idx, v.Entries, int32(lo), idx)
			own.idx = sent(idx, f.idx[rank])
			return
		case f.few:
			filled := d.Alloc(max(each, 1))
			d.Each(kernel("hb_filled"), each, v.Ptr, each, filled)
			before := d.Scan(filled, each, 1)
			pairs = int(d.Read(before, each))
			bytes = 8 * pairs
			head = d.Alloc(max(int64(bytes), 4))
			d.Each(kernel("hb_pairs"), each, v.Ptr, before, each, int32(lo), head)
		default:
			head = d.Alloc(max(int64(bytes), 4))
			d.Each(kernel("hb_lengths"), each, v.Ptr, each, head)
		}
		own.head = sent(m.keep(d, head), bytes)
	})
	return own, pairs, err
}

func (m *deviceMemory) whole(f *gatherForm) (all streams, err error) {
	s, head, rows := m.s, m.in[0], int64(m.s.rows)
	err = m.run(func(d *device.Session, kernel func(string) device.Kernel) {
		var v device.View
		switch {
		case f.full:
			v = d.NewFull(s.rows, s.cols, m.t)
		case f.dense:
			present, at, from := d.Alloc(int64(collect.Sum(f.items))), int64(0), int64(0)
			for r, n := range f.items {
				d.Each(kernel("hb_unpack_bits"), int64(n), head.At(from), int64(n), present.At(at))
				at, from = at+int64(n), from+int64(f.head[r])
			}
			v = d.NewBitmapMatrix(s.rows, s.cols, m.t, present)
		case s.vector:
			ptr := d.Alloc(16)
			d.Each(kernel("hb_one_row"), 2, f.total, ptr)
			v = d.NewCSR(1, s.cols, m.t, ptr, d.Alloc(max(4*f.total, 4)), f.total)
		default:
			if f.few { // lengths of the rows, all of them once
				n := int64(collect.Sum(f.head) / 8)
				lens, base := d.Zeros(max(4*rows, 4)), d.Alloc(max(4*n, 4))
				d.Each(kernel("hb_append"), n, head, n, int32(0), lens, base)
				head = lens
			}
			v = d.NewCSR(s.rows, s.cols, m.t, d.Scan(head, rows, 4), d.Alloc(max(4*f.total, 4)), f.total)
		}
		if m.shape {
			d.Fill(v.Val, 1, int64(collect.Sum(f.items)))
		}
		all = streams{idx: sent(v.Idx, collect.Sum(f.idx)), val: sent(v.Val, collect.Sum(f.val))}
		m.st = d.Result(v, f.total)
	})
	return all, err
}

func (m *deviceMemory) gathered() (Matrix, error) {
	st := m.st
	m.st = nil
	return m.made(st), nil
}

func (m *deviceMemory) rowsFor(across bool, cuts []int) (out rowsOut, err error) {
	p := m.c.Size()
	lo, hi := m.s.block(m.c)
	shift := 0
	if across {
		lo, hi, shift = 0, m.s.cols, lo
	}
	bounds := make([]int64, p+1)
	for q := range bounds {
		bounds[q] = int64(min(max(cuts[q]-lo, 0), hi-lo))
	}
	before := make([]int64, 2*(p+1))
	var own device.View
	var filledBefore device.Buffer
	err = m.run(func(d *device.Session, kernel func(string) device.Kernel) {
		if across {
			own = d.Cols(m.operand)
		} else {
			own = d.Rows(m.operand)
		}
		own = m.keepView(d, own)
		list := d.Upload(unsafe.Pointer(unsafe.SliceData(bounds)), 8*int64(len(bounds)))
		counts := d.Alloc(8 * int64(len(before)))
		if m.s.vector {
			d.Each(kernel("hb_entries_before"), int64(p+1), own.Idx, own.Entries, list, int64(p+1), counts)
		} else {
			n := int64(own.Rows)
			filled := d.Alloc(max(n, 1))
			d.Each(kernel("hb_filled"), n, own.Ptr, n, filled)
			filledBefore = m.keep(d, d.Scan(filled, n, 1))
			d.Each(kernel("hb_before"), int64(p+1), own.Ptr, filledBefore, list, int64(p+1), counts)
		}
		d.Download(unsafe.Pointer(unsafe.SliceData(before)), counts, 8*int64(len(before)))
	})
	if err != nil {
		return out, err
	}
	rows, entries := out.count(before)
	err = m.run(func(d *device.Session, kernel func(string) device.Kernel) {
		pairs, idx := m.keep(d, d.Alloc(max(8*rows, 4))), own.Idx
		switch n := int64(own.Rows); {
		case m.s.vector:
			d.Each(kernel("hb_entry_pairs"), rows, own.Idx, rows, int32(lo), pairs)
			idx = m.keep(d, d.Zeros(max(4*entries, 4)))
		default:
			d.Each(kernel("hb_pairs"), n, own.Ptr, filledBefore, n, int32(lo), pairs)
			if shift != 0 {
				idx = m.keep(d, d.Alloc(max(4*entries, 4)))
				d.Each(kernel("hb_shift"), entries, own.Idx, entries, int32(shift), idx)
			}
		}
		out.streams = m.streams(pairs, idx, own.Val, rows, entries)
	})
	return out, err
}

// count sets the rows and entries of each rank, by their numbers before the first row of each, and
// returns the sums.
func (out *rowsOut) count(before []int64) (rows, entries int64) {
	last := len(before) - 2
	for q := 0; q < last; q += 2 {
		out.rows, out.entries = append(out.rows, int(before[q+2]-before[q])), append(out.entries, int(before[q+3]-before[q+1]))
	}
	return before[last] - before[0], before[last+1] - before[1]
}

// streams describes rows to the group.
func (m *deviceMemory) streams(pairs, idx, val device.Buffer, rows, entries int64) streams {
	return streams{sent(pairs, int(8*rows)), sent(idx, int(4*entries)), sent(val, int(entries)*m.t.Size)}
}

func (m *deviceMemory) listedRows(lists [][]int32) (out rowsOut, err error) {
	lo, hi := m.s.block(m.c)
	var rows []int32        // of the block, one list after another
	first := []int32{}      // place of the first of them in each list
	bounds := []int64{0}    // of the lists in rows
	before := []int64{0, 0} // rows with entries, and entries, before each bound
	for _, list := range lists {
		from, to := between(list, lo, hi)
		for _, i := range list[from:to] {
			rows = append(rows, i-int32(lo))
		}
		first, bounds, before = append(first, int32(from)), append(bounds, int64(len(rows))), append(before, 0, 0)
	}
	n := int64(len(rows))
	var own device.View
	var list, start, at device.Buffer
	err = m.run(func(d *device.Session, kernel func(string) device.Kernel) {
		own = m.keepView(d, d.Rows(m.operand))
		list = m.keep(d, d.Ints(rows))
		lens, filled := d.Alloc(max(4*n, 4)), d.Alloc(max(n, 1))
		d.Each(kernel("hb_listed_lengths"), n, list, own.Ptr, n, lens)
		start = m.keep(d, d.Scan(lens, n, 4))
		d.Each(kernel("hb_filled"), n, start, n, filled)
		at = m.keep(d, d.Scan(filled, n, 1))
		ends, counts := d.Upload(unsafe.Pointer(unsafe.SliceData(bounds)), 8*int64(len(bounds))), d.Alloc(8*int64(len(before)))
		d.Each(kernel("hb_before"), int64(len(bounds)), start, at, ends, int64(len(bounds)), counts)
		d.Download(unsafe.Pointer(unsafe.SliceData(before)), counts, 8*int64(len(before)))
	})
	if err != nil {
		return out, err
	}
	pairs, entries := out.count(before)
	err = m.run(func(d *device.Session, kernel func(string) device.Kernel) {
		head, idx := m.keep(d, d.Alloc(max(8*pairs, 4))), m.keep(d, d.Alloc(max(4*entries, 4)))
		val := m.keep(d, d.Alloc(max(entries, 1)*int64(m.t.Size)))
		for q := range lists {
			from, k := bounds[q], bounds[q+1]-bounds[q]
			d.Each(kernel("hb_pairs"), k, start.At(8*from), at.At(8*from), k, first[q], head)
		}
		d.Each(kernel("hb_listed_entries"), entries, list, start, n, own.Ptr, entries, own.Idx, own.Val, idx, val)
		out.streams = m.streams(head, idx, val, pairs, entries)
	})
	return out, err
}

// stack makes the block of a vector dense if it has many entries, as results of operations are.
func (m *deviceMemory) stack(rows []int, entries, lo, height, n int, _ bool) (Matrix, error) {
	pairs, idx, val := m.in[0], m.in[1], m.in[2]
	pieces, total := int64(collect.Sum(rows)), int64(entries)
	var st device.Store
	err := m.run(func(d *device.Session, kernel func(string) device.Kernel) {
		var v device.View
		if m.s.vector { // rows of one entry, in ascending order
			ptr, idx := d.Alloc(16), d.Alloc(max(4*total, 4))
			d.Each(kernel("hb_one_row"), 2, total, ptr)
			d.Each(kernel("hb_pair_entries"), total, pairs, total, int32(lo), idx)
			v = d.NewCSR(1, height, m.t, ptr, idx, total)
			d.Copy(v.Val, val, total*int64(m.t.Size))
			if total > 0 && total >= int64(height)/16 {
				v = d.Dense(device.Operand{Store: v.Store, Vector: true})
			}
		} else {
			used, base, lens := d.Zeros(4*int64(max(height, 1))), d.Alloc(max(4*pieces, 4)), d.Alloc(max(4*pieces, 4))
			from := int64(0)
			for _, k := range rows {
				d.Each(kernel("hb_append"), int64(k), pairs.At(8*from), int64(k), int32(lo), used, base.At(4*from))
				from += int64(k)
			}
			d.Each(kernel("hb_pair_lengths"), pieces, pairs, pieces, lens)
			start, ptr, list := d.Scan(lens, pieces, 4), d.Scan(used, int64(height), 4), d.Alloc(max(4*total, 4))
			v = d.NewCSR(height, n, m.t, ptr, list, total)
			d.Each(kernel("hb_stack"), total, pairs, start, base, pieces, int32(lo), ptr, total, idx, val, list, v.Val)
		}
		st = d.Result(v, total)
	})
	if err != nil {
		return nil, err
	}
	return m.made(st), nil
}

func (m *deviceMemory) differs(other Matrix) (bool, error) {
	across, err := other.RemoteOn(m.at)
	if err != nil {
		return false, err
	}
	var one uint8
	err = m.run(func(d *device.Session, kernel func(string) device.Kernel) {
		x, y := d.Rows(m.operand), d.Rows(device.Operand{Store: across})
		if x.Entries != y.Entries {
			one = 1
			return
		}
		n, differ := int64(x.Rows), d.Zeros(1)
		d.Each(kernel("hb_differ"), max(n+1, x.Entries), x.Ptr, x.Idx, x.Val, y.Ptr, y.Idx, y.Val, n, x.Entries, differ)
		d.Download(unsafe.Pointer(&one), differ, 1)
	})
	return one != 0, err
}
