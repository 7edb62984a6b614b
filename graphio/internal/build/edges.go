package build

import (
	"errors"
	"fmt"
	"io"

	"github.com/hiveblas/hiveblas/graphio/internal/core"
	"github.com/hiveblas/hiveblas/internal/sparse"
	"github.com/hiveblas/hiveblas/matrix"
)

// GraphEdges collects the edges of a format of graphs and makes the matrix of them.
type GraphEdges struct {
	O      *core.ReadOptions
	E      core.Element
	Dup    sparse.Combine
	Blocks []sparse.Block
	last   Tuples // edges that are not in blocks yet
	Count  int64
}

// NewGraphEdges verifies the options of a reader.
func NewGraphEdges(op string, r io.Reader, o *core.ReadOptions) (*GraphEdges, error) {
	if r == nil {
		return nil, core.NilReader(op)
	}
	dup, err := o.Combiner(op)
	return &GraphEdges{O: o, E: o.E, Dup: dup}, err
}

// AddBlock appends edges. g then owns their slices.
func (g *GraphEdges) AddBlock(t sparse.Block) {
	if len(t.Row) > 0 {
		g.Flush()
		g.Blocks = append(g.Blocks, t)
		g.Count += int64(len(t.Row))
	}
}

// Add appends an edge.
func (g *GraphEdges) Add(i, j int32, v uint64) {
	if len(g.last.Row) == cap(g.last.Row) {
		size := fullBlock
		if len(g.Blocks) == 0 && g.last.Row == nil {
			size = firstBlock
		}
		g.Flush()
		g.last = Room(size)
	}
	g.last.Add(i, j, v)
	g.Count++
}

// Flush makes a block of the edges of add.
func (g *GraphEdges) Flush() {
	if len(g.last.Row) > 0 {
		g.Blocks = append(g.Blocks, BlockOf(g.E, g.last))
	}
	g.last = Tuples{}
}

// Built returns the m×n matrix of the edges, and empties g.
func (g *GraphEdges) Built(m, n int, dup sparse.Combine) (*sparse.Store, error) {
	g.Flush()
	b := &Builder{T: g.E.T, M: m, N: n}
	for _, t := range g.Blocks {
		b.Add(t)
	}
	g.Blocks = nil
	return b.Build(g.O, dup)
}

// Finish returns the matrix of m×n, with both directions of each edge if undirected or with
// Symmetrise: of a pair with an entry in each direction the smaller, or the combination.
func (g *GraphEdges) Finish(m, n int, labels core.Sides, undirected bool) (*sparse.Store, core.Sides, error) {
	o := g.O
	if o.Symmetrise && m != n {
		return nil, core.Sides{}, o.FailKind(0, fmt.Sprintf("cannot symmetrise a %d×%d matrix", m, n), core.RemedyNoSymmetrise)
	}
	g.Flush()
	mirror := undirected || o.Symmetrise
	if mirror && g.Dup != nil {
		for _, t := range g.Blocks {
			ToLower(t)
		}
	}
	st, err := g.Built(m, n, g.Dup)
	if err != nil {
		var d *matrix.DuplicateError
		if errors.As(err, &d) {
			e := o.FailKind(0, fmt.Sprintf("the edge from %s to %s is given twice", labels.Rows.Name(d.Row), labels.Cols.Name(d.Col)), core.RemedyDuplicates)
			e.Err = err
			err = e
		}
		return nil, core.Sides{}, err
	}
	if mirror {
		st = Symmetrise(st.ToSparse(), g.E, nil, o.Threads)
	}
	return st, labels, nil
}

// Describe fills the Info of the file.
func (g *GraphEdges) Describe(layout, field, symmetry string, m, n int) {
	if g.O.Info != nil {
		*g.O.Info = core.Info{Rows: m, Cols: n, Entries: g.Count, Layout: layout, Field: field, Symmetry: symmetry}
	}
}

// FieldOf names the kind of values of a text: none, some that are not integers, integers.
func FieldOf(weighted, real bool) string {
	switch {
	case !weighted:
		return "pattern"
	case real:
		return "real"
	}
	return "integer"
}
