package driver

import (
	"errors"
	"fmt"
	"math"
	"unsafe"

	"github.com/hiveblas/hiveblas/internal/dl"
)

// Sparse is a loaded cuSPARSE. Its calls take what its C functions take, in
// the same order; the names in the comments are where they are documented.
type Sparse struct {
	path    string
	symbols map[string]uintptr
	// estimate is called by a bound function: it has an argument that is a
	// float.
	estimate func(h uintptr, opA, opB int32, alpha unsafe.Pointer, a, b uintptr, beta unsafe.Pointer, c uintptr,
		value, alg int32, d uintptr, fraction float32, size3 unsafe.Pointer, buffer3 uintptr, size2 unsafe.Pointer) int32
}

// Objects of cuSPARSE; 0 is none.
type (
	SpMat       uintptr // cusparseSpMatDescr_t
	DnVec       uintptr // cusparseDnVecDescr_t
	DnMat       uintptr // cusparseDnMatDescr_t
	SpGEMMDescr uintptr // cusparseSpGEMMDescr_t
)

// ValueType is the type of values, and of the arithmetic on them.
type ValueType int32

// CUDA_R_32F and CUDA_R_64F.
const (
	Float32 ValueType = 0
	Float64 ValueType = 1
)

// IndexType is the type of row offsets, or of column indices.
type IndexType int32

// CUSPARSE_INDEX_32I and CUSPARSE_INDEX_64I.
const (
	Index32 IndexType = 2
	Index64 IndexType = 3
)

// SparseOp says how an operand is read.
type SparseOp int32

// CUSPARSE_OPERATION_NON_TRANSPOSE and CUSPARSE_OPERATION_TRANSPOSE.
const (
	NoTranspose SparseOp = 0
	Transpose   SparseOp = 1
)

// Order is how a dense matrix lies in memory.
type Order int32

// CUSPARSE_ORDER_COL and CUSPARSE_ORDER_ROW.
const (
	ColumnMajor Order = 1
	RowMajor    Order = 2
)

// Algorithms; 0 lets cuSPARSE choose.
const (
	SpMVCSR1     = 2  // CUSPARSE_SPMV_CSR_ALG1, nondeterministic
	SpMVCSR2     = 3  // CUSPARSE_SPMV_CSR_ALG2, deterministic
	SpMMCSR1     = 4  // CUSPARSE_SPMM_CSR_ALG1
	SpMMCSR2     = 6  // CUSPARSE_SPMM_CSR_ALG2, for row-major dense matrices
	SpMMCSR3     = 12 // CUSPARSE_SPMM_CSR_ALG3, deterministic
	SpGEMMAlg1   = 3  // CUSPARSE_SPGEMM_ALG1, the fastest and most memory
	SpGEMMAlg2   = 4  // CUSPARSE_SPGEMM_ALG2
	SpGEMMAlg3   = 5  // CUSPARSE_SPGEMM_ALG3, in chunks
	SDDMMDefault = 0
)

// required are the functions that every version has; the others are looked up
// when they are called.
var required = []string{
	"cusparseCreate", "cusparseDestroy", "cusparseSetStream", "cusparseGetVersion", "cusparseGetErrorName", "cusparseGetErrorString",
	"cusparseCreateCsr", "cusparseDestroySpMat", "cusparseSpMatGetSize", "cusparseCsrSetPointers",
	"cusparseCreateDnVec", "cusparseDestroyDnVec", "cusparseCreateDnMat", "cusparseDestroyDnMat",
	"cusparseSpMV_bufferSize", "cusparseSpMV", "cusparseSpMM_bufferSize", "cusparseSpMM",
	"cusparseSpGEMM_createDescr", "cusparseSpGEMM_destroyDescr", "cusparseSpGEMM_workEstimation", "cusparseSpGEMM_compute", "cusparseSpGEMM_copy",
}

