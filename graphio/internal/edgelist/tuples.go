package edgelist

import (
	"io"

	"github.com/hiveblas/hiveblas/graphio/internal/core"
	"github.com/hiveblas/hiveblas/internal/sparse"
)

// ReadTuples returns the edges of a list in their order; see graphio.ReadTuples.
func ReadTuples(r io.Reader, o *core.ReadOptions) (t *sparse.Block, n int, labels *core.Labels, err error) {
	const op = "graphio.ReadTuples"
	switch {
	case r == nil:
		return nil, 0, nil, core.NilReader(op)
	case len(o.Dups) > 0:
		return nil, 0, nil, &core.OptionError{Op: op, Option: "Duplicates", Reason: "all edges of a list of tuples are kept", Kind: core.RemedyText}
	case o.Symmetrise:
		return nil, 0, nil, &core.OptionError{Op: op, Option: "Symmetrise", Reason: "tuples are kept as they stand in the list", Kind: core.RemedyNoSymmetrise}
	}
	if err := checkLayout(o, op); err != nil {
		return nil, 0, nil, err
	}
	rd, src, err := openEdges(r, o)
	if err != nil {
		return nil, 0, nil, err
	}
	if err := rd.read(src); err != nil {
		return nil, 0, nil, err
	}
	b, sides, err := rd.number(false, false)
	if err != nil {
		return nil, 0, nil, err
	}
	t = &sparse.Block{}
	for _, block := range b.Blocks {
		t.Row, t.Col = append(t.Row, block.Row...), append(t.Col, block.Col...)
		t.Val = o.E.T.Append(t.Val, block.Val)
	}
	o.Report(rd.taken())
	return t, max(b.M, b.N), sides.Rows, nil
}
