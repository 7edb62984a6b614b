package ctext

import (
	"fmt"
	"reflect"
	"strings"
)

// parser compiles a text.
type parser struct {
	layout    *Layout
	part      string
	text      string
	at        int   // the next byte
	tok, last token // the token that is looked at, and the one before
	types     map[string]*Type
	scopes    []map[string]value
	depth     int    // of brackets, operators and statements
	loops     bool   // the text has a loop
	inLoop    int    // loops around the statement
	zero      *Error // of a division by zero
	endless   *Error // of a loop with too many iterations
}

// maxDepth bounds the depth of nested expressions and statements, which take stack.
const maxDepth = 200

func newParser(l *Layout, t Text) (*parser, error) {
	p := &parser{layout: l, part: t.Part, text: t.Text, types: t.Types, scopes: []map[string]value{{}},
		zero: &Error{Part: t.Part, Reason: "an integer is divided by zero", Remedy: "test the divisor before"},
		endless: &Error{Part: t.Part, Reason: fmt.Sprintf("a loop has more than %d iterations", loopLimit),
			Remedy: "correct its condition"}}
	for _, v := range t.Vars {
		p.scopes[0][v.Name] = variable(v.Type, uintptr(v.At), v.Const)
	}
	return p, p.next()
}

// failAt returns an error at a byte of the text.
func (p *parser) failAt(at int, reason, remedy string) error {
	near := p.text[min(at, len(p.text)):]
	if at >= len(p.text) {
		near = "the end"
	}
	if len(near) > 24 {
		near = strings.ToValidUTF8(near[:24], "") + "…"
	}
	return &Error{p.part, near, reason, remedy}
}

func (p *parser) fail(reason, remedy string) error { return p.failAt(p.tok.at, reason, remedy) }

// is reports whether the token is an operator.
func (p *parser) is(op string) bool { return p.tok.kind == operatorToken && p.tok.text == op }

// take takes an operator if it is next.
func (p *parser) take(op string) (bool, error) {
	if !p.is(op) {
		return false, nil
	}
	return true, p.next()
}

// want takes an operator that must be next.
func (p *parser) want(op string) error {
	if !p.is(op) {
		return p.fail(fmt.Sprintf("there is no %q here", op), "write it")
	}
	return p.next()
}

// end returns an error unless the text is at its end.
func (p *parser) end() error {
	if p.tok.kind != endToken {
		return p.fail("the expression ends before this", "write one expression")
	}
	return nil
}

// deeper counts a level of nesting, and p.depth-- ends it.
func (p *parser) deeper() error {
	if p.depth++; p.depth > maxDepth {
		return p.fail(fmt.Sprintf("more than %d levels are nested", maxDepth), "divide the expression by variables")
	}
	return nil
}

// typed parses an expression, or fields in braces, as a value of a type.
func (p *parser) typed(as *Type) (value, error) {
	if p.is("{") {
		return p.list(as)
	}
	at := p.tok.at
	v, err := p.assignment()
	if err != nil {
		return v, err
	}
	return p.as(v, as, at)
}

// as converts a value to a type.
func (p *parser) as(v value, as *Type, at int) (value, error) {
	switch {
	case (v.kind == reflect.Struct) != (as.Kind == reflect.Struct):
		return v, p.failAt(at, "a struct stands for a number, or a number for a struct", "name a field, or give the fields in braces")
	case as.Kind != reflect.Struct:
		return convert(v, as.Kind), nil
	case !same(v.typ, as):
		return v, p.failAt(at, "the struct is of another type", "give the fields in braces")
	}
	return v, nil
}

// same reports whether two structs have the same fields.
func same(a, b *Type) bool {
	if a == b {
		return true
	}
	if len(a.Fields) != len(b.Fields) {
		return false
	}
	for i, f := range a.Fields {
		if f != b.Fields[i] {
			return false
		}
	}
	return true
}