var optional = []string{
	"cusparseSpMV_preprocess", "cusparseSpMM_preprocess",
	"cusparseSDDMM_bufferSize", "cusparseSDDMM_preprocess", "cusparseSDDMM",
	"cusparseSpGEMM_estimateMemory", "cusparseSpGEMM_getNumProducts", "cusparseSpMatSetAttribute",
	"cusparseSpSV_createDescr", "cusparseSpSV_destroyDescr", "cusparseSpSV_bufferSize", "cusparseSpSV_analysis", "cusparseSpSV_solve",
	"cusparseSpSM_createDescr", "cusparseSpSM_destroyDescr", "cusparseSpSM_bufferSize", "cusparseSpSM_analysis", "cusparseSpSM_solve",
}

// OpenSparse loads cuSPARSE. Its error wraps ErrNoCusparse.
func OpenSparse() (*Sparse, error) {
	handle, path, err := cusparseLibrary.open(nil)
	if err != nil {
		return nil, err
	}
	s := &Sparse{path: path, symbols: map[string]uintptr{}}
	for _, name := range required {
		if s.symbols[name], err = dlsym(handle, name); err != nil {
			return nil, missing(ErrNoCusparse, []string{path + ", which has no " + name + ": that of CUDA 11.2 or newer is needed"})
		}
	}
	for _, name := range optional {
		s.symbols[name], _ = dlsym(handle, name)
	}
	if fn := s.symbols["cusparseSpGEMM_estimateMemory"]; fn != 0 {
		bind(&s.estimate, fn)
	}
	return s, nil
}

// Name returns where the library was found.
func (s *Sparse) Name() string {
	if s == nil {
		return ""
	}
	return s.path
}

// Has reports whether the library exports a function, by its C name.
func (s *Sparse) Has(name string) bool { return s != nil && s.symbols[name] != 0 }

// run calls the function of that name.
//
//go:uintptrescapes
func (s *Sparse) run(name string, args ...uintptr) error {
	if s == nil || s.symbols == nil {
		return notInitialized(name, "the library is nil or zero; open one with driver.OpenSparse")
	}
	fn := s.symbols[name]
	if fn == 0 {
		return fmt.Errorf("%s: %w: %s does not have it", name, ErrNotSupported, s.path)
	}
	return s.check(name, call(fn, args...))
}

func (s *Sparse) check(name string, code uint32) error {
	if code == 0 {
		return nil
	}
	text := func(of string) string {
		var f func(int32) unsafe.Pointer
		bind(&f, s.symbols[of])
		return dl.String(f(int32(code)))
	}
	return resultError(name, code, text("cusparseGetErrorName"), text("cusparseGetErrorString"))
}

// SparseHandle is cuSPARSE's state in the context that was bound when it was
// made; it is for one goroutine at a time, with that context bound.
type SparseHandle struct {
	*Sparse
	h uintptr
}

// NewHandle makes a handle that works on stream (cusparseCreate,
// cusparseSetStream).
func (s *Sparse) NewHandle(stream Stream) (*SparseHandle, error) {
	h := new(uintptr)
	if err := s.run("cusparseCreate", uintptr(unsafe.Pointer(h))); err != nil {
		return nil, err
	}
	out := &SparseHandle{s, *h}
	if err := out.SetStream(stream); err != nil {
		return nil, errors.Join(err, out.Close())
	}
	return out, nil
}

// notInitialized is the error of a call without a library or a handle.
func notInitialized(name, text string) error {
	return &Error{Call: name, Code: 1, Name: "CUSPARSE_STATUS_NOT_INITIALIZED", Text: text}
}

// usable returns why a call without a handle, or without the description of a product, cannot be
// made.
func (h *SparseHandle) usable(name string, described bool) error {
	switch {
	case h == nil || h.Sparse == nil || h.symbols == nil:
		return notInitialized(name, "the handle is nil or zero; make one with Sparse.NewHandle")
	case !described:
		return &Error{
			Call: name, Code: 3, Name: "CUSPARSE_STATUS_INVALID_VALUE",
			Text: "the product is nil; call the method on a pointer to a description of the product",
		}
	}
	return nil
}

// SetStream changes the stream (cusparseSetStream).
func (h *SparseHandle) SetStream(stream Stream) error {
	if err := h.usable("cusparseSetStream", true); err != nil {
		return err
	}
	return h.run("cusparseSetStream", h.h, uintptr(stream))
}

