package centrality

import (
	"fmt"
	"math"
	"reflect"

	"github.com/hiveblas/hiveblas/apps/internal/workflow"
	"github.com/hiveblas/hiveblas/internal/rep"
	"github.com/hiveblas/hiveblas/internal/sparse"
	"github.com/hiveblas/hiveblas/matrix"
	"github.com/hiveblas/hiveblas/ops"
	"github.com/hiveblas/hiveblas/semiring"
)

// PageRankOptions are the settings of PageRank.
type PageRankOptions struct {
	workflow.Run
	Damping       float64 // probability of following an edge; 0 means 0.85
	Tolerance     float64 // stop when Σ|change| is at most this; 0 means 1e-9
	MaxIterations int     // 0 means 100
	// Restart holds the weights of the vertices to which the walk jumps, for personalised ranks;
	// nil means all alike. They are divided by their sum; vertices without entry have weight 0.
	Restart *matrix.Vector[float64]
	// Single computes in float32, which is faster on graphs larger than the caches; the ranks are
	// exact to about 1e-6 in sum. Tolerance 0 then means 1e-6. PageRank with a Restart or with
	// Method Pipeline computes in float64, as WeightedPageRank does.
	Single bool
}

// PageRankResult is the result of PageRank.
type PageRankResult struct {
	Rank       *matrix.Vector[float64] // sums to 1, with Single within 1e-6
	Iterations int
	Change     float64 // Σ|change| of the last iteration
	Converged  bool
}

// complete fills in the defaults and checks the settings.
func (o *PageRankOptions) complete(app string) error {
	if o.Damping == 0 {
		o.Damping = 0.85
	}
	switch {
	case o.Tolerance == 0 && o.Single:
		o.Tolerance = 1e-6
	case o.Tolerance == 0:
		o.Tolerance = 1e-9
	}
	if o.MaxIterations == 0 {
		o.MaxIterations = 100
	}
	if !(o.Damping > 0 && o.Damping < 1) {
		return &workflow.ParameterError{App: app, Arg: "damping", Got: fmt.Sprint(o.Damping), Want: "between 0 and 1"}
	}
	if !(o.Tolerance > 0) || o.MaxIterations < 0 {
		return &workflow.ParameterError{App: app, Arg: "tolerance or iterations", Got: fmt.Sprint(o.Tolerance, ", ", o.MaxIterations), Want: "positive"}
	}
	return nil
}

// PageRank returns the stationary distribution of a walk that follows an edge
// of g with probability d and jumps anywhere otherwise, and always from a
// vertex without out-edges (Page et al., 1999):
//
//	r ← d·(Aᵀ +.second (r ./ outdegree)) + (d·Σ r(dangling) + 1 − d)/n
//
// With Restart the walk jumps to a vertex with the probability that Restart gives it in place of
// 1/n (personalised PageRank; Haveliwala, WWW 2002). Values are ignored; see [WeightedPageRank].
// O(edges) an iteration, over the transpose of g, which g keeps. On the host, without a Restart, an
// iteration is one loop over the edges, in float32 with Single. The fused form, which has no
// Restart either, runs several iterations between two checks by the host; with Single ranks and
// shares are float32, and their sums float64. A group divides the vertices, and the ranks gather
// the shares of all in each iteration.
func PageRank[T comparable](g matrix.Source[T], opts ...PageRankOptions) (*PageRankResult, error) {
	return pageRank(g, opts)
}

// pageRank is PageRank of a graph with values of any type.
func pageRank(g workflow.Operand, opts []PageRankOptions) (*PageRankResult, error) {
	o, err := workflow.Only("PageRank", opts)
	if err != nil {
		return nil, err
	}
	n, err := workflow.Square("PageRank", g)
	if err != nil {
		return nil, err
	}
	if err := o.complete("PageRank"); err != nil {
		return nil, err
	}
	a := workflow.Pattern(g)
	restart, err := restartOf("PageRank", o.Restart, n, a.Place(), workflow.With(o.Run))
	if err != nil {
		return nil, err
	}
	form, err := workflow.Choose(o.Run, "PageRank", a.Place())
	if err != nil {
		return nil, err
	}
	workflow.Announce(o.Run, "PageRank", powerIteration)
	switch {
	case form.Rows != nil && restart == nil && n > 0:
		return rowsPageRank(form.Rows, a, n, o)
	}
	if restart != nil && o.Method == workflow.Fused {
		return nil, &workflow.ParameterError{App: "PageRank", Arg: "the method", Got: "fused with a restart", Want: "auto or pipeline"}
	}
	if n == 0 {
		return &PageRankResult{Rank: matrix.NewVector[float64](0, matrix.On(a.Place())), Converged: true}, nil
	}
	switch {
	case form.Device != nil && restart == nil:
		return fusedPageRank(form.Device, a, n, o)
	case form.Host && restart == nil:
		return hostPageRank(a, n, o)
	}
	degree := matrix.NewVector[float64](n, matrix.On(a.Place())) // of the vertices with out-edges
	if err := ops.Reduce(degree, semiring.Plus[float64](), a.Pattern(), workflow.With(o.Run)); err != nil {
		return nil, err
	}
	with := ops.WithOptions(workflow.With(o.Run), ops.Repeats(o.MaxIterations))
	return rankByWalk(degree, restart, o, func(next, share *matrix.Vector[float64]) error {
		return ops.MxV(next.Accum(semiring.Plus[float64]()), semiring.PlusSecond[float64](), a.T(), share, with)
	})
}

