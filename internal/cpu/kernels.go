// Package cpu runs the operations of package ops on the host.
//
// The package separates structure from arithmetic. The drivers here traverse the structure: they
// select rows and entries, place results and divide work among threads. They know neither element
// types nor operators: values are sparse.Values, which a sparse.Type moves. Small value kernels do
// the arithmetic; the caller passes them as the struct types of this file, and a driver calls them
// once per row, block or batch, never once per entry. Package semiring generates the kernels of
// built-in operators by compile-time specialisation. The kernels of a user's operator are closures,
// or the user supplies them.
package cpu

import (
	"unsafe"

	"github.com/hiveblas/hiveblas/internal/sparse"
)

// The kernels exist in two forms of one memory layout: over element types (KernelsOf, BinaryOf …),
// as package semiring makes them, and without (Kernels, Binary …), as the drivers call them. A
// []T is passed as a sparse.Values and a *T as an unsafe.Pointer: both have the same place among
// the arguments of a function, whatever T is, and so one form is the other by a conversion. That is
// why no kernel takes or returns a value of an element type. TestKernelLayout compares the forms.

// Values is a slice of values of an element type.
type Values = sparse.Values

// Value is the address of one value of an element type.
type Value = unsafe.Pointer

// KernelsOf is the arithmetic of a semiring with ⊗: A × B → C and ⊕ over C. ci holds the column
// indices of a row piece, and av or bv its values; either may be nil if the operator does not read
// that operand (see UsesX, UsesY), and then a may be nil too. Every kernel that accumulates adds to
// the current value; callers start from the identity.
type KernelsOf[A, B, C any] struct {
	// Dot does *y ⊕= Σ av[p] ⊗ x[ci[p]]. It may stop early at a terminal value.
	Dot func(y *C, ci []int32, av []A, x []B)
	// DotPresent is Dot over the p with present[ci[p]] = 1. It reports whether there is any.
	DotPresent func(y *C, ci []int32, av []A, x []B, present []uint8) bool
	// DotRows sets y[i] = *id ⊕ Σ over row i of av[p] ⊗ x[ci[p]], for the rows of ptr. It is
	// optional: Dot on each row gives the same result.
	DotRows func(y []C, id *C, ptr []int64, ci []int32, av []A, x []B)
	// Axpy does y[p] ⊕= *a ⊗ b[p].
	Axpy func(y []C, a *A, b []B)
	// Scatter does acc[ci[p]] ⊕= *a ⊗ bv[p] and sets bit ci[p] of marks.
	Scatter func(acc []C, marks []uint64, a *A, ci []int32, bv []B)
	// ScatterMasked is Scatter where state[ci[p]] ≠ 0, and sets state to 2 there.
	ScatterMasked func(acc []C, state []uint8, a *A, ci []int32, bv []B)
	// ScatterAll does acc[ci[p]] ⊕= *a ⊗ bv[p].
	ScatterAll func(acc []C, a *A, ci []int32, bv []B)
	// Products sets out[p] = *a ⊗ bv[p].
	Products func(out []C, a *A, bv []B)
	// Collect does acc[ci[p]] ⊕= v[p].
	Collect func(acc []C, ci []int32, v []C)
	// IsIdentity is set if a ⊗ identity never changes a sum, for any a; it reports whether a sum
	// equals the identity. Identities can then represent absent entries, without a presence test:
	// in min.plus over floats, +Inf.
	IsIdentity func(y *C) bool
}

// Kernels is KernelsOf without element types.
type Kernels struct {
	Dot           func(y Value, ci []int32, av, x Values)
	DotPresent    func(y Value, ci []int32, av, x Values, present []uint8) bool
	DotRows       func(y Values, id Value, ptr []int64, ci []int32, av, x Values)
	Axpy          func(y Values, a Value, b Values)
	Scatter       func(acc Values, marks []uint64, a Value, ci []int32, bv Values)
	ScatterMasked func(acc Values, state []uint8, a Value, ci []int32, bv Values)
	ScatterAll    func(acc Values, a Value, ci []int32, bv Values)
	Products      func(out Values, a Value, bv Values)
	Collect       func(acc Values, ci []int32, v Values)
	IsIdentity    func(y Value) bool
}

