package ops

import (
	"errors"
	"fmt"
	"unsafe"

	"github.com/hiveblas/hiveblas/internal/access"
	"github.com/hiveblas/hiveblas/internal/cpu"
	"github.com/hiveblas/hiveblas/internal/device"
	"github.com/hiveblas/hiveblas/internal/sparse"
	"github.com/hiveblas/hiveblas/matrix"
	"github.com/hiveblas/hiveblas/semiring"
)

// This file runs operations on the device of their destination. It converts operators to CUDA text
// and operands to device storage.

// remoteCall is an operation that runs on a device, with its first error.
type remoteCall struct {
	c    *call
	at   device.Backend
	dest device.Dest
	err  error
}

// newRemoteCall prepares the remote call of an operation that writes an m×n result.
func newRemoteCall[C comparable](c *call, t *target[C], m, n int) *remoteCall {
	h := &remoteCall{c: c, at: t.at}
	h.dest = device.Dest{Rows: m, Cols: n, Type: typeOf[C](h), Vector: t.spec.Vector, Replace: t.spec.Replace}
	if t.spec.Mask != nil {
		h.dest.Mask, h.err = access.Mask(t.spec.Mask.MaskView(), t.at)
	}
	if t.spec.Accum != nil {
		h.dest.Accum = accumulate(h, t.spec.Accum)
	}
	if h.err == nil && (t.spec.Accum != nil || t.spec.Mask != nil && !t.spec.Replace) {
		h.dest.Store, h.err = access.RemoteOn(t.spec.Matrix, t.at)
	}
	return h
}

// call returns the settings of the operation for the device.
func (h *remoteCall) call() device.Call {
	return device.Call{Context: h.c.ctx, Op: h.c.op, Method: string(h.c.method), Trace: h.c.tracing()}
}

// storeResult makes s the contents of the destination and reports the trace. ran and err are the
// results of the backend.
func storeResult[C comparable](h *remoteCall, t *target[C], s device.Store, ran device.Ran, err error) error {
	var outside *device.IndexError
	if errors.As(err, &outside) {
		return &matrix.IndexError{Op: h.c.op, Arg: fmt.Sprintf("%s[%d] =", outside.Arg, outside.At),
			Index: outside.Index, Limit: outside.Limit}
	}
	var declined *device.MethodError
	if errors.As(err, &declined) {
		return &MethodError{h.c.op, h.c.method, declined.Reason}
	}
	if err != nil {
		return err
	}
	access.SetRemote(t.spec.Matrix, s)
	if err := access.Repin(t.spec.Matrix); err != nil {
		return err
	}
	if h.c.tracing() {
		h.c.ran = &Trace{Op: h.c.op, Name: h.c.name, Method: Method(ran.Method), Plan: ran.Plan, Place: h.at.Place().String(), Work: ran.Work}
		n, err := s.NVals()
		if err != nil {
			return err
		}
		h.c.emit(n)
	}
	return nil
}

// fail records err, unless an earlier error is recorded.
func (h *remoteCall) fail(err error) {
	if h.err == nil {
		h.err = err
	}
}

func typeOf[T any](h *remoteCall) device.Type {
	t, err := device.TypeOf[T]()
	h.fail(err)
	return t
}

// remoteOperand returns an operand on the device of the operation.
func remoteOperand[T comparable](h *remoteCall, v matrix.View[T]) device.Operand {
	if h.err != nil {
		return device.Operand{}
	}
	o, err := access.Operand(v, h.at)
	h.fail(err)
	return o
}

// shifted returns an expression in the positions i and j of the whole matrix, for a block of it.
func (c *call) shifted(text string) string {
	if c.local.shift == 0 || text == "" {
		return text
	}
	return fmt.Sprintf("([&](hb_i64 i, hb_i64 j) { return %s; })((hb_i64)i + %d, (hb_i64)j)", text, c.local.shift)
}

