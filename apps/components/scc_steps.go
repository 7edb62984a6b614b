package components

import (
	"math"
	"slices"
	"sync/atomic"

	"github.com/hiveblas/hiveblas/apps/internal/frontier"
	"github.com/hiveblas/hiveblas/apps/internal/workflow"
	"github.com/hiveblas/hiveblas/internal/access"
	"github.com/hiveblas/hiveblas/internal/parallel"
	"github.com/hiveblas/hiveblas/matrix"
)

// strongShares says how the threads of multistep share its work.
type strongShares struct {
	frontier.WaveShares
	rest    int64 // vertices and edges left, up to which a depth-first search finds the rest
	colours int   // threads from which on colours are used

	// sweeps is the number of times that sweeps of the backward search look at all edges, before
	// the transpose, which costs as much, is made.
	sweeps int64
}

// usualStrongShares are the shares for graphs on the host. With components of 100 vertices in
// random order colours take one thread four times as long as a depth-first search.
var usualStrongShares = strongShares{WaveShares: frontier.UsualWaveShares, rest: 1 << 15, colours: 8, sweeps: 4}

// strongOpen is the label of a vertex without a component.
const strongOpen int32 = -1

// multistep finds the components by several threads, by the method of Slota, Rajamanickam and
// Madduri (BFS and coloring-based parallel algorithms for strongly connected components and related
// problems, IPDPS 2014):
//
//	giant    the component of a pivot of high degree is what it reaches and what reaches it;
//	trim     vertices without an edge to, or without an edge from, open vertices are components;
//	colour   each open vertex takes the least vertex that reaches it;
//	back     the vertices of a colour that reach its vertex are a component (Orzan, 2004).
//
// Vertices without a component are open. A depth-first search finds the components of the last open
// vertices, and all components of a graph with searches too narrow for threads. Up to there no step
// needs the transpose.
type multistep struct {
	frontier.Waves
	out, in   *workflow.Adjacency // in is nil until a step needs it
	transpose func() *workflow.Adjacency
	strongShares

	label  []int32 // the least vertex of the component, or strongOpen
	closed bitset  // vertices with a component
	left   []int32 // the open vertices
	rows   int64   // edges from open vertices
	pivot  int32   // the vertex of highest degree, −1 if all vertices are closed
	least  int32   // of the pivot's component
	giant  int64   // its size

	outs, ins []int32 // for colours: edges from a vertex to open ones, and from those
}

// strongBySteps finds the components of a graph on the host by the threads of run.
func strongBySteps(a *matrix.View[bool], run workflow.Run, shares strongShares) (*Components, error) {
	m := &multistep{Waves: frontier.NewWaves(run, shares.WaveShares), out: workflow.RowsOf(a), strongShares: shares,
		transpose: func() *workflow.Adjacency { return workflow.RowsOf(a.T()) }}
	switch {
	case access.Symmetric(a):
		m.in = m.out
	case a.Inside().HasCols():
		m.in = m.transpose()
	}
	return m.components()
}

// needTranspose makes the transpose.
func (m *multistep) needTranspose() {
	if m.in == nil {
		m.in = m.transpose()
	}
}

// components returns the components.
func (m *multistep) components() (*Components, error) {
	if err := m.start(); err != nil {
		return nil, err
	}
	wide, err := m.giantComponent()
	if err == nil {
		err = m.listOpen()
	}
	if err == nil && wide {
		err = m.trim()
	}
	if err == nil && wide && m.Threads >= m.colours && !m.depthFirstPays() {
		err = m.byColours()
	}
	if err == nil {
		err = m.finishDepthFirst()
	}
	if err != nil {
		return nil, err
	}
	return m.result()
}

// start closes the vertices without an edge to another one, and chooses the pivot.
func (m *multistep) start() error {
	n := m.out.N
	m.label, m.closed = make([]int32, n), newBitset(n)
	var best atomic.Uint64
	err := m.Each(len(m.closed), func(lo, hi int, found []int32) []int32 {
		highest := uint64(0)
		for v := int32(64 * lo); v < int32(min(64*hi, n)); v++ {
			degree := uint64(m.out.Degree(v))
			if degree == 0 || degree == 1 && m.out.Of(v)[0] == v {
				m.label[v] = v
				m.closed[v/64] |= 1 << (v % 64)
				continue
			}
			m.label[v] = strongOpen
			if m.in != nil {
				degree *= uint64(m.in.Degree(v))
			}
			highest = max(highest, min(degree, math.MaxUint32)<<32|uint64(math.MaxUint32-uint32(v)))
		}
		parallel.Raise(&best, highest)
		return found
	})
	m.pivot = -1
	if best.Load() > 0 {
		m.pivot = int32(math.MaxUint32 - uint32(best.Load()))
	}
	return err
}

// byColours finds components by colours as long as that is cheap.
func (m *multistep) byColours() error {
	m.needTranspose()
	m.outs, m.ins = make([]int32, m.out.N), make([]int32, m.out.N)
	for {
		if err := m.count(); err != nil {
			return err
		}
		if err := m.trimBoth(); err != nil {
			return err
		}
		if m.depthFirstPays() {
			return nil
		}
		if cheap, err := m.colour(); err != nil || !cheap {
			return err
		}
	}
}

