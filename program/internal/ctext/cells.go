package ctext

import (
	"reflect"
	"unsafe"

	"github.com/hiveblas/hiveblas/internal/parallel"
	"github.com/hiveblas/hiveblas/internal/sparse"
)

// A cell holds a value at its start: the states and edges of an engine are cells.

// CellType returns the type of cells that hold values of so many bytes.
func CellType(size int) *sparse.Type {
	switch {
	case size <= 8:
		return sparse.OfKind(reflect.Uint64)
	case size <= 16:
		return sparse.TypeOf[[2]uint64]()
	}
	return sparse.TypeOf[[8]uint64]()
}

// Move copies a value of so many bytes.
func Move(to, from unsafe.Pointer, size int64) {
	if size == 8 {
		*(*uint64)(to) = *(*uint64)(from)
		return
	}
	moveOther(to, from, size)
}

func moveOther(to, from unsafe.Pointer, size int64) {
	switch size {
	case 4:
		*(*uint32)(to) = *(*uint32)(from)
	case 16:
		*(*[2]uint64)(to) = *(*[2]uint64)(from)
	default:
		copy(unsafe.Slice((*byte)(to), size), unsafe.Slice((*byte)(from), size))
	}
}

// Resize returns values of one type as values of another that have the same bytes at their start.
func Resize(to, from *sparse.Type, v sparse.Values) sparse.Values {
	if sparse.Same(to, from) {
		return v
	}
	out, size := to.Make(int64(v.Len())), min(to.Size, from.Size)
	for k := range int64(v.Len()) {
		Move(to.At(out, k), from.At(v, k), size)
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
func Cells(to *Type, of *sparse.Type, v sparse.Values, threads int) sparse.Values {
	from, size := sparse.GoType(of.Under()).Kind(), int64(to.Size)
	cell := CellType(to.Size)
	if from == to.Kind && from != reflect.Struct && of.Size == cell.Size {
		return v
	}
	cells := cell.Zeroed(int64(v.Len()))
	// Without a context there is no error.
	_ = parallel.Range(nil, threads, cells.Len(), 1<<14, func(_, lo, hi int) {
		if from == to.Kind {
			for k := int64(lo); k < int64(hi); k++ {
				Move(cell.At(cells, k), of.At(v, k), size)
			}
			return
		}
		converters[from](to, v, func(k int, f *Frame, at Place) {
			Move(cell.At(cells, int64(k)), unsafe.Pointer(At[byte](f, at)), size)
		}, lo, hi)
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
