package textout

import (
	"fmt"
	"io"
	"math"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/hiveblas/hiveblas/graphio/internal/core"
	"github.com/hiveblas/hiveblas/internal/rep"
	"github.com/hiveblas/hiveblas/internal/sparse"
	"github.com/hiveblas/hiveblas/matrix"
)

// This file writes the formats of graphs: METIS, DIMACS, GraphML and GML. Each file is read back as
// the same matrix.

// graphOut is a square matrix to write as a graph.
type graphOut struct {
	Op         string
	O          *core.WriteOptions
	E          core.Element
	W          io.Writer
	St         *sparse.Store
	N          int
	Undirected bool // equal to the transpose
	Weighted   bool
}

// NewGraphOut checks that a matrix can be written as a graph, and looks at its values.
func NewGraphOut(op string, w io.Writer, a rep.Matrix, o *core.WriteOptions) (*graphOut, error) {
	if err := a.Err(); err != nil {
		return nil, err
	}
	if w == nil {
		return nil, core.NilWriter(op)
	}
	m, n := a.Dims()
	if m != n {
		return nil, &matrix.DimensionError{Op: op, Arg: "a", Got: fmt.Sprintf("%d×%d", m, n), Want: "a square matrix", Remedy: "this format has one kind of vertices; write .mtx, .npz or an edge list"}
	}
	st, err := core.RowsOf(a)
	if err != nil {
		return nil, err
	}
	if err := o.Labels.Check(op, n); err != nil {
		return nil, err
	}
	if o.Labels != o.Cols && !o.Labels.Equal(o.Cols) {
		return nil, &core.OptionError{Op: op, Option: "WithRowColumnLabels", Reason: "rows and columns have different names, and the file has one name for a vertex"}
	}
	e := core.ElementOf(st.Type)
	g := &graphOut{Op: op, O: o, E: e, W: &core.ReportingWriter{W: w, O: &o.Common}, St: st, N: n, Undirected: a.IsSymmetric()}
	g.Weighted = !o.Pattern && !(e.IsBool() && e.AllOnes(st.Val))
	return g, nil
}

// Head writes text and the comment of the options.
func (g *graphOut) Head(format string, args ...any) error {
	_, err := fmt.Fprintf(g.W, format, args...)
	return err
}

// loops counts the self-loops.
func (g *graphOut) loops() (count int64) {
	for k := range g.St.Vecs() {
		i := g.St.RowID(k)
		for _, j := range g.St.Idx[g.St.Ptr[k]:g.St.Ptr[k+1]] {
			if int(j) == i {
				count++
			}
		}
	}
	return count
}

// WantSimple returns an error unless the graph is undirected and without self-loops.
func (g *graphOut) WantSimple(what string) error {
	if !g.Undirected {
		return &core.OptionError{Op: g.Op, Option: "a", Reason: "the matrix is not symmetric, and " + what + " is undirected", Kind: core.RemedySymmetrise}
	}
	if k := g.loops(); k > 0 {
		return &matrix.InvalidError{Op: g.Op, Reason: fmt.Sprintf("the matrix has %d self-loops, and %s has none; leave them out, or write another format", k, what)}
	}
	return nil
}

// Natural reports whether v is a positive integer.
func (g *graphOut) Natural(v uint64) bool {
	if !g.E.IsFloat() {
		negative, size := g.E.AsInt(v)
		return !negative && size > 0
	}
	x := g.E.AsFloat(v)
	return x > 0 && x == math.Trunc(x) && !math.IsInf(x, 1)
}

// Weights formats a value: true as 1.
func (g *graphOut) Weights() func(buf []byte, v uint64) []byte { return g.E.Appender() }

// EachVertex formats vertices in order, several threads at a time.
func (g *graphOut) EachVertex(f func(buf []byte, v int) []byte) error {
	const piece = 1 << 12
	return g.O.WritePieces(g.W, (g.N+piece-1)/piece, int64(g.N), func(k int, buf []byte) []byte {
		for v := k * piece; v < min((k+1)*piece, g.N); v++ {
			buf = f(buf, v)
		}
		return buf
	})
}

// Entity replaces the characters that XML and GML write as entities.
var Entity = strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;", `"`, "&quot;")

// Names returns the names of the vertices as text of XML and GML, nil without names. It returns an
// *OptionError if neither can have a character. ascii writes others as their numbers.
func (g *graphOut) Names(ascii bool) (func(buf []byte, v int) []byte, error) {
	if g.O.Labels == nil {
		return nil, nil
	}
	for v := range g.N {
		name := g.O.Labels.Name(v)
		for _, c := range name {
			if c < ' ' && c != '\t' || c == utf8.RuneError || c == 0xfffe || c == 0xffff {
				return nil, &core.OptionError{Op: g.Op, Option: "WithLabels", Reason: fmt.Sprintf("label %s has a character that the format cannot have", core.Quote(name))}
			}
		}
		if strings.TrimSpace(name) != name {
			return nil, &core.OptionError{Op: g.Op, Option: "WithLabels", Reason: fmt.Sprintf("label %s has blanks around it, which would be lost", core.Quote(name))}
		}
	}
	return func(buf []byte, v int) []byte {
		text := Entity.Replace(g.O.Labels.Name(v))
		if !ascii {
			return append(buf, text...)
		}
		for _, c := range text {
			if c < utf8.RuneSelf {
				buf = append(buf, byte(c))
				continue
			}
			buf = append(strconv.AppendInt(append(buf, "&#"...), int64(c), 10), ';')
		}
		return buf
	}, nil
}

// EachEdge formats the entries in order, of an undirected graph the entries of one triangle.
func (g *graphOut) EachEdge(f func(buf []byte, i int, j int32, v uint64) []byte) error {
	return WriteRows(g.W, g.St, g.O, func(buf []byte, i int, j int32, v uint64) []byte {
		if g.Undirected && int(j) < i {
			return buf
		}
		return f(buf, i, j, v)
	})
}

// WantFinite returns an error for a value that the format has no text for.
func (g *graphOut) WantFinite() error {
	if !g.Weighted || !g.E.IsFloat() {
		return nil
	}
	for p := range g.St.NVals {
		if v := g.E.At(g.St.Val, p); math.IsNaN(g.E.AsFloat(v)) || math.IsInf(g.E.AsFloat(v), 0) {
			return &matrix.InvalidError{Op: g.Op, Reason: fmt.Sprintf("a value is %v, which the format cannot have; leave the entry out, or write .mtx or .hgb", g.E.Text(v))}
		}
	}
	return nil
}
