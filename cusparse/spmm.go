package cusparse

import (
	"cmp"
	"math/bits"

	"github.com/hiveblas/hiveblas/cusparse/driver"
	"github.com/hiveblas/hiveblas/internal/device"
	"github.com/hiveblas/hiveblas/internal/sparse"
)

// spmmChunk is the number of entries of a task of kernels/spmm.cu.
const spmmChunk = 256

// spmmNarrow is the number of columns up to which some lanes take a row, and not a warp.
const spmmNarrow = 16

// spmmTasks is how the rows of a matrix are cut.
type spmmTasks struct {
	count, long          int64
	at, row, lo, longIDs *mem
}

func (t *spmmTasks) drop() {
	for _, m := range []*mem{t.at, t.row, t.lo, t.longIDs} {
		m.release()
	}
}

// spmmTasksOf cuts the rows of a CSR matrix, and keeps that.
func (f *frame) spmmTasksOf(a *store, p *program) *spmmTasks {
	if t, ok := formOf[*spmmTasks](f, a, "spmm"); ok || f.err != nil {
		return t
	}
	m := int64(a.m)
	counts := f.alloc(8 * m)
	f.each(f.kernel(p, "hb_spmm_counts"), m, a.ptr, m, counts)
	t := &spmmTasks{}
	at := f.scan(counts, m, 8)
	t.count = f.read(at, m)
	row, lo, long, nlong := f.alloc(4*max(t.count, 1)), f.alloc(8*max(t.count, 1)), f.alloc(4*m), f.zeros(8)
	f.each(f.kernel(p, "hb_spmm_cut"), m, a.ptr, m, at, row, lo, long, nlong)
	t.long = f.read(nlong, 0)
	if f.err != nil {
		return nil
	}
	t.at, t.row, t.lo, t.longIDs = at.share(), row.share(), lo.share(), long.share()
	f.keepForm(a, "spmm", t)
	return t
}

// spmmProgram composes kernels/spmm.cu for so many columns a lane.
func (f *frame) spmmProgram(s device.Semiring, a, b *store, cols int) *program {
	return f.once(productKey{body: "spmm", s: s, bareA: a.val == nil, bareX: b.val == nil, cols: cols}, func() *program {
		return fastProgram("spmm", s, false, a, b).define("HB_CHUNK", spmmChunk).define("HB_COLS", cols)
	})
}

// rowPerRow is a matrix for a·b, b full: a row of entries where a has any, its
// values zero elsewhere.
func (f *frame) rowPerRow(a, b *store, t device.Type, p *program) *store {
	filled := f.rowsFull(a)
	n := int64(b.n)
	out := f.newStore(a.m, b.n, sparse.Bitmap, t, a.filledRows*n)
	cells := out.cells()
	out.val = f.alloc(max(cells, 1) * int64(t.Size)).share()
	if filled {
		out.format = sparse.Full
		out.count.Store(cells)
		return out
	}
	out.present = f.alloc(max(cells, 1)).share()
	f.blocks(f.kernel(p, "hb_spmm_rows"), (int64(a.m)+255)/256, 256, a.ptr, int64(a.m), n, out.present, out.val)
	return out
}

// mostGridY is the most blocks of a grid in its second dimension.
const mostGridY = 65535

// spmm multiplies by a full matrix.
func (f *frame) spmm(s device.Semiring, a, b *store) *store {
	if f.err != nil {
		return nil
	}
	t, n := s.Add.Out, int64(b.n)
	if a.m != 0 && n > maxCells/int64(a.m) {
		f.fail(&MemoryError{Asked: uint64(a.m) * uint64(b.n) * uint64(t.Size), err: errTooLarge})
		return nil
	}
	a = f.csr(a)
	cols := 1
	if n > 32 {
		cols = 2
	}
	p := f.spmmProgram(s, a, b, cols)
	out := f.rowPerRow(a, b, t, p)
	if f.err != nil || out.cells() == 0 {
		return out
	}
	tasks := f.spmmTasksOf(a, p)
	if f.err != nil || tasks.count == 0 {
		return out
	}
	var parts *mem
	if tasks.long > 0 {
		parts = f.alloc(tasks.count * n * int64(t.Size))
	}
	tiles := (n + int64(32*cols) - 1) / int64(32*cols)
	most := cmp.Or(f.d.gridY, mostGridY)
	if n <= spmmNarrow {
		lanes := int64(4) << bits.Len64(uint64(n-1)>>2)
		f.launch(f.kernel(p, "hb_spmm_narrow"), [3]uint32{uint32((tasks.count*lanes + 255) / 256), 1, 1}, [3]uint32{256, 1, 1}, 0,
			tasks.count, tasks.row, tasks.lo, tasks.at, a.ptr, a.idx, a.val, b.val, n, int32(lanes), out.val, parts)
	}
	for from := int64(0); n > spmmNarrow && from < tiles; from += most {
		grid := [3]uint32{uint32((tasks.count + 7) / 8), uint32(min(tiles-from, most)), 1}
		f.launch(f.kernel(p, "hb_spmm"), grid, [3]uint32{256, 1, 1}, 0,
			tasks.count, tasks.row, tasks.lo, tasks.at, a.ptr, a.idx, a.val, b.val, n, from, out.val, parts)
	}
	for from := int64(0); from < tasks.long; from += most {
		rows := min(tasks.long-from, most)
		f.launch(f.kernel(p, "hb_spmm_join"), [3]uint32{uint32(min((n+127)/128, 64)), uint32(rows), 1}, [3]uint32{128, 1, 1}, 0,
			tasks.longIDs.ptr()+driver.Ptr(4*from), tasks.at, parts, n, out.val)
	}
	return out
}
