package inputs

import (
	"github.com/hiveblas/hiveblas/bench/gen"
	"github.com/hiveblas/hiveblas/cusparse"
	"github.com/hiveblas/hiveblas/matrix"
)

// ProgramDelta is the width of a bucket for weights of 1 to 63, as in apps.SSSP.
const ProgramDelta = 6

// WeightedOn makes a matrix of a graph with weights of 1 to 63, the same in both directions, on a
// device.
func WeightedOn(dev *cusparse.Device, g *gen.Graph) (*matrix.Matrix[float32], error) {
	val := make([]float32, g.NNZ())
	for p, w := range gen.UniformInts(g, 1, 63, 3, true) {
		val[p] = float32(w)
	}
	a, err := matrix.FromCSR(g.NRows, g.NCols, g.Ptr, g.Idx, val)
	if err != nil {
		return nil, err
	}
	return a, a.Move(dev)
}