// Version returns 1000·major + 100·minor + patch (cusparseGetVersion).
func (h *SparseHandle) Version() (int, error) {
	if err := h.usable("cusparseGetVersion", true); err != nil {
		return 0, err
	}
	v := new(int32)
	err := h.run("cusparseGetVersion", h.h, uintptr(unsafe.Pointer(v)))
	return int(*v), err
}

// Close destroys the handle (cusparseDestroy).
func (h *SparseHandle) Close() error {
	if err := h.usable("cusparseDestroy", true); err != nil {
		return err
	}
	return h.run("cusparseDestroy", h.h)
}

// CreateCsr describes an m×n matrix of nnz entries on the device, with indices from 0. Not every
// algorithm takes 64-bit offsets with 32-bit columns; a call that does not answers with
// CUSPARSE_STATUS_NOT_SUPPORTED (cusparseCreateCsr).
func (s *Sparse) CreateCsr(m, n, nnz int64, offsets, columns, values Ptr, offsetType, columnType IndexType, v ValueType) (SpMat, error) {
	d := new(SpMat)
	err := s.run("cusparseCreateCsr", uintptr(unsafe.Pointer(d)), uintptr(m), uintptr(n), uintptr(nnz),
		uintptr(offsets), uintptr(columns), uintptr(values), uintptr(offsetType), uintptr(columnType), 0, uintptr(v))
	return *d, err
}

// DestroySpMat forgets the description (cusparseDestroySpMat).
func (s *Sparse) DestroySpMat(d SpMat) error { return s.run("cusparseDestroySpMat", uintptr(d)) }

// Size returns rows, columns and entries (cusparseSpMatGetSize).
func (s *Sparse) Size(d SpMat) (m, n, nnz int64, err error) {
	v := new([3]int64)
	err = s.run("cusparseSpMatGetSize", uintptr(d), uintptr(unsafe.Pointer(&v[0])), uintptr(unsafe.Pointer(&v[1])), uintptr(unsafe.Pointer(&v[2])))
	return v[0], v[1], v[2], err
}

// SetPointers gives d its arrays (cusparseCsrSetPointers).
func (s *Sparse) SetPointers(d SpMat, offsets, columns, values Ptr) error {
	return s.run("cusparseCsrSetPointers", uintptr(d), uintptr(offsets), uintptr(columns), uintptr(values))
}

// CreateDnVec describes a dense vector (cusparseCreateDnVec).
func (s *Sparse) CreateDnVec(n int64, values Ptr, v ValueType) (DnVec, error) {
	d := new(DnVec)
	err := s.run("cusparseCreateDnVec", uintptr(unsafe.Pointer(d)), uintptr(n), uintptr(values), uintptr(v))
	return *d, err
}

// DestroyDnVec forgets the description (cusparseDestroyDnVec).
func (s *Sparse) DestroyDnVec(d DnVec) error { return s.run("cusparseDestroyDnVec", uintptr(d)) }

// CreateDnMat describes a dense m×n matrix; ld is the distance of rows, or of
// columns (cusparseCreateDnMat).
func (s *Sparse) CreateDnMat(m, n, ld int64, values Ptr, v ValueType, order Order) (DnMat, error) {
	d := new(DnMat)
	err := s.run("cusparseCreateDnMat", uintptr(unsafe.Pointer(d)), uintptr(m), uintptr(n), uintptr(ld), uintptr(values), uintptr(v), uintptr(order))
	return *d, err
}

// DestroyDnMat forgets the description (cusparseDestroyDnMat).
func (s *Sparse) DestroyDnMat(d DnMat) error { return s.run("cusparseDestroyDnMat", uintptr(d)) }

// scalar holds x as v says, for a pointer to it.
func scalar(v ValueType, x float64) *[8]byte {
	out := new([8]byte)
	if v == Float32 {
		*(*uint32)(unsafe.Pointer(out)) = math.Float32bits(float32(x))
	} else {
		*(*uint64)(unsafe.Pointer(out)) = math.Float64bits(x)
	}
	return out
}

