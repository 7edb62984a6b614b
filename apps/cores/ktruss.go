package cores

import (
	"fmt"

	"github.com/hiveblas/hiveblas/apps/internal/workflow"
	"github.com/hiveblas/hiveblas/matrix"
	"github.com/hiveblas/hiveblas/ops"
	"github.com/hiveblas/hiveblas/semiring"
)

// KTrussOptions are the settings of KTruss.
type KTrussOptions struct{ workflow.Run }

// KTruss returns the k-truss of g, k ≥ 3: the largest subgraph in which every edge is in at least
// k−2 triangles of the subgraph. The value of an edge is that number of triangles. Directions,
// weights and self-loops are ignored; the result has every edge in both directions.
//
//	C⟨C⟩ = C +.pair C;   C = C⟨C ≥ k−2⟩;   until C no longer shrinks
//
// (Cohen 2008; Low et al., HPEC 2018.)
func KTruss[T comparable](g matrix.Source[T], k int, opts ...KTrussOptions) (*matrix.Matrix[int64], error) {
	return kTruss(workflow.Pattern(g), k, opts)
}

func kTruss(g *matrix.View[bool], k int, opts []KTrussOptions) (*matrix.Matrix[int64], error) {
	o, err := workflow.OnlyPipeline("KTruss", opts)
	if err != nil {
		return nil, err
	}
	n, err := workflow.Square("KTruss", g)
	if err != nil {
		return nil, err
	}
	if k < 3 {
		return nil, &workflow.ParameterError{App: "KTruss", Arg: "k", Got: fmt.Sprint(k), Want: "3 or more"}
	}
	workflow.Announce(o.Run, "KTruss", "repeated support")
	a, err := workflow.UndirectedPattern(g, o.Run, n)
	if err != nil {
		return nil, err
	}
	with := workflow.With(o.Run)
	var s ops.Steps
	here := matrix.On(a.Place())
	c := matrix.New[int64](n, n, here)
	loopless := matrix.New[bool](n, n, here)
	s.Do(ops.Select(loopless, semiring.Offdiag[bool](0), a, with))
	s.Do(ops.Apply(c, semiring.OneOp[bool, int64](), loopless, with))
	for before := int64(-1); s.OK() && s.NVals(c) != before; {
		before = c.NVals()
		workflow.Report(o.Run, "k-truss", 0, before)
		s.Do(ops.MxM(c.Masked(c.Structure()).Replace(), semiring.PlusPair[int64](), c.Pattern(), c.Pattern().T(), with))
		s.Do(ops.Select(c, semiring.ValueGE(int64(k-2)), c, with))
	}
	if !s.OK() {
		return nil, s.Err()
	}
	return c, nil
}
