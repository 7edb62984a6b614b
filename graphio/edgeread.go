package graphio

import (
	"bytes"
	"fmt"
	"io"
	"strconv"
	"strings"

	"github.com/hiveblas/hiveblas/internal/chunk"
	"github.com/hiveblas/hiveblas/internal/delimited"
	"github.com/hiveblas/hiveblas/internal/rep"
	"github.com/hiveblas/hiveblas/internal/sparse"
	"github.com/hiveblas/hiveblas/matrix"
)

// ReadEdgeList reads a list of edges, one “source target” or “source target
// value” a line, gzip-compressed or not: SNAP, TSV and CSV files. The result is
// square; entry (i, j) is the edge from i to j. Lines that begin with # or %, or a
// character of [CommentChars], and blank lines are skipped. Text is UTF-8, or UTF-16
// with a byte order mark.
//
// Fields. One delimiter separates the fields of all lines: that of [Delimiter]
// or [InFormat], else a tab, comma, semicolon or bar, whichever splits the most
// of the first 100 lines (at most 32 KiB). Of several, the tab wins, then the one
// with the most fields in the first line. Blanks and tabs separate fields if none
// of these occurs. The rules of encoding/csv apply: a field in quotation marks may
// contain the delimiter, and two marks stand for one. A field does not contain a
// line break. Blanks around a field are no part of it, and an empty field after
// the last delimiter of a line is ignored.
//
// Columns. The first line is a header if [Header] says so, if a column is
// chosen by name, or if its fields are known names in any case of letters,
// one for the source and one for the target:
//
//   - source, src, from, follower, row, person, user, user_id, userid, node1, node_1, vertex1,
//     from_node, fromnode, and source_id, sourceid, src_id, srcid, from_id, fromid,
//     from_node_id, fromnodeid
//   - target, dst, dest, destination, to, followed, followee, col, column, friend, item, item_id,
//     itemid, movie, movie_id, movieid, node2, node_2, vertex2,
//     to_node, tonode, and target_id, targetid, dst_id, dstid, to_id, toid, to_node_id, tonodeid
//   - weight, weights, wt, value, val, count, amount, rating, score, distance, cost, capacity,
//     length for the value
//   - id, edge_id, edgeid, label, type, kind, relation, name, time, timestamp, date, timeset,
//     interval, index, and a column without a name, which are ignored
//
// Other words among them are ignored too if the source and the target have one of the first names
// of the lists (source, src, from, target, dst, to, alone or with id or node), or a later line has
// a number below such a word.
//
// The columns are those of [SourceColumn], [TargetColumn] and [WeightColumn],
// else those that the header names, else the first two and, if there are three,
// the third. Without a column of values every entry is 1 or true.
//
// Ids are 0-based indices, or 1-based with [Base]. With [RenumberIDs] they are
// any 64-bit integers, or any text if one of them is no integer in its usual
// form (007 is not); vertices are numbered in ascending order of id. Labels are
// nil if the ids are the indices, and give the ids back otherwise. [Warn]
// receives a warning if no edge has id 0, if fewer than 1 % of the ids up to
// the largest occur, or if all fields of the first line are words and no other line has
// one of its two ids although ids of others repeat, so that it may be a header.
//
// Values are read as in a real Matrix Market file (see [ReadMatrixMarket]), except
// that a value written as an integer must be exact in a float type, and that [Decimal]
// names the sign before a fraction. A repeated edge
// is an error unless [Duplicates] combines it; see [Symmetrise] for undirected
// graphs. Errors in the file are a *[ParseError].
func ReadEdgeList[T matrix.Element](r io.Reader, opts ...ReadOption) (*matrix.Matrix[T], *Labels, error) {
	a, l, err := readEdges(r, optionsFor[T](opts), false)
	return matrix.OfInside[T](a), l.rows, err
}

// ReadBipartite is [ReadEdgeList] with separate ids for sources and targets,
// which become the rows and the columns of a rectangular matrix.
func ReadBipartite[T matrix.Element](r io.Reader, opts ...ReadOption) (a *matrix.Matrix[T], rows, cols *Labels, err error) {
	m, l, err := readEdges(r, optionsFor[T](opts), true)
	return matrix.OfInside[T](m), l.rows, l.cols, err
}

