package binfile

import (
	"encoding/binary"
	"fmt"
	"io"
	"slices"
	"sort"

	"github.com/hiveblas/hiveblas/comm"
	"github.com/hiveblas/hiveblas/graphio/internal/build"
	"github.com/hiveblas/hiveblas/graphio/internal/core"
	"github.com/hiveblas/hiveblas/internal/hgb"
	"github.com/hiveblas/hiveblas/internal/parallel"
	"github.com/hiveblas/hiveblas/internal/pieces"
	"github.com/hiveblas/hiveblas/internal/rep"
	"github.com/hiveblas/hiveblas/internal/sparse"
	"github.com/hiveblas/hiveblas/matrix"
)

// binaryParts is a file in the binary form that the ranks of a group read in parts: each reads the
// bytes of its rows in every section. The checksums of its pieces give the checksum of a section.
type binaryParts struct {
	p    *build.Parts
	e    hgb.Item
	head *hgb.Head
	at   [hgb.SectionVals + 1]int64 // where the items of a section begin, 0 for none
	end  int64                      // of the last section
	err  error                      // of reading a few bytes
}

// readBinaryParts reads a matrix in parts. ok is false for a format that each process reads whole.
// It is a collective.
func readBinaryParts(p *build.Parts, op string, dup sparse.Combine) (a rep.Matrix, labels core.Sides, ok bool, err error) {
	o, e := p.O, p.O.E.Item()
	head, err := hgb.NewReader(p.Stream(), &hgb.Options{Convert: o.Convert}).Head(false, e)
	if err != nil {
		err = binaryError(o, op, err)
	}
	if err := build.Agree(o, err); err != nil {
		return nil, core.Sides{}, true, err
	}
	st := &head.Shape
	if st.Format == hgb.Blocked || !e.Holds(head.Element) {
		return nil, core.Sides{}, false, nil
	}
	b := &binaryParts{p: p, e: e, head: head}
	cuts, stores, good, err := b.read()
	if err == nil && !good {
		err = p.Blame(b.readWhole(op))
	}
	if err != nil {
		return nil, core.Sides{}, true, err
	}
	names, err := hgb.NewReader(io.NewSectionReader(p.File, b.end, p.Size-b.end), &hgb.Options{Context: o.Ctx, Threads: o.Threads}).Sides(head)
	if err != nil {
		err = binaryError(o, op, err)
	}
	if err := build.Agree(o, err); err != nil {
		return nil, core.Sides{}, true, err
	}
	how := rep.Assembly{}
	if o.Symmetrise {
		if st.NRows != st.NCols {
			return nil, core.Sides{}, true, o.FailKind(0, fmt.Sprintf("cannot symmetrise a %d×%d matrix", st.NRows, st.NCols), core.RemedyNoSymmetrise)
		}
		how = p.Assembly(dup, true)
	}
	a, err = p.Assemble(st.NRows, st.NCols, cuts, stores, how)
	return a, core.LabelsOfFile(names), true, err
}

// binarySection is an array of a file.
type binarySection struct {
	id    uint32
	items int64
	width int
}

// sections lists the arrays of the format in their order.
func (b *binaryParts) sections() (list []binarySection) {
	cells := b.head.Shape.NVals
	if b.head.Shape.Sparse() {
		list = append(list, binarySection{hgb.SectionPtr, b.head.Vecs + 1, 8})
		if b.head.Shape.Format == sparse.Hypersparse {
			list = append(list, binarySection{hgb.SectionRows, b.head.Vecs, 4})
		}
		list = append(list, binarySection{hgb.SectionCols, b.head.Shape.NVals, 4})
	} else {
		n, _ := b.head.Shape.Cells()
		cells = int64(n)
	}
	if b.head.Shape.Format == sparse.Bitmap {
		list = append(list, binarySection{hgb.SectionPresent, cells, 1})
	}
	return append(list, binarySection{hgb.SectionVals, cells, b.e.Width})
}

// locate finds the sections. It reports whether they lie within the file and begin as they should.
func (b *binaryParts) locate() bool {
	at, good := int64(hgb.HeadBytes), true
	for _, s := range b.sections() {
		if s.items > b.p.Size || at+hgb.SectionBytes(s.items, int64(s.width)) > b.p.Size {
			return false
		}
		rd := b.reader(at, 16, false)
		_, err := rd.SectionHead(s.id, s.items, s.width)
		good = good && err == nil
		b.at[s.id] = at + 16
		at += hgb.SectionBytes(s.items, int64(s.width))
	}
	b.end = at
	return good
}

// reader reads some bytes of the file, and adds them to the progress if counted.
func (b *binaryParts) reader(at, bytes int64, counted bool) *hgb.Reader {
	var r io.Reader = io.NewSectionReader(b.p.File, at, bytes)
	if counted {
		r = build.CountingReader{R: r, Added: b.p.Report}
	}
	return hgb.NewReader(r, &hgb.Options{Context: b.p.O.Ctx, Threads: b.p.O.Threads})
}

