package matrix

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"io/fs"
	"math"
	"os"
	"slices"

	"github.com/hiveblas/hiveblas/internal/filelock"
	"github.com/hiveblas/hiveblas/internal/fresh"
	"github.com/hiveblas/hiveblas/internal/sparse"
)

// blocked is the format code of files in blocks of rows, which are CSR in memory.
const blocked = sparse.Full + 1

// BlockFile writes a matrix to a file of the binary form one block of rows at a
// time, so that the matrix need not fit in memory. Until Finish the file is
// PATH.part. If a program stops before that, the next [CreateBlocks] of the same
// matrix resumes after the last complete block, and the finished file is identical
// byte for byte. While a BlockFile is open it holds the lock PATH.part.lock, so that
// one job at a time writes. [ReadBinary] and [ReadFile] read it like any other file.
type BlockFile[T Element] struct {
	path   string
	lock   *filelock.Lock // of Part
	f      *os.File
	e      element[T]
	m, n   int
	bounds []int
	index  []int64 // position and entries of each block written
	at     int64   // end of the last complete block
	nvals  int64
	size   int64 // of head, bounds and job
	labels sides
}

// unfinished is the number of entries in the head of an unfinished file.
const unfinished = math.MaxInt64

// CreateBlocks begins or resumes the file of an m×n matrix at path. Block b has the rows bounds[b]
// to bounds[b+1]−1. job describes the computation: a part of another job, or with other blocks, is
// overwritten. While another BlockFile of path is open, in this process or another, the error is a
// *BusyError.
func CreateBlocks[T Element](path string, m, n int, bounds []int, job []byte) (*BlockFile[T], error) {
	const op = "matrix.CreateBlocks"
	e, ok := elementOf[T]()
	if !ok {
		return nil, e.refused(op)
	}
	if m < 0 || n < 0 || m > MaxDim || n > MaxDim {
		return nil, &SizeError{op, "dimension", int64(max(m, n)), MaxDim}
	}
	if len(bounds) == 0 || bounds[0] != 0 || bounds[len(bounds)-1] != m || !slices.IsSorted(bounds) {
		return nil, &InvalidError{op, fmt.Sprintf("the blocks do not cover the rows from 0 to %d in order", m)}
	}
	if info, err := os.Stat(path); err == nil && !info.Mode().IsRegular() {
		return nil, &fs.PathError{Op: "create", Path: path, Err: errors.New("not a regular file")}
	}
	b := &BlockFile[T]{path: path, e: e, m: m, n: n, bounds: bounds}
	var head bytes.Buffer
	if err := b.begin(&head, job); err != nil {
		return nil, err
	}
	lock, err := lockBlocks(path)
	if err != nil {
		return nil, err
	}
	defer func() {
		if b.lock == nil { // an error
			lock.Release()
		}
	}()
	f, err := os.OpenFile(b.Part(), os.O_RDWR|os.O_CREATE, 0o666)
	if err != nil {
		return nil, err
	}
	b.f, b.size, b.at = f, int64(head.Len()), int64(head.Len())
	have := make([]byte, head.Len())
	if _, err := f.ReadAt(have, 0); err == nil && bytes.Equal(have, head.Bytes()) {
		err = b.resume()
		if err == nil {
			err = f.Truncate(b.at)
		}
		if err != nil {
			f.Close()
			return nil, err
		}
		b.lock = lock
		return b, nil
	}
	err = f.Truncate(0)
	if err == nil {
		_, err = f.WriteAt(head.Bytes(), 0)
	}
	if err != nil {
		f.Close()
		return nil, err
	}
	b.lock = lock
	return b, nil
}

// Part returns the name of the unfinished file.
func (b *BlockFile[T]) Part() string {
	if b == nil {
		return ""
	}
	return b.path + ".part"
}