func readEdges(r io.Reader, o *readOptions, bipartite bool) (rep.Matrix, sides, error) {
	const op = "graphio.ReadEdgeList"
	dup, err := o.combiner(op)
	if err != nil {
		return nil, sides{}, err
	}
	if err := o.checkLayout(op); err != nil {
		return nil, sides{}, err
	}
	if bipartite && o.symmetrise {
		return nil, sides{}, &OptionError{op, "Symmetrise", "the rows and columns of a bipartite graph are different vertices", RemedyNoSymmetrise}
	}
	if r == nil {
		return nil, sides{}, nilReader(op)
	}
	p, err := o.inParts(r, !o.renumber && !o.stringIDs)
	if err != nil {
		return nil, sides{}, err
	}
	if p != nil {
		r = p.stream()
	}
	rd, src, err := openEdges(r, o)
	if p != nil {
		if err := o.agree(err); err != nil {
			return nil, sides{}, err
		}
		return rd.inParts(p, src, bipartite, dup)
	}
	var st *sparse.Store
	var labels sides
	if err == nil {
		st, labels, err = rd.whole(src, bipartite, dup)
	}
	return placed(o, st, labels, err)
}

// openEdges reads the first lines of a list. The source is nil for one without edges.
func openEdges(r io.Reader, o *readOptions) (*edgeReader, *chunk.Source, error) {
	src, taken, err := chunk.NewSource(r)
	if err != nil {
		return nil, nil, o.streamError(1, err)
	}
	rd := &edgeReader{o: o, e: o.e, taken: taken, scan: scannerFor(o.e, fieldAny, o), lowest: [2]int64{1<<63 - 1, 1<<63 - 1}}
	var ok bool
	if rd.edgeLayout, ok, err = findLayout(src, o); err != nil || !ok {
		return rd, nil, err
	}
	return rd, src, nil
}

// whole reads the edges and makes the matrix.
func (rd *edgeReader) whole(src *chunk.Source, bipartite bool, dup sparse.Combine) (*sparse.Store, sides, error) {
	o := rd.o
	if err := rd.read(src); err != nil {
		return nil, sides{}, err
	}
	if err := rd.checkSquare(); err != nil {
		return nil, sides{}, err
	}
	b, labels, err := rd.number(bipartite, o.symmetrise && dup != nil)
	if err != nil {
		return nil, sides{}, err
	}
	st, err := b.build(o, dup)
	if err != nil {
		return nil, sides{}, rd.duplicate(err, labels)
	}
	list := st.ToSparse()
	_ = rd.finish(st.NRows, st.NCols, bipartite, func(side int) (int64, error) {
		if side < 0 {
			return usedIDs(&list.Structure), nil
		}
		return usedOn(&list.Structure, side), nil
	})
	rd.warnHeader(&list.Structure, labels)
	if o.symmetrise {
		st = symmetrise(list, rd.e, nil, o.threads)
	}
	o.report(rd.taken())
	return st, labels, nil
}

// checkSquare returns an error if Dims and Symmetrise contradict each other.
func (rd *edgeReader) checkSquare() error {
	if o := rd.o; o.symmetrise && o.dimsGiven && o.rows != o.columns {
		return o.failKind(0, fmt.Sprintf("cannot symmetrise a %d×%d matrix", o.rows, o.columns), RemedyNoSymmetrise)
	}
	return nil
}

// edgeReader reads the lines of a list.
type edgeReader struct {
	edgeLayout
	o     *readOptions
	e     element
	scan  scanner
	taken func() int64

	blocks  []edgeBlock
	textual bool // an id is text
	real    bool // a value is not written as an integer
	lines   int64
	lowest  [2]int64 // source and target
	comment int64    // number of the first comment after the first edge, or 0
}

// edgeBlock holds the edges of a block of lines.
type edgeBlock struct {
	block    chunk.Block
	src, dst []int64 // ids; where names is not nil, indices into it
	names    []string
	vals     sparse.Values
	lowest   [2]int64
	real     bool
	comment  int64 // number of the first line that is a comment, or 0
	err      *ParseError
}

