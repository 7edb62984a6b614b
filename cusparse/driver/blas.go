package driver

import (
	"errors"
	"fmt"
	"unsafe"

	"github.com/hiveblas/hiveblas/internal/dl"
)

// BLAS is a loaded cuBLAS. The names in the comments are where its functions are documented.
type BLAS struct {
	path    string
	symbols map[string]uintptr
}

// Types of the elements of dense products: CUDA_R_16F and CUDA_R_16BF. Float32 is the third.
const (
	Float16  ValueType = 2
	BFloat16 ValueType = 14
)

// Gemm is C = op(A)·op(B) + Beta·C of matrices by rows; op transposes if asked. C is M×N, op(A)
// M×K, op(B) K×N. A and B have the same type; C has that type or Float32. Sums are in float32.
type Gemm struct {
	M, N, K             int
	A, B, C             Ptr
	StepA, StepB, StepC int // items from a row to the next
	TransA, TransB      bool
	Input, Output       ValueType // of A and B; of C
	Beta                float32
	TF32                bool // multiply float32 with the 10 bits of TF32
}

// Gemmer multiplies dense matrices on a device, in the order of its stream.
type Gemmer interface {
	Gemm(g *Gemm) error
	Close() error
}

// GemmWorkspace is the memory in bytes that cuBLAS recommends for products.
const GemmWorkspace = 32 << 20

var blasFunctions = []string{
	"cublasCreate_v2", "cublasDestroy_v2", "cublasSetStream_v2", "cublasSetWorkspace_v2", "cublasGetVersion_v2",
	"cublasGemmEx", "cublasGetStatusName", "cublasGetStatusString",
}

// OpenBLAS loads cuBLAS. Its error wraps ErrNoCublas.
func OpenBLAS() (*BLAS, error) {
	handle, path, err := cublasLibrary.open(nil)
	if err != nil {
		return nil, err
	}
	b := &BLAS{path: path, symbols: map[string]uintptr{}}
	for _, name := range blasFunctions {
		if b.symbols[name], err = dlsym(handle, name); err != nil {
			return nil, missing(ErrNoCublas, []string{path + ", which has no " + name + ": that of CUDA 11.4 or newer is needed"})
		}
	}
	return b, nil
}

// Name returns where the library was found.
func (b *BLAS) Name() string {
	if b == nil {
		return ""
	}
	return b.path
}

// run calls the function of that name.
//
//go:uintptrescapes
func (b *BLAS) run(name string, args ...uintptr) error {
	if b == nil || b.symbols == nil {
		return &Error{Call: name, Code: 1, Name: "CUBLAS_STATUS_NOT_INITIALIZED",
			Text: "the library is nil or zero; open one with driver.OpenBLAS"}
	}
	code := call(b.symbols[name], args...)
	if code == 0 {
		return nil
	}
	text := func(of string) string {
		var f func(int32) unsafe.Pointer
		bind(&f, b.symbols[of])
		return dl.String(f(int32(code)))
	}
	return resultError(name, code, text("cublasGetStatusName"), text("cublasGetStatusString"))
}

// BLASHandle is cuBLAS's state in the context that was bound when it was made; it is for one
// goroutine at a time, with that context bound.
type BLASHandle struct {
	*BLAS
	h uintptr
}

// NewHandle makes a handle that works on stream, in a workspace of GemmWorkspace bytes, so that
// products allocate nothing and may be captured (cublasCreate, cublasSetStream,
// cublasSetWorkspace).
func (b *BLAS) NewHandle(stream Stream, workspace Ptr) (*BLASHandle, error) {
	h := new(uintptr)
	if err := b.run("cublasCreate_v2", uintptr(unsafe.Pointer(h))); err != nil {
		return nil, err
	}
	out := &BLASHandle{b, *h}
	err := out.run("cublasSetStream_v2", out.h, uintptr(stream))
	if err == nil {
		err = out.run("cublasSetWorkspace_v2", out.h, uintptr(workspace), GemmWorkspace)
	}
	if err != nil {
		return nil, errors.Join(err, out.Close())
	}
	return out, nil
}

