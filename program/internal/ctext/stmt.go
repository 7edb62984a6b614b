package ctext

import (
	"reflect"
	"slices"
)

// A statement is code that goes on with the next statement, or code that may leave a loop.
type statement struct {
	do   func(*Frame)
	flow func(*Frame) flow
}

// flow says where a statement goes.
type flow uint8

const (
	onward flow = iota
	breaks
	continues
)

// leaving returns the statement as code that may leave a loop.
func (s statement) leaving() func(*Frame) flow {
	if s.flow != nil {
		return s.flow
	}
	do := s.do
	return func(f *Frame) flow {
		do(f)
		return onward
	}
}

// inOrder returns code that runs statements without break, continue and return.
func inOrder(list []statement) func(*Frame) {
	switch len(list) {
	case 0:
		return func(*Frame) {}
	case 1:
		return list[0].do
	case 2:
		a, b := list[0].do, list[1].do
		return func(f *Frame) { a(f); b(f) }
	}
	a, b, rest := list[0].do, list[1].do, inOrder(list[2:])
	return func(f *Frame) { a(f); b(f); rest(f) }
}

// block returns the statement of a list.
func block(list []statement) statement {
	if !slices.ContainsFunc(list, func(s statement) bool { return s.flow != nil }) {
		return statement{do: inOrder(list)}
	}
	var steps []func(*Frame) flow
	for _, s := range list {
		steps = append(steps, s.leaving())
	}
	return statement{flow: func(f *Frame) flow {
		for _, s := range steps {
			if to := s(f); to != onward {
				return to
			}
		}
		return onward
	}}
}

// statements parses statements up to an operator that closes them, "" for the end of the text. A
// last statement needs no ";".
func (p *parser) statements(closing string) (list []statement, err error) {
	for p.tok.kind != endToken && (closing == "" || !p.is(closing)) {
		s, err := p.statement()
		if err != nil {
			return nil, err
		}
		list = append(list, s)
	}
	return list, nil
}

// statement parses a statement.
func (p *parser) statement() (statement, error) {
	if err := p.deeper(); err != nil {
		return statement{}, err
	}
	defer func() { p.depth-- }()
	empty := statement{do: func(*Frame) {}}
	if p.is(";") {
		return empty, p.next()
	}
	if p.is("{") {
		if err := p.next(); err != nil {
			return empty, err
		}
		list, err := p.scoped(func() ([]statement, error) { return p.statements("}") })
		if err != nil {
			return empty, err
		}
		return block(list), p.want("}")
	}
	if p.tok.kind == nameToken {
		switch word := p.tok.text; {
		case word == "if":
			return p.ifStatement()
		case word == "while", word == "for", word == "do":
			p.loops = true
			return p.loop(word)
		case word == "break", word == "continue":
			return p.leave(word)
		case p.startsType():
			list, err := p.declaration()
			if err != nil {
				return empty, err
			}
			return block(list), p.semicolon()
		}
	}
	v, err := p.comma()
	if err != nil {
		return empty, err
	}
	return statement{do: effect(v)}, p.semicolon()
}

// scoped parses with a scope of its own.
func (p *parser) scoped(parse func() ([]statement, error)) ([]statement, error) {
	p.scopes = append(p.scopes, map[string]value{})
	list, err := parse()
	p.scopes = p.scopes[:len(p.scopes)-1]
	return list, err
}

// semicolon takes a ";", which the end of the text replaces.
func (p *parser) semicolon() error {
	if p.tok.kind == endToken {
		return nil
	}
	return p.want(";")
}

func (p *parser) leave(word string) (statement, error) {
	if p.inLoop == 0 {
		return statement{}, p.fail(word+" stands outside of a loop", "leave it out")
	}
	to := breaks
	if word == "continue" {
		to = continues
	}
	if err := p.next(); err != nil {
		return statement{}, err
	}
	return statement{flow: func(*Frame) flow { return to }}, p.semicolon()
}

// condition parses an expression in brackets, as a bool.
func (p *parser) condition() (func(*Frame) bool, error) {
	at := p.tok.at
	v, err := p.inBrackets()
	if err != nil {
		return nil, err
	}
	if v, err = p.as(v, Number(reflect.Bool), at); err != nil {
		return nil, err
	}
	return codeOf[bool](v), nil
}

