// Package links measures how well vectors of vertices predict edges. HoldOutLinks takes edges out
// of a graph, on which vectors are then trained; MeasureLinks compares the scores of these edges
// with the scores of pairs without an edge.
package links

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"sync/atomic"

	"github.com/hiveblas/hiveblas/apps/internal/workflow"
	"github.com/hiveblas/hiveblas/internal/access"
	"github.com/hiveblas/hiveblas/internal/parallel"
	"github.com/hiveblas/hiveblas/internal/philox"
	"github.com/hiveblas/hiveblas/internal/rep"
	"github.com/hiveblas/hiveblas/internal/sparse"
	"github.com/hiveblas/hiveblas/internal/splitmix"
	"github.com/hiveblas/hiveblas/matrix"
	"github.com/hiveblas/hiveblas/ops"
	"github.com/hiveblas/hiveblas/semiring"
)

// A LinkSet has edges that are not in the graph on which vectors are trained, and pairs without an
// edge to tell them from.
type LinkSet struct {
	Edges  [][2]int32 // from, to
	Others [][2]int32 // pairs of different vertices without an edge
	// Rivals are vertices without an edge from the source of an edge, len(Rivals)/len(Edges) for
	// each edge; −1 where none was found.
	Rivals []int32
}

// HoldOutOptions are the settings of HoldOutLinks.
type HoldOutOptions struct {
	workflow.Run
	Share  float64 // of the edges that are held out; 0 means 0.1
	Rivals int     // for each edge; 0 means 100
	Seed   uint64
}

// HoldOutLinks draws edges of a graph at random and returns the graph without them, where it lives,
// and the edges with as many pairs without an edge, drawn uniformly. If the structure of g is
// symmetric, both directions of an edge are held out together. Self-loops stay in the graph. A
// vertex may lose all its edges.
//
// The links depend on the seed and the graph, and not on the number of threads. O(edges·log edges +
// rivals·log degree) on the host.
func HoldOutLinks[T semiring.Element](g matrix.Source[T], opts ...HoldOutOptions) (*matrix.Matrix[T], *LinkSet, error) {
	held, out, with, err := holdOut(workflow.Inside(g), opts)
	if err != nil {
		return nil, nil, err
	}
	n, _ := out.Dims()
	rest := matrix.New[T](n, n, matrix.On(out.Place()))
	return rest, held, ops.Apply(rest.Masked(out.Structure().Not()), semiring.Identity[T](), g, with)
}

// holdOut returns the edges that are held out, also as a matrix where g lives.
func holdOut(g rep.View, opts []HoldOutOptions) (*LinkSet, *matrix.Matrix[bool], ops.Option, error) {
	const app = "HoldOutLinks"
	o, err := workflow.OnlyPipeline(app, opts)
	if err != nil {
		return nil, nil, nil, err
	}
	n, err := workflow.Square(app, workflow.Pattern(g))
	if err != nil {
		return nil, nil, nil, err
	}
	if o.Share == 0 {
		o.Share = .1
	}
	if o.Rivals == 0 {
		o.Rivals = 100
	}
	switch {
	case !(o.Share > 0 && o.Share < 1):
		return nil, nil, nil, &workflow.ParameterError{App: app, Arg: "the share", Got: fmt.Sprint(o.Share), Want: "between 0 and 1, or 0 for 0.1"}
	case o.Rivals < 0 || o.Rivals > 1<<20:
		return nil, nil, nil, &workflow.ParameterError{App: app, Arg: "the number of rivals", Got: fmt.Sprint(o.Rivals), Want: "1 to 1048576, or 0 for 100"}
	}
	if err := workflow.Fetch(g); err != nil {
		return nil, nil, nil, err
	}
	rows := g.Rows()
	if err := g.Err(); err != nil {
		return nil, nil, nil, err
	}
	workflow.Report(o.Run, "links", 0, 0)
	s := structure{n: n, ptr: workflow.RowOffsets(&rows.Structure), idx: rows.Idx}
	held, pairs, err := s.draw(o, g.Symmetric())
	if err != nil {
		return nil, nil, nil, err
	}
	out, err := matrix.FromTuples[bool](n, n, pairs[0], pairs[1], slices.Repeat([]bool{true}, len(pairs[0])), nil)
	if err != nil {
		return nil, nil, nil, err
	}
	return held, out, workflow.With(o.Run), out.Move(g.Place())
}