// Version returns 10000·major + 100·minor + patch (cublasGetVersion).
func (h *BLASHandle) Version() (int, error) {
	if err := h.usable("cublasGetVersion"); err != nil {
		return 0, err
	}
	v := new(int32)
	err := h.run("cublasGetVersion_v2", h.h, uintptr(unsafe.Pointer(v)))
	return int(*v), err
}

// Close destroys the handle (cublasDestroy).
func (h *BLASHandle) Close() error {
	if err := h.usable("cublasDestroy"); err != nil {
		return err
	}
	return h.run("cublasDestroy_v2", h.h)
}

// usable returns the error of a call without a handle.
func (h *BLASHandle) usable(name string) error {
	if h == nil || h.BLAS == nil {
		return &Error{Call: name, Code: 1, Name: "CUBLAS_STATUS_NOT_INITIALIZED",
			Text: "the handle is nil or zero; make one with BLAS.NewHandle"}
	}
	return nil
}

// Constants of cuBLAS.
const (
	cublasNoTrans     = 0
	cublasTrans       = 1
	cublasCompute32F  = 68
	cublasComputeTF32 = 77
	cublasDefaultGemm = -1 // CUBLAS_GEMM_DEFAULT
)

// Gemm queues a product (cublasGemmEx). cuBLAS has matrices by columns. A matrix by rows is their
// transpose: Cᵀ = op(B)ᵀ·op(A)ᵀ.
func (h *BLASHandle) Gemm(g *Gemm) error {
	if err := h.usable("cublasGemmEx"); err != nil {
		return err
	}
	if err := g.Check(); err != nil {
		return err
	}
	if g.M == 0 || g.N == 0 {
		return nil
	}
	trans := func(t bool) uintptr {
		if t {
			return cublasTrans
		}
		return cublasNoTrans
	}
	compute := uintptr(cublasCompute32F)
	if g.TF32 && g.Input == Float32 {
		compute = cublasComputeTF32
	}
	one, beta := scalar(Float32, 1), scalar(Float32, float64(g.Beta))
	algorithm := int32(cublasDefaultGemm)
	return h.run("cublasGemmEx", h.h, trans(g.TransB), trans(g.TransA), uintptr(g.N), uintptr(g.M), uintptr(g.K),
		uintptr(unsafe.Pointer(one)), uintptr(g.B), uintptr(g.Input), uintptr(g.StepB),
		uintptr(g.A), uintptr(g.Input), uintptr(g.StepA),
		uintptr(unsafe.Pointer(beta)), uintptr(g.C), uintptr(g.Output), uintptr(g.StepC), compute, uintptr(algorithm))
}

// Check returns the error of a product if its sizes or types do not agree.
func (g *Gemm) Check() error {
	bad := func(text string) error {
		return &Error{Call: "cublasGemmEx", Code: 7, Name: "CUBLAS_STATUS_INVALID_VALUE", Text: text}
	}
	if g == nil {
		return bad("the product is nil; give a description of one")
	}
	least := func(m, n int, trans bool) int {
		if trans {
			return m
		}
		return n
	}
	known := func(t ValueType) bool { return t == Float32 || t == Float16 || t == BFloat16 }
	switch {
	case g.M < 0 || g.N < 0 || g.K < 0 || max(g.M, g.N, g.K) > 1<<31-1:
		return bad(fmt.Sprintf("a product of %d×%d and %d×%d: sizes are 0 to 2147483647", g.M, g.K, g.K, g.N))
	case g.StepA < max(least(g.M, g.K, g.TransA), 1), g.StepB < max(least(g.K, g.N, g.TransB), 1), g.StepC < max(g.N, 1):
		return bad("a row is longer than the distance to the next; give larger steps")
	case !known(g.Input) || g.Output != Float32 && g.Output != g.Input:
		return bad("the types do not go together; want Float32, Float16 or BFloat16, and a result of the same or Float32")
	}
	return nil
}
