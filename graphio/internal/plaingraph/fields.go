package plaingraph

import (
	"strconv"

	"github.com/hiveblas/hiveblas/graphio/internal/build"
	"github.com/hiveblas/hiveblas/graphio/internal/core"
	"github.com/hiveblas/hiveblas/graphio/internal/numtext"
	"github.com/hiveblas/hiveblas/internal/chunk"
	"github.com/hiveblas/hiveblas/internal/sparse"
)

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
	tuples build.Tuples
	edges  sparse.Block // the tuples of a block without an error
	lines  int          // vertices of a block of adjacency lists
	filled int          // the last of them with edges, from 1
	real   bool

	comments []int64 // numbers of the lines that are comments
	err      *core.ParseError
}

// weightOf reads the next field as a value.
func weightOf(g *build.GraphEdges, b chunk.Block, f *lineFields, scan numtext.Scanner, r *graphBlock) (v uint64, ok bool) {
	start, end := f.next()
	if start < 0 {
		r.err = g.O.Fail(build.LineOf(b, f.p), "the weight is missing", "")
		return v, false
	}
	v, stop, fault := scan(f.d, start)
	if stop != end && fault == numtext.FaultNone {
		fault = numtext.FaultSyntax
	}
	if fault != numtext.FaultNone {
		msg, kind := numtext.Explain(g.O, fault, core.Quote(f.d[start:end]), g.E.Name(), g.E.Kind)
		r.err = g.O.FailKind(build.LineOf(b, start), msg, kind)
		return v, false
	}
	r.real = r.real || g.O.Info != nil && !numtext.WrittenAsInteger(f.d[start:end])
	return v, true
}

// decimalText returns n for messages.
func decimalText(n int64) string { return strconv.FormatInt(n, 10) }
