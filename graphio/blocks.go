package graphio

import (
	"fmt"

	"github.com/hiveblas/hiveblas/graphio/internal/binfile"
	"github.com/hiveblas/hiveblas/graphio/internal/core"
	"github.com/hiveblas/hiveblas/internal/sparse"
	"github.com/hiveblas/hiveblas/matrix"
)

// BlockFile writes a matrix to a file of the binary form one block of rows at a
// time, so that the matrix need not fit in memory. Until Finish the file is
// PATH.part. If a program stops before that, the next [CreateBlocks] of the same
// matrix resumes after the last complete block, and the finished file is identical
// byte for byte. While a BlockFile is open it holds the lock PATH.part.lock, so that
// one job at a time writes. [ReadBinary] and [ReadFile] read it like any other file.
type BlockFile[T matrix.Element] struct{ b *binfile.Blocks }

// CreateBlocks begins or resumes the file of an m×n matrix at path. Block b has the rows bounds[b]
// to bounds[b+1]−1. job describes the computation: a part of another job, or with other blocks, is
// overwritten. CreateBlocks returns a *BusyError while another BlockFile of path is open, in this
// process or another.
func CreateBlocks[T matrix.Element](path string, m, n int, bounds []int, job []byte) (*BlockFile[T], error) {
	b, err := binfile.Create(path, core.ElementOf(sparse.TypeOf[T]()).Item(), m, n, bounds, job)
	if err != nil {
		return nil, err
	}
	return &BlockFile[T]{b}, nil
}

// Part returns the name of the unfinished file.
func (b *BlockFile[T]) Part() string {
	if b == nil || b.b == nil {
		return ""
	}
	return b.b.Part()
}

// Blocks returns the number of blocks written and of all blocks.
func (b *BlockFile[T]) Blocks() (written, all int) {
	if b == nil || b.b == nil {
		return 0, 0
	}
	return b.b.Written(), len(b.b.Bounds) - 1
}

// Bounds returns the first row of each block, followed by the number of rows.
func (b *BlockFile[T]) Bounds() []int {
	if b == nil || b.b == nil {
		return nil
	}
	return b.b.Bounds
}

// NVals returns the number of entries written.
func (b *BlockFile[T]) NVals() int64 {
	if b == nil || b.b == nil {
		return 0
	}
	return b.b.NVals
}

// usable returns the file if it came from CreateBlocks and is open.
func (b *BlockFile[T]) usable(op string) (*binfile.Blocks, error) {
	switch {
	case b == nil || b.b == nil:
		return nil, &matrix.InvalidError{Op: op, Reason: "the file is nil or zero; make one with CreateBlocks"}
	case b.b.F == nil:
		return nil, &matrix.InvalidError{Op: op, Reason: "the file is closed"}
	}
	return b.b, nil
}

// SetLabels gives the rows and columns labels, nil for none, which Finish writes.
func (b *BlockFile[T]) SetLabels(rows, cols *Labels) error {
	const op = "BlockFile.SetLabels"
	f, err := b.usable(op)
	if err != nil {
		return err
	}
	labels := core.Sides{Rows: rows.core(), Cols: cols.core()}
	if err := labels.CheckCounts(op, f.M, f.N); err != nil {
		return err
	}
	f.Labels = labels
	return nil
}

// Append writes the next block. ptr has an offset for each of its rows, from 0,
// and one more for the end. The columns of a row ascend without duplicates. A
// block that violates this is an error, and the file stays as it is.
// O(rows + entries).
func (b *BlockFile[T]) Append(ptr []int64, idx []int32, val []T) error {
	f, err := b.usable("BlockFile.Append")
	if err != nil {
		return err
	}
	return f.Append(ptr, idx, sparse.ValuesOf(val))
}

// Finish writes the labels and the index, syncs the file and renames it to its final name.
func (b *BlockFile[T]) Finish() error {
	const op = "BlockFile.Finish"
	f, err := b.usable(op)
	if err != nil {
		return err
	}
	if written, all := b.Blocks(); written != all {
		return &matrix.InvalidError{Op: op, Reason: fmt.Sprintf("%d of %d blocks are written", written, all)}
	}
	return f.Finish()
}

// Close stops before the end; the written blocks stay for another run. Close
// after Finish or Close does nothing.
func (b *BlockFile[T]) Close() error {
	if b == nil || b.b == nil || b.b.F == nil {
		return nil
	}
	defer b.b.Lock.Release() // after the file is closed
	f := b.b.F
	b.b.F = nil
	return f.Close()
}

// BlocksOf returns the bounds of the unfinished file that [CreateBlocks] would
// resume for this job, nil if there is none.
func BlocksOf[T matrix.Element](path string, m, n int, job []byte) []int {
	return binfile.BlocksOf(path, core.ElementOf(sparse.TypeOf[T]()).Item(), m, n, job)
}
