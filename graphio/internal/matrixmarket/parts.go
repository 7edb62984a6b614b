package matrixmarket

import (
	"github.com/hiveblas/hiveblas/comm"
	"github.com/hiveblas/hiveblas/graphio/internal/build"
	"github.com/hiveblas/hiveblas/internal/chunk"
	"github.com/hiveblas/hiveblas/internal/rep"
	"github.com/hiveblas/hiveblas/internal/sparse"
	"github.com/hiveblas/hiveblas/matrix"
)

// inParts reads the entries of a file in coordinates. It is a collective.
func (rd *mmReader) inParts(p *build.Parts, dup sparse.Combine) (rep.Matrix, error) {
	ranks := len(p.G.Ranks())
	list, errs := make([][]sparse.Block, ranks), make([]error, ranks)
	counts := make([][]int64, ranks)
	start, err := p.After(rd.src.At() - 1)
	_ = p.G.Apart(func(k int, c comm.Comm) error {
		n := int64(0)
		counts[k], errs[k] = []int64{0}, err
		if err != nil {
			return nil
		}
		src, err := p.Lines(c, start, rd.src.At())
		if err == nil {
			err = chunk.Read(rd.o.Ctx, src, p.Threads(), rd.parse, func(r mmBlock) error {
				if r.err != nil {
					return r.err
				}
				if n += r.entries; n > rd.info.Entries {
					return errMore
				}
				if rd.lower(dup) {
					build.ToLower(r.tuples)
				}
				list[k] = append(list[k], r.tuples)
				return nil
			})
		}
		counts[k][0], errs[k] = n, err
		return nil
	}, nil)
	all, ok, err := p.Facts(counts, errs)
	if err != nil {
		return nil, err
	}
	n := int64(0)
	for _, f := range all {
		n += f[0]
	}
	if !ok || n != rd.info.Entries {
		clear(list)
		return nil, p.Blame(func() error {
			again, _, err := openMatrixMarket(p.Stream(), rd.o)
			if err == nil {
				err = again.entries(func(sparse.Block) {})
			}
			return err
		})
	}
	a, err := p.Build(rd.info.Rows, rd.info.Cols, list, dup, rd.o.Symmetrise && rd.info.General())
	return a, duplicateError(rd.o, err)
}

// errMore says that a rank has more entries than the whole file announces.
var errMore = &matrix.InvalidError{Op: "graphio.ReadMatrixMarket", Reason: "more entries than announced"}
