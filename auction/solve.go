package auction

import (
	"context"
	"fmt"
	"math"
	"time"

	"github.com/hiveblas/hiveblas/ops"
)

// Method is how an assignment is found.
type Method int

// The methods.
const (
	MethodAuto            Method = iota // what suits size, sparsity and ε
	MethodAuction                       // bids with ε-scaling
	MethodJonkerVolgenant               // shortest augmenting paths
)

// Bidding is which rows bid at the same time.
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
	// Exact asks for an optimum, whatever Epsilon: what bidding leaves to be
	// desired is put right by augmenting paths.
	Exact bool
	// Epsilon is by how much a row may miss its best column when the auction
	// ends: the value is then within Epsilon times the shorter side of the optimum
	// in a square problem. 0 means exact.
	Epsilon float64
	Method  Method
	Bidding Bidding
	Seed    uint64    // breaks ties among columns
	Prices  []float64 // of the longer side, the columns if equal, to start from; nil for none
	Threads int       // 0: GOMAXPROCS; results do not depend on it
	// Progress is told how many of the shorter side have a partner; nil is silent.
	Progress func(what string, done, total int64)
	Trace    func(ops.Trace) // told what ran on a device; may be nil
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
	// Gap bounds what the optimum can be better by, by duality: 0 is optimal.
	Gap float64
	// Prices of the longer side, the columns if equal: each row has a column that
	// is within ε of the least of cost + price (or the most of value − price). They
	// do not contain offsets.
	Prices []float64
	Method string // such as "jonker-volgenant", "auction", "auction+paths"
	Rounds int64  // of Jacobi bidding, or searches for augmenting paths
	Bids   int64  // by rows, with the steps of row reduction
	Phases int    // values of ε
	// Seconds of the parts of the work.
	Seconds struct{ Read, Bid, Paths float64 }
}

// Solve assigns rows and columns one to one so that the costs add up to the
// least, or the most; the shorter side is assigned wholly.
//
// Method Auto takes the exact paths of [JonkerVolgenant] on a host, unless an
// Epsilon is given that they are slower than. A matrix that lives on a GPU is
// solved there, by an auction. Costs that are all integers, up to 2⁴⁰ and
// beyond, are computed with as integers, in floats too.
//
// If forbidden pairs leave no assignment, the error is an *InfeasibleError with
// a witness. NaN is a *CostError, sums beyond 64 bits an *OverflowError.
//
// Dense problems take O(n³) at worst and n² memory; sparse and implicit ones
// O(n·(entries + n log n)) and memory in proportion to entries and n.
func Solve(p *Problem, o Options) (*Result, error) {
	k, err := open(p, o)
	if err != nil {
		return nil, err
	}
	return k.run()
}

// JonkerVolgenant solves a problem exactly by shortest augmenting paths, on the
// host (Jonker and Volgenant, Computing 38, 1987). Options.Epsilon, Method,
// Bidding and Seed are not used.
func JonkerVolgenant(p *Problem, o Options) (*Result, error) {
	o.Method, o.Epsilon = MethodJonkerVolgenant, 0
	return Solve(p, o)
}

// task is a problem being solved.
type task struct {
	p       *Problem
	o       Options
	m, n    int
	flip    bool // rows outnumber columns: they take each other's part
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

// run looks at the costs, picks the numbers to compute with and solves.
func (k *task) run() (*Result, error) {
	start := time.Now()
	var err error
	if k.seen, err = k.p.costs.scan(k.o.Maximize); err != nil {
		return nil, err
	}
	row, err := offsets("row", k.p.row)
	if err != nil {
		return nil, err
	}
	col, err := offsets("column", k.p.col)
	if err != nil {
		return nil, err
	}
	if k.m != k.n {
		if k.long = col; k.flip {
			k.long = row
		}
		k.integer = k.seen.integers && k.long.integers
	} else {
		k.integer = k.seen.integers
	}
	// Costs and duals reach a few times this where all pairs are allowed, n times
	// where not.
	reach := 8 * (max(math.Abs(k.seen.lo), math.Abs(k.seen.hi)) + max(-k.long.lo, k.long.hi) + k.prices + 1)
	if !k.complete() {
		reach *= float64(min(k.m, k.n) + 2)
	}
	how := reading{flip: k.flip, negate: k.o.Maximize, forbidden: k.seen.forbidden > 0}
	switch {
	case !k.integer:
		if !(reach <= math.MaxFloat64) {
			return nil, &OverflowError{"the sum of the costs", "scale them down"}
		}
		return solve(k, start, k.p.costs.asFloat64(how))
	case reach < 1<<31 && k.prices < 1<<20:
		return solve(k, start, k.p.costs.asInt32(how))
	case reach < 1<<62 && float64(min(k.m, k.n))*max(math.Abs(k.seen.lo), math.Abs(k.seen.hi)) < 1<<62:
		return solve(k, start, k.p.costs.asInt64(how))
	}
	return nil, &OverflowError{"the sum of the costs", "scale them down, or give them as floats that are not all integers"}
}

// complete reports whether every pair is allowed.
func (k *task) complete() bool {
	return k.p.costs.everywhere() || k.seen.entries == int64(k.m)*int64(k.n) && k.seen.forbidden == 0
}

func solve[C cost](k *task, start time.Time, in *instance[C]) (*Result, error) {
	in.col = longOffsets[C](k)
	read := time.Since(start)
	s := newPaths(in, k.o.Context)
	if k.o.Progress != nil {
		s.report = func(done, total int64) { k.o.Progress("assignment", done, total) }
	}
	res := &Result{Method: "jonker-volgenant"}
	start = time.Now()
	var err error
	if in.dense() {
		err = denseJV(s)
	} else {
		err = listedJV(s)
	}
	if err != nil {
		return nil, k.named(err)
	}
	res.Seconds.Read, res.Seconds.Paths = read.Seconds(), time.Since(start).Seconds()
	res.Rounds, res.Bids = s.searches, s.steps
	complete(k, s, res)
	return res, nil
}

// named gives the witness of a flipped problem its name.
func (k *task) named(err error) error {
	if e, ok := err.(*InfeasibleError); ok && k.flip {
		return &InfeasibleError{Cols: e.Rows, Have: e.Have}
	}
	return err
}
