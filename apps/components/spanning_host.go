package components

import (
	"fmt"
	"math"
	"slices"

	"github.com/hiveblas/hiveblas/apps/internal/workflow"
	"github.com/hiveblas/hiveblas/internal/fresh"
	"github.com/hiveblas/hiveblas/internal/parallel"
	"github.com/hiveblas/hiveblas/matrix"
)

// linksOf returns the edges of a graph without self-loops, with negative weights for a maximum; of
// a symmetric one each once.
func linksOf(app string, g *workflow.Adjacency, weight []float64, symmetric bool, o SpanningOptions) ([]link, error) {
	sign := 1.0
	if o.Maximum {
		sign = -1
	}
	cuts := parallel.Cut(o.Threads, g.Ptr, 16*parallel.Threads(o.Threads), parallel.RowWork)
	pieces := len(cuts) - 1
	takes := func(v, u int32) bool { return u > v || u != v && !symmetric }
	first, bad := make([]int64, pieces+1), make([]error, pieces)
	err := parallel.Pieces(o.Context, o.Threads, pieces, func(_, piece int) {
		for v := int32(cuts[piece]); v < int32(cuts[piece+1]); v++ {
			for k := g.Ptr[v]; k < g.Ptr[v+1]; k++ {
				if math.IsNaN(weight[k]) && bad[piece] == nil {
					bad[piece] = &workflow.WeightError{App: app, Row: int(v), Col: int(g.Idx[k]), Got: fmt.Sprint(weight[k]), Want: "a number"}
				}
				if takes(v, g.Idx[k]) {
					first[piece+1]++
				}
			}
		}
	})
	for _, b := range bad {
		if err == nil {
			err = b
		}
	}
	if err != nil {
		return nil, err
	}
	parallel.Sum(1, first)
	list := fresh.Make[link](first[pieces])
	return list, parallel.Pieces(o.Context, o.Threads, pieces, func(_, piece int) {
		at := first[piece]
		for v := int32(cuts[piece]); v < int32(cuts[piece+1]); v++ {
			for k := g.Ptr[v]; k < g.Ptr[v+1]; k++ {
				if u := g.Idx[k]; takes(v, u) {
					list[at] = link{sign * weight[k], min(u, v), max(u, v)}
					at++
				}
			}
		}
	})
}

// forestOf returns the edges of the lightest forest in ascending order. It reorders list.
func forestOf(list []link, n int, run workflow.Run) ([]link, error) {
	if !workflow.Shared(run, n, len(list)) {
		workflow.Traced(run, "MinimumSpanningForest", "filter-Kruskal", n, int64(len(list)))
		return forestInOrder(list, n, run)
	}
	workflow.Traced(run, "MinimumSpanningForest", "Borůvka", n, int64(len(list)))
	return forestByRounds(list, n, run, forestGrain)
}

// forestInOrder is forestOf by one thread.
func forestInOrder(list []link, n int, run workflow.Run) ([]link, error) {
	f := &forest{up: make(trees, n), run: run, edges: make([]link, 0, max(n-1, 0))}
	for v := range f.up {
		f.up[v] = int32(v)
	}
	err := f.grow(list)
	return f.edges, err
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

// forest grows by edges.
type forest struct {
	up    trees
	edges []link
	run   workflow.Run
}

// fewLinks is the number of edges that are sorted at once.
const fewLinks = 1 << 12

// grow adds the edges of a list that join trees, in ascending order; it reorders the list.
func (f *forest) grow(list []link) error {
	for len(list) > fewLinks {
		if len(f.edges) == len(f.up)-1 {
			return nil
		}
		if err := workflow.Expired(f.run); err != nil {
			return err
		}
		cut := partition(list)
		if err := f.grow(list[:cut]); err != nil {
			return err
		}
		rest := list[cut:cut]
		for _, e := range list[cut:] {
			if f.up.root(e.u) != f.up.root(e.v) {
				rest = append(rest, e)
			}
		}
		list = rest
	}
	slices.SortFunc(list, link.compare)
	for _, e := range list {
		u, v := f.up.root(e.u), f.up.root(e.v)
		if u == v {
			continue
		}
		f.up[max(u, v)] = min(u, v)
		f.edges = append(f.edges, e)
		if len(f.edges)&0xffff == 0 {
			workflow.Report(f.run, "spanning forest", int64(len(f.edges)), int64(len(f.up)))
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
