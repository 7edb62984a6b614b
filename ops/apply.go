package ops

import (
	"errors"
	"fmt"
	"reflect"
	"unsafe"

	"github.com/hiveblas/hiveblas/comm"
	"github.com/hiveblas/hiveblas/internal/access"
	"github.com/hiveblas/hiveblas/internal/cpu"
	"github.com/hiveblas/hiveblas/internal/device"
	"github.com/hiveblas/hiveblas/internal/sparse"
	"github.com/hiveblas/hiveblas/matrix"
	"github.com/hiveblas/hiveblas/semiring"
)

// single checks the operand of an operation on one matrix or vector. invalid is the error of the
// operator, from checkOperator.
func single[A, C comparable](c *call, spec matrix.Spec[C], a matrix.Operand[A], invalid error) (t *target[C], v matrix.View[A], err error) {
	if invalid != nil {
		return nil, v, invalid
	}
	if v, err = operand(c, "a", a); err != nil {
		return nil, v, err
	}
	m, n := v.Dims()
	if err := sameKind(c, v.IsVector(), spec, m, n); err != nil {
		return nil, v, err
	}
	t, err = prepare(c, spec, m, n)
	return t, v, err
}

// applyHost runs a map on the host. k.Copies reports that it copies its operand.
func applyHost[A, C comparable](c *call, t *target[C], v matrix.View[A], k *cpu.Unary[A, C]) error {
	st := oriented(v)
	c.traced("map", st.NVals)
	if k.Copies && t.spec.Accum == nil && holds(t, st) {
		return restrict(c, t)
	}
	if t.mask != nil && !t.mask.Comp && t.mask.S.Sparse() && !st.Sparse() {
		st = cpu.Lookup(valued(st), t.mask.S) // keep only the entries that the mask allows
	}
	out, err := cpu.Apply(c.env(), st, k.Map, k.User, truth[A](), t.room(k.User))
	if err != nil {
		return err
	}
	return write(c, t, out, false)
}

// restrict computes c⟨M⟩ = c. With Replace it deletes the entries that the mask excludes; without
// Replace it changes nothing.
func restrict[C comparable](c *call, t *target[C]) error {
	st := access.Store(t.spec.Matrix)
	if t.mask == nil || !t.spec.Replace {
		return keep(c, t, st)
	}
	out, err := cpu.Restrict(c.env(), st, t.mask)
	if err != nil {
		return err
	}
	return keep(c, t, out)
}

// Apply computes C⟨M⟩ ⊕= f(A), entry by entry, for matrices and vectors. It takes O(entries) time
// and shares the structure of A instead of copying it. It returns the same errors as [MxM].
//
// With [semiring.Identity] and a mask, Apply(w.Masked(m.Not()).Replace(), id,
// w) deletes from w the entries at the positions of m. It takes O(entries of m) time if w is a
// bitmap, and O(entries of w and m) otherwise.
func Apply[A, C comparable](dst matrix.Destination[C], f semiring.UnaryOp[A, C], a matrix.Operand[A], opts ...Option) error {
	c := begin[C]("Apply", f.Name(), opts)
	t, v, err := single(c, specOf(dst), a, c.checkOperator(f.Valid(), semiring.NotPositional))
	if err != nil {
		return err
	}
	if t.at != nil {
		m, n := v.Dims()
		h := newRemoteCall(c, t, m, n)
		h.needsText("operator", f.Name(), f.CUDA())
		text := device.Func{Name: f.Name(), Text: f.CUDA(), X: typeOf[A](h), Out: typeOf[C](h),
			UsesX: true}
		return remoteApply(h, t, text, v, nil, false)
	}
	if t.group != nil {
		return groupOne(c, t, v, func(b block, dst groupDest[C], a matrix.View[A]) error {
			return Apply(dst.any(), f, operandOf(a), b.opts)
		})
	}
	k := access.Unary(f)
	return applyHost(c, t, v, k)
}

