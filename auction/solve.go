package auction

import (
	"context"
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/hiveblas/hiveblas/internal/parallel"
	"github.com/hiveblas/hiveblas/ops"
)

// Method is an algorithm for assignment.
type Method int

// The methods.
const (
	MethodAuto            Method = iota // paths on a host, an auction on a GPU
	MethodAuction                       // bids with ε-scaling
	MethodJonkerVolgenant               // shortest augmenting paths
)

// Bidding says which rows bid at the same time.
type Bidding int

// The ways of bidding.
const (
	GaussSeidel Bidding = iota // one after the other, each at the latest prices; the choice of a host
	Jacobi                     // all rows without a column at once; always on a GPU
)

// Options are the settings of Solve. The zero value minimises, exactly.
type Options struct {
	Context  context.Context // nil: never ends
	Maximize bool
	// Exact asks for an optimum and overrides Epsilon: augmenting paths complete what
	// bidding leaves.
	Exact bool
	// Epsilon bounds by how much a row may miss its best column when the auction ends.
	// In a square problem the value is then within Epsilon times the shorter side of
	// the optimum. 0 means exact.
	Epsilon float64
	// NoScaling lets an auction bid with the last ε from the start. ε-scaling bounds
	// the number of bids for all costs. Where most rows prefer different columns, and ε
	// is not small beside their gain, scaling only makes rows give up their columns. It
	// is ignored where costs differ by more than 2¹⁸ ε.
	NoScaling bool
	Method    Method
	Bidding   Bidding
	Seed      uint64    // breaks ties among columns
	Prices    []float64 // of the longer side, the columns if equal, to start from; nil for none
	Threads   int       // 0: GOMAXPROCS; results do not depend on it
	// Progress receives the number of rows (of the shorter side) that have a partner.
	Progress func(what string, done, total int64)
	Trace    func(ops.Trace) // called for each operation on a device; may be nil
}

// Result is an assignment.
type Result struct {
	Row []int32 // column of each row, −1 for none
	Col []int32 // row of each column, −1 for none
	// Value is the sum of the assigned costs with their offsets. If all of them
	// are integers, Integer is true and Sum is it without rounding.
	Value   float64
	Integer bool
	Sum     int64
	// Gap bounds the distance of Value from the optimum, by duality: 0 is optimal.
	Gap float64
	// Prices of the longer side, the columns if equal: each row has a column that
	// is within ε of the least of cost + price (or the most of value − price). They
	// do not contain offsets.
	Prices []float64
	// Method is the method that ran: "jonker-volgenant", "auction" or "auction+paths",
	// with ", on the host" where the costs live elsewhere.
	Method string
	Rounds int64 // of Jacobi bidding, or searches for augmenting paths
	Bids   int64 // by rows, with the steps of row reduction
	Phases int   // values of ε
	// Scanned counts the costs read while solving, those read again included: a measure of work
	// that depends neither on the clock nor on Threads. On a device it is an estimate from Bids.
	Scanned int64
	// Seconds of the parts of the work.
	Seconds struct{ Read, Bid, Paths float64 }
}

// Solve assigns rows and columns one to one so that the costs add up to the
// least, or the most. Every member of the shorter side gets a partner.
//
// Method Auto takes the exact paths of [JonkerVolgenant] on a host, which are faster there than an
// auction. For a matrix on a GPU it runs an auction on the GPU, and for a matrix on a group of GPUs
// of this process on the first GPU. The host solves the problems that a device cannot: exact
// problems of floats, costs that are not finite, and prices that do not fit; Result.Method says so.
// Costs that are all integers are computed as integers, in floats too.
//
// Solve returns an *InfeasibleError with a witness if forbidden pairs leave no assignment, a
// *CostError if a cost is NaN, and an *OverflowError if sums exceed 64 bits.
//
// Dense problems take O(n³) at worst and n² memory; on a host O(n²) if their costs are a Monge
// array in some orders of rows and columns, as products of two lists are. Sparse and implicit ones
// O(n·(entries + n log n)) and memory in proportion to entries and n.
//
// At most one value of Options may be given; without one the zero value applies.
func Solve(p *Problem, opts ...Options) (*Result, error) {
	o, err := onlyOptions(opts)
	if err != nil {
		return nil, err
	}
	k, err := open(p, o)
	if err != nil {
		return nil, err
	}
	s, err := k.onDevice()
	if err != nil {
		return nil, err
	}
	if s == nil {
		return k.onHost()
	}
	results, err := auctions([]*deviceAuction{s})
	if err != nil {
		return nil, err
	}
	return results[0], nil
}

