package train

import (
	"slices"

	"github.com/hiveblas/hiveblas/apps/internal/workflow"
	"github.com/hiveblas/hiveblas/apps/sage/internal/neural"
	"github.com/hiveblas/hiveblas/apps/sage/internal/sampled"
)

// dropoutSeed separates the random numbers of dropout from the random numbers of samples.
const dropoutSeed = 0xD7

// tapeTrees computes the layers for targets, which may repeat only for supervised training, with
// dropout.
func tapeTrees[F workflow.Real](n *neural.Net[F], g *sampled.Graph, x neural.Input[F], targets []int32, step uint64, o SAGETrainOptions) ([]*neural.Tape[F], [][]F, error) {
	blocks, sources, err := sampled.TreesOf[F](g, targets, step, len(n.Layers), o.Samples)
	if err != nil {
		return nil, nil, err
	}
	if x, err = x.Only(sources); err != nil {
		return nil, nil, err
	}
	return tapeBlocks(n, blocks, sources, x, step, o)
}

// tapeBlocks computes the layers of blocks for sources, nil for all vertices, with dropout.
func tapeBlocks[F workflow.Real](n *neural.Net[F], blocks []*neural.Block[F], sources []int32, x neural.Input[F], step uint64, o SAGETrainOptions) ([]*neural.Tape[F], [][]F, error) {
	masks := make([][]F, len(n.Layers))
	tapes, err := n.Record(blocks, x, o.Run, func(k int, x *neural.Input[F]) (err error) {
		masks[k], err = dropInput(n, k, x, sources, step, o)
		return err
	})
	return tapes, masks, err
}

// dropInput replaces the input of a layer, rows of vertices, nil for all, by one with dropout. It
// returns the factors, nil without dropout.
func dropInput[F workflow.Real](n *neural.Net[F], k int, x *neural.Input[F], vertices []int32, step uint64, o SAGETrainOptions) ([]F, error) {
	d := neural.Dropout{Share: o.Dropout, Seed: o.Seed ^ dropoutSeed, Step: step, Layer: k}
	if d.Share <= 0 {
		return nil, nil
	}
	if x.Sparse != nil {
		own := *x.Sparse
		own.Val = slices.Clone(own.Val)
		x.Sparse = &own
		return neural.DropOn(d, own.Val, vertices, own.NRows, own.NCols, own.Ptr, own.Idx, o.Run)
	}
	own := n.Kept.Panel(x.Full.Rows, x.Full.Cols)
	copy(own.Val, x.Full.Val)
	x.Full = own
	return neural.DropOn(d, own.Val, vertices, own.Rows, own.Cols, nil, nil, o.Run)
}
