package cpu

import (
	"math/bits"

	"github.com/hiveblas/hiveblas/internal/fresh"
	"github.com/hiveblas/hiveblas/internal/sparse"
)

// keepDensity is the number of entries for each word of marks from which a row keeps its marks for
// the second pass. They take a sixth of the memory of its entries, or less.
const keepDensity = 4

// gustavson is one product by Gustavson's algorithm, row by row: row i of the result is the sum of
// the rows k of b over the entries (i, k) of a.
type gustavson struct {
	s      *Semiring
	c      *sparse.Type // of the result
	a, b   *sparse.Store
	mask   *Mask
	method Method
	work   []int64  // prefix sums of the products of each row
	bits   *rowBits // of b, or nil
	// found holds the marks of the dense rows of the result, from the first pass. It is nil if the
	// second pass cannot use them.
	found []rowMarks
	past  bool // the rows that found has are stored past the caches
	out   *sparse.Store
}

// worker is the scratch memory of one thread.
type worker struct {
	spa   *spa
	state []uint8 // for masks: 1 allowed, 2 allowed and hit; 0 between rows
	list  list
	hash  table
	room  []uint64 // for marks
	from  []int32
}

func (g *gustavson) worker(all []*worker, w int) {
	if all[w] == nil {
		if all[w], _ = g.c.Kept(useWorker).(*worker); all[w] == nil {
			all[w] = &worker{}
		}
	}
}

// releaseWorkers keeps the memory of workers with complete rows for other products.
func releaseWorkers(c *sparse.Type, workers []*worker) {
	for _, w := range workers {
		if w == nil {
			continue
		}
		if w.spa != nil {
			w.spa.release()
		}
		w.spa, w.room = nil, nil
		c.Keep(useWorker, w)
	}
}

// pick chooses the method for a row of f products. Sorting costs about f·log f; the accumulator
// costs a scan of the words of the bitmap between the first and last column of the row.
func (g *gustavson) pick(f int64) Method {
	width := int64(g.b.NCols)
	switch {
	case g.method == SPA && width <= MaxAccumulator, g.method == Sorted, g.method == Hash:
		return g.method
	case f <= 16 || f < 1<<30 && f*int64(bits.Len64(uint64(f)))*256 < width:
		return Sorted
	case width > MaxAccumulator:
		return Hash
	}
	return SPA
}

func (g *gustavson) accumulator(w *worker) *spa {
	if w.spa == nil {
		w.spa = getSPA(g.c, g.b.NCols, g.s.Identity)
	}
	return w.spa
}

// span returns the range of row c of b.
func (g *gustavson) span(c int32) (lo, hi int64) {
	if g.b.Format == sparse.CSR {
		return g.b.Ptr[c], g.b.Ptr[c+1]
	}
	return g.b.Span(int(c))
}

// count returns the number of entries of row k of the result (unmasked or under a complemented
// mask).
func (g *gustavson) count(w *worker, k int) int64 {
	f := g.work[k+1] - g.work[k]
	if f == 0 {
		return 0
	}
	cols := g.a.Idx[g.a.Ptr[k]:g.a.Ptr[k+1]]
	var forbidden []int32
	if g.mask != nil {
		forbidden = g.mask.row(g.a.RowID(k))
	}
	if len(cols) == 1 && len(forbidden) == 0 {
		return f
	}
	switch g.pick(f) {
	case Sorted:
		l := &w.list
		l.reset()
		for _, c := range cols {
			lo, hi := g.span(c)
			for _, j := range g.b.Idx[lo:hi] {
				l.keys = append(l.keys, uint64(j)<<32)
			}
		}
		return l.count(forbidden)
	case Hash:
		t := &w.hash
		t.reset(f)
		for _, c := range cols {
			lo, hi := g.span(c)
			t.insert(g.b.Idx[lo:hi])
		}
		n := int64(len(t.cols))
		for _, j := range forbidden {
			if t.has(j) {
				n--
			}
		}
		return n
	}
	sp := g.accumulator(w)
	wlo, whi := g.markRows(sp, cols)
	for _, j := range forbidden {
		sp.marks[j>>6] &^= 1 << (j & 63)
	}
	var n int64
	marks := sp.marks[wlo:whi]
	for _, word := range marks {
		n += int64(bits.OnesCount64(word))
	}
	if g.found != nil && n >= keepDensity*int64(len(marks)) {
		g.found[k] = w.keep(wlo, marks)
	}
	clear(marks)
	return n
}

