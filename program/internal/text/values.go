package text

import (
	"reflect"
	"unsafe"

	"github.com/hiveblas/hiveblas/internal/device"
)

// Matches reports whether a Go type matches a canonical type.
func Matches(canonical string, t reflect.Type) bool {
	if IsStruct(canonical) {
		return device.SameMembers(t, MembersOf(FieldsOf(canonical)))
	}
	return t.Kind() == kinds[canonical]
}

// Columns takes a column from n records of so many bytes, by type.
var Columns = map[string]func(states []byte, size, offset, n int) any{
	"bool": column[bool], "int8": column[int8], "int16": column[int16], "int32": column[int32], "int64": column[int64],
	"uint8": column[uint8], "uint16": column[uint16], "uint32": column[uint32], "uint64": column[uint64],
	"float32": column[float32], "float64": column[float64],
}

func column[T any](states []byte, size, offset, n int) any {
	values := make([]T, n)
	width := int(unsafe.Sizeof(*new(T)))
	for v := range values {
		copy(unsafe.Slice((*byte)(unsafe.Pointer(&values[v])), width), states[v*size+offset:])
	}
	return values
}

// A Sum is a sum that a file names, as text.
type Sum struct {
	Text, Identity string
	Exact          bool
}

// NamedSums are the sums of messages of a type.
func NamedSums(t device.Type) map[string]Sum {
	lo, hi := "", ""
	if t.Number() {
		lo, hi = t.Limits()
	}
	return map[string]Sum{
		"plus":  {"x + y", "((" + t.Name + ")0)", !t.Float()},
		"times": {"x * y", "((" + t.Name + ")1)", !t.Float()},
		"min":   {"(y < x || x != x) ? y : x", hi, true},
		"max":   {"(y > x || x != x) ? y : x", lo, true},
		"any":   {"y", "(" + t.Name + "())", false},
	}
}
