package components

import (
	"math"
	"slices"
	"sort"
	"sync/atomic"

	"github.com/hiveblas/hiveblas/apps/internal/workflow"
	"github.com/hiveblas/hiveblas/internal/fresh"
	"github.com/hiveblas/hiveblas/internal/parallel"
	"github.com/hiveblas/hiveblas/matrix"
)

// weighted is a graph with weights, negative ones for a maximum. A symmetric graph has each edge
// once, in the row of the lesser vertex. Self-loops are no edges.
type weighted struct {
	app string
	*workflow.Adjacency
	weight    []float64
	sign      float64
	symmetric bool
}

// heaviest is the edge above all edges.
var heaviest = link{math.Inf(1), math.MaxInt32, math.MaxInt32}

// edges returns the number of edges, of a symmetric graph about.
func (g *weighted) edges() int {
	if g.symmetric {
		return len(g.Idx) / 2
	}
	return len(g.Idx)
}

// link returns the edge at a place of row v.
func (g *weighted) link(v int32, k int64) link {
	return link{g.sign * g.weight[k], min(v, g.Idx[k]), max(v, g.Idx[k])}
}

// pivot returns the edge of a sample below which about a part of the edges lies.
func (g *weighted) pivot(part float64) link {
	const size = 1023
	sample := make([]link, 0, size)
	for s := range int64(size) {
		k := s * int64(len(g.Idx)) / size
		v := int32(sort.Search(g.N, func(v int) bool { return g.Ptr[v+1] > k }))
		if e := g.link(v, k); e.u != e.v && !math.IsNaN(e.weight) {
			sample = append(sample, e)
		}
	}
	return pivotOf(sample, part)
}

// pivotOf returns the edge of a sample below which about a part of it lies.
func pivotOf(sample []link, part float64) link {
	slices.SortFunc(sample, link.compare)
	if at := int(part * float64(len(sample))); at < len(sample) {
		return sample[at]
	}
	return heaviest
}

// rowGrain is the least number of rows of a piece.
const rowGrain = 1 << 8

// rows returns what keep appends of the edges of each row, which are at lo to hi.
func (f *forest) rows(g *weighted, keep func(v int32, lo, hi int64, found []link) []link) []link {
	return parallel.Gather(f.threads, g.N, max(min(f.grain, rowGrain), g.N/(64*f.threads)), func(first, end int, found []link) []link {
		for v := int32(first); v < int32(end); v++ {
			lo, hi := g.Ptr[v], g.Ptr[v+1]
			for g.symmetric && lo < hi && g.Idx[lo] < v {
				lo++
			}
			found = keep(v, lo, hi, found)
		}
		return found
	})
}

// upTo returns the edges up to a pivot. It returns an error if a weight is NaN.
func (f *forest) upTo(pivot link, g *weighted) ([]link, error) {
	var bad atomic.Int64
	bad.Store(math.MaxInt64)
	list := f.rows(g, func(v int32, lo, hi int64, found []link) []link {
		for k := lo; k < hi; k++ {
			if w := g.sign * g.weight[k]; w <= pivot.weight {
				if e := g.link(v, k); e.u != e.v && e.compare(pivot) <= 0 {
					found = append(found, e)
				}
			} else if math.IsNaN(w) {
				parallel.Lower(&bad, k)
			}
		}
		return found
	})
	if k := bad.Load(); k < math.MaxInt64 {
		row := sort.Search(g.N, func(v int) bool { return g.Ptr[v+1] > k })
		return nil, &workflow.WeightError{App: g.app, Row: row, Col: int(g.Idx[k]), Got: "NaN", Want: "a number"}
	}
	return list, workflow.Expired(f.run)
}

// beyond returns the edges above a pivot that join trees.
func (f *forest) beyond(pivot link, g *weighted) []link {
	return f.rows(g, func(v int32, lo, hi int64, found []link) []link {
		tree := f.tree[v]
		for k := lo; k < hi; k++ {
			if f.tree[g.Idx[k]] != tree {
				if e := g.link(v, k); e.compare(pivot) > 0 {
					found = append(found, e)
				}
			}
		}
		return found
	})
}

// forest grows by edges, light ones first.
type forest struct {
	run     workflow.Run
	threads int
	grain   int   // edges, vertices or trees of a piece, at least
	few     int   // edges for each vertex that take part at once
	tree    trees // of each vertex its tree, which is one of its vertices
	edges   []link
	grow    func(list, spare []link) error // adds the edges of a list that join trees
}

// forestGrain is the usual least number of edges, vertices or trees of a piece.
const forestGrain = 1 << 12

// lightLinks is the number of edges for each vertex that take part at once. Later ones drop out
// first if they are inside a tree.
const lightLinks = 1

