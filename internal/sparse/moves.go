package sparse

import (
	"unsafe"
)

// loops are the loops of a type, one function for all of them: the compiler makes the functions of
// a type in each package that names it. A class other than Other uses them for new memory and
// comparisons alone. Lists of indices are values, too.
type loops func(do loop, dst, src, to, from Values) (out Values, same bool)

// loop is what loops do.
type loop uint8

const (
	making     loop = iota // out is as many new values as dst has
	copying                // dst = src
	moving                 // dst[to[p]] = src[from[p]]; no list is 0, 1, …
	movingBy64             // moving with lists of int64
	equal                  // same reports whether dst and src, of the same length, are equal
	nonzero                // to[p], a byte, is 1 if src[p] is not the zero value, else 0
)

// loopsOf does the loops of T.
func loopsOf[T comparable](do loop, dst, src, to, from Values) (out Values, same bool) {
	switch do {
	case equal:
		b := SliceOf[T](src)
		for p, v := range SliceOf[T](dst) {
			if v != b[p] {
				return out, false
			}
		}
		return out, true
	case nonzero:
		var zero T
		keep := bytesOf(to)
		for p, v := range SliceOf[T](src) {
			keep[p] = 0
			if v != zero {
				keep[p] = 1
			}
		}
		return out, false
	}
	return movesOf[T](do, dst, src, to, from)
}

// movesOf is loopsOf without comparisons.
func movesOf[T any](do loop, dst, src, to, from Values) (out Values, same bool) {
	switch x, y := SliceOf[T](dst), SliceOf[T](src); do {
	case making:
		out = ValuesOf(make([]T, dst.n))
	case copying:
		copy(x, y)
	case moving:
		moveAt(x, list32(to), y, list32(from))
	case movingBy64:
		moveAt(x, list64(to), y, list64(from))
	}
	return out, false
}

// Lists as values; see loops.
func list32(v Values) []int32  { return SliceOf[int32](v) }
func list64(v Values) []int64  { return SliceOf[int64](v) }
func bytesOf(v Values) []uint8 { return SliceOf[uint8](v) }

// moveAt sets dst[to[p]] = src[from[p]]; a nil list is 0, 1, …, or 0, 0, … for a single value.
func moveAt[E any, P int32 | int64](dst []E, to []P, src []E, from []P) {
	switch {
	case to == nil:
		dst = dst[:len(from)]
		for p, q := range from {
			dst[p] = src[q]
		}
	case from == nil && len(src) == 1:
		x := src[0]
		for _, q := range to {
			dst[q] = x
		}
	case from == nil:
		src = src[:len(to)]
		for p, q := range to {
			dst[q] = src[p]
		}
	default:
		from = from[:len(to)]
		for p, q := range to {
			dst[q] = src[from[p]]
		}
	}
}

// Grow returns v with room for n values and the length n; the values beyond the old length are
// undefined. It may move the values.
func (t *Type) Grow(v Values, n int) Values {
	if n <= v.cap && v.at != nil {
		return Values{v.at, n, v.cap}
	}
	w := t.Make(int64(max(n, 2*v.cap, 8)))
	t.Copy(w, v)
	return Values{w.at, n, w.cap}
}

// Copy copies the values of src, as many as dst has room for.
func (t *Type) Copy(dst, src Values) {
	switch n := min(dst.n, src.n); {
	case n == 0:
	case t.Plain:
		copy(unsafe.Slice((*byte)(dst.at), int64(n)*t.Size), unsafe.Slice((*byte)(src.at), int64(n)*t.Size))
	default:
		t.loops(copying, dst, src, Values{}, Values{})
	}
}

// Clone returns a copy, and none for none.
func (t *Type) Clone(v Values) Values {
	if v.at == nil {
		return v
	}
	w := t.Make(int64(v.n))
	if v.n <= flatGrain {
		t.Copy(w, v)
		return w
	}
	flat(v.n, func(lo, hi int) {
		t.Copy(t.Slice(w, int64(lo), int64(hi)), t.Slice(v, int64(lo), int64(hi)))
	})
	return w
}

