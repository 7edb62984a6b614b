package ops

import (
	"fmt"
	"unsafe"

	"github.com/hiveblas/hiveblas/internal/cpu"
	"github.com/hiveblas/hiveblas/internal/rep"
	"github.com/hiveblas/hiveblas/internal/sparse"
	"github.com/hiveblas/hiveblas/matrix"
	"github.com/hiveblas/hiveblas/semiring"
)

// Inner returns u·v over a semiring: the sum of u(i) ⊗ v(i) over the positions where both have an
// entry, or the identity of the sum if there is none. It runs where u lives. The products of full
// vectors are summed as ReduceScalar sums them, by all threads; others are the product of a 1×n
// matrix and a vector. It takes O(n) time and returns the same errors as [MxV].
func Inner[A, B, C comparable](s semiring.Semiring[A, B, C], u matrix.VectorSource[A], v matrix.VectorSource[B], opts ...Option) (x C, err error) {
	x = s.Add().Identity()
	err = beginProduct("Inner", s.Inside(), opts).inner(viewOf(u), viewOf(v), sparse.TypeOf[C](), unsafe.Pointer(&x), opts)
	return x, err
}

// inner writes the product, of type t, to x unless no position has both entries.
func (c *call) inner(u, v rep.View, t *sparse.Type, x cpu.Value, opts []Option) error {
	if err := c.vectorOperands(u, v); err != nil {
		return err
	}
	_, n := u.Dims()
	if _, vn := v.Dims(); vn != n {
		return c.dim("v", fmt.Sprintf("a vector of %d", vn), fmt.Sprintf("a vector of %d", n), "u and v have the same size")
	}
	if done, err := c.innerFull(u, v, t, x, n, opts); done || err != nil {
		return err
	}
	out := newMatrix(t, 1, 1, placeOf(u.Matrix))
	product := begin("MxV", c.name, opts)
	product.ring = c.ring
	u.Vector = false // a matrix of one row
	if err := product.mxv(dest{m: out, vector: true}, u, v); err != nil {
		return err
	}
	st := out.Stored().Valued()
	if err := out.Err(); err != nil {
		return err
	}
	if st.NVals == 1 {
		at, _ := st.Has(0, 0)
		t.CopyTo(x, t.At(st.Val, at))
	}
	return nil
}

// innerFull is inner of vectors that are full. On the host it multiplies and sums a chunk at a
// time; elsewhere it is two operations, with the same bits on a group. done is false for others.
func (c *call) innerFull(u, v rep.View, t *sparse.Type, x cpu.Value, n int, opts []Option) (done bool, err error) {
	r := c.ring
	switch {
	case !r.Valid(), r.pos() != semiring.NotPositional, c.method != Auto:
		return false, nil
	case u.NVals() != int64(n) || v.NVals() != int64(n):
		return false, nil
	}
	if u.Place() != nil {
		w := newMatrix(t, 1, n, placeOf(u.Matrix))
		if err := begin("EWiseMult", r.mul().name, opts).ewiseMult(dest{m: w, vector: true}, r.mul(), u, v); err != nil {
			return true, err
		}
		return true, begin("ReduceScalar", r.add().op.name, opts).reduceScalar(r.add(), rep.View{Matrix: w, Vector: true}, t, x)
	}
	if v.Place() != nil {
		return false, nil
	}
	if err := c.fetch(); err != nil {
		return true, err
	}
	a, b := u.Stored(), v.Stored()
	if a.Format != sparse.Full || b.Format != sparse.Full || a.Val.None() || b.Val.None() {
		return false, nil
	}
	c.traced("chunks", int64(n))
	if err = cpu.InnerFull(c.env(), r.add().k, r.mul().k, t, a.Type, a.Val, b.Type, b.Val, x); err == nil {
		c.emit(0)
	}
	return true, err
}

// Outer computes C⟨M⟩ ⊕= u ⊗ vᵀ, the entries u(i) ⊗ v(j) of an m×n matrix for vectors of m and n.
// It takes O(entries of the result) time and returns the same errors as [MxM].
func Outer[A, B, C comparable](dst matrix.Target[C], s semiring.Semiring[A, B, C], u matrix.VectorSource[A], v matrix.VectorSource[B], opts ...Option) error {
	c := beginProduct("Outer", s.Inside(), opts)
	x, y := viewOf(u), viewOf(v)
	if err := c.vectorOperands(x, y); err != nil {
		return err
	}
	c.op = "MxM"
	return c.mxm(destOf(dst), x.T(), y)
}

// vectorOperands checks the vectors u and v.
func (c *call) vectorOperands(u, v rep.View) error {
	for k, x := range []rep.View{u, v} {
		if x.Matrix == nil {
			return &matrix.InvalidError{Op: c.op, Reason: string("uv"[k]) + " is nil; make it with matrix.NewVector"}
		}
		if err := x.Err(); err != nil {
			return err
		}
	}
	return nil
}

// DiagonalSum returns the sum over a monoid of the entries on the main diagonal: with plus, the
// trace. It runs where a lives, in O(entries) time, and returns the same errors as [ReduceScalar].
func DiagonalSum[T comparable](m semiring.Monoid[T], a matrix.Source[T], opts ...Option) (sum T, err error) {
	err = begin("DiagonalSum", m.Name(), opts).diagonalSum(monoidOf(m.Inside()), viewOf(a), sparse.TypeOf[T](), unsafe.Pointer(&sum), opts)
	return sum, err
}

// diagonal is the predicate of the main diagonal.
var diagonal = semiring.DiagSelect[bool](0)

func (c *call) diagonalSum(m monoid, a rep.View, t *sparse.Type, sum cpu.Value, opts []Option) error {
	if err := c.operand("a", a); err != nil {
		return err
	}
	rows, cols := a.Dims()
	d := newMatrix(t, rows, cols, placeOf(a.Matrix))
	p := diagonal.Inside()
	if err := begin("Select", p.Name, opts).choose(dest{m: d}, p, a); err != nil {
		return err
	}
	return begin("ReduceScalar", m.op.name, opts).reduceScalar(m, rep.View{Matrix: d}, t, sum)
}
