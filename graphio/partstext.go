package graphio

import (
	"bufio"
	"bytes"
	"io"

	"github.com/hiveblas/hiveblas/comm"
	"github.com/hiveblas/hiveblas/internal/chunk"
	"github.com/hiveblas/hiveblas/internal/rep"
	"github.com/hiveblas/hiveblas/internal/sparse"
	"github.com/hiveblas/hiveblas/matrix"
)

// partLines is the number of the first line of a part that does not begin the file: its lines are
// counted only if one has a fault, by another reading from the start.
const partLines = 1 << 50

// countingReader counts the bytes of a part.
type countingReader struct {
	r     io.Reader
	added func(bytes int64)
}

func (c countingReader) Read(b []byte) (int, error) {
	n, err := c.r.Read(b)
	c.added(int64(n))
	return n, err
}

// after returns where the first lines of the file end.
func (p *parts) after(lines int64) (int64, error) {
	r := bufio.NewReaderSize(io.NewSectionReader(p.file, 0, p.size), 1<<12)
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
func (p *parts) lineAt(start, at int64) (int64, error) {
	if at <= start {
		return start, nil
	}
	buf := make([]byte, 1<<12)
	for at--; at < p.size; {
		n, err := p.file.ReadAt(buf[:min(int64(len(buf)), p.size-at)], at)
		if k := bytes.IndexByte(buf[:n], '\n'); k >= 0 {
			return at + int64(k) + 1, nil
		}
		if at += int64(n); n == 0 && err != nil {
			return at, err
		}
	}
	return p.size, nil
}

// lines returns the lines of a rank from start on: those that begin in its piece of the bytes. The
// first line of the first rank has the given number.
func (p *parts) lines(c comm.Comm, start, first int64) (*chunk.Source, error) {
	r, size := int64(c.Rank()), int64(c.Size())
	piece := func(r int64) int64 { return start + (p.size-start)/size*r + (p.size-start)%size*r/size }
	from, err := p.lineAt(start, piece(r))
	if err != nil {
		return nil, err
	}
	to := p.size
	if r < size-1 {
		if to, err = p.lineAt(start, piece(r+1)); err != nil {
			return nil, err
		}
	}
	if from > start {
		first = partLines
	}
	return chunk.Lines(countingReader{io.NewSectionReader(p.file, from, max(to-from, 0)), p.report}, first), nil
}

// inParts reads the entries of a file in coordinates. It is a collective.
func (rd *mmReader) inParts(p *parts, dup sparse.Combine) (rep.Matrix, error) {
	ranks := len(p.g.Ranks())
	list, errs := make([][]sparse.Block, ranks), make([]error, ranks)
	counts := make([][]int64, ranks)
	start, err := p.after(rd.src.At() - 1)
	_ = p.g.Apart(func(k int, c comm.Comm) error {
		n := int64(0)
		counts[k], errs[k] = []int64{0}, err
		if err != nil {
			return nil
		}
		src, err := p.lines(c, start, rd.src.At())
		if err == nil {
			err = chunk.Read(rd.o.ctx, src, p.threads(), rd.parse, func(r mmBlock) error {
				if r.err != nil {
					return r.err
				}
				if n += r.entries; n > rd.info.Entries {
					return errMore
				}
				if rd.lower(dup) {
					toLower(r.tuples)
				}
				list[k] = append(list[k], r.tuples)
				return nil
			})
		}
		counts[k][0], errs[k] = n, err
		return nil
	}, nil)
	all, ok, err := p.facts(counts, errs)
	if err != nil {
		return nil, err
	}
	n := int64(0)
	for _, f := range all {
		n += f[0]
	}
	if !ok || n != rd.info.Entries {
		clear(list)
		return nil, p.blame(func() error {
			again, _, err := openMatrixMarket(p.stream(), rd.o)
			if err == nil {
				err = again.entries(func(sparse.Block) {})
			}
			return err
		})
	}
	a, err := p.build(rd.info.Rows, rd.info.Cols, list, dup, rd.o.symmetrise && rd.info.general())
	return a, rd.o.duplicate(err)
}

// errMore says that a rank has more entries than the whole file announces.
var errMore = &matrix.InvalidError{Op: "graphio.ReadMatrixMarket", Reason: "more entries than announced"}

// inParts reads the edges of a list whose ids are indices. It is a collective.
func (rd *edgeReader) inParts(p *parts, src *chunk.Source, bipartite bool, dup sparse.Combine) (rep.Matrix, sides, error) {
	o, ranks := rd.o, len(p.g.Ranks())
	own, errs := make([]*edgeReader, ranks), make([]error, ranks)
	counts := make([][]int64, ranks)
	start, first, err := p.size, int64(1), error(nil)
	if src != nil {
		first = src.At()
		start, err = p.after(first - 1)
	}
	_ = p.g.Apart(func(k int, c comm.Comm) error {
		r := *rd
		own[k], errs[k] = &r, err
		if err == nil {
			var part *chunk.Source
			if part, errs[k] = p.lines(c, start, first); errs[k] == nil {
				errs[k] = r.edges(part, p.threads(), func(b edgeBlock) {
					r.note(b)
					b.block = chunk.Block{}
					r.blocks = append(r.blocks, b)
				})
			}
		}
		most, real := r.most(), int64(0)
		if r.real {
			real = 1
		}
		counts[k] = []int64{r.lines, r.lowest[0], r.lowest[1], most[0], most[1], real}
		return nil
	}, nil)
	all, ok, err := p.facts(counts, errs)
	if err != nil {
		return nil, sides{}, err
	}
	if !ok {
		clear(own)
		return nil, sides{}, p.blame(func() error {
			again, src, err := openEdges(p.stream(), o)
			if err == nil {
				err = again.edges(src, o.threads, func(edgeBlock) {})
			}
			return err
		})
	}
	most := [2]int64{-1, -1}
	for _, f := range all {
		rd.lines += f[0]
		rd.lowest[0], rd.lowest[1] = min(rd.lowest[0], f[1]), min(rd.lowest[1], f[2])
		most[0], most[1] = max(most[0], f[3]), max(most[1], f[4])
		rd.real = rd.real || f[5] != 0
	}
	if err := rd.checkSquare(); err != nil {
		return nil, sides{}, err
	}
	m, n := rd.dims(bipartite, most)
	list := make([][]sparse.Block, ranks)
	for k, r := range own {
		r.lines, r.lowest = rd.lines, rd.lowest // which decide about the base
		list[k] = r.tuples(o.symmetrise && dup != nil)
	}
	labels := rd.counted(m, n, bipartite)
	a, err := p.build(m, n, list, dup, o.symmetrise)
	if err != nil {
		return nil, sides{}, rd.duplicate(err, labels)
	}
	filled, indices, err := p.places(a)
	if err == nil {
		err = rd.finish(m, n, bipartite, func(side int) (int64, error) { return p.usedOn(filled, indices, m, n, side) })
	}
	if err != nil {
		return nil, sides{}, err
	}
	return a, labels, nil
}

// places returns for each rank of this process the rows with entries, of the whole matrix, and the
// columns of its entries.
func (p *parts) places(a rep.Matrix) (filled, indices func(k int) []int32, err error) {
	blocks, err := a.Blocks(rep.Query{Group: p.g})
	if err != nil {
		return nil, nil, err
	}
	cuts, err := a.OnGroup().Cuts(nil, p.g, false, false)
	ranks := p.g.Ranks()
	filled = func(k int) (list []int32) {
		lo := cuts[ranks[k].Rank()]
		eachRow(blocks[k].RowsShape(), func(i int32) { list = append(list, i+int32(lo)) })
		return list
	}
	return filled, func(k int) []int32 { return blocks[k].RowsShape().Idx }, err
}

// usedOn returns the number of rows (side 0), columns (1) or, of a square matrix, vertices (−1)
// with an entry, for warnings: rows alone if they are enough to give none. It is a collective.
func (p *parts) usedOn(filled, indices func(k int) []int32, m, n, side int) (int64, error) {
	if side == 1 {
		return p.distinct(n, indices)
	}
	counts := make([][]int64, len(p.g.Ranks()))
	for k := range counts {
		counts[k] = []int64{int64(len(filled(k)))}
	}
	all, _, err := p.facts(counts, make([]error, len(counts)))
	rows := int64(0)
	for _, f := range all {
		rows += f[0]
	}
	if err != nil || side == 0 || rows*sparseIDs >= int64(n) {
		return rows, err
	}
	return p.distinct(n, func(k int) []int32 { return append(filled(k), indices(k)...) })
}