// JonkerVolgenant solves a problem exactly by shortest augmenting paths, on the
// host (Jonker and Volgenant, Computing 38, 1987). Options.Epsilon, Method,
// Bidding and Seed are not used.
func JonkerVolgenant(p *Problem, opts ...Options) (*Result, error) {
	o, err := onlyOptions(opts)
	if err != nil {
		return nil, err
	}
	o.Method, o.Epsilon = MethodJonkerVolgenant, 0
	return Solve(p, o)
}

// onlyOptions returns the options that a caller gave, the zero value if none.
func onlyOptions(opts []Options) (Options, error) {
	switch len(opts) {
	case 0:
		return Options{}, nil
	case 1:
		return opts[0], nil
	}
	return Options{}, &ParameterError{"the number of Options", fmt.Sprint(len(opts)), "at most one"}
}

// task is a problem being solved.
type task struct {
	p       *Problem
	o       Options
	m, n    int
	flip    bool // rows outnumber columns: they are exchanged
	seen    summary
	integer bool    // costs, and the offsets that matter, are integers
	long    summary // offsets of the longer side that matter
	prices  float64 // greatest absolute value of the prices to start from
}

func open(p *Problem, o Options) (*task, error) {
	if p == nil {
		return nil, &ParameterError{"the problem", "nil", "one made by Dense, Sparse or Implicit"}
	}
	if p.err != nil {
		return nil, p.err
	}
	if p.costs == nil {
		return nil, &ParameterError{"the problem", "without costs", "one made by Dense, Sparse or Implicit"}
	}
	if o.Context == nil {
		o.Context = context.Background()
	}
	k := &task{p: p, o: o}
	k.m, k.n = p.Dims()
	k.flip = k.m > k.n
	if err := k.checkOptions(); err != nil {
		return nil, err
	}
	return k, o.Context.Err()
}

func (k *task) checkOptions() error {
	o := &k.o
	switch {
	case math.IsNaN(o.Epsilon) || math.IsInf(o.Epsilon, 0) || o.Epsilon < 0:
		return &ParameterError{"Epsilon", fmt.Sprint(o.Epsilon), "0 or a positive number"}
	case o.Method < MethodAuto || o.Method > MethodJonkerVolgenant:
		return &ParameterError{"Method", fmt.Sprint(int(o.Method)), "MethodAuto, MethodAuction or MethodJonkerVolgenant"}
	case o.Bidding != GaussSeidel && o.Bidding != Jacobi:
		return &ParameterError{"Bidding", fmt.Sprint(int(o.Bidding)), "GaussSeidel or Jacobi"}
	case o.Prices != nil && len(o.Prices) != max(k.m, k.n):
		return &ParameterError{"the number of Prices", fmt.Sprint(len(o.Prices)), fmt.Sprintf("%d, the longer side", max(k.m, k.n))}
	}
	for _, x := range o.Prices {
		if math.IsNaN(x) || math.IsInf(x, 0) {
			return &ParameterError{"a price", fmt.Sprint(x), "a finite number"}
		}
		k.prices = max(k.prices, math.Abs(x))
	}
	return nil
}

// onHost runs on the host, and notes that in Method if the costs live elsewhere.
func (k *task) onHost() (*Result, error) {
	res, err := k.run()
	if err == nil && k.p.costs.view.Place() != nil {
		res.Method += ", on the host"
	}
	return res, err
}

// run scans the costs, picks the type of numbers and solves.
func (k *task) run() (*Result, error) {
	start := time.Now()
	if err := k.scanCosts(); err != nil {
		return nil, err
	}
	// Costs and duals reach a few times this if all pairs are allowed, and n times
	// this if not.
	most := max(math.Abs(k.seen.lo), math.Abs(k.seen.hi))
	reach := 8 * (most + max(-k.long.lo, k.long.hi) + k.prices + 1)
	if !k.everywhere() {
		reach *= float64(min(k.m, k.n) + 2)
	}
	sums := float64(min(k.m, k.n)) * most
	how := reading{flip: k.flip, negate: k.o.Maximize, forbidden: k.seen.forbidden > 0, threads: k.o.Threads}
	bids := k.bids()
	scale := k.scale()
	switch {
	case !k.integer && !(reach <= math.MaxFloat64):
		return nil, &OverflowError{"the sum of the costs", "scale them down"}
	case !k.integer && bids:
		return byAuction(k, start, k.p.costs.asFloat64(how), 1)
	case !k.integer:
		return byPaths(k, start, k.p.costs.asFloat64(how))
	case reach >= 1<<62 || sums >= 1<<62:
		return nil, &OverflowError{"the sum of the costs", "scale them down, or give them as floats that are not all integers"}
	case bids && (reach*scale >= 1<<62 || sums*scale >= 1<<62):
		return nil, &OverflowError{fmt.Sprintf("prices in steps of %g", 1/scale), "raise Epsilon, or take MethodJonkerVolgenant"}
	case bids:
		return byAuction(k, start, k.p.costs.asInt64(how), int64(scale))
	case reach < 1<<31:
		return byPaths(k, start, k.p.costs.asInt32(how))
	}
	return byPaths(k, start, k.p.costs.asInt64(how))
}

