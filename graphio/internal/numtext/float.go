package numtext

import (
	"errors"
	"math"
	"math/bits"
	"strconv"
	"unsafe"

	"github.com/hiveblas/hiveblas/graphio/internal/core"
)

// pow10 holds the powers of ten that a float64 holds exactly.
var pow10 = [...]float64{1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11,
	1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22}

// uintPow10 holds the powers of ten that 64 bits hold.
var uintPow10 = [...]uint64{1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11,
	1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18, 1e19}

// scaled returns mant·10^exp, for mant ≠ 0 and |exp| ≤ 19, as q·2^e with
// q ≥ 2⁶². The lowest bit of q is set if the exact value has further bits, so that
// rounding q rounds the exact value.
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

// floatScanner returns the scanner of any number into a float type, rounded to
// nearest. If the mantissa and the power of ten are exact, their product or
// quotient is correctly rounded (Clinger, "How to read floating point numbers
// accurately", PLDI 1990). Up to 19 digits and powers up to 10^±19 go through
// scaled, all other numbers through strconv. With exact, a number that is written as
// an integer must be exact in the type.
func floatScanner(e core.Element, o *core.ReadOptions, exact bool) Scanner {
	special := o.AllowNaN
	size := e.Bits()
	largest := uint64(1) << precisionOf(e) // every integer up to here is exact
	return func(b []byte, p int) (v uint64, end int, f Fault) {
		d, end, ok := scanDecimal(b, p)
		if !ok {
			stop, x := scanSpecial(b, p)
			switch {
			case stop == p:
				return v, end, FaultSyntax
			case !special:
				return v, stop, faultNaN
			}
			return e.OfFloat(x), stop, FaultNone
		}
		if isHex(b, p, end) {
			return hexadecimal(e, b, p, o)
		}
		if exact && (d.mant > largest || d.dropped) && WrittenAsInteger(b[p:end]) && !d.exactIn(precisionOf(e), b[p:end]) {
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
				return v, end, FaultSyntax
			}
			return e.OfFloat(y), end, FaultNone
		}
		if d.neg {
			x = -x
		}
		return e.OfFloat(x), end, FaultNone
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
