package matrix

import (
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/hiveblas/hiveblas/internal/chunk"
	"github.com/hiveblas/hiveblas/internal/parallel"
)

// namedGraph collects a graph whose file describes each vertex and each edge, in any order: GraphML
// and GML.
type namedGraph[T comparable] struct {
	*graphEdges[T]
	scan     scanner[T]
	index    map[string]int32 // vertices by id
	ids      []string
	labels   []string // "" for none
	declared []bool
	firstUse []int64 // line of the first edge of a vertex that is not declared yet
	weighted bool
	real     bool
}

func newNamedGraph[T comparable](op string, r io.Reader, o *readOptions) (*namedGraph[T], error) {
	g, err := newGraphEdges[T](op, r, o)
	if err != nil {
		return nil, err
	}
	return &namedGraph[T]{graphEdges: g, scan: scannerFor(g.e, fieldAny, o), index: map[string]int32{}}, nil
}

// vertex returns the vertex with an id, a new one for a new id.
func (g *namedGraph[T]) vertex(id string, line int64) (int32, error) {
	if v, ok := g.index[id]; ok {
		return v, nil
	}
	if len(g.ids) == MaxDim {
		return 0, g.o.fail(line, fmt.Sprintf("at most %d vertices are possible", MaxDim), "")
	}
	v := int32(len(g.ids))
	id = strings.Clone(id)
	g.index[id] = v
	g.ids, g.labels = append(g.ids, id), append(g.labels, "")
	g.declared, g.firstUse = append(g.declared, false), append(g.firstUse, line)
	return v, nil
}

// node declares a vertex.
func (g *namedGraph[T]) node(id, label string, line int64) error {
	if id == "" {
		return g.o.fail(line, "the node has no id", "")
	}
	v, err := g.vertex(id, line)
	if err != nil {
		return err
	}
	if g.declared[v] {
		return g.o.fail(line, "a second node has the id "+quote(id), "")
	}
	g.declared[v], g.labels[v] = true, strings.Clone(label)
	return nil
}

// edge adds an edge with the text of its weight, "" for none.
func (g *namedGraph[T]) edge(source, target, weight string, both bool, line int64) error {
	if source == "" || target == "" {
		return g.o.fail(line, "the edge has no source or no target", "")
	}
	s, err := g.vertex(source, line)
	if err != nil {
		return err
	}
	t, err := g.vertex(target, line)
	if err != nil {
		return err
	}
	v := g.e.one
	if weight = strings.TrimSpace(weight); weight != "" && !g.unweighted() {
		var stop int
		var f fault
		text := append([]byte(weight), '\n')
		if v, stop, f = g.scan(text, 0); stop != len(weight) && f == faultNone {
			f = faultSyntax
		}
		if f != faultNone {
			msg, kind := f.explain(quote(weight), g.e.name(), g.e.kind)
			return g.o.failKind(line, msg, kind)
		}
		g.weighted, g.real = true, g.real || !writtenAsInteger([]byte(weight))
	}
	g.add(s, t, v)
	if both && s != t {
		g.add(t, s, v)
	}
	return nil
}

// graphPiece is the number of bytes of a piece of a text of vertices and edges.
const graphPiece = 1 << 18

// bytesOfNode is about the number of bytes of a piece for each vertex that it names.
const bytesOfNode = 64

// errPiece says that a piece of a file cannot be read by itself: one thread reads on from its
// begin.
var errPiece = errors.New("the piece needs what is before it")

