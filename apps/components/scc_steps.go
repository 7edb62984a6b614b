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
}

// usualStrongShares are the shares for graphs on the host. With components of 100 vertices in
// random order colours take one thread four times as long as a depth-first search.
var usualStrongShares = strongShares{WaveShares: frontier.UsualWaveShares, rest: 1 << 15, colours: 8}

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
// Vertices without a component are open. A depth-first search finds the components of the last open
// vertices, and all components of a graph with searches too narrow for threads.
type multistep struct {
	frontier.Waves
	out, in *workflow.Adjacency
	strongShares

	label     []int32 // the least vertex of the component, or a state
	outs, ins []int32 // edges from a vertex to open ones, and from those, with its self-loop
	left      []int32 // the open vertices
	rows      int64   // edges from open vertices
	edges     int64   // those to open vertices
	pivot     int32   // the open vertex of highest degree
	least     int32   // of the pivot's component
	giant     int64   // its size
}

// strongBySteps finds the components of a graph on the host by the threads of run.
func strongBySteps(a *matrix.View[bool], run workflow.Run, shares strongShares) (*Components, error) {
	m := &multistep{Waves: frontier.NewWaves(run, shares.WaveShares), out: workflow.RowsOf(a), strongShares: shares}
	if m.in = m.out; !access.Symmetric(a) {
		m.in = workflow.RowsOf(a.T())
	}
	return m.components()
}

// components returns the components.
func (m *multistep) components() (*Components, error) {
	n := m.out.N
	m.label, m.outs, m.ins = make([]int32, n), make([]int32, n), make([]int32, n)
	m.left, m.least = make([]int32, n), math.MaxInt32
	err := m.Each(n, func(lo, hi int, found []int32) []int32 {
		for v := int32(lo); v < int32(hi); v++ {
			m.label[v], m.left[v] = strongOpen, v
			m.outs[v], m.ins[v] = int32(m.out.Degree(v)), int32(m.in.Degree(v))
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
	for first := true; wide && !m.depthFirstPays(); first = false {
		find := m.reach
		if !first {
			if m.Threads < m.colours {
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
	if err := m.finishDepthFirst(); err != nil {
		return nil, err
	}
	return m.result()
}

// depthFirstPays reports whether a depth-first search finds the rest sooner.
func (m *multistep) depthFirstPays() bool { return int64(len(m.left))+m.rows <= m.rest }

// searchLimit is the number of vertices that one thread expands before the search of many is given
// up.
func (m *multistep) searchLimit() int64 { return int64(len(m.left)/8) + 2*m.Waves.Narrow }

// pull is a step of the open vertices, by edges that end at them: f says which follow any vertex.
func (m *multistep) pull(against *workflow.Adjacency, f func(v int32) bool) func(work int64) (bool, error) {
	return func(work int64) (bool, error) {
		if work <= m.edges/8 {
			return false, nil
		}
		return true, m.eachLeft(against, f)
	}
}

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

// trim labels the vertices without an edge from, or without an edge to, open vertices, and then the
// vertices left without such an edge by this, again and again.
func (m *multistep) trim() error {
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

// keepOpen lists the open vertices, chooses the pivot, and reports progress.
func (m *multistep) keepOpen() error {
	var edges, rows atomic.Int64
	var best atomic.Uint64
	err := m.Each(len(m.left), func(lo, hi int, found []int32) []int32 {
		sum, all, highest := int64(0), int64(0), uint64(0)
		for _, v := range m.left[lo:hi] {
			if m.label[v] != strongOpen {
				continue
			}
			found = append(found, v)
			sum += int64(m.outs[v])
			all += m.out.Degree(v)
			product := min(uint64(m.outs[v])*uint64(m.ins[v]), math.MaxUint32)
			highest = max(highest, product<<32|uint64(math.MaxUint32-uint32(v)))
		}
		edges.Add(sum)
		rows.Add(all)
		parallel.Raise(&best, highest)
		return found
	})
	if err != nil {
		return err
	}
	open := m.Gather()
	m.left, m.Gathered = open, m.left[:0]
	m.edges, m.rows = edges.Load(), rows.Load()
	m.pivot = int32(math.MaxUint32 - uint32(best.Load()))
	workflow.Report(m.Run, "strongly connected components", int64(m.out.N-len(m.left)), int64(m.out.N))
	return nil
}

// reach finds the component of the pivot. It reports whether its searches were wide.
func (m *multistep) reach() (wide bool, err error) {
	search := func(from, to int32, along, against *workflow.Adjacency) (bool, error) {
		m.label[m.pivot] = to
		visit := func(_ int32, row, found []int32) []int32 {
			for _, u := range row {
				label := &m.label[u]
				if atomic.LoadInt32(label) == from && atomic.CompareAndSwapInt32(label, from, to) {
					found = append(found, u)
				}
			}
			return found
		}
		pull := m.pull(against, func(v int32) bool {
			if m.label[v] != from {
				return false
			}
			for _, u := range against.Of(v) {
				if atomic.LoadInt32(&m.label[u]) == to {
					atomic.StoreInt32(&m.label[v], to)
					return true
				}
			}
			return false
		})
		return m.Wave([]int32{m.pivot}, m.searchLimit(), math.MaxInt64, frontier.WaveStep{Along: along, Visit: visit, Pull: pull})
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
	err = m.Each(len(m.left), func(lo, hi int, found []int32) []int32 {
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
		parallel.Lower(&least, first)
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
	number, least := m.outs, m.ins
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

// result labels the component of the pivot, and counts components and their vertices.
func (m *multistep) result() (*Components, error) {
	size := m.ins
	var count, largest atomic.Int64
	largest.Store(m.giant)
	err := m.Each(m.out.N, func(lo, hi int, found []int32) []int32 {
		clear(size[lo:hi])
		return found
	})
	if err != nil {
		return nil, err
	}
	err = m.Each(m.out.N, func(lo, hi int, found []int32) []int32 {
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
		parallel.Raise(&largest, most)
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
