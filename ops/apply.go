package ops

import (
	"errors"
	"fmt"
	"reflect"
	"unsafe"

	"github.com/hiveblas/hiveblas/comm"
	"github.com/hiveblas/hiveblas/internal/cpu"
	"github.com/hiveblas/hiveblas/internal/device"
	"github.com/hiveblas/hiveblas/internal/pass"
	"github.com/hiveblas/hiveblas/internal/record"
	"github.com/hiveblas/hiveblas/internal/rep"
	"github.com/hiveblas/hiveblas/internal/sparse"
	"github.com/hiveblas/hiveblas/matrix"
	"github.com/hiveblas/hiveblas/semiring"
)

// noBound is no argument of one value.
func noBound(*remoteCall) pass.Bound { return pass.NoBound }

// single checks the operand of an operation on one matrix or vector. invalid is the error of the
// operator, from checkOperator.
func (c *call) single(d dest, a rep.View, invalid error) (*target, error) {
	if invalid != nil {
		return nil, invalid
	}
	if err := c.operand("a", a); err != nil {
		return nil, err
	}
	m, n := a.Dims()
	if err := c.sameKind(a.Vector, &d, m, n); err != nil {
		return nil, err
	}
	return c.prepare(d, m, n)
}

// mapped runs a map on the host.
func (c *call) mapped(v rep.View, k *cpu.Unary) error {
	t, st := &c.t, v.Oriented()
	c.traced("map", st.NVals)
	if k.Copies && !t.accum.given && t.holds(st) {
		return c.restrict()
	}
	if t.mask != nil && !t.mask.Comp && t.mask.S.Sparse() && !st.Sparse() {
		st = cpu.Lookup(st.Valued(), t.mask.S) // keep only the entries that the mask allows
	}
	if old := t.m.Stored(); t.accum.given && t.mask == nil && st.Format == sparse.Full && old.Format == sparse.Full &&
		c.env().InPlace(k.User || t.accum.k.User, old.Val.Len()) {
		cpu.ApplyInto(c.env(), old, st, k.Map, t.accum.k)
		return c.keep(old)
	}
	out, err := cpu.Apply(c.env(), t.c, st, k.Map, k.User, c.over(k.User))
	if err != nil {
		return err
	}
	return c.write(out, false)
}

// restrict computes c⟨M⟩ = c. With Replace it deletes the entries that the mask excludes; without
// Replace it changes nothing.
func (c *call) restrict() error {
	t := &c.t
	st := t.m.Stored()
	if t.mask == nil || !t.replace {
		return c.keep(st)
	}
	out, err := cpu.Restrict(c.env(), st, t.mask)
	if err != nil {
		return err
	}
	return c.keep(out)
}

// Apply computes C⟨M⟩ ⊕= f(A), entry by entry, for matrices and vectors. It takes O(entries) time
// and shares the structure of A instead of copying it. It returns the same errors as [MxM].
//
// With [semiring.Identity] and a mask, Apply(w.Masked(m.Not()).Replace(), id,
// w) deletes from w the entries at the positions of m. It takes O(entries of m) time if w is a
// bitmap, and O(entries of w and m) otherwise.
func Apply[A, C comparable](dst matrix.Destination[C], f semiring.UnaryOp[A, C], a matrix.Operand[A], opts ...Option) error {
	return applyOf(dst, f.Inside(), a, opts)
}

func applyOf(dst any, op *cpu.UnaryOperator, a any, opts []Option) error {
	return begin("Apply", op.Name, opts).apply(destOf(dst), op, viewOf(a))
}

