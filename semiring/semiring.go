package semiring

import (
	"github.com/hiveblas/hiveblas/internal/cpu"
)

// Semiring is an operator ⊗: A × B → C with a monoid ⊕ over C, for MxM, MxV and VxM. One value
// holds both of its forms, the Go kernels and the CUDA expressions.
type Semiring[A, B, C any] struct {
	_  [0]func(A, B) C // keeps semirings over other types from conversion to this one
	in *innerRing
}

// Position is the index that a positional multiplication returns or reads, for the product of entry
// (i, k) of the first operand and (k, j) of the second.
type Position uint8

// The positions.
const (
	NotPositional Position = iota
	PositionI              // firsti: the row of the first operand
	PositionK              // firstj = secondi: the summation index
	PositionJ              // secondj: the column of the second operand
	PositionsAll           // i, k and j, beside the values: see NewIndexBinary
)

// Kernels are the inner loops of a semiring, for users' semirings at the speed of built-in ones:
// see [Semiring.WithKernels]. ci holds the column indices of a row piece, and av or bv its values;
// either may be nil if ⊗ does not read that operand. Every loop that accumulates adds to the
// current value; callers start from the identity.
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

// New returns the semiring of add and mul. Its loops call both operators as closures and take two
// to five times as long as the loops of a built-in semiring; [Semiring.WithKernels] avoids that. It
// runs on a GPU if both operators have a CUDA form. mul may be the operator of a positional
// semiring, or one of [NewIndexBinary]. If add or mul is not Valid, neither is the semiring, and
// operations return an error.
func New[A, B, C any](add Monoid[C], mul Operator[A, B, C]) Semiring[A, B, C] {
	if mul == nil {
		return Semiring[A, B, C]{in: &innerRing{add: add.in, Ring: cpu.Ring{Sum: add.in.inside()}}}
	}
	return Semiring[A, B, C]{in: newRing[A, B, C](add.in, mul.Op().in)}
}

// newRing is New for the operators of this package.
func newRing[A, B, C any](add *innerMonoid, op *innerBinary) *innerRing {
	s := unbound(add, op)
	switch {
	case !add.valid() || op == nil || op.Binary == nil:
	case op.ind != nil:
		s.Indexed = op.ind.under(add)
	case op.pos != nil:
		s.Positional = newPositional[A, B, C](add, op.pos)
	default:
		f := funcOf[func(A, B) C](op.fn)
		flipped := func(y B, x A) C { return f(x, y) }
		s.Semiring = fromClosures(add, f, op.UsesX, op.UsesY, op.User)
		s.Flipped = fromClosures(add, flipped, op.UsesY, op.UsesX, op.User)
	}
	return s
}

// unbound returns the semiring of two operators without loops.
//
//go:noinline
func unbound(add *innerMonoid, mul *innerBinary) *innerRing {
	return &innerRing{add: add, mul: mul, Ring: cpu.Ring{
		Name: add.operator().title() + "_" + mul.title(), Sum: add.inside(), Mul: mul.inside(),
	}}
}

// fromClosures returns the semiring of m and mul; user reports whether mul is a function of a user.
func fromClosures[A, B, C any](m *innerMonoid, mul func(A, B) C, usesX, usesY, user bool) *cpu.Semiring {
	k := closureKernels(funcOf[func(C, C) C](m.op.fn), mul, usesX, usesY)
	s := shell(k.Untyped(), m.Monoid, m.Any, usesX, usesY)
	s.User = user || m.Monoid.User
	return s
}

// shell returns the semiring of kernels and a monoid.
func shell(k cpu.Kernels, m *cpu.Monoid, any, usesX, usesY bool) *cpu.Semiring {
	k.Collect = m.Collect
	return &cpu.Semiring{Kernels: k, Identity: m.Identity, UsesX: usesX, UsesY: usesY, Any: any, Exact: m.Exact}
}

