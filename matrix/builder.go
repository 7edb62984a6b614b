package matrix

import (
	"cmp"
	"errors"
	"slices"

	"github.com/hiveblas/hiveblas/internal/parallel"
	"github.com/hiveblas/hiveblas/internal/sparse"
)

// Combiner is a binary operator on T that serves as an accumulator or combines duplicates.
// semiring.BinaryOp[T, T, T], semiring.Monoid[T] and [CombineFunc] are Combiners.
type Combiner[T any] interface {
	// Combine returns x ⊕ y. x precedes y.
	Combine(x, y T) T
}

// CombineFunc is a function as a Combiner.
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
// It stores a row, a column and a value per tuple in blocks that are never reallocated, so that a
// build needs at most about twice the memory of the tuples. A Builder belongs to one goroutine.
type Builder[T comparable] struct {
	m, n   int
	op     string
	blocks []sparse.Tuples[T]
	count  int64
	err    error

	unchecked []int                   // blocks whose indices Build checks, in parallel
	threads   int                     // the number of threads of Build; 0: all
	sorted    func(done, total int64) // receives how much Build has sorted; may be nil
}

const (
	builderFirstBlock = 1 << 8
	builderBlock      = 1 << 15
)

// NewBuilder returns a builder of an m×n matrix. Build returns the error of invalid dimensions.
func NewBuilder[T comparable](m, n int) *Builder[T] {
	return &Builder[T]{m: m, n: n, op: "Builder.Add", err: checkDims("matrix.NewBuilder", m, n)}
}

// adding names the method of errors; a zero builder is one of a 0×0 matrix.
func (b *Builder[T]) adding() string { return cmp.Or(b.op, "Builder.Add") }

// errNoBuilder is the error of a nil builder.
var errNoBuilder = &InvalidError{"Builder", "the builder is nil; make it with matrix.NewBuilder or matrix.NewVectorBuilder"}

