package ctext

import (
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"
)

// assignment parses an expression without a comma.
func (p *parser) assignment() (value, error) {
	if err := p.deeper(); err != nil {
		return value{}, err
	}
	defer func() { p.depth-- }()
	start := p.tok.at
	x, err := p.conditional()
	if err != nil || p.tok.kind != operatorToken {
		return x, err
	}
	op := p.tok
	sign, ok := strings.CutSuffix(op.text, "=")
	if !ok || op.text != "=" && (!strings.Contains("+-*/%&|^<<>>", sign) || sign == "<" || sign == ">") {
		return x, nil
	}
	if err := p.assignable(x, start); err != nil {
		return x, err
	}
	if err := p.next(); err != nil {
		return x, err
	}
	of := typeOf(x)
	if sign == "" {
		y, err := p.typed(of)
		if err != nil {
			return x, err
		}
		return p.assigned(x, y)
	}
	y, err := p.assignment()
	if err != nil {
		return x, err
	}
	if x.kind == reflect.Struct || y.kind == reflect.Struct {
		return x, p.failAt(op.at, op.text+" is of numbers, and an operand is a struct", "name a field")
	}
	y, err = p.binary(token{operatorToken, sign, op.at}, x, y)
	if err != nil {
		return x, err
	}
	return p.assigned(x, convert(y, x.kind))
}

// typeOf returns the type of a value.
func typeOf(v value) *Type {
	if v.kind == reflect.Struct {
		return v.typ
	}
	return Number(v.kind)
}

// assignable returns an error unless v is a variable that may change.
func (p *parser) assignable(v value, at int) error {
	switch {
	case !v.variable:
		return p.failAt(at, "a value is assigned to what is no variable", "assign to a variable or a field")
	case v.fixed:
		return p.failAt(at, "the variable is const", "assign to a variable of your own")
	}
	return nil
}

// assigned returns the assignment of y, a value of its type, to the variable x.
func (p *parser) assigned(x, y value) (value, error) {
	set := y.into(x.at)
	if y.braces { // its fields may be fields of x
		room, err := p.room(y.typ)
		if err != nil {
			return x, err
		}
		write, size := y.into(room), uintptr(y.typ.Size)
		set = func(f *Frame) {
			write(f)
			move(f, x.at, room, size)
		}
	}
	v := after(set, x)
	v.effect = set
	return v, nil
}

// room returns a place for a temporary value.
func (p *parser) room(t *Type) (uintptr, error) {
	at, ok := p.layout.Place(t)
	if !ok {
		return 0, p.fail("the texts have more variables than a frame", "use fewer variables")
	}
	return uintptr(at), nil
}

// conditional parses c ? x : y.
func (p *parser) conditional() (value, error) {
	start := p.tok.at
	c, err := p.operation(1)
	if err != nil || !p.is("?") {
		return c, err
	}
	if c, err = p.as(c, Number(reflect.Bool), start); err != nil {
		return c, err
	}
	if err = p.next(); err != nil {
		return c, err
	}
	x, err := p.comma()
	if err != nil {
		return c, err
	}
	if err = p.want(":"); err != nil {
		return c, err
	}
	at := p.tok.at
	y, err := p.assignment()
	if err != nil {
		return c, err
	}
	switch {
	case x.kind == reflect.Struct:
		y, err = p.as(y, x.typ, at)
	case y.kind == reflect.Struct:
		_, err = p.as(x, y.typ, start)
	case x.kind != y.kind:
		k := common(x.kind, y.kind)
		x, y = convert(x, k), convert(y, k)
	}
	if err != nil {
		return c, err
	}
	test := codeOf[bool](c)
	if c.known && x.known && y.known {
		if test(nil) {
			return x, nil
		}
		return y, nil
	}
	return chosen(test, x, y), nil
}

// levels are the levels of binary operators.
var levels = map[string]int{
	"||": 1, "&&": 2, "|": 3, "^": 4, "&": 5, "==": 6, "!=": 6, "<": 7, ">": 7, "<=": 7, ">=": 7,
	"<<": 8, ">>": 8, "+": 9, "-": 9, "*": 10, "/": 10, "%": 10,
}