func (c *call) apply(d dest, f *cpu.UnaryOperator, a rep.View) error {
	t, err := c.single(d, a, c.checkOperator(f.Unary != nil, semiring.NotPositional))
	if err != nil {
		return err
	}
	if t.at != nil {
		text := func(h *remoteCall) device.Func {
			h.needsText("operator", f.Name, f.CUDA)
			return device.Func{Name: f.Name, Text: f.CUDA, X: h.typeOf(a.Type()), Out: h.typeOf(t.c), UsesX: true}
		}
		if t.vector && c.recorded() {
			return c.applied(record.KeyOf(unsafe.Pointer(f), a), text, a, noBound, false, func() error { return c.apply(d, f, a) })
		}
		h := c.newRemote(a.Dims())
		return h.apply(text(h), a, nil, false)
	}
	if t.group != nil {
		return c.on(t.group).groupOne(a, func(b block, d dest, a rep.View) error { return b.call(c).apply(d, f, a) })
	}
	return c.mapped(a, f.Unary)
}

// copied is apply of the identity.
func (c *call) copied(d dest, a rep.View) error {
	t := a.Type()
	return c.apply(d, &cpu.UnaryOperator{Unary: &cpu.Unary{Map: t.Copy, Copies: true}, Name: "identity", CUDA: "x"}, a)
}

// ApplyFirst computes C⟨M⟩ ⊕= op(x, A), with the first argument of the operator bound to the scalar
// x.
func ApplyFirst[A, B, C comparable](dst matrix.Destination[C], op semiring.Operator[A, B, C], x A, a matrix.Operand[B], opts ...Option) error {
	return applyBoundOf("ApplyFirst", dst, insideOf(op), sparse.TypeOf[A](), sparse.ValuesOf([]A{x}), a, opts)
}

// applyBoundOf is ApplyFirst or ApplySecond of a single value x.
func applyBoundOf(name string, dst any, op *cpu.Operator, t *sparse.Type, x sparse.Values, a any, opts []Option) error {
	f := operatorIn(op)
	return begin(name, f.name, opts).applyBound(destOf(dst), f, t, x, name == "ApplyFirst", viewOf(a))
}

// applyBound applies an operator with one argument bound to x, a single value of a type: the first
// argument if first is set.
func (c *call) applyBound(d dest, f operator, bound *sparse.Type, x sparse.Values, first bool, a rep.View) error {
	t, err := c.single(d, a, c.checkOperator(f.valid, f.pos))
	if err != nil {
		return err
	}
	if t.at != nil {
		text := func(h *remoteCall) device.Func {
			left, right := a.Type(), bound
			if first {
				left, right = right, left
			}
			return h.binary(&f, left, right, t.c)
		}
		if t.vector && c.recorded() {
			return c.applied(record.KeyOf(unsafe.Pointer(f.k), a).Value(0, bound, x), text, a, func(h *remoteCall) pass.Bound { return pass.Given(h.scalar(bound, x)) }, first,
				func() error { return c.applyBound(d, f, bound, x, first, a) })
		}
		h := c.newRemote(a.Dims())
		y := h.scalar(bound, x)
		return h.apply(text(h), a, &y, first)
	}
	if t.group != nil {
		return c.on(t.group).groupOne(a, func(b block, d dest, a rep.View) error { return b.call(c).applyBound(d, f, bound, x, first, a) })
	}
	loop := func(c, v sparse.Values) { f.k.BindY(c, v, x.Pointer()) }
	if first {
		loop = func(c, v sparse.Values) { f.k.BindX(c, x.Pointer(), v) }
	}
	return c.mapped(a, &cpu.Unary{Map: loop, User: f.k.User})
}

// ApplySecond computes C⟨M⟩ ⊕= op(A, y), with the second argument of the operator bound to the
// scalar y.
func ApplySecond[A, B, C comparable](dst matrix.Destination[C], op semiring.Operator[A, B, C], a matrix.Operand[A], y B, opts ...Option) error {
	return applyBoundOf("ApplySecond", dst, insideOf(op), sparse.TypeOf[B](), sparse.ValuesOf([]B{y}), a, opts)
}

// ApplyIndex computes C⟨M⟩ ⊕= f(A(i,j), i, j), entry by entry. For a vector, i is the position and
// j is 0.
func ApplyIndex[A, C comparable](dst matrix.Destination[C], f semiring.IndexOp[A, C], a matrix.Operand[A], opts ...Option) error {
	return applyIndexOf(dst, f.Inside(), a, opts)
}

