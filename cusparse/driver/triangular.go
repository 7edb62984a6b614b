package driver

import "unsafe"

// SolveDescr is what the steps of a triangular solve share: a cusparseSpSVDescr_t or a
// cusparseSpSMDescr_t.
type SolveDescr uintptr

// SetTriangle says which triangle of a matrix the triangular solves read
// (cusparseSpMatSetAttribute).
func (s *Sparse) SetTriangle(a SpMat, upper, unit bool) error {
	for attribute, on := range []bool{upper, unit} { // CUSPARSE_SPMAT_FILL_MODE, CUSPARSE_SPMAT_DIAG_TYPE
		value := new(int32)
		if on {
			*value = 1
		}
		if err := s.run("cusparseSpMatSetAttribute", uintptr(a), uintptr(attribute), uintptr(unsafe.Pointer(value)), unsafe.Sizeof(*value)); err != nil {
			return err
		}
	}
	return nil
}

// TriangularSolve is op(A)·Y = Alpha·X for a triangular A. Its steps:
//
//	p.Descr, _ = p.Create(h)
//	size, _ := p.BufferSize(h)
//	p.Analysis(h, buffer) // once for A; the buffer stays
//	p.Run(h)
//	p.Destroy(h)
type TriangularSolve struct {
	Op    SparseOp
	Alpha float64
	A     SpMat
	// Columns says that X and Y are a DnMat each (SpSM), and not a DnVec (SpSV).
	Columns bool
	X, Y    uintptr
	Type    ValueType
	Descr   SolveDescr
}

// name returns the name of a step.
func (p *TriangularSolve) name(step string) string {
	if p != nil && p.Columns {
		return "cusparseSpSM_" + step
	}
	return "cusparseSpSV_" + step
}

// Create makes what the steps share (cusparseSpSV_createDescr, cusparseSpSM_createDescr).
func (p *TriangularSolve) Create(h *SparseHandle) (SolveDescr, error) {
	if err := h.usable(p.name("createDescr"), p != nil); err != nil {
		return 0, err
	}
	d := new(SolveDescr)
	err := h.run(p.name("createDescr"), uintptr(unsafe.Pointer(d)))
	return *d, err
}

// Destroy ends it (cusparseSpSV_destroyDescr, cusparseSpSM_destroyDescr).
func (p *TriangularSolve) Destroy(h *SparseHandle) error {
	if err := h.usable(p.name("destroyDescr"), p != nil); err != nil {
		return err
	}
	return h.run(p.name("destroyDescr"), uintptr(p.Descr))
}

// step calls a step. last is not looked at by a function without it.
//
//go:uintptrescapes
func (p *TriangularSolve) step(h *SparseHandle, step string, last uintptr) error {
	name := p.name(step)
	if err := h.usable(name, p != nil); err != nil {
		return err
	}
	alpha := scalar(p.Type, p.Alpha)
	if p.Columns {
		return h.run(name, h.h, uintptr(p.Op), uintptr(NoTranspose), uintptr(unsafe.Pointer(alpha)), uintptr(p.A), p.X, p.Y,
			uintptr(p.Type), 0, uintptr(p.Descr), last)
	}
	return h.run(name, h.h, uintptr(p.Op), uintptr(unsafe.Pointer(alpha)), uintptr(p.A), p.X, p.Y, uintptr(p.Type), 0, uintptr(p.Descr), last)
}

// BufferSize returns the bytes that Analysis needs (cusparseSpSV_bufferSize,
// cusparseSpSM_bufferSize).
func (p *TriangularSolve) BufferSize(h *SparseHandle) (uint64, error) {
	n := new(uint64)
	err := p.step(h, "bufferSize", uintptr(unsafe.Pointer(n)))
	return *n, err
}

// Analysis prepares buffer, which the runs use too (cusparseSpSV_analysis, cusparseSpSM_analysis).
func (p *TriangularSolve) Analysis(h *SparseHandle, buffer Ptr) error {
	return p.step(h, "analysis", uintptr(buffer))
}

// Run queues the solve (cusparseSpSV_solve, cusparseSpSM_solve).
func (p *TriangularSolve) Run(h *SparseHandle) error { return p.step(h, "solve", 0) }
