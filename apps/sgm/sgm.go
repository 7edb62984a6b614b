// Package sgm matches the vertices of two graphs from some known pairs: seeded graph matching by a
// relaxation and repairs.
package sgm

import (
	"fmt"
	"reflect"
	"time"

	"github.com/hiveblas/hiveblas/apps/internal/workflow"
	"github.com/hiveblas/hiveblas/auction"
	"github.com/hiveblas/hiveblas/internal/access"
	"github.com/hiveblas/hiveblas/matrix"
	"github.com/hiveblas/hiveblas/semiring"
)

// SGMStart is the point at which a search of SGM starts.
type SGMStart int

// The starts.
const (
	AutoStart   SGMStart = iota // refinement, and if disagreements are left, sparse and others
	SparseStart                 // the seeds, and zero elsewhere
	Barycentre                  // the seeds, and the mean of all matchings of the others
	RandomStart                 // half-way from the barycentre to a random matching, by Seed
)

// A SeedPair says that vertex A of the first graph is vertex B of the second.
type SeedPair struct{ A, B int }

// FirstSeeds returns the pairs (0, 0), (1, 1), …, (n−1, n−1).
func FirstSeeds(n int) []SeedPair {
	seeds := make([]SeedPair, max(n, 0))
	for k := range seeds {
		seeds[k] = SeedPair{k, k}
	}
	return seeds
}

// SGMOptions are the settings of SGM.
type SGMOptions struct {
	workflow.Run
	Start SGMStart
	// From, if not nil, is a matching in which the first search starts in place of the sparse
	// start: a vertex of B for each vertex of A, as in SGMResult.Match. Vertices without an entry
	// are matched with those left, seeds first, in the order of their numbers. Start must be
	// AutoStart.
	From      *matrix.Vector[int32]
	HardSeeds bool // seeds are fixed; else they are only where the search starts
	Pad       bool // add isolated vertices to the smaller graph
	// Adopted, with Pad, leaves pairs of vertices with padding out of the objective and of the
	// disagreements: the smaller graph looks for the part of the larger one that it is most like.
	// Else padding is vertices without edges, and the edges that the larger graph has elsewhere are
	// disagreements. It stores 2n entries for each vertex of padding, and does not repair.
	Adopted bool
	// LabelsA and LabelsB, if not nil, give each vertex a label. Vertices are
	// matched only with vertices of the same label.
	LabelsA, LabelsB []int32
	// Similarity, if not nil, has a row for each vertex of A and a column for each vertex of B. SGM
	// then minimises ‖A − PBPᵀ‖² − ⟨S, P⟩: a similarity S(i,j) of 2 weighs as much as an undirected
	// edge of weight 1. It may be sparse; a missing entry is 0. A full one makes each assignment
	// problem full.
	Similarity *matrix.Matrix[float64]
	// Epsilon bounds by how much each vertex may miss its best partner in the
	// assignment of a step, in units of A·P·Bᵀ (common neighbours, by edges of mean
	// weight). 0 is automatic, 1/16; see Exact.
	Epsilon float64
	// Exact asks for the best assignment in each step.
	Exact bool
	// Assignment is the method for assignment problems. MethodAuto suits the place,
	// and may do better than Epsilon asks for. MethodAuction bids as a device does.
	Assignment auction.Method
	// Tolerance is the least gain of a step after which another follows: the decrease
	// of ‖A − PBPᵀ‖², in edges of mean weight. 0 means 1/2.
	Tolerance     float64
	MaxIterations int    // 0 means 50
	Seed          uint64 // of the order in which ties are broken, and of random starts
	// Searches bounds the work of the searches after the first, as a multiple of the work of the
	// first; see SGM. 0 means 2, a negative number no further search.
	Searches float64
	// Repair bounds the work of all repairs, as a multiple of the work of the steps of all
	// searches; see SGM. 0 means 1, a negative number no repair, +Inf no bound. Repairs may always
	// take 2²⁵ entries for each search, about a tenth of a second.
	Repair float64
}

// SGMIteration is the record of one step.
type SGMIteration struct {
	SearchNumber            int     // of the search that took it, from 0
	Objective               float64 // tr(ÃᵀPB̃Pᵀ) + 2⟨S, P⟩ after it
	Step                    float64 // from 0, stay, to 1, go all the way to the assignment
	Slope                   float64 // ⟨∇f, T − P⟩: Slope + LSAPGap bounds the possible gain
	LSAPGap                 float64 // greatest gap to the best assignment, in units of Slope
	Entries                 int64   // of APBᵀ
	Rounds                  int64   // of bidding in the assignment, or searches for augmenting paths
	Product, Assign, Search time.Duration
}

