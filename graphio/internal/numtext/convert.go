package numtext

import (
	"math"
	"math/bits"
	"reflect"

	"github.com/hiveblas/hiveblas/graphio/internal/core"
	"github.com/hiveblas/hiveblas/internal/sparse"
)

// PositionOf returns the row and the column of value p.
func PositionOf(st *sparse.Structure, p int64) (row, col int) {
	if !st.Sparse() {
		return int(p / int64(st.NCols)), int(p % int64(st.NCols))
	}
	k := 0
	for st.Ptr[k+1] <= p {
		k++
	}
	return st.RowID(k), int(st.Idx[p])
}

// numberOf returns a value as a float, or as ±mag.
func numberOf(e core.Element, v uint64) (x float64, float, neg bool, mag uint64) {
	if e.IsFloat() {
		return e.AsFloat(v), true, false, 0
	}
	neg, mag = e.AsInt(v)
	return 0, false, neg, mag
}

// ConvertValues returns a store with values of another type, or the place of the first value that
// the type does not hold. The values of a bitmap without an entry stay zero. NaN and infinities are
// values of floats. With ones every value is 1 or true.
func ConvertValues(st *sparse.Store, t *sparse.Type, ones bool) (out *sparse.Store, at int64, f Fault) {
	from, e, n := core.ElementOf(st.Type), core.ElementOf(t), int64(st.Val.Len())
	out = &sparse.Store{Structure: st.Structure, Val: t.Zeroed(n), Type: t}
	special := &core.ReadOptions{AllowNaN: true}
	for k := range n {
		if st.Format == sparse.Bitmap && st.Present[k] == 0 {
			continue
		}
		v := e.One
		if !ones {
			if x, float, neg, mag := numberOf(from, from.At(st.Val, k)); float {
				v, f = ConvertFloat(e, x, special)
			} else {
				v, f = ConvertInt(e, neg, mag)
			}
			if f != FaultNone {
				return nil, k, f
			}
		}
		e.Store(out.Val, k, v)
	}
	return out, 0, FaultNone
}

// ConvertFloat converts a number of a binary file by the rules of a real text file.
func ConvertFloat(e core.Element, x float64, o *core.ReadOptions) (v uint64, f Fault) {
	switch {
	case o.PatternOnly:
		return e.One, FaultNone
	case (math.IsNaN(x) || math.IsInf(x, 0)) && (!e.IsFloat() || !o.AllowNaN):
		return v, faultNaN
	case e.Kind == reflect.Float32 && !math.IsInf(x, 0) && math.IsInf(float64(float32(x)), 0):
		return v, faultRange
	case e.IsFloat():
		return e.OfFloat(x), FaultNone
	case x != math.Trunc(x):
		return v, FaultFraction
	case math.Abs(x) >= 1<<64:
		return v, faultRange
	}
	return ConvertInt(e, x < 0, uint64(math.Abs(x)))
}

// ConvertInt converts ±mag by the rules of an integer text file.
func ConvertInt(e core.Element, neg bool, mag uint64) (v uint64, f Fault) {
	switch {
	case e.IsFloat():
		if mag != 0 && bits.Len64(mag)-bits.TrailingZeros64(mag) > precisionOf(e) {
			return v, faultInexact
		}
		x := float64(mag)
		if neg {
			x = -x
		}
		return e.OfFloat(x), FaultNone
	case e.IsBool():
		if mag > 1 || neg && mag != 0 {
			return v, faultBool
		}
		if mag == 1 {
			return e.One, FaultNone
		}
		return v, FaultNone
	}
	v, ok := e.OfInt(neg, mag)
	if !ok {
		return 0, faultRange
	}
	return v, FaultNone
}

// precisionOf is the number of bits of a significand of the type.
func precisionOf(e core.Element) int {
	if e.Kind == reflect.Float32 {
		return 24
	}
	return 53
}
