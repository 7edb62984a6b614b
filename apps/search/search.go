// Package search sends out walks that look for vertices of high score, and reads and writes scores
// and walks.
package search

import (
	"errors"
	"fmt"
	"math"

	"github.com/hiveblas/hiveblas/apps/internal/workflow"
	"github.com/hiveblas/hiveblas/apps/paths"
	"github.com/hiveblas/hiveblas/internal/access"
	"github.com/hiveblas/hiveblas/internal/device"
	"github.com/hiveblas/hiveblas/internal/sparse"
	"github.com/hiveblas/hiveblas/matrix"
	"github.com/hiveblas/hiveblas/ops"
	"github.com/hiveblas/hiveblas/semiring"
)

// SearchRule is the rule by which a walk of GraphSearch chooses the next neighbour.
type SearchRule int

const (
	// SearchUniform draws a neighbour, each with the same probability: the default.
	SearchUniform SearchRule = iota
	// SearchGreedy takes the neighbour of the largest weight, of several the first.
	SearchGreedy
	// SearchStochastic draws a neighbour in proportion to its weight. It draws uniformly if all
	// neighbours have weight 0.
	SearchStochastic
)

// String returns the name of the rule on the command line.
func (r SearchRule) String() string {
	switch r {
	case SearchUniform:
		return "uniform"
	case SearchGreedy:
		return "greedy"
	case SearchStochastic:
		return "stochastic"
	}
	return fmt.Sprintf("SearchRule(%d)", int(r))
}

// SearchOptions are the settings of GraphSearch.
type SearchOptions struct {
	workflow.Run
	Rule SearchRule
	// Length is the number of vertices of a walk, its start included; 0 means 32.
	Length int
	// PerStart is the number of walks from each start; 0 means 1.
	PerStart int
	// Seed selects the random numbers.
	Seed uint64
	// Weighted multiplies the weight of a neighbour by the value of the edge to it. Uniform walks
	// then draw in proportion to the values of edges.
	Weighted bool
	// Weight is the weight of a neighbour in place of its score: a function of the score and of the
	// value of the edge, such as a semiring's ⊗. It is for SearchGreedy and SearchStochastic, and
	// excludes Weighted. A device needs its CUDA text.
	Weight semiring.Operator[float64, float64, float64]
	// Restart is the probability with which a step returns to the start of the walk instead of
	// going to a neighbour.
	Restart float64
	// NonBacktracking excludes the vertex from which the walk came. A walk without another
	// neighbour ends.
	NonBacktracking bool
	// Return and InOut are p and q of node2vec (Grover, Leskovec 2016), 0 means 1: the weight of
	// the vertex before is divided by p, and the weight of a vertex to which the vertex before has
	// no edge by q. They are for SearchUniform and SearchStochastic.
	Return, InOut float64
	// Visits counts the visits of each vertex.
	Visits bool
	// Best is the number of visited vertices of the largest scores to list.
	Best int
	// Paths keeps the walks where the graph lives; see SearchResult.Paths.
	Paths bool
	// Each receives the walks in blocks, in ascending order, one call at a time. The block is valid
	// during the call. An error ends the search and is its result. May be nil.
	Each func(walks SearchBlock) error

	round int64 // walks of a rank, or of operations, in a round; 0 but in tests: see walkRound
}

// A SearchBlock holds consecutive walks.
type SearchBlock struct {
	First  int64 // number of the first walk
	Length int   // of a walk
	// Vertices of the walks, Length for each; −1 after the end of a walk.
	Vertices []int32
}

// Walks returns the number of walks of the block.
func (b SearchBlock) Walks() int {
	if b.Length <= 0 {
		return 0
	}
	return len(b.Vertices) / b.Length
}

// Walk returns the vertices of walk k of the block, without what follows its end; nil if the block
// has no such walk.
func (b SearchBlock) Walk(k int) []int32 {
	if k < 0 || k >= b.Walks() {
		return nil
	}
	walk := b.Vertices[k*b.Length : (k+1)*b.Length]
	end := len(walk)
	for end > 0 && walk[end-1] < 0 {
		end--
	}
	return walk[:end]
}

// A SearchPoint is what the walks of a search have found after each has taken a number of steps.
type SearchPoint struct {
	Step     int     // of each walk; 0 is its start
	Steps    int64   // of all walks together so far
	Distinct int64   // different vertices visited so far
	Score    float64 // the sum of their scores
}

