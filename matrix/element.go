package matrix

import (
	"math"
	"reflect"
	"unsafe"
)

// Number is the set of numeric element types of readers and writers.
type Number interface {
	~int | ~int8 | ~int16 | ~int32 | ~int64 |
		~uint | ~uint8 | ~uint16 | ~uint32 | ~uint64 |
		~float32 | ~float64
}

// Element is the set of element types of readers and writers: Number and bool.
type Element interface{ ~bool | Number }

// element describes T for readers and writers.
type element[T comparable] struct {
	kind reflect.Kind
	one  T // 1 or true: the value of an entry without a value in the file
}

// refused is the error of op for a type that is no Element.
func (e element[T]) refused(op string) error {
	return &TypeError{Op: op, Got: e.name(), Want: "bool, an integer or a float"}
}

// elementOf returns the description of T. ok is false if T is not an Element: Matrix supports such
// types, files do not.
func elementOf[T comparable]() (e element[T], ok bool) {
	e.kind = reflect.TypeFor[T]().Kind()
	p := unsafe.Pointer(&e.one)
	switch e.kind {
	case reflect.Bool:
		*(*bool)(p) = true
	case reflect.Int, reflect.Uint:
		*(*int)(p) = 1
	case reflect.Int8, reflect.Uint8:
		*(*int8)(p) = 1
	case reflect.Int16, reflect.Uint16:
		*(*int16)(p) = 1
	case reflect.Int32, reflect.Uint32:
		*(*int32)(p) = 1
	case reflect.Int64, reflect.Uint64:
		*(*int64)(p) = 1
	case reflect.Float32:
		*(*float32)(p) = 1
	case reflect.Float64:
		*(*float64)(p) = 1
	default:
		return e, false
	}
	return e, true
}

func (e element[T]) isFloat() bool  { return e.kind == reflect.Float32 || e.kind == reflect.Float64 }
func (e element[T]) isBool() bool   { return e.kind == reflect.Bool }
func (e element[T]) isSigned() bool { return e.kind >= reflect.Int && e.kind <= reflect.Int64 }

// bits returns the width of an integer or float kind.
func (e element[T]) bits() int { return int(unsafe.Sizeof(e.one)) * 8 }

// ofInt converts ±mag to T for integer kinds; ok is false if it does not fit.
func (e element[T]) ofInt(neg bool, mag uint64) (v T, ok bool) {
	bits := uint(e.bits())
	if e.isSigned() {
		limit := uint64(1) << (bits - 1) // |minimum|
		if mag > limit || (mag == limit && !neg) {
			return v, false
		}
	} else if (neg && mag != 0) || (bits < 64 && mag>>bits != 0) {
		return v, false
	}
	if neg {
		mag = -mag
	}
	p := unsafe.Pointer(&v)
	switch bits {
	case 8:
		*(*uint8)(p) = uint8(mag)
	case 16:
		*(*uint16)(p) = uint16(mag)
	case 32:
		*(*uint32)(p) = uint32(mag)
	default:
		*(*uint64)(p) = mag
	}
	return v, true
}

// ofFloat converts f to T for float kinds; f is representable in T.
func (e element[T]) ofFloat(f float64) (v T) {
	if e.kind == reflect.Float32 {
		*(*float32)(unsafe.Pointer(&v)) = float32(f)
	} else {
		*(*float64)(unsafe.Pointer(&v)) = f
	}
	return v
}

// asInt returns an integer value as sign and magnitude.
func (e element[T]) asInt(v T) (neg bool, mag uint64) {
	p := unsafe.Pointer(&v)
	var i int64
	switch e.kind {
	case reflect.Bool:
		if *(*bool)(p) {
			return false, 1
		}
		return false, 0
	case reflect.Uint8:
		return false, uint64(*(*uint8)(p))
	case reflect.Uint16:
		return false, uint64(*(*uint16)(p))
	case reflect.Uint32:
		return false, uint64(*(*uint32)(p))
	case reflect.Uint64:
		return false, *(*uint64)(p)
	case reflect.Uint:
		return false, uint64(*(*uint)(p))
	case reflect.Int8:
		i = int64(*(*int8)(p))
	case reflect.Int16:
		i = int64(*(*int16)(p))
	case reflect.Int32:
		i = int64(*(*int32)(p))
	case reflect.Int64:
		i = *(*int64)(p)
	case reflect.Int:
		i = int64(*(*int)(p))
	}
	if i < 0 {
		return true, -uint64(i)
	}
	return false, uint64(i)
}

// asFloat returns a float value.
func (e element[T]) asFloat(v T) float64 {
	if e.kind == reflect.Float32 {
		return float64(*(*float32)(unsafe.Pointer(&v)))
	}
	return *(*float64)(unsafe.Pointer(&v))
}

// negate returns −v; ok is false if T cannot represent it.
func (e element[T]) negate(v T) (T, bool) {
	if e.isFloat() {
		return e.ofFloat(-e.asFloat(v)), true
	}
	neg, mag := e.asInt(v)
	if e.isBool() {
		return v, mag == 0
	}
	return e.ofInt(!neg && mag != 0, mag)
}

// less reports whether x < y. NaN is less than every number, so that the minimum of two values is
// NaN if one of them is.
func (e element[T]) less(x, y T) bool {
	if e.isFloat() {
		a, b := e.asFloat(x), e.asFloat(y)
		return a < b || (math.IsNaN(a) && !math.IsNaN(b))
	}
	xn, xm := e.asInt(x)
	yn, ym := e.asInt(y)
	if xn != yn {
		return xn
	}
	if xn {
		return xm > ym
	}
	return xm < ym
}

// name returns the Go name of T.
func (e element[T]) name() string { return reflect.TypeFor[T]().String() }
