// Package nominate ranks vertices by what their neighbourhoods and their contents have in common
// with some vertices of interest.
package nominate

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"github.com/hiveblas/hiveblas/apps/centrality"
	"github.com/hiveblas/hiveblas/apps/internal/workflow"
	"github.com/hiveblas/hiveblas/apps/paths"
	"github.com/hiveblas/hiveblas/internal/parallel"
	"github.com/hiveblas/hiveblas/matrix"
	"github.com/hiveblas/hiveblas/ops"
	"github.com/hiveblas/hiveblas/semiring"
)

// ContextScore is how NominateVertices scores vertices by the graph around the seeds.
type ContextScore int

const (
	// ContextDistance is 1/d, d the number of edges from the nearest seed: the default.
	ContextDistance ContextScore = iota
	// ContextSeeds is the number of seeds with an edge to the vertex, the context of Coppersmith
	// and Priebe.
	ContextSeeds
	// ContextCommonNeighbours is the sum over the seeds of the columns that a seed and the vertex
	// share.
	ContextCommonNeighbours
	// ContextPageRank is the rank of a walk that restarts at the seeds.
	ContextPageRank
)

// String returns the name of a score as the command line has it.
func (c ContextScore) String() string {
	switch c {
	case ContextDistance:
		return "distance"
	case ContextSeeds:
		return "seeds"
	case ContextCommonNeighbours:
		return "common"
	case ContextPageRank:
		return "pagerank"
	}
	return fmt.Sprintf("ContextScore(%d)", int(c))
}

// NominateOptions are the settings of NominateVertices.
type NominateOptions struct {
	workflow.Run
	Context ContextScore
	// Content scores vertices by what is known about them beside the graph, higher for likelier
	// ones; vertices without entry have 0. nil means none: then Weight is 0.
	Content *matrix.Vector[float64]
	// Weight γ of the content, from 0, context alone, to 1, content alone.
	Weight float64
}

// Nominations is the result of NominateVertices. The vectors have an entry for each vertex but the
// seeds; scores are from 0 to 1.
type Nominations struct {
	Score            *matrix.Vector[float64]     // (1−γ)·context + γ·content
	Context, Content *matrix.Vector[float64]     // scaled; Content is nil without content
	Ranked           []paths.Nomination[float64] // by score, highest first, ties by number; Distance is the score
}

// NominateVertices ranks the vertices of g that are not seeds by how likely they are to be like the
// seeds: by their context, which is the graph around the seeds, and by their content.
//
//	score = (1−γ) · context + γ · content
//
// Both are scaled linearly, the least over all candidates to 0 and the greatest to 1, or are 0 if
// all are equal within 1e-9 of the greatest (Coppersmith, Priebe: Vertex nomination via content and
// context, 2012, arXiv:1201.4118, the linear fusion of section 3; the scale is ours). Edges lead
// from row to column; values are ignored. Contexts are products with the pattern A and the
// indicator 1 of the seeds:
//
//	distance: breadth-first search;  seeds: 1 +.pair A;  common: A +.second (1 +.pair A);  PageRank
//
// O(edges) for seeds and common, and for each step of the others.
func NominateVertices[T comparable](g matrix.Source[T], seeds []int, opts ...NominateOptions) (*Nominations, error) {
	return nominateVertices(workflow.Pattern(g), seeds, opts)
}

func nominateVertices(g *matrix.View[bool], seeds []int, opts []NominateOptions) (*Nominations, error) {
	const app = "NominateVertices"
	o, err := workflow.OnlyPipeline(app, opts)
	if err != nil {
		return nil, err
	}
	n, err := workflow.Square(app, g)
	if err != nil {
		return nil, err
	}
	isSeed, err := marked(app, seeds, n)
	if err != nil {
		return nil, err
	}
	if !(o.Weight >= 0 && o.Weight <= 1) {
		return nil, &workflow.ParameterError{App: app, Arg: "the weight", Got: fmt.Sprint(o.Weight), Want: "from 0 to 1"}
	}
	if o.Content == nil && o.Weight > 0 {
		return nil, &workflow.ParameterError{App: app, Arg: "the weight", Got: fmt.Sprint(o.Weight), Want: "0 without content"}
	}
	content, err := contentOf(app, o.Content, n)
	if err != nil {
		return nil, err
	}
	workflow.Announce(o.Run, app, o.Context.String())
	workflow.Report(o.Run, "nominate", 0, int64(n))
	context, err := contextOf(app, g, n, seeds, o)
	if err != nil {
		return nil, err
	}
	if err := context.Fetch(); err != nil {
		return nil, err
	}
	x, err := context.Dense(0)
	if err != nil {
		return nil, err
	}
	scale(x, isSeed)
	score := slices.Clone(x)
	if content != nil {
		scale(content, isSeed)
		for v := range score {
			score[v] = (1-o.Weight)*x[v] + o.Weight*content[v]
		}
	}
	res, err := nominations(isSeed, score, x, content, g.Place(), o.Run)
	workflow.Report(o.Run, "nominate", int64(n), int64(n))
	return res, err
}