// WeightedPageRank is PageRank of a walk that follows an edge with a probability in proportion to
// its value w:
//
//	r ← d·(Wᵀ +.× (r ./ Σ w)) + (d·Σ r(dangling) + 1 − d)·restart
//
// WeightedPageRank returns a *WeightError if a value is negative, infinite or NaN. A vertex with
// only edges of value 0 counts as a vertex without out-edges. It has no fused form.
func WeightedPageRank[T semiring.Number](g matrix.Source[T], opts ...PageRankOptions) (*PageRankResult, error) {
	return weightedPageRank(g, opts)
}

// weightedPageRank is WeightedPageRank of a graph with values of any type.
func weightedPageRank(g workflow.Operand, opts []PageRankOptions) (*PageRankResult, error) {
	const app = "WeightedPageRank"
	o, err := workflow.OnlyPipeline(app, opts)
	if err == nil {
		err = o.complete(app)
	}
	if err != nil {
		return nil, err
	}
	n, err := workflow.Square(app, g)
	if err != nil {
		return nil, err
	}
	place, with := workflow.Pattern(g).Place(), workflow.With(o.Run)
	restart, err := restartOf(app, o.Restart, n, place, with)
	if err != nil {
		return nil, err
	}
	if n == 0 {
		return &PageRankResult{Rank: matrix.NewVector[float64](0, matrix.On(place)), Converged: true}, nil
	}
	workflow.Announce(o.Run, app, powerIteration)
	w, err := weightsOf(app, g, with)
	if err != nil {
		return nil, err
	}
	degree := matrix.NewVector[float64](n, matrix.On(place))
	var s ops.Steps
	s.Do(ops.Reduce(degree, semiring.Plus[float64](), w, with))
	s.Do(ops.Select(degree, semiring.ValueGT(0.0), degree, with))
	if !s.OK() {
		return nil, s.Err()
	}
	with = ops.WithOptions(with, ops.Repeats(o.MaxIterations))
	return rankByWalk(degree, restart, o, func(next, share *matrix.Vector[float64]) error {
		return ops.MxV(next.Accum(semiring.Plus[float64]()), semiring.PlusTimes[float64](), w.T(), share, with)
	})
}

// unusableWeight selects the values that are no weights.
func unusableWeight() semiring.SelectOp[float64] {
	return semiring.NewSelect("unusable_weight", func(x float64, _, _ int) bool {
		return !(x >= 0 && x <= math.MaxFloat64)
	}, "!(x >= 0 && x <= 1.7976931348623157e308)")
}

// weightsOf returns the values of g as finite numbers from 0, where g lives.
func weightsOf(app string, g workflow.Operand, with ops.Option) (*matrix.View[float64], error) {
	in := g.Inside()
	n, _ := in.Dims()
	here := matrix.On(workflow.Pattern(g).Place())
	var s ops.Steps
	w := matrix.ViewOf[float64](in)
	if !sparse.Same(in.Type(), sparse.TypeOf[float64]()) {
		c := matrix.New[float64](n, n, here)
		s.Do(asFloats(c, in, with))
		w = c.View()
	}
	bad := matrix.New[float64](n, n, here)
	s.Do(ops.Select(bad, unusableWeight(), w, with))
	if !s.OK() {
		return w, s.Err()
	}
	for at, x := range bad.All() {
		return w, &workflow.WeightError{App: app, Row: at.Row, Col: at.Col, Got: fmt.Sprint(x), Want: "a finite number of 0 or more"}
	}
	return w, nil
}

