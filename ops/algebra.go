package ops

import (
	"fmt"

	"github.com/hiveblas/hiveblas/internal/access"
	"github.com/hiveblas/hiveblas/internal/cpu"
	"github.com/hiveblas/hiveblas/internal/sparse"
	"github.com/hiveblas/hiveblas/matrix"
	"github.com/hiveblas/hiveblas/semiring"
)

// Inner returns u·v over a semiring: the sum of u(i) ⊗ v(i) over the positions where both have an
// entry, or the identity of the sum if there is none. It runs where u lives. The products of full
// vectors are summed as ReduceScalar sums them, by all threads; others are the product of a 1×n
// matrix and a vector. It takes O(n) time and returns the same errors as [MxV].
func Inner[A, B, C comparable](s semiring.Semiring[A, B, C], u matrix.VectorSource[A], v matrix.VectorSource[B], opts ...Option) (x C, err error) {
	c := begin[C]("Inner", s.Name(), opts)
	uv, err := vectorOperand[A](c, u, "u")
	if err != nil {
		return x, err
	}
	vv, err := vectorOperand[B](c, v, "v")
	if err != nil {
		return x, err
	}
	_, n := uv.Dims()
	if _, vn := vv.Dims(); vn != n {
		return x, c.dim("v", fmt.Sprintf("a vector of %d", vn), fmt.Sprintf("a vector of %d", n), "u and v have the same size")
	}
	if x, done, err := innerFull(c, s, uv, vv, n, opts); done || err != nil {
		return x, err
	}
	out := matrix.NewVector[C](1, matrix.On(uv.Place()))
	if err := MxV(out, s, uv, v, opts...); err != nil {
		return x, err
	}
	if err := out.Fetch(); err != nil {
		return x, err
	}
	x, ok := out.At(0)
	if !ok {
		x = s.Add().Identity()
	}
	return x, nil
}

// innerFull is Inner of vectors that are full. On the host it multiplies and sums a chunk at a
// time; elsewhere it is two operations, with the same bits on a group. done is false for others.
func innerFull[A, B, C comparable](
	c *call, s semiring.Semiring[A, B, C], u matrix.View[A], v matrix.View[B], n int, opts []Option,
) (x C, done bool, err error) {
	switch {
	case !s.Valid(), s.Position() != semiring.NotPositional, c.method != Auto:
		return x, false, nil
	case u.NVals() != int64(n) || v.NVals() != int64(n):
		return x, false, nil
	}
	if u.Place() != nil {
		w := matrix.NewVector[C](n, matrix.On(u.Place()))
		if err := EWiseMult(w, s.Mul(), access.AsVector(u), access.AsVector(v), opts...); err != nil {
			return x, true, err
		}
		x, err = ReduceScalar(s.Add(), w, opts...)
		return x, true, err
	}
	if v.Place() != nil {
		return x, false, nil
	}
	if err := c.fetch(); err != nil {
		return x, true, err
	}
	a, b := access.Stored(u), access.Stored(v)
	if a.Format != sparse.Full || b.Format != sparse.Full || a.Val == nil || b.Val == nil {
		return x, false, nil
	}
	c.traced("chunks", int64(n))
	if x, err = cpu.InnerFull(c.env(), access.Monoid(s.Add()), access.Binary(s.Mul()), a.Val, b.Val); err == nil {
		c.emit(0)
	}
	return x, true, err
}

// Outer computes C⟨M⟩ ⊕= u ⊗ vᵀ, the entries u(i) ⊗ v(j) of an m×n matrix for vectors of m and n.
// It takes O(entries of the result) time and returns the same errors as [MxM].
func Outer[A, B, C comparable](dst matrix.Target[C], s semiring.Semiring[A, B, C], u matrix.VectorSource[A], v matrix.VectorSource[B], opts ...Option) error {
	c := begin[C]("Outer", s.Name(), opts)
	uv, err := vectorOperand[A](c, u, "u")
	if err != nil {
		return err
	}
	vv, err := vectorOperand[B](c, v, "v")
	if err != nil {
		return err
	}
	return MxM(dst, s, uv.T(), vv, opts...)
}

// vectorOperand is the 1×n view of a vector.
func vectorOperand[T comparable](c *call, u matrix.VectorSource[T], name string) (v matrix.View[T], err error) {
	if u == nil {
		return v, &matrix.InvalidError{Op: c.op, Reason: name + " is nil; make it with matrix.NewVector"}
	}
	v = u.View()
	return v, v.Err()
}

// DiagonalSum returns the sum over a monoid of the entries on the main diagonal: with plus, the
// trace. It runs where a lives, in O(entries) time, and returns the same errors as [ReduceScalar].
func DiagonalSum[T comparable](m semiring.Monoid[T], a matrix.Source[T], opts ...Option) (sum T, err error) {
	c := begin[T]("DiagonalSum", m.Name(), opts)
	v, err := operand[T](c, "a", a)
	if err != nil {
		return sum, err
	}
	rows, cols := v.Dims()
	diagonal := matrix.New[T](rows, cols, matrix.On(v.Place()))
	if err := Select(diagonal, semiring.DiagSelect[T](0), v, opts...); err != nil {
		return sum, err
	}
	return ReduceScalar(m, diagonal, opts...)
}
