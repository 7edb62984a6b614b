package auction

import (
	"math"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/hiveblas/hiveblas/comm"
	"github.com/hiveblas/hiveblas/internal/device"
	"github.com/hiveblas/hiveblas/internal/parallel"
	"github.com/hiveblas/hiveblas/internal/sparse"
	"github.com/hiveblas/hiveblas/matrix"
	"github.com/hiveblas/hiveblas/ops"
)

// Auctions run at the place where the costs live, if that place implements them.

// operand returns the costs as an operand at a place. The devices of a group gather the costs.
func (p *costs) operand(at device.Backend) (device.Operand, error) {
	if g, ok := p.view.Place().(*comm.Group); ok {
		whole, err := p.view.Replicas(nil, g)
		if err != nil {
			return device.Operand{}, err
		}
		return whole[0].Operand(at)
	}
	return p.view.Operand(at)
}

// device returns the device on which an auction over the costs runs, nil for the host; a group of
// one process gives its first device. Rounds are too short to be divided.
func (p *costs) device() device.Runner {
	g, ok := p.view.Place().(*comm.Group)
	if !ok {
		return device.Of(p.view.Place())
	}
	if len(g.Ranks()) < g.Size() || !p.view.Gatherable(g) {
		return nil
	}
	for k := range g.Ranks() {
		if device.Of(g.PlaceOf(k)) == nil {
			return nil
		}
	}
	return device.Of(g.PlaceOf(0))
}

// deviceAuction is a task as an auction on a device.
type deviceAuction struct {
	*task
	at     device.Runner
	market deviceMarket
	scale  float64
	base   []int64 // offsets of the longer side, scaled, as costs; nil for none
	shift  int64   // the device subtracts it from prices
	read   float64 // seconds
}

// onDevice prepares the auction on the device where the costs live. nil says that the
// host has to solve the problem: the costs do not live on a device, augmenting paths
// are requested or necessary (an exact problem of floats), or the numbers do not fit
// the packed bids of a device. The host also reports costs that are not finite.
func (k *task) onDevice() (*deviceAuction, error) {
	at := k.p.costs.device()
	if at == nil || k.o.Method == MethodJonkerVolgenant || min(k.m, k.n) == 0 {
		return nil, nil
	}
	start := time.Now()
	costs, err := k.p.costs.operand(at)
	if err != nil {
		return nil, err
	}
	seen, err := surveyAt(at, k.call(), costs)
	if err != nil {
		return nil, err
	}
	if seen.strange > 0 {
		return nil, nil
	}
	k.seen = summary{lo: seen.lo, hi: seen.hi, integers: seen.integers, entries: seen.entries}
	if k.p.costs.everywhere() {
		if err := k.seen.takeDefault(k.p.costs.missing(), seen.entries == 0); err != nil {
			return nil, nil
		}
	}
	if err := k.scanOffsets(); err != nil {
		return nil, err
	}
	s := &deviceAuction{task: k, at: at, market: deviceMarket{costs: costs, implicit: k.p.costs.everywhere(), missing: k.p.costs.missing(), seed: k.o.Seed}}
	if k.flip {
		s.market.costs.Transposed = !costs.Transposed
	}
	if !s.fits() {
		return nil, nil
	}
	if err := k.scarce(); err != nil {
		return nil, err
	}
	if !k.everywhere() {
		in := k.p.costs.asFloat64(reading{flip: k.flip, threads: k.o.Threads})
		if err := k.feasible(in.ptr, in.idx, in.n); err != nil {
			return nil, err
		}
	}
	s.read = time.Since(start).Seconds()
	return s, nil
}

func (k *task) call() device.Call {
	return device.Call{Context: k.o.Context, Op: "assignment", Trace: k.o.Trace != nil}
}

// takeDefault includes a default cost in the summary.
func (s *summary) takeDefault(x float64, alone bool) error {
	if math.IsNaN(x) || math.IsInf(x, 0) {
		return ErrCost
	}
	if alone {
		s.lo, s.hi = x, x
	}
	s.lo, s.hi = min(s.lo, x), max(s.hi, x)
	s.integers = s.integers && exactInteger(x)
	return nil
}