// body parses the statement that belongs to an if or a loop.
func (p *parser) body() (statement, error) {
	if p.tok.kind == endToken {
		return statement{}, p.fail("a statement is missing", "write it")
	}
	list, err := p.scoped(func() ([]statement, error) {
		s, err := p.statement()
		return []statement{s}, err
	})
	if err != nil {
		return statement{}, err
	}
	return list[0], nil
}

func (p *parser) ifStatement() (statement, error) {
	if err := p.next(); err != nil {
		return statement{}, err
	}
	test, err := p.condition()
	if err != nil {
		return statement{}, err
	}
	then, err := p.body()
	if err != nil {
		return then, err
	}
	otherwise := statement{do: func(*Frame) {}}
	has := p.tok.kind == nameToken && p.tok.text == "else"
	if has {
		if err := p.next(); err != nil {
			return then, err
		}
		if otherwise, err = p.body(); err != nil {
			return then, err
		}
	}
	if then.flow != nil || otherwise.flow != nil {
		x, y := then.leaving(), otherwise.leaving()
		return statement{flow: func(f *Frame) flow {
			if test(f) {
				return x(f)
			}
			return y(f)
		}}, nil
	}
	x, y := then.do, otherwise.do
	if !has {
		return statement{do: func(f *Frame) {
			if test(f) {
				x(f)
			}
		}}, nil
	}
	return statement{do: func(f *Frame) {
		if test(f) {
			x(f)
		} else {
			y(f)
		}
	}}, nil
}

// loop parses a loop. Its code ends when the frame is tired.
func (p *parser) loop(word string) (statement, error) {
	if err := p.next(); err != nil {
		return statement{}, err
	}
	var list []statement
	_, err := p.scoped(func() (_ []statement, err error) {
		switch word {
		case "for":
			list, err = p.forLoop()
		default:
			list, err = p.whileLoop(word == "do")
		}
		return nil, err
	})
	if err != nil {
		return statement{}, err
	}
	return block(list), nil
}

func (p *parser) loopBody() (func(*Frame) flow, error) {
	p.inLoop++
	s, err := p.body()
	p.inLoop--
	if err != nil {
		return nil, err
	}
	return s.leaving(), nil
}

func (p *parser) whileLoop(first bool) ([]statement, error) {
	always := func(*Frame) bool { return true }
	test, end := always, always
	body := func(*Frame) flow { return onward }
	var err error
	if first {
		if body, err = p.loopBody(); err != nil {
			return nil, err
		}
		if p.tok.kind != nameToken || p.tok.text != "while" {
			return nil, p.fail("there is no while after do", "write while and a condition")
		}
		if err = p.next(); err != nil {
			return nil, err
		}
		if end, err = p.condition(); err != nil {
			return nil, err
		}
		if err = p.semicolon(); err != nil {
			return nil, err
		}
	} else {
		if test, err = p.condition(); err != nil {
			return nil, err
		}
		if body, err = p.loopBody(); err != nil {
			return nil, err
		}
	}
	too := p.endless
	return []statement{{do: func(f *Frame) {
		for test(f) {
			if body(f) == breaks || !end(f) || f.tired(too) {
				return
			}
		}
	}}}, nil
}

func (p *parser) forLoop() (list []statement, err error) {
	if err = p.want("("); err != nil {
		return nil, err
	}
	if p.startsType() {
		if list, err = p.declaration(); err != nil {
			return nil, err
		}
	} else if !p.is(";") {
		v, err := p.comma()
		if err != nil {
			return nil, err
		}
		list = append(list, statement{do: effect(v)})
	}
	if err = p.want(";"); err != nil {
		return nil, err
	}
	test, step := func(*Frame) bool { return true }, func(*Frame) {}
	if !p.is(";") {
		at := p.tok.at
		v, err := p.comma()
		if err != nil {
			return nil, err
		}
		if v, err = p.as(v, Number(reflect.Bool), at); err != nil {
			return nil, err
		}
		test = codeOf[bool](v)
	}
	if err = p.want(";"); err != nil {
		return nil, err
	}
	if !p.is(")") {
		v, err := p.comma()
		if err != nil {
			return nil, err
		}
		step = effect(v)
	}
	if err = p.want(")"); err != nil {
		return nil, err
	}
	body, err := p.loopBody()
	if err != nil {
		return nil, err
	}
	too := p.endless
	return append(list, statement{do: func(f *Frame) {
		for test(f) {
			if body(f) == breaks || f.tired(too) {
				return
			}
			step(f)
		}
	}}), nil
}
