package build

import (
	"bufio"
	"bytes"
	"io"

	"github.com/hiveblas/hiveblas/comm"
	"github.com/hiveblas/hiveblas/internal/chunk"
	"github.com/hiveblas/hiveblas/internal/rep"
	"github.com/hiveblas/hiveblas/internal/sparse"
)

// SparseIDs is the threshold of a warning: fewer than one in SparseIDs ids occur.
const SparseIDs = 100

// EachRow calls f for each row with an entry.
func EachRow(st *sparse.Structure, f func(i int32)) {
	for k := range st.Vecs() {
		if st.Ptr[k] < st.Ptr[k+1] {
			f(int32(st.RowID(k)))
		}
	}
}

// partLines is the number of the first line of a part that does not begin the file: its lines are
// counted only if one has a fault, by another reading from the start.
const partLines = 1 << 50

// CountingReader counts the bytes of a part.
type CountingReader struct {
	R     io.Reader
	Added func(bytes int64)
}

// Read reads and reports.
func (c CountingReader) Read(b []byte) (int, error) {
	n, err := c.R.Read(b)
	c.Added(int64(n))
	return n, err
}

// After returns where the first lines of the file end.
func (p *Parts) After(lines int64) (int64, error) {
	r := bufio.NewReaderSize(io.NewSectionReader(p.File, 0, p.Size), 1<<12)
	at := int64(0)
	if head, _ := r.Peek(3); lines == 0 && bytes.Equal(head, []byte("\xef\xbb\xbf")) {
		return 3, nil // a byte order mark
	}
	for lines > 0 {
		text, err := r.ReadSlice('\n')
		at += int64(len(text))
		switch err {
		case nil:
			lines--
		case bufio.ErrBufferFull: // a part of a line
		case io.EOF:
			return at, nil
		default:
			return at, err
		}
	}
	return at, nil
}

// lineAt returns the start of the first line that begins at or after at, in the bytes from start
// on.
func (p *Parts) lineAt(start, at int64) (int64, error) {
	if at <= start {
		return start, nil
	}
	buf := make([]byte, 1<<12)
	for at--; at < p.Size; {
		n, err := p.File.ReadAt(buf[:min(int64(len(buf)), p.Size-at)], at)
		if k := bytes.IndexByte(buf[:n], '\n'); k >= 0 {
			return at + int64(k) + 1, nil
		}
		if at += int64(n); n == 0 && err != nil {
			return at, err
		}
	}
	return p.Size, nil
}

// Lines returns the lines of a rank from start on: the lines that begin in its piece of the bytes.
// The first line of the first rank has the given number.
func (p *Parts) Lines(c comm.Comm, start, first int64) (*chunk.Source, error) {
	r, size := int64(c.Rank()), int64(c.Size())
	piece := func(r int64) int64 { return start + (p.Size-start)/size*r + (p.Size-start)%size*r/size }
	from, err := p.lineAt(start, piece(r))
	if err != nil {
		return nil, err
	}
	to := p.Size
	if r < size-1 {
		if to, err = p.lineAt(start, piece(r+1)); err != nil {
			return nil, err
		}
	}
	if from > start {
		first = partLines
	}
	return chunk.Lines(CountingReader{io.NewSectionReader(p.File, from, max(to-from, 0)), p.Report}, first), nil
}

// Places returns for each rank of this process the rows with entries, of the whole matrix, and the
// columns of its entries.
func (p *Parts) Places(a rep.Matrix) (filled, indices func(k int) []int32, err error) {
	blocks, err := a.Blocks(rep.Query{Group: p.G})
	if err != nil {
		return nil, nil, err
	}
	cuts, err := a.OnGroup().Cuts(nil, p.G, false, false)
	ranks := p.G.Ranks()
	filled = func(k int) (list []int32) {
		lo := cuts[ranks[k].Rank()]
		EachRow(blocks[k].RowsShape(), func(i int32) { list = append(list, i+int32(lo)) })
		return list
	}
	return filled, func(k int) []int32 { return blocks[k].RowsShape().Idx }, err
}

// UsedOn returns the number of rows (side 0), columns (1) or, of a square matrix, vertices (−1)
// with an entry, for warnings: rows alone if they are enough to give none. It is a collective.
func (p *Parts) UsedOn(filled, indices func(k int) []int32, m, n, side int) (int64, error) {
	if side == 1 {
		return p.distinct(n, indices)
	}
	counts := make([][]int64, len(p.G.Ranks()))
	for k := range counts {
		counts[k] = []int64{int64(len(filled(k)))}
	}
	all, _, err := p.Facts(counts, make([]error, len(counts)))
	rows := int64(0)
	for _, f := range all {
		rows += f[0]
	}
	if err != nil || side == 0 || rows*SparseIDs >= int64(n) {
		return rows, err
	}
	return p.distinct(n, func(k int) []int32 { return append(filled(k), indices(k)...) })
}
