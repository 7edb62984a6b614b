package graphio

import (
	"fmt"
	"math"
	"reflect"
	"slices"
	"strconv"
	"unsafe"

	"github.com/hiveblas/hiveblas/internal/fresh"
	"github.com/hiveblas/hiveblas/internal/hgb"
	"github.com/hiveblas/hiveblas/internal/sparse"
)

// element describes an element type for readers and writers, which are not generic: a value is a word
// of 64 bits. Of signed integers that is the value in two's complement, of floats their bits, of bool
// 0 or 1.
type element struct {
	t    *sparse.Type
	kind reflect.Kind
	one  uint64 // 1 or true: the value of an entry without a value in the file
}

// elementOf returns the description of a type of matrix.Element.
func elementOf(t *sparse.Type) element {
	e := element{t, sparse.GoType(t).Kind(), 1}
	switch e.kind {
	case reflect.Float32:
		e.one = uint64(math.Float32bits(1))
	case reflect.Float64:
		e.one = math.Float64bits(1)
	}
	return e
}

func (e element) isFloat() bool  { return e.kind == reflect.Float32 || e.kind == reflect.Float64 }
func (e element) isBool() bool   { return e.kind == reflect.Bool }
func (e element) isSigned() bool { return e.kind >= reflect.Int && e.kind <= reflect.Int64 }

// bits returns the width of an integer or float kind.
func (e element) bits() int { return int(e.t.Size) * 8 }

// item describes the type for the binary form.
func (e element) item() hgb.Item {
	item, _ := hgb.ItemOf(e.t) // every element type has one
	return item
}

// name returns the Go name of the type.
func (e element) name() string { return sparse.GoType(e.t).String() }

// ofInt returns the word of ±mag for integer kinds; ok is false if the type does not hold it.
func (e element) ofInt(neg bool, mag uint64) (v uint64, ok bool) {
	bits := uint(e.bits())
	if e.isSigned() {
		limit := uint64(1) << (bits - 1) // |minimum|
		if mag > limit || (mag == limit && !neg) {
			return 0, false
		}
	} else if (neg && mag != 0) || (bits < 64 && mag>>bits != 0) {
		return 0, false
	}
	if neg {
		mag = -mag
	}
	return mag, true
}

// ofFloat returns the word of f for float kinds; the type holds f.
func (e element) ofFloat(f float64) uint64 {
	if e.kind == reflect.Float32 {
		return uint64(math.Float32bits(float32(f)))
	}
	return math.Float64bits(f)
}

// asInt returns an integer value as sign and magnitude.
func (e element) asInt(v uint64) (neg bool, mag uint64) {
	if e.isSigned() && int64(v) < 0 {
		return true, -v
	}
	return false, v
}

// asFloat returns a float value.
func (e element) asFloat(v uint64) float64 {
	if e.kind == reflect.Float32 {
		return float64(math.Float32frombits(uint32(v)))
	}
	return math.Float64frombits(v)
}

// isZero reports whether v is zero, also −0.
func (e element) isZero(v uint64) bool {
	if e.isFloat() {
		return e.asFloat(v) == 0
	}
	return v == 0
}

// equal reports whether x equals y, as in Go.
func (e element) equal(x, y uint64) bool {
	if e.isFloat() {
		return e.asFloat(x) == e.asFloat(y)
	}
	return x == y
}

// same reports whether x equals y; NaN equals NaN.
func (e element) same(x, y uint64) bool {
	return e.equal(x, y) || !e.equal(x, x) && !e.equal(y, y)
}

// negate returns −v; ok is false if the type does not hold it.
func (e element) negate(v uint64) (w uint64, ok bool) {
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
func (e element) less(x, y uint64) bool {
	switch {
	case e.isFloat():
		a, b := e.asFloat(x), e.asFloat(y)
		return a < b || (math.IsNaN(a) && !math.IsNaN(b))
	case e.isSigned():
		return int64(x) < int64(y)
	}
	return x < y
}

// load returns the value at p.
func (e element) load(p unsafe.Pointer) uint64 {
	switch e.kind {
	case reflect.Int8:
		return uint64(*(*int8)(p))
	case reflect.Int16:
		return uint64(*(*int16)(p))
	case reflect.Int32:
		return uint64(*(*int32)(p))
	}
	switch e.t.Size {
	case 1:
		return uint64(*(*uint8)(p))
	case 2:
		return uint64(*(*uint16)(p))
	case 4:
		if e.isSigned() { // an int of 32 bits
			return uint64(*(*int32)(p))
		}
		return uint64(*(*uint32)(p))
	}
	return *(*uint64)(p)
}

// at returns value p of v.
func (e element) at(v sparse.Values, p int64) uint64 { return e.load(e.t.At(v, p)) }

// store writes value p of values.
func (e element) store(values sparse.Values, p int64, v uint64) {
	switch at := e.t.At(values, p); e.t.Size {
	case 1:
		*(*uint8)(at) = uint8(v)
	case 2:
		*(*uint16)(at) = uint16(v)
	case 4:
		*(*uint32)(at) = uint32(v)
	default:
		*(*uint64)(at) = v
	}
}

// pack returns words as values; of 64 bits they share memory.
func (e element) pack(words []uint64) sparse.Values {
	switch e.t.Size {
	case 1:
		return narrow[uint8](words)
	case 2:
		return narrow[uint16](words)
	case 4:
		return narrow[uint32](words)
	}
	return sparse.ValuesOf(words)
}

func narrow[E uint8 | uint16 | uint32](words []uint64) sparse.Values {
	out := fresh.Make[E](int64(len(words)))
	for p, v := range words {
		out[p] = E(v)
	}
	return sparse.ValuesOf(out)
}

// ones returns n ones.
func (e element) ones(n int) sparse.Values {
	v := e.t.Make(int64(n))
	e.t.Fill(v, e.t.True)
	return v
}

// allOnes reports whether all values are 1 or true.
func (e element) allOnes(v sparse.Values) bool {
	switch e.t.Size {
	case 1:
		return allAre(v, uint8(e.one))
	case 2:
		return allAre(v, uint16(e.one))
	case 4:
		return allAre(v, uint32(e.one))
	}
	return allAre(v, e.one)
}

func allAre[E sparse.Sized](v sparse.Values, x E) bool {
	return !slices.ContainsFunc(sparse.SliceOf[E](v), func(y E) bool { return y != x })
}

// text returns a value as fmt prints it.
func (e element) text(v uint64) string {
	x := reflect.New(sparse.GoType(e.t))
	e.t.CopyTo(x.UnsafePointer(), e.pack([]uint64{v}).Pointer())
	return fmt.Sprint(x.Elem().Interface())
}

// appender returns the function that appends the text of a value. Integers are
// exact, floats in the shortest form that reads back as the same value.
func (e element) appender() func(buf []byte, v uint64) []byte {
	switch {
	case e.isFloat():
		bits := e.bits()
		return func(buf []byte, v uint64) []byte {
			x := e.asFloat(v)
			switch {
			case x != x:
				return append(buf, "nan"...)
			case x > math.MaxFloat64:
				return append(buf, "inf"...)
			case x < -math.MaxFloat64:
				return append(buf, "-inf"...)
			}
			return strconv.AppendFloat(buf, x, 'g', -1, bits)
		}
	case e.isSigned():
		return func(buf []byte, v uint64) []byte { return strconv.AppendInt(buf, int64(v), 10) }
	}
	return func(buf []byte, v uint64) []byte { return strconv.AppendUint(buf, v, 10) }
}
