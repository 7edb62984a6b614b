package auction

import (
	_ "embed"
	"math"
	"math/bits"
	"runtime"
	"unsafe"

	"github.com/hiveblas/hiveblas/internal/device"
	"github.com/hiveblas/hiveblas/internal/sparse"
)

// This file launches kernels/auction.cu.

//go:embed kernels/auction.cu
var auctionText string

// Constants of kernels/auction.cu.
const (
	bidderThreads  = 512  // of hb_auction_bid and hb_auction_proof
	settlerThreads = 1024 // of hb_auction_start and hb_auction_settle
	statePlaces    = 14   // numbers of the state of an auction
	stateResults   = 10   // the first of rounds, bids, phases and overflow in it
)

const (
	groupEntries = 1024 // mean entries of a row from which a block takes each row
	roundsAhead  = 32   // rounds that are queued before the host looks for the first time
)

func init() { device.Describe("auction", kernels) }

// kernels returns the kernels of auctions over costs of type t.
func kernels(t device.Type) []device.Program {
	if !t.Number() {
		return nil
	}
	return []device.Program{program(t)}
}

// program composes kernels/auction.cu for costs of type t.
func program(t device.Type) device.Program {
	integers := 1
	if t.Float() {
		integers = 0
	}
	return device.Program{
		File: "auction", Of: "assignment over " + t.Go, Parts: []string{"common"}, Body: auctionText,
		Types: []device.Typedef{{Name: "HB_T", Type: t}},
		Defines: map[string]any{
			"HB_INTEGERS": integers, "HB_AUCTION_THETA": theta,
			"HB_AUCTION_BIDDERS": bidderThreads, "HB_AUCTION_SETTLERS": settlerThreads,
			"HB_AUCTION_PLACES": statePlaces, "HB_AUCTION_RESULTS": stateResults,
			"HB_AUCTION_MARKET_BYTES": unsafe.Sizeof(marketArg{}),
		},
	}
}

// codeOf returns the program for costs of type t on a device.
func codeOf(s *device.Session, t device.Type) device.Code {
	type key struct{ elements string }
	return s.Program(key{t.Name}, func() device.Program { return program(t) })
}

// survey describes the values of a matrix of numbers.
type survey struct {
	lo, hi   float64 // of the finite ones, 0 and 0 if there are none
	integers bool    // all finite ones are integers up to 2⁵³
	strange  int64   // number of values that are NaN or infinite
	entries  int64
}

// deviceMarket is an auction of the columns of a matrix among its rows, which are no
// more than the columns. Row i values column j at round(scale·a(i,j)) −
// price(j), and a column without an entry, if implicit, at def − price(j).
type deviceMarket struct {
	costs    device.Operand
	scale    float64 // an integer if the costs are
	implicit bool
	def      int64
	missing  float64 // the cost that def stands for
	span     int64   // the largest of the scaled costs less the least
	prices   []int64 // initial prices of the columns, from 0 up; nil for 0
	// first and last are the first and the last ε, integers of 1 or more.
	first, last int64
	seed        uint64
}

// assigned is the result of a deviceMarket.
type assigned struct {
	col    []int32   // of each row
	prices []int64   // of each column
	worth  []int64   // round(scale·a) of each row's pair
	cost   []float64 // a of each row's pair
	best   []int64   // the largest value of each row at the prices
	over   bool      // prices overflowed, and the rest is undefined
	phases int64
	rounds int64
	bids   int64
	ran    device.Ran
}

// marketArg is hb_market of kernels/auction.cu.
type marketArg struct {
	ptr, idx, val                                       uint64
	price, owner, item, work, choice, bid, best, window uint64
	state                                               uint64
	worth, top, cost                                    uint64
	scale, missing                                      float64
	integral, def, span, first, last                    int64
	seed                                                uint64
	rows, cols, implicit, bits, group, batch            int32
}

// costsOf returns the costs of an operand by rows: full, or CSR.
func costsOf(s *device.Session, o device.Operand) device.View {
	if o.Store.Format() == sparse.Full {
		return s.Dense(o)
	}
	return s.Rows(o)
}

// surveyAt describes the values of an operand on a device.
func surveyAt(at device.Runner, c device.Call, a device.Operand) (survey, error) {
	var out survey
	err := at.Run(c, func(s *device.Session) {
		a.Transposed = false
		costs := costsOf(s, a)
		n := costs.Slots()
		out = survey{integers: true, entries: n}
		if n == 0 {
			return
		}
		seen := [4]uint64{math.MaxUint64}
		found := s.Upload(unsafe.Pointer(&seen), 32)
		s.Each(s.Kernel(codeOf(s, costs.Type), "hb_auction_survey"), n, costs.Val, n, found)
		s.Download(unsafe.Pointer(&seen), found, 32)
		out.integers, out.strange = seen[2] == 0, int64(seen[3])
		if out.strange < n {
			out.lo, out.hi = fromKey(seen[0]), fromKey(seen[1])
		}
	})
	return out, err
}

// fromKey is the inverse of hb_auction_key.
func fromKey(key uint64) float64 {
	if key>>63 != 0 {
		return math.Float64frombits(key &^ (1 << 63))
	}
	return math.Float64frombits(^key)
}

// marketRun is the memory of an auction that the host reads at the end.
type marketRun struct {
	rows, cols                    int
	price, item, worth, top, cost device.Buffer
}

