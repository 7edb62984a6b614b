package apps

import (
	"errors"
	"fmt"
	"math/rand"
	"slices"
	"strings"

	"github.com/hiveblas/hiveblas/apps/centrality"
	"github.com/hiveblas/hiveblas/apps/classify"
	"github.com/hiveblas/hiveblas/apps/communities"
	"github.com/hiveblas/hiveblas/apps/components"
	"github.com/hiveblas/hiveblas/apps/cores"
	"github.com/hiveblas/hiveblas/apps/embed"
	"github.com/hiveblas/hiveblas/apps/embed/links"
	"github.com/hiveblas/hiveblas/apps/features"
	"github.com/hiveblas/hiveblas/apps/flow"
	"github.com/hiveblas/hiveblas/apps/geo"
	"github.com/hiveblas/hiveblas/apps/internal/lines"
	"github.com/hiveblas/hiveblas/apps/internal/samples"
	"github.com/hiveblas/hiveblas/apps/internal/workflow"
	"github.com/hiveblas/hiveblas/apps/lasso"
	"github.com/hiveblas/hiveblas/apps/lgc"
	"github.com/hiveblas/hiveblas/apps/nominate"
	"github.com/hiveblas/hiveblas/apps/order"
	"github.com/hiveblas/hiveblas/apps/paths"
	"github.com/hiveblas/hiveblas/apps/project"
	"github.com/hiveblas/hiveblas/apps/sage"
	"github.com/hiveblas/hiveblas/apps/scan"
	"github.com/hiveblas/hiveblas/apps/search"
	"github.com/hiveblas/hiveblas/apps/sets"
	"github.com/hiveblas/hiveblas/apps/sgm"
	"github.com/hiveblas/hiveblas/apps/triangles"
	"github.com/hiveblas/hiveblas/internal/sure"
	"github.com/hiveblas/hiveblas/matrix"
	"github.com/hiveblas/hiveblas/ops"
	"github.com/hiveblas/hiveblas/semiring"
	"pgregory.net/rapid"
)

// A kitCase is a workflow in one setting, as the kit calls it. The result may be a list of parts.
type kitCase[T semiring.Float] struct {
	app  string // its name in List
	name string // the function, and the setting after a blank
	run  func(g matrix.Source[T], run workflow.Run) (any, error)

	undirected bool    // takes graphs with every edge in both directions
	loose      float64 // how far forms may differ, relatively, as sums have another order; 0: not at all
	apart      float64 // the same of forms that are divided among the ranks of a group
	whole      string  // why no setting of this case is divided by its form for groups
	plain      string  // why it has no form for devices, where the workflow has one
	elsewhere  string  // why its results do not live where the graph does
	gathers    string  // why ranks of a group compute it as one place does, where it has no form for groups

	oracle func(out [][]samples.Arc) []float64
	check  func(t rapid.TB, out [][]samples.Arc, got []float64) // in place of an oracle
}

// function returns the name that errors have.
func (c *kitCase[T]) function() string {
	name, _, _ := strings.Cut(c.name, " ")
	return strings.TrimSuffix(name, ",")
}

// verify compares figures with the oracle, or checks them.
func (c *kitCase[T]) verify(t rapid.TB, what string, out [][]samples.Arc, got []float64) {
	t.Helper()
	if c.oracle != nil {
		samples.SameFigures(t, what, got, c.oracle(out), c.loose)
	}
	if c.check != nil {
		c.check(t, out, got)
	}
}

// pick returns parts of a result, in place of all of them.
func pick[R any](parts func(r R) []any) func(r R, err error) (any, error) {
	return func(r R, err error) (any, error) {
		if err != nil {
			return nil, err
		}
		return parts(r), nil
	}
}

// orderOf returns the number of rows of a graph, 0 of an unusable one.
func orderOf[T semiring.Number](g matrix.Source[T]) int {
	if workflow.Usable("", "", g) != nil {
		return 0
	}
	n, _ := matrix.AsView[T](g).Dims()
	return n
}

// small divides the small graphs of tests among ranks.
const small = workflow.LeastRange(1)

