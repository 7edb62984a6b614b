package spread

import (
	"context"
	"unsafe"

	"github.com/hiveblas/hiveblas/comm"
	"github.com/hiveblas/hiveblas/comm/spmd"
	"github.com/hiveblas/hiveblas/internal/device"
	"github.com/hiveblas/hiveblas/internal/sparse"
)

// This file sends rows of blocks on devices to the ranks that need them, from device to device. The
// collectives and their bytes equal exchangeRows'.

// rowsOut is what a rank sends: rows with their entries, for rank 0, 1, ….
type rowsOut struct {
	pairs, idx, val device.Buffer
	rows, entries   []int // for each rank
}

// receivedOnDevices is received for blocks on devices. make1 returns the block of a rank.
func receivedOnDevices(ctx context.Context, s *Blocks, rows, cols int, cuts []int, make1 func(r *rankGPU, own device.Operand) (device.Store, error)) (*Blocks, error) {
	t, err := device.TypeFor(sparse.GoType(s.kind))
	if err != nil {
		return nil, err
	}
	out := &Blocks{g: s.g, make: s.make, kind: s.kind, rows: rows, cols: cols, vector: s.vector, cuts: cuts, part: make([]Matrix, len(s.part))}
	err = s.eachGPU(ctx, t, func(k int, r *rankGPU, own device.Operand) error {
		st, err := make1(r, own)
		if err == nil {
			out.part[k] = s.make.NewAt(s.kind, s.g.PlaceOf(k), st)
		}
		return err
	})
	return out, err
}

// recutOnDevices is recut for blocks on devices.
func (s *Blocks) recutOnDevices(ctx context.Context, cuts []int) (*Blocks, error) {
	return receivedOnDevices(ctx, s, s.rows, s.cols, cuts, func(r *rankGPU, own device.Operand) (device.Store, error) {
		rank := r.c.Rank()
		lo, hi := s.cuts[rank], s.cuts[rank+1]
		out, err := r.rowsFor(own, false, cuts, lo, hi, 0)
		if err != nil {
			return nil, err
		}
		return r.exchange(out, cuts[rank], cuts[rank+1]-cuts[rank], s.cols)
	})
}

// transposedOnDevices is transposedBy for blocks on devices.
func (s *Blocks) transposedOnDevices(ctx context.Context, cuts []int) (*Blocks, error) {
	return receivedOnDevices(ctx, s, s.cols, s.rows, cuts, func(r *rankGPU, own device.Operand) (device.Store, error) {
		rank := r.c.Rank()
		out, err := r.rowsFor(own, true, cuts, 0, s.cols, s.cuts[rank])
		if err != nil {
			return nil, err
		}
		return r.exchange(out, cuts[rank], cuts[rank+1]-cuts[rank], s.rows)
	})
}

// differOnDevices is differ for blocks of values of type t on devices.
func (s *Blocks) differOnDevices(other *Blocks, t device.Type, out []int64) error {
	return s.eachGPU(nil, t, func(k int, r *rankGPU, own device.Operand) error {
		across, err := other.part[k].RemoteOn(r.at)
		if err != nil {
			return err
		}
		var one uint8
		err = r.run(func(d *device.Session, kernel func(string) device.Kernel) {
			x, y := d.Rows(own), d.Rows(device.Operand{Store: across})
			if x.Entries != y.Entries {
				one = 1
				return
			}
			m, differ := int64(x.Rows), d.Zeros(1)
			d.Each(kernel("hb_differ"), max(m+1, x.Entries), x.Ptr, x.Idx, x.Val, y.Ptr, y.Idx, y.Val, m, x.Entries, differ)
			d.Download(unsafe.Pointer(&one), differ, 1)
		})
		if err != nil {
			return err
		}
		out[k] = int64(one)
		return spmd.Reduce(nil, r.c, out[k:k+1], comm.Sum)
	})
}

