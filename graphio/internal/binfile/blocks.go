package binfile

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"slices"

	"github.com/hiveblas/hiveblas/graphio/internal/core"
	"github.com/hiveblas/hiveblas/internal/filelock"
	"github.com/hiveblas/hiveblas/internal/hgb"
	"github.com/hiveblas/hiveblas/internal/sparse"
	"github.com/hiveblas/hiveblas/matrix"
)

// Blocks is a graphio.BlockFile without its element type.
type Blocks struct {
	path   string
	Lock   *filelock.Lock // of part
	F      *os.File
	e      hgb.Item
	M, N   int
	Bounds []int
	index  []int64 // position and entries of each block written
	at     int64   // end of the last complete block
	NVals  int64
	Labels core.Sides
}

// Create begins or resumes a file; see graphio.CreateBlocks.
func Create(path string, e hgb.Item, m, n int, bounds []int, job []byte) (*Blocks, error) {
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
	b := &Blocks{path: path, e: e, M: m, N: n, Bounds: bounds}
	var head bytes.Buffer
	if err := b.begin(&head, job); err != nil {
		return nil, err
	}
	lock, err := lockBlocks(path)
	if err != nil {
		return nil, err
	}
	b.F, err = os.OpenFile(b.Part(), os.O_RDWR|os.O_CREATE, 0o666)
	if err == nil {
		if err = b.start(head.Bytes()); err != nil {
			b.F.Close()
		}
	}
	if err != nil {
		lock.Release()
		return nil, err
	}
	b.Lock = lock
	return b, nil
}

// start begins the file, or resumes it if it begins with the same head.
func (b *Blocks) start(head []byte) error {
	b.at = int64(len(head))
	have := make([]byte, len(head))
	if _, err := b.F.ReadAt(have, 0); err == nil && bytes.Equal(have, head) {
		if err := b.resume(); err != nil {
			return err
		}
		return b.F.Truncate(b.at)
	}
	if err := b.F.Truncate(0); err != nil {
		return err
	}
	_, err := b.F.WriteAt(head, 0)
	return err
}

// Part returns the name of the unfinished file.
func (b *Blocks) Part() string { return b.path + ".part" }

// Written returns the number of blocks written.
func (b *Blocks) Written() int { return len(b.index) / 2 }

// head returns the head of the file, for an unfinished file without labels.
func (b *Blocks) head(nvals int64) []byte {
	h := hgb.Head{Vecs: int64(len(b.Bounds) - 1)}
	h.Shape.NRows, h.Shape.NCols, h.Shape.NVals, h.Shape.Format = b.M, b.N, nvals, hgb.Blocked
	if nvals != hgb.Open {
		h.SetLabels(b.Labels.File(b.M, b.N))
	}
	return h.Encode(b.e)
}

func (b *Blocks) begin(w *bytes.Buffer, job []byte) error {
	w.Write(b.head(hgb.Open))
	rows := make([]int64, len(b.Bounds))
	for k, i := range b.Bounds {
		rows[k] = int64(i)
	}
	if err := hgb.WriteSection(w, hgb.SectionBounds, rows); err != nil {
		return err
	}
	return hgb.WriteSection(w, hgb.SectionJob, job)
}

// resume finds the complete blocks of an unfinished file.
func (b *Blocks) resume() error {
	info, err := b.F.Stat()
	if err != nil {
		return err
	}
	for k := range len(b.Bounds) - 1 {
		rd := hgb.NewReader(io.NewSectionReader(b.F, b.at, info.Size()-b.at), &hgb.Options{})
		rows := int64(b.Bounds[k+1] - b.Bounds[k])
		nvals, err := rd.SkipBlock(rows, b.e)
		if err != nil {
			return nil // an incomplete block
		}
		b.wrote(rows, nvals)
	}
	return nil
}

// wrote records a block at the end.
func (b *Blocks) wrote(rows, nvals int64) {
	b.index = append(b.index, b.at, nvals)
	b.NVals += nvals
	b.at += hgb.BlockBytes(rows, nvals, b.e)
}

// Append writes the next block; see graphio.BlockFile.Append.
func (b *Blocks) Append(ptr []int64, idx []int32, val sparse.Values) error {
	const op = "BlockFile.Append"
	k := b.Written()
	if k == len(b.Bounds)-1 {
		return &matrix.InvalidError{Op: op, Reason: "all blocks are written"}
	}
	rows := b.Bounds[k+1] - b.Bounds[k]
	if len(ptr) != rows+1 || len(idx) != val.Len() || ptr[0] != 0 || ptr[rows] != int64(len(idx)) {
		return &matrix.InvalidError{Op: op, Reason: fmt.Sprintf("block %d has %d rows; %d offsets, %d columns and %d values were given", k, rows, len(ptr), len(idx), val.Len())}
	}
	if err := checkRows(op, ptr, idx, b.N, b.Bounds[k]); err != nil {
		return err
	}
	w := io.NewOffsetWriter(b.F, b.at)
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

// Finish completes the file after its last block.
func (b *Blocks) Finish() error {
	w, labels := io.NewOffsetWriter(b.F, b.at), b.Labels.File(b.M, b.N)
	err := labels.Write(w)
	if err == nil {
		err = hgb.WriteSection(w, hgb.SectionIndex, b.index)
	}
	if err == nil {
		at := b.at + labels.Bytes()
		_, err = w.Write(append(binary.LittleEndian.AppendUint64(nil, uint64(at)), hgb.Magic...))
	}
	if err == nil {
		_, err = b.F.WriteAt(b.head(b.NVals), 0)
	}
	if err == nil {
		err = b.F.Sync()
	}
	if e := b.F.Close(); err == nil {
		err = e
	}
	b.F = nil
	if err == nil {
		err = os.Rename(b.Part(), b.path)
	}
	b.Lock.Release()
	return err
}

// BlocksOf returns the bounds of an unfinished file; see graphio.BlocksOf.
func BlocksOf(path string, e hgb.Item, m, n int, job []byte) []int {
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
	b := &Blocks{e: e, M: m, N: n}
	for _, i := range rows {
		b.Bounds = append(b.Bounds, int(i))
	}
	if !bytes.Equal(head, b.head(hgb.Open)) {
		return nil
	}
	return b.Bounds
}
