package matrix

import (
	"errors"
	"fmt"
	"io"
	"strconv"

	"github.com/hiveblas/hiveblas/internal/chunk"
	"github.com/hiveblas/hiveblas/internal/sparse"
)

// graphEdges collects the edges of a format of graphs and makes the matrix of them.
type graphEdges[T comparable] struct {
	o      *readOptions
	e      element[T]
	dup    Combiner[T]
	blocks []sparse.Tuples[T]
	count  int64
}

// newGraphEdges verifies the element type and the options of a reader.
func newGraphEdges[T comparable](op string, r io.Reader, o *readOptions) (*graphEdges[T], error) {
	e, ok := elementOf[T]()
	if !ok {
		return nil, e.refused(op)
	}
	if r == nil {
		return nil, nilReader(op)
	}
	dup, err := combiner[T](op, o)
	return &graphEdges[T]{o: o, e: e, dup: dup}, err
}

// addBlock appends edges, whose slices g then owns.
func (g *graphEdges[T]) addBlock(t sparse.Tuples[T]) {
	if len(t.Row) > 0 {
		g.blocks = append(g.blocks, t)
		g.count += int64(len(t.Row))
	}
}

// add appends an edge.
func (g *graphEdges[T]) add(i, j int32, v T) {
	k := len(g.blocks) - 1
	if k < 0 || len(g.blocks[k].Row) == cap(g.blocks[k].Row) {
		size := builderBlock
		if k < 0 {
			size = builderFirstBlock
		}
		g.blocks = append(g.blocks, sparse.Tuples[T]{
			Row: make([]int32, 0, size), Col: make([]int32, 0, size), Val: make([]T, 0, size)})
		k++
	}
	t := &g.blocks[k]
	t.Row, t.Col, t.Val = append(t.Row, i), append(t.Col, j), append(t.Val, v)
	g.count++
}

// finish returns the matrix of m×n, with both directions of each edge if undirected or with
// Symmetrise: of a pair with an entry in each direction the smaller, or the combination.
func (g *graphEdges[T]) finish(m, n int, labels sides, undirected bool) (*Matrix[T], sides, error) {
	o := g.o
	if o.symmetrise && m != n {
		return nil, sides{}, o.failKind(0, fmt.Sprintf("cannot symmetrise a %d×%d matrix", m, n), RemedyNoSymmetrise)
	}
	mirror := undirected || o.symmetrise
	b := NewBuilder[T](m, n)
	o.sorts(&b.threads, &b.sorted)
	for _, t := range g.blocks {
		if mirror && g.dup != nil {
			toLower(t)
		}
		b.AddBlock(t.Row, t.Col, t.Val)
	}
	g.blocks = nil
	a, err := b.Build(g.dup)
	if err != nil {
		var d *DuplicateError
		if errors.As(err, &d) {
			e := o.failKind(0, fmt.Sprintf("the edge from %s to %s is given twice", labels.rows.Name(d.Row), labels.cols.Name(d.Col)), RemedyDuplicates)
			e.Err = err
			err = e
		}
		return nil, sides{}, err
	}
	if mirror {
		a.set(symmetrise(sparse.ToSparse(a.rows()), g.e, nil, o.threads))
	}
	return a, labels, nil
}

// describe fills the Info of the file.
func (g *graphEdges[T]) describe(layout, field, symmetry string, m, n int) {
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
type graphBlock[T any] struct {
	block  chunk.Block
	tuples sparse.Tuples[T]
	lines  int // vertices of a block of adjacency lists
	filled int // the last of them with edges, from 1
	real   bool

	comments []int64 // numbers of the lines that are comments
	err      *ParseError
}

// weight reads the next field as a value.
func (g *graphEdges[T]) weight(b chunk.Block, f *lineFields, scan scanner[T], r *graphBlock[T]) (v T, ok bool) {
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