// rowsFor cuts the rows of an operand, or of its transpose, for the ranks. Its rows are lo … hi−1
// of the rows that cuts cuts; shift is added to columns. The rows of a vector are its positions.
func (r *rankGPU) rowsFor(o device.Operand, across bool, cuts []int, lo, hi, shift int) (out rowsOut, err error) {
	p := r.c.Size()
	bounds := make([]int64, p+1)
	for q := range bounds {
		bounds[q] = int64(min(max(cuts[q]-lo, 0), hi-lo))
	}
	before := make([]int64, 2*(p+1))
	var own device.View
	var at device.Buffer
	err = r.run(func(d *device.Session, kernel func(string) device.Kernel) {
		if across {
			own = d.Cols(o)
		} else {
			own = d.Rows(o)
		}
		own = r.keepView(d, own)
		list := d.Upload(unsafe.Pointer(unsafe.SliceData(bounds)), 8*int64(len(bounds)))
		counts := d.Alloc(8 * int64(len(before)))
		if r.s.vector {
			d.Each(kernel("hb_entries_before"), int64(p+1), own.Idx, own.Entries, list, int64(p+1), counts)
		} else {
			m := int64(own.Rows)
			filled := d.Alloc(max(m, 1))
			d.Each(kernel("hb_filled"), m, own.Ptr, m, filled)
			at = r.keep(d, d.Scan(filled, m, 1))
			d.Each(kernel("hb_before"), int64(p+1), own.Ptr, at, list, int64(p+1), counts)
		}
		d.Download(unsafe.Pointer(unsafe.SliceData(before)), counts, 8*int64(len(before)))
	})
	if err != nil {
		return out, err
	}
	for q := range p {
		out.rows = append(out.rows, int(before[2*q+2]-before[2*q]))
		out.entries = append(out.entries, int(before[2*q+3]-before[2*q+1]))
	}
	rows, entries := before[2*p]-before[0], before[2*p+1]-before[1]
	err = r.run(func(d *device.Session, kernel func(string) device.Kernel) {
		out.pairs = r.keep(d, d.Alloc(max(8*rows, 4)))
		out.idx, out.val = own.Idx, own.Val
		switch {
		case r.s.vector:
			d.Each(kernel("hb_entry_pairs"), rows, own.Idx, rows, int32(lo), out.pairs)
			out.idx = r.keep(d, d.Zeros(max(4*entries, 4)))
		default:
			m := int64(own.Rows)
			d.Each(kernel("hb_pairs"), m, own.Ptr, at, m, int32(lo), out.pairs)
			if shift != 0 {
				out.idx = r.keep(d, d.Alloc(max(4*entries, 4)))
				d.Each(kernel("hb_shift"), entries, own.Idx, entries, int32(shift), out.idx)
			}
		}
	})
	return out, err
}

// neededOnDevices is needed for blocks on devices; lists are the lists of all ranks.
func (s *Blocks) neededOnDevices(ctx context.Context, lists [][]int32) ([]Matrix, error) {
	t, err := receivedOnDevices(ctx, s, s.rows, s.cols, s.cuts, func(r *rankGPU, own device.Operand) (device.Store, error) {
		out, err := r.listedRows(own, lists)
		if err != nil {
			return nil, err
		}
		return r.exchange(out, 0, len(lists[r.c.Rank()]), s.cols)
	})
	if err != nil {
		return nil, err
	}
	return t.part, nil
}

// listedRows takes from an operand the rows that lists has for each rank, numbered by their places
// in its list.
func (r *rankGPU) listedRows(o device.Operand, lists [][]int32) (out rowsOut, err error) {
	lo, hi := r.s.block(r.c)
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
	err = r.run(func(d *device.Session, kernel func(string) device.Kernel) {
		own = r.keepView(d, d.Rows(o))
		list = r.keep(d, d.Ints(rows))
		lens, filled := d.Alloc(max(4*n, 4)), d.Alloc(max(n, 1))
		d.Each(kernel("hb_listed_lengths"), n, list, own.Ptr, n, lens)
		start = r.keep(d, d.Scan(lens, n, 4))
		d.Each(kernel("hb_filled"), n, start, n, filled)
		at = r.keep(d, d.Scan(filled, n, 1))
		ends, counts := d.Upload(unsafe.Pointer(unsafe.SliceData(bounds)), 8*int64(len(bounds))), d.Alloc(8*int64(len(before)))
		d.Each(kernel("hb_before"), int64(len(bounds)), start, at, ends, int64(len(bounds)), counts)
		d.Download(unsafe.Pointer(unsafe.SliceData(before)), counts, 8*int64(len(before)))
	})
	if err != nil {
		return out, err
	}
	for q := range lists {
		out.rows = append(out.rows, int(before[2*q+2]-before[2*q]))
		out.entries = append(out.entries, int(before[2*q+3]-before[2*q+1]))
	}
	pairs, entries := before[2*len(lists)], before[2*len(lists)+1]
	err = r.run(func(d *device.Session, kernel func(string) device.Kernel) {
		out.pairs, out.idx = r.keep(d, d.Alloc(max(8*pairs, 4))), r.keep(d, d.Alloc(max(4*entries, 4)))
		out.val = r.keep(d, d.Alloc(max(entries, 1)*int64(r.t.Size)))
		for q := range lists {
			from, k := bounds[q], bounds[q+1]-bounds[q]
			d.Each(kernel("hb_pairs"), k, start.At(8*from), at.At(8*from), k, first[q], out.pairs)
		}
		d.Each(kernel("hb_listed_entries"), entries, list, start, n, own.Ptr, entries, own.Idx, own.Val, out.idx, out.val)
	})
	return out, err
}

