package cusparse

import (
	"errors"

	"github.com/hiveblas/hiveblas/cusparse/driver"
	"github.com/hiveblas/hiveblas/internal/device"
	"github.com/hiveblas/hiveblas/internal/sparse"
)

// vendorSpGEMM is a·b by cusparseSpGEMM, both listed, by the first of its
// algorithms that the memory suffices for.
func (f *frame) vendorSpGEMM(s device.Semiring, a, b *store) *store {
	a, b = f.csr(a), f.csr(b)
	t := f.vendorType(s, a, b)
	if f.err == nil && (a.known() == 0 || b.known() == 0) {
		return f.empty(a.m, b.n, s.Add.Out)
	}
	x, y := f.vendorOf(a, t), f.vendorOf(b, t)
	if f.err != nil {
		return nil
	}
	var err error
	for _, algorithm := range []int{driver.SpGEMMAlg1, driver.SpGEMMAlg2, driver.SpGEMMAlg3} {
		var out *store
		mark := len(f.temps)
		if out, err = f.vendorSpGEMMBy(algorithm, s, x, y, a.m, b.n, t); err == nil || f.err != nil {
			return out
		}
		f.freeSince(mark)
	}
	f.fail(err)
	return nil
}

// vendorSpGEMMBy runs one algorithm. After its errors another algorithm is tried; errors of the
// frame are final.
func (f *frame) vendorSpGEMMBy(algorithm int, s device.Semiring, x, y *vendorMatrix, m, n int, t driver.ValueType) (out *store, err error) {
	lib, h := x.v.lib, x.v.handle
	ptr := f.alloc(4 * int64(m+1))
	if f.err != nil {
		return nil, f.err
	}
	c, err := lib.CreateCsr(int64(m), int64(n), 0, ptr.addr, 0, 0, driver.Index32, driver.Index32, t)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, lib.DestroySpMat(c)) }()
	d, err := lib.CreateSpGEMM()
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, lib.DestroySpGEMM(d)) }()
	p := &driver.SpGEMM{Alpha: 1, A: x.mat, B: y.mat, C: c, Type: t, Algorithm: algorithm, Descr: d}
	if err := f.vendorCompute(p, h); err != nil {
		return nil, err
	}
	_, _, nnz, err := lib.Size(c)
	if err != nil {
		return nil, err
	}
	if nnz == 0 {
		return f.empty(m, n, s.Add.Out), nil
	}
	idx, val := f.alloc(4*nnz), f.alloc(nnz*int64(s.Add.Out.Size))
	if f.err != nil {
		return nil, f.err
	}
	if err := errors.Join(lib.SetPointers(c, ptr.addr, idx.addr, val.addr), p.Copy(h)); err != nil {
		return nil, err
	}
	return f.vendorResult(m, n, s.Add.Out, nnz, ptr, idx, val), nil
}

// vendorCompute runs the steps of a product up to where its size is known.
func (f *frame) vendorCompute(p *driver.SpGEMM, h *driver.SparseHandle) error {
	size, err := p.WorkEstimation(h, 0, 0)
	if err != nil {
		return err
	}
	if _, err = p.WorkEstimation(h, size, f.vendorWork(size)); err != nil || f.err != nil {
		return errors.Join(err, f.err)
	}
	if p.Algorithm == driver.SpGEMMAlg1 {
		if size, err = p.Compute(h, 0, 0); err != nil {
			return err
		}
	} else {
		const fraction = .2 // of the products at a time
		own, _, err := p.EstimateMemory(h, fraction, 0, 0)
		if err != nil {
			return err
		}
		if _, size, err = p.EstimateMemory(h, fraction, own, f.vendorWork(own)); err != nil {
			return err
		}
	}
	work := f.vendorWork(size)
	if f.err != nil {
		return f.err
	}
	_, err = p.Compute(h, size, work)
	return err
}

// vendorWork returns a buffer that lasts until the end of the operation.
func (f *frame) vendorWork(bytes uint64) driver.Ptr { return f.alloc(int64(max(bytes, 16))).ptr() }

// vendorResult makes a store of what cuSPARSE wrote: 32-bit offsets, and rows with columns in no
// particular order.
func (f *frame) vendorResult(m, n int, t device.Type, nnz int64, ptr, idx, val *mem) *store {
	out := f.newStore(m, n, sparse.CSR, t, nnz)
	out.ptr = f.alloc(8 * int64(m+1)).share()
	f.each(f.shape(1, "hb_widen"), int64(m+1), ptr, int64(m+1), out.ptr)
	raw := f.view(out)
	raw.idx = idx.share()
	keys := f.alloc(8 * nnz)
	f.each(f.kernel(f.fixed("extract", "assign"), "hb_renumber"), nnz, raw.desc(), (*mem)(nil), (*mem)(nil), keys)
	f.inOrder(out, keys, val)
	return out
}

// vendorSDDMM is a·b, both full, where mask has entries, by cusparseSDDMM.
func (f *frame) vendorSDDMM(s device.Semiring, a, b, mask *store) *store {
	t := f.vendorType(s, a, b)
	v := f.vendor()
	if f.err != nil {
		return nil
	}
	if mask.known() == 0 || a.n == 0 {
		return f.empty(a.m, b.n, s.Add.Out)
	}
	out := f.newStore(a.m, b.n, sparse.CSR, s.Add.Out, mask.known())
	out.ptr, out.idx = mask.ptr.share(), mask.idx.share()
	out.val = f.zeros(mask.known() * int64(s.Add.Out.Size)).share()
	if f.err != nil {
		return nil
	}
	where := f.view(out)
	where.forms = nil
	c := f.vendorOf(where, t)
	if f.err != nil {
		return nil
	}
	x, err := v.lib.CreateDnMat(int64(a.m), int64(a.n), int64(a.n), a.val.addr, t, driver.RowMajor)
	if err != nil {
		f.fail(err)
		return nil
	}
	y, err := v.lib.CreateDnMat(int64(b.m), int64(b.n), int64(b.n), b.val.addr, t, driver.RowMajor)
	if err == nil {
		p := &driver.SDDMM{Alpha: 1, A: x, B: y, C: c.mat, Type: t}
		var size uint64
		if size, err = p.BufferSize(v.handle); err == nil {
			work := f.vendorWork(size)
			if err = f.err; err == nil {
				err = errors.Join(p.Preprocess(v.handle, work), p.Run(v.handle, work))
			}
		}
		err = errors.Join(err, v.lib.DestroyDnMat(y))
	}
	f.fail(errors.Join(err, v.lib.DestroyDnMat(x)))
	return out
}
