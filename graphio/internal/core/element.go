package core

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

// KindOf returns the descriptor of the built-in type of a kind of numbers or bool.
func KindOf(kind reflect.Kind) *sparse.Type {
	switch kind {
	case reflect.Bool:
		return sparse.TypeOf[bool]()
	case reflect.Int8:
		return sparse.TypeOf[int8]()
	case reflect.Int16:
		return sparse.TypeOf[int16]()
	case reflect.Int32:
		return sparse.TypeOf[int32]()
	case reflect.Int64:
		return sparse.TypeOf[int64]()
	case reflect.Uint8:
		return sparse.TypeOf[uint8]()
	case reflect.Uint16:
		return sparse.TypeOf[uint16]()
	case reflect.Uint32:
		return sparse.TypeOf[uint32]()
	case reflect.Uint64:
		return sparse.TypeOf[uint64]()
	case reflect.Float32:
		return sparse.TypeOf[float32]()
	}
	return sparse.TypeOf[float64]()
}

// Element describes an element type for readers and writers, which are not generic: a value is a
// word of 64 bits. Of signed integers that is the value in two's complement, of floats their bits,
// of bool 0 or 1.
type Element struct {
	T    *sparse.Type
	Kind reflect.Kind
	One  uint64 // 1 or true: the value of an entry without a value in the file
}

// ElementOf returns the description of a type of matrix.Element.
func ElementOf(t *sparse.Type) Element {
	e := Element{t, sparse.GoType(t).Kind(), 1}
	switch e.Kind {
	case reflect.Float32:
		e.One = uint64(math.Float32bits(1))
	case reflect.Float64:
		e.One = math.Float64bits(1)
	}
	return e
}

// IsFloat reports whether the type is a float.
func (e Element) IsFloat() bool { return e.Kind == reflect.Float32 || e.Kind == reflect.Float64 }

// IsBool reports whether the type is bool.
func (e Element) IsBool() bool { return e.Kind == reflect.Bool }

// IsSigned reports whether the type is a signed integer.
func (e Element) IsSigned() bool { return e.Kind >= reflect.Int && e.Kind <= reflect.Int64 }

// Bits returns the width of an integer or float kind.
func (e Element) Bits() int { return int(e.T.Size) * 8 }

// Item describes the type for the binary form.
func (e Element) Item() hgb.Item {
	item, _ := hgb.ItemOf(e.T) // every element type has one
	return item
}

// Name returns the Go name of the type.
func (e Element) Name() string { return sparse.GoType(e.T).String() }

// OfInt returns the word of ±mag for integer kinds; ok is false if the type does not hold it.
func (e Element) OfInt(neg bool, mag uint64) (v uint64, ok bool) {
	bits := uint(e.Bits())
	if e.IsSigned() {
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

// OfFloat returns the word of f for float kinds; the type holds f.
func (e Element) OfFloat(f float64) uint64 {
	if e.Kind == reflect.Float32 {
		return uint64(math.Float32bits(float32(f)))
	}
	return math.Float64bits(f)
}

// AsInt returns an integer value as sign and magnitude.
func (e Element) AsInt(v uint64) (neg bool, mag uint64) {
	if e.IsSigned() && int64(v) < 0 {
		return true, -v
	}
	return false, v
}

// AsFloat returns a float value.
func (e Element) AsFloat(v uint64) float64 {
	if e.Kind == reflect.Float32 {
		return float64(math.Float32frombits(uint32(v)))
	}
	return math.Float64frombits(v)
}

// IsZero reports whether v is zero, also −0.
func (e Element) IsZero(v uint64) bool {
	if e.IsFloat() {
		return e.AsFloat(v) == 0
	}
	return v == 0
}

// Equal reports whether x equals y, as in Go.
func (e Element) Equal(x, y uint64) bool {
	if e.IsFloat() {
		return e.AsFloat(x) == e.AsFloat(y)
	}
	return x == y
}

// Same reports whether x equals y; NaN equals NaN.
func (e Element) Same(x, y uint64) bool {
	return e.Equal(x, y) || !e.Equal(x, x) && !e.Equal(y, y)
}

// Negate returns −v; ok is false if the type does not hold it.
func (e Element) Negate(v uint64) (w uint64, ok bool) {
	if e.IsFloat() {
		return e.OfFloat(-e.AsFloat(v)), true
	}
	neg, mag := e.AsInt(v)
	if e.IsBool() {
		return v, mag == 0
	}
	return e.OfInt(!neg && mag != 0, mag)
}

// Less reports whether x < y. NaN is less than every number, so that the minimum of two values is
// NaN if one of them is.
func (e Element) Less(x, y uint64) bool {
	switch {
	case e.IsFloat():
		a, b := e.AsFloat(x), e.AsFloat(y)
		return a < b || (math.IsNaN(a) && !math.IsNaN(b))
	case e.IsSigned():
		return int64(x) < int64(y)
	}
	return x < y
}

// load returns the value at p.
func (e Element) load(p unsafe.Pointer) uint64 {
	switch e.Kind {
	case reflect.Int8:
		return uint64(*(*int8)(p))
	case reflect.Int16:
		return uint64(*(*int16)(p))
	case reflect.Int32:
		return uint64(*(*int32)(p))
	}
	switch e.T.Size {
	case 1:
		return uint64(*(*uint8)(p))
	case 2:
		return uint64(*(*uint16)(p))
	case 4:
		if e.IsSigned() { // an int of 32 bits
			return uint64(*(*int32)(p))
		}
		return uint64(*(*uint32)(p))
	}
	return *(*uint64)(p)
}

// At returns value p of v.
func (e Element) At(v sparse.Values, p int64) uint64 { return e.load(e.T.At(v, p)) }

// Store writes value p of values.
func (e Element) Store(values sparse.Values, p int64, v uint64) {
	switch at := e.T.At(values, p); e.T.Size {
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

// Pack returns words as values; of 64 bits they share memory.
func (e Element) Pack(words []uint64) sparse.Values {
	switch e.T.Size {
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

// Ones returns n ones.
func (e Element) Ones(n int) sparse.Values {
	v := e.T.Make(int64(n))
	e.T.Fill(v, e.T.True)
	return v
}

// AllOnes reports whether all values are 1 or true.
func (e Element) AllOnes(v sparse.Values) bool {
	switch e.T.Size {
	case 1:
		return allAre(v, uint8(e.One))
	case 2:
		return allAre(v, uint16(e.One))
	case 4:
		return allAre(v, uint32(e.One))
	}
	return allAre(v, e.One)
}

func allAre[E sparse.Sized](v sparse.Values, x E) bool {
	return !slices.ContainsFunc(sparse.SliceOf[E](v), func(y E) bool { return y != x })
}

// Text returns a value as fmt prints it.
func (e Element) Text(v uint64) string {
	x := reflect.New(sparse.GoType(e.T))
	e.T.CopyTo(x.UnsafePointer(), e.Pack([]uint64{v}).Pointer())
	return fmt.Sprint(x.Elem().Interface())
}

// Appender returns the function that appends the text of a value. Integers are
// exact, floats in the shortest form that reads back as the same value.
func (e Element) Appender() func(buf []byte, v uint64) []byte {
	switch {
	case e.IsFloat():
		bits := e.Bits()
		return func(buf []byte, v uint64) []byte {
			x := e.AsFloat(v)
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
	case e.IsSigned():
		return func(buf []byte, v uint64) []byte { return strconv.AppendInt(buf, int64(v), 10) }
	}
	return func(buf []byte, v uint64) []byte { return strconv.AppendUint(buf, v, 10) }
}
