package ops

import (
	"github.com/hiveblas/hiveblas/internal/access"
	"github.com/hiveblas/hiveblas/internal/cpu"
	"github.com/hiveblas/hiveblas/internal/device"
	"github.com/hiveblas/hiveblas/matrix"
	"github.com/hiveblas/hiveblas/semiring"
)

// pairOf checks the two operands of an element-wise operation. invalid is the error of the
// operator, from checkOperator.
func pairOf[A, B, C comparable](c *call, spec matrix.Spec[C], a matrix.Operand[A], b matrix.Operand[B], invalid error) (t *target[C], av matrix.View[A], bv matrix.View[B], err error) {
	if invalid != nil {
		return nil, av, bv, invalid
	}
	if av, err = operand(c, "a", a); err != nil {
		return nil, av, bv, err
	}
	if bv, err = operand(c, "b", b); err != nil {
		return nil, av, bv, err
	}
	am, an := av.Dims()
	bm, bn := bv.Dims()
	if am != bm || an != bn || av.IsVector() != bv.IsVector() {
		return nil, av, bv, c.dim("b", shapeOf(bv.IsVector(), bm, bn), shapeOf(av.IsVector(), am, an), "both operands need the same shape")
	}
	if err := sameKind(c, av.IsVector(), spec, am, an); err != nil {
		return nil, av, bv, err
	}
	t, err = prepare(c, spec, am, an)
	return t, av, bv, err
}

// sameKind checks that operand and destination are both vectors or both matrices.
func sameKind[C comparable](c *call, operand bool, dst matrix.Spec[C], m, n int) error {
	if operand == dst.Vector || dst.Matrix == nil {
		return nil
	}
	dm, dn := dst.Matrix.Dims()
	return c.dim("the destination", shapeOf(dst.Vector, dm, dn), shapeOf(operand, m, n), "a vector needs a vector as destination, a matrix needs a matrix")
}

// EWiseAdd computes C⟨M⟩ ⊕= A ∪ B, for matrices and vectors: op(A, B) where both operands have an
// entry. An entry of only one operand is copied unchanged, also by minus; see [EWiseUnion].
//
// It takes O(entries of A and B) time, or O(positions) with dense operands. The result is full if
// an operand is full. EWiseAdd returns the same errors as [MxM].
func EWiseAdd[T comparable](dst matrix.Destination[T], op semiring.Operator[T, T, T], a, b matrix.Operand[T], opts ...Option) error {
	f := opOf(op)
	c := begin[T]("EWiseAdd", f.Name(), opts)
	t, av, bv, err := pairOf(c, specOf(dst), a, b, c.checkOperator(f.Valid(), f.Position()))
	if err != nil {
		return err
	}
	if t.at != nil {
		return remoteEWise(c, t, device.Union, f, av, bv, *new(T), *new(T))
	}
	if t.group != nil {
		return groupTwo(c, t, av, bv, func(r block, dst groupDest[T], x, y matrix.View[T]) error {
			return EWiseAdd(dst.any(), op, operandOf(x), operandOf(y), r.opts)
		})
	}
	as, bs := oriented(av), oriented(bv)
	k := access.Binary(f)
	c.traced("union", as.NVals+bs.NVals)
	if t.spec.Mask == nil && t.spec.Accum == nil && !as.Sparse() && bs.Sparse() && holds(t, as) {
		if err := cpu.AccumulateInto(c.env(), as, valued(bs), k); err != nil { // w = w ∪ few: O(few)
			return err
		}
		return keep(c, t, as)
	}
	union := cpu.UnionOps[T, T, T]{
		Both: k, Left: copyOrTrue[T], Right: copyOrTrue[T], Copies: true, Room: t.room(k.User),
	}
	if !holds(t, as) && !holds(t, bs) {
		union.Spare = t.spare(k.User)
	}
	out, err := cpu.Union(c.env(), union, needed(as, k.UsesX), needed(bs, k.UsesY))
	if err != nil {
		return c.sized(err)
	}
	return write(c, t, out, false)
}

// copyOrTrue copies v to c. It sets c to true for a pattern, whose v is nil.
func copyOrTrue[T any](c, v []T) {
	if v == nil {
		x := truth[T]()
		for p := range c {
			c[p] = x
		}
		return
	}
	copy(c, v)
}

// EWiseUnion is EWiseAdd with a default value for each operand: it computes op(A, β) where only A
// has an entry and op(α, B) where only B has one.
func EWiseUnion[A, B, C comparable](dst matrix.Destination[C], op semiring.Operator[A, B, C], a matrix.Operand[A], alpha A, b matrix.Operand[B], beta B, opts ...Option) error {
	f := opOf(op)
	c := begin[C]("EWiseUnion", f.Name(), opts)
	t, av, bv, err := pairOf(c, specOf(dst), a, b, c.checkOperator(f.Valid(), f.Position()))
	if err != nil {
		return err
	}
	if t.at != nil {
		return remoteEWise(c, t, device.Filled, f, av, bv, alpha, beta)
	}
	if t.group != nil {
		return groupTwo(c, t, av, bv, func(r block, dst groupDest[C], x matrix.View[A], y matrix.View[B]) error {
			return EWiseUnion(dst.any(), op, operandOf(x), alpha, operandOf(y), beta, r.opts)
		})
	}
	as, bs := oriented(av), oriented(bv)
	k := access.Binary(f)
	room := t.room(k.User)
	if holds(t, as) || holds(t, bs) {
		room = nil
	}
	out, err := cpu.Union(c.env(), cpu.UnionOps[A, B, C]{
		Both:  k,
		Room:  room,
		Left:  func(c []C, v []A) { k.BindY(c, v, beta) },
		Right: func(c []C, v []B) { k.BindX(c, alpha, v) },
	}, valued(as), valued(bs))
	if err != nil {
		return c.sized(err)
	}
	c.traced("union", as.NVals+bs.NVals)
	return write(c, t, out, false)
}

// EWiseMult computes C⟨M⟩ ⊕= op(A, B) where both operands have an entry, for matrices and vectors.
// It takes O(entries) time. Where two rows differ much in length, it searches the longer one, in
// O(shorter · log longer) time. It returns the same errors as [MxM].
func EWiseMult[A, B, C comparable](dst matrix.Destination[C], op semiring.Operator[A, B, C], a matrix.Operand[A], b matrix.Operand[B], opts ...Option) error {
	f := opOf(op)
	c := begin[C]("EWiseMult", f.Name(), opts)
	t, av, bv, err := pairOf(c, specOf(dst), a, b, c.checkOperator(f.Valid(), f.Position()))
	if err != nil {
		return err
	}
	if t.at != nil {
		return remoteEWise(c, t, device.Intersection, f, av, bv, *new(A), *new(B))
	}
	if t.group != nil {
		return groupTwo(c, t, av, bv, func(r block, dst groupDest[C], x matrix.View[A], y matrix.View[B]) error {
			return EWiseMult(dst.any(), op, operandOf(x), operandOf(y), r.opts)
		})
	}
	as, bs := oriented(av), oriented(bv)
	k := access.Binary(f)
	out, err := cpu.Intersect(c.env(), k, needed(as, k.UsesX), needed(bs, k.UsesY), t.room(k.User))
	if err != nil {
		return c.sized(err)
	}
	c.traced("intersection", as.NVals+bs.NVals)
	return write(c, t, out, false)
}
