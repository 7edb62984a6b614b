// Package plaingraph reads and writes the formats in which vertices are numbers: METIS, DIMACS and
// Graph500.
package plaingraph

import (
	"bytes"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"github.com/hiveblas/hiveblas/graphio/internal/build"
	"github.com/hiveblas/hiveblas/graphio/internal/core"
	"github.com/hiveblas/hiveblas/graphio/internal/numtext"
	"github.com/hiveblas/hiveblas/internal/chunk"
	"github.com/hiveblas/hiveblas/internal/sparse"
	"github.com/hiveblas/hiveblas/matrix"
)

// DescribeMETIS reads the header of a METIS file.
func DescribeMETIS(i *core.FileInfo, src *chunk.Source, o *core.ReadOptions) error {
	h, err := readMETISHead(src, o)
	if err == nil {
		i.Rows, i.Cols, i.Entries, i.Symmetry = int(h.vertices), int(h.vertices), 2*h.edges, "symmetric"
		if !h.weighted {
			i.Field = "pattern"
		}
	}
	return err
}

// metisHead is the first line.
type metisHead struct {
	vertices, edges int64
	skip            int // numbers before the neighbours of a vertex
	weighted        bool
	line            int64
}

// ReadMETIS is graphio.ReadMETIS.
func ReadMETIS(r io.Reader, o *core.ReadOptions) (*sparse.Store, core.Sides, error) {
	g, err := build.NewGraphEdges("graphio.ReadMETIS", r, o)
	if err != nil {
		return nil, core.Sides{}, err
	}
	src, taken, err := chunk.NewSource(r)
	if err != nil {
		return nil, core.Sides{}, o.StreamError(1, err)
	}
	h, err := readMETISHead(src, o)
	if err != nil {
		return nil, core.Sides{}, err
	}
	row, real := 0, false
	var comments []int64 // numbers of lines
	scan := numtext.ScannerFor(g.E, numtext.FieldAny, o)
	err = chunk.Read(o.Ctx, src, o.Threads, func(b chunk.Block) graphBlock { return parseMETIS(g, h, b, scan) }, func(b graphBlock) error {
		if row+b.filled > int(h.vertices) {
			return o.Fail(0, fmt.Sprintf("more lines of vertices than the %d that the first line announces", h.vertices), "")
		}
		if b.err != nil {
			return b.err
		}
		for p := range b.edges.Row {
			b.edges.Row[p] += int32(row)
		}
		comments = append(comments, b.comments...)
		row, real = min(row+b.lines, int(h.vertices)), real || b.real
		g.AddBlock(b.edges)
		o.Report(taken())
		return nil
	})
	n := int(h.vertices)
	switch {
	case err != nil:
		return nil, core.Sides{}, o.StreamError(src.At(), err)
	case row < n:
		return nil, core.Sides{}, o.Fail(src.At(), fmt.Sprintf("the file ends after %d of %d vertices", row, n), "the file is cut short")
	case g.Count != 2*h.edges:
		return nil, core.Sides{}, o.Fail(0, fmt.Sprintf("the lists have %d entries, want 2 for each of the %d edges of the first line", g.Count, h.edges), "")
	}
	g.Describe("METIS", build.FieldOf(h.weighted, real), "symmetric", n, n)
	st, _, err := g.Finish(n, n, core.Sides{}, false)
	if err == nil && !o.Symmetrise {
		err = checkMETIS(g, st, h, comments)
	}
	return st, core.Sides{}, err
}

// checkMETIS returns an error for the first edge that its other end does not list, or not with the
// same weight. Entries of a row ascend, so each column of the lower triangle is met in the order of
// the entries of its row: O(entries + vertices).
func checkMETIS(g *build.GraphEdges, st *sparse.Store, h metisHead, comments []int64) error {
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
		return g.O.FailKind(line, fmt.Sprintf(format, args...), core.RemedySymmetrise)
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
			if v, w := g.E.At(st.Val, p), g.E.At(st.Val, q); !g.E.Equal(v, w) {
				return fail(i, "the edge from %d to %d has the weight %v, and from %d to %d %v", i+1, j+1, g.E.Text(v), j+1, i+1, g.E.Text(w))
			}
			next[j]++
		}
	}
	return nil
}

func readMETISHead(src *chunk.Source, o *core.ReadOptions) (h metisHead, err error) {
	for {
		text, line, err := src.Line()
		if err == io.EOF {
			return h, o.Fail(line, "the file has no line “vertices edges”", "")
		} else if err != nil {
			return h, o.StreamError(line, err)
		}
		f := strings.Fields(string(bytes.TrimPrefix(text[:min(len(text), 256)], []byte("\xef\xbb\xbf"))))
		if len(f) == 0 || f[0][0] == '%' {
			continue
		}
		h.line = line
		bad := func(format string, args ...any) (metisHead, error) {
			return h, o.Fail(line, fmt.Sprintf(format, args...), "the first line is “vertices edges [format [constraints]]”")
		}
		if len(f) < 2 || len(f) > 4 {
			return bad("the first line has %d fields", len(f))
		}
		for k, p := range []*int64{&h.vertices, &h.edges} {
			if *p, err = strconv.ParseInt(f[k], 10, 63); err != nil || *p < 0 {
				return bad("want a count, got %s", core.Quote(f[k]))
			}
		}
		if h.vertices > matrix.MaxDim || h.edges > 1<<61 {
			e := o.Fail(line, fmt.Sprintf("%d vertices and %d edges are beyond the limits", h.vertices, h.edges), "")
			e.Err = &matrix.SizeError{Op: "ReadMETIS", Arg: "number of vertices", Got: h.vertices, Limit: matrix.MaxDim}
			return h, e
		}
		if len(f) == 2 {
			return h, nil
		}
		format := fmt.Sprintf("%03s", f[2])
		if len(format) != 3 || strings.Trim(format, "01") != "" {
			return bad("the format is %s, want three digits of 0 and 1", core.Quote(f[2]))
		}
		h.weighted = format[2] == '1'
		if format[0] == '1' {
			h.skip++
		}
		constraints := 1
		if len(f) == 4 {
			if constraints, err = strconv.Atoi(f[3]); err != nil || constraints < 0 || constraints > 1<<10 {
				return bad("the number of constraints is %s", core.Quote(f[3]))
			}
		}
		if format[1] == '1' {
			h.skip += constraints
		}
		return h, nil
	}
}

// parseMETIS reads the lines of a block. Its first vertex has row 0.
func parseMETIS(g *build.GraphEdges, h metisHead, b chunk.Block, scan numtext.Scanner) (r graphBlock) {
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
			r.err = g.O.Fail(build.LineOf(b, line), msg, "")
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
				return bad("the neighbour " + core.Quote(b.Data[start:end]) + " is no vertex, want 1 to " + decimalText(h.vertices))
			}
			v := g.E.One
			if h.weighted {
				if v, ok = weightOf(g, b, f, scan, &r); !ok {
					return r
				}
			}
			r.filled = r.lines
			r.tuples.Add(row, int32(j-1), v)
		}
	}
	r.edges = build.BlockOf(g.E, r.tuples)
	return r
}
