package graphio

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"slices"

	"github.com/hiveblas/hiveblas/internal/filelock"
	"github.com/hiveblas/hiveblas/internal/hgb"
	"github.com/hiveblas/hiveblas/internal/sparse"
	"github.com/hiveblas/hiveblas/matrix"
)

// BlockFile writes a matrix to a file of the binary form one block of rows at a
// time, so that the matrix need not fit in memory. Until Finish the file is
// PATH.part. If a program stops before that, the next [CreateBlocks] of the same
// matrix resumes after the last complete block, and the finished file is identical
// byte for byte. While a BlockFile is open it holds the lock PATH.part.lock, so that
// one job at a time writes. [ReadBinary] and [ReadFile] read it like any other file.
type BlockFile[T matrix.Element] struct{ b *blockFile }

// blockFile is a BlockFile without its element type.
type blockFile struct {
	path   string
	lock   *filelock.Lock // of part
	f      *os.File
	e      hgb.Item
	m, n   int
	bounds []int
	index  []int64 // position and entries of each block written
	at     int64   // end of the last complete block
	nvals  int64
	labels sides
}

// CreateBlocks begins or resumes the file of an m×n matrix at path. Block b has the rows bounds[b]
// to bounds[b+1]−1. job describes the computation: a part of another job, or with other blocks, is
// overwritten. While another BlockFile of path is open, in this process or another, the error is a
// *BusyError.
func CreateBlocks[T matrix.Element](path string, m, n int, bounds []int, job []byte) (*BlockFile[T], error) {
	b, err := createBlocks(path, elementOf(sparse.TypeOf[T]()).item(), m, n, bounds, job)
	if err != nil {
		return nil, err
	}
	return &BlockFile[T]{b}, nil
}

func createBlocks(path string, e hgb.Item, m, n int, bounds []int, job []byte) (*blockFile, error) {
	const op = "graphio.CreateBlocks"
	if m < 0 || n < 0 || m > matrix.MaxDim || n > matrix.MaxDim {
		return nil, &matrix.SizeError{Op: op, Arg: "dimension", Got: int64(max(m, n)), Limit: matrix.MaxDim}
	}
	if len(bounds) == 0 || bounds[0] != 0 || bounds[len(bounds)-1] != m || !slices.IsSorted(bounds) {
		return nil, &matrix.InvalidError{Op: op, Reason: fmt.Sprintf("the blocks do not cover the rows from 0 to %d in order", m)}
	}
	if info, err := os.Stat(path); err == nil && !info.Mode().IsRegular() {
		return nil, &fs.PathError{Op: "create", Path: path, Err: errors.New("not a regular file")}
	}
	b := &blockFile{path: path, e: e, m: m, n: n, bounds: bounds}
	var head bytes.Buffer
	if err := b.begin(&head, job); err != nil {
		return nil, err
	}
	lock, err := lockBlocks(path)
	if err != nil {
		return nil, err
	}
	b.f, err = os.OpenFile(b.part(), os.O_RDWR|os.O_CREATE, 0o666)
	if err == nil {
		if err = b.start(head.Bytes()); err != nil {
			b.f.Close()
		}
	}
	if err != nil {
		lock.Release()
		return nil, err
	}
	b.lock = lock
	return b, nil
}

// start begins the file, or resumes it if it begins with the same head.
func (b *blockFile) start(head []byte) error {
	b.at = int64(len(head))
	have := make([]byte, len(head))
	if _, err := b.f.ReadAt(have, 0); err == nil && bytes.Equal(have, head) {
		if err := b.resume(); err != nil {
			return err
		}
		return b.f.Truncate(b.at)
	}
	if err := b.f.Truncate(0); err != nil {
		return err
	}
	_, err := b.f.WriteAt(head, 0)
	return err
}

// Part returns the name of the unfinished file.
func (b *BlockFile[T]) Part() string {
	if b == nil || b.b == nil {
		return ""
	}
	return b.b.part()
}

func (b *blockFile) part() string { return b.path + ".part" }

