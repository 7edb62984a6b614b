package apps

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/hiveblas/hiveblas/apps/centrality"
	"github.com/hiveblas/hiveblas/apps/classify"
	"github.com/hiveblas/hiveblas/apps/communities"
	"github.com/hiveblas/hiveblas/apps/components"
	"github.com/hiveblas/hiveblas/apps/cores"
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
	"github.com/hiveblas/hiveblas/apps/sage/train"
	"github.com/hiveblas/hiveblas/apps/scan"
	"github.com/hiveblas/hiveblas/apps/search"
	"github.com/hiveblas/hiveblas/apps/sets"
	"github.com/hiveblas/hiveblas/apps/sgm"
	"github.com/hiveblas/hiveblas/apps/triangles"
	"github.com/hiveblas/hiveblas/chunked"
	"github.com/hiveblas/hiveblas/internal/sure"
	"github.com/hiveblas/hiveblas/matrix"
	"github.com/hiveblas/hiveblas/ops"
	"github.com/hiveblas/hiveblas/testdata"
)

// calls runs every workflow with the settings that a case gives: none, one value, or two.
func calls(t *testing.T, g *matrix.Matrix[float64], c *lgc.Clusterer, a *classify.Attributed, times int) map[string]error {
	t.Helper()
	got := map[string]error{}
	keep := func(name string, err error) { got[name] = err }
	_, err := paths.BFS(g, 0, make([]paths.BFSOptions, times)...)
	keep("BFS", err)
	_, err = components.ConnectedComponents(g, make([]components.ComponentsOptions, times)...)
	keep("ConnectedComponents", err)
	_, err = classify.Classify(a, a, make([]classify.ClassifyOptions, times)...)
	keep("Classify", err)
	_, err = cores.KTruss(g, 3, make([]cores.KTrussOptions, times)...)
	keep("KTruss", err)
	_, err = lgc.LocalCluster(g, []int{0}, make([]lgc.LocalClusterOptions, times)...)
	keep("LocalCluster", err)
	_, err = lgc.NewClusterer(g, make([]workflow.Run, times)...)
	keep("NewClusterer", err)
	_, err = c.Cluster([]int{0}, make([]lgc.LocalClusterOptions, times)...)
	keep("Cluster", err)
	_, err = c.Batch([]int{0}, 0, make([]lgc.LocalClusterOptions, times)...)
	keep("Batch", err)
	_, err = centrality.PageRank(g, make([]centrality.PageRankOptions, times)...)
	keep("PageRank", err)
	_, err = project.Projection(g, make([]project.ProjectionOptions, times)...)
	keep("Projection", err)
	n, _ := g.Dims()
	_, err = project.ProjectionTo(chunked.Into(matrix.New[float64](n, n)), g, make([]project.ProjectionOptions, times)...)
	keep("ProjectionTo", err)
	l, err := lines.NewLocations(n, []int{0}, []float64{1}, []float64{2})
	if err != nil {
		t.Fatal(err)
	}
	_, err = geo.Geolocate(g, l, make([]geo.GeolocateOptions, times)...)
	keep("Geolocate", err)
	_, err = lines.ReadLocations(strings.NewReader("0 1 2"), n, make([]lines.LocationOptions, times)...)
	keep("ReadLocations", err)
	_, err = search.GraphSearch(g, nil, nil, make([]search.SearchOptions, times)...)
	keep("GraphSearch", err)
	_, err = lines.ReadScores(strings.NewReader(strings.Repeat("1\n", n)), n, make([]lines.ScoreFileOptions, times)...)
	keep("ReadScores", err)
	x := sure.Get(matrix.NewFull[float32](n, 3, 1))
	_, err = sage.GraphSAGE(g, x, meanModel(3, 2), make([]sage.SAGEOptions, times)...)
	keep("GraphSAGE", err)
	few := slices.Repeat([]train.SAGETrainOptions{{Epochs: 1, Hidden: []int{2}}}, max(times, 1))
	_, err = train.TrainGraphSAGE(g, x, nil, train.SAGESplit{}, few...)
	keep("TrainGraphSAGE", err)
	_, err = sage.ReadFeatures(strings.NewReader("1"), slices.Repeat([]sage.FeatureOptions{{Format: "csv"}}, max(times, 1))...)
	keep("ReadFeatures", err)
	_, err = scan.ScanStatistics(g, make([]scan.ScanOptions, times)...)
	keep("ScanStatistics", err)
	_, err = scan.ScanSeries(&scan.TimedEdges{}, slices.Repeat([]scan.ScanSeriesOptions{{Window: 1}}, max(times, 1))...)
	keep("ScanSeries", err)
	_, err = sgm.SGM(g, g, sgm.FirstSeeds(4), make([]sgm.SGMOptions, times)...)
	keep("SGM", err)
	_, err = flow.MaxFlow(g, 0, 1, make([]flow.MaxFlowOptions, times)...)
	keep("MaxFlow", err)
	y := matrix.NewVector[float64](0)
	sure.Do(y.Resize(n), ops.AssignVectorScalar(y, 1, ops.All()))
	_, err = lasso.FusedLasso(g, y, make([]lasso.FusedLassoOptions, times)...)
	keep("FusedLasso", err)
	_, err = lasso.FusedLassoPath(g, y, []float64{1}, make([]lasso.FusedLassoOptions, times)...)
	keep("FusedLassoPath", err)
	ys := sure.Get(matrix.NewFull[float64](n, 1, 1))
	_, err = lasso.FusedLassoBatch(g, ys, make([]lasso.FusedLassoOptions, times)...)
	keep("FusedLassoBatch", err)
	_, err = lines.ReadValues(strings.NewReader("1"), 1, make([]lines.ValueOptions, times)...)
	keep("ReadValues", err)
	_, err = paths.SSSP(g, []int{0}, make([]paths.SSSPOptions[float64], times)...)
	keep("SSSP", err)
	_, err = triangles.TriangleCount(g, make([]triangles.TriangleOptions, times)...)
	keep("TriangleCount", err)
	_, err = components.StronglyConnectedComponents(g, make([]components.ComponentsOptions, times)...)
	keep("StronglyConnectedComponents", err)
	_, err = cores.CoreNumbers(g, make([]cores.CoreOptions, times)...)
	keep("CoreNumbers", err)
	_, err = centrality.Betweenness(g, make([]centrality.BetweennessOptions, times)...)
	keep("Betweenness", err)
	_, err = centrality.Closeness(g, make([]centrality.ClosenessOptions, times)...)
	keep("Closeness", err)
	_, err = triangles.LocalClustering(g, make([]triangles.ClusteringOptions, times)...)
	keep("LocalClustering", err)
	_, err = communities.LabelPropagation(g, make([]communities.LabelPropagationOptions, times)...)
	keep("LabelPropagation", err)
	_, err = sets.MaximalIndependentSet(g, make([]sets.IndependentSetOptions, times)...)
	keep("MaximalIndependentSet", err)
	_, err = sets.Colouring(g, make([]sets.ColouringOptions, times)...)
	keep("Colouring", err)
	_, err = centrality.WeightedPageRank(g, make([]centrality.PageRankOptions, times)...)
	keep("WeightedPageRank", err)
	_, err = centrality.HITS(g, make([]centrality.CentralityOptions, times)...)
	keep("HITS", err)
	_, err = centrality.EigenvectorCentrality(g, make([]centrality.CentralityOptions, times)...)
	keep("EigenvectorCentrality", err)
	_, err = centrality.KatzCentrality(g, make([]centrality.CentralityOptions, times)...)
	keep("KatzCentrality", err)
	_, err = triangles.Similarity(g, make([]triangles.SimilarityOptions, times)...)
	keep("Similarity", err)
	_, err = components.MinimumSpanningForest(g, make([]components.SpanningOptions, times)...)
	keep("MinimumSpanningForest", err)
	_, err = project.BipartiteMatching(g, make([]project.MatchingOptions, times)...)
	keep("BipartiteMatching", err)
	_, err = paths.Diameter(g, make([]paths.DiameterOptions, times)...)
	keep("Diameter", err)
	_, err = order.TopologicalOrder(matrix.New[float64](n, n), make([]order.TopologicalOptions, times)...)
	keep("TopologicalOrder", err)
	_, err = nominate.NominateVertices(g, []int{0}, make([]nominate.NominateOptions, times)...)
	keep("NominateVertices", err)
	_, err = nominate.NominateByMatching(g, g, []int{5}, sgm.FirstSeeds(4), make([]nominate.NominateByMatchingOptions, times)...)
	keep("NominateByMatching", err)
	_, err = paths.VertexNomination(g, []int{0}, make([]paths.VertexNominationOptions[float64], times)...)
	keep("VertexNomination", err)
	return got
}

