package graphio

import (
	"bytes"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"github.com/hiveblas/hiveblas/internal/chunk"
	"github.com/hiveblas/hiveblas/internal/sparse"
	"github.com/hiveblas/hiveblas/matrix"
)

// ReadMETIS reads a graph in the format of METIS (.graph), gzip-compressed or not: a line “vertices
// edges [format [constraints]]”, then a line for each vertex with its neighbours, which count from
// 1, and the weights of the edges if the format ends in 1. Sizes and weights of vertices are
// skipped. Lines that begin with % are comments. The graph is undirected: each end of an edge lists
// the other, with the same weight, so that the matrix is symmetric and has twice as many entries as
// there are edges. Anything else is an error without [Symmetrise]. Errors are a *[ParseError] with
// the line. Source: Karypis, “METIS manual, version 5.1.0”, section 4.1.1.
func ReadMETIS[T matrix.Element](r io.Reader, opts ...ReadOption) (*matrix.Matrix[T], error) {
	a, _, err := readPlaced(r, optionsFor[T](opts), readMETIS)
	return matrix.OfInside[T](a), err
}

// metisHead is the first line.
type metisHead struct {
	vertices, edges int64
	skip            int // numbers before the neighbours of a vertex
	weighted        bool
	line            int64
}

func readMETIS(r io.Reader, o *readOptions) (*sparse.Store, sides, error) {
	g, err := newGraphEdges("graphio.ReadMETIS", r, o)
	if err != nil {
		return nil, sides{}, err
	}
	src, taken, err := chunk.NewSource(r)
	if err != nil {
		return nil, sides{}, o.streamError(1, err)
	}
	h, err := readMETISHead(src, o)
	if err != nil {
		return nil, sides{}, err
	}
	row, real := 0, false
	var comments []int64 // numbers of lines
	scan := scannerFor(g.e, fieldAny, o)
	err = chunk.Read(o.ctx, src, o.threads, func(b chunk.Block) graphBlock { return parseMETIS(g, h, b, scan) }, func(b graphBlock) error {
		if row+b.filled > int(h.vertices) {
			return o.fail(0, fmt.Sprintf("more lines of vertices than the %d that the first line announces", h.vertices), "")
		}
		if b.err != nil {
			return b.err
		}
		for p := range b.edges.Row {
			b.edges.Row[p] += int32(row)
		}
		comments = append(comments, b.comments...)
		row, real = min(row+b.lines, int(h.vertices)), real || b.real
		g.addBlock(b.edges)
		o.report(taken())
		return nil
	})
	n := int(h.vertices)
	switch {
	case err != nil:
		return nil, sides{}, o.streamError(src.At(), err)
	case row < n:
		return nil, sides{}, o.fail(src.At(), fmt.Sprintf("the file ends after %d of %d vertices", row, n), "the file is cut short")
	case g.count != 2*h.edges:
		return nil, sides{}, o.fail(0, fmt.Sprintf("the lists have %d entries, want 2 for each of the %d edges of the first line", g.count, h.edges), "")
	}
	g.describe("METIS", fieldOf(h.weighted, real), "symmetric", n, n)
	st, _, err := g.finish(n, n, sides{}, false)
	if err == nil && !o.symmetrise {
		err = checkMETIS(g, st, h, comments)
	}
	return st, sides{}, err
}

// checkMETIS returns an error for the first edge that its other end does not list, or not with the
// same weight. Entries of a row ascend, so each column of the lower triangle is met in the order of
// the entries of its row: O(entries + vertices).
func checkMETIS(g *graphEdges, st *sparse.Store, h metisHead, comments []int64) error {
	st = st.ToSparse().ToCSR()
	next := slices.Clone(st.Ptr) // of each row: the first entry that is not matched
	fail := func(row int, format string, args ...any) error {
		line := h.line + 1 + int64(row)
		for _, c := range comments {
			if c > line {
				break
			}
			line++
		}
		return g.o.failKind(line, fmt.Sprintf(format, args...), RemedySymmetrise)
	}
	for i := range st.NRows {
		if p := next[i]; p < st.Ptr[i+1] && int(st.Idx[p]) < i {
			j := int(st.Idx[p])
			return fail(i, "vertex %d lists %d, which does not list %d", i+1, j+1, i+1)
		}
		for p := next[i]; p < st.Ptr[i+1]; p++ {
			j := int(st.Idx[p])
			if j == i {
				continue
			}
			q := next[j]
			switch {
			case q == st.Ptr[j+1] || int(st.Idx[q]) > i:
				return fail(i, "vertex %d lists %d, which does not list %d", i+1, j+1, i+1)
			case int(st.Idx[q]) < i:
				k := int(st.Idx[q])
				return fail(j, "vertex %d lists %d, which does not list %d", j+1, k+1, j+1)
			}
			if v, w := g.e.at(st.Val, p), g.e.at(st.Val, q); !g.e.equal(v, w) {
				return fail(i, "the edge from %d to %d has the weight %v, and from %d to %d %v", i+1, j+1, g.e.text(v), j+1, i+1, g.e.text(w))
			}
			next[j]++
		}
	}
	return nil
}