// structure is the structure of a graph.
type structure struct {
	n   int
	ptr []int64
	idx []int32
}

func (s structure) edge(u, v int32) bool {
	_, ok := slices.BinarySearch(s.idx[s.ptr[u]:s.ptr[u+1]], v)
	return ok
}

// symmetric reports whether each edge is there in both directions.
func (s structure) symmetric(run workflow.Run) (bool, error) {
	var single atomic.Bool // an edge is
	err := workflow.EachBlock(run, workflow.RowBlocks(run, s.ptr), func(_, _, lo, hi int) {
		for u := int32(lo); int(u) < hi && !single.Load(); u++ {
			for _, v := range s.idx[s.ptr[u]:s.ptr[u+1]] {
				if !s.edge(v, u) {
					single.Store(true)
					break
				}
			}
		}
	})
	return !single.Load(), err
}

// The grains of loops over vertices, and over edges with their rivals.
const (
	vertexGrain = 1 << 10
	edgeGrain   = 16
)

// draw returns the edges that are held out, and their rows and columns in the graph. Each number is
// drawn by its place, so that the order of threads does not matter.
func (s structure) draw(o HoldOutOptions, both bool) (held *LinkSet, pairs [2][]int, err error) {
	if !both {
		if both, err = s.symmetric(o.Run); err != nil {
			return nil, pairs, err
		}
	}
	all := parallel.Gather(o.Threads, s.n, vertexGrain, func(lo, hi int, found []link) []link {
		for u := int32(lo); int(u) < hi; u++ {
			for p := s.ptr[u]; p < s.ptr[u+1]; p++ {
				if v := s.idx[p]; u < v || u > v && !both {
					found = append(found, link{splitmix.At(uint64(p), o.Seed), [2]int32{u, v}})
				}
			}
		}
		return found
	})
	parallel.SortStable(o.Threads, all, func(a, b link) int { return cmp.Compare(a.key, b.key) }) // keys differ: Mix is a bijection
	all = all[:int(math.Round(o.Share*float64(len(all))))]
	held = &LinkSet{}
	for _, l := range all {
		u, v := l.ends[0], l.ends[1]
		held.Edges = append(held.Edges, l.ends)
		pairs[0], pairs[1] = append(pairs[0], int(u)), append(pairs[1], int(v))
		if both {
			pairs[0], pairs[1] = append(pairs[0], int(v)), append(pairs[1], int(u))
		}
	}
	seed, others := splitmix.Mix(o.Seed+1), make([][2]int32, len(all))
	held.Rivals = make([]int32, len(all)*o.Rivals)
	err = parallel.Range(o.Context, o.Threads, len(all), edgeGrain, func(_, lo, hi int) {
		for k := lo; k < hi; k++ {
			others[k] = s.other(uint64(k), seed)
			for r := range o.Rivals {
				held.Rivals[k*o.Rivals+r] = s.rival(all[k].ends[0], uint64(k), uint64(r), seed)
			}
		}
	})
	held.Others = slices.DeleteFunc(others, func(e [2]int32) bool { return e[0] < 0 })
	return held, pairs, err
}

// A link is an edge with its place in the order of draws.
type link struct {
	key  uint64
	ends [2]int32
}

// drawTries bounds the draws of a pair without an edge. In a dense graph some are not found.
const drawTries = 64

// other returns a pair of vertices without an edge, −1 if none is found.
func (s structure) other(k, seed uint64) [2]int32 {
	for try := range uint64(drawTries) {
		x, y := philox.Block(k, try, seed)
		u, _ := philox.Below(x, uint64(s.n))
		v, _ := philox.Below(y, uint64(s.n))
		if u != v && !s.edge(int32(u), int32(v)) {
			return [2]int32{int32(u), int32(v)}
		}
	}
	return [2]int32{-1, -1}
}

