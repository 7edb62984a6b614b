package cusparse

import (
	"errors"
	"fmt"
	"runtime"

	"github.com/hiveblas/hiveblas/cusparse/driver"
	"github.com/hiveblas/hiveblas/internal/device"
	"github.com/hiveblas/hiveblas/internal/sparse"
)

// This file calls the vendor's library, cuSPARSE, for the products that it has: plus_times of
// float32 and float64. Beside the kernels here it was the slower in all of the table of
// hiveblas-bench gpu (SpMV on R-MAT 18 to 22, SpMM of 64 columns, SpGEMM), so it runs when it is
// asked for, by ops.Using(ops.Vendor), or where Tune has found it to be the faster.

// vendor is cuSPARSE, opened when first asked for.
type vendor struct {
	lib    *driver.Sparse
	handle *driver.SparseHandle
	err    error
}

func (f *frame) vendor() *vendor {
	v := f.vendorLibrary()
	f.fail(v.err)
	return v
}

// vendorLibrary opens the library at first. Its err says why it is not there.
func (f *frame) vendorLibrary() *vendor {
	v := f.d.vendor
	if v == nil {
		v = &vendor{}
		if v.lib, v.err = driver.OpenSparse(); v.err == nil {
			v.handle, v.err = v.lib.NewHandle(f.d.stream)
		}
		f.d.vendor = v
	}
	return v
}

// vendorMatrix is a matrix as cuSPARSE knows it.
type vendorMatrix struct {
	v       *vendor
	mat     driver.SpMat
	ptr     *mem // offsets of 32 bits
	buffers map[string]*mem
}

func (m *vendorMatrix) drop() {
	runtime.SetFinalizer(m, nil)
	m.forget()
	m.ptr.release()
	for _, b := range m.buffers {
		b.release()
	}
}

// forget destroys cuSPARSE's description, which is host memory.
func (m *vendorMatrix) forget() { _ = m.v.lib.DestroySpMat(m.mat) }

// errVendor is why cuSPARSE does not do a product.
var errVendor = errors.New("cuSPARSE has plus_times of float32 and float64 only, of operands with values: a listed matrix and a full vector or matrix, two listed matrices, or two full ones under a listed mask, each of fewer than 2³¹ entries")

// vendorProduct is a·b by the routine of cuSPARSE for their formats.
func (f *frame) vendorProduct(s device.Semiring, a, b *store, mask *device.Mask) *store {
	switch full := b.format == sparse.Full; {
	case full && a.isListed():
		return f.vendorSpMM(s, a, b)
	case a.isListed() && b.isListed():
		return f.vendorSpGEMM(s, a, b)
	case full && a.format == sparse.Full && mask != nil && !mask.Comp:
		if m, _ := f.maskOf(mask); f.err == nil && m.isListed() {
			return f.vendorSDDMM(s, a, b, f.csr(m))
		}
	}
	f.fail(errVendor)
	return nil
}

// vendorType refuses products that cuSPARSE does not have, and names the elements of the others.
func (f *frame) vendorType(s device.Semiring, a, b *store) driver.ValueType {
	if !f.vendorHas(s, a, b) {
		f.fail(errVendor)
	}
	if s.Add.Out.Size == 8 {
		return driver.Float64
	}
	return driver.Float32
}

// vendorHas reports whether cuSPARSE has a product, as far as its operator, values and sizes go.
func (f *frame) vendorHas(s device.Semiring, a, b *store) bool {
	t := s.Add.Out
	plain := s.Add.Text == "x + y" && s.Mul.Text == "x * y" && s.Position == 0 && t.Float() && s.Mul.X.Name == t.Name && s.Mul.Y.Name == t.Name
	return plain && a.val != nil && b.val != nil && a.known() < 1<<31 && b.known() < 1<<31 && a.m != 0 && b.n != 0
}