// Blocks returns the number of blocks written and of all blocks.
func (b *BlockFile[T]) Blocks() (written, all int) {
	if b == nil || len(b.bounds) == 0 {
		return 0, 0
	}
	return len(b.index) / 2, len(b.bounds) - 1
}

// Bounds returns the first row of each block, followed by the number of rows.
func (b *BlockFile[T]) Bounds() []int {
	if b == nil {
		return nil
	}
	return b.bounds
}

// SetLabels gives the rows and columns labels, nil for none, which Finish writes.
func (b *BlockFile[T]) SetLabels(rows, cols *Labels) error {
	const op = "BlockFile.SetLabels"
	if err := b.usable(op); err != nil {
		return err
	}
	labels := sides{rows, cols}
	if err := labels.checkCounts(op, b.m, b.n); err != nil {
		return err
	}
	b.labels = labels
	return nil
}

// head returns the head of the file, for an unfinished file without labels.
func (b *BlockFile[T]) head(nvals int64) []byte {
	le := binary.LittleEndian
	head := make([]byte, binaryHead)
	copy(head, binaryMagic)
	le.PutUint16(head[8:], binaryVersion)
	head[10], head[11], head[12] = binaryMatrix, b.e.item().code(), byte(blocked)
	le.PutUint64(head[16:], uint64(b.m))
	le.PutUint64(head[24:], uint64(b.n))
	le.PutUint64(head[32:], uint64(nvals))
	le.PutUint64(head[40:], uint64(len(b.bounds)-1))
	if nvals != unfinished {
		head[13], head[14] = b.labels.kinds(b.m, b.n)
	}
	le.PutUint32(head[60:], crc32.Checksum(head[:60], castagnoli))
	return head
}

func (b *BlockFile[T]) begin(w *bytes.Buffer, job []byte) error {
	w.Write(b.head(unfinished))
	rows := make([]int64, len(b.bounds))
	for k, i := range b.bounds {
		rows[k] = int64(i)
	}
	if err := writeSection(w, sectionBounds, rows, 8); err != nil {
		return err
	}
	return writeSection(w, sectionJob, job, 1)
}

// resume finds the complete blocks of an unfinished file.
func (b *BlockFile[T]) resume() error {
	info, err := b.f.Stat()
	if err != nil {
		return err
	}
	o := readOptionsOf(nil)
	for k := range len(b.bounds) - 1 {
		r := io.NewSectionReader(b.f, b.at, info.Size()-b.at)
		rd := &binaryReader{r: r, o: o, taken: noBytes}
		nvals, err := skipBlock(rd, int64(b.bounds[k+1]-b.bounds[k]), b.e.fileWidth())
		if err != nil {
			return nil // an incomplete block
		}
		b.index = append(b.index, b.at, nvals)
		b.nvals += nvals
		b.at += b.blockBytes(k, nvals)
	}
	return nil
}

func (b *BlockFile[T]) blockBytes(k int, nvals int64) int64 {
	return sectionBytes(int64(b.bounds[k+1]-b.bounds[k]+1), 8) + sectionBytes(nvals, 4) + sectionBytes(nvals, int64(b.e.fileWidth()))
}

// skipBlock verifies the checksums of a block of so many rows.
func skipBlock(rd *binaryReader, rows int64, width int) (nvals int64, err error) {
	ptr, err := readSection[int64](rd, sectionPtr, rows+1, 8)
	if err != nil {
		return 0, err
	}
	nvals = ptr[rows]
	for _, s := range []struct {
		id    uint32
		width int
	}{{sectionCols, 4}, {sectionVals, width}} {
		if err := skipSection(rd, s.id, nvals, s.width); err != nil {
			return 0, err
		}
	}
	return nvals, nil
}