// Append returns v with the values of w at its end. It may move the values.
func (t *Type) Append(v, w Values) Values {
	n := v.n
	v = t.Grow(v, n+w.n)
	t.Copy(t.Slice(v, int64(n), int64(v.n)), w)
	return v
}

// Move sets dst[to[p]] = src[from[p]]; a nil list is 0, 1, …, or 0, 0, … for a single value. One of
// the lists is not nil.
func (t *Type) Move(dst Values, to []int32, src Values, from []int32) {
	if len(to) == 0 && len(from) == 0 {
		return
	}
	switch t.Class {
	case Bytes1:
		moveAt(SliceOf[E1](dst), to, SliceOf[E1](src), from)
	case Bytes2:
		moveAt(SliceOf[E2](dst), to, SliceOf[E2](src), from)
	case Bytes4:
		moveAt(SliceOf[E4](dst), to, SliceOf[E4](src), from)
	case Bytes8:
		moveAt(SliceOf[E8](dst), to, SliceOf[E8](src), from)
	case Bytes16:
		moveAt(SliceOf[E16](dst), to, SliceOf[E16](src), from)
	default:
		t.loops(moving, dst, src, ValuesOf(to), ValuesOf(from))
	}
}

// MoveWide is Move with lists of 64 bits.
func (t *Type) MoveWide(dst Values, to []int64, src Values, from []int64) {
	if len(to) == 0 && len(from) == 0 {
		return
	}
	switch t.Class {
	case Bytes1:
		moveAt(SliceOf[E1](dst), to, SliceOf[E1](src), from)
	case Bytes2:
		moveAt(SliceOf[E2](dst), to, SliceOf[E2](src), from)
	case Bytes4:
		moveAt(SliceOf[E4](dst), to, SliceOf[E4](src), from)
	case Bytes8:
		moveAt(SliceOf[E8](dst), to, SliceOf[E8](src), from)
	case Bytes16:
		moveAt(SliceOf[E16](dst), to, SliceOf[E16](src), from)
	default:
		t.loops(movingBy64, dst, src, ValuesOf(to), ValuesOf(from))
	}
}

// Fill sets all values of dst to x[0].
func (t *Type) Fill(dst, x Values) {
	if dst.n == 0 {
		return
	}
	switch t.Class {
	case Bytes1:
		fill(SliceOf[E1](dst), SliceOf[E1](x)[0])
	case Bytes2:
		fill(SliceOf[E2](dst), SliceOf[E2](x)[0])
	case Bytes4:
		fill(SliceOf[E4](dst), SliceOf[E4](x)[0])
	case Bytes8:
		fill(SliceOf[E8](dst), SliceOf[E8](x)[0])
	case Bytes16:
		fill(SliceOf[E16](dst), SliceOf[E16](x)[0])
	default:
		t.Copy(dst, t.Slice(x, 0, 1))
		for n := 1; n < dst.n; n *= 2 {
			t.Copy(t.Slice(dst, int64(n), int64(dst.n)), t.Slice(dst, 0, int64(n)))
		}
	}
}

// FillAt sets dst[at[p]] = x[0].
func (t *Type) FillAt(dst Values, at []int32, x Values) {
	if len(at) > 0 {
		t.Move(dst, at, t.Slice(x, 0, 1), nil)
	}
}

// MovedType returns a descriptor of scratch values, which are moved and never compared.
func MovedType[T any]() *Type {
	of := any((*T)(nil))
	if d := known(keyIn(of)); d != nil {
		return d
	}
	return describe(of, movesOf[T], ValuesOf(make([]T, 2)))
}

// CopyOrTrue copies src to dst. It sets dst to True for a pattern, which has no src.
func (t *Type) CopyOrTrue(dst, src Values) {
	if src.None() {
		t.Fill(dst, t.True)
		return
	}
	t.Copy(dst, src)
}

// CopyTo copies a value from one address to another.
func (t *Type) CopyTo(dst, src unsafe.Pointer) { t.Copy(Values{dst, 1, 1}, Values{src, 1, 1}) }
