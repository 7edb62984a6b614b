package matrix

import (
	"encoding/binary"
	"errors"
	"math"
	"math/big"
	"math/bits"
	"reflect"
	"strconv"
	"unsafe"
)

// fault says why a text is not a value of T.
type fault uint8

const (
	faultNone     fault = iota
	faultSyntax         // no number
	faultRange          // beyond what T holds
	faultFraction       // a fraction, and T is an integer
	faultNaN            // NaN or infinite, and not allowed
	faultInexact        // an integer that the float type T cannot hold exactly
	faultBool           // neither 0 nor 1, and T is bool
	faultSign           // −v does not fit T (skew-symmetric files)
)

// explain returns the message and the remedy for text that gave f. kind is that
// of the element type, named typ.
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

// scanner reads a value of T at b[p:], which must be ended by a byte that is
// no part of a number, and returns where it ends.
type scanner[T any] func(b []byte, p int) (v T, end int, f fault)

// What the declared type of a file says of its numbers.
type fieldKind uint8

const (
	fieldReal    fieldKind = iota // numbers, rounded to nearest in a float type
	fieldInteger                  // integers, exact in every type
	fieldAny                      // either: what is written as an integer is exact
)

// scannerFor returns the scanner of numbers of the given kind for T.
func scannerFor[T comparable](e element[T], field fieldKind, o *readOptions) scanner[T] {
	integers := field == fieldInteger
	switch {
	case o.patternOnly:
		return func(b []byte, p int) (T, int, fault) {
			if end, _ := scanSpecial(b, p); end > p {
				return e.one, end, faultNone
			}
			_, end, ok := scanDecimal(b, p)
			if !ok {
				return e.one, end, faultSyntax
			}
			return e.one, end, faultNone
		}
	case e.isFloat() && integers:
		return e.scanFloatInteger
	case e.isFloat():
		return floatScanner(e, o.allowNaN, field == fieldAny)
	case integers && !e.isBool():
		return e.scanInteger
	}
	return e.scanIntegral
}

// decimal is ±mant·10^exp, with more nonzero digits behind it if dropped.
type decimal struct {
	mant    uint64
	exp     int
	neg     bool
	dropped bool // some digits did not fit
	sticky  bool // and one of them was not 0
}

// maxExp stops exponents from wrapping; it is beyond any float's.
const maxExp = 1 << 20

// scanDecimal reads [+-]digits[.digits][e[+-]digits], with e, E, d or D (as
// Fortran writes it).
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

// eightDigits returns the number that eight digits spell, the first in the
// lowest byte; ok is false if one of them is none. Neighbours are combined by
// one multiplication for all pairs, then all fours, then the eight.
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

// push appends the digit c, which lies behind the point if scale is −1.
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
		return 0, faultNone // digits are dropped behind a nonzero one only
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

// word returns the end of w at b[p:] in any case, or p.
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

