package record

import (
	"unsafe"

	"github.com/hiveblas/hiveblas/internal/device"
	"github.com/hiveblas/hiveblas/internal/pass"
	"github.com/hiveblas/hiveblas/internal/rep"
	"github.com/hiveblas/hiveblas/internal/sparse"
)

// Key is what an operation was called with. Operations with equal keys have equal steps; the step
// of an operation with another key may be equal too. A pass is compared by keys, since a step
// takes a microsecond to make.
type Key struct {
	Kind             pass.Kind
	Op               string
	Dst, Mask        rep.Matrix
	Structural, Comp bool // of the mask
	Replace          bool
	Accum            unsafe.Pointer // the operator
	How              device.Pair

	f      unsafe.Pointer // the operator or the semiring
	args   [2]operand
	flag   bool
	given  [2]uint64 // values of up to 8 bytes
	others bool      // there are values that are larger
}

// operand is a view without the wrapper of a pattern.
type operand struct {
	m                              rep.Matrix
	transposed, pattern, symmetric bool
}

// KeyOf returns the key of an operator, which lives as long as the key, and its operands.
func KeyOf(f unsafe.Pointer, args ...rep.View) Key {
	k := Key{f: f}
	for i, v := range args {
		k.args[i] = operand{v.Matrix.Matrix(), v.Transposed, v.IsPattern(), v.Symmetric()}
	}
	return k
}

// With adds a flag.
func (k Key) With(flag bool) Key {
	k.flag = flag
	return k
}

// Value adds argument i, a value of type t.
func (k Key) Value(i int, t *sparse.Type, x sparse.Values) Key {
	if t.Size > 8 {
		k.others = true
		return k
	}
	copy(unsafe.Slice((*byte)(unsafe.Pointer(&k.given[i])), 8), unsafe.Slice((*byte)(x.Pointer()), t.Size))
	return k
}

// Again reports whether an operation is the one of the list at its place, by its key. Of another
// operation it keeps the key for Record.
func (l *Loop) Again(k *Key, o Operation) bool {
	r, b := l.recorder, l.body
	if r.mode == comparing && l == r.active && l.at < len(b.keys) && (l.in == len(b.blocks) || b.blocks[l.in].at > l.at) && b.keys[l.at] == *k && !k.others {
		l.at++
		r.waits = append(r.waits, o)
		return true
	}
	r.key = *k
	return false
}
