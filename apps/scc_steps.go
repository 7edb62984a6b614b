package apps

import (
	"math"
	"slices"
	"sync/atomic"

	"github.com/hiveblas/hiveblas/internal/access"
	"github.com/hiveblas/hiveblas/internal/parallel"
	"github.com/hiveblas/hiveblas/matrix"
)

// strongShares says how the threads of multistep share its work.
type strongShares struct {
	rest    int64 // vertices and edges left, up to which a depth-first search finds the rest
	narrow  int64 // vertices and edges of a queue, below which one thread expands it
	grain   int64 // least edges of a piece of work
	colours int   // threads from which on colours are used
}

// usualStrongShares are those of graphs on the host. Queues of a grid of 1024×1024 are narrow,
// those of an R-MAT of scale 16 are not. With components of 100 vertices in random order colours
// take one thread four times as long as a depth-first search: 1430 and 380 ms for 4M edges on an
// AMD EPYC.
var usualStrongShares = strongShares{rest: 1 << 15, narrow: 1 << 13, grain: 1 << 9, colours: 8}

// Labels of vertices without a component.
const (
	strongOpen    int32 = -1 - iota
	strongReached       // from the pivot
	strongGiant         // in the component of the pivot
)

// multistep finds the components by several threads, by the method of Slota, Rajamanickam and
// Madduri (BFS and coloring-based parallel algorithms for strongly connected components and related
// problems, IPDPS 2014):
//
//	trim     vertices without an edge from, or without an edge to, open vertices are components;
//	reach    the component of a pivot of high degree is what it reaches and what reaches it;
//	colour   each open vertex takes the least vertex that reaches it;
//	back     the vertices of a colour that reach its vertex are a component (Orzan, 2004).
//
// Vertices without a component are open. A depth-first search finds the components of the last
// ones, and those of a graph whose searches are too narrow for threads.
type multistep struct {
	run     Run
	out, in *adjacency
	strongShares
	frontierLoops

	label     []int32 // the least vertex of the component, or a state
	outs, ins []int32 // edges from a vertex to open ones, and from those, with its self-loop
	left      []int32 // the open vertices
	rows      int64   // edges from open vertices
	edges     int64   // those to open vertices
	pivot     int32   // the open vertex of highest degree
	least     int32   // of the pivot's component
	giant     int64   // its size

	queue []int32
}

// strongBySteps finds the components of a graph on the host by the threads of run.
func strongBySteps(a matrix.View[bool], run Run, shares strongShares) (*Components, error) {
	m := &multistep{run: run, out: rowsOf(a), strongShares: shares, frontierLoops: newFrontierLoops(run)}
	if m.in = m.out; !access.Symmetric(a) {
		m.in = rowsOf(a.T())
	}
	return m.components()
}

// components returns the components.
func (m *multistep) components() (*Components, error) {
	n := m.out.n
	m.label, m.outs, m.ins = make([]int32, n), make([]int32, n), make([]int32, n)
	m.left, m.least = make([]int32, n), math.MaxInt32
	err := m.each(n, func(lo, hi int, found []int32) []int32 {
		for v := int32(lo); v < int32(hi); v++ {
			m.label[v], m.left[v] = strongOpen, v
			m.outs[v], m.ins[v] = int32(m.out.degree(v)), int32(m.in.degree(v))
		}
		return found
	})
	if err != nil {
		return nil, err
	}
	if err := m.trim(); err != nil {
		return nil, err
	}
	wide := true
	for first := true; wide && !m.few(); first = false {
		find := m.reach
		if !first {
			if m.threads < m.colours {
				break
			}
			find = m.colour
		}
		if wide, err = find(); err != nil {
			return nil, err
		}
		if !wide {
			break
		}
		if err := m.count(); err != nil {
			return nil, err
		}
		if err := m.trim(); err != nil {
			return nil, err
		}
	}
	if err := m.last(); err != nil {
		return nil, err
	}
	return m.result()
}

// few reports whether a depth-first search finds the rest sooner.
func (m *multistep) few() bool { return int64(len(m.left))+m.rows <= m.rest }