// rival returns a vertex without an edge from u, −1 if none is found.
func (s structure) rival(u int32, k, r, seed uint64) int32 {
	for try := range uint64(drawTries) {
		x, _ := philox.Block(k, 1<<63|r<<8|try, seed)
		if v, _ := philox.Below(x, uint64(s.n)); int32(v) != u && !s.edge(u, int32(v)) {
			return int32(v)
		}
	}
	return -1
}

// LinkScore is the score of a pair of vertices by their vectors.
type LinkScore int

const (
	// ScoreDot is the dot product: the default.
	ScoreDot LinkScore = iota
	// ScoreCosine is the dot product of the vectors divided by their lengths; 0 for a vector of
	// zeros.
	ScoreCosine
)

// String returns the name of the score on the command line.
func (s LinkScore) String() string {
	switch s {
	case ScoreDot:
		return "dot"
	case ScoreCosine:
		return "cosine"
	}
	return fmt.Sprintf("LinkScore(%d)", int(s))
}

// LinkQuality says how well scores tell edges from other pairs.
type LinkQuality struct {
	// AUC is the probability that an edge has a higher score than a pair without an edge; a tie
	// counts one half. NaN without edges or pairs.
	AUC float64
	// MRR is the mean of 1/rank of the target of an edge among its rivals by the scores with the
	// source; ties take the mean of their ranks. NaN without edges.
	MRR float64
}

// MeasureOptions are the settings of MeasureLinks.
type MeasureOptions struct {
	workflow.Run
	Score LinkScore
}

// MeasureLinks scores the pairs of a LinkSet by the rows of vectors, one for each vertex. The
// result does not depend on the number of threads. It takes O(dimensions) for each pair and rival
// on the host, and O(pairs·log pairs).
func MeasureLinks(vectors matrix.Source[float32], held *LinkSet, opts ...MeasureOptions) (LinkQuality, error) {
	const app = "MeasureLinks"
	none := LinkQuality{math.NaN(), math.NaN()}
	o, err := workflow.OnlyPipeline(app, opts)
	if err == nil {
		err = workflow.Usable(app, "the matrix of vectors", vectors)
	}
	switch {
	case err != nil:
		return none, err
	case held == nil:
		return none, &workflow.ParameterError{App: app, Arg: "the set of links", Got: "nil", Want: "a set of HoldOutLinks"}
	case o.Score < ScoreDot || o.Score > ScoreCosine:
		return none, &workflow.ParameterError{App: app, Arg: "the score", Got: o.Score.String(), Want: "ScoreDot or ScoreCosine"}
	}
	s, err := newScorer(vectors, o)
	if err == nil {
		err = held.check(app, s.n)
	}
	if err != nil {
		return none, err
	}
	edges, others, ranks := make([]float64, len(held.Edges)), make([]float64, len(held.Others)), make([]float64, len(held.Edges))
	err = parallel.Range(o.Context, o.Threads, len(edges), edgeGrain, func(_, lo, hi int) {
		for k := lo; k < hi; k++ {
			edges[k] = s.score(held.Edges[k][0], held.Edges[k][1])
			ranks[k] = s.rank(held.Edges[k][0], edges[k], held.rivals(k))
		}
	})
	if err == nil {
		err = parallel.Range(o.Context, o.Threads, len(others), vertexGrain, func(_, lo, hi int) {
			for k, e := range held.Others[lo:hi] {
				others[lo+k] = s.score(e[0], e[1])
			}
		})
	}
	if err != nil {
		return none, err
	}
	sum := 0.0
	for _, r := range ranks {
		sum += 1 / r
	}
	return LinkQuality{areaUnderCurve(o.Threads, edges, others), sum / float64(len(ranks))}, nil
}

// rivals returns the rivals of edge k.
func (s *LinkSet) rivals(k int) []int32 {
	per := len(s.Rivals) / len(s.Edges)
	return s.Rivals[k*per : (k+1)*per]
}

