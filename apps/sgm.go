package apps

import (
	"fmt"
	"time"

	"github.com/hiveblas/hiveblas/auction"
	"github.com/hiveblas/hiveblas/internal/splitmix"
	"github.com/hiveblas/hiveblas/matrix"
	"github.com/hiveblas/hiveblas/ops"
	"github.com/hiveblas/hiveblas/semiring"
)

// SGMStart is where the relaxation of SGM begins.
type SGMStart int

// The starts.
const (
	SparseStart SGMStart = iota // the seeds, and zero elsewhere
	Barycentre                  // the seeds, and the mean of all matchings of the others
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
	Run
	Start     SGMStart
	HardSeeds bool // seeds are fixed; else they are only where the search starts
	Pad       bool // add isolated vertices to the smaller graph
	// LabelsA and LabelsB, if not nil, give each vertex a label; vertices are
	// matched to vertices of the same label only.
	LabelsA, LabelsB []int32
	// Epsilon is how far from the best, per vertex and in units of A·P·Bᵀ (common
	// neighbours, by edges of mean weight), each assignment of a step may be. 0 is
	// automatic, 1/16; see Exact.
	Epsilon float64
	// Exact asks for the best assignment in each step.
	Exact bool
	// Assignment is how assignment problems are solved; MethodAuto suits the place,
	// and may do better than Epsilon asks for. MethodAuction bids as a device does.
	Assignment auction.Method
	// Tolerance is what a step must gain for another to follow, in edges of mean
	// weight by which ‖A − PBPᵀ‖² falls; 0 means 1/2.
	Tolerance     float64
	MaxIterations int    // 0 means 50
	Seed          uint64 // of the order in which ties are broken
}

// SGMIteration is what one step did.
type SGMIteration struct {
	Objective               float64 // tr(ÃᵀPB̃Pᵀ) after it
	Step                    float64 // from 0, stay, to 1, go all the way to the assignment
	Slope                   float64 // ⟨∇f, T − P⟩: a bound on what can be gained is this plus LSAPGap
	LSAPGap                 float64 // how far the assignment can be from the best one, in units of Slope
	Entries                 int64   // of APBᵀ
	Rounds                  int64   // of bidding in the assignment, or searches for augmenting paths
	Product, Assign, Search time.Duration
}

// SGMResult is what SGM found.
type SGMResult struct {
	// Match gives each vertex of A its vertex of B; one that was matched to
	// padding has no entry. On the host.
	Match *matrix.Vector[int32]
	// Before and After are the disagreements Σ|A − PBPᵀ| over ordered pairs, with
	// vertices matched by number and as in Match.
	Before, After float64
	MatchedSeeds  int // seeds whose pair is in Match
	Iterations    []SGMIteration
	Converged     bool  // false: MaxIterations were not enough
	PeakBytes     int64 // estimate of the memory in use at the worst moment, graphs included
	// Setup, Product, Assign and Search add up the time by stage.
	Setup, Product, Assign, Search, Project time.Duration
}

// SGM looks for the matching of the vertices of two graphs of n vertices, given
// some pairs that correspond, under which their edges disagree least: the
// permutation matrix P that minimises ‖A − PBPᵀ‖². It goes up the relaxed
// objective, over convex combinations P of matchings, by Frank–Wolfe steps:
//
//	f(P) = tr(ÃᵀPB̃Pᵀ),  Ã = 2A + I − J,  B̃ = 2B + I − J
//	T = argmax ⟨∇f(P), T⟩   over matchings, an assignment problem
//	P ← (1−α)P + αT,  α the best in [0, 1]
//
// which are the edges as +1 and what is none as −1. Of the gradient ÃPB̃ᵀ + ÃᵀPB̃
// only ÂPB̂ᵀ is stored (Â = 2A + I), with ÂᵀPB̂ if the graphs are directed; J adds
// offsets of rows and columns to it, and a few numbers to f. A step takes one
// sparse product, of Â by B̂ᵀ with its rows in the order of T; the gradient is
// that product blended into the last. It is whole numbers, exactly, for graphs
// without weights as long as steps go all the way. Assignments are near the best
// only, by Epsilon; LSAPGap tells how near. Where no step gains, or A and PBPᵀ
// differ at few entries, P is projected to a matching, and the last vertices at
// which edges disagree are matched again with all others fixed. If few
// disagreements are left, the search is begun again with ties broken otherwise.
//
// Rows and columns of A and B are vertices, an entry A(i,j) the weight of an edge
// from i to j, and no entry weight 0; weights may be negative. Seeds are soft:
// the search starts there, and they may move. HardSeeds fixes them and leaves
// them out of the problem. A local optimum is found, not always the best.
//
// Errors: *matrix.DimensionError for graphs that are not square, or differ in size
// without Pad; *matrix.IndexError for a seed that is no vertex; *WeightError for
// an edge of weight NaN or infinity; *ParameterError for a vertex in two seeds,
// labels that differ in number without Pad, and options; ctx.Err().
//
// Each iteration takes the time of the product and of the assignment. Memory is
// in proportion to the entries of A, B and ÂPB̂ᵀ, the pairs of vertices with a
// common neighbour, which hubs make many. It runs where A lives, but for the
// repair of the last vertices, on the host.
//
// Sources: Vogelstein et al., "Fast approximate quadratic programming for graph
// matching", PLoS ONE 10(4), 2015; Fishkind et al., "Seeded graph matching",
// Pattern Recognition 87, 2019; HIVE workflow "seeded graph matching": Gunrock
// HIVE report, 2018.
func SGM[T semiring.Float](a, b matrix.Source[T], seeds []SeedPair, opts ...SGMOptions) (*SGMResult, error) {
	began := time.Now()
	o, err := only("SGM", opts)
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
	p, err := newPairing(a, b, seeds, o)
	if err != nil {
		return nil, err
	}
	f, err := newRelaxation(p)
	if err != nil {
		return nil, err
	}
	res := &SGMResult{Setup: time.Since(began)}
	t, err := f.run(res)
	for again := uint64(1); again <= restarts && err == nil && res.nearly(); again++ {
		p.opts.Seed = splitmix.Mix(o.Seed + again)
		if f, err = newRelaxation(p); err != nil {
			break
		}
		other := &SGMResult{}
		found, e := f.run(other)
		if err = e; err == nil && res.better(other) {
			t = found
		}
	}
	if err == nil && res.After > 0 {
		clock := time.Now()
		t, res.After, err = f.repair(t, repairs)
		res.Project += lap(&clock)
	}
	if err != nil {
		return res, err
	}
	return res, f.conclude(t, res)
}

