package apps

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"github.com/hiveblas/hiveblas/internal/access"
	"github.com/hiveblas/hiveblas/matrix"
	"github.com/hiveblas/hiveblas/semiring"
)

// SpanningOptions are the settings of MinimumSpanningForest.
type SpanningOptions struct {
	Run
	Maximum bool // the heaviest forest in place of the lightest
}

// Spanning is the result of MinimumSpanningForest.
type Spanning struct {
	Forest *matrix.Matrix[float64] // its edges in both directions, with their weights; on the host
	Weight float64                 // of all edges, each once
	Edges  int
	Trees  int // connected components of the graph, isolated vertices included
}

// MinimumSpanningForest returns the spanning forest of least weight of g: a tree for each connected
// component. The weight of an edge is the value, the lesser of two if both directions have one (the
// greater with Maximum); negative weights are allowed, NaN is a *WeightError. Self-loops are
// ignored. Edges of equal weight are taken in the order of their vertices, so the forest does not
// depend on threads or the form of g.
//
// Kruskal's algorithm that sorts no more edges than it must: edges lighter than a pivot come first,
// and of the heavier ones those inside a tree are dropped before the next step (Osipov, Sanders,
// Singler: The filter-Kruskal minimum spanning tree algorithm, ALENEX 2009). About O(edges +
// vertices · log vertices · log(edges/vertices)) for weights in random order, by one thread. It
// computes on the host, wherever g lives.
func MinimumSpanningForest[T semiring.Number](g matrix.Source[T], opts ...SpanningOptions) (*Spanning, error) {
	const app = "MinimumSpanningForest"
	o, err := only(app, opts)
	if err != nil {
		return nil, err
	}
	_, n, err := brought(app, "spanning forest", g, o.Run)
	if err != nil {
		return nil, err
	}
	rows := access.Rows(g.View())
	ptr, weight := rowOffsets(&rows.Structure), allFloats(rows.Val, len(rows.Idx))
	list := make([]link, 0, len(rows.Idx)/2)
	sign := 1.0
	if o.Maximum {
		sign = -1
	}
	for v := range n {
		for k := ptr[v]; k < ptr[v+1]; k++ {
			u, w := rows.Idx[k], weight[k]
			if math.IsNaN(w) {
				return nil, &WeightError{app, v, int(u), fmt.Sprint(w), "a number"}
			}
			if int(u) != v {
				list = append(list, link{sign * w, min(u, int32(v)), max(u, int32(v))})
			}
		}
	}
	f := &forest{up: make([]int32, n), run: o.Run, edges: make([]link, 0, max(n-1, 0))}
	for v := range f.up {
		f.up[v] = int32(v)
	}
	if err := f.grow(list); err != nil {
		return nil, err
	}
	res := &Spanning{Edges: len(f.edges), Trees: n - len(f.edges)}
	b := matrix.NewBuilder[float64](n, n)
	for _, e := range f.edges {
		w := sign * e.weight
		res.Weight += w
		b.Add(int(e.u), int(e.v), w)
		b.Add(int(e.v), int(e.u), w)
	}
	o.traced(app, "filter-Kruskal", n, int64(len(rows.Idx)))
	res.Forest, err = b.Build(nil)
	return res, err
}

// A link is an undirected edge, u < v.
type link struct {
	weight float64
	u, v   int32
}

func (e link) compare(f link) int {
	switch {
	case e.weight < f.weight:
		return -1
	case e.weight > f.weight:
		return 1
	case e.u != f.u:
		return cmp.Compare(e.u, f.u)
	}
	return cmp.Compare(e.v, f.v)
}

// forest grows by edges. up leads to the root of the tree of a vertex.
type forest struct {
	up    []int32
	edges []link
	run   Run
}

func (f *forest) root(v int32) int32 {
	for f.up[v] != v {
		f.up[v] = f.up[f.up[v]]
		v = f.up[v]
	}
	return v
}

// fewLinks is the number of edges that are sorted at once.
const fewLinks = 1 << 12

// grow adds the edges of a list that join trees, in ascending order; it reorders the list.
func (f *forest) grow(list []link) error {
	for len(list) > fewLinks {
		if len(f.edges) == len(f.up)-1 {
			return nil
		}
		if err := f.run.expired(); err != nil {
			return err
		}
		cut := partition(list)
		if err := f.grow(list[:cut]); err != nil {
			return err
		}
		rest := list[cut:cut]
		for _, e := range list[cut:] {
			if f.root(e.u) != f.root(e.v) {
				rest = append(rest, e)
			}
		}
		list = rest
	}
	slices.SortFunc(list, link.compare)
	for _, e := range list {
		u, v := f.root(e.u), f.root(e.v)
		if u == v {
			continue
		}
		f.up[max(u, v)] = min(u, v)
		f.edges = append(f.edges, e)
		if len(f.edges)&0xffff == 0 {
			f.run.report("spanning forest", int64(len(f.edges)), int64(len(f.up)))
		}
	}
	return nil
}

// partition moves the edges before a pivot to the front of a list, and returns their number: at
// least 1, and less than all. The pivot is the median of nine edges.
func partition(list []link) int {
	var few [9]link
	for k := range few {
		few[k] = list[k*(len(list)-1)/8]
	}
	slices.SortFunc(few[:], link.compare)
	pivot := few[4]
	i, j := -1, len(list)
	for { // Hoare
		for i++; list[i].compare(pivot) < 0; i++ {
		}
		for j--; pivot.compare(list[j]) < 0; j-- {
		}
		if i >= j {
			return min(max(j+1, 1), len(list)-1)
		}
		list[i], list[j] = list[j], list[i]
	}
}