// ApplyFirst computes C⟨M⟩ ⊕= op(x, A), with the first argument of the operator bound to the scalar
// x.
func ApplyFirst[A, B, C comparable](dst matrix.Destination[C], op semiring.Operator[A, B, C], x A, a matrix.Operand[B], opts ...Option) error {
	f := opOf(op)
	c := begin[C]("ApplyFirst", f.Name(), opts)
	t, v, err := single(c, specOf(dst), a, c.checkOperator(f.Valid(), f.Position()))
	if err != nil {
		return err
	}
	if t.at != nil {
		return remoteBound(c, t, v, f, x, true)
	}
	if t.group != nil {
		return groupOne(c, t, v, func(b block, dst groupDest[C], a matrix.View[B]) error {
			return ApplyFirst(dst.any(), op, x, operandOf(a), b.opts)
		})
	}
	k := access.Binary(f)
	return applyHost(c, t, v, &cpu.Unary[B, C]{Map: func(c []C, v []B) { k.BindX(c, x, v) }, User: k.User})
}

// ApplySecond computes C⟨M⟩ ⊕= op(A, y), with the second argument of the operator bound to the
// scalar y.
func ApplySecond[A, B, C comparable](dst matrix.Destination[C], op semiring.Operator[A, B, C], a matrix.Operand[A], y B, opts ...Option) error {
	f := opOf(op)
	c := begin[C]("ApplySecond", f.Name(), opts)
	t, v, err := single(c, specOf(dst), a, c.checkOperator(f.Valid(), f.Position()))
	if err != nil {
		return err
	}
	if t.at != nil {
		return remoteBound(c, t, v, f, y, false)
	}
	if t.group != nil {
		return groupOne(c, t, v, func(b block, dst groupDest[C], a matrix.View[A]) error {
			return ApplySecond(dst.any(), op, operandOf(a), y, b.opts)
		})
	}
	k := access.Binary(f)
	return applyHost(c, t, v, &cpu.Unary[A, C]{Map: func(c []C, v []A) { k.BindY(c, v, y) }, User: k.User})
}

// ApplyIndex computes C⟨M⟩ ⊕= f(A(i,j), i, j), entry by entry. For a vector, i is the position and
// j is 0.
func ApplyIndex[A, C comparable](dst matrix.Destination[C], f semiring.IndexOp[A, C], a matrix.Operand[A], opts ...Option) error {
	c := begin[C]("ApplyIndex", f.Name(), opts)
	t, v, err := single(c, specOf(dst), a, c.checkOperator(f.Valid(), semiring.NotPositional))
	if err != nil {
		return err
	}
	if t.at != nil {
		m, n := v.Dims()
		h := newRemoteCall(c, t, m, n)
		h.needsText("operator", f.Name(), f.CUDA())
		text := device.Func{Name: f.Name(), Text: c.shifted(f.CUDA()), X: typeOf[A](h), Out: typeOf[C](h),
			UsesX: f.UsesValue()}
		return remoteApply(h, t, text, v, nil, false)
	}
	if t.group != nil {
		return groupOne(c, t, v, func(b block, dst groupDest[C], a matrix.View[A]) error {
			return ApplyIndex(dst.any(), f, operandOf(a), b.opts)
		})
	}
	st := oriented(v)
	fn, shift := f.Apply, c.local.shift
	switch {
	case t.spec.Vector: // a vector is stored as a row
		fn = func(x A, i, j int) C { return f.Apply(x, j+shift, i) }
	case shift != 0:
		fn = func(x A, i, j int) C { return f.Apply(x, i+shift, j) }
	}
	out, err := cpu.ApplyIndex(c.env(), st, fn, truth[A]())
	if err != nil {
		return err
	}
	c.traced("map", st.NVals)
	return write(c, t, out, false)
}

