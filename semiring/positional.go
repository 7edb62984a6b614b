package semiring

import (
	"fmt"
	"unsafe"

	"github.com/hiveblas/hiveblas/internal/cpu"
	"github.com/hiveblas/hiveblas/internal/sparse"
)

// The positional semirings multiply to an index instead of a value, for the product of A(i,k) and
// B(k,j):
//
//	firsti            i, the row of A
//	firstj = secondi  k, the summation index
//	secondj           j, the column of B
//
// Every constructor adds offset to the index: 0 counts from 0, 1 from 1, as FIRSTI and FIRSTI1 of
// the GraphBLAS C API. The sum is computed in C and wraps around as Go integers do; an index that C
// cannot hold, such as 2³¹−1 in a float32, is rounded. Positional semirings read no values, so they
// take patterns. The operator that Mul returns makes other semirings by [New]; it has no value
// without its position, so operations on single entries, such as EWiseMult and Apply, refuse it.

// position describes a positional ⊗: the index that it returns and the value of C made from it.
type position struct {
	which       Position
	fromIndex   unsafe.Pointer // func(i int) C
	fillIndices func(c cpu.Values, ci []int32)
}

// indexOp returns the operator that adds the number of kind k at offset to the index i.
func indexOp(k kind, i index, offset unsafe.Pointer) *innerBinary {
	switch k {
	case kindInt8:
		return newIndexOp(i, *(*int8)(offset))
	case kindInt16:
		return newIndexOp(i, *(*int16)(offset))
	case kindInt32:
		return newIndexOp(i, *(*int32)(offset))
	case kindInt64:
		return newIndexOp(i, *(*int64)(offset))
	case kindUint8:
		return newIndexOp(i, *(*uint8)(offset))
	case kindUint16:
		return newIndexOp(i, *(*uint16)(offset))
	case kindUint32:
		return newIndexOp(i, *(*uint32)(offset))
	case kindUint64:
		return newIndexOp(i, *(*uint64)(offset))
	case kindFloat32:
		return newIndexOp(i, *(*float32)(offset))
	}
	return newIndexOp(i, *(*float64)(offset))
}

func newIndexOp[C Number](index index, offset C) *innerBinary {
	name, cuda := index.name, index.cuda
	switch {
	case offset == 1:
		name += "1"
	case offset < 0:
		name += fmt.Sprint(offset)
	case offset != 0:
		name += "+" + fmt.Sprint(offset)
	}
	if offset != 0 {
		cuda = fmt.Sprintf("(C)%s + (C)%s", cuda, scalarCUDA(offset))
	}
	op := newBinary(name, func(bool, bool) C { return 0 }, cuda)
	op.UsesX, op.UsesY = false, false
	return op.at(&position{
		which:     index.which,
		fromIndex: pointerTo(func(i int) C { return C(i) + offset }),
		fillIndices: func(out cpu.Values, ci []int32) {
			c := sparse.SliceOf[C](out)[:len(ci)]
			for p, j := range ci {
				c[p] = C(j) + offset
			}
		},
	})
}

// index is an index of a product, with the name and the CUDA expression of its operator.
type index struct {
	which      Position
	name, cuda string
}

var (
	firsti  = index{PositionI, "firsti", "i"}
	firstj  = index{PositionK, "firstj", "k"}
	secondi = index{PositionK, "secondi", "k"}
	secondj = index{PositionJ, "secondj", "j"}
)

// positionalOf returns the semiring of a monoid and the operator that adds offset to the index i.
// first and second are the semirings of that monoid with the operators first and second.
func positionalOf[C Number](first, second *ringTable, i index, offset C) Semiring[bool, bool, C] {
	return Semiring[bool, bool, C]{in: positionalRing(kindOf[C](), first, second, i, unsafe.Pointer(&offset))}
}

//go:noinline
func positionalRing(k kind, first, second *ringTable, i index, offset unsafe.Pointer) *innerRing {
	x, y := first.at(k), second.at(k)
	op := indexOp(k, i, offset)
	s := unbound(x.add, op)
	s.Positional = &cpu.Positional{
		First: x.Semiring, FirstFlip: x.Flipped, Second: y.Semiring, SecondFlip: y.Flipped,
		FillIndices: op.pos.fillIndices,
	}
	s.Positional.FirstPull, s.Positional.SecondPull = x.Flipped, y.Semiring
	narrow := k == kindInt8 || k == kindInt16 || k == kindUint8 || k == kindUint16
	if first == &minFirst && op.Name == i.name && !narrow { // indices without an offset never wrap around
		least, other := *x.Flipped, *y.Semiring
		least.Any, other.Any = true, true
		s.Positional.FirstPull, s.Positional.SecondPull = &least, &other
	}
	return s
}

// newPositional is New for a positional op: its kernels call add as a closure.
func newPositional[A, B, C any](add *innerMonoid, op *position) *cpu.Positional {
	p := &cpu.Positional{
		First:       fromClosures(add, func(x C, _ B) C { return x }, true, false, add.User),
		FirstFlip:   fromClosures(add, func(_ B, x C) C { return x }, false, true, add.User),
		Second:      fromClosures(add, func(_ A, y C) C { return y }, false, true, add.User),
		SecondFlip:  fromClosures(add, func(y C, _ A) C { return y }, true, false, add.User),
		FillIndices: op.fillIndices,
	}
	p.FirstPull, p.SecondPull = p.FirstFlip, p.Second
	return p
}

// AnyFirsti returns the row of the product plus offset.
func AnyFirsti[C Number](offset C) Semiring[bool, bool, C] {
	return positionalOf(&anyFirst, &anySecond, firsti, offset)
}

// AnyFirstj returns the summation index of any one term plus offset; it equals [AnySecondi].
func AnyFirstj[C Number](offset C) Semiring[bool, bool, C] {
	return positionalOf(&anyFirst, &anySecond, firstj, offset)
}

// AnySecondi returns the summation index of any one term plus offset: a parent in a breadth-first
// search.
func AnySecondi[C Number](offset C) Semiring[bool, bool, C] {
	return positionalOf(&anyFirst, &anySecond, secondi, offset)
}

// AnySecondj returns the column of the product plus offset.
func AnySecondj[C Number](offset C) Semiring[bool, bool, C] {
	return positionalOf(&anyFirst, &anySecond, secondj, offset)
}

// MinFirsti returns the row of the product plus offset.
func MinFirsti[C Number](offset C) Semiring[bool, bool, C] {
	return positionalOf(&minFirst, &minSecond, firsti, offset)
}

// MinFirstj returns the smallest summation index of the terms plus offset; it equals [MinSecondi].
func MinFirstj[C Number](offset C) Semiring[bool, bool, C] {
	return positionalOf(&minFirst, &minSecond, firstj, offset)
}

// MinSecondi returns the smallest summation index of the terms plus offset: a deterministic parent.
func MinSecondi[C Number](offset C) Semiring[bool, bool, C] {
	return positionalOf(&minFirst, &minSecond, secondi, offset)
}

// MinSecondj returns the column of the product plus offset.
func MinSecondj[C Number](offset C) Semiring[bool, bool, C] {
	return positionalOf(&minFirst, &minSecond, secondj, offset)
}

// MaxSecondi returns the largest summation index of the terms plus offset.
func MaxSecondi[C Number](offset C) Semiring[bool, bool, C] {
	return positionalOf(&maxFirst, &maxSecond, secondi, offset)
}

// MaxFirstj equals [MaxSecondi].
func MaxFirstj[C Number](offset C) Semiring[bool, bool, C] {
	return positionalOf(&maxFirst, &maxSecond, firstj, offset)
}