// skipSection is readSection without keeping the items.
func skipSection(rd *binaryReader, id uint32, n int64, width int) error {
	what := "section " + sectionNames[id]
	le := binary.LittleEndian
	buf := make([]byte, binaryChunk)
	if err := rd.full(buf[:16], what); err != nil {
		return err
	}
	if le.Uint32(buf) != id || le.Uint32(buf[4:]) != uint32(width) || le.Uint64(buf[8:]) != uint64(n) {
		return rd.damaged(what, "found another section instead")
	}
	sum := crc32.Checksum(buf[:16], castagnoli)
	for left := n*int64(width) + padding(n*int64(width)); left > 0; {
		part := buf[:min(left, int64(len(buf)))]
		if err := rd.full(part, what); err != nil {
			return err
		}
		sum = crc32.Update(sum, castagnoli, part)
		left -= int64(len(part))
	}
	if err := rd.full(buf[:4], what); err != nil {
		return err
	}
	if le.Uint32(buf) != sum {
		return rd.damaged(what, "wrong checksum")
	}
	return nil
}

// Append writes the next block. ptr has an offset for each of its rows, from 0,
// and one more for the end. The columns of a row ascend without duplicates. A
// block that violates this is an error, and the file stays as it is.
// O(rows + entries).
func (b *BlockFile[T]) Append(ptr []int64, idx []int32, val []T) error {
	const op = "BlockFile.Append"
	if err := b.usable(op); err != nil {
		return err
	}
	k := len(b.index) / 2
	if k == len(b.bounds)-1 {
		return &InvalidError{op, "all blocks are written"}
	}
	rows := b.bounds[k+1] - b.bounds[k]
	if len(ptr) != rows+1 || len(idx) != len(val) || ptr[0] != 0 || ptr[rows] != int64(len(idx)) {
		return &InvalidError{op, fmt.Sprintf("block %d has %d rows; %d offsets, %d columns and %d values were given", k, rows, len(ptr), len(idx), len(val))}
	}
	if err := checkRows(op, ptr, idx, b.n, b.bounds[k]); err != nil {
		return err
	}
	w := io.NewOffsetWriter(b.f, b.at)
	err := writeSection(w, sectionPtr, ptr, 8)
	if err == nil {
		err = writeSection(w, sectionCols, idx, 4)
	}
	if err == nil {
		err = writeSection(w, sectionVals, val, b.e.fileWidth())
	}
	if err != nil {
		return err
	}
	b.index = append(b.index, b.at, int64(len(idx)))
	b.nvals += int64(len(idx))
	b.at += b.blockBytes(k, int64(len(idx)))
	return nil
}

// usable verifies that b came from CreateBlocks and is open.
func (b *BlockFile[T]) usable(op string) error {
	switch {
	case b == nil || b.bounds == nil:
		return &InvalidError{op, "the file is nil or zero; make one with CreateBlocks"}
	case b.f == nil:
		return &InvalidError{op, "the file is closed"}
	}
	return nil
}

// checkRows verifies the rows of a block of n columns; the first is row lo of
// the matrix.
func checkRows(op string, ptr []int64, idx []int32, n, lo int) error {
	for k, from := range ptr[:len(ptr)-1] {
		to := ptr[k+1]
		if to < from || to > int64(len(idx)) {
			return &InvalidError{op, fmt.Sprintf("the offsets of row %d go from %d to %d, and the block has %d entries", lo+k, from, to, len(idx))}
		}
		before := int32(-1)
		for _, j := range idx[from:to] {
			switch {
			case j < 0 || int(j) >= n:
				return &IndexError{op, fmt.Sprintf("a column of row %d", lo+k), int64(j), int64(n)}
			case j == before:
				return &InvalidError{op, fmt.Sprintf("column %d of row %d is given twice", j, lo+k)}
			case j < before:
				return &InvalidError{op, fmt.Sprintf("the columns of row %d do not ascend: %d follows %d", lo+k, j, before)}
			}
			before = j
		}
	}
	return nil
}

// NVals returns the number of entries written.
func (b *BlockFile[T]) NVals() int64 {
	if b == nil {
		return 0
	}
	return b.nvals
}

