package graphio

import (
	"bytes"
	"encoding/binary"
	"errors"
	"math"
	"math/big"
	"math/bits"
	"reflect"
	"strconv"
	"strings"

	"github.com/hiveblas/hiveblas/internal/delimited"
)

// fault is the reason why a text is not a value of the element type.
type fault uint8

const (
	faultNone     fault = iota
	faultSyntax         // not a number
	faultRange          // out of the range of the type
	faultFraction       // a fraction, and the type is an integer
	faultNaN            // NaN or infinite without AllowNaN
	faultInexact        // an integer that the float type cannot hold exactly
	faultBool           // neither 0 nor 1, and the type is bool
	faultSign           // −v does not fit the type (skew-symmetric files)
)

// explain returns the message and the remedy for a text with fault f. The element
// type has the given kind and the name typ.
func (f fault) explain(text, typ string, kind reflect.Kind) (msg string, remedy RemedyKind) {
	float := kind == reflect.Float32 || kind == reflect.Float64
	switch f {
	case faultRange:
		remedy = RemedyWider
		switch {
		case kind == reflect.Float64:
			remedy = RemedyFinite
		case float:
			remedy = RemedyFloat
		}
		return "the value " + text + " does not fit " + typ, remedy
	case faultFraction:
		return "the value " + text + " is not an integer, and the element type is " + typ, RemedyFloat
	case faultNaN:
		return "the value is " + text, RemedyAllowNaN
	case faultInexact:
		return "the integer " + text + " is not exact in " + typ, RemedyExact
	case faultBool:
		return "the value " + text + " is neither 0 nor 1, and the element type is " + typ, RemedyPattern
	case faultSign:
		return "the opposite of " + text + " does not fit " + typ + ", and a skew-symmetric matrix has both", RemedySigned
	}
	return "want a number, got " + text, RemedyText
}

// explain is [fault.explain], and names a comma in a number.
func (o *readOptions) explain(f fault, text, typ string, kind reflect.Kind) (msg string, remedy RemedyKind) {
	if f == faultSyntax {
		if what, decimal := delimited.Comma(strings.Trim(text, `"`), o.decimal == ','); what != "" {
			if remedy = RemedyText; decimal {
				remedy = RemedyDecimal
			}
			return "the number " + text + " has " + what, remedy
		}
	}
	return f.explain(text, typ, kind)
}

// scanner reads a value at b[p:] and returns it as a word and its end. A byte that is no part
// of a number must follow.
type scanner func(b []byte, p int) (v uint64, end int, f fault)

// fieldKind is the type that a file declares for its values.
type fieldKind uint8

const (
	fieldReal    fieldKind = iota // any number, rounded to nearest in a float type
	fieldInteger                  // integers, exact in every type
	fieldAny                      // any number; those written as integers are exact
)

// scannerFor returns the scanner of numbers of the given kind for an element type.
func scannerFor(e element, field fieldKind, o *readOptions) scanner {
	scan := pointScanner(e, field, o)
	if o.decimal == ',' && field == fieldAny {
		return commaScanner(scan)
	}
	return scan
}

// pointScanner is scannerFor for numbers with a decimal point.
func pointScanner(e element, field fieldKind, o *readOptions) scanner {
	integers := field == fieldInteger
	switch {
	case o.patternOnly:
		return positions(e, e.one)
	case e.isFloat() && integers:
		return e.scanFloatInteger
	case e.isFloat():
		return floatScanner(e, o, field == fieldAny)
	case integers && !e.isBool():
		return e.scanInteger
	}
	return func(b []byte, p int) (uint64, int, fault) { return e.scanIntegral(b, p, o) }
}