// Add appends the entry v at row i, column j. For an index outside the matrix, Build returns an
// *IndexError, which describes the first such index.
func (b *Builder[T]) Add(i, j int, v T) {
	if b == nil { // Build returns the error
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

// SetThreads limits the threads of Build; 0 means all. It returns the builder.
func (b *Builder[T]) SetThreads(n int) *Builder[T] {
	if b != nil {
		b.threads = max(n, 0)
	}
	return b
}

func (b *Builder[T]) outside(i, j int) {
	if b.checkBlocks(); b.err != nil {
		return
	}
	if uint(i) >= uint(b.m) {
		b.err = &IndexError{b.adding(), "row", int64(i), int64(b.m)}
	} else {
		b.err = &IndexError{b.adding(), "column", int64(j), int64(b.n)}
	}
}

// AddBlock appends tuples without copying the slices, which the builder then owns. Readers use it
// because it is fast. Build checks the indices.
func (b *Builder[T]) AddBlock(rows, cols []int32, vals []T) {
	if b == nil {
		return
	}
	if len(rows) != len(cols) || len(rows) != len(vals) {
		if b.err == nil {
			b.err = &InvalidError{"Builder.AddBlock", "rows, columns and values differ in number"}
		}
		return
	}
	b.count += int64(len(rows))
	for len(rows) > 0 { // threads share the pieces
		k := len(rows)
		if k >= 2*builderBlock {
			k = builderBlock
		}
		b.unchecked = append(b.unchecked, len(b.blocks))
		b.blocks = append(b.blocks, sparse.Tuples[T]{Row: rows[:k:k], Col: cols[:k], Val: vals[:k]})
		rows, cols, vals = rows[k:], cols[k:], vals[k:]
	}
}

// addTuples is Add for each tuple, of row 0 if rows is nil. Long lists are copied in parallel.
func (b *Builder[T]) addTuples(rows, cols []int, vals []T) {
	if b.err != nil { // Build returns it
		return
	}
	var zeros []int
	if rows == nil {
		zeros = make([]int, min(len(cols), builderBlock))
	}
	part := func(lo, hi int) []int { // at most a block
		if rows == nil {
			return zeros[:hi-lo]
		}
		return rows[lo:hi]
	}
	if len(cols) <= builderBlock {
		for p, i := range part(0, len(cols)) {
			b.Add(i, cols[p], vals[p])
		}
		return
	}
	pieces := (len(cols)-1)/builderBlock + 1
	blocks := make([]sparse.Tuples[T], pieces)
	bad := make([]int, pieces) // the first bad tuple of a piece, or −1
	_ = parallel.Range(nil, b.threads, len(cols), builderBlock, func(_, lo, hi int) {
		k := lo / builderBlock
		bad[k] = -1
		t := sparse.Tuples[T]{Row: make([]int32, hi-lo), Col: make([]int32, hi-lo), Val: slices.Clone(vals[lo:hi])}
		for p, i := range part(lo, hi) {
			j := cols[lo+p]
			if uint(i) >= uint(b.m) || uint(j) >= uint(b.n) {
				bad[k] = lo + p
				return
			}
			t.Row[p], t.Col[p] = int32(i), int32(j)
		}
		blocks[k] = t
	})
	for _, p := range bad {
		if p >= 0 {
			b.outside(part(p, p+1)[0], cols[p])
			return
		}
	}
	b.blocks = append(b.blocks, blocks...)
	b.count += int64(len(cols))
}

// checkBlocks checks the indices of the blocks of AddBlock.
func (b *Builder[T]) checkBlocks() {
	list := b.unchecked
	if b.unchecked = nil; b.err != nil {
		return
	}
	bad := make([]int, len(list)) // the first bad tuple of a block, or −1
	_ = parallel.Pieces(nil, b.threads, len(list), func(_, k int) {
		bad[k] = -1
		t := &b.blocks[list[k]]
		cols := t.Col[:len(t.Row)]
		for p, i := range t.Row {
			if uint(i) >= uint(b.m) || uint(cols[p]) >= uint(b.n) {
				bad[k] = p
				return
			}
		}
	})
	for k, p := range bad {
		if p >= 0 {
			t := &b.blocks[list[k]]
			b.outside(int(t.Row[p]), int(t.Col[p]))
			return
		}
	}
}

// Len returns the number of tuples added so far.
func (b *Builder[T]) Len() int64 {
	if b == nil {
		return 0
	}
	return b.count
}

// Build returns the matrix and empties the builder. dup combines duplicates from left to right in
// the order of addition; with a nil dup, the first duplicate is a *DuplicateError. Build takes
// O(tuples + m + n) time: two counting sorts.
func (b *Builder[T]) Build(dup Combiner[T]) (*Matrix[T], error) {
	st, err := b.build(dup)
	if err != nil {
		return nil, err
	}
	return fromStore(st), nil
}

func (b *Builder[T]) build(dup Combiner[T]) (*sparse.Store[T], error) {
	if b == nil {
		return nil, errNoBuilder
	}
	if b.checkBlocks(); b.err != nil {
		return nil, b.err
	}
	f, err := combining(dup)
	if err != nil {
		return nil, err
	}
	blocks := b.blocks
	b.blocks, b.count = nil, 0
	st, err := sparse.Build(b.m, b.n, blocks, f, b.threads, b.sorted)
	var d *sparse.DuplicateError
	if errors.As(err, &d) {
		return nil, &DuplicateError{d.Row, d.Col}
	}
	return st, err
}

// combining returns the function of dup, or nil for a nil dup. A dup that cannot be called is an
// error.
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
	return nil, &InvalidError{"Builder.Build", "the operator that combines duplicates is the zero value; make it with a constructor of package semiring or as a matrix.CombineFunc, or pass nil to reject duplicates"}
}

// VectorBuilder collects (index, value) pairs in any order and makes a vector of them.
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

// Build returns the vector and empties the builder; see [Builder.Build].
func (b *VectorBuilder[T]) Build(dup Combiner[T]) (*Vector[T], error) {
	if b == nil {
		return nil, errNoBuilder
	}
	st, err := b.b.build(dup)
	if err != nil {
		return nil, err
	}
	return vectorFromStore(sparse.ToCSR(st)), nil
}
