package access

import (
	"github.com/hiveblas/hiveblas/internal/cpu"
	"github.com/hiveblas/hiveblas/semiring"
)

// forms are the first fields of a semiring.
type forms[A, B, C any] struct {
	k    *cpu.Semiring[A, B, C]
	flip *cpu.Semiring[B, A, C]
	pos  *cpu.Positional[A, B, C]
	ind  *cpu.Indexed[A, B, C]
}

// Semiring returns the CPU form of s, or nil for a positional semiring.
func Semiring[A, B, C any](s semiring.Semiring[A, B, C]) *cpu.Semiring[A, B, C] {
	return first[forms[A, B, C]](&s).k
}

// Flipped returns the CPU form of s with the operands of ⊗ exchanged.
func Flipped[A, B, C any](s semiring.Semiring[A, B, C]) *cpu.Semiring[B, A, C] {
	return first[forms[A, B, C]](&s).flip
}

// Positional returns the CPU form of a positional semiring, and nil for others.
func Positional[A, B, C any](s semiring.Semiring[A, B, C]) *cpu.Positional[A, B, C] {
	return first[forms[A, B, C]](&s).pos
}

// Indexed returns the CPU form of a semiring whose ⊗ reads values and positions, and nil for
// others.
func Indexed[A, B, C any](s semiring.Semiring[A, B, C]) *cpu.Indexed[A, B, C] {
	return first[forms[A, B, C]](&s).ind
}

// Binary returns the CPU form of op.
func Binary[A, B, C any](op semiring.BinaryOp[A, B, C]) *cpu.Binary[A, B, C] {
	return first[*cpu.Binary[A, B, C]](&op)
}

// Monoid returns the CPU form of m.
func Monoid[T any](m semiring.Monoid[T]) *cpu.Monoid[T] { return first[*cpu.Monoid[T]](&m) }

// Unary returns the CPU form of op.
func Unary[A, C any](op semiring.UnaryOp[A, C]) *cpu.Unary[A, C] {
	return first[*cpu.Unary[A, C]](&op)
}

// Predicate returns the CPU form of op.
func Predicate[A any](op semiring.SelectOp[A]) *cpu.Predicate[A] {
	return first[*cpu.Predicate[A]](&op)
}