// SpMV is y = Alpha·op(A)·x + Beta·y.
type SpMV struct {
	Op          SparseOp
	Alpha, Beta float64
	A           SpMat
	X, Y        DnVec
	Type        ValueType
	Algorithm   int
}

func (p *SpMV) call(h *SparseHandle, name string, last uintptr) error {
	return h.run(name, h.h, uintptr(p.Op), uintptr(unsafe.Pointer(scalar(p.Type, p.Alpha))), uintptr(p.A), uintptr(p.X),
		uintptr(unsafe.Pointer(scalar(p.Type, p.Beta))), uintptr(p.Y), uintptr(p.Type), uintptr(p.Algorithm), last)
}

// BufferSize returns the bytes that Preprocess and Run need
// (cusparseSpMV_bufferSize).
func (p *SpMV) BufferSize(h *SparseHandle) (uint64, error) {
	if err := h.usable("cusparseSpMV_bufferSize", p != nil); err != nil {
		return 0, err
	}
	n := new(uint64)
	err := h.run("cusparseSpMV_bufferSize", h.h, uintptr(p.Op), uintptr(unsafe.Pointer(scalar(p.Type, p.Alpha))), uintptr(p.A), uintptr(p.X),
		uintptr(unsafe.Pointer(scalar(p.Type, p.Beta))), uintptr(p.Y), uintptr(p.Type), uintptr(p.Algorithm), uintptr(unsafe.Pointer(n)))
	return *n, err
}

// Preprocess prepares buffer for many runs with the same A; without
// cusparseSpMV_preprocess, which older versions lack, it does nothing.
func (p *SpMV) Preprocess(h *SparseHandle, buffer Ptr) error {
	if err := h.usable("cusparseSpMV_preprocess", p != nil); err != nil {
		return err
	}
	if !h.Has("cusparseSpMV_preprocess") {
		return nil
	}
	return p.call(h, "cusparseSpMV_preprocess", uintptr(buffer))
}

// Run queues the product (cusparseSpMV).
func (p *SpMV) Run(h *SparseHandle, buffer Ptr) error {
	if err := h.usable("cusparseSpMV", p != nil); err != nil {
		return err
	}
	return p.call(h, "cusparseSpMV", uintptr(buffer))
}

// SpMM is C = Alpha·op(A)·op(B) + Beta·C with B and C dense.
type SpMM struct {
	OpA, OpB    SparseOp
	Alpha, Beta float64
	A           SpMat
	B, C        DnMat
	Type        ValueType
	Algorithm   int
}

// product calls a function of the arguments that SpMM, SDDMM and SpGEMM share.
//
//go:uintptrescapes
func (h *SparseHandle) product(name string, opA, opB SparseOp, alpha, beta float64, a, b, c uintptr, v ValueType, alg int, last ...uintptr) error {
	fn := h.symbols[name]
	if fn == 0 {
		return fmt.Errorf("%s: %w: %s does not have it", name, ErrNotSupported, h.path)
	}
	var more [3]uintptr
	copy(more[:], last)
	x, y := scalar(v, alpha), scalar(v, beta)
	// Arguments beyond the arguments of the function are not looked at.
	return h.check(name, call(fn, h.h, uintptr(opA), uintptr(opB), uintptr(unsafe.Pointer(x)), a, b,
		uintptr(unsafe.Pointer(y)), c, uintptr(v), uintptr(alg), more[0], more[1], more[2]))
}

func (p *SpMM) call(h *SparseHandle, name string, last uintptr) error {
	return h.product(name, p.OpA, p.OpB, p.Alpha, p.Beta, uintptr(p.A), uintptr(p.B), uintptr(p.C), p.Type, p.Algorithm, last)
}

// BufferSize returns the bytes that Preprocess and Run need
// (cusparseSpMM_bufferSize).
func (p *SpMM) BufferSize(h *SparseHandle) (uint64, error) {
	if err := h.usable("cusparseSpMM_bufferSize", p != nil); err != nil {
		return 0, err
	}
	n := new(uint64)
	err := h.product("cusparseSpMM_bufferSize", p.OpA, p.OpB, p.Alpha, p.Beta, uintptr(p.A), uintptr(p.B), uintptr(p.C), p.Type, p.Algorithm, uintptr(unsafe.Pointer(n)))
	return *n, err
}