// Untyped returns the kernels without element types.
func (k *KernelsOf[A, B, C]) Untyped() Kernels { return *(*Kernels)(unsafe.Pointer(k)) }

// TypedKernels returns the loops of a semiring with the element types that they have. The two share
// memory.
func TypedKernels[A, B, C any](s *Semiring) *KernelsOf[A, B, C] {
	return (*KernelsOf[A, B, C])(unsafe.Pointer(s)) // which begins with its Kernels
}

// Semiring is a semiring as the drivers use it: kernels and properties.
type Semiring struct {
	Kernels
	// Identity is the identity of ⊕, one value. Absent is the identity as a B; it is used only if
	// IsIdentity is set.
	Identity, Absent Values
	// UsesX and UsesY report whether ⊗ reads its first and second argument.
	UsesX, UsesY bool
	// Any is set if ⊕ may return either operand, so that one product determines a sum.
	Any bool
	// Exact is set if sums are bitwise identical in any order.
	Exact bool
	// User is set if a kernel calls a function of a user, which may take any time or panic.
	User bool
	// ScatterOnly is set if a user's loop replaces Scatter but not ScatterAll, which then calls
	// closures and is slower.
	ScatterOnly bool
}

// Positional is a positional semiring: ⊗ returns an index. The index becomes the value of one
// operand, and that operand is multiplied by first or second. FirstPull and SecondPull are
// FirstFlip and Second for pulls in which the index ascends along a row: a minimum is then the
// first product.
type Positional struct {
	First, Second, FirstPull, SecondPull *Semiring
	FirstFlip, SecondFlip                *Semiring
	// FillIndices sets c[p] to the index ci[p].
	FillIndices func(c Values, ci []int32)
}

// Forms are the forms of a semiring: the loops and the loops of exchanged operands, or a positional
// semiring, or a semiring that reads positions. The others are nil.
type Forms struct {
	Semiring, Flipped *Semiring
	Positional        *Positional
	Indexed           *Indexed
}

// BinaryOf is the arithmetic of a binary operator A × B → C.
type BinaryOf[A, B, C any] struct {
	// Zip sets c[p] = f(a[p], b[p]).
	Zip func(c []C, a []A, b []B)
	// ZipAt sets c[pc[p]] = f(a[pa[p]], b[pb[p]]).
	ZipAt func(c []C, pc []int32, a []A, pa []int32, b []B, pb []int32)
	// BindX sets c[p] = f(*x, b[p]).
	BindX func(c []C, x *A, b []B)
	// BindY sets c[p] = f(a[p], *y).
	BindY func(c []C, a []A, y *B)
	// UsesX and UsesY report whether the operator reads its arguments.
	UsesX, UsesY bool
	// User is set if the operator calls a function of a user.
	User bool
}

// Binary is BinaryOf without element types.
type Binary struct {
	Zip                func(c, a, b Values)
	ZipAt              func(c Values, pc []int32, a Values, pa []int32, b Values, pb []int32)
	BindX              func(c Values, x Value, b Values)
	BindY              func(c, a Values, y Value)
	UsesX, UsesY, User bool
}

// Untyped returns the operator without element types; both share memory.
func (f *BinaryOf[A, B, C]) Untyped() *Binary { return (*Binary)(unsafe.Pointer(f)) }

// BinaryByPairs returns the operator of a user's function on one type, by its loop.
func BinaryByPairs(f sparse.Pairs) *Binary {
	return &Binary{
		Zip: func(c, a, b Values) { f(c, nil, a, nil, b, nil) },
		ZipAt: func(c Values, pc []int32, a Values, pa []int32, b Values, pb []int32) {
			if len(pc) > 0 {
				f(c, pc, a, pa, b, pb)
			}
		},
		UsesX: true, UsesY: true, User: true,
	}
}

// MonoidOf is the arithmetic of a commutative monoid over T.
type MonoidOf[T any] struct {
	// Fold does *s ⊕= Σ xs[p]. It may stop early at a terminal value.
	Fold func(s *T, xs []T)
	// FoldRows sets y[i] = *id ⊕ Σ over row i, for the rows of ptr.
	FoldRows func(y []T, id *T, ptr []int64, v []T)
	// Collect does acc[ci[p]] ⊕= v[p].
	Collect func(acc []T, ci []int32, v []T)
	// CollectMarked is Collect that also sets bit ci[p] of marks. It is optional.
	CollectMarked func(acc []T, marks []uint64, ci []int32, v []T)
	// Identity is the identity, one value.
	Identity []T
	// Exact is set if sums in any order are equal, bit for bit.
	Exact bool
	// User is set if the operator calls a function of a user.
	User bool
}