// A search that ends with few disagreements, less than one in nearlyPart of those
// before, is begun again with ties broken otherwise, restarts times at most.
const (
	restarts   = 3
	nearlyPart = 256
)

func (r *SGMResult) nearly() bool { return r.After > 0 && r.After*nearlyPart <= r.Before }

// better adds the cost of another search, and reports whether it found more.
func (r *SGMResult) better(other *SGMResult) bool {
	r.Iterations = append(r.Iterations, other.Iterations...)
	r.PeakBytes = max(r.PeakBytes, other.PeakBytes)
	r.Project += other.Project
	if other.After >= r.After {
		return false
	}
	r.After, r.Converged = other.After, other.Converged
	return true
}

// run climbs, projects P to a matching, and repairs that for a while.
func (f *relaxation[T]) run(res *SGMResult) ([]int32, error) {
	best, err := f.climb(res)
	if err != nil {
		return nil, err
	}
	clock := time.Now()
	t, err := f.project(best)
	if err != nil {
		return nil, err
	}
	if t, res.After, err = f.repair(t, fewRepairs); err != nil {
		return nil, err
	}
	res.Before, err = f.distance(f.a, f.b)
	res.Project = lap(&clock)
	return t, err
}

// project returns the matching that P has most of, or the best one that was met
// if no more edges disagree under that.
func (f *relaxation[T]) project(best []int32) ([]int32, error) {
	if f.at != nil {
		return f.at, nil
	}
	found, err := f.assign(f.p, 0)
	if err != nil || best == nil {
		return found.t, err
	}
	apart, err := f.disagreements(found.t)
	if err != nil {
		return nil, err
	}
	other, err := f.disagreements(best)
	if other <= apart {
		return best, err
	}
	return found.t, err
}

// disagreements returns Σ|A − PBPᵀ|.
func (f *relaxation[T]) disagreements(t []int32) (float64, error) {
	b := f.matrix(f.n, f.n)
	match := f.whole(t)
	if err := ops.Extract(b, f.b, ops.Of(match...), ops.Of(match...), f.with); err != nil {
		return 0, err
	}
	return f.distance(f.a, b)
}

// conclude writes the matching down.
func (f *relaxation[T]) conclude(t []int32, res *SGMResult) error {
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
	res.PeakBytes = max(res.PeakBytes, f.peak)
	var err error
	res.Match, err = b.Build(nil)
	return err
}

func (o SGMOptions) check() error {
	bad := func(arg string, got any, want string) error {
		return &ParameterError{"SGM", arg, fmt.Sprint(got), want}
	}
	switch {
	case o.Start != SparseStart && o.Start != Barycentre:
		return bad("the start", int(o.Start), "SparseStart or Barycentre")
	case !(o.Epsilon >= 0):
		return bad("epsilon", o.Epsilon, "0 or more")
	case !(o.Tolerance > 0):
		return bad("the tolerance", o.Tolerance, "positive")
	case o.MaxIterations < 0:
		return bad("the number of iterations", o.MaxIterations, "0 or more")
	}
	return nil
}
