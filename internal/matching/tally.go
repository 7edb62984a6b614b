package matching

import (
	"math"
	"slices"

	"github.com/hiveblas/hiveblas/internal/access"
	"github.com/hiveblas/hiveblas/internal/sparse"
	"github.com/hiveblas/hiveblas/matrix"
	"github.com/hiveblas/hiveblas/semiring"
)

// A tally counts the disagreements |A − PBPᵀ| at each vertex of A while the matching changes at a
// few vertices at a time. A change takes the time of reading their edges. It lives on the host.
type tally[T semiring.Float] struct {
	a, b        []edgeLists[T] // rows, and columns if the graphs are directed
	match, back []int
	apart       []float64 // of each vertex's row, and column
	weight      [2][]float64
	row         []float64 // A's less B's, of the vertex in question
	near        []bool
}

// edgeLists are the rows of a matrix.
type edgeLists[T any] struct {
	ptr []int64
	idx []int32
	val []T
}

func (g edgeLists[T]) of(v int) ([]int32, []T) {
	lo, hi := g.ptr[v], g.ptr[v+1]
	return g.idx[lo:hi], g.val[lo:hi]
}

func edgeListsOf[T semiring.Float](a *matrix.View[T]) edgeLists[T] {
	st := sparse.ToCSR(access.Rows(a))
	return edgeLists[T]{st.Ptr, st.Idx, st.Val}
}

// newTally counts the disagreements of a matching of all vertices of two graphs on the host.
func newTally[T semiring.Float](a, b *matrix.View[T], symmetric bool, match []int) *tally[T] {
	n := len(match)
	c := &tally[T]{match: match, back: inverse(match), apart: make([]float64, n), row: make([]float64, n), near: make([]bool, n)}
	for s, g := range []*matrix.View[T]{a, b} {
		sides := []edgeLists[T]{edgeListsOf(g)}
		if !symmetric {
			sides = append(sides, edgeListsOf(g.T()))
		}
		c.weight[s] = make([]float64, n)
		for v := range n {
			for _, side := range sides {
				_, val := side.of(v)
				for _, x := range val {
					c.weight[s][v] += math.Abs(float64(x))
				}
			}
		}
		if s == 0 {
			c.a = sides
		} else {
			c.b = sides
		}
	}
	for v := range n {
		c.apart[v] = c.disagreementsAt(v)
	}
	return c
}

// disagreementsAt counts the disagreements of a vertex.
func (c *tally[T]) disagreementsAt(v int) (sum float64) {
	for side := range c.a {
		us, x := c.a[side].of(v)
		ws, y := c.b[side].of(c.match[v])
		for k, u := range us {
			c.row[u] += float64(x[k])
		}
		for k, w := range ws {
			c.row[c.back[w]] -= float64(y[k])
		}
		take := func(u int) {
			sum += math.Abs(c.row[u])
			c.row[u] = 0
		}
		for _, u := range us {
			take(int(u))
		}
		for _, w := range ws {
			take(c.back[w])
		}
	}
	return sum
}

// sum returns all disagreements. It is added up anew each time, so that it depends on the matching
// alone and not on the order of moves.
func (c *tally[T]) sum() (all float64) {
	for _, x := range c.apart {
		all += x
	}
	return all / float64(len(c.a))
}

// move matches vertices of A, which exchange their partners, to others. It returns the number of
// edges it read.
func (c *tally[T]) move(vertices, partners []int) (read int64) {
	var moved, to []int
	for k, v := range vertices {
		if c.match[v] != partners[k] {
			moved, to = append(moved, v), append(to, partners[k])
		}
	}
	affected := slices.Clone(moved)
	for _, v := range moved {
		c.near[v] = true
	}
	for _, v := range moved {
		c.eachNeighbour(v, func(u int) {
			if !c.near[u] {
				c.near[u] = true
				affected = append(affected, u)
			}
		})
	}
	for k, v := range moved {
		c.match[v], c.back[to[k]] = to[k], v
	}
	for _, v := range affected {
		c.apart[v], c.near[v] = c.disagreementsAt(v), false
		read += int64(c.degree(v))
	}
	return read
}

// eachNeighbour visits the neighbours of a vertex in A, and in B as it is matched.
func (c *tally[T]) eachNeighbour(v int, visit func(u int)) {
	for side := range c.a {
		us, _ := c.a[side].of(v)
		for _, u := range us {
			visit(int(u))
		}
		ws, _ := c.b[side].of(c.match[v])
		for _, w := range ws {
			visit(c.back[w])
		}
	}
}

// degree is the number of neighbours that around visits.
func (c *tally[T]) degree(v int) (d int) {
	for side := range c.a {
		us, _ := c.a[side].of(v)
		ws, _ := c.b[side].of(c.match[v])
		d += len(us) + len(ws)
	}
	return d
}

// share is the disagreeing share of the weight at a vertex.
func (c *tally[T]) share(v int) float64 {
	if c.apart[v] == 0 {
		return 0
	}
	return c.apart[v] / (c.weight[0][v] + c.weight[1][c.match[v]])
}

// ball lists up to size vertices around some, nearest first, along paths of vertices of no more
// than a degree.
func (c *tally[T]) ball(around []int, size, degree int) (list []int) {
	for _, v := range around {
		if !c.near[v] {
			c.near[v] = true
			list = append(list, v)
		}
	}
	for k := 0; k < len(list); k++ {
		c.eachNeighbour(list[k], func(u int) {
			if !c.near[u] && len(list) < size && c.degree(u) <= degree {
				c.near[u] = true
				list = append(list, u)
			}
		})
	}
	for _, u := range list {
		c.near[u] = false
	}
	return list
}

// inverse returns the vertex that each vertex of B is matched with.
func inverse(match []int) []int {
	back := make([]int, len(match))
	for v, w := range match {
		back[w] = v
	}
	return back
}
