// Package cpu runs the operations of package ops on the host.
//
// It is in two halves that know nothing of each other. The drivers here walk
// the structure: which rows, which entries, where results go, which thread
// does what. They are generic over any element types and know no operator.
// The arithmetic is done by small value kernels, handed in as the struct
// types of this file and called once per row, block or batch, never once per
// entry. Package semiring makes the kernels of built-in operators by
// compile-time specialisation; those of a user's operator come from closures
// or from the user.
package cpu

// Kernels is the arithmetic of a semiring with ⊗: A × B → C and ⊕ over C.
// ci holds the column indices of a row piece, and av or bv its values; either
// may be nil when the operator does not read that operand (see UsesX, UsesY).
// Every kernel adds to what is there; callers start from the identity.
type Kernels[A, B, C any] struct {
	// Dot returns s ⊕ Σ av[p] ⊗ x[ci[p]]. It may stop early at a terminal value.
	Dot func(s C, ci []int32, av []A, x []B) C
	// DotPresent is Dot over those p with present[ci[p]] = 1, and reports
	// whether there was any.
	DotPresent func(s C, ci []int32, av []A, x []B, present []uint8) (C, bool)
	// DotRows sets y[i] = Σ over row i of av[p] ⊗ x[ci[p]], for the rows of ptr.
	// It is optional: Dot row by row does the same.
	DotRows func(y []C, id C, ptr []int64, ci []int32, av []A, x []B)
	// Axpy does y[p] ⊕= a ⊗ b[p].
	Axpy func(y []C, a A, b []B)
	// Scatter does acc[ci[p]] ⊕= a ⊗ bv[p] and sets bit ci[p] of marks.
	Scatter func(acc []C, marks []uint64, a A, ci []int32, bv []B)
	// ScatterMasked is Scatter where state[ci[p]] ≠ 0, and sets state to 2 there.
	ScatterMasked func(acc []C, state []uint8, a A, ci []int32, bv []B)
	// ScatterAll does acc[ci[p]] ⊕= a ⊗ bv[p].
	ScatterAll func(acc []C, a A, ci []int32, bv []B)
	// Products sets out[p] = a ⊗ bv[p].
	Products func(out []C, a A, bv []B)
}

// Semiring is what the drivers need to know of a semiring.
type Semiring[A, B, C any] struct {
	Kernels[A, B, C]
	Add      func(x, y C) C
	Mul      func(x A, y B) C
	Identity C
	// UsesX and UsesY tell whether ⊗ reads its first and second argument.
	UsesX, UsesY bool
	// Any says that ⊕ keeps either operand, so that one product settles a sum.
	Any bool
	// Exact says that sums are the same in any order, to the bit.
	Exact bool
	// IsIdentity is set when a ⊗ identity never changes a sum, whatever a, and
	// tells whether a sum is still the identity. Absent entries can then stand
	// as identities, without a test for presence: in min.plus over floats, +Inf.
	IsIdentity func(C) bool
	// Absent, of account where IsIdentity is set, is the identity as a B.
	Absent B
}

// Binary is the arithmetic of a binary operator A × B → C.
type Binary[A, B, C any] struct {
	Fn func(x A, y B) C
	// Zip sets c[p] = f(a[p], b[p]).
	Zip func(c []C, a []A, b []B)
	// ZipAt sets c[pc[p]] = f(a[pa[p]], b[pb[p]]).
	ZipAt func(c []C, pc []int32, a []A, pa []int32, b []B, pb []int32)
	// BindX sets c[p] = f(x, b[p]).
	BindX func(c []C, x A, b []B)
	// BindY sets c[p] = f(a[p], y).
	BindY func(c []C, a []A, y B)
	// UsesX and UsesY tell whether the operator reads its arguments.
	UsesX, UsesY bool
}

// Monoid is the arithmetic of a commutative monoid over T.
type Monoid[T any] struct {
	Fn       func(x, y T) T
	Identity T
	// Fold returns s ⊕ Σ xs[p]. It may stop early at a terminal value.
	Fold func(s T, xs []T) T
	// FoldRows sets y[i] = Σ over row i, for the rows of ptr.
	FoldRows func(y []T, id T, ptr []int64, v []T)
	// Collect does acc[ci[p]] ⊕= v[p].
	Collect func(acc []T, ci []int32, v []T)
}

// Unary is the arithmetic of a unary operator A → C.
type Unary[A, C any] struct {
	// Map sets c[p] = f(a[p]).
	Map func(c []C, a []A)
	// Copies says that f is the identity.
	Copies bool
}

// Index is the arithmetic of an operator of value and position: c = f(a, i, j).
type Index[A, C any] struct {
	// Map sets c[p] = f(a[p], i, ci[p]) for a piece of row i. A nil ci means
	// columns j0, j0+1, ….
	Map func(c []C, a []A, i int, ci []int32, j0 int)
	// UsesValue tells whether a is read; it may be nil otherwise.
	UsesValue bool
}

// Predicate decides which entries are kept.
type Predicate[A any] struct {
	// Keep sets keep[p] to 1 or 0 for a piece of row i. A nil ci means columns
	// j0, j0+1, ….
	Keep func(keep []uint8, a []A, i int, ci []int32, j0 int)
	// Band is set for predicates on j−i alone: kept is lo ≤ j−i ≤ hi.
	Band   bool
	Lo, Hi int64
	// UsesValue tells whether a is read; it may be nil otherwise.
	UsesValue bool
}
