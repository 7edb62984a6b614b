package comm

import (
	"context"
	"errors"
	"fmt"
)

// Op is an operator of a reduction.
type Op uint8

// The operators.
const (
	// Sum and Prod are + and ·; integers wrap around.
	Sum Op = iota
	Prod
	// Min and Max ignore NaN, as semiring.Min does: min(x, NaN) is x.
	Min
	Max
	// And, Or and Xor are bitwise, for integers alone.
	And
	Or
	Xor
	// SumAnyOrder is Sum in the order of the library below, which may depend on the number of
	// ranks, the length and the machine. All ranks receive the same bits.
	SumAnyOrder
	ops // their number
)

var opNames = [ops]string{"Sum", "Prod", "Min", "Max", "And", "Or", "Xor", "SumAnyOrder"}

// Ops returns all operators.
func Ops() []Op {
	out := make([]Op, ops)
	for i := range out {
		out[i] = Op(i)
	}
	return out
}

// String names the operator, such as "Sum".
func (o Op) String() string {
	if o >= ops {
		return fmt.Sprintf("unknown operator %d", uint8(o))
	}
	return opNames[o]
}

// Has reports whether the operator has a meaning for elements of type t.
func (o Op) Has(t DType) bool {
	return o < ops && t < dtypes && !(t.Float() && (o == And || o == Or || o == Xor))
}

// Exact reports whether every order of operands gives the same bits.
func (o Op) Exact(t DType) bool { return o == SumAnyOrder || !t.Float() }

// FoldHost sets dst[i] to srcs[0][i] ⊕ srcs[1][i] ⊕ …, from the left. All are buffers of the host
// of one type and length. dst may be one of srcs.
func FoldHost(dst Buffer, srcs []Buffer, op Op) error {
	if len(srcs) == 0 {
		return &ArgumentError{"FoldHost", "srcs", "is empty", "give at least one operand"}
	}
	if !op.Has(dst.dtype) {
		return fmt.Errorf("FoldHost: %v of %v: %w", op, dst.dtype, ErrNoOp)
	}
	for _, s := range append([]Buffer{dst}, srcs...) {
		if s.dtype != dst.dtype || s.n != dst.n || !s.OnHost() {
			return &ArgumentError{"FoldHost", "srcs", "differ in type, length or place", "give buffers of the host like dst"}
		}
	}
	switch dst.dtype {
	case Uint8:
		foldIntegers[uint8](dst, srcs, op)
	case Int8:
		foldIntegers[int8](dst, srcs, op)
	case Int16:
		foldIntegers[int16](dst, srcs, op)
	case Uint16:
		foldIntegers[uint16](dst, srcs, op)
	case Int32:
		foldIntegers[int32](dst, srcs, op)
	case Uint32:
		foldIntegers[uint32](dst, srcs, op)
	case Int64:
		foldIntegers[int64](dst, srcs, op)
	case Uint64:
		foldIntegers[uint64](dst, srcs, op)
	case Float32:
		foldNumbers[float32](dst, srcs, op)
	case Float64:
		foldNumbers[float64](dst, srcs, op)
	}
	return nil
}

type integer interface {
	int8 | uint8 | int16 | uint16 | int32 | uint32 | int64 | uint64
}

func foldIntegers[T integer](dst Buffer, srcs []Buffer, op Op) {
	switch op {
	case And:
		fold(dst, srcs, func(a, b T) T { return a & b })
	case Or:
		fold(dst, srcs, func(a, b T) T { return a | b })
	case Xor:
		fold(dst, srcs, func(a, b T) T { return a ^ b })
	default:
		foldNumbers[T](dst, srcs, op)
	}
}

func foldNumbers[T integer | float32 | float64](dst Buffer, srcs []Buffer, op Op) {
	switch op {
	case Sum, SumAnyOrder:
		fold(dst, srcs, func(a, b T) T { return a + b })
	case Prod:
		fold(dst, srcs, func(a, b T) T { return a * b })
	case Min:
		fold(dst, srcs, func(a, b T) T {
			if b < a || a != a {
				return b
			}
			return a
		})
	case Max:
		fold(dst, srcs, func(a, b T) T {
			if b > a || a != a {
				return b
			}
			return a
		})
	}
}

// foldBlock is the number of elements folded at a time, in a buffer apart from dst, which may be
// one of the operands.
const foldBlock = 1024