// check verifies the vertices of a set.
func (s *LinkSet) check(app string, n int) error {
	for _, list := range [][][2]int32{s.Edges, s.Others} {
		for _, e := range list {
			for _, v := range e {
				if err := workflow.Vertex(app, "a vertex of the links", int(v), n); err != nil {
					return err
				}
			}
		}
	}
	for _, v := range s.Rivals {
		if v >= 0 || v < -1 {
			if err := workflow.Vertex(app, "a rival", int(v), n); err != nil {
				return err
			}
		}
	}
	return nil
}

// scorer scores pairs by rows of vectors.
type scorer struct {
	n, dims int
	val     []float32
	length  []float64 // of each vector; nil for dot products
}

func newScorer(vectors matrix.Source[float32], o MeasureOptions) (s scorer, err error) {
	v := matrix.AsView[float32](vectors)
	s.n, s.dims = v.Dims()
	if err := workflow.Fetch(v.Inside()); err != nil {
		return s, err
	}
	if st := access.Stored(v); st.Format == sparse.Full && !v.Inside().Transposed {
		s.val = st.Val
	} else if err := s.fill(access.Rows(v), o.Run); err != nil {
		return s, err
	}
	if o.Score == ScoreCosine {
		length := make([]float64, s.n)
		err = parallel.Range(o.Context, o.Threads, s.n, vertexGrain, func(_, lo, hi int) {
			for v := lo; v < hi; v++ {
				length[v] = math.Sqrt(s.score(int32(v), int32(v)))
			}
		})
		s.length = length
	}
	return s, err
}

// fill sets the vectors to rows, 0 where they have no entry.
func (s *scorer) fill(rows *sparse.Typed[float32], run workflow.Run) error {
	s.val = make([]float32, s.n*s.dims)
	ptr := workflow.RowOffsets(&rows.Structure)
	return parallel.Range(run.Context, run.Threads, s.n, vertexGrain, func(_, lo, hi int) {
		for v := lo; v < hi; v++ {
			for p := ptr[v]; p < ptr[v+1]; p++ {
				s.val[v*s.dims+int(rows.Idx[p])] = rows.Val[p]
			}
		}
	})
}

func (s *scorer) score(u, v int32) float64 {
	x, y := s.val[int(u)*s.dims:][:s.dims], s.val[int(v)*s.dims:][:s.dims]
	dot := 0.0
	for k := range x {
		dot += float64(x[k]) * float64(y[k])
	}
	if s.length != nil && dot != 0 {
		dot /= s.length[u] * s.length[v]
	}
	return dot
}

// rank returns the rank of a score among the scores of rivals with u.
func (s *scorer) rank(u int32, score float64, rivals []int32) float64 {
	rank := 1.0
	for _, v := range rivals {
		if v < 0 {
			continue
		}
		switch x := s.score(u, v); {
		case x > score:
			rank++
		case x == score:
			rank += .5
		}
	}
	return rank
}

// areaUnderCurve returns the probability that a score of edges is above a score of others, by the
// sum of the ranks of edges (Mann, Whitney 1947).
func areaUnderCurve(threads int, edges, others []float64) float64 {
	type scored struct {
		score float64
		edge  bool
	}
	all := make([]scored, 0, len(edges)+len(others))
	for _, x := range edges {
		all = append(all, scored{x, true})
	}
	for _, x := range others {
		all = append(all, scored{x, false})
	}
	parallel.SortStable(threads, all, func(a, b scored) int { return cmp.Compare(a.score, b.score) })
	wins := 0.0 // of edges
	below := 0  // others with a lower score
	for lo := 0; lo < len(all); {
		hi, equal := lo, [2]int{}
		for ; hi < len(all) && all[hi].score == all[lo].score; hi++ {
			equal[workflow.Bit(all[hi].edge)]++
		}
		wins += float64(equal[1]) * (float64(below) + float64(equal[0])/2)
		below += equal[0]
		lo = max(hi, lo+1) // NaN differs from itself
	}
	return wins / (float64(len(edges)) * float64(len(others)))
}
