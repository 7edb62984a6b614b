// Package centrality ranks the vertices of a graph: PageRank, HITS, eigenvector and Katz
// centrality, betweenness and closeness.
package centrality

import (
	"fmt"
	"math"

	"github.com/hiveblas/hiveblas/apps/internal/workflow"
	"github.com/hiveblas/hiveblas/matrix"
	"github.com/hiveblas/hiveblas/ops"
	"github.com/hiveblas/hiveblas/semiring"
)

// CentralityOptions are the settings of HITS, EigenvectorCentrality and KatzCentrality.
type CentralityOptions struct {
	workflow.Run
	Tolerance     float64 // stop when Σ|change| is at most this; 0 means 1e-9
	MaxIterations int     // 0 means 1000
	// Attenuation of a step of KatzCentrality, α, below 1 over the largest eigenvalue; 0 means 0.85
	// over the largest in-degree, which always converges. The others have none.
	Attenuation float64
}

// CentralityResult is the result of EigenvectorCentrality and KatzCentrality.
type CentralityResult struct {
	Centrality *matrix.Vector[float64] // of every vertex
	Iterations int
	Change     float64 // Σ|change| of the last iteration
	Converged  bool
}

// HITSResult is the result of HITS. Each of the vectors sums to 1, or is 0 without edges.
type HITSResult struct {
	Hubs, Authorities *matrix.Vector[float64]
	Iterations        int
	Change            float64 // Σ|change of the hubs| of the last iteration
	Converged         bool
}

func (o *CentralityOptions) complete(app string) error {
	if o.Tolerance == 0 {
		o.Tolerance = 1e-9
	}
	if o.MaxIterations == 0 {
		o.MaxIterations = 1000
	}
	switch {
	case !(o.Tolerance > 0):
		return &workflow.ParameterError{App: app, Arg: "the tolerance", Got: fmt.Sprint(o.Tolerance), Want: "positive"}
	case o.MaxIterations < 0:
		return &workflow.ParameterError{App: app, Arg: "the number of iterations", Got: fmt.Sprint(o.MaxIterations), Want: "0 or more"}
	case o.Attenuation != 0 && (app != "KatzCentrality" || !(o.Attenuation > 0) || math.IsInf(o.Attenuation, 0)):
		return &workflow.ParameterError{App: app, Arg: "the attenuation", Got: fmt.Sprint(o.Attenuation), Want: "a positive number, for KatzCentrality alone"}
	}
	return nil
}

// distance is |x − y|.
func distance() semiring.BinaryOp[float64, float64, float64] {
	return semiring.NewBinary("distance", func(x, y float64) float64 { return math.Abs(x - y) }, "fabs(x - y)")
}

// powerIteration is the algorithm of PageRank, HITS, EigenvectorCentrality and KatzCentrality.
const powerIteration = "power iteration"

// changed returns Σ|x − y| of two full vectors.
func changed(x, y *matrix.Vector[float64], with ops.Option) (float64, error) {
	return ops.Inner(semiring.New(semiring.Plus[float64](), distance()), x, y, with)
}

// divided divides a vector by x unless that is 0.
func divided(v *matrix.Vector[float64], x float64, with ops.Option) error {
	if x == 0 {
		return nil
	}
	return ops.ApplySecond(v, semiring.Div[float64](), v, x, with)
}

// norm returns the Euclidean norm of a vector.
func norm(v *matrix.Vector[float64], with ops.Option) (float64, error) {
	sum, err := ops.Inner(semiring.PlusTimes[float64](), v, v, with)
	return math.Sqrt(sum), err
}

// HITS returns how good a hub and an authority every vertex of g is: a hub has edges to
// authorities, and an authority edges from hubs (Kleinberg, Journal of the ACM 46, 1999). Values
// are ignored.
//
//	a ← Aᵀ +.second h;   h ← A +.second a;   each divided by its sum
//
// O(edges) an iteration.
func HITS[T comparable](g matrix.Source[T], opts ...CentralityOptions) (*HITSResult, error) {
	return hits(g, opts)
}

