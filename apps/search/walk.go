package search

import (
	"context"
	"math"
	"slices"
	"sync/atomic"

	"github.com/hiveblas/hiveblas/apps/internal/workflow"
	"github.com/hiveblas/hiveblas/internal/parallel"
	"github.com/hiveblas/hiveblas/internal/philox"
	"github.com/hiveblas/hiveblas/internal/rep"
)

// Walks are computed in pieces, all walks of a piece step by step together, so that the processor
// waits for many rows at a time: a step has two reads at random addresses, and the loops over the
// walks of a piece have no dependence between them. Pieces make up rounds. While a round is
// delivered in order, the next one is computed.
const (
	pieceWalks  = 1024
	roundPieces = 64
	pieceCells  = 1 << 18 // vertices of the walks of a piece that Each receives, at most, unless it is one walk
)

// searcher is the state of GraphSearch.
type searcher struct {
	*searchRows
	opts     SearchOptions
	n        int
	starts   []int
	walks    int64
	from, to int64 // the walks of this searcher: all, or a rank's
	single   bool  // rows are prepared, and scores asked for, when a walk first needs them

	pieceWalks, roundPieces int
	pipeline                *stepPipeline // nil unless walks move by operations

	first  []uint32 // point of the curve at which a vertex was first visited; unvisited if never
	visits []int64  // nil unless asked for
	steps  []int64  // at each point of the curve
	part   float64  // of the sum of scores; see addScores
	parts  []float64
	paths  []int32 // the walks; nil unless asked for, and on a device
	res    SearchResult

	counted []int64 // vertices by the point of their first visit, if a device has counted them

	room  int // vertices, at least n, of what walks on a device find and keep there; 0: first and visits get it
	found searchFound
}

const unvisited = math.MaxUint32

// newSearcher returns a searcher without rows.
func newSearcher(scores *Scores, starts []int, n int, o SearchOptions) (*searcher, error) {
	s := &searcher{searchRows: &searchRows{}, opts: o, n: n, starts: starts}
	s.o, s.bias = &s.opts, newBias(&o)
	var err error
	s.scores, err = newScoreBook(scores, n, o.Rule == SearchStochastic && o.Weight == nil, o.Run)
	if err != nil {
		return nil, err
	}
	begins := int64(len(starts))
	if starts == nil {
		begins = int64(n)
	}
	s.walks = begins * int64(o.PerStart)
	s.to = s.walks
	s.reset()
	return s, nil
}

// reset sets the counts of a searcher to 0.
func (s *searcher) reset() {
	s.steps = make([]int64, s.point(s.opts.Length-1)+1)
	s.res.Walks = s.walks
}

// empty makes room for what walks find, unless a device keeps it.
func (s *searcher) empty() {
	s.reset()
	if s.room == 0 {
		s.first = make([]uint32, s.n)
		_ = parallel.Range(nil, s.opts.Threads, s.n, 1<<16, func(_, lo, hi int) {
			for v := lo; v < hi; v++ {
				s.first[v] = unvisited
			}
		})
		if s.opts.Visits {
			s.visits = make([]int64, s.n)
		}
	}
}

// countable reports whether the curve needs only the number of vertices at each point, which a
// device can count.
func (s *searcher) countable() bool { return s.scores.of == nil && s.opts.Best == 0 }

// onHost gives a searcher the rows of a graph, and prepares them unless walks are few.
func onHost(s *searcher, g rep.View) error {
	if err := workflow.Fetch(g); err != nil {
		return err
	}
	rows := g.Rows()
	if err := g.Err(); err != nil {
		return err
	}
	o := &s.opts
	s.ptr, s.idx = workflow.RowOffsets(&rows.Structure), rows.Idx
	if o.Weight != nil || o.Weighted {
		s.edges = workflow.NumbersIn(rows.Type, rows.Val)
	}
	if s.first == nil {
		s.empty()
	}
	s.allocate()
	// A row costs more than a step of a walk: with few steps most rows are not prepared.
	byOperations := o.Method == workflow.Pipeline && !s.scores.lazy()
	s.single = !byOperations && (s.scores.lazy() || s.prepares() && float64(s.walks)*float64(o.Length) < float64(s.n)/4)
	if s.single {
		s.ready = make([]bool, s.n)
	} else if s.prepares() {
		if err := s.prepareAll(o.Run); err != nil {
			return err
		}
	}
	s.pieces()
	if byOperations {
		return s.byOperations(g.Place())
	}
	return nil
}

