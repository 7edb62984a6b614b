package ops

import (
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

// This file has the operations that write a scalar or take one as an argument. See matrix.Scalar.

// nextCall returns a call of another operation with the settings of c, outside of a loop.
func (c *call) nextCall() *call {
	out := c.step(c.op)
	out.name, out.loop = c.name, nil
	return out
}

// ReduceInto computes s ⊕= the sum of all entries of a matrix or vector over the monoid, and no
// value if there are no entries. The destination is a *matrix.Scalar or a vector of size 1. The sum
// equals the sum of [ReduceScalar] and stays at the place of the destination.
func ReduceInto[T comparable](dst matrix.VectorTarget[T], m semiring.Monoid[T], a matrix.Operand[T], opts ...Option) error {
	return begin("ReduceInto", m.Name(), opts).reduceInto(destOf(dst), monoidOf(m.Inside()), viewOf(a))
}

func (c *call) reduceInto(d dest, m monoid, a rep.View) error {
	if err := c.validMonoid(&m); err != nil {
		return err
	}
	if err := c.operand("a", a); err != nil {
		return err
	}
	t, err := c.prepare(d, 1, 1)
	if err != nil {
		return err
	}
	if t.at != nil && a.Vector && c.recorded() {
		return c.listed(pass.Reduce, record.KeyOf(unsafe.Pointer(m.k), a), func(h *remoteCall, s *pass.Step) {
			s.Monoid, s.A = h.monoid(&m, t.c), h.use(a)
		}, func() error { return c.reduceInto(d, m, a) })
	}
	if a.NVals() == 0 {
		if err := a.Err(); err != nil {
			return err
		}
		return c.nextCall().assignVector("idx", d, noEntries(t.c, 1), All())
	}
	sum := t.c.Zeroed(1)
	in := c.nextCall()
	in.trace, in.traces = nil, nil
	if err := in.reduceScalar(m, a, t.c, sum.Pointer()); err != nil {
		return err
	}
	return c.nextCall().assignVectorScalar(d, sum, All())
}

// noEntries is a vector of n positions without entries.
func noEntries(t *sparse.Type, n int) rep.View {
	return rep.View{Matrix: newOf(sparse.Empty(t, 1, n)), Vector: true}
}

// CountInto computes s ⊕= the number of entries of a matrix or vector. The destination is a
// *matrix.Scalar or a vector of size 1.
func CountInto[T comparable](dst matrix.VectorTarget[int64], a matrix.Operand[T], opts ...Option) error {
	return begin("CountInto", "", opts).countInto(destOf(dst), viewOf(a))
}

func (c *call) countInto(d dest, a rep.View) error {
	if err := c.operand("a", a); err != nil {
		return err
	}
	t, err := c.prepare(d, 1, 1)
	if err != nil {
		return err
	}
	if t.at != nil && a.Vector && c.recorded() {
		return c.listed(pass.Count, record.KeyOf(nil, a), func(h *remoteCall, s *pass.Step) { s.A = h.use(a) },
			func() error { return c.countInto(d, a) })
	}
	n := a.NVals()
	if err := a.Err(); err != nil {
		return err
	}
	return c.nextCall().assignVectorScalar(d, sparse.ValuesOf([]int64{n}), All())
}

// value returns the value of a scalar on the host, none if it has none.
func (c *call) value(x rep.View) (sparse.Values, error) {
	if err := c.operand("the scalar", x); err != nil {
		return sparse.Values{}, err
	}
	st := x.Stored()
	if err := x.Err(); err != nil {
		return sparse.Values{}, err
	}
	at, ok := st.Valued().Has(0, 0)
	if !ok {
		return sparse.Values{}, nil
	}
	return st.Part(at, at+1), nil
}

// AssignVectorFrom is [AssignVectorScalar] of the value of a scalar. A scalar without a value
// assigns no entries: it deletes the entries within idx and the mask.
func AssignVectorFrom[T comparable](dst matrix.VectorTarget[T], x *matrix.Scalar[T], idx Indices, opts ...Option) error {
	c := begin("AssignVectorFrom", "", opts)
	return c.done(c.assignVectorFrom(destOf(dst), x.Inside(), idx))
}

func (c *call) assignVectorFrom(d dest, x rep.View, idx Indices) error {
	_, n := d.dims()
	t, err := c.prepare(d, 1, n)
	if err != nil {
		return err
	}
	if err := c.operand("x", x); err != nil {
		return err
	}
	if t.at != nil && idx.all && !c.region && placeOf(x.Matrix) == placeOf(t.m) && c.recorded() {
		return c.listed(pass.Fill, record.KeyOf(nil, x), func(h *remoteCall, s *pass.Step) { s.X = h.value(x) },
			func() error { return c.assignVectorFrom(d, x, idx) })
	}
	v, err := c.value(x)
	switch {
	case err != nil:
		return err
	case !v.None():
		return c.nextCall().assignVectorScalar(d, v, idx)
	}
	list, err := idx.distinct(c, "idx", n, d.place())
	if err != nil {
		return err
	}
	return c.nextCall().assignVector("idx", d, noEntries(t.c, list.N), idx)
}

// AssignFrom is [AssignScalar] of the value of a scalar; see [AssignVectorFrom].
func AssignFrom[T comparable](dst matrix.Target[T], x *matrix.Scalar[T], rows, cols Indices, opts ...Option) error {
	return begin("AssignFrom", "", opts).assignFrom(destOf(dst), x.Inside(), rows, cols)
}

func (c *call) assignFrom(d dest, x rep.View, rows, cols Indices) error {
	m, n := d.dims()
	t, err := c.prepare(d, m, n)
	if err != nil {
		return err
	}
	v, err := c.value(x)
	switch {
	case err != nil:
		return err
	case !v.None():
		return c.nextCall().assignScalar(d, v, rows, cols)
	}
	ri, err := rows.distinct(c, "rows", m, d.place())
	if err != nil {
		return err
	}
	ci, err := cols.distinct(c, "cols", n, d.place())
	if err != nil {
		return err
	}
	return c.nextCall().assign(d, rep.View{Matrix: newOf(sparse.Empty(t.c, ri.N, ci.N))}, rows, cols)
}

// ApplyFirstFrom is [ApplyFirst] of the value of a scalar. Without a value the result has no
// entries.
func ApplyFirstFrom[A, B, C comparable](dst matrix.Destination[C], op semiring.Operator[A, B, C], x *matrix.Scalar[A], a matrix.Operand[B], opts ...Option) error {
	f := operatorIn(insideOf(op))
	return begin("ApplyFirstFrom", f.name, opts).applyFrom(destOf(dst), f, x.Inside(), true, viewOf(a))
}

// ApplySecondFrom is [ApplySecond] of the value of a scalar. Without a value the result has no
// entries.
func ApplySecondFrom[A, B, C comparable](dst matrix.Destination[C], op semiring.Operator[A, B, C], a matrix.Operand[A], y *matrix.Scalar[B], opts ...Option) error {
	f := operatorIn(insideOf(op))
	c := begin("ApplySecondFrom", f.name, opts)
	return c.done(c.applyFrom(destOf(dst), f, y.Inside(), false, viewOf(a)))
}

// applyFrom is applyBound of the value of a scalar.
func (c *call) applyFrom(d dest, f operator, x rep.View, first bool, a rep.View) error {
	t, err := c.single(d, a, c.checkOperator(f.valid, f.pos))
	if err != nil {
		return err
	}
	if err := c.operand("the scalar", x); err != nil {
		return err
	}
	if t.at != nil && t.vector && placeOf(x.Matrix) == placeOf(t.m) && c.recorded() {
		return c.applied(record.KeyOf(unsafe.Pointer(f.k), a, x), func(h *remoteCall) device.Func {
			left, right := a.Type(), x.Type()
			if first {
				left, right = right, left
			}
			return h.binary(&f, left, right, t.c)
		}, a, func(h *remoteCall) pass.Bound { return h.value(x) }, first,
			func() error { return c.applyFrom(d, f, x, first, a) })
	}
	v, err := c.value(x)
	if err != nil {
		return err
	}
	if v.None() {
		return c.nextCall().withoutEntries(d, a)
	}
	return c.nextCall().applyBound(d, f, x.Type(), v, first, a)
}

// withoutEntries is an operation on a with a result without entries.
func (c *call) withoutEntries(d dest, a rep.View) error {
	none := noEntries(d.m.Type(), 0)
	m, n := a.Dims()
	none.Matrix, none.Vector = newOf(sparse.Empty(d.m.Type(), m, n)), a.Vector
	return c.copied(d, none)
}

// SelectFrom computes C⟨M⟩ ⊕= the entries x of A for which op(x, y) is true, with y the value of a
// scalar. Without a value the result has no entries.
func SelectFrom[T comparable](dst matrix.Destination[T], op semiring.Operator[T, T, bool], a matrix.Operand[T], y *matrix.Scalar[T], opts ...Option) error {
	f := operatorIn(insideOf(op))
	c := begin("SelectFrom", f.name, opts)
	return c.done(c.selectFrom(destOf(dst), f, y.Inside(), viewOf(a)))
}

func (c *call) selectFrom(d dest, f operator, y rep.View, a rep.View) error {
	t, err := c.single(d, a, c.checkOperator(f.valid, f.pos))
	if err != nil {
		return err
	}
	if err := c.operand("the scalar", y); err != nil {
		return err
	}
	if t.at != nil && t.vector && placeOf(y.Matrix) == placeOf(t.m) && c.recorded() {
		return c.listed(pass.Select, record.KeyOf(unsafe.Pointer(f.k), a, y), func(h *remoteCall, s *pass.Step) {
			h.needsText("operator", f.name, f.cuda)
			s.Func = device.Func{Name: f.name, Text: f.cuda, X: h.typeOf(t.c), UsesX: f.k.UsesX}
			s.A, s.X = h.use(a), h.value(y)
		}, func() error { return c.selectFrom(d, f, y, a) })
	}
	v, err := c.value(y)
	if err != nil {
		return err
	}
	if v.None() {
		return c.nextCall().withoutEntries(d, a)
	}
	k := &cpu.Predicate{ByValue: true, UsesValue: true, User: f.k.User, Bound: v.Pointer()}
	k.Keep = func(keep []uint8, vals sparse.Values, _ int, _ []int32, _ int, _ bool) {
		if len(keep) > 0 {
			f.k.BindY(sparse.ValuesOf(unsafe.Slice((*bool)(unsafe.Pointer(&keep[0])), len(keep))), vals, v.Pointer())
		}
	}
	return c.nextCall().choose(d, &cpu.SelectOperator{Predicate: k, Name: f.name, CUDA: f.cuda}, a)
}

// Swap exchanges the contents of two matrices, two vectors or two scalars of the same shape and
// place, in O(1). In the body of a loop it takes the place of an assignment of Go variables, which
// the list of the loop does not see; see [Steps.While].
func Swap[T comparable](x, y matrix.Destination[T], opts ...Option) error {
	return begin("Swap", "", opts).swap(destOf(x), destOf(y))
}

func (c *call) swap(x, y dest) error {
	if y.m == nil {
		return c.isNil("y")
	}
	for _, d := range []*dest{&x, &y} {
		if d.mask != nil || d.accum.given || d.replace {
			return &matrix.InvalidError{Op: c.op, Reason: "it takes whole matrices; leave out masks, accumulators and Replace"}
		}
	}
	m, n := y.dims()
	t, err := c.prepare(x, m, n)
	if err != nil {
		return err
	}
	if err := y.m.Err(); err != nil {
		return err
	}
	if x.vector != y.vector {
		return c.dim("y", shapeOf(y.vector, m, n), shapeOf(x.vector, m, n), "exchange two vectors or two matrices")
	}
	if placeOf(x.m) != placeOf(y.m) {
		return &matrix.InvalidError{Op: c.op, Reason: "x and y are at different places; move one"}
	}
	if t.at != nil && t.vector && c.recorded() {
		v := rep.View{Matrix: y.m, Vector: true}
		return c.listed(pass.Swap, record.KeyOf(nil, v), func(h *remoteCall, s *pass.Step) { s.A = h.use(v) },
			func() error { return c.swap(x, y) })
	}
	return x.m.Exchange(y.m)
}