// positions returns the scanner of the numbers of which only the positions are read: a number that
// is not zero is 1 or true, and zero is the value given.
func positions(e element, zero uint64) scanner {
	return func(b []byte, p int) (uint64, int, fault) {
		if end, _ := scanSpecial(b, p); end > p {
			return e.one, end, faultNone
		}
		d, end, ok := scanDecimal(b, p)
		switch {
		case !ok:
			return e.one, end, faultSyntax
		case isHex(b, p, end):
			x, stop, f := scanHex(b, p, 64)
			if x != 0 {
				return e.one, stop, f
			}
			return zero, stop, f
		case d.mant == 0:
			return zero, end, faultNone
		}
		return e.one, end, faultNone
	}
}

// commaScanner is scan for numbers with a decimal comma.
func commaScanner(scan scanner) scanner {
	return func(b []byte, p int) (uint64, int, fault) {
		end := p
		for c := b[end]; c >= '0' && c <= '9' || c|0x20 >= 'a' && c|0x20 <= 'z' || c == '+' || c == '-' || c == '.' || c == ','; c = b[end] {
			end++
		}
		buf := make([]byte, 0, 64)
		buf = append(append(buf, b[p:end]...), '\n')
		if bytes.IndexByte(buf, '.') >= 0 {
			return 0, end, faultSyntax
		}
		if k := bytes.IndexByte(buf, ','); k >= 0 {
			buf[k] = '.'
		}
		v, stop, f := scan(buf, 0)
		return v, p + stop, f
	}
}

// isHex reports whether the number at b[p:], of which the decimal part ends at end, is hexadecimal.
func isHex(b []byte, p, end int) bool {
	return b[end]|0x20 == 'x' && end > p && b[end-1] == '0' && (end == p+1 || end == p+2 && (b[p] == '-' || b[p] == '+'))
}

// scanHex reads a hexadecimal number as C writes it, such as 0x1.8p+1, rounded to a float of size
// bits.
func scanHex(b []byte, p, size int) (x float64, end int, f fault) {
	end = p
	exponent := false
	for c := b[end]; ; c = b[end] {
		low := c | 0x20
		if !(c >= '0' && c <= '9' || low >= 'a' && low <= 'f' || low == 'x' || low == 'p' || c == '.' || c == '+' || c == '-') {
			break
		}
		exponent = exponent || low == 'p'
		end++
	}
	text := string(b[p:end])
	if !exponent {
		text += "p0"
	}
	x, err := strconv.ParseFloat(text, size)
	switch {
	case errors.Is(err, strconv.ErrRange):
		return x, end, faultRange
	case err != nil:
		return x, end, faultSyntax
	}
	return x, end, faultNone
}

// hexadecimal reads a hexadecimal number.
func (e element) hexadecimal(b []byte, p int, o *readOptions) (v uint64, end int, f fault) {
	size := 64
	if e.kind == reflect.Float32 {
		size = 32
	}
	x, end, f := scanHex(b, p, size)
	if f == faultNone {
		v, f = e.convertFloat(x, o)
	}
	return v, end, f
}

// decimal is ±mant·10^exp, a truncated value if dropped.
type decimal struct {
	mant    uint64
	exp     int
	neg     bool
	dropped bool // some digits did not fit in mant
	sticky  bool // a dropped digit was not 0
}

// maxExp bounds exponents against overflow, beyond those of any float.
const maxExp = 1 << 20