func applyIndexOf(dst any, op *cpu.IndexOperator, a any, opts []Option) error {
	return begin("ApplyIndex", op.Name, opts).applyIndex(destOf(dst), op, viewOf(a))
}

func (c *call) applyIndex(d dest, f *cpu.IndexOperator, a rep.View) error {
	t, err := c.single(d, a, c.checkOperator(f.Index != nil, semiring.NotPositional))
	if err != nil {
		return err
	}
	if t.at != nil {
		text := func(h *remoteCall) device.Func {
			h.needsText("operator", f.Name, f.CUDA)
			return device.Func{Name: f.Name, Text: c.shifted(f.CUDA), X: h.typeOf(a.Type()), Out: h.typeOf(t.c), UsesX: f.UsesValue}
		}
		if t.vector && c.recorded() {
			return c.applied(record.KeyOf(unsafe.Pointer(f), a), text, a, noBound, false, func() error { return c.applyIndex(d, f, a) })
		}
		h := c.newRemote(a.Dims())
		return h.apply(text(h), a, nil, false)
	}
	if t.group != nil {
		return c.on(t.group).groupOne(a, func(b block, d dest, a rep.View) error { return b.call(c).applyIndex(d, f, a) })
	}
	st := a.Oriented()
	// A vector is stored as a row.
	out, err := cpu.ApplyIndex(c.env(), t.c, st, f.Index, c.local.shift, t.vector)
	if err != nil {
		return err
	}
	c.traced("map", st.NVals)
	return c.write(out, false)
}

// Select computes C⟨M⟩ ⊕= the entries of A for which the predicate is true, with their values. It
// applies to matrices and vectors; for a vector, i is the position and j is 0. It takes O(entries)
// time; Tril, Triu, DiagSelect and Offdiag search in each row instead. It returns the same errors
// as [MxM].
func Select[T comparable](dst matrix.Destination[T], f semiring.SelectOp[T], a matrix.Operand[T], opts ...Option) error {
	return selectOf(dst, f.Inside(), a, opts)
}

func selectOf(dst any, op *cpu.SelectOperator, a any, opts []Option) error {
	return begin("Select", op.Name, opts).choose(destOf(dst), op, viewOf(a))
}

// choose is Select.
func (c *call) choose(d dest, f *cpu.SelectOperator, a rep.View) error {
	t, err := c.single(d, a, c.checkOperator(f.Predicate != nil, semiring.NotPositional))
	if err != nil {
		return err
	}
	if t.at != nil {
		predicate := func(h *remoteCall) device.Func {
			h.needsText("predicate", f.Name, f.CUDA)
			return device.Func{Name: f.Name, Text: c.shifted(f.CUDA), X: h.typeOf(t.c), UsesX: f.UsesValue}
		}
		if t.vector && c.recorded() {
			return c.listed(pass.Select, record.KeyOf(unsafe.Pointer(f), a), func(h *remoteCall, s *pass.Step) {
				s.Func, s.A = predicate(h), h.use(a)
				if f.Bound != nil {
					s.X = pass.Given(device.Scalar{Type: h.typeOf(t.c), P: f.Bound})
				}
			}, func() error { return c.choose(d, f, a) })
		}
		h := c.newRemote(a.Dims())
		text := predicate(h)
		x := h.operand(a)
		if h.err != nil {
			return h.err
		}
		var y *device.Scalar
		if f.Bound != nil {
			y = &device.Scalar{Type: h.typeOf(t.c), P: f.Bound}
		}
		return h.store(h.at.Select(h.call(), h.dest, text, x, y))
	}
	if t.group != nil {
		return c.on(t.group).groupOne(a, func(b block, d dest, a rep.View) error { return b.call(c).choose(d, f, a) })
	}
	st, symmetric := a.Oriented(), a.Symmetric() && t.plain() && f.Symmetric() && c.local.shift == 0
	out, err := cpu.Select(c.env(), st, f.Predicate, c.local.shift, t.vector) // a vector is stored as a row
	if err != nil {
		return err
	}
	c.traced("select", st.NVals)
	if err = c.write(out, false); err == nil && symmetric {
		t.m.OnGroup().MarkSymmetric()
	}
	return err
}

