package ctext

import (
	"reflect"
	"unsafe"

	"github.com/hiveblas/hiveblas/internal/parallel"
	"github.com/hiveblas/hiveblas/internal/sparse"
)

// A cell holds a value at its start: the states, edges and messages of an engine are cells, whose
// type has room for the values.

// Bytes returns the memory of a cell.
func Bytes[T any](v *T) []byte { return unsafe.Slice((*byte)(unsafe.Pointer(v)), unsafe.Sizeof(*v)) }

// Values returns what cells hold, as values of a type.
func Values[V any](of *sparse.Type, cells []V) sparse.Values {
	out := of.Make(int64(len(cells)))
	if len(cells) == 0 {
		return out
	}
	size, step := int(of.Size), int(unsafe.Sizeof(cells[0]))
	to := unsafe.Slice((*byte)(out.Pointer()), len(cells)*size)
	from := unsafe.Slice((*byte)(unsafe.Pointer(&cells[0])), len(cells)*step)
	for k := range cells {
		copy(to[k*size:(k+1)*size], from[k*step:])
	}
	return out
}

// converters convert values lo … hi−1 of a kind, which are numbers or bools.
var converters = map[reflect.Kind]func(to *Type, v sparse.Values, put func(k int, f *Frame, at Place), lo, hi int){
	reflect.Bool: converting[bool], reflect.Int8: converting[int8], reflect.Int16: converting[int16],
	reflect.Int32: converting[int32], reflect.Int64: converting[int64], reflect.Uint8: converting[uint8],
	reflect.Uint16: converting[uint16], reflect.Uint32: converting[uint32], reflect.Uint64: converting[uint64],
	reflect.Float32: converting[float32], reflect.Float64: converting[float64],
}

// Cells returns values as cells that hold values of type to, converted as texts convert them.
// Structs have the fields of to already. The cells may share the memory of the values.
func Cells[E any](to *Type, of *sparse.Type, v sparse.Values, threads int) []E {
	from, size := sparse.GoType(of.Under()).Kind(), int(of.Size)
	if from == to.Kind && from != reflect.Struct && size == int(unsafe.Sizeof(*new(E))) {
		return sparse.SliceOf[E](v)
	}
	cells := make([]E, v.Len())
	// Without a context there is no error.
	_ = parallel.Range(nil, threads, len(cells), 1<<14, func(_, lo, hi int) {
		if from == to.Kind {
			raw := unsafe.Slice((*byte)(v.Pointer()), len(cells)*size)
			for k := lo; k < hi; k++ {
				copy(Bytes(&cells[k]), raw[k*size:(k+1)*size])
			}
			return
		}
		converters[from](to, v, func(k int, f *Frame, at Place) { cells[k] = *At[E](f, at) }, lo, hi)
	})
	return cells
}

func converting[T any](to *Type, v sparse.Values, put func(k int, f *Frame, at Place), lo, hi int) {
	list, from := sparse.SliceOf[T](v), Number(reflect.TypeFor[T]().Kind())
	var l Layout
	in, _ := l.Place(from)
	at, _ := l.Place(to)
	code := convert(variable(from, uintptr(in), true), to.Kind).into(uintptr(at))
	f := NewFrame(nil)
	for k := lo; k < hi; k++ {
		*At[T](f, in) = list[k]
		code(f)
		put(k, f, at)
	}
}
