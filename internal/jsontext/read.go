package jsontext

import (
	"encoding"
	"encoding/base64"
	"errors"
	"fmt"
	"reflect"
	"strconv"
	"strings"
	"unicode/utf16"
	"unicode/utf8"
)

// Unmarshaler is json.Unmarshaler.
type Unmarshaler interface{ UnmarshalJSON(data []byte) error }

var (
	unmarshalerType     = reflect.TypeFor[Unmarshaler]()
	textUnmarshalerType = reflect.TypeFor[encoding.TextUnmarshaler]()
)

// Object returns the values of the given keys of an object, as JSON, by their place in keys; nil
// where the object lacks one or has null. Keys match without regard to case, and the last of
// several counts, as in encoding/json. Other keys are ignored.
func Object(data []byte, keys ...string) ([][]byte, error) {
	r := reader{data: data}
	r.space()
	if !r.take('{') {
		return nil, fmt.Errorf("%s is no object", r.excerpt())
	}
	out := make([][]byte, len(keys))
	r.space()
	for first := true; !r.take('}'); first = false {
		if !first && !r.take(',') {
			return nil, r.syntax("a comma or }")
		}
		r.space()
		name, err := r.value()
		if err != nil {
			return nil, err
		}
		key, ok := unquote(name)
		if !ok {
			return nil, fmt.Errorf("the key %s is no text", short(name))
		}
		r.space()
		if !r.take(':') {
			return nil, r.syntax("a colon")
		}
		value, err := r.value()
		if err != nil {
			return nil, err
		}
		for k, want := range keys {
			if strings.EqualFold(key, want) {
				out[k] = value
				if string(value) == "null" {
					out[k] = nil
				}
			}
		}
		r.space()
	}
	if !r.end() {
		return nil, r.syntax("the end")
	}
	return out, nil
}

// ReadInt reads an integer.
func ReadInt(data []byte) (int, error) {
	n, err := strconv.ParseInt(string(data), 10, strconv.IntSize)
	if err != nil {
		return 0, fmt.Errorf("%s is no integer of %d bits", short(data), strconv.IntSize)
	}
	return int(n), nil
}

// ReadValues reads a list into the slice to which list points. A null is an error unless the type
// can be null. Bytes may be base64 too, as earlier versions wrote them.
func ReadValues(data []byte, list any) error {
	to := reflect.ValueOf(list).Elem()
	elem := to.Type().Elem()
	if text, ok := unquote(data); ok && elem.Kind() == reflect.Uint8 {
		bytes, err := base64.StdEncoding.DecodeString(text)
		if err != nil {
			return err
		}
		to.SetBytes(bytes)
		return nil
	}
	read, nulls := readerOf(elem)
	to.Set(reflect.MakeSlice(to.Type(), 0, 8))
	zero := reflect.Zero(elem)
	return items(data, func(k int, value []byte) error {
		if string(value) == "null" && !nulls {
			return fmt.Errorf("item %d of a list is null; give a value", k)
		}
		to.Set(reflect.Append(to, zero))
		if err := read(value, to.Index(k)); err != nil {
			return fmt.Errorf("item %d: %w", k, err)
		}
		return nil
	})
}

// items calls f with the items of a list.
func items(data []byte, f func(k int, value []byte) error) error {
	r := reader{data: data}
	r.space()
	if !r.take('[') {
		return fmt.Errorf("%s is no list", r.excerpt())
	}
	r.space()
	for k := 0; !r.take(']'); k++ {
		if k > 0 && !r.take(',') {
			return r.syntax("a comma or ]")
		}
		value, err := r.value()
		if err == nil {
			err = f(k, value)
		}
		if err != nil {
			return err
		}
		r.space()
	}
	if !r.end() {
		return r.syntax("the end")
	}
	return nil
}

// readArray reads a list into an array: items that it lacks are zero, further ones are ignored, as
// in encoding/json.
func readArray(data []byte, v reflect.Value) error {
	read, nulls := readerOf(v.Type().Elem())
	v.SetZero()
	return items(data, func(k int, value []byte) error {
		if k >= v.Len() || string(value) == "null" && !nulls {
			return nil
		}
		return read(value, v.Index(k))
	})
}

func readPointer(data []byte, v reflect.Value) error {
	v.SetZero()
	if string(data) == "null" {
		return nil
	}
	v.Set(reflect.New(v.Type().Elem()))
	read, _ := readerOf(v.Type().Elem())
	return read(data, v.Elem())
}

