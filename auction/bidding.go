package auction

import (
	"context"
	"math"
	"slices"

	"github.com/hiveblas/hiveblas/internal/parallel"
	"github.com/hiveblas/hiveblas/internal/splitmix"
)

// price is the type of prices and values: integers if the costs are.
type price interface{ int64 | float64 }

// market is the state of an auction on an instance: rows bid for columns, and the prices of columns
// rise. A row is content with a column if the value −c(i,j) − p(j) is within ε of the best value
// (Bertsekas: The auction algorithm, Annals of Operations Research 14, 1988).
type market[D price] struct {
	in           *instance[D]
	ctx          context.Context
	eps, span    D // span: the greatest cost less the least
	p            []D
	colOf, rowOf []int32
	seed         uint64
	threads      int
	report       func(done, total int64)
	assigned     int

	bids, rounds int64
	scanned      int64 // costs read
	phases       int
	limit        int64 // bids after which a phase gives up, 0 for none

	looks []look // by worker
	heap  *heap[D]
	cheap window[D]
}

// look is the scratch space of a worker: mark[j] == stamp says that the current row has an entry in
// column j.
type look struct {
	mark  []int32
	stamp int32
	walk  []int32
}

// offer is a bid of a row for its best column.
type offer[D price] struct {
	row, col int32
	bid      D
}

func newMarket[D price](s *paths[D], span D, o Options) *market[D] {
	in := s.in
	a := &market[D]{in: in, ctx: o.Context, span: span, seed: o.Seed, threads: 1, report: s.report,
		p: make([]D, in.n), colOf: s.colOf, rowOf: s.rowOf}
	for j := range a.p {
		a.p[j] = -s.v[j]
	}
	if o.Bidding == Jacobi {
		a.threads = parallel.Threads(o.Threads)
	}
	a.looks = make([]look, a.threads)
	if in.implicit {
		for w := range a.looks {
			a.looks[w].mark = make([]int32, in.n)
		}
	}
	return a
}

// tieHash hashes a row, a column and the seed, to break ties.
func tieHash(i, j int32, seed uint64) uint64 {
	return splitmix.At(uint64(uint32(i))<<32|uint64(uint32(j)), seed)
}

// best are the two best columns of a row.
type best[D price] struct {
	col           int32
	first, second D
	found         int // columns seen, up to 2
}

func (b *best[D]) take(i, j int32, value D, seed uint64) {
	switch {
	case b.found == 0:
		b.col, b.first, b.found = j, value, 1
	case value > b.first || value == b.first && tieHash(i, j, seed) > tieHash(i, b.col, seed):
		b.second, b.first, b.col, b.found = b.first, value, j, 2
	case b.found == 1 || value > b.second:
		b.second, b.found = value, 2
	}
}

// listedBest returns the best among the entries of row i.
func (a *market[D]) listedBest(i int32) best[D] {
	var b best[D]
	if a.in.dense() {
		n := a.in.n
		row := a.in.val[int(i)*n:][:n:n]
		p := a.p[:len(row)]
		for j, c := range row {
			if value := -c - p[j]; b.found < 2 || value > b.second {
				b.take(i, int32(j), value, a.seed)
			}
		}
		return b
	}
	lo, hi := a.in.ptr[i], a.in.ptr[i+1]
	idx, val := a.in.idx[lo:hi], a.in.val[lo:hi]
	for k, j := range idx {
		if value := -val[k] - a.p[j]; b.found < 2 || value > b.second {
			b.take(i, j, value, a.seed)
		}
	}
	return b
}

// bid returns the offer of a row with best columns b.
func (a *market[D]) bid(i int32, b best[D]) offer[D] {
	second := b.second
	if b.found == 1 { // no other column: the second best is lower by the span of all costs
		second = b.first - a.span
	}
	p := a.p[b.col]
	bid := p + (b.first - second) + a.eps
	if bid <= p { // ε is below the resolution of p
		bid = D(math.Nextafter(float64(p), math.Inf(1)))
	}
	return offer[D]{i, b.col, bid}
}

// markRow marks the columns of the entries of row i.
func (a *market[D]) markRow(l *look, i int32) {
	if l.stamp == math.MaxInt32 {
		clear(l.mark)
		l.stamp = 0
	}
	l.stamp++
	for _, j := range a.in.idx[a.in.ptr[i]:a.in.ptr[i+1]] {
		l.mark[j] = l.stamp
	}
}

// phase runs the auction with one ε until every row has a column. Rows that are content keep their
// columns.
func (a *market[D]) phase(eps D, bidding Bidding) error {
	a.eps = eps
	free := a.discontent()
	if bidding == Jacobi {
		return a.jacobi(free)
	}
	return a.gaussSeidel(free)
}

// discontent frees the rows that are not content with their columns, and
// returns all free ones.
func (a *market[D]) discontent() []int32 {
	a.assigned = 0
	a.order()
	for i, j := range a.colOf {
		if j < 0 {
			continue
		}
		value := -a.in.at(int32(i), j) - a.p[j]
		if b := a.bestOf(int32(i)); value < b.first-a.eps {
			a.colOf[i], a.rowOf[j] = none, none
			continue
		}
		a.assigned++
	}
	var free []int32
	for i, j := range a.colOf {
		if j < 0 {
			free = append(free, int32(i))
		}
	}
	return free
}

