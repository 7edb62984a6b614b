// Package cpu runs the operations of package ops on the host.
//
// The package separates structure from arithmetic. The drivers here traverse the structure: they
// select rows and entries, place results and divide work among threads. They are generic over the
// element types and independent of the operators. Small value kernels do the arithmetic; the caller
// passes them as the struct types of this file, and a driver calls them once per row, block or
// batch, never once per entry. Package semiring generates the kernels of built-in operators by
// compile-time specialisation. The kernels of a user's operator are closures, or the user supplies
// them.
package cpu

// Kernels is the arithmetic of a semiring with ⊗: A × B → C and ⊕ over C. ci holds the column
// indices of a row piece, and av or bv its values; either may be nil if the operator does not read
// that operand (see UsesX, UsesY). Every kernel that accumulates adds to the current value; callers
// start from the identity.
type Kernels[A, B, C any] struct {
	// Dot returns s ⊕ Σ av[p] ⊗ x[ci[p]]. It may stop early at a terminal value.
	Dot func(s C, ci []int32, av []A, x []B) C
	// DotPresent is Dot over the p with present[ci[p]] = 1. It also reports whether there is any.
	DotPresent func(s C, ci []int32, av []A, x []B, present []uint8) (C, bool)
	// DotRows sets y[i] = Σ over row i of av[p] ⊗ x[ci[p]], for the rows of ptr. It is optional:
	// Dot on each row gives the same result.
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

// Semiring is a semiring as the drivers use it: kernels, scalar functions and properties.
type Semiring[A, B, C any] struct {
	Kernels[A, B, C]
	Add func(x, y C) C
	Mul func(x A, y B) C
	// Collect does acc[ci[p]] ⊕= v[p].
	Collect  func(acc []C, ci []int32, v []C)
	Identity C
	// UsesX and UsesY report whether ⊗ reads its first and second argument.
	UsesX, UsesY bool
	// Any is set if ⊕ may return either operand, so that one product determines a sum.
	Any bool
	// Exact is set if sums are bitwise identical in any order.
	Exact bool
	// IsIdentity is set if a ⊗ identity never changes a sum, for any a; it reports whether a sum
	// equals the identity. Identities can then represent absent entries, without a presence test:
	// in min.plus over floats, +Inf.
	IsIdentity func(C) bool
	// User is set if a kernel calls a function of a user, which may take any time or panic.
	User bool
	// ScatterOnly is set if a loop of a user's takes the place of Scatter but not of ScatterAll, which
	// then calls closures and is the slower.
	ScatterOnly bool
	// Absent is the identity as a B. It is used only if IsIdentity is set.
	Absent B
}

// Positional is a positional semiring, whose ⊗ returns an index. The index becomes the value of one
// operand, and that operand is multiplied by first or second.
type Positional[A, B, C any] struct {
	First       *Semiring[C, B, C]
	Second      *Semiring[A, C, C]
	FirstFlip   *Semiring[B, C, C]
	SecondFlip  *Semiring[C, A, C]
	FromIndex   func(i int) C
	FillIndices func(c []C, ci []int32)
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
	// UsesX and UsesY report whether the operator reads its arguments.
	UsesX, UsesY bool
	// User is set if the operator calls a function of a user.
	User bool
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
	// CollectMarked is Collect that also sets bit ci[p] of marks. It is optional.
	CollectMarked func(acc []T, marks []uint64, ci []int32, v []T)
	// Exact is set if sums in any order are equal, bit for bit.
	Exact bool
	// User is set if the operator calls a function of a user.
	User bool
}

// Unary is the arithmetic of a unary operator A → C.
type Unary[A, C any] struct {
	// Map sets c[p] = f(a[p]).
	Map func(c []C, a []A)
	// Copies is set if f is the identity.
	Copies bool
	// User is set if f calls a function of a user.
	User bool
}

// Index is the arithmetic of an operator of value and position: c = f(a, i, j).
type Index[A, C any] struct {
	// Map sets c[p] = f(a[p], i, ci[p]) for a piece of row i. If ci is nil, the columns are j0,
	// j0+1, ….
	Map func(c []C, a []A, i int, ci []int32, j0 int)
	// UsesValue reports whether a is read; if not, a may be nil.
	UsesValue bool
}

// Predicate selects the entries to keep.
type Predicate[A any] struct {
	// Keep sets keep[p] to 1 or 0 for a piece of row i. If ci is nil, the columns are j0, j0+1, ….
	Keep func(keep []uint8, a []A, i int, ci []int32, j0 int)
	// Band is set for predicates on j−i only: an entry is kept if lo ≤ j−i ≤ hi.
	Band   bool
	Lo, Hi int64
	// UsesValue reports whether a is read; if not, a may be nil.
	UsesValue bool
}
