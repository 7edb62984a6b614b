// Package numtext reads numbers, from text and from other types, as words of an element type.
package numtext

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

	"github.com/hiveblas/hiveblas/graphio/internal/core"
	"github.com/hiveblas/hiveblas/internal/delimited"
)

// Fault is the reason why a text is not a value of the element type.
type Fault uint8

const (
	FaultNone     Fault = iota
	FaultSyntax         // not a number
	faultRange          // out of the range of the type
	FaultFraction       // a fraction, and the type is an integer
	faultNaN            // NaN or infinite without AllowNaN
	faultInexact        // an integer that the float type cannot hold exactly
	faultBool           // neither 0 nor 1, and the type is bool
	FaultSign           // −v does not fit the type (skew-symmetric files)
)

// Explain returns the message and the remedy for a text with fault f. The element
// type has the given kind and the name typ.
func (f Fault) Explain(text, typ string, kind reflect.Kind) (msg string, remedy core.RemedyKind) {
	float := kind == reflect.Float32 || kind == reflect.Float64
	switch f {
	case faultRange:
		remedy = core.RemedyWider
		switch {
		case kind == reflect.Float64:
			remedy = core.RemedyFinite
		case float:
			remedy = core.RemedyFloat
		}
		return "the value " + text + " does not fit " + typ, remedy
	case FaultFraction:
		return "the value " + text + " is not an integer, and the element type is " + typ, core.RemedyFloat
	case faultNaN:
		return "the value is " + text, core.RemedyAllowNaN
	case faultInexact:
		return "the integer " + text + " is not exact in " + typ, core.RemedyExact
	case faultBool:
		return "the value " + text + " is neither 0 nor 1, and the element type is " + typ, core.RemedyPattern
	case FaultSign:
		return "the opposite of " + text + " does not fit " + typ + ", and a skew-symmetric matrix has both", core.RemedySigned
	}
	return "want a number, got " + text, core.RemedyText
}

// Explain is [fault.explain], and names a comma in a number.
func Explain(o *core.ReadOptions, f Fault, text, typ string, kind reflect.Kind) (msg string, remedy core.RemedyKind) {
	if f == FaultSyntax {
		if what, decimal := delimited.Comma(strings.Trim(text, `"`), o.Decimal == ','); what != "" {
			if remedy = core.RemedyText; decimal {
				remedy = core.RemedyDecimal
			}
			return "the number " + text + " has " + what, remedy
		}
	}
	return f.Explain(text, typ, kind)
}

// Scanner reads a value at b[p:] and returns it as a word and its end. A byte that is no part
// of a number must follow.
type Scanner func(b []byte, p int) (v uint64, end int, f Fault)

// FieldKind is the type that a file declares for its values.
type FieldKind uint8

const (
	FieldReal    FieldKind = iota // any number, rounded to nearest in a float type
	FieldInteger                  // integers, exact in every type
	FieldAny                      // any number; those written as integers are exact
)

// ScannerFor returns the scanner of numbers of the given kind for an element type.
func ScannerFor(e core.Element, field FieldKind, o *core.ReadOptions) Scanner {
	scan := pointScanner(e, field, o)
	if o.Decimal == ',' && field == FieldAny {
		return commaScanner(scan)
	}
	return scan
}

// pointScanner is ScannerFor for numbers with a decimal point.
func pointScanner(e core.Element, field FieldKind, o *core.ReadOptions) Scanner {
	integers := field == FieldInteger
	switch {
	case o.PatternOnly:
		return Positions(e, e.One)
	case e.IsFloat() && integers:
		return func(b []byte, p int) (uint64, int, Fault) { return scanFloatInteger(e, b, p) }
	case e.IsFloat():
		return floatScanner(e, o, field == FieldAny)
	case integers && !e.IsBool():
		return func(b []byte, p int) (uint64, int, Fault) { return scanInteger(e, b, p) }
	}
	return func(b []byte, p int) (uint64, int, Fault) { return scanIntegral(e, b, p, o) }
}

// Positions returns the scanner that reads the positions of numbers alone: a number that is not
// zero is 1 or true, and zero is the value given.
func Positions(e core.Element, zero uint64) Scanner {
	return func(b []byte, p int) (uint64, int, Fault) {
		if end, _ := scanSpecial(b, p); end > p {
			return e.One, end, FaultNone
		}
		d, end, ok := scanDecimal(b, p)
		switch {
		case !ok:
			return e.One, end, FaultSyntax
		case isHex(b, p, end):
			x, stop, f := scanHex(b, p, 64)
			if x != 0 {
				return e.One, stop, f
			}
			return zero, stop, f
		case d.mant == 0:
			return zero, end, FaultNone
		}
		return e.One, end, FaultNone
	}
}

