package ops

import (
	"context"
	"errors"
	"fmt"

	"github.com/hiveblas/hiveblas/internal/cpu"
	"github.com/hiveblas/hiveblas/internal/device"
	"github.com/hiveblas/hiveblas/internal/parallel"
	"github.com/hiveblas/hiveblas/internal/sparse"
	"github.com/hiveblas/hiveblas/matrix"
	"github.com/hiveblas/hiveblas/semiring"
)

// Method is a way to compute a product. Auto leaves the choice to the library.
type Method string

// The methods of MxM, and of MxV and VxM. On a GPU SPA and Hash are one
// choice, made row by row, and Sorted is Expand; where the accumulators of SPA
// and Hash do not fit (elements of more than 16 bytes, a product that depends
// on its position) Expand runs too. Trace tells which did.
const (
	Auto   Method = ""
	SPA    Method = "spa"    // MxM: dense accumulator and bitmap per row
	Sorted Method = "sorted" // MxM: sort the products of each row
	Hash   Method = "hash"   // MxM: hash table per row
	Dot    Method = "dot"    // MxM with a mask: a dot product per mask entry
	SpMM   Method = "spmm"   // MxM with a full second operand
	Expand Method = "expand" // MxM on a GPU: sort all products, add up equal positions
	Push   Method = "push"   // MxV, VxM: scatter the entries of the vector
	Pull   Method = "pull"   // MxV, VxM: a dot product per entry of the result
	// MxV and VxM on a GPU: pull, by a copy of the matrix whose columns are in
	// the order of their degrees, which is kept with it.
	Relabelled Method = "relabelled"
	// MxV, VxM and MxM on a GPU: NVIDIA's cuSPARSE, for plus_times of float32 and
	// float64: its SpMV, SpMM, SpGEMM and, of full operands under a mask, SDDMM.
	Vendor Method = "cusparse"
)

// An Option changes how an operation is run, never what it computes.
type Option func(*settings)

type settings struct {
	ctx     context.Context
	threads int
	method  Method
	trace   *Trace
	traces  func(Trace)
}

// Using forces a method. One that does not apply is a *MethodError.
func Using(m Method) Option { return func(s *settings) { s.method = m } }

// WithThreads bounds the number of threads; 0 is GOMAXPROCS.
func WithThreads(n int) Option { return func(s *settings) { s.threads = n } }

// WithContext makes the operation stop, with ctx.Err(), between blocks of
// rows once ctx has ended.
func WithContext(ctx context.Context) Option { return func(s *settings) { s.ctx = ctx } }

// WithTrace fills t with what was run.
func WithTrace(t *Trace) Option { return func(s *settings) { s.trace = t } }

// WithTraces calls f with what was run, after each operation and on its
// goroutine: the way to follow a pipeline.
func WithTraces(f func(Trace)) Option { return func(s *settings) { s.traces = f } }

// WithOptions gathers several options into one.
func WithOptions(opts ...Option) Option {
	return func(s *settings) {
		for _, o := range opts {
			o(s)
		}
	}
}

// Trace tells what an operation did.
type Trace struct {
	Op     string // such as "MxM"
	Name   string // the operator, such as "plus_times"
	Method Method // the method that ran
	Place  string // where it ran
	Work   int64  // multiplications looked at, for products
	NVals  int64  // entries of the destination afterwards
}

// String returns the trace in one line.
func (t Trace) String() string {
	return fmt.Sprintf("%s %s: %s on %s, %d products, %d entries", t.Op, t.Name, t.Method, t.Place, t.Work, t.NVals)
}

// ErrMethod is the sentinel of MethodError, ErrOperator that of OperatorError.
var (
	ErrMethod   = errors.New("method does not apply")
	ErrOperator = errors.New("operator is not usable")
	ErrPlace    = errors.New("destination lives where operations cannot run")
)

// A MethodError says that a forced method does not apply.
type MethodError struct {
	Op     string
	Method Method
	Reason string
}

func (e *MethodError) Error() string {
	return fmt.Sprintf("%s: method %q does not apply: %s", e.Op, string(e.Method), e.Reason)
}

// Is reports whether target is ErrMethod.
func (e *MethodError) Is(target error) bool { return target == ErrMethod }

// An OperatorError says that an operator is missing something.
type OperatorError struct{ Op, Reason string }

func (e *OperatorError) Error() string { return e.Op + ": " + e.Reason }

