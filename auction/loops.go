package auction

import (
	"math"
	"reflect"

	"github.com/hiveblas/hiveblas/internal/sparse"
	"github.com/hiveblas/hiveblas/semiring"
)

// loops are the loops over costs of one type. They take many costs at a time.
type loops struct {
	// summarise returns the summary of values lo … hi−1; present marks the entries, nil marks all.
	summarise func(val sparse.Values, present []uint8, lo, hi int, maximize bool) seen
	// finite sets keep[k] to 1, for k from lo to hi−1, if value k is an entry and finite, else to
	// 0.
	finite   func(keep []uint8, val sparse.Values, present []uint8, lo, hi int)
	int32s   conversion[int32]
	int64s   conversion[int64]
	float64s conversion[float64]
}

// conversion are the loops that convert costs of one type to C.
type conversion[C cost] struct {
	// pack writes the values that keep marks, all if it is nil.
	pack func(out []C, val sparse.Values, keep []uint8, negate bool)
	// flip writes rows i0 … i1−1 of an m×n matrix as columns.
	flip func(out []C, val sparse.Values, m, n, i0, i1 int, negate bool)
}

// loopsOf returns the loops of the numbers of a kind.
func loopsOf(kind reflect.Kind) loops {
	switch kind {
	case reflect.Int8:
		return newLoops[int8]()
	case reflect.Int16:
		return newLoops[int16]()
	case reflect.Int32:
		return newLoops[int32]()
	case reflect.Int64:
		return newLoops[int64]()
	case reflect.Uint8:
		return newLoops[uint8]()
	case reflect.Uint16:
		return newLoops[uint16]()
	case reflect.Uint32:
		return newLoops[uint32]()
	case reflect.Uint64:
		return newLoops[uint64]()
	case reflect.Float32:
		return newLoops[float32]()
	}
	return newLoops[float64]()
}

func newLoops[T semiring.Number]() loops {
	return loops{summarise[T], finite[T], newConversion[T, int32](), newConversion[T, int64](), newConversion[T, float64]()}
}

func newConversion[T semiring.Number, C cost]() conversion[C] {
	return conversion[C]{pack[T, C], transposeInto[T, C]}
}

func summarise[T semiring.Number](v sparse.Values, present []uint8, from, to int, maximize bool) seen {
	s := seen{integers: true, bad: -1}
	var lo, hi T
	for k, x := range sparse.SliceOf[T](v)[from:to] {
		if present != nil && present[from+k] == 0 {
			continue
		}
		s.entries++
		if x >= lo && x <= hi && s.any && (T(1)/2 == 0 || !s.integers || T(int64(x)) == x) {
			continue // most of them
		}
		if s.want = unusable(x, maximize); s.want != "" {
			s.bad = int64(from + k)
			break
		}
		if math.IsInf(float64(x), 0) {
			s.forbidden++
			continue
		}
		if !s.any {
			lo, hi, s.any = x, x, true
		}
		lo, hi = min(lo, x), max(hi, x)
		s.integers = s.integers && (T(1)/2 == 0 || exactInteger(float64(x)))
	}
	s.lo, s.hi = float64(lo), float64(hi)
	return s
}

// unusable says what is expected in place of a cost that cannot be used, or returns "".
func unusable[T semiring.Number](x T, maximize bool) string {
	f := float64(x)
	switch {
	case x != x:
		return "a number"
	case T(1)/2 == 0 && (f > 1<<62 || f < -(1<<62)):
		return "an integer of at most 62 bits"
	case math.IsInf(f, 1) && maximize:
		return "less than +Inf when maximising; −Inf forbids a pair"
	case math.IsInf(f, -1) && !maximize:
		return "more than −Inf when minimising; +Inf forbids a pair"
	}
	return ""
}

func finite[T semiring.Number](keep []uint8, v sparse.Values, present []uint8, lo, hi int) {
	for k, x := range sparse.SliceOf[T](v)[lo:hi] {
		if present != nil && present[lo+k] == 0 || math.IsInf(float64(x), 0) {
			keep[lo+k] = 0
		} else {
			keep[lo+k] = 1
		}
	}
}

func pack[T semiring.Number, C cost](out []C, v sparse.Values, keep []uint8, negate bool) {
	sign := C(1)
	if negate {
		sign = -1
	}
	val := sparse.SliceOf[T](v)
	if keep == nil {
		out = out[:len(val)]
		for k, x := range val {
			out[k] = sign * C(x)
		}
		return
	}
	at := 0
	for k, x := range val {
		if keep[k] != 0 {
			out[at] = sign * C(x)
			at++
		}
	}
}

// tile is the side of the tiles in which flip goes through the matrix.
const tile = 32

func transposeInto[T semiring.Number, C cost](out []C, v sparse.Values, m, n, i0, i1 int, negate bool) {
	sign := C(1)
	if negate {
		sign = -1
	}
	val := sparse.SliceOf[T](v)
	for j0 := 0; j0 < n; j0 += tile {
		for i := i0; i < i1; i++ {
			for j := j0; j < min(j0+tile, n); j++ {
				out[j*m+i] = sign * C(val[i*n+j])
			}
		}
	}
}
