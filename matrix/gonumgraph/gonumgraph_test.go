package gonumgraph_test

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/graph"
	"gonum.org/v1/gonum/graph/path"
	"gonum.org/v1/gonum/graph/simple"
	"gonum.org/v1/gonum/graph/topo"

	"github.com/hiveblas/hiveblas/apps"
	"github.com/hiveblas/hiveblas/internal/sure"
	"github.com/hiveblas/hiveblas/matrix"
	"github.com/hiveblas/hiveblas/matrix/gonumgraph"
)

// random returns a directed graph of gonum with nodes of widely spaced ids, and loops left out.
func random(seed uint64, n, edges int) *simple.WeightedDirectedGraph {
	r := rand.New(rand.NewPCG(seed, 1))
	g := simple.NewWeightedDirectedGraph(0, math.Inf(1))
	for v := range n {
		g.AddNode(simple.Node(7*v - 5))
	}
	for range edges {
		if u, v := r.IntN(n), r.IntN(n); u != v {
			g.SetWeightedEdge(simple.WeightedEdge{F: simple.Node(7*u - 5), T: simple.Node(7*v - 5), W: float64(1 + r.IntN(9))})
		}
	}
	return g
}

// same compares two graphs of gonum by every method, with the node of one at at[v] of the other.
func same(t *testing.T, got, want graph.WeightedDirected, at []int64) {
	t.Helper()
	if got.Nodes().Len() != len(at) {
		t.Fatalf("%d nodes, want %d", got.Nodes().Len(), len(at))
	}
	for u, x := range at {
		if got.From(int64(u)).Len() != want.From(x).Len() || got.To(int64(u)).Len() != want.To(x).Len() {
			t.Fatalf("degrees of %d differ", u)
		}
		for v, y := range at {
			gw, gok := got.Weight(int64(u), int64(v))
			ww, wok := want.Weight(x, y)
			if gw != ww || gok != wok || got.HasEdgeFromTo(int64(u), int64(v)) != want.HasEdgeFromTo(x, y) ||
				got.HasEdgeBetween(int64(u), int64(v)) != want.HasEdgeBetween(x, y) {
				t.Fatalf("edge (%d, %d): weight %v %v, want %v %v", u, v, gw, gok, ww, wok)
			}
			ge, we := got.WeightedEdge(int64(u), int64(v)), want.WeightedEdge(x, y)
			if (ge == nil) != (we == nil) || ge != nil && (ge.Weight() != we.Weight() || ge.From().ID() != int64(u) || ge.To().ID() != int64(v)) {
				t.Fatalf("edge (%d, %d): %v, want %v", u, v, ge, we)
			}
			if (got.Edge(int64(u), int64(v)) == nil) != (we == nil) {
				t.Fatalf("Edge(%d, %d) disagrees with WeightedEdge", u, v)
			}
		}
	}
}

// TestBothWays: a graph of gonum becomes a matrix, and its view is the graph again.
func TestBothWays(t *testing.T) {
	t.Parallel()
	for seed, shape := range [][2]int{{1, 0}, {2, 3}, {20, 60}, {30, 400}} {
		g := random(uint64(seed), shape[0], shape[1])
		a, ids, err := gonumgraph.From(g)
		if err != nil {
			t.Fatal(err)
		}
		if a.NVals() != int64(g.WeightedEdges().Len()) && g.WeightedEdges().Len() >= 0 {
			t.Errorf("%d entries, want %d", a.NVals(), g.WeightedEdges().Len())
		}
		v, err := gonumgraph.AsDirected(a)
		if err != nil {
			t.Fatal(err)
		}
		same(t, v, g, ids)
	}
}

// TestAlgorithms: algorithms of gonum on a view and of apps on the matrix agree.
func TestAlgorithms(t *testing.T) {
	t.Parallel()
	a, _, err := gonumgraph.From(random(9, 60, 150))
	if err != nil {
		t.Fatal(err)
	}
	v, err := gonumgraph.AsDirected(a)
	if err != nil {
		t.Fatal(err)
	}
	ours, err := apps.SSSP(a, []int{0})
	if err != nil {
		t.Fatal(err)
	}
	theirs := path.DijkstraFrom(simple.Node(0), v)
	for i := range 60 {
		d, ok := ours.At(i)
		if !ok {
			d = math.Inf(1)
		}
		if d != theirs.WeightTo(int64(i)) {
			t.Errorf("distance of %d is %v, gonum's %v", i, d, theirs.WeightTo(int64(i)))
		}
	}
	parts, err := apps.StronglyConnectedComponents(a)
	if err != nil {
		t.Fatal(err)
	}
	if n := len(topo.TarjanSCC(v)); n != parts.Count {
		t.Errorf("%d strong components, gonum finds %d", parts.Count, n)
	}
}