// readerOf returns what reads a value of a type from JSON, and whether it takes null.
func readerOf(t reflect.Type) (read func(data []byte, v reflect.Value) error, nulls bool) {
	kind := t.Kind()
	switch kind {
	case reflect.Pointer:
		return readPointer, true
	case reflect.Interface:
		return readOther, true
	}
	p := reflect.PointerTo(t)
	switch {
	case p.Implements(unmarshalerType):
		return func(data []byte, v reflect.Value) error {
			return v.Addr().Interface().(Unmarshaler).UnmarshalJSON(data)
		}, true
	case p.Implements(textUnmarshalerType):
		return readText, false
	case t.PkgPath() == "encoding/json":
		return readOther, false
	}
	wrong := func(data []byte) error { return fmt.Errorf("%s is no %v", short(data), t) }
	switch kind {
	case reflect.Bool:
		return func(data []byte, v reflect.Value) error {
			v.SetBool(data[0] == 't')
			if data[0] != 't' && data[0] != 'f' {
				return wrong(data)
			}
			return nil
		}, false
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
		return func(data []byte, v reflect.Value) error {
			n, err := strconv.ParseInt(string(data), 10, t.Bits())
			if err != nil {
				return wrong(data)
			}
			v.SetInt(n)
			return nil
		}, false
	case reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64, reflect.Uintptr:
		return func(data []byte, v reflect.Value) error {
			n, err := strconv.ParseUint(string(data), 10, t.Bits())
			if err != nil {
				return wrong(data)
			}
			v.SetUint(n)
			return nil
		}, false
	case reflect.Float32, reflect.Float64:
		return func(data []byte, v reflect.Value) error {
			if data[0] != '-' && (data[0] < '0' || data[0] > '9') {
				return wrong(data)
			}
			x, err := strconv.ParseFloat(string(data), t.Bits())
			if err != nil {
				return wrong(data)
			}
			v.SetFloat(x)
			return nil
		}, false
	case reflect.String:
		return func(data []byte, v reflect.Value) error {
			s, ok := unquote(data)
			if !ok {
				return wrong(data)
			}
			v.SetString(s)
			return nil
		}, false
	}
	if kind == reflect.Array {
		return readArray, false
	}
	return readOther, false
}

func readText(data []byte, v reflect.Value) error {
	s, ok := unquote(data)
	if !ok {
		return fmt.Errorf("%s is no text, of which a %v is read", short(data), v.Type())
	}
	return v.Addr().Interface().(encoding.TextUnmarshaler).UnmarshalText([]byte(s))
}

func readOther(data []byte, v reflect.Value) error {
	if Other.Unmarshal == nil {
		return errOther(v.Type())
	}
	return Other.Unmarshal(data, v.Addr().Interface())
}

// reader is a place in a JSON text.
type reader struct {
	data []byte
	at   int
}

func (r *reader) space() {
	for r.at < len(r.data) && (r.data[r.at] == ' ' || r.data[r.at] == '\t' || r.data[r.at] == '\n' || r.data[r.at] == '\r') {
		r.at++
	}
}

// take reports whether the next byte is c, and passes it.
func (r *reader) take(c byte) bool {
	if r.at < len(r.data) && r.data[r.at] == c {
		r.at++
		return true
	}
	return false
}

// end reports whether blanks alone follow.
func (r *reader) end() bool {
	r.space()
	return r.at == len(r.data)
}

func (r *reader) excerpt() string {
	if r.at >= len(r.data) {
		return "an empty text"
	}
	return short(r.data[r.at:])
}

// short returns the beginning of a text, for errors.
func short(text []byte) string {
	const most = 40
	if len(text) > most {
		return strings.ToValidUTF8(string(text[:most]), "") + "…"
	}
	return string(text)
}

func (r *reader) syntax(want string) error {
	return fmt.Errorf("no JSON at byte %d: want %s, not %s", r.at, want, r.excerpt())
}