// pieces sets the sizes of pieces and rounds, and makes room for paths.
func (s *searcher) pieces() {
	o := &s.opts
	s.pieceWalks, s.roundPieces = pieceWalks, roundPieces
	if o.Paths {
		s.paths = make([]int32, (s.to-s.from)*int64(o.Length))
	}
	if o.Each != nil || o.Paths {
		s.pieceWalks = max(1, min(pieceWalks, pieceCells/o.Length))
		s.roundPieces = max(1, min(roundPieces, roundPieces*pieceCells/(s.pieceWalks*o.Length)))
	}
}

// point returns the point of the curve of a step.
func (s *searcher) point(step int) int {
	if s.opts.Length <= curvePoints {
		return step
	}
	last := int64(s.opts.Length - 1)
	return int((int64(step)*(curvePoints-1) + last - 1) / last)
}

// stepOf returns the last step of a point of the curve.
func (s *searcher) stepOf(point int) int {
	if s.opts.Length <= curvePoints {
		return point
	}
	return int(int64(point) * int64(s.opts.Length-1) / (curvePoints - 1))
}

// method names the way that ran, for Trace.
func (s *searcher) method() string {
	if s.pipeline != nil {
		return s.opts.Rule.String() + ", by operations"
	}
	if s.single && s.prepares() {
		return s.opts.Rule.String() + ", rows on demand"
	}
	return s.opts.Rule.String()
}

// movers counts, in each part of sumWalks walks, the walks from a start with neighbours.
func (s *searcher) movers() []int64 {
	list, per := make([]int64, (s.walks+sumWalks-1)/sumWalks), int64(s.opts.PerStart)
	_ = parallel.Range(nil, s.opts.Threads, len(list), 64, func(_, lo, hi int) {
		for k := lo; k < hi; k++ {
			begin, end := int64(k)*sumWalks, min(int64(k+1)*sumWalks, s.walks)
			for w := begin; w < end; {
				v, next := s.start(w), min((w/per+1)*per, end)
				if s.ptr[v] < s.ptr[v+1] {
					list[k] += next - w
				}
				w = next
			}
		}
	})
	return list
}

// start returns the first vertex of a walk.
func (s *searcher) start(walk int64) int32 {
	k := walk / int64(s.opts.PerStart)
	if s.starts == nil {
		return int32(k)
	}
	return int32(s.starts[k])
}

// A searchPiece is the state of consecutive walks.
type searchPiece struct {
	first  int64
	walks  int
	alive  []int32 // numbers of the walks that have not ended
	at     []int32
	before []int32     // the vertex before at, −1 after a start; nil unless a step needs it
	random [2][]uint64 // of an even step and the next
	entry  []int64     // drawn by each walk of alive, −1 for none
	next   []int32     // vertex of each walk of alive, −1 for none
	sum    []float64   // of scores; nil without scores
	cells  []int32     // the walks, for Each

	visited  *visitTally // nil unless visits are counted
	scratch  searchScratch
	steps    []int64 // at each point of the curve
	restarts int64
}

// run computes and delivers all walks.
func (s *searcher) run() error {
	outer := s.opts.Context
	if outer == nil {
		outer = context.Background()
	}
	ctx, cancel := context.WithCancel(outer)
	defer cancel()
	size := int64(s.pieceWalks * s.roundPieces)
	var rounds [2][]searchPiece
	compute := func(k int, first int64) ([]searchPiece, error) {
		count := int((min(size, s.to-first) + int64(s.pieceWalks) - 1) / int64(s.pieceWalks))
		if rounds[k] == nil {
			rounds[k] = make([]searchPiece, count)
		}
		pieces := rounds[k][:count]
		return pieces, s.round(ctx, pieces, first)
	}
	if s.from == s.to {
		return outer.Err()
	}
	pieces, err := compute(0, s.from)
	for k, first := 1, s.from+size; err == nil; k, first = 1-k, first+size {
		next := make(chan error, 1)
		var following []searchPiece
		var panicked any
		last := first >= s.to
		switch {
		case last:
			next <- nil
		case s.opts.Each == nil: // nothing to overlap with
			following, err = compute(k, first)
			next <- err
		default:
			go func() {
				defer func() {
					if p := recover(); p != nil {
						panicked = p // written before the receive below, and never after it
						next <- nil
					}
				}()
				f, err := compute(k, first)
				following = f
				next <- err
			}()
		}
		e := s.deliver(pieces)
		if e != nil {
			cancel()
		}
		err = <-next
		if panicked != nil {
			panic(panicked)
		}
		switch {
		case e != nil:
			return e
		case err != nil:
			return err
		}
		workflow.Report(s.opts.Run, "graph search", min(first, s.to)-s.from, s.to-s.from)
		if last {
			return outer.Err()
		}
		pieces = following
	}
	return err
}