// cases are the workflows of List in several settings; a workflow without cases here runs as its
// entry in List calls it.
func cases[T semiring.Float]() (list []*kitCase[T]) {
	type G = matrix.Source[T]
	type R = workflow.Run
	add := func(app, name string, run func(g G, run R) (any, error)) *kitCase[T] {
		c := &kitCase[T]{app: app, name: name}
		c.run = func(g G, r R) (any, error) { return run(g, workflow.Tuned(r, small)) }
		list = append(list, c)
		return c
	}

	for name, o := range map[string]project.ProjectionOptions{
		"":            {},
		" of counts":  {Weighting: project.WeightCount, Onto: project.OntoRows, Diagonal: true},
		" of ratios":  {Weighting: project.WeightRatio},
		" onto rows":  {Weighting: project.WeightRatio, Onto: project.OntoRows},
		" with loops": {Onto: project.OntoRows, Diagonal: true},
	} {
		add("project", "Projection"+name, func(g G, run R) (any, error) {
			o := o
			o.Run = run
			return result(project.Projection(g, o))
		}).loose = 1e-6
	}

	for name, o := range map[string]paths.VertexNominationOptions[T]{
		"": {}, " by hops": {Unit: true}, " with small buckets": {Delta: .3},
	} {
		add("vn", "VertexNomination"+name, func(g G, run R) (any, error) {
			o := o
			o.Run = run
			return result(paths.VertexNomination(g, []int{0}, o))
		})
		add("vn", "VertexNomination"+name+" from several", func(g G, run R) (any, error) {
			n := orderOf(g)
			o := o
			o.Run = run
			return result(paths.VertexNomination(g, []int{n - 1, 0, n / 2, 0}, o))
		})
	}

	ac := add("ac", "Classify", func(g G, run R) (any, error) {
		a, err := onTheHost(g)
		if err != nil {
			return nil, err
		}
		var from, to []int32
		for e := range a.All() {
			from, to = append(from, int32(e.Row)), append(to, int32(e.Col))
		}
		n, _ := a.Dims()
		data, err := withFeatures(n, from, to)
		if err != nil {
			return nil, err
		}
		pattern, err := withFeatures(3, []int32{0, 1, 2}, []int32{1, 2, 1})
		at := matrix.AsView[T](g).Place()
		if err = errors.Join(err, data.Move(at), pattern.Move(at)); err != nil {
			return nil, err
		}
		return result(classify.Classify(data, pattern, classify.ClassifyOptions{Run: run, Iterations: 2}))
	})
	ac.loose = 1e-4

	for name, o := range map[string]lgc.LocalClusterOptions{
		"": {Sweep: true}, " by ISTA": {Method: lgc.ClusterISTA, Epsilon: 1e-9}, " by FISTA": {Method: lgc.ClusterFISTA, Epsilon: 1e-9},
	} {
		c := add("lgc", "LocalCluster"+name, func(g G, run R) (any, error) {
			o := o
			o.Run = run
			return pick(func(r *lgc.LocalClusterResult) []any {
				if r.Cut != nil {
					slices.Sort(r.Cut.Vertices) // the order of equal p/d depends on the last bits of sums
				}
				return []any{r.P, r.Cut}
			})(lgc.LocalCluster(g, []int{0}, o))
		})
		c.undirected, c.loose, c.whole = true, 1e-6, "a single seed"
		if o.Method == lgc.ClusterFISTA { // the momentum depends on the order of sums
			c.apart = c.loose
		}
		c = add("lgc", "NewClusterer, batch"+name, func(g G, run R) (any, error) {
			cl, err := lgc.NewClusterer(g, run)
			if err != nil {
				return nil, err
			}
			a, err := onTheHost(g)
			if err != nil {
				return nil, err
			}
			var seeds []int
			for e := range a.All() {
				if e.Row < 23 && !slices.Contains(seeds, e.Row) {
					seeds = append(seeds, e.Row)
				}
			}
			return result(cl.Batch(seeds, 5, lgc.LocalClusterOptions{Run: run, Method: o.Method, Rho: 1e-3}))
		})
		c.undirected, c.loose = true, 1e-6
	}

	for name, leiden := range map[string]bool{"": false, " by Leiden": true} {
		c := add("louvain", "Communities"+name, func(g G, run R) (any, error) {
			return pick(func(r *communities.CommunitiesResult) []any {
				return []any{r.Membership, r.Modularity, r.Count, r.Largest}
			})(communities.Communities(g, communities.CommunitiesOptions{Run: run, Leiden: leiden}))
		})
		c.undirected, c.loose = true, 1e-9
	}

	for name, parents := range map[string]bool{"": false, " with parents": true} {
		for from, source := range map[string]func(n int) int{
			"": func(int) int { return 0 }, " from the middle": func(n int) int { return n / 2 }, " from the last": func(n int) int { return n - 1 },
		} {
			add("bfs", "BFS"+name+from, func(g G, run R) (any, error) {
				return result(paths.BFS(g, source(orderOf(g)), paths.BFSOptions{Run: run, Parents: parents}))
			})
		}
	}

	for name, delta := range map[string]T{"": 0, " in steps": 9, " in small steps": .3} {
		add("sssp", "SSSP"+name, func(g G, run R) (any, error) {
			return result(paths.SSSP(g, []int{0}, paths.SSSPOptions[T]{Run: run, Delta: delta}))
		})
		add("sssp", "SSSP"+name+" from several", func(g G, run R) (any, error) {
			n := orderOf(g)
			return result(paths.SSSP(g, []int{n - 1, 0, n / 2, 0}, paths.SSSPOptions[T]{Run: run, Delta: delta}))
		})
	}

	for name, o := range map[string]centrality.PageRankOptions{
		"": {Tolerance: 1e-6}, " damped": {Damping: .5, Tolerance: 1e-4}, " of three iterations": {MaxIterations: 3},
		" in float32": {Single: true, MaxIterations: 3},
	} {
		c := add("pagerank", "PageRank"+name, func(g G, run R) (any, error) {
			o := o
			o.Run = run
			return result(centrality.PageRank(g, o))
		})
		if c.loose = 1e-12; o.Single { // the host adds up the edges of a hub in float32
			c.loose = 5e-5
		}
	}
	for name, rank := range map[string]func(g G, o ...centrality.PageRankOptions) (*centrality.PageRankResult, error){
		"PageRank with restart": centrality.PageRank[T], "WeightedPageRank": centrality.WeightedPageRank[T],
	} {
		c := add("pagerank", name, func(g G, run R) (any, error) {
			o := centrality.PageRankOptions{Run: run, Damping: .7, Tolerance: 1e-13, MaxIterations: 200}
			if workflow.Usable("", "", g) == nil {
				o.Restart = someRestart(orderOf(g))
			}
			return pick(func(r *centrality.PageRankResult) []any { return []any{r.Rank} })(rank(g, o))
		})
		c.whole, c.plain = "with a restart", "with a restart"
		c.loose = 1e-9
		c.oracle = func(out [][]samples.Arc) []float64 {
			return walkNaively(out, name == "WeightedPageRank", .7, sure.Get(someRestart(len(out)).Dense(0)))
		}
	}

	add("cc", "ConnectedComponents", func(g G, run R) (any, error) {
		return result(components.ConnectedComponents(g, components.ComponentsOptions{Run: run}))
	})
	add("tc", "TriangleCount", func(g G, run R) (any, error) {
		return result(triangles.TriangleCount(g, triangles.TriangleOptions{Run: run}))
	})
	for _, k := range []int{3, 4} {
		add("ktruss", fmt.Sprintf("KTruss of %d", k), func(g G, run R) (any, error) {
			return result(cores.KTruss(g, k, cores.KTrussOptions{Run: run}))
		})
	}
	add("scc", "StronglyConnectedComponents", func(g G, run R) (any, error) {
		return result(components.StronglyConnectedComponents(g, components.ComponentsOptions{Run: run}))
	}).oracle = samples.StrongNaively
	add("kcore", "CoreNumbers", func(g G, run R) (any, error) {
		return result(cores.CoreNumbers(g, cores.CoreOptions{Run: run}))
	}).oracle = coresNaively
	add("cdlp", "LabelPropagation", func(g G, run R) (any, error) {
		return result(communities.LabelPropagation(g, communities.LabelPropagationOptions{Run: run}))
	}).oracle = propagateNaively
	for name, p := range map[string]sets.SetPriority{"": sets.RandomPriority, " by degree": sets.DegreePriority} {
		add("mis", "MaximalIndependentSet"+name, func(g G, run R) (any, error) {
			return result(sets.MaximalIndependentSet(g, sets.IndependentSetOptions{Run: run, Priority: p, Seed: 7}))
		}).check = checkIndependent
	}
	for name, o := range map[string]sets.ColouringOptions{
		"": {}, " with smallest last": {Order: sets.SmallestLast}, " at random": {Order: sets.RandomOrder, Seed: 3},
	} {
		add("colour", "Colouring"+name, func(g G, run R) (any, error) {
			o := o
			o.Run = run
			return result(sets.Colouring(g, o))
		}).check = checkColours(o.Order)
	}
	for name, upper := range map[string]bool{"": false, " of the upper triangle": true} {
		c := add("toposort", "TopologicalOrder"+name, func(g G, run R) (any, error) {
			if upper && workflow.Usable("", "", g) == nil {
				m, n := matrix.AsView[T](g).Dims()
				dag := matrix.New[T](m, n, matrix.On(matrix.AsView[T](g).Place()))
				if err := ops.Select(dag, semiring.Triu[T](1), g, workflow.With(run)); err != nil {
					return nil, err
				}
				g = dag
			}
			o, err := order.TopologicalOrder(g, order.TopologicalOptions{Run: run})
			var cycle *order.CycleError
			if errors.As(err, &cycle) {
				return []any{-1, cycle.Cycle}, nil
			}
			return pick(func(r *order.Topological) []any { return []any{r.Depth, r.Level, r.Order} })(o, err)
		})
		c.check = func(t rapid.TB, out [][]samples.Arc, got []float64) {
			if upper {
				for v := range out {
					out[v] = slices.DeleteFunc(out[v], func(e samples.Arc) bool { return e.To <= v })
				}
			}
			checkOrder(t, out, got)
		}
	}
	for name, o := range map[string]triangles.SimilarityOptions{
		"": {Top: 3}, " by overlap": {Measure: triangles.Overlap, Top: 1}, " by cosine, predicted": {Measure: triangles.Cosine, Top: 2, Unlinked: true},
	} {
		c := add("similar", "Similarity"+name, func(g G, run R) (any, error) {
			o := o
			o.Run = run
			return result(triangles.Similarity(g, o))
		})
		c.loose = 1e-9
		c.oracle = func(out [][]samples.Arc) []float64 { return similarNaively(out, o.Measure, o.Top, o.Unlinked) }
	}
	for sign, name := range map[float64]string{1: "", -1: " of the greatest weight"} {
		c := add("msf", "MinimumSpanningForest"+name, func(g G, run R) (any, error) {
			return pick(func(f *components.Spanning) []any { return []any{f.Weight, f.Edges, f.Trees, f.Forest} })(
				components.MinimumSpanningForest(g, components.SpanningOptions{Run: run, Maximum: sign < 0}))
		})
		c.check, c.loose = checkForest(sign), 1e-9
	}
	for name, maximal := range map[string]bool{"": false, ", maximal": true} {
		c := add("matching", "BipartiteMatching"+name, func(g G, run R) (any, error) { return matched(g, run, maximal) })
		c.oracle = samples.MatchNaively
		if maximal {
			c.oracle = func([][]samples.Arc) []float64 { return []float64{1} }
		}
	}
	c := add("betweenness", "Betweenness", func(g G, run R) (any, error) {
		return result(centrality.Betweenness(g, centrality.BetweennessOptions{Run: run, Batch: 4}))
	})
	c.loose, c.apart = 1e-9, 1e-12
	c.oracle = func(out [][]samples.Arc) []float64 {
		return append(betweennessNaively(out), float64(len(out)))
	}
	c = add("betweenness", "Betweenness, normalised", func(g G, run R) (any, error) {
		return result(centrality.Betweenness(g, centrality.BetweennessOptions{Run: run, Normalised: true}))
	})
	c.loose, c.apart = 1e-9, 1e-12
	c = add("closeness", "Closeness", func(g G, run R) (any, error) {
		return result(centrality.Closeness(g, centrality.ClosenessOptions{Run: run, Batch: 3}))
	})
	c.loose, c.apart = 1e-9, 1e-13
	c.oracle = func(out [][]samples.Arc) []float64 { return append(closenessNaively(out), float64(len(out))) }
	c = add("closeness", "Closeness of samples", func(g G, run R) (any, error) {
		return result(centrality.Closeness(g, centrality.ClosenessOptions{Run: run, Samples: 90, Seed: 2}))
	})
	c.loose, c.apart = 1e-9, 1e-13
	c = add("clustering", "LocalClustering", func(g G, run R) (any, error) {
		return result(triangles.LocalClustering(g, triangles.ClusteringOptions{Run: run}))
	})
	c.loose, c.oracle = 1e-9, clusteringNaively
	c = add("hits", "HITS", func(g G, run R) (any, error) {
		return pick(func(r *centrality.HITSResult) []any { return []any{r.Hubs, r.Authorities, r.Change} })(
			centrality.HITS(g, centrality.CentralityOptions{Run: run, Tolerance: 1e-10}))
	})
	c.loose, c.check = 1e-7, checkHITS
	c = add("eigenvector", "EigenvectorCentrality", func(g G, run R) (any, error) {
		return pick(func(r *centrality.CentralityResult) []any { return []any{r.Centrality, r.Change} })(
			centrality.EigenvectorCentrality(g, centrality.CentralityOptions{Run: run, Tolerance: 1e-10}))
	})
	c.loose, c.check = 1e-7, checkEigenvector
	c = add("katz", "KatzCentrality", func(g G, run R) (any, error) {
		return pick(func(r *centrality.CentralityResult) []any { return []any{r.Centrality} })(
			centrality.KatzCentrality(g, centrality.CentralityOptions{Run: run, Tolerance: 1e-13}))
	})
	c.loose, c.oracle = 1e-9, katzNaively
	c = add("diameter", "Diameter", func(g G, run R) (any, error) {
		return pick(func(d *paths.DiameterResult) []any { return []any{d.Lower, d.Upper, d.From, d.To} })(
			paths.Diameter(g, paths.DiameterOptions{Run: run}))
	})
	c.check = checkDiameter
	for context, name := range map[nominate.ContextScore]string{
		nominate.ContextDistance: "", nominate.ContextSeeds: " by seeds",
		nominate.ContextCommonNeighbours: " by common neighbours", nominate.ContextPageRank: " by PageRank",
	} {
		c := add("nominate", "NominateVertices"+name, func(g G, run R) (any, error) { return nominated(g, run, context) })
		c.loose = 1e-9
		if context == nominate.ContextPageRank {
			c.loose = 1e-6
		}
		c.oracle = func(out [][]samples.Arc) []float64 { return nominateNaively(out, context) }
	}
	c = add("nominate", "NominateByMatching", func(g G, run R) (any, error) {
		o := nominate.NominateByMatchingOptions{SGMOptions: sgm.SGMOptions{Run: run}, Restarts: 2}
		return pick(func(r *nominate.Nominations) []any { return []any{len(r.Ranked), r.Score} })(
			nominate.NominateByMatching(g, g, []int{orderOf(g) - 1}, sgm.FirstSeeds(2), o))
	})
	c.loose = 1e-9

	for name, hops := range map[string]scan.ScanHops{"": scan.ScanOneHop, " of two hops": scan.ScanTwoHops} {
		c := add("scan", "ScanStatistics"+name, func(g G, run R) (any, error) {
			return result(scan.ScanStatistics(g, scan.ScanOptions{Run: run, Hops: hops}))
		})
		if hops == scan.ScanTwoHops {
			c.plain = "two hops"
		}
	}

	for name, o := range map[string]geo.GeolocateOptions{
		"": {}, " with limits": {MaxDispersion: 2000, MaxDistance: 6000, MinNeighbours: 2, Passes: 2, Tolerance: 1e-8, MaxIterations: 30},
	} {
		c := add("geo", "Geolocate"+name, func(g G, run R) (any, error) {
			rng := rand.New(rand.NewSource(1))
			var known []int
			var lat, lon []float64
			n := orderOf(g)
			for v := 0; v < n; v += 5 {
				known, lat, lon = append(known, v), append(lat, 20+40*rng.Float64()), append(lon, 40*rng.Float64())
			}
			l, err := lines.NewLocations(n, known, lat, lon)
			if err != nil {
				return nil, err
			}
			o := o
			o.Run, o.Median = run, geo.MedianDegrees
			return result(geo.Geolocate(g, l, o))
		})
		c.loose, c.gathers = 1e-7, "each process computes the medians"
	}

	for name, o := range map[string]search.SearchOptions{
		"":                     {PerStart: 2, Length: 9},
		", greedy":             {Rule: search.SearchGreedy, PerStart: 9, Length: 7, Paths: true, NonBacktracking: true},
		", greedy and weighed": {Rule: search.SearchGreedy, Weighted: true, NonBacktracking: true, Length: 7},
		", stochastic":         {Rule: search.SearchStochastic, PerStart: 3, Length: 12, Paths: true, Seed: 1<<63 + 5},
		", weighted":           {Weighted: true, PerStart: 2, Length: 9, Seed: 2},
		", stochastic and weighted, forward, restarts": {Rule: search.SearchStochastic, Weighted: true, NonBacktracking: true, Restart: .1, PerStart: 30, Length: 12, Seed: 8},
		", forward, restarts":                          {NonBacktracking: true, Restart: .3, PerStart: 3, Length: 12},
		", paths":                                      {PerStart: 11, Length: 5, Paths: true, NonBacktracking: true, Seed: 4},
		", long":                                       {Length: 1500, PerStart: 2, Seed: 8},
		", a step":                                     {Length: 3, Seed: 4, Paths: true},
		", of second order":                            {PerStart: 3, Length: 12, Return: .25, InOut: 4, Weighted: true, Seed: 6},
	} {
		c := add("search", "GraphSearch"+name, func(g G, run R) (any, error) {
			o := o
			o.Run, o.Visits, o.Best = run, true, 5
			return result(search.GraphSearch(g, search.VertexScores(samples.WalkScores(orderOf(g))), nil, o))
		})
		c.loose = 1e-12
		if o.PerStart == 0 {
			c.whole = "too few walks"
		}
	}
	add("search", "GraphSearch from starts", func(g G, run R) (any, error) {
		n := orderOf(g)
		return result(search.GraphSearch(g, nil, []int{n - 1, n / 2, n - 1, 0}, search.SearchOptions{Run: run, PerStart: 1000, Visits: true}))
	})
	add("search", "GraphSearch from nowhere", func(g G, run R) (any, error) {
		return result(search.GraphSearch(g, nil, []int{}, search.SearchOptions{Run: run, Visits: true, Paths: true}))
	})

	c = add("features", "VertexFeatures", func(g G, run R) (any, error) {
		return result(features.VertexFeatures(g, features.VertexFeatureOptions{Run: run, Samples: 3, Standard: true}))
	})
	c.loose, c.gathers = 1e-5, "each process puts the table together"
	add("embed", "Embed", func(g G, run R) (any, error) {
		return result(embed.Embed(g, embed.EmbedOptions{Run: run, Dimensions: 4, Length: 12, PerStart: 2, Return: .5, Weighted: true, Seed: 3}))
	}).gathers = "each process trains all vectors"
	add("embed", "HoldOutLinks", func(g G, run R) (any, error) {
		rest, held, err := links.HoldOutLinks(g, links.HoldOutOptions{Run: run, Share: .3, Rivals: 3, Seed: 3})
		if err != nil {
			return nil, err
		}
		return []any{rest, held.Edges, held.Others, held.Rivals}, nil
	}).gathers = "each process draws all links"

	for name, o := range map[string]sage.SAGEOptions{"": {}, " of samples": {Samples: []int{2}, Seed: 4}} {
		c := add("sage", "GraphSAGE"+name, func(g G, run R) (any, error) {
			n := orderOf(g)
			x := make([]float32, 3*n)
			for k := range x {
				x[k] = float32(k*37%101) / 101
			}
			features, err := matrix.FromDense(n, 3, x)
			if err != nil {
				return nil, err
			}
			o := o
			o.Run = run
			return pick(func(r *sage.SAGEResult) []any { return []any{r.Embeddings, r.ZeroRows} })(
				sage.GraphSAGE(g, features, meanModel(3, 2), o))
		})
		c.loose = 1e-5
	}

	c = add("sgm", "SGM", func(g G, run R) (any, error) {
		return pick(func(r *sgm.SGMResult) []any {
			if r.After == 0 { // one of several exact matchings, by the last bits of sums
				partners := samples.Figures(r.Match)
				slices.Sort(partners)
				return []any{partners, r.Before, r.After}
			}
			return []any{r.Match, r.Before, r.After}
		})(sgm.SGM(g, g, sgm.FirstSeeds(4), sgm.SGMOptions{Run: run}))
	})
	c.elsewhere = "the matching is on the host"

	lassoed := func(r *lasso.FusedLassoResult) []any {
		return []any{r.Lambda1, r.B, r.Objective, r.Regions, r.Zeros}
	}
	for name, o := range map[string]lasso.FusedLassoOptions{"": {Lambda1: .5, Lambda2: .01}, ", exact": {Lambda1: .2, Lambda2: .1, Exact: true}} {
		c := add("lasso", "FusedLasso"+name, func(g G, run R) (any, error) {
			o := o
			o.Run = run
			return pick(lassoed)(lasso.FusedLasso(g, lassoValues(orderOf(g), 0), o))
		})
		c.loose = 1e-6
	}
	several := func(list []*lasso.FusedLassoResult) (parts []any) {
		for _, r := range list {
			parts = append(parts, lassoed(r)...)
		}
		return parts
	}
	c = add("lasso", "FusedLassoPath", func(g G, run R) (any, error) {
		return pick(several)(lasso.FusedLassoPath(g, lassoValues(orderOf(g), 3), []float64{.9, 0, .2, .05, .5},
			lasso.FusedLassoOptions{Run: run, Exact: true}))
	})
	c.loose, c.apart = 1e-6, 1e-9
	c = add("lasso", "FusedLassoBatch", func(g G, run R) (any, error) {
		n := orderOf(g)
		ys := matrix.NewBuilder[float64](n, 5)
		for c := range 5 {
			for v, x := range lassoValues(n, c).All() {
				ys.Add(v, c, x)
			}
		}
		y, err := ys.Build(nil)
		if err != nil {
			return nil, err
		}
		weights := lassoValues(n, 9)
		if workflow.Usable("", "", g) == nil {
			err = weights.Move(matrix.AsView[T](g).Place())
		}
		if err != nil {
			return nil, err
		}
		return pick(several)(lasso.FusedLassoBatch(g, y, lasso.FusedLassoOptions{Run: run, Lambda1: .3, VertexWeights: weights}))
	})
	c.loose = 1e-6

	c = add("maxflow", "MaxFlow", func(g G, run R) (any, error) {
		n := orderOf(g)
		if workflow.Usable("", "", g) != nil {
			n = 2
		}
		return pick(func(r *flow.MaxFlowResult) []any { return []any{r.Value, r.SourceSide, r.SinkSide} })( // flows may differ
			flow.MaxFlow(g, 0, n-1, flow.MaxFlowOptions{Run: run}))
	})
	c.loose = 1e-7
	own := map[string]bool{}
	for _, c := range list {
		own[c.app] = true
	}
	for _, a := range List[T]() {
		for k, use := range a.Use {
			if !own[a.Name] {
				add(a.Name, fmt.Sprintf("%s, use %d", a.Functions[0], k), func(g G, run R) (any, error) { return use(g, run) }).loose = 1e-9
			}
		}
	}
	slices.SortFunc(list, func(x, y *kitCase[T]) int { return strings.Compare(x.name, y.name) })
	return list
}