// each calls f for pieces of [0, n). A thread keeps what f appends to found; see gather.
func (m *multistep) each(n int, f func(lo, hi int, found []int32) []int32) error {
	return parallel.Range(m.ctx, m.threads, n, max(int(m.grain)/8, n/(16*m.threads)), func(w, lo, hi int) {
		m.found[w] = f(lo, hi, m.found[w])
	})
}

// most is the number of vertices that one thread expands before the search of many is given up.
func (m *multistep) most() int64 { return int64(len(m.left)/8) + 2*m.narrow }

// strongStep says which vertices follow a vertex in a wave.
type strongStep struct {
	along *adjacency
	visit func(v int32, row, found []int32) []int32 // appends those in a part of v's row to found

	against *adjacency         // may be nil; else the edges of along by their targets
	pull    func(v int32) bool // whether v follows any vertex, by against
}

// wave expands vertices, and those that follow them, until none is left, by steps without pull or
// by one step. It reports whether it got so far: it gives up after most edges, or when one thread
// alone has expanded more than narrow vertices.
func (m *multistep) wave(start []int32, narrow, most int64, steps ...strongStep) (bool, error) {
	queue := append(m.queue[:0], start...)
	defer func() { m.queue = queue }()
	for edges, alone := int64(0), int64(0); len(queue) > 0; {
		head := 0
		for pending := m.pending(queue, steps); head < len(queue) && pending < m.narrow; head++ {
			v, tail := queue[head], len(queue)
			for _, s := range steps {
				row := s.along.of(v)
				edges += int64(len(row))
				pending -= int64(len(row))
				queue = s.visit(v, row, queue)
			}
			pending += m.pending(queue[tail:], steps) - 1
			if alone++; alone > narrow || edges > most {
				return false, nil
			}
			if alone&0xffff == 0 && m.run.expired() != nil {
				return false, m.run.expired()
			}
		}
		if queue = queue[head:]; len(queue) == 0 {
			break
		}
		for _, s := range steps {
			work := m.weigh(queue, s.along)
			if edges += work; edges > most {
				return false, nil
			}
			var err error
			if s.against != nil && work > m.edges/8 {
				err = m.eachLeft(s.against, s.pull)
			} else {
				err = m.push(queue, work, m.grain, s.along, s.visit)
			}
			if err != nil {
				return false, err
			}
		}
		next := m.gather()
		queue, m.gathered = next, queue
	}
	return true, m.run.expired()
}

// pending counts the vertices and edges of a queue, up to narrow vertices.
func (m *multistep) pending(queue []int32, steps []strongStep) int64 {
	count := int64(len(queue))
	if count >= m.narrow {
		return count
	}
	for _, s := range steps {
		for _, v := range queue {
			count += s.along.degree(v)
		}
	}
	return count
}

// eachLeft calls f for the vertices of left, in pieces of about as many edges of g, and finds those
// for which it is true.
func (m *multistep) eachLeft(g *adjacency, f func(v int32) bool) error {
	m.weigh(m.left, g)
	cuts := parallel.Cut(m.before, 8*m.threads, parallel.RowWork)
	return parallel.Pieces(m.ctx, m.threads, len(cuts)-1, func(w, piece int) {
		found := m.found[w]
		for _, v := range m.left[cuts[piece]:cuts[piece+1]] {
			if f(v) {
				found = append(found, v)
			}
		}
		m.found[w] = found
	})
}

// trim labels the vertices without an edge from, or without an edge to, open vertices, and again
// those of which the others were such vertices.
func (m *multistep) trim() error {
	single := func(v, edges int32) bool {
		if edges != 1 {
			return edges == 0
		}
		_, loop := slices.BinarySearch(m.out.of(v), v)
		return loop
	}
	err := m.each(len(m.left), func(lo, hi int, found []int32) []int32 {
		for _, v := range m.left[lo:hi] {
			if single(v, m.outs[v]) || single(v, m.ins[v]) {
				atomic.StoreInt32(&m.label[v], v)
				found = append(found, v)
			}
		}
		return found
	})
	if err != nil {
		return err
	}
	lower := func(edges, others []int32) func(v int32, row, found []int32) []int32 {
		return func(v int32, row, found []int32) []int32 {
			if atomic.LoadInt32(&others[v]) == 0 { // no open neighbour
				return found
			}
			for _, u := range row {
				label := &m.label[u]
				if atomic.LoadInt32(label) == strongOpen && single(u, atomic.AddInt32(&edges[u], -1)) &&
					atomic.CompareAndSwapInt32(label, strongOpen, u) {
					found = append(found, u)
				}
			}
			return found
		}
	}
	_, err = m.wave(m.gather(), math.MaxInt64, math.MaxInt64,
		strongStep{along: m.out, visit: lower(m.ins, m.outs)}, strongStep{along: m.in, visit: lower(m.outs, m.ins)})
	if err != nil {
		return err
	}
	return m.keepOpen()
}