// nominations ranks the vertices that are no seeds by their scores. content may be nil.
func nominations(isSeed []bool, score, context, content []float64, place matrix.Place, run workflow.Run) (res *Nominations, err error) {
	res = &Nominations{}
	var places []int
	for v, seed := range isSeed {
		if !seed {
			places = append(places, v)
			res.Ranked = append(res.Ranked, paths.Nomination[float64]{Vertex: v, Distance: score[v]})
		}
	}
	parallel.SortStable(run.Threads, res.Ranked, func(x, y paths.Nomination[float64]) int { return cmp.Compare(y.Distance, x.Distance) })
	if res.Score, err = candidatesOf(score, places, place); err != nil {
		return nil, err
	}
	if res.Context, err = candidatesOf(context, places, place); err != nil {
		return nil, err
	}
	if content != nil {
		res.Content, err = candidatesOf(content, places, place)
	}
	return res, err
}

// candidatesOf returns the numbers of some vertices at a place.
func candidatesOf(x []float64, vertices []int, place matrix.Place) (*matrix.Vector[float64], error) {
	list := make([]float64, len(vertices))
	for k, v := range vertices {
		list[k] = x[v]
	}
	v, err := matrix.VectorFromTuples(len(x), vertices, list, nil)
	if err != nil {
		return nil, err
	}
	return v, v.Move(place)
}

// marked returns which vertices are seeds.
func marked(app string, seeds []int, n int) ([]bool, error) {
	if len(seeds) == 0 {
		return nil, &workflow.ParameterError{App: app, Arg: "the list of seeds", Got: "empty", Want: "at least one vertex"}
	}
	isSeed := make([]bool, n)
	for _, v := range seeds {
		if err := workflow.Vertex(app, "seed", v, n); err != nil {
			return nil, err
		}
		isSeed[v] = true
	}
	return isSeed, nil
}

// scale scales the numbers of the vertices other than seeds linearly to 0 … 1, or to 0 if all are
// equal.
func scale(x []float64, isSeed []bool) {
	low, high := math.Inf(1), math.Inf(-1)
	for v, y := range x {
		if !isSeed[v] {
			low, high = min(low, y), max(high, y)
		}
	}
	for v, y := range x {
		if x[v] = 0; high-low > 1e-9*max(math.Abs(high), math.Abs(low)) {
			x[v] = (y - low) / (high - low)
		}
	}
}

// contentOf returns the content of all vertices, nil without content.
func contentOf(app string, v *matrix.Vector[float64], n int) ([]float64, error) {
	if v == nil {
		return nil, nil
	}
	if err := v.Err(); err != nil {
		return nil, err
	}
	if v.Size() != n {
		return nil, &matrix.DimensionError{Op: app, Arg: "the content", Got: fmt.Sprint(v.Size(), " elements"),
			Want: fmt.Sprint(n), Remedy: "give a value for each vertex"}
	}
	list, err := v.Dense(0)
	if err != nil {
		return nil, err
	}
	for i, x := range list {
		if math.IsNaN(x) || math.IsInf(x, 0) {
			return nil, workflow.AboutVertices(app, "the content of vertex {0}", fmt.Sprint(x), "a finite number", i)
		}
	}
	return list, nil
}

// contextOf returns the context of the vertices, where a lives. Those without entry have 0.
func contextOf(app string, a *matrix.View[bool], n int, seeds []int, o NominateOptions) (*matrix.Vector[float64], error) {
	with, here := workflow.With(o.Run), matrix.On(a.Place())
	quiet := o.Run
	quiet.Progress = nil
	start, context := matrix.NewVector[float64](n, here), matrix.NewVector[float64](n, here)
	var s ops.Steps
	for _, v := range seeds {
		s.Do(start.Set(v, 1))
	}
	switch o.Context {
	case ContextDistance:
		frontier, seen := matrix.NewVector[bool](n, here), matrix.NewVector[bool](n, here)
		s.Do(ops.Apply(frontier, semiring.OneOp[float64, bool](), start, with))
		s.Do(workflow.KeepBitmap(seen, with))
		for hops := 1.0; s.NVals(frontier) > 0; hops++ {
			s.Do(ops.AssignVectorScalar(seen.Masked(frontier.Structure()), true, ops.All(), with))
			s.Do(ops.VxM(frontier.Masked(seen.Structure().Not()).Replace(), semiring.AnyPair[bool](), frontier.Pattern(), a, with))
			s.Do(ops.AssignVectorScalar(context.Masked(frontier.Structure()), 1/hops, ops.All(), with))
		}
	case ContextSeeds:
		s.Do(ops.VxM(context, semiring.PlusPair[float64](), start.Pattern(), a, with))
	case ContextCommonNeighbours:
		near := matrix.NewVector[float64](n, here)
		s.Do(ops.VxM(near, semiring.PlusPair[float64](), start.Pattern(), a, with))
		s.Do(ops.MxV(context, semiring.PlusSecond[float64](), a, near, with))
	case ContextPageRank:
		if !s.OK() {
			return nil, s.Err()
		}
		if err := start.Fetch(); err != nil {
			return nil, err
		}
		res, err := centrality.PageRank(a, centrality.PageRankOptions{Run: quiet, Restart: start})
		if err != nil {
			return nil, err
		}
		context = res.Rank
	default:
		return nil, &workflow.ParameterError{App: app, Arg: "the context", Got: o.Context.String(), Want: "ContextDistance, ContextSeeds, ContextCommonNeighbours or ContextPageRank"}
	}
	return context, s.Err()
}
