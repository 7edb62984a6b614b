// Package lgc finds clusters around seeds: local graph clustering by ℓ1-regularised PageRank, and
// the sweep for a cut.
package lgc

import (
	"fmt"
	"slices"
	"sync"

	"github.com/hiveblas/hiveblas/apps/internal/workflow"
	"github.com/hiveblas/hiveblas/matrix"
	"github.com/hiveblas/hiveblas/ops"
	"github.com/hiveblas/hiveblas/semiring"
)

// ClusterMethod is the method of the minimisation.
type ClusterMethod int

// The methods of LocalCluster.
const (
	// ClusterPush takes an exact coordinate step at every vertex with too large a residual, all at
	// once: the fewest products.
	ClusterPush ClusterMethod = iota
	// ClusterISTA takes proximal gradient steps of length 1/L = 1.
	ClusterISTA
	// ClusterFISTA adds the momentum for strong convexity α to these steps: the
	// fewest steps where α is small.
	ClusterFISTA
)

func (m ClusterMethod) String() string {
	if names := []string{"push", "ista", "fista"}; m >= 0 && int(m) < len(names) {
		return names[m]
	}
	return fmt.Sprintf("ClusterMethod(%d)", int(m))
}

// LocalClusterOptions are the settings of LocalCluster.
type LocalClusterOptions struct {
	workflow.Run
	Alpha         float64 // teleportation; 0 means 0.15
	Rho           float64 // weight of the ℓ1 norm; 0 means 1e-4
	Epsilon       float64 // relative excess of the gradient at which to stop; 0 means 1e-3
	Method        ClusterMethod
	MaxIterations int  // 0 means 10000
	Sweep         bool // find the prefix of least conductance too
}

// LocalClusterResult is the result of LocalCluster.
type LocalClusterResult struct {
	P          *matrix.Vector[float64] // p = D^½q ≥ 0, entries where it is not 0
	Support    int64                   // number of entries of P
	Objective  float64
	KKT        float64 // largest violation of the optimality conditions, as a share of ρα
	Iterations int
	Converged  bool
	Cut        *Cut // with Sweep: the cluster, nil if P is empty
}

// A Cut is a set of vertices and the size of its boundary.
type Cut struct {
	Vertices    []int   // in the order of the sweep, the largest p/d first
	Conductance float64 // Edges / min(Volume, volume of the rest); 1 if there is no rest
	Volume      int64   // sum of the degrees
	Edges       int64   // between the set and the rest
}

// LocalCluster finds the vertices around seeds by ℓ1-regularised PageRank: p =
// D^½q for the q of
//
//	min ½⟨q, Qq⟩ − α⟨s, D^−½q⟩ + ρα‖D^½q‖₁,   Q = D^−½(D − (1−α)/2·(D + A))D^−½
//
// where s spreads 1 evenly over the seeds, A is the adjacency and D the degrees
// (Fountoulakis, Roosta-Khorasani, Shun, Cheng, Mahoney: Variational
// perspective on local graph clustering, Math. Programming 174, 2019). The
// volume of the support of p is at most 1/ρ.
//
// All methods keep x = D⁻¹p and the scaled residual −D^−½∇f,
//
//	g = αD⁻¹s − (1+α)/2·x + (1−α)/2·D⁻¹Ax,
//
// as sparse vectors, and move x by a sparse Δ, after which g changes by
// −(1+α)/2·Δ + (1−α)/2·D⁻¹AΔ: a product that reads the rows of A in which Δ has
// an entry. Work is proportional to the support and its edges, not to the graph.
// Once the vertices that move have a large part of all edges, the same steps use
// full vectors, at O(edges) each.
// They stop when ‖D^−½∇f‖∞ ≤ (1+ε)ρα, ClusterFISTA when all optimality conditions
// hold to ερα; the objective is then within ε²ρα/2 of the least.
//
// The graph is undirected; weights and self-loops are ignored. LocalCluster returns a
// *ParameterError if an edge lacks its reverse, if a seed has no edges, or if α, ρ or ε is outside
// (0, 1), and a *matrix.IndexError if a seed is outside the graph. Checking the graph takes
// O(edges): for several queries use a Clusterer, for one on a large graph NewLocalClusterer.
func LocalCluster[T comparable](g matrix.Source[T], seeds []int, opts ...LocalClusterOptions) (*LocalClusterResult, error) {
	return localCluster(g, seeds, opts)
}

