// Package gonumgraph converts matrices to and from the graphs of gonum's package graph, so that the
// algorithms of either run on the data of the other.
//
// [AsDirected] and [AsUndirected] are views of a square matrix without a copy: node v is vertex v,
// and the entry (u, v) is the edge from u to v with the value as its weight. A view reflects
// changes of the matrix. gonum's [simple] graphs have no edge from a node to itself, and neither
// have the views: entries of the diagonal are left out. [From] copies a graph of gonum to a matrix.
//
// [simple]: https://pkg.go.dev/gonum.org/v1/gonum/graph/simple
package gonumgraph

import (
	"fmt"
	"math"
	"reflect"
	"slices"

	"gonum.org/v1/gonum/graph"
	"gonum.org/v1/gonum/graph/iterator"
	"gonum.org/v1/gonum/graph/simple"

	"github.com/hiveblas/hiveblas/matrix"
	"github.com/hiveblas/hiveblas/semiring"
)

// view is a square matrix as a graph. Its zero value has no nodes.
type view[T matrix.Number] struct {
	a *matrix.Matrix[T]
	n int
}

func newView[T matrix.Number](op string, a *matrix.Matrix[T]) (view[T], error) {
	if err := a.Err(); err != nil {
		return view[T]{}, err
	}
	m, n := a.Dims()
	if m != n {
		return view[T]{}, &matrix.DimensionError{Op: "gonumgraph." + op, Arg: "a",
			Got: fmt.Sprintf("%d×%d", m, n), Want: "a square matrix", Remedy: "a graph has as many rows as columns; bipartite graphs become square with apps or graphio.Bipartite"}
	}
	return view[T]{a: a, n: n}, nil
}

func (v view[T]) has(id int64) bool { return id >= 0 && id < int64(v.n) }

// Node returns the node with the given id, or nil if there is none.
func (v view[T]) Node(id int64) graph.Node {
	if !v.has(id) {
		return nil
	}
	return simple.Node(id)
}

// Nodes returns the nodes 0, 1, 2, ….
func (v view[T]) Nodes() graph.Nodes { return iterator.NewImplicitNodes(0, v.n, newNode) }

func newNode(id int) graph.Node { return simple.Node(id) }

// value returns the weight of the edge from x to y.
func (v view[T]) value(x, y int64) (w T, ok bool) {
	if !v.has(x) || !v.has(y) || x == y {
		return w, false
	}
	return v.a.At(int(x), int(y))
}

// row lists the neighbours in row x of a matrix in compressed rows.
func row(ptr []int64, idx []int32, err error, x int64) graph.Nodes {
	if err != nil {
		return graph.Empty
	}
	var list []graph.Node
	for _, y := range idx[ptr[x]:ptr[x+1]] {
		if int64(y) != x {
			list = append(list, simple.Node(y))
		}
	}
	if len(list) == 0 {
		return graph.Empty
	}
	return iterator.NewOrderedNodes(list)
}

// From returns the nodes to which edges from x lead, in ascending order.
func (v view[T]) From(x int64) graph.Nodes {
	if !v.has(x) {
		return graph.Empty
	}
	ptr, idx, _, err := v.a.CSR()
	return row(ptr, idx, err, x)
}

// Weight returns the weight of the edge from x to y: 0 for x = y, and +Inf and false without one.
func (v view[T]) Weight(x, y int64) (w float64, ok bool) {
	if x == y && v.has(x) {
		return 0, true
	}
	value, ok := v.value(x, y)
	if !ok {
		return math.Inf(1), false
	}
	return float64(value), true
}

// HasEdgeBetween reports whether there is an edge between x and y, in either direction.
func (v view[T]) HasEdgeBetween(x, y int64) bool {
	_, out := v.value(x, y)
	_, in := v.value(y, x)
	return out || in
}

// WeightedEdge returns the edge from x to y, or nil if there is none.
func (v view[T]) WeightedEdge(x, y int64) graph.WeightedEdge {
	w, ok := v.value(x, y)
	if !ok {
		return nil
	}
	return simple.WeightedEdge{F: simple.Node(x), T: simple.Node(y), W: float64(w)}
}

// Edge returns the edge from x to y, or nil if there is none.
func (v view[T]) Edge(x, y int64) graph.Edge {
	if e := v.WeightedEdge(x, y); e != nil {
		return e
	}
	return nil
}

