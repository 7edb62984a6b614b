package semiring

import (
	"unsafe"

	"github.com/hiveblas/hiveblas/internal/cpu"
	"github.com/hiveblas/hiveblas/internal/sparse"
)

// indexed is an operator of values and positions.
type indexed struct {
	fn    unsafe.Pointer // func(x A, y B, i, k, j int) C
	under func(add *innerMonoid) *cpu.Indexed
}

// NewIndexBinary returns the index-binary operator computed by f, as GxB_IndexBinaryOp_new of the
// GraphBLAS C API 2.1: for the product of A(i,k) and B(k,j) it takes both values and the indices i,
// k and j. In MxV, j is 0; in VxM, i is 0. cuda is the same function as a CUDA C expression in x,
// y, i, k and j; without it the operator runs on the CPU only:
//
//	// the least weight of two edges, and the vertex between them
//	via := semiring.NewIndexBinary("via", func(x, y float64, _, k, _ int) hop {
//		return hop{x + y, int32(k)}
//	}, "C{x + y, k}")
//
// [New] makes semirings of it, for MxM, MxV and VxM; it has no value without positions, so it is
// not Valid and all else refuses it. Operations call f from several goroutines at once, so it must
// be safe for concurrent use. On the host, a product copies its operands with the positions beside
// the values: 8 bytes an entry and O(entries) time more than an operator of values. A nil f gives
// an operator that New makes an invalid semiring of.
func NewIndexBinary[A, B, C any](name string, f func(x A, y B, i, k, j int) C, cuda ...string) BinaryOp[A, B, C] {
	if f == nil {
		return BinaryOp[A, B, C]{in: operatorOf(nil, name, textOf(cuda), nil)}
	}
	op := NewBinary(name, func(A, B) (z C) { return z }, cuda...)
	op.in.at(&position{which: PositionsAll})
	op.in.ind = &indexed{fn: pointerTo(f), under: func(add *innerMonoid) *cpu.Indexed {
		mul := func(x cpu.Placed[A], y cpu.Placed[B]) C { return f(x.X, y.X, int(x.I), int(x.J), int(y.J)) }
		flipped := func(y cpu.Placed[B], x cpu.Placed[A]) C { return mul(x, y) }
		return &cpu.Indexed{
			Semiring: fromClosures(add, mul, true, true, true), Flipped: fromClosures(add, flipped, true, true, true),
			First: placesOf[A](), Second: placesOf[B](),
		}
	}}
	return op
}

// ApplyAt returns the product of A(i,k) = x and B(k,j) = y: the result of an index-binary operator,
// the index of a positional one, and x op y of every other.
func (op BinaryOp[A, B, C]) ApplyAt(x A, y B, i, k, j int) (z C) {
	switch op.in.position() {
	case NotPositional:
		return op.Apply(x, y)
	case PositionsAll:
		return funcOf[func(A, B, int, int, int) C](op.in.ind.fn)(x, y, i, k, j)
	case PositionI:
		j = i
	case PositionK:
		j = k
	}
	return funcOf[func(int) C](op.in.pos.fromIndex)(j)
}

// placesOf returns how values of T are put beside their positions.
func placesOf[T any]() cpu.Places {
	return cpu.Places{Type: sparse.MovedType[cpu.Placed[T]](), Put: func(out, v cpu.Values, i int32, ci []int32, swap bool) {
		to, x := sparse.SliceOf[cpu.Placed[T]](out), sparse.SliceOf[T](v)
		for p, j := range ci {
			if to[p] = (cpu.Placed[T]{X: x[p], I: i, J: j}); swap {
				to[p].I, to[p].J = j, i
			}
		}
	}}
}