func localCluster(g workflow.Operand, seeds []int, opts []LocalClusterOptions) (*LocalClusterResult, error) {
	o, err := workflow.OnlyPipeline("LocalCluster", opts)
	if err != nil {
		return nil, err
	}
	c, err := newClusterer(g, []workflow.Run{o.Run})
	if err != nil {
		return nil, err
	}
	return c.Cluster(seeds, o)
}

// A Clusterer is a graph prepared for local clustering: checked, with its degrees. It keeps the
// graph, which must not change. Any number of goroutines may use it.
type Clusterer struct {
	n      int
	volume int64                   // sum of the degrees
	a      *matrix.View[bool]      // the edges, without loops
	place  matrix.Place            // of the graph and all vectors
	degree *matrix.Vector[float64] // full, 0 of a vertex without edges
	share  *matrix.Vector[float64] // full: 1/degree, 0 of a vertex without edges

	fullFrom float64 // the share of all edges from which steps are over full vectors
	rows     *rows   // of a graph that is read row by row; then degree and share are of its vertices so far

	mu    sync.Mutex
	walk  batchWalk    // made when batches need it
	ranks []*Clusterer // of the whole graph, for the ranks of this process, made when batches need them
}

// NewClusterer checks a graph and counts its degrees. O(edges); errors as
// LocalCluster.
func NewClusterer[T comparable](g matrix.Source[T], opts ...workflow.Run) (*Clusterer, error) {
	return newClusterer(g, opts)
}

func newClusterer(g workflow.Operand, opts []workflow.Run) (*Clusterer, error) {
	run, err := workflow.OnlyPipeline("NewClusterer", opts)
	if err != nil {
		return nil, err
	}
	v := workflow.Pattern(g)
	n, err := workflow.Square("LocalCluster", v)
	if err != nil {
		return nil, err
	}
	workflow.Report(run, "degrees", 0, int64(n))
	c := &Clusterer{n: n, place: v.Place(), a: v, fullFrom: fullFrom}
	if c.place != nil {
		c.fullFrom = fullFromDevice
	}
	if a, ok := g.(interface{ IsSymmetric() bool }); ok && c.place == nil {
		a.IsSymmetric() // a symmetric graph is its own transpose
	}
	with, here := workflow.With(run), matrix.On(c.place)
	var s ops.Steps
	loops := matrix.New[bool](n, n, here)
	s.Do(ops.Select(loops, semiring.DiagSelect[bool](0), c.a, with))
	if s.NVals(loops) > 0 {
		a := matrix.New[bool](n, n, here)
		s.Do(ops.Select(a, semiring.Offdiag[bool](0), c.a, with))
		if c.place == nil && s.OK() {
			a.IsSymmetric()
		}
		c.a = matrix.AsView[bool](a.View().Pattern())
	}
	s.Do(c.undirected(with))
	if c.degree, err = workflow.FullVector(c.place, n, 0.0, with); err != nil {
		return nil, err
	}
	c.share = matrix.NewVector[float64](n, here)
	s.Do(ops.Reduce(c.degree.Accum(semiring.Plus[float64]()), semiring.Plus[float64](), c.a.Pattern(), with))
	s.Do(ops.Apply(c.share, reciprocal(), c.degree, with))
	sum, err := ops.ReduceScalar(semiring.Plus[float64](), c.degree, with)
	s.Do(err)
	c.volume = int64(sum)
	if !s.OK() {
		return nil, s.Err()
	}
	return c, nil
}

