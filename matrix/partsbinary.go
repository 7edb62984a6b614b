package matrix

import (
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"io"
	"slices"
	"sort"

	"github.com/hiveblas/hiveblas/comm"
	"github.com/hiveblas/hiveblas/internal/parallel"
	"github.com/hiveblas/hiveblas/internal/sparse"
)

// binaryParts is a file in the binary form that the ranks of a group read in parts: each reads the
// bytes of its rows in every section. The checksum of a section follows from those of its pieces.
type binaryParts[T comparable] struct {
	p     *parts
	e     element[T]
	shape sparse.Structure // of the whole matrix, without arrays
	vecs  int64
	at    [sectionVals + 1]int64 // where the items of a section begin, 0 for none
	end   int64                  // of the last section
	err   error                  // of reading a few bytes
}

// readBinaryParts reads a matrix in parts. ok is false for a format that each process reads whole.
// It is a collective.
func readBinaryParts[T comparable](p *parts, op string, e element[T], dup Combiner[T]) (a *Matrix[T], labels sides, ok bool, err error) {
	o := p.o
	st := &sparse.Typed[T]{}
	head := &binaryReader{r: p.stream(), o: o, taken: noBytes}
	vecs, kinds, err := readBinaryHead(head, &st.Structure, binaryMatrix, e.item(), op)
	if err := o.agree(err); err != nil {
		return nil, sides{}, true, err
	}
	if st.Format == blocked || itemOf(head.element).code() != e.item().code() {
		return nil, sides{}, false, nil
	}
	b := &binaryParts[T]{p: p, e: e, shape: st.Structure, vecs: vecs}
	s, good, err := b.read()
	if err == nil && !good {
		err = p.blame(b.again(op))
	}
	if err != nil {
		return nil, sides{}, true, err
	}
	rest := &binaryReader{r: io.NewSectionReader(p.file, b.end, p.size-b.end), o: o, taken: noBytes}
	labels, err = readSides(rest, kinds, st.NRows, st.NCols)
	if err := o.agree(err); err != nil {
		return nil, sides{}, true, err
	}
	if !o.symmetrise {
		a, err = matrixOfParts[T](p, s)
		return a, labels, true, err
	}
	if st.NRows != st.NCols {
		return nil, sides{}, true, o.failKind(0, fmt.Sprintf("cannot symmetrise a %d×%d matrix", st.NRows, st.NCols), RemedyNoSymmetrise)
	}
	a, err = finishParts(p, s, dup, true)
	return a, labels, true, err
}

// noBytes is the progress of a reader whose bytes are counted elsewhere.
func noBytes() int64 { return 0 }

// binarySection is an array of a file.
type binarySection struct {
	id    uint32
	items int64
	width int
}

// sections lists the arrays of the format in their order.
func (b *binaryParts[T]) sections() (list []binarySection) {
	cells := b.shape.NVals
	if b.shape.Sparse() {
		list = append(list, binarySection{sectionPtr, b.vecs + 1, 8})
		if b.shape.Format == sparse.Hypersparse {
			list = append(list, binarySection{sectionRows, b.vecs, 4})
		}
		list = append(list, binarySection{sectionCols, b.shape.NVals, 4})
	} else {
		n, _ := b.shape.Cells()
		cells = int64(n)
	}
	if b.shape.Format == sparse.Bitmap {
		list = append(list, binarySection{sectionPresent, cells, 1})
	}
	return append(list, binarySection{sectionVals, cells, b.e.fileWidth()})
}

// locate finds the sections. It reports whether they lie within the file and begin as they should.
func (b *binaryParts[T]) locate() bool {
	at, good := int64(binaryHead), true
	for _, s := range b.sections() {
		if s.items > b.p.size || at+sectionBytes(s.items, int64(s.width)) > b.p.size {
			return false
		}
		rd := b.reader(at, 16, false)
		_, err := sectionHead(rd, s.id, s.items, s.width)
		good = good && err == nil
		b.at[s.id] = at + 16
		at += sectionBytes(s.items, int64(s.width))
	}
	b.end = at
	return good
}

// reader reads some bytes of the file, and adds them to the progress if counted.
func (b *binaryParts[T]) reader(at, bytes int64, counted bool) *binaryReader {
	o := *b.p.o
	o.progress = nil
	var r io.Reader = io.NewSectionReader(b.p.file, at, bytes)
	if counted {
		r = countingReader{r, b.p.report}
	}
	return &binaryReader{r: r, o: &o, taken: noBytes}
}

// number reads one item of a section of offsets or of row numbers.
func (b *binaryParts[T]) number(section int, k int64) int64 {
	var buf [8]byte
	width := int64(8)
	if section == sectionRows {
		width = 4
	}
	if _, err := b.p.file.ReadAt(buf[:width], b.at[section]+width*k); err != nil && b.err == nil {
		b.err = err
	}
	if width == 4 {
		return int64(int32(binary.LittleEndian.Uint32(buf[:])))
	}
	return int64(binary.LittleEndian.Uint64(buf[:]))
}