// Preprocess prepares buffer for many runs with the same A; without
// cusparseSpMM_preprocess it does nothing.
func (p *SpMM) Preprocess(h *SparseHandle, buffer Ptr) error {
	if err := h.usable("cusparseSpMM_preprocess", p != nil); err != nil {
		return err
	}
	if !h.Has("cusparseSpMM_preprocess") {
		return nil
	}
	return p.call(h, "cusparseSpMM_preprocess", uintptr(buffer))
}

// Run queues the product (cusparseSpMM).
func (p *SpMM) Run(h *SparseHandle, buffer Ptr) error {
	if err := h.usable("cusparseSpMM", p != nil); err != nil {
		return err
	}
	return p.call(h, "cusparseSpMM", uintptr(buffer))
}

// SDDMM is C = Alpha·(op(A)·op(B)) ∘ pattern(C) + Beta·C with A and B dense.
type SDDMM struct {
	OpA, OpB    SparseOp
	Alpha, Beta float64
	A, B        DnMat
	C           SpMat
	Type        ValueType
	Algorithm   int
}

func (p *SDDMM) call(h *SparseHandle, name string, last uintptr) error {
	return h.product(name, p.OpA, p.OpB, p.Alpha, p.Beta, uintptr(p.A), uintptr(p.B), uintptr(p.C), p.Type, p.Algorithm, last)
}

// BufferSize returns the bytes that Preprocess and Run need
// (cusparseSDDMM_bufferSize).
func (p *SDDMM) BufferSize(h *SparseHandle) (uint64, error) {
	if err := h.usable("cusparseSDDMM_bufferSize", p != nil); err != nil {
		return 0, err
	}
	n := new(uint64)
	err := h.product("cusparseSDDMM_bufferSize", p.OpA, p.OpB, p.Alpha, p.Beta, uintptr(p.A), uintptr(p.B), uintptr(p.C), p.Type, p.Algorithm, uintptr(unsafe.Pointer(n)))
	return *n, err
}

// Preprocess prepares buffer for many runs with the same pattern of C
// (cusparseSDDMM_preprocess).
func (p *SDDMM) Preprocess(h *SparseHandle, buffer Ptr) error {
	if err := h.usable("cusparseSDDMM_preprocess", p != nil); err != nil {
		return err
	}
	if !h.Has("cusparseSDDMM_preprocess") {
		return nil
	}
	return p.call(h, "cusparseSDDMM_preprocess", uintptr(buffer))
}

// Run queues the products (cusparseSDDMM).
func (p *SDDMM) Run(h *SparseHandle, buffer Ptr) error {
	if err := h.usable("cusparseSDDMM", p != nil); err != nil {
		return err
	}
	return p.call(h, "cusparseSDDMM", uintptr(buffer))
}

// SpGEMM is C = Alpha·A·B, all three sparse. Its steps, each with a buffer that
// stays until Copy:
//
//	size1, _ := p.WorkEstimation(h, 0, 0)       // asks
//	p.WorkEstimation(h, size1, buffer1)
//	size3, _, _ := p.EstimateMemory(h, f, 0, 0) // SpGEMMAlg2 and SpGEMMAlg3
//	_, size2, _ := p.EstimateMemory(h, f, size3, buffer3) // which may be freed
//	size2, _ := p.Compute(h, 0, 0)              // the others
//	p.Compute(h, size2, buffer2)
//	m, n, nnz, _ := h.Size(p.C)                 // allocate, SetPointers
//	p.Copy(h)
type SpGEMM struct {
	Alpha     float64
	A, B, C   SpMat
	Type      ValueType
	Algorithm int
	Descr     SpGEMMDescr
}

// CreateSpGEMM makes what the steps of a product share
// (cusparseSpGEMM_createDescr).
func (s *Sparse) CreateSpGEMM() (SpGEMMDescr, error) {
	d := new(SpGEMMDescr)
	err := s.run("cusparseSpGEMM_createDescr", uintptr(unsafe.Pointer(d)))
	return *d, err
}

