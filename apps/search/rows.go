package search

import (
	"fmt"
	"math"
	"math/bits"
	"sort"
	"sync"

	"github.com/hiveblas/hiveblas/apps/internal/workflow"
	"github.com/hiveblas/hiveblas/internal/fresh"
	"github.com/hiveblas/hiveblas/internal/parallel"
	"github.com/hiveblas/hiveblas/internal/philox"
)

// A searchSlot is a slot of an alias table: a draw of the slot gives own if the upper 32 bits of
// what the draw leaves of its random number are below threshold, and else alias.
type searchSlot struct {
	own, alias int32
	threshold  uint32
}

// searchRows are the rows of a graph and what draws their neighbours.
type searchRows struct {
	o      *SearchOptions
	ptr    []int64
	idx    []int32
	edges  workflow.WeightReader // values of edges; nil if they do not count
	scores *scoreBook
	bias   searchBias // of second-order walks

	slots        []searchSlot // of each entry; nil for uniform and greedy walks
	best, second []int32      // of each row: the best neighbours, −1 for none; nil but for greedy walks
	ready        []bool       // rows that are prepared, if rows are prepared one by one

	mu     sync.Mutex
	failed int32 // row of err
	err    error // of the first row with one
}

// prepares reports whether rows need tables.
func (g *searchRows) prepares() bool { return g.o.Rule != SearchUniform || g.o.Weighted }

// allocate makes room for the tables. Pages that are not written take no memory.
func (g *searchRows) allocate() {
	switch {
	case !g.prepares():
	case g.o.Rule == SearchGreedy:
		g.best, g.second = make([]int32, len(g.ptr)-1), make([]int32, len(g.ptr)-1)
	default:
		g.slots = fresh.Make[searchSlot](int64(len(g.idx)))
	}
}

// searchScratch is the working memory of a row.
type searchScratch struct {
	values  []float64 // of edges
	weights []float64
	mass    []uint64
	biased  []uint64 // masses times biases
}

// prepareAll prepares all rows.
func (g *searchRows) prepareAll(run workflow.Run) error {
	threads := parallel.Threads(run.Threads)
	scratch := make([]searchScratch, threads+1)
	bounds := parallel.Cut(threads, g.ptr, 16*threads+len(g.ptr)>>14, 2)
	err := parallel.Pieces(run.Context, threads, len(bounds)-1, func(id, p int) {
		for v := bounds[p]; v < bounds[p+1]; v++ {
			g.prepare(int32(v), &scratch[id])
		}
	})
	if err == nil {
		err = g.err
	}
	return err
}

// prepareRows prepares the listed rows.
func (g *searchRows) prepareRows(rows []int32, run workflow.Run) error {
	scratch := make([]searchScratch, parallel.Threads(run.Threads)+1)
	err := parallel.Range(run.Context, run.Threads, len(rows), 64, func(id, lo, hi int) {
		for _, v := range rows[lo:hi] {
			g.prepare(v, &scratch[id])
		}
	})
	if err == nil {
		err = g.err
	}
	return err
}

// fail keeps the error of a row, if it is the first row with one.
func (g *searchRows) fail(row, col int32, got float64, want string) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.err == nil || row < g.failed {
		g.failed, g.err = row, &workflow.WeightError{App: "GraphSearch", Row: int(row), Col: int(col), Got: fmt.Sprint(got), Want: want}
	}
}

// weigh returns the weights of the neighbours of a vertex; ok is false if one cannot be used.
func (g *searchRows) weigh(v int32, s *searchScratch) (weights []float64, ok bool) {
	lo, hi := g.ptr[v], g.ptr[v+1]
	row := g.idx[lo:hi]
	if g.edges != nil {
		s.values = g.edges(s.values, lo, hi)
	}
	if int64(cap(s.weights)) < hi-lo {
		s.weights = make([]float64, (hi-lo)*5/4)
	}
	weights = s.weights[:hi-lo]
	switch {
	case g.o.Weight != nil:
		op := g.o.Weight.Op()
		for k, u := range row {
			x := 0.0
			if g.scores.of != nil {
				x = g.scores.of[u]
			}
			weights[k] = op.Apply(x, s.values[k])
		}
	case g.o.Rule == SearchUniform:
		copy(weights, s.values)
	case g.o.Weighted:
		for k, u := range row {
			weights[k] = g.scores.of[u] * s.values[k]
		}
	default:
		for k, u := range row {
			weights[k] = g.scores.of[u]
		}
	}
	for k, w := range weights {
		switch {
		case g.o.Rule == SearchGreedy && (math.IsNaN(w) || math.IsInf(w, 0)):
			g.fail(v, row[k], w, "a finite number")
			return nil, false
		case g.o.Rule != SearchGreedy && !(w >= 0 && w <= math.MaxFloat64):
			g.fail(v, row[k], w, "0 or more, and finite")
			return nil, false
		}
	}
	return weights, true
}

// prepare makes the table of a row.
func (g *searchRows) prepare(v int32, s *searchScratch) {
	weights, ok := g.weigh(v, s)
	if !ok {
		return
	}
	lo, hi := g.ptr[v], g.ptr[v+1]
	if g.o.Rule == SearchGreedy {
		g.best[v], g.second[v] = bestTwo(g.idx[lo:hi], weights)
		return
	}
	s.mass = integerMasses(weights, s.mass)
	aliasTable(g.slots[lo:hi], g.idx[lo:hi], s.mass)
}

