package matrix

import (
	"bytes"
	"fmt"
	"io"
	"strconv"

	"github.com/hiveblas/hiveblas/internal/chunk"
	"github.com/hiveblas/hiveblas/internal/sparse"
)

// ReadEdgeList reads a list of edges, gzip-compressed or not, one “source
// target” or “source target value” a line: as in SNAP, TSV and simple CSV
// files. The result is square, entry (i, j) being the edge from id i to id j.
//
// Fields are separated by blanks and tabs, or by one comma or semicolon;
// quotation marks mean nothing. Lines that begin with # or %, and blank lines,
// are skipped. The first line decides whether there are values; see
// [WeightColumn]. Without, every entry is 1 or true. Values are read as in a
// real Matrix Market file; see [ReadMatrixMarket].
//
// Ids are integers if every id of the file is a 64-bit integer in its usual
// form (007 is not), and text otherwise. Vertices are numbered in ascending
// order of id, and the labels give the ids back. [KeepIDs] takes ids for
// 0-based indices instead; labels are nil then.
//
// A list in which nothing but the first line has text for ids is an error,
// because that line is likely to hold column names: [SkipLines] skips it,
// [StringIDs] takes it for an edge. An edge given twice is an error unless
// [Duplicates] says how to combine.
func ReadEdgeList[T Element](r io.Reader, opts ...ReadOption) (*Matrix[T], *Labels, error) {
	a, l, _, err := readEdges[T](r, readOptionsOf(opts), false)
	return a, l, err
}

// ReadBipartite is [ReadEdgeList] with separate ids for sources and targets,
// which become the rows and the columns of a rectangular matrix.
func ReadBipartite[T Element](r io.Reader, opts ...ReadOption) (a *Matrix[T], rows, cols *Labels, err error) {
	return readEdges[T](r, readOptionsOf(opts), true)
}

func readEdges[T comparable](r io.Reader, o *readOptions, bipartite bool) (*Matrix[T], *Labels, *Labels, error) {
	const op = "matrix.ReadEdgeList"
	e, ok := elementOf[T]()
	if !ok {
		return nil, nil, nil, &TypeError{op, e.name(), "bool, an integer or a float", ""}
	}
	dup, err := combiner[T](op, o)
	if err != nil {
		return nil, nil, nil, err
	}
	if w := o.weightColumn; w == 1 || w == 2 {
		return nil, nil, nil, &InvalidError{op, "WeightColumn is 3 or more, or 0 for none: the first two are the source and the target"}
	}
	if o.dimsGiven {
		if err := checkDims(op, o.rows, o.columns); err != nil {
			return nil, nil, nil, err
		}
		if !o.keepIDs {
			return nil, nil, nil, &InvalidError{op, "Dims goes with KeepIDs: ids that are renumbered have the dimensions that they need"}
		}
	}
	src, taken, err := chunk.NewSource(r)
	if err != nil {
		return nil, nil, nil, o.streamError(1, err)
	}
	rd := &edgeReader[T]{o: o, e: e, scan: scannerFor(e, false, o)}
	if err := rd.firstLine(src); err != nil {
		return nil, nil, nil, err
	}
	err = chunk.Read(o.ctx, src, o.threads, rd.parse, func(b edgeBlock[T]) error {
		if b.err != nil {
			return b.err
		}
		rd.textual = rd.textual || b.names != nil
		rd.textLines += b.textLines
		rd.lines += int64(len(b.src))
		b.block = chunk.Block{}
		rd.blocks = append(rd.blocks, b)
		o.report(taken())
		return nil
	})
	if err != nil {
		return nil, nil, nil, o.streamError(src.At(), err)
	}
	if rd.textual && !o.stringIDs && rd.textLines == 1 && rd.lines > 1 && rd.firstIsText {
		return nil, nil, nil, o.fail(rd.first, "the first line has text where the others have integer ids",
			"SkipLines(1) skips a line of column names, StringIDs takes it for an edge")
	}
	b, rows, cols, err := rd.number(bipartite)
	if err != nil {
		return nil, nil, nil, err
	}
	b.threads = o.threads
	a, err := b.Build(dup)
	if err != nil {
		return nil, nil, nil, rd.duplicate(err, rows, cols)
	}
	if o.symmetrise {
		if m, n := a.Dims(); m != n || bipartite {
			return nil, nil, nil, o.fail(0, fmt.Sprintf("cannot symmetrise a bipartite or %d×%d matrix", m, n), "")
		}
		a.set(symmetrise(a.rows(), e, o.threads))
	}
	o.report(taken())
	return a, rows, cols, nil
}

