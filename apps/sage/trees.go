package sage

import (
	"github.com/hiveblas/hiveblas/apps/internal/workflow"
)

// treeSize estimates the vertices of the trees of some vertices.
func treeSize(count int, samples []int, g *sageGraph, layers int) float64 {
	mean := 0.0
	if g.n > 0 {
		mean = float64(len(g.idx)) / float64(g.n)
	}
	size := float64(count)
	for k := range layers {
		s := mean
		if samples != nil {
			s = min(s, float64(samples[k]))
		}
		size *= 1 + s
	}
	return size
}

// embedAll computes the layers for all vertices.
func (n *sageNet[F]) embedAll(g *sageGraph, x sageInput[F], samples []int, round uint64, run workflow.Run) (panel[F], error) {
	var b *sageBlock[F]
	for k := range n.layers {
		if s := samplesOf(samples, len(n.layers)-1-k); b == nil || s >= 0 {
			var err error
			if b, _, err = blockOf[F](g, nil, round, k, s); err != nil {
				return panel[F]{}, err
			}
		}
		t, err := n.forward(k, x, b, run)
		if err != nil {
			return panel[F]{}, err
		}
		x = sageInput[F]{full: t.out}
	}
	return x.full, nil
}

// embedTrees computes embeddings of o.Vertices, batch by batch.
func (n *sageNet[F]) embedTrees(g *sageGraph, x sageInput[F], o SAGEOptions) (panel[F], error) {
	z := newPanel[F](len(o.Vertices), n.layers[len(n.layers)-1].width())
	for lo := 0; lo < len(o.Vertices); lo += o.Batch {
		hi := min(lo+o.Batch, len(o.Vertices))
		place, targets := map[int32]int{}, []int32{}
		for _, v := range o.Vertices[lo:hi] {
			if _, ok := place[int32(v)]; !ok {
				place[int32(v)] = len(targets)
				targets = append(targets, int32(v))
			}
		}
		tapes, err := n.trees(g, x, targets, 0, o.Samples, o.Run)
		if err != nil {
			return z, err
		}
		for k, v := range o.Vertices[lo:hi] {
			copy(row(z, lo+k), row(tapes[len(tapes)-1].out, place[int32(v)]))
		}
		workflow.Report(o.Run, "GraphSAGE", int64(hi), int64(len(o.Vertices)))
	}
	return z, nil
}

// ownRows bounds the rows of the trees of a batch.
const ownRows = 1 << 18

// embedOwnTrees computes embeddings of o.Vertices by trees whose choices are their own.
func (n *sageNet[F]) embedOwnTrees(g *sageGraph, x sageInput[F], o SAGEOptions) (panel[F], error) {
	list := numbersOrAll(o.Vertices, g.n)
	rows := 1
	for _, s := range o.Samples {
		rows = min(rows*(1+min(s, ownRows)), ownRows)
	}
	batch := max(1, min(o.Batch, ownRows/rows))
	z := newPanel[F](len(list), n.layers[len(n.layers)-1].width())
	for lo := 0; lo < len(list); lo += batch {
		hi := min(lo+batch, len(list))
		at, owners := list[lo:hi], list[lo:hi]
		blocks := make([]*sageBlock[F], len(n.layers))
		for k := len(blocks) - 1; k >= 0; k-- {
			var err error
			if blocks[k], at, owners, err = ownBlock[F](g, at, owners, k, samplesOf(o.Samples, len(blocks)-1-k)); err != nil {
				return z, err
			}
		}
		in, err := x.only(at)
		if err != nil {
			return z, err
		}
		for k := range blocks {
			t, err := n.forward(k, in, blocks[k], o.Run)
			if err != nil {
				return z, err
			}
			in = sageInput[F]{full: t.out}
		}
		for k := range hi - lo {
			copy(row(z, lo+k), row(in.full, k))
		}
		workflow.Report(o.Run, "GraphSAGE", int64(hi), int64(len(list)))
	}
	return z, nil
}

// trees computes the layers for targets without repeats.
func (n *sageNet[F]) trees(g *sageGraph, x sageInput[F], targets []int32, round uint64, samples []int, run workflow.Run) ([]*sageTape[F], error) {
	blocks, sources, err := treesOf[F](g, targets, round, len(n.layers), samples)
	if err != nil {
		return nil, err
	}
	x, err = x.only(sources)
	if err != nil {
		return nil, err
	}
	tapes := make([]*sageTape[F], len(n.layers))
	for k := range tapes {
		if tapes[k], err = n.forward(k, x, blocks[k], run); err != nil {
			return nil, err
		}
		x = sageInput[F]{full: tapes[k].out}
	}
	return tapes, nil
}