// keepOpen lists the open vertices, chooses the pivot, and reports progress.
func (m *multistep) keepOpen() error {
	var edges, rows atomic.Int64
	var best atomic.Uint64
	err := m.each(len(m.left), func(lo, hi int, found []int32) []int32 {
		sum, all, highest := int64(0), int64(0), uint64(0)
		for _, v := range m.left[lo:hi] {
			if m.label[v] != strongOpen {
				continue
			}
			found = append(found, v)
			sum += int64(m.outs[v])
			all += m.out.degree(v)
			product := min(uint64(m.outs[v])*uint64(m.ins[v]), math.MaxUint32)
			highest = max(highest, product<<32|uint64(math.MaxUint32-uint32(v)))
		}
		edges.Add(sum)
		rows.Add(all)
		for now := best.Load(); highest > now && !best.CompareAndSwap(now, highest); now = best.Load() {
		}
		return found
	})
	if err != nil {
		return err
	}
	open := m.gather()
	m.left, m.gathered = open, m.left[:0]
	m.edges, m.rows = edges.Load(), rows.Load()
	m.pivot = int32(math.MaxUint32 - uint32(best.Load()))
	m.run.report("strongly connected components", int64(m.out.n-len(m.left)), int64(m.out.n))
	return nil
}

// reach finds the component of the pivot. It reports whether its searches were wide.
func (m *multistep) reach() (wide bool, err error) {
	search := func(from, to int32, along, against *adjacency) (bool, error) {
		m.label[m.pivot] = to
		return m.wave([]int32{m.pivot}, m.most(), math.MaxInt64, strongStep{along: along, against: against,
			visit: func(_ int32, row, found []int32) []int32 {
				for _, u := range row {
					label := &m.label[u]
					if atomic.LoadInt32(label) == from && atomic.CompareAndSwapInt32(label, from, to) {
						found = append(found, u)
					}
				}
				return found
			},
			pull: func(v int32) bool {
				if m.label[v] != from {
					return false
				}
				for _, u := range against.of(v) {
					if atomic.LoadInt32(&m.label[u]) == to {
						atomic.StoreInt32(&m.label[v], to)
						return true
					}
				}
				return false
			}})
	}
	wide, err = search(strongOpen, strongReached, m.out, m.in)
	if err == nil && wide {
		wide, err = search(strongReached, strongGiant, m.in, m.out)
	}
	if err != nil {
		return false, err
	}
	var size atomic.Int64
	var least atomic.Int32
	least.Store(math.MaxInt32)
	err = m.each(len(m.left), func(lo, hi int, found []int32) []int32 {
		members, first := int64(0), int32(math.MaxInt32)
		for _, v := range m.left[lo:hi] {
			switch {
			case m.label[v] == strongGiant && wide:
				members++
				first = min(first, v)
			case m.label[v] < strongOpen:
				m.label[v] = strongOpen
			}
		}
		size.Add(members)
		for now := least.Load(); first < now && !least.CompareAndSwap(now, first); now = least.Load() {
		}
		return found
	})
	if err != nil {
		return false, err
	}
	m.least, m.giant = least.Load(), size.Load()
	return wide, m.keepOpen()
}

