package apps

import (
	"github.com/hiveblas/hiveblas/apps/centrality"
	"github.com/hiveblas/hiveblas/apps/classify"
	"github.com/hiveblas/hiveblas/apps/communities"
	"github.com/hiveblas/hiveblas/apps/components"
	"github.com/hiveblas/hiveblas/apps/cores"
	"github.com/hiveblas/hiveblas/apps/geo"
	"github.com/hiveblas/hiveblas/apps/internal/lines"
	"github.com/hiveblas/hiveblas/apps/internal/workflow"
	"github.com/hiveblas/hiveblas/apps/lasso"
	"github.com/hiveblas/hiveblas/apps/lgc"
	"github.com/hiveblas/hiveblas/apps/nominate"
	"github.com/hiveblas/hiveblas/apps/paths"
	"github.com/hiveblas/hiveblas/apps/project"
	"github.com/hiveblas/hiveblas/apps/scan"
	"github.com/hiveblas/hiveblas/apps/triangles"
	"github.com/hiveblas/hiveblas/internal/device"
	"github.com/hiveblas/hiveblas/matrix"
	"github.com/hiveblas/hiveblas/semiring"
)

// App describes a workflow to the tools of hiveblas: the command line, and the compilation of
// kernels in advance.
type App[T semiring.Number] struct {
	Name      string   // of its command
	Family    string   // the package of its functions
	Functions []string // by the names that errors and traces have
	Forms     Forms    // of the first function
	// Kernels returns the programs of the fused form for a graph with elements of type t; it is nil
	// for a workflow without a fused form.
	Kernels func(t device.Type) []device.Program
	// Use calls the workflow on a graph in the usual ways. The operations that it runs show the
	// kernels that programs need, and the tests call it so where they have no cases of their own.
	Use []func(g matrix.Source[T], run workflow.Run) (any, error)
}