// needsText fails for an operator without a CUDA form.
func (h *remoteCall) needsText(what, name, text string) {
	if text == "" {
		h.fail(&OperatorError{h.c.op, what + " " + name + " has no CUDA form, so it cannot run on " + h.at.Place().String() +
			"; give its constructor a CUDA C expression, or use a destination on the host"})
	}
}

// binaryText returns an operator as CUDA text.
func binaryText[A, B, C any](h *remoteCall, f semiring.BinaryOp[A, B, C]) device.Func {
	h.needsText("operator", f.Name(), f.CUDA())
	k := access.Binary(f)
	return device.Func{Name: f.Name(), Text: f.CUDA(), X: typeOf[A](h), Y: typeOf[B](h), Out: typeOf[C](h), UsesX: k.UsesX, UsesY: k.UsesY}
}

func accumulate[C comparable](h *remoteCall, f matrix.Combiner[C]) *device.Func {
	op, ok := f.(semiring.Operator[C, C, C])
	if !ok {
		h.needsText("the accumulator, a plain function,", "", "")
		return nil
	}
	text := binaryText(h, op.Op())
	return &text
}

func monoidText[T any](h *remoteCall, m semiring.Monoid[T]) device.Monoid {
	out := device.Monoid{Func: binaryText(h, m.Op()), Any: m.IsAny()}
	if k := access.Monoid(m); k != nil {
		out.Exact = k.Exact
	}
	var err error
	if out.Identity, err = out.Out.Literal(m.Identity()); err != nil {
		h.fail(err)
	}
	if t, ok := m.Terminal(); ok {
		if out.Terminal, err = out.Out.Literal(t); err != nil {
			h.fail(err)
		}
	}
	return out
}

func semiringText[A, B, C any](h *remoteCall, s semiring.Semiring[A, B, C]) device.Semiring {
	return device.Semiring{Name: s.Name(), Add: monoidText(h, s.Add()), Mul: binaryText(h, s.Mul()), Position: int(s.Position())}
}

func scalarOf[T any](h *remoteCall, x *T) device.Scalar {
	return device.Scalar{Type: typeOf[T](h), P: unsafe.Pointer(x)}
}

func indicesOf(x cpu.Indices) device.Indices { return device.Indices{List: x.List, N: x.N} }

// indices returns a list that may be a vector on the device of the operation.
func (h *remoteCall) indices(x indices) device.Indices {
	out := indicesOf(x.Indices)
	if x.values != nil {
		o := remoteOperand(h, *x.values)
		out.Values, out.Arg, out.From = &o, x.arg, x.from
	}
	return out
}

// refuseShift fails for a product that is the row of the result, on a block of a group of devices.
func (h *remoteCall) refuseShift(name string, row bool) {
	if row && h.c.local.shift != 0 {
		h.fail(&OperatorError{h.c.op, "the product of " + name + " is the index of a result, which devices of a group do not know; use a group of ranks on the host, or a semiring of the other index"})
	}
}

func remoteMxM[A, B, C comparable](c *call, t *target[C], s semiring.Semiring[A, B, C], a matrix.View[A], b matrix.View[B]) error {
	m, _ := a.Dims()
	_, n := b.Dims()
	h := newRemoteCall(c, t, m, n)
	text, x, y := semiringText(h, s), remoteOperand(h, a), remoteOperand(h, b)
	h.refuseShift(s.Name(), s.Position() == semiring.PositionI)
	if h.err != nil {
		return h.err
	}
	if err := remoteMethod(c, h, t.spec.Mask != nil && !t.spec.Mask.MaskView().Complemented(), x, y); err != nil {
		return err
	}
	st, ran, err := h.at.MxM(h.call(), h.dest, text, x, y)
	return storeResult(h, t, st, ran, err)
}

