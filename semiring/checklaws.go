package semiring

import (
	"fmt"
	"math/rand/v2"
	"reflect"
)

// allTriples is the number of values up to which the laws run over all triples. For more values,
// triplesDrawn triples are drawn.
const (
	allTriples   = 16
	triplesDrawn = 4000
	productsUsed = 12
)

// someProducts returns values of ⊗, as operands of ⊕ over a type without default values.
func someProducts[A, B, C any](s Semiring[A, B, C], opts CheckOptions[A, B, C]) []C {
	r := rand.New(rand.NewPCG(opts.Seed, 0x1a35))
	out := make([]C, productsUsed)
	for p := range out {
		out[p] = s.Mul().Apply(drawn(r, opts.A), drawn(r, opts.B))
	}
	return out
}

// checkLaws tests the laws that [Check] names.
func checkLaws[A, B, C any](s Semiring[A, B, C], opts CheckOptions[A, B, C]) error {
	if s.in.add.Any {
		return nil
	}
	broken := func(law, operands string, got, want C) error {
		return &CheckError{Semiring: s.Name(), Law: law, Operands: operands, Got: fmt.Sprint(got), Want: fmt.Sprint(want)}
	}
	add, same, id := s.Add().Combine, opts.Equal, s.Add().Identity()
	for _, x := range opts.C {
		if !reflexive(x) { // min and max ignore NaN; a sum is never NaN then
			x = add(id, x)
		}
		if got := add(id, x); !same(got, x) {
			return broken("the identity of ⊕ changes a value", fmt.Sprintf("%v ⊕ %v", id, x), got, x)
		}
		if got := add(x, id); !same(got, x) {
			return broken("the identity of ⊕ changes a value", fmt.Sprintf("%v ⊕ %v", x, id), got, x)
		}
		z, ok := s.Add().Terminal()
		if !ok {
			continue
		}
		if got := add(z, x); !same(got, z) {
			return broken("the terminal of ⊕ changes", fmt.Sprintf("%v ⊕ %v", z, x), got, z)
		}
		if got := add(x, z); !same(got, z) {
			return broken("the terminal of ⊕ changes", fmt.Sprintf("%v ⊕ %v", x, z), got, z)
		}
	}
	err := triples(opts.C, opts.C, opts.C, opts.Seed, func(x, y, z C) error {
		if a, b := add(x, y), add(y, x); !same(a, b) {
			return broken("⊕ is not commutative", fmt.Sprintf("exchanging %v ⊕ %v", x, y), a, b)
		}
		if a, b := add(add(x, y), z), add(x, add(y, z)); !same(a, b) {
			return broken("⊕ is not associative", fmt.Sprintf("%v ⊕ %v ⊕ %v from the left and from the right", x, y, z), a, b)
		}
		return nil
	})
	if err != nil || !opts.Distributive || s.Position() != NotPositional {
		return err
	}
	return checkDistributive(s, opts, broken)
}

// checkDistributive compares x ⊗ (y ⊕ z) with (x ⊗ y) ⊕ (x ⊗ z), and the same from the right. y ⊕ z
// has type C, so each side applies where the operand of ⊗ has type C too.
func checkDistributive[A, B, C any](s Semiring[A, B, C], opts CheckOptions[A, B, C], broken func(law, operands string, got, want C) error) error {
	add, mul, same := s.Add().Combine, s.Mul().Apply, opts.Equal
	if ofC, ok := any(opts.B).([]C); ok {
		toB := func(c C) B { return any(c).(B) }
		err := triples(opts.A, ofC, ofC, opts.Seed, func(x A, y, z C) error {
			if a, b := mul(x, toB(add(y, z))), add(mul(x, toB(y)), mul(x, toB(z))); !same(a, b) {
				return broken("⊗ does not distribute over ⊕", fmt.Sprintf("%v ⊗ (%v ⊕ %v)", x, y, z), a, b)
			}
			return nil
		})
		if err != nil {
			return err
		}
	}
	if ofC, ok := any(opts.A).([]C); ok {
		toA := func(c C) A { return any(c).(A) }
		return triples(opts.B, ofC, ofC, opts.Seed, func(x B, y, z C) error {
			if a, b := mul(toA(add(y, z)), x), add(mul(toA(y), x), mul(toA(z), x)); !same(a, b) {
				return broken("⊗ does not distribute over ⊕", fmt.Sprintf("(%v ⊕ %v) ⊗ %v", y, z, x), a, b)
			}
			return nil
		})
	}
	return nil
}

// triples calls f with all triples, or with some of many.
func triples[X, Y, Z any](xs []X, ys []Y, zs []Z, seed uint64, f func(X, Y, Z) error) error {
	if max(len(xs), len(ys), len(zs)) > allTriples {
		r := rand.New(rand.NewPCG(seed, 0x7219))
		for range triplesDrawn {
			if err := f(drawn(r, xs), drawn(r, ys), drawn(r, zs)); err != nil {
				return err
			}
		}
		return nil
	}
	for _, x := range xs {
		for _, y := range ys {
			for _, z := range zs {
				if err := f(x, y, z); err != nil {
					return err
				}
			}
		}
	}
	return nil
}

// reflexive reports whether x = x, which fails for NaN and for structs with one.
func reflexive[T any](x T) bool {
	v := reflect.ValueOf(&x).Elem()
	return !v.Comparable() || v.Equal(v)
}