// Is reports whether target is ErrOperator.
func (e *OperatorError) Is(target error) bool { return target == ErrOperator }

// call is one operation under way.
type call struct {
	settings
	op, name string
	ran      Trace
	target   any // the *target that the call is part of
}

// begin returns the call of an operation whose destination has values of type
// C. It is part of the target that prepare returns: one allocation for both.
func begin[C comparable](op, name string, opts []Option) *call {
	t := &target[C]{}
	c := &t.call
	c.op, c.name, c.target = op, name, t
	for _, o := range opts {
		if o != nil {
			o(&c.settings)
		}
	}
	return c
}

func (c *call) env() cpu.Env {
	return cpu.Env{Ctx: c.ctx, Threads: parallel.Threads(c.threads)}
}

func (c *call) dim(arg, got, want, remedy string) error {
	return &matrix.DimensionError{Op: c.op, Arg: arg, Got: got, Want: want, Remedy: remedy}
}

// tracing reports whether anybody wants to know what was run.
func (c *call) tracing() bool { return c.trace != nil || c.traces != nil }

// traced notes what was run, and emit tells it once the destination is
// written and has nvals entries.
func (c *call) traced(m Method, work int64) {
	c.ran = Trace{Op: c.op, Name: c.name, Method: m, Place: "cpu", Work: work}
}

func (c *call) emit(nvals int64) {
	c.ran.NVals = nvals
	if c.trace != nil {
		*c.trace = c.ran
	}
	if c.traces != nil {
		c.traces(c.ran)
	}
}

func shape(m, n int) string { return fmt.Sprintf("%d×%d", m, n) }

// shapeOf names the shape of an operand or destination.
func shapeOf(vector bool, m, n int) string {
	if vector {
		return fmt.Sprintf("a vector of %d", n)
	}
	return shape(m, n)
}

// methodless refuses a forced method for operations that have only one.
func (c *call) methodless() error {
	switch c.op {
	case "MxM", "MxV", "VxM":
		return nil
	}
	if c.method != Auto {
		return &MethodError{c.op, c.method, "only MxM, MxV and VxM have methods to choose from"}
	}
	return nil
}

// specOf returns the parts of a destination, of nil too.
func specOf[C comparable](dst matrix.Destination[C]) (s matrix.Spec[C]) {
	if dst != nil {
		s = dst.Spec()
	}
	return s
}

// opOf returns the operator of an Operator, the zero value for nil.
func opOf[A, B, C any](op semiring.Operator[A, B, C]) (f semiring.BinaryOp[A, B, C]) {
	if op != nil {
		f = op.Op()
	}
	return f
}

// usable reports whether an accumulator, if there is one, can be called.
func usable[C comparable](f matrix.Combiner[C]) bool {
	switch f := f.(type) {
	case matrix.CombineFunc[C]:
		return f != nil
	case semiring.Operator[C, C, C]:
		return f.Op().Valid()
	}
	return true
}

// target is a destination made ready: checked, with its mask resolved if it
// lives on the host.
type target[C comparable] struct {
	call call
	spec matrix.Spec[C]
	mask *cpu.Mask
	at   device.Backend // where the destination lives, nil for the host
	own  cpu.Mask       // what mask points to
}

// maxRoom is the number of positions up to which a full destination gives its
// values as room for the result. Such a result is computed without a look at
// the context, so that a destination is never left half written.
const maxRoom = 1 << 12

// room returns the values of a destination that is full, small and wholly
// overwritten, for the result to be written to; nil otherwise.
func (t *target[C]) room() []C {
	if t.at != nil || t.spec.Mask != nil || t.spec.Accum != nil {
		return nil
	}
	if st := t.spec.Matrix.Store(); st.Format == sparse.Full && len(st.Val) <= maxRoom {
		return st.Val
	}
	return nil
}

// holds reports whether the destination's storage is st, as where an operation
// reads and writes one matrix.
func holds[C, A comparable](t *target[C], st *sparse.Store[A]) bool {
	return t.at == nil && any(t.spec.Matrix.Store()) == any(st)
}

