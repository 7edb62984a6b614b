package gen

import (
	"fmt"

	"github.com/hiveblas/hiveblas/generate"
)

// RMATOptions refines [RMAT]. The zero value is the graph of the Graph500 parameters with seed 0
// and labels as drawn.
type RMATOptions struct {
	// A, B, C are the probabilities of the quadrants top-left, top-right and bottom-left;
	// bottom-right takes the rest. All zero means 0.57, 0.19, 0.19.
	A, B, C float64
	// Seed names the random stream.
	Seed uint64
	// Scramble relabels the vertices by [Permutation](n, Seed+1). Without it the low labels have
	// the high degrees.
	Scramble bool
}

// RMAT draws 2^scale·edgeFactor edges of a recursive-matrix graph with 2^scale vertices: each edge
// walks down scale levels of quadrants, chosen with the probabilities of opts. Duplicates and self
// loops are left in, as drawn. Scale is at most 30.
// See [generate.RMAT].
func RMAT(scale, edgeFactor int, opts RMATOptions) Tuples {
	if scale < 0 || scale > 30 || edgeFactor < 0 {
		panic(fmt.Sprintf("gen: RMAT(%d, %d): scale must be 0…30 and edgeFactor at least 0", scale, edgeFactor))
	}
	n, m := 1<<scale, edgeFactor<<scale
	t := drawn(must(generate.RMAT(scale, int64(m), generate.RMATOptions{A: opts.A, B: opts.B, C: opts.C, Seed: opts.Seed})))
	if opts.Scramble {
		p := Permutation(n, opts.Seed+1)
		byRange(m, func(lo, hi int) {
			for e := lo; e < hi; e++ {
				t.Rows[e], t.Cols[e] = p[t.Rows[e]], p[t.Cols[e]]
			}
		})
	}
	return t
}

// drawn returns the edges of a graph.
func drawn(g *generate.Graph) Tuples {
	m, n := g.Dims()
	t := Tuples{Rows: make([]int32, g.Edges()), Cols: make([]int32, g.Edges()), NRows: m, NCols: n}
	byRange(int(g.Edges()), func(lo, hi int) {
		if err := g.Draw(int64(lo), t.Rows[lo:hi], t.Cols[lo:hi]); err != nil {
			panic("gen: " + err.Error()) // the range is within the edges
		}
	})
	return t
}

// bothWays returns every edge of a graph in each direction, one after the other.
func bothWays(g *generate.Graph) Tuples {
	once := drawn(g)
	t := Tuples{Rows: make([]int32, 0, 2*once.Len()), Cols: make([]int32, 0, 2*once.Len()), NRows: once.NRows, NCols: once.NCols}
	for k, i := range once.Rows {
		t.Rows, t.Cols = append(t.Rows, i, once.Cols[k]), append(t.Cols, once.Cols[k], i)
	}
	return t
}

// must returns the graph of arguments that were checked.
func must(g *generate.Graph, err error) *generate.Graph {
	if err != nil {
		panic("gen: " + err.Error())
	}
	return g
}