func readMETISHead(src *chunk.Source, o *readOptions) (h metisHead, err error) {
	for {
		text, line, err := src.Line()
		if err == io.EOF {
			return h, o.fail(line, "the file has no line “vertices edges”", "")
		} else if err != nil {
			return h, o.streamError(line, err)
		}
		f := strings.Fields(string(bytes.TrimPrefix(text[:min(len(text), 256)], []byte("\xef\xbb\xbf"))))
		if len(f) == 0 || f[0][0] == '%' {
			continue
		}
		h.line = line
		bad := func(format string, args ...any) (metisHead, error) {
			return h, o.fail(line, fmt.Sprintf(format, args...), "the first line is “vertices edges [format [constraints]]”")
		}
		if len(f) < 2 || len(f) > 4 {
			return bad("the first line has %d fields", len(f))
		}
		for k, p := range []*int64{&h.vertices, &h.edges} {
			if *p, err = strconv.ParseInt(f[k], 10, 63); err != nil || *p < 0 {
				return bad("want a count, got %s", quote(f[k]))
			}
		}
		if h.vertices > matrix.MaxDim || h.edges > 1<<61 {
			e := o.fail(line, fmt.Sprintf("%d vertices and %d edges are beyond the limits", h.vertices, h.edges), "")
			e.Err = &matrix.SizeError{Op: "ReadMETIS", Arg: "number of vertices", Got: h.vertices, Limit: matrix.MaxDim}
			return h, e
		}
		if len(f) == 2 {
			return h, nil
		}
		format := fmt.Sprintf("%03s", f[2])
		if len(format) != 3 || strings.Trim(format, "01") != "" {
			return bad("the format is %s, want three digits of 0 and 1", quote(f[2]))
		}
		h.weighted = format[2] == '1'
		if format[0] == '1' {
			h.skip++
		}
		constraints := 1
		if len(f) == 4 {
			if constraints, err = strconv.Atoi(f[3]); err != nil || constraints < 0 || constraints > 1<<10 {
				return bad("the number of constraints is %s", quote(f[3]))
			}
		}
		if format[1] == '1' {
			h.skip += constraints
		}
		return h, nil
	}
}

// parseMETIS reads the lines of a block, whose first vertex has row 0.
func parseMETIS(g *graphEdges, h metisHead, b chunk.Block, scan scanner) (r graphBlock) {
	r.block = b
	f := &lineFields{d: b.Data}
	for ; f.p < len(b.Data); f.p++ { // over the newline
		if b.Data[f.p] == '%' {
			r.comments = append(r.comments, b.Line+int64(r.lines+len(r.comments)))
			for b.Data[f.p] != '\n' {
				f.p++
			}
			continue
		}
		line := f.p
		bad := func(msg string) graphBlock {
			r.err = g.o.fail(lineOf(b, line), msg, "")
			return r
		}
		row := int32(r.lines)
		r.lines++
		for k := range h.skip {
			if start, _ := f.next(); start < 0 {
				if k == 0 {
					break // an empty line at the end of the file
				}
				return bad("the weights of the vertex are missing")
			}
		}
		for {
			start, end := f.next()
			if start < 0 {
				break
			}
			f.p = start
			j, ok := f.natural()
			if !ok || j < 1 || j > h.vertices {
				return bad("the neighbour " + quote(b.Data[start:end]) + " is no vertex, want 1 to " + decimalText(h.vertices))
			}
			v := g.e.one
			if h.weighted {
				if v, ok = g.weight(b, f, scan, &r); !ok {
					return r
				}
			}
			r.filled = r.lines
			r.tuples.add(row, int32(j-1), v)
		}
	}
	r.edges = g.e.block(r.tuples)
	return r
}
