package text

import (
	"fmt"
	"reflect"
	"regexp"
	"slices"
	"strings"

	"github.com/hiveblas/hiveblas/internal/device"
)

// This file reads the types of program files: numbers, and structs of them.

// Field is a field of a struct in a [File].
type Field struct{ Name, Type string }

var types = []string{"bool", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64", "float32", "float64"}

// typeAliases are the names that the text of a program has for some of the types.
var typeAliases = map[string]string{"float": "float32", "double": "float64", "int": "int32"}

// kinds are the kinds of types.
var kinds = map[string]reflect.Kind{
	"bool": reflect.Bool, "int8": reflect.Int8, "int16": reflect.Int16, "int32": reflect.Int32, "int64": reflect.Int64,
	"uint8": reflect.Uint8, "uint16": reflect.Uint16, "uint32": reflect.Uint32, "uint64": reflect.Uint64,
	"float32": reflect.Float32, "float64": reflect.Float64,
}

// maxField is the number of bytes of a field's name.
const maxField = 64

var fieldName = regexp.MustCompile(`^[A-Za-z][A-Za-z0-9_]*$`)

// reserved are names that fields cannot have: words of C++ and macros of the kernels.
var reserved = strings.Fields(`alignas alignof and and_eq asm auto bitand bitor bool break case catch char
	char16_t char32_t class compl const const_cast constexpr continue decltype default delete do double
	dynamic_cast else enum explicit export extern false float for friend goto if inline int long mutable
	namespace new noexcept not not_eq nullptr operator or or_eq private protected public register
	reinterpret_cast return short signed sizeof static static_assert static_cast struct switch template
	this thread_local throw true try typedef typeid typename union unsigned using virtual void volatile
	wchar_t while xor xor_eq INFINITY NAN INT_MAX INT_MIN UINT_MAX LLONG_MAX LLONG_MIN ULLONG_MAX FLT_MAX FLT_MIN
	FLT_EPSILON DBL_MAX DBL_MIN DBL_EPSILON`)

// IsStruct reports whether a type of a file is a struct.
func IsStruct(text string) bool { return strings.HasPrefix(text, "{") }

// readType reads a type: one of types, or fields in braces. It returns its canonical text, and
// what is wrong with it or "".
func readType(text string) (canonical, reason string) {
	if !IsStruct(text) {
		if name, ok := typeAliases[text]; ok {
			text = name
		}
		if !slices.Contains(types, text) {
			return "", fmt.Sprintf("is %q, want a type: %s, or fields such as { float32 rank; int32 degree }", text, strings.Join(types, ", "))
		}
		return text, ""
	}
	body, closed := strings.CutSuffix(text[1:], "}")
	if !closed || strings.ContainsAny(body, "{}") {
		return "", fmt.Sprintf("is %q, want fields in one pair of braces, such as { float32 rank; int32 degree }", text)
	}
	var fields []Field
	body = strings.TrimSpace(body)
	body = strings.TrimSpace(strings.TrimSuffix(body, ";"))
	if body == "" {
		return "", "has no fields; write a type and a name for each, such as { float32 rank; int32 degree }"
	}
	for _, declared := range strings.Split(body, ";") {
		name, rest, _ := strings.Cut(strings.Join(strings.Fields(declared), " "), " ")
		if name == "" {
			return "", "has a field without a type and a name"
		}
		of, ok := name, true
		if alias, is := typeAliases[of]; is {
			of = alias
		}
		if _, ok = kinds[of]; !ok {
			return "", fmt.Sprintf("has a field of type %q, want one of %s", name, strings.Join(types, ", "))
		}
		for _, field := range strings.Split(rest, ",") {
			field = strings.TrimSpace(field)
			if reason := badField(field, name, fields); reason != "" {
				return "", reason
			}
			fields = append(fields, Field{field, of})
		}
	}
	canonical = TypeText(fields)
	if _, _, err := device.StructOf(MembersOf(fields)); err != nil {
		return "", "is too large: " + err.Error()
	}
	return canonical, ""
}

// badField says what is wrong with the name of a field, or "".
func badField(name, of string, before []Field) string {
	switch {
	case name == "":
		return fmt.Sprintf("has a field of type %s without a name", of)
	case len(name) > maxField:
		return fmt.Sprintf("has a field whose name is longer than %d bytes", maxField)
	case !fieldName.MatchString(name):
		return fmt.Sprintf("has a field %q; want a letter, and then letters, digits and _, without a value or a length", name)
	case slices.Contains(reserved, name), strings.HasPrefix(strings.ToLower(name), "hb_"):
		return fmt.Sprintf("has a field %q, which is a reserved word; choose another name", name)
	case slices.ContainsFunc(before, func(f Field) bool { return f.Name == name }):
		return fmt.Sprintf("has two fields %q", name)
	}
	return ""
}

// TypeText writes fields as readType reads them.
func TypeText(fields []Field) string {
	parts := make([]string, len(fields))
	for i, f := range fields {
		parts[i] = f.Type + " " + f.Name
	}
	return "{ " + strings.Join(parts, "; ") + " }"
}

// FieldsOf returns the fields of a canonical type, none of a number.
func FieldsOf(canonical string) (fields []Field) {
	if !IsStruct(canonical) {
		return nil
	}
	for _, declared := range strings.Split(strings.Trim(canonical, "{} "), "; ") {
		of, name, _ := strings.Cut(declared, " ")
		fields = append(fields, Field{name, of})
	}
	return fields
}

func MembersOf(fields []Field) []device.Member {
	members := make([]device.Member, len(fields))
	for i, f := range fields {
		members[i] = device.Member{Name: f.Name, Kind: kinds[f.Type]}
	}
	return members
}

// TypeOf returns a canonical type as a device knows it, and the offsets of its fields.
func TypeOf(canonical string) (device.Type, []int, error) {
	if IsStruct(canonical) {
		return device.StructOf(MembersOf(FieldsOf(canonical)))
	}
	var t device.Type
	var err error
	switch canonical {
	case "bool":
		t, err = device.TypeOf[bool]()
	case "int8":
		t, err = device.TypeOf[int8]()
	case "int16":
		t, err = device.TypeOf[int16]()
	case "int32":
		t, err = device.TypeOf[int32]()
	case "int64":
		t, err = device.TypeOf[int64]()
	case "uint8":
		t, err = device.TypeOf[uint8]()
	case "uint16":
		t, err = device.TypeOf[uint16]()
	case "uint32":
		t, err = device.TypeOf[uint32]()
	case "uint64":
		t, err = device.TypeOf[uint64]()
	case "float32":
		t, err = device.TypeOf[float32]()
	case "float64":
		t, err = device.TypeOf[float64]()
	}
	return t, nil, err
}

// typeNames are the names of values of the three types in each part of a file.
var typeNames = map[string]struct{ state, message, edge []string }{
	"send": {state: []string{"state"}}, "skip": {state: []string{"state"}},
	"gather": {state: []string{"src", "dst"}, edge: []string{"weight"}},
	"if":     {state: []string{"src", "dst"}, edge: []string{"weight"}},
	"apply":  {state: []string{"state"}, message: []string{"sum"}},
	"sum":    {message: []string{"x", "y"}},
}

var usedField = regexp.MustCompile(`\b([A-Za-z_][A-Za-z0-9_]*)\s*\.\s*([A-Za-z_][A-Za-z0-9_]*)`)

// badUse says which field of a part does not exist, or "".
func (f *File) badUse(key, text string) string {
	names := typeNames[key]
	for _, m := range usedField.FindAllStringSubmatchIndex(text, -1) {
		if before := strings.TrimRight(text[:m[0]], " \t"); strings.HasSuffix(before, ".") || strings.HasSuffix(before, "->") {
			continue // a member of a member
		}
		name, field := text[m[2]:m[3]], text[m[4]:m[5]]
		for _, of := range []struct {
			names     []string
			key, text string
		}{{names.state, "state", f.State}, {names.message, "message", f.Message}, {names.edge, "edge", f.Edge}} {
			fields := FieldsOf(of.text)
			switch {
			case !slices.Contains(of.names, name):
			case fields == nil:
				return fmt.Sprintf("has %s.%s, and the %s has no fields", name, field, of.key)
			case !slices.ContainsFunc(fields, func(f Field) bool { return f.Name == field }):
				return fmt.Sprintf("has %s.%s, and the fields of the %s are %s", name, field, of.key, of.text)
			}
		}
	}
	return ""
}
