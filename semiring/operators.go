package semiring

import (
	"fmt"
	"math"
	"reflect"
	"unsafe"

	"github.com/hiveblas/hiveblas/internal/cpu"
	"github.com/hiveblas/hiveblas/internal/sparse"
)

// BinaryOp is a binary operator A × B → C: its name, its Go form and its CUDA form.
type BinaryOp[A, B, C any] struct {
	_  [0]func(A, B) C // keeps operators over other types from conversion to this one
	in *innerBinary
}

// Operator is a BinaryOp, or a Monoid in the role of its operator.
type Operator[A, B, C any] interface {
	// Op returns the binary operator.
	Op() BinaryOp[A, B, C]
}

// NewBinary returns the operator computed by f. cuda is the same function as a CUDA C expression in
// x and y, such as "x / (x + y)"; without it, or with "", the operator runs on the CPU only.
// Operations call f from several goroutines at once, so it must be safe for concurrent use. A nil f
// gives an operator that is not Valid.
func NewBinary[A, B, C any](name string, f func(x A, y B) C, cuda ...string) BinaryOp[A, B, C] {
	return BinaryOp[A, B, C]{in: userBinary(newBinary(name, f, textOf(cuda)))}
}

// userBinary marks an operator as a user's.
//
//go:noinline
func userBinary(op *innerBinary) *innerBinary {
	if op.Binary != nil {
		op.User = true
	}
	return op
}

// textOf returns the CUDA expression of optional arguments. The last one counts.
func textOf(cuda []string) string {
	if len(cuda) == 0 {
		return ""
	}
	return cuda[len(cuda)-1]
}

// newBinary is NewBinary for the operators of this package.
func newBinary[A, B, C any](name string, f func(x A, y B) C, cuda string) *innerBinary {
	if f == nil {
		return operatorOf(nil, name, cuda, nil)
	}
	k := &cpu.BinaryOf[A, B, C]{
		Zip:   func(c []C, a []A, b []B) { ZipFn(c, a, b, f) },
		ZipAt: func(c []C, pc []int32, a []A, pa []int32, b []B, pb []int32) { ZipAtFn(c, pc, a, pa, b, pb, f) },
		BindX: func(c []C, at *A, b []B) {
			x := *at
			for p, y := range b {
				c[p] = f(x, y)
			}
		},
		BindY: func(c []C, a []A, at *B) {
			y := *at
			for p, x := range a {
				c[p] = f(x, y)
			}
		},
		UsesX: true, UsesY: true,
	}
	return operatorOf(k.Untyped(), name, cuda, pointerTo(f))
}

// Inside returns the operator for the packages of this module; see [Semiring.Inside].
func (op BinaryOp[A, B, C]) Inside() *cpu.Operator { return op.in.inside() }

// Name returns the operator's name, such as "plus".
func (op BinaryOp[A, B, C]) Name() string { return op.in.title() }

// CUDA returns the operator as a CUDA C expression in x and y, or "".
func (op BinaryOp[A, B, C]) CUDA() string { return op.in.text() }

// Op returns the operator itself.
func (op BinaryOp[A, B, C]) Op() BinaryOp[A, B, C] { return op }

// Apply returns x op y, or the zero value if the operator is not Valid.
func (op BinaryOp[A, B, C]) Apply(x A, y B) (z C) {
	if op.in == nil || op.in.fn == nil {
		return z
	}
	return funcOf[func(A, B) C](op.in.fn)(x, y)
}

// Combine equals Apply. Accumulators and builders call it; A, B and C are then one type.
func (op BinaryOp[A, B, C]) Combine(x A, y B) C { return op.Apply(x, y) }

// Position returns the index that a positional operator returns, such as MinSecondi(0).Mul(),
// PositionsAll for an operator of NewIndexBinary, and NotPositional for every other. A positional
// operator has no value without the positions of its
// operands: New makes semirings of it, and all else refuses it, so it is not Valid.
func (op BinaryOp[A, B, C]) Position() Position { return op.in.position() }

// Valid reports whether the operator applies to two values: a constructor of this package made it,
// and it is not positional.
func (op BinaryOp[A, B, C]) Valid() bool { return op.in.valid() }

// String returns the name.
func (op BinaryOp[A, B, C]) String() string { return op.in.title() }