// round computes a round of pieces.
func (s *searcher) round(ctx context.Context, pieces []searchPiece, first int64) error {
	if s.pipeline != nil {
		return s.pipeline.round(ctx, &pieces[0], first)
	}
	each := func(do func(p *searchPiece)) error {
		return parallel.Pieces(ctx, s.opts.Threads, len(pieces), func(_, k int) { do(&pieces[k]) })
	}
	err := parallel.Pieces(ctx, s.opts.Threads, len(pieces), func(_, k int) {
		s.place(&pieces[k], first+int64(k*s.pieceWalks))
	})
	if err != nil {
		return err
	}
	if !s.single {
		return each(func(p *searchPiece) {
			defer p.visited.flush(s.visits)
			s.record(p, 0)
			for step := 1; step < s.opts.Length && len(p.alive) > 0 && ctx.Err() == nil; step++ {
				s.advance(p, step)
				s.record(p, step)
			}
		})
	}
	for step := range s.opts.Length {
		if step > 0 {
			if err := s.prepareFor(pieces); err != nil {
				return err
			}
			if err := each(func(p *searchPiece) { s.advance(p, step) }); err != nil {
				return err
			}
		}
		if s.scores.lazy() {
			for k := range pieces {
				for _, w := range pieces[k].alive {
					s.scores.want(pieces[k].at[w])
				}
			}
			if err := s.scores.fetch(); err != nil {
				return err
			}
		}
		if err := each(func(p *searchPiece) { s.record(p, step) }); err != nil {
			return err
		}
		if !slices.ContainsFunc(pieces, func(p searchPiece) bool { return len(p.alive) > 0 }) {
			break
		}
	}
	for k := range pieces {
		pieces[k].visited.flush(s.visits)
	}
	return ctx.Err()
}

// prepareFor prepares the rows of the vertices at which walks are.
func (s *searcher) prepareFor(pieces []searchPiece) error {
	if !s.prepares() {
		return nil
	}
	var rows []int32
	for k := range pieces {
		for _, w := range pieces[k].alive {
			if v := pieces[k].at[w]; !s.ready[v] {
				s.ready[v] = true
				rows = append(rows, v)
			}
		}
	}
	if s.scores.lazy() {
		for _, v := range rows {
			for _, u := range s.idx[s.ptr[v]:s.ptr[v+1]] {
				s.scores.want(u)
			}
		}
		if err := s.scores.fetch(); err != nil {
			return err
		}
	}
	return s.prepareRows(rows, s.opts.Run)
}

// place puts the walks of a piece at their starts.
func (s *searcher) place(p *searchPiece, first int64) {
	p.first, p.walks = first, int(min(int64(s.pieceWalks), s.to-first))
	if p.at == nil {
		p.at, p.alive = make([]int32, s.pieceWalks), make([]int32, s.pieceWalks)
		p.random[0], p.random[1] = make([]uint64, s.pieceWalks), make([]uint64, s.pieceWalks)
		p.entry, p.next = make([]int64, s.pieceWalks), make([]int32, s.pieceWalks)
		p.steps = make([]int64, len(s.steps))
		if s.visits != nil {
			p.visited = new(visitTally)
		}
		if s.opts.remembers() {
			p.before = make([]int32, s.pieceWalks)
		}
		if s.scores.of != nil {
			p.sum = make([]float64, s.pieceWalks)
		}
		if s.opts.Each != nil || s.opts.Paths {
			p.cells = make([]int32, s.pieceWalks*s.opts.Length)
		}
	}
	clear(p.steps)
	clear(p.sum)
	p.restarts, p.alive = 0, p.alive[:p.walks]
	for w := range p.walks {
		p.alive[w], p.at[w] = int32(w), s.start(first+int64(w))
	}
	for w := range p.before {
		p.before[w] = -1
	}
	for c := range p.cells {
		p.cells[c] = -1
	}
}

