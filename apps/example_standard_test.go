package apps_test

import (
	"errors"
	"fmt"

	"github.com/hiveblas/hiveblas/apps"
	"github.com/hiveblas/hiveblas/matrix"
	"github.com/hiveblas/hiveblas/ops"
)

// links returns a graph of 0/1 entries from pairs of vertices.
func links(n int, pairs ...[2]int) *matrix.Matrix[float64] {
	b := matrix.NewBuilder[float64](n, n)
	for _, p := range pairs {
		b.Add(p[0], p[1], 1)
	}
	g, err := b.Build(nil)
	if err != nil {
		panic(err)
	}
	return g
}

// Two cycles, and an edge from one to the other.
func ExampleStronglyConnectedComponents() {
	g := links(5, [2]int{0, 1}, [2]int{1, 2}, [2]int{2, 0}, [2]int{2, 3}, [2]int{3, 4}, [2]int{4, 3})
	c, err := apps.StronglyConnectedComponents(g)
	if err != nil {
		fmt.Println(err)
		return
	}
	label, err := c.Label.Dense(-1)
	fmt.Println(c.Count, "components:", label, err)
	// Output: 2 components: [0 0 0 3 3] <nil>
}

func ExampleCoreNumbers() {
	c, err := apps.CoreNumbers(karate())
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println("the innermost core has number", c.Max, "and", c.Inner, "members")
	// Output: the innermost core has number 4 and 10 members
}

// On a path the middle is on most shortest paths.
func ExampleBetweenness() {
	g := links(4, [2]int{0, 1}, [2]int{1, 0}, [2]int{1, 2}, [2]int{2, 1}, [2]int{2, 3}, [2]int{3, 2})
	c, err := apps.Betweenness(g, apps.BetweennessOptions{Undirected: true})
	if err != nil {
		fmt.Println(err)
		return
	}
	list, err := c.Centrality.Dense(0)
	fmt.Println(list, err)
	// Output: [0 2 2 0] <nil>
}

func ExampleCloseness() {
	c, err := apps.Closeness(karate())
	if err != nil {
		fmt.Println(err)
		return
	}
	near, _ := c.Closeness.At(0)
	harmonic, _ := c.Harmonic.At(0)
	fmt.Printf("the instructor: closeness %.4f, harmonic %.2f\n", near, harmonic)
	// Output: the instructor: closeness 0.5690, harmonic 23.17
}

func ExampleLocalClustering() {
	c, err := apps.LocalClustering(karate())
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Printf("average %.4f, transitivity %.4f\n", c.Average, c.Transitivity)
	// Output: average 0.5706, transitivity 0.2557
}

// Two triangles, joined by an edge.
func ExampleLabelPropagation() {
	var pairs [][2]int
	for _, p := range [][2]int{{0, 1}, {0, 2}, {1, 2}, {2, 3}, {3, 4}, {3, 5}, {4, 5}} {
		pairs = append(pairs, p, [2]int{p[1], p[0]})
	}
	c, err := apps.LabelPropagation(links(6, pairs...))
	if err != nil {
		fmt.Println(err)
		return
	}
	label, err := c.Label.Dense(-1)
	fmt.Println(c.Count, "communities:", label, err)
	// Output: 2 communities: [0 0 0 2 2 2] <nil>
}

func ExampleMaximalIndependentSet() {
	set, err := apps.MaximalIndependentSet(karate())
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(set.NVals(), "members of whom no two are friends")
	// Output: 8 members of whom no two are friends
}

func ExampleColouring() {
	c, err := apps.Colouring(karate(), apps.ColouringOptions{Order: apps.SmallestLast})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(c.Count, "colours")
	// Output: 5 colours
}

// A walk that jumps back to vertex 3 stays near it.
func ExampleWeightedPageRank() {
	restart := matrix.NewVector[float64](4)
	if err := restart.Set(3, 1); err != nil {
		fmt.Println(err)
		return
	}
	c, err := apps.WeightedPageRank(roads(), apps.PageRankOptions{Restart: restart})
	if err != nil {
		fmt.Println(err)
		return
	}
	for v, x := range c.Rank.All() {
		fmt.Printf("%d: %.3f\n", v, x)
	}
	// Output:
	// 0: 0.000
	// 1: 0.281
	// 2: 0.330
	// 3: 0.389
}

// Vertices 0 and 1 point to 2 and 3, and 0 to 3 alone as well.
func ExampleHITS() {
	c, err := apps.HITS(links(5, [2]int{0, 2}, [2]int{0, 3}, [2]int{1, 3}))
	if err != nil {
		fmt.Println(err)
		return
	}
	hub, _ := c.Hubs.At(0)
	authority, _ := c.Authorities.At(3)
	fmt.Printf("hub 0: %.3f, authority 3: %.3f\n", hub, authority)
	// Output: hub 0: 0.618, authority 3: 0.618
}