// auctionAt runs auctions to their ends in the same launches. Their costs have
// one element type and one form: full, or listed.
func auctionAt(at device.Runner, c device.Call, batch []deviceMarket) ([]assigned, error) {
	out := make([]assigned, len(batch))
	err := at.Run(c, func(s *device.Session) {
		if len(batch) == 0 {
			return
		}
		states := s.Zeros(8 * statePlaces * int64(len(batch)))
		args, runs := make([]marketArg, len(batch)), make([]marketRun, len(batch))
		var t device.Type
		blocks := int64(1)
		for k, m := range batch {
			costs := costsOf(s, m.costs)
			t = costs.Type
			args[k], runs[k] = newDeviceMarket(s, m, costs, len(batch))
			args[k].state = states.At(int64(8 * statePlaces * k)).Addr
			need := int64(costs.Rows)
			if args[k].group == 0 {
				need = (need + bidderThreads/32 - 1) / (bidderThreads / 32)
			}
			blocks = max(blocks, need)
		}
		if s.Err() != nil {
			return
		}
		code := codeOf(s, t)
		markets := s.Upload(unsafe.Pointer(&args[0]), int64(len(args))*int64(unsafe.Sizeof(args[0])))
		finished := s.Zeros(8)
		_, resultAt := s.Results()
		blocks = min(blocks, max(int64(s.Multiprocessors())*4/int64(len(batch)), 1))
		wide, one := [3]uint32{uint32(blocks), uint32(len(batch)), 1}, [3]uint32{1,
			uint32(len(batch)), 1}
		bidders, settlers := [3]uint32{bidderThreads, 1, 1}, [3]uint32{settlerThreads, 1, 1}
		bid, settle := s.Kernel(code, "hb_auction_bid"), s.Kernel(code, "hb_auction_settle")
		s.Launch(s.Kernel(code, "hb_auction_start"), one, settlers, 0, markets)
		s.Repeat(roundsAhead, func() {
			s.Launch(bid, wide, bidders, 0, markets)
			s.Launch(settle, one, settlers, 0, markets, finished, resultAt)
		})
		s.Launch(s.Kernel(code, "hb_auction_proof"), wide, bidders, 0, markets)
		state := make([]int64, statePlaces*len(batch))
		s.Download(unsafe.Pointer(&state[0]), states, 8*int64(len(state)))
		for k, r := range runs {
			out[k] = r.read(s, state[statePlaces*k:][stateResults:])
		}
		runtime.KeepAlive(args)
	})
	runtime.KeepAlive(batch)
	if err != nil {
		return nil, err
	}
	return out, nil
}

// newDeviceMarket allocates the memory of an auction, O(m + n) beside the costs.
func newDeviceMarket(
	s *device.Session, m deviceMarket, costs device.View, batch int,
) (marketArg, marketRun) {
	rows, cols := int64(costs.Rows), int64(costs.Cols)
	ints := func(n int64) device.Buffer { return s.Alloc(4 * max(n, 1)) }
	longs := func(n int64) device.Buffer { return s.Alloc(8 * max(n, 1)) }
	r := marketRun{rows: costs.Rows, cols: costs.Cols, item: ints(rows), worth: longs(rows),
		top: longs(rows), cost: longs(rows)}
	owner, best := ints(cols), s.Zeros(8*max(cols, 1))
	s.Fill(owner, 255, 4*cols)
	s.Fill(r.item, 255, 4*rows)
	if m.prices == nil {
		r.price = s.Zeros(8 * max(cols, 1))
	} else {
		r.price = s.Upload(unsafe.Pointer(unsafe.SliceData(m.prices)), 8*cols)
	}
	a := marketArg{
		val: costs.Val.Addr, price: r.price.Addr, owner: owner.Addr, item: r.item.Addr,
		work: ints(2 * rows).Addr, choice: ints(rows).Addr, bid: longs(rows).Addr, best: best.Addr,
		window: ints(cols).Addr, worth: r.worth.Addr, top: r.top.Addr, cost: r.cost.Addr,
		scale: m.scale, missing: m.missing, integral: int64(m.scale), def: m.def, span: m.span,
		first: m.first, last: m.last, seed: m.seed,
		rows: int32(rows), cols: int32(cols), batch: int32(batch),
		bits: int32(max(bits.Len64(uint64(max(rows-1, 0))), 1)),
	}
	if costs.Format <= sparse.Hypersparse {
		a.ptr, a.idx = costs.Ptr.Addr, costs.Idx.Addr
	}
	if m.implicit {
		a.implicit = 1
	}
	if costs.Slots() > groupEntries*rows {
		a.group = 1
	}
	return a, r
}

// read copies the result of an auction to the host. State begins with its
// rounds.
func (r marketRun) read(s *device.Session, state []int64) assigned {
	out := assigned{rounds: state[0], bids: state[1], phases: state[2], over: state[3] != 0,
		col: make([]int32, r.rows), prices: make([]int64, r.cols), worth: make([]int64, r.rows),
		best: make([]int64, r.rows), cost: make([]float64, r.rows)}
	out.ran = device.Ran{Method: "auction", Work: out.bids}
	s.Download(unsafe.Pointer(unsafe.SliceData(out.col)), r.item, 4*int64(r.rows))
	s.Download(unsafe.Pointer(unsafe.SliceData(out.prices)), r.price, 8*int64(r.cols))
	s.Download(unsafe.Pointer(unsafe.SliceData(out.worth)), r.worth, 8*int64(r.rows))
	s.Download(unsafe.Pointer(unsafe.SliceData(out.best)), r.top, 8*int64(r.rows))
	s.Download(unsafe.Pointer(unsafe.SliceData(out.cost)), r.cost, 8*int64(r.rows))
	return out
}