// list parses fields in braces, or one number.
func (p *parser) list(as *Type) (value, error) {
	if err := p.want("{"); err != nil {
		return value{}, err
	}
	var set []func(f *Frame, to uintptr)
	single := constantZero(as)
	for n := 0; !p.is("}"); n++ {
		if n > 0 {
			if err := p.want(","); err != nil {
				return value{}, err
			}
			if p.is("}") {
				break
			}
		}
		at := p.tok.at
		v, err := p.assignment()
		if err != nil {
			return value{}, err
		}
		switch {
		case as.Kind == reflect.Struct && n < len(as.Fields):
			if v, err = p.as(v, Number(as.Fields[n].Kind), at); err != nil {
				return value{}, err
			}
			set = append(set, fieldSetter(v, as.Fields[n]))
		case as.Kind != reflect.Struct && n == 0:
			if single, err = p.as(v, as, at); err != nil {
				return value{}, err
			}
		default:
			return value{}, p.failAt(at, "there are more values than fields", "leave the last ones out")
		}
	}
	if err := p.want("}"); err != nil {
		return value{}, err
	}
	if as.Kind != reflect.Struct {
		return single, nil
	}
	for _, f := range as.Fields[len(set):] {
		set = append(set, fieldSetter(constantZero(Number(f.Kind)), f))
	}
	return value{kind: reflect.Struct, typ: as, braces: true, code: func(f *Frame, to uintptr) {
		for _, s := range set {
			s(f, to)
		}
	}}, nil
}

// constantZero is the value 0 of a number, nothing of a struct.
func constantZero(t *Type) value {
	if t.Kind == reflect.Struct {
		return value{}
	}
	return convert(constant(reflect.Int32, int32(0)), t.Kind)
}

// fieldSetter returns code that writes a number to a field of the struct at a place.
func fieldSetter(v value, field Field) func(f *Frame, to uintptr) {
	at := uintptr(field.Offset)
	switch field.Kind {
	case reflect.Bool:
		code := codeOf[bool](v)
		return func(f *Frame, to uintptr) { *ptr[bool](f, to+at) = code(f) }
	case reflect.Int8, reflect.Uint8:
		code := codeOf[int32](v)
		return func(f *Frame, to uintptr) { *ptr[uint8](f, to+at) = uint8(code(f)) }
	case reflect.Int16, reflect.Uint16:
		code := codeOf[int32](v)
		return func(f *Frame, to uintptr) { *ptr[uint16](f, to+at) = uint16(code(f)) }
	case reflect.Int32:
		return setting[int32](v, at)
	case reflect.Uint32:
		return setting[uint32](v, at)
	case reflect.Int64:
		return setting[int64](v, at)
	case reflect.Uint64:
		return setting[uint64](v, at)
	case reflect.Float32:
		return setting[float32](v, at)
	}
	return setting[float64](v, at)
}

func setting[T number](v value, at uintptr) func(f *Frame, to uintptr) {
	code := codeOf[T](v)
	return func(f *Frame, to uintptr) { *ptr[T](f, to+at) = code(f) }
}

// comma parses an expression with the operator ",", whose value is the last.
func (p *parser) comma() (value, error) {
	v, err := p.assignment()
	for err == nil && p.is(",") {
		if err = p.next(); err != nil {
			break
		}
		before := effect(v)
		if v, err = p.assignment(); err == nil {
			v = after(before, v)
		}
	}
	return v, err
}

// after returns v, before whose code other code runs.
func after(before func(*Frame), v value) value {
	switch wide(v.kind) {
	case reflect.Struct:
		code := v.code.(func(*Frame, uintptr))
		return value{kind: v.kind, typ: v.typ, code: func(f *Frame, to uintptr) { before(f); code(f, to) }}
	case reflect.Uint32:
		return following[uint32](before, v)
	case reflect.Int64:
		return following[int64](before, v)
	case reflect.Uint64:
		return following[uint64](before, v)
	case reflect.Float32:
		return following[float32](before, v)
	case reflect.Float64:
		return following[float64](before, v)
	}
	if v.kind == reflect.Bool {
		return following[bool](before, v)
	}
	return following[int32](before, v)
}

func following[T any](before func(*Frame), v value) value {
	code := codeOf[T](v)
	return value{kind: v.kind, code: func(f *Frame) T { before(f); return code(f) }}
}

// effect returns code that computes a value for its effects.
func effect(v value) func(*Frame) {
	if v.effect != nil {
		return v.effect
	}
	if v.kind == reflect.Struct {
		nowhere := v.code.(func(*Frame, uintptr))
		return func(f *Frame) { nowhere(f, scratch) }
	}
	return v.into(scratch)
}