// read reads the edges into rd.blocks.
func (rd *edgeReader) read(src *chunk.Source) error {
	o := rd.o
	err := rd.edges(src, o.threads, func(b edgeBlock) {
		rd.note(b)
		b.block = chunk.Block{}
		rd.blocks = append(rd.blocks, b)
		o.report(rd.taken())
	})
	if err != nil {
		return err
	}
	if rd.textual && !o.stringIDs && o.header == HeaderAuto && rd.headerLine == 0 && rd.looksLikeHeader && rd.textLines() == 1 {
		return o.failKind(rd.first, "the first line has words where all others have integer ids", RemedyEitherHeader)
	}
	if rd.textual && rd.comment > 0 && !o.commentsGiven {
		return o.failKind(rd.comment, "the line begins as a comment does, and ids of this list are text: it may be an edge", RemedyComment)
	}
	return nil
}

// note records what a block tells about the list.
func (rd *edgeReader) note(b edgeBlock) {
	rd.textual = rd.textual || b.names != nil
	rd.real = rd.real || b.real
	rd.lines += int64(len(b.src))
	if rd.comment == 0 {
		rd.comment = b.comment
	}
	for k := range rd.lowest {
		rd.lowest[k] = min(rd.lowest[k], b.lowest[k])
	}
}

// edges parses the lines to the end of the source. A nil source has none.
func (rd *edgeReader) edges(src *chunk.Source, threads int, keep func(edgeBlock)) error {
	if src == nil {
		return nil
	}
	err := chunk.Read(rd.o.ctx, src, threads, rd.parse, func(b edgeBlock) error {
		if b.err != nil {
			return b.err
		}
		keep(b)
		return nil
	})
	return rd.o.streamError(src.At(), err)
}

// textLines counts the lines with an id that is no integer, up to 2.
func (rd *edgeReader) textLines() (n int) {
	for _, b := range rd.blocks {
		for p := range b.src {
			if b.names == nil {
				break
			}
			_, s := idOf([]byte(b.names[b.src[p]]))
			_, t := idOf([]byte(b.names[b.dst[p]]))
			if !s || !t {
				if n++; n > 1 {
					return n
				}
			}
		}
	}
	return n
}

