package apps

import (
	"math"
	"math/bits"
	"slices"
	"sync/atomic"

	"github.com/hiveblas/hiveblas/internal/fresh"
	"github.com/hiveblas/hiveblas/internal/parallel"
	"github.com/hiveblas/hiveblas/matrix"
)

// colourThreads are the threads from which on rounds colour sooner than one thread in order.
const colourThreads = 4

// colourOnHost gives vertices in order the least colour that no neighbour has.
func colourOnHost(g *adjacency, o ColouringOptions) (*ColouringResult, error) {
	removed, err := removedOrder(g, o)
	if err != nil {
		return nil, err
	}
	if parallel.Threads(o.Threads) < colourThreads || int64(g.n)+int64(len(g.idx)) < standardWork {
		return colourInOrder(g, removed, o)
	}
	return colourByRounds(g, removed, o, usualWaveShares)
}

// removedOrder returns the reverse of the order of SmallestLast, if that is the order.
func removedOrder(g *adjacency, o ColouringOptions) (removed []int32, err error) {
	if o.Order == SmallestLast {
		_, removed, err = coresOnHost(g, o.Run)
	}
	return removed, err
}

// colourInOrder colours by one thread.
func colourInOrder(g *adjacency, removed []int32, o ColouringOptions) (*ColouringResult, error) {
	var order []int32
	switch o.Order {
	case SmallestLast:
		order = slices.Clone(removed)
		slices.Reverse(order)
	case RandomOrder:
		order = descending(g.n, func(v int) int64 { return priorityOf(v, o.Seed) })
	default:
		order = descending(g.n, func(v int) int64 { return largestFirst(g, int32(v), o.Seed) })
	}
	colour := make([]int32, g.n)
	for v := range colour {
		colour[v] = -1
	}
	used := []int32{} // used(c) is the last vertex that has a neighbour of colour c
	for _, v := range order {
		for _, w := range g.of(v) {
			if c := colour[w]; c >= 0 {
				used[c] = v
			}
		}
		c := int32(0)
		for int(c) < len(used) && used[c] == v {
			c++
		}
		if int(c) == len(used) {
			used = append(used, -1)
		}
		colour[v] = c
	}
	o.traced("Colouring", "greedy", g.n, int64(len(g.idx)))
	if err := o.expired(); err != nil {
		return nil, err
	}
	v, err := matrix.VectorOf(colour)
	return &ColouringResult{v, len(used)}, err
}

// largestFirst is the priority of v in that order.
func largestFirst(g *adjacency, v int32, seed int64) int64 {
	return g.loopless(v)<<32 + priorityOf(int(v), seed)
}

// colourByRounds gives the same colours by all threads. removed is the reverse of the order of
// SmallestLast. A vertex gets a colour once those before it have theirs; one that waits for another
// goes on from there in the next round. Where rounds are many, one thread colours the rest in order,
// so that all take O(vertices + edges).
func colourByRounds(g *adjacency, removed []int32, o ColouringOptions, shares waveShares) (*ColouringResult, error) {
	w := newWaves(o.Run, shares)
	sides, err := w.divided(g, removed, o)
	if err != nil {
		return nil, err
	}
	c := &colours{sides: sides, colour: make([]int32, g.n), at: make([]int64, g.n)}
	left := make([]int32, g.n)
	err = w.each(g.n, func(lo, hi int, found []int32) []int32 {
		for v := lo; v < hi; v++ {
			left[v], c.at[v], c.colour[v] = int32(v), sides.ptr[2*v], -1
		}
		return found
	})
	for looks := roundLooks * int64(g.n+len(g.idx)); err == nil && int64(len(left)) > shares.narrow && looks > 0; {
		looks -= int64(len(left))
		err = w.each(len(left), func(lo, hi int, found []int32) []int32 {
			for _, v := range left[lo:hi] {
				if !c.try(v) {
					found = append(found, v)
				}
			}
			return found
		})
		waiting := w.gather()
		left, w.gathered = waiting, left[:0]
		o.report("colouring", int64(g.n-len(left)), int64(g.n))
	}
	if err == nil {
		err = o.expired()
	}
	if err != nil {
		return nil, err
	}
	c.rest(left)
	o.traced("Colouring", "rounds", g.n, int64(len(g.idx)))
	v, err := matrix.VectorOf(c.colour)
	count := 0
	for _, x := range c.colour {
		count = max(count, int(x)+1)
	}
	return &ColouringResult{v, count}, err
}

