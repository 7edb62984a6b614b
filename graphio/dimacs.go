package graphio

import (
	"bytes"
	"fmt"
	"io"
	"strings"

	"github.com/hiveblas/hiveblas/internal/chunk"
	"github.com/hiveblas/hiveblas/internal/sparse"
	"github.com/hiveblas/hiveblas/matrix"
)

// ReadDIMACS reads a graph of the DIMACS implementation challenges, gzip-compressed or not. Its
// first letter gives the meaning of a line:
//
//   - c: a comment
//   - p sp N M: shortest paths (.gr); p max N M: maximum flow (.max); p edge N M or p col N M: a
//     graph to colour (.col), which is undirected; N vertices, M edges
//   - a U V W: an arc from U to V with a length or a capacity
//   - e U V, or e U V W: an edge
//   - n V s, n V t: the source and the sink of a flow, which [Info] gives; n V VALUE is skipped
//
// Vertices count from 1. The number of arcs must be M; that of edges may differ, as files to colour
// that list both directions have it. Errors are a *[ParseError] with the line.
func ReadDIMACS[T matrix.Element](r io.Reader, opts ...ReadOption) (*matrix.Matrix[T], error) {
	a, _, err := readPlaced(r, optionsFor[T](opts), readDIMACS)
	return matrix.OfInside[T](a), err
}

// dimacsHead is the line p.
type dimacsHead struct {
	kind            string // sp, max, edge
	vertices, edges int64
}

// dimacsBlock holds the edges of a block of lines, and the source and sink, from 1.
type dimacsBlock struct {
	graphBlock
	terminals [2]int64
	weighted  bool
}

func readDIMACS(r io.Reader, o *readOptions) (*sparse.Store, sides, error) {
	g, err := newGraphEdges("graphio.ReadDIMACS", r, o)
	if err != nil {
		return nil, sides{}, err
	}
	src, taken, err := chunk.NewSource(r)
	if err != nil {
		return nil, sides{}, o.streamError(1, err)
	}
	h, err := readDIMACSHead(src, o)
	if err != nil {
		return nil, sides{}, err
	}
	var terminals [2]int64
	real, weighted := false, h.kind != "edge"
	scan := scannerFor(g.e, fieldAny, o)
	err = chunk.Read(o.ctx, src, o.threads, func(b chunk.Block) dimacsBlock { return parseDIMACS(g, h, b, scan) }, func(b dimacsBlock) error {
		if b.err != nil {
			return b.err
		}
		for k, v := range b.terminals {
			if v != 0 {
				terminals[k] = v
			}
		}
		real, weighted = real || b.real, weighted || b.weighted
		g.addBlock(b.edges)
		if h.kind != "edge" && g.count > h.edges {
			return o.fail(lineOf(b.block, len(b.block.Data)-1), fmt.Sprintf("more than the %d arcs that the line p announces", h.edges), "")
		}
		o.report(taken())
		return nil
	})
	switch {
	case err != nil:
		return nil, sides{}, o.streamError(src.At(), err)
	case h.kind != "edge" && g.count < h.edges:
		return nil, sides{}, o.fail(src.At(), fmt.Sprintf("the file ends after %d of %d arcs", g.count, h.edges), "the file is cut short")
	}
	n, symmetry := int(h.vertices), "general"
	if h.kind == "edge" {
		symmetry = "symmetric"
	}
	g.describe("DIMACS "+h.kind, fieldOf(weighted, real), symmetry, n, n)
	if o.info != nil && terminals[0] != 0 && terminals[1] != 0 {
		o.info.Terminals = []int{int(terminals[0] - 1), int(terminals[1] - 1)}
	}
	return g.finish(n, n, sides{}, h.kind == "edge")
}

func readDIMACSHead(src *chunk.Source, o *readOptions) (h dimacsHead, err error) {
	const want = "want “p sp|max|edge|col vertices edges”"
	for {
		text, line, err := significant(src, &o.common)
		if err == io.EOF {
			return h, o.fail(line, "the file has no line p", want)
		} else if err != nil {
			return h, o.streamError(line, err)
		}
		if text[0] == 'c' {
			continue
		}
		f := strings.Fields(string(text[:min(len(text), 256)]))
		if len(f) != 4 || f[0] != "p" {
			return h, o.fail(line, "the line is "+quote(text), want)
		}
		switch h.kind = f[1]; h.kind {
		case "sp", "max", "edge":
		case "col", "edges":
			h.kind = "edge"
		default:
			return h, o.fail(line, "problems "+quote(f[1])+" are not read", want)
		}
		counts := &lineFields{d: append(bytes.TrimSpace([]byte(f[2]+" "+f[3])), '\n')}
		var ok, ok2 bool
		h.vertices, ok = counts.natural()
		h.edges, ok2 = counts.natural()
		switch {
		case !ok || !ok2:
			return h, o.fail(line, "want two counts, got "+quote(f[2]+" "+f[3]), want)
		case h.vertices > matrix.MaxDim:
			e := o.fail(line, fmt.Sprintf("%d vertices, at most %d are possible", h.vertices, matrix.MaxDim), "")
			e.Err = &matrix.SizeError{Op: "ReadDIMACS", Arg: "number of vertices", Got: h.vertices, Limit: matrix.MaxDim}
			return h, e
		}
		return h, nil
	}
}

func parseDIMACS(g *graphEdges, h dimacsHead, b chunk.Block, scan scanner) (r dimacsBlock) {
	r.block = b
	f := &lineFields{d: b.Data}
	vertex := func() int64 {
		if v, ok := f.natural(); ok && v >= 1 && v <= h.vertices {
			return v
		}
		return 0
	}
	for ; f.p < len(b.Data); f.p++ {
		line := f.p
		start, end := f.next()
		if start < 0 {
			continue
		}
		bad := func(msg string) dimacsBlock {
			r.err = g.o.fail(lineOf(b, line), msg, "")
			return r
		}
		if end-start != 1 && b.Data[start] != 'c' {
			return bad("the line begins with " + quote(b.Data[start:end]) + ", want c, a, e or n")
		}
		switch c := b.Data[start]; {
		case c == 'c':
		case c == 'n':
			v := vertex()
			from, to := f.next()
			if v == 0 || from < 0 {
				return bad("want “n vertex s” or “n vertex t”, with a vertex from 1 to " + decimalText(h.vertices))
			}
			switch string(b.Data[from:to]) {
			case "s":
				r.terminals[0] = v
			case "t":
				r.terminals[1] = v
			}
		case c == 'a' && h.kind != "edge", c == 'e' && h.kind == "edge":
			i, j := vertex(), vertex()
			if i == 0 || j == 0 {
				return bad("want two vertices from 1 to " + decimalText(h.vertices))
			}
			v, ok := g.e.one, true
			at := f.p
			from, _ := f.next()
			f.p = at
			if c == 'a' || from >= 0 {
				r.weighted = true
				if v, ok = g.weight(b, f, scan, &r.graphBlock); !ok {
					return r
				}
			}
			if from, to := f.next(); from >= 0 {
				return bad("the line goes on with " + quote(b.Data[from:to]))
			}
			r.tuples.add(int32(i-1), int32(j-1), v)
		default:
			return bad("a line " + quote(b.Data[start:end]) + " has no place in a problem " + quote(h.kind))
		}
		for b.Data[f.p] != '\n' { // the rest of a comment
			f.p++
		}
	}
	r.edges = g.e.block(r.tuples)
	return r
}