// hits is HITS of a graph with values of any type.
func hits(g workflow.Operand, opts []CentralityOptions) (*HITSResult, error) {
	const app = "HITS"
	o, err := workflow.Only(app, opts)
	if err == nil {
		err = o.complete(app)
	}
	if err != nil {
		return nil, err
	}
	a, n, _, err := workflow.Begun(app, "HITS", g, o.Run)
	if err != nil {
		return nil, err
	}
	workflow.Announce(o.Run, app, powerIteration)
	with := ops.WithOptions(workflow.With(o.Run), ops.Repeats(o.MaxIterations))
	plus, pull := semiring.Plus[float64](), semiring.PlusSecond[float64]()
	res := &HITSResult{Converged: n == 0}
	hubs, err := workflow.FullVector(a.Place(), n, 1/float64(max(n, 1)), with)
	if err != nil {
		return nil, err
	}
	authorities, err := workflow.FullVector(a.Place(), n, 0.0, with)
	if err != nil {
		return nil, err
	}
	var s ops.Steps
	step := func(m *matrix.View[bool], x *matrix.Vector[float64]) *matrix.Vector[float64] {
		y, err := workflow.FullVector(a.Place(), n, 0.0, with)
		s.Do(err)
		s.Do(ops.MxV(y.Accum(plus), pull, m, x, with))
		sum, err := ops.ReduceScalar(plus, y, with)
		s.Do(err)
		s.Do(divided(y, sum, with))
		return y
	}
	for res.Iterations < o.MaxIterations && !res.Converged && s.OK() {
		authorities = step(a.T(), hubs)
		next := step(a, authorities)
		res.Change, err = changed(next, hubs, with)
		s.Do(err)
		hubs = next
		res.Iterations++
		res.Converged = res.Change <= o.Tolerance
		workflow.Report(o.Run, "HITS", int64(res.Iterations), int64(o.MaxIterations))
	}
	if !s.OK() {
		return nil, s.Err()
	}
	res.Hubs, res.Authorities = hubs, authorities
	return res, nil
}

// EigenvectorCentrality returns the eigenvector of the largest eigenvalue of Aᵀ, of Euclidean norm
// 1 (Bonacich, Journal of Mathematical Sociology 2, 1972): a vertex is as central as those with
// edges to it in sum. Values are ignored.
//
//	x ← (x + Aᵀ +.second x) / ‖·‖
//
// The power method on I + Aᵀ, which has one largest eigenvalue in bipartite graphs too. O(edges) an
// iteration. The result depends on the start, of equal values, where the largest eigenvalue is
// repeated: in a graph in parts. Without a cycle there is no positive one, and the method does not
// converge well.
func EigenvectorCentrality[T comparable](g matrix.Source[T], opts ...CentralityOptions) (*CentralityResult, error) {
	return eigenvectorCentrality(g, opts)
}

// eigenvectorCentrality is EigenvectorCentrality of a graph with values of any type.
func eigenvectorCentrality(g workflow.Operand, opts []CentralityOptions) (*CentralityResult, error) {
	const app = "EigenvectorCentrality"
	o, err := workflow.Only(app, opts)
	if err == nil {
		err = o.complete(app)
	}
	if err != nil {
		return nil, err
	}
	a, n, _, err := workflow.Begun(app, "eigenvector centrality", g, o.Run)
	if err != nil {
		return nil, err
	}
	workflow.Announce(o.Run, app, powerIteration)
	with := ops.WithOptions(workflow.With(o.Run), ops.Repeats(o.MaxIterations))
	x, err := workflow.FullVector(a.Place(), n, 1/math.Sqrt(float64(max(n, 1))), with)
	if err != nil {
		return nil, err
	}
	res := &CentralityResult{Converged: n == 0}
	var s ops.Steps
	for res.Iterations < o.MaxIterations && !res.Converged && s.OK() {
		next := matrix.NewVector[float64](n, matrix.On(a.Place()))
		s.Do(ops.Apply(next, semiring.Identity[float64](), x, with))
		s.Do(ops.MxV(next.Accum(semiring.Plus[float64]()), semiring.PlusSecond[float64](), a.T(), x, with))
		length, err := norm(next, with)
		s.Do(err)
		s.Do(divided(next, length, with))
		res.Change, err = changed(next, x, with)
		s.Do(err)
		x = next
		res.Iterations++
		res.Converged = res.Change <= o.Tolerance
		workflow.Report(o.Run, "eigenvector centrality", int64(res.Iterations), int64(o.MaxIterations))
	}
	res.Centrality = x
	if !s.OK() {
		return nil, s.Err()
	}
	return res, nil
}

