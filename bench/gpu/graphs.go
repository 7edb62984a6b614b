package gpu

import (
	"github.com/hiveblas/hiveblas/bench/gen"
	"github.com/hiveblas/hiveblas/matrix"
)

// onDevice makes a matrix of g that lives on the device.
func onDevice[T comparable](b *gpuBench, g *gen.Graph, val []T) (*matrix.Matrix[T], error) {
	a, err := matrix.FromCSR(g.NRows, g.NCols, g.Ptr, g.Idx, val)
	if err != nil {
		return nil, err
	}
	return a, a.Move(b.dev)
}

// vectorOn makes a full vector that lives on the device.
func vectorOn[T comparable](b *gpuBench, val []T) (*matrix.Vector[T], error) {
	x, err := matrix.VectorOf(val)
	if err != nil {
		return nil, err
	}
	return x, x.Move(b.dev)
}