// edgeReader reads the lines of a list.
type edgeReader[T comparable] struct {
	o    *readOptions
	e    element[T]
	scan scanner[T]

	columns     int   // fields of the first line
	weight      int   // field of the value, 0: none
	exact       bool  // whether every line must have as many fields as the first
	first       int64 // number of the first line of data
	firstIsText bool

	blocks    []edgeBlock[T]
	textual   bool
	textLines int64
	lines     int64
}

// edgeBlock is what a block of lines gave.
type edgeBlock[T any] struct {
	block     chunk.Block
	src, dst  []int64 // ids; where names is not nil, indices into it
	names     []string
	vals      []T
	textLines int64 // lines with an id that is no integer
	err       *ParseError
}

// firstLine skips what SkipLines asks for and learns the columns from the
// first line of data.
func (rd *edgeReader[T]) firstLine(src *chunk.Source) error {
	for range rd.o.header {
		if _, line, err := src.Line(); err == io.EOF {
			return nil
		} else if err != nil {
			return rd.o.streamError(line, err)
		}
	}
	text, line, err := significant(src, &rd.o.common)
	for err == nil {
		if line == 1 {
			text = bytes.TrimPrefix(text, []byte("\xef\xbb\xbf"))
		}
		if len(text) > 0 && text[0] != '#' && text[0] != '%' {
			break
		}
		text, line, err = significant(src, &rd.o.common)
	}
	if err == io.EOF {
		return nil
	} else if err != nil {
		return rd.o.streamError(line, err)
	}
	var f [][]byte
	src.Unread(text)
	text = append(text[:len(text):len(text)], '\n')
	for p := 0; ; {
		at, end, next := edgeField(text, p)
		if at == end && text[end] == '\n' {
			break
		}
		f = append(f, text[at:end])
		p = next
	}
	rd.first, rd.columns, rd.weight = line, len(f), rd.o.weightColumn
	if rd.columns >= 2 {
		_, a := idOf(f[0])
		_, b := idOf(f[1])
		rd.firstIsText = !a || !b
	}
	switch {
	case rd.columns < 2:
		return rd.o.fail(line, "the line has one field, want “source target”", "")
	case rd.weight >= 0:
	case rd.columns > 3:
		return rd.o.fail(line, fmt.Sprintf("the line has %d fields, want “source target” or “source target value”", rd.columns),
			"WeightColumn names the column of the value, or 0 for none")
	default:
		rd.exact = true
		rd.weight = 0
		if rd.columns == 3 {
			rd.weight = 3
		}
	}
	return nil
}

// edgeField returns the field that begins at or after d[p:], which lies within
// a line, and where to look for the next: past one comma or semicolon.
func edgeField(d []byte, p int) (at, end, next int) {
	for isBlank(d[p]) {
		p++
	}
	at = p
	for !isBlank(d[p]) && d[p] != ',' && d[p] != ';' && d[p] != '\n' {
		p++
	}
	end = p
	for isBlank(d[p]) {
		p++
	}
	if d[p] == ',' || d[p] == ';' {
		p++
	}
	return at, end, p
}

// idOf reads an integer in its usual form.
func idOf(text []byte) (id int64, ok bool) {
	digits := text
	if len(digits) > 0 && digits[0] == '-' {
		digits = digits[1:]
	}
	if len(digits) == 0 || len(digits) > 19 || (digits[0] == '0' && len(text) > 1) {
		return 0, false
	}
	var v uint64
	for _, c := range digits {
		if c -= '0'; c > 9 {
			return 0, false
		}
		v = v*10 + uint64(c)
	}
	if len(digits) < len(text) {
		return -int64(v), v <= 1<<63
	}
	return int64(v), v < 1<<63
}

// dictionary numbers names in the order of their first appearance.
type dictionary struct {
	index map[string]int64
	names []string
}

func newDictionary() *dictionary { return &dictionary{index: map[string]int64{}, names: []string{}} }

func (d *dictionary) add(name []byte) int64 {
	if k, ok := d.index[string(name)]; ok {
		return k
	}
	s := string(name)
	k := int64(len(d.names))
	d.index[s] = k
	d.names = append(d.names, s)
	return k
}

// textual replaces the integer ids of a block by indices of their names.
func (b *edgeBlock[T]) textual(d *dictionary) {
	var buf []byte
	for _, ids := range [][]int64{b.src, b.dst} {
		for p, id := range ids {
			buf = strconv.AppendInt(buf[:0], id, 10)
			ids[p] = d.add(buf)
		}
	}
}

