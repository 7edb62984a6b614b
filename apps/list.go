package apps

import (
	"github.com/hiveblas/hiveblas/internal/device"
	"github.com/hiveblas/hiveblas/matrix"
	"github.com/hiveblas/hiveblas/semiring"
)

// App describes a workflow to the tools of hiveblas: the command line, and the compilation of
// kernels in advance.
type App[T semiring.Number] struct {
	Name string // of its command
	// Kernels returns the programs of the fused form for a graph with elements of type t; it is nil
	// for a workflow without a fused form.
	Kernels func(t device.Type) []device.Program
	// Use calls the workflow on a graph in the usual ways. The operations that it runs are those
	// whose kernels programs need.
	Use []func(g *matrix.Matrix[T], run Run) error
}

// List returns the workflows that have commands, in the order of the help.
func List[T semiring.Number]() []App[T] {
	return []App[T]{
		{Name: "project", Use: uses(
			func(g *matrix.Matrix[T], run Run) error {
				return second(Projection(g, ProjectionOptions{Run: run}))
			},
			func(g *matrix.Matrix[T], run Run) error {
				o := ProjectionOptions{Run: run, Weighting: WeightCount, Onto: OntoRows}
				return second(Projection(g, o))
			},
			func(g *matrix.Matrix[T], run Run) error {
				return second(Projection(g, ProjectionOptions{Run: run, Weighting: WeightRatio}))
			})},
		{Name: "vn", Kernels: described("vn"), Use: uses(
			func(g *matrix.Matrix[T], run Run) error {
				return second(VertexNomination(g, []int{0}, VertexNominationOptions[T]{Run: run}))
			},
			func(g *matrix.Matrix[T], run Run) error {
				o := VertexNominationOptions[T]{Run: run, Unit: true}
				return second(VertexNomination(g, []int{0, 1}, o))
			})},
		{Name: "ac", Kernels: described("ac"), Use: uses(classifyOneEdge[T])},
		{Name: "lgc", Use: uses(
			func(g *matrix.Matrix[T], run Run) error {
				o := LocalClusterOptions{Run: run, Sweep: true, MaxIterations: 2}
				return second(LocalCluster(g, []int{0}, o))
			},
			func(g *matrix.Matrix[T], run Run) error {
				o := LocalClusterOptions{Run: run, Method: ClusterFISTA, MaxIterations: 2}
				return second(LocalCluster(g, []int{0}, o))
			})},
		{Name: "louvain", Kernels: described("louvain"), Use: uses(
			func(g *matrix.Matrix[T], run Run) error {
				return second(Communities(g, CommunitiesOptions{Run: run, Leiden: true}))
			})},
		{Name: "bfs", Kernels: described("bfs"), Use: uses(
			func(g *matrix.Matrix[T], run Run) error {
				return second(BFS(g, 0, BFSOptions{Run: run, Parents: true}))
			},
			func(g *matrix.Matrix[T], run Run) error {
				return second(BFS(g.T(), 0, BFSOptions{Run: run, Parents: true}))
			})},
		{Name: "sssp", Kernels: described("sssp"), Use: uses(
			func(g *matrix.Matrix[T], run Run) error {
				return second(SSSP(g, []int{0}, SSSPOptions[T]{Run: run}))
			})},
		{Name: "pagerank", Kernels: described("pagerank"), Use: uses(
			func(g *matrix.Matrix[T], run Run) error {
				return second(PageRank(g, PageRankOptions{Run: run}))
			})},
		{Name: "cc", Kernels: described("cc"), Use: uses(
			func(g *matrix.Matrix[T], run Run) error {
				return second(ConnectedComponents(g, ComponentsOptions{Run: run}))
			})},
		{Name: "tc", Kernels: described("tc"), Use: uses(
			func(g *matrix.Matrix[T], run Run) error {
				return second(TriangleCount(g, TriangleOptions{Run: run}))
			})},
		{Name: "ktruss", Use: uses(
			func(g *matrix.Matrix[T], run Run) error {
				return second(KTruss(g, 3, KTrussOptions{Run: run}))
			})},
		{Name: "scc", Kernels: described("scc")}, {Name: "kcore", Kernels: described("kcore")},
		{Name: "mis", Kernels: described("mis")}, {Name: "cdlp", Kernels: described("cdlp")},
		{Name: "colour"}, {Name: "toposort"}, {Name: "similar"}, {Name: "msf"}, {Name: "matching"}, // on the host
		{Name: "betweenness"}, {Name: "closeness"}, // compile their products at the first use
		{Name: "clustering", Use: uses(
			func(g *matrix.Matrix[T], run Run) error {
				return second(LocalClustering(g, ClusteringOptions{Run: run}))
			})},
		{Name: "hits", Use: uses(
			func(g *matrix.Matrix[T], run Run) error {
				return second(HITS(g, CentralityOptions{Run: run, MaxIterations: 1}))
			})},
		{Name: "eigenvector", Use: uses(
			func(g *matrix.Matrix[T], run Run) error {
				return second(EigenvectorCentrality(g, CentralityOptions{Run: run, MaxIterations: 1}))
			})},
		{Name: "katz", Use: uses(
			func(g *matrix.Matrix[T], run Run) error {
				return second(KatzCentrality(g, CentralityOptions{Run: run, MaxIterations: 1}))
			})},
		{Name: "diameter"}, // searches by BFS
		{Name: "nominate", Use: uses(
			func(g *matrix.Matrix[T], run Run) error {
				return second(NominateVertices(g, []int{0}, NominateOptions{Run: run, Context: ContextCommonNeighbours}))
			})},
		{Name: "scan", Kernels: described("scan"), Use: uses(
			func(g *matrix.Matrix[T], run Run) error {
				return second(ScanStatistics(g, ScanOptions{Run: run}))
			})}, // two hops compile their products at the first use
		{Name: "geo", Kernels: described("geo"), Use: uses(geolocateOne[T])},
		{Name: "search", Kernels: described("search")},
		{Name: "sage", Kernels: described("sage")},
		{Name: "sgm"},
		{Name: "lasso", Kernels: described("lasso"), Use: uses(lassoOne[T])},
		{Name: "maxflow", Kernels: described("maxflow")}, // rounds of the pipeline compile their products at the first use
		{Name: "lsap", Kernels: described("auction")},
	}
}