// The settings of every workflow may be left out or given once; two values are an error.
func TestSettingsOnce(t *testing.T) {
	g := samples.Own(t, testdata.Karate)
	c, err := lgc.NewClusterer(g)
	if err != nil {
		t.Fatal(err)
	}
	vertices, e1 := matrix.FromDense(1, 2, []float32{1, 2})
	edges, e2 := matrix.FromDense(1, 1, []float32{3})
	a, e3 := classify.NewAttributed(vertices, edges, []int32{0}, []int32{1})
	sure.Do(e1, e2, e3)
	for times := range 2 {
		for name, err := range calls(t, g, c, a, times) {
			if err != nil {
				t.Errorf("%s with %d values of its settings: %v", name, times, err)
			}
		}
	}
	for name, err := range calls(t, g, c, a, 2) {
		if parameter := new(*workflow.ParameterError); !errors.As(err, parameter) {
			t.Errorf("%s with two values of its settings: %v, want a *ParameterError", name, err)
		}
	}
	if _, err := classify.ReadAttributedFiles("", "", workflow.Run{}, workflow.Run{}); !errors.As(err, new(*workflow.ParameterError)) {
		t.Errorf("ReadAttributedFiles with two values: %v, want a *ParameterError", err)
	}
	if _, err := project.Projection(g, project.ProjectionOptions{Blocks: []chunked.Option{chunked.OffDiagonal()}}); !errors.As(err, new(*workflow.ParameterError)) {
		t.Errorf("Projection in blocks: %v, want a *ParameterError", err)
	}
}