// scanDecimal reads [+-]digits[.digits][e[+-]digits]. The exponent letter is e, E,
// d or D, which Fortran writes.
func scanDecimal(b []byte, p int) (d decimal, end int, ok bool) {
	switch b[p] {
	case '-':
		d.neg = true
		p++
	case '+':
		p++
	}
	start := p
	for {
		c := b[p] - '0'
		if c > 9 {
			break
		}
		d.push(c, 0)
		p++
	}
	digits := p - start
	if b[p] == '.' {
		p++
		start = p
		for d.mant < 1e11 && !d.dropped && p+8 <= len(b) { // 10¹¹·10⁸ fits 64 bits
			v, ok := eightDigits(binary.LittleEndian.Uint64(b[p:]))
			if !ok {
				break
			}
			d.mant = d.mant*1e8 + v
			d.exp -= 8
			p += 8
		}
		for {
			c := b[p] - '0'
			if c > 9 {
				break
			}
			d.push(c, -1)
			p++
		}
		digits += p - start
	}
	if digits == 0 {
		return d, p, false
	}
	switch b[p] {
	case 'e', 'E', 'd', 'D':
	default:
		return d, p, true
	}
	p++
	neg := false
	switch b[p] {
	case '-':
		neg = true
		p++
	case '+':
		p++
	}
	start, exp := p, 0
	for {
		c := b[p] - '0'
		if c > 9 {
			break
		}
		exp = min(exp*10+int(c), maxExp)
		p++
	}
	if p == start {
		return d, p, false
	}
	if neg {
		exp = -exp
	}
	d.exp += exp
	return d, p, true
}

// eightDigits returns the value of eight decimal digits, the first in the lowest
// byte; ok is false if a byte is not a digit. One multiplication combines all pairs
// of neighbours, the next all fours, the third the eight.
func eightDigits(x uint64) (v uint64, ok bool) {
	x ^= 0x3030303030303030 // digits become 0…9
	if (x|(x+0x0606060606060606))&0xf0f0f0f0f0f0f0f0 != 0 {
		return 0, false
	}
	x = (x*10 + x>>8) & 0x00ff00ff00ff00ff
	x = (x*100 + x>>16) & 0x0000ffff0000ffff
	x = (x*10000 + x>>32) & 0x00000000ffffffff
	return x, true
}

// push appends the digit c; scale is −1 after the decimal point, else 0.
func (d *decimal) push(c byte, scale int) {
	if d.mant < math.MaxUint64/10 && !d.dropped {
		d.mant = d.mant*10 + uint64(c)
		d.exp += scale
		return
	}
	d.pushSlow(c, scale)
}

func (d *decimal) pushSlow(c byte, scale int) {
	if !d.dropped && d.mant == math.MaxUint64/10 && c <= math.MaxUint64%10 {
		d.mant = d.mant*10 + uint64(c)
		d.exp += scale
		return
	}
	d.dropped = true
	d.sticky = d.sticky || c != 0
	if scale == 0 {
		d.exp = min(d.exp+1, maxExp)
	}
}

// integer returns the magnitude of d if it is an integer that fits 64 bits.
func (d decimal) integer() (mag uint64, f fault) {
	mag = d.mant
	if mag == 0 {
		return 0, faultNone // only digits after a nonzero one are dropped
	}
	for e := d.exp; e < 0; e++ {
		if mag%10 != 0 {
			return 0, faultFraction
		}
		mag /= 10
	}
	for e := d.exp; e > 0; e-- {
		hi, lo := bits.Mul64(mag, 10)
		if hi != 0 {
			return 0, faultRange
		}
		mag = lo
	}
	if d.sticky {
		if d.exp < 0 {
			return 0, faultFraction
		}
		return 0, faultRange
	}
	return mag, faultNone
}

// scanSpecial reads nan, inf and infinity, in any case and with a sign.
func scanSpecial(b []byte, p int) (end int, v float64) {
	q, sign := p, 1
	switch b[q] {
	case '-':
		sign = -1
		q++
	case '+':
		q++
	}
	switch b[q] | 0x20 {
	case 'n':
		if e := word(b, q, "nan"); e > q {
			return e, math.NaN()
		}
	case 'i':
		for _, w := range []string{"infinity", "inf"} {
			if e := word(b, q, w); e > q {
				return e, math.Inf(sign)
			}
		}
	}
	return p, 0
}

// word returns the end of w if b[p:] begins with it in any case, else p.
func word(b []byte, p int, w string) int {
	if len(b)-p < len(w) {
		return p
	}
	for k := range len(w) {
		if b[p+k]|0x20 != w[k] {
			return p
		}
	}
	return p + len(w)
}