// remoteMethod returns a *MethodError for a forced method of MxM that does not apply.
func remoteMethod(c *call, h *remoteCall, masked bool, a, b device.Operand) error {
	switch c.method {
	case Auto, Hash, Expand, Vendor:
	case SPA:
		if _, n := b.Store.Dims(); n > cpu.MaxAccumulator && !b.Transposed {
			return &MethodError{c.op, SPA, "it keeps one sum per column, and b has too many columns"}
		}
	case Dot:
		if !masked || h.dest.Mask.Store.Format() > sparse.Hypersparse {
			return &MethodError{c.op, Dot, "it needs a mask that is CSR or hypersparse and not complemented"}
		}
	case SpMM:
		if b.Store.Format() != sparse.Full || b.Transposed {
			return &MethodError{c.op, c.method, "it needs a full second operand that is not transposed"}
		}
	default:
		return &MethodError{c.op, c.method, "the methods of MxM on a GPU are spa, hash, expand, dot, spmm and cusparse"}
	}
	return nil
}

// remoteMxV computes A·u, or u·Aᵀ with flip. The rows of a give the entries of the result.
func remoteMxV[A, B, S, U, C comparable](c *call, t *target[C], s semiring.Semiring[S, U, C], flip bool, a matrix.View[A], u matrix.View[B]) error {
	m, _ := a.Dims()
	h := newRemoteCall(c, t, 1, m)
	text, x, y := semiringText(h, s), remoteOperand(h, a), remoteOperand(h, u)
	h.refuseShift(s.Name(), !flip && s.Position() == semiring.PositionI || flip && s.Position() == semiring.PositionJ)
	if h.err != nil {
		return h.err
	}
	st, ran, err := h.at.MxV(h.call(), h.dest, text, flip, x, y)
	return storeResult(h, t, st, ran, err)
}

func remoteEWise[A, B, C comparable](c *call, t *target[C], how device.Pair, f semiring.BinaryOp[A, B, C], a matrix.View[A], b matrix.View[B], alpha A, beta B) error {
	m, n := a.Dims()
	h := newRemoteCall(c, t, m, n)
	text, x, y := binaryText(h, f), remoteOperand(h, a), remoteOperand(h, b)
	left, right := scalarOf(h, &alpha), scalarOf(h, &beta)
	if h.err != nil {
		return h.err
	}
	st, ran, err := h.at.EWise(h.call(), h.dest, how, text, x, y, left, right)
	return storeResult(h, t, st, ran, err)
}

// remoteBound applies an operator with one argument bound to y: the first argument if first is set.
func remoteBound[A, B, S, V, C comparable](c *call, t *target[C], v matrix.View[V], f semiring.BinaryOp[A, B, C], y S, first bool) error {
	m, n := v.Dims()
	h := newRemoteCall(c, t, m, n)
	bound := scalarOf(h, &y)
	return remoteApply(h, t, binaryText(h, f), v, &bound, first)
}

// remoteApply applies an operator given as CUDA text.
func remoteApply[A, C comparable](h *remoteCall, t *target[C], f device.Func, a matrix.View[A], y *device.Scalar, first bool) error {
	x := remoteOperand(h, a)
	if h.err != nil {
		return h.err
	}
	st, ran, err := h.at.Apply(h.call(), h.dest, f, x, y, first)
	return storeResult(h, t, st, ran, err)
}

// newRemoteAssign is newRemoteCall for assignments, which always read the destination.
func newRemoteAssign[T comparable](c *call, t *target[T], m, n int) *remoteCall {
	if t.spec.Vector {
		m = 1
	}
	h := newRemoteCall(c, t, m, n)
	if h.err == nil && h.dest.Store == nil {
		h.dest.Store, h.err = access.RemoteOn(t.spec.Matrix, t.at)
	}
	return h
}

func remoteAssign[T comparable](c *call, t *target[T], v matrix.View[T], rows, cols cpu.Indices) error {
	m, n := t.spec.Matrix.Dims()
	h := newRemoteAssign(c, t, m, n)
	x := remoteOperand(h, v)
	if h.err != nil {
		return h.err
	}
	st, ran, err := h.at.Assign(h.call(), h.dest, x, indicesOf(rows), indicesOf(cols))
	return storeResult(h, t, st, ran, err)
}
