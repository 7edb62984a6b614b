package matrix

import (
	"fmt"
	"reflect"
	"unsafe"

	"github.com/hiveblas/hiveblas/internal/fresh"
	"github.com/hiveblas/hiveblas/internal/sparse"
)

// itemOf returns the type of values of a kind that files have.
func itemOf(kind reflect.Kind) item {
	size := 8
	switch kind {
	case reflect.Bool, reflect.Int8, reflect.Uint8:
		size = 1
	case reflect.Int16, reflect.Uint16:
		size = 2
	case reflect.Int32, reflect.Uint32, reflect.Float32:
		size = 4
	}
	return item{kind, kind.String(), size, size}
}

// number returns the value at p: a float, or ±mag.
func (e item) number(p unsafe.Pointer) (x float64, float, neg bool, mag uint64) {
	var i int64
	switch e.kind {
	case reflect.Float32:
		return float64(*(*float32)(p)), true, false, 0
	case reflect.Float64:
		return *(*float64)(p), true, false, 0
	case reflect.Bool, reflect.Uint8:
		return 0, false, false, uint64(*(*uint8)(p))
	case reflect.Uint16:
		return 0, false, false, uint64(*(*uint16)(p))
	case reflect.Uint32:
		return 0, false, false, uint64(*(*uint32)(p))
	case reflect.Uint64:
		return 0, false, false, *(*uint64)(p)
	case reflect.Int8:
		i = int64(*(*int8)(p))
	case reflect.Int16:
		i = int64(*(*int16)(p))
	case reflect.Int32:
		i = int64(*(*int32)(p))
	default:
		i = *(*int64)(p)
	}
	if i < 0 {
		return 0, false, true, -uint64(i)
	}
	return 0, false, false, uint64(i)
}

// convertStore converts the values of a binary file to T. Those of a bitmap without an entry stay
// zero. NaN and infinities are values, as without conversion.
func convertStore[T comparable](st *raw, from item, e element[T], o *readOptions) (*sparse.Typed[T], error) {
	n := len(st.val) / max(st.size, 1)
	out := sparse.Of(st.Structure, fresh.Make[T](int64(n)))
	special := *o
	special.allowNaN = true
	for k := range n {
		if st.Format == sparse.Bitmap && st.Present[k] == 0 {
			var zero T
			out.Val[k] = zero
			continue
		}
		if o.patternOnly {
			out.Val[k] = e.one
			continue
		}
		x, float, neg, mag := from.number(unsafe.Pointer(&st.val[k*st.size]))
		var f fault
		if float {
			out.Val[k], f = e.convertFloat(x, &special)
		} else {
			out.Val[k], f = e.convertInt(neg, mag)
		}
		if f == faultNone {
			continue
		}
		text := fmt.Sprint(mag)
		switch {
		case float:
			text = fmt.Sprint(x)
		case neg:
			text = "-" + text
		}
		msg, kind := f.explain(text, e.name(), e.kind)
		return nil, o.failKind(0, fmt.Sprintf("value %d of the file, which has %s: %s", k, from.name, msg), kind)
	}
	return out, nil
}
