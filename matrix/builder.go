package matrix

import (
	"cmp"
	"errors"
	"fmt"
	"reflect"
	"sync/atomic"
	"unsafe"

	"github.com/hiveblas/hiveblas/internal/fresh"
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

// function returns f as a function, and whether it can be called.
func (f CombineFunc[T]) function() (any, bool) { return (func(x, y T) T)(f), f != nil }

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
	err    error // of the construction: every Build returns it
	bad    error // the first error of Add and AddBlock since the last Build, which returns it once

	unchecked []int                   // blocks with indices that Build checks, in parallel
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

// Add appends the entry v at row i, column j. A tuple with an index outside the matrix is left out,
// and the next Build returns an *IndexError, which describes the first such index.
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
	if b.checkBlocks(); b.bad != nil {
		return
	}
	if uint(i) >= uint(b.m) {
		b.bad = &IndexError{b.adding(), "row", int64(i), int64(b.m)}
	} else {
		b.bad = &IndexError{b.adding(), "column", int64(j), int64(b.n)}
	}
}

// AddBlock appends tuples without copying the slices, which the builder then owns. Readers use it
// because it is fast. Build checks the indices, and leaves out tuples as Add does.
func (b *Builder[T]) AddBlock(rows, cols []int32, vals []T) {
	if b == nil {
		return
	}
	if len(rows) != len(cols) || len(rows) != len(vals) {
		if b.checkBlocks(); b.bad == nil {
			b.bad = &InvalidError{"Builder.AddBlock", fmt.Sprintf("%d rows, %d columns and %d values given, want the same number", len(rows), len(cols), len(vals))}
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

// An Index is an integer type of rows and columns.
type Index interface {
	~int | ~int32 | ~int64 | ~uint32
}

// An indexList holds indices of a caller, of any Index type.
type indexList struct {
	v    sparse.Values
	size uintptr
	sign bool // a signed type
}

func indexListOf[I Index](x []I) indexList {
	var minus I
	minus--
	return indexList{sparse.ValuesOf(x), unsafe.Sizeof(minus), minus < 0}
}

// narrowed returns copies of the rows and columns of the tuples of an m×n matrix, or the error of
// the first one that is outside. No rows is row 0 of each.
func narrowed(op string, m, n int, rows, cols indexList) (r, c []int32, err error) {
	vector := rows.v.None()
	badRow, badCol := -1, -1
	if vector {
		r = make([]int32, cols.v.Len())
	} else {
		r, badRow = rows.narrow(m)
	}
	c, badCol = cols.narrow(n)
	switch {
	case badRow >= 0 && (badCol < 0 || badRow <= badCol):
		return nil, nil, &IndexError{op, "row", rows.at(badRow), int64(m)}
	case badCol >= 0 && vector:
		return nil, nil, &IndexError{op, "index", cols.at(badCol), int64(n)}
	case badCol >= 0:
		return nil, nil, &IndexError{op, "column", cols.at(badCol), int64(n)}
	}
	return r, c, nil
}

// narrow copies a list of indices. bad is the first place with an index that is not less than n, or
// −1.
func (x indexList) narrow(n int) (out []int32, bad int) {
	switch {
	case x.size == 8:
		return narrow(sparse.SliceOf[int64](x.v), n)
	case x.sign:
		return narrow(sparse.SliceOf[int32](x.v), n)
	}
	return narrow(sparse.SliceOf[uint32](x.v), n)
}

func (x indexList) at(p int) int64 {
	switch {
	case x.size == 8:
		return sparse.SliceOf[int64](x.v)[p]
	case x.sign:
		return int64(sparse.SliceOf[int32](x.v)[p])
	}
	return int64(sparse.SliceOf[uint32](x.v)[p])
}

func narrow[I int64 | int32 | uint32](list []I, n int) (out []int32, bad int) {
	out = fresh.Make[int32](int64(len(list)))
	var first atomic.Int64
	first.Store(int64(len(list)))
	_ = parallel.Range(nil, 0, len(list), builderBlock, func(_, lo, hi int) {
		to := out[lo:hi]
		for p, i := range list[lo:hi] {
			if uint64(i) >= uint64(n) {
				parallel.Lower(&first, int64(lo+p))
				return
			}
			to[p] = int32(i)
		}
	})
	if p := int(first.Load()); p < len(list) {
		return nil, p
	}
	return out, -1
}

// fromTuples makes an m×n store of tuples, or a vector if there are no rows. It copies the values.
func fromTuples(t *sparse.Type, op string, m, n int, rows, cols indexList, vals sparse.Values, dup sparse.Combine) (*sparse.Store, error) {
	vector := rows.v.None()
	switch k := cols.v.Len(); {
	case vector && k != vals.Len():
		return nil, &InvalidError{op, fmt.Sprintf("%d indices and %d values given, want the same number", k, vals.Len())}
	case !vector && (rows.v.Len() != k || k != vals.Len()):
		return nil, &InvalidError{op, fmt.Sprintf("%d rows, %d columns and %d values given, want the same number", rows.v.Len(), k, vals.Len())}
	case vector && (n < 0 || n > MaxDim):
		return nil, &SizeError{op, "size", int64(n), MaxDim}
	}
	if err := checkDims(op, m, n); err != nil {
		return nil, err
	}
	r, c, err := narrowed(op, m, n, rows, cols)
	if err != nil {
		return nil, err
	}
	vals = t.Clone(vals)
	if vals.None() {
		vals = t.Zeroed(0)
	}
	var blocks []sparse.Block
	for lo := 0; lo < len(r); { // threads share the pieces
		hi := len(r)
		if hi-lo >= 2*builderBlock {
			hi = lo + builderBlock
		}
		blocks = append(blocks, sparse.Block{Row: r[lo:hi:hi], Col: c[lo:hi], Val: t.Slice(vals, int64(lo), int64(hi))})
		lo = hi
	}
	st, err := sparse.Build(t, m, n, blocks, dup, 0, nil)
	if d, ok := errors.AsType[*sparse.DuplicateError](err); ok {
		return nil, &DuplicateError{d.Row, d.Col}
	}
	if err == nil && vector {
		st = st.ToCSR()
	}
	return st, err
}

// combiningOf returns dup as a loop; see combining.
func combiningOf[T any](dup Combiner[T]) (sparse.Combine, error) {
	f, err := combining(dup)
	return sparse.Combining(f), err
}

// checkBlocks checks the indices of the blocks of AddBlock, and removes the tuples outside the
// matrix.
func (b *Builder[T]) checkBlocks() {
	list := b.unchecked
	b.unchecked = nil
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
		if p < 0 {
			continue
		}
		t := &b.blocks[list[k]]
		b.outside(int(t.Row[p]), int(t.Col[p]))
		kept := p
		for ; p < len(t.Row); p++ {
			if i, j := t.Row[p], t.Col[p]; uint(i) < uint(b.m) && uint(j) < uint(b.n) {
				t.Row[kept], t.Col[kept], t.Val[kept] = i, j, t.Val[p]
				kept++
			}
		}
		b.count -= int64(len(t.Row) - kept)
		t.Row, t.Col, t.Val = t.Row[:kept:kept], t.Col[:kept], t.Val[:kept]
	}
}

// ready checks the tuples. It returns the error of the construction or, once, the first error of
// Add and AddBlock.
func (b *Builder[T]) ready() error {
	if b.err != nil {
		return b.err
	}
	b.checkBlocks()
	err := b.bad
	b.bad = nil
	return err
}

// Len returns the number of tuples added so far.
func (b *Builder[T]) Len() int64 {
	if b == nil {
		return 0
	}
	return b.count
}

// Build returns the matrix and empties the builder. dup combines duplicates from left to right in
// the order of addition. Build returns a *DuplicateError if there is a duplicate and dup is nil.
// Build takes O(tuples + m + n) time: two counting sorts.
//
// A Build that returns an error keeps the tuples: after a *DuplicateError, Build with an operator
// returns their matrix. It returns an error of Add or AddBlock once; the next Build makes the
// matrix of the tuples that are within it.
func (b *Builder[T]) Build(dup Combiner[T]) (*Matrix[T], error) {
	st, err := b.build(dup)
	if err != nil {
		return nil, err
	}
	return fromStore(st), nil
}

func (b *Builder[T]) build(dup Combiner[T]) (*sparse.Typed[T], error) {
	if b == nil {
		return nil, errNoBuilder
	}
	if err := b.ready(); err != nil {
		return nil, err
	}
	f, err := combining(dup)
	if err != nil {
		return nil, err
	}
	blocks := b.blocks
	b.blocks = nil // Build frees them as it reads them
	st, err := sparse.Built(b.m, b.n, blocks, f, b.threads, b.sorted)
	var d *sparse.DuplicateError
	if errors.As(err, &d) {
		b.blocks = []sparse.Tuples[T]{sparse.TypedBlock[T](d.Tuples)}
		return nil, &DuplicateError{d.Row, d.Col}
	}
	b.count = 0
	return st, err
}

// combining returns the function of dup, or nil for a nil dup. A dup that cannot be called is an
// error.
func combining[T any](dup Combiner[T]) (func(x, y T) T, error) {
	if dup == nil {
		return nil, nil
	}
	f, err := called(dup)
	if err != nil {
		return nil, err
	}
	if op, ok := f.(func(x, y T) T); ok {
		return op, nil
	}
	return dup.Combine, nil
}

// called returns the function of a CombineFunc, nil of another operator. It is not generic:
// combining would name CombineFunc[T], and the compiler compiles its methods for each T. A type
// that embeds a CombineFunc may have its own Combine.
func called(dup any) (f any, err error) {
	valid := true
	if c, ok := dup.(interface{ function() (any, bool) }); ok && reflect.TypeOf(dup).Kind() == reflect.Func {
		f, valid = c.function()
	} else if v, ok := dup.(interface{ Valid() bool }); ok {
		valid = v.Valid()
	}
	if valid {
		return f, nil
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