// advance moves the walks of a piece that have not ended. Step counts from 1.
func (s *searcher) advance(p *searchPiece, step int) {
	if s.opts.remembers() || s.opts.Restart > 0 {
		s.advanceEach(p, step)
		return
	}
	alive := p.alive
	next := p.next[:len(alive)]
	if s.best != nil {
		for k, w := range alive {
			next[k] = s.best[p.at[w]]
		}
		p.settle(next)
		return
	}
	even, odd := p.random[0], p.random[1]
	if step&1 == 0 || step == 1 {
		for _, w := range alive {
			even[w], odd[w] = philox.Block(uint64(p.first+int64(w)), uint64(step>>1), s.opts.Seed)
		}
	}
	random, entry, ptr := p.random[step&1], p.entry[:len(alive)], s.ptr
	for k, w := range alive {
		v := p.at[w]
		lo := ptr[v]
		count := ptr[v+1] - lo
		number, rest := philox.Below(random[w], uint64(count))
		entry[k], random[w] = lo+int64(number), rest
		if count == 0 {
			entry[k] = -1
		}
	}
	if s.slots == nil {
		for k, e := range entry {
			next[k] = -1
			if e >= 0 {
				next[k] = s.idx[e]
			}
		}
	} else {
		for k, e := range entry {
			next[k] = -1
			if e >= 0 {
				next[k] = s.slots[e].draw(random[alive[k]])
			}
		}
	}
	p.settle(next)
}

// advanceEach is advance with restarts, without backtracking, and of second order.
func (s *searcher) advanceEach(p *searchPiece, step int) {
	next := p.next[:len(p.alive)]
	restarts := uint64(s.opts.Restart * restartCertain)
	for k, w := range p.alive {
		walk, v := p.first+int64(w), p.at[w]
		back := restarts > 0 && s.random(walk, step, drawRestart)>>11 < restarts
		switch {
		case back:
			next[k] = s.start(walk)
			p.restarts++
		case p.before != nil && p.before[w] >= 0 && s.opts.biased():
			next[k] = s.pickBiased(v, p.before[w], walk, step, &p.scratch)
		case p.before != nil && p.before[w] >= 0:
			next[k] = s.pickOther(v, p.before[w], walk, step, &p.scratch)
		case s.best != nil:
			next[k] = s.best[v]
		default:
			next[k] = s.pick(v, s.random(walk, step, 0))
		}
		if p.before != nil {
			p.before[w] = v
			if back {
				p.before[w] = -1
			}
		}
	}
	p.settle(next)
}

// settle puts each walk at its next vertex, and removes walks without one.
func (p *searchPiece) settle(next []int32) {
	left := 0
	for k, w := range p.alive {
		p.at[w] = next[k]
		p.alive[left] = w
		if next[k] >= 0 {
			left++
		}
	}
	p.alive = p.alive[:left]
}

// record takes down where the walks of a piece are after a step.
func (s *searcher) record(p *searchPiece, step int) {
	point := s.point(step)
	if step > 0 {
		p.steps[point] += int64(len(p.alive))
	}
	for _, w := range p.alive {
		if seen := &s.first[p.at[w]]; atomic.LoadUint32(seen) > uint32(point) {
			lower(seen, uint32(point))
		}
	}
	if s.visits != nil {
		for _, w := range p.alive {
			p.visited.add(s.visits, p.at[w])
		}
	}
	if p.sum != nil {
		for _, w := range p.alive {
			p.sum[w] += s.scores.of[p.at[w]]
		}
	}
	if p.cells != nil {
		for _, w := range p.alive {
			p.cells[int(w)*s.opts.Length+step] = p.at[w]
		}
	}
}