// SGMResult is the result of SGM.
type SGMResult struct {
	// Match gives each vertex of A its vertex of B. A vertex that is matched with
	// padding has no entry. It lives on the host.
	Match *matrix.Vector[int32]
	// Before and After are the disagreements Σ|A − PBPᵀ| over ordered pairs, with
	// vertices matched by number and as in Match.
	Before, After float64
	Similarity    float64 // ⟨S, P⟩: the sum of SGMOptions.Similarity over the pairs of Match
	MatchedSeeds  int     // seeds with their pair in Match
	Iterations    []SGMIteration
	Searches      int   // from different starts, or with ties broken in other ways
	Converged     bool  // false: MaxIterations were not enough
	PeakBytes     int64 // estimate of the peak memory, graphs included
	// Setup, Product, Assign and Search add up the time by stage.
	Setup, Product, Assign, Search, Project time.Duration

	effort effort
}

// SGM looks for the matching of the vertices of two graphs of n vertices, given some pairs that
// correspond, under which their edges disagree least: the permutation matrix P that minimises ‖A −
// PBPᵀ‖².
//
// With AutoStart it first refines colours from the seeds, by products in both graphs at once, and
// individualises pairs where vertices share a colour. That solves graphs that differ in the names
// of vertices alone, in the time of reading their edges some times: the result then has no
// Iterations. If there are disagreements it maximises the relaxed objective, over convex
// combinations P of matchings, by Frank–Wolfe steps:
//
//	f(P) = tr(ÃᵀPB̃Pᵀ) + 2⟨S, P⟩,  Ã = 2A + I − J,  B̃ = 2B + I − J
//	T = argmax ⟨∇f(P), T⟩   over matchings, an assignment problem
//	P ← (1−α)P + αT,  α the best in [0, 1]
//
// Ã holds +1 for an edge and −1 for none, and S the similarities, if any. Of the gradient ÃPB̃ᵀ +
// ÃᵀPB̃ it stores ÂPB̂ᵀ only (Â = 2A + I), with ÂᵀPB̂ if the graphs are directed; J adds offsets of
// rows and columns to it, and a few numbers to f. A step takes one sparse product, of Â by B̂ᵀ with
// its rows in the order of T, and blends it into the gradient. For graphs without weights the
// gradient is exact, in whole numbers, as long as steps go all the way. Assignments are near the
// best only, by Epsilon; LSAPGap tells how near. Where no step gains, or A and PBPᵀ differ at few
// entries, the search projects P to a matching, and a repair matches the vertices at which edges
// disagree again, with all others fixed. If that leaves disagreements where steps still gained, the
// search takes further steps from the repaired matching.
//
// A search that leaves disagreements is followed by others. With AutoStart they start from the
// pairs that percolation from the seeds finds: as seeds, as a matching, and, for graphs with
// different weights, with steps that ignore the weights, which a few large ones would rule; and
// from the pairs that refinement singled out, if they are many. If few disagreements are left then,
// less than one in 256 of those before, three others follow: two from the same start, one of them
// without the +I, and with AutoStart one from the barycentre. If many are left and Start is
// AutoStart, the others start at the barycentre; at the barycentre written out, without the +I, for
// graphs of up to 2048 vertices (the FAQ algorithm of Vogelstein et al.); and half-way from the
// barycentre to random matchings. The best result counts, by its disagreements less its
// similarities. No further search begins once their work, but for the searches from percolation and
// refinement, exceeds Searches times the work of the first, or once a search from another start,
// also from percolation, ends with the same number of disagreements as the best. Where the work is
// below 2²⁴ entries, about a tenth of a second, up to 16 follow.
//
// Work counts entries: the entries of gradients and products computed, and the entries read by
// assignments and by repairs. It depends on neither the clock nor Threads, so results are the same
// each time and with any number of threads.
//
// Rows and columns of A and B are vertices, an entry A(i,j) is the weight of an edge from i to j,
// and a missing entry is weight 0. Weights may be negative. Seeds are soft: the search starts
// there, and they may move. HardSeeds fixes them and removes them from the problem. The result is a
// local optimum, not always the best matching.
//
// Errors: *matrix.DimensionError for graphs that are not square, or differ in size without Pad, and
// for similarities of another size; *matrix.IndexError for a seed that is no vertex; *WeightError
// for a weight or a similarity that is NaN or infinite; *ParameterError for a vertex in two seeds,
// labels that differ in number without Pad, and options; ctx.Err().
//
// Each iteration takes the time of the product and of the assignment. Memory is in proportion to
// the entries of A, B and ÂPB̂ᵀ, the pairs of vertices with a common neighbour, and for up to 2048
// vertices to n²; hubs make many such pairs. It runs where A lives, except for the numbering of
// colours, the percolation and the repair, which run on the host.
//
// Sources: Vogelstein et al., "Fast approximate quadratic programming for graph matching", PLoS ONE
// 10(4), 2015; Fishkind et al., "Seeded graph matching", Pattern Recognition 87, 2019, with adopted
// padding; Kazemi, Hassani, Grossglauser, "Growing a graph matching from a handful of seeds", PVLDB
// 8(10), 2015; HIVE workflow "seeded graph matching": Gunrock HIVE report, 2018.
func SGM[T semiring.Float](a, b matrix.Source[T], seeds []SeedPair, opts ...SGMOptions) (*SGMResult, error) {
	return sgm(a, b, seeds, opts)
}

