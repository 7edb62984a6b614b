package conformance

import "github.com/hiveblas/hiveblas/semiring"

// The oracles follow the mathematics of the GraphBLAS C API 2.1, section 4.3: each operation
// computes T, and write computes Z = accum(C, T), C⟨M, r⟩ = Z.

// write returns the new value of c for the result t. allowed is nil without a mask.
func write[T any](c, t Dense[T], allowed []bool, accum func(x, y T) T, replace bool) Dense[T] {
	z := newDense[T](c.Rows, c.Cols)
	for p := range z.Cell {
		z.Cell[p] = t.Cell[p]
		if accum != nil && len(c.Cell[p]) > 0 {
			z.Cell[p] = c.Cell[p]
			if len(t.Cell[p]) > 0 {
				z.Cell[p] = nil
				for _, y := range t.Cell[p] {
					z.Cell[p] = append(z.Cell[p], accum(c.Cell[p][0], y))
				}
			}
		}
		if allowed != nil && !allowed[p] {
			z.Cell[p] = c.Cell[p]
			if replace {
				z.Cell[p] = nil
			}
		}
	}
	return z
}

// mxm: T(i,j) = ⊕ over k of A(i,k) ⊗ B(k,j), where both have an entry.
func mxm[A, B, C any](a Dense[A], b Dense[B], add semiring.Monoid[C], mul func(i, k, j int, x A, y B) C) Dense[C] {
	t := newDense[C](a.Rows, b.Cols)
	t.each(func(i, j int, _ []C) {
		var terms []C
		for k := range a.Cols.Len() {
			if x, y := a.at(i, k), b.at(k, j); len(x) > 0 && len(y) > 0 {
				terms = append(terms, mul(a.Rows.Pos(i), a.Cols.Pos(k), b.Cols.Pos(j), x[0], y[0]))
			}
		}
		t.set(i, j, sum(add, terms))
	})
	return t
}

// sum adds terms to the identity. No terms have no sum, and for the any monoid each term is
// correct.
func sum[C any](add semiring.Monoid[C], terms []C) []C {
	if len(terms) == 0 || add.IsAny() {
		return terms
	}
	s := add.Identity()
	for _, x := range terms {
		s = add.Combine(s, x)
	}
	return []C{s}
}

// ewiseAdd: op(x, y) where both have an entry, else the entry of one.
func ewiseAdd[T any](a, b Dense[T], op func(x, y T) T) Dense[T] {
	t := newDense[T](a.Rows, a.Cols)
	for p, x := range a.Cell {
		switch y := b.Cell[p]; {
		case len(x) > 0 && len(y) > 0:
			t.Cell[p] = []T{op(x[0], y[0])}
		case len(x) > 0:
			t.Cell[p] = x
		default:
			t.Cell[p] = y
		}
	}
	return t
}

// ewiseMult: op(x, y) where both have an entry.
func ewiseMult[A, B, C any](a Dense[A], b Dense[B], op func(x A, y B) C) Dense[C] {
	t := newDense[C](a.Rows, a.Cols)
	for p, x := range a.Cell {
		if y := b.Cell[p]; len(x) > 0 && len(y) > 0 {
			t.Cell[p] = []C{op(x[0], y[0])}
		}
	}
	return t
}

// ewiseUnion: op, with α or β in place of a missing operand.
func ewiseUnion[A, B, C any](a Dense[A], alpha A, b Dense[B], beta B, op func(x A, y B) C) Dense[C] {
	t := newDense[C](a.Rows, a.Cols)
	for p, xs := range a.Cell {
		x, y := alpha, beta
		if len(xs) > 0 {
			x = xs[0]
		}
		if len(b.Cell[p]) > 0 {
			y = b.Cell[p][0]
		}
		if len(xs) > 0 || len(b.Cell[p]) > 0 {
			t.Cell[p] = []C{op(x, y)}
		}
	}
	return t
}

// apply: f(x, i, j) at each entry.
func apply[A, C any](a Dense[A], f func(x A, i, j int) C) Dense[C] {
	t := newDense[C](a.Rows, a.Cols)
	a.each(func(i, j int, x []A) {
		if len(x) > 0 {
			t.set(i, j, []C{f(x[0], a.Rows.Pos(i), a.Cols.Pos(j))})
		}
	})
	return t
}

// sel: the entries that satisfy keep.
func sel[A any](a Dense[A], keep func(x A, i, j int) bool) Dense[A] {
	t := newDense[A](a.Rows, a.Cols)
	a.each(func(i, j int, x []A) {
		if len(x) > 0 && keep(x[0], a.Rows.Pos(i), a.Cols.Pos(j)) {
			t.set(i, j, x)
		}
	})
	return t
}

// reduceRows: the sum of each row, as a row vector.
func reduceRows[T any](a Dense[T], m semiring.Monoid[T]) Dense[T] {
	t := newDense[T](one, a.Rows)
	for i := range a.Rows.Len() {
		var terms []T
		for j := range a.Cols.Len() {
			terms = append(terms, a.at(i, j)...)
		}
		t.set(0, i, sum(m, terms))
	}
	return t
}

// extract: T(p, q) = A(rows[p], cols[q]); the lists index used positions.
func extract[T any](a Dense[T], rows, cols []int) Dense[T] {
	t := newDense[T](Axis{N: len(rows)}, Axis{N: len(cols)})
	t.each(func(p, q int, _ []T) { t.set(p, q, a.at(rows[p], cols[q])) })
	return t
}

// scatter: T(rows[k], cols[k]) is the sum of the u(k) there; the lists index used positions.
func scatter[T any](m, n Axis, add semiring.Monoid[T], u Dense[T], rows, cols []int) Dense[T] {
	t := newDense[T](m, n)
	terms := make([][]T, len(t.Cell))
	for k, x := range u.Cell {
		p := rows[k]*n.Len() + cols[k]
		terms[p] = append(terms[p], x...)
	}
	for p := range t.Cell {
		t.Cell[p] = sum(add, terms[p])
	}
	return t
}

// assign: Z is C with Z(rows[p], cols[q]) = accum(C(…), A(p, q)).
func assign[T any](c, a Dense[T], rows, cols []int, accum func(x, y T) T) Dense[T] {
	z := c.clone()
	a.each(func(p, q int, x []T) {
		old := c.at(rows[p], cols[q])
		if accum != nil && len(old) > 0 {
			if len(x) > 0 {
				x = []T{accum(old[0], x[0])}
			} else {
				x = old
			}
		}
		z.set(rows[p], cols[q], x)
	})
	return z
}

// kronecker: T(i·p+k, j·q+l) = op(A(i,j), B(k,l)) for a p×q matrix B.
func kronecker[A, B, C any](a Dense[A], b Dense[B], op func(x A, y B) C) Dense[C] {
	t := newDense[C](product(a.Rows, b.Rows), product(a.Cols, b.Cols))
	a.each(func(i, j int, x []A) {
		b.each(func(k, l int, y []B) {
			if len(x) > 0 && len(y) > 0 {
				t.set(i*b.Rows.Len()+k, j*b.Cols.Len()+l, []C{op(x[0], y[0])})
			}
		})
	})
	return t
}

func product(x, y Axis) Axis {
	z := Axis{N: x.N * y.N}
	if x.At != nil || y.At != nil {
		z.At = []int{}
		for i := range x.Len() {
			for k := range y.Len() {
				z.At = append(z.At, x.Pos(i)*y.N+y.Pos(k))
			}
		}
	}
	return z
}