// KatzCentrality returns, of Euclidean norm 1, the number of walks that end in every vertex, a walk
// of k edges counted αᵏ times (Katz, Psychometrika 18, 1953). Values are ignored.
//
//	x ← 1 + Aᵀ +.second (α x)
//
// O(edges) an iteration. An attenuation α of 1 over the largest eigenvalue or more is a
// *ParameterError with an estimate of that bound, once the sums are no longer finite, or if they
// still grow after the last of 16 iterations or more; after fewer, Converged is false.
func KatzCentrality[T comparable](g matrix.Source[T], opts ...CentralityOptions) (*CentralityResult, error) {
	return katzCentrality(g, opts)
}

// katzCentrality is KatzCentrality of a graph with values of any type.
func katzCentrality(g workflow.Operand, opts []CentralityOptions) (*CentralityResult, error) {
	const app = "KatzCentrality"
	o, err := workflow.Only(app, opts)
	if err == nil {
		err = o.complete(app)
	}
	if err != nil {
		return nil, err
	}
	a, n, _, err := workflow.Begun(app, "Katz centrality", g, o.Run)
	if err != nil {
		return nil, err
	}
	workflow.Announce(o.Run, app, powerIteration)
	with := ops.WithOptions(workflow.With(o.Run), ops.Repeats(o.MaxIterations))
	var s ops.Steps
	alpha := o.Attenuation
	if alpha == 0 {
		degree := matrix.NewVector[float64](n, matrix.On(a.Place()))
		s.Do(ops.Reduce(degree, semiring.Plus[float64](), a.T().Pattern(), with))
		if s.NVals(degree) > 0 {
			most, err := ops.ReduceScalar(semiring.Max[float64](), degree, with)
			s.Do(err)
			alpha = .85 / most
		}
	}
	x, err := workflow.FullVector(a.Place(), n, 1.0, with)
	s.Do(err)
	share := matrix.NewVector[float64](n, matrix.On(a.Place()))
	res := &CentralityResult{Converged: n == 0}
	var changes []float64 // of all iterations
	for res.Iterations < o.MaxIterations && !res.Converged && s.OK() {
		// A full destination: the product accumulates into it without a union of structures.
		next, err := workflow.FullVector(a.Place(), n, 1.0, with)
		s.Do(err)
		s.Do(ops.ApplySecond(share, semiring.Times[float64](), x, alpha, with))
		s.Do(ops.MxV(next.Accum(semiring.Plus[float64]()), semiring.PlusSecond[float64](), a.T(), share, with))
		res.Change, err = changed(next, x, with)
		s.Do(err)
		if changes = append(changes, res.Change); math.IsInf(res.Change, 0) || math.IsNaN(res.Change) {
			return nil, workflow.Divergence(app, alpha, changes)
		}
		x = next
		res.Iterations++
		res.Converged = res.Change <= o.Tolerance
		workflow.Report(o.Run, "Katz centrality", int64(res.Iterations), int64(o.MaxIterations))
	}
	if !s.OK() {
		return nil, s.Err()
	}
	if !res.Converged && len(changes) >= 16 && workflow.Growth(changes) > 1-1e-6 {
		return nil, workflow.Divergence(app, alpha, changes)
	}
	length, err := norm(x, with)
	if err != nil {
		return nil, err
	}
	res.Centrality = x
	return res, divided(x, length, with)
}