// Monoid is a commutative, associative operator over T with an identity. The order of summation is
// unspecified. Every sum starts from the identity, which is also the value of an empty sum. [Check]
// tests these laws.
type Monoid[T any] struct {
	_  [0]func(T) T
	in *innerMonoid
}

// NewMonoid returns the monoid of op with the given identity, which a GPU receives as a literal. If
// op is not Valid, neither is the monoid.
func NewMonoid[T any](op BinaryOp[T, T, T], identity T) Monoid[T] {
	return Monoid[T]{in: newMonoid(op.in, identity)}
}

// newMonoid is NewMonoid for the operators of this package.
func newMonoid[T any](op *innerBinary, identity T) *innerMonoid {
	if !op.valid() {
		return sumOf(nil, op, cpu.Values{})
	}
	f := funcOf[func(T, T) T](op.fn)
	k := &cpu.MonoidOf[T]{
		Identity: []T{identity}, User: op.User,
		Fold: func(s *T, xs []T) { *s = FoldFn(*s, xs, f) },
		FoldRows: func(y []T, id *T, ptr []int64, v []T) {
			for i := range y {
				y[i] = FoldFn(*id, v[ptr[i]:ptr[i+1]], f)
			}
		},
		Collect: func(acc []T, ci []int32, v []T) { CollectFn(acc, ci, v, f) },
	}
	return sumOf(k.Untyped(), op, cpu.Values{})
}

// WithTerminal returns the monoid with a terminal value. A sum that reaches it keeps it, so
// operations may skip the remaining terms.
func (m Monoid[T]) WithTerminal(t T) Monoid[T] {
	return Monoid[T]{in: m.in.withTerminal(one(t))}
}

// Inside returns the monoid for the packages of this module; see [Semiring.Inside].
func (m Monoid[T]) Inside() *cpu.Sum { return m.in.inside() }

// Name returns the operator's name.
func (m Monoid[T]) Name() string { return m.in.operator().title() }

// CUDA returns the operator as a CUDA C expression in x and y, or "".
func (m Monoid[T]) CUDA() string { return m.in.operator().text() }

// Op returns the operator.
func (m Monoid[T]) Op() BinaryOp[T, T, T] { return BinaryOp[T, T, T]{in: m.in.operator()} }

// Identity returns the identity.
func (m Monoid[T]) Identity() (id T) {
	if m.in.valid() {
		id = *(*T)(m.in.Identity.Pointer())
	}
	return id
}

// Terminal returns the terminal value, if the monoid has one.
func (m Monoid[T]) Terminal() (t T, ok bool) {
	if v := m.in.end(); !v.None() {
		return *(*T)(v.Pointer()), true
	}
	return t, false
}

// IsAny reports whether the monoid is Any, which returns either operand.
func (m Monoid[T]) IsAny() bool { return m.in.isAny() }

// Combine returns x ⊕ y, or the zero value if the monoid is not Valid.
func (m Monoid[T]) Combine(x, y T) (z T) {
	if !m.in.valid() {
		return z
	}
	return funcOf[func(T, T) T](m.in.op.fn)(x, y)
}

// Valid reports whether the monoid was made by a constructor of this package.
func (m Monoid[T]) Valid() bool { return m.in.valid() }

// String returns the name.
func (m Monoid[T]) String() string { return m.Name() }

// UnaryOp is a unary operator A → C.
type UnaryOp[A, C any] struct {
	_  [0]func(A) C
	in *innerUnary
}

// NewUnary returns the operator computed by f. cuda is the same function as a CUDA C expression in
// x; without it, or with "", the operator runs on the CPU only. Operations call f from several
// goroutines at once, so it must be safe for concurrent use. A nil f gives an operator that is not
// Valid.
func NewUnary[A, C any](name string, f func(A) C, cuda ...string) UnaryOp[A, C] {
	return UnaryOp[A, C]{in: userUnary(newUnary(name, f, textOf(cuda)))}
}

// userUnary marks an operator as a user's.
//
//go:noinline
func userUnary(op *innerUnary) *innerUnary {
	if op.Unary != nil {
		op.User = true
	}
	return op
}

// newUnary is NewUnary for the operators of this package.
func newUnary[A, C any](name string, f func(A) C, cuda string) *innerUnary {
	if f == nil {
		return &innerUnary{UnaryOperator: cpu.UnaryOperator{Name: name, CUDA: cuda}}
	}
	return mapping(name, f, cuda, func(c []C, a []A) { MapFn(c, a, f) })
}

