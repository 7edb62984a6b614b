package matrix

import "io"

// Tuples are the edges of a list in the order of its lines: edge k goes from Source[k] to Target[k]
// and has the value Value[k].
type Tuples[T any] struct {
	Source, Target []int32
	Value          []T
}

// ReadTuples reads a list of edges as [ReadEdgeList] does, and keeps repeated edges: for lists
// whose values are time stamps or labels. It returns the number of vertices n, and labels as
// ReadEdgeList does. [Duplicates] and [Symmetrise] do not apply: they are an *[OptionError].
func ReadTuples[T Element](r io.Reader, opts ...ReadOption) (t *Tuples[T], n int, labels *Labels, err error) {
	const op = "matrix.ReadTuples"
	o := readOptionsOf(opts)
	switch {
	case r == nil:
		return nil, 0, nil, nilReader(op)
	case o.dup != nil:
		return nil, 0, nil, &OptionError{op, "Duplicates", "all edges of a list of tuples are kept", RemedyText}
	case o.symmetrise:
		return nil, 0, nil, &OptionError{op, "Symmetrise", "tuples are kept as they stand in the list", RemedyNoSymmetrise}
	}
	e, ok := elementOf[T]()
	if !ok {
		return nil, 0, nil, e.refused(op)
	}
	if err := o.checkLayout(op); err != nil {
		return nil, 0, nil, err
	}
	rd, src, err := openEdges(r, o, e)
	if err != nil {
		return nil, 0, nil, err
	}
	if err := rd.read(src); err != nil {
		return nil, 0, nil, err
	}
	b, labels, _, err := rd.number(false, false)
	if err != nil {
		return nil, 0, nil, err
	}
	if b.err != nil {
		return nil, 0, nil, b.err
	}
	t = &Tuples[T]{}
	for _, block := range b.blocks {
		t.Source, t.Target = append(t.Source, block.Row...), append(t.Target, block.Col...)
		t.Value = append(t.Value, block.Val...)
	}
	o.report(rd.taken())
	return t, max(b.m, b.n), labels, nil
}