// undirected returns a *ParameterError if an edge has no reverse.
func (c *Clusterer) undirected(with ops.Option) error {
	here := matrix.On(c.place)
	both := matrix.New[bool](c.n, c.n, here)
	var s ops.Steps
	s.Do(ops.EWiseMult(both, semiring.Land(), c.a, c.a.T(), with))
	if s.NVals(both) == s.NVals(c.a) || !s.OK() {
		return s.Err()
	}
	single := matrix.New[bool](c.n, c.n, here)
	if err := ops.Apply(single.Masked(both.Structure().Not()), semiring.Identity[bool](), c.a, with); err != nil {
		return err
	}
	for at := range single.All() {
		return workflow.AboutVertices("LocalCluster", "the graph", "directed: there is an edge from {0} to {1} and none back",
			"undirected; graphio.Symmetrise reads it so", at.Row, at.Col)
	}
	return single.Err()
}

// settings returns the options with the defaults filled in.
func (c *Clusterer) settings(opts []LocalClusterOptions) (LocalClusterOptions, error) {
	o, err := workflow.OnlyPipeline("LocalCluster", opts)
	if err != nil {
		return o, err
	}
	if c == nil || c.degree == nil && c.rows == nil {
		return o, &workflow.ParameterError{App: "LocalCluster", Arg: "the Clusterer", Got: "nil or zero", Want: "one made by NewClusterer"}
	}
	for _, p := range []struct {
		name  string
		value *float64
		usual float64
	}{{"alpha", &o.Alpha, 0.15}, {"rho", &o.Rho, 1e-4}, {"epsilon", &o.Epsilon, 1e-3}} {
		if *p.value == 0 {
			*p.value = p.usual
		}
		if !(*p.value > 0 && *p.value < 1) {
			return o, &workflow.ParameterError{App: "LocalCluster", Arg: p.name, Got: fmt.Sprint(*p.value), Want: "between 0 and 1"}
		}
	}
	if o.MaxIterations == 0 {
		o.MaxIterations = 10_000
	}
	if o.MaxIterations < 0 {
		return o, &workflow.ParameterError{App: "LocalCluster", Arg: "the number of iterations", Got: fmt.Sprint(o.MaxIterations), Want: "positive"}
	}
	if o.Method < ClusterPush || o.Method > ClusterFISTA {
		return o, &workflow.ParameterError{App: "LocalCluster", Arg: "the method", Got: fmt.Sprint(int(o.Method)), Want: "ClusterPush, ClusterISTA or ClusterFISTA"}
	}
	return o, nil
}

// checkSeeds verifies the vertices to begin from.
func (c *Clusterer) checkSeeds(seeds []int, run workflow.Run) error {
	if len(seeds) == 0 {
		return &workflow.ParameterError{App: "LocalCluster", Arg: "the list of seeds", Got: "empty", Want: "at least one vertex"}
	}
	for _, v := range seeds {
		if err := workflow.Vertex("LocalCluster", "seed", v, c.n); err != nil {
			return err
		}
	}
	degrees := matrix.NewVector[float64](len(seeds), matrix.On(c.place))
	if err := ops.ExtractVector(degrees, c.degree, ops.Of(seeds...), workflow.With(run)); err != nil {
		return err
	}
	for k, d := range degrees.All() {
		if d == 0 {
			return workflow.AboutVertices("LocalCluster", "seed {0}", "a vertex without edges", "one with edges", seeds[k])
		}
	}
	return nil
}

