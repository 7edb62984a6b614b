package matching

import (
	"cmp"
	"slices"

	"github.com/hiveblas/hiveblas/internal/splitmix"
)

// Align looks for a matching under which two graphs are equal, given colours that equal vertices
// share: colours of A and of B, which refinement has made. It refines the partition of the vertices
// of both graphs into cells, one a colour. While a cell has more than one vertex of each graph, it
// individualises the first of them in A with one in B, a cell of their own, and refines again. If
// the parts of a cell then differ in number between the graphs, it takes the next vertex in B.
//
// stable says that a round of refinement by all cells told no more vertices apart: the cells are
// not refined before the first pair is individualised.
//
// match has a vertex of B for each vertex of A, and exact says that the graphs were found equal
// under it. Where no vertex of a cell fits, or where work reaches limit, exact is false and the
// cells that are left are matched in the order of their vertices; match is nil if the colours
// themselves differ in number.
//
// Refinement reads each edge O(log n) times in all (Hopcroft, "An n log n algorithm for minimizing
// states in a finite automaton", 1971; individualisation: McKay, Piperno, "Practical graph
// isomorphism, II", Journal of Symbolic Computation 60, 2014, without the search tree: choices are
// not taken back once the cells of both graphs agree).
func (p *Pair) Align(colourA, colourB []int32, stable bool, limit int64) (match []int, exact bool, work int64) {
	c := newCells(p, colourA, colourB)
	if !c.balanced() {
		return nil, false, c.work
	}
	for s := int32(0); int(s) < len(c.order) && !stable; s += c.size[s] {
		c.push(s)
	}
	exact = c.refine()
	if !exact {
		return nil, false, c.work
	}
	for s := int32(0); int(s) < len(c.order); {
		switch {
		case c.size[s] == 2 || !exact:
			s += c.size[s]
		case !c.individualise(s, limit):
			exact = false
		}
	}
	match = make([]int, p.N)
	for s := int32(0); int(s) < len(c.order); s += c.size[s] {
		left, right := c.sides(s)
		for k, v := range left {
			match[v] = int(right[k])
		}
	}
	return match, exact, c.work
}

// cells are a partition of the vertices of both graphs; vertex w of B has number n + w. A cell is a
// range of order, and its name is the place where the range begins.
type cells struct {
	*Pair
	order, place []int32 // a permutation of the vertices, and its inverse
	first        []int32 // of each vertex: its cell
	size         []int32 // of each cell
	queue        []int32 // cells whose neighbours are not yet split
	queued       []bool
	splits       [][2]int32 // a cell and the part that left it, in order
	sum          []uint64   // of words of edges into a cell, 0 for most vertices
	touched      []int32    // the vertices with a sum
	large        []int32    // of these, the vertices of cells of more than two
	work         int64
}

func newCells(p *Pair, colourA, colourB []int32) *cells {
	all := 2 * p.N
	c := &cells{Pair: p, order: make([]int32, all), place: make([]int32, all), first: make([]int32, all),
		size: make([]int32, all), queued: make([]bool, all), sum: make([]uint64, all)}
	colour := slices.Concat(colourA, colourB)
	for v := range c.order {
		c.order[v] = int32(v)
	}
	slices.SortFunc(c.order, func(u, v int32) int { return cmp.Or(cmp.Compare(colour[u], colour[v]), cmp.Compare(u, v)) })
	start := 0
	for k, v := range c.order {
		if colour[v] != colour[c.order[start]] {
			start = k
		}
		c.place[v], c.first[v] = int32(k), int32(start)
		c.size[start]++
	}
	return c
}

// balanced reports whether each cell has as many vertices of A as of B.
func (c *cells) balanced() bool {
	for s := int32(0); int(s) < len(c.order); s += c.size[s] {
		if !c.even(c.order[s : s+c.size[s]]) {
			return false
		}
	}
	return true
}

func (c *cells) even(list []int32) bool {
	left := 0
	for _, v := range list {
		if int(v) < c.N {
			left++
		}
	}
	return 2*left == len(list)
}

// sides lists the vertices of a cell in A and in B, in order.
func (c *cells) sides(s int32) (left, right []int32) {
	for _, v := range c.order[s : s+c.size[s]] {
		if int(v) < c.N {
			left = append(left, v)
		} else {
			right = append(right, v-int32(c.N))
		}
	}
	slices.Sort(left)
	slices.Sort(right)
	return left, right
}