// Select computes C⟨M⟩ ⊕= the entries of A for which the predicate is true, with their values. It
// applies to matrices and vectors; for a vector, i is the position and j is 0. It takes O(entries)
// time; Tril, Triu and DiagSelect use a search per row instead. It returns the same errors as
// [MxM].
func Select[T comparable](dst matrix.Destination[T], f semiring.SelectOp[T], a matrix.Operand[T], opts ...Option) error {
	c := begin[T]("Select", f.Name(), opts)
	t, v, err := single(c, specOf(dst), a, c.checkOperator(f.Valid(), semiring.NotPositional))
	if err != nil {
		return err
	}
	if t.at != nil {
		m, n := v.Dims()
		h := newRemoteCall(c, t, m, n)
		h.needsText("predicate", f.Name(), f.CUDA())
		text := device.Func{Name: f.Name(), Text: c.shifted(f.CUDA()), X: typeOf[T](h),
			UsesX: access.Predicate(f).UsesValue}
		x := remoteOperand(h, v)
		if h.err != nil {
			return h.err
		}
		var y *device.Scalar
		if bound, ok := f.Bound(); ok {
			s := scalarOf(h, &bound)
			y = &s
		}
		out, ran, err := h.at.Select(h.call(), h.dest, text, x, y)
		return storeResult(h, t, out, ran, err)
	}
	if t.group != nil {
		return groupOne(c, t, v, func(b block, dst groupDest[T], a matrix.View[T]) error {
			return Select(dst.any(), f, operandOf(a), b.opts)
		})
	}
	st := oriented(v)
	k, shift := access.Predicate(f), c.local.shift
	var fn func(x T, i, j int) bool
	switch {
	case t.spec.Vector && k.Keep == nil: // a vector is stored as a row
		k = &cpu.Predicate[T]{UsesValue: k.UsesValue}
		fn = func(x T, i, j int) bool { return f.Keep(x, j+shift, i) }
	case k.Keep == nil || st.Val == nil:
		if fn = f.Keep; shift != 0 {
			fn = func(x T, i, j int) bool { return f.Keep(x, i+shift, j) }
			k = &cpu.Predicate[T]{UsesValue: k.UsesValue, Keep: k.Keep, Band: k.Band, Lo: k.Lo + int64(shift), Hi: k.Hi + int64(shift)}
		}
	}
	var fill *T
	if st.Val == nil {
		fill = new(T)
		*fill = truth[T]()
	}
	out, err := cpu.Select(c.env(), st, k, fn, fill)
	if err != nil {
		return err
	}
	c.traced("select", st.NVals)
	return write(c, t, out, false)
}

// Transpose computes C⟨M⟩ ⊕= Aᵀ in O(entries + rows + columns) time. The operand A.T() costs
// nothing until an operation needs it. Transpose(C, A.T()) copies A.
func Transpose[T comparable](dst matrix.Target[T], a matrix.Source[T], opts ...Option) error {
	c := begin[T]("Transpose", "", opts)
	v, err := operand[T](c, "a", a)
	if err != nil {
		return err
	}
	m, n := v.Dims()
	t, err := prepare(c, specOf(dst), n, m)
	if err != nil {
		return err
	}
	if t.at != nil {
		h := newRemoteCall(c, t, n, m)
		x := remoteOperand(h, v)
		if h.err != nil {
			return h.err
		}
		out, ran, err := h.at.Transpose(h.call(), h.dest, x)
		return storeResult(h, t, out, ran, err)
	}
	if t.group != nil {
		return groupOne(c, t, v.T(), func(b block, dst groupDest[T], a matrix.View[T]) error { return Transpose(dst.matrix(), a.T(), b.opts) })
	}
	st := access.Stored(v)
	switch {
	case v.Transposed():
		st = st.Own()
	case st.Sparse() && access.HasCols(v):
		st = access.Cols(v).Own()
	default:
		st = sparse.Transpose(st, c.env().Threads)
	}
	c.traced("transpose", st.NVals)
	return write(c, t, valued(st), false)
}

// Reduce computes w⟨m⟩ ⊕= the sum of each row of A over the monoid. With A.T() it sums the columns.
// A row without entries gives no entry. A has values of the type of the monoid, or is a pattern, whose
// entries are 1: Reduce(w, semiring.Plus[int64](), A.Pattern()) is the number of entries of each row.
// The order of a float sum is fixed for a given number of threads. Reduce takes O(entries) time and
// returns the same errors as [MxM], and a *matrix.InvalidError for values of another type.
func Reduce[T, S comparable](dst matrix.VectorTarget[T], m semiring.Monoid[T], a matrix.Source[S], opts ...Option) error {
	c := begin[T]("Reduce", m.Name(), opts)
	if !m.Valid() {
		return &OperatorError{c.op,
			"the monoid is the zero value; make it with a constructor of package semiring"}
	}
	v, err := operand[S](c, "a", a)
	if err != nil {
		return err
	}
	entry, err := entryOf[T](c, v)
	if err != nil {
		return err
	}
	rows, _ := v.Dims()
	t, err := prepare(c, specOf(dst), 1, rows)
	if err != nil {
		return err
	}
	if t.at != nil {
		h := newRemoteCall(c, t, 1, rows)
		text, x := monoidText(h, m), remoteOperand(h, v)
		if h.err != nil {
			return h.err
		}
		out, ran, err := h.at.Reduce(h.call(), h.dest, text, x)
		return storeResult(h, t, out, ran, err)
	}
	if t.group != nil {
		return groupReduce(c, t, m, v)
	}
	var out *sparse.Store[T]
	if v.Transposed() && !access.HasRows(v) {
		out, err = cpu.ReduceCols(c.env(), storeAs[T](access.Stored(v)), access.Monoid(m), access.Binary(m.Op()), entry)
	} else {
		st := access.Stored(v)
		if v.Transposed() {
			st = access.Rows(v)
		}
		out, err = cpu.ReduceRows(c.env(), storeAs[T](st), access.Monoid(m), entry)
	}
	if err != nil {
		return err
	}
	c.traced("reduce", v.NVals())
	return write(c, t, out, false)
}