// Monoid is MonoidOf without the element type.
type Monoid struct {
	Fold          func(s Value, xs Values)
	FoldRows      func(y Values, id Value, ptr []int64, v Values)
	Collect       func(acc Values, ci []int32, v Values)
	CollectMarked func(acc Values, marks []uint64, ci []int32, v Values)
	Identity      Values
	Exact, User   bool
}

// Untyped returns the monoid without its element type; both share memory.
func (m *MonoidOf[T]) Untyped() *Monoid { return (*Monoid)(unsafe.Pointer(m)) }

// TypedBinary and TypedMonoid are TypedKernels for operators and monoids.
func TypedBinary[A, B, C any](f *Binary) *BinaryOf[A, B, C] {
	return (*BinaryOf[A, B, C])(unsafe.Pointer(f))
}
func TypedMonoid[T any](m *Monoid) *MonoidOf[T] { return (*MonoidOf[T])(unsafe.Pointer(m)) }

// UnaryOf is the arithmetic of a unary operator A → C.
type UnaryOf[A, C any] struct {
	// Map sets c[p] = f(a[p]).
	Map func(c []C, a []A)
	// Copies is set if f is the identity.
	Copies bool
	// User is set if f calls a function of a user.
	User bool
}

// Unary is UnaryOf without element types.
type Unary struct {
	Map          func(c, a Values)
	Copies, User bool
}

// Untyped returns the operator without element types; both share memory.
func (f *UnaryOf[A, C]) Untyped() *Unary { return (*Unary)(unsafe.Pointer(f)) }

// IndexOf is the arithmetic of an operator of value and position: c = f(a, i, j).
type IndexOf[A, C any] struct {
	// Map sets c[p] = f(a[p], i, ci[p]) for a piece of row i, or f(a[p], ci[p], i) if swap is set.
	// If ci is nil, the columns are j0, j0+1, …. If a is nil, the values are zero.
	Map func(c []C, a []A, i int, ci []int32, j0 int, swap bool)
	// UsesValue reports whether a is read; if not, a may be nil.
	UsesValue bool
}

// Index is IndexOf without element types.
type Index struct {
	Map       func(c, a Values, i int, ci []int32, j0 int, swap bool)
	UsesValue bool
}

// Untyped returns the operator without element types; both share memory.
func (f *IndexOf[A, C]) Untyped() *Index { return (*Index)(unsafe.Pointer(f)) }

// PredicateOf selects the entries to keep.
type PredicateOf[A any] struct {
	// Keep sets keep[p] to 1 or 0 for a piece of row i, or of column i if swap is set. If ci is
	// nil, the columns are j0, j0+1, ….
	Keep func(keep []uint8, a []A, i int, ci []int32, j0 int, swap bool)
	// Band is set for predicates on j−i only: an entry is kept if lo ≤ j−i ≤ hi, or with Off if
	// not.
	Band, Off bool
	Lo, Hi    int64
	// ByValue is set for predicates on the value alone.
	ByValue bool
	// UsesValue reports whether a is read; if not, a may be nil.
	UsesValue bool
	// User is set if Keep calls a function of a user.
	User bool
	// Bound is the address of the value that entries are compared with, if there is one.
	Bound Value
}

// Predicate is PredicateOf without the element type.
type Predicate struct {
	Keep                     func(keep []uint8, a Values, i int, ci []int32, j0 int, swap bool)
	Band, Off                bool
	Lo, Hi                   int64
	ByValue, UsesValue, User bool
	Bound                    Value
}

// Symmetric reports whether the predicate keeps either both or none of two equal entries (i,j) and
// (j,i).
func (f *Predicate) Symmetric() bool { return f.Band && f.Lo == -f.Hi || f.ByValue && !f.User }

// Untyped returns the predicate without its element type; both share memory.
func (f *PredicateOf[A]) Untyped() *Predicate { return (*Predicate)(unsafe.Pointer(f)) }