// scanCosts reads costs and offsets.
func (k *task) scanCosts() (err error) {
	if k.seen, err = k.p.costs.scan(k.o.Maximize, k.o.Threads); err != nil {
		return err
	}
	if err := k.scarce(); err != nil {
		return err
	}
	return k.scanOffsets()
}

// scarce returns an *InfeasibleError if there are fewer allowed pairs than the shorter side has
// members: one of these has none. It takes memory in proportion to the pairs, whatever the
// dimensions.
func (k *task) scarce() error {
	if k.p.costs.everywhere() || k.seen.entries-k.seen.forbidden >= int64(min(k.m, k.n)) {
		return nil
	}
	without := firstMissing(k.p.costs.members(k.flip))
	if k.flip {
		return &InfeasibleError{Cols: []int32{without}}
	}
	return &InfeasibleError{Rows: []int32{without}}
}

// firstMissing returns the least number from 0 on that is not in a list, which it sorts.
func firstMissing(list []int32) int32 {
	slices.Sort(list)
	next := int32(0)
	for _, i := range list {
		if i > next {
			break
		}
		next = i + 1
	}
	return next
}

func (k *task) scanOffsets() error {
	row, err := offsets("row", k.p.row)
	if err != nil {
		return err
	}
	col, err := offsets("column", k.p.col)
	if err != nil {
		return err
	}
	k.integer = k.seen.integers
	if k.m != k.n {
		if k.long = col; k.flip {
			k.long = row
		}
		k.integer = k.integer && k.long.integers
	}
	return nil
}

// everywhere reports whether every pair is allowed.
func (k *task) everywhere() bool {
	return k.p.costs.everywhere() || k.seen.entries == int64(k.m)*int64(k.n) && k.seen.forbidden == 0
}

// exact reports whether an optimum is wanted.
func (k *task) exact() bool { return k.o.Exact || k.o.Epsilon == 0 }

// bids reports whether the auction is the method.
func (k *task) bids() bool { return k.o.Method == MethodAuction }

// prepared returns the instance without assignments, with the given prices as duals.
func prepared[C cost](k *task, in *instance[C], scale C) *paths[C] {
	in.col = longOffsets[C](k)
	s := newPaths(in, k.o.Context)
	if k.o.Progress != nil {
		s.report = func(done, total int64) { k.o.Progress("assignment", done, total) }
	}
	if k.m == k.n && k.o.Prices != nil {
		for j, p := range k.o.Prices {
			if C(1)/2 == 0 {
				p = math.Round(p * float64(scale))
			}
			s.v[j] = -C(p)
		}
		s.warm = true
	}
	return s
}

// byPaths solves an instance by shortest augmenting paths.
func byPaths[C cost](k *task, start time.Time, in *instance[C]) (*Result, error) {
	s := prepared(k, in, 1)
	res := &Result{Method: "jonker-volgenant"}
	res.Seconds.Read = time.Since(start).Seconds()
	return finish(k, s, res)
}

// finish assigns columns to the free rows by shortest augmenting paths.
func finish[C cost](k *task, s *paths[C], res *Result) (*Result, error) {
	start := time.Now()
	var err error
	switch {
	case !s.in.dense():
		err = s.finishListed()
	default:
		err = s.denseJV(parallel.Threads(k.o.Threads))
	}
	if err != nil {
		return nil, k.renameWitness(err)
	}
	res.Seconds.Paths = time.Since(start).Seconds()
	res.Rounds += s.searches
	res.Bids += s.steps
	res.Scanned += s.scanned
	complete(k, s, 1, res)
	return res, nil
}

// renameWitness renames the witness of a flipped problem.
func (k *task) renameWitness(err error) error {
	if e, ok := err.(*InfeasibleError); ok && k.flip {
		return &InfeasibleError{Cols: e.Rows, Have: e.Have}
	}
	return err
}
