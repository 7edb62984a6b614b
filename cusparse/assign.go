package cusparse

import (
	"math"
	"runtime"
	"unsafe"

	"github.com/hiveblas/hiveblas/internal/device"
	"github.com/hiveblas/hiveblas/internal/sparse"
)

// This file launches kernels/auction.cu.

var _ device.Assigner = (*Device)(nil)

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

// The blocks of auction.cu, the state of an auction, and the rounds that are
// queued before the host looks.
const (
	auctionBidders  = 512
	auctionSettlers = 1024
	auctionLong     = 1024 // mean entries of a row from which a block looks at each
	auctionRounds   = 32
	auctionPlaces   = 14
	auctionCount    = 10 // place in state of the rounds; bids, phases and overflow follow
)

type auctionKey struct{ elements string }

func (f *frame) auctionProgram(t device.Type) *program {
	return f.once(auctionKey{t.Name}, func() *program {
		return compose("auction", "assignment over "+t.Go).typ("HB_T", t).flag("HB_INTEGERS", !t.Float())
	})
}

// valuesOf returns the costs of an operand row by row: full, or listed with
// offsets of every row.
func (f *frame) valuesOf(o device.Operand) *store {
	s := f.here(o)
	if s == nil {
		return nil
	}
	if s.format == sparse.Full {
		return f.oriented(o)
	}
	return f.csr(f.rows(o))
}

// Survey looks through the values of a matrix.
func (d *Device) Survey(c device.Call, a device.Operand) (out device.Survey, err error) {
	f := d.begin(c)
	defer f.end()
	a.Transposed = false
	s := f.valuesOf(a)
	if f.err != nil {
		return out, f.err
	}
	n := s.slots()
	out = device.Survey{Integers: true, Entries: n}
	if n == 0 {
		return out, nil
	}
	seen := [4]uint64{math.MaxUint64}
	at := f.upload(unsafe.Pointer(&seen), 32)
	f.each(f.kernel(f.auctionProgram(s.typ), "hb_auction_survey"), n, s.val, n, at)
	f.download(unsafe.Pointer(&seen), at.ptr(), 32)
	if f.err != nil {
		return device.Survey{}, f.err
	}
	out.Integers, out.Strange = seen[2] == 0, int64(seen[3])
	if out.Strange < n {
		out.Lo, out.Hi = fromKey(seen[0]), fromKey(seen[1])
	}
	return out, nil
}

// fromKey is the inverse of hb_auction_key.
func fromKey(key uint64) float64 {
	if key>>63 != 0 {
		return math.Float64frombits(key &^ (1 << 63))
	}
	return math.Float64frombits(^key)
}

// auctionRun is an auction of a batch under way.
type auctionRun struct {
	m, n                          int
	price, item, worth, top, cost *mem
}

// Auction runs auctions, all in the same launches.
func (d *Device) Auction(c device.Call, batch []device.Market) ([]device.Assigned, error) {
	f := d.begin(c)
	defer f.end()
	out := make([]device.Assigned, len(batch))
	if f.err != nil || len(batch) == 0 {
		return out, f.err
	}
	states := f.zeros(8 * auctionPlaces * int64(len(batch)))
	args, runs := make([]marketArg, len(batch)), make([]auctionRun, len(batch))
	var t device.Type
	blocks := int64(1)
	for k, m := range batch {
		s := f.valuesOf(m.Costs)
		if f.err != nil {
			return nil, f.err
		}
		t = s.typ
		args[k], runs[k] = f.market(m, s, len(batch))
		if f.err != nil {
			return nil, f.err
		}
		args[k].state = uint64(states.ptr()) + uint64(8*auctionPlaces*k)
		need := int64(s.m)
		if args[k].group == 0 {
			need = (need + auctionBidders/32 - 1) / (auctionBidders / 32)
		}
		blocks = max(blocks, need)
	}
	p := f.auctionProgram(t)
	markets := f.upload(unsafe.Pointer(&args[0]), int64(len(args))*int64(unsafe.Sizeof(args[0])))
	finished := f.zeros(8)
	result, resultPtr := f.results()
	blocks = min(blocks, max(int64(d.props.Multiprocessors)*4/int64(len(batch)), 1))
	wide, one := [3]uint32{uint32(blocks), uint32(len(batch)), 1}, [3]uint32{1, uint32(len(batch)), 1}
	bidders, settlers := [3]uint32{auctionBidders, 1, 1}, [3]uint32{auctionSettlers, 1, 1}
	bid, settle := f.kernel(p, "hb_auction_bid"), f.kernel(p, "hb_auction_settle")
	f.launch(f.kernel(p, "hb_auction_start"), one, settlers, 0, markets)
	f.repeat(&result[0], auctionRounds, func() {
		f.launch(bid, wide, bidders, 0, markets)
		f.launch(settle, one, settlers, 0, markets, finished, resultPtr)
	})
	f.launch(f.kernel(p, "hb_auction_proof"), wide, bidders, 0, markets)
	state := make([]int64, auctionPlaces*len(batch))
	f.download(unsafe.Pointer(&state[0]), states.ptr(), 8*int64(len(state)))
	for k, r := range runs {
		out[k] = f.sold(r, state[auctionPlaces*k:][auctionCount:])
	}
	runtime.KeepAlive(batch)
	if f.err != nil {
		return nil, f.err
	}
	return out, nil
}