// swap sends send[q] items of size bytes to rank q and receives recv[q].
func (r *rankGPU) swap(to, own device.Buffer, send, recv []int, size int) error {
	in, out := make([]int, len(recv)), make([]int, len(send))
	n, m := 0, 0
	for q := range send {
		in[q], out[q] = recv[q]*size, send[q]*size
		n, m = n+in[q], m+out[q]
	}
	return r.c.AllToAllV(r.ctx, comm.OnDevice(to.Addr, comm.Uint8, n), in, comm.OnDevice(own.Addr, comm.Uint8, m), out)
}

// exchange sends rows, and returns the rows received as an m×n block with first row lo. Pieces of
// one row follow each other in the order of ranks.
func (r *rankGPU) exchange(out rowsOut, lo, m, n int) (st device.Store, err error) {
	p := r.c.Size()
	twos, head := make([]int, p), make([]int64, 0, 2*p)
	twice := func(list []int) []int {
		two := make([]int, len(list))
		for q, k := range list {
			two[q] = 2 * k
		}
		return two
	}
	for q := range p {
		twos[q] = 2
		head = append(head, int64(out.rows[q]), int64(out.entries[q]))
	}
	got, err := spmd.AllToAll(r.ctx, r.c, head, twos, twos)
	if err != nil {
		return nil, err
	}
	rows, entries := make([]int, p), make([]int, p)
	for q := range p {
		rows[q], entries[q] = int(got[2*q]), int(got[2*q+1])
	}
	pieces, total := r.total(rows), r.total(entries)
	var pairs, idx, val device.Buffer
	err = r.run(func(d *device.Session, _ func(string) device.Kernel) {
		pairs, idx = r.keep(d, d.Alloc(max(8*pieces, 4))), r.keep(d, d.Alloc(max(4*total, 4)))
		val = r.keep(d, d.Alloc(max(total, 1)*int64(r.t.Size)))
	})
	if err == nil {
		err = r.swap(pairs, out.pairs, twice(out.rows), twice(rows), 4)
	}
	if err == nil {
		err = r.swap(idx, out.idx, out.entries, entries, 4)
	}
	if err == nil {
		err = r.swap(val, out.val, out.entries, entries, r.t.Size)
	}
	if err != nil {
		return nil, err
	}
	err = r.run(func(d *device.Session, kernel func(string) device.Kernel) {
		if r.s.vector {
			st = r.listed(d, kernel, pairs, val, total, lo, m)
			return
		}
		used, base, lens := d.Zeros(4*int64(max(m, 1))), d.Alloc(max(4*pieces, 4)), d.Alloc(max(4*pieces, 4))
		from := int64(0)
		for _, k := range rows {
			d.Each(kernel("hb_append"), int64(k), pairs.At(8*from), int64(k), int32(lo), used, base.At(4*from))
			from += int64(k)
		}
		d.Each(kernel("hb_pair_lengths"), pieces, pairs, pieces, lens)
		start, ptr, list := d.Scan(lens, pieces, 4), d.Scan(used, int64(m), 4), d.Alloc(max(4*total, 4))
		v := d.NewCSR(m, n, r.t, ptr, list, total)
		d.Each(kernel("hb_stack"), total, pairs, start, base, pieces, int32(lo), ptr, total, idx, val, list, v.Val)
		st = d.Result(v, total)
	})
	return st, err
}

// listed returns the block of a vector from entries received as rows in ascending order. A block
// with many entries is dense, as results of operations are.
func (r *rankGPU) listed(d *device.Session, kernel func(string) device.Kernel, pairs, val device.Buffer, total int64, lo, n int) device.Store {
	ptr, idx := d.Alloc(16), d.Alloc(max(4*total, 4))
	d.Each(kernel("hb_one_row"), 2, total, ptr)
	d.Each(kernel("hb_pair_entries"), total, pairs, total, int32(lo), idx)
	v := d.NewCSR(1, n, r.t, ptr, idx, total)
	d.Copy(v.Val, val, total*int64(r.t.Size))
	if total > 0 && total >= int64(n)/16 {
		v = d.Dense(device.Operand{Store: v.Store, Vector: true})
	}
	return d.Result(v, total)
}