// Directed is a square matrix as a graph.WeightedDirected. It takes O(log row length) time for an
// edge, and O(row length) for the neighbours of a node; the first call of To transposes the matrix.
type Directed[T matrix.Number] struct{ view[T] }

var _ graph.WeightedDirected = Directed[float64]{}

// AsDirected returns a view of a as a directed graph. An error says that a is not square.
func AsDirected[T matrix.Number](a *matrix.Matrix[T]) (Directed[T], error) {
	v, err := newView("AsDirected", a)
	return Directed[T]{v}, err
}

// HasEdgeFromTo reports whether there is an edge from x to y.
func (v Directed[T]) HasEdgeFromTo(x, y int64) bool {
	_, ok := v.value(x, y)
	return ok
}

// To returns the nodes from which edges lead to y, in ascending order.
func (v Directed[T]) To(y int64) graph.Nodes {
	if !v.has(y) {
		return graph.Empty
	}
	ptr, idx, _, err := v.a.CSC()
	return row(ptr, idx, err, y)
}

// Undirected is a symmetric matrix as a graph.WeightedUndirected.
type Undirected[T matrix.Number] struct{ view[T] }

var _ graph.WeightedUndirected = Undirected[float64]{}

// AsUndirected returns a view of a as an undirected graph. An error says that a is not square or
// not symmetric, which takes O(entries) time to find out.
func AsUndirected[T matrix.Number](a *matrix.Matrix[T]) (Undirected[T], error) {
	v, err := newView("AsUndirected", a)
	if err != nil {
		return Undirected[T]{}, err
	}
	if !a.IsSymmetric() {
		return Undirected[T]{}, &matrix.InvalidError{Op: "gonumgraph.AsUndirected", Reason: "the matrix is not symmetric; take AsDirected, or read the file with graphio.Symmetrise"}
	}
	return Undirected[T]{v}, nil
}

// EdgeBetween returns the edge between x and y, or nil if there is none.
func (v Undirected[T]) EdgeBetween(x, y int64) graph.Edge { return v.Edge(x, y) }

// WeightedEdgeBetween returns the edge between x and y, or nil if there is none.
func (v Undirected[T]) WeightedEdgeBetween(x, y int64) graph.WeightedEdge {
	return v.WeightedEdge(x, y)
}

// From returns the adjacency matrix of g and the ids of its nodes in ascending order: vertex v is
// the node ids[v]. The value of an edge is its weight if g has weights, and otherwise 1; an
// undirected edge is two entries. It takes O(nodes · log nodes + edges · log nodes) time. It
// returns a *matrix.InvalidError if the graph is nil and a *matrix.SizeError if it has 2³¹ nodes or
// more.
func From(g graph.Graph) (a *matrix.Matrix[float64], ids []int64, err error) {
	if v := reflect.ValueOf(g); !v.IsValid() || v.Kind() == reflect.Pointer && v.IsNil() {
		return nil, nil, &matrix.InvalidError{Op: "gonumgraph.From", Reason: "the graph is nil; give a graph of gonum"}
	}
	for nodes := g.Nodes(); nodes.Next(); {
		ids = append(ids, nodes.Node().ID())
	}
	slices.Sort(ids)
	n := len(ids)
	if n > matrix.MaxDim {
		return nil, nil, &matrix.SizeError{Op: "gonumgraph.From", Arg: "number of nodes", Got: int64(n), Limit: matrix.MaxDim}
	}
	weight := func(_, _ int64) float64 { return 1 }
	if w, ok := g.(graph.Weighted); ok {
		weight = func(x, y int64) float64 {
			value, _ := w.Weight(x, y)
			return value
		}
	}
	b := matrix.NewBuilder[float64](n, n)
	for u, x := range ids {
		for next := g.From(x); next.Next(); {
			y := next.Node().ID()
			v, ok := slices.BinarySearch(ids, y)
			if !ok {
				return nil, nil, &matrix.InvalidError{Op: "gonumgraph.From", Reason: fmt.Sprintf("an edge leads from node %d to node %d, which Nodes does not list", x, y)}
			}
			b.Add(u, v, weight(x, y))
		}
	}
	a, err = b.Build(semiring.Plus[float64]())
	return a, ids, err
}