func ExampleEigenvectorCentrality() {
	c, err := apps.EigenvectorCentrality(karate())
	if err != nil {
		fmt.Println(err)
		return
	}
	x, _ := c.Centrality.At(33)
	fmt.Printf("the president: %.4f\n", x)
	// Output: the president: 0.3734
}

func ExampleKatzCentrality() {
	c, err := apps.KatzCentrality(karate(), apps.CentralityOptions{Attenuation: .1})
	if err != nil {
		fmt.Println(err)
		return
	}
	x, _ := c.Centrality.At(33)
	fmt.Printf("the president: %.4f\n", x)
	// Output: the president: 0.3314
}

// Who might become friends: the pairs without an edge that share the most friends.
func ExampleSimilarity() {
	c, err := apps.Similarity(karate(), apps.SimilarityOptions{Measure: apps.CommonNeighbours, Unlinked: true, Top: 1})
	if err != nil {
		fmt.Println(err)
		return
	}
	for v, shared := range c.Row(33) {
		fmt.Println("33 and", v, "share", shared, "friends")
	}
	// Output: 33 and 2 share 6 friends
}

func ExampleMinimumSpanningForest() {
	f, err := apps.MinimumSpanningForest(roads())
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(f.Edges, "edges of length", f.Weight)
	// Output: 3 edges of length 7
}

// Three applicants, and the two jobs that each can do.
func ExampleBipartiteMatching() {
	can, err := matrix.FromTuples(3, 3, []int{0, 0, 1, 1, 2}, []int{0, 1, 0, 2, 0}, []bool{true, true, true, true, true}, nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	m, err := apps.BipartiteMatching(can)
	if err != nil {
		fmt.Println(err)
		return
	}
	column, err := m.Column.Dense(-1)
	fmt.Println(m.Size, "jobs:", column, err)
	// Output: 3 jobs: [1 2 0] <nil>
}

func ExampleDiameter() {
	d, err := apps.Diameter(karate())
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println("diameter", d.Lower, "proven", d.Lower == d.Upper)
	// Output: diameter 5 proven true
}

func ExampleTopologicalOrder() {
	o, err := apps.TopologicalOrder(links(4, [2]int{3, 1}, [2]int{1, 0}, [2]int{3, 2}, [2]int{2, 0}))
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(o.Order)
	_, err = apps.TopologicalOrder(links(2, [2]int{0, 1}, [2]int{1, 0}))
	var cycle *apps.CycleError
	fmt.Println(errors.As(err, &cycle), cycle.Cycle)
	// Output:
	// [3 1 2 0]
	// true [0 1]
}

// Whom to look at next: half by who is near the seeds, half by what they write about.
func ExampleNominateVertices() {
	topic := make([]float64, 34)
	topic[8], topic[13] = 1, .2
	content, err := matrix.VectorOf(topic)
	if err != nil {
		fmt.Println(err)
		return
	}
	c, err := apps.NominateVertices(karate(), []int{0, 33}, apps.NominateOptions{Context: apps.ContextSeeds, Content: content, Weight: .5})
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, n := range c.Ranked[:3] {
		fmt.Printf("%d: %.2f\n", n.Vertex, n.Distance)
	}
	// Output:
	// 8: 1.00
	// 13: 0.60
	// 19: 0.50
}

func ExampleNominateByMatching() {
	a := karate()
	n, _ := a.Dims()
	// The same club with its members in the reverse order: member 11 is member 22 there.
	order := make([]int, n)
	for i := range order {
		order[i] = n - 1 - i
	}
	b := matrix.New[float64](n, n)
	if err := ops.Extract(b, a, ops.Of(order...), ops.Of(order...)); err != nil {
		fmt.Println(err)
		return
	}
	known := []apps.SeedPair{{A: 0, B: 33}, {A: 33, B: 0}, {A: 5, B: 28}}
	c, err := apps.NominateByMatching(a, b, []int{11}, known)
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, n := range c.Ranked[:2] {
		fmt.Printf("%d: %.2f\n", n.Vertex, n.Distance)
	}
	// Output:
	// 22: 1.00
	// 12: 0.33
}

func ExampleReverseCuthillMcKee() {
	order, err := apps.ReverseCuthillMcKee(links(5, [2]int{0, 3}, [2]int{3, 1}, [2]int{1, 4}, [2]int{4, 2})) // a path
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(order)
	// Output: [0 3 1 4 2]
}