// mapping is newUnary with the loop of the operator.
func mapping[A, C any](name string, f func(A) C, cuda string, loop func(c []C, a []A)) *innerUnary {
	k := &cpu.UnaryOf[A, C]{Map: loop}
	return &innerUnary{cpu.UnaryOperator{Unary: k.Untyped(), Name: name, CUDA: cuda}, pointerTo(f)}
}

// WithMap returns the operator with loop as its inner loop c[p] = f(a[p]): write it as a call of
// MapFn with a function literal, which Go inlines.
func (op UnaryOp[A, C]) WithMap(loop func(c []C, a []A)) UnaryOp[A, C] {
	if loop == nil {
		return op
	}
	k := &cpu.UnaryOf[A, C]{Map: loop}
	return UnaryOp[A, C]{in: op.in.withMap(k.Untyped())}
}

// Inside returns the operator for the packages of this module; see [Semiring.Inside].
func (op UnaryOp[A, C]) Inside() *cpu.UnaryOperator { return op.in.inside() }

// Name returns the operator's name.
func (op UnaryOp[A, C]) Name() string { return op.in.title() }

// CUDA returns the operator as a CUDA C expression in x, or "".
func (op UnaryOp[A, C]) CUDA() string { return op.in.text() }

// Apply returns op(x), or the zero value if the operator is not Valid.
func (op UnaryOp[A, C]) Apply(x A) (z C) {
	if op.in == nil || op.in.fn == nil {
		return z
	}
	return funcOf[func(A) C](op.in.fn)(x)
}

// Valid reports whether the operator was made by a constructor of this package.
func (op UnaryOp[A, C]) Valid() bool { return op.in.valid() }

// String returns the name.
func (op UnaryOp[A, C]) String() string { return op.in.title() }

// IndexOp is an operator on the value and the position of an entry: f(x, i, j) for the entry x at
// row i, column j. For vectors, i is the position and j is 0.
type IndexOp[A, C any] struct {
	_  [0]func(A) C
	in *innerIndex
}

// NewIndex returns the operator computed by f. cuda is the same function as a CUDA C expression in
// x, i and j; without it, or with "", the operator runs on the CPU only. Operations call f from
// several goroutines at once, so it must be safe for concurrent use. A nil f gives an operator that
// is not Valid.
func NewIndex[A, C any](name string, f func(x A, i, j int) C, cuda ...string) IndexOp[A, C] {
	return IndexOp[A, C]{in: newIndex(name, f, textOf(cuda))}
}

func newIndex[A, C any](name string, f func(x A, i, j int) C, cuda string) *innerIndex {
	if f == nil {
		return &innerIndex{IndexOperator: cpu.IndexOperator{Name: name, CUDA: cuda}}
	}
	k := &cpu.IndexOf[A, C]{UsesValue: true, Map: func(c []C, a []A, i int, ci []int32, j0 int, swap bool) {
		var x A
		for p := range c {
			j := j0 + p
			if ci != nil {
				j = int(ci[p])
			}
			if a != nil {
				x = a[p]
			}
			if swap {
				c[p] = f(x, j, i)
			} else {
				c[p] = f(x, i, j)
			}
		}
	}}
	return &innerIndex{cpu.IndexOperator{Index: k.Untyped(), Name: name, CUDA: cuda}, pointerTo(f)}
}

// Inside returns the operator for the packages of this module; see [Semiring.Inside].
func (op IndexOp[A, C]) Inside() *cpu.IndexOperator { return op.in.inside() }

// Name returns the operator's name.
func (op IndexOp[A, C]) Name() string { return op.in.title() }

// CUDA returns the operator as a CUDA C expression in x, i and j, or "".
func (op IndexOp[A, C]) CUDA() string { return op.in.text() }

// Apply returns f(x, i, j), or the zero value if the operator is not Valid.
func (op IndexOp[A, C]) Apply(x A, i, j int) (z C) {
	if !op.in.valid() {
		return z
	}
	return funcOf[func(A, int, int) C](op.in.fn)(x, i, j)
}

// UsesValue reports whether the operator reads x.
func (op IndexOp[A, C]) UsesValue() bool { return op.in.usesValue() }