// prepare checks that the destination is m×n (1×n for a vector) and that its
// mask fits.
func prepare[C comparable](c *call, spec matrix.Spec[C], m, n int) (*target[C], error) {
	d := spec.Matrix
	if d == nil {
		return nil, &matrix.InvalidError{Op: c.op, Reason: "the destination is nil; make it with matrix.New or matrix.NewVector"}
	}
	if err := d.Err(); err != nil {
		return nil, err
	}
	if err := c.methodless(); err != nil {
		return nil, err
	}
	if !usable(spec.Accum) {
		return nil, &OperatorError{c.op, "the accumulator is the zero value; make it with a constructor of package semiring or as a matrix.CombineFunc"}
	}
	t := c.target.(*target[C])
	t.spec = spec
	if p := d.Place(); p != nil {
		b, ok := p.(device.Backend)
		if !ok {
			return nil, fmt.Errorf("%s: %w: %s", c.op, ErrPlace, p)
		}
		t.at = b
	}
	if c.ctx != nil && c.ctx.Err() != nil {
		return nil, c.ctx.Err()
	}
	dm, dn := d.Dims()
	if spec.Vector {
		dm = 1
	}
	if dm != m || dn != n {
		return nil, c.dim("the destination", shapeOf(spec.Vector, dm, dn), shapeOf(spec.Vector, m, n), "make it of that shape")
	}
	if spec.Mask == nil {
		return t, nil
	}
	v := spec.Mask.MaskView()
	if err := v.Err(); err != nil {
		return nil, err
	}
	mm, mn := v.Dims()
	if mm != m || mn != n || v.IsVector() != spec.Vector {
		return nil, c.dim("the mask", shapeOf(v.IsVector(), mm, mn), shapeOf(spec.Vector, m, n), "a mask has the shape of the destination")
	}
	if t.at == nil {
		t.own = cpu.Mask{S: v.Allowed(), Comp: v.Complemented()}
		t.mask = &t.own
	}
	return t, nil
}

// write puts the result into the destination. result must be this call's own;
// filtered says that it lies within the mask.
func write[C comparable](c *call, t *target[C], result *sparse.Store[C], filtered bool) error {
	o := cpu.Overlap[C]{Mask: t.mask, Replace: t.spec.Replace, Filtered: filtered, InPlace: true, Adapt: !t.spec.Matrix.Pinned()}
	if t.spec.Accum != nil {
		o.Accum = accumulator(t.spec.Accum)
	}
	d := t.spec.Matrix
	st, err := cpu.Write(c.env(), d.Store(), result, o)
	if err != nil {
		return err
	}
	if st.Val == nil {
		st = valued(st)
	}
	return keep(c, t, st)
}

// keep makes st the contents of the destination. st may be its storage,
// updated in place.
func keep[C comparable](c *call, t *target[C], st *sparse.Store[C]) error {
	if t.spec.Vector && st.Format == sparse.Hypersparse {
		st = sparse.ToCSR(st)
	}
	t.spec.Matrix.SetResult(st)
	c.emit(st.NVals)
	return nil
}

// accumulator returns the kernels of an operator given as a Combiner.
func accumulator[C comparable](f matrix.Combiner[C]) *cpu.Binary[C, C, C] {
	if op, ok := f.(semiring.Operator[C, C, C]); ok {
		return op.Op().Kernels()
	}
	return semiring.NewBinary("accum", f.Combine, "").Kernels()
}

// truth returns the value of a pattern's entries: T is bool then.
func truth[T any]() (t T) {
	if p, ok := any(&t).(*bool); ok {
		*p = true
	}
	return t
}

// valued returns s with values, which a pattern gets as true.
func valued[T any](s *sparse.Store[T]) *sparse.Store[T] {
	if s.Val != nil {
		return s
	}
	n := len(s.Idx)
	if !s.Sparse() {
		n, _ = s.Cells()
	}
	v := *s
	v.Val = make([]T, n)
	t := truth[T]()
	for p := range v.Val {
		v.Val[p] = t
	}
	return &v
}

// needed returns s as an operator wants it: with values if it reads them.
func needed[T any](s *sparse.Store[T], reads bool) *sparse.Store[T] {
	if reads {
		return valued(s)
	}
	return s
}

// operand checks an operand and returns its view.
func operand[T comparable](a matrix.Operand[T]) (v matrix.View[T], err error) {
	if a == nil {
		return v, v.Err()
	}
	v = a.View()
	return v, v.Err()
}

// oriented returns the entries of a view in any format, transposing a dense
// one rather than listing it.
func oriented[T comparable](v matrix.View[T]) *sparse.Store[T] {
	st := v.Stored()
	if !v.Transposed() {
		return st
	}
	if st.Sparse() {
		return v.Rows()
	}
	return sparse.Transpose(st, 0)
}