// operation parses operators of a level or a higher one.
func (p *parser) operation(level int) (value, error) {
	x, err := p.unary()
	for err == nil && p.tok.kind == operatorToken && levels[p.tok.text] >= level {
		op := p.tok
		if err = p.next(); err != nil {
			break
		}
		var y value
		if y, err = p.operation(levels[op.text] + 1); err != nil {
			break
		}
		if x.kind == reflect.Struct || y.kind == reflect.Struct {
			return x, p.failAt(op.at, op.text+" is of numbers, and an operand is a struct", "name a field")
		}
		if op.text == "&&" || op.text == "||" {
			x = logical(op.text == "&&", x, y)
		} else {
			x, err = p.binary(op, x, y)
		}
	}
	return x, err
}

// logical returns x && y or x || y.
func logical(and bool, x, y value) value {
	x, y = convert(x, reflect.Bool), convert(y, reflect.Bool)
	a, b := codeOf[bool](x), codeOf[bool](y)
	if and {
		return computed(reflect.Bool, x.known && y.known, func(f *Frame) bool { return a(f) && b(f) })
	}
	return computed(reflect.Bool, x.known && y.known, func(f *Frame) bool { return a(f) || b(f) })
}

// unary parses prefix operators and casts.
func (p *parser) unary() (value, error) {
	if p.tok.kind != operatorToken {
		return p.postfix()
	}
	op := p.tok
	switch op.text {
	case "(":
		of, err := p.castType()
		if err != nil {
			return value{}, err
		}
		if of == nil {
			return p.postfix()
		}
		v, at, err := p.operand()
		if err != nil {
			return v, err
		}
		return p.cast(v, of, at)
	case "+", "-", "~", "!":
		if err := p.next(); err != nil {
			return value{}, err
		}
		v, at, err := p.operand()
		if err != nil {
			return v, err
		}
		if v.kind == reflect.Struct {
			return v, p.failAt(at, op.text+" is of numbers, and this is a struct", "name a field")
		}
		if op.text == "!" {
			v = convert(v, reflect.Bool)
			x := codeOf[bool](v)
			return computed(reflect.Bool, v.known, func(f *Frame) bool { return !x(f) }), nil
		}
		v = convert(v, wide(v.kind))
		v.fixed = true
		switch {
		case op.text == "-":
			return negated(v), nil
		case op.text == "~" && isFloat(v.kind):
			return v, p.failAt(at, "~ is of integers", "convert the number to an integer type")
		case op.text == "~":
			return inverted(v), nil
		}
		return v, nil
	case "++", "--":
		if err := p.next(); err != nil {
			return value{}, err
		}
		v, at, err := p.operand()
		if err != nil {
			return v, err
		}
		return p.step(op, v, at)
	case "*", "&":
		return value{}, p.fail("pointers are no part of these texts", "use the names of the part, or run the program on a device")
	}
	return p.postfix()
}

// operand parses the operand of a prefix operator.
func (p *parser) operand() (value, int, error) {
	if err := p.deeper(); err != nil {
		return value{}, 0, err
	}
	defer func() { p.depth-- }()
	at := p.tok.at
	v, err := p.unary()
	return v, at, err
}

// step returns ++v or --v.
func (p *parser) step(op token, v value, at int) (value, error) {
	if err := p.assignable(v, at); err != nil {
		return v, err
	}
	if v.kind == reflect.Struct {
		return v, p.failAt(at, op.text+" is of numbers, and this is a struct", "name a field")
	}
	next, err := p.binary(token{operatorToken, op.text[:1], op.at}, v, constant(reflect.Int32, int32(1)))
	if err != nil {
		return v, err
	}
	return p.assigned(v, convert(next, v.kind))
}

