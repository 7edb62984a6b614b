package gen

import (
	"slices"

	"github.com/hiveblas/hiveblas/internal/splitmix"
)

// WalkSample returns the subgraph of g on the first n vertices that a random walk
// meets, numbered in random order. The walk starts at a vertex with edges,
// follows uniform edges, and jumps to a uniform vertex with edges when it has met no
// new vertex for 64·√n steps or is at a dead end. The result is an empty graph if g
// is not square or has fewer than n vertices with edges, or if n is negative.
//
// Source of the method: Leskovec, Faloutsos, "Sampling from large graphs", KDD
// 2006, doi:10.1145/1150402.1150479.
func WalkSample(g *Graph, n int, seed uint64) *Graph {
	g = g.orEmpty()
	var ends []int32 // vertices with edges
	for v := range g.NRows {
		if len(g.Row(v)) > 0 {
			ends = append(ends, int32(v))
		}
	}
	if g.NRows != g.NCols || n < 0 || n > len(ends) {
		return CSR(Tuples{})
	}
	met := make([]bool, g.NRows)
	list := make([]int32, 0, n)
	at, stale := int32(-1), 0
	for step := uint64(0); len(list) < n; step++ {
		word := Hash(step, seed)
		if at < 0 || len(g.Row(int(at))) == 0 || stale*stale > 64*64*n {
			at, stale = ends[below(word, uint64(len(ends)))], 0
		} else {
			row := g.Row(int(at))
			at = row[below(word, uint64(len(row)))]
		}
		if stale++; !met[at] {
			met[at], stale = true, 0
			list = append(list, at)
		}
	}
	order := Permutation(n, seed+1)
	shuffled := make([]int32, n)
	for k, v := range list {
		shuffled[order[k]] = v
	}
	return Induced(g, shuffled)
}

// Induced returns the subgraph of a square g on the listed vertices, which are
// distinct; vertex k of it is list[k]. Vertices that g does not have get no edges.
func Induced(g *Graph, list []int32) *Graph {
	g = g.orEmpty()
	number := make([]int32, g.NRows)
	for i := range number {
		number[i] = -1
	}
	for k, v := range list {
		if uint(v) < uint(g.NRows) {
			number[v] = int32(k)
		}
	}
	s := &Graph{NRows: len(list), NCols: len(list), Ptr: make([]int64, len(list)+1)}
	for k, v := range list {
		from := len(s.Idx)
		if uint(v) < uint(g.NRows) {
			for _, w := range g.Row(int(v)) {
				if number[w] >= 0 {
					s.Idx = append(s.Idx, number[w])
				}
			}
		}
		slices.Sort(s.Idx[from:])
		s.Ptr[k+1] = int64(len(s.Idx))
	}
	return s
}

// Renamed returns g with its vertices permuted except the first keep, at most all: vertex v of the
// result is vertex p[v] of g.
func Renamed(g *Graph, keep int, seed uint64) (r *Graph, p []int32) {
	g = g.orEmpty()
	keep = min(max(keep, 0), g.NRows)
	p = make([]int32, g.NRows)
	for v := range p {
		p[v] = int32(v)
	}
	for k, x := range Permutation(g.NRows-keep, seed) {
		p[keep+k] = int32(keep) + x
	}
	return Induced(g, p), p
}

// Correlated returns two similar undirected graphs on n vertices: each keeps the edges of one G(n,
// p/s) with probability s, so that both are G(n, p) and an edge of one is one of the other with
// probability s. They have no edges unless 0 < p ≤ s ≤ 1. O(n²).
//
// Source: Pedarsani, Grossglauser, "On the privacy of anonymized networks", KDD
// 2011, doi:10.1145/2020408.2020596.
func Correlated(n int, p, s float64, seed uint64) (a, b *Graph) {
	n = max(n, 0)
	if !(p > 0 && p <= s && s <= 1) {
		return CSR(Tuples{NRows: n, NCols: n}), CSR(Tuples{NRows: n, NCols: n})
	}
	parent, kept := uint64(p/s*(1<<32)), uint64(s*(1<<32))
	var ta, tb Tuples
	ta.NRows, ta.NCols, tb.NRows, tb.NCols = n, n, n, n
	join := func(t *Tuples, i, j int32) {
		t.Rows, t.Cols = append(t.Rows, i, j), append(t.Cols, j, i)
	}
	for i := range int32(n) {
		for j := range i {
			word := pairHash(i, j, seed)
			if word>>32 >= parent {
				continue
			}
			own := splitmix.Mix(word)
			if own>>32 < kept {
				join(&ta, i, j)
			}
			if own&(1<<32-1) < kept {
				join(&tb, i, j)
			}
		}
	}
	return CSR(ta), CSR(tb)
}

// NearlyAligned returns two undirected graphs of n vertices and about m edges that are nearly the
// same, with the same numbers for most vertices: points on a line with edges between near ones,
// like areas of a brain. Of b a share noise of the edges differ, and as large a share of the
// vertices are exchanged, each with a near one; vertex v of b is vertex p[v] of a.
func NearlyAligned(n, m int, noise float64, seed uint64) (a, b *Graph, p []int32) {
	limit := uint64(noise * (1 << 32))
	draw := func(t *Tuples, e int, stream uint64) {
		word := Hash(uint64(e), stream)
		i := below(word, uint64(n))
		// The difference of the ends is uniform over a few degrees, and for every
		// eighth edge over the whole.
		span := uint64(8*m/max(n, 1) + 1)
		if word%8 == 0 {
			span = uint64(n)
		}
		j := (i + 1 + below(splitmix.Mix(word), span)) % uint64(n)
		t.Rows, t.Cols = append(t.Rows, int32(i), int32(j)), append(t.Cols, int32(j), int32(i))
	}
	ta, tb := Tuples{NRows: n, NCols: n}, Tuples{NRows: n, NCols: n}
	for e := range m {
		draw(&ta, e, seed)
		if Hash(uint64(e), seed+1)>>32 < limit {
			draw(&tb, e, seed+2)
		} else {
			draw(&tb, e, seed)
		}
	}
	p = make([]int32, n)
	for v := range p {
		p[v] = int32(v)
	}
	for v := range n {
		word := Hash(uint64(v), seed+3)
		if word>>32 < limit/2 {
			w := (v + 1 + int(word%16)) % n
			p[v], p[w] = p[w], p[v]
		}
	}
	return CSR(ta), Induced(CSR(tb), p), p
}

// Moved returns an undirected graph with a share of its edges moved to random pairs of vertices.
func Moved(g *Graph, share float64, seed uint64) *Graph {
	g = g.orEmpty()
	t := Tuples{NRows: g.NRows, NCols: g.NCols}
	n, k := uint64(max(g.NRows, 1)), uint64(0)
	for i := range int32(g.NRows) {
		for _, j := range g.Row(int(i)) {
			if i > j {
				continue
			}
			u, v := i, j
			if float64(Hash(k, seed)>>11)/(1<<53) < share {
				u, v = int32(Hash(k, seed+1)%n), int32(Hash(k, seed+2)%n)
			}
			t.Rows, t.Cols = append(t.Rows, u, v), append(t.Cols, v, u)
			k++
		}
	}
	return CSR(t)
}