// count counts the edges between open vertices.
func (m *multistep) count() error {
	for _, side := range []struct {
		g     *adjacency
		edges []int32
	}{{m.out, m.outs}, {m.in, m.ins}} {
		err := m.eachLeft(side.g, func(v int32) bool {
			count := int32(0)
			for _, u := range side.g.of(v) {
				if m.label[u] == strongOpen {
					count++
				}
			}
			side.edges[v] = count
			return false
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// colour finds the components of the vertices that no lower open vertex reaches. It reports
// whether that was little work for many vertices: if not, components follow each other in chains,
// or colours travel far.
func (m *multistep) colour() (cheap bool, err error) {
	colour, queued := m.outs, m.ins // counted again before the next trim
	err = m.each(len(m.left), func(lo, hi int, found []int32) []int32 {
		for _, v := range m.left[lo:hi] {
			colour[v], queued[v] = v, 1
		}
		return found
	})
	if err != nil {
		return false, err
	}
	cheap, err = m.wave(m.left, m.most(), 4*m.rows, strongStep{along: m.out,
		visit: func(v int32, row, found []int32) []int32 {
			atomic.StoreInt32(&queued[v], 0)
			c := atomic.LoadInt32(&colour[v])
			for _, u := range row {
				if atomic.LoadInt32(&m.label[u]) != strongOpen {
					continue
				}
				now := atomic.LoadInt32(&colour[u])
				for now > c && !atomic.CompareAndSwapInt32(&colour[u], now, c) {
					now = atomic.LoadInt32(&colour[u])
				}
				if now > c && atomic.SwapInt32(&queued[u], 1) == 0 {
					found = append(found, u)
				}
			}
			return found
		}})
	if err != nil || !cheap {
		return false, err
	}
	err = m.each(len(m.left), func(lo, hi int, found []int32) []int32 {
		for _, v := range m.left[lo:hi] {
			if colour[v] == v {
				m.label[v] = v
				found = append(found, v)
			}
		}
		return found
	})
	if err != nil {
		return false, err
	}
	_, err = m.wave(m.gather(), math.MaxInt64, math.MaxInt64, strongStep{along: m.in,
		visit: func(v int32, row, found []int32) []int32 {
			for _, u := range row {
				label := &m.label[u]
				if atomic.LoadInt32(label) == strongOpen && colour[u] == colour[v] &&
					atomic.CompareAndSwapInt32(label, strongOpen, colour[v]) {
					found = append(found, u)
				}
			}
			return found
		}})
	if err != nil {
		return false, err
	}
	before := len(m.left)
	err = m.keepOpen()
	return before-len(m.left) >= before/8, err
}

// last finds the components of the open vertices by a depth-first search.
func (m *multistep) last() error {
	if len(m.left) == 0 {
		return nil
	}
	n := int32(m.out.n)
	number, least := m.outs, m.ins
	err := m.each(int(n), func(lo, hi int, found []int32) []int32 {
		for v := lo; v < hi; v++ {
			number[v] = 0
			if m.label[v] != strongOpen {
				number[v] = n
			}
			least[v] = math.MaxInt32
		}
		return found
	})
	if err != nil {
		return err
	}
	if err := strongDepthFirst(m.out, number, m.left, m.run); err != nil {
		return err
	}
	for _, v := range m.left {
		k := n - number[v]
		least[k] = min(least[k], v)
	}
	for _, v := range m.left {
		m.label[v] = least[n-number[v]]
	}
	return nil
}

// result labels the component of the pivot, and counts components and their vertices.
func (m *multistep) result() (*Components, error) {
	size := m.ins
	var count, largest atomic.Int64
	largest.Store(m.giant)
	err := m.each(m.out.n, func(lo, hi int, found []int32) []int32 {
		clear(size[lo:hi])
		return found
	})
	if err != nil {
		return nil, err
	}
	err = m.each(m.out.n, func(lo, hi int, found []int32) []int32 {
		roots, most := int64(0), int64(0)
		for v := int32(lo); v < int32(hi); v++ {
			l := m.label[v]
			if l == strongGiant {
				m.label[v] = m.least
				continue
			}
			if l == v {
				roots++
			}
			most = max(most, int64(atomic.AddInt32(&size[l], 1)))
		}
		count.Add(roots)
		for now := largest.Load(); most > now && !largest.CompareAndSwap(now, most); now = largest.Load() {
		}
		return found
	})
	if err != nil {
		return nil, err
	}
	if m.giant > 0 {
		count.Add(1)
	}
	c := &Components{Count: int(count.Load()), Largest: largest.Load()}
	c.Label, err = matrix.VectorOf(m.label)
	return c, err
}
