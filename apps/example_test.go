package apps_test

import (
	"bytes"
	"fmt"
	"math"

	"github.com/hiveblas/hiveblas/apps"
	"github.com/hiveblas/hiveblas/graphio"
	"github.com/hiveblas/hiveblas/matrix"
	"github.com/hiveblas/hiveblas/ops"
	"github.com/hiveblas/hiveblas/semiring"
	"github.com/hiveblas/hiveblas/testdata"
)

// roads returns four towns and the lengths of the one-way roads between them.
func roads() *matrix.Matrix[int] {
	g, err := matrix.FromTuples(4, 4,
		[]int{0, 0, 1, 2, 3}, // from
		[]int{1, 2, 3, 1, 2}, // to
		[]int{7, 2, 1, 4, 5}, nil)
	if err != nil {
		panic(err)
	}
	return g
}

// karate returns the friendships of a club.
func karate() *matrix.Matrix[float64] {
	g, err := graphio.ReadMatrixMarket[float64](bytes.NewReader(testdata.Karate))
	if err != nil {
		panic(err)
	}
	return g
}

// Three customers bought some of four goods: which goods were bought together?
func ExampleProjection() {
	bought, err := matrix.FromTuples(3, 4,
		[]int{0, 0, 1, 1, 1, 2, 2}, // customer
		[]int{0, 1, 0, 1, 2, 2, 3}, // good
		[]int{1, 1, 1, 1, 1, 1, 1}, nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	together, err := apps.Projection(bought, apps.ProjectionOptions{Weighting: apps.WeightCount})
	if err != nil {
		fmt.Println(err)
		return
	}
	for at, customers := range together.All() {
		if at.Row < at.Col {
			fmt.Println("goods", at.Row, "and", at.Col, "by", customers)
		}
	}
	// Output:
	// goods 0 and 1 by 2
	// goods 0 and 2 by 1
	// goods 1 and 2 by 1
	// goods 2 and 3 by 1
}

// Which towns are nearest to town 0 or town 3?
func ExampleVertexNomination() {
	d, err := apps.VertexNomination(roads(), []int{0, 3}, apps.VertexNominationOptions[int]{})
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, n := range apps.Rank(d) {
		fmt.Println("town", n.Vertex, "at", n.Distance)
	}
	// Output:
	// town 0 at 0
	// town 3 at 0
	// town 2 at 2
	// town 1 at 6
}

// Which groups does the club fall into?
func ExampleCommunities() {
	res, err := apps.Communities(karate(), apps.CommunitiesOptions{Leiden: true, Passes: 4})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Printf("%d communities, the largest of %d, modularity %.4f\n",
		res.Count, res.Largest, res.Modularity)
	members := make([][]int, res.Count)
	for v, c := range res.Membership.All() {
		members[c] = append(members[c], v)
	}
	fmt.Println("the smallest:", members[res.Count-1])
	// Output:
	// 4 communities, the largest of 12, modularity 0.4198
	// the smallest: [4 5 6 10 16]
}

// How good is a given partition?
func ExampleModularity() {
	g := karate()
	n, _ := g.Dims()
	side := make([]int32, n) // nearer to vertex 0 or to vertex 33
	for v := range side {
		if v > 16 {
			side[v] = 1
		}
	}
	membership, err := matrix.VectorOf(side)
	if err != nil {
		fmt.Println(err)
		return
	}
	q, err := apps.Modularity(g, membership)
	fmt.Printf("%.3f %v\n", q, err)
	// Output: 0.243 <nil>
}

func ExampleBFS() {
	res, err := apps.BFS(karate(), 0, apps.BFSOptions{Parents: true})
	if err != nil {
		fmt.Println(err)
		return
	}
	level, _ := res.Level.At(33)
	parent, _ := res.Parent.At(33)
	fmt.Println("reached", res.Reached, "within", res.MaxLevel, "steps")
	fmt.Println("member 33 in", level, "through", parent)
	// Output:
	// reached 34 within 3 steps
	// member 33 in 2 through 8
}

func ExampleSSSP() {
	d, err := apps.SSSP(roads(), []int{0}, apps.SSSPOptions[int]{})
	if err != nil {
		fmt.Println(err)
		return
	}
	for town, length := range d.All() {
		fmt.Println("town", town, "at", length)
	}
	// Output:
	// town 0 at 0
	// town 1 at 6
	// town 2 at 2
	// town 3 at 7
}

// A road of negative length is an error that names it.
func ExampleWeightError() {
	g := roads()
	if err := g.Set(2, 1, -4); err != nil {
		fmt.Println(err)
		return
	}
	_, err := apps.SSSP(g, []int{0}, apps.SSSPOptions[int]{})
	fmt.Println(err)
	// Output: SSSP: the edge from 2 to 1 has weight -4, want 0 or more
}

func ExamplePageRank() {
	res, err := apps.PageRank(karate(), apps.PageRankOptions{})
	if err != nil {
		fmt.Println(err)
		return
	}
	first, _ := res.Rank.At(0)
	last, _ := res.Rank.At(33)
	fmt.Printf("the instructor %.4f, the president %.4f\n", first, last)
	// Output: the instructor 0.0970, the president 0.1009
}

func ExampleConnectedComponents() {
	g, err := matrix.FromTuples(5, 5, []int{0, 3}, []int{2, 1}, []bool{true, true}, nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	c, err := apps.ConnectedComponents(g, apps.ComponentsOptions{})
	if err != nil {
		fmt.Println(err)
		return
	}
	label, err := c.Label.Dense(-1)
	fmt.Println(c.Count, "components", label, err)
	// Output: 3 components [0 1 0 1 4] <nil>
}

func ExampleTriangleCount() {
	n, err := apps.TriangleCount(karate(), apps.TriangleOptions{})
	fmt.Println(n, err)
	// Output: 45 <nil>
}

func ExampleKTruss() {
	for k := 3; k <= 6; k++ {
		c, err := apps.KTruss(karate(), k, apps.KTrussOptions{})
		if err != nil {
			fmt.Println(err)
			return
		}
		fmt.Println("edges in the", k, "truss:", c.NVals()/2)
	}
	// Output:
	// edges in the 3 truss: 67
	// edges in the 4 truss: 25
	// edges in the 5 truss: 14
	// edges in the 6 truss: 0
}

// Around whom are the most friendships?
func ExampleScanStatistics() {
	res, err := apps.ScanStatistics(karate())
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(res.Max, "friendships among member", res.ArgMax[0], "and friends;", res.Triangles, "triangles")
	// Output: 34 friendships among member 0 and friends; 45 triangles
}

// One message a day along a chain of people, but on day 9, when five of them all write to each
// other.
func ExampleScanSeries() {
	mail := &apps.TimedEdges{Vertices: 12}
	write := func(day float64, from, to int32) {
		mail.Source, mail.Target = append(mail.Source, from), append(mail.Target, to)
		mail.Time = append(mail.Time, day)
	}
	for day := range 12 {
		for v := range int32(11) {
			write(float64(day), v, v+1)
		}
	}
	for _, from := range []int32{1, 3, 5, 7, 9} {
		for _, to := range []int32{1, 3, 5, 7, 9} {
			write(9.5, from, to)
		}
	}
	res, err := apps.ScanSeries(mail, apps.ScanSeriesOptions{Window: 1, Lag: 3})
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, a := range res.Anomalies {
		fmt.Printf("day %d, score %.0f:", a.Window, a.Score)
		for _, v := range a.Vertices {
			fmt.Printf(" %d", v.Vertex)
		}
		fmt.Println()
	}
	// Output: day 9, score 12: 3 5 7 1 9
}

// Where is person 1, a friend of people in Lisbon, Porto and Madrid?
func ExampleGeolocate() {
	friends, err := matrix.FromTuples(5, 5, []int{1, 1, 1, 0}, []int{2, 3, 4, 1}, []bool{true, true, true, true}, nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	known, err := apps.NewLocations(5, []int{2, 3, 4}, []float64{38.72, 41.15, 40.42}, []float64{-9.14, -8.63, -3.70})
	if err != nil {
		fmt.Println(err)
		return
	}
	res, err := apps.Geolocate(friends, known)
	if err != nil {
		fmt.Println(err)
		return
	}
	for v := range 2 {
		lat, _ := res.Latitude.At(v)
		lon, _ := res.Longitude.At(v)
		pass, _ := res.Pass.At(v)
		fmt.Printf("person %d at %.2f°N %.2f°W, in pass %d\n", v, lat, -lon, pass)
	}
	// Output:
	// person 0 at 40.39°N 8.00°W, in pass 2
	// person 1 at 40.39°N 8.00°W, in pass 1
}

// A walk from each of two members of the club to their friends of most friends.
func ExampleGraphSearch() {
	friends := karate()
	count := matrix.NewVector[float64](34)
	if err := ops.Reduce(count, semiring.Plus[float64](), friends); err != nil {
		fmt.Println(err)
		return
	}
	res, err := apps.GraphSearch(friends, apps.VertexScores(count), []int{16, 26}, apps.SearchOptions{
		Rule: apps.SearchGreedy, Length: 5, Best: 2,
		Each: func(walks apps.SearchBlock) error {
			for k := range walks.Walks() {
				fmt.Println(walks.Walk(k))
			}
			return nil
		},
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(res.Distinct, "members found; the best:", res.Best[0].Vertex, res.Best[1].Vertex)
	// Output:
	// [16 5 0 2 0]
	// [26 33 32 33 32]
	// 7 members found; the best: 33 0
}

// A fifth of the friendships is held out and predicted by vectors of walks over the others.
func ExampleEmbed() {
	rest, held, err := apps.HoldOutLinks(karate(), apps.HoldOutOptions{Share: .2, Seed: 5})
	if err != nil {
		fmt.Println(err)
		return
	}
	res, err := apps.Embed(rest, apps.EmbedOptions{Dimensions: 8, Window: 3, Epochs: 4})
	if err != nil {
		fmt.Println(err)
		return
	}
	quality, err := apps.MeasureLinks(res.Vectors, held, apps.MeasureOptions{Score: apps.ScoreCosine})
	if err != nil {
		fmt.Println(err)
		return
	}
	n, dims := res.Vectors.Dims()
	fmt.Printf("%d vectors of %d numbers; %d friendships held out\n", n, dims, len(held.Edges))
	fmt.Println("better than chance:", quality.AUC > .5)
	// Output:
	// 34 vectors of 8 numbers; 16 friendships held out
	// better than chance: true
}

// Figures about the two leaders of the club.
func ExampleVertexFeatures() {
	table, err := apps.VertexFeatures(karate(), apps.VertexFeatureOptions{Names: []string{"degree", "triangles", "core"}})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(table.Names)
	for _, v := range []int{0, 33} {
		degree, _ := table.Values.At(v, 0)
		triangles, _ := table.Values.At(v, 1)
		core, _ := table.Values.At(v, 2)
		fmt.Println(degree, triangles, core)
	}
	// Output:
	// [degree triangles core]
	// 16 18 4
	// 17 15 4
}

// The club splits up: with which of the two sides does each member go? The sides of four members
// are known, and the features say who is who.
func ExampleTrainGraphSAGE() {
	friends := karate()
	who := matrix.NewBuilder[float32](34, 34)
	sides := make([]int32, 34)
	for v := range 34 {
		who.Add(v, v, 1)
		sides[v] = -1
	}
	for v, side := range map[int]int32{0: 0, 1: 0, 32: 1, 33: 1} {
		sides[v] = side
	}
	features, err := who.Build(nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	res, err := apps.TrainGraphSAGE(friends, features, sides, apps.SAGESplit{}, apps.SAGETrainOptions{
		Aggregator: apps.AggregateGCN, Hidden: []int{16, 16}, Epochs: 100, Dropout: -1,
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	out, err := apps.GraphSAGE(friends, features, res.Model)
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, v := range []int{3, 7, 15, 29} {
		first, _ := out.Logits.At(v, 0)
		second, _ := out.Logits.At(v, 1)
		fmt.Println("member", v, "goes with the second side:", second > first)
	}
	// Output:
	// member 3 goes with the second side: false
	// member 7 goes with the second side: false
	// member 15 goes with the second side: true
	// member 29 goes with the second side: true
}

// The embeddings of three vertices on a path by a network that only sums up its neighbours.
func ExampleGraphSAGE() {
	path, err := matrix.FromTuples(3, 3, []int{0, 1, 1, 2}, []int{1, 0, 2, 1}, []bool{true, true, true, true}, nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	features, err := matrix.FromDense(3, 2, []float32{1, 0, 0, 1, 3, 0})
	if err != nil {
		fmt.Println(err)
		return
	}
	identity, err := matrix.FromDense(2, 2, []float32{1, 0, 0, 1})
	if err != nil {
		fmt.Println(err)
		return
	}
	model := &apps.SAGEModel{Layers: []apps.SAGELayer{{Self: identity, Neighbour: identity}}}
	res, err := apps.GraphSAGE(path, features, model)
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, r := range res.Embeddings.Rows() {
		fmt.Printf("%.3f\n", r.Vals)
	}
	// Output:
	// [0.707 0.000 0.000 0.707]
	// [0.000 0.447 0.894 0.000]
	// [0.949 0.000 0.000 0.316]
}

// How much can flow from vertex 0 to vertex 3, and what limits it?
func ExampleMaxFlow() {
	g, err := matrix.FromTuples(4, 4, []int{0, 0, 1, 1, 2}, []int{1, 2, 2, 3, 3}, []float64{3, 2, 5, 2, 1.5}, nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	res, err := apps.MaxFlow(g, 0, 3)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println("value", res.Value)
	for at := range g.All() {
		_, from := res.SourceSide.At(at.Row)
		if _, to := res.SourceSide.At(at.Col); from && !to {
			fmt.Printf("full: %d to %d\n", at.Row, at.Col)
		}
	}
	// Output:
	// value 3.5
	// full: 1 to 3
	// full: 2 to 3
}

// A noisy step on a chain of six vertices.
func ExampleFusedLasso() {
	chain, err := matrix.FromTuples(6, 6, []int{0, 1, 2, 3, 4}, []int{1, 2, 3, 4, 5}, []float64{1, 1, 1, 1, 1}, nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	y, err := matrix.VectorOf([]float64{0.1, -0.2, 0.1, 4.2, 3.9, 3.9})
	if err != nil {
		fmt.Println(err)
		return
	}
	res, err := apps.FusedLasso(chain, y, apps.FusedLassoOptions{Lambda1: 0.6})
	if err != nil {
		fmt.Println(err)
		return
	}
	for v, x := range res.B.All() {
		fmt.Printf("%d:%.1f ", v, x)
	}
	fmt.Println(res.Regions, "regions, proven", res.Proven)
	// Output: 0:0.2 1:0.2 2:0.2 3:3.8 4:3.8 5:3.8 2 regions, proven true
}

// Which member of the club is which?
func ExampleSGM() {
	a := karate()
	n, _ := a.Dims()
	// The same club with its members in another order, but for the first six.
	order := make([]int, n)
	for i := range order {
		order[i] = i
		if i >= 6 {
			order[i] = n + 5 - i
		}
	}
	b := matrix.New[float64](n, n)
	if err := ops.Extract(b, a, ops.Of(order...), ops.Of(order...)); err != nil {
		fmt.Println(err)
		return
	}
	res, err := apps.SGM(a, b, apps.FirstSeeds(6), apps.SGMOptions{})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println("disagreements before", res.Before, "and after", res.After)
	// Output: disagreements before 256 and after 0
}

// A graph of four vertices with one feature each, and a pattern of two with an
// edge between: where may the pattern be?
func ExampleClassify() {
	graph := func(vertices, edges []float32, from, to []int32) *apps.Attributed {
		v, err := matrix.FromDense(1, len(vertices), vertices)
		if err != nil {
			panic(err)
		}
		e, err := matrix.FromDense(1, len(edges), edges)
		if err != nil {
			panic(err)
		}
		g, err := apps.NewAttributed(v, e, from, to)
		if err != nil {
			panic(err)
		}
		return g
	}
	data := graph([]float32{9, 6, 1, 5}, []float32{3, 7, 3}, []int32{0, 1, 2}, []int32{1, 2, 3})
	pattern := graph([]float32{1, 5}, []float32{3}, []int32{0}, []int32{1})
	beliefs, err := apps.Classify(data, pattern, apps.ClassifyOptions{})
	if err != nil {
		fmt.Println(err)
		return
	}
	for j := range 2 {
		best, most := 0, math.Inf(-1)
		for v := range 4 {
			if x, _ := beliefs.At(v, j); float64(x) > most {
				best, most = v, float64(x)
			}
		}
		fmt.Printf("vertex %d of the pattern is vertex %d of the data, with probability %.2f\n", j, best, math.Exp(most))
	}
	// Output:
	// vertex 0 of the pattern is vertex 2 of the data, with probability 0.98
	// vertex 1 of the pattern is vertex 3 of the data, with probability 0.71
}

// Who is around the instructor of the karate club?
func ExampleLocalCluster() {
	res, err := apps.LocalCluster(karate(), []int{0}, apps.LocalClusterOptions{Rho: 5e-3, Sweep: true})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Printf("%d members of %d that have a share, %d friendships cut, conductance %.2f\n",
		len(res.Cut.Vertices), res.Support, res.Cut.Edges, res.Cut.Conductance)
	// Output:
	// 15 members of 18 that have a share, 10 friendships cut, conductance 0.15
}

// Clusters around each of many seeds in one batch, with one check of the graph.
func ExampleClusterer_Batch() {
	c, err := apps.NewClusterer(karate(), apps.Run{})
	if err != nil {
		fmt.Println(err)
		return
	}
	b, err := c.Batch([]int{0, 33}, 0, apps.LocalClusterOptions{Rho: 1e-2})
	if err != nil {
		fmt.Println(err)
		return
	}
	for k, row := range b.P.Rows() {
		fmt.Println("query", k, "has a support of", row.Len())
	}
	// Output:
	// query 0 has a support of 11
	// query 1 has a support of 11
}