// individualise makes a cell of the first vertex of a cell in A and one in B, with which both
// graphs still have equal cells. It reports whether there is one.
func (c *cells) individualise(s int32, limit int64) bool {
	left, right := c.sides(s)
	for _, w := range right {
		if c.work >= limit || c.ended() {
			return false
		}
		before := len(c.splits)
		c.work += 2 + int64(len(right))
		c.push(c.part(s, []int32{left[0], w + int32(c.N)}))
		if c.refine() {
			return true
		}
		c.join(before)
	}
	return false
}

// push puts a cell into the queue.
func (c *cells) push(s int32) {
	if !c.queued[s] {
		c.queued[s] = true
		c.queue = append(c.queue, s)
	}
}

// refine splits cells by the edges of their vertices into the cells of the queue, until the queue
// is empty. It reports false once a part has other numbers of vertices in A and in B.
func (c *cells) refine() bool {
	for len(c.queue) > 0 {
		last := len(c.queue) - 1
		s := c.queue[last]
		c.queue, c.queued[s] = c.queue[:last], false
		c.gather(s)
		if !c.split() {
			for _, s := range c.queue {
				c.queued[s] = false
			}
			c.queue = c.queue[:0]
			return false
		}
	}
	return true
}

// gather adds up the words of the edges into a cell, for each vertex that has one.
func (c *cells) gather(s int32) {
	for _, v := range c.order[s : s+c.size[s]] {
		sides, shift, u := c.A, int32(0), v
		if int(v) >= c.N {
			sides, shift = c.B, int32(c.N)
			u -= shift
		}
		for k, side := range sides {
			near, word := side.row(u)
			c.work += int64(len(near))
			for j, x := range near {
				x += shift
				if c.sum[x] == 0 {
					c.touched = append(c.touched, x)
				}
				// A sum that wraps to 0 lists its vertex again, which split allows for.
				c.sum[x] += splitmix.Mix(word[j] + uint64(k))
			}
		}
	}
}

// split splits the cells of the vertices with a sum by their sums, and makes the sums 0.
func (c *cells) split() bool {
	even := true
	list := c.large[:0]
	for _, v := range c.touched {
		if s := c.first[v]; c.size[s] != 2 {
			list = append(list, v)
		} else { // one vertex of each graph
			even = even && c.sum[c.order[s]] == c.sum[c.order[s+1]]
		}
	}
	slices.SortFunc(list, func(u, v int32) int {
		return cmp.Or(cmp.Compare(c.first[u], c.first[v]), cmp.Compare(c.sum[u], c.sum[v]), cmp.Compare(u, v))
	})
	c.large = list
	list = slices.Compact(list)
	for rest := list; len(rest) > 0 && even; {
		s, k := c.first[rest[0]], 1
		for k < len(rest) && c.first[rest[k]] == s {
			k++
		}
		even = c.splitCell(s, rest[:k])
		rest = rest[k:]
	}
	for _, v := range c.touched {
		c.sum[v] = 0
	}
	c.touched = c.touched[:0]
	return even
}

// splitCell splits a cell by the sums of some of its vertices, which are in the order of their
// sums; the others have none. All parts but the largest join the queue, or all if the cell is in
// it.
func (c *cells) splitCell(s int32, list []int32) bool {
	alone := len(list) == int(c.size[s])
	parts := []int32{s}
	for len(list) > 0 {
		k := 1
		for k < len(list) && c.sum[list[k]] == c.sum[list[0]] {
			k++
		}
		if !c.even(list[:k]) {
			return false
		}
		if alone && k == len(list) { // what is left of the cell
			break
		}
		parts = append(parts, c.part(s, list[:k]))
		list = list[k:]
	}
	largest := parts[0]
	for _, part := range parts {
		if c.size[part] > c.size[largest] {
			largest = part
		}
	}
	for _, part := range parts {
		if len(parts) > 1 && (part != largest || c.queued[s]) {
			c.push(part)
		}
	}
	return true
}

// part moves vertices of a cell, not all, to a cell of their own, and returns that.
func (c *cells) part(s int32, list []int32) int32 {
	at := s + c.size[s]
	for _, v := range list {
		at--
		other, hole := c.order[at], c.place[v]
		c.order[at], c.order[hole] = v, other
		c.place[v], c.place[other] = at, hole
	}
	c.size[s] -= int32(len(list))
	c.size[at] = int32(len(list))
	for _, v := range list {
		c.first[v] = at
	}
	c.splits = append(c.splits, [2]int32{s, at})
	return at
}

// join takes back all splits but the first of them.
func (c *cells) join(keep int) {
	for k := len(c.splits) - 1; k >= keep; k-- {
		s, at := c.splits[k][0], c.splits[k][1]
		for _, v := range c.order[at : at+c.size[at]] {
			c.first[v] = s
		}
		c.size[s] += c.size[at]
		c.size[at] = 0
	}
	c.splits = c.splits[:keep]
}