// postfix parses fields, x++ and x--.
func (p *parser) postfix() (value, error) {
	start := p.tok.at
	v, err := p.primary()
	for err == nil && p.tok.kind == operatorToken {
		op := p.tok
		switch op.text {
		case ".":
			if err = p.next(); err == nil {
				v, err = p.field(v)
			}
			continue
		case "++", "--":
			var next value
			if next, err = p.step(op, v, start); err != nil {
				return v, err
			}
			var room uintptr
			if room, err = p.room(typeOf(v)); err != nil {
				return v, err
			}
			keep, change := v.into(room), next.effect
			v = after(func(f *Frame) { keep(f); change(f) }, variable(typeOf(v), room, true))
			v.effect = change
			if err = p.next(); err != nil {
				return v, err
			}
		case "[", "->":
			return v, p.fail("arrays and pointers are no part of these texts", "use fields, or run the program on a device")
		default:
			return v, nil
		}
	}
	return v, err
}

// field parses the name of a field of v.
func (p *parser) field(v value) (value, error) {
	if v.kind != reflect.Struct {
		return v, p.fail("the value before the point is a number", "leave the field out")
	}
	var before func(*Frame)
	if !v.variable {
		room, err := p.room(v.typ)
		if err != nil {
			return v, err
		}
		before = v.into(room)
		v = variable(v.typ, room, true)
	}
	for _, f := range v.typ.Fields {
		if p.tok.kind == nameToken && f.Name == p.tok.text {
			x := variable(Number(f.Kind), v.at+uintptr(f.Offset), v.fixed)
			if before != nil {
				x = after(before, x)
			}
			return x, p.next()
		}
	}
	return v, p.fail("the struct has no such field", "name one of its fields")
}

// primary parses a number, a name, a call, or an expression in brackets.
func (p *parser) primary() (value, error) {
	t := p.tok
	switch {
	case t.kind == numberToken:
		if err := p.next(); err != nil {
			return value{}, err
		}
		return p.literal(t)
	case t.kind == endToken:
		return value{}, p.fail("the expression is not complete", "write the rest")
	case p.is("("):
		if err := p.next(); err != nil {
			return value{}, err
		}
		v, err := p.comma()
		if err != nil {
			return v, err
		}
		return v, p.want(")")
	case t.kind == operatorToken:
		return value{}, p.fail("an expression cannot begin so", "write a number, a name, a call or brackets")
	case t.text == "static_cast":
		return p.staticCast()
	case p.startsType():
		of, err := p.typeName()
		if err != nil {
			return value{}, err
		}
		if p.is("{") {
			if of == nil {
				return p.cast(value{}, of, t.at)
			}
			return p.list(of)
		}
		v, err := p.inBrackets()
		if err != nil {
			return v, err
		}
		return p.cast(v, of, t.at)
	}
	if err := p.next(); err != nil {
		return value{}, err
	}
	if p.is("(") {
		args, err := p.arguments()
		if err != nil {
			return value{}, err
		}
		return p.call(t, args)
	}
	for _, names := range slices.Backward(p.scopes) {
		if v, ok := names[t.text]; ok {
			return v, nil
		}
	}
	if v, ok := constants[t.text]; ok {
		return v, nil
	}
	if word, ok := unknownWords[t.text]; ok {
		return value{}, p.failAt(t.at, word, "write it in other words, or run the program on a device")
	}
	return value{}, p.failAt(t.at, fmt.Sprintf("the host knows no name %s here", t.text),
		"use "+strings.Join(slices.Sorted(maps.Keys(p.scopes[0])), ", ")+", or run the program on a device")
}

// unknownWords are words of CUDA C that the host does not have.
var unknownWords = map[string]string{
	"sizeof": "sizeof is no part of these texts", "switch": "switch is no part of these texts", "goto": "goto is no part of these texts",
	"return": "a text does not return", "total": "a file has no totals",
}

func (p *parser) inBrackets() (value, error) {
	if err := p.want("("); err != nil {
		return value{}, err
	}
	v, err := p.comma()
	if err != nil {
		return v, err
	}
	return v, p.want(")")
}

func (p *parser) arguments() (args []value, err error) {
	if err = p.want("("); err != nil {
		return nil, err
	}
	for !p.is(")") {
		if len(args) > 0 {
			if err = p.want(","); err != nil {
				return nil, err
			}
		}
		v, err := p.assignment()
		if err != nil {
			return nil, err
		}
		args = append(args, v)
	}
	return args, p.next()
}
