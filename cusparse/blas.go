package cusparse

import (
	"github.com/hiveblas/hiveblas/cusparse/driver"
	"github.com/hiveblas/hiveblas/internal/device"
)

// This file multiplies dense matrices by cuBLAS, which is opened at the first product. A driver may
// bring its own: the emulator has one on the host.

// gemmerOf is a context with dense products of its own.
type gemmerOf interface {
	NewGemmer(s driver.Stream) (driver.Gemmer, error)
}

func (f *frame) gemmer() driver.Gemmer {
	if f.d.blas != nil || f.err != nil {
		return f.d.blas
	}
	if own, ok := f.d.ctx.(gemmerOf); ok {
		g, err := own.NewGemmer(f.d.stream)
		if f.fail(err); err == nil {
			f.d.blas = g
		}
		return f.d.blas
	}
	lib, err := driver.OpenBLAS()
	if err != nil {
		f.fail(err)
		return nil
	}
	work := f.gemmWorkspace()
	if f.err != nil {
		return nil
	}
	h, err := lib.NewHandle(f.d.stream, work.addr)
	if err != nil {
		f.fail(err)
		return nil
	}
	f.d.blas = h
	return h
}

// gemmWorkspace returns the workspace of cuBLAS. The device holds it, and not only its address: the
// collector gives forgotten memory back.
func (f *frame) gemmWorkspace() *mem {
	if f.d.blasWork == nil {
		f.d.blasWork = f.alloc(driver.GemmWorkspace).share()
	}
	return f.d.blasWork
}

// Gemm queues a product of dense matrices.
func (s session) Gemm(g device.Gemm) {
	f := s.f
	to := f.gemmer()
	if f.err != nil {
		return
	}
	types := [...]driver.ValueType{device.Float32: driver.Float32, device.TF32: driver.Float32,
		device.Float16: driver.Float16, device.BFloat16: driver.BFloat16}
	f.fail(to.Gemm(&driver.Gemm{M: g.M, N: g.N, K: g.K, A: driver.Ptr(g.A.Addr), B: driver.Ptr(g.B.Addr), C: driver.Ptr(g.C.Addr),
		StepA: g.StepA, StepB: g.StepB, StepC: g.StepC, TransA: g.TransA, TransB: g.TransB,
		Input: types[g.Input], Output: types[g.Output], Beta: g.Beta, TF32: g.Input == device.TF32}))
}
