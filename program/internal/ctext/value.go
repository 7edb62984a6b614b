package ctext

import (
	"reflect"
	"unsafe"
)

// A value is an expression: its type, and its code.
type value struct {
	kind reflect.Kind
	typ  *Type // of a struct
	// code is a func(*Frame) T, where T is the type in which values of the kind are computed: bool,
	// int32 for it and all smaller integers, uint32, int64, uint64, float32, float64. Of a struct
	// it is a func(f *Frame, to uintptr), which writes the struct to a place.
	code     any
	at       uintptr // of a variable
	variable bool
	fixed    bool         // the variable is const
	known    bool         // the value is a constant
	braces   bool         // the struct is fields in braces
	effect   func(*Frame) // of an assignment: its code without the value
}

// number are the types in which numbers are computed.
type number interface{ integer | floating }

type integer interface {
	int32 | uint32 | int64 | uint64
}

type floating interface{ float32 | float64 }

// codeOf returns the code of a value that is computed as T.
func codeOf[T any](v value) func(*Frame) T { return v.code.(func(*Frame) T) }

// constant returns a value that is known.
func constant[T any](k reflect.Kind, x T) value {
	return value{kind: k, known: true, code: func(*Frame) T { return x }}
}

// computed returns a value that code computes, a constant if the operands of the code are known.
func computed[T any](k reflect.Kind, known bool, code func(*Frame) T) value {
	if known {
		return constant(k, code(nil))
	}
	return value{kind: k, code: code}
}

// variable returns the value of a variable.
func variable(t *Type, at uintptr, fixed bool) value {
	v := value{kind: t.Kind, at: at, variable: true, fixed: fixed}
	if t.Kind == reflect.Struct {
		v.typ = t
		size := uintptr(t.Size)
		v.code = func(f *Frame, to uintptr) { move(f, to, at, size) }
		return v
	}
	v.code = loading(t.Kind, at)
	return v
}

// ptr returns the address of a variable.
func ptr[T any](f *Frame, at uintptr) *T { return (*T)(unsafe.Add(unsafe.Pointer(f), at)) }

// move copies a struct in a frame.
func move(f *Frame, to, from, size uintptr) {
	switch size {
	case 8:
		*ptr[[8]byte](f, to) = *ptr[[8]byte](f, from)
	case 16:
		*ptr[[16]byte](f, to) = *ptr[[16]byte](f, from)
	default:
		copy(unsafe.Slice(ptr[byte](f, to), size), unsafe.Slice(ptr[byte](f, from), size))
	}
}

// loading returns code that reads a variable.
func loading(k reflect.Kind, at uintptr) any {
	switch k {
	case reflect.Bool:
		return func(f *Frame) bool { return *ptr[bool](f, at) }
	case reflect.Int8:
		return func(f *Frame) int32 { return int32(*ptr[int8](f, at)) }
	case reflect.Uint8:
		return func(f *Frame) int32 { return int32(*ptr[uint8](f, at)) }
	case reflect.Int16:
		return func(f *Frame) int32 { return int32(*ptr[int16](f, at)) }
	case reflect.Uint16:
		return func(f *Frame) int32 { return int32(*ptr[uint16](f, at)) }
	case reflect.Int32:
		return func(f *Frame) int32 { return *ptr[int32](f, at) }
	case reflect.Uint32:
		return func(f *Frame) uint32 { return *ptr[uint32](f, at) }
	case reflect.Int64:
		return func(f *Frame) int64 { return *ptr[int64](f, at) }
	case reflect.Uint64:
		return func(f *Frame) uint64 { return *ptr[uint64](f, at) }
	case reflect.Float32:
		return func(f *Frame) float32 { return *ptr[float32](f, at) }
	}
	return func(f *Frame) float64 { return *ptr[float64](f, at) }
}

// into returns code that writes a value to a place of its type.
func (v value) into(to uintptr) func(*Frame) {
	switch v.kind {
	case reflect.Struct:
		code := v.code.(func(*Frame, uintptr))
		return func(f *Frame) { code(f, to) }
	case reflect.Bool:
		code := codeOf[bool](v)
		return func(f *Frame) { *ptr[bool](f, to) = code(f) }
	case reflect.Int8, reflect.Uint8:
		code := codeOf[int32](v)
		return func(f *Frame) { *ptr[uint8](f, to) = uint8(code(f)) }
	case reflect.Int16, reflect.Uint16:
		code := codeOf[int32](v)
		return func(f *Frame) { *ptr[uint16](f, to) = uint16(code(f)) }
	case reflect.Int32:
		return storing[int32](v, to)
	case reflect.Uint32:
		return storing[uint32](v, to)
	case reflect.Int64:
		return storing[int64](v, to)
	case reflect.Uint64:
		return storing[uint64](v, to)
	case reflect.Float32:
		return storing[float32](v, to)
	}
	return storing[float64](v, to)
}

func storing[T number](v value, to uintptr) func(*Frame) {
	switch x := operandOf[T](v); {
	case x.variable:
		return func(f *Frame) { *ptr[T](f, to) = *ptr[T](f, x.at) }
	case x.known:
		return func(f *Frame) { *ptr[T](f, to) = x.k }
	default:
		return func(f *Frame) { *ptr[T](f, to) = x.code(f) }
	}
}

// operand is a number as the loops of operators take it.
type operand[T number] struct {
	code     func(*Frame) T
	at       uintptr
	variable bool // of type T at a place
	k        T
	known    bool
}