func sgm(a, b workflow.Operand, seeds []SeedPair, opts []SGMOptions) (*SGMResult, error) {
	began := time.Now()
	o, err := workflow.OnlyPipeline("SGM", opts)
	if err != nil {
		return nil, err
	}
	if o.MaxIterations == 0 {
		o.MaxIterations = 50
	}
	if o.Tolerance == 0 {
		o.Tolerance = .5
	}
	if err := o.check(); err != nil {
		return nil, err
	}
	workflow.Announce(o.Run, "SGM", "refinement, then Frank-Wolfe steps")
	x, y := workflow.Inside(a), workflow.Inside(b)
	if access.Kind(x) == reflect.Float32 {
		return sgmOf(matrix.ViewOf[float32](x), matrix.ViewOf[float32](y), seeds, o, began)
	}
	return sgmOf(matrix.ViewOf[float64](x), matrix.ViewOf[float64](y), seeds, o, began)
}

func sgmOf[T semiring.Float](a, b *matrix.View[T], seeds []SeedPair, o SGMOptions, began time.Time) (*SGMResult, error) {
	p, err := newPairing(a, b, seeds, o)
	if err != nil {
		return nil, err
	}
	res := &SGMResult{Setup: time.Since(began)}
	return res, p.portfolio(res)
}

// project returns the matching closest to P, or the best target of a step if no more
// edges disagree under that.
func (f *relaxation[T]) project(best []int32) ([]int32, error) {
	if f.at != nil {
		return f.at, nil
	}
	found, err := f.assign(f.p, 0)
	if err != nil || best == nil {
		return found.t, err
	}
	apart, err := f.cost(found.t)
	if err != nil {
		return nil, err
	}
	other, err := f.cost(best)
	if other <= apart {
		return best, err
	}
	return found.t, err
}

// conclude fills in the matching and the totals.
func (f *pairing[T]) conclude(t []int32, res *SGMResult) error {
	match := f.whole(t)
	b := matrix.NewVectorBuilder[int32](f.realA)
	for v, w := range match[:f.realA] {
		if w < f.realB {
			b.Add(v, int32(w))
		}
	}
	for _, s := range f.seeds {
		if match[s.A] == s.B {
			res.MatchedSeeds++
		}
	}
	for _, it := range res.Iterations {
		res.Product += it.Product
		res.Assign += it.Assign
		res.Search += it.Search
	}
	like, err := f.likeness(t)
	if err != nil {
		return err
	}
	res.After -= f.mostLike - like
	res.Similarity = f.similarity(match)
	res.Match, err = b.Build(nil)
	return err
}

func (o SGMOptions) check() error {
	bad := func(arg string, got any, want string) error {
		return &workflow.ParameterError{App: "SGM", Arg: arg, Got: fmt.Sprint(got), Want: want}
	}
	switch {
	case o.Start < AutoStart || o.Start > RandomStart:
		return bad("the start", int(o.Start), "AutoStart, SparseStart, Barycentre or RandomStart")
	case o.From != nil && o.Start != AutoStart:
		return bad("the start", int(o.Start), "AutoStart beside From")
	case o.Searches != o.Searches:
		return bad("Searches", o.Searches, "a multiple of the first search's work")
	case o.Repair != o.Repair:
		return bad("Repair", o.Repair, "a multiple of the search's work")
	case !(o.Epsilon >= 0):
		return bad("epsilon", o.Epsilon, "0 or more")
	case !(o.Tolerance > 0):
		return bad("the tolerance", o.Tolerance, "positive")
	case o.MaxIterations < 0:
		return bad("the number of iterations", o.MaxIterations, "0 or more")
	}
	return nil
}
