package sparse

import (
	"math/bits"
	"reflect"
	"runtime"
	"sync"
	"sync/atomic"
	"unsafe"

	"github.com/hiveblas/hiveblas/internal/fresh"
)

// Values is a slice of values of one type, which a Type describes: storage and drivers move values
// and never compute with them, so they are compiled once and not for each element type. A Values
// has the memory layout of a Go slice, and its length and capacity count values.
//
// The rules: memory comes from Type.Make, Type.Zeroed or a slice of the real type, so that the
// collector sees it as what it is. An empty part keeps the address of its array; there is no
// address one past an end. No address means no values, which is a pattern.
type Values struct {
	at  unsafe.Pointer
	n   int
	cap int
}

// ValuesOf returns a slice without its type. It shares the memory.
func ValuesOf[T any](s []T) Values { return *(*Values)(unsafe.Pointer(&s)) }

// SliceOf returns the values as a slice of T, which is their type or one of the same size without
// pointers.
func SliceOf[T any](v Values) []T { return *(*[]T)(unsafe.Pointer(&v)) }

// Len returns the number of values.
func (v Values) Len() int { return v.n }

// Cap returns the number of values that there is room for.
func (v Values) Cap() int { return v.cap }

// None reports whether there are no values, not even zero of them.
func (v Values) None() bool { return v.at == nil }

// Pointer returns the address of the first value.
func (v Values) Pointer() unsafe.Pointer { return v.at }

// Same reports whether two slices begin at the same address.
func (v Values) Same(w Values) bool { return v.at == w.at }

// Class is how values are moved.
type Class uint8

// The classes: values without pointers of a size for which there are loops, and others, which the
// loops of their type move.
const (
	Other Class = iota
	Bytes1
	Bytes2
	Bytes4
	Bytes8
	Bytes16
)

// The types of the loops that move the values of a class.
type (
	E1  = uint8
	E2  = uint16
	E4  = uint32
	E8  = uint64
	E16 = [2]uint64
)

// Sized is a type that stands for a class.
type Sized interface{ E1 | E2 | E4 | E8 | E16 }

// Type describes the type of values.
type Type struct {
	Size  int64
	Class Class
	Plain bool // no pointers, and every bit pattern is a value
	// True is the value of the entries of a pattern: true, 1, or the zero value of other types.
	True Values
	// Zero is one zero value.
	Zero Values
	// Copier is CopyOrTrue, as a function that exists already.
	Copier  func(dst, src Values)
	anyBits bool // every bit pattern is a value, also of Go: not of bool
	partial bool // == panics for some values, which interfaces hold
	key     key
	under   *Type // see Under
	loops   loops
	rare    any // *rare
}

// rare is what a Type holds out of sight: the types of package reflect and sync.Pool name instances
// of generic types, about 80 functions, which the compiler would make in each package that names a
// matrix.
type rare struct {
	goType  reflect.Type
	scratch [Uses]sync.Pool
}

// Uses is the number of uses of scratch memory.
const Uses = 8

// GoType returns the type of the values, nil for the zero value.
func GoType(t *Type) reflect.Type {
	if r, ok := t.rare.(*rare); ok {
		return r.goType
	}
	return nil
}

// Under returns the built-in type of numbers or bools with the same values: float64 of a type Metre
// float64, int64 of int and uint64 of uint. Of any other type it is the type itself. Code that is
// compiled for the built-in types alone computes with values of all types by it.
func (t *Type) Under() *Type { return t.under }

// Same reports whether values of two types may be read as each other's.
func Same(a, b *Type) bool { return a == b || a.under == b.under }

// Kept returns memory that Keep kept for a use, nil if there is none. The memory is between
// operations in a pool, which the garbage collector empties.
func (t *Type) Kept(use int) any { return t.rare.(*rare).scratch[use].Get() }

// Keep keeps memory for the next operation with the same use.
func (t *Type) Keep(use int, memory any) { t.rare.(*rare).scratch[use].Put(memory) }

// String returns the name of the type.
func (t *Type) String() string { return GoType(t).String() }

// A key identifies a type T: the address of the runtime's descriptor of *T. A program has one such
// descriptor: comparisons of interfaces rely on it.
type key = unsafe.Pointer

// keyIn returns the key of the type of a nil pointer.
func keyIn(p any) key {
	return *(*key)(unsafe.Pointer(&p))
}

// types is a table of the descriptors by key, with open addressing. It has empty slots, and a new
// descriptor makes a new table.
var types struct {
	sync.Mutex
	table atomic.Pointer[[]*Type]
}

// slot returns the first slot of a key in a table of a power of two.
func slot(k key, size int) int {
	return int(uint64(uintptr(k))*0x9e3779b97f4a7c15>>32) & (size - 1)
}

