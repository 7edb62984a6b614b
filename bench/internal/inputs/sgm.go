package inputs

import (
	"github.com/hiveblas/hiveblas/bench/gen"
	"github.com/hiveblas/hiveblas/graphio"
	"github.com/hiveblas/hiveblas/matrix"
)

// SGMSeeds is the number of seeds, as in the first study.
const SGMSeeds = 100

// UndirectedFile reads a graph, without weights, directions and loops.
func UndirectedFile(path string) (*gen.Graph, error) {
	a, err := graphio.ReadMatrixMarketFile[bool](path, graphio.PatternOnly())
	if err != nil {
		return nil, err
	}
	n, _ := a.Dims()
	t := gen.Tuples{NRows: n, NCols: n}
	for at := range a.All() {
		t.Rows, t.Cols = append(t.Rows, int32(at.Row)), append(t.Cols, int32(at.Col))
	}
	return gen.CSR(gen.Symmetrise(t)), nil
}

// Weighted makes a matrix of ones of g, at the place.
func Weighted(g *gen.Graph, at matrix.Place) (*matrix.Matrix[float32], error) {
	a, err := matrix.FromCSR(g.NRows, g.NCols, g.Ptr, g.Idx, Values(g, func(uint64) float32 { return 1 }))
	if err != nil {
		return nil, err
	}
	a.IsSymmetric()
	return a, a.Move(at)
}