// Transpose computes C⟨M⟩ ⊕= Aᵀ in O(entries + rows + columns) time. The operand A.T() costs
// nothing until an operation needs it. Transpose(C, A.T()) copies A.
func Transpose[T comparable](dst matrix.Target[T], a matrix.Source[T], opts ...Option) error {
	return begin("Transpose", "", opts).transpose(destOf(dst), viewOf(a))
}

func (c *call) transpose(d dest, a rep.View) error {
	if err := c.operand("a", a); err != nil {
		return err
	}
	m, n := a.Dims()
	t, err := c.prepare(d, n, m)
	if err != nil {
		return err
	}
	if t.at != nil {
		h := c.newRemote(n, m)
		x := h.operand(a)
		if h.err != nil {
			return h.err
		}
		return h.store(h.at.Transpose(h.call(), h.dest, x))
	}
	if t.group != nil {
		return c.on(t.group).groupOne(a.T(), func(b block, d dest, a rep.View) error { return b.call(c).transpose(d, a.T()) })
	}
	st := a.Stored()
	switch {
	case a.Transposed:
		st = st.Own()
	case st.Sparse() && a.HasCols():
		st = a.Cols().Own()
	default:
		st = st.Transpose(c.env().Threads)
	}
	c.traced("transpose", st.NVals)
	return c.write(st.Valued(), false)
}

// Reduce computes w⟨m⟩ ⊕= the sum of each row of A over the monoid. With A.T() it sums the columns.
// A row without entries gives no entry. A has values of the type of the monoid, or is a pattern
// with entries of 1: Reduce(w, semiring.Plus[int64](), A.Pattern()) is the number of entries of
// each row. The order of a float sum is fixed for a given number of threads. Reduce takes
// O(entries) time and returns the same errors as [MxM], and a *matrix.InvalidError for values of
// another type.
func Reduce[T, S comparable](dst matrix.VectorTarget[T], m semiring.Monoid[T], a matrix.Source[S], opts ...Option) error {
	return reduceOf(dst, m.Inside(), a, opts)
}

func reduceOf(dst any, sum *cpu.Sum, a any, opts []Option) error {
	m := monoidOf(sum)
	return begin("Reduce", m.op.name, opts).reduce(destOf(dst), m, viewOf(a))
}

func (c *call) reduce(d dest, m monoid, a rep.View) error {
	if err := c.validMonoid(&m); err != nil {
		return err
	}
	if err := c.operand("a", a); err != nil {
		return err
	}
	if d.m != nil {
		if err := c.summable(d.m.Type(), a); err != nil {
			return err
		}
	}
	rows, _ := a.Dims()
	t, err := c.prepare(d, 1, rows)
	if err != nil {
		return err
	}
	if t.at != nil {
		h := c.newRemote(1, rows)
		text, x := h.monoid(&m, t.c), h.operand(a)
		if h.err != nil {
			return h.err
		}
		return h.store(h.at.Reduce(h.call(), h.dest, text, x))
	}
	if t.group != nil {
		return c.on(t.group).groupReduce(m, a)
	}
	var out *sparse.Store
	if a.Transposed && !a.HasRows() {
		out, err = cpu.ReduceCols(c.env(), ofType(a.Stored(), t.c), m.k, m.op.k)
	} else {
		st := a.Stored()
		if a.Transposed {
			st = a.Rows()
		}
		out, err = cpu.ReduceRows(c.env(), ofType(st, t.c), m.k)
	}
	if err != nil {
		return err
	}
	c.traced("reduce", a.NVals())
	return c.write(out, false)
}

