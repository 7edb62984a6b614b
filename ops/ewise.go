package ops

import (
	"github.com/hiveblas/hiveblas/internal/cpu"
	"github.com/hiveblas/hiveblas/internal/device"
	"github.com/hiveblas/hiveblas/internal/rep"
	"github.com/hiveblas/hiveblas/internal/sparse"
	"github.com/hiveblas/hiveblas/matrix"
	"github.com/hiveblas/hiveblas/semiring"
)

// pair checks the two operands of an element-wise operation.
func (c *call) pair(d dest, f *operator, a, b rep.View) (*target, error) {
	if err := c.checkOperator(f.valid, f.pos); err != nil {
		return nil, err
	}
	if err := c.operand("a", a); err != nil {
		return nil, err
	}
	if err := c.operand("b", b); err != nil {
		return nil, err
	}
	am, an := a.Dims()
	bm, bn := b.Dims()
	if am != bm || an != bn || a.Vector != b.Vector {
		return nil, c.dim("b", shapeOf(b.Vector, bm, bn), shapeOf(a.Vector, am, an), "both operands need the same shape")
	}
	if err := c.sameKind(a.Vector, &d, am, an); err != nil {
		return nil, err
	}
	return c.prepare(d, am, an)
}

// sameKind checks that operand and destination are both vectors or both matrices.
func (c *call) sameKind(operand bool, d *dest, m, n int) error {
	if operand == d.vector || d.m == nil {
		return nil
	}
	dm, dn := d.m.Dims()
	return c.dim("the destination", shapeOf(d.vector, dm, dn), shapeOf(operand, m, n), "a vector needs a vector as destination, a matrix needs a matrix")
}

// EWiseAdd computes C⟨M⟩ ⊕= A ∪ B, for matrices and vectors: op(A, B) where both operands have an
// entry. An entry of only one operand is copied unchanged, also by minus; see [EWiseUnion].
//
// It takes O(entries of A and B) time, or O(positions) with dense operands. The result is full if
// an operand is full. EWiseAdd returns the same errors as [MxM].
func EWiseAdd[T comparable](dst matrix.Destination[T], op semiring.Operator[T, T, T], a, b matrix.Operand[T], opts ...Option) error {
	return ewiseAddOf(dst, insideOf(op), a, b, opts)
}

func ewiseAddOf(dst any, op *cpu.Operator, a, b any, opts []Option) error {
	f := operatorIn(op)
	return begin("EWiseAdd", f.name, opts).ewiseAdd(destOf(dst), f, viewOf(a), viewOf(b))
}

func (c *call) ewiseAdd(d dest, f operator, a, b rep.View) error {
	t, err := c.pair(d, &f, a, b)
	if err != nil {
		return err
	}
	if t.at != nil {
		return c.remoteEWise(device.Union, &f, a, b, t.c.Zero, t.c.Zero)
	}
	if t.group != nil {
		return c.on(t.group).groupTwo(a, b, func(r block, d dest, x, y rep.View) error { return r.call(c).ewiseAdd(d, f, x, y) })
	}
	as, bs := a.Oriented(), b.Oriented()
	k := f.k
	c.traced("union", as.NVals+bs.NVals)
	if t.plain() && !as.Sparse() && bs.Sparse() && t.holds(as) {
		// w = w ∪ few: O(few).
		if err := cpu.AccumulateInto(c.env(), as, bs.Valued(), k); err != nil {
			return err
		}
		return c.keep(as)
	}
	union := cpu.UnionOps{
		Both: k, Left: t.c.Copier, Right: t.c.Copier, Copies: true, Room: c.over(k.User),
	}
	if !t.holds(as) && !t.holds(bs) {
		union.Spare = t.spare(k.User)
	}
	out, err := cpu.Union(c.env(), union, t.c, needed(as, k.UsesX), needed(bs, k.UsesY))
	if err != nil {
		return c.sized(err)
	}
	return c.write(out, false)
}

// EWiseUnion is EWiseAdd with a default value for each operand: it computes op(A, β) where only A
// has an entry and op(α, B) where only B has one.
func EWiseUnion[A, B, C comparable](dst matrix.Destination[C], op semiring.Operator[A, B, C], a matrix.Operand[A], alpha A, b matrix.Operand[B], beta B, opts ...Option) error {
	f := operatorIn(insideOf(op))
	return begin("EWiseUnion", f.name, opts).ewiseUnion(destOf(dst), f, viewOf(a), sparse.ValuesOf([]A{alpha}), viewOf(b), sparse.ValuesOf([]B{beta}))
}

// ewiseUnion is EWiseUnion for single values alpha and beta.
func (c *call) ewiseUnion(d dest, f operator, a rep.View, alpha sparse.Values, b rep.View, beta sparse.Values) error {
	t, err := c.pair(d, &f, a, b)
	if err != nil {
		return err
	}
	if t.at != nil {
		return c.remoteEWise(device.Filled, &f, a, b, alpha, beta)
	}
	if t.group != nil {
		return c.on(t.group).groupTwo(a, b, func(r block, d dest, x, y rep.View) error { return r.call(c).ewiseUnion(d, f, x, alpha, y, beta) })
	}
	as, bs := a.Oriented(), b.Oriented()
	k := f.k
	room := c.over(k.User)
	if t.holds(as) || t.holds(bs) {
		room = sparse.Values{}
	}
	out, err := cpu.Union(c.env(), cpu.UnionOps{
		Both:  k,
		Room:  room,
		Left:  func(c, v sparse.Values) { k.BindY(c, v, beta.Pointer()) },
		Right: func(c, v sparse.Values) { k.BindX(c, alpha.Pointer(), v) },
	}, t.c, as.Valued(), bs.Valued())
	if err != nil {
		return c.sized(err)
	}
	c.traced("union", as.NVals+bs.NVals)
	return c.write(out, false)
}

// EWiseMult computes C⟨M⟩ ⊕= op(A, B) where both operands have an entry, for matrices and vectors.
// It takes O(entries) time. Where two rows differ much in length, it searches the longer one, in
// O(shorter · log longer) time. It returns the same errors as [MxM].
func EWiseMult[A, B, C comparable](dst matrix.Destination[C], op semiring.Operator[A, B, C], a matrix.Operand[A], b matrix.Operand[B], opts ...Option) error {
	return ewiseMultOf(dst, insideOf(op), a, b, opts)
}

func ewiseMultOf(dst any, op *cpu.Operator, a, b any, opts []Option) error {
	f := operatorIn(op)
	return begin("EWiseMult", f.name, opts).ewiseMult(destOf(dst), f, viewOf(a), viewOf(b))
}

func (c *call) ewiseMult(d dest, f operator, a, b rep.View) error {
	t, err := c.pair(d, &f, a, b)
	if err != nil {
		return err
	}
	if t.at != nil {
		return c.remoteEWise(device.Intersection, &f, a, b, a.Type().Zero, b.Type().Zero)
	}
	if t.group != nil {
		return c.on(t.group).groupTwo(a, b, func(r block, d dest, x, y rep.View) error { return r.call(c).ewiseMult(d, f, x, y) })
	}
	as, bs := a.Oriented(), b.Oriented()
	k := f.k
	out, err := cpu.Intersect(c.env(), k, t.c, needed(as, k.UsesX), needed(bs, k.UsesY), c.over(k.User))
	if err != nil {
		return c.sized(err)
	}
	c.traced("intersection", as.NVals+bs.NVals)
	return c.write(out, false)
}
