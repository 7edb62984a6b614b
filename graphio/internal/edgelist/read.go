// Package edgelist reads and writes edge lists and vectors as delimited text: .txt, .el, .tsv,
// .csv.
package edgelist

import (
	"bytes"
	"fmt"
	"io"

	"github.com/hiveblas/hiveblas/graphio/internal/build"
	"github.com/hiveblas/hiveblas/graphio/internal/core"
	"github.com/hiveblas/hiveblas/graphio/internal/numtext"
	"github.com/hiveblas/hiveblas/internal/chunk"
	"github.com/hiveblas/hiveblas/internal/delimited"
	"github.com/hiveblas/hiveblas/internal/rep"
	"github.com/hiveblas/hiveblas/internal/sparse"
	"github.com/hiveblas/hiveblas/matrix"
)

// Read reads a list; see graphio.ReadEdgeList and, for bipartite, graphio.ReadBipartite.
func Read(r io.Reader, o *core.ReadOptions, bipartite bool) (rep.Matrix, core.Sides, error) {
	const op = "graphio.ReadEdgeList"
	dup, err := o.Combiner(op)
	if err != nil {
		return nil, core.Sides{}, err
	}
	if err := checkLayout(o, op); err != nil {
		return nil, core.Sides{}, err
	}
	if bipartite && o.Symmetrise {
		return nil, core.Sides{}, &core.OptionError{Op: op, Option: "Symmetrise", Reason: "the rows and columns of a bipartite graph are different vertices", Kind: core.RemedyNoSymmetrise}
	}
	if r == nil {
		return nil, core.Sides{}, core.NilReader(op)
	}
	p, err := build.InParts(o, r, !o.Renumber && !o.StringIDs)
	if err != nil {
		return nil, core.Sides{}, err
	}
	if p != nil {
		r = p.Stream()
	}
	rd, src, err := openEdges(r, o)
	if p != nil {
		if err := build.Agree(o, err); err != nil {
			return nil, core.Sides{}, err
		}
		return rd.inParts(p, src, bipartite, dup)
	}
	var st *sparse.Store
	var labels core.Sides
	if err == nil {
		st, labels, err = rd.whole(src, bipartite, dup)
	}
	return build.Placed(o, st, labels, err)
}

// openEdges reads the first lines of a list. The source is nil for one without edges.
func openEdges(r io.Reader, o *core.ReadOptions) (*edgeReader, *chunk.Source, error) {
	src, taken, err := chunk.NewSource(r)
	if err != nil {
		return nil, nil, o.StreamError(1, err)
	}
	rd := &edgeReader{o: o, e: o.E, taken: taken, scan: numtext.ScannerFor(o.E, numtext.FieldAny, o), lowest: [2]int64{1<<63 - 1, 1<<63 - 1}, dicts: &dictionaries{}}
	var ok bool
	if rd.edgeLayout, ok, err = findLayout(src, o); err != nil || !ok {
		return rd, nil, err
	}
	return rd, src, nil
}

// whole reads the edges and makes the matrix.
func (rd *edgeReader) whole(src *chunk.Source, bipartite bool, dup sparse.Combine) (*sparse.Store, core.Sides, error) {
	o := rd.o
	if err := rd.read(src); err != nil {
		return nil, core.Sides{}, err
	}
	if err := rd.checkSquare(); err != nil {
		return nil, core.Sides{}, err
	}
	b, labels, err := rd.number(bipartite, o.Symmetrise && dup != nil)
	if err != nil {
		return nil, core.Sides{}, err
	}
	st, err := b.Build(o, dup)
	if err != nil {
		return nil, core.Sides{}, rd.duplicate(err, labels)
	}
	list := st.ToSparse()
	_ = rd.finish(st.NRows, st.NCols, bipartite, func(side int) (int64, error) {
		if side < 0 {
			return usedIDs(&list.Structure), nil
		}
		return usedOn(&list.Structure, side), nil
	})
	rd.warnHeader(&list.Structure, labels)
	if o.Symmetrise {
		st = build.Symmetrise(list, rd.e, nil, o.Threads)
	}
	o.Report(rd.taken())
	return st, labels, nil
}

// checkSquare returns an error if Dims and Symmetrise contradict each other.
func (rd *edgeReader) checkSquare() error {
	if o := rd.o; o.Symmetrise && o.DimsGiven && o.Rows != o.Columns {
		return o.FailKind(0, fmt.Sprintf("cannot symmetrise a %d×%d matrix", o.Rows, o.Columns), core.RemedyNoSymmetrise)
	}
	return nil
}