// finish fills the Info of a list of an m×n matrix and gives warnings about its ids. used is as for
// warnings.
func (rd *edgeReader) finish(m, n int, bipartite bool, used func(side int) (int64, error)) error {
	o := rd.o
	if o.info != nil {
		*o.info = Info{Rows: m, Cols: n, Entries: rd.lines, Layout: "edges", Symmetry: "general", Field: "integer"}
		switch {
		case rd.weight == 0:
			o.info.Field = "pattern"
		case rd.real:
			o.info.Field = "real"
		}
	}
	if rd.unread != "" && !o.patternOnly {
		o.warning(RemedyWeightColumn, "every edge has the value 1: no column of the header has the name of a weight, of "+rd.unread)
	}
	if o.renumber || o.dimsGiven || o.warn == nil && o.group() == nil { // ranks ask alike, with Warn or without
		return nil
	}
	return rd.warnings(m, n, bipartite, used)
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
func (b *edgeBlock) textual(d *dictionary) {
	var buf []byte
	for _, ids := range [][]int64{b.src, b.dst} {
		for p, id := range ids {
			buf = strconv.AppendInt(buf[:0], id, 10)
			ids[p] = d.add(buf)
		}
	}
}

// parse reads the lines of a block. It runs on several blocks at once.
func (rd *edgeReader) parse(blk chunk.Block) (r edgeBlock) {
	r.block = blk
	d := blk.Data
	lines := min(bytes.Count(d, []byte{'\n'}), len(d)/4+1)
	r.src, r.dst = make([]int64, 0, lines), make([]int64, 0, lines)
	var vals []uint64
	if rd.weight > 0 {
		vals = make([]uint64, 0, lines)
	}
	r.lowest = [2]int64{1<<63 - 1, 1<<63 - 1}
	var dict *dictionary
	if rd.o.stringIDs {
		dict = newDictionary()
	}
	var (
		quotes   = bytes.IndexByte(d, '"') >= 0
		byChar   = rd.split.delim != blanks
		split    = rd.split
		noteReal = rd.weight > 0 && rd.o.info != nil
		base     = int64(max(rd.o.base, 0))
		v        = rd.e.one
		s, t     []byte
		comments = rd.comments
	)
	for p := 0; p < len(d); {
		start, q := p, p
		for isBlank(d[q]) {
			q++
		}
		if c := d[q]; c == '\n' || comments[c] {
			if c != '\n' && r.comment == 0 {
				r.comment = lineOf(blk, q)
			}
			p = q + bytes.IndexByte(d[q:], '\n') + 1
			continue
		}
		s, t = nil, nil
		var quoted [2]bool // source and target
		fields := 0
		for last := false; !last; {
			var at, end int
			var text []byte
			var inQuotes bool
			if !quotes {
				at, end, p, last = split.next(d, p)
				text = d[at:end]
				if last && at == end && byChar {
					break
				}
			} else {
				var msg string
				if text, inQuotes, p, last, msg = split.quoted(d, p); msg != "" {
					r.err = rd.failKind(blk, start, msg, RemedyQuotes)
					return r
				}
				if last && len(text) == 0 && !inQuotes && byChar {
					break
				}
			}
			fields++
			switch fields {
			case rd.src:
				s, quoted[0] = text, inQuotes
			case rd.dst:
				t, quoted[1] = text, inQuotes
			case rd.weight:
				var f fault
				stop := end
				if !quotes {
					v, stop, f = rd.scan(d, at)
				} else {
					end = len(text)
					v, stop, f = rd.scan(append(bytes.Clone(text), '\n'), 0)
				}
				if stop != end && f == faultNone {
					f = faultSyntax
				}
				if f != faultNone {
					r.err = rd.valueError(blk, start, text, f)
					return r
				}
				if noteReal && !r.real {
					r.real = !writtenAsInteger(text)
				}
			}
		}
		if fields < rd.need || rd.exact && fields != rd.columns && !(rd.optional && fields == rd.columns-1) {
			r.err = rd.countError(blk, start, fields)
			return r
		}
		if len(s) == 0 || len(t) == 0 {
			r.err = rd.emptyError(blk, start)
			return r
		}
		i, isInt := idOf(s)
		j, isInt2 := idOf(t)
		if !rd.o.renumber {
			if !isInt || !isInt2 || uint64(i) >= matrix.MaxDim || uint64(j) >= matrix.MaxDim || min(i, j) < base || rd.o.dimsGiven {
				if err := rd.checkIDs(blk, start, s, t, i, j, isInt, isInt2); err != nil {
					r.err = err
					return r
				}
			}
			r.lowest[0], r.lowest[1] = min(r.lowest[0], i), min(r.lowest[1], j)
		} else {
			if !isInt && !quoted[0] && rd.hasNumbers(s) || !isInt2 && !quoted[1] && rd.hasNumbers(t) {
				r.err = rd.checkIDs(blk, start, s, t, i, j, isInt, isInt2)
				return r
			}
			if (!isInt || !isInt2) && dict == nil {
				dict = newDictionary()
				r.textual(dict)
			}
			if dict != nil {
				i, j = dict.add(s), dict.add(t)
			}
		}
		r.src = append(r.src, i)
		r.dst = append(r.dst, j)
		if rd.weight > 0 {
			vals = append(vals, v)
		}
	}
	if dict != nil {
		r.names = dict.names
	}
	if rd.weight > 0 {
		r.vals = rd.e.pack(vals)
	} else {
		r.vals = rd.e.ones(len(r.src))
	}
	return r
}

// lineOf returns the number of the line of a block that begins at start.
func lineOf(b chunk.Block, start int) int64 {
	return b.Line + int64(bytes.Count(b.Data[:start], []byte{'\n'}))
}

func (rd *edgeReader) failKind(b chunk.Block, start int, msg string, kind RemedyKind) *ParseError {
	return rd.o.failKind(lineOf(b, start), msg, kind)
}

// countError is the error of a line with another number of fields.
func (rd *edgeReader) countError(b chunk.Block, start, fields int) *ParseError {
	want := rd.need
	if rd.exact {
		want = max(want, rd.columns)
	}
	if fields == 1 && want == 2 {
		return rd.failKind(b, start, "the line has one field, want “source target”", RemedyDelimiter)
	}
	return rd.o.fail(lineOf(b, start), fmt.Sprintf("the line has %d fields, want %d", fields, want), "")
}

func (rd *edgeReader) emptyError(b chunk.Block, start int) *ParseError {
	if rd.split.delim == '\t' && rd.o.delimiter == 0 {
		return rd.failKind(b, start, "an empty source or target between two tabs", RemedyBlanks)
	}
	return rd.o.fail(lineOf(b, start), "an empty source or target", "")
}

func (rd *edgeReader) valueError(b chunk.Block, start int, text []byte, f fault) *ParseError {
	msg, kind := rd.o.explain(f, quote(text), rd.e.name(), rd.e.kind)
	line := lineOf(b, start)
	comma, _ := delimited.Comma(string(text), rd.o.decimal == ',')
	switch {
	case f != faultSyntax || comma != "":
	case rd.hasNumbers(text):
		msg, kind = "the value "+quote(text)+" has numbers with blanks between", RemedyBlanks
	case len(text) == 0:
		msg = "the value is empty"
	case line == rd.first && (rd.looksLikeHeader || rd.namesValue):
		kind = RemedyHeader
	case line == rd.first && rd.o.renumber && isWord(string(text)):
		kind = RemedyFirstValue
	default:
		kind = RemedyWeightColumn
	}
	return rd.o.failKind(line, msg, kind)
}

// checkIDs verifies that ids can be indices.
func (rd *edgeReader) checkIDs(b chunk.Block, start int, st, tt []byte, s, t int64, sok, tok bool) *ParseError {
	limits := [2]int64{matrix.MaxDim, matrix.MaxDim}
	if rd.o.dimsGiven {
		limits = [2]int64{int64(rd.o.rows), int64(rd.o.columns)}
	}
	base := int64(max(rd.o.base, 0))
	ids, texts, ok := [2]int64{s, t}, [2][]byte{st, tt}, [2]bool{sok, tok}
	for k, what := range [2]string{"source", "target"} {
		if !ok[k] {
			if rd.hasNumbers(texts[k]) {
				return rd.failKind(b, start, "the "+what+" "+quote(texts[k])+" has numbers with blanks between", RemedyBlanks)
			}
			kind := RemedyRenumber
			if rd.looksLikeHeader && lineOf(b, start) == rd.first {
				kind = RemedyHeader
			}
			return rd.failKind(b, start, "the "+what+" "+quote(texts[k])+" is not an integer", kind)
		}
		if id := ids[k] - base; ids[k] < base || id >= limits[k] {
			e := rd.failKind(b, start, fmt.Sprintf("the %s %d is out of range, want %d…%d", what, ids[k], base, limits[k]-1+base), RemedyRenumber)
			if ids[k] == 0 {
				e.Kind, e.Remedy = RemedyBaseZero, RemedyBaseZero.String()
			}
			e.Err = &matrix.IndexError{Op: "ReadEdgeList", Arg: what, Index: ids[k], Limit: limits[k]}
			return e
		}
	}
	return nil
}

// hasNumbers reports whether a field has several numbers with blanks between, so that the delimiter
// that was found splits a list which both blanks and tabs separate.
func (rd *edgeReader) hasNumbers(field []byte) bool {
	return rd.o.delimiter == 0 && rd.split.delim != blanks && severalNumbers(string(field))
}

// severalNumbers reports whether a text has several numbers with blanks between and nothing else.
func severalNumbers(text string) bool {
	if text == "" || strings.IndexByte("+-.,0123456789", text[0]) < 0 || strings.IndexByte(text, ' ') < 0 {
		return false
	}
	for f := range strings.FieldsSeq(text) {
		if strings.Trim(f, "+-.,0123456789eE") != "" || f[0] == 'e' || f[0] == 'E' {
			return false
		}
	}
	return true
}

// tuplesOf empties the ids of a block into 32-bit indices. With lower, all
// entries of a pair of vertices become one position below the diagonal.
func (b *edgeBlock) tuplesOf(row, col func(id int64) int32, lower bool) sparse.Block {
	t := sparse.Block{Row: make([]int32, len(b.src)), Col: make([]int32, len(b.src)), Val: b.vals}
	for p, id := range b.src {
		t.Row[p] = row(id)
	}
	for p, id := range b.dst {
		t.Col[p] = col(id)
	}
	if lower {
		toLower(t)
	}
	*b = edgeBlock{}
	return t
}