// roundLooks is how often rounds may look at a vertex for each vertex and edge.
const roundLooks = 4

// colours are those of vertices, −1 without one.
type colours struct {
	sides  *adjacency // see divided
	colour []int32
	at     []int64 // the place of the vertex that one waits for
}

// try gives v its colour if the vertices before it have theirs.
func (c *colours) try(v int32) bool {
	for ; c.at[v] < c.sides.ptr[2*v+1]; c.at[v]++ {
		if atomic.LoadInt32(&c.colour[c.sides.idx[c.at[v]]]) < 0 {
			return false
		}
	}
	atomic.StoreInt32(&c.colour[v], leastColour(c.sides.of(2*v), c.colour))
	return true
}

// rest colours the vertices of a list, and those that wait for them, by one thread.
func (c *colours) rest(left []int32) {
	waiting := make([]int32, len(c.colour)) // for so many vertices
	var ready []int32
	for _, v := range left {
		count := int32(0)
		for _, u := range c.sides.of(2 * v) {
			if c.colour[u] < 0 {
				count++
			}
		}
		if waiting[v] = count; count == 0 {
			ready = append(ready, v)
		}
	}
	for len(ready) > 0 {
		v := ready[len(ready)-1]
		ready = ready[:len(ready)-1]
		c.colour[v] = leastColour(c.sides.of(2*v), c.colour)
		for _, u := range c.sides.of(2*v + 1) {
			if u == v {
				continue
			}
			if waiting[u]--; waiting[u] == 0 {
				ready = append(ready, u)
			}
		}
	}
}

// divided returns the neighbours of each vertex v in two rows, 2v those that the order takes before
// it, and 2v+1 those after it and v itself, if it is its neighbour.
func (w *waves) divided(g *adjacency, removed []int32, o ColouringOptions) (*adjacency, error) {
	rank := make([]int32, g.n) // equal ones by the random priority
	err := w.some(g.n, func(lo, hi int, found []int32) []int32 {
		for v := lo; v < hi; v++ {
			switch o.Order {
			case SmallestLast:
				rank[removed[v]] = int32(v)
			case LargestFirst:
				rank[v] = int32(g.loopless(int32(v)))
			}
		}
		return found
	})
	if err != nil {
		return nil, err
	}
	sides := &adjacency{2 * g.n, make([]int64, 2*g.n+1), fresh.Make[int32](int64(len(g.idx)))}
	cuts := parallel.Cut(g.ptr, 16*w.threads, parallel.RowWork)
	err = parallel.Pieces(w.ctx, w.threads, len(cuts)-1, func(_, piece int) {
		for v := int32(cuts[piece]); v < int32(cuts[piece+1]); v++ {
			lo, hi, own := g.ptr[v], g.ptr[v+1], rank[v]
			for _, u := range g.of(v) {
				if r := rank[u]; r > own || r == own && priorityOf(int(u), o.Seed) > priorityOf(int(v), o.Seed) {
					sides.idx[lo] = u
					lo++
				} else {
					hi--
					sides.idx[hi] = u
				}
			}
			sides.ptr[2*v+1], sides.ptr[2*v+2] = lo, g.ptr[v+1]
		}
	})
	return sides, err
}

// leastColour returns the least colour that no vertex of a list has.
func leastColour(list, colour []int32) int32 {
	for first := int32(0); ; {
		var used [8]uint64 // colours from first
		for _, u := range list {
			if c := uint32(atomic.LoadInt32(&colour[u]) - first); c < 64*uint32(len(used)) {
				used[c/64] |= 1 << (c % 64)
			}
		}
		for _, x := range used {
			if x != math.MaxUint64 {
				return first + int32(bits.TrailingZeros64(^x))
			}
			first += 64
		}
	}
}