// TypeOf returns the descriptor of T, always the same one.
func TypeOf[T comparable]() *Type {
	of := any((*T)(nil))
	if d := known(keyIn(of)); d != nil {
		return d
	}
	return describe(of, loopsOf[T], ValuesOf(make([]T, 2)))
}

// known returns the descriptor of a type if there is one already.
//
//go:noinline
func known(k key) *Type {
	t := types.table.Load()
	if t == nil {
		return nil
	}
	for at := slot(k, len(*t)); ; at = (at + 1) & (len(*t) - 1) {
		if d := (*t)[at]; d == nil || d.key == k {
			return d
		}
	}
}

// remember enters a descriptor in the table, and returns the one with its key if there is one.
func remember(d *Type) *Type {
	types.Lock()
	defer types.Unlock()
	if have := known(d.key); have != nil {
		return have
	}
	all := []*Type{d}
	if t := types.table.Load(); t != nil {
		for _, e := range *t {
			if e != nil {
				all = append(all, e)
			}
		}
	}
	size := 64
	for size < 4*len(all) {
		size *= 2
	}
	t := make([]*Type, size)
	for _, e := range all {
		at := slot(e.key, size)
		for t[at] != nil {
			at = (at + 1) & (size - 1)
		}
		t[at] = e
	}
	types.table.Store(&t)
	return d
}

// describe makes the descriptor of a type from a nil pointer to it, its loops and two values.
func describe(of any, loops loops, two Values) *Type {
	t := reflect.TypeOf(of).Elem()
	anyBits := fresh.PlainType(t)
	d := &Type{Size: int64(t.Size()), Plain: anyBits || t.Kind() == reflect.Bool, anyBits: anyBits, key: keyIn(of), loops: loops, rare: &rare{goType: t}}
	if d.Plain && int64(t.Align()) >= min(d.Size, 8) {
		switch d.Size {
		case 1:
			d.Class = Bytes1
		case 2:
			d.Class = Bytes2
		case 4:
			d.Class = Bytes4
		case 8:
			d.Class = Bytes8
		case 16:
			d.Class = Bytes16
		}
	}
	d.partial = holdsInterface(t)
	d.Copier = d.CopyOrTrue
	d.under = d
	if u := underOf(t); u != nil {
		d.under = u
	}
	d.True, d.Zero = d.Slice(two, 0, 1), d.Slice(two, 1, 2)
	switch v := reflect.NewAt(t, two.at).Elem(); {
	case v.Kind() == reflect.Bool:
		v.SetBool(true)
	case v.CanInt():
		v.SetInt(1)
	case v.CanUint():
		v.SetUint(1)
	case v.CanFloat():
		v.SetFloat(1)
	}
	return remember(d)
}

// holdsInterface reports whether a value of a type has an interface in itself: == panics if it
// holds a slice, a map or a function.
func holdsInterface(t reflect.Type) bool {
	switch t.Kind() {
	case reflect.Interface:
		return true
	case reflect.Array:
		return holdsInterface(t.Elem())
	case reflect.Struct:
		for i := range t.NumField() {
			if holdsInterface(t.Field(i).Type) {
				return true
			}
		}
	}
	return false
}

// underOf returns the built-in type below a type, nil if there is none or it is t itself. int64
// stands for int, and uint64 for uint and uintptr.
func underOf(t reflect.Type) *Type {
	k := t.Kind()
	switch k {
	case reflect.Int:
		k = reflect.Int64
	case reflect.Uint, reflect.Uintptr:
		k = reflect.Uint64
	}
	if d := OfKind(k); d != nil && GoType(d) != t {
		return d
	}
	return nil
}

// OfKind returns the descriptor of the built-in type of a kind, nil for others, int and uint. A
// program has it without the loops that TypeOf names.
func OfKind(k reflect.Kind) *Type {
	if k >= reflect.Kind(len(builtIn)) || builtIn[k] == nil {
		return nil
	}
	return known(keyIn(builtIn[k]))
}

// builtIn holds a nil pointer to each built-in type that is below others.
var builtIn = [...]any{
	reflect.Bool: (*bool)(nil), reflect.Int8: (*int8)(nil), reflect.Int16: (*int16)(nil),
	reflect.Int32: (*int32)(nil), reflect.Int64: (*int64)(nil), reflect.Uint8: (*uint8)(nil),
	reflect.Uint16: (*uint16)(nil), reflect.Uint32: (*uint32)(nil), reflect.Uint64: (*uint64)(nil),
	reflect.Float32: (*float32)(nil), reflect.Float64: (*float64)(nil),
}