// fits picks the scale and the values of ε, and reports whether the scaled numbers
// fit: a bid and the number of a row in 64 bits, with room for prices to rise to a few
// times the span of the costs, and costs in the 53 bits of a double.
func (s *deviceAuction) fits() bool {
	k := s.task
	short := float64(min(k.m, k.n))
	span := k.seen.hi - k.seen.lo
	most := max(math.Abs(k.seen.lo), math.Abs(k.seen.hi), k.long.hi, -k.long.lo, k.prices)
	last := 1.0
	switch {
	case k.integer && k.exact():
		s.scale = short + 1
	case k.integer:
		s.scale = k.scale()
		last = max(1, math.Floor(k.o.Epsilon))
	case k.exact():
		return false
	default:
		_, exponent := math.Frexp(max(most, math.SmallestNonzeroFloat64))
		s.scale = math.Ldexp(1, 40-exponent)
		last = math.Floor(k.o.Epsilon * s.scale)
		if last < 1 || !(s.scale > 0) || math.IsInf(s.scale, 0) || last > 1<<60 {
			return false
		}
	}
	room := 62 - math.Ceil(math.Log2(short+1))
	if 32*(most+span+1)*s.scale >= min(math.Ldexp(1, int(room)), 1<<53) {
		return false
	}
	sign := -s.scale
	if k.o.Maximize {
		sign = s.scale
	}
	s.market.scale, s.market.def = sign, int64(math.RoundToEven(sign*s.market.missing))
	s.market.span, s.market.last = int64(math.Ceil(span*s.scale)), int64(last)
	s.market.first = s.market.last
	if k.m == k.n && !unscaled(k.o, float64(s.market.span), float64(s.market.last)) {
		s.market.first = max(s.market.last, s.market.span/theta)
	}
	s.prices()
	return true
}

// prices sets the initial prices: in a square problem the given ones, else the offsets
// of the longer side, since a column that stays free must keep its own.
func (s *deviceAuction) prices() {
	from, sign := s.o.Prices, 1.0
	if s.m != s.n {
		if from = s.p.col; s.flip {
			from = s.p.row
		}
		if s.o.Maximize {
			sign = -1
		}
	}
	if from == nil {
		return
	}
	list := make([]int64, len(from))
	for j, x := range from {
		list[j] = int64(math.Round(sign * x * s.scale))
	}
	if s.m != s.n {
		s.base = slices.Clone(list)
	}
	s.shift = slices.Min(list)
	for j := range list {
		list[j] -= s.shift
	}
	s.market.prices = list
}

// result converts the assignment of the device; nil says that prices have overflowed
// there.
func (s *deviceAuction) result(found assigned, seconds float64) *Result {
	if found.over {
		return nil
	}
	k := s.task
	res := &Result{Method: "auction", Rounds: found.rounds, Bids: found.bids, Phases: int(found.phases)}
	res.Scanned = int64(float64(found.bids) * float64(k.seen.entries) / float64(min(k.m, k.n)))
	res.Seconds.Read, res.Seconds.Bid = s.read, seconds
	partner := make([]int32, len(found.prices))
	for j := range partner {
		partner[j] = none
	}
	worth, best := int64(0), int64(0)
	var chosen sum
	for i, j := range found.col {
		partner[j] = int32(i)
		worth += found.worth[i]
		best += found.best[i] - s.shift
		if s.base != nil {
			worth -= s.base[j]
		}
		if !k.integer {
			chosen.float(found.cost[i])
		}
	}
	above := make([]int64, len(found.prices)) // prices, less the offsets
	res.Prices = make([]float64, len(found.prices))
	for j, p := range found.prices {
		p += s.shift
		res.Prices[j], above[j] = float64(p)/s.scale, p
		if s.base != nil {
			above[j] -= s.base[j]
		}
	}
	slices.Sort(above)
	for _, p := range above[len(above)-len(found.col):] {
		best += p
	}
	res.Row, res.Col = found.col, partner
	if k.flip {
		res.Row, res.Col = partner, found.col
	}
	gap := best - worth
	if k.integer {
		if k.exact() { // fewer than 1/ε rows miss at most ε each
			gap = 0
		}
		res.Gap = float64(gap / int64(s.scale))
		chosen.whole = -worth / int64(s.scale)
		k.value(chosen, s.base != nil, res)
		return res
	}
	// Each cost was rounded by up to 1/2, in the value and in the bound.
	res.Gap = float64(gap+2*int64(len(found.col)))/s.scale + 0x1p-51*chosen.abs
	if k.o.Maximize { // value negates it
		chosen.main, chosen.lost = -chosen.main, -chosen.lost
	}
	k.value(chosen, false, res)
	return res
}