// rowMarks are the marks of a row, from the word first on; there are none if it is not kept.
type rowMarks struct {
	first int
	words []uint64
}

// keep returns a copy of the marks of a row.
func (w *worker) keep(first int, marks []uint64) rowMarks {
	const chunk = 1 << 16
	n := len(marks)
	if len(w.room) < n {
		w.room = fresh.Make[uint64](int64(max(n, chunk)))
	}
	kept := w.room[:n:n]
	w.room = w.room[n:]
	copy(kept, marks)
	return rowMarks{first, kept}
}

// markRows sets the bits of the columns of the given rows of b and returns the range of words that
// contains them.
func (g *gustavson) markRows(sp *spa, cols []int32) (wlo, whi int) {
	wlo, whi = len(sp.marks), 0
	marks := sp.marks
	for _, c := range cols {
		lo, hi := g.span(c)
		if lo == hi {
			continue
		}
		ci := g.b.Idx[lo:hi]
		first := int(ci[0] >> 6)
		wlo, whi = min(wlo, first), max(whi, int(ci[len(ci)-1]>>6)+1)
		if words := g.bits.of(c); len(words) > 0 {
			or(marks[first:], words)
			continue
		}
		for _, j := range ci {
			marks[j>>6] |= 1 << (j & 63)
		}
	}
	return min(wlo, whi), whi
}

// row computes row k of the result in its allocated range and returns its length.
func (g *gustavson) row(w *worker, k int) int64 {
	f := g.work[k+1] - g.work[k]
	if f == 0 {
		return 0
	}
	i := g.a.RowID(k)
	alo, ahi := g.a.Ptr[k], g.a.Ptr[k+1]
	room := g.out.Ptr[k+1] - g.out.Ptr[k]
	idx := g.out.Idx[g.out.Ptr[k]:g.out.Ptr[k+1]]
	val := g.out.Part(g.out.Ptr[k], g.out.Ptr[k+1])
	if room == 0 {
		return 0
	}
	var allowed, forbidden []int32
	if g.mask != nil {
		if g.mask.Comp {
			forbidden = g.mask.row(i)
		} else {
			allowed = g.mask.row(i)
		}
	}
	method := g.pick(f)
	if allowed != nil && method == SPA {
		return g.rowMasked(w, alo, ahi, allowed, idx, val)
	}
	switch method {
	case Sorted:
		g.listRow(w, alo, ahi)
		return g.keep(w, idx, val, allowed, forbidden)
	case Hash:
		g.hashRow(w, alo, ahi, f)
		return g.keep(w, idx, val, allowed, forbidden)
	}
	return g.accumulatedRow(w, k, forbidden, idx, val)
}

// listRow leaves the sums of products of a row in w.list, by sorting.
func (g *gustavson) listRow(w *worker, alo, ahi int64) {
	l := &w.list
	l.reset()
	for p := alo; p < ahi; p++ {
		lo, hi := g.span(g.a.Idx[p])
		appendProducts(l, g.s, g.c, g.at(p), g.b, lo, hi)
	}
	l.sum(g.s, g.c)
}

// hashRow leaves the sums of f products of a row in w.list, by a hash table.
func (g *gustavson) hashRow(w *worker, alo, ahi, f int64) {
	t := &w.hash
	t.reset(f)
	for p := alo; p < ahi; p++ {
		lo, hi := g.span(g.a.Idx[p])
		t.insert(g.b.Idx[lo:hi])
		t.fill(g.c, g.s.Identity)
		g.s.ScatterAll(t.acc, g.at(p), t.slots, g.b.Part(lo, hi))
	}
	l := &w.list
	t.sorted(g.c, l)
}