// Nil and zero arguments give errors, not panics.
func TestZeroArguments(t *testing.T) {
	var none *lgc.Clusterer
	_, e1 := none.Cluster([]int{0})
	_, e2 := new(lgc.Clusterer).Batch([]int{0}, 0)
	_, e3 := classify.Classify(nil, nil)
	_, e4 := classify.Classify(new(classify.Attributed), new(classify.Attributed))
	_, e5 := classify.NewAttributed(nil, nil, nil, nil)
	_, e6 := classify.ReadAttributed(nil, nil)
	_, e7 := project.ProjectionTo[float64](nil, matrix.New[float64](2, 2))
	_, e8 := paths.BFS[float64](nil, 0)
	_, e9 := sgm.SGM[float64](nil, nil, nil)
	_, e10 := lgc.LocalCluster[float64](nil, nil)
	_, e11 := project.Projection[float64](nil)
	_, e12 := scan.ScanStatistics[float64](nil)
	_, e13 := scan.ScanSeries(nil)
	_, e14 := geo.Geolocate[float64](nil, nil)
	_, e15 := geo.Geolocate(matrix.New[float64](2, 2), nil)
	_, e16 := lines.ReadLocations(nil, 0)
	_, e17 := lines.NewLocations(-1, nil, nil, nil)
	_, e18 := flow.MaxFlow[float64](nil, 0, 1)
	_, e19 := lasso.FusedLasso[float64](nil, nil)
	_, e20 := lasso.FusedLassoPath[float64](nil, nil, nil)
	_, e21 := lasso.FusedLassoBatch[float64](nil, nil)
	_, e22 := lasso.FusedLassoBatch(matrix.New[float64](2, 2), nil)
	_, e23 := lines.ReadValues(nil, 0)
	var lost *classify.Attributed
	for k, err := range []error{e1, e2, e3, e4, e5, e6, e7, e8, e9, e10, e11, e12, e13, e14, e15, e16, e17, e18, e19, e20, e21, e22, e23, lost.Move(nil), new(classify.Attributed).Move(nil)} {
		if err == nil {
			t.Errorf("call %d has no error", k+1)
		}
	}
	if n, m := lost.Dims(); n != 0 || m != 0 || lost.Place() != nil {
		t.Error("a nil *Attributed has vertices, edges or a place")
	}
	if n, m := new(classify.Attributed).Dims(); n != 0 || m != 0 || new(classify.Attributed).Place() != nil {
		t.Error("a zero Attributed has vertices, edges or a place")
	}
	if least, all := classify.ClassifyMemory(nil, new(classify.Attributed)); least != 0 || all != 0 {
		t.Errorf("ClassifyMemory of nothing is %d and %d", least, all)
	}
	if list := paths.Rank[float64](nil); len(list) != 0 {
		t.Errorf("the ranks of a nil vector are %v", list)
	}
	if list := sgm.FirstSeeds(-1); len(list) != 0 {
		t.Errorf("%d negative seeds", len(list))
	}
}

// Errors of graphs and threads name the workflow and the argument.
func TestErrorsNameArguments(t *testing.T) {
	t.Parallel()
	var none *matrix.Matrix[float64]
	_, missing := centrality.PageRank[float64](none)
	_, missing2 := centrality.PageRank[float64](nil)
	_, threads := centrality.PageRank(matrix.New[float64](2, 2), centrality.PageRankOptions{Run: workflow.Run{Threads: -5}})
	for _, err := range []error{missing, missing2} {
		if !errors.Is(err, matrix.ErrInvalid) || !strings.Contains(err.Error(), "PageRank: the graph is nil") {
			t.Errorf("no graph: %v", err)
		}
	}
	var e *workflow.ParameterError
	if !errors.As(threads, &e) || !strings.Contains(threads.Error(), "PageRank: Threads is -5") {
		t.Errorf("threads: %v", threads)
	}
}