// parse reads the lines of a block. It runs on several blocks at once.
func (rd *edgeReader[T]) parse(blk chunk.Block) (r edgeBlock[T]) {
	r.block = blk
	d := blk.Data
	lines := min(bytes.Count(d, []byte{'\n'}), len(d)/4+1)
	r.src, r.dst, r.vals = make([]int64, 0, lines), make([]int64, 0, lines), make([]T, 0, lines)
	var dict *dictionary
	if rd.o.stringIDs {
		dict = newDictionary()
	}
	v := rd.e.one
	for p := 0; p < len(d); {
		start := p
		for isBlank(d[p]) {
			p++
		}
		if c := d[p]; c == '\n' || c == '#' || c == '%' {
			p += bytes.IndexByte(d[p:], '\n') + 1
			continue
		}
		a, ae, next := edgeField(d, p)
		b, be, next := edgeField(d, next)
		if a == ae || b == be {
			r.err = rd.fail(blk, start, "an empty source or target", "")
			return r
		}
		s, isInt := idOf(d[a:ae])
		t, isInt2 := idOf(d[b:be])
		fields := 2
		for ; d[next] != '\n'; fields++ {
			at, end, after := edgeField(d, next)
			if fields+1 == rd.weight {
				var f fault
				var stop int
				if v, stop, f = rd.scan(d, at); stop != end && f == faultNone {
					f = faultSyntax
				}
				if f != faultNone {
					r.err = rd.valueError(blk, start, quote(d[at:end]), f)
					return r
				}
			}
			next = after
		}
		if fields < rd.weight || (rd.exact && fields != rd.columns) {
			r.err = rd.fail(blk, start, fmt.Sprintf("the line has %d fields, want %d", fields, max(rd.weight, rd.columns)), "")
			return r
		}
		p = next + 1
		if rd.o.keepIDs {
			if err := rd.checkIDs(blk, start, d[a:ae], d[b:be], s, t, isInt, isInt2); err != nil {
				r.err = err
				return r
			}
		} else if !isInt || !isInt2 {
			r.textLines++
			if dict == nil {
				dict = newDictionary()
				r.textual(dict)
			}
		}
		if dict != nil {
			s, t = dict.add(d[a:ae]), dict.add(d[b:be])
		}
		r.src = append(r.src, s)
		r.dst = append(r.dst, t)
		r.vals = append(r.vals, v)
	}
	if dict != nil {
		r.names = dict.names
	}
	return r
}

func (rd *edgeReader[T]) fail(b chunk.Block, start int, msg, remedy string) *ParseError {
	return rd.o.fail(b.Line+int64(bytes.Count(b.Data[:start], []byte{'\n'})), msg, remedy)
}

func (rd *edgeReader[T]) valueError(b chunk.Block, start int, text string, f fault) *ParseError {
	msg, remedy := f.explain(text, rd.e.name())
	e := rd.fail(b, start, msg, remedy)
	if e.Line == rd.first && f == faultSyntax {
		e.Remedy = "SkipLines(1) skips a line of column names"
	}
	return e
}

// checkIDs verifies that ids can be indices, for KeepIDs.
func (rd *edgeReader[T]) checkIDs(b chunk.Block, start int, st, tt []byte, s, t int64, sok, tok bool) *ParseError {
	limits := [2]int64{MaxDim, MaxDim}
	if rd.o.dimsGiven {
		limits = [2]int64{int64(rd.o.rows), int64(rd.o.columns)}
	}
	what := [2]string{"source", "target"}
	for k, id := range [2]int64{s, t} {
		switch {
		case k == 0 && !sok:
			return rd.fail(b, start, "the source "+quote(st)+" is not an integer", "read without KeepIDs")
		case k == 1 && !tok:
			return rd.fail(b, start, "the target "+quote(tt)+" is not an integer", "read without KeepIDs")
		case id < 0 || id >= limits[k]:
			e := rd.fail(b, start, fmt.Sprintf("the %s %d is out of range, want 0…%d", what[k], id, limits[k]-1), "ids are renumbered without KeepIDs")
			e.Err = &IndexError{"ReadEdgeList", what[k], id, limits[k]}
			return e
		}
	}
	return nil
}

// tuplesOf empties the ids of a block into 32-bit indices.
func (b *edgeBlock[T]) tuplesOf(row, col func(id int64) int32) sparse.Tuples[T] {
	t := sparse.Tuples[T]{Row: make([]int32, len(b.src)), Col: make([]int32, len(b.src)), Val: b.vals}
	for p, id := range b.src {
		t.Row[p] = row(id)
	}
	for p, id := range b.dst {
		t.Col[p] = col(id)
	}
	*b = edgeBlock[T]{}
	return t
}
