package bench

import (
	"github.com/hiveblas/hiveblas/apps"
	"github.com/hiveblas/hiveblas/bench/gen"
	"github.com/hiveblas/hiveblas/matrix"
)

// The features of the HIVE application classification data: reals and counts
// of a vertex and of an edge.
const (
	vertexReals, vertexCounts = 10, 3
	edgeReals, edgeCounts     = 10, 7
)

// attributed makes features for the edges of t and their ends.
func attributed(t gen.Tuples, seed uint64) (*apps.Attributed, error) {
	vertices, err := matrix.FromDense(vertexReals+vertexCounts, t.NRows, gen.Features(t.NRows, vertexReals, vertexCounts, seed))
	if err != nil {
		return nil, err
	}
	edges, err := matrix.FromDense(edgeReals+edgeCounts, t.Len(), gen.Features(t.Len(), edgeReals, edgeCounts, seed+1))
	if err != nil {
		return nil, err
	}
	return apps.NewAttributed(vertices, edges, t.Rows, t.Cols)
}

// acPattern is a pattern of 10 vertices and 20 edges.
func acPattern() (*apps.Attributed, error) { return attributed(gen.Edges(10, 20, 5), 6) }

// acSmall is in the shape of georgiyData: 1000 vertices and 20135 edges.
func acSmall() gen.Tuples { return gen.Edges(1000, 20135, 1) }

// acRMAT is in the shape of the HIVE report's rmat18: 262145 vertices, of
// which the last has no edges, and 2008660 edges.
func acRMAT(shrink int) gen.Tuples {
	t := gen.RMAT(18-shrink, 8, gen.RMATOptions{})
	m := min(t.Len(), 2_008_660>>shrink)
	return gen.Tuples{Rows: t.Rows[:m], Cols: t.Cols[:m], NRows: t.NRows + 1, NCols: t.NCols + 1}
}