// SearchResult is the result of GraphSearch.
type SearchResult struct {
	Walks    int64
	Steps    int64   // of all walks, restarts included
	Restarts int64   // steps that returned to the start
	Ended    int64   // walks that ended before their length
	ScoreSum float64 // of the vertices of all walks, starts included, with repeats
	Distinct int64   // vertices visited
	Curve    []SearchPoint
	// Paths is a full matrix with a row for each walk and Length columns: its vertices, −1 after
	// its end. nil unless asked for.
	Paths  *matrix.Matrix[int32]
	Visits *matrix.Vector[int64]       // of each visited vertex; nil unless asked for
	Best   []paths.Nomination[float64] // visited vertices by descending score, then by number
	Calls  int64                       // of the score function
	Scored int64                       // vertices that it scored
}

// curvePoints bounds the points of SearchResult.Curve.
const curvePoints = 1024

// GraphSearch walks over a graph from each start and reports what the walks meet: the method of
// chapter 5 of Gunrock's HIVE report (2018), which looks for many vertices of high score quickly.
// At each step a walk goes to a neighbour, a column of its vertex's row, by opts.Rule. A walk that
// meets a vertex without neighbours ends. starts are the vertices from which walks begin, nil for
// every vertex; walks are numbered by start, in the given order, and then by opts.PerStart.
//
// scores gives the score of each vertex; see VertexScores and ScoreFunc. nil means 0 for all, which
// greedy and stochastic walks refuse unless they have a Weight. Stochastic walks want weights of 0
// or more: GraphSearch returns a *WeightError or a *ScoreError if one is negative, NaN or infinite.
//
// The random numbers are Philox4x32-10 (package internal/philox) of the seed, the walk and the
// step. So the walks do not depend on threads, on the device, on other walks or on their Length.
// Draws in proportion to weights use alias tables (Walker 1977; built by a sweep as in
// Hübschle-Schneider and Sanders, Parallel weighted random sampling, 2019) of integers: a weight
// counts as a multiple of 2⁻⁵² of the row's largest, less for rows longer than 1024, and a slot's
// threshold has 32 bits. With NonBacktracking a draw of the excluded vertex is repeated, after some
// times by a search of the row. With Return and InOut a step counts multiples of 2⁻³² of the
// largest of 1/p, 1 and 1/q; it takes O(log row) for each of some draws, or O(row·log row).
//
// Curve has a point for each step up to 1024, and as many evenly spaced ones for longer walks.
//
// On a group the walks are divided among the ranks, at multiples of 1024 walks; each rank has the
// whole graph. Each is then called by the processes that give it, between rounds of walks. The
// result equals the result of one place to the bit. Paths have the rows of a rank where it walked.
// Every process walks all with a score function, with few walks on the host that prepare rows on
// demand, with Each and a Length above 16384 or Paths, and with Method Pipeline.
//
// On a device, kernels walk, a thread a walk, and give the same walks and figures to the bit.
// Weights by a CUDA text that rounds other than its Go function can change draws. With a Weight
// without CUDA text, or a score function, the host walks. With Method Pipeline each step of all
// walks is gathers and element-wise operations where the graph lives; a score function excludes it.
//
// O(walks × length), after O(edges) for the tables of greedy and stochastic walks if there are many
// walks, and else after a row's length at the first visit of the row. Memory: 4 bytes a vertex, 8
// with Visits, 12 an edge for tables, 64 MB for the blocks of walks that Each receives (256 on the
// host of a device, which walks on while Each runs), or two walks if they are longer; 4 for each
// vertex of a walk with Paths.
func GraphSearch[T semiring.Element](g matrix.Source[T], scores *Scores, starts []int, opts ...SearchOptions) (*SearchResult, error) {
	return graphSearch(g, scores, starts, opts)
}

// graphSearch is GraphSearch of a graph with values of any type.
func graphSearch(g workflow.Operand, scores *Scores, starts []int, opts []SearchOptions) (*SearchResult, error) {
	const app = "GraphSearch"
	o, err := workflow.Only(app, opts)
	if err != nil {
		return nil, err
	}
	n, err := workflow.Square(app, g)
	if err != nil {
		return nil, err
	}
	if err := o.complete(scores); err != nil {
		return nil, err
	}
	for _, v := range starts {
		if err := workflow.Vertex(app, "a start", v, n); err != nil {
			return nil, err
		}
	}
	s, err := newSearcher(scores, starts, n, o)
	if err != nil {
		return nil, err
	}
	if o.Paths && s.walks > math.MaxInt32 {
		return nil, &workflow.ParameterError{App: app, Arg: "the number of walks with Paths", Got: fmt.Sprint(s.walks), Want: "2147483647 at most, or Each for blocks of them"}
	}
	if res, err := walksByRanges(s, g.Inside()); res != nil || err != nil {
		return res, err
	}
	place := workflow.Pattern(g).Place()
	at, err := workflow.FusedOn(o.Run, app, place)
	if err != nil {
		return nil, err
	}
	if fits := o.fuses(scores); !fits && o.Method == workflow.Fused {
		return nil, &workflow.ParameterError{App: app, Arg: "the method", Got: "fused with a Weight without CUDA text or a score function",
			Want: "auto or pipeline, or give the text"}
	} else if !fits {
		at = nil
	}
	workflow.Announce(o.Run, app, o.Rule.String())
	workflow.Report(o.Run, "graph search", 0, s.walks)
	method, at, err := s.walk(g, at, n)
	if err != nil {
		return nil, err
	}
	var res *SearchResult
	if at != nil && n > 0 {
		res, err = s.resultAt(at)
	} else {
		res, err = s.result()
	}
	if err != nil {
		return nil, err
	}
	workflow.Report(o.Run, "graph search", s.walks, s.walks)
	if o.Trace != nil {
		t := ops.Trace{Op: app, Method: ops.Method(method), NVals: res.Distinct, Work: res.Steps}
		if at != nil {
			t.Place = at.Place().String()
		}
		o.Trace(t)
	}
	if o.Paths && res.Paths == nil {
		res.Paths = asMatrix32(s.paths, int(s.walks), o.Length)
		if err := res.Paths.Move(place); err != nil {
			return nil, err
		}
	}
	if res.Visits != nil {
		return res, res.Visits.Move(place)
	}
	return res, nil
}