func operandOf[T number](v value) operand[T] {
	x := operand[T]{code: codeOf[T](v), at: v.at, known: v.known}
	x.variable = v.variable && sizes[v.kind] == unsafe.Sizeof(x.k)
	if x.known {
		x.k = x.code(nil)
	}
	return x
}

// wide is the kind in which values of a kind are computed: C's promotion of integers, and of bool.
func wide(k reflect.Kind) reflect.Kind {
	switch k {
	case reflect.Bool, reflect.Int8, reflect.Int16, reflect.Uint8, reflect.Uint16:
		return reflect.Int32
	}
	return k
}

// common is the kind of the result of an operator of two numbers: C's usual arithmetic conversions.
func common(x, y reflect.Kind) reflect.Kind {
	x, y = wide(x), wide(y)
	for _, k := range []reflect.Kind{reflect.Float64, reflect.Float32, reflect.Uint64, reflect.Int64, reflect.Uint32} {
		if x == k || y == k {
			return k
		}
	}
	return reflect.Int32
}

// convert returns a number as a value of another kind.
func convert(v value, k reflect.Kind) value {
	if v.kind == k {
		return v
	}
	if wide(v.kind) == reflect.Int32 && v.kind != reflect.Bool && k == reflect.Int32 {
		return value{kind: k, known: v.known, code: v.code}
	}
	switch wide(v.kind) {
	case reflect.Uint32:
		return fromInteger[uint32](v, k)
	case reflect.Int64:
		return fromInteger[int64](v, k)
	case reflect.Uint64:
		return fromInteger[uint64](v, k)
	case reflect.Float32:
		return fromFloat[float32](v, k)
	case reflect.Float64:
		return fromFloat[float64](v, k)
	}
	if v.kind == reflect.Bool {
		code := codeOf[bool](v)
		v = computed(reflect.Int32, v.known, func(f *Frame) int32 {
			if code(f) {
				return 1
			}
			return 0
		})
		return convert(v, k)
	}
	return fromInteger[int32](v, k)
}

func fromInteger[T integer](v value, k reflect.Kind) value {
	x, known := codeOf[T](v), v.known
	switch k {
	case reflect.Bool:
		return computed(k, known, func(f *Frame) bool { return x(f) != 0 })
	case reflect.Int8:
		return computed(k, known, func(f *Frame) int32 { return int32(int8(x(f))) })
	case reflect.Uint8:
		return computed(k, known, func(f *Frame) int32 { return int32(uint8(x(f))) })
	case reflect.Int16:
		return computed(k, known, func(f *Frame) int32 { return int32(int16(x(f))) })
	case reflect.Uint16:
		return computed(k, known, func(f *Frame) int32 { return int32(uint16(x(f))) })
	case reflect.Int32:
		return computed(k, known, func(f *Frame) int32 { return int32(x(f)) })
	case reflect.Uint32:
		return computed(k, known, func(f *Frame) uint32 { return uint32(x(f)) })
	case reflect.Int64:
		return computed(k, known, func(f *Frame) int64 { return int64(x(f)) })
	case reflect.Uint64:
		return computed(k, known, func(f *Frame) uint64 { return uint64(x(f)) })
	case reflect.Float32:
		return computed(k, known, func(f *Frame) float32 { return float32(x(f)) })
	}
	return computed(k, known, func(f *Frame) float64 { return float64(x(f)) })
}

func fromFloat[T floating](v value, k reflect.Kind) value {
	x, known := codeOf[T](v), v.known
	switch k {
	case reflect.Bool:
		return computed(k, known, func(f *Frame) bool { return x(f) != 0 })
	case reflect.Int8:
		return computed(k, known, func(f *Frame) int32 { return int32(int8(saturated(float64(x(f)), 31))) })
	case reflect.Uint8:
		return computed(k, known, func(f *Frame) int32 { return int32(uint8(saturated(float64(x(f)), 31))) })
	case reflect.Int16:
		return computed(k, known, func(f *Frame) int32 { return int32(int16(saturated(float64(x(f)), 31))) })
	case reflect.Uint16:
		return computed(k, known, func(f *Frame) int32 { return int32(uint16(saturated(float64(x(f)), 31))) })
	case reflect.Int32:
		return computed(k, known, func(f *Frame) int32 { return int32(saturated(float64(x(f)), 31)) })
	case reflect.Uint32:
		return computed(k, known, func(f *Frame) uint32 { return uint32(saturatedUnsigned(float64(x(f)), 32)) })
	case reflect.Int64:
		return computed(k, known, func(f *Frame) int64 { return saturated(float64(x(f)), 63) })
	case reflect.Uint64:
		return computed(k, known, func(f *Frame) uint64 { return saturatedUnsigned(float64(x(f)), 64) })
	case reflect.Float32:
		return computed(k, known, func(f *Frame) float32 { return float32(x(f)) })
	}
	return computed(k, known, func(f *Frame) float64 { return float64(x(f)) })
}

// saturated returns a float as an integer of −2ᵇ … 2ᵇ−1, and NaN as 0.
func saturated(x float64, b uint) int64 {
	limit := float64(uint64(1) << b)
	switch {
	case x >= limit:
		return int64(1<<b - 1)
	case x <= -limit:
		return -1 << b
	case x != x:
		return 0
	}
	return int64(x)
}

// saturatedUnsigned returns a float as an integer of 0 … 2ᵇ−1, and NaN as 0.
func saturatedUnsigned(x float64, b uint) uint64 {
	switch {
	case x >= 2*float64(uint64(1)<<(b-1)):
		return 1<<b - 1
	case !(x > 0):
		return 0
	}
	return uint64(x)
}