func result[R any](r R, err error) (any, error) {
	if err != nil {
		return nil, err
	}
	return r, nil
}

// onTheHost returns a copy of a graph on the host.
func onTheHost[T semiring.Number](g matrix.Source[T]) (*matrix.Matrix[T], error) {
	if err := workflow.Usable("", "the graph", g); err != nil {
		return nil, err
	}
	if err := matrix.AsView[T](g).Fetch(); err != nil {
		return nil, err
	}
	m, n := matrix.AsView[T](g).Dims()
	a := matrix.New[T](m, n)
	return a, ops.Apply(a, semiring.Identity[T](), matrix.AsView[T](g))
}

// withFeatures returns a graph with features that numbers give.
func withFeatures(n int, from, to []int32) (*classify.Attributed, error) {
	values := func(rows, cols int) (*matrix.Matrix[float32], error) {
		x := make([]float32, rows*cols)
		for i := range x {
			x[i] = float32(i*i%17) / 5
		}
		return matrix.FromDense(rows, cols, x)
	}
	vertices, e1 := values(2, n)
	edges, e2 := values(3, len(from))
	if err := errors.Join(e1, e2); err != nil {
		return nil, err
	}
	return classify.NewAttributed(vertices, edges, from, to)
}

// matched returns the size of a matching that it has checked, or 1 for a maximal one.
func matched[T semiring.Number](g matrix.Source[T], run workflow.Run, maximal bool) (any, error) {
	c, err := project.BipartiteMatching(g, project.MatchingOptions{Run: run, Maximal: maximal})
	if err != nil {
		return nil, err
	}
	a, err := onTheHost(g)
	if err = errors.Join(err, c.Column.Move(nil), c.Row.Move(nil)); err != nil {
		return nil, err
	}
	if c.Size != c.Column.NVals() || c.Size != c.Row.NVals() {
		return nil, fmt.Errorf("size %d with %d rows and %d columns", c.Size, c.Column.NVals(), c.Row.NVals())
	}
	for r, x := range c.Column.All() {
		if back, ok := c.Row.At(int(x)); !ok || int(back) != r {
			return nil, fmt.Errorf("row %d has column %d, which has row %d, %v", r, x, back, ok)
		}
		if _, ok := a.At(r, int(x)); !ok {
			return nil, fmt.Errorf("row %d has column %d without an entry", r, x)
		}
	}
	for at := range a.All() {
		_, row := c.Column.At(at.Row)
		_, col := c.Row.At(at.Col)
		if !row && !col {
			return nil, fmt.Errorf("the entry %v can be added", at)
		}
	}
	if maximal {
		return int64(1), nil
	}
	return c.Size, nil
}

