package plaingraph

import (
	"bytes"
	"fmt"
	"io"
	"strings"

	"github.com/hiveblas/hiveblas/graphio/internal/build"
	"github.com/hiveblas/hiveblas/graphio/internal/core"
	"github.com/hiveblas/hiveblas/graphio/internal/numtext"
	"github.com/hiveblas/hiveblas/internal/chunk"
	"github.com/hiveblas/hiveblas/internal/sparse"
	"github.com/hiveblas/hiveblas/matrix"
)

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

// ReadDIMACS is graphio.ReadDIMACS.
func ReadDIMACS(r io.Reader, o *core.ReadOptions) (*sparse.Store, core.Sides, error) {
	g, err := build.NewGraphEdges("graphio.ReadDIMACS", r, o)
	if err != nil {
		return nil, core.Sides{}, err
	}
	src, taken, err := chunk.NewSource(r)
	if err != nil {
		return nil, core.Sides{}, o.StreamError(1, err)
	}
	h, err := readDIMACSHead(src, o)
	if err != nil {
		return nil, core.Sides{}, err
	}
	var terminals [2]int64
	real, weighted := false, h.kind != "edge"
	scan := numtext.ScannerFor(g.E, numtext.FieldAny, o)
	err = chunk.Read(o.Ctx, src, o.Threads, func(b chunk.Block) dimacsBlock { return parseDIMACS(g, h, b, scan) }, func(b dimacsBlock) error {
		if b.err != nil {
			return b.err
		}
		for k, v := range b.terminals {
			if v != 0 {
				terminals[k] = v
			}
		}
		real, weighted = real || b.real, weighted || b.weighted
		g.AddBlock(b.edges)
		if h.kind != "edge" && g.Count > h.edges {
			return o.Fail(build.LineOf(b.block, len(b.block.Data)-1), fmt.Sprintf("more than the %d arcs that the line p announces", h.edges), "")
		}
		o.Report(taken())
		return nil
	})
	switch {
	case err != nil:
		return nil, core.Sides{}, o.StreamError(src.At(), err)
	case h.kind != "edge" && g.Count < h.edges:
		return nil, core.Sides{}, o.Fail(src.At(), fmt.Sprintf("the file ends after %d of %d arcs", g.Count, h.edges), "the file is cut short")
	}
	n, symmetry := int(h.vertices), "general"
	if h.kind == "edge" {
		symmetry = "symmetric"
	}
	g.Describe("DIMACS "+h.kind, build.FieldOf(weighted, real), symmetry, n, n)
	if o.Info != nil && terminals[0] != 0 && terminals[1] != 0 {
		o.Info.Terminals = []int{int(terminals[0] - 1), int(terminals[1] - 1)}
	}
	return g.Finish(n, n, core.Sides{}, h.kind == "edge")
}

func readDIMACSHead(src *chunk.Source, o *core.ReadOptions) (h dimacsHead, err error) {
	const want = "want “p sp|max|edge|col vertices edges”"
	for {
		text, line, err := core.Significant(src, &o.Common)
		if err == io.EOF {
			return h, o.Fail(line, "the file has no line p", want)
		} else if err != nil {
			return h, o.StreamError(line, err)
		}
		if text[0] == 'c' {
			continue
		}
		f := strings.Fields(string(text[:min(len(text), 256)]))
		if len(f) != 4 || f[0] != "p" {
			return h, o.Fail(line, "the line is "+core.Quote(text), want)
		}
		switch h.kind = f[1]; h.kind {
		case "sp", "max", "edge":
		case "col", "edges":
			h.kind = "edge"
		default:
			return h, o.Fail(line, "problems "+core.Quote(f[1])+" are not read", want)
		}
		counts := &lineFields{d: append(bytes.TrimSpace([]byte(f[2]+" "+f[3])), '\n')}
		var ok, ok2 bool
		h.vertices, ok = counts.natural()
		h.edges, ok2 = counts.natural()
		switch {
		case !ok || !ok2:
			return h, o.Fail(line, "want two counts, got "+core.Quote(f[2]+" "+f[3]), want)
		case h.vertices > matrix.MaxDim:
			e := o.Fail(line, fmt.Sprintf("%d vertices, at most %d are possible", h.vertices, matrix.MaxDim), "")
			e.Err = &matrix.SizeError{Op: "ReadDIMACS", Arg: "number of vertices", Got: h.vertices, Limit: matrix.MaxDim}
			return h, e
		}
		return h, nil
	}
}

func parseDIMACS(g *build.GraphEdges, h dimacsHead, b chunk.Block, scan numtext.Scanner) (r dimacsBlock) {
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
			r.err = g.O.Fail(build.LineOf(b, line), msg, "")
			return r
		}
		if end-start != 1 && b.Data[start] != 'c' {
			return bad("the line begins with " + core.Quote(b.Data[start:end]) + ", want c, a, e or n")
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
			v, ok := g.E.One, true
			at := f.p
			from, _ := f.next()
			f.p = at
			if c == 'a' || from >= 0 {
				r.weighted = true
				if v, ok = weightOf(g, b, f, scan, &r.graphBlock); !ok {
					return r
				}
			}
			if from, to := f.next(); from >= 0 {
				return bad("the line goes on with " + core.Quote(b.Data[from:to]))
			}
			r.tuples.Add(int32(i-1), int32(j-1), v)
		default:
			return bad("a line " + core.Quote(b.Data[start:end]) + " has no place in a problem " + core.Quote(h.kind))
		}
		for b.Data[f.p] != '\n' { // the rest of a comment
			f.p++
		}
	}
	r.edges = build.BlockOf(g.E, r.tuples)
	return r
}

// DescribeDIMACS reads the header of a DIMACS file.
func DescribeDIMACS(i *core.FileInfo, src *chunk.Source, o *core.ReadOptions) error {
	h, err := readDIMACSHead(src, o)
	if err == nil {
		i.Rows, i.Cols, i.Entries, i.Symmetry = int(h.vertices), int(h.vertices), h.edges, "general"
		if h.kind == "edge" {
			i.Symmetry = "symmetric"
		}
	}
	return err
}