// entryOf returns the value of the entries of v, if it is a pattern, in a sum of T. Values of another
// type than T are an error.
func entryOf[T, S comparable](c *call, v matrix.View[S]) (x T, err error) {
	if _, same := any(v).(matrix.View[T]); same {
		return truth[T](), nil
	}
	if !access.IsPattern(v) {
		return x, &matrix.InvalidError{Op: c.op, Reason: fmt.Sprintf(
			"a has values of %v and the monoid is of %v; convert a by ops.Apply with semiring.Convert, or count its entries by a.Pattern()", reflect.TypeFor[S](), reflect.TypeFor[T]())}
	}
	switch p := reflect.ValueOf(&x).Elem(); {
	case p.CanInt():
		p.SetInt(1)
	case p.CanUint():
		p.SetUint(1)
	case p.CanFloat():
		p.SetFloat(1)
	default:
		return x, &matrix.InvalidError{Op: c.op, Reason: fmt.Sprintf("the entries of a pattern are numbers or true, and the monoid is of %v", reflect.TypeFor[T]())}
	}
	return x, nil
}

// storeAs returns a store of T: s itself, or the structure of a pattern.
func storeAs[T, S any](s *sparse.Store[S]) *sparse.Store[T] {
	if same, ok := any(s).(*sparse.Store[T]); ok {
		return same
	}
	return &sparse.Store[T]{Structure: s.Structure}
}

// ReduceScalar returns the sum of all entries of a matrix or vector over the monoid, or the
// identity if there are no entries. The order of the sum is the same for every number of threads.
// It takes O(entries) time. The result is on the host. A matrix on a device is summed there if the
// monoid has a CUDA form; otherwise it is copied to the host, once.
func ReduceScalar[T comparable](m semiring.Monoid[T], a matrix.Operand[T], opts ...Option) (sum T, err error) {
	c := begin[bool]("ReduceScalar", m.Name(), opts)
	if !m.Valid() {
		return sum, &OperatorError{c.op,
			"the monoid is the zero value; make it with a constructor of package semiring"}
	}
	if err := c.methodless(); err != nil {
		return sum, err
	}
	v, err := operand(c, "a", a)
	if err != nil {
		return sum, err
	}
	if b := device.Of(v.Place()); b != nil {
		h := &remoteCall{c: c, at: b}
		text, x := monoidText(h, m), remoteOperand(h, v)
		if h.err == nil {
			ran, err := b.ReduceScalar(h.call(), text, x, unsafe.Pointer(&sum))
			if err == nil {
				c.ran = &Trace{Op: c.op, Name: c.name, Method: Method(ran.Method), Place: b.Place().String(),
					Work: ran.Work}
				c.emit(0)
			}
			return sum, err
		}
		if !errors.Is(h.err, ErrOperator) {
			return sum, h.err
		}
		// The result is on the host, so the host computes the sum of a monoid without a CUDA form.
	}
	if c.ctx != nil && c.ctx.Err() != nil {
		return sum, c.ctx.Err()
	}
	if g, ok := v.Place().(*comm.Group); ok && g.Size() > 0 {
		return groupReduceScalar(c, g, m, v)
	}
	if err := c.fetch(); err != nil {
		return sum, err
	}
	c.traced("reduce", v.NVals())
	if sum, err = cpu.ReduceAll(c.env(), access.Stored(v), access.Monoid(m), truth[T]()); err == nil {
		c.emit(0)
	}
	return sum, err
}