// asFloats writes the values of a view to c.
func asFloats(c *matrix.Matrix[float64], v rep.View, with ops.Option) error {
	switch sparse.GoType(v.Type().Under()).Kind() {
	case reflect.Int8:
		return ops.Apply(c, semiring.Convert[int8, float64](), matrix.ViewOf[int8](v), with)
	case reflect.Int16:
		return ops.Apply(c, semiring.Convert[int16, float64](), matrix.ViewOf[int16](v), with)
	case reflect.Int32:
		return ops.Apply(c, semiring.Convert[int32, float64](), matrix.ViewOf[int32](v), with)
	case reflect.Int64:
		return ops.Apply(c, semiring.Convert[int64, float64](), matrix.ViewOf[int64](v), with)
	case reflect.Uint8:
		return ops.Apply(c, semiring.Convert[uint8, float64](), matrix.ViewOf[uint8](v), with)
	case reflect.Uint16:
		return ops.Apply(c, semiring.Convert[uint16, float64](), matrix.ViewOf[uint16](v), with)
	case reflect.Uint32:
		return ops.Apply(c, semiring.Convert[uint32, float64](), matrix.ViewOf[uint32](v), with)
	case reflect.Float32:
		return ops.Apply(c, semiring.Convert[float32, float64](), matrix.ViewOf[float32](v), with)
	}
	return ops.Apply(c, semiring.Convert[uint64, float64](), matrix.ViewOf[uint64](v), with)
}

// restartOf returns the probabilities of a jump to each vertex, nil for equal ones.
func restartOf(app string, v *matrix.Vector[float64], n int, place matrix.Place, with ops.Option) (*matrix.Vector[float64], error) {
	if v == nil {
		return nil, nil
	}
	if err := v.Err(); err != nil {
		return nil, err
	}
	if v.Size() != n {
		return nil, &matrix.DimensionError{Op: app, Arg: "the restart", Got: fmt.Sprint(v.Size(), " elements"),
			Want: fmt.Sprint(n), Remedy: "give a value for each vertex"}
	}
	sum := 0.0
	for i, x := range v.All() {
		if !(x >= 0 && x <= math.MaxFloat64) {
			return nil, workflow.AboutVertices(app, "the restart of vertex {0}", fmt.Sprint(x), "a finite number of 0 or more", i)
		}
		sum += x
	}
	if n > 0 && !(sum > 0 && sum <= math.MaxFloat64) {
		return nil, &workflow.ParameterError{App: app, Arg: "the sum of the restart", Got: fmt.Sprint(sum), Want: "positive and finite"}
	}
	r, err := workflow.FullVector(place, n, 0.0, with)
	if err != nil || n == 0 {
		return r, err
	}
	return r, ops.ApplySecond(r.Accum(semiring.Plus[float64]()), semiring.Div[float64](), v, sum, with)
}

// rankByWalk iterates a walk from equal ranks, or from the restart, so that vertices that are not
// reached from it have rank 0. degree is the weight of the edges of each vertex that
// has some, and pull adds Wᵀ·share to next.
func rankByWalk(degree, restart *matrix.Vector[float64], o PageRankOptions, pull func(next, share *matrix.Vector[float64]) error) (*PageRankResult, error) {
	n, place, with, d := degree.Size(), degree.Place(), workflow.With(o.Run), o.Damping
	here := matrix.On(place)
	rank, err := restart, error(nil)
	if restart == nil {
		if rank, err = workflow.FullVector(place, n, 1/float64(n), with); err != nil {
			return nil, err
		}
	}
	var s ops.Steps
	plus, times := semiring.Plus[float64](), semiring.Times[float64]()
	perEdge, err := workflow.FullVector(place, n, 0.0, with) // rank times this follows an edge
	s.Do(err)
	s.Do(ops.ApplyFirst(perEdge.Accum(plus), semiring.Div[float64](), d, degree, with))
	dangling, err := workflow.FullVector(place, n, 1.0, with)
	s.Do(err)
	s.Do(ops.AssignVectorScalar(dangling.Masked(degree.Structure()), 0, ops.All(), with))
	share := matrix.NewVector[float64](n, here)
	res := &PageRankResult{}
	for res.Iterations < o.MaxIterations && !res.Converged && s.OK() {
		lost, err := ops.Inner(semiring.PlusTimes[float64](), rank, dangling, with)
		s.Do(err)
		jump := d*lost + 1 - d
		var next *matrix.Vector[float64]
		if restart == nil {
			next, err = workflow.FullVector(place, n, jump/float64(n), with)
			s.Do(err)
		} else {
			next = matrix.NewVector[float64](n, here)
			s.Do(ops.ApplySecond(next, times, restart, jump, with))
		}
		s.Do(ops.EWiseMult(share, times, rank, perEdge, with))
		s.Do(pull(next, share))
		res.Change, err = changed(next, rank, with)
		s.Do(err)
		rank = next
		res.Iterations++
		res.Converged = res.Change <= o.Tolerance
		workflow.Report(o.Run, "pagerank", int64(res.Iterations), int64(o.MaxIterations))
	}
	res.Rank = rank
	if !s.OK() {
		return nil, s.Err()
	}
	return res, nil
}
