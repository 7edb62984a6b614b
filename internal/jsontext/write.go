// Package jsontext writes and reads the JSON form of matrices without encoding/json, which package
// matrix and its users then do not link. It knows numbers, bools, strings, types with methods of
// their own, and pointers to these and arrays of them; package matrix/jsonvalues adds all others by
// Other.
package jsontext

import (
	"encoding"
	"errors"
	"fmt"
	"math"
	"reflect"
	"strconv"
	"unicode/utf8"
)

// Other writes and reads the values that this package does not know: json.Marshal and
// json.Unmarshal, once matrix/jsonvalues is linked.
var Other struct {
	Marshal   func(v any) ([]byte, error)
	Unmarshal func(data []byte, v any) error
}

// errOther is the error of a type that needs Other.
func errOther(t reflect.Type) error {
	return fmt.Errorf("elements of type %v need encoding/json; import _ %q, or give the type the methods MarshalJSON and UnmarshalJSON",
		t, "github.com/hiveblas/hiveblas/matrix/jsonvalues")
}

// Marshaler is json.Marshaler.
type Marshaler interface{ MarshalJSON() ([]byte, error) }

var (
	marshalerType     = reflect.TypeFor[Marshaler]()
	textMarshalerType = reflect.TypeFor[encoding.TextMarshaler]()
)

// Ints appends a list of integers.
func Ints(b []byte, list []int) []byte {
	b = append(b, '[')
	for k, x := range list {
		if k > 0 {
			b = append(b, ',')
		}
		b = strconv.AppendInt(b, int64(x), 10)
	}
	return append(b, ']')
}

// Values appends the items of list, a slice, as json.Marshal writes them, but for bytes, which are
// numbers and not base64.
func Values(b []byte, list any) ([]byte, error) {
	v := reflect.ValueOf(list)
	return writeItems(b, v, writerOf(v.Type().Elem()))
}

func writeItems(b []byte, v reflect.Value, write func(b []byte, v reflect.Value) ([]byte, error)) ([]byte, error) {
	b = append(b, '[')
	for k := range v.Len() {
		if k > 0 {
			b = append(b, ',')
		}
		var err error
		if b, err = write(b, v.Index(k)); err != nil {
			return nil, fmt.Errorf("item %d: %w", k, err)
		}
	}
	return append(b, ']'), nil
}

func writePointer(b []byte, v reflect.Value) ([]byte, error) {
	if v.IsNil() {
		return append(b, "null"...), nil
	}
	return writerOf(v.Type().Elem())(b, v.Elem())
}

// writerOf returns what appends a value of a type. Values can be addressed.
func writerOf(t reflect.Type) func(b []byte, v reflect.Value) ([]byte, error) {
	kind := t.Kind()
	simple := kind != reflect.Pointer && kind != reflect.Interface
	switch p := reflect.PointerTo(t); {
	case simple && p.Implements(marshalerType):
		return writeMarshaler
	case simple && p.Implements(textMarshalerType):
		return writeText
	case t.PkgPath() == "encoding/json": // json.Number is a string without quotation marks
		return writeOther
	}
	switch kind {
	case reflect.Bool:
		return func(b []byte, v reflect.Value) ([]byte, error) { return strconv.AppendBool(b, v.Bool()), nil }
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
		return func(b []byte, v reflect.Value) ([]byte, error) { return strconv.AppendInt(b, v.Int(), 10), nil }
	case reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64, reflect.Uintptr:
		return func(b []byte, v reflect.Value) ([]byte, error) { return strconv.AppendUint(b, v.Uint(), 10), nil }
	case reflect.Float32, reflect.Float64:
		return func(b []byte, v reflect.Value) ([]byte, error) { return appendFloat(b, v.Float(), t.Bits()) }
	case reflect.String:
		return func(b []byte, v reflect.Value) ([]byte, error) { return appendString(b, v.String()), nil }
	case reflect.Array:
		return func(b []byte, v reflect.Value) ([]byte, error) { return writeItems(b, v, writerOf(t.Elem())) }
	case reflect.Pointer:
		return writePointer
	}
	return writeOther
}

func writeMarshaler(b []byte, v reflect.Value) ([]byte, error) {
	text, err := v.Addr().Interface().(Marshaler).MarshalJSON()
	if err != nil {
		return nil, err
	}
	r := reader{data: text}
	if _, err := r.value(); err != nil || !r.end() {
		return nil, fmt.Errorf("MarshalJSON of %v returned %q, which is no JSON", v.Type(), text)
	}
	return append(b, text...), nil
}

func writeText(b []byte, v reflect.Value) ([]byte, error) {
	text, err := v.Addr().Interface().(encoding.TextMarshaler).MarshalText()
	if err != nil {
		return nil, err
	}
	return appendString(b, string(text)), nil
}

func writeOther(b []byte, v reflect.Value) ([]byte, error) {
	if Other.Marshal == nil {
		return nil, errOther(v.Type())
	}
	text, err := Other.Marshal(v.Addr().Interface())
	if err != nil {
		return nil, err
	}
	return append(b, text...), nil
}

// appendFloat writes a number as ECMAScript does: with an exponent where it is very small or large.
func appendFloat(b []byte, x float64, bits int) ([]byte, error) {
	if math.IsInf(x, 0) || math.IsNaN(x) {
		return nil, errors.New("JSON has no number " + strconv.FormatFloat(x, 'g', -1, bits))
	}
	format := byte('f')
	switch abs := math.Abs(x); {
	case abs == 0:
	case bits == 64 && (abs < 1e-6 || abs >= 1e21), bits == 32 && (float32(abs) < 1e-6 || float32(abs) >= 1e21):
		format = 'e'
	}
	b = strconv.AppendFloat(b, x, format, -1, bits)
	if n := len(b); format == 'e' && n >= 4 && b[n-4] == 'e' && b[n-3] == '-' && b[n-2] == '0' { // e-09 is e-9
		b[n-2] = b[n-1]
		b = b[:n-1]
	}
	return b, nil
}

// appendString writes a text in quotation marks, with escapes for what HTML and JavaScript do not
// take. Bytes that are no UTF-8 become U+FFFD.
func appendString(b []byte, s string) []byte {
	const hex = "0123456789abcdef"
	b = append(b, '"')
	for k := 0; k < len(s); {
		c := s[k]
		if c >= utf8.RuneSelf {
			r, size := utf8.DecodeRuneInString(s[k:])
			switch {
			case r == utf8.RuneError && size == 1:
				b = append(b, `\ufffd`...)
			case r == '\u2028' || r == '\u2029':
				b = append(b, `\u202`...)
				b = append(b, hex[r&0xF])
			default:
				b = append(b, s[k:k+size]...)
			}
			k += size
			continue
		}
		k++
		switch c {
		case '"', '\\':
			b = append(b, '\\', c)
		case '\b':
			b = append(b, `\b`...)
		case '\f':
			b = append(b, `\f`...)
		case '\n':
			b = append(b, `\n`...)
		case '\r':
			b = append(b, `\r`...)
		case '\t':
			b = append(b, `\t`...)
		case '<', '>', '&':
			b = append(b, '\\', 'u', '0', '0', hex[c>>4], hex[c&0xF])
		default:
			if c < ' ' {
				b = append(b, '\\', 'u', '0', '0', hex[c>>4], hex[c&0xF])
			} else {
				b = append(b, c)
			}
		}
	}
	return append(b, '"')
}