// number reads one item of a section of offsets or of row numbers.
func (b *binaryParts) number(section int, k int64) int64 {
	var buf [8]byte
	width := int64(8)
	if section == hgb.SectionRows {
		width = 4
	}
	if _, err := b.p.File.ReadAt(buf[:width], b.at[section]+width*k); err != nil && b.err == nil {
		b.err = err
	}
	if width == 4 {
		return int64(int32(binary.LittleEndian.Uint32(buf[:])))
	}
	return int64(binary.LittleEndian.Uint64(buf[:]))
}

// vecOf returns the first stored row from row i on.
func (b *binaryParts) vecOf(i int) int64 {
	if b.head.Shape.Format != sparse.Hypersparse {
		return int64(i)
	}
	return int64(sort.Search(int(b.head.Vecs), func(k int) bool { return b.number(hgb.SectionRows, int64(k)) >= int64(i) }))
}

// cuts cuts the rows as cutsOf does for the whole matrix. All processes find the same by a few
// reads. Of a matrix that Symmetrise changes the group does not keep the cuts.
func (b *binaryParts) cuts() []int {
	n := b.head.Shape.NRows
	if b.head.Shape.NVals == 0 {
		return b.p.G.Cuts(n)
	}
	before := func(i int) int64 { // entries before row i
		if b.head.Shape.Sparse() {
			return b.number(hgb.SectionPtr, b.vecOf(i))
		}
		return int64(i) * int64(b.head.Shape.NCols)
	}
	work := func(i int) int64 { return before(i) + parallel.RowWork*int64(i) }
	total := work(n)
	rowAt := func(w int64) int {
		return sort.Search(n, func(i int) bool { return work(i) >= w })
	}
	if b.p.O.Symmetrise {
		return build.CutWork(n, b.p.G.Size(), total, rowAt)
	}
	return b.p.G.CutBy(n, total, rowAt)
}

// read reads the blocks of the ranks of this process, which stay on the host. good is false if the
// file has a fault. It is a collective.
func (b *binaryParts) read() (cuts []int, stores []*sparse.Store, good bool, err error) {
	p := b.p
	located := b.locate()
	if all, ok, err := p.Facts(b.each([]int64{0}), b.eachErr(!located)); err != nil || !ok || all == nil {
		return nil, nil, false, err
	}
	cuts, stores = b.cuts(), make([]*sparse.Store, len(p.G.Ranks()))
	sections := b.sections()
	found, errs := b.each(make([]int64, 1+2*len(sections))), b.eachErr(b.err != nil)
	_ = p.G.Apart(func(k int, c comm.Comm) error {
		if errs[k] != nil {
			return nil
		}
		st, sums, err := b.block(c, cuts[c.Rank()], cuts[c.Rank()+1])
		if errs[k] = err; err == nil {
			stores[k] = st
			found[k] = append([]int64{st.NVals}, sums...)
		}
		return nil
	}, nil)
	all, ok, err := p.Facts(found, errs)
	if err != nil || !ok {
		return nil, nil, false, err
	}
	entries := int64(0)
	for _, f := range all {
		entries += f[0]
	}
	good = entries == b.head.Shape.NVals
	for q, section := range sections {
		pieces := make([]int64, 0, 2*len(all))
		for _, f := range all {
			pieces = append(pieces, f[1+2*q:3+2*q]...)
		}
		good = good && b.intact(section, pieces)
	}
	if all, ok, err = p.Facts(b.each([]int64{0}), b.eachErr(!good)); err != nil || !ok || all == nil {
		return nil, nil, false, err
	}
	return cuts, stores, true, nil
}

// each returns facts for each rank of this process, and eachErr errors.
func (b *binaryParts) each(facts []int64) [][]int64 {
	list := make([][]int64, len(b.p.G.Ranks()))
	for k := range list {
		list[k] = slices.Clone(facts)
	}
	return list
}

func (b *binaryParts) eachErr(bad bool) []error {
	list := make([]error, len(b.p.G.Ranks()))
	for k := range list {
		if bad {
			list[k] = errDamaged
		}
	}
	return list
}

// errDamaged says that a part has a fault; see blame.
var errDamaged = &matrix.InvalidError{Op: "graphio.ReadBinary", Reason: "the file is damaged"}

// intact reports whether the checksum of a section agrees with its pieces, given by their checksums
// and lengths.
func (b *binaryParts) intact(s binarySection, list []int64) bool {
	bytes := s.items * int64(s.width)
	head, tail := make([]byte, 16), make([]byte, hgb.TailBytes(s.items, s.width))
	if _, err := b.p.File.ReadAt(head, b.at[s.id]-16); err != nil {
		return false
	}
	if _, err := b.p.File.ReadAt(tail, b.at[s.id]+bytes); err != nil && err != io.EOF {
		return false
	}
	sum := pieces.CRC32C.Of(head)
	for q := 0; q < len(list); q += 2 {
		sum = pieces.CRC32C.Join(sum, uint32(list[q]), list[q+1])
		bytes -= list[q+1]
	}
	return bytes == 0 && hgb.Sealed(tail, sum)
}

