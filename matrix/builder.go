package matrix

import (
	"errors"

	"github.com/hiveblas/hiveblas/internal/sparse"
)

// Combiner is a binary operator on T, as an accumulator or to combine
// duplicates: semiring.BinaryOp[T, T, T] and semiring.Monoid[T] are Combiners,
// and so is a [CombineFunc].
type Combiner[T any] interface {
	// Combine returns x ⊕ y, where x came first.
	Combine(x, y T) T
}

// CombineFunc makes a function a Combiner.
type CombineFunc[T any] func(x, y T) T

// Combine returns f(x, y), the zero value if f is nil.
func (f CombineFunc[T]) Combine(x, y T) (z T) {
	if f == nil {
		return z
	}
	return f(x, y)
}

// Builder collects tuples in any order and makes a matrix of them. The zero
// value is not usable; see [NewBuilder].
//
// It holds one row, one column and one value per tuple in blocks, without
// doubling, so that building costs at most about twice the memory of the
// tuples. A Builder belongs to one goroutine.
type Builder[T comparable] struct {
	m, n   int
	op     string
	blocks []sparse.Tuples[T]
	count  int64
	err    error

	threads int // of Build; 0: all
}

const (
	builderFirstBlock = 1 << 8
	builderBlock      = 1 << 15
)

// NewBuilder returns a builder of an m×n matrix. Impossible dimensions are
// reported by Build.
func NewBuilder[T comparable](m, n int) *Builder[T] {
	return &Builder[T]{m: m, n: n, op: "Builder.Add", err: checkDims("matrix.NewBuilder", m, n)}
}

// errNoBuilder is the error of a nil builder.
var errNoBuilder = &InvalidError{"Builder", "the builder is nil; make it with matrix.NewBuilder or matrix.NewVectorBuilder"}

// Add appends the entry v at row i, column j. An index outside the matrix is
// an *IndexError that Build returns; the first one counts.
func (b *Builder[T]) Add(i, j int, v T) {
	if b == nil { // Build says so
		return
	}
	if uint(i) >= uint(b.m) || uint(j) >= uint(b.n) {
		b.outside(i, j)
		return
	}
	k := len(b.blocks) - 1
	if k < 0 || len(b.blocks[k].Row) == cap(b.blocks[k].Row) {
		k = b.grow()
	}
	t := &b.blocks[k]
	t.Row = append(t.Row, int32(i))
	t.Col = append(t.Col, int32(j))
	t.Val = append(t.Val, v)
	b.count++
}

func (b *Builder[T]) grow() int {
	size := builderBlock
	if len(b.blocks) == 0 {
		size = builderFirstBlock
	}
	b.blocks = append(b.blocks, sparse.Tuples[T]{
		Row: make([]int32, 0, size), Col: make([]int32, 0, size), Val: make([]T, 0, size)})
	return len(b.blocks) - 1
}

func (b *Builder[T]) outside(i, j int) {
	if b.err != nil {
		return
	}
	if uint(i) >= uint(b.m) {
		b.err = &IndexError{b.op, "row", int64(i), int64(b.m)}
	} else {
		b.err = &IndexError{b.op, "column", int64(j), int64(b.n)}
	}
}

// AddBlock appends tuples whose slices the builder owns from then on: the
// quick way for readers. Indices are checked as by Add.
func (b *Builder[T]) AddBlock(rows, cols []int32, vals []T) {
	if b == nil {
		return
	}
	if len(rows) != len(cols) || len(rows) != len(vals) {
		if b.err == nil {
			b.err = &InvalidError{"Builder.AddBlock", "want as many rows as columns and values"}
		}
		return
	}
	for p, i := range rows {
		if uint(i) >= uint(b.m) || uint(cols[p]) >= uint(b.n) {
			b.outside(int(i), int(cols[p]))
			return
		}
	}
	b.blocks = append(b.blocks, sparse.Tuples[T]{Row: rows[:len(rows):len(rows)], Col: cols, Val: vals})
	b.count += int64(len(rows))
}

// Len returns the number of tuples added so far.
func (b *Builder[T]) Len() int64 {
	if b == nil {
		return 0
	}
	return b.count
}

// Build makes the matrix and empties the builder. Duplicates are combined by
// dup, left to right in the order they were added; a nil dup makes the first
// a *DuplicateError. O(tuples + m + n): two counting sorts.
func (b *Builder[T]) Build(dup Combiner[T]) (*Matrix[T], error) {
	st, err := b.build(dup)
	if err != nil {
		return nil, err
	}
	return FromStore(st), nil
}

func (b *Builder[T]) build(dup Combiner[T]) (*sparse.Store[T], error) {
	if b == nil {
		return nil, errNoBuilder
	}
	if b.err != nil {
		return nil, b.err
	}
	f, err := combining(dup)
	if err != nil {
		return nil, err
	}
	blocks := b.blocks
	b.blocks, b.count = nil, 0
	st, err := sparse.Build(b.m, b.n, blocks, f, b.threads)
	var d *sparse.DuplicateError
	if errors.As(err, &d) {
		return nil, &DuplicateError{d.Row, d.Col}
	}
	return st, err
}

// combining returns the function of dup, nil for none; a dup that cannot be
// called is an error.
func combining[T any](dup Combiner[T]) (func(x, y T) T, error) {
	switch d := dup.(type) {
	case nil:
		return nil, nil
	case CombineFunc[T]:
		if d != nil {
			return d, nil
		}
	case interface{ Valid() bool }:
		if d.Valid() {
			return dup.Combine, nil
		}
	default:
		return dup.Combine, nil
	}
	return nil, &InvalidError{"Builder.Build", "the operator that combines duplicates is the zero value; make it with a constructor of package semiring or as a matrix.CombineFunc, or pass nil to refuse duplicates"}
}

// VectorBuilder collects (index, value) pairs in any order and makes a vector
// of them.
type VectorBuilder[T comparable] struct{ b Builder[T] }

// NewVectorBuilder returns a builder of a vector of n positions.
func NewVectorBuilder[T comparable](n int) *VectorBuilder[T] {
	b := Builder[T]{m: 1, n: n, op: "VectorBuilder.Add"}
	if n < 0 || n > MaxDim {
		b.err = &SizeError{"matrix.NewVectorBuilder", "size", int64(n), MaxDim}
	}
	return &VectorBuilder[T]{b}
}

// Add appends the entry x at position i; see [Builder.Add].
func (b *VectorBuilder[T]) Add(i int, x T) {
	if b != nil {
		b.b.Add(0, i, x)
	}
}

// Build makes the vector and empties the builder; see [Builder.Build].
func (b *VectorBuilder[T]) Build(dup Combiner[T]) (*Vector[T], error) {
	if b == nil {
		return nil, errNoBuilder
	}
	st, err := b.b.build(dup)
	if err != nil {
		return nil, err
	}
	return VectorFromStore(sparse.ToCSR(st)), nil
}
