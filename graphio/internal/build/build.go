// Package build makes matrices of the edges that readers find: on one machine, or on a group where
// each rank reads a part of a file.
package build

import (
	"errors"

	"github.com/hiveblas/hiveblas/graphio/internal/core"
	"github.com/hiveblas/hiveblas/internal/sparse"
	"github.com/hiveblas/hiveblas/matrix"
)

// Sizes of blocks of tuples that are collected one at a time.
const (
	firstBlock = 1 << 8
	fullBlock  = 1 << 15
)

// Tuples are edges in the order of a file, with words as values.
type Tuples struct {
	Row, Col []int32
	Val      []uint64
}

// Room returns tuples without entries, with room for n.
func Room(n int) Tuples {
	return Tuples{make([]int32, 0, n), make([]int32, 0, n), make([]uint64, 0, n)}
}

// Add appends an edge.
func (t *Tuples) Add(i, j int32, v uint64) {
	t.Row, t.Col, t.Val = append(t.Row, i), append(t.Col, j), append(t.Val, v)
}

// BlockOf returns tuples with values of the element type, which share memory with t.
func BlockOf(e core.Element, t Tuples) sparse.Block {
	return sparse.Block{Row: t.Row, Col: t.Col, Val: e.Pack(t.Val)}
}

// ToLower moves the tuples above the diagonal to their mirror positions.
func ToLower(t sparse.Block) {
	for p, i := range t.Row {
		t.Row[p], t.Col[p] = max(i, t.Col[p]), min(i, t.Col[p])
	}
}

// Builder makes the storage of an m×n matrix from blocks of tuples with indices within it.
type Builder struct {
	T      *sparse.Type
	M, N   int
	Blocks []sparse.Block
}

// Add appends tuples, which the builder then owns.
func (b *Builder) Add(t sparse.Block) {
	for len(t.Row) > 0 { // threads share the pieces
		n := len(t.Row)
		k := n
		if k >= 2*fullBlock {
			k = fullBlock
		}
		b.Blocks = append(b.Blocks, sparse.Block{Row: t.Row[:k:k], Col: t.Col[:k], Val: b.T.Slice(t.Val, 0, int64(k))})
		t = sparse.Block{Row: t.Row[k:], Col: t.Col[k:], Val: b.T.Slice(t.Val, int64(k), int64(n))}
	}
}

// Build empties the builder. Build returns a *matrix.DuplicateError if a position is repeated and
// dup is nil.
func (b *Builder) Build(o *core.ReadOptions, dup sparse.Combine) (*sparse.Store, error) {
	blocks := b.Blocks
	b.Blocks = nil // Build frees them as it reads them
	st, err := sparse.Build(b.T, b.M, b.N, blocks, dup, o.Threads, o.Sorted())
	var d *sparse.DuplicateError
	if errors.As(err, &d) {
		return nil, &matrix.DuplicateError{Row: d.Row, Col: d.Col}
	}
	return st, err
}
