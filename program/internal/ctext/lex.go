package ctext

import (
	"math"
	"reflect"
	"strconv"
	"strings"
)

// token is a name, a literal, or an operator.
type token struct {
	kind tokenKind
	text string
	at   int
}

type tokenKind uint8

const (
	endToken tokenKind = iota
	nameToken
	numberToken
	operatorToken
)

// operators are the operators and brackets of C that texts may have, longest first.
var operators = strings.Fields(`<<= >>= ... -> ++ -- << >> <= >= == != && || += -= *= /= %= &= |= ^= ::
	+ - * / % & | ^ ~ ! < > = ? : , ; ( ) { } [ ] .`)

// next reads the next token.
func (p *parser) next() error {
	p.last = p.tok
	for p.at < len(p.text) {
		rest := p.text[p.at:]
		if strings.HasPrefix(rest, "/*") {
			end := strings.Index(rest[2:], "*/")
			if end < 0 {
				return p.failAt(p.at, "the comment does not end", "close it by */")
			}
			p.at += end + 4
			continue
		}
		if strings.HasPrefix(rest, "//") {
			return p.failAt(p.at, "a comment of // runs to the end of the text, whose lines are joined", "use # in the file, or /* */")
		}
		if c := rest[0]; c != ' ' && c != '\t' && c != '\n' && c != '\r' {
			break
		}
		p.at++
	}
	p.tok = token{kind: endToken, at: p.at}
	if p.at >= len(p.text) {
		return nil
	}
	rest := p.text[p.at:]
	switch c := rest[0]; {
	case isLetter(c):
		n := 1
		for n < len(rest) && (isLetter(rest[n]) || isDigit(rest[n])) {
			n++
		}
		p.tok = token{nameToken, rest[:n], p.at}
	case isDigit(c), c == '.' && len(rest) > 1 && isDigit(rest[1]):
		p.tok = token{numberToken, rest[:numberLength(rest)], p.at}
	default:
		for _, op := range operators {
			if strings.HasPrefix(rest, op) {
				p.tok = token{operatorToken, op, p.at}
				break
			}
		}
		if p.tok.kind == endToken {
			return p.failAt(p.at, "the character is no part of C", "remove it")
		}
	}
	p.at += len(p.tok.text)
	return nil
}

func isLetter(c byte) bool { return c == '_' || c|0x20 >= 'a' && c|0x20 <= 'z' }
func isDigit(c byte) bool  { return c >= '0' && c <= '9' }

// numberLength is the length of the literal that a text begins with, valid or not.
func numberLength(s string) int {
	n, hex := 1, strings.HasPrefix(s, "0x") || strings.HasPrefix(s, "0X")
	for n < len(s) {
		c, before := s[n], s[n-1]|0x20
		sign := (c == '+' || c == '-') && (!hex && before == 'e' || hex && before == 'p')
		if !isLetter(c) && !isDigit(c) && c != '.' && !sign {
			break
		}
		n++
	}
	return n
}

// literal returns the value of a number.
func (p *parser) literal(t token) (value, error) {
	s := strings.ToLower(t.text)
	hex := strings.HasPrefix(s, "0x")
	if strings.ContainsAny(s, ".") || !hex && strings.ContainsAny(s, "e") && !strings.HasPrefix(s, "0b") || hex && strings.ContainsAny(s, "p") {
		return p.floating(t, s, hex)
	}
	digits := strings.TrimRight(s, "ul")
	base := 10
	switch {
	case hex:
		base, digits = 16, digits[2:]
	case strings.HasPrefix(digits, "0b"):
		base, digits = 2, digits[2:]
	case len(digits) > 1 && digits[0] == '0':
		base = 8
	}
	x, err := strconv.ParseUint(digits, base, 64)
	if err != nil {
		return value{}, p.failAt(t.at, "the number is not one of C", "write 12, 0x1f, 12u, 12ll, 1.5, 1e-3 or 1.5f")
	}
	suffix := s[len(strings.TrimRight(s, "ul")):]
	long := strings.Contains(suffix, "l")
	unsigned := strings.Contains(suffix, "u")
	switch suffix {
	case "", "u", "l", "ll", "ul", "ull", "lu", "llu":
	default:
		return value{}, p.failAt(t.at, "the suffix of the number is not one of C", "use u, ll, ull or f")
	}
	either := unsigned || base != 10
	switch {
	case !long && !unsigned && x <= math.MaxInt32:
		return constant(reflect.Int32, int32(x)), nil
	case !long && either && x <= math.MaxUint32:
		return constant(reflect.Uint32, uint32(x)), nil
	case !unsigned && x <= math.MaxInt64:
		return constant(reflect.Int64, int64(x)), nil
	case either:
		return constant(reflect.Uint64, x), nil
	}
	return value{}, p.failAt(t.at, "the number is larger than long long holds", "append ull")
}

func (p *parser) floating(t token, s string, hex bool) (value, error) {
	bits := 64
	digits, single := s, false
	if !hex || strings.Contains(s, "p") {
		if digits, single = strings.CutSuffix(s, "f"); single {
			bits = 32
		}
	}
	x, err := strconv.ParseFloat(digits, bits)
	if err != nil && !math.IsInf(x, 0) || strings.ContainsAny(digits, "_in") {
		return value{}, p.failAt(t.at, "the number is not one of C", "write 12, 0x1f, 12u, 12ll, 1.5, 1e-3 or 1.5f")
	}
	if single {
		return constant(reflect.Float32, float32(x)), nil
	}
	return constant(reflect.Float64, x), nil
}

// constants are the names of values.
var constants = map[string]value{
	"true": constant(reflect.Bool, true), "false": constant(reflect.Bool, false),
	"INFINITY": constant(reflect.Float32, float32(math.Inf(1))), "NAN": constant(reflect.Float32, float32(math.NaN())),
	"INT_MAX": constant(reflect.Int32, int32(math.MaxInt32)), "INT_MIN": constant(reflect.Int32, int32(math.MinInt32)),
	"UINT_MAX": constant(reflect.Uint32, uint32(math.MaxUint32)), "LLONG_MAX": constant(reflect.Int64, int64(math.MaxInt64)),
	"LLONG_MIN": constant(reflect.Int64, int64(math.MinInt64)), "ULLONG_MAX": constant(reflect.Uint64, uint64(math.MaxUint64)),
	"FLT_MAX": constant(reflect.Float32, float32(math.MaxFloat32)), "FLT_MIN": constant(reflect.Float32, float32(0x1p-126)),
	"FLT_EPSILON": constant(reflect.Float32, float32(0x1p-23)), "DBL_MAX": constant(reflect.Float64, math.MaxFloat64),
	"DBL_MIN": constant(reflect.Float64, 0x1p-1022), "DBL_EPSILON": constant(reflect.Float64, 0x1p-52),
}