func (a *market[D]) order() {
	if a.in.implicit {
		a.heap = newHeap(a.p)
	}
}

// bestOf returns the two best columns of row i, those without an entry included.
func (a *market[D]) bestOf(i int32) best[D] {
	b := a.listedBest(i)
	if a.in.implicit {
		l := &a.looks[0]
		a.markRow(l, i)
		a.heap.cheapest(l, func(j int32) {
			b.take(i, j, -a.in.def-a.p[j], a.seed)
		})
	}
	return b
}

// gaussSeidel lets one free row bid at a time.
func (a *market[D]) gaussSeidel(free []int32) error {
	bids := int64(0)
	for len(free) > 0 {
		if bids&255 == 0 {
			if err := a.ctx.Err(); err != nil {
				return err
			}
			if a.report != nil {
				a.report(int64(a.assigned), int64(a.in.m))
			}
		}
		if bids++; a.limit > 0 && bids > a.limit {
			break
		}
		i := free[len(free)-1]
		free = free[:len(free)-1]
		a.scanned += a.in.length(i)
		o := a.bid(i, a.bestOf(i))
		if old := a.sell(o); old != none {
			free = append(free, old)
		}
		if a.heap != nil {
			a.heap.down(o.col)
		}
	}
	a.bids += bids
	return nil
}

// sell gives a column to the bidder and returns its previous row.
func (a *market[D]) sell(o offer[D]) (old int32) {
	old = a.rowOf[o.col]
	if old != none {
		a.colOf[old] = none
	} else {
		a.assigned++
	}
	a.rowOf[o.col], a.colOf[o.row], a.p[o.col] = o.row, o.col, o.bid
	return old
}

// jacobi lets all free rows bid at the same prices. The highest bid for each column wins; tie
// decides among equal bids.
func (a *market[D]) jacobi(free []int32) error {
	var offers []offer[D]
	won := make([]int32, a.in.n) // for each column, the number of the leading offer plus 1
	bids := int64(0)
	for len(free) > 0 {
		if a.report != nil {
			a.report(int64(a.assigned), int64(a.in.m))
		}
		if bids += int64(len(free)); a.limit > 0 && bids > a.limit {
			break
		}
		a.rounds++
		if a.in.implicit {
			a.cheap.refresh(a.p, a.eps)
		}
		offers = slices.Grow(offers[:0], len(free))[:len(free)]
		grain := max(1, 1<<14/(len(a.in.val)/max(a.in.m, 1)+1))
		err := parallel.Range(a.ctx, a.threads, len(free), grain, func(w, lo, hi int) {
			for k := lo; k < hi; k++ {
				offers[k] = a.offerOf(&a.looks[w], free[k])
			}
		})
		if err != nil {
			return err
		}
		for k, o := range offers {
			a.scanned += a.in.length(o.row)
			lead := won[o.col]
			if lead == 0 || offers[lead-1].before(o, a.seed) {
				won[o.col] = int32(k + 1)
			}
		}
		next := free[:0]
		for k, o := range offers {
			if won[o.col] != int32(k+1) {
				next = append(next, o.row)
			}
		}
		for k, o := range offers {
			if won[o.col] == int32(k+1) {
				won[o.col] = 0
				if old := a.sell(o); old != none {
					next = append(next, old)
				}
			}
		}
		free = next
	}
	a.bids += bids
	return nil
}

// before reports whether o ranks below other.
func (o offer[D]) before(other offer[D], seed uint64) bool {
	if o.bid != other.bid {
		return o.bid < other.bid
	}
	return tieHash(o.row, o.col, seed) < tieHash(other.row, other.col, seed)
}

// offerOf returns the bid of row i in a round of Jacobi bidding. All columns of the window are
// equally good for a row without entries in them, so the row picks one by hash: if all rows bid for
// the same column, only one would win in each round.
func (a *market[D]) offerOf(l *look, i int32) offer[D] {
	b := a.listedBest(i)
	if !a.in.implicit {
		return a.bid(i, b)
	}
	value := -a.in.def - a.cheap.least
	if b.found > 0 && b.first > value {
		if b.found == 1 || value > b.second {
			b.second, b.found = value, 2
		}
		return a.bid(i, b)
	}
	a.markRow(l, i)
	group := a.cheap.cols
	at := int(tieHash(i, int32(a.rounds), a.seed) % uint64(len(group)))
	for k := range group {
		j := group[(at+k)%len(group)]
		if l.mark[j] != l.stamp {
			return offer[D]{i, j, a.cheap.least + a.eps}
		}
	}
	// The row has entries in all columns of the window.
	for j := range a.p {
		if l.mark[j] != l.stamp {
			b.take(i, int32(j), -a.in.def-a.p[j], a.seed)
		}
	}
	return a.bid(i, b)
}

// window is the columns with a price less than ε above the least price. Each is within ε of the
// best column for a row without entries in the window, and worth least + ε.
type window[D price] struct {
	least D
	cols  []int32
}

func (w *window[D]) refresh(p []D, eps D) {
	w.least = slices.Min(p)
	w.cols = w.cols[:0]
	for j, x := range p {
		if x == w.least || x < w.least+eps {
			w.cols = append(w.cols, int32(j))
		}
	}
}