// market makes the memory of an auction: O(m + n) beside the costs.
func (f *frame) market(m device.Market, s *store, batch int) (marketArg, auctionRun) {
	rows, cols := int64(s.m), int64(s.n)
	ints := func(n int64) *mem { return f.alloc(4 * max(n, 1)) }
	longs := func(n int64) *mem { return f.alloc(8 * max(n, 1)) }
	r := auctionRun{m: s.m, n: s.n, item: ints(rows), worth: longs(rows), top: longs(rows), cost: longs(rows)}
	owner, best := ints(cols), f.zeros(8*max(cols, 1))
	f.fill(owner, 255, 4*cols)
	f.fill(r.item, 255, 4*rows)
	if m.Prices == nil {
		r.price = f.zeros(8 * max(cols, 1))
	} else {
		r.price = f.upload(unsafe.Pointer(unsafe.SliceData(m.Prices)), 8*cols)
	}
	a := marketArg{
		val: uint64(s.val.ptr()), price: uint64(r.price.ptr()), owner: uint64(owner.ptr()), item: uint64(r.item.ptr()),
		work: uint64(ints(2 * rows).ptr()), choice: uint64(ints(rows).ptr()), bid: uint64(longs(rows).ptr()), best: uint64(best.ptr()),
		window: uint64(ints(cols).ptr()), worth: uint64(r.worth.ptr()), top: uint64(r.top.ptr()), cost: uint64(r.cost.ptr()),
		scale: m.Scale, missing: m.Missing, integral: int64(m.Scale), def: m.Default, span: m.Span, first: m.First, last: m.Last, seed: m.Seed,
		rows: int32(rows), cols: int32(cols), bits: int32(bitsFor(s.m)), batch: int32(batch),
	}
	if s.isListed() {
		a.ptr, a.idx = uint64(s.ptr.ptr()), uint64(s.idx.ptr())
	}
	if m.Implicit {
		a.implicit = 1
	}
	if s.slots() > auctionLong*rows {
		a.group = 1
	}
	return a, r
}

// sold brings home what came of an auction; state begins with its rounds.
func (f *frame) sold(r auctionRun, state []int64) device.Assigned {
	out := device.Assigned{Rounds: state[0], Bids: state[1], Phases: state[2], Over: state[3] != 0,
		Col: make([]int32, r.m), Prices: make([]int64, r.n), Worth: make([]int64, r.m), Best: make([]int64, r.m), Cost: make([]float64, r.m)}
	out.Ran = device.Ran{Method: "auction", Work: out.Bids}
	f.download(unsafe.Pointer(unsafe.SliceData(out.Col)), r.item.ptr(), 4*int64(r.m))
	f.download(unsafe.Pointer(unsafe.SliceData(out.Prices)), r.price.ptr(), 8*int64(r.n))
	f.download(unsafe.Pointer(unsafe.SliceData(out.Worth)), r.worth.ptr(), 8*int64(r.m))
	f.download(unsafe.Pointer(unsafe.SliceData(out.Best)), r.top.ptr(), 8*int64(r.m))
	f.download(unsafe.Pointer(unsafe.SliceData(out.Cost)), r.cost.ptr(), 8*int64(r.m))
	return out
}