// vecOf returns the first stored row from row i on.
func (b *binaryParts[T]) vecOf(i int) int64 {
	if b.shape.Format != sparse.Hypersparse {
		return int64(i)
	}
	return int64(sort.Search(int(b.vecs), func(k int) bool { return b.number(sectionRows, int64(k)) >= int64(i) }))
}

// cuts cuts the rows as cutsOf does for the whole matrix. All processes find the same by a few
// reads. Of a matrix that Symmetrise changes the group does not keep the cuts.
func (b *binaryParts[T]) cuts() []int {
	n := b.shape.NRows
	if b.shape.NVals == 0 {
		return b.p.g.Cuts(n)
	}
	before := func(i int) int64 { // entries before row i
		if b.shape.Sparse() {
			return b.number(sectionPtr, b.vecOf(i))
		}
		return int64(i) * int64(b.shape.NCols)
	}
	work := func(i int) int64 { return before(i) + parallel.RowWork*int64(i) }
	total := work(n)
	rowAt := func(w int64) int {
		return sort.Search(n, func(i int) bool { return work(i) >= w })
	}
	if b.p.o.symmetrise {
		return cutWork(n, b.p.g.Size(), total, rowAt)
	}
	return b.p.g.CutBy(n, total, rowAt)
}

// read reads the blocks of the ranks of this process, which stay on the host. good is false if the
// file has a fault. It is a collective.
func (b *binaryParts[T]) read() (s *spread, good bool, err error) {
	p := b.p
	located := b.locate()
	if all, ok, err := p.facts(b.each([]int64{0}), b.eachErr(!located)); err != nil || !ok || all == nil {
		return nil, false, err
	}
	s = &spread{g: p.g, kind: sparse.TypeOf[T](), rows: b.shape.NRows, cols: b.shape.NCols, cuts: b.cuts(), loose: true, part: make([]*core, len(p.g.Ranks()))}
	sections := b.sections()
	found, errs := b.each(make([]int64, 1+2*len(sections))), b.eachErr(b.err != nil)
	_ = p.g.Apart(func(k int, c comm.Comm) error {
		if errs[k] != nil {
			return nil
		}
		st, sums, err := b.block(c, s)
		if errs[k] = err; err == nil {
			s.part[k] = newCore(sparse.Untyped(st))
			found[k] = append([]int64{st.NVals}, sums...)
		}
		return nil
	}, nil)
	all, ok, err := p.facts(found, errs)
	if err != nil || !ok {
		return nil, false, err
	}
	entries := int64(0)
	for _, f := range all {
		entries += f[0]
	}
	good = entries == b.shape.NVals
	for q, section := range sections {
		pieces := make([]int64, 0, 2*len(all))
		for _, f := range all {
			pieces = append(pieces, f[1+2*q:3+2*q]...)
		}
		good = good && b.intact(section, pieces)
	}
	if all, ok, err = p.facts(b.each([]int64{0}), b.eachErr(!good)); err != nil || !ok || all == nil {
		return nil, false, err
	}
	return s, true, nil
}

// each returns facts for each rank of this process, and eachErr errors.
func (b *binaryParts[T]) each(facts []int64) [][]int64 {
	list := make([][]int64, len(b.p.g.Ranks()))
	for k := range list {
		list[k] = slices.Clone(facts)
	}
	return list
}

func (b *binaryParts[T]) eachErr(bad bool) []error {
	list := make([]error, len(b.p.g.Ranks()))
	for k := range list {
		if bad {
			list[k] = errDamaged
		}
	}
	return list
}

// errDamaged says that a part has a fault; see blame.
var errDamaged = &InvalidError{"matrix.ReadBinary", "the file is damaged"}

// intact reports whether the checksum of a section is that of its pieces, given by their checksums
// and lengths.
func (b *binaryParts[T]) intact(s binarySection, pieces []int64) bool {
	bytes := s.items * int64(s.width)
	head, tail := make([]byte, 16), make([]byte, padding(bytes)+4)
	if _, err := b.p.file.ReadAt(head, b.at[s.id]-16); err != nil {
		return false
	}
	if _, err := b.p.file.ReadAt(tail, b.at[s.id]+bytes); err != nil && err != io.EOF {
		return false
	}
	sum := crc32.Checksum(head, castagnoli)
	for q := 0; q < len(pieces); q += 2 {
		sum = polynomialCastagnoli.join(sum, uint32(pieces[q]), pieces[q+1])
		bytes -= pieces[q+1]
	}
	zeros := len(tail) - 4
	return bytes == 0 && binary.LittleEndian.Uint32(tail[zeros:]) == crc32.Update(sum, castagnoli, tail[:zeros])
}

