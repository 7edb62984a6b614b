package semiring

import (
	"reflect"
	"sync/atomic"
	"unsafe"

	"github.com/hiveblas/hiveblas/internal/cpu"
)

// The loops of numbers are compiled once, here, for each kind of number. A generic constructor
// finds the kind of its type and looks its loops up; it instantiates none of them. Types of one
// kind share loops: int and int64, and named types with the types below them.

// kind is a kind of number: what the loops of a type depend on.
type kind uint8

const (
	kindInt8 kind = iota
	kindInt16
	kindInt32
	kindInt64
	kindUint8
	kindUint16
	kindUint32
	kindUint64
	kindFloat32
	kindFloat64
	kinds
)

// kindOf returns the kind of a type.
func kindOf[T Number]() kind {
	var x T
	k := kindInt8
	if x--; x > 0 { // wraps around
		k = kindUint8
	}
	if !isInteger[T]() {
		k = kindFloat32 - 2
	}
	switch unsafe.Sizeof(x) {
	case 2:
		return k + 1
	case 4:
		return k + 2
	case 8:
		return k + 3
	}
	return k
}

// plain returns the kind with the same plus and times as k: integers wrap around, so that signed
// and unsigned ones have the same bits.
func (k kind) plain() kind {
	if kindUint8 <= k && k <= kindUint64 {
		k -= kindUint8
	}
	return k
}

// elementKind is kindOf for a type that may be bool.
func elementKind[T Element]() kind { return kindOfType(reflect.TypeFor[T]()) }

// kindOfType is kindOf for the type of a number or bool; a bool is a uint8.
//
//go:noinline
func kindOfType(t reflect.Type) kind {
	switch t.Kind() {
	case reflect.Int8:
		return kindInt8
	case reflect.Int16:
		return kindInt16
	case reflect.Int32:
		return kindInt32
	case reflect.Int64:
		return kindInt64
	case reflect.Bool, reflect.Uint8:
		return kindUint8
	case reflect.Uint16:
		return kindUint16
	case reflect.Uint32:
		return kindUint32
	case reflect.Uint64:
		return kindUint64
	case reflect.Float32:
		return kindFloat32
	case reflect.Float64:
		return kindFloat64
	case reflect.Int:
		return kindOf[int]()
	}
	return kindOf[uintptr]() // and uint
}

// The tables hold the built-in operators of each kind, which make returns at first use. They are
// four types, not one generic type, and use no generic atomic.Pointer, so that a user's package
// compiles none.

type ringTable struct {
	make func(k kind) *innerRing
	of   [kinds]unsafe.Pointer // *innerRing
}

//go:noinline
func (t *ringTable) at(k kind) *innerRing {
	if p := atomic.LoadPointer(&t.of[k]); p != nil {
		return (*innerRing)(p)
	}
	atomic.CompareAndSwapPointer(&t.of[k], nil, unsafe.Pointer(t.make(k)))
	return (*innerRing)(atomic.LoadPointer(&t.of[k]))
}

type monoidTable struct {
	make func(k kind) *innerMonoid
	of   [kinds]unsafe.Pointer // *innerMonoid
}

//go:noinline
func (t *monoidTable) at(k kind) *innerMonoid {
	if p := atomic.LoadPointer(&t.of[k]); p != nil {
		return (*innerMonoid)(p)
	}
	atomic.CompareAndSwapPointer(&t.of[k], nil, unsafe.Pointer(t.make(k)))
	return (*innerMonoid)(atomic.LoadPointer(&t.of[k]))
}

type binaryTable struct {
	make func(k kind) *innerBinary
	of   [kinds]unsafe.Pointer // *innerBinary
}

//go:noinline
func (t *binaryTable) at(k kind) *innerBinary {
	if p := atomic.LoadPointer(&t.of[k]); p != nil {
		return (*innerBinary)(p)
	}
	atomic.CompareAndSwapPointer(&t.of[k], nil, unsafe.Pointer(t.make(k)))
	return (*innerBinary)(atomic.LoadPointer(&t.of[k]))
}

// The functions below choose the instance for a kind. The functions named plain serve operators
// without order: their integers need no unsigned instances.

func binaryOf[M mulTag](k kind, name, cuda string) *innerBinary {
	switch k {
	case kindUint8:
		return binary[uint8, uint8, uint8, M](name, cuda)
	case kindUint16:
		return binary[uint16, uint16, uint16, M](name, cuda)
	case kindUint32:
		return binary[uint32, uint32, uint32, M](name, cuda)
	case kindUint64:
		return binary[uint64, uint64, uint64, M](name, cuda)
	}
	return plainBinary[M](k, name, cuda)
}