// DestroySpGEMM ends it (cusparseSpGEMM_destroyDescr).
func (s *Sparse) DestroySpGEMM(d SpGEMMDescr) error {
	return s.run("cusparseSpGEMM_destroyDescr", uintptr(d))
}

// sized calls a step that takes a size and a buffer.
func (p *SpGEMM) sized(h *SparseHandle, name string, size uint64, buffer Ptr) (uint64, error) {
	n := new(uint64)
	*n = size
	err := h.product(name, NoTranspose, NoTranspose, p.Alpha, 0, uintptr(p.A), uintptr(p.B), uintptr(p.C), p.Type, p.Algorithm,
		uintptr(p.Descr), uintptr(unsafe.Pointer(n)), uintptr(buffer))
	return *n, err
}

// WorkEstimation asks for the size of a buffer when buffer is 0, and else
// works in it (cusparseSpGEMM_workEstimation).
func (p *SpGEMM) WorkEstimation(h *SparseHandle, size uint64, buffer Ptr) (uint64, error) {
	if err := h.usable("cusparseSpGEMM_workEstimation", p != nil); err != nil {
		return 0, err
	}
	return p.sized(h, "cusparseSpGEMM_workEstimation", size, buffer)
}

// EstimateMemory returns the size of its own buffer when buffer3 is 0, and else the size of the
// buffer of Compute. fraction, in (0, 1], is the share of the products that SpGEMMAlg3 makes at a
// time (cusparseSpGEMM_estimateMemory).
func (p *SpGEMM) EstimateMemory(h *SparseHandle, fraction float32, size3 uint64, buffer3 Ptr) (own, compute uint64, err error) {
	if err := h.usable("cusparseSpGEMM_estimateMemory", p != nil); err != nil {
		return 0, 0, err
	}
	if h.estimate == nil {
		return 0, 0, fmt.Errorf("cusparseSpGEMM_estimateMemory: %w: %s does not have it", ErrNotSupported, h.path)
	}
	n := new([2]uint64)
	n[0] = size3
	var second unsafe.Pointer
	if buffer3 != 0 {
		second = unsafe.Pointer(&n[1])
	}
	code := h.estimate(h.h, int32(NoTranspose), int32(NoTranspose), unsafe.Pointer(scalar(p.Type, p.Alpha)), uintptr(p.A), uintptr(p.B),
		unsafe.Pointer(scalar(p.Type, 0)), uintptr(p.C), int32(p.Type), int32(p.Algorithm), uintptr(p.Descr),
		fraction, unsafe.Pointer(&n[0]), uintptr(buffer3), second)
	return n[0], n[1], h.check("cusparseSpGEMM_estimateMemory", uint32(code))
}

// Products returns the number of products that the result is made of, after
// WorkEstimation (cusparseSpGEMM_getNumProducts).
func (p *SpGEMM) Products(h *SparseHandle) (int64, error) {
	if err := h.usable("cusparseSpGEMM_getNumProducts", p != nil); err != nil {
		return 0, err
	}
	n := new(int64)
	err := h.run("cusparseSpGEMM_getNumProducts", uintptr(p.Descr), uintptr(unsafe.Pointer(n)))
	return *n, err
}

// Compute asks for the size of a buffer when buffer is 0, and else multiplies
// (cusparseSpGEMM_compute).
func (p *SpGEMM) Compute(h *SparseHandle, size uint64, buffer Ptr) (uint64, error) {
	if err := h.usable("cusparseSpGEMM_compute", p != nil); err != nil {
		return 0, err
	}
	return p.sized(h, "cusparseSpGEMM_compute", size, buffer)
}

// Copy writes the result to the arrays of C (cusparseSpGEMM_copy).
func (p *SpGEMM) Copy(h *SparseHandle) error {
	if err := h.usable("cusparseSpGEMM_copy", p != nil); err != nil {
		return err
	}
	return h.product("cusparseSpGEMM_copy", NoTranspose, NoTranspose, p.Alpha, 0, uintptr(p.A), uintptr(p.B), uintptr(p.C), p.Type, p.Algorithm, uintptr(p.Descr))
}
