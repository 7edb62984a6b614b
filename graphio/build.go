package graphio

import (
	"errors"

	"github.com/hiveblas/hiveblas/internal/rep"
	"github.com/hiveblas/hiveblas/internal/sparse"
	"github.com/hiveblas/hiveblas/matrix"
)

// inside returns a new matrix with the given storage, whose invariants must hold.
func inside(st *sparse.Store) rep.Matrix {
	m := matrix.NewInside(st.Type, 0, 0)
	m.SetStore(st)
	return m
}

// rowsOf returns the entries of a matrix by rows, or its error.
func rowsOf(a rep.Matrix) (*sparse.Store, error) {
	if err := a.Err(); err != nil {
		return nil, err
	}
	st := a.Rows()
	return st, a.Err() // of a device that cannot be read
}

// Sizes of blocks of tuples that are collected one at a time.
const (
	firstBlock = 1 << 8
	fullBlock  = 1 << 15
)

// tuples are edges in the order of a file, whose values are words.
type tuples struct {
	row, col []int32
	val      []uint64
}

// room returns tuples without entries, with room for n.
func room(n int) tuples {
	return tuples{make([]int32, 0, n), make([]int32, 0, n), make([]uint64, 0, n)}
}

// add appends an edge.
func (t *tuples) add(i, j int32, v uint64) {
	t.row, t.col, t.val = append(t.row, i), append(t.col, j), append(t.val, v)
}

// block returns tuples with values of the element type, which share memory with t.
func (e element) block(t tuples) sparse.Block {
	return sparse.Block{Row: t.row, Col: t.col, Val: e.pack(t.val)}
}

// toLower moves the tuples above the diagonal to their mirror positions.
func toLower(t sparse.Block) {
	for p, i := range t.Row {
		t.Row[p], t.Col[p] = max(i, t.Col[p]), min(i, t.Col[p])
	}
}

// builder makes the storage of an m×n matrix from blocks of tuples, whose indices are within it.
type builder struct {
	t      *sparse.Type
	m, n   int
	blocks []sparse.Block
}

// add appends tuples, which the builder then owns.
func (b *builder) add(t sparse.Block) {
	for len(t.Row) > 0 { // threads share the pieces
		n := len(t.Row)
		k := n
		if k >= 2*fullBlock {
			k = fullBlock
		}
		b.blocks = append(b.blocks, sparse.Block{Row: t.Row[:k:k], Col: t.Col[:k], Val: b.t.Slice(t.Val, 0, int64(k))})
		t = sparse.Block{Row: t.Row[k:], Col: t.Col[k:], Val: b.t.Slice(t.Val, int64(k), int64(n))}
	}
}

// build empties the builder. Without dup a repeated position is a *matrix.DuplicateError.
func (b *builder) build(o *readOptions, dup sparse.Combine) (*sparse.Store, error) {
	blocks := b.blocks
	b.blocks = nil // Build frees them as it reads them
	st, err := sparse.Build(b.t, b.m, b.n, blocks, dup, o.threads, o.sorted())
	var d *sparse.DuplicateError
	if errors.As(err, &d) {
		return nil, &matrix.DuplicateError{Row: d.Row, Col: d.Col}
	}
	return st, err
}