// Finish writes the labels and the index, syncs the file and renames it to its final name.
func (b *BlockFile[T]) Finish() error {
	if err := b.usable("BlockFile.Finish"); err != nil {
		return err
	}
	if written, all := b.Blocks(); written != all {
		return &InvalidError{"BlockFile.Finish", fmt.Sprintf("%d of %d blocks are written", written, all)}
	}
	w := io.NewOffsetWriter(b.f, b.at)
	err := b.labels.write(w, b.m, b.n)
	if err == nil {
		err = writeSection(w, sectionIndex, b.index, 8)
	}
	if err == nil {
		at := b.at + b.labels.bytes(b.m, b.n)
		_, err = w.Write(append(binary.LittleEndian.AppendUint64(nil, uint64(at)), binaryMagic...))
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
		err = os.Rename(b.Part(), b.path)
	}
	b.lock.Release()
	return err
}

// Close stops before the end; the written blocks stay for another run. Close
// after Finish or Close does nothing.
func (b *BlockFile[T]) Close() error {
	if b == nil || b.f == nil {
		return nil
	}
	defer b.lock.Release() // after the file is closed
	f := b.f
	b.f = nil
	defer b.lock.Release() // after the file is closed
	return f.Close()
}

// checkBlockedHead verifies the head of a file in blocks.
func checkBlockedHead(rd *binaryReader, st *sparse.Structure, kind byte, blocks int64) error {
	cells, ok := st.Cells()
	switch {
	case st.NVals == unfinished:
		e := rd.damaged("head", "the file is unfinished")
		e.Remedy = "run the command that writes it again to resume it"
		return e
	case st.NVals < 0 || ok && st.NVals > int64(cells):
		return rd.damaged("head", fmt.Sprintf("%d entries in a %d×%d matrix", st.NVals, st.NRows, st.NCols))
	case blocks < 0 || blocks > int64(st.NRows)+1:
		return rd.damaged("head", fmt.Sprintf("%d blocks of %d rows", blocks, st.NRows))
	case kind == binaryVector:
		return rd.damaged("head", "a vector in blocks")
	}
	return nil
}

