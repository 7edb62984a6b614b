package namedgraph

import (
	"errors"
	"io"
	"slices"
	"sync"

	"github.com/hiveblas/hiveblas/graphio/internal/build"
	"github.com/hiveblas/hiveblas/internal/chunk"
	"github.com/hiveblas/hiveblas/internal/parallel"
	"github.com/hiveblas/hiveblas/internal/pieces"
	"github.com/hiveblas/hiveblas/matrix"
)

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
// comment, is found. accept receives the readers in order; graph returns the graph of a reader.
//
// At the end of the text, or before a piece with an error, readNamedPieces returns the rest of the
// text and the number of its first line.
func readNamedPieces[R any](g *namedGraph, r io.Reader, line int64, cut func([]byte) int, taken func() int64,
	parse func(b chunk.Block, own *namedGraph) (R, error), accept func(R)) (rest io.Reader, restLine int64, err error) {
	if g.O.Piece == pieces.Serially || parallel.Threads(g.O.Threads) == 1 { // one numbering takes less than two
		return r, line, nil
	}
	type piece struct {
		namedPiece
		reader R
		err    error
	}
	src := chunk.Items(r, line, int(pieces.Of(graphPiece, 1, g.O.Piece)), cut)
	all := &namedPieces{g: g}
	err = chunk.Read(g.O.Ctx, src, g.O.Threads, func(b chunk.Block) (p piece) {
		p.own = &namedGraph{GraphEdges: &build.GraphEdges{O: g.O, E: g.E}, scan: g.scan, index: make(map[string]int32, len(b.Data)/bytesOfNode)}
		if p.reader, p.err = parse(b, p.own); p.err == nil {
			p.number = all.find(p.own.ids)
		}
		return p
	}, func(p piece) error {
		if p.err != nil || !all.add(p.namedPiece) {
			return chunk.ErrUnread
		}
		accept(p.reader)
		g.O.Report(taken())
		return nil
	})
	all.finish()
	if err == chunk.ErrUnread {
		err = nil
	}
	return src.Rest(), src.At(), err
}

// namedPiece is the graph of a piece of a file.
type namedPiece struct {
	own    *namedGraph
	number []int32 // of its vertices in the whole graph, −1 for none yet
}

// namedPieces adds the graphs of pieces to the whole graph.
type namedPieces struct {
	g      *namedGraph
	lock   sync.RWMutex // of g.index
	pieces []namedPiece
}

// find returns the vertices of the whole graph with some ids, −1 for an id that it has not yet. It
// runs concurrently with itself and with add.
func (a *namedPieces) find(ids []string) []int32 {
	const most = 256 // ids for which add waits
	number := make([]int32, len(ids))
	for lo := 0; lo < len(ids); lo += most {
		a.lock.RLock()
		for v := lo; v < min(lo+most, len(ids)); v++ {
			w, ok := a.g.index[ids[v]]
			if !ok {
				w = -1
			}
			number[v] = w
		}
		a.lock.RUnlock()
	}
	return number
}

// add adds the vertices of the next piece. It returns false, and adds none, if a vertex is declared
// twice or there are too many. O(vertices of the piece).
func (a *namedPieces) add(p namedPiece) bool {
	g, own := a.g, p.own
	if len(own.ids) > matrix.MaxDim-len(g.ids) {
		return false
	}
	for v, w := range p.number {
		if w < 0 { // a piece before this one may have added it
			if k, ok := g.index[own.ids[v]]; ok {
				p.number[v], w = k, k
			}
		}
		if w >= 0 && g.declared[w] && own.declared[v] {
			return false
		}
	}
	if slices.Contains(p.number, -1) {
		a.lock.Lock()
		defer a.lock.Unlock()
	}
	for v, w := range p.number {
		if w < 0 {
			w = int32(len(g.ids))
			g.index[own.ids[v]] = w
			g.ids, g.labels = append(g.ids, own.ids[v]), append(g.labels, "")
			g.declared, g.firstUse = append(g.declared, false), append(g.firstUse, own.firstUse[v])
			p.number[v] = w
		}
		if own.declared[v] {
			g.declared[w], g.labels[w] = true, own.labels[v]
		}
	}
	g.weighted, g.real = g.weighted || own.weighted, g.real || own.real
	a.pieces = append(a.pieces, namedPiece{&namedGraph{GraphEdges: own.GraphEdges}, p.number})
	return true
}

// finish adds the edges of the pieces. O(edges), by all threads.
func (a *namedPieces) finish() {
	_ = parallel.Pieces(nil, a.g.O.Threads, len(a.pieces), func(_, k int) {
		a.pieces[k].own.Flush()
		for _, t := range a.pieces[k].own.Blocks {
			for q := range t.Row {
				t.Row[q], t.Col[q] = a.pieces[k].number[t.Row[q]], a.pieces[k].number[t.Col[q]]
			}
		}
	})
	for _, p := range a.pieces {
		for _, t := range p.own.Blocks {
			a.g.AddBlock(t)
		}
	}
}