func plainBinary[M mulTag](k kind, name, cuda string) *innerBinary {
	switch k.plain() {
	case kindInt8:
		return binary[int8, int8, int8, M](name, cuda)
	case kindInt16:
		return binary[int16, int16, int16, M](name, cuda)
	case kindInt32:
		return binary[int32, int32, int32, M](name, cuda)
	case kindInt64:
		return binary[int64, int64, int64, M](name, cuda)
	case kindFloat32:
		return binary[float32, float32, float32, M](name, cuda)
	}
	return binary[float64, float64, float64, M](name, cuda)
}

func monoidOf[P addTag](k kind, op *innerBinary) *innerMonoid {
	switch k {
	case kindUint8:
		return monoid[uint8, P](op)
	case kindUint16:
		return monoid[uint16, P](op)
	case kindUint32:
		return monoid[uint32, P](op)
	case kindUint64:
		return monoid[uint64, P](op)
	}
	return plainMonoid[P](k, op)
}

func plainMonoid[P addTag](k kind, op *innerBinary) *innerMonoid {
	switch k.plain() {
	case kindInt8:
		return monoid[int8, P](op)
	case kindInt16:
		return monoid[int16, P](op)
	case kindInt32:
		return monoid[int32, P](op)
	case kindInt64:
		return monoid[int64, P](op)
	case kindFloat32:
		return monoid[float32, P](op)
	}
	return monoid[float64, P](op)
}

// kernelsOf returns the loops of plus and an operator with order, over one type.
func kernelsOf[P addTag, M mulTag](k kind) cpu.Kernels {
	switch k {
	case kindUint8:
		return summing[uint8, uint8, uint8, P, M]()
	case kindUint16:
		return summing[uint16, uint16, uint16, P, M]()
	case kindUint32:
		return summing[uint32, uint32, uint32, P, M]()
	case kindUint64:
		return summing[uint64, uint64, uint64, P, M]()
	}
	return plainKernels[P, M](k)
}

func plainKernels[P addTag, M mulTag](k kind) cpu.Kernels {
	switch k.plain() {
	case kindInt8:
		return summing[int8, int8, int8, P, M]()
	case kindInt16:
		return summing[int16, int16, int16, P, M]()
	case kindInt32:
		return summing[int32, int32, int32, P, M]()
	case kindInt64:
		return summing[int64, int64, int64, P, M]()
	case kindFloat32:
		return summing[float32, float32, float32, P, M]()
	}
	return summing[float64, float64, float64, P, M]()
}

// choosingOf is kernelsOf for min and max.
func choosingOf[P addTag, M mulTag](k kind) cpu.Kernels {
	switch k {
	case kindInt8:
		return choosing[int8, int8, int8, P, M]()
	case kindInt16:
		return choosing[int16, int16, int16, P, M]()
	case kindInt32:
		return choosing[int32, int32, int32, P, M]()
	case kindInt64:
		return choosing[int64, int64, int64, P, M]()
	case kindUint8:
		return choosing[uint8, uint8, uint8, P, M]()
	case kindUint16:
		return choosing[uint16, uint16, uint16, P, M]()
	case kindUint32:
		return choosing[uint32, uint32, uint32, P, M]()
	case kindUint64:
		return choosing[uint64, uint64, uint64, P, M]()
	case kindFloat32:
		return choosingFloats[float32, float32, float32, P, M]()
	}
	return choosingFloats[float64, float64, float64, P, M]()
}

func firstKernels[P addTag](k kind) cpu.Kernels {
	switch k {
	case kindUint8:
		return kernels[uint8, uint8, uint8, P, mulFirst]()
	case kindUint16:
		return kernels[uint16, uint8, uint16, P, mulFirst]()
	case kindUint32:
		return kernels[uint32, uint8, uint32, P, mulFirst]()
	case kindUint64:
		return kernels[uint64, uint8, uint64, P, mulFirst]()
	}
	return plainFirst[P](k)
}

func plainFirst[P addTag](k kind) cpu.Kernels {
	switch k.plain() {
	case kindInt8:
		return kernels[int8, uint8, int8, P, mulFirst]()
	case kindInt16:
		return kernels[int16, uint8, int16, P, mulFirst]()
	case kindInt32:
		return kernels[int32, uint8, int32, P, mulFirst]()
	case kindInt64:
		return kernels[int64, uint8, int64, P, mulFirst]()
	case kindFloat32:
		return kernels[float32, uint8, float32, P, mulFirst]()
	}
	return kernels[float64, uint8, float64, P, mulFirst]()
}

