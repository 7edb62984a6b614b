package device

import (
	"fmt"
	"hash/fnv"
	"math"
	"reflect"
	"strings"
	"sync"
)

// Type is an element type as CUDA C knows it.
type Type struct {
	Name string // such as "float", "hb_i32", or "hb_t_9a3c…" for a struct
	Def  string // the definition that Name needs first, or ""
	Size int    // bytes
	Kind reflect.Kind
	Go   string // the Go name, for messages
	// Nonzero is an expression in x of type Name: x differs from Go's zero value.
	Nonzero string
}

// Definer is a Go type that gives its own CUDA definition: the members of a
// struct of the same layout, such as "float re, im;", and functions of it.
// Types without it get one from their fields.
type Definer interface{ CUDA() string }

var kindNames = map[reflect.Kind]string{
	reflect.Bool: "bool",
	reflect.Int8: "hb_i8", reflect.Int16: "hb_i16", reflect.Int32: "hb_i32", reflect.Int64: "hb_i64", reflect.Int: "hb_i64",
	reflect.Uint8: "hb_u8", reflect.Uint16: "hb_u16", reflect.Uint32: "hb_u32", reflect.Uint64: "hb_u64", reflect.Uint: "hb_u64",
	reflect.Float32: "float", reflect.Float64: "double",
}

// A TypeError is a Go type that cannot live on a GPU.
type TypeError struct {
	Go     string
	Reason string
}

func (e *TypeError) Error() string {
	return fmt.Sprintf("a matrix of %s cannot live on a GPU: %s; use bool, integers, floats, or structs and arrays of them", e.Go, e.Reason)
}

var types sync.Map // reflect.Type → Type or error

// TypeOf returns T as CUDA C knows it. Numbers and bools have their own
// names; a struct is defined from its fields, which CUDA lays out as Go does.
func TypeOf[T any]() (Type, error) { return TypeFor(reflect.TypeFor[T]()) }

// TypeFor is TypeOf for a reflected type.
func TypeFor(t reflect.Type) (Type, error) {
	if got, ok := types.Load(t); ok {
		if err, bad := got.(error); bad {
			return Type{}, err
		}
		return got.(Type), nil
	}
	made, err := makeType(t)
	if err != nil {
		types.Store(t, err)
		return Type{}, err
	}
	types.Store(t, made)
	return made, nil
}

// maxSize is the number of bytes that an element has at most.
const maxSize = 64

func makeType(t reflect.Type) (Type, error) {
	if name, ok := kindNames[t.Kind()]; ok {
		return Type{Name: name, Size: int(t.Size()), Kind: t.Kind(), Go: t.String(), Nonzero: "x != (" + name + ")0"}, nil
	}
	if t.Kind() != reflect.Struct {
		return Type{}, &TypeError{t.String(), "it is a " + t.Kind().String()}
	}
	if t.Size() == 0 || t.Size() > maxSize {
		return Type{}, &TypeError{t.String(), fmt.Sprintf("it has %d bytes, and elements have 1 to %d", t.Size(), maxSize)}
	}
	var body string
	if d, ok := reflect.New(t).Interface().(Definer); ok {
		body = d.CUDA()
	} else {
		fields, err := members(t)
		if err != nil {
			return Type{}, &TypeError{t.String(), err.Error()}
		}
		body = fields
	}
	h := fnv.New64a()
	h.Write([]byte(body))
	name := fmt.Sprintf("hb_t_%016x", h.Sum64())
	def := fmt.Sprintf("struct %s { %s };\nstatic_assert(sizeof(%s) == %d, \"%s has %d bytes in Go\");\n", name, body, name, t.Size(), t.String(), t.Size())
	return Type{Name: name, Def: def, Size: int(t.Size()), Kind: t.Kind(), Go: t.String(), Nonzero: nonzero(t, "x")}, nil
}

// Member is a field of a struct that [StructOf] makes.
type Member struct {
	Name string
	Kind reflect.Kind // of a number or bool
}

// StructOf returns a struct with these fields, which a text defines and no Go type, and their
// offsets in bytes. Go and C have the same layout. The function hb_make_NAME of its definition
// returns a value of the fields in order; those left out are 0.
func StructOf(members []Member) (t Type, offsets []int, err error) {
	var body, params, sets strings.Builder
	var tests []string
	align := 1
	for i, m := range members {
		name, size := kindNames[m.Kind], sizeOf(m.Kind)
		if size == 0 {
			return Type{}, nil, &TypeError{m.Name, "it is a " + m.Kind.String()}
		}
		align = max(align, size)
		t.Size = (t.Size + size - 1) / size * size
		offsets = append(offsets, t.Size)
		t.Size += size
		if i > 0 {
			params.WriteString(", ")
		}
		fmt.Fprintf(&body, "%s %s; ", name, m.Name)
		fmt.Fprintf(&params, "%s hb_%d = 0", name, i)
		fmt.Fprintf(&sets, "hb_made.%s = hb_%d; ", m.Name, i)
		tests = append(tests, "x."+m.Name+" != 0")
	}
	t.Size = (t.Size + align - 1) / align * align
	if t.Go = "struct { " + body.String() + "}"; t.Size == 0 || t.Size > maxSize {
		return Type{}, nil, &TypeError{t.Go, fmt.Sprintf("it has %d bytes, and elements have 1 to %d", t.Size, maxSize)}
	}
	h := fnv.New64a()
	h.Write([]byte(body.String()))
	t.Name, t.Kind = fmt.Sprintf("hb_f_%016x", h.Sum64()), reflect.Struct
	t.Def = fmt.Sprintf("struct %[1]s { %[2]s };\nstatic_assert(sizeof(%[1]s) == %[3]d, \"a struct of a program has %[3]d bytes\");\n"+
		"HB_DEVICE %[1]s hb_make_%[1]s(%[4]s) { %[1]s hb_made = %[1]s(); %[5]sreturn hb_made; }\n", t.Name, body.String(), t.Size, params.String(), sets.String())
	t.Nonzero = "(" + strings.Join(tests, " || ") + ")"
	return t, offsets, nil
}