// validMonoid returns an error for a monoid that is not valid.
func (c *call) validMonoid(m *monoid) error {
	if m.k == nil {
		return &OperatorError{c.op, "the monoid is the zero value; make it with a constructor of package semiring"}
	}
	return nil
}

// summable returns an error unless a has values of t, or is a pattern with entries of 1 in t.
func (c *call) summable(t *sparse.Type, a rep.View) error {
	if sparse.Same(a.Type(), t) {
		return nil
	}
	if !a.IsPattern() {
		return &matrix.InvalidError{Op: c.op, Reason: fmt.Sprintf(
			"a has values of %v and the monoid is of %v; convert a by ops.Apply with semiring.Convert, or count its entries by a.Pattern()", a.Type(), t)}
	}
	if k := sparse.GoType(t).Kind(); k < reflect.Bool || k > reflect.Float64 {
		return &matrix.InvalidError{Op: c.op, Reason: fmt.Sprintf("the entries of a pattern are numbers or true, and the monoid is of %v", t)}
	}
	return nil
}

// ofType returns a store of t: s itself, or the structure of a pattern.
func ofType(s *sparse.Store, t *sparse.Type) *sparse.Store {
	if sparse.Same(s.Type, t) {
		return s
	}
	return &sparse.Store{Structure: s.Structure, Type: t}
}

// ReduceScalar returns the sum of all entries of a matrix or vector over the monoid, or the
// identity if there are no entries. The order of the sum is the same for every number of threads.
// It takes O(entries) time. The result is on the host. A matrix on a device is summed there if the
// monoid has a CUDA form; otherwise it is copied to the host, once.
func ReduceScalar[T comparable](m semiring.Monoid[T], a matrix.Operand[T], opts ...Option) (sum T, err error) {
	at, err := reduceScalarOf(m.Inside(), a, sparse.TypeOf[T](), opts)
	return *(*T)(at), err
}

// reduceScalarOf returns the address of the sum of the values, of type t: in the call if there is
// room.
func reduceScalarOf(sum *cpu.Sum, a any, t *sparse.Type, opts []Option) (cpu.Value, error) {
	m := monoidOf(sum)
	c := begin("ReduceScalar", m.op.name, opts)
	at := unsafe.Pointer(&c.word)
	if !t.Plain || t.Size > int64(unsafe.Sizeof(c.word)) {
		at = t.Zeroed(1).Pointer()
	}
	return at, c.reduceScalar(m, viewOf(a), t, at)
}

// reduceScalar writes the sum of the values, of type t, to sum.
func (c *call) reduceScalar(m monoid, v rep.View, t *sparse.Type, sum cpu.Value) error {
	if err := c.validMonoid(&m); err != nil {
		return err
	}
	if err := c.methodless(); err != nil {
		return err
	}
	if err := c.operand("a", v); err != nil {
		return err
	}
	if b := device.Of(v.Place()); b != nil {
		h := &remoteCall{c: c, at: b}
		text, x := h.monoid(&m, t), h.operand(v)
		if h.err == nil {
			ran, err := b.ReduceScalar(h.call(), text, x, sum)
			if err == nil {
				c.ran = &Trace{Op: c.op, Name: c.name, Method: Method(ran.Method), Place: b.Place().String(),
					Work: ran.Work}
				c.emit(0)
			}
			return err
		}
		if !errors.Is(h.err, ErrOperator) {
			return h.err
		}
		// The result is on the host, so the host computes the sum of a monoid without a CUDA form.
	}
	if c.ctx != nil && c.ctx.Err() != nil {
		return c.ctx.Err()
	}
	if g, ok := v.Place().(*comm.Group); ok && g.Size() > 0 {
		return c.on(g).groupReduceScalar(g, m, v, sum)
	}
	if err := c.fetch(); err != nil {
		return err
	}
	c.traced("reduce", v.NVals())
	err := cpu.ReduceAll(c.env(), v.Stored(), m.k, sum)
	if err == nil {
		c.emit(0)
	}
	return err
}