// block reads the rows of a rank, and for each section the checksum and the number of the bytes
// that it contributes.
func (b *binaryParts[T]) block(c comm.Comm, s *spread) (st *sparse.Typed[T], sums []int64, err error) {
	lo, hi := s.block(c)
	st = &sparse.Typed[T]{Structure: sparse.Structure{NRows: hi - lo, NCols: b.shape.NCols, Format: b.shape.Format}}
	from, to := int64(lo)*int64(b.shape.NCols), int64(hi)*int64(b.shape.NCols) // of columns and values
	if st.Sparse() {
		first, last := b.vecOf(lo), b.vecOf(hi)
		if c.Rank() == 0 {
			first = 0
		}
		end := c.Rank() == c.Size()-1
		if end {
			last = b.vecs
		}
		if first > last {
			return nil, nil, errDamaged
		}
		// The offset after the last row belongs to the piece of the next rank.
		if st.Ptr, err = readPiece[int64](b, sectionPtr, 8, first, last, &sums); err != nil {
			return nil, nil, err
		}
		var after []int64
		var sum []int64
		if after, err = readPiece[int64](b, sectionPtr, 8, last, last+1, &sum); err != nil {
			return nil, nil, err
		}
		if end {
			sums = []int64{int64(polynomialCastagnoli.join(uint32(sums[0]), uint32(sum[0]), sum[1])), sums[1] + sum[1]}
		}
		st.Ptr = append(st.Ptr, after...)
		from, to = st.Ptr[0], st.Ptr[len(st.Ptr)-1]
		if !slices.IsSorted(st.Ptr) || from < 0 || to > b.shape.NVals || c.Rank() == 0 && from != 0 || end && to != b.shape.NVals {
			return nil, nil, errDamaged
		}
		for k := range st.Ptr {
			st.Ptr[k] -= from
		}
		if st.Format == sparse.Hypersparse {
			if st.RowIDs, err = readPiece[int32](b, sectionRows, 4, first, last, &sums); err != nil {
				return nil, nil, err
			}
			for k := range st.RowIDs {
				st.RowIDs[k] -= int32(lo)
			}
		}
		if st.Idx, err = readPiece[int32](b, sectionCols, 4, from, to, &sums); err != nil {
			return nil, nil, err
		}
	}
	st.NVals = to - from
	if st.Format == sparse.Bitmap {
		if st.Present, err = readPiece[uint8](b, sectionPresent, 1, from, to, &sums); err != nil {
			return nil, nil, err
		}
		st.NVals = 0
		for _, x := range st.Present {
			st.NVals += int64(x)
		}
	}
	if st.Val, err = readPiece[T](b, sectionVals, b.e.fileWidth(), from, to, &sums); err != nil {
		return nil, nil, err
	}
	if err := st.Check(len(st.Val), false); err != nil {
		return nil, nil, err
	}
	if b.p.o.patternOnly {
		for q := range st.Val {
			st.Val[q] = b.e.one
		}
	}
	if st.Sparse() {
		st = sparse.Settle(st)
	}
	return st, sums, nil
}

// readPiece reads items from … to−1 of a section, and appends the checksum and the number of their
// bytes to sums.
func readPiece[E, T comparable](b *binaryParts[T], id uint32, width int, from, to int64, sums *[]int64) ([]E, error) {
	bytes := (to - from) * int64(width)
	rd := b.reader(b.at[id]+from*int64(width), bytes, true)
	items, sum, err := readItems[E](rd, "section "+sectionNames[id], to-from, width, 0)
	*sums = append(*sums, int64(sum), bytes)
	return items, err
}

// again reads the whole file and holds nothing; if the arrays are as their checksums say, it checks
// the invariants of the whole matrix, and holds it.
func (b *binaryParts[T]) again(op string) func() error {
	return func() error {
		o := *b.p.o
		o.progress = nil
		rd := &binaryReader{r: b.p.stream(), o: &o, taken: noBytes}
		if _, _, err := readBinaryHead(rd, &sparse.Structure{}, binaryMatrix, b.e.item(), op); err != nil {
			return err
		}
		for _, s := range b.sections() {
			if err := b.skim(rd, s); err != nil {
				return err
			}
		}
		_, _, err := readBinary[T](b.p.stream(), binaryMatrix, op, &o)
		return err
	}
}

// skim reads a section and drops it.
func (b *binaryParts[T]) skim(rd *binaryReader, s binarySection) error {
	sum, err := sectionHead(rd, s.id, s.items, s.width)
	for left, per := s.items, int64(binaryChunk/s.width); left > 0 && err == nil; left -= per {
		what, n := "section "+sectionNames[s.id], min(left, per)
		switch s.id {
		case sectionPtr:
			_, sum, err = readItems[int64](rd, what, n, s.width, sum)
		case sectionRows, sectionCols:
			_, sum, err = readItems[int32](rd, what, n, s.width, sum)
		case sectionPresent:
			_, sum, err = readItems[uint8](rd, what, n, s.width, sum)
		default:
			_, sum, err = readItems[T](rd, what, n, s.width, sum)
		}
	}
	if err != nil {
		return err
	}
	return sectionTail(rd, s.id, s.items, s.width, sum)
}