// sizeOf returns the bytes of a number or bool, 0 for other kinds.
func sizeOf(k reflect.Kind) int {
	switch k {
	case reflect.Bool, reflect.Int8, reflect.Uint8:
		return 1
	case reflect.Int16, reflect.Uint16:
		return 2
	case reflect.Int32, reflect.Uint32, reflect.Float32:
		return 4
	case reflect.Int64, reflect.Uint64, reflect.Float64:
		return 8
	}
	return 0
}

// SameMembers reports whether a Go type is a struct with these fields, by name and kind.
func SameMembers(t reflect.Type, members []Member) bool {
	if t.Kind() != reflect.Struct || t.NumField() != len(members) {
		return false
	}
	for i, m := range members {
		if f := t.Field(i); f.Name != m.Name || f.Type.Kind() != m.Kind {
			return false
		}
	}
	return true
}

// members writes the fields of a struct as C members.
func members(t reflect.Type) (string, error) {
	var b strings.Builder
	for i := range t.NumField() {
		f := t.Field(i)
		if err := member(&b, f.Type, f.Name); err != nil {
			return "", fmt.Errorf("field %s %w", f.Name, err)
		}
	}
	return b.String(), nil
}

func member(b *strings.Builder, t reflect.Type, declarator string) error {
	if name, ok := kindNames[t.Kind()]; ok {
		fmt.Fprintf(b, "%s %s; ", name, declarator)
		return nil
	}
	switch t.Kind() {
	case reflect.Array:
		return member(b, t.Elem(), fmt.Sprintf("%s[%d]", declarator, t.Len()))
	case reflect.Struct:
		fields, err := members(t)
		if err != nil {
			return err
		}
		fmt.Fprintf(b, "struct { %s } %s; ", fields, declarator)
		return nil
	}
	return fmt.Errorf("is a %s", t.Kind())
}

// nonzero compares the fields of a struct with zero.
func nonzero(t reflect.Type, x string) string {
	var parts []string
	switch t.Kind() {
	case reflect.Struct:
		for i := range t.NumField() {
			parts = append(parts, nonzero(t.Field(i).Type, x+"."+t.Field(i).Name))
		}
	case reflect.Array:
		for i := range t.Len() {
			parts = append(parts, nonzero(t.Elem(), fmt.Sprintf("%s[%d]", x, i)))
		}
	default:
		return x + " != 0"
	}
	return "(" + strings.Join(parts, " || ") + ")"
}

// Number reports whether the type is a number or bool.
func (t Type) Number() bool { return t.Def == "" }

// Float reports whether the type is a floating-point number.
func (t Type) Float() bool { return t.Kind == reflect.Float32 || t.Kind == reflect.Float64 }

// Limits returns the smallest and the largest value as CUDA C expressions:
// infinities for floats.
func (t Type) Limits() (lo, hi string) {
	bits := uint(t.Size * 8)
	switch t.Kind {
	case reflect.Bool:
		return "false", "true"
	case reflect.Float32, reflect.Float64:
		return "((" + t.Name + ")-INFINITY)", "((" + t.Name + ")INFINITY)"
	case reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64, reflect.Uint:
		return "((" + t.Name + ")0)", "((" + t.Name + ")~0ULL)"
	}
	return fmt.Sprintf("((%s)(1ULL << %d))", t.Name, bits-1), fmt.Sprintf("((%s)((1ULL << %d) - 1))", t.Name, bits-1)
}

// Literal writes a value of type t as a CUDA C expression of that type.
func (t Type) Literal(v any) (string, error) {
	text, err := literal(reflect.ValueOf(v))
	if err != nil {
		return "", &TypeError{t.Go, err.Error()}
	}
	if t.Number() {
		return "((" + t.Name + ")" + text + ")", nil
	}
	return t.Name + text, nil
}

func literal(v reflect.Value) (string, error) {
	switch v.Kind() {
	case reflect.Bool:
		return fmt.Sprint(v.Bool()), nil
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
		return fmt.Sprintf("(hb_i64)%dULL", uint64(v.Int())), nil
	case reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64:
		return fmt.Sprintf("%dULL", v.Uint()), nil
	case reflect.Float32:
		return fmt.Sprintf("__int_as_float(0x%08x)", math.Float32bits(float32(v.Float()))), nil
	case reflect.Float64:
		return fmt.Sprintf("__longlong_as_double(0x%016xLL)", math.Float64bits(v.Float())), nil
	case reflect.Array, reflect.Struct:
		n := 0
		at := func(i int) reflect.Value { return v.Index(i) }
		if v.Kind() == reflect.Struct {
			n = v.NumField()
			at = func(i int) reflect.Value { return v.Field(i) }
		} else {
			n = v.Len()
		}
		parts := make([]string, n)
		for i := range parts {
			text, err := literal(at(i))
			if err != nil {
				return "", err
			}
			if name, ok := kindNames[at(i).Kind()]; ok {
				text = "(" + name + ")" + text
			}
			parts[i] = text
		}
		return "{" + strings.Join(parts, ", ") + "}", nil
	}
	return "", fmt.Errorf("it holds a %s", v.Kind())
}
