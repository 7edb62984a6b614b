package edgelist

import (
	"github.com/hiveblas/hiveblas/comm"
	"github.com/hiveblas/hiveblas/graphio/internal/build"
	"github.com/hiveblas/hiveblas/graphio/internal/core"
	"github.com/hiveblas/hiveblas/internal/chunk"
	"github.com/hiveblas/hiveblas/internal/rep"
	"github.com/hiveblas/hiveblas/internal/sparse"
)

// inParts reads the edges of a list with indices as ids. It is a collective.
func (rd *edgeReader) inParts(p *build.Parts, src *chunk.Source, bipartite bool, dup sparse.Combine) (rep.Matrix, core.Sides, error) {
	o, ranks := rd.o, len(p.G.Ranks())
	own, errs := make([]*edgeReader, ranks), make([]error, ranks)
	counts := make([][]int64, ranks)
	start, first, err := p.Size, int64(1), error(nil)
	if src != nil {
		first = src.At()
		start, err = p.After(first - 1)
	}
	_ = p.G.Apart(func(k int, c comm.Comm) error {
		r := *rd
		own[k], errs[k] = &r, err
		if err == nil {
			var part *chunk.Source
			if part, errs[k] = p.Lines(c, start, first); errs[k] == nil {
				errs[k] = r.edges(part, p.Threads(), func(b edgeBlock) {
					r.note(b)
					b.block = chunk.Block{}
					r.blocks = append(r.blocks, b)
				})
			}
		}
		most, real := r.most(), int64(0)
		if r.real {
			real = 1
		}
		counts[k] = []int64{r.lines, r.lowest[0], r.lowest[1], most[0], most[1], real}
		return nil
	}, nil)
	all, ok, err := p.Facts(counts, errs)
	if err != nil {
		return nil, core.Sides{}, err
	}
	if !ok {
		clear(own)
		return nil, core.Sides{}, p.Blame(func() error {
			again, src, err := openEdges(p.Stream(), o)
			if err == nil {
				err = again.edges(src, o.Threads, func(edgeBlock) {})
			}
			return err
		})
	}
	most := [2]int64{-1, -1}
	for _, f := range all {
		rd.lines += f[0]
		rd.lowest[0], rd.lowest[1] = min(rd.lowest[0], f[1]), min(rd.lowest[1], f[2])
		most[0], most[1] = max(most[0], f[3]), max(most[1], f[4])
		rd.real = rd.real || f[5] != 0
	}
	if err := rd.checkSquare(); err != nil {
		return nil, core.Sides{}, err
	}
	m, n := rd.dims(bipartite, most)
	list := make([][]sparse.Block, ranks)
	for k, r := range own {
		r.lines, r.lowest = rd.lines, rd.lowest // which decide about the base
		list[k] = r.tuples(o.Symmetrise && dup != nil)
	}
	labels := rd.counted(m, n, bipartite)
	a, err := p.Build(m, n, list, dup, o.Symmetrise)
	if err != nil {
		return nil, core.Sides{}, rd.duplicate(err, labels)
	}
	filled, indices, err := p.Places(a)
	if err == nil {
		err = rd.finish(m, n, bipartite, func(side int) (int64, error) { return p.UsedOn(filled, indices, m, n, side) })
	}
	if err != nil {
		return nil, core.Sides{}, err
	}
	return a, labels, nil
}