// value passes a value of any kind, and the blanks before it, and returns its text.
func (r *reader) value() ([]byte, error) {
	r.space()
	begin := r.at
	var open []byte // the brackets that are open
	for {
		r.space()
		if r.at >= len(r.data) {
			return nil, r.syntax("a value")
		}
		switch c := r.data[r.at]; c {
		case '[', '{':
			r.at++
			open = append(open, c+2) // the bracket that closes it
			if len(open) > 10000 {
				return nil, errors.New("the JSON text is nested too deeply")
			}
			if r.space(); r.at < len(r.data) && r.data[r.at] == c+2 {
				break // it is empty
			}
			if c == '{' {
				if err := r.key(); err != nil {
					return nil, err
				}
			}
			continue
		case '"':
			if !r.text() {
				return nil, r.syntax("a text")
			}
		default:
			if !r.word() {
				return nil, r.syntax("a value")
			}
		}
		// A value has ended: close brackets, or pass the comma to the next value.
		for {
			if len(open) == 0 {
				return r.data[begin:r.at], nil
			}
			r.space()
			if r.take(open[len(open)-1]) {
				open = open[:len(open)-1]
				continue
			}
			if !r.take(',') {
				return nil, r.syntax("a comma or " + string(open[len(open)-1:]))
			}
			if open[len(open)-1] == '}' {
				if err := r.key(); err != nil {
					return nil, err
				}
			}
			break
		}
	}
}

// key passes a key and its colon.
func (r *reader) key() error {
	r.space()
	if r.at >= len(r.data) || r.data[r.at] != '"' || !r.text() {
		return r.syntax("a key")
	}
	r.space()
	if !r.take(':') {
		return r.syntax("a colon")
	}
	return nil
}

// text passes a text in quotation marks. It reports false, and stays, if there is none.
func (r *reader) text() bool {
	for p := r.at + 1; p < len(r.data); p++ {
		switch c := r.data[p]; {
		case c == '"':
			r.at = p + 1
			return true
		case c < ' ':
			return false
		case c == '\\':
			p++
			if p >= len(r.data) {
				return false
			}
			if r.data[p] == 'u' {
				if p+4 >= len(r.data) {
					return false
				}
				if _, err := strconv.ParseUint(string(r.data[p+1:p+5]), 16, 16); err != nil {
					return false
				}
			} else if !strings.ContainsRune(`"\/bfnrt`, rune(r.data[p])) {
				return false
			}
		}
	}
	return false
}

// word passes a number, true, false or null.
func (r *reader) word() bool {
	for _, w := range []string{"true", "false", "null"} {
		if strings.HasPrefix(string(r.data[r.at:min(len(r.data), r.at+len(w))]), w) {
			r.at += len(w)
			return true
		}
	}
	p := r.at
	digits := func() bool {
		from := p
		for p < len(r.data) && r.data[p] >= '0' && r.data[p] <= '9' {
			p++
		}
		return p > from
	}
	next := func(list string) bool {
		if p < len(r.data) && strings.IndexByte(list, r.data[p]) >= 0 {
			p++
			return true
		}
		return false
	}
	next("-")
	if !next("0") && !digits() {
		return false
	}
	if next(".") && !digits() {
		return false
	}
	if next("eE") {
		next("+-")
		if !digits() {
			return false
		}
	}
	r.at = p
	return true
}

// unquote returns the text of a JSON text in quotation marks, which is valid. Bytes and escapes
// that are no characters become U+FFFD.
func unquote(data []byte) (string, bool) {
	if len(data) < 2 || data[0] != '"' || data[len(data)-1] != '"' {
		return "", false
	}
	data = data[1 : len(data)-1]
	out := make([]byte, 0, len(data))
	for p := 0; p < len(data); {
		c := data[p]
		if c != '\\' {
			r, size := utf8.DecodeRune(data[p:])
			out = utf8.AppendRune(out, r)
			p += size
			continue
		}
		p += 2
		switch c := data[p-1]; c {
		case 'b':
			out = append(out, '\b')
		case 'f':
			out = append(out, '\f')
		case 'n':
			out = append(out, '\n')
		case 'r':
			out = append(out, '\r')
		case 't':
			out = append(out, '\t')
		case 'u':
			r := hexRune(data[p:])
			p += 4
			if utf16.IsSurrogate(r) {
				second := rune(-1)
				if p+6 <= len(data) && data[p] == '\\' && data[p+1] == 'u' {
					second = hexRune(data[p+2:])
				}
				if r = utf16.DecodeRune(r, second); r != utf8.RuneError {
					p += 6
				}
			}
			out = utf8.AppendRune(out, r)
		default: // ", \ and /
			out = append(out, c)
		}
	}
	return string(out), true
}

// hexRune returns the number of the four hexadecimal digits of an escape, −1 if they are none.
func hexRune(data []byte) rune {
	if len(data) < 4 {
		return -1
	}
	n, err := strconv.ParseUint(string(data[:4]), 16, 16)
	if err != nil {
		return -1
	}
	return rune(n)
}