func secondKernels[P addTag](k kind) cpu.Kernels {
	switch k {
	case kindInt8:
		return kernels[uint8, int8, int8, P, mulSecond]()
	case kindInt16:
		return kernels[uint8, int16, int16, P, mulSecond]()
	case kindInt32:
		return kernels[uint8, int32, int32, P, mulSecond]()
	case kindInt64:
		return kernels[uint8, int64, int64, P, mulSecond]()
	case kindUint8:
		return kernels[uint8, uint8, uint8, P, mulSecond]()
	case kindUint16:
		return kernels[uint8, uint16, uint16, P, mulSecond]()
	case kindUint32:
		return kernels[uint8, uint32, uint32, P, mulSecond]()
	case kindUint64:
		return kernels[uint8, uint64, uint64, P, mulSecond]()
	case kindFloat32:
		return kernels[uint8, float32, float32, P, mulSecond]()
	}
	return kernels[uint8, float64, float64, P, mulSecond]()
}

func plainSecond[P addTag](k kind) cpu.Kernels {
	switch k.plain() {
	case kindInt8:
		return gathering[uint8, int8, int8, P, mulSecond]()
	case kindInt16:
		return gathering[uint8, int16, int16, P, mulSecond]()
	case kindInt32:
		return gathering[uint8, int32, int32, P, mulSecond]()
	case kindInt64:
		return gathering[uint8, int64, int64, P, mulSecond]()
	case kindFloat32:
		return gathering[uint8, float32, float32, P, mulSecond]()
	}
	return gathering[uint8, float64, float64, P, mulSecond]()
}

func pairKernels[P addTag](k kind) cpu.Kernels {
	switch k.plain() {
	case kindInt8:
		return kernels[uint8, uint8, int8, P, mulPair]()
	case kindInt16:
		return kernels[uint8, uint8, int16, P, mulPair]()
	case kindInt32:
		return kernels[uint8, uint8, int32, P, mulPair]()
	case kindInt64:
		return kernels[uint8, uint8, int64, P, mulPair]()
	case kindFloat32:
		return kernels[uint8, uint8, float32, P, mulPair]()
	}
	return kernels[uint8, uint8, float64, P, mulPair]()
}

// boolFirst, boolSecond and boolPair are the operators of numbers and patterns.
var (
	boolFirst  = binaryTable{make: func(k kind) *innerBinary { return firstOfBool(k) }}
	boolSecond = binaryTable{make: func(k kind) *innerBinary { return secondOfBool(k) }}
	boolPair   = binaryTable{make: func(k kind) *innerBinary { return pairOfBool(k) }}
)

// sumAny is Any of numbers and bool.
var sumAny = monoidTable{make: func(k kind) *innerMonoid { return anyOfKind(k) }}

func anyOfKind(k kind) *innerMonoid {
	switch k.plain() {
	case kindInt8:
		return newAny[int8]()
	case kindInt16:
		return newAny[int16]()
	case kindInt32:
		return newAny[int32]()
	case kindInt64:
		return newAny[int64]()
	case kindFloat32:
		return newAny[float32]()
	}
	return newAny[float64]()
}

func firstOfBool(k kind) *innerBinary {
	switch k.plain() {
	case kindInt8:
		return newFirst[int8, bool]()
	case kindInt16:
		return newFirst[int16, bool]()
	case kindInt32:
		return newFirst[int32, bool]()
	case kindInt64:
		return newFirst[int64, bool]()
	case kindFloat32:
		return newFirst[float32, bool]()
	}
	return newFirst[float64, bool]()
}

func secondOfBool(k kind) *innerBinary {
	switch k.plain() {
	case kindInt8:
		return newSecond[bool, int8]()
	case kindInt16:
		return newSecond[bool, int16]()
	case kindInt32:
		return newSecond[bool, int32]()
	case kindInt64:
		return newSecond[bool, int64]()
	case kindFloat32:
		return newSecond[bool, float32]()
	}
	return newSecond[bool, float64]()
}

func pairOfBool(k kind) *innerBinary {
	switch k.plain() {
	case kindInt8:
		return newPair[bool, bool, int8]()
	case kindInt16:
		return newPair[bool, bool, int16]()
	case kindInt32:
		return newPair[bool, bool, int32]()
	case kindInt64:
		return newPair[bool, bool, int64]()
	case kindFloat32:
		return newPair[bool, bool, float32]()
	}
	return newPair[bool, bool, float64]()
}