// edgeReader reads the lines of a list.
type edgeReader struct {
	edgeLayout
	o     *core.ReadOptions
	e     core.Element
	scan  numtext.Scanner
	taken func() int64
	dicts *dictionaries

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
	src, dst []int64 // ids; with a dictionary, numbers of their names
	dict     *dictionary
	vals     sparse.Values
	lowest   [2]int64
	real     bool
	comment  int64 // number of the first line that is a comment, or 0
	err      *core.ParseError
}

// read reads the edges into rd.blocks.
func (rd *edgeReader) read(src *chunk.Source) error {
	o := rd.o
	err := rd.edges(src, o.Threads, func(b edgeBlock) {
		rd.note(b)
		b.block = chunk.Block{}
		rd.blocks = append(rd.blocks, b)
		o.Report(rd.taken())
	})
	if err != nil {
		return err
	}
	if rd.textual && !o.StringIDs && o.Header == core.HeaderAuto && rd.headerLine == 0 && rd.looksLikeHeader && rd.textLines() == 1 {
		return o.FailKind(rd.first, "the first line has words where all others have integer ids", core.RemedyEitherHeader)
	}
	if rd.textual && rd.comment > 0 && !o.CommentsGiven {
		return o.FailKind(rd.comment, "the line begins as a comment does, and ids of this list are text: it may be an edge", core.RemedyComment)
	}
	return nil
}

// note records what a block tells about the list.
func (rd *edgeReader) note(b edgeBlock) {
	rd.textual = rd.textual || b.dict != nil
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
	err := chunk.Read(rd.o.Ctx, src, threads, rd.parse, func(b edgeBlock) error {
		if b.err != nil {
			return b.err
		}
		keep(b)
		return nil
	})
	return rd.o.StreamError(src.At(), err)
}