// scanInteger reads an integer into an integer T.
func (e element[T]) scanInteger(b []byte, p int) (v T, end int, f fault) {
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

// scanIntegral reads any number with an integer value into an integer T, and
// 0 or 1 into a bool.
func (e element[T]) scanIntegral(b []byte, p int) (v T, end int, f fault) {
	d, end, ok := scanDecimal(b, p)
	if !ok {
		if end, _ := scanSpecial(b, p); end > p {
			return v, end, faultNaN
		}
		return v, end, faultSyntax
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

// scanFloatInteger reads an integer into a float T that must hold it exactly.
func (e element[T]) scanFloatInteger(b []byte, p int) (v T, end int, f fault) {
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

// precision is the number of bits of a significand of T.
func (e element[T]) precision() int {
	if e.kind == reflect.Float32 {
		return 24
	}
	return 53
}

// exactIn reports whether d, which text spells, is an integer that a float of so
// many significant bits holds.
func (d decimal) exactIn(precision int, text []byte) bool {
	mag, f := d.integer()
	if f == faultNone {
		return bits.Len64(mag)-bits.TrailingZeros64(mag) <= precision
	}
	if len(text) > 400 { // beyond any float
		return true // the range is checked elsewhere
	}
	x, ok := new(big.Int).SetString(string(text), 10)
	return ok && x.BitLen()-int(x.TrailingZeroBits()) <= precision
}

// writtenAsInteger reports whether a number has no point and no exponent.
func writtenAsInteger(text []byte) bool {
	for _, c := range text {
		if c == '.' || c > '9' {
			return false
		}
	}
	return true
}

// pow10 holds the powers of ten that a float64 holds exactly.
var pow10 = [...]float64{1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11,
	1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22}

// uintPow10 holds the powers of ten that 64 bits hold.
var uintPow10 = [...]uint64{1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11,
	1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18, 1e19}

// scaled returns mant·10^exp, for mant ≠ 0 and |exp| ≤ 19, as q·2^e with
// q ≥ 2⁶². The lowest bit of q is set if there is more behind it, so that
// rounding q to fewer bits rounds the exact value.
func scaled(mant uint64, exp int) (q uint64, e int) {
	shift := bits.LeadingZeros64(mant)
	if exp >= 0 {
		hi, lo := bits.Mul64(mant<<shift, uintPow10[exp])
		if hi == 0 {
			return lo, -shift
		}
		up := bits.LeadingZeros64(hi)
		q = hi<<up | lo>>(64-up)
		if lo<<up != 0 {
			q |= 1
		}
		return q, 64 - up - shift
	}
	pow := uintPow10[-exp]
	up := bits.LeadingZeros64(pow)
	// Both are now in [2⁶³, 2⁶⁴), so the quotient by 2⁶³ is in (2⁶², 2⁶⁴).
	m := mant << shift
	q, rem := bits.Div64(m>>1, m<<63, pow<<up)
	if rem != 0 {
		q |= 1
	}
	return q, up - shift - 63
}

// floatScanner returns the scanner of any number into a float T, rounded to
// nearest. A mantissa and a power of ten that are both exact give an exactly
// rounded product or quotient (Clinger, "How to read floating point numbers
// accurately", PLDI 1990); up to 19 digits and powers up to 10^±19 go through
// scaled; strconv does the rest. With exact, a number that is written as an
// integer must be exact in T.
func floatScanner[T comparable](e element[T], special, exact bool) scanner[T] {
	size := e.bits()
	largest := uint64(1) << e.precision() // every integer up to here is exact
	return func(b []byte, p int) (v T, end int, f fault) {
		d, end, ok := scanDecimal(b, p)
		if !ok {
			stop, x := scanSpecial(b, p)
			switch {
			case stop == p:
				return v, end, faultSyntax
			case !special:
				return v, stop, faultNaN
			}
			return e.ofFloat(x), stop, faultNone
		}
		if exact && (d.mant > largest || d.dropped) && writtenAsInteger(b[p:end]) && !d.exactIn(e.precision(), b[p:end]) {
			return v, end, faultInexact
		}
		var x float64
		switch {
		case d.mant <= 1<<53 && !d.dropped && d.exp >= -22 && d.exp <= 22 && size == 64:
			x = float64(d.mant)
			if d.exp < 0 {
				x /= pow10[-d.exp]
			} else {
				x *= pow10[d.exp]
			}
		case d.mant != 0 && !d.dropped && d.exp >= -19 && d.exp <= 19:
			q, e2 := scaled(d.mant, d.exp)
			if size == 32 {
				x = float64(float32(q))
			} else {
				x = float64(q)
			}
			x *= math.Float64frombits(uint64(1023+e2) << 52) // exact: far from both ends
		default:
			y, err := parseFloat(b[p:end], size)
			if err != nil {
				if errors.Is(err, strconv.ErrRange) {
					return v, end, faultRange
				}
				return v, end, faultSyntax
			}
			return e.ofFloat(y), end, faultNone
		}
		if d.neg {
			x = -x
		}
		return e.ofFloat(x), end, faultNone
	}
}

// parseFloat is strconv.ParseFloat for text that scanDecimal accepted.
func parseFloat(text []byte, size int) (float64, error) {
	for k, c := range text {
		if c|0x20 == 'd' { // Fortran's double precision exponent
			text = append([]byte{}, text...)
			text[k] = 'e'
			break
		}
	}
	return strconv.ParseFloat(unsafe.String(unsafe.SliceData(text), len(text)), size)
}