// closureKernels returns kernels that call add and mul. An operand that mul does not read may be a
// nil slice, so mul gets a zero value for it.
func closureKernels[A, B, C any](add func(C, C) C, mul func(A, B) C, usesX, usesY bool) cpu.KernelsOf[A, B, C] {
	at := func(v []B, p int32) (b B) {
		if usesY {
			b = v[p]
		}
		return b
	}
	k := cpu.KernelsOf[A, B, C]{
		Dot: func(y *C, ci []int32, av []A, x []B) {
			var a A
			s := *y
			for p, j := range ci {
				if usesX {
					a = av[p]
				}
				s = add(s, mul(a, at(x, j)))
			}
			*y = s
		},
		DotPresent: func(y *C, ci []int32, av []A, x []B, present []uint8) (hit bool) {
			var a A
			s := *y
			for p, j := range ci {
				if present[j] != 0 {
					if usesX {
						a = av[p]
					}
					s, hit = add(s, mul(a, at(x, j))), true
				}
			}
			*y = s
			return hit
		},
	}
	if usesY {
		k.Axpy = func(y []C, a *A, b []B) { AxpyFn(y, valueAt(a), b, mul, add) }
		k.Scatter = func(acc []C, marks []uint64, a *A, ci []int32, bv []B) {
			ScatterFn(acc, marks, valueAt(a), ci, bv, mul, add)
		}
		k.ScatterMasked = func(acc []C, state []uint8, a *A, ci []int32, bv []B) {
			ScatterMaskedFn(acc, state, valueAt(a), ci, bv, mul, add)
		}
		k.ScatterAll = func(acc []C, a *A, ci []int32, bv []B) { ScatterAllFn(acc, valueAt(a), ci, bv, mul, add) }
		k.Products = func(out []C, a *A, bv []B) { ProductsFn(out, valueAt(a), bv, mul) }
		return k
	}
	var zero B
	k.Axpy = func(y []C, a *A, _ []B) {
		for p := range y {
			y[p] = add(y[p], mul(valueAt(a), zero))
		}
	}
	k.Scatter = func(acc []C, marks []uint64, a *A, ci []int32, _ []B) {
		for _, j := range ci {
			acc[j] = add(acc[j], mul(valueAt(a), zero))
			marks[j>>6] |= 1 << (j & 63)
		}
	}
	k.ScatterMasked = func(acc []C, state []uint8, a *A, ci []int32, _ []B) {
		for _, j := range ci {
			if state[j] != 0 {
				acc[j] = add(acc[j], mul(valueAt(a), zero))
				state[j] = 2
			}
		}
	}
	k.ScatterAll = func(acc []C, a *A, ci []int32, _ []B) {
		for _, j := range ci {
			acc[j] = add(acc[j], mul(valueAt(a), zero))
		}
	}
	k.Products = func(out []C, a *A, _ []B) {
		for p := range out {
			out[p] = mul(valueAt(a), zero)
		}
	}
	return k
}

// valueAt returns the value at a, and zero for nil.
func valueAt[A any](a *A) (x A) {
	if a != nil {
		x = *a
	}
	return x
}

// WithKernels returns s with the loops of k in place of its own; nil loops of k change nothing. A
// loop is one line, a call of an Fn function of this package with the operators as function
// literals, which Go inlines into it:
//
//	s = s.WithKernels(semiring.Kernels[float64, float64, float64]{
//		Scatter: func(acc []float64, marks []uint64, a float64, ci []int32, bv []float64) {
//			semiring.ScatterFn(acc, marks, a, ci, bv,
//				func(x, y float64) float64 { return x / (x + y) },
//				func(x, y float64) float64 { return x + y })
//		},
//	})
//
// Such loops take 1.05–1.25 times as long as built-in ones. Scatter, ScatterAll and Products serve
// sparse products (MxM), which use Scatter alone if it comes without ScatterAll: products of dense
// rows then take up to twice as long. Dot and DotPresent serve matrix times vector, Axpy and
// ScatterAll full operands. The loops must compute the same as the operators of s; [Check] compares
// them. A positional semiring keeps its own loops.
func (s Semiring[A, B, C]) WithKernels(k Kernels[A, B, C]) Semiring[A, B, C] {
	in := s.in.copied()
	in.Semiring = withKernels(in.Semiring, &k)
	return Semiring[A, B, C]{in: in}
}