// Cluster is LocalCluster around a set of seeds, each counted once.
func (c *Clusterer) Cluster(seeds []int, opts ...LocalClusterOptions) (*LocalClusterResult, error) {
	o, err := c.settings(opts)
	if err != nil {
		return nil, err
	}
	seeds = slices.Clone(seeds)
	slices.Sort(seeds)
	seeds = slices.Compact(seeds)
	if c.rows != nil {
		if c, err = c.forQuery(seeds, o.Run); err != nil {
			return nil, err
		}
	}
	if err := c.checkSeeds(seeds, o.Run); err != nil {
		return nil, err
	}
	workflow.Announce(o.Run, "LocalCluster", o.Method.String())
	here, with := matrix.On(c.place), workflow.With(o.Run)
	field := func() lgcField { return matrix.NewVector[float64](c.n, here) }
	val := make([]float64, len(seeds))
	for k := range val {
		val[k] = 1 / (o.Rho * float64(len(seeds)))
	}
	start, err := matrix.VectorFromTuples(c.n, seeds, val, nil)
	if err != nil {
		return nil, err
	}
	l := &descent{o: o, with: with, field: field, start: field(), degree: c.degree, change: func(delta lgcField) (lgcField, error) {
		return c.change(delta.(lgcVector), o)
	}}
	l.widen = func(delta lgcField) (func() (bool, error), error) {
		if c.rows != nil {
			return nil, nil
		}
		if yes, err := c.crowded(delta.(lgcVector), with); !yes {
			return nil, err
		}
		return c.widened(l)
	}
	if err := ops.EWiseMult(l.start, semiring.Times[float64](), start, c.share, with); err != nil {
		return nil, err
	}
	res := &LocalClusterResult{}
	if res.Iterations, res.Converged, err = l.run(); err != nil {
		return nil, err
	}
	if res.KKT, err = l.certify(); err != nil {
		return nil, err
	}
	if c.rows != nil {
		if err := c.rows.undirected(); err != nil {
			return nil, err
		}
	}
	if res.Objective, err = l.objective(); err != nil {
		return nil, err
	}
	x := l.x.(lgcVector)
	if x.Format() == matrix.Full {
		some := matrix.NewVector[float64](c.n, here)
		if err := ops.Select(some, semiring.ValueNE(0.0), x, with); err != nil {
			return nil, err
		}
		x = some
	}
	res.P = matrix.NewVector[float64](c.n, here)
	var s ops.Steps
	s.Do(ops.EWiseMult(res.P, semiring.Times[float64](), x, c.degree, with))
	s.Do(ops.ApplySecond(res.P, semiring.Times[float64](), res.P, o.unit(), with))
	if res.Support = s.NVals(res.P); !s.OK() {
		return nil, s.Err()
	}
	if o.Sweep && res.Support > 0 {
		res.Cut, err = c.sweep(x, with)
	}
	return res, err
}

// change returns own·Δ + sent·D⁻¹AΔ.
func (c *Clusterer) change(delta lgcVector, o LocalClusterOptions) (lgcVector, error) {
	h, part, with := matrix.NewVector[float64](c.n, matrix.On(c.place)), matrix.NewVector[float64](c.n, matrix.On(c.place)), workflow.With(o.Run)
	var s ops.Steps
	times := semiring.Times[float64]()
	s.Do(ops.ApplySecond(part, times, delta, o.sent(), with))
	if c.rows != nil {
		s.Do(c.rows.check(delta))
		if !s.OK() { // the rows may be damaged
			return nil, s.Err()
		}
		s.Do(ops.VxM(h, semiring.PlusFirst[float64](), part, c.a, with, ops.Using(ops.Push)))
		s.Do(c.meet(h, with))
	} else if delta.Format() == matrix.Full {
		s.Do(ops.MxV(h, semiring.PlusSecond[float64](), c.a, part, with))
	} else {
		s.Do(ops.VxM(h, semiring.PlusFirst[float64](), part, c.a, with))
	}
	s.Do(ops.EWiseMult(h, times, h, c.share, with))
	s.Do(ops.ApplySecond(part, times, delta, o.own(), with))
	s.Do(ops.EWiseAdd(h, semiring.Plus[float64](), h, part, with))
	return h, s.Err()
}

// reciprocal is 1/x, and 0 of 0.
func reciprocal() semiring.UnaryOp[float64, float64] {
	return semiring.NewUnary("reciprocal", func(x float64) float64 {
		if x == 0 {
			return 0
		}
		return 1 / x
	}, "x == 0 ? 0.0 : 1 / x")
}