// newForest returns a forest without edges. Many threads join trees in rounds, few in the order of
// the edges.
func newForest(n int, run workflow.Run, many bool, grain, few int) *forest {
	f := &forest{run: run, threads: parallel.Threads(run.Threads), grain: grain, few: few, tree: make(trees, n)}
	_ = parallel.Range(nil, f.threads, n, grain, func(_, lo, hi int) {
		for v := lo; v < hi; v++ {
			f.tree[v] = int32(v)
		}
	})
	f.grow = f.growInOrder
	if many {
		f.grow = newBoruvka(f).rounds
	}
	return f
}

// forestOf returns the edges of the lightest forest in ascending order.
func forestOf(g *weighted, run workflow.Run) ([]link, error) {
	many, name := workflow.Shared(run, g.N, g.edges()), "filter-Kruskal"
	if many {
		name = "Borůvka"
	}
	workflow.Traced(run, g.app, name, g.N, int64(g.edges()))
	f := newForest(g.N, run, many, forestGrain, lightLinks)
	err := f.addAll(g)
	return f.edges, err
}

// addAll adds the edges of a graph. The edges above the first pivot are listed if they join trees
// of the edges below.
func (f *forest) addAll(g *weighted) error {
	pivot, at := heaviest, f.few*g.N
	if g.edges() > 2*at {
		pivot = g.pivot(float64(at) / float64(g.edges()))
	}
	light, err := f.upTo(pivot, g)
	if err != nil {
		return err
	}
	if err := f.add(light); err != nil || pivot == heaviest {
		return err
	}
	return f.add(f.beyond(pivot, g))
}

// add adds the edges of a list that join trees, in parts of ascending edges. It reorders the list.
func (f *forest) add(rest []link) error {
	room := fresh.Make[link](int64(len(rest)))
	for len(rest) > 0 {
		size, at := len(rest), f.few*len(f.tree)
		light, heavy := rest, rest[:0]
		if size > 2*at {
			sample := make([]link, min(size, 1023))
			for k := range sample {
				sample[k] = rest[k*size/len(sample)]
			}
			pivot := pivotOf(sample, float64(at)/float64(size))
			count := f.compact(room, rest, func(e link) bool { return e.compare(pivot) <= 0 })
			f.compact(room[count:], rest, func(e link) bool { return e.compare(pivot) > 0 })
			rest, room = room, rest
			light, heavy = rest[:count], rest[count:size]
		}
		if err := f.grow(light, room); err != nil {
			return err
		}
		workflow.Report(f.run, "spanning forest", int64(len(f.edges)), int64(len(f.tree)))
		rest, room = room[:f.compact(room, heavy, f.joinsTrees)], rest
	}
	return workflow.Expired(f.run)
}

// joinsTrees reports whether an edge joins two trees.
func (f *forest) joinsTrees(e link) bool { return f.tree[e.u] != f.tree[e.v] }

// compact writes the edges of a list for which keep is true to the front of out, in their order,
// and returns their number.
func (f *forest) compact(out, list []link, keep func(e link) bool) int {
	pieces := (len(list) + f.grain - 1) / f.grain
	first := make([]int64, pieces+1)
	_ = parallel.Range(nil, f.threads, len(list), f.grain, func(_, lo, hi int) {
		count := int64(0)
		for _, e := range list[lo:hi] {
			if keep(e) {
				count++
			}
		}
		first[lo/f.grain+1] = count
	})
	parallel.Sum(f.threads, first)
	_ = parallel.Range(nil, f.threads, len(list), f.grain, func(_, lo, hi int) {
		at := first[lo/f.grain]
		for _, e := range list[lo:hi] {
			if keep(e) {
				out[at] = e
				at++
			}
		}
	})
	return int(first[pieces])
}

// spanningOf is the result of a forest of ascending edges.
func spanningOf(edges []link, n int, o SpanningOptions) (*Spanning, error) {
	res := &Spanning{Edges: len(edges), Trees: n - len(edges)}
	rows, cols, vals := make([]int32, 2*len(edges)), make([]int32, 2*len(edges)), make([]float64, 2*len(edges))
	for k, e := range edges {
		w := e.weight
		if o.Maximum {
			w = -w
		}
		res.Weight += w
		rows[2*k], cols[2*k], vals[2*k] = e.u, e.v, w
		rows[2*k+1], cols[2*k+1], vals[2*k+1] = e.v, e.u, w
	}
	b := matrix.NewBuilder[float64](n, n)
	b.SetThreads(o.Threads)
	b.AddBlock(rows, cols, vals)
	var err error
	res.Forest, err = b.Build(nil)
	return res, err
}
