package components

import (
	"cmp"

	"github.com/hiveblas/hiveblas/apps/internal/workflow"
	"github.com/hiveblas/hiveblas/matrix"
	"github.com/hiveblas/hiveblas/semiring"
)

// SpanningOptions are the settings of MinimumSpanningForest.
type SpanningOptions struct {
	workflow.Run
	Maximum bool // the heaviest forest in place of the lightest
}

// Spanning is the result of MinimumSpanningForest.
type Spanning struct {
	Forest *matrix.Matrix[float64] // its edges in both directions, with their weights
	Weight float64                 // of all edges, each once
	Edges  int
	Trees  int // connected components of the graph, isolated vertices included
}

// MinimumSpanningForest returns the spanning forest of least weight of g: a tree for each connected
// component. The weight of an edge is the value, the lesser of two if both directions have one (the
// greater with Maximum); negative weights are allowed. MinimumSpanningForest returns a *WeightError
// if a weight is NaN. Self-loops are ignored. Edges of equal weight are taken in the order of their
// vertices, so the forest does not depend on threads or the form of g.
//
// Edges lighter than a pivot come first, and heavier ones inside a tree are dropped before the next
// step, so that few edges are listed and sorted (Osipov, Sanders, Singler: The filter-Kruskal
// minimum spanning tree algorithm, ALENEX 2009). Fewer than four threads add edges in ascending
// order (Kruskal): O(edges + vertices · α(vertices)) for weights in random order. Four threads and
// more take rounds in which every tree takes its lightest edge to another (Borůvka): O(edges +
// vertices · log vertices). So do the kernels of a device, edge by edge, with 32 bytes for each
// edge; they add the weights in another order. On a group, and where a device has no room, it
// computes on the host.
func MinimumSpanningForest[T semiring.Number](g matrix.Source[T], opts ...SpanningOptions) (*Spanning, error) {
	return minimumSpanningForest(g, opts)
}

// minimumSpanningForest is MinimumSpanningForest of a graph with values of any type.
func minimumSpanningForest(g workflow.Operand, opts []SpanningOptions) (*Spanning, error) {
	const app = "MinimumSpanningForest"
	o, err := workflow.Only(app, opts)
	if err != nil {
		return nil, err
	}
	a, n, form, err := workflow.Begun(app, "spanning forest", g, o.Run)
	if err != nil {
		return nil, err
	}
	if form.Device != nil {
		if res, err := fusedForest(form.Device, g, n, o); res != nil || err != nil {
			return res, err
		}
	}
	if err := workflow.Fetch(g.Inside()); err != nil { // from a device: too large for it, or with a NaN
		return nil, err
	}
	rows := g.Inside().Rows()
	ptr, weight := workflow.RowOffsets(&rows.Structure), workflow.NumbersIn(rows.Type, rows.Val)(nil, 0, int64(len(rows.Idx)))
	list := &weighted{app, &workflow.Adjacency{N: n, Ptr: ptr, Idx: rows.Idx}, weight, 1, g.Inside().Symmetric()}
	if o.Maximum {
		list.sign = -1
	}
	kept, err := forestOf(list, o.Run)
	if err != nil {
		return nil, err
	}
	res, err := spanningOf(kept, n, o)
	if err != nil {
		return nil, err
	}
	return res, res.Forest.Move(a.Place())
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
