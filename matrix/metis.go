package matrix

import (
	"fmt"
	"io"
	"strconv"
	"strings"

	"github.com/hiveblas/hiveblas/internal/chunk"
)

// ReadMETIS reads a graph in the format of METIS (.graph), gzip-compressed or not: a line “vertices
// edges [format [constraints]]”, then a line for each vertex with its neighbours, which count from
// 1, and the weights of the edges if the format ends in 1. Sizes and weights of vertices are
// skipped. Lines that begin with % are comments. The graph is undirected: a line for each end of an
// edge, so that the matrix has twice as many entries as there are edges. Errors are a *[ParseError]
// with the line. Source: Karypis, “METIS manual, version 5.1.0”, section 4.1.1.
func ReadMETIS[T Element](r io.Reader, opts ...ReadOption) (*Matrix[T], error) {
	a, _, err := readPlaced(r, readOptionsOf(opts), readMETIS[T])
	return a, err
}

// metisHead is the first line.
type metisHead struct {
	vertices, edges int64
	skip            int // numbers before the neighbours of a vertex
	weighted        bool
}

func readMETIS[T comparable](r io.Reader, o *readOptions) (*Matrix[T], sides, error) {
	g, err := newGraphEdges[T]("matrix.ReadMETIS", r, o)
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
	scan := scannerFor(g.e, fieldAny, o)
	err = chunk.Read(o.ctx, src, o.threads, func(b chunk.Block) graphBlock[T] { return parseMETIS(g, h, b, scan) }, func(b graphBlock[T]) error {
		if row+b.filled > int(h.vertices) {
			return o.fail(0, fmt.Sprintf("more lines of vertices than the %d that the first line announces", h.vertices), "")
		}
		if b.err != nil {
			return b.err
		}
		for p := range b.tuples.Row {
			b.tuples.Row[p] += int32(row)
		}
		row, real = min(row+b.lines, int(h.vertices)), real || b.real
		g.addBlock(b.tuples)
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
	return g.finish(n, n, sides{}, false)
}

func readMETISHead(src *chunk.Source, o *readOptions) (h metisHead, err error) {
	for {
		text, line, err := src.Line()
		if err == io.EOF {
			return h, o.fail(line, "the file has no line “vertices edges”", "")
		} else if err != nil {
			return h, o.streamError(line, err)
		}
		f := strings.Fields(string(text[:min(len(text), 256)]))
		if len(f) == 0 || f[0][0] == '%' {
			continue
		}
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
		if h.vertices > MaxDim || h.edges > 1<<61 {
			e := o.fail(line, fmt.Sprintf("%d vertices and %d edges are beyond the limits", h.vertices, h.edges), "")
			e.Err = &SizeError{"ReadMETIS", "number of vertices", h.vertices, MaxDim}
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
func parseMETIS[T comparable](g *graphEdges[T], h metisHead, b chunk.Block, scan scanner[T]) (r graphBlock[T]) {
	r.block = b
	f := &lineFields{d: b.Data}
	for ; f.p < len(b.Data); f.p++ { // over the newline
		if b.Data[f.p] == '%' {
			for b.Data[f.p] != '\n' {
				f.p++
			}
			continue
		}
		line := f.p
		bad := func(msg string) graphBlock[T] {
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
			r.tuples.Row, r.tuples.Col, r.tuples.Val = append(r.tuples.Row, row), append(r.tuples.Col, int32(j-1)), append(r.tuples.Val, v)
		}
	}
	return r
}
