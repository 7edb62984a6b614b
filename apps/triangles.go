package apps

import (
	"slices"

	"github.com/hiveblas/hiveblas/matrix"
	"github.com/hiveblas/hiveblas/ops"
	"github.com/hiveblas/hiveblas/semiring"
)

// TriangleOptions are the settings of TriangleCount.
type TriangleOptions struct{ Run }

// TriangleCount returns the number of triangles of g: sets of three vertices
// joined by three edges. Directions, weights and self-loops are ignored.
//
// With vertices ordered by degree and L the edges to earlier ones, a triangle
// is an edge of L whose ends share an earlier neighbour:
//
//	C⟨L⟩ = L +.pair Lᵀ;   count = Σ C
//
// (Azad, Buluç, Gilbert 2015; Davis 2018). O(Σ over edges of the shorter list)
// with that order.
func TriangleCount[T comparable](g matrix.Source[T], opts TriangleOptions) (int64, error) {
	n, err := square("TriangleCount", g)
	if err != nil {
		return 0, err
	}
	with := opts.with()
	opts.report("order by degree", 0, 2)
	l, err := orderedLower(g, opts.Run, n)
	if err != nil {
		return 0, err
	}
	opts.report("count", 1, 2)
	c := matrix.New[int64](n, n)
	if err := ops.MxM(c.Masked(l.Structure()), semiring.PlusPair[int64](), l.Pattern(), l.Pattern().T(), ops.Using(ops.Dot), with); err != nil {
		return 0, err
	}
	return ops.ReduceScalar(semiring.Plus[int64](), c, with)
}

// undirectedPattern returns g as the pattern of an undirected graph, edges in
// both directions.
func undirectedPattern[T comparable](g matrix.Source[T], run Run, n int) (matrix.View[bool], error) {
	a := g.View().Pattern()
	if symmetric(g.View()) {
		return a, nil
	}
	both := matrix.New[bool](n, n)
	err := ops.EWiseAdd[bool](both, semiring.Lor(), a, a.T(), run.with())
	return both.Pattern(), err
}

// orderedLower returns the strictly lower triangle of g with its vertices
// renumbered by ascending degree.
func orderedLower[T comparable](g matrix.Source[T], run Run, n int) (*matrix.Matrix[bool], error) {
	a, err := undirectedPattern(g, run, n)
	if err != nil {
		return nil, err
	}
	rows := a.Rows()
	degree := make([]int64, n)
	for k := range rows.Vecs() {
		degree[rows.RowID(k)] = rows.Ptr[k+1] - rows.Ptr[k]
	}
	order := make([]int, n)
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(i, j int) int { return int(degree[j] - degree[i]) })
	p := matrix.New[bool](n, n)
	l := matrix.New[bool](n, n)
	if err := ops.Extract(p, a, ops.Of(order...), ops.Of(order...), run.with()); err != nil {
		return nil, err
	}
	return l, ops.Select(l, semiring.Tril[bool](-1), p, run.with())
}