// List returns the workflows that have commands, in the order of the help.
func List[T semiring.Number]() []App[T] {
	list := []App[T]{
		{Name: "project", Family: "project", Functions: names("Projection", "ProjectionTo"),
			Use: uses(
				func(g matrix.Source[T], run workflow.Run) (any, error) {
					return project.Projection(g, project.ProjectionOptions{Run: run})
				},
				func(g matrix.Source[T], run workflow.Run) (any, error) {
					o := project.ProjectionOptions{Run: run, Weighting: project.WeightCount, Onto: project.OntoRows}
					return project.Projection(g, o)
				},
				func(g matrix.Source[T], run workflow.Run) (any, error) {
					return project.Projection(g, project.ProjectionOptions{Run: run, Weighting: project.WeightRatio})
				})},
		{Name: "vn", Family: "paths", Functions: names("VertexNomination"),
			Kernels: described("vn"), Use: uses(
				func(g matrix.Source[T], run workflow.Run) (any, error) {
					return paths.VertexNomination(g, []int{0}, paths.VertexNominationOptions[T]{Run: run})
				},
				func(g matrix.Source[T], run workflow.Run) (any, error) {
					o := paths.VertexNominationOptions[T]{Run: run, Unit: true}
					return paths.VertexNomination(g, []int{0, 1}, o)
				})},
		{Name: "ac", Family: "classify", Functions: names("Classify"),
			Kernels: described("ac"), Use: uses(classifyOneEdge[T])},
		{Name: "lgc", Family: "lgc", Functions: names("LocalCluster", "NewClusterer"),
			Use: uses(
				func(g matrix.Source[T], run workflow.Run) (any, error) {
					o := lgc.LocalClusterOptions{Run: run, Sweep: true, MaxIterations: 2}
					return lgc.LocalCluster(g, []int{0}, o)
				},
				func(g matrix.Source[T], run workflow.Run) (any, error) {
					o := lgc.LocalClusterOptions{Run: run, Method: lgc.ClusterFISTA, MaxIterations: 2}
					return lgc.LocalCluster(g, []int{0}, o)
				})},
		{Name: "louvain", Family: "communities", Functions: names("Communities"),
			Kernels: described("louvain"), Use: uses(
				func(g matrix.Source[T], run workflow.Run) (any, error) {
					return communities.Communities(g, communities.CommunitiesOptions{Run: run, Leiden: true})
				})},
		{Name: "bfs", Family: "paths", Functions: names("BFS"),
			Kernels: described("bfs"), Use: uses(
				func(g matrix.Source[T], run workflow.Run) (any, error) {
					return paths.BFS(g, 0, paths.BFSOptions{Run: run, Parents: true})
				},
				func(g matrix.Source[T], run workflow.Run) (any, error) {
					return paths.BFS(matrix.AsView[T](g).T(), 0, paths.BFSOptions{Run: run, Parents: true})
				})},
		{Name: "sssp", Family: "paths", Functions: names("SSSP"),
			Kernels: described("sssp"), Use: uses(
				func(g matrix.Source[T], run workflow.Run) (any, error) {
					return paths.SSSP(g, []int{0}, paths.SSSPOptions[T]{Run: run})
				})},
		{Name: "pagerank", Family: "centrality", Functions: names("PageRank", "WeightedPageRank"),
			Kernels: described("pagerank"), Use: uses(
				func(g matrix.Source[T], run workflow.Run) (any, error) {
					return centrality.PageRank(g, centrality.PageRankOptions{Run: run})
				})},
		{Name: "cc", Family: "components", Functions: names("ConnectedComponents"),
			Kernels: described("cc"), Use: uses(
				func(g matrix.Source[T], run workflow.Run) (any, error) {
					return components.ConnectedComponents(g, components.ComponentsOptions{Run: run})
				})},
		{Name: "tc", Family: "triangles", Functions: names("TriangleCount"),
			Kernels: described("tc"), Use: uses(
				func(g matrix.Source[T], run workflow.Run) (any, error) {
					return triangles.TriangleCount(g, triangles.TriangleOptions{Run: run})
				})},
		{Name: "ktruss", Family: "cores", Functions: names("KTruss"),
			Use: uses(
				func(g matrix.Source[T], run workflow.Run) (any, error) {
					return cores.KTruss(g, 3, cores.KTrussOptions{Run: run})
				})},
		{Name: "scc", Family: "components", Functions: names("StronglyConnectedComponents"),
			Kernels: described("scc")},
		{Name: "kcore", Family: "cores", Functions: names("CoreNumbers"),
			Kernels: described("kcore")},
		{Name: "mis", Family: "sets", Functions: names("MaximalIndependentSet"),
			Kernels: described("mis")},
		{Name: "cdlp", Family: "communities", Functions: names("LabelPropagation"),
			Kernels: described("cdlp")},
		{Name: "colour", Family: "sets", Functions: names("Colouring"),
			Kernels: described("colour")},
		{Name: "toposort", Family: "order", Functions: names("TopologicalOrder")},
		{Name: "similar", Family: "triangles", Functions: names("Similarity")},
		{Name: "msf", Family: "components", Functions: names("MinimumSpanningForest"),
			Kernels: described("msf")},
		{Name: "matching", Family: "project", Functions: names("BipartiteMatching")},
		{Name: "betweenness", Family: "centrality", Functions: names("Betweenness"),
			Kernels: described("betweenness")}, // the operations after these, and of the pipeline, compile at the first use
		{Name: "closeness", Family: "centrality", Functions: names("Closeness"),
			Kernels: described("closeness")},
		{Name: "clustering", Family: "triangles", Functions: names("LocalClustering"),
			Use: uses(
				func(g matrix.Source[T], run workflow.Run) (any, error) {
					return triangles.LocalClustering(g, triangles.ClusteringOptions{Run: run})
				})},
		{Name: "hits", Family: "centrality", Functions: names("HITS"),
			Use: uses(
				func(g matrix.Source[T], run workflow.Run) (any, error) {
					return centrality.HITS(g, centrality.CentralityOptions{Run: run, MaxIterations: 1})
				})},
		{Name: "eigenvector", Family: "centrality", Functions: names("EigenvectorCentrality"),
			Use: uses(
				func(g matrix.Source[T], run workflow.Run) (any, error) {
					return centrality.EigenvectorCentrality(g, centrality.CentralityOptions{Run: run, MaxIterations: 1})
				})},
		{Name: "katz", Family: "centrality", Functions: names("KatzCentrality"),
			Use: uses(
				func(g matrix.Source[T], run workflow.Run) (any, error) {
					return centrality.KatzCentrality(g, centrality.CentralityOptions{Run: run, MaxIterations: 1})
				})},
		{Name: "diameter", Family: "paths", Functions: names("Diameter")}, // searches by BFS
		{Name: "features", Family: "features", Functions: names("VertexFeatures")},
		{Name: "nominate", Family: "nominate", Functions: names("NominateVertices", "NominateByMatching"),
			Use: uses(
				func(g matrix.Source[T], run workflow.Run) (any, error) {
					return nominate.NominateVertices(g, []int{0}, nominate.NominateOptions{Run: run, Context: nominate.ContextCommonNeighbours})
				})},
		{Name: "scan", Family: "scan", Functions: names("ScanStatistics", "ScanSeries"),
			Kernels: described("scan"), Use: uses(
				func(g matrix.Source[T], run workflow.Run) (any, error) {
					return scan.ScanStatistics(g, scan.ScanOptions{Run: run})
				})}, // two hops compile their products at the first use
		{Name: "geo", Family: "geo", Functions: names("Geolocate"),
			Kernels: described("geo"), Use: uses(geolocateOne[T])},
		{Name: "search", Family: "search", Functions: names("GraphSearch"),
			Kernels: described("search")},
		{Name: "embed", Family: "embed", Functions: names("Embed", "HoldOutLinks", "MeasureLinks")},
		{Name: "sage", Family: "sage", Functions: names("GraphSAGE", "TrainGraphSAGE"),
			Kernels: described("sage", "sagetrain")},
		{Name: "sgm", Family: "sgm", Functions: names("SGM")},
		{Name: "lasso", Family: "lasso", Functions: names("FusedLasso", "FusedLassoPath", "FusedLassoBatch"),
			Kernels: described("lasso"), Use: uses(lassoOne[T])},
		{Name: "maxflow", Family: "flow", Functions: names("MaxFlow"),
			Kernels: described("maxflow")}, // rounds of the pipeline compile their products at the first use
		{Name: "lsap", Family: "auction", Forms: Forms{Device: true},
			Kernels: described("auction")},
	}
	for k, a := range list {
		if len(a.Functions) > 0 {
			list[k].Forms = workflow.FormsOf(a.Functions[0])
		}
	}
	return list
}