// accumulatedRow is row by the sparse accumulator.
func (g *gustavson) accumulatedRow(w *worker, k int, forbidden []int32, idx []int32, val Values) int64 {
	alo, ahi := g.a.Ptr[k], g.a.Ptr[k+1]
	sp := g.accumulator(w)
	if g.found != nil && g.found[k].words != nil {
		for p := alo; p < ahi; p++ {
			lo, hi := g.span(g.a.Idx[p])
			g.s.ScatterAll(sp.acc, g.at(p), g.b.Idx[lo:hi], g.b.Part(lo, hi))
		}
		if g.past {
			return sp.gatherPast(g.found[k].first, g.found[k].words, idx, val)
		}
		return sp.gather(g.found[k].first, g.found[k].words, idx, val)
	}
	wlo, whi := len(sp.marks), 0
	for p := alo; p < ahi; p++ {
		lo, hi := g.span(g.a.Idx[p])
		if lo == hi {
			continue
		}
		ci := g.b.Idx[lo:hi]
		first := int(ci[0] >> 6)
		wlo, whi = min(wlo, first), max(whi, int(ci[len(ci)-1]>>6)+1)
		if words := g.bits.of(g.a.Idx[p]); len(words) > 0 && !g.s.ScatterOnly {
			or(sp.marks[first:], words)
			g.s.ScatterAll(sp.acc, g.at(p), ci, g.b.Part(lo, hi))
			continue
		}
		g.s.Scatter(sp.acc, sp.marks, g.at(p), ci, g.b.Part(lo, hi))
	}
	for _, j := range forbidden {
		if bit := uint64(1) << (j & 63); sp.marks[j>>6]&bit != 0 {
			sp.marks[j>>6] &^= bit
			g.c.Fill(g.c.One(sp.acc, int64(j)), sp.id)
		}
	}
	marks := sp.marks[min(wlo, whi):whi]
	n := sp.gather(min(wlo, whi), marks, idx, val)
	clear(marks)
	return n
}

// at returns the address of the value of entry p of a, nil of a pattern.
func (g *gustavson) at(p int64) Value { return g.a.Type.At(g.a.Val, p) }

// rowMasked is row by accumulator for a mask: it scatters only to positions of the mask.
func (g *gustavson) rowMasked(w *worker, alo, ahi int64, allowed []int32, idx []int32, val Values) int64 {
	sp := g.accumulator(w)
	if len(w.state) < g.b.NCols {
		w.state = make([]uint8, g.b.NCols)
	}
	if len(allowed) == 0 {
		return 0
	}
	for _, j := range allowed {
		w.state[j] = 1
	}
	first, last := allowed[0], allowed[len(allowed)-1]
	for p := alo; p < ahi; p++ {
		lo, hi := g.span(g.a.Idx[p])
		if lo == hi || g.b.Idx[lo] > last || g.b.Idx[hi-1] < first {
			continue
		}
		g.s.ScatterMasked(sp.acc, w.state, g.at(p), g.b.Idx[lo:hi], g.b.Part(lo, hi))
	}
	q := 0
	for _, j := range allowed {
		if w.state[j] == 2 {
			idx[q] = j
			q++
		}
		w.state[j] = 0
	}
	g.c.Move(val, nil, sp.acc, idx[:q])
	g.c.FillAt(sp.acc, idx[:q], sp.id)
	return int64(q)
}

// keep copies the sums of the list that the mask allows. allowed and forbidden are ascending; each
// is nil if there is no mask of that kind.
func (g *gustavson) keep(w *worker, idx []int32, val Values, allowed, forbidden []int32) int64 {
	l := &w.list
	mask := allowed
	if forbidden != nil {
		mask = forbidden
	}
	if mask == nil {
		g.c.Copy(val, l.val)
		return int64(copy(idx, l.idx))
	}
	m, from := 0, w.from[:0]
	for p, j := range l.idx {
		for m < len(mask) && mask[m] < j {
			m++
		}
		if found := m < len(mask) && mask[m] == j; found == (forbidden == nil) {
			idx[len(from)] = j
			from = append(from, int32(p))
		}
	}
	g.c.Move(val, nil, l.val, from)
	w.from = from
	return int64(len(from))
}
