package semiring

import (
	"unsafe"

	"github.com/hiveblas/hiveblas/internal/cpu"
)

// The exported operators are shells: one pointer to a struct without type parameters, which holds
// the loops, the names and the typed function as a pointer. Two reasons. Go compiles all methods of
// a generic type in each package that stores a value of it on the heap, and only inner structs are
// stored. And operators over types of one layout share one inner struct.
//
// The methods here accept a nil receiver, which is the inside of a zero value. They are not
// inlined, to keep the methods of the shells small.

// innerBinary is the inside of a BinaryOp.
type innerBinary struct {
	cpu.Operator
	fn  unsafe.Pointer // func(x A, y B) C; see funcOf
	pos *position      // nil unless positional
	ind *indexed
}

// operatorOf returns an operator, its names and its function.
func operatorOf(k *cpu.Binary, name, cuda string, fn unsafe.Pointer) *innerBinary {
	return &innerBinary{Operator: cpu.Operator{Binary: k, Name: name, CUDA: cuda}, fn: fn}
}

// innerMonoid is the inside of a Monoid.
type innerMonoid struct {
	cpu.Sum
	op *innerBinary
}

// sumOf returns the monoid of op and its loops, nil of one that is not valid.
func sumOf(k *cpu.Monoid, op *innerBinary, terminal cpu.Values) *innerMonoid {
	return &innerMonoid{cpu.Sum{Monoid: k, Op: op.inside(), Terminal: terminal}, op}
}

// innerRing is the inside of a Semiring.
type innerRing struct {
	cpu.Ring
	add *innerMonoid
	mul *innerBinary
}

// innerUnary is the inside of a UnaryOp.
type innerUnary struct {
	cpu.UnaryOperator
	fn unsafe.Pointer // func(A) C
}

// innerIndex is the inside of an IndexOp.
type innerIndex struct {
	cpu.IndexOperator
	fn unsafe.Pointer // func(x A, i, j int) C
}

// innerSelect is the inside of a SelectOp.
type innerSelect struct {
	cpu.SelectOperator
	fn unsafe.Pointer // func(x A, i, j int) bool
}

// pointerTo returns a function as a pointer, which funcOf turns back: a func is one.
func pointerTo[F any](f F) unsafe.Pointer { return *(*unsafe.Pointer)(unsafe.Pointer(&f)) }

// funcOf returns the function at p as an F: its type, or a type with parameters and results of the
// same kinds.
func funcOf[F any](p unsafe.Pointer) F { return *(*F)(unsafe.Pointer(&p)) }

//go:noinline
func (op *innerBinary) inside() *cpu.Operator {
	if op == nil {
		return nil
	}
	return &op.Operator
}

//go:noinline
func (op *innerBinary) title() string {
	if op == nil {
		return ""
	}
	return op.Name
}

//go:noinline
func (op *innerBinary) text() string {
	if op == nil {
		return ""
	}
	return op.CUDA
}

// at makes op an operator of positions.
func (op *innerBinary) at(p *position) *innerBinary {
	op.pos, op.Position = p, uint8(p.which)
	return op
}

//go:noinline
func (op *innerBinary) position() Position {
	if op == nil {
		return NotPositional
	}
	return Position(op.Position)
}

//go:noinline
func (op *innerBinary) valid() bool { return op.inside().Valid() }

//go:noinline
func (m *innerMonoid) inside() *cpu.Sum {
	if m == nil {
		return nil
	}
	return &m.Sum
}

//go:noinline
func (m *innerMonoid) valid() bool { return m != nil && m.Monoid != nil }

//go:noinline
func (m *innerMonoid) operator() *innerBinary {
	if m == nil {
		return nil
	}
	return m.op
}

//go:noinline
func (m *innerMonoid) end() cpu.Values {
	if m == nil {
		return cpu.Values{}
	}
	return m.Terminal
}

// withTerminal returns a copy of m with a terminal value.
//
//go:noinline
func (m *innerMonoid) withTerminal(t cpu.Values) *innerMonoid {
	c := innerMonoid{}
	if m != nil {
		c = *m
	}
	c.Terminal = t
	return &c
}

//go:noinline
func (m *innerMonoid) isAny() bool { return m != nil && m.Any }

//go:noinline
func (s *innerRing) inside() *cpu.Ring {
	if s == nil {
		return nil
	}
	return &s.Ring
}

//go:noinline
func (s *innerRing) title() string {
	if s == nil {
		return ""
	}
	return s.Name
}

// copied returns a copy of s, which may be changed.
//
//go:noinline
func (s *innerRing) copied() *innerRing {
	if s == nil {
		return &innerRing{}
	}
	c := *s
	return &c
}

// named returns a copy of s under another name.
//
//go:noinline
func (s *innerRing) named(name string) *innerRing {
	s = s.copied()
	s.Name = name
	return s
}

//go:noinline
func (s *innerRing) monoid() *innerMonoid {
	if s == nil {
		return nil
	}
	return s.add
}

//go:noinline
func (s *innerRing) product() *innerBinary {
	if s == nil {
		return nil
	}
	return s.mul
}

//go:noinline
func (s *innerRing) position() Position { return Position(s.inside().Position()) }

//go:noinline
func (s *innerRing) valid() bool { return s.inside().Valid() }

//go:noinline
func (op *innerUnary) inside() *cpu.UnaryOperator {
	if op == nil {
		return &cpu.UnaryOperator{}
	}
	return &op.UnaryOperator
}

//go:noinline
func (op *innerUnary) title() string {
	if op == nil {
		return ""
	}
	return op.Name
}

//go:noinline
func (op *innerUnary) text() string {
	if op == nil {
		return ""
	}
	return op.CUDA
}

// withMap returns a copy of op with the loop of k. An operator that is not valid stays so.
//
//go:noinline
func (op *innerUnary) withMap(k *cpu.Unary) *innerUnary {
	if !op.valid() {
		return op
	}
	c := *op
	k.User = c.User
	c.Unary = k
	return &c
}

//go:noinline
func (op *innerUnary) valid() bool { return op != nil && op.Unary != nil }

//go:noinline
func (op *innerIndex) inside() *cpu.IndexOperator {
	if op == nil {
		return &cpu.IndexOperator{}
	}
	return &op.IndexOperator
}

//go:noinline
func (op *innerIndex) title() string {
	if op == nil {
		return ""
	}
	return op.Name
}

//go:noinline
func (op *innerIndex) text() string {
	if op == nil {
		return ""
	}
	return op.CUDA
}

//go:noinline
func (op *innerIndex) usesValue() bool { return op.valid() && op.UsesValue }

//go:noinline
func (op *innerIndex) valid() bool { return op != nil && op.Index != nil }

//go:noinline
func (op *innerSelect) inside() *cpu.SelectOperator {
	if op == nil {
		return &cpu.SelectOperator{}
	}
	return &op.SelectOperator
}

//go:noinline
func (op *innerSelect) title() string {
	if op == nil {
		return ""
	}
	return op.Name
}

//go:noinline
func (op *innerSelect) text() string {
	if op == nil {
		return ""
	}
	return op.CUDA
}

//go:noinline
func (op *innerSelect) keeps(x cpu.Values, i, j int) bool {
	keep := []uint8{0}
	op.SelectOperator.Keep(keep, x, i, nil, j, false)
	return keep[0] != 0
}

//go:noinline
func (op *innerSelect) valid() bool { return op != nil && op.Predicate != nil }