// trace traces an auction as an operation.
func (s *deviceAuction) trace(found assigned) {
	if s.o.Trace != nil {
		s.o.Trace(ops.Trace{Op: "assignment", Method: ops.Method(found.ran.Method), Place: s.at.Place().String(), Work: found.ran.Work, NVals: int64(len(found.col))})
	}
}

// batchMost is the most auctions of one launch: the second dimension of a grid is at
// most 65535.
const batchMost = 1 << 15

// SolveBatch solves problems with the same options. Problems share launches if their costs live on
// one device and have elements of one type; it solves the others on the host, several at a time,
// each with a share of Options.Threads. Progress then has calls from several problems, one at a
// time. SolveBatch returns a *ParameterError if Options.Prices is set.
func SolveBatch(ps []*Problem, opts ...Options) ([]*Result, error) {
	o, err := onlyOptions(opts)
	if err != nil {
		return nil, err
	}
	if o.Prices != nil {
		return nil, &ParameterError{"Prices", "given", "nil in a batch"}
	}
	type key struct {
		at      matrix.Place
		element *sparse.Type
	}
	out := make([]*Result, len(ps))
	groups := map[key][]int{}
	sales := make([]*deviceAuction, len(ps))
	var host []*task
	var hostAt []int
	for i, p := range ps {
		k, err := open(p, o)
		if err != nil {
			return nil, err
		}
		if sales[i], err = k.onDevice(); err != nil {
			return nil, err
		}
		if sales[i] == nil {
			host, hostAt = append(host, k), append(hostAt, i)
			continue
		}
		at := key{p.costs.view.Place(), p.costs.view.Type()}
		groups[at] = append(groups[at], i)
	}
	solved, err := onHosts(o, host)
	if err != nil {
		return nil, err
	}
	for k, i := range hostAt {
		out[i] = solved[k]
	}
	for _, group := range groups {
		for chunk := range slices.Chunk(group, batchMost) {
			batch := make([]*deviceAuction, len(chunk))
			for n, i := range chunk {
				batch[n] = sales[i]
			}
			results, err := auctions(batch)
			if err != nil {
				return nil, err
			}
			for n, i := range chunk {
				out[i] = results[n]
			}
		}
	}
	return out, nil
}

// onHosts solves problems on the host, several at a time. It returns the error of the first problem
// that fails, as if the problems were solved in order.
func onHosts(o Options, tasks []*task) ([]*Result, error) {
	if len(tasks) == 0 {
		return nil, nil
	}
	threads := parallel.Threads(o.Threads)
	share := (threads-1)/len(tasks) + 1
	var mu sync.Mutex // of Progress
	for _, k := range tasks {
		k.o.Threads = share
		if o.Progress != nil {
			k.o.Progress = func(what string, done, total int64) {
				mu.Lock()
				defer mu.Unlock()
				o.Progress(what, done, total)
			}
		}
	}
	results, errs := make([]*Result, len(tasks)), make([]error, len(tasks))
	var first atomic.Int64 // the first problem with an error so far
	first.Store(int64(len(tasks)))
	_ = parallel.Pieces(nil, threads, len(tasks), func(_, i int) {
		if int64(i) > first.Load() {
			return
		}
		if results[i], errs[i] = tasks[i].onHost(); errs[i] == nil {
			return
		}
		parallel.Lower(&first, int64(i))
	})
	if i := first.Load(); i < int64(len(tasks)) {
		return nil, errs[i]
	}
	return results, nil
}

// auctions runs auctions of one device in one call.
func auctions(batch []*deviceAuction) ([]*Result, error) {
	start := time.Now()
	markets := make([]deviceMarket, len(batch))
	for n, s := range batch {
		markets[n] = s.market
	}
	found, err := auctionAt(batch[0].at, batch[0].call(), markets)
	if err != nil {
		return nil, err
	}
	seconds := time.Since(start).Seconds()
	out := make([]*Result, len(batch))
	for n, s := range batch {
		s.trace(found[n])
		if out[n] = s.result(found[n], seconds); out[n] == nil {
			if out[n], err = s.onHost(); err != nil {
				return nil, err
			}
		}
	}
	return out, nil
}
