// Package triangles counts triangles, and what follows from them and from common neighbours:
// clustering coefficients and similar rows.
package triangles

import (
	"github.com/hiveblas/hiveblas/apps/internal/workflow"
	"github.com/hiveblas/hiveblas/internal/access"
	"github.com/hiveblas/hiveblas/matrix"
	"github.com/hiveblas/hiveblas/ops"
	"github.com/hiveblas/hiveblas/semiring"
)

// TriangleOptions are the settings of TriangleCount.
type TriangleOptions struct{ workflow.Run }

// TriangleCount returns the number of triangles of g: sets of three vertices
// joined by three edges. Directions, weights and self-loops are ignored.
//
// With L the edges towards the vertex of higher degree (ties by number), a triangle is an edge of L
// with both ends leading to the same third vertex:
//
//	C⟨L⟩ = L +.pair Lᵀ;   count = Σ C
//
// (Azad, Buluç, Gilbert 2015; Davis 2018; the orientation is due to Chiba and Nishizeki 1985, so
// the work is O(edges^1.5).) Renumbering the vertices by degree first takes longer (R-MAT 18).
func TriangleCount[T comparable](g matrix.Source[T], opts ...TriangleOptions) (int64, error) {
	return triangleCount(workflow.Pattern(g), opts)
}

func triangleCount(g *matrix.View[bool], opts []TriangleOptions) (int64, error) {
	o, err := workflow.Only("TriangleCount", opts)
	if err != nil {
		return 0, err
	}
	n, err := workflow.Square("TriangleCount", g)
	if err != nil {
		return 0, err
	}
	with := workflow.With(o.Run)
	workflow.Announce(o.Run, "TriangleCount", "L·Lᵀ by degree")
	workflow.Report(o.Run, "orient by degree", 0, 2)
	l, err := towardsHubs(g, o.Run, n)
	if err != nil {
		return 0, err
	}
	workflow.Report(o.Run, "count", 1, 2)
	c := matrix.New[int64](n, n, matrix.On(l.Place()))
	if err := ops.MxM(c.Masked(l.Structure()), semiring.PlusPair[int64](), l.Pattern(), l.Pattern().T(), ops.Using(ops.Dot), with); err != nil {
		return 0, err
	}
	count, err := ops.ReduceScalar(semiring.Plus[int64](), c, with)
	c.Clear() // gives memory of a device back before the collector runs
	l.Clear()
	return count, err
}

// towardsHubs returns the edges of g that lead to a vertex of higher degree,
// ties broken by number: every undirected edge once.
func towardsHubs(g workflow.Operand, run workflow.Run, n int) (*matrix.Matrix[bool], error) {
	a, err := workflow.UndirectedPattern(g, run, n)
	if err != nil {
		return nil, err
	}
	at, err := workflow.FusedOn(run, "TriangleCount", a.Place())
	if err != nil {
		return nil, err
	}
	if at != nil {
		return fusedTowardsHubs(at, a, n, run)
	}
	if a.Place() != nil {
		return upwards(a, n, run)
	}
	ranks, err := matrix.NewFullVector(n, int64(0))
	if err != nil {
		return nil, err
	}
	var s ops.Steps
	s.Do(ops.Reduce(ranks.Accum(semiring.Plus[int64]()), semiring.Plus[int64](), a.Pattern(), workflow.With(run)))
	s.Do(ops.ApplyIndex(ranks, degreeThenNumber(), ranks, workflow.With(run)))
	if !s.OK() {
		return nil, s.Err()
	}
	rank := access.VectorStore(ranks).Val
	up := semiring.NewSelect("towards-hubs", func(_ bool, i, j int) bool { return rank[i] < rank[j] })
	l := matrix.New[bool](n, n)
	if err := ops.Select(l, up, a, workflow.With(run)); err != nil {
		return nil, err
	}
	return l, l.SetFormat(matrix.CSR) // of a bitmap it is a bitmap: ops.Dot cannot list its entries
}

// upwards returns the edges from i to j with rank(i) < rank(j) by operations that run on devices. r
// is the column of ranks:
//
//	L⟨A⟩ = r any.lt rᵀ, without the entries false
func upwards(a *matrix.View[bool], n int, run workflow.Run) (*matrix.Matrix[bool], error) {
	here, with := matrix.On(a.Place()), workflow.With(run)
	b, l := matrix.New[bool](n, n, here), matrix.New[bool](n, n, here)
	one, r := matrix.New[bool](n, 1, here), matrix.New[int64](n, 1, here)
	less := semiring.New(semiring.Any[bool](), semiring.Lt[int64]())
	var s ops.Steps
	s.Do(ops.Apply(b, semiring.Identity[bool](), a, with))
	s.Do(ops.AssignScalar(one, true, ops.All(), ops.All(), with))
	s.Do(ops.MxM(r, semiring.PlusPair[int64](), b.Pattern(), one.Pattern(), with))
	s.Do(ops.ApplyIndex(r, degreeThenNumber(), r, with))
	if s.OK() {
		s.Do(b.SetFormat(matrix.CSR)) // ops.Dot cannot list a bitmap
	}
	s.Do(ops.MxM(l.Masked(b.Structure()), less, r, r.T(), ops.Using(ops.Dot), with))
	s.Do(ops.Select(l, semiring.ValueEQ(true), l, with))
	if s.OK() {
		s.Do(l.SetFormat(matrix.CSR))
	}
	b.Clear()
	return l, s.Err()
}

// degreeThenNumber orders vertices by degree, ties by number.
func degreeThenNumber() semiring.IndexOp[int64, int64] {
	return semiring.NewIndex("degree_then_number", func(degree int64, v, _ int) int64 {
		return degree<<32 | int64(v)
	}, "x << 32 | i")
}
