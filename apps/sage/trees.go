package sage

import (
	"github.com/hiveblas/hiveblas/apps/internal/workflow"
	"github.com/hiveblas/hiveblas/apps/sage/internal/neural"
	"github.com/hiveblas/hiveblas/apps/sage/internal/sampled"
)

// embedAll computes the layers for all vertices.
func embedAll[F workflow.Real](n *neural.Net[F], g *sampled.Graph, x neural.Input[F], samples []int, round uint64, run workflow.Run) (neural.Panel[F], error) {
	var b *neural.Block[F]
	for k := range n.Layers {
		if s := sampled.SamplesOf(samples, len(n.Layers)-1-k); b == nil || s >= 0 {
			var err error
			if b, _, err = sampled.BlockOf[F](g, nil, round, k, s); err != nil {
				return neural.Panel[F]{}, err
			}
		}
		t, err := n.Forward(k, x, b, run)
		if err != nil {
			return neural.Panel[F]{}, err
		}
		x = neural.Input[F]{Full: t.Out}
	}
	return x.Full, nil
}

// embedTrees computes embeddings of o.Vertices, batch by batch.
func embedTrees[F workflow.Real](n *neural.Net[F], g *sampled.Graph, x neural.Input[F], o SAGEOptions) (neural.Panel[F], error) {
	z := neural.NewPanel[F](len(o.Vertices), n.Layers[len(n.Layers)-1].Width())
	for lo := 0; lo < len(o.Vertices); lo += o.Batch {
		hi := min(lo+o.Batch, len(o.Vertices))
		place, targets := map[int32]int{}, []int32{}
		for _, v := range o.Vertices[lo:hi] {
			if _, ok := place[int32(v)]; !ok {
				place[int32(v)] = len(targets)
				targets = append(targets, int32(v))
			}
		}
		tapes, err := tapesOfTrees(n, g, x, targets, 0, o.Samples, o.Run)
		if err != nil {
			return z, err
		}
		for k, v := range o.Vertices[lo:hi] {
			copy(neural.Row(z, lo+k), neural.Row(tapes[len(tapes)-1].Out, place[int32(v)]))
		}
		workflow.Report(o.Run, "GraphSAGE", int64(hi), int64(len(o.Vertices)))
	}
	return z, nil
}

// ownRows bounds the rows of the trees of a batch.
const ownRows = 1 << 18

// embedOwnTrees computes embeddings of o.Vertices by trees that make their own choices.
func embedOwnTrees[F workflow.Real](n *neural.Net[F], g *sampled.Graph, x neural.Input[F], o SAGEOptions) (neural.Panel[F], error) {
	list := sampled.NumbersOrAll(o.Vertices, g.N)
	rows := 1
	for _, s := range o.Samples {
		rows = min(rows*(1+min(s, ownRows)), ownRows)
	}
	batch := max(1, min(o.Batch, ownRows/rows))
	z := neural.NewPanel[F](len(list), n.Layers[len(n.Layers)-1].Width())
	for lo := 0; lo < len(list); lo += batch {
		hi := min(lo+batch, len(list))
		at, owners := list[lo:hi], list[lo:hi]
		blocks := make([]*neural.Block[F], len(n.Layers))
		for k := len(blocks) - 1; k >= 0; k-- {
			var err error
			if blocks[k], at, owners, err = sampled.OwnBlock[F](g, at, owners, k, sampled.SamplesOf(o.Samples, len(blocks)-1-k)); err != nil {
				return z, err
			}
		}
		in, err := x.Only(at)
		if err != nil {
			return z, err
		}
		for k := range blocks {
			t, err := n.Forward(k, in, blocks[k], o.Run)
			if err != nil {
				return z, err
			}
			in = neural.Input[F]{Full: t.Out}
		}
		for k := range hi - lo {
			copy(neural.Row(z, lo+k), neural.Row(in.Full, k))
		}
		workflow.Report(o.Run, "GraphSAGE", int64(hi), int64(len(list)))
	}
	return z, nil
}

// trees computes the layers for targets without repeats.
func tapesOfTrees[F workflow.Real](n *neural.Net[F], g *sampled.Graph, x neural.Input[F], targets []int32, round uint64, samples []int, run workflow.Run) ([]*neural.Tape[F], error) {
	blocks, sources, err := sampled.TreesOf[F](g, targets, round, len(n.Layers), samples)
	if err != nil {
		return nil, err
	}
	x, err = x.Only(sources)
	if err != nil {
		return nil, err
	}
	tapes := make([]*neural.Tape[F], len(n.Layers))
	for k := range tapes {
		if tapes[k], err = n.Forward(k, x, blocks[k], run); err != nil {
			return nil, err
		}
		x = neural.Input[F]{Full: tapes[k].Out}
	}
	return tapes, nil
}