// textLines counts the lines with an id that is no integer, up to 2.
func (rd *edgeReader) textLines() (n int) {
	for _, b := range rd.blocks {
		for p := range b.src {
			if b.dict == nil {
				break
			}
			_, s := core.IDOf(b.dict.name(b.src[p]))
			_, t := core.IDOf(b.dict.name(b.dst[p]))
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
	if o.Info != nil {
		*o.Info = core.Info{Rows: m, Cols: n, Entries: rd.lines, Layout: "edges", Symmetry: "general", Field: "integer"}
		switch {
		case rd.weight == 0:
			o.Info.Field = "pattern"
		case rd.real:
			o.Info.Field = "real"
		}
	}
	if rd.unread != "" && !o.PatternOnly {
		o.Warning(core.RemedyWeightColumn, "every edge has the value 1: no column of the header has the name of a weight, of "+rd.unread)
	}
	if o.Renumber || o.DimsGiven || o.Warn == nil && build.GroupOf(o) == nil { // ranks ask alike, with Warn or without
		return nil
	}
	return rd.warnings(m, n, bipartite, used)
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
	if rd.o.StringIDs {
		dict = rd.dicts.take()
	}
	defer func() {
		if dict != nil {
			r.dict = dict
			rd.dicts.put(dict)
		}
	}()
	var (
		quotes   = bytes.IndexByte(d, '"') >= 0
		byChar   = rd.split.delim != blanks
		split    = rd.split
		noteReal = rd.weight > 0 && rd.o.Info != nil
		base     = int64(max(rd.o.Base, 0))
		v        = rd.e.One
		s, t     []byte
		comments = rd.comments
	)
	for p := 0; p < len(d); {
		start, q := p, p
		for core.IsBlank(d[q]) {
			q++
		}
		if c := d[q]; c == '\n' || comments[c] {
			if c != '\n' && r.comment == 0 {
				r.comment = build.LineOf(blk, q)
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
					r.err = rd.failKind(blk, start, msg, core.RemedyQuotes)
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
				var f numtext.Fault
				stop := end
				if !quotes {
					v, stop, f = rd.scan(d, at)
				} else {
					end = len(text)
					v, stop, f = rd.scan(append(bytes.Clone(text), '\n'), 0)
				}
				if stop != end && f == numtext.FaultNone {
					f = numtext.FaultSyntax
				}
				if f != numtext.FaultNone {
					r.err = rd.valueError(blk, start, text, f)
					return r
				}
				if noteReal && !r.real {
					r.real = !numtext.WrittenAsInteger(text)
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
		i, isInt := core.IDOf(s)
		j, isInt2 := core.IDOf(t)
		if !rd.o.Renumber {
			if !isInt || !isInt2 || uint64(i) >= matrix.MaxDim || uint64(j) >= matrix.MaxDim || min(i, j) < base || rd.o.DimsGiven {
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
				dict = rd.dicts.take()
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
	if rd.weight > 0 {
		r.vals = rd.e.Pack(vals)
	} else {
		r.vals = rd.e.Ones(len(r.src))
	}
	return r
}

func (rd *edgeReader) failKind(b chunk.Block, start int, msg string, kind core.RemedyKind) *core.ParseError {
	return rd.o.FailKind(build.LineOf(b, start), msg, kind)
}

// countError is the error of a line with another number of fields.
func (rd *edgeReader) countError(b chunk.Block, start, fields int) *core.ParseError {
	want := rd.need
	if rd.exact {
		want = max(want, rd.columns)
	}
	if fields == 1 && want == 2 {
		return rd.failKind(b, start, "the line has one field, want “source target”", core.RemedyDelimiter)
	}
	return rd.o.Fail(build.LineOf(b, start), fmt.Sprintf("the line has %d fields, want %d", fields, want), "")
}

func (rd *edgeReader) emptyError(b chunk.Block, start int) *core.ParseError {
	if rd.split.delim == '\t' && rd.o.Delimiter == 0 {
		return rd.failKind(b, start, "an empty source or target between two tabs", core.RemedyBlanks)
	}
	return rd.o.Fail(build.LineOf(b, start), "an empty source or target", "")
}

func (rd *edgeReader) valueError(b chunk.Block, start int, text []byte, f numtext.Fault) *core.ParseError {
	msg, kind := numtext.Explain(rd.o, f, core.Quote(text), rd.e.Name(), rd.e.Kind)
	line := build.LineOf(b, start)
	comma, _ := delimited.Comma(string(text), rd.o.Decimal == ',')
	switch {
	case f != numtext.FaultSyntax || comma != "":
	case rd.hasNumbers(text):
		msg, kind = "the value "+core.Quote(text)+" has numbers with blanks between", core.RemedyBlanks
	case len(text) == 0:
		msg = "the value is empty"
	case line == rd.first && (rd.looksLikeHeader || rd.namesValue):
		kind = core.RemedyHeader
	case line == rd.first && rd.o.Renumber && isWord(string(text)):
		kind = core.RemedyFirstValue
	default:
		kind = core.RemedyWeightColumn
	}
	return rd.o.FailKind(line, msg, kind)
}

// checkIDs verifies that ids can be indices.
func (rd *edgeReader) checkIDs(b chunk.Block, start int, st, tt []byte, s, t int64, sok, tok bool) *core.ParseError {
	limits := [2]int64{matrix.MaxDim, matrix.MaxDim}
	if rd.o.DimsGiven {
		limits = [2]int64{int64(rd.o.Rows), int64(rd.o.Columns)}
	}
	base := int64(max(rd.o.Base, 0))
	ids, texts, ok := [2]int64{s, t}, [2][]byte{st, tt}, [2]bool{sok, tok}
	for k, what := range [2]string{"source", "target"} {
		if !ok[k] {
			if rd.hasNumbers(texts[k]) {
				return rd.failKind(b, start, "the "+what+" "+core.Quote(texts[k])+" has numbers with blanks between", core.RemedyBlanks)
			}
			kind := core.RemedyRenumber
			if rd.looksLikeHeader && build.LineOf(b, start) == rd.first {
				kind = core.RemedyHeader
			}
			return rd.failKind(b, start, "the "+what+" "+core.Quote(texts[k])+" is not an integer", kind)
		}
		if id := ids[k] - base; ids[k] < base || id >= limits[k] {
			e := rd.failKind(b, start, fmt.Sprintf("the %s %d is out of range, want %d…%d", what, ids[k], base, limits[k]-1+base), core.RemedyRenumber)
			if ids[k] == 0 {
				e.Kind, e.Remedy = core.RemedyBaseZero, core.RemedyBaseZero.String()
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
	return rd.o.Delimiter == 0 && rd.split.delim != blanks && core.SeveralNumbers(string(field))
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
		build.ToLower(t)
	}
	*b = edgeBlock{}
	return t
}
