package inputs

import (
	"math/bits"

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

// Attributed makes features for the edges of t and their ends.
func Attributed(t gen.Tuples, seed uint64) (*apps.Attributed, error) {
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

// ACPattern is a pattern of 10 vertices and 20 edges.
func ACPattern() (*apps.Attributed, error) { return Attributed(gen.Edges(10, 20, 5), 6) }

// ACSmall is in the shape of georgiyData: 1000 vertices and 20135 edges.
func ACSmall(shrink int) gen.Tuples {
	return gen.Edges(max(1000>>shrink, 20), max(20135>>shrink, 100), 1)
}

// ACRMAT is in the shape of the HIVE report's rmat18: 262145 vertices, of
// which the last has no edges, and 2008660 edges.
func ACRMAT(shrink int) gen.Tuples {
	t := gen.RMAT(max(18-shrink, 4), 8, gen.RMATOptions{})
	m := min(t.Len(), 2_008_660>>shrink)
	return gen.Tuples{Rows: t.Rows[:m], Cols: t.Cols[:m], NRows: t.NRows + 1, NCols: t.NCols + 1}
}

// ACSocial is in the shape of the HIVE report's JohnsHopkins_random: 5157 vertices and 186572 edges
// of a social network, here of R-MAT.
func ACSocial(shrink int) gen.Tuples {
	n, m := max(5157>>shrink, 20), max(186_572>>shrink, 100)
	scale := bits.Len(uint(n - 1))
	all := gen.RMAT(scale, 4*m>>scale+1, gen.RMATOptions{})
	t := gen.Tuples{NRows: n, NCols: n}
	for k := range all.Rows {
		if int(all.Rows[k]) < n && int(all.Cols[k]) < n && len(t.Rows) < m {
			t.Rows, t.Cols = append(t.Rows, all.Rows[k]), append(t.Cols, all.Cols[k])
		}
	}
	return t
}

// ACBytes is what a matching reads and writes at least: of each edge, its
// distances and a row of messages in every round; the features once.
func ACBytes(t gen.Tuples) float64 {
	const rounds, q = 10.0, 20.0
	return float64(t.Len())*(4*17+rounds*(8*q+8)) + rounds*float64(t.NRows)*4*10*q
}
