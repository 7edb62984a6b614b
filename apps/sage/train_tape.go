package sage

import (
	"slices"

	"github.com/hiveblas/hiveblas/apps/internal/workflow"
)

// dropoutSeed tells the random numbers of dropout from those of samples.
const dropoutSeed = 0xD7

// tape computes the layers for targets, which may repeat only for supervised training, with
// dropout.
func (n *sageNet[F]) tape(g *sageGraph, x sageInput[F], targets []int32, step uint64, o SAGETrainOptions) ([]*sageTape[F], [][]F, error) {
	blocks, sources, err := treesOf[F](g, targets, step, len(n.layers), o.Samples)
	if err != nil {
		return nil, nil, err
	}
	if x, err = x.only(sources); err != nil {
		return nil, nil, err
	}
	return n.tapeOf(blocks, sources, x, step, o)
}

// tapeOf computes the layers of blocks for sources, nil for all vertices, with dropout.
func (n *sageNet[F]) tapeOf(blocks []*sageBlock[F], sources []int32, x sageInput[F], step uint64, o SAGETrainOptions) ([]*sageTape[F], [][]F, error) {
	masks := make([][]F, len(n.layers))
	tapes, err := n.record(blocks, x, o.Run, func(k int, x *sageInput[F]) (err error) {
		masks[k], err = n.drop(k, x, sources, step, o)
		return err
	})
	return tapes, masks, err
}

// drop replaces the input of a layer, rows of vertices, nil for all, by one with dropout. It
// returns the factors, nil without dropout.
func (n *sageNet[F]) drop(k int, x *sageInput[F], vertices []int32, step uint64, o SAGETrainOptions) ([]F, error) {
	d := sageDropout{o.Dropout, o.Seed ^ dropoutSeed, step, k}
	if d.share <= 0 {
		return nil, nil
	}
	if x.sparse != nil {
		own := *x.sparse
		own.Val = slices.Clone(own.Val)
		x.sparse = &own
		return dropOn(d, own.Val, vertices, own.NRows, own.NCols, own.Ptr, own.Idx, o.Run)
	}
	own := n.kept.panel(x.full.Rows, x.full.Cols)
	copy(own.Val, x.full.Val)
	x.full = own
	return dropOn(d, own.Val, vertices, own.Rows, own.Cols, nil, nil, o.Run)
}

// record computes the layers of blocks. enter, which may be nil, changes the input of a layer.
func (n *sageNet[F]) record(blocks []*sageBlock[F], x sageInput[F], run workflow.Run, enter func(k int, x *sageInput[F]) error) ([]*sageTape[F], error) {
	tapes := make([]*sageTape[F], len(n.layers))
	for k := range tapes {
		var err error
		if enter != nil {
			err = enter(k, &x)
		}
		if err == nil {
			tapes[k], err = n.forward(k, x, blocks[k], run)
		}
		if err != nil {
			return nil, err
		}
		x = sageInput[F]{full: tapes[k].out}
	}
	return tapes, nil
}

// untape adds the gradients of all layers, given that of the embeddings.
func (n *sageNet[F]) untape(tapes []*sageTape[F], masks [][]F, g panel[F], run workflow.Run) error {
	for k := len(tapes) - 1; k >= 0; k-- {
		to, err := n.backward(k, tapes[k], g, run)
		if err != nil {
			return err
		}
		if k > 0 && masks[k] != nil {
			for i, m := range masks[k] {
				to.Val[i] *= m
			}
		}
		g = to
	}
	return nil
}