func TestUndirected(t *testing.T) {
	t.Parallel()
	a := sure.Get(matrix.FromTuples(4, 4, []int{0, 1, 1, 2, 3}, []int{1, 0, 2, 1, 3}, []int64{5, 5, 2, 2, 9}, nil))
	v, err := gonumgraph.AsUndirected(a)
	if err != nil {
		t.Fatal(err)
	}
	if n := len(topo.ConnectedComponents(v)); n != 2 {
		t.Errorf("%d components, want 2", n)
	}
	if e := v.WeightedEdgeBetween(2, 1); e == nil || e.Weight() != 2 || v.EdgeBetween(0, 2) != nil || v.EdgeBetween(3, 3) != nil {
		t.Errorf("edges: %v %v %v", e, v.EdgeBetween(0, 2), v.EdgeBetween(3, 3))
	}
	if w, ok := v.Weight(3, 3); w != 0 || !ok {
		t.Errorf("weight of a node to itself is %v %v", w, ok)
	}
	if v.Node(4) != nil || v.Node(-1) != nil || v.From(4) != graph.Empty || v.From(3).Len() != 0 {
		t.Error("nodes that do not exist have edges")
	}
	g := simple.NewUndirectedGraph()
	g.SetEdge(simple.Edge{F: simple.Node(3), T: simple.Node(11)})
	back, ids, err := gonumgraph.From(g)
	if err != nil || back.NVals() != 2 || !back.IsSymmetric() || fmt.Sprint(ids) != "[3 11]" {
		t.Errorf("%v entries of nodes %v (%v)", back, ids, err)
	}
}

func TestErrors(t *testing.T) {
	t.Parallel()
	wide := matrix.New[float64](2, 3)
	if _, err := gonumgraph.AsDirected(wide); !errors.Is(err, matrix.ErrDimension) {
		t.Errorf("error %v of a wide matrix", err)
	}
	one := sure.Get(matrix.FromTuples(2, 2, []int{0}, []int{1}, []float64{1}, nil))
	if _, err := gonumgraph.AsUndirected(one); !errors.Is(err, matrix.ErrInvalid) {
		t.Errorf("error %v of a matrix that is not symmetric", err)
	}
	var none *simple.DirectedGraph
	if _, _, err := gonumgraph.From(none); !errors.Is(err, matrix.ErrInvalid) {
		t.Errorf("error %v of a nil graph", err)
	}
	var zero gonumgraph.Directed[float64]
	if zero.Nodes().Len() != 0 || zero.HasEdgeFromTo(0, 0) || zero.To(0) != graph.Empty {
		t.Error("the zero view has nodes")
	}
}

// Shortest paths by gonum on a matrix of hiveblas.
func ExampleAsDirected() {
	roads, err := matrix.FromTuples(4, 4, []int{0, 1, 0}, []int{1, 2, 2}, []float64{3, 4, 9}, nil)
	if err != nil {
		panic(err)
	}
	g, err := gonumgraph.AsDirected(roads)
	if err != nil {
		panic(err)
	}
	nodes, length := path.DijkstraFrom(simple.Node(0), g).To(2)
	fmt.Println(nodes, length)
	// Output: [0 1 2] 7
}

// Components by hiveblas of a graph of gonum.
func ExampleFrom() {
	g := simple.NewUndirectedGraph()
	g.SetEdge(simple.Edge{F: simple.Node(10), T: simple.Node(20)})
	g.SetEdge(simple.Edge{F: simple.Node(30), T: simple.Node(40)})
	a, ids, err := gonumgraph.From(g)
	if err != nil {
		panic(err)
	}
	parts, err := apps.ConnectedComponents(a)
	if err != nil {
		panic(err)
	}
	for v, label := range parts.Label.All() {
		fmt.Println("node", ids[v], "is in the component of node", ids[label])
	}
	// Output:
	// node 10 is in the component of node 10
	// node 20 is in the component of node 10
	// node 30 is in the component of node 30
	// node 40 is in the component of node 30
}
