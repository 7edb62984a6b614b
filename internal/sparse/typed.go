package sparse

import (
	"fmt"
	"reflect"
	"unsafe"
)

// Typed is a Store as code that computes with values sees it. Both have the same memory layout, and
// As and Untyped convert between pointers to them; TestLayout compares the layouts.
type Typed[T any] struct {
	Structure
	Val   []T
	Type  *Type
	Moved int64
}

// Of returns a store of the structure and values, which it shares.
func Of[T comparable](shape Structure, val []T) *Typed[T] {
	return &Typed[T]{Structure: shape, Val: val, Type: TypeOf[T]()}
}

// As returns s as a store of T, which is the type of its values or one that is the [Same]. It
// panics if s has values of another type, which is an error of this module.
func As[T any](s *Store) *Typed[T] {
	if of := any((*T)(nil)); s != nil && s.Type.key != keyIn(of) {
		checkSame(s.Type, of)
	}
	return (*Typed[T])(unsafe.Pointer(s))
}

// checkSame panics unless have is the same as the type of a nil pointer.
func checkSame(have *Type, of any) {
	want := reflect.TypeOf(of).Elem()
	if u := underOf(want); u != nil && have.under == u || have.under.key == keyIn(of) {
		return
	}
	panic(fmt.Sprintf("sparse: a store of %v is used as one of %v", have, want))
}

// Untyped returns s without its type. A literal gets its type here: it belongs to its maker alone
// until then.
func Untyped[T comparable](s *Typed[T]) *Store {
	if s != nil && s.Type == nil {
		s.Type = TypeOf[T]()
	}
	return (*Store)(unsafe.Pointer(s))
}

func boundsError(lo, hi int64, n int) string {
	return fmt.Sprintf("sparse: values %d to %d of %d", lo, hi, n)
}

// The functions of stores for code that computes with values.

// Tuples is a Block of values of T, and has its memory layout.
type Tuples[T any] struct {
	Row, Col []int32
	Val      []T
}

// UntypedBlocks returns the blocks without their type. They share memory with the list.
func UntypedBlocks[T any](list []Tuples[T]) []Block { return *(*[]Block)(unsafe.Pointer(&list)) }

// TypedBlock returns a block of values of T.
func TypedBlock[T any](b Block) Tuples[T] { return *(*Tuples[T])(unsafe.Pointer(&b)) }

// Combining returns the loop of an operator, nil of nil. It is not inlined, since each caller would
// get a copy of the loop.
//
//go:noinline
func Combining[T any](op func(x, y T) T) Combine {
	if op == nil {
		return nil
	}
	return func(v Values, to, from []int64) {
		val := SliceOf[T](v)
		for p, q := range to {
			val[q] = op(val[q], val[from[p]])
		}
	}
}

// Pairs does c[pc[p]] = a[pa[p]] ⊕ b[pb[p]], or with nil lists c[p] = a[p] ⊕ b[p].
type Pairs func(c Values, pc []int32, a Values, pa []int32, b Values, pb []int32)

// Pairing is Combining for Pairs.
//
//go:noinline
func Pairing[T any](op func(x, y T) T) Pairs {
	if op == nil {
		return nil
	}
	return func(cv Values, pc []int32, av Values, pa []int32, bv Values, pb []int32) {
		c, a, b := SliceOf[T](cv), SliceOf[T](av), SliceOf[T](bv)
		if pc == nil {
			a, b = a[:len(c)], b[:len(c)]
			for p := range c {
				c[p] = op(a[p], b[p])
			}
			return
		}
		pa, pb = pa[:len(pc)], pb[:len(pc)]
		for p, q := range pc {
			c[q] = op(a[pa[p]], b[pb[p]])
		}
	}
}

// Built is Build of blocks of T.
func Built[T comparable](m, n int, blocks []Tuples[T], dup func(x, y T) T, threads int, sorted func(done, total int64)) (*Typed[T], error) {
	s, err := Build(TypeOf[T](), m, n, UntypedBlocks(blocks), Combining(dup), threads, sorted)
	if err != nil {
		return nil, err
	}
	return As[T](s), nil
}

// Transpose is [Store.Transpose].
func Transpose[T comparable](s *Typed[T], threads int) *Typed[T] {
	return As[T](Untyped(s).Transpose(threads))
}

// Settle is [Store.Settle].
func Settle[T comparable](s *Typed[T]) *Typed[T] { return As[T](Untyped(s).Settle()) }

// ToCSR is [Store.ToCSR].
func ToCSR[T comparable](s *Typed[T]) *Typed[T] { return As[T](Untyped(s).ToCSR()) }

// ToHyper is [Store.ToHyper].
func ToHyper[T comparable](s *Typed[T]) *Typed[T] { return As[T](Untyped(s).ToHyper()) }

// ToSparse is [Store.ToSparse].
func ToSparse[T comparable](s *Typed[T]) *Typed[T] { return As[T](Untyped(s).ToSparse()) }

// ToBitmap is [Store.ToBitmap].
func ToBitmap[T comparable](s *Typed[T]) *Typed[T] { return As[T](Untyped(s).ToBitmap()) }

// ToFull is [Store.ToFull].
func ToFull[T comparable](s *Typed[T], x T) *Typed[T] {
	return As[T](Untyped(s).ToFull(ValuesOf([]T{x})))
}

// EmptyOf is Empty of values of T.
func EmptyOf[T comparable](m, n int) *Typed[T] { return As[T](Empty(TypeOf[T](), m, n)) }