// nominated returns scores, and checks their order.
func nominated[T semiring.Number](g matrix.Source[T], run workflow.Run, context nominate.ContextScore) (any, error) {
	n := orderOf(g)
	if workflow.Usable("", "", g) == nil {
		if m, k := matrix.AsView[T](g).Dims(); m == 0 && k == 0 {
			return nil, nil // no seed
		}
	}
	content, err := matrix.VectorOf(someContent(n))
	if err != nil {
		return nil, err
	}
	c, err := nominate.NominateVertices(g, someSeeds(n), nominate.NominateOptions{Run: run, Context: context, Content: content, Weight: .3})
	if err != nil {
		return nil, err
	}
	for k, r := range c.Ranked {
		if x, ok := c.Score.At(r.Vertex); !ok || x != r.Distance || k > 0 && c.Ranked[k-1].Distance < x {
			return nil, fmt.Errorf("place %d: %+v, score %v, %v", k, r, x, ok)
		}
	}
	return []any{c.Score, c.Context, c.Content}, nil
}

// lassoValues are positive observations of n vertices.
func lassoValues(n, seed int) *matrix.Vector[float64] {
	list := make([]float64, n)
	for v := range list {
		list[v] = 1 + float64((v*v+31*seed)%17)/4
	}
	y, _ := matrix.VectorOf(list)
	return y
}

// meanModel returns a model of one layer from d to 2·h columns.
func meanModel(d, h int) *sage.SAGEModel {
	self, near := sure.Get(matrix.NewFull[float32](d, h, .5)), sure.Get(matrix.NewFull[float32](d, h, .25))
	return &sage.SAGEModel{Aggregator: sage.AggregateMean, Layers: []sage.SAGELayer{{Self: self, Neighbour: near}}}
}