// Valid reports whether the operator was made by a constructor of this package.
func (op IndexOp[A, C]) Valid() bool { return op.in.valid() }

// String returns the name.
func (op IndexOp[A, C]) String() string { return op.in.title() }

// SelectOp is a predicate on the value and the position of an entry. For vectors, i is the position
// and j is 0.
type SelectOp[A any] struct {
	_  [0]func(A) bool
	in *innerSelect
}

// NewSelect returns the predicate computed by f. cuda is the same function as a CUDA C expression
// in x, i and j; without it, or with "", the predicate runs on the CPU only. Operations call f from
// several goroutines at once, so it must be safe for concurrent use. A nil f gives an operator that
// is not Valid.
func NewSelect[A any](name string, f func(x A, i, j int) bool, cuda ...string) SelectOp[A] {
	if f == nil {
		return SelectOp[A]{in: selecting(nil, name, textOf(cuda), nil)}
	}
	k := &cpu.PredicateOf[A]{UsesValue: true, User: true, Keep: func(keep []uint8, a []A, i int, ci []int32, j0 int, swap bool) {
		var x A
		for p := range keep {
			j := j0 + p
			if ci != nil {
				j = int(ci[p])
			}
			if a != nil {
				x = a[p]
			}
			if swap {
				keep[p] = b2u(f(x, j, i))
			} else {
				keep[p] = b2u(f(x, i, j))
			}
		}
	}}
	return SelectOp[A]{in: selecting(k.Untyped(), name, textOf(cuda), pointerTo(f))}
}

// selecting returns a predicate, its names and its function, which may be nil.
func selecting(k *cpu.Predicate, name, cuda string, fn unsafe.Pointer) *innerSelect {
	return &innerSelect{cpu.SelectOperator{Predicate: k, Name: name, CUDA: cuda}, fn}
}

// Inside returns the predicate for the packages of this module; see [Semiring.Inside].
func (op SelectOp[A]) Inside() *cpu.SelectOperator { return op.in.inside() }

// Name returns the operator's name.
func (op SelectOp[A]) Name() string { return op.in.title() }

// CUDA returns the predicate as a CUDA C expression in x, i and j, or "". A comparison with a value
// names the value y; see Bound.
func (op SelectOp[A]) CUDA() string { return op.in.text() }

// Bound returns the value that the predicate compares entries with, if there is one. The CUDA form
// does not contain it, so that one kernel serves all values.
func (op SelectOp[A]) Bound() (y A, ok bool) {
	if !op.in.valid() || op.in.SelectOperator.Bound == nil {
		return y, false
	}
	return *(*A)(op.in.SelectOperator.Bound), true
}

// Keep reports whether the predicate keeps the entry x at row i, column j. One that is not Valid
// keeps nothing.
func (op SelectOp[A]) Keep(x A, i, j int) bool {
	switch {
	case !op.in.valid():
		return false
	case op.in.fn != nil:
		return funcOf[func(A, int, int) bool](op.in.fn)(x, i, j)
	}
	return op.in.keeps(one(x), i, j)
}

// Valid reports whether the predicate was made by a constructor of this package.
func (op SelectOp[A]) Valid() bool { return op.in.valid() }

// String returns the name.
func (op SelectOp[A]) String() string { return op.in.title() }

// one returns a value as values without its type.
func one[T any](x T) cpu.Values { return sparse.ValuesOf([]T{x}) }

// scalarCUDA returns a number, also of a named type, as a CUDA C expression.
func scalarCUDA(x any) string {
	v := reflect.ValueOf(x)
	switch {
	case v.CanFloat():
		return floatCUDA(v.Float())
	case v.CanInt():
		switch i := v.Int(); {
		case i == math.MinInt64: // C has no such literal
			return "(-9223372036854775807LL - 1)"
		case i != int64(int32(i)):
			return fmt.Sprintf("%dLL", i)
		default:
			return fmt.Sprint(i)
		}
	}
	if u := v.Uint(); u > math.MaxInt32 {
		return fmt.Sprintf("%dULL", u)
	}
	return fmt.Sprint(v.Uint())
}

func floatCUDA(v float64) string {
	switch {
	case math.IsNaN(v):
		return "NAN"
	case math.IsInf(v, 1):
		return "INFINITY"
	case math.IsInf(v, -1):
		return "-INFINITY"
	}
	return fmt.Sprintf("%.17g", v)
}
