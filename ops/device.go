package ops

import (
	"errors"
	"fmt"
	"reflect"
	"unsafe"

	"github.com/hiveblas/hiveblas/internal/cpu"
	"github.com/hiveblas/hiveblas/internal/device"
	"github.com/hiveblas/hiveblas/internal/pass"
	"github.com/hiveblas/hiveblas/internal/record"
	"github.com/hiveblas/hiveblas/internal/rep"
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

// newRemote prepares the remote call of an operation that writes an m×n result.
func (c *call) newRemote(m, n int) *remoteCall {
	t := &c.t
	h := &remoteCall{c: c, at: t.at}
	h.dest = device.Dest{Rows: m, Cols: n, Type: h.typeOf(t.c), Vector: t.vector, Replace: t.replace}
	if t.dest.mask != nil {
		h.dest.Mask, h.err = t.view.At(t.at)
	}
	if t.accum.given {
		h.dest.Accum = h.accumulate(&t.accum)
	}
	if h.err == nil && (t.accum.given || t.dest.mask != nil && !t.replace) {
		h.dest.Store, h.err = t.m.RemoteOn(t.at)
	}
	return h
}

// call returns the settings of the operation for the device.
func (h *remoteCall) call() device.Call {
	return device.Call{Context: h.c.ctx, Op: h.c.op, Method: string(h.c.method), Trace: h.c.tracing()}
}

// store makes s the contents of the destination and reports the trace. ran and err are the results
// of the backend.
func (h *remoteCall) store(s device.Store, ran device.Ran, err error) error {
	if outside, ok := errors.AsType[*device.IndexError](err); ok {
		return &matrix.IndexError{Op: h.c.op, Arg: fmt.Sprintf("%s[%d] =", outside.Arg, outside.At),
			Index: outside.Index, Limit: outside.Limit}
	}
	if declined, ok := errors.AsType[*device.MethodError](err); ok {
		return &MethodError{h.c.op, h.c.method, declined.Reason}
	}
	if err != nil {
		return err
	}
	h.c.t.m.SetRemote(s)
	if err := h.c.t.m.Repin(); err != nil {
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

// typeOf returns an element type for the device.
func (h *remoteCall) typeOf(t *sparse.Type) device.Type {
	out, err := device.TypeFor(sparse.GoType(t))
	h.fail(err)
	return out
}

// operand returns an operand on the device of the operation.
func (h *remoteCall) operand(v rep.View) device.Operand {
	if h.err != nil {
		return device.Operand{}
	}
	o, err := v.Operand(h.at)
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

// binary returns an operator x × y → z as CUDA text.
func (h *remoteCall) binary(f *operator, x, y, z *sparse.Type) device.Func {
	h.needsText("operator", f.name, f.cuda)
	return device.Func{Name: f.name, Text: f.cuda, X: h.typeOf(x), Y: h.typeOf(y), Out: h.typeOf(z), UsesX: f.k.UsesX, UsesY: f.k.UsesY}
}

func (h *remoteCall) accumulate(f *operator) *device.Func {
	if f.plain {
		h.needsText("the accumulator, a plain function,", "", "")
		return nil
	}
	c := h.c.t.c
	text := h.binary(f, c, c, c)
	return &text
}

// literal returns a single value as CUDA text.
func (h *remoteCall) literal(as device.Type, t *sparse.Type, x sparse.Values) string {
	text, err := as.Literal(reflect.NewAt(sparse.GoType(t), x.Pointer()).Elem().Interface())
	if err != nil {
		h.fail(err)
	}
	return text
}

// monoid returns a monoid over t as CUDA text.
func (h *remoteCall) monoid(m *monoid, t *sparse.Type) device.Monoid {
	out := device.Monoid{Func: h.binary(&m.op, t, t, t), Any: m.any, Exact: m.k.Exact}
	out.Identity = h.literal(out.Out, t, m.k.Identity)
	if !m.terminal.None() {
		out.Terminal = h.literal(out.Out, t, m.terminal)
	}
	return out
}

// semiring returns the semiring of the call as CUDA text. Its ⊗ is x × y → c.
func (h *remoteCall) semiring(x, y *sparse.Type) device.Semiring {
	r, c := h.c.ring, h.c.t.c
	add, mul := r.add(), r.mul()
	return device.Semiring{Name: r.Name, Add: h.monoid(&add, c), Mul: h.binary(&mul, x, y, c), Position: int(r.pos())}
}

// scalar returns a single value for the device.
func (h *remoteCall) scalar(t *sparse.Type, x sparse.Values) device.Scalar {
	return device.Scalar{Type: h.typeOf(t), P: x.Pointer()}
}

func indicesOf(x cpu.Indices) device.Indices { return device.Indices{List: x.List, N: x.N} }

// indices returns a list that may be a vector on the device of the operation.
func (h *remoteCall) indices(x indices) device.Indices {
	out := indicesOf(x.Indices)
	if x.values != nil {
		o := h.operand(*x.values)
		out.Values, out.Arg, out.From = &o, x.arg, x.from
	}
	return out
}

// refuseShift fails for a product that is the row of the result, on a block of a group of devices.
func (h *remoteCall) refuseShift(row bool) {
	if row && h.c.local.shift != 0 {
		h.fail(&OperatorError{h.c.op, "the product of " + h.c.ring.Name + " is the index of a result, which devices of a group do not know; use a group of ranks on the host, or a semiring of the other index"})
	}
}

func (c *call) remoteMxM(a, b rep.View) error {
	m, _ := a.Dims()
	_, n := b.Dims()
	h := c.newRemote(m, n)
	text, x, y := h.semiring(a.Type(), b.Type()), h.operand(a), h.operand(b)
	h.refuseShift(c.ring.pos() == semiring.PositionI)
	if h.err != nil {
		return h.err
	}
	if err := c.remoteMethod(h, c.t.dest.mask != nil && !c.t.view.Complement, x, y); err != nil {
		return err
	}
	return h.store(h.at.MxM(h.call(), h.dest, text, x, y))
}

// remoteMethod returns a *MethodError for a forced method of MxM that does not apply.
func (c *call) remoteMethod(h *remoteCall, masked bool, a, b device.Operand) error {
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
func (c *call) remoteMxV(flip bool, a, u rep.View) error {
	m, _ := a.Dims()
	first, second := a.Type(), u.Type()
	if flip {
		first, second = second, first
	}
	if c.recorded() {
		return c.listed(pass.Product, record.KeyOf(unsafe.Pointer(c.ring.Ring), a, u).With(flip), func(h *remoteCall, s *pass.Step) {
			s.Ring, s.A, s.B, s.Flip = h.semiring(first, second), h.use(a), h.use(u), flip
		}, func() error { return c.remoteMxV(flip, a, u) })
	}
	h := c.newRemote(1, m)
	text, x, y := h.semiring(first, second), h.operand(a), h.operand(u)
	h.refuseShift(!flip && c.ring.pos() == semiring.PositionI || flip && c.ring.pos() == semiring.PositionJ)
	if h.err != nil {
		return h.err
	}
	return h.store(h.at.MxV(h.call(), h.dest, text, flip, x, y))
}

// remoteEWise runs an element-wise operation; alpha and beta are single values.
func (c *call) remoteEWise(how device.Pair, f *operator, a, b rep.View, alpha, beta sparse.Values) error {
	if c.t.vector && c.recorded() {
		op, key := *f, record.KeyOf(unsafe.Pointer(f.k), a, b)
		if key.How = how; how == device.Filled {
			key = key.Value(0, a.Type(), alpha).Value(1, b.Type(), beta)
		}
		return c.listed(pass.EWise, key, func(h *remoteCall, s *pass.Step) {
			s.How, s.Func, s.A, s.B = how, h.binary(&op, a.Type(), b.Type(), c.t.c), h.use(a), h.use(b)
			if how == device.Filled {
				s.X, s.Y = pass.Given(h.scalar(a.Type(), alpha)), pass.Given(h.scalar(b.Type(), beta))
			}
		}, func() error { return c.remoteEWise(how, &op, a, b, alpha, beta) })
	}
	m, n := a.Dims()
	h := c.newRemote(m, n)
	text, x, y := h.binary(f, a.Type(), b.Type(), c.t.c), h.operand(a), h.operand(b)
	left, right := h.scalar(a.Type(), alpha), h.scalar(b.Type(), beta)
	if h.err != nil {
		return h.err
	}
	return h.store(h.at.EWise(h.call(), h.dest, how, text, x, y, left, right))
}

// apply applies an operator given as CUDA text.
func (h *remoteCall) apply(f device.Func, a rep.View, y *device.Scalar, first bool) error {
	x := h.operand(a)
	if h.err != nil {
		return h.err
	}
	return h.store(h.at.Apply(h.call(), h.dest, f, x, y, first))
}

// applied is the step of an operator that is applied to each entry, with an argument of one value.
func (c *call) applied(key record.Key, f func(h *remoteCall) device.Func, a rep.View, y func(h *remoteCall) pass.Bound, first bool, run func() error) error {
	return c.listed(pass.Apply, key.With(first), func(h *remoteCall, s *pass.Step) {
		s.Func, s.A, s.X, s.First = f(h), h.use(a), y(h), first
	}, run)
}

// newRemoteAssign is newRemote for assignments, which always read the destination.
func (c *call) newRemoteAssign(m, n int) *remoteCall {
	if c.t.vector {
		m = 1
	}
	h := c.newRemote(m, n)
	if h.err == nil && h.dest.Store == nil {
		h.dest.Store, h.err = c.t.m.RemoteOn(c.t.at)
	}
	return h
}

func (c *call) remoteAssign(v rep.View, rows, cols cpu.Indices) error {
	h := c.newRemoteAssign(c.t.m.Dims())
	x := h.operand(v)
	if h.err != nil {
		return h.err
	}
	return h.store(h.at.Assign(h.call(), h.dest, x, indicesOf(rows), indicesOf(cols)))
}