// walk takes all walks on the device at, or on the host where it is nil or the weights do not suit
// it. It returns the method and the device that ran.
func (s *searcher) walk(g workflow.Operand, at device.Runner, n int) (method string, ran device.Runner, err error) {
	method = "kernel"
	if at != nil {
		s.room = n
		if err = fusedWalks(s, at, g.Inside()); errors.Is(err, errWeights) {
			s.room = 0
			if err = onHost(s, g.Inside()); err == nil { // it says which, unless no walk meets it
				method, at = s.method(), nil
				err = s.run()
			}
		}
	} else if err = onHost(s, g.Inside()); err == nil {
		method = s.method()
		err = s.run()
	}
	return method, at, err
}

// asMatrix32 returns a full matrix, which shares the values.
func asMatrix32(val []int32, rows, cols int) *matrix.Matrix[int32] {
	return access.FromStore(&sparse.Typed[int32]{Structure: sparse.Structure{NRows: rows, NCols: cols,
		Format: sparse.Full, NVals: int64(rows) * int64(cols)}, Val: val})
}

// complete sets the defaults and checks the settings.
func (o *SearchOptions) complete(scores *Scores) error {
	bad := func(arg string, got any, want string) error {
		return &workflow.ParameterError{App: "GraphSearch", Arg: arg, Got: fmt.Sprint(got), Want: want}
	}
	if o.Length == 0 {
		o.Length = 32
	}
	if o.PerStart == 0 {
		o.PerStart = 1
	}
	if o.Return == 0 {
		o.Return = 1
	}
	if o.InOut == 0 {
		o.InOut = 1
	}
	own := o.Weight != nil
	switch {
	case o.Rule < SearchUniform || o.Rule > SearchStochastic:
		return bad("the rule", o.Rule, "SearchUniform, SearchGreedy or SearchStochastic")
	case o.Length < 0 || o.Length > math.MaxInt32:
		return bad("the length", o.Length, "1 to 2147483647, or 0 for 32")
	case o.PerStart < 0 || o.PerStart > math.MaxInt32:
		return bad("the number of walks from a start", o.PerStart, "1 to 2147483647, or 0 for 1")
	case !(o.Restart >= 0 && o.Restart <= 1):
		return bad("the probability of a restart", o.Restart, "0 to 1")
	case !(o.Return > 0 && o.Return <= math.MaxFloat32):
		return bad("p, by which the weight of a return is divided,", o.Return, "a positive number, or 0 for 1")
	case !(o.InOut > 0 && o.InOut <= math.MaxFloat32):
		return bad("q, by which the weight of a way out is divided,", o.InOut, "a positive number, or 0 for 1")
	case o.biased() && o.Rule == SearchGreedy:
		return bad("the rule", o.Rule, "SearchUniform or SearchStochastic with Return and InOut")
	case o.Best < 0:
		return bad("the number of best vertices", o.Best, "0 or more")
	case own && !o.Weight.Op().Valid():
		return bad("the weight", fmt.Sprintf("the operator %q without a Go function", o.Weight.Op().Name()), "an operator with one, or nil")
	case own && o.Weighted:
		return bad("the weight", "given beside Weighted", "one of them: Weight has the value of the edge as its second argument")
	case own && o.Rule == SearchUniform:
		return bad("the weight", "given for uniform walks", "SearchGreedy or SearchStochastic, or no weight")
	case scores == nil && o.Rule != SearchUniform && !own:
		return bad("the scores", "nil", "scores of vertices for "+o.Rule.String()+" walks; see VertexScores and ScoreFunc")
	}
	return nil
}
