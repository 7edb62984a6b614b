package ops

import (
	"github.com/hiveblas/hiveblas/internal/cpu"
	"github.com/hiveblas/hiveblas/internal/device"
	"github.com/hiveblas/hiveblas/matrix"
	"github.com/hiveblas/hiveblas/semiring"
)

// pairOf checks two operands of an element-wise operation.
func pairOf[A, B, C comparable](c *call, spec matrix.Spec[C], a matrix.Operand[A], b matrix.Operand[B], valid bool) (t *target[C], av matrix.View[A], bv matrix.View[B], err error) {
	if !valid {
		return nil, av, bv, &OperatorError{c.op, "the operator is the zero value; make it with a constructor of package semiring"}
	}
	if av, err = operand(a); err != nil {
		return nil, av, bv, err
	}
	if bv, err = operand(b); err != nil {
		return nil, av, bv, err
	}
	am, an := av.Dims()
	bm, bn := bv.Dims()
	if am != bm || an != bn || av.IsVector() != bv.IsVector() {
		return nil, av, bv, c.dim("b", shapeOf(bv.IsVector(), bm, bn), shapeOf(av.IsVector(), am, an), "both operands have the same shape")
	}
	if err := sameKind(c, av.IsVector(), spec, am, an); err != nil {
		return nil, av, bv, err
	}
	t, err = prepare(c, spec, am, an)
	return t, av, bv, err
}

// sameKind checks that a vector goes to a vector and a matrix to a matrix.
func sameKind[C comparable](c *call, operand bool, dst matrix.Spec[C], m, n int) error {
	if operand == dst.Vector || dst.Matrix == nil {
		return nil
	}
	dm, dn := dst.Matrix.Dims()
	return c.dim("the destination", shapeOf(dst.Vector, dm, dn), shapeOf(operand, m, n), "a vector goes to a vector and a matrix to a matrix")
}

// EWiseAdd computes C⟨M⟩ ⊕= A ∪ B: op(A, B) where both have an entry, the one
// there is elsewhere. For matrices and vectors alike. An entry that only one
// operand has is copied as it is, also by minus; see [EWiseUnion].
//
// O(entries of A and B), or O(positions) with dense operands; the result is
// full if an operand is. Errors as [MxM].
func EWiseAdd[T comparable](dst matrix.Destination[T], op semiring.Operator[T, T, T], a, b matrix.Operand[T], opts ...Option) error {
	f := opOf(op)
	c := begin[T]("EWiseAdd", f.Name(), opts)
	t, av, bv, err := pairOf(c, specOf(dst), a, b, f.Valid())
	if err != nil {
		return err
	}
	if t.at != nil {
		return remoteEWise(c, t, device.Union, f, av, bv, *new(T), *new(T))
	}
	as, bs := oriented(av), oriented(bv)
	k := f.Kernels()
	c.traced("union", as.NVals+bs.NVals)
	if t.spec.Mask == nil && t.spec.Accum == nil && !as.Sparse() && bs.Sparse() && holds(t, as) {
		cpu.AccumulateInto(c.env(), as, valued(bs), k) // w = w ∪ few: O(few)
		return keep(c, t, as)
	}
	out, err := cpu.Union(c.env(), cpu.UnionOps[T, T, T]{Both: k, Left: copyOrTrue[T], Right: copyOrTrue[T], Copies: true, Room: t.room()},
		needed(as, k.UsesX), needed(bs, k.UsesY))
	if err != nil {
		return err
	}
	return write(c, t, out, false)
}

// copyOrTrue copies v to c; the values of a pattern, which has none, are true.
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

// EWiseUnion is EWiseAdd with a stand-in for the operand that is missing:
// op(A, β) where only A has an entry, op(α, B) where only B does.
func EWiseUnion[A, B, C comparable](dst matrix.Destination[C], op semiring.Operator[A, B, C], a matrix.Operand[A], alpha A, b matrix.Operand[B], beta B, opts ...Option) error {
	f := opOf(op)
	c := begin[C]("EWiseUnion", f.Name(), opts)
	t, av, bv, err := pairOf(c, specOf(dst), a, b, f.Valid())
	if err != nil {
		return err
	}
	if t.at != nil {
		return remoteEWise(c, t, device.Filled, f, av, bv, alpha, beta)
	}
	as, bs := oriented(av), oriented(bv)
	k := f.Kernels()
	room := t.room()
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
		return err
	}
	c.traced("union", as.NVals+bs.NVals)
	return write(c, t, out, false)
}

// EWiseMult computes C⟨M⟩ ⊕= op(A, B) where both have an entry. For matrices
// and vectors alike. O(entries), or a search of the longer in O(shorter ·
// log longer) where their rows differ much in length. Errors as [MxM].
func EWiseMult[A, B, C comparable](dst matrix.Destination[C], op semiring.Operator[A, B, C], a matrix.Operand[A], b matrix.Operand[B], opts ...Option) error {
	f := opOf(op)
	c := begin[C]("EWiseMult", f.Name(), opts)
	t, av, bv, err := pairOf(c, specOf(dst), a, b, f.Valid())
	if err != nil {
		return err
	}
	if t.at != nil {
		return remoteEWise(c, t, device.Intersection, f, av, bv, *new(A), *new(B))
	}
	as, bs := oriented(av), oriented(bv)
	k := f.Kernels()
	out, err := cpu.Intersect(c.env(), k, needed(as, k.UsesX), needed(bs, k.UsesY), t.room())
	if err != nil {
		return err
	}
	c.traced("intersection", as.NVals+bs.NVals)
	return write(c, t, out, false)
}
