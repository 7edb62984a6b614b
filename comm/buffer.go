package comm

import (
	"fmt"
	"reflect"
	"unsafe"
)

// DType is the type of the elements of a buffer. The zero value is Uint8, which also carries
// booleans, bitmaps and the bytes of structs.
type DType uint8

// The element types.
const (
	Uint8 DType = iota
	Int8
	Int16
	Uint16
	Int32
	Uint32
	Int64
	Uint64
	Float32
	Float64
	dtypes // their number
)

var (
	dtypeNames = [dtypes]string{
		"uint8", "int8", "int16", "uint16", "int32", "uint32", "int64", "uint64", "float32", "float64",
	}
	dtypeSizes = [dtypes]int{1, 1, 2, 2, 4, 4, 8, 8, 4, 8}
)

// DTypes returns all element types.
func DTypes() []DType {
	out := make([]DType, dtypes)
	for i := range out {
		out[i] = DType(i)
	}
	return out
}

// String names the type as Go does, such as "float32".
func (t DType) String() string {
	if t >= dtypes {
		return fmt.Sprintf("unknown type %d", uint8(t))
	}
	return dtypeNames[t]
}

// Size returns the bytes of an element, 0 for an unknown type.
func (t DType) Size() int {
	if t >= dtypes {
		return 0
	}
	return dtypeSizes[t]
}

// Float reports whether t is a floating-point type.
func (t DType) Float() bool { return t == Float32 || t == Float64 }

// Element lists the Go types that Host takes. int and uint travel as 64-bit integers, bool as
// Uint8.
type Element interface {
	~bool | ~int8 | ~uint8 | ~int16 | ~uint16 | ~int32 | ~uint32 | ~int64 | ~uint64 | ~int | ~uint |
		~float32 | ~float64
}

// TypeOf returns the element type of T.
func TypeOf[T Element]() DType {
	var zero T
	switch reflect.TypeOf(zero).Kind() {
	case reflect.Int8:
		return Int8
	case reflect.Int16:
		return Int16
	case reflect.Uint16:
		return Uint16
	case reflect.Int32:
		return Int32
	case reflect.Uint32:
		return Uint32
	case reflect.Int64, reflect.Int:
		return Int64
	case reflect.Uint64, reflect.Uint:
		return Uint64
	case reflect.Float32:
		return Float32
	case reflect.Float64:
		return Float64
	}
	return Uint8
}

// Buffer is a sequence of elements in host memory or on a device. It does not own them. The zero
// value is an empty buffer.
type Buffer struct {
	dtype  DType
	n      int
	host   unsafe.Pointer // nil if it is on a device or empty
	device uint64         // address; 0 if it is on the host
}

// Host returns the elements of s as a buffer, without a copy. s must stay unmoved until the
// collective returns, as Go's slices do.
func Host[T Element](s []T) Buffer {
	return Buffer{dtype: TypeOf[T](), n: len(s), host: unsafe.Pointer(unsafe.SliceData(s))}
}

// HostAt returns n elements of type t at p, which is memory of Go or pinned host memory. Use it
// with Uint8 for the bytes of structs without pointers.
func HostAt(p unsafe.Pointer, t DType, n int) Buffer { return Buffer{dtype: t, n: n, host: p} }

// OnDevice returns n elements of type t at a device's address. The group must know the device.
func OnDevice(address uint64, t DType, n int) Buffer { return Buffer{dtype: t, n: n, device: address} }

// Type returns the type of the elements.
func (b Buffer) Type() DType { return b.dtype }

// Len returns the number of elements.
func (b Buffer) Len() int { return b.n }

// Size returns the number of bytes.
func (b Buffer) Size() int64 { return int64(b.n) * int64(b.dtype.Size()) }

// Device returns the address on the device, 0 for a buffer of the host.
func (b Buffer) Device() uint64 { return b.device }

// Pointer returns where a buffer of the host begins, nil for one on a device.
func (b Buffer) Pointer() unsafe.Pointer { return b.host }

// OnHost reports whether the buffer is host memory; an empty one is unless it has a device address.
func (b Buffer) OnHost() bool { return b.device == 0 }

// Slice returns elements from … to−1. It returns an empty buffer if these are not within b.
func (b Buffer) Slice(from, to int) Buffer {
	if from < 0 || to > b.n || from >= to {
		return Buffer{dtype: b.dtype}
	}
	at := from * b.dtype.Size()
	out := Buffer{dtype: b.dtype, n: to - from}
	if b.device != 0 {
		out.device = b.device + uint64(at)
	} else {
		out.host = unsafe.Add(b.host, at)
	}
	return out
}

// Bytes returns the memory of a buffer of the host, nil for one on a device.
func (b Buffer) Bytes() []byte {
	if b.host == nil || b.n <= 0 {
		return nil
	}
	return unsafe.Slice((*byte)(b.host), b.Size())
}

// address returns where the buffer begins, 0 if it is empty.
func (b Buffer) address() uint64 {
	switch {
	case b.n <= 0:
		return 0
	case b.device != 0:
		return b.device
	}
	return uint64(uintptr(b.host))
}

// Same reports whether b and c begin at the same address, in the same memory.
func (b Buffer) Same(c Buffer) bool {
	return b.n > 0 && c.n > 0 && b.OnHost() == c.OnHost() && b.address() == c.address()
}

// Overlaps reports whether b and c have a byte in common.
func (b Buffer) Overlaps(c Buffer) bool {
	if b.n <= 0 || c.n <= 0 || b.OnHost() != c.OnHost() {
		return false
	}
	return b.address() < c.address()+uint64(c.Size()) && c.address() < b.address()+uint64(b.Size())
}

// elements returns the memory of a buffer of the host as T; T has the size of the buffer's type.
func elements[T any](b Buffer) []T {
	if b.host == nil || b.n <= 0 {
		return nil
	}
	return unsafe.Slice((*T)(b.host), b.n)
}