// The built-in types have their loops here, and not in each package that names them. Integers and
// bools are equal where their bits are, and have the loops of their class.
func init() {
	builtIns[bool, E1]()
	builtIns[int8, E1]()
	builtIns[int16, E2]()
	builtIns[int32, E4]()
	builtIns[int64, E8]()
	builtIns[uint8, E1]()
	builtIns[uint16, E2]()
	builtIns[uint32, E4]()
	builtIns[uint64, E8]()
	if bits.UintSize == 64 {
		builtIns[int, E8]()
		builtIns[uint, E8]()
	} else {
		builtIns[int, E4]()
		builtIns[uint, E4]()
	}
	TypeOf[float32]()
	TypeOf[float64]()
	boolType = OfKind(reflect.Bool)
}

// builtIns describes T with the loops of E, whose values have the same bits.
func builtIns[T, E comparable]() {
	describe((*T)(nil), loopsOf[E], ValuesOf(make([]E, 2)))
}

// Make returns n values, which the caller must write before it reads them.
func (t *Type) Make(n int64) Values {
	if t.anyBits {
		if p := fresh.Bytes(n * t.Size); p != nil {
			return Values{p, int(n), int(n)}
		}
	}
	return t.made(n)
}

// made returns n zero values of the type itself.
func (t *Type) made(n int64) Values {
	v, _ := t.loops(making, Values{n: int(n)}, Values{}, Values{}, Values{})
	return v
}

// Zeroed returns n zero values.
func (t *Type) Zeroed(n int64) Values {
	if !t.Plain {
		return t.made(n)
	}
	switch t.Class {
	case Bytes1:
		return ValuesOf(make([]E1, n))
	case Bytes2:
		return ValuesOf(make([]E2, n))
	case Bytes4:
		return ValuesOf(make([]E4, n))
	case Bytes8:
		return ValuesOf(make([]E8, n))
	case Bytes16:
		return ValuesOf(make([]E16, n))
	}
	v := t.made(n)
	t.Fill(v, t.Zero)
	return v
}

// Filled returns n copies of x[0], written by all threads.
func (t *Type) Filled(n int64, x Values) Values {
	v := t.Make(n)
	flat(int(n), func(lo, hi int) { t.Fill(t.Slice(v, int64(lo), int64(hi)), x) })
	return v
}

// Slice returns v[lo:hi], with the capacity hi−lo. Of no values it returns none.
// The compiler inlines it: drivers call it for each row.
func (t *Type) Slice(v Values, lo, hi int64) Values {
	if lo >= hi || lo < 0 || hi > int64(v.cap) {
		return noValues(v, lo, hi)
	}
	return Values{unsafe.Add(v.at, lo*t.Size), int(hi - lo), int(hi - lo)}
}

// noValues is Slice of no values or of an empty range.
func noValues(v Values, lo, hi int64) Values {
	if v.at != nil && (lo != hi || uint64(lo) > uint64(v.cap)) {
		panic("sparse: a range outside the values")
	}
	return Values{v.at, 0, 0}
}

// Clear sets the values to zero.
func (t *Type) Clear(v Values) { t.Fill(v, t.Zero) }

// One returns one value, x[p].
func (t *Type) One(v Values, p int64) Values { return t.Slice(v, p, p+1) }

// Equal reports whether x and y have the same number of values and these are equal by ==. Values
// for which == panics differ.
func (t *Type) Equal(x, y Values) (same bool) {
	if x.n != y.n {
		return false
	}
	if x.n == 0 {
		return true
	}
	if t.partial {
		defer func() {
			if p := recover(); p != nil {
				if _, ok := p.(runtime.Error); !ok {
					panic(p)
				}
				same = false
			}
		}()
	}
	_, same = t.loops(equal, x, y, Values{}, Values{})
	return same
}

// Same reports whether two single values are the same bits, and of types with pointers whether they
// are at the same address.
func (t *Type) Same(x, y Values) bool {
	if !t.Plain {
		return x.at == y.at
	}
	return string(t.bytes(x)) == string(t.bytes(y))
}

// IsZero reports whether all bits of a single value are zero; of types with pointers it may report
// false for the zero value.
func (t *Type) IsZero(x Values) bool { return t.Same(x, t.Zero) }

// bytes returns the memory of a single value without pointers.
func (t *Type) bytes(x Values) []byte { return unsafe.Slice((*byte)(x.at), t.Size) }

// At returns the address of v[p], and nil for no values.
func (t *Type) At(v Values, p int64) unsafe.Pointer {
	if v.at == nil {
		return nil
	}
	if uint64(p) >= uint64(v.n) {
		panic(boundsError(p, p+1, v.n))
	}
	return unsafe.Add(v.at, p*t.Size)
}

// Nonzero sets keep[p] to 1 if x[p] is not the zero value, else to 0.
func (t *Type) Nonzero(keep []uint8, x Values) {
	if x.n > 0 {
		t.loops(nonzero, Values{}, x, ValuesOf(keep), Values{})
	}
}