func fold[T any](dst Buffer, srcs []Buffer, f func(a, b T) T) {
	to := elements[T](dst)
	var block [foldBlock]T
	for from := 0; from < len(to); from += foldBlock {
		end := min(from+foldBlock, len(to))
		acc := block[:end-from]
		copy(acc, elements[T](srcs[0])[from:end])
		for _, s := range srcs[1:] {
			for i, x := range elements[T](s)[from:end] {
				acc[i] = f(acc[i], x)
			}
		}
		copy(to[from:end], acc)
	}
}

// Folder combines buffers of one place; see AllReduce.
type Folder interface {
	// Scratch returns n elements of type t, where Fold can read them; the contents are undefined.
	// The buffer is used until the next call of Scratch.
	Scratch(t DType, n int) (Buffer, error)
	// Fold sets dst[i] to srcs[0][i] ⊕ srcs[1][i] ⊕ …, from the left, and returns when it is done.
	// dst may be one of srcs.
	Fold(dst Buffer, srcs []Buffer, op Op) error
}

// hostFolder is the Folder of host memory.
type hostFolder struct{}

func (hostFolder) Scratch(t DType, n int) (Buffer, error) {
	if t.Size() == 0 || n <= 0 {
		return Buffer{dtype: t}, nil
	}
	words := make([]uint64, (n*t.Size()+7)/8)
	b := Host(words)
	return Buffer{dtype: t, n: n, host: b.host}, nil
}

func (hostFolder) Fold(dst Buffer, srcs []Buffer, op Op) error { return FoldHost(dst, srcs, op) }

// AllReduce is Comm.Reduce without scatter for every operator and type for which the operator has a
// meaning: where the group returns ErrNoOp, the ranks exchange pieces of the operands (AllToAllV),
// fold them in the order of ranks, and gather the result (AllGatherV). The volume is the same.
// folder folds buffers on devices; nil folds buffers of the host.
func AllReduce(ctx context.Context, c Comm, dst, src Buffer, op Op, folder Folder) error {
	if c == nil {
		return &ArgumentError{"AllReduce", "c", "is nil", "make a group, by comm.Local, or by procs.Join of package comm/procs"}
	}
	if !op.Has(src.dtype) {
		return fmt.Errorf("AllReduce: %v of %v: %w", op, src.dtype, ErrNoOp)
	}
	err := c.Reduce(ctx, dst, src, op, false)
	if !errors.Is(err, ErrNoOp) {
		return err
	}
	if folder == nil {
		folder = hostFolder{}
	}
	p, rank, n := c.Size(), c.Rank(), src.n
	send, recv := make([]int, p), make([]int, p)
	from, to := piece(n, rank, p)
	for r := range send {
		a, b := piece(n, r, p)
		send[r], recv[r] = b-a, to-from
	}
	all, err := folder.Scratch(src.dtype, p*(to-from))
	if err == nil {
		err = c.AllToAllV(ctx, all, recv, src, send)
	}
	if err != nil {
		return failed(c, err)
	}
	parts := make([]Buffer, p)
	for r := range parts {
		parts[r] = all.Slice(r*(to-from), (r+1)*(to-from))
	}
	if err := folder.Fold(dst.Slice(from, to), parts, op); err != nil {
		return failed(c, err)
	}
	return c.AllGatherV(ctx, dst, send, dst.Slice(from, to))
}

// failed ends the group with an error of one rank outside of a collective.
func failed(c Comm, err error) error {
	var r *RankError
	if errors.As(err, &r) {
		return err
	}
	c.Abort(err)
	return c.Err()
}

// FoldBlocks returns the fold of the values of all ranks, v₀ ⊕ v₁ ⊕ …, from the left, in the order
// of ranks and of each rank's own values; counts[r] is the number of rank r's values. If values
// belong to fixed blocks of the whole problem, such as 4096 rows each, the result has the same bits
// for every number of ranks. empty is the result without values. The buffers are of the host.
// Takes one AllGatherV of all values.
func FoldBlocks[T Element](ctx context.Context, c Comm, own []T, counts []int, empty T, f func(a, b T) T) (T, error) {
	if c == nil || f == nil {
		return empty, &ArgumentError{"FoldBlocks", "c or f", "is nil", "give a group and a function"}
	}
	n := int64(0)
	for _, k := range counts {
		n += int64(max(k, 0))
	}
	all := make([]T, n)
	if err := c.AllGatherV(ctx, Host(all), counts, Host(own)); err != nil {
		return empty, err
	}
	if n == 0 {
		return empty, nil
	}
	acc := all[0]
	for _, x := range all[1:] {
		acc = f(acc, x)
	}
	return acc, nil
}