// commaScanner is scan for numbers with a decimal comma.
func commaScanner(scan Scanner) Scanner {
	return func(b []byte, p int) (uint64, int, Fault) {
		end := p
		for c := b[end]; c >= '0' && c <= '9' || c|0x20 >= 'a' && c|0x20 <= 'z' || c == '+' || c == '-' || c == '.' || c == ','; c = b[end] {
			end++
		}
		buf := make([]byte, 0, 64)
		buf = append(append(buf, b[p:end]...), '\n')
		if bytes.IndexByte(buf, '.') >= 0 {
			return 0, end, FaultSyntax
		}
		if k := bytes.IndexByte(buf, ','); k >= 0 {
			buf[k] = '.'
		}
		v, stop, f := scan(buf, 0)
		return v, p + stop, f
	}
}

// isHex reports whether the number at b[p:] is hexadecimal. Its decimal part ends at end.
func isHex(b []byte, p, end int) bool {
	return b[end]|0x20 == 'x' && end > p && b[end-1] == '0' && (end == p+1 || end == p+2 && (b[p] == '-' || b[p] == '+'))
}

// scanHex reads a hexadecimal number as C writes it, such as 0x1.8p+1, rounded to a float of size
// bits.
func scanHex(b []byte, p, size int) (x float64, end int, f Fault) {
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
		return x, end, FaultSyntax
	}
	return x, end, FaultNone
}

// hexadecimal reads a hexadecimal number.
func hexadecimal(e core.Element, b []byte, p int, o *core.ReadOptions) (v uint64, end int, f Fault) {
	size := 64
	if e.Kind == reflect.Float32 {
		size = 32
	}
	x, end, f := scanHex(b, p, size)
	if f == FaultNone {
		v, f = ConvertFloat(e, x, o)
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

// maxExp bounds exponents against overflow, beyond the exponents of any float.
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
func (d decimal) integer() (mag uint64, f Fault) {
	mag = d.mant
	if mag == 0 {
		return 0, FaultNone // only digits after a nonzero one are dropped
	}
	for e := d.exp; e < 0; e++ {
		if mag%10 != 0 {
			return 0, FaultFraction
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
			return 0, FaultFraction
		}
		return 0, faultRange
	}
	return mag, FaultNone
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
func scanInteger(e core.Element, b []byte, p int) (v uint64, end int, f Fault) {
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
		return v, p, FaultSyntax
	case b[p] == '.' || b[p]|0x20 == 'e':
		return v, p, FaultFraction
	}
	v, ok := e.OfInt(neg, mag)
	if !ok {
		return v, p, faultRange
	}
	return v, p, FaultNone
}

// scanIntegral reads any number with an integer value into an integer type, and
// 0 or 1 into a bool.
func scanIntegral(e core.Element, b []byte, p int, o *core.ReadOptions) (v uint64, end int, f Fault) {
	d, end, ok := scanDecimal(b, p)
	if !ok {
		if end, _ := scanSpecial(b, p); end > p {
			return v, end, faultNaN
		}
		return v, end, FaultSyntax
	}
	if isHex(b, p, end) {
		return hexadecimal(e, b, p, o)
	}
	mag, f := d.integer()
	if e.IsBool() {
		switch {
		case f != FaultNone || mag > 1 || (mag == 1 && d.neg):
			return v, end, faultBool
		case mag == 1:
			return e.One, end, FaultNone
		}
		return v, end, FaultNone
	}
	if f != FaultNone {
		return v, end, f
	}
	if v, ok = e.OfInt(d.neg, mag); !ok {
		return v, end, faultRange
	}
	return v, end, FaultNone
}

// scanFloatInteger reads an integer into a float type that must hold it exactly.
func scanFloatInteger(e core.Element, b []byte, p int) (v uint64, end int, f Fault) {
	d, end, ok := scanDecimal(b, p)
	if !ok {
		if end, _ := scanSpecial(b, p); end > p {
			return v, end, faultNaN
		}
		return v, end, FaultSyntax
	}
	if !WrittenAsInteger(b[p:end]) {
		return v, end, FaultFraction
	}
	if !d.exactIn(precisionOf(e), b[p:end]) {
		return v, end, faultInexact
	}
	mag, f := d.integer()
	if f != FaultNone { // more than 64 bits
		y, err := parseFloat(b[p:end], e.Bits())
		if err != nil {
			return v, end, faultRange
		}
		return e.OfFloat(y), end, FaultNone
	}
	x := float64(mag)
	if d.neg {
		x = -x
	}
	return e.OfFloat(x), end, FaultNone
}

// exactIn reports whether d, written as text, is an integer that a float with
// precision significant bits holds.
func (d decimal) exactIn(precision int, text []byte) bool {
	mag, f := d.integer()
	if f == FaultNone {
		return bits.Len64(mag)-bits.TrailingZeros64(mag) <= precision
	}
	if len(text) > 400 { // beyond any float: the caller checks the range
		return true
	}
	x, ok := new(big.Int).SetString(string(text), 10)
	return ok && x.BitLen()-int(x.TrailingZeroBits()) <= precision
}

// WrittenAsInteger reports whether a number has no point and no exponent.
func WrittenAsInteger(text []byte) bool {
	for _, c := range text {
		if c == '.' || c == ',' || c > '9' {
			return false
		}
	}
	return true
}