// WithFlippedKernels is WithKernels for the semiring with exchanged operands, ⊗′(y, x) = x ⊗ y,
// which MxV uses to push and VxM to pull.
func (s Semiring[A, B, C]) WithFlippedKernels(k Kernels[B, A, C]) Semiring[A, B, C] {
	in := s.in.copied()
	in.Flipped = withKernels(in.Flipped, &k)
	return Semiring[A, B, C]{in: in}
}

// withKernels returns f with the kernels of k. It is not inlined into each method and its wrappers,
// which every semiring of a package has.
//
//go:noinline
func withKernels[A, B, C any](f *cpu.Semiring, k *Kernels[A, B, C]) *cpu.Semiring {
	if f == nil {
		return nil
	}
	c := *f
	c.User = true
	overlay(cpu.TypedKernels[A, B, C](&c), *k)
	if k.Scatter != nil || k.ScatterAll != nil {
		c.ScatterOnly = k.ScatterAll == nil
	}
	return &c
}

// overlay puts the loops of k in the place of others.
func overlay[A, B, C any](to *cpu.KernelsOf[A, B, C], k Kernels[A, B, C]) {
	if f := k.Dot; f != nil {
		to.Dot = func(y *C, ci []int32, av []A, x []B) { *y = f(*y, ci, av, x) }
		to.DotRows = func(y []C, id *C, ptr []int64, ci []int32, av []A, x []B) {
			for i := range y {
				lo, hi := ptr[i], ptr[i+1]
				var v []A
				if av != nil {
					v = av[lo:hi]
				}
				y[i] = f(*id, ci[lo:hi], v, x)
			}
		}
	}
	if f := k.DotPresent; f != nil {
		to.DotPresent = func(y *C, ci []int32, av []A, x []B, present []uint8) (hit bool) {
			*y, hit = f(*y, ci, av, x, present)
			return hit
		}
	}
	if f := k.DotRows; f != nil {
		to.DotRows = func(y []C, id *C, ptr []int64, ci []int32, av []A, x []B) { f(y, *id, ptr, ci, av, x) }
	}
	if f := k.Axpy; f != nil {
		to.Axpy = func(y []C, a *A, b []B) { f(y, valueAt(a), b) }
	}
	if f := k.Scatter; f != nil {
		to.Scatter = func(acc []C, marks []uint64, a *A, ci []int32, bv []B) { f(acc, marks, valueAt(a), ci, bv) }
	}
	if f := k.ScatterMasked; f != nil {
		to.ScatterMasked = func(acc []C, state []uint8, a *A, ci []int32, bv []B) { f(acc, state, valueAt(a), ci, bv) }
	}
	if f := k.ScatterAll; f != nil {
		to.ScatterAll = func(acc []C, a *A, ci []int32, bv []B) { f(acc, valueAt(a), ci, bv) }
	}
	if f := k.Products; f != nil {
		to.Products = func(out []C, a *A, bv []B) { f(out, valueAt(a), bv) }
	}
}

// Inside returns the semiring for the packages of this module. It is not for users: the type that
// it returns is internal.
func (s Semiring[A, B, C]) Inside() *cpu.Ring { return s.in.inside() }

// Name returns the name, such as "plus_times".
func (s Semiring[A, B, C]) Name() string { return s.in.title() }

// Named returns s under another name.
func (s Semiring[A, B, C]) Named(name string) Semiring[A, B, C] {
	return Semiring[A, B, C]{in: s.in.named(name)}
}

// Add returns the monoid ⊕.
func (s Semiring[A, B, C]) Add() Monoid[C] { return Monoid[C]{in: s.in.monoid()} }

// Mul returns the operator ⊗. The operator of a positional semiring is for [New] alone: see
// [BinaryOp.Position].
func (s Semiring[A, B, C]) Mul() BinaryOp[A, B, C] { return BinaryOp[A, B, C]{in: s.in.product()} }

// Position returns the index that ⊗ returns, PositionsAll if ⊗ reads all of them, or NotPositional.
func (s Semiring[A, B, C]) Position() Position { return s.in.position() }

// Valid reports whether a constructor of this package made the semiring from valid parts. The zero
// value is not valid.
func (s Semiring[A, B, C]) Valid() bool { return s.in.valid() }

// String returns the name.
func (s Semiring[A, B, C]) String() string { return s.in.title() }