// depthFirstPays reports whether a depth-first search finds the rest sooner.
func (m *multistep) depthFirstPays() bool { return int64(len(m.left))+m.rows <= m.rest }

// searchLimit is the number of vertices that one thread expands before the search of many is given
// up.
func (m *multistep) searchLimit() int64 { return int64(m.out.N/8) + 2*m.Waves.Narrow }

// eachLeft calls f for the vertices of left, in pieces of about as many edges of g, and finds those
// for which it is true.
func (m *multistep) eachLeft(g *workflow.Adjacency, f func(v int32) bool) error {
	m.Weigh(m.left, g)
	cuts := parallel.Cut(m.Threads, m.Before, 8*m.Threads, parallel.RowWork)
	return parallel.Pieces(m.Ctx, m.Threads, len(cuts)-1, func(w, piece int) {
		found := m.Found[w]
		for _, v := range m.left[cuts[piece]:cuts[piece+1]] {
			if f(v) {
				found = append(found, v)
			}
		}
		m.Found[w] = found
	})
}

// trimBoth labels the vertices without an edge from, or without an edge to, open vertices, and then
// the vertices left without such an edge by this, again and again.
func (m *multistep) trimBoth() error {
	single := func(v, edges int32) bool {
		if edges != 1 {
			return edges == 0
		}
		_, loop := slices.BinarySearch(m.out.Of(v), v)
		return loop
	}
	err := m.Each(len(m.left), func(lo, hi int, found []int32) []int32 {
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
	_, err = m.Wave(m.Gather(), math.MaxInt64, math.MaxInt64,
		frontier.WaveStep{Along: m.out, Visit: lower(m.ins, m.outs)}, frontier.WaveStep{Along: m.in, Visit: lower(m.outs, m.ins)})
	if err != nil {
		return err
	}
	return m.keepOpen()
}

// keepOpen drops the vertices that have a component by now, and reports progress.
func (m *multistep) keepOpen() error {
	var rows atomic.Int64
	err := m.Each(len(m.left), func(lo, hi int, found []int32) []int32 {
		sum := int64(0)
		for _, v := range m.left[lo:hi] {
			if m.label[v] == strongOpen {
				found = append(found, v)
				sum += m.out.Degree(v)
			}
		}
		rows.Add(sum)
		return found
	})
	m.nowOpen(rows.Load())
	return err
}

// nowOpen makes the found vertices, from which edges lead, the open ones.
func (m *multistep) nowOpen(edges int64) {
	open := m.Gather()
	m.left, m.Gathered, m.rows = open, m.left[:0], edges
	workflow.Report(m.Run, "strongly connected components", int64(m.out.N-len(m.left)), int64(m.out.N))
}

// count counts the edges between open vertices.
func (m *multistep) count() error {
	for _, side := range []struct {
		g     *workflow.Adjacency
		edges []int32
	}{{m.out, m.outs}, {m.in, m.ins}} {
		err := m.eachLeft(side.g, func(v int32) bool {
			count := int32(0)
			for _, u := range side.g.Of(v) {
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
	err = m.Each(len(m.left), func(lo, hi int, found []int32) []int32 {
		for _, v := range m.left[lo:hi] {
			colour[v], queued[v] = v, 1
		}
		return found
	})
	if err != nil {
		return false, err
	}
	cheap, err = m.Wave(m.left, m.searchLimit(), 4*m.rows, frontier.WaveStep{Along: m.out,
		Visit: func(v int32, row, found []int32) []int32 {
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
	err = m.Each(len(m.left), func(lo, hi int, found []int32) []int32 {
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
	_, err = m.Wave(m.Gather(), math.MaxInt64, math.MaxInt64, frontier.WaveStep{Along: m.in,
		Visit: func(v int32, row, found []int32) []int32 {
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

// finishDepthFirst finds the components of the open vertices by a depth-first search.
func (m *multistep) finishDepthFirst() error {
	if len(m.left) == 0 {
		return nil
	}
	n := int32(m.out.N)
	number, least := make([]int32, n), make([]int32, n)
	err := m.Each(int(n), func(lo, hi int, found []int32) []int32 {
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
	if err := strongDepthFirst(m.out, number, m.left, m.Run); err != nil {
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

// result counts components and their vertices.
func (m *multistep) result() (*Components, error) {
	size := make([]int32, m.out.N)
	var count, largest atomic.Int64
	largest.Store(m.giant)
	err := m.Each(m.out.N, func(lo, hi int, found []int32) []int32 {
		roots, most := int64(0), int64(1)
		for v := int32(lo); v < int32(hi); v++ {
			l := m.label[v]
			if l == v {
				roots++
			}
			if l != v && (m.giant == 0 || l != m.least) {
				most = max(most, 1+int64(atomic.AddInt32(&size[l], 1)))
			}
		}
		count.Add(roots)
		parallel.Raise(&largest, most)
		return found
	})
	if err != nil {
		return nil, err
	}
	c := &Components{Count: int(count.Load()), Largest: largest.Load()}
	c.Label, err = matrix.VectorOf(m.label)
	return c, err
}
