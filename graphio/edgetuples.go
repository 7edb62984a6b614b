package graphio

import (
	"io"

	"github.com/hiveblas/hiveblas/internal/sparse"
	"github.com/hiveblas/hiveblas/matrix"
)

// Tuples are the edges of a list in the order of its lines: edge k goes from Source[k] to Target[k]
// and has the value Value[k].
type Tuples[T any] struct {
	Source, Target []int32
	Value          []T
}

// ReadTuples reads a list of edges as [ReadEdgeList] does, and keeps repeated edges: for lists
// whose values are time stamps or labels. It returns the number of vertices n, and labels as
// ReadEdgeList does. [Duplicates] and [Symmetrise] do not apply: they are an *[OptionError].
func ReadTuples[T matrix.Element](r io.Reader, opts ...ReadOption) (t *Tuples[T], n int, labels *Labels, err error) {
	b, n, labels, err := readTuples(r, optionsFor[T](opts))
	if err != nil {
		return nil, 0, nil, err
	}
	return &Tuples[T]{b.Row, b.Col, sparse.SliceOf[T](b.Val)}, n, labels, nil
}

func readTuples(r io.Reader, o *readOptions) (t *sparse.Block, n int, labels *Labels, err error) {
	const op = "graphio.ReadTuples"
	switch {
	case r == nil:
		return nil, 0, nil, nilReader(op)
	case len(o.dups) > 0:
		return nil, 0, nil, &OptionError{op, "Duplicates", "all edges of a list of tuples are kept", RemedyText}
	case o.symmetrise:
		return nil, 0, nil, &OptionError{op, "Symmetrise", "tuples are kept as they stand in the list", RemedyNoSymmetrise}
	}
	if err := o.checkLayout(op); err != nil {
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
	for _, block := range b.blocks {
		t.Row, t.Col = append(t.Row, block.Row...), append(t.Col, block.Col...)
		t.Val = o.e.t.Append(t.Val, block.Val)
	}
	o.report(rd.taken())
	return t, max(b.m, b.n), sides.rows, nil
}