// Blocks returns the number of blocks written and of all blocks.
func (b *BlockFile[T]) Blocks() (written, all int) {
	if b == nil || b.b == nil {
		return 0, 0
	}
	return b.b.written(), len(b.b.bounds) - 1
}

func (b *blockFile) written() int { return len(b.index) / 2 }

// Bounds returns the first row of each block, followed by the number of rows.
func (b *BlockFile[T]) Bounds() []int {
	if b == nil || b.b == nil {
		return nil
	}
	return b.b.bounds
}

// NVals returns the number of entries written.
func (b *BlockFile[T]) NVals() int64 {
	if b == nil || b.b == nil {
		return 0
	}
	return b.b.nvals
}

// usable returns the file if it came from CreateBlocks and is open.
func (b *BlockFile[T]) usable(op string) (*blockFile, error) {
	switch {
	case b == nil || b.b == nil:
		return nil, &matrix.InvalidError{Op: op, Reason: "the file is nil or zero; make one with CreateBlocks"}
	case b.b.f == nil:
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
	labels := sides{rows, cols}
	if err := labels.checkCounts(op, f.m, f.n); err != nil {
		return err
	}
	f.labels = labels
	return nil
}

// head returns the head of the file, for an unfinished file without labels.
func (b *blockFile) head(nvals int64) []byte {
	h := hgb.Head{Vecs: int64(len(b.bounds) - 1)}
	h.Shape.NRows, h.Shape.NCols, h.Shape.NVals, h.Shape.Format = b.m, b.n, nvals, hgb.Blocked
	if nvals != hgb.Open {
		h.SetLabels(b.labels.file(b.m, b.n))
	}
	return h.Encode(b.e)
}

func (b *blockFile) begin(w *bytes.Buffer, job []byte) error {
	w.Write(b.head(hgb.Open))
	rows := make([]int64, len(b.bounds))
	for k, i := range b.bounds {
		rows[k] = int64(i)
	}
	if err := hgb.WriteSection(w, hgb.SectionBounds, rows); err != nil {
		return err
	}
	return hgb.WriteSection(w, hgb.SectionJob, job)
}

// resume finds the complete blocks of an unfinished file.
func (b *blockFile) resume() error {
	info, err := b.f.Stat()
	if err != nil {
		return err
	}
	for k := range len(b.bounds) - 1 {
		rd := hgb.NewReader(io.NewSectionReader(b.f, b.at, info.Size()-b.at), &hgb.Options{})
		rows := int64(b.bounds[k+1] - b.bounds[k])
		nvals, err := rd.SkipBlock(rows, b.e)
		if err != nil {
			return nil // an incomplete block
		}
		b.wrote(rows, nvals)
	}
	return nil
}

// wrote records a block at the end.
func (b *blockFile) wrote(rows, nvals int64) {
	b.index = append(b.index, b.at, nvals)
	b.nvals += nvals
	b.at += hgb.BlockBytes(rows, nvals, b.e)
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
	return f.append(ptr, idx, sparse.ValuesOf(val))
}

func (b *blockFile) append(ptr []int64, idx []int32, val sparse.Values) error {
	const op = "BlockFile.Append"
	k := b.written()
	if k == len(b.bounds)-1 {
		return &matrix.InvalidError{Op: op, Reason: "all blocks are written"}
	}
	rows := b.bounds[k+1] - b.bounds[k]
	if len(ptr) != rows+1 || len(idx) != val.Len() || ptr[0] != 0 || ptr[rows] != int64(len(idx)) {
		return &matrix.InvalidError{Op: op, Reason: fmt.Sprintf("block %d has %d rows; %d offsets, %d columns and %d values were given", k, rows, len(ptr), len(idx), val.Len())}
	}
	if err := checkRows(op, ptr, idx, b.n, b.bounds[k]); err != nil {
		return err
	}
	w := io.NewOffsetWriter(b.f, b.at)
	err := hgb.WriteSection(w, hgb.SectionPtr, ptr)
	if err == nil {
		err = hgb.WriteSection(w, hgb.SectionCols, idx)
	}
	if err == nil {
		err = hgb.WriteItems(w, hgb.SectionVals, b.e, val)
	}
	if err != nil {
		return err
	}
	b.wrote(int64(rows), int64(len(idx)))
	return nil
}

// checkRows verifies the rows of a block of n columns; the first is row lo of
// the matrix.
func checkRows(op string, ptr []int64, idx []int32, n, lo int) error {
	for k, from := range ptr[:len(ptr)-1] {
		to := ptr[k+1]
		if to < from || to > int64(len(idx)) {
			return &matrix.InvalidError{Op: op, Reason: fmt.Sprintf("the offsets of row %d go from %d to %d, and the block has %d entries", lo+k, from, to, len(idx))}
		}
		before := int32(-1)
		for _, j := range idx[from:to] {
			switch {
			case j < 0 || int(j) >= n:
				return &matrix.IndexError{Op: op, Arg: fmt.Sprintf("a column of row %d", lo+k), Index: int64(j), Limit: int64(n)}
			case j == before:
				return &matrix.InvalidError{Op: op, Reason: fmt.Sprintf("column %d of row %d is given twice", j, lo+k)}
			case j < before:
				return &matrix.InvalidError{Op: op, Reason: fmt.Sprintf("the columns of row %d do not ascend: %d follows %d", lo+k, j, before)}
			}
			before = j
		}
	}
	return nil
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
	return f.finish()
}

func (b *blockFile) finish() error {
	w, labels := io.NewOffsetWriter(b.f, b.at), b.labels.file(b.m, b.n)
	err := labels.Write(w)
	if err == nil {
		err = hgb.WriteSection(w, hgb.SectionIndex, b.index)
	}
	if err == nil {
		at := b.at + labels.Bytes()
		_, err = w.Write(append(binary.LittleEndian.AppendUint64(nil, uint64(at)), hgb.Magic...))
	}
	if err == nil {
		_, err = b.f.WriteAt(b.head(b.nvals), 0)
	}
	if err == nil {
		err = b.f.Sync()
	}
	if e := b.f.Close(); err == nil {
		err = e
	}
	b.f = nil
	if err == nil {
		err = os.Rename(b.part(), b.path)
	}
	b.lock.Release()
	return err
}

// Close stops before the end; the written blocks stay for another run. Close
// after Finish or Close does nothing.
func (b *BlockFile[T]) Close() error {
	if b == nil || b.b == nil || b.b.f == nil {
		return nil
	}
	defer b.b.lock.Release() // after the file is closed
	f := b.b.f
	b.b.f = nil
	return f.Close()
}

// BlocksOf returns the bounds of the unfinished file that [CreateBlocks] would
// resume for this job, nil if there is none.
func BlocksOf[T matrix.Element](path string, m, n int, job []byte) []int {
	return blocksOf(path, elementOf(sparse.TypeOf[T]()).item(), m, n, job)
}

func blocksOf(path string, e hgb.Item, m, n int, job []byte) []int {
	f, err := os.Open(path + ".part")
	if err != nil {
		return nil
	}
	defer f.Close()
	head := make([]byte, hgb.HeadBytes)
	if _, err := io.ReadFull(f, head); err != nil {
		return nil
	}
	blocks := int64(binary.LittleEndian.Uint64(head[40:]))
	if blocks < 0 || blocks > int64(m)+1 {
		return nil
	}
	rd := hgb.NewReader(f, &hgb.Options{})
	rows, err := hgb.Section[int64](rd, hgb.SectionBounds, blocks+1)
	if err != nil {
		return nil
	}
	have, err := hgb.Section[uint8](rd, hgb.SectionJob, int64(len(job)))
	if err != nil || !bytes.Equal(have, job) {
		return nil
	}
	b := &blockFile{e: e, m: m, n: n}
	for _, i := range rows {
		b.bounds = append(b.bounds, int(i))
	}
	if !bytes.Equal(head, b.head(hgb.Open)) {
		return nil
	}
	return b.bounds
}
