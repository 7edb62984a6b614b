package triangles

import (
	"github.com/hiveblas/hiveblas/apps/internal/workflow"
	"github.com/hiveblas/hiveblas/apps/scan"
	"github.com/hiveblas/hiveblas/matrix"
	"github.com/hiveblas/hiveblas/ops"
	"github.com/hiveblas/hiveblas/semiring"
)

// ClusteringOptions are the settings of LocalClustering.
type ClusteringOptions struct{ workflow.Run }

// ClusteringResult is the result of LocalClustering.
type ClusteringResult struct {
	Coefficient  *matrix.Vector[float64] // of every vertex, 0 with fewer than two neighbours
	Triangles    *matrix.Vector[int64]   // through every vertex
	Average      float64                 // of the coefficients of all vertices
	Transitivity float64                 // 3 · triangles / pairs of neighbours of a vertex, 0 without pairs
}

// LocalClustering returns the local clustering coefficient of every vertex of g: the share of the
// pairs of its neighbours that are neighbours of each other (Watts, Strogatz, Nature 393, 1998).
// Directions, values and self-loops are ignored.
//
// The locality statistic s of one hop is the degree d plus the triangles of a vertex:
//
//	t = s − d;   c = t ./ (d·(d−1)/2)
//
// ScanStatistics computes s in its forms for the host and for devices, Method included.
func LocalClustering[T comparable](g matrix.Source[T], opts ...ClusteringOptions) (*ClusteringResult, error) {
	return localClustering(workflow.Pattern(g), opts)
}

func localClustering(g *matrix.View[bool], opts []ClusteringOptions) (*ClusteringResult, error) {
	const app = "LocalClustering"
	o, err := workflow.Only(app, opts)
	if err != nil {
		return nil, err
	}
	n, err := workflow.Square(app, g)
	if err != nil {
		return nil, err
	}
	if _, err := workflow.FusedOn(o.Run, app, g.Place()); err != nil {
		return nil, err
	}
	a, err := workflow.UndirectedPattern(g, o.Run, n)
	if err != nil {
		return nil, err
	}
	scan, err := scan.ScanStatistics(a, scan.ScanOptions{Run: o.Run})
	if err != nil {
		return nil, err
	}
	with, here := workflow.With(o.Run), matrix.On(a.Place())
	var s ops.Steps
	b := matrix.New[bool](n, n, here)
	s.Do(ops.Select(b, semiring.Offdiag[bool](0), a, with))
	if !s.OK() {
		return nil, s.Err()
	}
	d, err := workflow.DegreesOf(b, n, o.Run)
	if err != nil {
		return nil, err
	}
	res := &ClusteringResult{Triangles: matrix.NewVector[int64](n, here)}
	s.Do(ops.EWiseMult(res.Triangles, semiring.Minus[int64](), scan.Statistic, d, with))
	pairs, less := matrix.NewVector[int64](n, here), matrix.NewVector[int64](n, here)
	s.Do(ops.Select(pairs, semiring.ValueGT[int64](1), d, with))
	s.Do(ops.ApplySecond(less, semiring.Minus[int64](), pairs, 1, with))
	s.Do(ops.EWiseMult(pairs, semiring.Times[int64](), pairs, less, with))
	s.Do(ops.ApplySecond(pairs, semiring.Div[int64](), pairs, 2, with))
	all, err := ops.ReduceScalar(semiring.Plus[int64](), pairs, with)
	s.Do(err)
	res.Coefficient, err = workflow.FullVector(a.Place(), n, 0.0, with)
	s.Do(err)
	x, y := matrix.NewVector[float64](n, here), matrix.NewVector[float64](n, here)
	s.Do(ops.Apply(x, semiring.Convert[int64, float64](), res.Triangles, with))
	s.Do(ops.Apply(y, semiring.Convert[int64, float64](), pairs, with))
	s.Do(ops.EWiseMult(x, semiring.Div[float64](), x, y, with))
	s.Do(ops.AssignVector(res.Coefficient.Masked(x.Structure()), x, ops.All(), with))
	sum, err := ops.ReduceScalar(semiring.Plus[float64](), x, with)
	s.Do(err)
	if !s.OK() {
		return nil, s.Err()
	}
	if n > 0 {
		res.Average = sum / float64(n)
	}
	if all > 0 {
		res.Transitivity = 3 * float64(scan.Triangles) / float64(all)
	}
	return res, nil
}