// bestTwo returns the neighbours of the largest and of the second largest weight, of several the
// first, and −1 for none.
func bestTwo(row []int32, weights []float64) (best, second int32) {
	first, next := -1, -1
	for k, w := range weights {
		switch {
		case first < 0 || w > weights[first]:
			first, next = k, first
		case next < 0 || w > weights[next]:
			next = k
		}
	}
	best, second = -1, -1
	if first >= 0 {
		best = row[first]
	}
	if next >= 0 {
		second = row[next]
	}
	return best, second
}

// integerMasses returns weights as integers; their sum, times their number, is at most 2⁶²:
// multiples of 2⁻ᵏ of the largest, k = 52 for up to 1024 weights. They are all 0 if the weights
// are.
func integerMasses(weights []float64, mass []uint64) []uint64 {
	if cap(mass) < len(weights) {
		mass = make([]uint64, len(weights)*5/4)
	}
	mass = mass[:len(weights)]
	largest := 0.0
	for _, w := range weights {
		largest = max(largest, w)
	}
	if largest == 0 {
		clear(mass)
		return mass
	}
	scale := math.Ldexp(1, massBits(len(weights)))
	for k, w := range weights {
		mass[k] = uint64(float64(w/largest)*scale + .5)
	}
	return mass
}

// massBits returns k of integerMasses.
func massBits(count int) int { return min(52, 62-bits.Len(uint(count))) }

// aliasTable makes the alias table of a row from the masses of its neighbours. A sweep fills the
// slots of the light neighbours, with less than the mean mass, from the excess of the heavy ones,
// both in ascending order. Masses are scaled by their number, and the mean is their sum, so that
// all is exact in integers but the thresholds, which are rounded down.
func aliasTable(slots []searchSlot, row []int32, mass []uint64) {
	var sum uint64
	for _, m := range mass {
		sum += m
	}
	count := uint64(len(mass))
	for k, u := range row {
		slots[k] = searchSlot{own: u, alias: u}
	}
	if sum == 0 {
		return
	}
	heavy := nextHeavy(mass, 0, sum, count)
	left := uint64(0) // of the heavy neighbour
	if heavy < len(mass) {
		left = mass[heavy] * count
	}
	for light, m := range mass {
		if m*count >= sum {
			continue
		}
		slots[light].alias, slots[light].threshold = row[heavy], threshold(m*count, sum)
		left -= sum - m*count
		for left < sum {
			next := nextHeavy(mass, heavy+1, sum, count)
			slots[heavy].alias, slots[heavy].threshold = row[next], threshold(left, sum)
			left = mass[next]*count - (sum - left)
			heavy = next
		}
	}
}

// nextHeavy returns the first neighbour from k on with at least the mean mass, which is sum.
func nextHeavy(mass []uint64, k int, sum, count uint64) int {
	for k < len(mass) && mass[k]*count < sum {
		k++
	}
	return k
}

// threshold returns 2³²·part/whole, rounded down, for part < whole.
func threshold(part, whole uint64) uint32 {
	q, _ := bits.Div64(part>>32, part<<32, whole)
	return uint32(q)
}

// The random numbers of a step: the counter of Philox has the walk in its lower half, half of the
// step above it, and in its highest word what the number is for. Even steps take the first half of
// a block, odd ones the second.
const (
	drawTries   = 8       // draws of NonBacktracking, numbered from 0, before the row is searched
	drawRestart = 1 << 16 // whether a step restarts

	restartCertain = 1 << 53 // of the upper 53 bits of its random number
)

// random returns the random number of a walk, a step, and a purpose.
func (g *searchRows) random(walk int64, step int, purpose uint64) uint64 {
	x, y := philox.Block(uint64(walk), uint64(step>>1)|purpose<<32, g.o.Seed)
	if step&1 == 1 {
		return y
	}
	return x
}

// pick returns the neighbour of v that a random number draws, −1 without neighbours.
func (g *searchRows) pick(v int32, x uint64) int32 {
	if g.best != nil {
		return g.best[v]
	}
	lo := g.ptr[v]
	count := g.ptr[v+1] - lo
	if count == 0 {
		return -1
	}
	k, rest := philox.Below(x, uint64(count))
	if g.slots == nil {
		return g.idx[lo+int64(k)]
	}
	return g.slots[lo+int64(k)].draw(rest)
}

func (s *searchSlot) draw(rest uint64) int32 {
	if uint32(rest>>32) < s.threshold {
		return s.own
	}
	return s.alias
}

// pickOther is pick among the neighbours other than before.
func (g *searchRows) pickOther(v, before int32, walk int64, step int, s *searchScratch) int32 {
	if g.best != nil {
		if g.best[v] == before {
			return g.second[v]
		}
		return g.best[v]
	}
	lo, hi := g.ptr[v], g.ptr[v+1]
	if hi-lo == 0 || hi-lo == 1 && g.idx[lo] == before {
		return -1
	}
	for try := range uint64(drawTries) {
		if u := g.pick(v, g.random(walk, step, try)); u != before {
			return u
		}
	}
	row := g.idx[lo:hi]
	x := g.random(walk, step, drawTries)
	at := sort.Search(len(row), func(k int) bool { return row[k] >= before }) // it is there: it was drawn
	if g.slots != nil {
		weights, _ := g.weigh(v, s)
		s.mass = integerMasses(weights, s.mass)
		s.mass[at] = 0
		var sum uint64
		for _, m := range s.mass {
			sum += m
		}
		if sum > 0 {
			k, _ := philox.Below(x, sum)
			for j, m := range s.mass {
				if k < m {
					return row[j]
				}
				k -= m
			}
		}
	}
	k, _ := philox.Below(x, uint64(len(row)-1))
	if int(k) >= at {
		k++
	}
	return row[k]
}