// vendorOf describes a matrix to cuSPARSE, and keeps that.
func (f *frame) vendorOf(a *store, t driver.ValueType) *vendorMatrix {
	if m, ok := formOf[*vendorMatrix](f, a, "vendor"); ok || f.err != nil {
		return m
	}
	v := f.vendor()
	ptr := f.alloc(4 * int64(a.m+1))
	f.each(f.shape(1, "hb_narrow"), int64(a.m+1), a.ptr, int64(a.m+1), ptr)
	if f.err != nil {
		return nil
	}
	mat, err := v.lib.CreateCsr(int64(a.m), int64(a.n), a.known(), ptr.addr, a.idx.addr, a.val.addr, driver.Index32, driver.Index32, t)
	if err != nil {
		f.fail(err)
		return nil
	}
	m := &vendorMatrix{v: v, mat: mat, ptr: ptr.share(), buffers: map[string]*mem{}}
	runtime.SetFinalizer(m, (*vendorMatrix).forget) // for stores that were forgotten
	f.keepForm(a, "vendor", m)
	return m
}

// vendorBuffer returns what a product of the matrix works in, prepared once.
func (f *frame) vendorBuffer(m *vendorMatrix, name string, size func() (uint64, error), prepare func(driver.Ptr) error) driver.Ptr {
	if b, ok := m.buffers[name]; ok || f.err != nil {
		return b.ptr()
	}
	n, err := size()
	f.fail(err)
	b := f.alloc(int64(max(n, 16)))
	if f.err != nil {
		return 0
	}
	if err := prepare(b.addr); err != nil {
		f.fail(err)
		return 0
	}
	m.buffers[name] = b.share()
	return b.addr
}

// vendorPull is a·u by cusparseSpMV.
func (f *frame) vendorPull(s device.Semiring, a, u *store) *store {
	a = f.csr(a)
	t := f.vendorType(s, a, u)
	if u.format != sparse.Full {
		f.fail(errVendor)
	}
	m := f.vendorOf(a, t)
	out := f.entryPerRow(a, s.Add.Out)
	if f.err != nil {
		return nil
	}
	x, err := m.v.lib.CreateDnVec(int64(a.n), u.val.addr, t)
	if err != nil {
		f.fail(err)
		return nil
	}
	y, err := m.v.lib.CreateDnVec(int64(a.m), out.val.addr, t)
	if err == nil {
		p := &driver.SpMV{Alpha: 1, A: m.mat, X: x, Y: y, Type: t, Algorithm: driver.SpMVCSR2}
		h := m.v.handle
		b := f.vendorBuffer(m, "spmv", func() (uint64, error) { return p.BufferSize(h) }, func(b driver.Ptr) error { return p.Preprocess(h, b) })
		if f.err == nil {
			f.fail(p.Run(h, b))
		}
		err = m.v.lib.DestroyDnVec(y)
	}
	f.fail(errors.Join(err, m.v.lib.DestroyDnVec(x)))
	return out
}

// vendorSpMM is a·b by cusparseSpMM, b full.
func (f *frame) vendorSpMM(s device.Semiring, a, b *store) *store {
	a = f.csr(a)
	t := f.vendorType(s, a, b)
	m := f.vendorOf(a, t)
	if f.err != nil {
		return nil
	}
	n := int64(b.n)
	out := f.rowPerRow(a, b, s.Add.Out, f.spmmProgram(s, a, b, 2))
	if f.err != nil {
		return nil
	}
	x, err := m.v.lib.CreateDnMat(int64(b.m), n, n, b.val.addr, t, driver.RowMajor)
	if err != nil {
		f.fail(err)
		return nil
	}
	y, err := m.v.lib.CreateDnMat(int64(a.m), n, n, out.val.addr, t, driver.RowMajor)
	if err == nil {
		p := &driver.SpMM{Alpha: 1, A: m.mat, B: x, C: y, Type: t, Algorithm: driver.SpMMCSR2}
		h := m.v.handle
		w := f.vendorBuffer(m, fmt.Sprintf("spmm %d", n), func() (uint64, error) { return p.BufferSize(h) }, func(b driver.Ptr) error { return p.Preprocess(h, b) })
		if f.err == nil {
			f.fail(p.Run(h, w))
		}
		err = m.v.lib.DestroyDnMat(y)
	}
	f.fail(errors.Join(err, m.v.lib.DestroyDnMat(x)))
	return out
}
