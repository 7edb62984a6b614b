package emu

import (
	"fmt"
	"math"
	"unsafe"

	_ "github.com/hiveblas/hiveblas/apps/sage/openblas"
	"github.com/hiveblas/hiveblas/cusparse/driver"
	"github.com/hiveblas/hiveblas/internal/blas"
)

// gemmer multiplies dense matrices in device memory by the BLAS of the host.
type gemmer struct {
	c *Context
	s driver.Stream
}

// NewGemmer returns dense products in the order of a stream. Operands are checked for lying within
// allocations.
func (c *Context) NewGemmer(s driver.Stream) (driver.Gemmer, error) {
	defer c.end()
	if err := c.begin("NewGemmer", "cublasCreate"); err != nil {
		return nil, err
	}
	if _, err := c.stream("cublasCreate", s); err != nil {
		return nil, err
	}
	return &gemmer{c, s}, nil
}

// Close does nothing.
func (g *gemmer) Close() error { return nil }

// Gemm computes a product at once, or when a graph that captures it is launched.
func (g *gemmer) Gemm(p *driver.Gemm) error {
	const call = "cublasGemmEx"
	c := g.c
	defer c.end()
	if err := c.begin("Gemm", call); err != nil {
		return err
	}
	if err := p.Check(); err != nil {
		return err
	}
	if p.M == 0 || p.N == 0 {
		return nil
	}
	q := *p
	return c.queue(call, g.s, func() error {
		m, k, n, l := q.M, q.K, q.K, q.N
		if q.TransA {
			m, k = k, m
		}
		if q.TransB {
			n, l = l, n
		}
		a, err := c.dense(q.A, m, k, q.StepA, q.Input)
		if err != nil {
			return invalidValue(call, "A: "+err.Error())
		}
		b, err := c.dense(q.B, n, l, q.StepB, q.Input)
		if err != nil {
			return invalidValue(call, "B: "+err.Error())
		}
		to, err := c.dense(q.C, q.M, q.N, q.StepC, q.Output)
		if err != nil {
			return invalidValue(call, "C: "+err.Error())
		}
		if q.Beta == 0 { // the old values of C are not read
			clear(to.Val)
		}
		blas.Product(1, to, a, q.TransA, b, q.TransB, q.Beta)
		return c.store(q.C, to, q.StepC, q.Output)
	})
}

// places returns the bytes of a matrix by rows, and the bytes of an item.
func (c *Context) places(p driver.Ptr, rows, cols, step int, t driver.ValueType) (bytes []byte, size int, err error) {
	size = 4
	if t != driver.Float32 {
		size = 2
	}
	if rows == 0 || cols == 0 {
		return nil, size, nil
	}
	bytes, err = c.device.find(uintptr(p), uint64(((rows-1)*step+cols)*size))
	if err != nil {
		err = fmt.Errorf("%d×%d, %d items a row: %w", rows, cols, step, err)
	}
	return bytes, size, err
}

// dense copies a matrix of device memory.
func (c *Context) dense(p driver.Ptr, rows, cols, step int, t driver.ValueType) (blas.Matrix[float32], error) {
	a := blas.Matrix[float32]{Rows: rows, Cols: cols, Val: make([]float32, rows*cols)}
	bytes, size, err := c.places(p, rows, cols, step, t)
	if err != nil || bytes == nil {
		return a, err
	}
	for i := range a.Val {
		at := unsafe.Pointer(&bytes[(i/cols*step+i%cols)*size])
		switch t {
		case driver.Float16:
			a.Val[i] = fromHalf(*(*uint16)(at))
		case driver.BFloat16:
			a.Val[i] = math.Float32frombits(uint32(*(*uint16)(at)) << 16)
		default:
			a.Val[i] = *(*float32)(at)
		}
	}
	return a, nil
}

// store writes a matrix to device memory.
func (c *Context) store(p driver.Ptr, a blas.Matrix[float32], step int, t driver.ValueType) error {
	bytes, size, err := c.places(p, a.Rows, a.Cols, step, t)
	if err != nil || bytes == nil {
		return err
	}
	for i, x := range a.Val {
		at := unsafe.Pointer(&bytes[(i/a.Cols*step+i%a.Cols)*size])
		switch t {
		case driver.Float16:
			*(*uint16)(at) = toHalf(x)
		case driver.BFloat16:
			b := math.Float32bits(x)
			*(*uint16)(at) = uint16((b + 0x7FFF + b>>16&1) >> 16)
		default:
			*(*float32)(at) = x
		}
	}
	return nil
}

// fromHalf converts a number of 16 bits by IEEE 754.
func fromHalf(h uint16) float32 {
	sign, exponent, fraction := uint32(h>>15)<<31, uint32(h>>10)&31, uint32(h)&1023
	switch exponent {
	case 0:
		x := float32(fraction) * (1.0 / (1 << 24))
		return math.Float32frombits(math.Float32bits(x) | sign)
	case 31:
		return math.Float32frombits(sign | 0x7F800000 | fraction<<13)
	}
	return math.Float32frombits(sign | (exponent+112)<<23 | fraction<<13)
}

// toHalf rounds a number to 16 bits, to even.
func toHalf(x float32) uint16 {
	sign := uint16(math.Float32bits(x) >> 16 & 0x8000)
	y := math.Abs(float64(x))
	switch {
	case math.IsNaN(y):
		return 0x7E00
	case y >= 65520:
		return sign | 0x7C00
	case y < 1.0/(1<<14):
		return sign | uint16(math.RoundToEven(y*(1<<24)))
	}
	_, e := math.Frexp(y) // y is in [2^(e−1), 2^e)
	return sign | uint16(int(math.RoundToEven(math.Ldexp(y, 11-e)))+(e+13)<<10)
}