// readBlocks reads the sections of a file in blocks, and returns its labels.
func readBlocks(rd *binaryReader, st *raw, blocks int64, e item, kinds [2]byte) (labels sides, err error) {
	st.Format = sparse.CSR
	values := e.values()
	st.val = values.room(0)
	bounds, err := readSection[int64](rd, sectionBounds, blocks+1, 8)
	if err != nil {
		return labels, err
	}
	if bounds[0] != 0 || bounds[blocks] != int64(st.NRows) || !slices.IsSorted(bounds) {
		return labels, rd.damaged("section "+sectionNames[sectionBounds], fmt.Sprintf("the blocks do not cover the rows from 0 to %d in order", st.NRows))
	}
	head := make([]byte, 16)
	if err := rd.full(head, "section "+sectionNames[sectionJob]); err != nil {
		return labels, err
	}
	n := binary.LittleEndian.Uint64(head[8:])
	if n > 1<<16 {
		return labels, rd.damaged("section "+sectionNames[sectionJob], fmt.Sprintf("%d bytes", n))
	}
	again := &binaryReader{r: io.MultiReader(bytes.NewReader(head), rd.r), o: rd.o, taken: rd.taken}
	if _, err := readSection[uint8](again, sectionJob, int64(n), 1); err != nil {
		return labels, err
	}
	at := binaryHead + sectionBytes(blocks+1, 8) + sectionBytes(int64(n), 1)
	places := make([]int64, 0, 2*min(blocks, binaryChunk))
	total := st.NVals
	st.Ptr = append(make([]int64, 0, min(int64(st.NRows)+1, binaryChunk)), 0)
	st.NVals = 0
	for k := range blocks {
		ptr, err := readSection[int64](rd, sectionPtr, bounds[k+1]-bounds[k]+1, 8)
		if err != nil {
			return labels, err
		}
		most := int64(len(ptr)-1) * int64(st.NCols)
		if ptr[0] != 0 || !slices.IsSorted(ptr) || ptr[len(ptr)-1] > min(most, total-st.NVals) {
			return labels, rd.damaged("section "+sectionNames[sectionPtr], fmt.Sprintf("the offsets of block %d do not ascend from 0 to at most the remaining entries", k))
		}
		idx, err := readSection[int32](rd, sectionCols, ptr[len(ptr)-1], 4)
		if err != nil {
			return labels, err
		}
		val, err := values.read(rd, ptr[len(ptr)-1], e.width)
		if err != nil {
			return labels, err
		}
		for _, p := range ptr[1:] {
			st.Ptr = append(st.Ptr, st.NVals+p)
		}
		if st.Idx == nil { // the first block is intact, so the count probably is too
			room := min(total, 8*int64(len(idx))*blocks)
			st.Idx, st.val = fresh.Make[int32](room)[:0], values.room(room)[:0]
		}
		st.Idx = append(st.Idx, idx...)
		if len(st.val)+len(val) > cap(st.val) {
			st.val = append(values.room(2 * int64(len(st.val)+len(val)) / int64(e.size))[:0], st.val...)
		}
		st.val = append(st.val, val...)
		st.NVals += int64(len(idx))
		places = append(places, at, int64(len(idx)))
		at += sectionBytes(int64(len(ptr)), 8) + sectionBytes(int64(len(idx)), 4) + sectionBytes(int64(len(idx)), int64(e.width))
	}
	if st.NVals != total {
		return labels, rd.damaged("blocks", fmt.Sprintf("%d entries, the head says %d", st.NVals, total))
	}
	if labels, err = readSides(rd, kinds, st.NRows, st.NCols); err != nil {
		return labels, err
	}
	at += labels.bytes(st.NRows, st.NCols)
	index, err := readSection[int64](rd, sectionIndex, 2*blocks, 8)
	if err != nil {
		return labels, err
	}
	tail := make([]byte, 16)
	if err := rd.full(tail, "the end"); err != nil {
		return labels, err
	}
	if string(tail[8:]) != binaryMagic || int64(binary.LittleEndian.Uint64(tail)) != at || !slices.Equal(index, places) {
		return labels, rd.damaged("section "+sectionNames[sectionIndex], "the positions of the blocks are wrong")
	}
	if err := st.Check(len(st.val)/e.size, false); err != nil {
		return labels, rd.damaged("the matrix breaks its invariants", err.Error())
	}
	return labels, nil
}

// BlocksOf returns the bounds of the unfinished file that [CreateBlocks] would
// resume for this job, nil if there is none.
func BlocksOf[T Element](path string, m, n int, job []byte) []int {
	f, err := os.Open(path + ".part")
	if err != nil {
		return nil
	}
	defer f.Close()
	e, _ := elementOf[T]()
	head := make([]byte, binaryHead)
	if _, err := io.ReadFull(f, head); err != nil {
		return nil
	}
	blocks := int64(binary.LittleEndian.Uint64(head[40:]))
	if blocks < 0 || blocks > int64(m)+1 {
		return nil
	}
	rd := &binaryReader{r: f, o: readOptionsOf(nil), taken: noBytes}
	rows, err := readSection[int64](rd, sectionBounds, blocks+1, 8)
	if err != nil {
		return nil
	}
	have, err := readSection[uint8](rd, sectionJob, int64(len(job)), 1)
	if err != nil || !bytes.Equal(have, job) {
		return nil
	}
	b := &BlockFile[T]{e: e, m: m, n: n}
	for _, i := range rows {
		b.bounds = append(b.bounds, int(i))
	}
	if !bytes.Equal(head, b.head(unfinished)) {
		return nil
	}
	return b.bounds
}