// scanInteger reads an integer into an integer type.
func (e element) scanInteger(b []byte, p int) (v uint64, end int, f fault) {
	neg := false
	switch b[p] {
	case '-':
		neg = true
		p++
	case '+':
		p++
	}
	start, mag := p, uint64(0)
	for {
		c := b[p] - '0'
		if c > 9 {
			break
		}
		hi, lo := bits.Mul64(mag, 10)
		sum, carry := bits.Add64(lo, uint64(c), 0)
		if hi|carry != 0 {
			return v, p, faultRange
		}
		mag = sum
		p++
	}
	switch {
	case p == start:
		if end, _ := scanSpecial(b, start); end > start {
			return v, end, faultNaN
		}
		return v, p, faultSyntax
	case b[p] == '.' || b[p]|0x20 == 'e':
		return v, p, faultFraction
	}
	v, ok := e.ofInt(neg, mag)
	if !ok {
		return v, p, faultRange
	}
	return v, p, faultNone
}

// scanIntegral reads any number with an integer value into an integer type, and
// 0 or 1 into a bool.
func (e element) scanIntegral(b []byte, p int, o *readOptions) (v uint64, end int, f fault) {
	d, end, ok := scanDecimal(b, p)
	if !ok {
		if end, _ := scanSpecial(b, p); end > p {
			return v, end, faultNaN
		}
		return v, end, faultSyntax
	}
	if isHex(b, p, end) {
		return e.hexadecimal(b, p, o)
	}
	mag, f := d.integer()
	if e.isBool() {
		switch {
		case f != faultNone || mag > 1 || (mag == 1 && d.neg):
			return v, end, faultBool
		case mag == 1:
			return e.one, end, faultNone
		}
		return v, end, faultNone
	}
	if f != faultNone {
		return v, end, f
	}
	if v, ok = e.ofInt(d.neg, mag); !ok {
		return v, end, faultRange
	}
	return v, end, faultNone
}

// scanFloatInteger reads an integer into a float type that must hold it exactly.
func (e element) scanFloatInteger(b []byte, p int) (v uint64, end int, f fault) {
	d, end, ok := scanDecimal(b, p)
	if !ok {
		if end, _ := scanSpecial(b, p); end > p {
			return v, end, faultNaN
		}
		return v, end, faultSyntax
	}
	if !writtenAsInteger(b[p:end]) {
		return v, end, faultFraction
	}
	if !d.exactIn(e.precision(), b[p:end]) {
		return v, end, faultInexact
	}
	mag, f := d.integer()
	if f != faultNone { // more than 64 bits
		y, err := parseFloat(b[p:end], e.bits())
		if err != nil {
			return v, end, faultRange
		}
		return e.ofFloat(y), end, faultNone
	}
	x := float64(mag)
	if d.neg {
		x = -x
	}
	return e.ofFloat(x), end, faultNone
}

// precision is the number of bits of a significand of the type.
func (e element) precision() int {
	if e.kind == reflect.Float32 {
		return 24
	}
	return 53
}

// exactIn reports whether d, written as text, is an integer that a float with
// precision significant bits holds.
func (d decimal) exactIn(precision int, text []byte) bool {
	mag, f := d.integer()
	if f == faultNone {
		return bits.Len64(mag)-bits.TrailingZeros64(mag) <= precision
	}
	if len(text) > 400 { // beyond any float: the caller checks the range
		return true
	}
	x, ok := new(big.Int).SetString(string(text), 10)
	return ok && x.BitLen()-int(x.TrailingZeroBits()) <= precision
}

// writtenAsInteger reports whether a number has no point and no exponent.
func writtenAsInteger(text []byte) bool {
	for _, c := range text {
		if c == '.' || c == ',' || c > '9' {
			return false
		}
	}
	return true
}
