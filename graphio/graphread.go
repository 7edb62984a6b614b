package graphio

import (
	"errors"
	"fmt"
	"io"
	"strconv"

	"github.com/hiveblas/hiveblas/internal/chunk"
	"github.com/hiveblas/hiveblas/internal/sparse"
	"github.com/hiveblas/hiveblas/matrix"
)

// graphEdges collects the edges of a format of graphs and makes the matrix of them.
type graphEdges struct {
	o      *readOptions
	e      element
	dup    sparse.Combine
	blocks []sparse.Block
	last   tuples // edges that are not in blocks yet
	count  int64
}

// newGraphEdges verifies the options of a reader.
func newGraphEdges(op string, r io.Reader, o *readOptions) (*graphEdges, error) {
	if r == nil {
		return nil, nilReader(op)
	}
	dup, err := o.combiner(op)
	return &graphEdges{o: o, e: o.e, dup: dup}, err
}

// addBlock appends edges, whose slices g then owns.
func (g *graphEdges) addBlock(t sparse.Block) {
	if len(t.Row) > 0 {
		g.flush()
		g.blocks = append(g.blocks, t)
		g.count += int64(len(t.Row))
	}
}

// add appends an edge.
func (g *graphEdges) add(i, j int32, v uint64) {
	if len(g.last.row) == cap(g.last.row) {
		size := fullBlock
		if len(g.blocks) == 0 && g.last.row == nil {
			size = firstBlock
		}
		g.flush()
		g.last = room(size)
	}
	g.last.add(i, j, v)
	g.count++
}

// flush makes a block of the edges of add.
func (g *graphEdges) flush() {
	if len(g.last.row) > 0 {
		g.blocks = append(g.blocks, g.e.block(g.last))
	}
	g.last = tuples{}
}

// built returns the m×n matrix of the edges, and empties g.
func (g *graphEdges) built(m, n int, dup sparse.Combine) (*sparse.Store, error) {
	g.flush()
	b := &builder{t: g.e.t, m: m, n: n}
	for _, t := range g.blocks {
		b.add(t)
	}
	g.blocks = nil
	return b.build(g.o, dup)
}

// finish returns the matrix of m×n, with both directions of each edge if undirected or with
// Symmetrise: of a pair with an entry in each direction the smaller, or the combination.
func (g *graphEdges) finish(m, n int, labels sides, undirected bool) (*sparse.Store, sides, error) {
	o := g.o
	if o.symmetrise && m != n {
		return nil, sides{}, o.failKind(0, fmt.Sprintf("cannot symmetrise a %d×%d matrix", m, n), RemedyNoSymmetrise)
	}
	g.flush()
	mirror := undirected || o.symmetrise
	if mirror && g.dup != nil {
		for _, t := range g.blocks {
			toLower(t)
		}
	}
	st, err := g.built(m, n, g.dup)
	if err != nil {
		var d *matrix.DuplicateError
		if errors.As(err, &d) {
			e := o.failKind(0, fmt.Sprintf("the edge from %s to %s is given twice", labels.rows.Name(d.Row), labels.cols.Name(d.Col)), RemedyDuplicates)
			e.Err = err
			err = e
		}
		return nil, sides{}, err
	}
	if mirror {
		st = symmetrise(st.ToSparse(), g.e, nil, o.threads)
	}
	return st, labels, nil
}

// describe fills the Info of the file.
func (g *graphEdges) describe(layout, field, symmetry string, m, n int) {
	if g.o.info != nil {
		*g.o.info = Info{Rows: m, Cols: n, Entries: g.count, Layout: layout, Field: field, Symmetry: symmetry}
	}
}

// fieldOf names the kind of values of a text: none, some that are not integers, integers.
func fieldOf(weighted, real bool) string {
	switch {
	case !weighted:
		return "pattern"
	case real:
		return "real"
	}
	return "integer"
}

// both returns labels that rows and columns share.
func bothSides(l *Labels) sides { return sides{l, l} }

// labelsOf returns labels of names: integers if all are, nil if they are 0, 1, 2, ….
func labelsOf(names []string) *Labels {
	ids := make([]int64, len(names))
	plain := true
	for i, name := range names {
		id, ok := idOf([]byte(name))
		if !ok {
			return &Labels{names: names}
		}
		ids[i] = id
		plain = plain && id == int64(i)
	}
	if plain {
		return nil
	}
	return &Labels{ids: ids, numeric: true}
}

// lineFields iterates over the fields of a line that blanks separate.
type lineFields struct {
	d []byte
	p int
}

// next returns the start and the end of the next field; start is −1 at the end of the line.
func (f *lineFields) next() (start, end int) {
	d, p := f.d, f.p
	for d[p] == ' ' || d[p] == '\t' || d[p] == '\r' {
		p++
	}
	if d[p] == '\n' {
		f.p = p
		return -1, -1
	}
	start = p
	for d[p] != ' ' && d[p] != '\t' && d[p] != '\n' && d[p] != '\r' {
		p++
	}
	f.p = p
	return start, p
}

// natural reads the next field as an integer of 0 or more; ok is false at the end of the line and
// for other texts.
func (f *lineFields) natural() (v int64, ok bool) {
	start, end := f.next()
	if start < 0 || end-start > 18 {
		return 0, false
	}
	for _, c := range f.d[start:end] {
		if c -= '0'; c > 9 {
			return 0, false
		}
		v = 10*v + int64(c)
	}
	return v, true
}

// graphBlock holds the edges of a block of lines.
type graphBlock struct {
	block  chunk.Block
	tuples tuples
	edges  sparse.Block // the tuples of a block without an error
	lines  int          // vertices of a block of adjacency lists
	filled int          // the last of them with edges, from 1
	real   bool

	comments []int64 // numbers of the lines that are comments
	err      *ParseError
}

// weight reads the next field as a value.
func (g *graphEdges) weight(b chunk.Block, f *lineFields, scan scanner, r *graphBlock) (v uint64, ok bool) {
	start, end := f.next()
	if start < 0 {
		r.err = g.o.fail(lineOf(b, f.p), "the weight is missing", "")
		return v, false
	}
	v, stop, fault := scan(f.d, start)
	if stop != end && fault == faultNone {
		fault = faultSyntax
	}
	if fault != faultNone {
		msg, kind := g.o.explain(fault, quote(f.d[start:end]), g.e.name(), g.e.kind)
		r.err = g.o.failKind(lineOf(b, start), msg, kind)
		return v, false
	}
	r.real = r.real || g.o.info != nil && !writtenAsInteger(f.d[start:end])
	return v, true
}

// decimalText returns n for messages.
func decimalText(n int64) string { return strconv.FormatInt(n, 10) }
