package ctext

import (
	"fmt"
	"reflect"
	"strings"
)

// kindWords are the names of types in the kernels.
var kindWords = map[string]reflect.Kind{
	"hb_i8": reflect.Int8, "hb_i16": reflect.Int16, "hb_i32": reflect.Int32, "hb_i64": reflect.Int64,
	"hb_u8": reflect.Uint8, "hb_u16": reflect.Uint16, "hb_u32": reflect.Uint32, "hb_u64": reflect.Uint64,
	"float": reflect.Float32, "double": reflect.Float64, "bool": reflect.Bool,
}

// integerWords are the words that make up the names of C's integers.
const integerWords = " char short int long signed unsigned "

func isIntegerWord(s string) bool { return strings.Contains(integerWords, " "+s+" ") }

// startsType reports whether a type, or a declaration, begins here.
func (p *parser) startsType() bool {
	if p.tok.kind != nameToken {
		return false
	}
	s := p.tok.text
	_, kind := kindWords[s]
	return kind || p.types[s] != nil || isIntegerWord(s) || s == "const" || s == "auto"
}

// castType takes "(", a type and ")" if they are next, and else nothing.
func (p *parser) castType() (*Type, error) {
	at, tok, last := p.at, p.tok, p.last
	if err := p.next(); err != nil {
		return nil, err
	}
	if p.startsType() {
		of, err := p.typeName()
		if err != nil {
			return nil, err
		}
		if p.is(")") {
			return of, p.next()
		}
	}
	p.at, p.tok, p.last = at, tok, last
	return nil, nil
}

// typeName parses the name of a type; auto is nil.
func (p *parser) typeName() (of *Type, err error) {
	words := map[string]int{}
	any := false
	for ; p.startsType(); err = p.next() {
		if err != nil {
			return nil, err
		}
		s := p.tok.text
		k, kind := kindWords[s]
		switch {
		case s == "const":
			continue
		case s == "auto" && !any:
			any = true
		case p.types[s] != nil && !any:
			of, any = p.types[s], true
		case kind && !any:
			of, any = Number(k), true
		case isIntegerWord(s) && (!any || len(words) > 0):
			any = true
			words[s]++
		default:
			return nil, p.fail("two types follow each other", "write one")
		}
	}
	if err != nil || len(words) == 0 {
		return of, err
	}
	k, ok := integerKind(words)
	if !ok {
		return nil, p.failAt(p.last.at, "the words are no type of C", "write int, unsigned, long long, float, double or bool")
	}
	return Number(k), nil
}

// integerKind returns the integer of words such as unsigned long long.
func integerKind(words map[string]int) (reflect.Kind, bool) {
	unsigned := words["unsigned"] > 0
	if words["signed"] > 1 || words["unsigned"] > 1 || unsigned && words["signed"] > 0 || words["int"] > 1 ||
		words["char"] > 1 || words["short"] > 1 || words["long"] > 2 {
		return 0, false
	}
	k := reflect.Int32
	switch char, short, long := words["char"] > 0, words["short"] > 0, words["long"] > 0; {
	case char && (short || long || words["int"] > 0), short && long:
		return 0, false
	case char:
		k = reflect.Int8
	case short:
		k = reflect.Int16
	case long:
		k = reflect.Int64
	}
	if unsigned {
		k += reflect.Uint8 - reflect.Int8
	}
	return k, true
}

// staticCast parses static_cast<T>(x).
func (p *parser) staticCast() (value, error) {
	at := p.tok.at
	if err := p.next(); err != nil {
		return value{}, err
	}
	if err := p.want("<"); err != nil {
		return value{}, err
	}
	if !p.startsType() {
		return value{}, p.fail("there is no type here", "write int, unsigned, long long, float, double or bool")
	}
	of, err := p.typeName()
	if err != nil {
		return value{}, err
	}
	if err := p.want(">"); err != nil {
		return value{}, err
	}
	v, err := p.inBrackets()
	if err != nil {
		return v, err
	}
	return p.cast(v, of, at)
}

// cast converts a value to a type, which auto is not.
func (p *parser) cast(v value, of *Type, at int) (value, error) {
	if of == nil {
		return v, p.failAt(at, "auto is no type of a value", "name the type")
	}
	v, err := p.as(v, of, at)
	v.fixed = true
	return v, err
}

// declaration parses variables of a type, with values or without.
func (p *parser) declaration() (list []statement, err error) {
	fixed := p.tok.text == "const"
	of, err := p.typeName()
	if err != nil {
		return nil, err
	}
	fixed = fixed || p.last.text == "const"
	for n := 0; n == 0 || p.is(","); n++ {
		if n > 0 {
			if err := p.next(); err != nil {
				return nil, err
			}
		}
		s, err := p.declared(of, fixed)
		if err != nil {
			return nil, err
		}
		if s.do != nil {
			list = append(list, s)
		}
	}
	return list, nil
}

// declared parses one variable of a declaration. The name is known after its value.
func (p *parser) declared(of *Type, fixed bool) (statement, error) {
	refers, err := p.take("&")
	if err != nil {
		return statement{}, err
	}
	name := p.tok
	if name.kind != nameToken || p.startsType() {
		return statement{}, p.fail("the name of a variable is missing", "declare variables as in float x = 0; without pointers")
	}
	names := p.scopes[len(p.scopes)-1]
	if _, twice := names[name.text]; twice {
		return statement{}, p.fail(fmt.Sprintf("%s is declared twice", name.text), "choose another name")
	}
	if err := p.next(); err != nil {
		return statement{}, err
	}
	if p.is("[") {
		return statement{}, p.fail("arrays are no part of these texts", "use several variables, or run the program on a device")
	}
	v := value{}
	has, at := p.is("=") || p.is("{"), p.tok.at
	switch {
	case has:
		if p.is("=") {
			if err := p.next(); err != nil {
				return statement{}, err
			}
		}
		at = p.tok.at
		if of != nil {
			v, err = p.initial(of, refers)
		} else if v, err = p.assignment(); err == nil {
			of = typeOf(v)
		}
	case of == nil || refers:
		err = p.failAt(name.at, "the variable has no value", "write = and its value")
	case of.Kind == reflect.Struct:
		v, err = emptyStruct(of), nil
	default:
		v = constantZero(of)
	}
	if err != nil {
		return statement{}, err
	}
	if refers {
		if !v.variable || v.kind != of.Kind {
			return statement{}, p.failAt(at, "a reference is not to a variable of its type", "leave the & out")
		}
		v.fixed = v.fixed || fixed
		names[name.text] = v
		return statement{}, nil
	}
	room, err := p.room(of)
	if err != nil {
		return statement{}, err
	}
	names[name.text] = variable(of, room, fixed)
	return statement{do: v.into(room)}, nil
}

// initial parses the first value of a variable; of a reference, the variable itself.
func (p *parser) initial(of *Type, refers bool) (value, error) {
	if refers {
		return p.conditional()
	}
	return p.typed(of)
}

// emptyStruct is the struct of zeros.
func emptyStruct(of *Type) value {
	size := uintptr(of.Size)
	return value{kind: reflect.Struct, typ: of, code: func(f *Frame, to uintptr) {
		for at := to; at < to+size; at++ {
			*ptr[byte](f, at) = 0
		}
	}}
}