// Forms are the forms of a workflow. See [workflow.Forms].
type Forms = workflow.Forms

func names(list ...string) []string { return list }

// uses lists the calls of an entry.
func uses[T semiring.Number](
	list ...func(matrix.Source[T], workflow.Run) (any, error),
) []func(matrix.Source[T], workflow.Run) (any, error) {
	return list
}

// described returns the programs that the package of a workflow has registered.
func described(names ...string) func(device.Type) []device.Program {
	return func(t device.Type) (list []device.Program) {
		for _, name := range names {
			list = append(list, device.Described(name, t)...)
		}
		return list
	}
}

// classifyOneEdge matches a pattern of one edge in itself, where g lives.
func classifyOneEdge[T semiring.Number](g matrix.Source[T], run workflow.Run) (any, error) {
	one := func() *matrix.Matrix[float32] {
		x, _ := matrix.NewFull[float32](1, 1, 1)
		return x
	}
	a, err := classify.NewAttributed(one(), one(), []int32{0}, []int32{0})
	if err == nil {
		err = a.Move(matrix.AsView[T](g).Place())
	}
	if err != nil {
		return nil, err
	}
	return classify.Classify(a, a, classify.ClassifyOptions{Run: run})
}

// geolocateOne infers places from the place of vertex 0.
func geolocateOne[T semiring.Number](g matrix.Source[T], run workflow.Run) (any, error) {
	n, _ := matrix.AsView[T](g).Dims()
	l, err := lines.NewLocations(n, []int{0}, []float64{0}, []float64{0})
	if err != nil {
		return nil, err
	}
	return geo.Geolocate(g, l, geo.GeolocateOptions{Run: run, Median: geo.MedianDegrees, Passes: 1})
}

// lassoOne smooths a peak at vertex 0.
func lassoOne[T semiring.Number](g matrix.Source[T], run workflow.Run) (any, error) {
	n, _ := matrix.AsView[T](g).Dims()
	list := make([]float64, n)
	if n > 0 {
		list[0] = 1
	}
	y, err := matrix.VectorOf(list)
	if err != nil {
		return nil, err
	}
	return lasso.FusedLasso(g, y, lasso.FusedLassoOptions{Run: run, Lambda1: .1})
}