// block reads rows lo … hi−1 of a rank, and for each section the checksum and the number of the
// bytes that it contributes.
func (b *binaryParts) block(c comm.Comm, lo, hi int) (st *sparse.Store, sums []int64, err error) {
	whole := &b.head.Shape
	st = &sparse.Store{Structure: sparse.Structure{NRows: hi - lo, NCols: whole.NCols, Format: whole.Format}, Type: b.e.Type}
	from, to := int64(lo)*int64(whole.NCols), int64(hi)*int64(whole.NCols) // of columns and values
	if st.Sparse() {
		first, last := b.vecOf(lo), b.vecOf(hi)
		if c.Rank() == 0 {
			first = 0
		}
		end := c.Rank() == c.Size()-1
		if end {
			last = b.head.Vecs
		}
		if first > last {
			return nil, nil, errDamaged
		}
		// The offset after the last row belongs to the piece of the next rank.
		if st.Ptr, err = readPiece[int64](b, hgb.SectionPtr, first, last, &sums); err != nil {
			return nil, nil, err
		}
		var after, sum []int64
		if after, err = readPiece[int64](b, hgb.SectionPtr, last, last+1, &sum); err != nil {
			return nil, nil, err
		}
		if end {
			sums = []int64{int64(pieces.CRC32C.Join(uint32(sums[0]), uint32(sum[0]), sum[1])), sums[1] + sum[1]}
		}
		st.Ptr = append(st.Ptr, after...)
		from, to = st.Ptr[0], st.Ptr[len(st.Ptr)-1]
		if !slices.IsSorted(st.Ptr) || from < 0 || to > whole.NVals || c.Rank() == 0 && from != 0 || end && to != whole.NVals {
			return nil, nil, errDamaged
		}
		for k := range st.Ptr {
			st.Ptr[k] -= from
		}
		if st.Format == sparse.Hypersparse {
			if st.RowIDs, err = readPiece[int32](b, hgb.SectionRows, first, last, &sums); err != nil {
				return nil, nil, err
			}
			for k := range st.RowIDs {
				st.RowIDs[k] -= int32(lo)
			}
		}
		if st.Idx, err = readPiece[int32](b, hgb.SectionCols, from, to, &sums); err != nil {
			return nil, nil, err
		}
	}
	st.NVals = to - from
	if st.Format == sparse.Bitmap {
		if st.Present, err = readPiece[uint8](b, hgb.SectionPresent, from, to, &sums); err != nil {
			return nil, nil, err
		}
		st.NVals = 0
		for _, x := range st.Present {
			st.NVals += int64(x)
		}
	}
	if st.Val, err = b.piece(hgb.SectionVals, b.e, from, to, &sums); err != nil {
		return nil, nil, err
	}
	if err := st.Check(st.Val.Len(), false); err != nil {
		return nil, nil, err
	}
	if b.p.O.PatternOnly {
		st.Type.Fill(st.Val, st.Type.True)
	}
	if st.Sparse() {
		st = st.Settle()
	}
	return st, sums, nil
}

// piece reads items from … to−1 of a section, and appends the checksum and the number of their
// bytes to sums.
func (b *binaryParts) piece(id uint32, e hgb.Item, from, to int64, sums *[]int64) (sparse.Values, error) {
	width := int64(e.Width)
	bytes := (to - from) * width
	items, sum, err := b.reader(b.at[id]+from*width, bytes, true).Part(id, e, to-from, 0)
	*sums = append(*sums, int64(sum), bytes)
	return items, err
}

// readPiece is piece for items that are no values.
func readPiece[E hgb.Fixed](b *binaryParts, id uint32, from, to int64, sums *[]int64) ([]E, error) {
	items, err := b.piece(id, hgb.ItemFor[E](), from, to, sums)
	return sparse.SliceOf[E](items), err
}

// readWhole reads the whole file and holds nothing; if the arrays are as their checksums say, it
// checks the invariants of the whole matrix, and holds it.
func (b *binaryParts) readWhole(op string) func() error {
	return func() error {
		o := *b.p.O
		o.Progress = nil
		rd := hgb.NewReader(b.p.Stream(), binaryOptions(&o))
		if _, err := rd.Head(false, b.e); err != nil {
			return binaryError(&o, op, err)
		}
		for _, s := range b.sections() {
			if err := b.skim(rd, s); err != nil {
				return binaryError(&o, op, err)
			}
		}
		_, _, err := readStore(op, b.p.Stream(), false, &o)
		return err
	}
}

// skim reads a section and drops it.
func (b *binaryParts) skim(rd *hgb.Reader, s binarySection) error {
	e := b.e
	switch s.id {
	case hgb.SectionPtr:
		e = hgb.ItemFor[int64]()
	case hgb.SectionRows, hgb.SectionCols:
		e = hgb.ItemFor[int32]()
	case hgb.SectionPresent:
		e = hgb.ItemFor[uint8]()
	}
	sum, err := rd.SectionHead(s.id, s.items, s.width)
	for left, per := s.items, int64(hgb.Chunk/s.width); left > 0 && err == nil; left -= per {
		_, sum, err = rd.Part(s.id, e, min(left, per), sum)
	}
	if err != nil {
		return err
	}
	return rd.SectionTail(s.id, s.items, s.width, sum)
}