// readNamedPieces reads vertices and edges in pieces, which all threads parse. r begins at the
// given line, between two vertices or edges, and cut is as for [chunk.Items]. parse makes a reader
// of a piece, with a graph of its own, which it reads to the end of the piece; it returns an error
// unless the piece ends between two vertices or edges too. So a cut elsewhere, such as within a
// comment, is found. accept receives the readers in order, of which graph returns the graph.
//
// At the end of the text, or before a piece with an error, readNamedPieces returns the rest of the
// text and the number of its first line.
func readNamedPieces[T comparable, R any](g *namedGraph[T], r io.Reader, line int64, cut func([]byte) int, taken func() int64,
	parse func(b chunk.Block, own *namedGraph[T]) (R, error), accept func(R)) (rest io.Reader, restLine int64, err error) {
	type piece struct {
		own    *namedGraph[T]
		reader R
		err    error
	}
	if g.o.piece == serially || parallel.Threads(g.o.threads) == 1 { // one numbering takes less than two
		return r, line, nil
	}
	src := chunk.Items(r, line, int(g.o.pieceOf(graphPiece, 1)), cut)
	err = chunk.Read(g.o.ctx, src, g.o.threads, func(b chunk.Block) (p piece) {
		p.own = &namedGraph[T]{graphEdges: &graphEdges[T]{o: g.o, e: g.e}, scan: g.scan, index: make(map[string]int32, len(b.Data)/bytesOfNode)}
		p.reader, p.err = parse(b, p.own)
		return p
	}, func(p piece) error {
		if p.err != nil || !g.absorb(p.own) {
			return chunk.ErrUnread
		}
		accept(p.reader)
		g.o.report(taken())
		return nil
	})
	if err == chunk.ErrUnread {
		err = nil
	}
	return src.Rest(), src.At(), err
}

// absorb adds the vertices and edges of the piece that follows, unless a vertex is declared twice
// or there are too many. O(vertices + edges of the piece).
func (g *namedGraph[T]) absorb(p *namedGraph[T]) bool {
	if len(p.ids) > MaxDim-len(g.ids) {
		return false
	}
	number := make([]int32, len(p.ids))
	for v, id := range p.ids {
		w, ok := g.index[id]
		if !ok {
			w = -1
		} else if g.declared[w] && p.declared[v] {
			return false
		}
		number[v] = w
	}
	for v, w := range number {
		if w < 0 {
			w = int32(len(g.ids))
			g.index[p.ids[v]] = w
			g.ids, g.labels = append(g.ids, p.ids[v]), append(g.labels, "")
			g.declared, g.firstUse = append(g.declared, false), append(g.firstUse, p.firstUse[v])
			number[v] = w
		}
		if p.declared[v] {
			g.declared[w], g.labels[w] = true, p.labels[v]
		}
	}
	for _, t := range p.blocks {
		for k := range t.Row {
			t.Row[k], t.Col[k] = number[t.Row[k]], number[t.Col[k]]
		}
		g.addBlock(t)
	}
	g.weighted, g.real = g.weighted || p.weighted, g.real || p.real
	return true
}

// unweighted reports whether WeightColumn(0) leaves weights out.
func (g *namedGraph[T]) unweighted() bool {
	return g.o.weight.given && g.o.weight.name == "" && g.o.weight.number == 0
}

// weightName reports whether an attribute of edges is the weight: that of WeightColumn, else weight
// or value, of which weight takes precedence by a higher rank.
func (o *readOptions) weightName(name string) (rank int) {
	switch {
	case o.weight.given && o.weight.name != "":
		if name == o.weight.name {
			return 3
		}
		return 0
	case strings.EqualFold(name, "weight"):
		return 2
	case strings.EqualFold(name, "value"):
		return 1
	}
	return 0
}

// end returns the matrix. The names are the labels if all vertices have different ones, else the
// ids.
func (g *namedGraph[T]) end(layout string, undirected bool) (*Matrix[T], sides, error) {
	for v, ok := range g.declared {
		if !ok {
			return nil, sides{}, g.o.fail(g.firstUse[v], "there is no node "+quote(g.ids[v]), "")
		}
	}
	names, seen := g.labels, make(map[string]struct{}, len(g.labels))
	for _, name := range g.labels {
		if _, twice := seen[name]; twice || name == "" || strings.ContainsAny(name, "\n") {
			names = g.ids
			break
		}
		seen[name] = struct{}{}
	}
	n, symmetry := len(g.ids), "general"
	if undirected {
		symmetry = "symmetric"
	}
	g.index = nil
	g.describe(layout, fieldOf(g.weighted, g.real), symmetry, n, n)
	return g.finish(n, n, bothSides(labelsOf(names)), undirected)
}
