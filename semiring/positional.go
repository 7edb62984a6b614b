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

// indexOp returns the positional operator that adds offset to an index. cuda is the index as a CUDA
// expression: i, k or j.
func indexOp[C Number](which Position, name, cuda string, offset C) *innerBinary {
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
	op.k.UsesX, op.k.UsesY = false, false
	op.pos = &position{
		which:     which,
		fromIndex: pointerTo(func(i int) C { return C(i) + offset }),
		fillIndices: func(out cpu.Values, ci []int32) {
			c := sparse.SliceOf[C](out)[:len(ci)]
			for p, j := range ci {
				c[p] = C(j) + offset
			}
		},
	}
	return op
}

// positionalOf returns the semiring of m and the positional op. first and second are the kernels of
// m with the operators first and second.
func positionalOf[C Number](op *innerBinary, first Semiring[C, bool, C], second Semiring[bool, C, C]) Semiring[bool, bool, C] {
	return Semiring[bool, bool, C]{in: positionalRing(op, first.in, second.in)}
}

//go:noinline
func positionalRing(op *innerBinary, first, second *innerRing) *innerRing {
	s := unbound(first.add, op)
	s.pos = &cpu.Positional{
		First: first.k, FirstFlip: first.flip, Second: second.k, SecondFlip: second.flip,
		FillIndices: op.pos.fillIndices,
	}
	return s
}

// newPositional is New for a positional op: its kernels call add as a closure.
func newPositional[A, B, C any](add *innerMonoid, op *position) *cpu.Positional {
	return &cpu.Positional{
		First:       fromClosures(add, func(x C, _ B) C { return x }, true, false, add.k.User),
		FirstFlip:   fromClosures(add, func(_ B, x C) C { return x }, false, true, add.k.User),
		Second:      fromClosures(add, func(_ A, y C) C { return y }, false, true, add.k.User),
		SecondFlip:  fromClosures(add, func(y C, _ A) C { return y }, true, false, add.k.User),
		FillIndices: op.fillIndices,
	}
}

func firsti[C Number](offset C) *innerBinary {
	return indexOp(PositionI, "firsti", "i", offset)
}

func firstj[C Number](offset C) *innerBinary {
	return indexOp(PositionK, "firstj", "k", offset)
}

func secondi[C Number](offset C) *innerBinary {
	return indexOp(PositionK, "secondi", "k", offset)
}

func secondj[C Number](offset C) *innerBinary {
	return indexOp(PositionJ, "secondj", "j", offset)
}

// AnyFirsti returns the row of the product plus offset.
func AnyFirsti[C Number](offset C) Semiring[bool, bool, C] {
	return positionalOf(firsti(offset), AnyFirst[C](), AnySecond[C]())
}

// AnyFirstj returns the summation index of any one term plus offset; it equals [AnySecondi].
func AnyFirstj[C Number](offset C) Semiring[bool, bool, C] {
	return positionalOf(firstj(offset), AnyFirst[C](), AnySecond[C]())
}

// AnySecondi returns the summation index of any one term plus offset: a parent in a breadth-first
// search.
func AnySecondi[C Number](offset C) Semiring[bool, bool, C] {
	return positionalOf(secondi(offset), AnyFirst[C](), AnySecond[C]())
}

// AnySecondj returns the column of the product plus offset.
func AnySecondj[C Number](offset C) Semiring[bool, bool, C] {
	return positionalOf(secondj(offset), AnyFirst[C](), AnySecond[C]())
}

// MinFirsti returns the row of the product plus offset.
func MinFirsti[C Number](offset C) Semiring[bool, bool, C] {
	return positionalOf(firsti(offset), MinFirst[C](), MinSecond[C]())
}

// MinFirstj returns the smallest summation index of the terms plus offset; it equals [MinSecondi].
func MinFirstj[C Number](offset C) Semiring[bool, bool, C] {
	return positionalOf(firstj(offset), MinFirst[C](), MinSecond[C]())
}

// MinSecondi returns the smallest summation index of the terms plus offset: a deterministic parent.
func MinSecondi[C Number](offset C) Semiring[bool, bool, C] {
	return positionalOf(secondi(offset), MinFirst[C](), MinSecond[C]())
}

// MinSecondj returns the column of the product plus offset.
func MinSecondj[C Number](offset C) Semiring[bool, bool, C] {
	return positionalOf(secondj(offset), MinFirst[C](), MinSecond[C]())
}

// MaxSecondi returns the largest summation index of the terms plus offset.
func MaxSecondi[C Number](offset C) Semiring[bool, bool, C] {
	return positionalOf(secondi(offset), MaxFirst[C](), MaxSecond[C]())
}

// MaxFirstj equals [MaxSecondi].
func MaxFirstj[C Number](offset C) Semiring[bool, bool, C] {
	return positionalOf(firstj(offset), MaxFirst[C](), MaxSecond[C]())
}