// uses lists the calls of an entry.
func uses[T semiring.Number](
	list ...func(*matrix.Matrix[T], Run) error,
) []func(*matrix.Matrix[T], Run) error {
	return list
}

// second drops a result.
func second[R any](_ R, err error) error { return err }

// described returns the programs that the package of a workflow has registered.
func described(name string) func(device.Type) []device.Program {
	return func(t device.Type) []device.Program { return device.Described(name, t) }
}

// classifyOneEdge matches a pattern of one edge in itself, where g lives.
func classifyOneEdge[T semiring.Number](g *matrix.Matrix[T], run Run) error {
	one := func() *matrix.Matrix[float32] {
		x, _ := matrix.NewFull[float32](1, 1, 1)
		return x
	}
	a, err := NewAttributed(one(), one(), []int32{0}, []int32{0})
	if err == nil {
		err = a.Move(g.Place())
	}
	if err != nil {
		return err
	}
	return second(Classify(a, a, ClassifyOptions{Run: run}))
}

// geolocateOne infers places from that of vertex 0.
func geolocateOne[T semiring.Number](g *matrix.Matrix[T], run Run) error {
	n, _ := g.Dims()
	l, err := NewLocations(n, []int{0}, []float64{0}, []float64{0})
	if err != nil {
		return err
	}
	return second(Geolocate(g, l, GeolocateOptions{Run: run, Median: MedianDegrees, Passes: 1}))
}

// lassoOne smooths a peak at vertex 0.
func lassoOne[T semiring.Number](g *matrix.Matrix[T], run Run) error {
	n, _ := g.Dims()
	list := make([]float64, n)
	if n > 0 {
		list[0] = 1
	}
	y, err := matrix.VectorOf(list)
	if err != nil {
		return err
	}
	return second(FusedLasso(g, y, FusedLassoOptions{Run: run, Lambda1: .1}))
}
