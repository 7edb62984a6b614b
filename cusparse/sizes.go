package cusparse

import (
	"unsafe"

	"github.com/hiveblas/hiveblas/internal/device"
	"github.com/hiveblas/hiveblas/internal/sparse"
)

// structural is a semiring with products that are not read.
var structural = device.Semiring{
	Name: "structure", Add: device.Monoid{Func: device.Func{X: boolType, Y: boolType, Out: boolType, Text: "x"}},
	Mul: device.Func{X: boolType, Y: boolType, Out: boolType, Text: "true"},
}

// Sizes runs the first phase of a product, which counts.
func (d backend) Sizes(c device.Call, a, b device.Operand) (sizes []int64, exact bool, err error) {
	f := d.begin(c)
	defer f.end()
	as, bs := f.rows(a), f.rows(b)
	if f.err != nil {
		return nil, false, f.err
	}
	sizes = make([]int64, as.m)
	if as.known() == 0 || bs.known() == 0 {
		return sizes, true, nil
	}
	g := &spgemm{f: f, s: structural, a: as, b: bs, m: int64(as.nvec), n: bs.n, aidx: as.idx}
	g.rowsOfB()
	g.measure("")
	if f.err != nil || g.products == 0 {
		return sizes, true, f.err
	}
	rows := make([]int64, as.nvec+1)
	if exact = g.plan(""); exact {
		at := g.count()
		ptr := at
		if g.nb > 1 {
			ptr = f.alloc(8 * (g.m + 1))
			f.blocks(g.structure(false, 32, "hb_spgemm_rowptr"), (g.m+256)/256, 256, g.m, int32(g.nb), at, ptr)
		}
		f.download(unsafe.Pointer(&rows[0]), ptr.ptr(), 8*int64(len(rows)))
		for k := range as.nvec {
			rows[k] = rows[k+1] - rows[k]
		}
	} else {
		f.download(unsafe.Pointer(&rows[0]), g.work.ptr(), 8*g.m)
		for k := range as.nvec {
			rows[k] = min(rows[k], int64(bs.n))
		}
	}
	ids := make([]int32, as.nvec)
	if as.format == sparse.Hypersparse {
		f.download(unsafe.Pointer(unsafe.SliceData(ids)), as.rowids.ptr(), 4*int64(len(ids)))
	} else {
		for k := range ids {
			ids[k] = int32(k)
		}
	}
	for k, i := range ids {
		sizes[i] = rows[k]
	}
	return sizes, exact, f.err
}
